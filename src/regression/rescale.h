/* The factor of the effects of groups and of their deviation, which is drawn given everything else. Effects and
 * deviation otherwise hold each other where they are (Liu & Sabatti 2000, "Generalised Gibbs sampler and multigrid
 * Monte Carlo for Bayesian computation", Biometrika 87, 353-369, with the group of scales). */
#pragma once

#include "core/philox.h"

/* The log density of t = log(c), where c is the factor, without the auxiliary variable of the deviation's prior:
 *   linear c - square c^2/2 - power t - (power + 1)/2 log(tie/c^2 + floor).
 * The first two are of the likelihood. The effects' own density and the Jacobian of their change cancel. */
typedef struct wb_regression_factor_law {
  double linear, square, power, tie, floor;
} wb_regression_factor_law;

/* A draw of t by slice sampling from t = 0. */
double wb_regression_draw_log_factor(const wb_regression_factor_law *law, wb_stream *stream);
