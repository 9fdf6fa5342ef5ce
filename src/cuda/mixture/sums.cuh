/* What happens to rows after their components are drawn: the sufficient statistics of each leaf of rows are added in
 * the order of the rows, and those of the leaves by a binary tree. The twins on the
 * processor are in cpu/mixture/sums.c and numeric/reduction_tree.h. There are no atomic
 * additions: every number is added by one thread, in an order that does not depend on
 * the launch.
 */
#ifndef WB_CUDA_MIXTURE_SUMS_CUH
#define WB_CUDA_MIXTURE_SUMS_CUH

#include "core/elementary.h"
#include "core/unroll.h"
#include "cuda/mixture/tree.cuh"

namespace wb {

constexpr int SORT_THREADS = 256, TREE_THREADS = 256;

/* Turns the labels of each leaf into sorted keys, in place: a bitonic network
 * (Batcher 1968) in shared memory, one block a leaf, 66 rounds of 1,024 exchanges.
 * Places from `rows` on and rows of negative label have the largest key and come last. 8 KB of shared memory,
 * 32 registers: 8 blocks of a multiprocessor; reads and writes 4 bytes a row. */
static __global__ void __launch_bounds__(SORT_THREADS) mixture_sort(int32_t *labels, int64_t rows) {
  __shared__ uint32_t keys[WB_LEAF_ROWS];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * WB_LEAF_ROWS;
  for (int i = static_cast<int>(threadIdx.x); i < WB_LEAF_ROWS; i += SORT_THREADS)
    keys[i] = first + i < rows && labels[first + i] >= 0 ? static_cast<uint32_t>(labels[first + i]) << LEAF_BITS | static_cast<uint32_t>(i) : NO_ROW;
  for (int size = 2; size <= WB_LEAF_ROWS; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int pair = static_cast<int>(threadIdx.x); pair < WB_LEAF_ROWS / 2; pair += SORT_THREADS) {
        const int low = 2 * pair - (pair & (stride - 1)), high = low + stride;
        const bool ascending = (low & size) == 0;
        const uint32_t a = keys[low], b = keys[high];
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < WB_LEAF_ROWS; i += SORT_THREADS)
    reinterpret_cast<uint32_t *>(labels)[first + i] = keys[i];
}

/* How many of a leaf's sorted keys are below each of two bounds: every sixteenth key is
 * compared first, then the sixteen among which a bound lies. All threads of the block must
 * call it. */
__device__ __forceinline__ void keys_below(const uint32_t *keys, uint32_t low, uint32_t high, int *below_low,
                                           int *below_high) {
  constexpr int step = WB_LEAF_ROWS / SUM_THREADS;
  const int t = static_cast<int>(threadIdx.x);
  const uint32_t key = keys[t * step];
  const int low_steps = __syncthreads_count(key < low), high_steps = __syncthreads_count(key < high);
  const int low_from = low_steps == 0 ? 0 : (low_steps - 1) * step, high_from = high_steps == 0 ? 0 : (high_steps - 1) * step;
  const uint32_t low_key = keys[low_from + t % step], high_key = keys[high_from + t % step];
  *below_low = low_from + __syncthreads_count(t < step && low_key < low);
  *below_high = high_from + __syncthreads_count(t < step && high_key < high);
}

/* The row and column of a statistic in the lower triangle of the products of (1, x): the inverse of entry_of(). */
__device__ __forceinline__ void entry_position(int entry, int p, int *row, int *column) {
  *row = entry;
  *column = 0;
  if (entry <= p) return;
  const int t = entry - 1 - p;
  int r = static_cast<int>((wb_sqrt(8.0 * t + 1.0) - 1.0) * 0.5);
  if (r * (r + 1) / 2 > t) r--;
  if ((r + 1) * (r + 2) / 2 <= t) r++;
  *row = r + 1;
  *column = t - r * (r + 1) / 2 + 1;
}

/* How many rows' values, with their labels, are in shared memory at a time. */
constexpr size_t SUM_SHARED = 24 * 1024;
constexpr int32_t MIXTURE_MOST_COLUMNS = 6000; /* one row in 48 KB */
inline __host__ __device__ int sum_stride(int p) {
  return (p + 1) | 1; /* odd: threads that write rows side by side use all banks */
}
inline __host__ __device__ int rows_in_shared(int p) {
  const int rows = static_cast<int>(SUM_SHARED / (static_cast<size_t>(sum_stride(p)) * sizeof(double) + sizeof(int32_t)));
  return rows > SUM_THREADS ? SUM_THREADS : rows < 1 ? 1 : rows;
}
inline size_t sum_shared_bytes(int p) {
  const size_t rows = static_cast<size_t>(rows_in_shared(p));
  /* An even number of labels, because the compiler reads them two at a time: the read
   * of the last of an odd number would end 4 bytes past the array. */
  const size_t values = rows * static_cast<size_t>(sum_stride(p)) * sizeof(double) + (rows + 1) / 2 * 2 * sizeof(int32_t);
  const size_t logs = static_cast<size_t>(WB_LEAF_ROWS) * sizeof(double);
  return values > logs ? values : logs;
}

/* The log likelihood of a leaf: the log densities of its rows added in order. */
template <typename Real>
__device__ void sum_logs(const Real *log_sum, int64_t rows, double *logs, double *sum) {
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += SUM_THREADS) logs[i] = static_cast<double>(log_sum[i]);
  __syncthreads();
  if (threadIdx.x == 0) *sum = add_in_order(logs, static_cast<int>(rows), 0);
}

