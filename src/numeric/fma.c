/* Whether the processor has an instruction for fused multiply-adds, for core/scalar.h. Also fma() and fmaf() for 64-bit
 * Windows, whose C library (mingw-w64) rounds twice, in this package alone. */
#include "core/scalar.h"

#include "core/software_fma.h"

#ifdef WB_SCALAR_FMA

int wb_fma_instruction;

/* Before anything else of the package runs. Until then fma() serves. */
__attribute__((constructor)) static void look_for_fma(void) {
  __builtin_cpu_init();
  wb_fma_instruction = __builtin_cpu_supports("fma") != 0;
}

#endif

#if defined(_WIN32) && defined(__x86_64__)

/* WB_NO_FMA_INSTRUCTION: for tests on processors that have the instruction. */
#ifdef WB_NO_FMA_INSTRUCTION
#define WB_HAS_FMA_INSTRUCTION 0
#else
#define WB_HAS_FMA_INSTRUCTION __builtin_cpu_supports("fma")
#endif

__attribute__((target("fma"))) static double fma_instruction(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
__attribute__((target("fma"))) static float fmaf_instruction(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

double fma(double a, double b, double c) {
  return WB_HAS_FMA_INSTRUCTION ? fma_instruction(a, b, c) : wb_software_fma(a, b, c);
}
float fmaf(float a, float b, float c) {
  return WB_HAS_FMA_INSTRUCTION ? fmaf_instruction(a, b, c) : wb_software_fmaf(a, b, c);
}

#endif
