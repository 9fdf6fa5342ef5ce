/* Known answers of the package's scalar code. configure builds this file as R builds the package, with the user's
 * compiler and flags, and compares the bits: compilers define no macro for most flags that change floating-point
 * arithmetic. In R,
 *
 *   .C("wb_known_answers", integer(1), character(4))
 *
 * gives the number of differing checksums, and the checksums of each instruction set. After an intended change,
 * config.log has the new ones.
 *
 * numeric/isa.h includes this file again for each instruction set. */
#ifndef WB_ISA
#include "core/rounding.h"

#include <stdio.h>

#include "core/copula.h"
#include "core/linear_algebra.h"
#include "core/elementary.h"
#include "core/polyagamma_draw.h"
#include "core/random_beta.h"
#include "core/random_binomial.h"
#include "core/random_normal.h"

#define ELEMENTS 2048
#define ANSWERS 16
#define DRAWS 3

/* Of 64-bit words. All NaNs count as one value, because their bits differ between machines. */
static uint64_t checksum(const double *y) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < ELEMENTS; i++) {
    const uint64_t bits = wb_double_bits(y[i]);
    hash = (hash ^ ((bits & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u ? 1u : bits)) * 0x100000001B3u;
    hash ^= hash >> 29;
  }
  return hash;
}

/* Draws, and a triangle. They take most of the compiler's time, so only one set has them. */
static void draws(const double *u, double *y, uint64_t *sum) {
  for (int i = 0; i < ELEMENTS; i++)
    y[i] = wb_polyagamma_draw(1, 2, (uint64_t)i, 0.5 + (double)(i % 40), 8.0 * u[i] - 4.0);
  sum[0] = checksum(y);
  for (int i = 0; i < ELEMENTS; i++) {
    wb_stream stream = wb_stream_open(3, WB_PURPOSE_SIMULATION, 4, (uint64_t)i);
    y[i] = wb_draw_log_gamma(&stream, 5.0 * u[i]) + wb_draw_normal(&stream);
    y[i] += (double)wb_draw_binomial(&stream, 1000, u[i], 1.0 - u[i]);
  }
  sum[1] = checksum(y);
  for (int i = 0; i < ELEMENTS; i++) {
    double a[6] = {2.0 + u[i], u[i], 1.0 + u[ELEMENTS - 1 - i], -u[i], 0.25, 3.0};
    y[i] = wb_cholesky(3, a) ? 0.0 : wb_triangle_log_determinant(3, a) + a[3] + a[4];
  }
  sum[2] = checksum(y);
}

#define WB_LOOPS "known-answers.c"
#include "numeric/isa.h"

typedef void answers_of_set(const double *u, double *y, uint64_t *sum);

/* The same for every instruction set. */
static const uint64_t expected[ANSWERS] = {
    0x6e6fa1fb0f9d3c0bu, 0xf584844de59d5735u, 0x5eeeb2338d36c3b0u, 0xa41813e40511ba40u,
    0xbe98059f3714eb32u, 0x39011e7315802588u, 0x93a09e384cd7449du, 0xdda911a55dd7c53bu,
    0x57e353f8b091def4u, 0x932cab8706423d0du, 0xf48ca1bd520d718du, 0xb3156641c6096ca3u,
    0xf34f6bdb44bb7514u, 0x83f2fbad5e34e734u, 0x09b8abdcfc39d7d3u, 0x7841af812776b8a4u};

/* In the order of WB_VARIANTS. */
static int has_set(int set) {
#if WB_X86
  if (set == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set == 2) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#endif
  return set == 0 || (WB_ARM && set == 3);
}

#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((visibility("default")))
#endif
void wb_known_answers(int *differ, char **sums) {
  static answers_of_set *const sets[] = WB_VARIANTS(answers);
  static double u[ELEMENTS], y[ELEMENTS];
  static char text[4][17 * ANSWERS + 1];
  for (int i = 0; i < ELEMENTS; i++)
    u[i] = wb_uniform(
        wb_bits64(wb_philox(20260101, 0, (uint32_t)i, wb_philox_c2(WB_PURPOSE_SIMULATION, (uint64_t)i), 0), 0));
  *differ = 0;
  for (int set = 0; set < 4; set++) {
    uint64_t sum[ANSWERS];
    if (!has_set(set)) continue;
    sets[set](u, y, sum);
    draws(u, y, sum + ANSWERS - DRAWS);
    for (int a = 0; a < ANSWERS; a++) {
      *differ += sum[a] != expected[a];
      snprintf(text[set] + 17 * a, 18, "%016llx ", (unsigned long long)sum[a]);
    }
    sums[set] = text[set];
  }
}

#else

/* clang-format off */
#define ANSWER(value) \
  for (int i = 0; i < ELEMENTS; i++) y[i] = (value); \
  sum[answer++] = checksum(y)
/* clang-format on */

static void WB_NAME(answers)(const double *restrict u, double *restrict y, uint64_t *sum) {
  int answer = 0;
  double total = 0.0;
  /* Down to subnormal numbers, which a start file of fast mathematics sets to zero. */
  ANSWER(wb_exp(wb_fma(u[i], 1460.0, -748.0)));
  ANSWER(wb_log(u[i]) + wb_log1p(u[i]) * wb_expm1(-u[i]));
  ANSWER(wb_lgamma(12.0 * u[i]));
  ANSWER(wb_normal_quantile_within(u[i]) + wb_normal_cdf(wb_fma(u[i], 60.0, -40.0)));
  ANSWER(wb_copula_gaussian(u[i], 2.5, 0.75).density);
  ANSWER((double)(wb_exp_weightf((float)(-90.0 * u[i])) + wb_logf((float)u[i])));
  ANSWER(wb_log_sum(u[i], -u[i] * u[i]));
  /* Quotients by the same number, sums in order, terms that cancel, NaN, infinity and the sign of zero. */
  const double divisor = 3.0 + u[0];
  ANSWER(u[i] / divisor + u[i] / 7.0);
  ANSWER(total += u[i]);
  for (int i = 0; i < ELEMENTS; i++) {
    double part = 0.0;
    for (int j = 0; j <= i % 64; j++) part += u[j] * u[i - i % 64 + j];
    y[i] = part;
  }
  sum[answer++] = checksum(y);
  ANSWER((u[i] + 1e12) - 1e12);
  ANSWER(1.0 / wb_select(u[i] > 0.5, -0.0 * u[i], 0.0 - 0.0 * u[i]));
  ANSWER(wb_bits_double(wb_double_bits(u[i]) | 0x7FF0000000000000u) == u[i] ? 1.0 : wb_nan() - u[i]);
}

#endif