/* Adds the products of the rows in shared memory to the sums of their components. A
 * thread adds one entry of the triangle for all rows, in order. The rows are sorted by
 * label; `started` is the label to whose sums rows have been added before. */
__device__ __forceinline__ void add_rows(const double *values, const int32_t *labels, int rows, int p,
                                         int32_t started, double *sums) {
  const int stride = sum_stride(p), entries = static_cast<int>(WB_MIXTURE_STATISTICS(p));
  for (int entry = static_cast<int>(threadIdx.x); entry < entries; entry += SUM_THREADS) {
    int r, c;
    entry_position(entry, p, &r, &c);
    int32_t label = labels[0];
    double *to = sums + static_cast<size_t>(label) * entries + entry;
    double sum = label == started ? *to : 0;
    const auto add = [&](int32_t next, double one, double other) {
      if (next != label) {
        *to = sum;
        label = next;
        to = sums + static_cast<size_t>(label) * entries + entry;
        sum = 0;
      }
      sum = wb_fma(one, other, sum);
    };
    int i = 0, one = r, other = c;
    WB_ROLLED
    for (; i + VALUES_AHEAD <= rows; i += VALUES_AHEAD) {
      int32_t next[VALUES_AHEAD];
      double first[VALUES_AHEAD], second[VALUES_AHEAD];
      WB_UNROLL
      for (int a = 0; a < VALUES_AHEAD; a++, one += stride, other += stride) {
        next[a] = labels[i + a];
        first[a] = values[one];
        second[a] = values[other];
      }
      WB_UNROLL
      for (int a = 0; a < VALUES_AHEAD; a++) add(next[a], first[a], second[a]);
    }
    WB_ROLLED
    for (; i < rows; i++, one += stride, other += stride) add(labels[i], values[one], values[other]);
    *to = sum;
  }
}

/* Statistics of the leaves from blockIdx.x = 0 on: for each, components x
 * WB_MIXTURE_STATISTICS(p) sums, then the log likelihood; `node` doubles a leaf.
 * The blocks of one leaf share its components evenly, and one more block adds the log
 * densities. Rows are gathered component by component, some at a time, into shared
 * memory; then each thread adds its entry for all of them, with 2 reads and 1
 * multiply-add a row and entry. Reads sizeof(Real) p + 4 + sizeof(Real) bytes a row (each value in a
 * sector of its own), writes 8 node bytes a leaf. 56 registers, 16
 * to 24 KB of shared memory: 8 or 9 blocks of a multiprocessor. At p = 14 and
 * k = 256, 120 multiply-adds a row beside the draw's 30,464. */
