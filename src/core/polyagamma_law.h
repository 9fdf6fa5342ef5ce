/* Density and distribution function of PG(b, c), any shape b > 0 and tilt c, by numerical inversion of the Laplace
 * transform, with full relative accuracy in both tails.
 *
 * With v = c^2/4 + s/2 the transform is (cosh(c/2)/cosh(sqrt v))^b, analytic except for a cut from v = -pi^2/4 to the
 * left. The inversion integral is taken along a parabola
 *   v(u) = v0 + bend (2 i u - u^2)
 * through a real v0 near the saddlepoint, bent like the path of steepest descent. There the integrand does not
 * oscillate, so nothing cancels and the trapezoidal rule converges geometrically (Trefethen & Weideman 2014, "The
 * exponentially convergent trapezoidal rule", SIAM Review 56, 385-458). The pole of the distribution function at s = 0
 * is left of the parabola for the lower tail and right of it for the upper. */
#pragma once

#include "core/polyagamma_expansion.h"
#include "core/trigonometric.h"

typedef enum wb_polyagamma_quantity {
  WB_POLYAGAMMA_DENSITY = 0,
  WB_POLYAGAMMA_LOWER = 1, /* P(X <= x) */
  WB_POLYAGAMMA_UPPER = 2, /* P(X > x) */
  WB_POLYAGAMMA_LOWER_QUANTILE = 3,
  WB_POLYAGAMMA_UPPER_QUANTILE = 4
} wb_polyagamma_quantity;

#define WB_QUARTER_PI_SQUARE 2.4674011002723395

/* A point of the real axis, v = a^2 + t = d - pi^2/4 with a = c/2. Both t and d are stored: near the pole (t = 0) d
 * is less accurate than t, and near the cut (d = 0) t is less accurate than d. */
typedef struct wb_polyagamma_point {
  double a, v, t, d;
  double root;    /* sqrt(|v|) */
  double tangent; /* tanh(root), or tan(root) where v < 0 */
  double slope;   /* sech(root)^2, or sec(root)^2 */
  double log_cos; /* log(cos(root)), where v < 0 */
} wb_polyagamma_point;

WB_HD_CALLED wb_polyagamma_point wb_polyagamma_point_at(double a, double t, double d) {
  wb_polyagamma_point point;
  point.a = a;
  point.t = t;
  point.d = d;
  point.v = d < 1.0 ? d - WB_QUARTER_PI_SQUARE : wb_fma(a, a, t);
  point.root = wb_sqrt(point.v < 0.0 ? -point.v : point.v);
  point.log_cos = 0.0;
  if (point.v >= 0.0) {
    double e = wb_called_expm1(-2.0 * point.root);
    point.tangent = -e / (2.0 + e);
    point.slope = 4.0 * (1.0 + e) / ((2.0 + e) * (2.0 + e));
  } else {
    double sine, cosine;
    double from_pole = d / (1.5707963267948966 + point.root); /* pi/2 - root */
    wb_sine_cosine(from_pole, &sine, &cosine);
    point.tangent = cosine / sine;
    point.slope = 1.0 / (sine * sine);
    if (point.root < 0.5) {
      double half, unused;
      wb_sine_cosine(0.5 * point.root, &half, &unused);
      point.log_cos = wb_called_log1p(-2.0 * half * half);
    } else {
      point.log_cos = wb_called_log(sine);
    }
  }
  return point;
}

/* The first three derivatives of L(v) = log cosh(sqrt v). L' = g/2 with g = tanh(sqrt v)/sqrt v; the others follow from
 * g + 2 v g' = sech(sqrt v)^2 = h and h' = -g h. About 0 the series is used. */
WB_HD_CALLED void wb_polyagamma_slopes(wb_polyagamma_point point, double *slope) {
  double v = point.v;
  if (v > -0.02 && v < 0.02) {
    slope[0] = wb_fma(v, wb_fma(v, 1.0 / 15.0, -1.0 / 6.0), 0.5);
    slope[1] = wb_fma(v, 2.0 / 15.0, -1.0 / 6.0);
    slope[2] = wb_fma(v, -17.0 * 3.0 / 315.0, 2.0 / 15.0);
    return;
  }
  double g = point.tangent / point.root, over = 0.5 / v;
  double g1 = over * (point.slope - g);
  double g2 = over * (-point.slope * g - 3.0 * g1);
  slope[0] = 0.5 * g;
  slope[1] = 0.5 * g1;
  slope[2] = 0.5 * g2;
}

