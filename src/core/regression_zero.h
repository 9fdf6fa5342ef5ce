/* One row of zero-inflated or hurdle counts (Lambert 1992, Technometrics 34, 1-14; Mullahy 1986, Journal of
 * Econometrics 33, 341-365). With probability logistic(zero) the row is an excess zero (hurdle: any zero), otherwise a
 * count (hurdle: above 0). `size` is the dispersion r of a negative binomial count, whose logit is psi, or the r of the
 * surrogate of a Poisson count (core/regression_row.h), whose mean is r exp(psi).
 *
 * What completes the data: a count of 0 is an excess zero with the probability of wb_zero_share(). A count above 0
 * beyond a hurdle comes after some zeros that nobody saw, at least j of them with the probability exp(none)^j. */
#pragma once

#include "core/philox.h"
#include "core/regression_row.h"

WB_HD double wb_zero_softplus(double x) {
  double size = x < 0.0 ? -x : x, above = x < 0.0 ? 0.0 : x;
  return above + wb_log1p(wb_exp_weight(-size));
}

WB_HD double wb_zero_log_none(int poisson, double size, double psi) {
  return -size * (poisson ? wb_exp(psi) : wb_zero_softplus(psi));
}

/* log(1 - exp(none)), and its bound where the mean of the counts is so small that 1 - exp(none) underflows. */
WB_HD double wb_zero_log_some(double none) { return wb_log(-wb_expm1(none < -1e-300 ? none : -1e-300)); }

/* The log likelihood, up to a constant that depends on the dispersion at most. `counted`: of the count alone. */
WB_HD double wb_zero_log_likelihood(int hurdle, double count, double counted, double none, double zero) {
  double other = none - zero, gap = other < 0.0 ? -other : other;
  double both = (other < 0.0 ? zero : none) + wb_log1p(wb_exp_weight(-gap));
  double of_zero = hurdle ? zero : both, of_count = hurdle ? counted - wb_zero_log_some(none) : counted;
  return wb_select(count == 0.0, of_zero, of_count) - wb_zero_softplus(zero);
}

WB_HD double wb_zero_log_count(int poisson, double count, double size, double shift, double psi) {
  return poisson ? wb_fma(count, psi, -size * wb_exp(psi)) : wb_regression_log_counts(count, count + size, shift, psi);
}

WB_HD double wb_zero_share(double none, double zero) { return 1.0 / (1.0 + wb_exp(none - zero)); }

/* How many of `weight` counts of 0 are excess zeros, or how many zeros were missed before `weight` counts above 0. The
 * expectations if `key` is NULL. Larger numbers than 1e15 are of means below 1e-15. */
WB_HD_CALLED double wb_zero_complete(int hurdle, double weight, double none, double zero, const uint64_t *key,
                                     uint32_t iteration, uint64_t row) {
  const double share = wb_zero_share(none, zero), most = 1e15;
  if (key == NULL) {
    const double missed = wb_exp(none - wb_zero_log_some(none));
    return weight * (hurdle ? (missed < most ? missed : most) : share);
  }
  wb_stream stream = wb_stream_open(*key, WB_PURPOSE_ZERO, iteration, row);
  double sum = 0.0;
  for (double i = 0.0; i < weight; i += 1.0) {
    const double u = wb_stream_uniform(&stream), missed = wb_log(u) / none;
    sum += hurdle ? (missed < most ? (double)(int64_t)missed : most) : u < share;
  }
  return sum;
}

/* The multiple of the dispersion in a row of counts, and kappa of the row of zeros. `more`: wb_zero_complete() or 0. */
WB_HD void wb_zero_completed(int hurdle, double count, double weight, double unit, double more, double *dispersed,
                             double *kappa) {
  const double excess = count > 0.0 ? 0.0 : hurdle ? weight : more;
  *dispersed = unit * (weight - excess + (hurdle ? more : 0.0));
  *kappa = excess - 0.5 * weight;
}

/* What a row knows of the linear predictor of the counts (`part` 0) or zeros (1), with what completes the data summed
 * out: the slope of its log likelihood, and less its second derivative (Louis 1982, Journal of the Royal Statistical
 * Society B 44, 226-233), which may be negative. */
WB_HD_CALLED void wb_zero_inform(int part, int poisson, int hurdle, double count, double weight, double size,
                                 double psi, double zero, double *slope, double *information) {
  const double none = wb_zero_log_none(poisson, size, psi), share = wb_zero_share(none, zero), most = 1e15;
  if (part == 1) {
    const double p = wb_zero_share(0.0, zero), excess = count > 0.0 ? 0.0 : hurdle ? 1.0 : share;
    *slope = weight * (excess - p);
    *information = weight * wb_fma(p, 1.0 - p, -excess * (1.0 - excess));
  } else {
    /* The expected number of counts of 0 that belong to the row, or were missed before it, and its variance. */
    const double missed = wb_exp(none - wb_zero_log_some(none)), some = missed < most ? missed : most;
    const double zeros = hurdle == (count == 0.0) ? 0.0 : hurdle ? some : 1.0 - share;
    const double variance = zeros * (hurdle ? 1.0 + zeros : 1.0 - zeros), all = zeros + (count > 0.0 ? 1.0 : 0.0);
    const double p = poisson ? 0.0 : wb_zero_share(0.0, psi), mean = size * (poisson ? wb_exp(psi) : p);
    *slope = weight * wb_fma(1.0 - p, count, -all * mean);
    *information = weight * wb_fma(1.0 - p, wb_fma(all, mean, count * p), -variance * mean * mean);
  }
}
