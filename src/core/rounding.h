/* Keeps the compiler from turning a * b + c into a fused multiply-add where the source does not say wb_fma. Every C
 * file that computes includes this first: R puts its own and the user's flags after those of the package. nvcc and the
 * C++ compilers get the flag on their command lines.
 *
 * With WB_COMPACT defined before, only loops that say WB_UNROLL are unrolled: others get longer, not faster. */
#pragma once

#if !defined(__cplusplus)
#if defined(__GNUC__) && !defined(__clang__)
#ifdef WB_COMPACT
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off")
#else
#pragma GCC optimize("O3", "fp-contract=off")
#endif
#if __GNUC__ >= 13
/* GCC 14 makes branches of two selections in a row, as in wb_exp(), and vectorizes no loop around them. */
#pragma GCC optimize("no-thread-jumps")
#endif
#else
#pragma STDC FP_CONTRACT OFF
#endif
#endif
