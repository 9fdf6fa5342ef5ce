/* The first include of every C file that computes. It forbids the compiler to turn a * b + c into a fused multiply-add
 * where the source does not say wb_fma. The flag of the package alone is not enough, since R puts its own and the
 * user's flags after it. nvcc and the C++ compilers get the same order on their command lines. */
#ifndef WB_ROUNDING_H
#define WB_ROUNDING_H

#if !defined(__cplusplus)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif
#endif

#endif
