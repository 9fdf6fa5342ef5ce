/* Draws by the laws of core/, for callers outside. Draw i depends on (key, law, iteration, i) and its parameters. */
#pragma once

#include "backend/types.h"

/* The random generator's key of a chain, which depends on the seed and the chain alone; chains of a seed differ. */
uint64_t wb_chain_key_of(uint64_t seed, uint32_t chain);

typedef enum wb_variate {
  WB_VARIATE_UNIFORM,
  WB_VARIATE_NORMAL,
  WB_VARIATE_EXPONENTIAL,
  WB_VARIATE_GUMBEL,
  WB_VARIATE_GAMMA,            /* a: shape */
  WB_VARIATE_BETA,             /* a, b */
  WB_VARIATE_TRUNCATED_NORMAL, /* a: lower bound, b: upper bound */
  WB_VARIATE_BINOMIAL,         /* a: trials, b: probability */
  WB_VARIATE_DIRICHLET,        /* parameters: shapes */
  WB_VARIATE_MULTINOMIAL,      /* parameters: weights; trials */
  WB_VARIATE_NORMAL_VECTOR,    /* parameters: mean; factor, of the covariance or of its inverse */
  WB_VARIATE_WISHART           /* df; factor, of the scale */
} wb_variate;

typedef struct wb_variates {
  wb_variate kind;
  uint64_t key;
  uint32_t iteration;
  uint64_t first;
  int64_t count;
  double *draws;
} wb_variates;

/* Kinds with one number an element. Parameters recycle: first + i has those at begin + i. `is_log`: logarithms. */
typedef struct wb_variates_law {
  const double *a, *b;
  int64_t as, bs; /* their lengths */
  int64_t begin;
  int is_log;
} wb_variates_law;
void wb_variates_draw(const wb_variates *work, const wb_variates_law *law, wb_isa isa);

/* Of kinds with many numbers for each element. Element first + i writes draws[i * step + j * stride], j < columns, or a
 * matrix of columns x columns. Its parameters are parameters[i * parameter_step + j * parameter_stride]. */
typedef struct wb_variates_rows {
  int64_t columns, step, stride;
  const double *parameters;
  int64_t parameter_step, parameter_stride;
  int is_log;
  const double *trials; /* recycled: element first + i has those at place begin + i */
  int64_t trial_count, begin;
  const double *factor; /* by wb_variates_factor() */
  int is_inverse;       /* the factor is of the inverse; Wishart: the inverse of a Wishart matrix is drawn */
  double df;
} wb_variates_rows;
int wb_variates_draw_rows(const wb_variates *work, const wb_variates_rows *rows, wb_message *message);

/* *factor: the Cholesky factor of a matrix's lower triangle, for wb_variates_free(). `name` is for the message. */
int wb_variates_factor(const char *name, int64_t columns, const double *matrix, double **factor, wb_message *message);
void wb_variates_free(double *factor);

/* The stream of one element, for draws one after the other. It holds a wb_stream of core/philox.h. */
#define WB_VARIATES_STREAM_WORDS 6
void wb_variates_stream_open(uint64_t key, uint32_t iteration, uint64_t element, uint64_t *stream);
int wb_variates_stream_is(const uint64_t *stream);
void wb_variates_stream_draw(uint64_t *stream, wb_variate kind, const wb_variates_law *law, int64_t count,
                             double *draws);
int wb_variates_stream_draw_row(uint64_t *stream, wb_variate kind, const wb_variates_rows *rows, double *draws,
                                wb_message *message);
