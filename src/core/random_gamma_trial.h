/* Gamma draws for vectorized loops over many elements: one rejection trial without branches. A draw is the first
 * accepted of trials 0, 1, ...; trial t takes the two words of block t of the element's stream.
 *
 * Shape below 1: Ahrens & Dieter 1974, "Computer methods for sampling from gamma, beta, Poisson and binomial
 * distributions", Computing 12, 223-246, algorithm GS; draws below 2^-1022 are 0. Otherwise as in random_gamma.h. */
#pragma once

#include "core/random_gamma.h"

typedef struct wb_gamma_small {
  double inverse;  /* 1/shape */
  double bound;    /* 1 + shape/e */
  double exponent; /* shape - 1 */
} wb_gamma_small;

WB_HD double wb_gamma_small_bound(double shape) { return wb_fma(shape, 0.36787944117144233, 1.0); }
WB_HD wb_gamma_small wb_gamma_small_of(double shape) {
  wb_gamma_small small;
  small.inverse = 1.0 / shape;
  small.bound = wb_gamma_small_bound(shape);
  small.exponent = shape - 1.0;
  return small;
}

/* The proposal of a trial. With p = bound * u, it is below 1 if p < 1. */
WB_HD double wb_gamma_small_propose(double inverse, double bound, double u) {
  const double p = bound * u;
  const int below = p < 1.0;
  const double x = wb_log(wb_select(below, p, (bound - p) * inverse));
  return wb_select(below, wb_exp_weight(wb_select(below, x * inverse, 0.0)), -x);
}

/* A quick test that proves acceptance: exp(-x) >= 1 - x + x^2/2 - x^3/6 below 1, x^(shape - 1) >= 1/x above. */
WB_HD int wb_gamma_small_quick(double x, double v) {
  const double cubic = wb_fma(x, wb_fma(x, wb_fma(x, -0.16666666666666666, 0.5), -1.0), 1.0);
  return ((x < 1.0) & (v <= cubic)) | ((x >= 1.0) & (v * x <= 1.0));
}

/* A quick test that proves rejection: exp(-x) <= 1 - x + x^2/2. The margin is larger than the rounding errors. */
WB_HD int wb_gamma_small_refuse(double x, double v) {
  const double square = wb_fma(x, wb_fma(x, 0.5, -1.0), 1.0);
  return (x < 1.0) & (v > square + 1e-14);
}

/* Whether the proposal is accepted; true wherever the quick test is. */
WB_HD int wb_gamma_small_accept(double exponent, double x, double v) {
  const int below = x < 1.0;
  const double other = exponent * wb_log(wb_select(below, 1.0, x));
  return (v <= wb_exp_weight(wb_select(below, -x, other))) | wb_gamma_small_quick(x, v);
}

/* The proposal d (1 + t)^3 of a trial, for shape d + 1/3 >= 1 and scale = 1/sqrt(9 d). The tests need t. */
WB_HD double wb_gamma_large_propose(double d, double scale, double normal, double *t) {
  *t = scale * normal;
  const double root = 1.0 + *t;
  return d * (root * root * root);
}
WB_HD int wb_gamma_large_quick(double normal, double t, double v) {
  const double square = normal * normal;
  return (t > -1.0) & (v < wb_fma(-0.0331 * square, square, 1.0));
}
WB_HD int wb_gamma_large_accept(double d, double normal, double t, double v) {
  const double within = wb_select(t > -1.0, t, 0.0);
  const double one_minus_v = -within * wb_fma(within, within + 3.0, 3.0);
  const double log_ratio = wb_fma(d, wb_fma(3.0, wb_log1p(within), one_minus_v), 0.5 * normal * normal);
  return ((t > -1.0) & (wb_log(v) < log_ratio)) | wb_gamma_large_quick(normal, t, v);
}

/* One draw of any shape, by trials from `trial` on. */
WB_HD double wb_draw_gamma_by_trials(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element, double shape,
                                     uint32_t trial) {
  const uint32_t c2 = wb_philox_c2(purpose, element);
  const int is_small = shape < 1.0;
  const wb_gamma_small small = wb_gamma_small_of(shape);
  const double d = shape - 0.3333333333333333;
  const double scale = is_small ? 0.0 : 1.0 / wb_sqrt(9.0 * d);
  for (;; trial++) {
    const wb_bits bits = wb_philox(key, trial, (uint32_t)element, c2, iteration);
    const double u = wb_uniform(wb_bits64(bits, 0)), v = wb_uniform(wb_bits64(bits, 1));
    if (is_small) {
      const double x = wb_gamma_small_propose(small.inverse, small.bound, u);
      if (wb_gamma_small_accept(small.exponent, x, v)) return x;
    } else {
      double t;
      const double normal = wb_normal_quantile_within(u);
      const double x = wb_gamma_large_propose(d, scale, normal, &t);
      if (wb_gamma_large_accept(d, normal, t, v)) return x;
    }
  }
}
