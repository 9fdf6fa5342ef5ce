/* Zero-inflated and hurdle counts: regressions of counts and of zeros with the same rows (core/regression_zero.h). A
 * sweep completes the data, which makes them two regressions that know nothing of each other; each takes its sweep.
 * Excess zeros and a small dispersion explain the same zeros, so that sweeps alone mix slowly: a move of all
 * coefficients and of the dispersion follows, without the completed data. With intercepts in both, a move along the
 * ridge of the same zeros (zeros.c) comes before it. */
#pragma once

#include "regression/regression.h"

/* The most coordinates that are moved. */
#define WB_REGRESSION_MOST_MOVED 101

typedef struct wb_regression_both {
  wb_regression_chain counts, zeros;
  double *ellipse; /* whether there are moves; and then the mode, and the root of the precision there, packed */
} wb_regression_both;

/* There are moves up to so many coordinates, if no regression has more coefficients than rows. */
size_t wb_regression_both_ellipse(const wb_regression_both *both);

/* Starts both chains near their modes. The key of the regression of zeros is made from that of the counts. */
int wb_regression_both_start(wb_regression_both *both, double spread);

/* Sweeps. The traces of the counts get the log likelihood. */
int wb_regression_both_run(wb_regression_both *both, const wb_regression_sweeps *counts,
                           const wb_regression_sweeps *zeros);
