/* Uniform, normal, gamma, beta and Dirichlet draws by the laws of core/, for callers outside the package. Element i's
 * draw depends only on (key, purpose, iteration, i) and its own parameters. */
#ifndef WB_VARIATES_H
#define WB_VARIATES_H

#include "backend/types.h"

/* Draws of `count` elements from `first` on. */
typedef struct wb_variates {
  uint64_t key;
  uint32_t iteration;
  uint64_t first;
  int64_t count;
  double *draws;
} wb_variates;

/* One draw of each element. */
void wb_variates_uniform(const wb_variates *work, wb_isa isa);
void wb_variates_normal(const wb_variates *work, wb_isa isa);

/* The parameters are recycled: element first + i has those at place begin + i. With `is_log` the draws are
 * logarithms. */
typedef struct wb_variates_law {
  const double *a, *b; /* b: for beta draws */
  int64_t as, bs;      /* their lengths */
  int64_t begin;
  int is_log;
} wb_variates_law;
void wb_variates_gamma(const wb_variates *work, const wb_variates_law *law, wb_isa isa);
void wb_variates_beta(const wb_variates *work, const wb_variates_law *law);

/* One row of `columns` numbers for each element: element first + i writes draws[i + j * stride]. Its parameters are
 * shape[i * shape_step + j * shape_stride]. */
typedef struct wb_variates_rows {
  int64_t columns, stride;
  const double *shape;
  int64_t shape_step, shape_stride;
  int is_log;
} wb_variates_rows;
int wb_variates_dirichlet(const wb_variates *work, const wb_variates_rows *rows, wb_message *message);

/* The stream of one element, for draws one after the other. It holds a wb_stream of core/philox.h. */
#define WB_VARIATES_STREAM_WORDS 6
void wb_variates_stream_open(uint64_t key, uint32_t iteration, uint64_t element, uint64_t *stream);
/* Whether the stream was opened. */
int wb_variates_stream_is(const uint64_t *stream);
void wb_variates_stream_uniform(uint64_t *stream, int64_t count, double *draws);
void wb_variates_stream_normal(uint64_t *stream, int64_t count, double *draws);
void wb_variates_stream_gamma(uint64_t *stream, const wb_variates_law *law, int64_t count, double *draws);
void wb_variates_stream_beta(uint64_t *stream, const wb_variates_law *law, int64_t count, double *draws);
int wb_variates_stream_dirichlet(uint64_t *stream, int64_t count, const double *shape, int is_log, double *draws,
                                 wb_message *message);

#endif