/* L at the point minus L at the pole a^2; their difference in v is t. */
WB_HD_CALLED double wb_polyagamma_log_ratio(wb_polyagamma_point point) {
  double a = point.a;
  double at_pole = a + wb_called_log1p(wb_called_exp(-2.0 * a)) - WB_LN2_HIGH; /* log cosh(a) */
  if (point.v < 0.0) {
    if (a < 0.5) {
      double sinh_half = 0.5 * (wb_called_expm1(0.5 * a) - wb_called_expm1(-0.5 * a));
      at_pole = wb_called_log1p(2.0 * sinh_half * sinh_half);
    }
    return point.log_cos - at_pole;
  }
  double sum = point.root + a;
  double step = sum > 0.0 ? point.t / sum : 0.0;
  if (step > 0.5 || step < -0.5)
    return step + wb_called_log1p(wb_called_exp(-2.0 * point.root)) - wb_called_log1p(wb_called_exp(-2.0 * a));
  double e = wb_called_expm1(-2.0 * a), tangent = -e / (2.0 + e);
  double up = wb_called_expm1(step), down = wb_called_expm1(-step);
  /* cosh(step) - 1 + tanh(a) sinh(step) */
  return wb_called_log1p(0.5 * (up + down) + tangent * 0.5 * (up - down));
}

/* L(v + delta) - L(v), where v is the point. */
WB_HD_CALLED wb_complex wb_polyagamma_log_difference(wb_polyagamma_point point, wb_complex delta) {
  int negative = point.v < 0.0;
  wb_complex v = wb_complex_of(point.v + delta.re, delta.im);
  wb_complex w = wb_complex_sqrt(v);
  wb_complex w0 = negative ? wb_complex_of(0.0, point.root) : wb_complex_of(point.root, 0.0);
  wb_complex sum = wb_complex_add(w, w0);
  if (sum.re == 0.0 && sum.im == 0.0) return wb_complex_of(0.0, 0.0);
  wb_complex step = wb_complex_divide(delta, sum);
  if (wb_fma(step.re, step.re, step.im * step.im) > 0.25) {
    wb_complex rest = wb_complex_log1p(wb_complex_exp(wb_complex_of(-2.0 * w.re, -2.0 * w.im)));
    if (negative) return wb_complex_of(w.re + (rest.re - WB_LN2_HIGH) - point.log_cos, w.im + rest.im);
    return wb_complex_of(step.re + rest.re - wb_called_log1p(wb_called_exp(-2.0 * point.root)), step.im + rest.im);
  }
  double up = wb_called_expm1(step.re), down = wb_called_expm1(-step.re);
  double cosh_less_1 = 0.5 * (up + down), sinh = 0.5 * (up - down);
  double sine, cosine, half_sine, unused;
  wb_sine_cosine(step.im, &sine, &cosine);
  wb_sine_cosine(0.5 * step.im, &half_sine, &unused);
  wb_complex cosh_part = wb_complex_of(wb_fma(cosh_less_1, cosine, -2.0 * half_sine * half_sine), sinh * sine);
  wb_complex sinh_part = wb_complex_of(sinh * cosine, (1.0 + cosh_less_1) * sine);
  wb_complex slope = negative ? wb_complex_of(0.0, point.tangent) : wb_complex_of(point.tangent, 0.0);
  return wb_complex_log1p(wb_complex_add(cosh_part, wb_complex_multiply(slope, sinh_part)));
}

/* The derivative of the log of the integrand's size on the real axis, with -log(d) added to keep the parabola away from
 * the cut for small b. *curvature is the second derivative, which is positive. */
WB_HD_CALLED double wb_polyagamma_descent(int quantity, double x, double b, wb_polyagamma_point point,
                                          double *curvature) {
  double slope[3], over_d = 1.0 / point.d, over_t = 1.0 / point.t;
  wb_polyagamma_slopes(point, slope);
  *curvature = wb_fma(-b, slope[1], over_d * over_d);
  if (quantity == WB_POLYAGAMMA_DENSITY) return 2.0 * x - b * slope[0] - over_d;
  *curvature += over_t * over_t;
  return 2.0 * x - b * slope[0] - over_d - over_t;
}

