/* Elementary functions from +, -, *, /, fma and sqrt alone, so that every
 * machine, compiler and vector width returns the same bits.
 *
 * Coefficients: minimax fits by the Remez algorithm, computed in 60 digits for
 * this file and rounded to the nearest double or float. Error bounds are
 * measured by tests/vectors/ulp.c against quadruple precision.
 *
 * The functions marked "branch-free" become vector code when inlined into a
 * loop over lanes; their cost is given in instructions per vector. Selections
 * are written as bit masks or as ?: on values already computed, integers move
 * to and from doubles by way of 2^52 (AVX2 has no conversion of 64-bit
 * integers), and results with several exponents are scaled by adding to the
 * exponent field.
 */
#ifndef WB_ELEMENTARY_H
#define WB_ELEMENTARY_H

#include "host_device.h"

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

/* All bits set where the condition holds: GCC turns a selection written with ?:
 * into a branch as soon as one side is a constant, and then gives up on the
 * loop; it keeps this. */
WB_HD uint64_t wb_mask(int condition) {
  return (uint64_t)0 - (uint64_t)condition;
}
WB_HD uint32_t wb_maskf(int condition) {
  return (uint32_t)0 - (uint32_t)condition;
}
WB_HD double wb_select(int condition, double yes, double no) {
  uint64_t mask = wb_mask(condition);
  return wb_bits_double((wb_double_bits(yes) & mask) | (wb_double_bits(no) & ~mask));
}
WB_HD float wb_selectf(int condition, float yes, float no) {
  uint32_t mask = wb_maskf(condition);
  return wb_bits_float((wb_float_bits(yes) & mask) | (wb_float_bits(no) & ~mask));
}

WB_HD double wb_infinity(void) {
  return wb_bits_double(0x7FF0000000000000u);
}
WB_HD double wb_nan(void) {
  return wb_bits_double(0x7FF8000000000000u);
}

WB_HD float wb_infinityf(void) {
  return wb_bits_float(0x7F800000u);
}
WB_HD float wb_nanf(void) {
  return wb_bits_float(0x7FC00000u);
}

#define WB_LOG2_E 1.4426950408889634
#define WB_LN2_HIGH 0.6931471805599453     /* log 2 rounded */
#define WB_LN2_LOW 2.3190468138462996e-17  /* the rest */
#define WB_TO_INTEGER 6755399441055744.0   /* 1.5 * 2^52: adding it rounds to whole numbers */
#define WB_LOG2_Ef 1.44269504f
#define WB_LN2_HIGHf 0.693147182f
#define WB_LN2_LOWf -1.90465421e-9f
#define WB_TO_INTEGERf 12582912.0f /* 1.5 * 2^23 */

/* exp(r) for |r| <= log(2)/2: 1 + r + r^2/2 + r^3 P(r), relative error of the
 * polynomial 5.8e-18. */
WB_HD double wb_exp_reduced(double r) {
  double s = 2.497966367665672e-8;
  s = wb_fma(s, r, 2.762520365733726e-7);
  s = wb_fma(s, r, 2.7557637458002793e-6);
  s = wb_fma(s, r, 2.4801508644014323e-5);
  s = wb_fma(s, r, 1.9841269469300578e-4);
  s = wb_fma(s, r, 1.3888888926823755e-3);
  s = wb_fma(s, r, 8.333333333498958e-3);
  s = wb_fma(s, r, 4.1666666666603895e-2);
  s = wb_fma(s, r, 0.16666666666666435);
  s = wb_fma(s, r, 0.5);
  s = wb_fma(s, r, 1.0);
  return wb_fma(s, r, 1.0);
}

/* The same in single precision, relative error of the polynomial 3.9e-9. */
WB_HD float wb_exp_reducedf(float r) {
  float s = 1.3864338397979736e-3f;
  s = wb_fmaf(s, r, 8.367492817342281e-3f);
  s = wb_fmaf(s, r, 4.1667234152555466e-2f);
  s = wb_fmaf(s, r, 0.16666534543037415f);
  s = wb_fmaf(s, r, 0.5f);
  s = wb_fmaf(s, r, 1.0f);
  return wb_fmaf(s, r, 1.0f);
}

/* exp(x) for x <= 0, a weight relative to the largest: exactly 1 at 0, exactly
 * 0 for -inf and wherever exp(x) is below the smallest normal number 2^-1022.
 * Not for x > 0; NaN gives 0. Branch-free, 20 instructions per vector. */
