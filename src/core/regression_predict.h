/* Summaries of a regression's draws for one row: means of the response, their standard deviation, and quantiles as R's
 * stats::quantile() has them (type 7: Hyndman & Fan 1996, American Statistician 50, 361-365). */
#pragma once

#include "core/elementary.h"

/* Draw d is added to accumulator d mod WB_PREDICT_LANES; wb_predict_fold() adds the accumulators. */
#define WB_PREDICT_LANES 8

WB_HD double wb_predict_fold(const double *sum) {
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* 1/(1 + exp(-psi)), relative accuracy for psi above -708, 0 below. */
WB_HD double wb_predict_probability(double psi) {
  const double small = wb_exp_weight(psi < 0.0 ? psi : -psi);
  const double inverse = 1.0 / (1.0 + small);
  return wb_select(psi < 0.0, small * inverse, inverse);
}

/* Mean and standard deviation of `draws` values from sums of differences to one of them, and of their squares. */
WB_HD double wb_predict_mean(double shift, double sum, double draws) { return shift + sum / draws; }
WB_HD double wb_predict_variance(double sum, double squares, double draws) {
  const double rest = wb_fma(-sum, sum / draws, squares);
  return (rest > 0.0 ? rest : 0.0) / (draws - 1.0);
}

/* The value between two neighbours in order, a part of the way from the first. */
WB_HD double wb_predict_between(double first, double second, double part) {
  return part > 0.0 && second != first ? (1.0 - part) * first + part * second : first;
}
