/* Draws of Polya-Gamma variables PG(b, c), any shape b > 0 and tilt c: the law of
 *   sum_k G_k / (2 pi^2 (k - 1/2)^2 + c^2/2),  G_k gamma of shape b
 * (Polson, Scott & Windle 2013, "Bayesian inference for logistic models using Polya-Gamma latent variables", JASA 108,
 * 1339-1349).
 *
 * How a draw is made depends on b and c (wb_polyagamma_choose):
 *   units      b < 12, |c| < 2.4   floor(b) exact draws of PG(1, c) and one of the fraction
 *   parts      b < 1 or |c| >= 2.4 equal parts of shape at most 4, each by rejection from
 *                                  an inverse Gaussian
 *   expansion  b >= 12             a polynomial of a normal (core/polyagamma_expansion.h)
 *   inverse Gaussian  |c| >= 15 + log(b)/2   the law itself but for a relative e^-c
 * A trial takes one block (two words) of the element's stream, part << 12 | trial, and has no branches. */
#pragma once

#include "core/philox.h"
#include "core/polyagamma_expansion.h"
#include "core/polyagamma_saddlepoint.h"

/* What callers ask for: the best way, or a method of the literature. */
typedef enum wb_polyagamma_method {
  WB_POLYAGAMMA_AUTO = 0,
  WB_POLYAGAMMA_DEVROYE,     /* shape 1 */
  WB_POLYAGAMMA_SUM,         /* integer shapes up to WB_POLYAGAMMA_PARTS_MOST */
  WB_POLYAGAMMA_ALTERNATE,   /* shapes up to 4 */
  WB_POLYAGAMMA_SADDLEPOINT, /* shapes from 1 */
  WB_POLYAGAMMA_NORMAL
} wb_polyagamma_method;

/* The ways to make a draw. The numbers order lists of elements; no file stores them. */
typedef enum wb_polyagamma_way {
  WB_POLYAGAMMA_NONE = 0, /* no law has this shape and tilt: NaN */
  WB_POLYAGAMMA_UNITS,
  WB_POLYAGAMMA_PARTS,
  WB_POLYAGAMMA_EXPANSION_8,
  WB_POLYAGAMMA_EXPANSION_6,
  WB_POLYAGAMMA_INVERSE_GAUSSIAN,
  WB_POLYAGAMMA_SINGLES,     /* parts of shape 1 */
  WB_POLYAGAMMA_ALTERNATING, /* one part of any shape up to 4 */
  WB_POLYAGAMMA_TILTED,      /* from the saddlepoint density */
  WB_POLYAGAMMA_EXPANSION_2, /* a normal */
  WB_POLYAGAMMA_WAYS
} wb_polyagamma_way;

/* Upper bounds on the trials of a part and the parts of a draw. */
#define WB_POLYAGAMMA_TRIALS 4096u
#define WB_POLYAGAMMA_PARTS_MOST (1 << 20)

/* Below this tilt PG(1, c) is drawn from two pieces, above by rejection: here they accept 90% and 92%. */
#define WB_POLYAGAMMA_SMALL_TILT 2.4

/* The cheapest way to a draw within a Kolmogorov distance of 1e-6 of PG(b, c). */
WB_HD int wb_polyagamma_choose(double b, double c) {
  c = c < 0.0 ? -c : c;
  if (!(b > 0.0 && b < wb_infinity() && c < wb_infinity())) return WB_POLYAGAMMA_NONE;
  if (c >= 15.0 && (b <= 1.0 || c >= wb_fma(0.5, wb_log(b), 15.0))) return WB_POLYAGAMMA_INVERSE_GAUSSIAN;
  if (b >= 30.0) return WB_POLYAGAMMA_EXPANSION_6;
  if (b >= 12.0) return WB_POLYAGAMMA_EXPANSION_8;
  return b < 1.0 || c >= WB_POLYAGAMMA_SMALL_TILT ? WB_POLYAGAMMA_PARTS : WB_POLYAGAMMA_UNITS;
}

/* From this tilt on the law is an inverse Gaussian to 1e-15, for shapes that parts can have. */
#define WB_POLYAGAMMA_LARGE_TILT 50.0

