/* Sums of independent discrete random variables: what the entries call. Weights
 * are finite and not negative; "wide" weights are those of cpu/wide.h. Functions
 * return a wb_status and on failure have written into the message. */
#ifndef WB_PMF_H
#define WB_PMF_H

#include "backend/backend.h"
#include "numeric/fft.h"
#include "numeric/wide.h"

typedef struct wb_pmf_context {
  const wb_backend *backend;
  wb_run run;
  double accuracy; /* relative error allowed to the fast method; 0: direct sums */
  int (*interrupted)(void); /* whether to stop, asked between slices of work; or NULL */
  wb_fft_cache *cache;      /* the caller's, for transforms; never NULL */
} wb_pmf_context;

/* A status beside those of backend.h: `interrupted` said so. */
#define WB_PMF_INTERRUPTED 100

/* Products of one slice: less than a second, even on the slowest of paths. */
#define WB_PMF_SLICE 1e10

/* Products of lengths from which the fast method is considered: one transform of
 * vectors as they are, and windows. */
#define WB_PMF_FLAT_FROM 262144.0
#define WB_PMF_FAST_FROM 6.7e7

/* Whether all weights are finite and not negative (-0 counts as negative), or are
 * logarithms that wide numbers hold, and one in each row is positive. Columns lie
 * one after the other; a vector is one row. */
int wb_pmf_usable(int64_t rows, int64_t columns, const double *x, int log);

/* Up to so many products a second thread is of no use and no window is tried. */
#define WB_PMF_SHORT 4e6

/* r of m + n - 1 entries. */
int wb_pmf_convolve(const wb_pmf_context *context, int64_t m, const double *p, int64_t n, const double *q,
                    double *r, wb_message *message);

/* `pairs` convolutions of vectors with strides, as in wb_convolution. */
int wb_pmf_convolve_batch(const wb_pmf_context *context, const wb_convolution *work, wb_message *message);

/* The outputs that `work` names, by direct sums, whichever vector is the longer. */
int wb_pmf_convolve_part(const wb_pmf_context *context, const wb_convolution *work, wb_message *message);

/* The same as wb_pmf_convolve_batch with logarithms of weights in and out. */
int wb_pmf_convolve_batch_log(const wb_pmf_context *context, const wb_convolution *work, wb_message *message);

/* r->mantissa and r->exponent have room for the m + n - 1 entries. */
int wb_pmf_convolve_wide(const wb_pmf_context *context, const wb_wide *p, const wb_wide *q, wb_wide *r,
                         wb_message *message);

/* One transform for most entries and direct sums for those at the ends; *done is 0
 * where that does not pay, and then r is not written. m <= n. (pmf_flat.c) */
int wb_pmf_convolve_flat(const wb_pmf_context *context, int64_t m, const double *p, int64_t n, const double *q,
                         double *r, int *done, wb_message *message);

/* Both scales in one: the fast method, by windows. Into `r`, or into the wide `r_wide`
 * if r is NULL; p_plain and q_plain are given with r. (pmf_window.c) */
int wb_pmf_convolve_windows(const wb_pmf_context *context, const wb_wide *p, const wb_wide *q,
                            const double *p_plain, const double *q_plain, double *r, wb_wide *r_wide,
                            wb_message *message);

/* The distribution of a sum of many. In and out are doubles, or wide with
 * log = 1, when `values` and `result` hold logarithms. */
typedef struct wb_pmf_terms {
  int64_t count;
  const int64_t *length;
  const double *const *values;
  int log;
} wb_pmf_terms;

/* result: sum of (length - 1) + 1 entries. */
int wb_pmf_sum(const wb_pmf_context *context, const wb_pmf_terms *terms, double *result, wb_message *message);

/* The sum of `times` independent copies: times * (length - 1) + 1 entries. */
int wb_pmf_repeat(const wb_pmf_context *context, int64_t length, const double *values, int log, int64_t times,
                  double *result, wb_message *message);

/* r[i] = p[i] q[i] / sum, with logarithms in or out as said; WB_ERROR_INPUT where
 * all products are zero. */
int wb_pmf_product(int64_t count, const double *p, const double *q, int log_in, int log_out, double *r,
                   wb_isa isa, wb_message *message);

/* Sums over all entries up to each one, or from each one on (upper = 1), with
 * errors of a few last places whatever the length; logarithms in and out with
 * log = 1. */
int wb_pmf_cumulate(int64_t count, const double *x, int log, int upper, double *result, wb_isa isa,
                    wb_message *message);

/* Positions (from 0) drawn with probabilities whose cumulative sums are given;
 * draw i depends on (seed, i) alone. */
void wb_pmf_draw(int64_t count, const double *cumulative, uint64_t seed, int64_t draws, double *position);

#endif
