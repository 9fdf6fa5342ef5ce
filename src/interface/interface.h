/* The C interface for other packages: the functions behind the table of inst/include/warpbayes.h, which says what they
 * do, and what they share. They check all arguments, compute nothing and never call R. Their struct types must not
 * change; the types of backend/ may. */
#pragma once

#define WARPBAYES_WITHOUT_R
#include <warpbayes.h>

#include "backend/backend.h"

/* The table. R's registry gives it to other packages. */
const warpbayes_table *wb_interface_table(void);

/* What a call needs: its message, which is the caller's or `own`, and where it runs. */
typedef struct wb_interface_call {
  wb_message own, *message;
  wb_call call;
} wb_interface_call;

/* Begin a call, with an empty message and one thread. Returns the message. */
wb_message *wb_interface_begin(wb_interface_call *call, warpbayes_message *message);

/* Checks. Each returns WB_OK, or WB_ERROR_INPUT with a message. `name`: of the argument. */
int wb_interface_threads(wb_interface_call *call, int32_t threads);
int wb_interface_source(wb_interface_call *call, const warpbayes_source *from, int64_t count);
int wb_interface_size(const char *name, int64_t size, int64_t least, int64_t most, wb_message *message);
int wb_interface_pointer(const char *name, const void *pointer, wb_message *message);
/* Whether the matrix fits into memory that a size_t can count. */
int wb_interface_matrix(const char *name, int64_t rows, int64_t columns, wb_message *message);
/* `length` numbers, at least `least` and at most `most`; NaN is refused. A length below 1 is, too. */
int wb_interface_numbers(const char *name, const double *values, int64_t length, double least, double most,
                         wb_message *message);
/* Numbers that parameters of gamma, beta and Dirichlet draws may be. */
#define WB_INTERFACE_SHAPE_LEAST 1e-300
#define WB_INTERFACE_SHAPE_MOST 1e300

/* The key of categorical draws, which have no iteration of their own. */
uint64_t wb_interface_iterated_key(const warpbayes_source *from);

/* interface/variates_interface.c */
uint64_t wb_interface_key(uint64_t seed, uint32_t stream);
int wb_interface_stream_open(uint64_t key, uint32_t iteration, uint64_t element, warpbayes_stream *stream,
                             warpbayes_message *message);
int wb_interface_stream_uniform(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_stream_normal(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_stream_gamma(warpbayes_stream *stream, int64_t count, const double *shape, int64_t shapes, int is_log,
                              double *draws, warpbayes_message *message);
int wb_interface_stream_beta(warpbayes_stream *stream, int64_t count, const double *a, int64_t as, const double *b,
                             int64_t bs, int is_log, double *draws, warpbayes_message *message);
int wb_interface_stream_dirichlet(warpbayes_stream *stream, int64_t count, const double *shape, int is_log,
                                  double *draws, warpbayes_message *message);
int wb_interface_uniform_draw(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_normal_draw(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_gamma_draw(const warpbayes_source *from, int64_t count, const double *shape, int64_t shapes,
                            int is_log, double *draws, warpbayes_message *message);
int wb_interface_beta_draw(const warpbayes_source *from, int64_t count, const double *a, int64_t as, const double *b,
                           int64_t bs, int is_log, double *draws, warpbayes_message *message);
int wb_interface_dirichlet_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *shape,
                                int each_row, int is_log, double *draws, warpbayes_message *message);

int wb_interface_stream_exponential(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_stream_gumbel(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_stream_truncated_normal(warpbayes_stream *stream, int64_t count, const double *lower, int64_t lowers,
                                         const double *upper, int64_t uppers, double *draws,
                                         warpbayes_message *message);
int wb_interface_stream_binomial(warpbayes_stream *stream, int64_t count, const double *size, int64_t sizes,
                                 const double *prob, int64_t probs, double *draws, warpbayes_message *message);
int wb_interface_stream_multinomial(warpbayes_stream *stream, int64_t columns, double size, const double *weights,
                                    double *draws, warpbayes_message *message);
int wb_interface_stream_multivariate_normal(warpbayes_stream *stream, int64_t columns, const double *mean,
                                            const double *matrix, int is_precision, double *draws,
                                            warpbayes_message *message);
int wb_interface_stream_wishart(warpbayes_stream *stream, int64_t columns, double df, const double *scale,
                                int is_inverse, double *draws, warpbayes_message *message);
int wb_interface_exponential_draw(const warpbayes_source *from, int64_t count, double *draws,
                                  warpbayes_message *message);
int wb_interface_gumbel_draw(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);
int wb_interface_truncated_normal_draw(const warpbayes_source *from, int64_t count, const double *lower, int64_t lowers,
                                       const double *upper, int64_t uppers, double *draws, warpbayes_message *message);
int wb_interface_binomial_draw(const warpbayes_source *from, int64_t count, const double *size, int64_t sizes,
                               const double *prob, int64_t probs, double *draws, warpbayes_message *message);
int wb_interface_multinomial_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *size,
                                  int64_t sizes, const double *weights, int each_row, double *draws,
                                  warpbayes_message *message);
int wb_interface_multivariate_normal_draw(const warpbayes_source *from, int64_t rows, int64_t columns,
                                          const double *mean, int each_row, const double *matrix, int is_precision,
                                          double *draws, warpbayes_message *message);
int wb_interface_wishart_draw(const warpbayes_source *from, int64_t count, int64_t columns, double df,
                              const double *scale, int is_inverse, double *draws, warpbayes_message *message);

/* interface/polyagamma/polyagamma_interface.c */
int wb_interface_polyagamma_draw(const warpbayes_source *from, int64_t count, const double *shape, int64_t shapes,
                                 const double *tilt, int64_t tilts, double *draws, warpbayes_message *message);

/* interface/categorical/categorical_interface.c */
int wb_interface_categorical_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *weights,
                                  int is_log, int64_t draws, int32_t *items, warpbayes_message *message);

/* interface/pmf/pmf_interface.c */
int wb_interface_pmf_convolve(int64_t m, const double *p, int64_t n, const double *q, int is_log, double accuracy,
                              int32_t threads, double *r, warpbayes_message *message);

/* interface/mixture/mixture_interface.c */
int wb_interface_mixture_evaluate(const warpbayes_mixture *mixture, int64_t rows, const double *x, int32_t threads,
                                  double *log_density, double *probability, int32_t *component,
                                  warpbayes_message *message);
int wb_interface_mixture_allocate(const warpbayes_source *from, const warpbayes_mixture *mixture, int64_t rows,
                                  const double *x, int32_t *component, double *log_density, warpbayes_message *message);
