/* Compiles the loops of the file WB_LOOPS once for each vector instruction set.
 *
 * Define WB_LOOPS as a quoted file name, then include this header; it has no include guard. Each inclusion of WB_LOOPS
 * sees
 *   WB_NAME(loop)     loop_avx512, loop_avx2, loop_neon or loop_baseline: the name of a function that it defines
 *   WB_VECTOR_BYTES   64, 32 or 16
 *   wb_vector, wb_vectorf          a vector of doubles, of floats
 *   WB_VECTOR_FMA, WB_VECTOR_FMAF  fused multiply-add of vectors
 *   WB_VECTOR_SET, WB_VECTOR_SETF  a vector whose elements are all the same number
 * Afterwards, WB_LOOP(log_add_to, run->isa)(count, ...) calls the variant for an instruction set known at run time.
 *
 * x86-64 has AVX-512, AVX2 and the baseline, where fma() is a slow function. On arm64 the baseline's WB_VECTOR_FMA is
 * scalar unless the compiler joins instructions. Other processors have only the baseline, and so do builds with
 * WB_NARROW_VECTORS (configure.win). A file with WB_WITHOUT_AVX512 is as fast with AVX2. */
#ifndef WB_ISA_ONCE
#define WB_ISA_ONCE

#include "backend/types.h"
#include "core/host_device.h"
#include "core/unroll.h"

#define WB_PASTE_(a, b) a##_##b
#define WB_PASTE(a, b) WB_PASTE_(a, b)
#define WB_NAME(loop) WB_PASTE(loop, WB_ISA)

typedef double wb_pair __attribute__((vector_size(16)));
typedef float wb_quad __attribute__((vector_size(16)));

#if defined(__x86_64__) && defined(__GNUC__) && !defined(WB_NARROW_VECTORS)
#define WB_X86 1
#include <immintrin.h>
#define WB_ARM 0
#ifdef WB_WITHOUT_AVX512
#define WB_VARIANTS(loop) \
  { &loop##_baseline, &loop##_avx2, &loop##_avx2, &loop##_baseline }
#else
#define WB_VARIANTS(loop) \
  { &loop##_baseline, &loop##_avx2, &loop##_avx512, &loop##_baseline }
#endif
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(WB_NARROW_VECTORS)
#define WB_X86 0
#define WB_ARM 1
#include <arm_neon.h>
#define WB_VARIANTS(loop) \
  { &loop##_baseline, &loop##_baseline, &loop##_baseline, &loop##_neon }
#else
#define WB_X86 0
#define WB_ARM 0
#define WB_VARIANTS(loop) \
  { &loop##_baseline, &loop##_baseline, &loop##_baseline, &loop##_baseline }
#endif

#define WB_LOOP(loop, isa) \
  (__extension__({ \
    static __typeof__(loop##_baseline) *const wb_variants[] = WB_VARIANTS(loop); \
    wb_variants[isa]; \
  }))

#endif

#if WB_X86

#ifndef WB_WITHOUT_AVX512
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq")
#endif
#define WB_ISA avx512
#define WB_VECTOR_BYTES 64
#define wb_vector __m512d
#define wb_vectorf __m512
#define WB_VECTOR_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define WB_VECTOR_FMAF(a, b, c) _mm512_fmadd_ps(a, b, c)
#define WB_VECTOR_SET(x) _mm512_set1_pd(x)
#define WB_VECTOR_SETF(x) _mm512_set1_ps(x)
#include WB_LOOPS
#include "numeric/isa_undefine.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define WB_ISA avx2
#define WB_VECTOR_BYTES 32
#define wb_vector __m256d
#define wb_vectorf __m256
#define WB_VECTOR_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define WB_VECTOR_FMAF(a, b, c) _mm256_fmadd_ps(a, b, c)
#define WB_VECTOR_SET(x) _mm256_set1_pd(x)
#define WB_VECTOR_SETF(x) _mm256_set1_ps(x)
#include WB_LOOPS
#include "numeric/isa_undefine.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

#if WB_ARM

#define WB_ISA neon
#define WB_VECTOR_BYTES 16
#define wb_vector wb_pair
#define wb_vectorf wb_quad
#define WB_VECTOR_FMA(a, b, c) ((wb_pair)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define WB_VECTOR_FMAF(a, b, c) ((wb_quad)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define WB_VECTOR_SET(x) ((wb_vector){(x), (x)})
#define WB_VECTOR_SETF(x) ((wb_vectorf){(x), (x), (x), (x)})
#include WB_LOOPS
#include "numeric/isa_undefine.h"

#endif

/* Where other variants exist, this one is for correctness: its time goes into calls of fma(). */
#if (WB_X86 || WB_ARM) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1")
#endif
#define WB_ISA baseline
#define WB_VECTOR_BYTES 16
#define wb_vector wb_pair
#define wb_vectorf wb_quad
#define WB_VECTOR_FMA(a, b, c) ((wb_vector){wb_fma((a)[0], (b)[0], (c)[0]), wb_fma((a)[1], (b)[1], (c)[1])})
#define WB_VECTOR_FMAF(a, b, c) \
  ((wb_vectorf){wb_fmaf((a)[0], (b)[0], (c)[0]), wb_fmaf((a)[1], (b)[1], (c)[1]), wb_fmaf((a)[2], (b)[2], (c)[2]), \
                wb_fmaf((a)[3], (b)[3], (c)[3])})
#define WB_VECTOR_SET(x) ((wb_vector){(x), (x)})
#define WB_VECTOR_SETF(x) ((wb_vectorf){(x), (x), (x), (x)})
#include WB_LOOPS
#include "numeric/isa_undefine.h"
#undef WB_LOOPS
#if (WB_X86 || WB_ARM) && !defined(__clang__)
#pragma GCC pop_options
#endif
