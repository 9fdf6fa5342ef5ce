/* What the kernels of cuda/mixture/sums.cuh and of cuda/mixture/sum_tensor.cuh share: where a statistic lies, and the order in which
 * numbers are added. */
#ifndef WB_CUDA_MIXTURE_TREE_CUH
#define WB_CUDA_MIXTURE_TREE_CUH

#include "core/unroll.h"
#include "cuda/mixture/kernels.cuh"

namespace wb {

/* Threads of a block that adds rows. */
constexpr int SUM_THREADS = 128;

/* How many values a thread reads ahead of those that it adds one after the other: an addition
 * takes a few cycles, a read of shared memory some 20, of device memory hundreds. */
constexpr int READ_AHEAD = 8, VALUES_AHEAD = 4;

/* Where the product of values r and c <= r of (1, x) is among the statistics, in the order of WB_MIXTURE_STATISTICS. */
__device__ __forceinline__ int entry_of(int r, int c, int p) {
  return c == 0 ? r : p + c + r * (r - 1) / 2;
}

/* `total` and then the log densities in shared memory, added in order. */
__device__ __forceinline__ double add_in_order(const double *logs, int count, double total) {
  int i = 0;
  WB_ROLLED
  for (; i + 2 * READ_AHEAD <= count; i += 2 * READ_AHEAD) {
    double next[2 * READ_AHEAD];
    WB_UNROLL
    for (int a = 0; a < 2 * READ_AHEAD; a++) next[a] = logs[i + a];
    WB_UNROLL
    for (int a = 0; a < 2 * READ_AHEAD; a++) total += next[a];
  }
  for (; i < count; i++) total += logs[i];
  return total;
}

/* The tree inside a group, a leaf at a time. `inside` holds left nodes that wait for their siblings. Takes the sum of leaf
 * number `leaf` and leaves in it, for the last one (`ends`), the sum of the group. */
template <int LEVELS>
__device__ __forceinline__ void join(double &sum, double (&inside)[LEVELS], int leaf, bool ends) {
  bool goes_up = true;
  WB_UNROLL
  for (int level = 0; level < LEVELS; level++) {
    if (leaf >> level & 1) {
      if (goes_up || ends) sum += inside[level];
    } else {
      if (goes_up && !ends) inside[level] = sum;
      goes_up = false;
    }
  }
}

} // namespace wb

#endif
