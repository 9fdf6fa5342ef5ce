/* The table of functions for sums of discrete random variables: a part of the table of backend.h. */
#pragma once

#include "backend/types.h"

/* `pairs` independent convolutions r = p * q, where p has m and q has n finite weights. Each array has two strides:
 * between elements of a vector, and between the vectors of two pairs. Fastest if m <= n.
 *
 * The sum r_i = sum_j p_j q_{i-j}, with q_k = 0 outside 0 <= k < n, has a fixed order. p is cut into blocks of
 * WB_CONVOLUTION_BLOCK weights. The terms of a block are added to zero by fused multiply-adds, and the sums of the
 * blocks are added in order. Within each group of WB_CONVOLUTION_GROUP weights of a block, j takes the values 0, 8, 16,
 * 24, 1, 9, ..., 31. The relative error of a sum of positive terms is below (1024 + m/1024) 2^-53. */
#define WB_CONVOLUTION_BLOCK 1024
#define WB_CONVOLUTION_GROUP 32

typedef struct wb_convolution {
  int64_t pairs;
  int64_t m, n;
  const double *p;
  int64_t p_stride, p_pair_stride;
  const double *q;
  int64_t q_stride, q_pair_stride;
  int64_t first, count; /* computes r_first, ..., r_{first + count - 1} of the m + n - 1 */
  double *r;            /* where r_first of the first pair goes */
  int64_t r_stride, r_pair_stride;
} wb_convolution;

/* The part of `whole` from pair `pair` and output `output` on. */
static inline wb_convolution wb_convolution_part(const wb_convolution *whole, int64_t pair, int64_t pairs,
                                                 int64_t output, int64_t count) {
  wb_convolution part = *whole;
  part.pairs = pairs;
  part.count = count;
  part.first += output;
  part.p += pair * whole->p_pair_stride;
  part.q += pair * whole->q_pair_stride;
  part.r += pair * whole->r_pair_stride + output * whole->r_stride;
  return part;
}

typedef struct wb_pmf_functions {
  /* Writes r for all pairs. *seen (or NULL) becomes the union of all vectors' flags of core/weight_look.h. Unusable
   * weights give unspecified outputs. */
  int (*convolve)(const wb_convolution *convolution, const wb_run *run, wb_poll *poll, unsigned *seen,
                  wb_message *message);
} wb_pmf_functions;