/* Where a point lies: right or left of the pole, or right of the cut. */
typedef enum wb_polyagamma_side {
  WB_POLYAGAMMA_RIGHT_OF_POLE,
  WB_POLYAGAMMA_LEFT_OF_POLE,
  WB_POLYAGAMMA_RIGHT_OF_CUT
} wb_polyagamma_side;

WB_HD_CALLED wb_polyagamma_point wb_polyagamma_point_from(int side, double a, double distance) {
  double between = wb_fma(a, a, WB_QUARTER_PI_SQUARE); /* pole and cut */
  if (side == WB_POLYAGAMMA_RIGHT_OF_POLE) return wb_polyagamma_point_at(a, distance, between + distance);
  if (side == WB_POLYAGAMMA_LEFT_OF_POLE) return wb_polyagamma_point_at(a, -distance, between - distance);
  return wb_polyagamma_point_at(a, distance - between, distance);
}

/* Where wb_polyagamma_descent(), which increases, is 0: bisection to a hundredth, then Newton's method. */
WB_HD_CALLED wb_polyagamma_point wb_polyagamma_apex(int quantity, double x, double b, double a) {
  double between = wb_fma(a, a, WB_QUARTER_PI_SQUARE), most = between, curvature;
  int side = WB_POLYAGAMMA_RIGHT_OF_POLE;
  if (quantity == WB_POLYAGAMMA_UPPER) {
    most = 0.5 * between;
    side = wb_polyagamma_descent(quantity, x, b, wb_polyagamma_point_from(WB_POLYAGAMMA_RIGHT_OF_CUT, a, most),
                                 &curvature) < 0.0
               ? WB_POLYAGAMMA_LEFT_OF_POLE
               : WB_POLYAGAMMA_RIGHT_OF_CUT;
  } else if (quantity == WB_POLYAGAMMA_DENSITY &&
             wb_polyagamma_descent(quantity, x, b, wb_polyagamma_point_at(a, 0.0, between), &curvature) >= 0.0) {
    side = WB_POLYAGAMMA_RIGHT_OF_CUT;
  }
  double low = -700.0, high = side == WB_POLYAGAMMA_RIGHT_OF_POLE ? 690.0 : wb_called_log(most);
  for (int i = 0; i < 17; i++) {
    double middle = 0.5 * (low + high);
    wb_polyagamma_point point = wb_polyagamma_point_from(side, a, wb_called_exp(middle));
    int further_right = wb_polyagamma_descent(quantity, x, b, point, &curvature) < 0.0;
    if (further_right == (side != WB_POLYAGAMMA_LEFT_OF_POLE)) low = middle;
    else high = middle;
  }
  double distance = wb_called_exp(0.5 * (low + high));
  for (int i = 0; i < 3; i++) {
    double value = wb_polyagamma_descent(quantity, x, b, wb_polyagamma_point_from(side, a, distance), &curvature);
    double change = value / (curvature * distance);
    if (side == WB_POLYAGAMMA_LEFT_OF_POLE) change = -change;
    change = change > -0.05 ? change : -0.05;
    distance *= 1.0 - (change < 0.05 ? change : 0.05);
  }
  return wb_polyagamma_point_from(side, a, distance);
}

/* exp(z) - 1, relative accuracy near 0. */
WB_HD_CALLED wb_complex wb_complex_expm1(wb_complex z) {
  double sine, cosine, half_sine, unused, less_1 = wb_called_expm1(z.re);
  wb_sine_cosine(z.im, &sine, &cosine);
  wb_sine_cosine(0.5 * z.im, &half_sine, &unused);
  return wb_complex_of(wb_fma(less_1, cosine, -2.0 * half_sine * half_sine), (1.0 + less_1) * sine);
}

/* The mean of PG(b, c), c >= 0, used only to choose a side. */
WB_HD double wb_polyagamma_middle(double b, double c) {
  if (c < 1e-3) return 0.25 * b;
  if (c > 1e150) return b * (0.5 / c);
  double e = wb_called_expm1(-c);
  return b * (-e / (2.0 + e)) / (2.0 * c);
}

/* The log of the density at x > 0, of the lower tail at x up to the mean, or of the upper tail from the mean on, for
 * c >= 0: the sum of the trapezoidal rule over u >= 0. A step is a sixth of the bump's width, or of the distance 1 to
 * the cut if that is less; the error is about e^-37. A constant whose integral is 0 is subtracted for small shapes. */
