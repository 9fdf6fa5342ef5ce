/* Fused multiply-adds from integers, exact on any processor and in any C library: a * b + c with one rounding to the
 * nearest, ties to even. For platforms whose fma() rounds twice; see numeric/fma.c. */
#pragma once

#include "core/host_device.h"

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wb_uint128;

#define WB_FRACTION_BIT 0x0010000000000000u /* 2^52 */

/* |x| = mantissa * 2^exponent for a finite x that is not 0, with the mantissa in [2^52, 2^53). */
static inline uint64_t wb_fma_mantissa(double x, int *exponent) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int biased = (int)(bits >> 52 & 0x7FF);
  uint64_t mantissa = bits & (WB_FRACTION_BIT - 1);
  *exponent = biased - 1075;
  if (biased > 0) return mantissa | WB_FRACTION_BIT;
  *exponent = -1074;
  while (mantissa < WB_FRACTION_BIT) {
    mantissa *= 2;
    --*exponent;
  }
  return mantissa;
}

/* x / 2^shift without its fraction; if that is not 0, the last bit is set, so that rounding forgets no bit. */
static inline wb_uint128 wb_fma_shift(wb_uint128 x, int shift) {
  if (shift == 0) return x;
  if (shift > 127) return x != 0;
  const wb_uint128 whole = x >> shift;
  return whole | (whole << shift != x);
}

/* The double nearest to x * 2^exponent, x not 0 and below 2^127. */
static inline double wb_fma_round(wb_uint128 x, int exponent) {
  const uint64_t high = (uint64_t)(x >> 64);
  const int top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
  if (top + exponent > 1023) return HUGE_VAL;
  /* The last bit of the result is 2^last. */
  const int last = top + exponent - 52 > -1074 ? top + exponent - 52 : -1074;
  const int shift = last - exponent;
  uint64_t kept;
  if (shift <= 0) {
    kept = (uint64_t)(x << -shift);
  } else {
    /* Four times the result, with the last bit set if anything is below. */
    const uint64_t quarters = shift > 1 ? (uint64_t)wb_fma_shift(x, shift - 2) : (uint64_t)(x * 2);
    kept = quarters >> 2;
    if ((quarters & 3) > 2 || ((quarters & 3) == 2 && (kept & 1))) kept++;
  }
  /* Adding lets a mantissa that was rounded up to 2^53 raise the exponent. */
  const uint64_t bits = ((uint64_t)(last + 1074) << 52) + kept;
  double result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* The product has 106 bits, c has 53. Both are shifted up below 2^126, then the smaller one down to the exponent of the
 * larger one. If that loses bits of one, the other is so much larger that the sum keeps more than 120 bits. */
static inline double wb_software_fma(double a, double b, double c) {
  /* The exponent fields of infinities and NaN are all ones: x - x is 0 for all other numbers. */
  if (a - a != 0.0 || b - b != 0.0 || a == 0.0 || b == 0.0) return a * b + c;
  if (c - c != 0.0) return c + c;
  if (c == 0.0) return a * b;
  int exponent_a, exponent_b, exponent_c;
  wb_uint128 product = wb_fma_mantissa(a, &exponent_a);
  product *= wb_fma_mantissa(b, &exponent_b);
  wb_uint128 addend = wb_fma_mantissa(c, &exponent_c);
  product <<= 20;
  addend <<= 73;
  int exponent = exponent_a + exponent_b - 20;
  exponent_c -= 73;
  if (exponent > exponent_c) {
    addend = wb_fma_shift(addend, exponent - exponent_c);
  } else {
    product = wb_fma_shift(product, exponent_c - exponent);
    exponent = exponent_c;
  }
  const int product_negative = (signbit(a) != 0) != (signbit(b) != 0), negative = signbit(c) != 0;
  if (product_negative == negative) {
    const double sum = wb_fma_round(product + addend, exponent);
    return negative ? -sum : sum;
  }
  if (product == addend) return 0.0;
  const int larger = product > addend;
  const double difference = wb_fma_round(larger ? product - addend : addend - product, exponent);
  return (larger ? product_negative : negative) ? -difference : difference;
}

#endif

/* The product of floats is exact in double. The sum is rounded to odd: if inexact, to the neighbour whose last bit is
 * 1. Rounding that to a float rounds once (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums",
 * IEEE Transactions on Computers 57(4), 462-471). The error is Knuth's two-sum. */
static inline float wb_software_fmaf(float a, float b, float c) {
  const double product = (double)a * (double)b;
  const double addend = (double)c;
  double sum = product + addend;
  if (sum - sum == 0.0) {
    const double rounded = sum - product;
    const double error = (product - (sum - rounded)) + (addend - rounded);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0.0 && !(bits & 1)) {
      /* The error is at most half a unit in the last place, so sum is not 0. Its bits grow with its absolute value. */
      bits += (error > 0.0) == (sum > 0.0) ? 1 : (uint64_t)-1;
      memcpy(&sum, &bits, sizeof sum);
    }
  }
  return (float)sum;
}
