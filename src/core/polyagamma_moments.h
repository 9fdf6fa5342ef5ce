/* Mean, variance and cumulants of PG(b, c) to a few units in the last place, at every tilt:
 *   kappa_r = b (r - 1)! sum_{k >= 1} d_k^-r,   d_k = 2 pi^2 (k - 1/2)^2 + c^2/2.
 * core/polyagamma_expansion.h computes the first eight less accurately, without branches. */
#pragma once

#include "core/elementary.h"

/* Above it 2 c or c^2 could overflow. The variance is then below the smallest double. */
#define WB_POLYAGAMMA_MOST_TILT 1e150

/* tanh(c/2)/(2c), c >= 0: 4e-16 relative error. */
WB_HD double wb_polyagamma_unit_mean(double c) {
  if (c < 1e-3) {
    double q = c * c;
    return wb_fma(q, wb_fma(q, 1.0 / 480.0, -1.0 / 48.0), 0.25);
  }
  if (c > WB_POLYAGAMMA_MOST_TILT) return 0.5 / c;
  double less_1 = wb_expm1(-c);
  return -less_1 / ((2.0 + less_1) * (2.0 * c));
}

/* (sinh(c) - c)/(2 c^3 (1 + cosh(c))), c >= 0, without overflow; by the Taylor series for small c, which cancel. */
WB_HD double wb_polyagamma_unit_variance(double c) {
  if (c < 0.7) {
    double q = c * c;
    return WB_HORNER(q, -5.6930440912231081e-12, 5.1505751933632514e-11, -4.6212854179999591e-10, 4.1049233020629355e-9,
                     -3.6012417049901488e-8, 3.1099977750730066e-7, -2.6309531517854851e-6, 2.1638758617925285e-5,
                     -1.7085537918871252e-4, 1.2648809523809524e-3, -1.0 / 120.0, 1.0 / 24.0);
  }
  if (c > WB_POLYAGAMMA_MOST_TILT) return 0.0;
  double e = wb_exp(-c), sum = 1.0 + e;
  double top = wb_fma(-2.0 * c, e, -wb_expm1(-2.0 * c));
  return top / (2.0 * sum * sum) / c / c / c;
}

#define WB_POLYAGAMMA_ORDER_MOST 20
/* Terms that are added up, and the largest tilt for which they are. */
#define WB_POLYAGAMMA_SUM_TERMS 40
#define WB_POLYAGAMMA_SUM_TILT 12.0

/* Cumulant of order 3 to 20 of PG(1, c), c <= 12. With a = c/(2 pi), d_k = 2 pi^2 ((k - 1/2)^2 + a^2). The first terms
 * are added; the rest is an integral with the first corrections of Euler and Maclaurin. */
WB_HD double wb_polyagamma_unit_cumulant_sum(double c, int order) {
  const double m = WB_POLYAGAMMA_SUM_TERMS;
  double a = 0.15915494309189535 * c, square = a * a;
  /* The rest beyond m, with f = (t^2 + a^2)^-r: the integral, term by term in (a/m)^2. */
  double ratio = square / (m * m), term = m, rest = 0.0;
  for (int k = 0; k < 10; k++) {
    rest += term / (2.0 * order + 2.0 * k - 1.0);
    term *= -ratio * (order + (double)k) / (k + 1.0);
  }
  double power = 1.0, inverse = 1.0 / (m * m);
  for (int i = 0; i < order; i++) power *= inverse;
  double f = 1.0;
  inverse = 1.0 / wb_fma(m, m, square);
  for (int i = 0; i < order; i++) f *= inverse;
  double slope = -2.0 * order * m * inverse * f;
  double third = slope * (2.0 * order + 1.0) * (2.0 * order + 2.0) * inverse; /* approximately, for m^2 >> a^2 */
  double sum = power * rest + slope / 24.0 - third * (7.0 / 5760.0);
  for (int k = WB_POLYAGAMMA_SUM_TERMS; k >= 1; k--) {
    double t = k - 0.5, over = 1.0 / wb_fma(t, t, square), product = over;
    for (int i = 1; i < order; i++) product *= over;
    sum += product;
  }
  for (int i = 1; i < order; i++) sum *= i * 0.05066059182116889; /* 1/(2 pi^2) */
  return sum * 0.05066059182116889;
}

/* The same for c > 12, by the recursion of core/polyagamma_expansion.h. */
WB_HD double wb_polyagamma_unit_cumulant_recursion(double c, int order) {
  double g[WB_POLYAGAMMA_ORDER_MOST], h[WB_POLYAGAMMA_ORDER_MOST];
  double e = wb_exp(-c), over = 1.0 / (1.0 + e), over_2q = 2.0 / c / c;
  g[0] = 2.0 * (1.0 - e) * over / c;
  h[0] = 4.0 * e * over * over;
  double scale = 0.25;
  for (int n = 0; n + 1 < order; n++) {
    double sum = h[0] * g[n];
    for (int i = 1; i <= n; i++) sum = wb_fma(h[i], g[n - i], sum);
    h[n + 1] = -sum / (n + 1.0);
    g[n + 1] = (h[n] - (2.0 * n + 1.0) * g[n]) * (over_2q / (n + 1.0));
    scale *= -0.5 * (n + 1.0);
  }
  return scale * g[order - 1];
}

/* The cumulant of this order, 1 (the mean), 2 (the variance), ..., WB_POLYAGAMMA_ORDER_MOST. At an infinite
 * tilt the limit, 0. NaN if the shape is not positive and finite, or if the tilt is NaN. */
WB_HD double wb_polyagamma_cumulant(double b, double c, int order) {
  c = c < 0.0 ? -c : c;
  if (!(b > 0.0 && b < wb_infinity() && c == c)) return wb_nan();
  if (c == wb_infinity()) return 0.0;
  if (order == 1) return b * wb_polyagamma_unit_mean(c);
  if (order == 2) return b * wb_polyagamma_unit_variance(c);
  return b * (c <= WB_POLYAGAMMA_SUM_TILT ? wb_polyagamma_unit_cumulant_sum(c, order)
                                          : wb_polyagamma_unit_cumulant_recursion(c, order));
}
