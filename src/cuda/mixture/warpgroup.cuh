/* Products of matrices of halves, with sums in single precision, by the four warps of a warpgroup: the instruction
 * wgmma of compute capability 9.0 (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). Only code for sm_90a
 * has it; elsewhere its kernels are empty and never called.
 *
 * Products of halves are exact. Their sums seem to be cut off: errors have a bias. The emulator rounds them once. */
#pragma once

#include <cuda_runtime.h>

#include "core/half.h"
#include "core/unroll.h"

#if defined(WB_EMULATOR) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WB_WARPGROUPS
#endif

namespace wb {

#if defined(WB_EMULATOR)

/* Each warp by itself. */
template <int VALUES>
static void warpgroup_product(float (&d)[VALUES], const uint32_t (&a)[4], const char *b, uint32_t next_k,
                              uint32_t next_n, bool add) {
  float row[2][16];
  for (int i = 0; i < 16; i++) {
    const uint32_t both = __shfl_sync(0xffffffffu, a[i % 4], i / 4, 4);
    for (int e = 0; e < 2; e++) row[i % 2][i % 4 / 2 * 8 + i / 4 * 2 + e] = wb_half_value(both >> 16 * e & 0xffffu);
  }
  for (int i = 0; i < VALUES; i++) {
    const uint32_t n = uint32_t(i / 4 * 8 + int(threadIdx.x) % 4 * 2 + i % 2);
    double sum = add ? double(d[i]) : 0;
    for (uint32_t k = 0; k < 16; k++) {
      uint16_t half;
      memcpy(&half, b + k / 8 * next_k + n / 8 * next_n + n % 8 * 16 + k % 8 * 2, sizeof half);
      sum += double(row[i / 2 % 2][k]) * double(wb_half_value(half));
    }
    d[i] = float(sum);
  }
}

#elif defined(WB_WARPGROUPS)

#define WB_EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])

__device__ __forceinline__ void warpgroup_product(float (&d)[8], const uint32_t (&a)[4], uint64_t b, int add) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %13, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, p, 1, 1, 0;}"
      : WB_EIGHT(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
__device__ __forceinline__ void warpgroup_product(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int add) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, 0;}"
      : WB_EIGHT(0), WB_EIGHT(8), WB_EIGHT(16), WB_EIGHT(24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
#undef WB_EIGHT

#endif

/* Begins d = a b, or d += a b if `add`, for a warpgroup, all of whose threads must call it. a is 64 x 16: with g =
 * lane / 4 and q = lane % 4, a lane of warp w has of rows 16w + g and 16w + g + 8 columns 2q and 2q + 1, then columns
 * 2q + 8 and 2q + 9 of the same rows, the first of two halves in the lower bits. d has 2 VALUES columns: of rows 16w
 * + g and 16w + g + 8 columns 2q and 2q + 1, then columns 2q + 8, ... b is in shared memory. Its cores of 128 bytes
 * have eight rows of eight columns, column by column, next_k bytes apart along the rows, next_n along the columns. */
template <int VALUES>
__device__ __forceinline__ void begin_product(float (&d)[VALUES], const uint32_t (&a)[4], const unsigned char *b,
                                              uint32_t next_k, uint32_t next_n, bool add) {
#if defined(WB_EMULATOR)
  warpgroup_product(d, a, reinterpret_cast<const char *>(b), next_k, next_n, add);
#elif defined(WB_WARPGROUPS)
  const uint64_t address = uint64_t(__cvta_generic_to_shared(b)) & 0x3ffff;
  warpgroup_product(d, a, address >> 4 | uint64_t(next_k >> 4) << 16 | uint64_t(next_n >> 4) << 32, add);
#endif
}

/* Before the first of several products, if other instructions have used their registers. */
__device__ __forceinline__ void prepare_products() {
#if defined(WB_WARPGROUPS) && !defined(WB_EMULATOR)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/* Waits for all products that have begun. */
template <int VALUES>
__device__ __forceinline__ void finish_products(float (&d)[VALUES]) {
#if defined(WB_WARPGROUPS) && !defined(WB_EMULATOR)
  asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
  /* The compiler must not read them earlier. */
  WB_UNROLL
  for (int i = 0; i < VALUES; i++) asm volatile("" : "+f"(d[i])::"memory");
#else
  (void)d;
#endif
}

/* After the next barrier products see what this thread has written to shared memory. */
__device__ __forceinline__ void show_products() {
#if defined(WB_WARPGROUPS) && !defined(WB_EMULATOR)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

} // namespace wb
