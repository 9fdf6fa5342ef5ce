/* Double-precision multiply-adds on the tensor cores of compute capability 9.0 (PTX ISA, mma.m16n8k4). They have twice
 * the rate of ordinary ones and the same results: each output is a chain of fused multiply-adds in order of index.
 *
 * NVIDIA does not document this: tests/emulator/selftest/operations.cu measures it on every such card on which
 * tools/gpu-test runs. Elsewhere its kernels are empty and never called. */
#pragma once

#include <cuda_runtime.h>

#if defined(WB_EMULATOR) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900)
#define WB_TENSOR_CORES
#endif

namespace wb {

/* The compute capability, ten times the major number plus the minor one. */
constexpr int TENSOR_CAPABILITY = 90;

/* d += a b for a warp, all of whose lanes must call it: a is 16 x 4, b is 4 x 8. With g = lane / 4 and q = lane % 4 a
 * lane has a[g, q] and a[g + 8, q], b[q, g], and d[g, 2q], d[g, 2q + 1], d[g + 8, 2q], d[g + 8, 2q + 1]. (PTX ISA,
 * mma.m16n8k4 with .f64.) */
__device__ __forceinline__ void multiply_add_16x8x4(double (&d)[4], double upper, double lower, double b) {
#if defined(WB_EMULATOR)
  wb_emulator::multiply_add_16x8x4(d, upper, lower, b);
#elif defined(WB_TENSOR_CORES)
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(upper), "d"(lower), "d"(b));
#endif
}

} // namespace wb
