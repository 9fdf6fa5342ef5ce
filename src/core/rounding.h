/* The first include of every file that computes: no compiler may contract
 * a * b + c into a fused multiply-add that the source does not spell, whatever the
 * flags of R or of the user say, since R puts its own flags after the package's.
 * nvcc and the C++ compilers take the same promise from their command lines. */
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
