/* One row of a regression whose likelihood is normal given Polya-Gamma variables (Polson, Scott & Windle 2013, JASA
 * 108, 1339-1349). Given a row's logit psi, its likelihood is proportional to
 *   exp(psi)^a / (1 + exp(psi))^b = exp(kappa psi) (2 cosh(psi/2))^-b,  kappa = a - b/2,
 * and, with omega ~ PG(b, psi), to exp(kappa psi - omega psi^2/2). The logit is the sum of a part that is linear in
 * what is to be drawn and a fixed part. So omega is the weight of the row in X'WX, and
 *   kappa - omega * fixed
 * its weight in the linear term of the coefficients.
 *   binomial           a = successes, b = trials
 *   negative binomial  a = y, b = y + r, psi = log(mean) - log(r)
 *   Poisson            its surrogate is the negative binomial row with a large r; see wb_regression_log_poisson()
 *   multinomial        outcome by outcome: a = its count, b = all counts, fixed = its offset and effects - log of the
 *                      sum of the other outcomes' exp(predictor) (ibid., section 4.3 of its supplement) */
#pragma once

#include "core/elementary.h"
#include "core/polyagamma_moments.h"
#include "core/unroll.h"

/* A value of the design in the units of the computation. */
WB_HD double wb_regression_scaled(double x, double center, double inverse_scale) {
  return (x - center) * inverse_scale;
}

/* Parts of a product of a column and a vector, and their sum: row i is in part i mod WB_REGRESSION_LANES. */
#define WB_REGRESSION_LANES 8
WB_HD double wb_regression_fold(const double *part) {
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

WB_HD double wb_regression_log_cosh(double psi) {
  double size = psi < 0.0 ? -psi : psi;
  return wb_fma(0.5, size, wb_log_biased(1.0 + wb_exp_weight(-size), 1023.0, -0.0));
}

/* The log likelihood of a row, up to a constant that does not depend on psi. */
WB_HD double wb_regression_log_likelihood(double kappa, double shape, double psi) {
  return wb_fma(kappa, psi, -shape * wb_regression_log_cosh(psi));
}

/* A negative binomial row's log likelihood: base log(mean) - b log(1 + mean/r), exact for large r. shift: -log(r). */
WB_HD double wb_regression_log_counts(double base, double shape, double shift, double psi) {
  double size = psi < 0.0 ? -psi : psi, above = psi < 0.0 ? 0.0 : psi;
  return wb_fma(base, psi - shift, -(shape * (above + wb_log1p(wb_exp_weight(-size)))));
}

WB_HD double wb_regression_expected(double shape, double psi) {
  return shape * wb_polyagamma_unit_mean(psi < 0.0 ? -psi : psi);
}

/* The derivative of the log likelihood in psi, a - b/(1 + exp(-psi)), and less its second derivative. */
WB_HD double wb_regression_slope(double kappa, double shape, double psi) {
  double e = wb_exp_weight(psi < 0.0 ? psi : -psi), half = 0.5 * shape * (1.0 - e) / (1.0 + e);
  return psi < 0.0 ? kappa + half : kappa - half;
}
WB_HD double wb_regression_information(double shape, double psi) {
  double e = wb_exp_weight(psi < 0.0 ? psi : -psi), sum = 1.0 + e;
  return shape * e / (sum * sum);
}

/* A Poisson row with the mean r exp(psi) has the kappa = (y - r)/2 and the b = y + r of its surrogate, the negative
 * binomial row. Its log likelihood is y psi - r exp(psi). */
WB_HD double wb_regression_log_poisson(double kappa, double shape, double psi) {
  return wb_fma(wb_fma(0.5, shape, kappa), psi, -(wb_fma(0.5, shape, -kappa) * wb_exp(psi)));
}
WB_HD double wb_regression_poisson_information(double kappa, double shape, double psi) {
  return wb_fma(0.5, shape, -kappa) * wb_exp(psi);
}
WB_HD double wb_regression_poisson_slope(double kappa, double shape, double psi) {
  return wb_fma(0.5, shape, kappa) - wb_regression_poisson_information(kappa, shape, psi);
}
WB_HD double wb_regression_log_ratio(double kappa, double shape, double psi) {
  return wb_regression_log_poisson(kappa, shape, psi) - wb_regression_log_likelihood(kappa, shape, psi);
}

/* The trials times the probabilities of two outcomes of a multinomial: the mixed second derivative of the log
 * likelihood. psi: the logit of one outcome against all others; `difference`: the linear predictor of the other outcome
 * less this one's. */
WB_HD double wb_regression_cross(double shape, double psi, double difference) {
  double other = psi + difference;
  return wb_regression_information(shape, psi) * wb_exp_weight(other < 0.0 ? other : 0.0);
}

/* b and kappa from their parts and the dispersion r: b = base + r weight, kappa = base - r weight/2. */
WB_HD double wb_regression_shape(double base, double weight, double dispersion) {
  return wb_fma(dispersion, weight, base);
}
WB_HD double wb_regression_kappa(double base, double weight, double dispersion) {
  return wb_fma(-0.5 * dispersion, weight, base);
}

/* log of the sum of exp(linear predictor) over `outcomes` outcomes, `stride` apart, and the reference outcome, whose
 * predictor is 0. Outcome `left_out` is left out (-1: none). */
WB_HD_CALLED double wb_regression_log_sum(int outcomes, const double *linear, size_t stride, int left_out) {
  double most = 0.0;
  WB_ROLLED
  for (int k = 0; k < outcomes; k++) {
    double value = linear[(size_t)k * stride];
    most = k != left_out && value > most ? value : most;
  }
  double sum = wb_exp_weight(-most);
  WB_ROLLED
  for (int k = 0; k < outcomes; k++)
    if (k != left_out) sum += wb_exp_weight(linear[(size_t)k * stride] - most);
  return most + wb_log(sum);
}

/* The log likelihood of a row of a multinomial, up to a constant. The counts are kappa + trials/2. */
WB_HD_CALLED double wb_regression_row_outcomes(int outcomes, double trials, const double *kappa, size_t kappa_stride,
                                               const double *linear, size_t stride) {
  double sum = -trials * wb_regression_log_sum(outcomes, linear, stride, -1);
  for (int k = 0; k < outcomes; k++)
    sum = wb_fma(wb_fma(0.5, trials, kappa[(size_t)k * kappa_stride]), linear[(size_t)k * stride], sum);
  return sum;
}
