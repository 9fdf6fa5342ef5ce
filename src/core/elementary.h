/* Elementary functions from +, -, *, /, fma and sqrt alone: the same bits for every machine, compiler and vector width.
 *
 * Coefficients: Remez minimax fits in 60 digits, rounded. tests/vectors/ulp.c measures errors against quadruple
 * precision, and fails above the bound:
 *
 *                       worst ulp  bound   instructions a vector
 *   wb_exp_weight         0.89      1.0     24
 *   wb_exp                0.88      1.0     39
 *   wb_expm1              1.15      1.2     54
 *   wb_log                0.84      1.0     46
 *   wb_log1p              0.84      1.0     48
 *   wb_log1mexp           1.86      2.0      -
 *   wb_lgamma             2.2       2.5      -
 *   wb_normal_quantile    5.9       7.0     81   (relative error below 1e-15)
 *   wb_exp_weightf        0.88      1.0     19
 *   wb_logf               0.85      1.0     41
 *
 * Functions with a count (of a calling loop, less its own three instructions; GCC 12, AVX2) have no branches. Adding
 * 2^52 converts integers to and from doubles. Adding to the exponent field multiplies by 2^k. */
#pragma once

#include "core/fma_chain.h"

WB_HD uint64_t wb_double_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
WB_HD double wb_bits_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
WB_HD uint32_t wb_float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
WB_HD float wb_bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* All bits set if the condition holds: GCC makes a branch of ?: with a constant, which it does not vectorize. */
WB_HD uint64_t wb_mask(int condition) { return (uint64_t)0 - (uint64_t)condition; }
WB_HD uint32_t wb_maskf(int condition) { return (uint32_t)0 - (uint32_t)condition; }
WB_HD double wb_select(int condition, double yes, double no) {
  uint64_t mask = wb_mask(condition);
  return wb_bits_double((wb_double_bits(yes) & mask) | (wb_double_bits(no) & ~mask));
}
WB_HD float wb_selectf(int condition, float yes, float no) {
  uint32_t mask = wb_maskf(condition);
  return wb_bits_float((wb_float_bits(yes) & mask) | (wb_float_bits(no) & ~mask));
}

#define WB_TO_INTEGER 6755399441055744.0 /* 1.5 * 2^52; adding it rounds to an integer */

WB_HD double wb_nearest(double x) { return (x + WB_TO_INTEGER) - WB_TO_INTEGER; }

/* 2^e for an integer e in [-1000, 1023]; 0 for e below. */
WB_HD double wb_power_of_two(double e) {
  const uint64_t bits = (wb_double_bits(e + WB_TO_INTEGER) + 1023) << 52;
  return wb_bits_double(bits & wb_mask(e >= -1000.0));
}

WB_HD double wb_infinity(void) { return wb_bits_double(0x7FF0000000000000u); }
WB_HD double wb_nan(void) { return wb_bits_double(0x7FF8000000000000u); }

WB_HD float wb_infinityf(void) { return wb_bits_float(0x7F800000u); }
WB_HD float wb_nanf(void) { return wb_bits_float(0x7FC00000u); }

#define WB_LOG2_E 1.4426950408889634
#define WB_LOG_PI 1.1447298858494002
#define WB_LOG_2_PI 1.8378770664093454
#define WB_LN2_HIGH 0.6931471805599453    /* log 2 rounded */
#define WB_LN2_LOW 2.3190468138462996e-17 /* the rest */
#define WB_LOG2_Ef 1.44269504f
#define WB_LN2_HIGHf 0.693147182f
#define WB_LN2_LOWf -1.90465421e-9f
#define WB_TO_INTEGERf 12582912.0f /* 1.5 * 2^23 */

/* P(r) = (exp(r) - 1 - r)/r^2 for |r| <= log(2)/2: 1 + r + r^2 P(r) has a relative error of 5.8e-18. */
WB_HD double wb_exp_polynomial(double r) {
  return WB_HORNER(r, 2.497966367665672e-8, 2.762520365733726e-7, 2.7557637458002793e-6, 2.4801508644014323e-5,
                   1.9841269469300578e-4, 1.3888888926823755e-3, 8.333333333498958e-3, 4.1666666666603895e-2,
                   0.16666666666666435, 0.5);
}

/* exp(r) for |r| <= log(2)/2. */
WB_HD double wb_exp_reduced(double r) { return wb_fma(wb_fma(wb_exp_polynomial(r), r, 1.0), r, 1.0); }