WB_HD_CALLED double wb_polyagamma_log_law(int quantity, double x, double b, double c) {
  double a = 0.5 * c;
  wb_polyagamma_point apex = wb_polyagamma_apex(quantity, x, b, a);
  double slope[3];
  wb_polyagamma_slopes(apex, slope);
  double over_d = 1.0 / apex.d, over_t = 1.0 / apex.t;
  double second = wb_fma(-b, slope[1], over_d * over_d);
  double third = wb_fma(-b, slope[2], -2.0 * over_d * over_d * over_d);
  double all = quantity == WB_POLYAGAMMA_DENSITY ? second : wb_fma(over_t, over_t, second); /* curvature */
  double bend = -1.5 * second / third;
  double width = 0.5 / (bend * wb_sqrt(all));
  double step = (width < 1.0 ? width : 1.0) / 6.0;
  double ratio = wb_polyagamma_log_ratio(apex);
  int less_1 = b < 1.0 && x > wb_polyagamma_middle(b, c) && b * ratio > -1.0;
  double sum = 0.0;
  int small = 0;
  for (int i = 0; i < 4000 && small < 4; i++) {
    double u = i * step;
    wb_complex delta = wb_complex_of(-bend * u * u, 2.0 * bend * u);
    wb_complex growth = wb_polyagamma_log_difference(apex, delta);
    wb_complex shift = wb_complex_of(2.0 * x * delta.re, 2.0 * x * delta.im), value;
    if (less_1) {
      value = wb_complex_multiply(wb_complex_exp(shift),
                                  wb_complex_expm1(wb_complex_of(-b * (ratio + growth.re), -b * growth.im)));
    } else {
      value = wb_complex_exp(wb_complex_of(wb_fma(-b, growth.re, shift.re), wb_fma(-b, growth.im, shift.im)));
    }
    value = wb_complex_multiply(value, wb_complex_of(-u, 1.0));
    if (quantity != WB_POLYAGAMMA_DENSITY)
      value = wb_complex_divide(value, wb_complex_of(1.0 + delta.re * over_t, delta.im * over_t));
    sum += i == 0 ? 0.5 * value.im : value.im;
    double size = (value.re < 0.0 ? -value.re : value.re) + (value.im < 0.0 ? -value.im : value.im);
    small = size < 1e-17 * sum ? small + 1 : 0;
  }
  /* dv = 2 bend (i - u) du, divided by pi, by t for a tail, and multiplied by 2 for the density in x. */
  double scale = 0.6366197723675814 * bend * step * sum;
  scale *= quantity == WB_POLYAGAMMA_DENSITY ? 2.0 : quantity == WB_POLYAGAMMA_LOWER ? over_t : -over_t;
  return wb_fma(2.0 * x, apex.t, less_1 ? 0.0 : -b * ratio) + wb_called_log(scale);
}

/* Far to the left, where the parabola would overflow: the density's first term, for the tail only its exponent. */
#define WB_POLYAGAMMA_FAR_LEFT 1e-130
/* Far to the right, where squared distances to the pole would be 0: the pole decides, to 1e-50 of the logarithm. */
#define WB_POLYAGAMMA_FAR_RIGHT 1e60

