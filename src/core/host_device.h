/* Lets C99, C++ and CUDA compile the same source: fused multiply-adds, WB_HD in front of an inline function, and
 * WB_HD_CALLED: a long function called from several places. WB_INLINE: what loops of the processor inline. */
#pragma once

#include "core/rounding.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "warpbayes has to give the same results everywhere: compile it without -ffast-math"
#endif

#if defined(__CUDACC__)
#define WB_HD static __host__ __device__ __forceinline__
#define WB_HD_CALLED static __host__ __device__ __noinline__
#elif defined(__GNUC__)
#define WB_INLINE static inline __attribute__((always_inline))
#ifdef WB_SCALAR
#define WB_HD static inline __attribute__((unused))
#else
#define WB_HD WB_INLINE __attribute__((unused))
#endif
#define WB_HD_CALLED static __attribute__((noinline, unused))
#else
#define WB_HD static inline
#define WB_HD_CALLED static inline
#endif

/* Fused multiply-add: one rounding on every machine. */
#ifdef WB_SCALAR_FMA
static inline __attribute__((always_inline)) double wb_fma(double a, double b, double c) {
  if (__builtin_expect(!wb_fma_instruction, 0)) return fma(a, b, c);
  __asm__("vfmadd213sd %2, %1, %0" : "+x"(a) : "x"(b), "xm"(c));
  return a;
}
#else
WB_HD double wb_fma(double a, double b, double c) { return fma(a, b, c); }
#endif
WB_HD float wb_fmaf(float a, float b, float c) { return fmaf(a, b, c); }
