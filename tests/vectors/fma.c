/* Compares wb_software_fma() and wb_software_fmaf() with fma() and fmaf() of this machine, bit for bit:
 *
 *   fma ARGUMENTS    (10,000,000 takes 3 s where fma() is an instruction)
 *
 * Arguments are of six kinds: any bits; bits near each other; products near c, so that most bits cancel; results that
 * are subnormal or overflow; products that lie at or next to the middle of two doubles; special values. */
#include <stdio.h>
#include <stdlib.h>

#include "core/software_fma.h"

#include "core/elementary.h"
#include "core/philox.h"

#define KINDS 6

static uint64_t word(uint64_t i, uint32_t j) {
  return wb_bits64(wb_philox(42, (uint32_t)i, (uint32_t)(i >> 32), j, 0), 0);
}

/* A double with a random sign, few or many random bits in its fraction, and an exponent in [least, least + range). */
static double number(uint64_t bits, uint64_t more, int least, int range) {
  const int zeros = (int)(more % 53);
  const uint64_t fraction = bits << zeros & (WB_FRACTION_BIT - 1);
  const uint64_t biased = (uint64_t)(1023 + least + (int)(more / 64 % (uint64_t)range));
  return wb_bits_double((bits & 0x8000000000000000u) | biased << 52 | fraction);
}

static const double special[] = {0.0,
                                 1.0,
                                 1.0000000000000002,
                                 0.9999999999999999,
                                 4.9406564584124654e-324,
                                 2.2250738585072009e-308,
                                 2.2250738585072014e-308,
                                 1.7976931348623157e308,
                                 8.9884656743115795e307,
                                 1.4901161193847656e-8,
                                 134217729.0,
                                 9007199254740991.0,
                                 HUGE_VAL,
                                 -HUGE_VAL,
                                 3.0};

static void arguments(uint64_t i, double *a, double *b, double *c) {
  const uint64_t w[6] = {word(i, 0), word(i, 1), word(i, 2), word(i, 3), word(i, 4), word(i, 5)};
  const double sign = w[5] & 1 ? -1.0 : 1.0;
  switch (i % KINDS) {
    case 0: /* any bits, among them NaN and infinities */
      *a = wb_bits_double(w[0]);
      *b = wb_bits_double(w[1]);
      *c = wb_bits_double(w[2]);
      break;
    case 1: /* exponents that differ by at most 110 */
      *a = number(w[0], w[3], -10, 20);
      *b = number(w[1], w[4], -10, 20);
      *c = number(w[2], w[5], -90, 180);
      break;
    case 2: /* c near -a b, up to a few units in its last place */
      *a = number(w[0], w[3], -500, 1000);
      *b = number(w[1], w[4], -10, 20);
      *c = wb_bits_double(wb_double_bits(*a * *b) + w[2] % 5 - 2) * -sign;
      break;
    case 3: /* near the least or the largest doubles */
      *a = number(w[0], w[3], w[5] & 2 ? -560 : 505, 20);
      *b = number(w[1], w[4], w[5] & 2 ? -560 : 505, 20);
      *c = w[5] & 2 ? wb_bits_double(w[2] >> (w[5] / 8 % 60)) * sign : number(w[2], w[5], 960, 64);
      break;
    case 4: /* (1 + j 2^-k)(1 + 2^-53 ...) and the like: ties, and c that breaks them */
      *a = wb_bits_double(wb_double_bits(1.0) + w[0] % 4096) * sign;
      *b = wb_bits_double(wb_double_bits(1.0) + (w[1] % 8 << 20 | w[1] / 8 % 4));
      *c = number(w[2], w[3], -120, 122);
      if (w[4] & 1) *c = wb_bits_double(w[4] % 4 * 0x4000000000000000u / 2 + w[4] / 64 % 3);
      break;
    default:
      *a = special[w[0] % 15] * (w[3] & 1 ? -1.0 : 1.0);
      *b = special[w[1] % 15] * (w[3] & 2 ? -1.0 : 1.0);
      *c = special[w[2] % 15] * (w[3] & 4 ? -1.0 : 1.0);
  }
}

int main(int argc, char **argv) {
  const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
  uint64_t wrong = 0, unfused = 0, subnormal = 0, infinite = 0;
  for (uint64_t i = 0; i < count; i++) {
    double a, b, c;
    arguments(i, &a, &b, &c);
    const double expected = fma(a, b, c), found = wb_software_fma(a, b, c);
    const int same = expected == expected ? wb_double_bits(expected) == wb_double_bits(found) : found != found;
    unfused += expected == expected && a * b + c != expected;
    subnormal += expected != 0.0 && expected > -2.2250738585072014e-308 && expected < 2.2250738585072014e-308;
    infinite += expected - expected != 0.0;
    /* Floats: the upper halves of the same bits, which include every exponent; and near 1, where most results are. */
    const int near = (int)(i / KINDS % 2);
    const float x = near ? (float)a : wb_bits_float((uint32_t)(wb_double_bits(a) >> 29));
    const float y = near ? (float)b : wb_bits_float((uint32_t)(wb_double_bits(b) >> 31));
    const float z = near ? (float)c : wb_bits_float((uint32_t)(wb_double_bits(c) >> 30));
    const float expectedf = fmaf(x, y, z), foundf = wb_software_fmaf(x, y, z);
    const int samef = expectedf == expectedf ? wb_float_bits(expectedf) == wb_float_bits(foundf) : foundf != foundf;
    if (same && samef) continue;
    if (wrong++ < 10)
      printf("fma(%a, %a, %a) is %a, not %a; fmaf(%a, %a, %a) is %a, not %a\n", a, b, c, expected, found, (double)x,
             (double)y, (double)z, (double)expectedf, (double)foundf);
  }
  printf(
      "%llu of %llu results differ from fma(); a * b + c would differ in %llu; %llu are subnormal, %llu not "
      "finite\n",
      (unsigned long long)wrong, (unsigned long long)count, (unsigned long long)unfused, (unsigned long long)subnormal,
      (unsigned long long)infinite);
  return wrong > 0 || unfused < count / 100 || subnormal < count / 100;
}
