/* Shared by sums.cu, sums_tensor.cu and weigh.cu: a statistic's place, rows in shared memory, the order of sums. */
#pragma once

#include "core/unroll.h"
#include "cuda/mixture/kernels.cuh"

namespace wb {

constexpr int SUM_THREADS = 128;

/* How many values a thread reads before it adds them one after the other: reads take longer. */
constexpr int READ_AHEAD = 8, VALUES_AHEAD = 4;

/* Where the product of values r and c <= r of (1, x) is among the statistics, in the order of WB_MIXTURE_STATISTICS. */
__device__ __forceinline__ int entry_of(int r, int c, int p) { return c == 0 ? r : p + c + r * (r - 1) / 2; }

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

/* The tree inside a group, a leaf at a time. `inside` holds left nodes that wait for their siblings. Takes the sum of
 * leaf number `leaf` and leaves in it, for the last one (`ends`), the sum of the group. */
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

/* The row and column of a statistic in the lower triangle of the products of (1, x): the inverse of entry_of(). */
__device__ __forceinline__ void entry_position(int entry, int p, int *row, int *column) {
  *row = entry;
  *column = 0;
  if (entry <= p) return;
  triangle_position(entry - 1 - p, row, column);
  ++*row;
  ++*column;
}

/* How many rows' values, with their labels, are in shared memory at a time. */
constexpr size_t SUM_SHARED = 24 * 1024;
inline __host__ __device__ int sum_stride(int p) {
  return (p + 1) | 1; /* odd: threads that write rows side by side use all banks */
}
inline __host__ __device__ int rows_in_shared(int p) {
  const int rows = int(SUM_SHARED / (size_t(sum_stride(p)) * sizeof(double) + sizeof(int32_t)));
  return rows > SUM_THREADS ? SUM_THREADS : rows < 1 ? 1 : rows;
}

/* The log likelihood of a leaf: the log densities of its rows added in order. */
template <typename Real>
__device__ void sum_logs(const Real *log_sum, int64_t rows, double *logs, double *sum) {
  for (int i = int(threadIdx.x); i < rows; i += SUM_THREADS) logs[i] = double(log_sum[i]);
  __syncthreads();
  if (threadIdx.x == 0) *sum = add_in_order(logs, int(rows), 0);
}

} // namespace wb
