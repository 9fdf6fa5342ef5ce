/* Sine, cosine and the angle of a point from +, -, *, /, fma alone, and the complex arithmetic that uses them.
 * Coefficients: minimax fits by Remez. Errors (tests/vectors/ulp.c): 0.9 ulp for |x| <= 1e5; the angle 2.3 ulp. */
#pragma once

#include "core/elementary.h"

/* Elementary functions that are called, not inlined, for long computations of one value. */
WB_HD_CALLED double wb_called_exp(double x) { return wb_exp(x); }
WB_HD_CALLED double wb_called_expm1(double x) { return wb_expm1(x); }
WB_HD_CALLED double wb_called_log(double x) { return wb_log(x); }
WB_HD_CALLED double wb_called_log1p(double x) { return wb_log1p(x); }

/* sin(x) and cos(x), |x| <= 1e5. Multiples of pi/2 are subtracted in three parts; those of the first two are exact. */
WB_HD_CALLED void wb_sine_cosine(double x, double *sine, double *cosine) {
  double shifted = wb_fma(x, 0.6366197723675814, WB_TO_INTEGER);
  double k = shifted - WB_TO_INTEGER;
  double first = wb_fma(-k, 1.570796326734125614166259765625, x);
  double second = wb_fma(-k, 6.0771005063039660e-11, first);
  double r = wb_fma(-k, 2.0222662487959507e-21, second);
  double lost = wb_fma(-k, 2.0222662487959507e-21, second - r) + wb_fma(-k, 6.0771005063039660e-11, first - second);
  double z = r * r;
  double s = WB_HORNER(z, 1.5917962175249884e-10, -2.505112926657276e-08, 2.7557316088631368e-06,
                       -0.00019841269836727918, 0.008333333333330925, -0.16666666666666666);
  double c = WB_HORNER(z, -1.1382564620594115e-11, 2.0876145222455177e-09, -2.7557317266084287e-07,
                       2.4801587298753265e-05, -0.0013888888888887387, 0.041666666666666664);
  double sin_r = r + wb_fma(s * z, r, lost);
  double half = 0.5 * z, rest = 1.0 - half;
  double cos_r = rest + wb_fma(z * z, c, ((1.0 - rest) - half) - r * lost);
  uint64_t quarter = wb_double_bits(shifted) & 3u;
  int swap = (int)(quarter & 1u);
  double a = wb_select(swap, cos_r, sin_r), b = wb_select(swap, sin_r, cos_r);
  *sine = wb_bits_double(wb_double_bits(a) ^ (quarter & 2u) << 62);
  *cosine = wb_bits_double(wb_double_bits(b) ^ ((quarter + 1u) & 2u) << 62);
}

/* The angle of the point (x, y), in [-pi, pi]; 0 at the origin. It is computed from the arc tangent of the smaller
 * coordinate over the larger. If that ratio is above tan(pi/8), the point is first turned by -pi/4. */
WB_HD_CALLED double wb_angle(double y, double x) {
  double ax = x < 0.0 ? -x : x, ay = y < 0.0 ? -y : y;
  double larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;
  if (!(larger > 0.0)) return 0.0;
  int turned = smaller > 0.41421356237309503 * larger;
  double top = turned ? smaller - larger : smaller, bottom = turned ? smaller + larger : larger;
  double t = top / bottom, z = t * t;
  double q = WB_HORNER(z, 0.016301043392238028, -0.03458501722628211, 0.045521836129652604, -0.05230590570078599,
                       0.05878948541967487, -0.06666426686590593, 0.07692296481641635, -0.09090908757437575,
                       0.11111111105240319, -0.14285714285660767, 0.1999999999999981, -0.3333333333333333);
  double angle = wb_fma(q * z, t, t);
  if (turned) angle = 0.7853981633974483 + (angle + 3.061616997868383e-17);
  if (ay > ax) angle = 1.5707963267948966 - (angle - 6.123233995736766e-17);
  if (x < 0.0) angle = 3.141592653589793 - (angle - 1.2246467991473532e-16);
  return y < 0.0 ? -angle : angle;
}

typedef struct wb_complex {
  double re, im;
} wb_complex;

WB_HD wb_complex wb_complex_of(double re, double im) {
  wb_complex z = {re, im};
  return z;
}
WB_HD wb_complex wb_complex_add(wb_complex a, wb_complex b) { return wb_complex_of(a.re + b.re, a.im + b.im); }
WB_HD wb_complex wb_complex_multiply(wb_complex a, wb_complex b) {
  return wb_complex_of(wb_fma(a.re, b.re, -(a.im * b.im)), wb_fma(a.re, b.im, a.im * b.re));
}
WB_HD wb_complex wb_complex_divide(wb_complex a, wb_complex b) {
  double scale = 1.0 / wb_fma(b.re, b.re, b.im * b.im);
  return wb_complex_of(wb_fma(a.re, b.re, a.im * b.im) * scale, wb_fma(a.im, b.re, -(a.re * b.im)) * scale);
}

/* The root with a positive real part, or imaginary part for negative numbers. Squares must not over- or underflow. */
WB_HD wb_complex wb_complex_sqrt(wb_complex z) {
  double size = wb_sqrt(wb_fma(z.re, z.re, z.im * z.im));
  double root = wb_sqrt(0.5 * (size + (z.re < 0.0 ? -z.re : z.re)));
  if (!(root > 0.0)) return wb_complex_of(0.0, 0.0);
  double other = 0.5 * z.im / root;
  if (z.re >= 0.0) return wb_complex_of(root, other);
  return other < 0.0 ? wb_complex_of(-other, -root) : wb_complex_of(other, root);
}

WB_HD_CALLED wb_complex wb_complex_exp(wb_complex z) {
  double sine, cosine, size = wb_called_exp(z.re);
  wb_sine_cosine(z.im, &sine, &cosine);
  return wb_complex_of(size * cosine, size * sine);
}

/* log(1 + z), with relative accuracy near 0 and the angle in [-pi, pi]. */
WB_HD_CALLED wb_complex wb_complex_log1p(wb_complex z) {
  return wb_complex_of(0.5 * wb_called_log1p(wb_fma(z.re, z.re + 2.0, z.im * z.im)), wb_angle(z.im, 1.0 + z.re));
}
