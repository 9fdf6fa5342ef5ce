/* Regressions by Polya-Gamma variables, the Gibbs sampler of Polson, Scott & Windle (2013, JASA 108, 1339-1349): the
 * interface for src/entry. Functions return a wb_status. On failure they have written into the message. */
#pragma once

#include "regression/dual_draw.h"
#include "regression/level_moves.h"

/* Traces of `count` sweeps from number `iteration` on. Each array is sweeps x its length, column-major, or NULL. */
typedef struct wb_regression_sweeps {
  int32_t count;
  uint32_t iteration;
  double *coefficients;   /* columns x outcomes */
  double *log_likelihood; /* up to a constant that does not depend on the dispersion */
  double *dispersion, *group_deviation;
  /* For each outcome and block the root of its variance, and behind it the correlation of an autoregression. */
  double *block_deviation;
  /* Intercepts of groups or effects of terms of `kept_count` sweeps: `kept_first` (from 0), every `kept_every`-th. */
  int32_t kept_first, kept_every, kept_count;
  double *kept;        /* intercepts, or effects x outcomes, x kept_count */
  double *covariances; /* Sigma of all terms of each outcome, packed; in the units of the computation */
} wb_regression_sweeps;

/* Starts a chain, as sweep 0. With spread > 0 it starts near the mode of the posterior, and the state's ellipse is
 * made: see ellipse.h. A regression with several outcomes that can have no moves starts at the given coefficients plus
 * a quarter of `spread` times normal draws. With spread = 0 it starts from the given state. */
int wb_regression_start(const wb_regression_chain *chain, double spread);

int wb_regression_run(const wb_regression_chain *chain, const wb_regression_sweeps *sweeps);

/* Draws Polya-Gamma variables given the coefficients of the first outcome in the state, then new coefficients. The
 * chain has no session before and after. On return the state's statistics are sums of these variables. */
int wb_regression_step(const wb_call *call, const wb_regression_data *data, wb_regression_chain *chain,
                       uint32_t iteration);

/* Predicts rows first..first + count - 1 from draws of the coefficients, as stats::quantile() and sd() of R would.
 * `probability`: of the two quantiles, ascending; sets their indices. */
int wb_regression_predict(const wb_call *call, wb_regression_prediction *prediction, const double *probability,
                          int64_t first, int64_t count, double *out);

/* A chain while it sweeps, with its working memory. */
typedef struct wb_regression_sweeper {
  wb_regression_chain chain; /* with a pointer to `system`: a sweeper is not copied */
  wb_regression_dual system;
  wb_level_room levels;
  double *room, *more;
  void *memory;
} wb_regression_sweeper;

/* Close it whatever open() returned. */
int wb_regression_sweeper_open(const wb_regression_chain *chain, wb_regression_sweeper *sweeper);
void wb_regression_sweeper_close(wb_regression_sweeper *sweeper);

/* One sweep. On return the state holds the statistics for the next sweep, unless that begins with a pass that draws. No
 * log likelihood where complete() changes the rows (backend/regression_table.h). */
int wb_regression_sweep(wb_regression_sweeper *sweeper, uint32_t iteration, double *log_likelihood);

void wb_regression_note(const wb_regression_sweeps *sweeps, const wb_regression_chain *chain, int32_t sweep,
                        double log_likelihood);
