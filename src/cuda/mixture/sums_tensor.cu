/* The sums of cuda/mixture/sums.cu by tensor cores (cuda/mixture/tensor_cores.cuh). The statistics of a component are
 * the product of its rows' values, (1, x), with themselves. One instruction adds four rows, in their order. A warp
 * keeps a component's sums of a leaf in registers, and adds up those of some leaves by the tree before it writes them.
 * One kernel for each number of values over 8, rounded up. */
#include "cuda/mixture/sums.cuh"
#include "cuda/mixture/tensor_cores.cuh"

namespace wb {

/* Sums of 2^levels leaves are added up, as far as registers have room for the sums that wait. */
constexpr __host__ __device__ int fused_levels(int tiles) { return tiles <= 4 ? 2 : 1; }
constexpr int MOST_FUSED = 4;
static_assert(MOST_FUSED == SUM_THREADS / 32, "a warp adds the log densities of a leaf");

/* Products of 16 values with 8 that reach the lower triangle. Number m (m + 1) + n: values from 16 m with 8 n on. */
constexpr __host__ __device__ int sum_products(int tiles) {
  return tiles % 2 == 0 ? tiles / 2 * (tiles / 2 + 1) : (tiles - 1) / 2 * ((tiles + 1) / 2) + tiles;
}

/* How many of a leaf's sorted keys are below a bound. */
__device__ __forceinline__ int keys_before(const uint32_t *keys, uint32_t bound) {
  int below = 0;
  WB_ROLLED
  for (int step = WB_LEAF_ROWS / 2; step > 0; step /= 2)
    if (keys[below + step - 1] < bound) below += step;
  return below + (below == WB_LEAF_ROWS - 1 && keys[below] < bound);
}

/* The sums of places begin..end - 1 of a leaf's sorted keys. Past the end products are -0, which changes nothing. */
template <typename Real, int TILES>
__device__ __forceinline__ void add_rows_by_tensor(const Real *x, int p, const uint32_t *keys, int begin, int end,
                                                   double (&sum)[sum_products(TILES)][4]) {
  constexpr int AHEAD = 4; /* products a lane has the values of at a time */
  const int lane = int(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  WB_UNROLL
  for (int i = 0; i < sum_products(TILES); i++) sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
  uint32_t key[AHEAD];
  WB_UNROLL
  for (int a = 0; a < AHEAD; a++) key[a] = begin + 4 * a + q < end ? keys[begin + 4 * a + q] : NO_ROW;
  WB_ROLLED
  for (int first = begin; first < end; first += 4 * AHEAD) {
    double value[AHEAD][TILES];
    bool there[AHEAD];
    WB_UNROLL
    for (int a = 0; a < AHEAD; a++) {
      there[a] = key[a] != NO_ROW;
      const Real *const row = x + (key[a] & (WB_LEAF_ROWS - 1));
      WB_UNROLL
      for (int t = 0; t < TILES; t++) {
        const int c = 8 * t + g;
        value[a][t] = !there[a] || c > p ? 0.0 : c == 0 ? 1.0 : double(row[size_t(c - 1) * WB_LEAF_ROWS]);
      }
    }
    WB_UNROLL
    for (int a = 0; a < AHEAD; a++) {
      const int next = first + 4 * (AHEAD + a) + q;
      key[a] = next < end ? keys[next] : NO_ROW;
    }
    WB_UNROLL
    for (int a = 0; a < AHEAD; a++) {
      if (first + 4 * a >= end) break;
      WB_UNROLL
      for (int m = 0; m < (TILES + 1) / 2; m++) {
        WB_UNROLL
        for (int n = 0; n < TILES && n < 2 * m + 2; n++)
          multiply_add_16x8x4(sum[m * (m + 1) + n], value[a][2 * m],
                              2 * m + 1 < TILES ? value[a][2 * m + 1 < TILES ? 2 * m + 1 : 0] : 0.0,
                              there[a] ? value[a][n] : -0.0);
      }
    }
  }
}

/* The log likelihoods of `here` leaves, added up. */
template <typename Real>
__device__ __forceinline__ void sum_logs_of_leaves(const Real *log_sum, int64_t rows, int here, double *sum) {
  constexpr int AT_ONCE = 256;
  __shared__ double logs[MOST_FUSED][AT_ONCE];
  __shared__ double of_leaf[MOST_FUSED];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (warp < here) {
    const int64_t left = rows - warp * WB_LEAF_ROWS;
    const int mine = left < WB_LEAF_ROWS ? int(left) : WB_LEAF_ROWS;
    double total = 0;
    WB_ROLLED
    for (int first = 0; first < mine; first += AT_ONCE) {
      const int count = mine - first < AT_ONCE ? mine - first : AT_ONCE;
      for (int i = lane; i < count; i += 32) logs[warp][i] = double(log_sum[warp * WB_LEAF_ROWS + first + i]);
      __syncwarp();
      if (lane == 0) total = add_in_order(logs[warp], count, total);
      __syncwarp();
    }
    if (lane == 0) of_leaf[warp] = total;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  double inside[2] = {}, total = 0;
  WB_ROLLED
  for (int leaf = 0; leaf < here; leaf++) {
    total = of_leaf[leaf];
    join(total, inside, leaf, leaf == here - 1);
  }
  *sum = total;
}

/* As mixture_sum(), but each node has the sums of `fused` leaves, a power of two, and the last node the leaves that are
 * left. TILES is the number of values, p + 1, over 8, rounded up. Blocks of one node share its components, a component
 * a warp, and one more block adds the log densities. They run side by side (blockIdx.x), so that a leaf's rows come
 * from device memory once. Reads as mixture_sum() does, and writes 8 / fused node bytes a leaf. Four rows take
 * sum_products(TILES) products of 4 cycles of a multiprocessor each. */
template <typename Real, int TILES>
__global__ void __launch_bounds__(SUM_THREADS)
    mixture_sum_tensor(const Real *x, int p, const uint32_t *keys, const Real *log_sum, int64_t rows, int components,
                       int leaves, int fused, size_t node, double *sums) {
#ifdef WB_TENSOR_CORES
  constexpr int PRODUCTS = sum_products(TILES), LEVELS = fused_levels(TILES), WARPS = SUM_THREADS / 32;
  __shared__ int begin[MOST_FUSED][SUM_TENSOR_COMPONENTS + 1];
  const int first_leaf = int(blockIdx.y) * fused, here = leaves - first_leaf < fused ? leaves - first_leaf : fused;
  const int part = int(blockIdx.x), parts = int(gridDim.x) - 1;
  x += int64_t(first_leaf) * p * WB_LEAF_ROWS;
  keys += int64_t(first_leaf) * WB_LEAF_ROWS;
  sums += size_t(blockIdx.y) * node;
  if (part == parts) {
    sum_logs_of_leaves(log_sum + int64_t(first_leaf) * WB_LEAF_ROWS, rows - int64_t(first_leaf) * WB_LEAF_ROWS, here,
                       sums + node - 1);
    return;
  }
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, g = lane / 4, q = lane % 4;
  const int entries = int(WB_MIXTURE_STATISTICS(p));
  WB_ROLLED
  for (int base = part * SUM_TENSOR_COMPONENTS; base < components; base += parts * SUM_TENSOR_COMPONENTS) {
    const int count = components - base < SUM_TENSOR_COMPONENTS ? components - base : SUM_TENSOR_COMPONENTS;
    __syncthreads(); /* the bounds before have been read */
    for (int i = int(threadIdx.x); i < here * (count + 1); i += SUM_THREADS) {
      const int leaf = i / (count + 1), j = i % (count + 1);
      begin[leaf][j] = keys_before(keys + leaf * WB_LEAF_ROWS, uint32_t(base + j) << LEAF_BITS);
    }
    __syncthreads();
    WB_ROLLED
    for (int j = warp; j < count; j += WARPS) {
      double sum[PRODUCTS][4], inside[PRODUCTS][4][LEVELS] = {};
      WB_UNROLL
      for (int leaf = 0; leaf < 1 << LEVELS; leaf++) {
        if (leaf >= here) break;
        add_rows_by_tensor<Real, TILES>(x + int64_t(leaf) * p * WB_LEAF_ROWS, p, keys + leaf * WB_LEAF_ROWS,
                                        begin[leaf][j], begin[leaf][j + 1], sum);
        WB_UNROLL
        for (int i = 0; i < PRODUCTS; i++) {
          WB_UNROLL
          for (int e = 0; e < 4; e++) join(sum[i][e], inside[i][e], leaf, leaf == here - 1);
        }
      }
      double *const own = sums + size_t(base + j) * size_t(entries);
      WB_UNROLL
      for (int m = 0; m < (TILES + 1) / 2; m++) {
        WB_UNROLL
        for (int n = 0; n < TILES && n < 2 * m + 2; n++) {
          WB_UNROLL
          for (int e = 0; e < 4; e++) {
            const int r = 16 * m + g + e / 2 * 8, c = 8 * n + 2 * q + e % 2;
            if (c <= r && r <= p) own[entry_of(r, c, p)] = sum[m * (m + 1) + n][e];
          }
        }
      }
    }
  }
#endif
}

template <typename Real, int TILES>
static mixture_sum_kernel<Real> of_tiles(int p) {
  if constexpr (TILES > 1) {
    if (p + 1 <= 8 * (TILES - 1)) return of_tiles<Real, TILES - 1>(p);
  }
  return {1 << fused_levels(TILES), mixture_sum_tensor<Real, TILES>};
}

template <typename Real>
mixture_sum_kernel<Real> find_mixture_sum_tensor(int p) {
  return of_tiles<Real, (SUM_TENSOR_MOST_COLUMNS + 1) / 8>(p);
}
WB_BOTH_PRECISIONS(find_mixture_sum_tensor)

} // namespace wb
