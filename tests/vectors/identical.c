/* Prints checksums of the bits that core/ returns for millions of arguments, computed in loops over lanes like those of
 * the package. tests/vectors/run.sh compiles this file for several instruction sets, compilers and levels of
 * optimisation, and compares the checksums.
 *
 *   identical ARGUMENTS    ("unsupported" and status 3 if the CPU lacks the instructions for which it was compiled)
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/copula.h"
#include "core/philox.h"
#include "core/random_normal.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define WB_LANES 32

static const uint64_t wb_key = 20240601;

/* Uniforms of WB_LANES elements: lane l of call i is element WB_LANES i + l. */
static void wb_uniforms(uint64_t first, uint32_t iteration, double *u) {
  for (int l = 0; l < WB_LANES; l++) {
    uint64_t element = first + (uint64_t)l;
    u[l] = wb_uniform(
        wb_bits64(wb_philox(wb_key, 0, (uint32_t)element, wb_philox_c2(WB_PURPOSE_SIMULATION, element), iteration), 0));
  }
}

#define WB_DOUBLES(name, argument, ours) \
  static void wb_lanes_##name(const double *u, double *y) { \
    for (int l = 0; l < WB_LANES; l++) { \
      double x = argument; \
      y[l] = ours; \
    } \
  }
#define WB_SINGLES(name, argument, ours) \
  static void wb_lanes_##name(const double *u, double *y) { \
    float x[WB_LANES], z[WB_LANES]; \
    for (int l = 0; l < WB_LANES; l++) x[l] = (float)(argument); \
    for (int l = 0; l < WB_LANES; l++) z[l] = ours; \
    for (int l = 0; l < WB_LANES; l++) y[l] = (double)z[l]; \
  }

/* Half of the arguments of log are near 1; the others have any exponent. */
WB_HD double wb_any_positive(double u) {
  return wb_select(u < 0.5, u + 0.75, wb_bits_double(wb_double_bits(u) * 0x9E3779B97F4A7C15u & 0x7FEFFFFFFFFFFFFFu));
}

WB_DOUBLES(uniform, u[l], x)
WB_DOUBLES(exp, wb_fma(u[l], 1460.0, -748.0), wb_exp(x))
WB_DOUBLES(exp_weight, wb_fma(u[l], 720.0, -720.0), wb_exp_weight(x))
WB_DOUBLES(expm1, wb_fma(u[l], 80.0, -40.0), wb_expm1(x))
WB_DOUBLES(log, wb_any_positive(u[l]), wb_log(x))
WB_DOUBLES(log1p, wb_fma(u[l], 4.0, -1.0), wb_log1p(x))
WB_DOUBLES(sqrt, wb_any_positive(u[l]), wb_sqrt(x))
WB_DOUBLES(lgamma, wb_fma(u[l], 12.0, 0.0), wb_lgamma(x))
WB_DOUBLES(normal_quantile, u[l], wb_normal_quantile_within(x))
WB_DOUBLES(normal_cdf, wb_fma(u[l], 60.0, -40.0), wb_normal_cdf(x))
WB_DOUBLES(copula_conditional, u[l], wb_copula_gaussian(x, 2.5, 0.75).conditional)
WB_DOUBLES(copula_density, u[l], wb_copula_gaussian(x, 2.5, 0.75).density)
WB_SINGLES(exp_weightf, wb_fma(u[l], 90.0, -90.0), wb_exp_weightf(x[l]))
WB_SINGLES(logf, u[l] * u[l] * 4.0, wb_logf(x[l]))

typedef struct wb_subject {
  const char *name;
  void (*loop)(const double *u, double *y);
} wb_subject;

static const wb_subject wb_subjects[] = {{"uniform", wb_lanes_uniform},
                                         {"exp", wb_lanes_exp},
                                         {"exp_weight", wb_lanes_exp_weight},
                                         {"expm1", wb_lanes_expm1},
                                         {"log", wb_lanes_log},
                                         {"log1p", wb_lanes_log1p},
                                         {"sqrt", wb_lanes_sqrt},
                                         {"lgamma", wb_lanes_lgamma},
                                         {"normal_quantile", wb_lanes_normal_quantile},
                                         {"normal_cdf", wb_lanes_normal_cdf},
                                         {"copula_conditional", wb_lanes_copula_conditional},
                                         {"copula_density", wb_lanes_copula_density},
                                         {"exp_weightf", wb_lanes_exp_weightf},
                                         {"logf", wb_lanes_logf}};

/* FNV-1a over 64-bit words, with one hash per lane so that it costs little. All NaNs count as one value, because their
 * bits differ between machines. */
static void wb_hash(uint64_t *hash, const double *y) {
  for (int l = 0; l < WB_LANES; l++) {
    uint64_t bits = wb_double_bits(wb_select(y[l] == y[l], y[l], wb_nan()));
    hash[l] = (hash[l] ^ bits) * 0x100000001B3u;
    hash[l] ^= hash[l] >> 29;
  }
}

static int wb_supported(void) {
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#ifdef __AVX512F__
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq")) return 0;
#endif
#ifdef __AVX2__
  if (!__builtin_cpu_supports("avx2")) return 0;
#endif
#ifdef __FMA__
  if (!__builtin_cpu_supports("fma")) return 0;
#endif
#endif
  return 1;
}

int main(int argc, char **argv) {
  const uint64_t marks[] = {100000, 1000000, 10000000};
  uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
  if (!wb_supported()) {
    printf("unsupported\n");
    return 3;
  }
  for (uint32_t s = 0; s < sizeof wb_subjects / sizeof wb_subjects[0]; s++) {
    uint64_t hash[WB_LANES] = {0}, done = 0;
    printf("%s", wb_subjects[s].name);
    for (int m = 0; m < 3 && marks[m] <= limit; m++) {
      for (; done < marks[m]; done += WB_LANES) {
        double u[WB_LANES], y[WB_LANES];
        wb_uniforms(done, s, u);
        wb_subjects[s].loop(u, y);
        wb_hash(hash, y);
      }
      uint64_t all = 0;
      for (int l = 0; l < WB_LANES; l++) all = (all ^ hash[l]) * 0x100000001B3u;
      printf(" %016llx", (unsigned long long)all);
    }
    printf("\n");
  }
  return 0;
}
