/* The CPU backend, which every machine has: the table of its functions, and what the processor supports. */
#include "core/rounding.h"

#include "cpu/table.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define WB_X86 1
#else
#define WB_X86 0
#endif

wb_isa wb_cpu_isa(void) {
#if WB_X86 && !defined(WB_NARROW_VECTORS)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return WB_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return WB_ISA_AVX2;
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(WB_NARROW_VECTORS)
  return WB_ISA_NEON;
#endif
  return WB_ISA_BASELINE;
}

int wb_cpu_fma(void) {
#if WB_X86
  __builtin_cpu_init();
  return __builtin_cpu_supports("fma") != 0;
#elif defined(__FP_FAST_FMA) || defined(__aarch64__)
  return 1;
#else
  return 0;
#endif
}

#ifdef _OPENMP
int wb_cpu_cores(void) { return omp_get_num_procs(); }
int wb_cpu_openmp(void) { return 1; }
#else
int wb_cpu_cores(void) { return 1; }
int wb_cpu_openmp(void) { return 0; }
#endif

static int device_count(int32_t *count, wb_message *message) {
  (void)message;
  *count = 0;
  return WB_OK;
}

const wb_backend *wb_cpu_backend(void) {
  static const wb_backend backend = {
      .abi_version = WB_ABI_VERSION,
      .size = sizeof(wb_backend),
      .name = "cpu",
      .device_count = device_count,
      .mixture = &wb_cpu_mixture,
      .pmf = &wb_cpu_pmf,
      .categorical = &wb_cpu_categorical,
      .topic_model = &wb_cpu_topic_model,
      .polyagamma = &wb_cpu_polyagamma,
      .regression = &wb_cpu_regression,
      .predictive = &wb_cpu_predictive,
  };
  return &backend;
}