/* The way to a draw by `method`; the caller has checked that the method allows the shape. */
WB_HD int wb_polyagamma_way_of(int method, double b, double c) {
  int way = wb_polyagamma_choose(b, c);
  c = c < 0.0 ? -c : c;
  if (method == WB_POLYAGAMMA_AUTO || way == WB_POLYAGAMMA_NONE) return way;
  if (method == WB_POLYAGAMMA_SADDLEPOINT) return WB_POLYAGAMMA_TILTED;
  if (method == WB_POLYAGAMMA_NORMAL) return WB_POLYAGAMMA_EXPANSION_2;
  if (c >= WB_POLYAGAMMA_LARGE_TILT) return WB_POLYAGAMMA_INVERSE_GAUSSIAN;
  if (method == WB_POLYAGAMMA_ALTERNATE) return WB_POLYAGAMMA_ALTERNATING;
  return c < WB_POLYAGAMMA_SMALL_TILT ? WB_POLYAGAMMA_UNITS : WB_POLYAGAMMA_SINGLES;
}

/* How many draws of shape *part are added for one variable, and then one of shape *rest if that is above 0. */
WB_HD int wb_polyagamma_parts(int way, double b, double *part, double *rest) {
  *part = b;
  *rest = 0.0;
  if (way == WB_POLYAGAMMA_UNITS || way == WB_POLYAGAMMA_SINGLES) {
    int whole = (int)b;
    *part = 1.0;
    *rest = b - (double)whole;
    return whole;
  }
  if (way == WB_POLYAGAMMA_PARTS) {
    int parts = b > 4.0 ? (int)wb_fma(b, 0.25, 0.9999999999999998) : 1;
    *part = b / (double)parts;
    return parts;
  }
  return 1;
}

/* What trials of PG(1, c) share, in the units of J*(1, z) = 4 PG(1, 2 z) of Devroye (2009, "On exact simulation
 * algorithms for some distributions related to Jacobi theta functions", Statistics & Probability Letters 79,
 * 2251-2259). `left`, `right`: masses of the series' first terms beside WB_POLYAGAMMA_MIDDLE. */
typedef struct wb_polyagamma_unit {
  double half_square;   /* z^2/2 */
  double mean;          /* of the exponential to the right */
  double total;         /* left + right */
  double right_inverse; /* 1/right */
} wb_polyagamma_unit;

/* Phi^-1(0.075)^-2, and the mass to its left, where four terms are within 1e-20 and normals one rational function. */
#define WB_POLYAGAMMA_MIDDLE 0.4825670585153247
#define WB_POLYAGAMMA_LEFT 0.3

WB_HD wb_polyagamma_unit wb_polyagamma_unit_prepare(double c) {
  wb_polyagamma_unit unit;
  unit.half_square = 0.125 * c * c;
  double rate = 1.2337005501361697 + unit.half_square; /* pi^2/8 + z^2/2 */
  double e = wb_exp_weight(-rate * WB_POLYAGAMMA_MIDDLE);
  double inverse = 1.0 / (rate * e);
  unit.mean = e * inverse;
  unit.total = wb_fma(1.5707963267948966 * e, unit.mean, WB_POLYAGAMMA_LEFT);
  unit.right_inverse = 0.6366197723675814 * rate * rate * inverse;
  return unit;
}

/* One trial of PG(1, c): the draw, or -1 if it is rejected. The first word chooses the side and the place there: 1/N^2
 * with N a normal beyond the middle, or the middle plus an exponential. The second word accepts. With q = exp(-4/y)
 * (left) or exp(-pi^2 y) (right), the series over its first term is 1 - 3 q + 5 q^3 - 7 q^6 + .... On the left the
 * acceptance includes the factor exp(-z^2 y/2). */
WB_HD double wb_polyagamma_unit_trial(wb_polyagamma_unit unit, uint64_t first, uint64_t second) {
  double at = wb_uniform(first) * unit.total;
  double v = wb_uniform(second);
  int left = at < WB_POLYAGAMMA_LEFT;
  double p = wb_select(left, 0.25 * at, (at - WB_POLYAGAMMA_LEFT) * unit.right_inverse);
  p = wb_select(p > 5.551115123125783e-17, p, 5.551115123125783e-17);
  double exponential = -wb_log_biased(p, 1023.0, -0.0);
  /* On the right nothing for the left side is used: `exponential` may be -2^-53 there, so the numbers are moderate. */
  double within = wb_select(left, exponential, 3.0);
  double r = wb_sqrt(within) - 1.6;
  double top = wb_normal_tail_top(r), bottom = wb_normal_tail_bottom(r);
  double top_square = top * top, bottom_square = bottom * bottom;
  double inverse = 1.0 / (top_square * bottom_square);
  double y_left = bottom_square * bottom_square * inverse;
  double over_y = top_square * top_square * inverse;
  double y = wb_select(left, y_left, wb_fma(exponential, unit.mean, WB_POLYAGAMMA_MIDDLE));
  double q = wb_exp_weight(wb_select(left, -4.0 * over_y, -9.869604401089358 * y));
  double cube = q * q * q;
  double series = wb_fma(cube, wb_fma(-7.0, cube, 5.0), wb_fma(-3.0, q, 1.0));
  double kept = wb_exp_weight(wb_select(left, -unit.half_square * y, 0.0));
  return wb_select(v < series * kept, 0.25 * y, -1.0);
}

