/* Covariances of effects as vectors of scales, and their prior: see regression/level_moves.h. */
#include "core/scalar.h"

#include "regression/level_moves.h"

/* (exp(2y) - 1)/(exp(2y) + 1), and 1 less its square. */
static double hyperbolic_tangent(double y, double *rest) {
  const double size = y < 0.0 ? -y : y, e = wb_exp(-2.0 * size), tangent = -wb_expm1(-2.0 * size) / (1.0 + e);
  *rest = 4.0 * e / ((1.0 + e) * (1.0 + e));
  return y < 0.0 ? -tangent : tangent;
}

void wb_level_scales_of(const wb_level_term *t, const double *covariance, double *scales) {
  const int32_t q = t->q;
  double root[WB_LEVEL_MOST_PACKED];
  for (int32_t k = 0; k < q; k++) scales[k] = wb_sqrt(covariance[wb_packed_at(k, k)]);
  if (t->independent) return;
  memcpy(root, covariance, wb_packed_size(q) * sizeof(double));
  (void)wb_cholesky(q, root);
  double *at = scales + q;
  for (int32_t i = 1; i < q; i++) {
    double left = 1.0;
    for (int32_t j = 0; j < i; j++) {
      const double entry = root[wb_packed_at(i, j)] / scales[i];
      double partial = entry / wb_sqrt(left);
      /* A covariance that is singular to working precision. */
      partial = partial > 1.0 - 1e-15 ? 1.0 - 1e-15 : partial < 1e-15 - 1.0 ? 1e-15 - 1.0 : partial;
      *at++ = 0.5 * (wb_log1p(partial) - wb_log1p(-partial));
      left *= 1.0 - partial * partial;
    }
  }
}

/* Correlations have at least so much of each column's variance that the columns before do not explain: rounding spoils
 * the densities of others, whose probability under the prior is about as small. */
#define LEAST_UNEXPLAINED 1e-10

/* The root of the correlations, row by row, and the log Jacobian of the scales to the correlations. */
static double root_of(int32_t q, const double *scales, double *root) {
  double log_jacobian = 0.0, rest;
  const double *at = scales + q;
  root[0] = 1.0;
  for (int32_t i = 1; i < q; i++) {
    double *const row = root + wb_packed_row(i);
    double left = 1.0;
    for (int32_t j = 0; j < i; j++) {
      row[j] = hyperbolic_tangent(*at++, &rest) * wb_sqrt(left);
      log_jacobian += wb_log(root[wb_packed_at(j, j)]) + 0.5 * wb_log(left) + wb_log(rest);
      left *= rest;
    }
    if (!(left > LEAST_UNEXPLAINED)) return -wb_infinity();
    row[i] = wb_sqrt(left);
  }
  return log_jacobian;
}

int wb_level_covariance_of(const wb_level_term *t, const double *scales, wb_level_covariance *to) {
  const int32_t q = t->q;
  double root[WB_LEVEL_MOST_PACKED] = {0}, log_scales = 0.0;
  for (int32_t k = 0; k < q; k++) {
    if (!(scales[k] > 1e-8 && scales[k] < 1e100)) return 0;
    log_scales += wb_log(scales[k]);
  }
  to->log_prior = 0.0;
  if (t->independent) {
    for (int32_t k = 0; k < q; k++) root[wb_packed_at(k, k)] = 1.0;
  } else {
    to->log_prior = root_of(q, scales, root);
    if (!(to->log_prior > -wb_infinity())) return 0;
  }
  for (int32_t i = 0; i < q; i++)
    for (int32_t j = 0; j <= i; j++) root[wb_packed_at(i, j)] *= scales[i];
  to->half_log_determinant = wb_triangle_log_determinant(q, root);
  wb_triangle_square(q, root, to->covariance);
  wb_triangle_inverse(q, root, root);
  wb_triangle_gram(q, root, to->tie);
  /* Half-Cauchy deviations, or the prior of Huang & Wand without its auxiliary variables, |Sigma|^-(nu + 2q)/2
   * prod_k (nu (Sigma^-1)_kk + 1/scale_k^2)^-(nu + q)/2, with the Jacobian prod_k s_k^q of deviations s. */
  const double nu = 2.0;
  for (int32_t k = 0; k < q; k++) {
    const double inverse = 1.0 / (t->scale[k] * t->scale[k]);
    to->log_prior -= t->independent ? wb_log1p(scales[k] * scales[k] * inverse)
                                    : 0.5 * (nu + q) * wb_log(wb_fma(nu, to->tie[wb_packed_at(k, k)], inverse));
  }
  if (!t->independent) to->log_prior += q * log_scales - (nu + 2.0 * q) * to->half_log_determinant;
  return 1;
}
