/* Sums over the rows of a regression, for cuda/regression/sweep.cu: of each leaf, then of all leaves. */
#pragma once

#include <cuda_pipeline.h>

#include "core/unroll.h"
#include "cuda/launch.cuh"

namespace wb {

namespace {

constexpr int sum_threads = 128;
/* Of a block of regression_combine: entries, parts of nodes, and nodes of a part. */
constexpr int tree_entries = 8, tree_parts = 32, tree_nodes = 8, tree_size = tree_parts * tree_nodes;

/* What the kernels read of a session. */
struct regression_rows {
  const double *x; /* nullptr: the design is sparse, as backend/regression_table.h has it */
  const int32_t *row_start, *column;
  const double *value;
  int64_t rows;
  int columns, outcomes, poisson;
  const double *offset, *shape, *kappa, *dispersed; /* offset and dispersed may be nullptr */
  const int32_t *group;                             /* nullptr: none */
};

/* Rows in shared memory at a time, a power of two, in one of two buffers. A row has x, z and omega. */
constexpr size_t sum_shared = 16 * 1024;
__host__ __device__ inline int sum_stride(int p) { return (p + 2) | 1; }
__host__ __device__ inline int rows_in_shared(int p) {
  int rows = sum_threads;
  while (rows > 1 && size_t(rows) * size_t(sum_stride(p)) * sizeof(double) > sum_shared) rows /= 2;
  return rows;
}
inline size_t sum_shared_bytes(int p) {
  const size_t buffers = 2 * size_t(rows_in_shared(p)) * size_t(sum_stride(p)) * sizeof(double);
  return larger(buffers, WB_LEAF_ROWS * sizeof(double));
}

/* Columns that a tile of sums has, and lines: Side x Side sums in registers. */
template <int Side>
__host__ __device__ inline int tiles_of(int p) {
  return (p + Side) / Side; /* p + 1 lines */
}

/* Doubles of a leaf's sums: lines of a square, then the log likelihood. */
inline size_t node_size(int p) { return (size_t(p) + 1) * size_t(p) + 1; }

/* Sums of a leaf, blockIdx.x; blockIdx.y = 1 adds its log likelihoods, and without `omega` nothing else is added. A
 * thread has tiles of Side x Side sums on or below the diagonal and passes all rows, in order: 2 Side reads of shared
 * memory for Side^2 multiply-adds. Meanwhile the next rows are copied to the other buffer: with few leaves, the time is
 * that of the 2048 additions of a sum, one after the other. Bytes of global memory: 8 (columns + 3) a row. */
template <int Side>
__global__ void __launch_bounds__(sum_threads)
    regression_sum(regression_rows data, const double *omega, const double *z, const double *log_likelihood,
                   size_t node, double *sums) {
  WB_DYNAMIC_SHARED(double, shared);
  const int thread = int(threadIdx.x), p = data.columns, stride = sum_stride(p);
  const int64_t begin = int64_t(blockIdx.x) * WB_LEAF_ROWS;
  const int rows = data.rows - begin < WB_LEAF_ROWS ? int(data.rows - begin) : WB_LEAF_ROWS;
  sums += size_t(blockIdx.x) * node;
  if (blockIdx.y == 1) {
    WB_UNROLL_BY(8)
    for (int i = thread; i < rows; i += sum_threads) shared[i] = log_likelihood[begin + i];
    __syncthreads();
    if (thread != 0) return;
    double sum = 0;
    WB_UNROLL_BY(16)
    for (int i = 0; i < rows; i++) sum += shared[i];
    sums[node - 1] = sum;
    return;
  }
  if (omega == nullptr) return;
  const int at_once = rows_in_shared(p), lines = tiles_of<Side>(p), tiles = lines * (lines + 1) / 2;
  const int own_row = thread % at_once, own_column = thread / at_once, columns_at_once = sum_threads / at_once;
  const auto bring = [&](int first, double *to) {
    WB_UNROLL_BY(4)
    for (int c = own_column; c < p + 2 && first + own_row < rows; c += columns_at_once) {
      const double *const from = c < p ? data.x + c * data.rows : c == p ? z : omega;
      __pipeline_memcpy_async(to + own_row * stride + c, from + begin + first + own_row, sizeof(double));
    }
    __pipeline_commit();
  };
  double *here = shared, *there = shared + at_once * stride;
  double sum[Side][Side] = {};
  int placed = -1, line = 0, column = 0;
  bring(0, here);
  for (int first = 0; first < rows; first += at_once) {
    const int count = rows - first < at_once ? rows - first : at_once;
    __pipeline_wait_prior(0);
    __syncthreads();
    if (first + count < rows) bring(first + count, there);
    for (int tile = thread; tile < tiles; tile += sum_threads) {
      if (tile != placed) {
        triangle_position(tile, &line, &column);
        line *= Side;
        column *= Side;
        placed = tile;
      }
      /* Only the sums of a thread's single tile stay in registers. */
      WB_UNROLL
      for (int i = 0; i < Side && tiles > sum_threads; i++) {
        WB_UNROLL
        for (int j = 0; j < Side; j++)
          sum[i][j] = first > 0 && line + i <= p && column + j < p ? sums[size_t(line + i) * p + column + j] : 0.0;
      }
      WB_UNROLL_BY(8)
      for (int row = 0; row < count; row++) {
        const double *const x = here + row * stride;
        double a[Side], b[Side];
        WB_UNROLL
        for (int i = 0; i < Side; i++) {
          a[i] = x[smaller(line + i, p)] * (line + i < p ? x[p + 1] : 1.0);
          b[i] = x[smaller(column + i, p)];
        }
        WB_UNROLL
        for (int i = 0; i < Side; i++) {
          WB_UNROLL
          for (int j = 0; j < Side; j++) sum[i][j] = wb_fma(a[i], b[j], sum[i][j]);
        }
      }
      WB_UNROLL
      for (int i = 0; i < Side && (tiles > sum_threads || first + count == rows); i++) {
        WB_UNROLL
        for (int j = 0; j < Side; j++)
          if (line + i <= p && column + j < p) sums[size_t(line + i) * p + column + j] = sum[i][j];
      }
    }
    double *const next = there;
    there = here;
    here = next;
  }
}

/* The same sums for a sparse design. Launch: a block for each leaf, which passes the rows in order; a warp multiplies
 * an entry with those up to it, each product for a sum of its own, in global memory. */
__global__ void __launch_bounds__(sum_threads)
    regression_sum_entries(regression_rows data, const double *omega, const double *z, size_t node, double *sums) {
  const int p = data.columns;
  const int64_t begin = int64_t(blockIdx.x) * WB_LEAF_ROWS;
  const int64_t end = data.rows - begin < WB_LEAF_ROWS ? data.rows : begin + WB_LEAF_ROWS;
  sums += size_t(blockIdx.x) * node;
  for (size_t i = threadIdx.x; i < node - 1; i += sum_threads) sums[i] = 0.0;
  for (int64_t row = begin; row < end; row++) {
    __syncthreads();
    const int32_t *const column = data.column + data.row_start[row];
    const double *const value = data.value + data.row_start[row];
    const int32_t count = data.row_start[row + 1] - data.row_start[row];
    /* A warp has a line of products; line `count` is z's. */
    WB_ROLLED
    for (int32_t e = int32_t(threadIdx.x / 32); e <= count; e += sum_threads / 32) {
      const double left = e < count ? omega[row] * value[e] : z[row];
      double *const line = sums + size_t(e < count ? column[e] : p) * p;
      WB_ROLLED
      for (int32_t f = int32_t(threadIdx.x % 32); f <= e && f < count; f += 32)
        line[column[f]] = wb_fma(left, value[f], line[column[f]]);
    }
  }
}

/* Levels of the tree, in each of which node 2i takes node 2i + 1 on: of tree_size nodes, `step` leaves apart, the first
 * gets the sum. Launch: blocks for the doubles of a node from the one with index `from` on, by groups of nodes. */
__global__ void __launch_bounds__(tree_entries *tree_parts)
    regression_combine(double *sums, size_t node, size_t from, int64_t leaves, int64_t step) {
  __shared__ double all[tree_parts][tree_entries];
  const int part = int(threadIdx.x) / tree_entries, column = int(threadIdx.x) % tree_entries;
  const size_t entry = from + size_t(blockIdx.x) * tree_entries + size_t(column);
  const int64_t first = int64_t(blockIdx.y) * tree_size + part * tree_nodes;
  const auto exists = [&](int64_t number) { return entry < node && number * step < leaves; };
  double own[tree_nodes];
  WB_UNROLL
  for (int i = 0; i < tree_nodes; i++)
    own[i] = exists(first + i) ? sums[size_t((first + i) * step) * node + entry] : 0.0;
  WB_UNROLL
  for (int width = 1; width < tree_nodes; width *= 2) {
    WB_UNROLL
    for (int i = 0; i < tree_nodes; i += 2 * width)
      if (exists(first + i + width)) own[i] += own[i + width];
  }
  all[part][column] = own[0];
  for (int width = 1; width < tree_parts; width *= 2) {
    __syncthreads();
    if (part % (2 * width) == 0 && exists(first + width * tree_nodes)) all[part][column] += all[part + width][column];
  }
  if (part == 0 && exists(first)) sums[size_t(first * step) * node + entry] = all[0][column];
}

} // namespace

} // namespace wb
