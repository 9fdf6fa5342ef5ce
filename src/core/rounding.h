/* Keeps the compiler from turning a * b + c into a fused multiply-add where the source does not say wb_fma. Every C
 * file that computes includes this first. The package's compiler flag is not enough, since R puts its own and the
 * user's flags after it. nvcc and the C++ compilers get the flag on their command lines.
 *
 * A file that defines WB_COMPACT before this include unrolls only the loops that say WB_UNROLL. Otherwise GCC also
 * unrolls loops over the rows of a tile. Loops of mixtures become no faster by this, and 1.6 times as long. Categorical
 * draws do: without it three draws of each of 100,000 rows take 1.45 times as long. */
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