template <typename Real>
__global__ void __launch_bounds__(SUM_THREADS, 9)
    mixture_sum(const Real *x, int p, const uint32_t *keys, const Real *log_sum, int64_t rows, int components,
                size_t node, double *sums) {
  WB_DYNAMIC_SHARED(double, values);
  const int64_t leaf = blockIdx.x;
  const int part = static_cast<int>(blockIdx.y), parts = static_cast<int>(gridDim.y) - 1;
  const size_t entries = WB_MIXTURE_STATISTICS(p);
  x += leaf * p * WB_LEAF_ROWS;
  keys += leaf * WB_LEAF_ROWS;
  sums += static_cast<size_t>(leaf) * node;
  if (part == parts) {
    const int64_t left = rows - leaf * WB_LEAF_ROWS;
    sum_logs(log_sum + leaf * WB_LEAF_ROWS, left < WB_LEAF_ROWS ? left : WB_LEAF_ROWS, values, sums + node - 1);
    return;
  }
  const int64_t from = static_cast<int64_t>(components) * part / parts;
  const int64_t to = static_cast<int64_t>(components) * (part + 1) / parts;
  int begin, end;
  keys_below(keys, static_cast<uint32_t>(from) << LEAF_BITS, static_cast<uint32_t>(to) << LEAF_BITS, &begin, &end);
  for (size_t i = static_cast<size_t>(from) * entries + threadIdx.x; i < static_cast<size_t>(to) * entries; i += SUM_THREADS)
    sums[i] = 0;
  const int at_once = rows_in_shared(p), stride = sum_stride(p);
  int32_t *const labels = reinterpret_cast<int32_t *>(values + static_cast<size_t>(at_once) * stride);
  int32_t started = -1;
  for (int first = begin; first < end; first += at_once) {
    const int count = end - first < at_once ? end - first : at_once;
    __syncthreads(); /* the rows before have been added, the sums are zero */
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
      const uint32_t key = keys[first + i];
      const Real *const row = x + (key & (WB_LEAF_ROWS - 1));
      labels[i] = static_cast<int32_t>(key >> LEAF_BITS);
      values[i * stride] = 1;
      WB_ROLLED
      for (int c = 0; c < p; c += VALUES_AHEAD) {
        Real next[VALUES_AHEAD];
        WB_UNROLL
        for (int a = 0; a < VALUES_AHEAD; a++)
          if (c + a < p) next[a] = row[static_cast<size_t>(c + a) * WB_LEAF_ROWS];
        WB_UNROLL
        for (int a = 0; a < VALUES_AHEAD; a++)
          if (c + a < p) values[i * stride + 1 + c + a] = static_cast<double>(next[a]);
      }
    }
    __syncthreads();
    add_rows(values, labels, count, p, started, sums);
    started = labels[count - 1];
  }
}

/* Sums the nodes of a group of at most 2^GROUP_LEVELS leaves and combines the
 * result, the group with number `index`, with those of the groups before it. After the
 * last group the sum of all is in `root`.
 *
 * Node i of a level of the tree is the sum of nodes 2i and 2i + 1 of the level below,
 * or node 2i alone where the level ends with it. `waiting` holds left nodes whose
 * right sibling is still to come: one for each bit set in `index`, at the level of that
 * bit. A new sum has an odd number on each level whose bit is set: there it is added to
 * its left sibling and moves up. On the first level whose bit is not set it is a left
 * node itself and is stored as waiting. After the last leaf no sibling will come, so the
 * sum moves up through all levels. Inside a group the same is done with the leaves.
 *
 * One thread an entry of a node; 30 registers; reads 8 bytes a leaf and entry. */
static __global__ void __launch_bounds__(TREE_THREADS)
    mixture_combine(const double *sums, int leaves, size_t node, double *waiting, int64_t index, bool is_last,
                    double *root) {
  const size_t entry = static_cast<size_t>(blockIdx.x) * TREE_THREADS + threadIdx.x;
  if (entry >= node) return;
  double inside[GROUP_LEVELS] = {};
  double sum = 0;
  WB_ROLLED
  for (int first = 0; first < leaves; first += READ_AHEAD) {
    double next[READ_AHEAD];
    WB_UNROLL
    for (int a = 0; a < READ_AHEAD; a++)
      next[a] = first + a < leaves ? sums[static_cast<size_t>(first + a) * node + entry] : 0;
    WB_UNROLL
    for (int a = 0; a < READ_AHEAD; a++) {
      const int leaf = first + a;
      if (leaf >= leaves) continue;
      sum = next[a];
      join(sum, inside, leaf, leaf == leaves - 1);
    }
  }
  int level = 0;
  for (; index >> level; level++) {
    if (index >> level & 1)
      sum += waiting[static_cast<size_t>(level) * node + entry];
    else if (!is_last)
      break;
  }
  if (is_last)
    root[entry] = sum;
  else
    waiting[static_cast<size_t>(level) * node + entry] = sum;
}

} // namespace wb

#endif
