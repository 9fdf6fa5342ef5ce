/* Asks the compiler to unroll a loop: WB_UNROLL completely, so that its arrays live in registers; WB_ROLLED not at all,
 * if unrolling costs more than it saves; WB_UNROLL_BY(n) so many times, in CUDA. */
#pragma once

#define WB_PRAGMA_(text) _Pragma(#text)

#if defined(__CUDACC__)
#define WB_UNROLL WB_PRAGMA_(unroll)
#define WB_ROLLED WB_PRAGMA_(unroll 1)
#define WB_UNROLL_BY(n) WB_PRAGMA_(unroll n)
#elif defined(__cplusplus)
#define WB_UNROLL /* the emulator of CUDA: speed does not matter */
#define WB_ROLLED
#define WB_UNROLL_BY(n)
#elif defined(__clang__)
#define WB_UNROLL WB_PRAGMA_(clang loop unroll(full))
#define WB_ROLLED WB_PRAGMA_(clang loop unroll(disable))
#else
#define WB_UNROLL WB_PRAGMA_(GCC unroll 64)
#define WB_ROLLED WB_PRAGMA_(GCC unroll 1)
#endif
