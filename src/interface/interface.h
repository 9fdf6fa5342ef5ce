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

/* The key of categorical draws, which have no iteration of their own. */
uint64_t wb_interface_iterated_key(const warpbayes_source *from);

/* interface/variates_interface.c. Laws of one number have a function for streams and one for many elements: their name,
 * the nanoseconds of a draw, their parameters in C, and how these are read. */
#define WB_OPEN(...) __VA_ARGS__
#define WB_NUMBER_LAWS(LAW) \
  LAW(uniform, WB_VARIATE_UNIFORM, 1, (), (0)) \
  LAW(normal, WB_VARIATE_NORMAL, 4, (), (0)) \
  LAW(exponential, WB_VARIATE_EXPONENTIAL, 3, (), (0)) \
  LAW(gumbel, WB_VARIATE_GUMBEL, 4, (), (0)) \
  LAW(gamma, WB_VARIATE_GAMMA, 20, (const double *shape, int64_t shapes, int is_log, ), \
      (.a = shape, .as = shapes, .is_log = is_log)) \
  LAW(beta, WB_VARIATE_BETA, 300, (const double *a, int64_t as, const double *b, int64_t bs, int is_log, ), \
      (.a = a, .b = b, .as = as, .bs = bs, .is_log = is_log)) \
  LAW(truncated_normal, WB_VARIATE_TRUNCATED_NORMAL, 60, \
      (const double *lower, int64_t lowers, const double *upper, int64_t uppers, ), \
      (.a = lower, .b = upper, .as = lowers, .bs = uppers)) \
  LAW(binomial, WB_VARIATE_BINOMIAL, 60, (const double *size, int64_t sizes, const double *prob, int64_t probs, ), \
      (.a = size, .b = prob, .as = sizes, .bs = probs))
#define WB_DECLARE_LAW(name, kind, nanoseconds, parameters, law) \
  int wb_interface_stream_##name(warpbayes_stream *stream, int64_t count, WB_OPEN parameters double *draws, \
                                 warpbayes_message *message); \
  int wb_interface_##name##_draw(const warpbayes_source *from, int64_t count, WB_OPEN parameters double *draws, \
                                 warpbayes_message *message);
WB_NUMBER_LAWS(WB_DECLARE_LAW)
uint64_t wb_interface_key(uint64_t seed, uint32_t stream);
int wb_interface_stream_open(uint64_t key, uint32_t iteration, uint64_t element, warpbayes_stream *stream,
                             warpbayes_message *message);
int wb_interface_stream_dirichlet(warpbayes_stream *stream, int64_t count, const double *shape, int is_log,
                                  double *draws, warpbayes_message *message);
int wb_interface_dirichlet_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *shape,
                                int each_row, int is_log, double *draws, warpbayes_message *message);

int wb_interface_stream_multinomial(warpbayes_stream *stream, int64_t columns, double size, const double *weights,
                                    double *draws, warpbayes_message *message);
int wb_interface_stream_multivariate_normal(warpbayes_stream *stream, int64_t columns, const double *mean,
                                            const double *matrix, int is_precision, double *draws,
                                            warpbayes_message *message);
int wb_interface_stream_wishart(warpbayes_stream *stream, int64_t columns, double df, const double *scale,
                                int is_inverse, double *draws, warpbayes_message *message);
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