/* The same in single precision; relative error of the polynomial 3.9e-9. */
WB_HD float wb_exp_reducedf(float r) {
  return WB_HORNERF(r, 1.3864338397979736e-3f, 8.367492817342281e-3f, 4.1667234152555466e-2f, 0.16666534543037415f,
                    0.5f, 1.0f, 1.0f);
}

/* exp(x) for x <= 0, such as a weight relative to the largest one: exactly 1 at 0; exactly 0 at -inf and wherever
 * exp(x) is below the smallest normal number 2^-1022. Right for 0 < x <= 709 too, wrong above; 0 for NaN. */
WB_HD double wb_exp_weight(double x) {
  double shifted = wb_fma(x, WB_LOG2_E, WB_TO_INTEGER);
  double k = shifted - WB_TO_INTEGER;
  double r = wb_fma(k, -WB_LN2_LOW, wb_fma(k, -WB_LN2_HIGH, x));
  uint64_t bits = wb_double_bits(wb_exp_reduced(r)) + (wb_double_bits(shifted) << 52);
  return wb_bits_double(bits & wb_mask(x >= -708.3964185322641));
}

/* Single precision: exactly 0 below 2^-126. */
WB_HD float wb_exp_weightf(float x) {
  float shifted = wb_fmaf(x, WB_LOG2_Ef, WB_TO_INTEGERf);
  float k = shifted - WB_TO_INTEGERf;
  float r = wb_fmaf(k, -WB_LN2_LOWf, wb_fmaf(k, -WB_LN2_HIGHf, x));
  uint32_t bits = wb_float_bits(wb_exp_reducedf(r)) + (wb_float_bits(shifted) << 23);
  return wb_bits_float(bits & wb_maskf(x >= -87.3365402f));
}

/* exp(x): inf above 709.78, gradual underflow, NaN stays NaN. 2^k is two factors: k may exceed normal exponents. */
WB_HD double wb_exp(double x) {
  double within = x < -746.0 ? -746.0 : x;
  within = within > 710.0 ? 710.0 : within;
  double k = wb_fma(within, WB_LOG2_E, WB_TO_INTEGER) - WB_TO_INTEGER;
  double r = wb_fma(k, -WB_LN2_LOW, wb_fma(k, -WB_LN2_HIGH, within));
  double half = wb_fma(k, 0.5, WB_TO_INTEGER);
  double rest = k - (half - WB_TO_INTEGER) + WB_TO_INTEGER;
  double scale1 = wb_bits_double((wb_double_bits(half) + 1023) << 52);
  double scale2 = wb_bits_double((wb_double_bits(rest) + 1023) << 52);
  return wb_exp_reduced(r) * scale1 * scale2;
}

/* exp(x) - 1 = 2^k (exp(r) - 1) + (2^k - 1), exp(r) - 1 in two doubles; inf above 709.78, -1 below -37.5. */
WB_HD double wb_expm1(double x) {
  double within = x < -40.0 ? -40.0 : x;
  within = within > 710.0 ? 710.0 : within;
  double shifted = wb_fma(within, WB_LOG2_E, WB_TO_INTEGER);
  double k = shifted - WB_TO_INTEGER;
  double first = wb_fma(k, -WB_LN2_HIGH, within);
  double r = wb_fma(k, -WB_LN2_LOW, first);
  double lost = wb_fma(k, -WB_LN2_LOW, first - r);
  double tail = wb_fma(r * r, wb_exp_polynomial(r), lost);
  double high = r + tail;
  double low = tail - (high - r);
  /* All terms are halved, since 2^1024 is not a double. `error` is the rounding error of the sum. */
  double scale = wb_bits_double((wb_double_bits(shifted) + 1022) << 52);
  double whole = scale - 0.5;
  double scaled = scale * high;
  double sum = whole + scaled;
  double part = sum - whole;
  double error = (whole - (sum - part)) + (scaled - part) + ((scale - whole) - 0.5);
  double result = 2.0 * (sum + wb_fma(scale, low, error));
  return wb_select((x > -1e-17) & (x < 1e-17), x, result);
}

/* log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)], with s = f/(2 + f):
 *   log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + 2 s^2/3 + 2 s^4/5 + ...).
 * Splitting off f - f^2/2 keeps the rounding of s small in the result. Relative error of the polynomial 1.3e-18. */