WB_HD double wb_exp_weight(double x) {
  double shifted = wb_fma(x, WB_LOG2_E, WB_TO_INTEGER);
  double k = shifted - WB_TO_INTEGER;
  double r = wb_fma(k, -WB_LN2_LOW, wb_fma(k, -WB_LN2_HIGH, x));
  /* The low bits of `shifted` hold k: moved into the exponent field, they
   * multiply by 2^k. */
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

/* exp(x) for every x: inf above 709.78, gradual underflow, NaN stays NaN.
 * 2^k is applied in two factors, as k may lie outside the exponents of normal
 * numbers. Branch-free, 27 instructions per vector. */
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

WB_HD float wb_expf(float x) {
  float within = x < -104.0f ? -104.0f : x;
  within = within > 89.0f ? 89.0f : within;
  float k = wb_fmaf(within, WB_LOG2_Ef, WB_TO_INTEGERf) - WB_TO_INTEGERf;
  float r = wb_fmaf(k, -WB_LN2_LOWf, wb_fmaf(k, -WB_LN2_HIGHf, within));
  float half = wb_fmaf(k, 0.5f, WB_TO_INTEGERf);
  float rest = k - (half - WB_TO_INTEGERf) + WB_TO_INTEGERf;
  float scale1 = wb_bits_float((wb_float_bits(half) + 127) << 23);
  float scale2 = wb_bits_float((wb_float_bits(rest) + 127) << 23);
  return wb_exp_reducedf(r) * scale1 * scale2;
}

/* log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)], by way of s = f/(2 + f):
 * log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + 2 s^2/3 + 2 s^4/5 + ...).
 * Splitting off f - f^2/2 keeps the rounding of s small in the result. Relative
 * error of the polynomial 1.3e-18. */
WB_HD double wb_log_reduced(double f) {
  double half_square = 0.5 * f * f;
  double s = f / (2.0 + f);
  double z = s * s;
  double q = 0.14795638036796798;
  q = wb_fma(q, z, 0.15314084406733894);
  q = wb_fma(q, z, 0.1818356286662875);
  q = wb_fma(q, z, 0.22222198604799953);
  q = wb_fma(q, z, 0.2857142874203014);
  q = wb_fma(q, z, 0.39999999999416636);
  q = wb_fma(q, z, 0.6666666666666734);
  return wb_fma(s, wb_fma(z, q, half_square), -half_square);
}

/* log(x): -inf at 0, NaN below 0, subnormal numbers included. Branch-free,
 * 40 instructions per vector, one of them a division. */
WB_HD double wb_log(double x) {
  int subnormal = x < 2.2250738585072014e-308;
  double scaled = x * wb_select(subnormal, 18014398509481984.0, 1.0); /* 2^54 */
  double offset = wb_select(subnormal, 4503599627370496.0 + 1023.0 + 54.0, 4503599627370496.0 + 1023.0);
  /* Exponents change at sqrt(1/2), whose bits are 0x3FE6A09E667F3BCD. */
  uint64_t bits = wb_double_bits(scaled) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
  double k = wb_bits_double(bits >> 52 | 0x4330000000000000u) - offset;
  double m = wb_bits_double((bits & 0x000FFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu);
  double f = m - 1.0;
  double high = wb_fma(k, WB_LN2_HIGH, f);
  /* What rounding took from high. */
  double lost = f - wb_fma(k, -WB_LN2_HIGH, high);
  double result = high + wb_fma(k, WB_LN2_LOW, wb_log_reduced(f) + lost);
  double outside = wb_select(x < 0.0, wb_nan(), wb_select(x == 0.0, -wb_infinity(), x));
  return wb_select((x > 0.0) & (x < wb_infinity()), result, outside);
}

/* Relative error of the polynomial 8.1e-10. */
WB_HD float wb_log_reducedf(float f) {
  float half_square = 0.5f * f * f;
  float s = f / (2.0f + f);
  float z = s * s;
  float q = 0.2987079918384552f;
  q = wb_fmaf(q, z, 0.39977583289146423f);
  q = wb_fmaf(q, z, 0.6666677594184875f);
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

/* Correctly rounded by IEEE 754: here for the name's sake. */
WB_HD double wb_sqrt(double x) {
  return sqrt(x);
}
WB_HD float wb_sqrtf(float x) {
  return sqrtf(x);
}
#endif