/* The roots of Michael, Schucany & Haas (1976, "Generating random variates using transformations with multiple roots",
 * The American Statistician 30, 88-90). With h half the square of a normal and m = b c/2, this returns d. The smaller
 * root is (b^2/4)/d, the larger d/c^2; the smaller is taken with probability d/(d + m). Nothing cancels; c may be 0. */
WB_HD double wb_inverse_gaussian_root(double h, double m) { return m + h + wb_sqrt(h * (h + 2.0 * m)); }

/* One trial of PG(b, c), c >= 0: the draw, or -1. The proposal is the inverse Gaussian of mean b/(2c) and shape b^2/4
 * (at c = 0 its limit). Up to a constant its density is the first term of the alternating series of the density of
 * PG(b, c). The first word gives the normal. The second chooses the root and, rescaled, accepts with the probability
 *   R(x) = sum_n (-1)^n T_n, T_0 = 1, T_n = (b+1)...(b+n-1)/n! (2n + b) exp(-(n^2 + n b)/(2x)),
 * which falls from 1 to 0. The first `terms` terms are summed, and x >= limit is rejected. For 12 terms and a limit of
 * 4 this leaves out less than 4e-9 of the law if b < 1, or if c >= 2.4 and b <= 4. */
#define WB_POLYAGAMMA_TERMS_MOST 28
WB_HD double wb_polyagamma_part_trial(double b, double c, double limit, int terms, uint64_t first, uint64_t second) {
  double z = wb_normal_quantile_within(wb_uniform(first));
  double h = 0.5 * z * z, m = 0.5 * b * c;
  double d = wb_inverse_gaussian_root(h, m);
  double at = wb_uniform(second) * (d + m);
  int smaller = at < d;
  double v = wb_select(smaller, at, at - d) / wb_select(smaller, d, m);
  double x = wb_select(smaller, 0.25 * b * b, d) / wb_select(smaller, d, c * c);
  /* 1/x is clipped where later terms are below 1e-11 of the first: no power of `step` is subnormal, thus slow. */
  double over_x = 1.0 / x;
  over_x = wb_select(over_x < 52.0, over_x, 52.0);
  double step = wb_exp_weight(-over_x);
  double power[WB_POLYAGAMMA_TERMS_MOST]; /* power[n] = exponential of T_{n+1} over that of T_n */
  power[0] = wb_exp_weight(-0.5 * (1.0 + b) * over_x);
  WB_UNROLL
  for (int n = 1; n < WB_POLYAGAMMA_TERMS_MOST; n++)
    if (n < terms) power[n] = power[n - 1] * step;
  double sum = 2.0 * terms + b;
  WB_UNROLL
  for (int n = WB_POLYAGAMMA_TERMS_MOST - 1; n > 0; n--) {
    if (n >= terms) continue;
    double ratio = (b + (double)n) * (1.0 / (n + 1)) * power[n];
    sum = wb_fma(-ratio, sum, 2.0 * n + b);
  }
  sum = wb_fma(-power[0], sum, 1.0);
  return wb_select((x < limit) & (v < sum), x, -1.0);
}

#define WB_POLYAGAMMA_PART_LIMIT 4.0
#define WB_POLYAGAMMA_PART_TERMS 12

/* For all tilts and shapes up to 4, whose laws reach further. */
#define WB_POLYAGAMMA_ALTERNATE_LIMIT 9.0
#define WB_POLYAGAMMA_ALTERNATE_TERMS WB_POLYAGAMMA_TERMS_MOST