/* The log of the density or of a tail at any x. NaN for a shape not positive, a NaN, or infinite shape or tilt. */
WB_HD_CALLED double wb_polyagamma_log_evaluate(int quantity, double x, double b, double c) {
  c = c < 0.0 ? -c : c;
  if (!(b > 0.0 && b < wb_infinity() && c < wb_infinity()) || x != x) return wb_nan();
  if (!(x > 0.0)) return quantity == WB_POLYAGAMMA_UPPER ? 0.0 : -wb_infinity();
  if (!(x < wb_infinity())) return quantity == WB_POLYAGAMMA_LOWER ? 0.0 : -wb_infinity();
  if (x < WB_POLYAGAMMA_FAR_LEFT * b) {
    if (quantity == WB_POLYAGAMMA_UPPER) return 0.0;
    double value = b * (0.5 * c + wb_called_log1p(wb_called_exp(-c))) - 0.125 * b * (b / x) - 0.5 * c * (c * x);
    if (quantity == WB_POLYAGAMMA_LOWER || value == -wb_infinity()) return value;
    return value + wb_called_log(b / x) - 0.5 * (wb_called_log(x) + WB_LOG_2_PI) - WB_LN2_HIGH;
  }
  if (x > WB_POLYAGAMMA_FAR_RIGHT * (b > 1.0 ? b : 1.0))
    return quantity == WB_POLYAGAMMA_LOWER ? 0.0 : -2.0 * WB_QUARTER_PI_SQUARE * x - 0.5 * c * (c * x);
  if (quantity == WB_POLYAGAMMA_DENSITY) return wb_polyagamma_log_law(quantity, x, b, c);
  int side = x <= wb_polyagamma_middle(b, c) ? WB_POLYAGAMMA_LOWER : WB_POLYAGAMMA_UPPER;
  double value = wb_polyagamma_log_law(side, x, b, c);
  value = value < 0.0 ? value : 0.0;
  return side == quantity ? value : wb_log1mexp(value);
}

/* The x whose lower or upper tail (quantity WB_POLYAGAMMA_LOWER or _UPPER) has this logarithm. Newton's method for the
 * log of the directly computed tail in log x, within a narrowing bracket. */
WB_HD_CALLED double wb_polyagamma_quantile(int quantity, double log_p, double b, double c) {
  c = c < 0.0 ? -c : c;
  if (!(b > 0.0 && b < wb_infinity() && c < wb_infinity()) || !(log_p <= 0.0)) return wb_nan();
  if (log_p == 0.0) return quantity == WB_POLYAGAMMA_LOWER ? wb_infinity() : 0.0;
  if (log_p == -wb_infinity()) return quantity == WB_POLYAGAMMA_LOWER ? 0.0 : wb_infinity();
  double middle = wb_polyagamma_middle(b, c);
  double at_middle = wb_polyagamma_log_evaluate(quantity, middle, b, c);
  int side = quantity;
  if (log_p > at_middle) {
    side = quantity == WB_POLYAGAMMA_LOWER ? WB_POLYAGAMMA_UPPER : WB_POLYAGAMMA_LOWER;
    log_p = wb_log1mexp(log_p);
    at_middle = wb_polyagamma_log_evaluate(side, middle, b, c);
  }
  double sign = side == WB_POLYAGAMMA_LOWER ? 1.0 : -1.0;
  double y = wb_called_log(middle), value = at_middle;
  double inside = y, outside = y, stride = 0.5;
  int bracketed = 0;
  for (int i = 0; i < 200; i++) {
    double x = wb_called_exp(y);
    /* The tail is too large, so the quantile is further from the mean. */
    if (value > log_p) inside = y;
    else {
      outside = y;
      bracketed = 1;
    }
    double slope = wb_called_exp(wb_polyagamma_log_evaluate(WB_POLYAGAMMA_DENSITY, x, b, c) + y - value);
    double next = y + sign * (log_p - value) / slope;
    if (!bracketed) {
      double furthest = y - sign * stride;
      stride *= 2.0;
      if (!(sign * (next - furthest) > 0.0 && sign * (y - next) > 0.0)) next = furthest;
    } else if (!(sign * (next - outside) > 0.0 && sign * (inside - next) > 0.0)) {
      next = 0.5 * (inside + outside);
    }
    double change = next - y;
    y = next;
    if (change < 4e-16 && change > -4e-16) break;
    if (!(y > -744.0)) return 0.0;
    value = wb_polyagamma_log_evaluate(side, wb_called_exp(y), b, c);
  }
  return wb_called_exp(y);
}

/* A quantity, or its log. Quantiles take x as a probability, or as its log. */
WB_HD double wb_polyagamma_evaluate(int quantity, int log, double x, double b, double c) {
  if (quantity == WB_POLYAGAMMA_LOWER_QUANTILE || quantity == WB_POLYAGAMMA_UPPER_QUANTILE) {
    int tail = quantity == WB_POLYAGAMMA_LOWER_QUANTILE ? WB_POLYAGAMMA_LOWER : WB_POLYAGAMMA_UPPER;
    return wb_polyagamma_quantile(tail, log ? x : wb_called_log(x), b, c);
  }
  double value = wb_polyagamma_log_evaluate(quantity, x, b, c);
  return log ? value : wb_called_exp(value);
}