WB_HD double wb_log_reduced(double f) {
  double half_square = 0.5 * f * f;
  double s = f / (2.0 + f);
  double z = s * s;
  double q = WB_HORNER(z, 0.14795638036796798, 0.15314084406733894, 0.1818356286662875, 0.22222198604799953,
                       0.2857142874203014, 0.39999999999416636, 0.6666666666666734);
  return wb_fma(s, wb_fma(z, q, half_square), -half_square);
}

/* log x + `correction` (below the rounding error) for normal x > 0 whose biased exponent is `bias` too large. */
WB_HD double wb_log_biased(double x, double bias, double correction) {
  /* Exponents change at sqrt(1/2), whose bits are 0x3FE6A09E667F3BCD. */
  uint64_t bits = wb_double_bits(x) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
  double k = wb_bits_double(bits >> 52 | 0x4330000000000000u) - (4503599627370496.0 + bias);
  double m = wb_bits_double((bits & 0x000FFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu);
  double f = m - 1.0;
  double high = wb_fma(k, WB_LN2_HIGH, f);
  double lost = f - wb_fma(k, -WB_LN2_HIGH, high); /* by the rounding of high */
  return high + wb_fma(k, WB_LN2_LOW, wb_log_reduced(f) + lost + correction);
}

/* log(x): -inf at 0, NaN below 0, subnormal numbers included. One division. */
WB_HD double wb_log(double x) {
  int subnormal = x < 2.2250738585072014e-308;
  double scaled = x * wb_select(subnormal, 18014398509481984.0, 1.0); /* 2^54 */
  double bias = wb_select(subnormal, 1023.0 + 54.0, 1023.0);
  double result = wb_log_biased(scaled, bias, -0.0); /* adding -0 changes nothing */
  double outside = wb_select(x < 0.0, wb_nan(), wb_select(x == 0.0, -wb_infinity(), x));
  return wb_select((x > 0.0) & (x < wb_infinity()), result, outside);
}

/* log(1 + x) = log(u) + c/u, where u = 1 + x is rounded and c is the error; -inf at -1, NaN below. */
WB_HD double wb_log1p(double x) {
  double u = 1.0 + x;
  double one = u - x;
  double c = (1.0 - one) + (x - (u - one));
  double result = wb_log_biased(u, 1023.0, c / u);
  double outside = wb_select(x < -1.0, wb_nan(), wb_select(x == -1.0, -wb_infinity(), x));
  return wb_select((x > -1.0) & (x < wb_infinity()), result, outside);
}

/* Single precision; relative error of the polynomial 8.1e-10. */
WB_HD float wb_log_reducedf(float f) {
  float half_square = 0.5f * f * f;
  float s = f / (2.0f + f);
  float z = s * s;
  float q = WB_HORNERF(z, 0.2987079918384552f, 0.39977583289146423f, 0.6666677594184875f);
  return wb_fmaf(s, wb_fmaf(z, q, half_square), -half_square);
}

WB_HD float wb_logf(float x) {
  int subnormal = x < 1.17549435e-38f;
  float scaled = x * wb_selectf(subnormal, 33554432.0f, 1.0f); /* 2^25 */
  float offset = wb_selectf(subnormal, 8388608.0f + 127.0f + 25.0f, 8388608.0f + 127.0f);
  uint32_t bits = wb_float_bits(scaled) + (0x3F800000u - 0x3F3504F3u);
  float k = wb_bits_float(bits >> 23 | 0x4B000000u) - offset;
  float m = wb_bits_float((bits & 0x007FFFFFu) + 0x3F3504F3u);
  float f = m - 1.0f;
  float high = wb_fmaf(k, WB_LN2_HIGHf, f);
  float lost = f - wb_fmaf(k, -WB_LN2_HIGHf, high);
  float result = high + wb_fmaf(k, WB_LN2_LOWf, wb_log_reducedf(f) + lost);
  float outside = wb_selectf(x < 0.0f, wb_nanf(), wb_selectf(x == 0.0f, -wb_infinityf(), x));
  return wb_selectf((x > 0.0f) & (x < wb_infinityf()), result, outside);
}

/* log(1 - exp(x)) for x <= 0 without cancellation (Maechler 2012, "Accurately computing log(1 - exp(-|a|))"). */
WB_HD double wb_log1mexp(double x) { return x > -0.6931471805599453 ? wb_log(-wb_expm1(x)) : wb_log1p(-wb_exp(x)); }

/* Correctly rounded by IEEE 754. GCC vectorizes it only with -fno-math-errno, for which a pragma comes too late. */
WB_HD double wb_sqrt(double x) { return sqrt(x); }

/* lgamma(2 + t)/(t (1 + t)) for |t| <= 1; relative error 3.5e-17. */
WB_HD double wb_lgamma_polynomial(double t) {
  double high =
      WB_HORNER(t, -8.212822999490541e-10, 1.5824309992453015e-09, 2.4847351758729013e-09, -4.362873844736917e-09,
                -8.997733702312625e-09, 1.6338795364498542e-08, -7.061904964589857e-10, 5.669520436522022e-09,
                -5.2129303765822886e-08, 1.044635462971467e-07, -1.8606158629098088e-07, 3.9570576247604265e-07,
                -8.555192002297936e-07, 1.8114844551121014e-06);
  return WB_HORNER(t, high, -3.846500290872015e-06, 8.221202538503931e-06, -1.7661859022045705e-05,
                   3.8169083865950094e-05, -8.309509935060099e-05, 0.00018255261433307323, -0.00040570740000116397,
                   0.0009153769241313197, -0.002108130833825455, 0.004998641164622947, -0.012384192193374458,
                   0.03296500062115698, -0.1003173016743539, 0.42278433509846713);
}

/* log Gamma(x), x >= 8, by Stirling's series (Abramowitz & Stegun 6.1.41), its terms refitted on [8, inf). */
WB_HD double wb_lgamma_series(double x) {
  double inverse = 1.0 / x;
  double z = inverse * inverse;
  double q = WB_HORNER(z, -0.0016338463979112454, 0.0008364774361500612, -0.0005951900003858397, 0.0007936505788827376,
                       -0.002777777777366492, 0.0833333333333331);
  double constant = 0.41893853320467274; /* log(2 pi)/2 - 1/2 */
  return wb_fma(x - 0.5, wb_log(x) - 1.0, wb_fma(q, inverse, constant));
}

/* log Gamma(x), x > 0; inf at 0, NaN below. In [1, 3] a polynomial has the zeros at 1 and 2 as factors, so that the
 * relative accuracy holds there too. Below 1: Gamma(x) = Gamma(1 + x)/x. Up to 8: Gamma(x) = (x-1)...(x-n) Gamma(x-n).
 */
WB_HD double wb_lgamma(double x) {
  if (!(x >= 0.0)) return wb_nan();
  if (x < 1.0) return wb_fma((x - 1.0) * x, wb_lgamma_polynomial(x - 1.0), -wb_log(x));
  if (x < 8.0) {
    double product = 1.0;
    while (x >= 3.0) {
      x -= 1.0;
      product *= x;
    }
    double value = (x - 2.0) * (x - 1.0) * wb_lgamma_polynomial(x - 2.0);
    return product > 1.0 ? value + wb_log(product) : value;
  }
  return wb_lgamma_series(x);
}

/* log of the multivariate gamma function of order p, x > (p - 1)/2. */
WB_HD double wb_lgamma_multivariate(int p, double x) {
  double sum = 0.25 * p * (p - 1) * WB_LOG_PI;
  for (int i = 0; i < p; i++) sum += wb_lgamma(x - 0.5 * i);
  return sum;
}

/* -Phi^-1(p) for 2^-54 <= p < 0.075 is wb_normal_tail_top(r)/wb_normal_tail_bottom(r) with r = sqrt(-log p) - 1.6. */
WB_HD double wb_normal_tail_top(double r) {
  return WB_HORNER(r, 3.4752795240368614e-05, 0.0018101834410189726, 0.03216703341463222, 0.27760604479716006,
                   1.329524166012771, 3.6792897753435985, 5.756436243203399, 4.618374567796596, 1.4234371107496837);
}
WB_HD double wb_normal_tail_bottom(double r) {
  return WB_HORNER(r, 2.4573233196054013e-05, 0.0012408186511619025, 0.020833771753116275, 0.1656851976272124,
                   0.7100403226893066, 1.6772923497274286, 2.0447871258209633, 1.0);
}

/* For 0.075 <= p <= 0.925: Phi^-1(p) is q top(s)/bottom(s) with q = p - 1/2 and s = 0.425^2 - q^2. */
WB_HD double wb_normal_centre_top(double s) {
  return WB_HORNER(s, 21522.52382270553, 107922.2392626538, 140748.6935052749, 73904.72300104091, 18500.738543026724,
                   2337.350851783339, 143.40112295793057, 3.387132872796367);
}
WB_HD double wb_normal_centre_bottom(double s) {
  return WB_HORNER(s, 1225.9835604308141, 27087.822672385788, 78177.47970461618, 75603.3957647195, 32611.53951767447,
                   7087.251368076611, 804.2748861409962, 45.34228039192624, 1.0);
}

/* Phi^-1(p) for 2^-54 <= p <= 1 - 2^-54, which includes every wb_uniform: rational functions of (p - 1/2)^2 about the
 * centre and of sqrt(-log(min(p, 1 - p))) in the tails. Centre and tails are divided as by Wichura 1988 (Algorithm AS
 * 241, Applied Statistics 37, 477-484); fitted here to a relative error of 8e-17. Branch-free. */
WB_HD double wb_normal_quantile_within(double p) {
  double q = p - 0.5;
  double other = 1.0 - p;
  double smaller = p < other ? p : other;

  double s = wb_fma(-q, q, 0.180625);
  double centre_top = wb_normal_centre_top(s);
  double centre_bottom = wb_normal_centre_bottom(s);

  double r = wb_sqrt(-wb_log_biased(smaller, 1023.0, -0.0)) - 1.6;
  double tail_top = wb_normal_tail_top(r);
  double tail_bottom = wb_normal_tail_bottom(r);

  int centre = smaller >= 0.075;
  uint64_t sign = wb_double_bits(q) & 0x8000000000000000u;
  double top = wb_select(centre, q * centre_top, wb_bits_double(wb_double_bits(tail_top) | sign));
  return top / wb_select(centre, centre_bottom, tail_bottom);
}

/* The two branches of wb_normal_quantile_within(). Loops may sort uniforms into both: 15% are in the slow tails. */
WB_HD uint64_t wb_normal_in_tail(double p) { /* 1 or 0, the sign bit of a difference */
  double other = 1.0 - p;
  return wb_double_bits((p < other ? p : other) - 0.075) >> 63;
}
WB_HD double wb_normal_quantile_centre(double p) {
  double q = p - 0.5;
  double s = wb_fma(-q, q, 0.180625);
  return q * wb_normal_centre_top(s) / wb_normal_centre_bottom(s);
}
WB_HD double wb_normal_quantile_tail(double p) {
  double other = 1.0 - p;
  double r = wb_sqrt(-wb_log_biased(p < other ? p : other, 1023.0, -0.0)) - 1.6;
  uint64_t sign = wb_double_bits(p - 0.5) & 0x8000000000000000u;
  return wb_bits_double(wb_double_bits(wb_normal_tail_top(r)) | sign) / wb_normal_tail_bottom(r);
}

/* Phi^-1(p): -inf at 0, inf at 1, NaN outside. A third fit covers p below 2^-54, subnormal numbers too. */
WB_HD double wb_normal_quantile(double p) {
  if (p >= 5.551115123125783e-17) {
    if (p < 1.0) return wb_normal_quantile_within(p);
    return p == 1.0 ? wb_infinity() : wb_nan();
  }
  if (!(p > 0.0)) return p == 0.0 ? -wb_infinity() : wb_nan();
  double r = wb_sqrt(-wb_log(p)) - 6.0;
  double top = WB_HORNER(r, 1.0305740391326874e-07, 1.5056570759700886e-05, 0.0007609052412687749, 0.018206531746156395,
                         0.23123661787569474, 1.5999760309774798, 5.687860834973951, 8.120594767905025);
  double bottom = WB_HORNER(r, 9.158027193202978e-16, 7.28721565745683e-08, 1.0209537690792694e-05,
                            0.0004770381103215788, 0.010038900160617757, 0.10426029879467752, 0.5210943346294743, 1.0);
  return -top / bottom;
}

WB_HD double wb_log_sum(double a, double b) {
  const double high = wb_select(a > b, a, b), low = wb_select(a > b, b, a);
  /* If both are -Inf, their difference would be NaN. */
  const double below = wb_select(high > -wb_infinity(), low - high, 0.0);
  return high + wb_log1p(wb_exp_weight(below));
}