/* PG(b, c) for large c, where only the series' first term, an inverse Gaussian, matters. b c/2 may overflow. */
WB_HD double wb_polyagamma_inverse_gaussian(double b, double c, uint64_t first, uint64_t second) {
  double z = wb_normal_quantile_within(wb_uniform(first));
  double h = 0.5 * z * z, m = 0.5 * b * c;
  m = wb_select(m < 1e300, m, 1e300);
  double d = wb_inverse_gaussian_root(h, m);
  int smaller = wb_uniform(second) * (d + m) < d;
  double mean = 0.5 * b / c, over = wb_select(smaller, m, d), under = wb_select(smaller, d, m);
  /* Where the product would overflow. */
  return wb_select(b < 1e150, mean * over / under, mean * (over / under));
}

WB_HD double wb_polyagamma_expand(wb_polyagamma_expansion series, int cumulants, uint64_t first) {
  double x = wb_polyagamma_expansion_at(series, wb_normal_quantile_within(wb_uniform(first)), cumulants);
  return wb_select(x > 0.0, x, 0.0);
}

/* The same by an expansion. The number of cumulants is a constant in each call, since loops are unrolled. */
WB_HD wb_polyagamma_expansion wb_polyagamma_expansion_by(int way, double b, double c) {
  if (way == WB_POLYAGAMMA_EXPANSION_8) return wb_polyagamma_expansion_prepare(b, c, 8);
  if (way == WB_POLYAGAMMA_EXPANSION_6) return wb_polyagamma_expansion_prepare(b, c, 6);
  return wb_polyagamma_expansion_prepare(b, c, 2);
}
WB_HD double wb_polyagamma_expand_by(int way, wb_polyagamma_expansion series, uint64_t first) {
  if (way == WB_POLYAGAMMA_EXPANSION_8) return wb_polyagamma_expand(series, 8, first);
  if (way == WB_POLYAGAMMA_EXPANSION_6) return wb_polyagamma_expand(series, 6, first);
  return wb_polyagamma_expand(series, 2, first);
}

/* The same by 6 or 8 cumulants, chosen at run time with one piece of code and the same bits. */
WB_HD double wb_polyagamma_expand_either(int cumulants, double b, double c, uint64_t first) {
  double kappa[8];
  wb_polyagamma_unit_cumulants(c, 8, kappa);
  return wb_polyagamma_expand(wb_polyagamma_expansion_from(kappa, b, cumulants), 8, first);
}

/* At least the smallest positive double: the smallest shapes have draws below it. */
WB_HD double wb_polyagamma_positive(double x) { return x > 4.9406564584124654e-324 ? x : 4.9406564584124654e-324; }

typedef struct wb_polyagamma_stream {
  uint64_t key;
  uint32_t c1, c2, c3;
} wb_polyagamma_stream;

WB_HD wb_polyagamma_stream wb_polyagamma_open(uint64_t key, uint32_t iteration, uint64_t element) {
  wb_polyagamma_stream stream = {key, (uint32_t)element, wb_philox_c2(WB_PURPOSE_POLYAGAMMA, element), iteration};
  return stream;
}

WB_HD wb_bits wb_polyagamma_block(wb_polyagamma_stream stream, uint32_t part, uint32_t trial) {
  return wb_philox(stream.key, part * WB_POLYAGAMMA_TRIALS + trial, stream.c1, stream.c2, stream.c3);
}

/* One part of shape b: trials until one is accepted. */
WB_HD double wb_polyagamma_draw_part(wb_polyagamma_stream stream, uint32_t part, double b, double c, double limit,
                                     int terms) {
  double x = -1.0;
  for (uint32_t trial = 0; x < 0.0; trial++) {
    wb_bits bits = wb_polyagamma_block(stream, part, trial);
    x = wb_polyagamma_part_trial(b, c, limit, terms, wb_bits64(bits, 0), wb_bits64(bits, 1));
  }
  return x;
}

WB_HD double wb_polyagamma_draw_unit(wb_polyagamma_stream stream, uint32_t part, wb_polyagamma_unit unit) {
  double x = -1.0;
  for (uint32_t trial = 0; x < 0.0; trial++) {
    wb_bits bits = wb_polyagamma_block(stream, part, trial);
    x = wb_polyagamma_unit_trial(unit, wb_bits64(bits, 0), wb_bits64(bits, 1));
  }
  return x;
}

