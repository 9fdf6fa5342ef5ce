/* Zero-inflated and hurdle counts: a regression of counts and a regression of zeros, whose rows are the same
 * (core/regression_zero.h). A sweep completes the data, which makes them two regressions that know nothing of each
 * other; each takes its sweep; and a move of all coefficients and of the dispersion follows, which does not need the
 * completed data. Excess zeros and a small dispersion explain the same zeros, so that sweeps alone mix slowly. The move
 * leaves effects of groups as they are. With intercepts in both regressions, a move along the ridge of the same zeros
 * (zeros.c) comes before it. */
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
