/* Sums of independent discrete random variables: the interface for src/entry.
 *
 * A distribution is a vector of weights: finite, not negative, at least one positive; with log = 1 of their logarithms,
 * -inf for zero. Functions that can fail return a wb_status, with a message except for WB_INTERRUPTED. */
#pragma once

#include "backend/backend.h"
#include "core/weight_look.h"
#include "numeric/fft.h"
#include "numeric/poll.h"

/* How the sums of a call are computed. */
typedef struct wb_pmf_method {
  wb_call *call;
  /* The backend's table, for direct sums; sums too short to be worth copying use the CPU's, with the same bits. */
  const wb_pmf_functions *table;
  double accuracy;     /* relative error allowed to the fast method; 0: direct sums alone */
  wb_fft_cache *cache; /* the caller's tables for transforms */
} wb_pmf_method;

/* Whether each row of a column-major matrix is a distribution. Large: a weight of 2^500 or more may overflow. */
enum { WB_PMF_UNUSABLE = 0, WB_PMF_USABLE = 1, WB_PMF_LARGE = 2 };
int wb_pmf_look(int64_t rows, int64_t columns, const double *x, int log);

/* Checks the weights of all pairs in `work`. The strides belong to column-major matrices with one pair in a row; a
 * vector is a matrix of one row. WB_ERROR_INPUT if a row is not a distribution. *seen: see wb_pmf_functions. */
int wb_pmf_check_pairs(const wb_convolution *work, int log, unsigned *seen, wb_message *message);

/* WB_ERROR_INPUT if unusable weights have been seen. */
int wb_pmf_check_seen(unsigned seen, wb_message *message);

/* WB_ERROR_INPUT if a weight of the result has overflowed. That is possible only if large weights were seen. */
int wb_pmf_check_result(unsigned seen, int64_t count, const double *result, wb_message *message);

/* Whether wb_pmf_convolve_pairs() checks the weights while it computes. If not, call wb_pmf_check_pairs() before it. */
int wb_pmf_sees_pairs(const wb_pmf_method *method, const wb_convolution *work, int log);

/* All outputs of the pairs in `work`. log = 1: logarithms in and out. Adds to *seen what it sees of the weights. */
int wb_pmf_convolve_pairs(const wb_pmf_method *method, const wb_convolution *work, int log, unsigned *seen);

/* The first `count` entries of the sum of two vectors of weights, at most m + n - 1. */
int wb_pmf_convolve_first(const wb_pmf_method *method, int64_t m, const double *p, int64_t n, const double *q,
                          int64_t count, double *r);

/* The outputs that `work` names, by direct sums through `table`. It also checks weights if `seen` is not NULL. */
int wb_pmf_direct(const wb_pmf_method *method, const wb_pmf_functions *table, const wb_convolution *work,
                  unsigned *seen);

/* Distributions to be added, each with at least one weight. */
typedef struct wb_pmf_terms {
  int64_t count;
  const int64_t *length;
  const double *const *values;
  int log;
} wb_pmf_terms;

int wb_pmf_check_terms(const wb_pmf_terms *terms, wb_message *message);

/* The distribution of the sum; it has sum of (length - 1) + 1 entries. */
int wb_pmf_sum(const wb_pmf_method *method, const wb_pmf_terms *terms, double *result);

/* The sum of `times` >= 1 independent copies of the single term; it has times * (length - 1) + 1 entries. */
int wb_pmf_repeat(const wb_pmf_method *method, const wb_pmf_terms *term, int64_t times, double *result);

/* A random number's law: p_0 = none, p_1 = (a + b) p_0 + alone, p_n = (a + b/n) p_{n-1}; 0 <= a < 1, a + b >= 0. */
typedef struct wb_pmf_counting {
  double a, a_plus_b, none, alone;
} wb_pmf_counting;

/* The first `outputs` entries of the sum of a random number of variables with weights f, without f[0], go into g. */
int wb_pmf_compound(const wb_pmf_method *method, const wb_pmf_counting *counting, int64_t size, const double *f,
                    int64_t outputs, double *g);

/* How many groups of `size` of the n scores have each sum, times 2^-900. Scores are whole numbers from 0 in increasing
 * order. `result` has an entry for each sum from that of the least scores to that of the largest. Numbers of groups are
 * exact up to 2^53, with relative errors below n 2^-53 beyond; the largest must be below 2^1900. */
int wb_pmf_count_groups(wb_call *call, int64_t n, const double *scores, int64_t size, double *result);

/* How probable each sum of `size` scores drawn at random is, as above. Typical relative errors are 1e-13. An error is
 * at most 1e-13 times the largest probability within 2.5 standard deviations of a tilt whose mean is near the sum. */
int wb_pmf_rank_sums(wb_call *call, int64_t n, const double *scores, int64_t size, double *result);

/* A variable with few values, which are whole numbers from 0 in increasing order, and their weights. */
typedef struct wb_pmf_values {
  int64_t count;
  const double *at, *weight;
} wb_pmf_values;

/* The first weights of the sum of a variable with the weights x and `terms` others, whose values begin with 0. Of the
 * sum with the first k + 1 of them outputs[k] weights are kept, at least `count` and not fewer than before. */
int wb_pmf_add_values(wb_call *call, int64_t count, const double *x, int64_t terms, const wb_pmf_values *values,
                      const double *outputs, double *result);

/* result[i] = p[i] q[i] / sum_k p[k] q[k]. WB_ERROR_INPUT if all products are zero. */
int wb_pmf_condition(wb_call *call, int64_t count, const double *p, const double *q, int log_in, int log_out,
                     double *result);

/* result[i] is the sum of entries 0..i, or from i on (upper = 1). Relative error: a few 2^-53 at any length. */
int wb_pmf_cumulate(wb_call *call, int64_t count, const double *x, int log, int upper, double *result);

/* Draws positions (from 0) with probabilities whose cumulative sums are given. Draw i depends on (seed, i) alone. */
int wb_pmf_draw(int64_t count, const double *cumulative, uint64_t seed, int64_t draws, double *position, wb_poll *poll);
