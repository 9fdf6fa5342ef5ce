/* Direct sums of discrete random variables: a part of the table of backend.h. */
#ifndef WB_BACKEND_CONVOLUTION_H
#define WB_BACKEND_CONVOLUTION_H

#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `pairs` independent convolutions r = p * q of m and n weights. A stride is the distance
 * between two elements of a vector; a pair stride is that between the first elements of
 * two pairs' vectors. All weights are finite; the call is fastest where m <= n.
 *
 * Order of the sum r_i = sum_j p_j q_{i-j}, q being zero outside its support: p is cut
 * into blocks, the terms of a block are added to zero by fused multiply-adds, and the
 * sums of the blocks are added in order. A block is cut into groups that follow one
 * another; within a group j runs through 0, 8, 16, 24, 1, 9, ..., 31. This order lets
 * registers keep the entries of q that neighbouring j share. The blocks keep the relative
 * error of a sum of positive terms below (1024 + m/1024) 2^-53. */
#define WB_CONVOLUTION_BLOCK 1024
#define WB_CONVOLUTION_GROUP 32

typedef struct wb_convolution {
  int64_t pairs;
  int64_t m, n;
  const double *p;
  int64_t p_stride, p_pair_stride;
  const double *q;
  int64_t q_stride, q_pair_stride;
  int64_t first, count; /* the outputs asked for: r_first..r_{first + count - 1} of m + n - 1 */
  double *r;            /* where r_first of the first pair goes */
  int64_t r_stride, r_pair_stride;
} wb_convolution;

typedef struct wb_convolution_functions {
  /* Writes the outputs asked for, of all pairs. */
  int (*convolve)(const wb_convolution *convolution, const wb_run *run, wb_message *message);
} wb_convolution_functions;

#ifdef __cplusplus
}
#endif
#endif