WB_HD double wb_polyagamma_draw_tilted(wb_polyagamma_stream stream, double b, double c) {
  double x = -1.0;
  for (uint32_t trial = 0; x < 0.0; trial++) {
    wb_bits bits = wb_polyagamma_block(stream, 0, trial);
    x = wb_polyagamma_saddlepoint_trial(b, c, wb_bits64(bits, 0), wb_bits64(bits, 1));
  }
  return x;
}

/* A draw that is a sum of parts: WB_POLYAGAMMA_UNITS, _PARTS or _SINGLES. */
WB_HD double wb_polyagamma_draw_sum(int way, wb_polyagamma_stream stream, double shape, double c) {
  double sum = 0.0, part, rest;
  const int parts = wb_polyagamma_parts(way, shape, &part, &rest);
  int i = 0;
  if (way == WB_POLYAGAMMA_UNITS) {
    wb_polyagamma_unit unit = wb_polyagamma_unit_prepare(c);
    for (; i < parts; i++) sum += wb_polyagamma_draw_unit(stream, (uint32_t)i, unit);
  }
  for (; i < parts + (rest > 0.0); i++)
    sum += wb_polyagamma_draw_part(stream, (uint32_t)i, i < parts ? part : rest, c, WB_POLYAGAMMA_PART_LIMIT,
                                   WB_POLYAGAMMA_PART_TERMS);
  return wb_polyagamma_positive(sum);
}

/* A draw of PG(shape, tilt) for `element` in `iteration`, by the given way. */
WB_HD double wb_polyagamma_draw_by(int way, uint64_t key, uint32_t iteration, uint64_t element, double shape,
                                   double tilt) {
  const double c = tilt < 0.0 ? -tilt : tilt;
  wb_polyagamma_stream stream = wb_polyagamma_open(key, iteration, element);
  if (way == WB_POLYAGAMMA_NONE) return wb_nan();
  if (way == WB_POLYAGAMMA_UNITS || way == WB_POLYAGAMMA_PARTS || way == WB_POLYAGAMMA_SINGLES)
    return wb_polyagamma_draw_sum(way, stream, shape, c);
  if (way == WB_POLYAGAMMA_ALTERNATING)
    return wb_polyagamma_positive(
        wb_polyagamma_draw_part(stream, 0, shape, c, WB_POLYAGAMMA_ALTERNATE_LIMIT, WB_POLYAGAMMA_ALTERNATE_TERMS));
  if (way == WB_POLYAGAMMA_TILTED) return wb_polyagamma_positive(wb_polyagamma_draw_tilted(stream, shape, c));
  wb_bits bits = wb_polyagamma_block(stream, 0, 0);
  if (way == WB_POLYAGAMMA_INVERSE_GAUSSIAN)
    return wb_polyagamma_positive(wb_polyagamma_inverse_gaussian(shape, c, wb_bits64(bits, 0), wb_bits64(bits, 1)));
  return wb_polyagamma_positive(
      wb_polyagamma_expand_by(way, wb_polyagamma_expansion_by(way, shape, c), wb_bits64(bits, 0)));
}

/* A draw of PG(shape, tilt) for `element` in `iteration`, within a Kolmogorov distance of 1e-6 of its law. NaN if the
 * shape is not positive, or if shape or tilt is not finite. wb_polyagamma_draw_by() has the same bits and more code. */
WB_HD double wb_polyagamma_draw(uint64_t key, uint32_t iteration, uint64_t element, double shape, double tilt) {
  const int way = wb_polyagamma_choose(shape, tilt);
  const double c = tilt < 0.0 ? -tilt : tilt;
  wb_polyagamma_stream stream = wb_polyagamma_open(key, iteration, element);
  if (way == WB_POLYAGAMMA_NONE) return wb_nan();
  if (way == WB_POLYAGAMMA_UNITS || way == WB_POLYAGAMMA_PARTS) return wb_polyagamma_draw_sum(way, stream, shape, c);
  wb_bits bits = wb_polyagamma_block(stream, 0, 0);
  if (way == WB_POLYAGAMMA_INVERSE_GAUSSIAN)
    return wb_polyagamma_positive(wb_polyagamma_inverse_gaussian(shape, c, wb_bits64(bits, 0), wb_bits64(bits, 1)));
  return wb_polyagamma_positive(
      wb_polyagamma_expand_either(way == WB_POLYAGAMMA_EXPANSION_8 ? 8 : 6, shape, c, wb_bits64(bits, 0)));
}
