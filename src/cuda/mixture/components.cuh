/* What happens to components between two passes over the rows: their means and
 * covariances are drawn from the statistics of their rows, measured, added up, and laid out
 * for the next pass. Like every sum, those over components are added by one thread each, in
 * order. The twins on the processor are in cpu/mixture/components.c.
 */
#ifndef WB_CUDA_MIXTURE_COMPONENTS_CUH
#define WB_CUDA_MIXTURE_COMPONENTS_CUH

#include "cuda/mixture/fragments.cuh"
#include "cuda/mixture/kernels.cuh"

#define WB_TEAM static __device__ __attribute__((noinline))
#define WB_TEAM_BARRIER() __syncthreads()
#include "core/mixture_component.h"

namespace wb {

/* Threads of the block that works on a component: a warp, or more where rows are longer. */
inline int team_threads(int p) {
  return p <= 32 ? 32 : 128;
}
constexpr int TEAM_THREADS = 128, ENTRY_THREADS = 128, GATHER_THREADS = 256;
constexpr size_t PRECISION_SHARED = 24 * 1024;

__device__ __forceinline__ wb_component component_at(const mixture_components &c, int j) {
  const size_t p = static_cast<size_t>(c.columns), at = static_cast<size_t>(j);
  return {c.mean + at * p,           c.offset + at * p,      c.factor + at * (p * (p + 1) / 2),
          c.pull + at * p,           c.log_determinant + at, c.floor_trace + at};
}

/* The numbers that the host asks for, in device memory; NULL where it does not. */
struct mixture_questions {
  const double *center, *root, *point;
  int points;
  double *log_determinant, *distance, *trace, *point_distance;
};

/* Draws the components. One block each, or every gridDim.x-th; wb_component_work_size(p) doubles
 * of `work` a block, which stay in the caches. Latency alone counts: about p gamma draws
 * one after the other, and 5 p steps of p/2 multiply-adds. */
static __global__ void __launch_bounds__(TEAM_THREADS)
    mixture_draw_components(mixture_components c, wb_component_law law, const int32_t *source, uint64_t key,
                            uint32_t iteration, double *work) {
  const wb_team team = {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  work += blockIdx.x * wb_component_work_size(c.columns);
  for (int l = static_cast<int>(blockIdx.x); l < c.count; l += static_cast<int>(gridDim.x)) {
    const int j = source[l];
    const int drawn = wb_component_draw(team, &law, c.statistics + static_cast<size_t>(j) * WB_MIXTURE_STATISTICS(c.columns),
                                        key, iteration, static_cast<uint64_t>(j), work, component_at(c, l));
    if (team.rank == 0) c.failed[l] = drawn ? 0 : j + 1;
  }
}

/* Launch and memory as for mixture_draw_components(). */
static __global__ void __launch_bounds__(TEAM_THREADS)
    mixture_measure(mixture_components c, mixture_questions q, double *work) {
  const wb_team team = {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  const int p = c.columns;
  work += blockIdx.x * wb_component_work_size(p);
  for (int l = static_cast<int>(blockIdx.x); l < c.count; l += static_cast<int>(gridDim.x)) {
    const wb_component component = component_at(c, l);
    if (q.log_determinant != nullptr && team.rank == 0) q.log_determinant[l] = *component.log_determinant;
    if (q.distance != nullptr)
      wb_component_mean_distance(team, p, component.factor, component.mean, q.center, work, q.distance + l);
    if (q.trace != nullptr) wb_component_trace(team, p, component.factor, q.root, work, q.trace + l);
    for (int i = 0; i < q.points; i++)
      wb_component_distance(team, p, component.factor, component.offset, q.point + static_cast<size_t>(i) * p, work,
                            q.point_distance + static_cast<size_t>(i) * c.count + l);
  }
}

/* The row and column of an entry of a packed triangle. */
__device__ __forceinline__ void triangle_position(int entry, int *row, int *column) {
  int r = static_cast<int>((wb_sqrt(8.0 * entry + 1.0) - 1.0) * 0.5);
  if (r * (r + 1) / 2 > entry) r--;
  if ((r + 1) * (r + 2) / 2 <= entry) r++;
  *row = r;
  *column = entry - r * (r + 1) / 2;
}

/* How many factors are in shared memory at a time; 0: they are read where they are. */
inline __host__ __device__ int factors_in_shared(int p) {
  return static_cast<int>(PRECISION_SHARED / (wb_packed_size(p) * sizeof(double)));
}

/* precision += weight sum_j F_j' F_j, packed, and pull += weight sum_j F_j' offset_j, where they
 * are not NULL: one thread an entry, over all components. Rows of the grid: the sums for m,
 * those for Phi. A thread goes through all rows of a factor, with zero in place of
 * entries above the diagonal, since another thread of its warp needs the row. */
static __global__ void __launch_bounds__(ENTRY_THREADS)
    mixture_add_precisions(mixture_components c, double mean_weight, double scale_weight, double *pull,
                           double *mean_precision, double *scale_precision) {
  WB_DYNAMIC_SHARED(double, factors);
  const int p = c.columns, triangle = static_cast<int>(wb_packed_size(p));
  const double weight = blockIdx.y == 0 ? mean_weight : scale_weight;
  double *const precision = blockIdx.y == 0 ? mean_precision : scale_precision;
  if (precision == nullptr) return;
  if (static_cast<int>(blockIdx.x) == static_cast<int>(gridDim.x) - 1) { /* the last block: the pull */
    for (int r = static_cast<int>(threadIdx.x); r < p && blockIdx.y == 0; r += ENTRY_THREADS) {
      double sum = pull[r];
#ifdef __CUDACC__
#pragma unroll 8
#endif
      for (int j = 0; j < c.count; j++) sum = wb_fma(weight, c.pull[static_cast<size_t>(j) * p + r], sum);
      pull[r] = sum;
    }
    return;
  }
  const int entry = static_cast<int>(blockIdx.x) * ENTRY_THREADS + static_cast<int>(threadIdx.x);
  const bool adds = entry < triangle;
  int r = 0, column = 0;
  if (adds) triangle_position(entry, &r, &column);
  double sum = adds ? precision[entry] : 0;
  const int at_once = factors_in_shared(p);
  for (int j = 0; j < c.count && at_once == 0; j++)
    if (adds) sum = wb_component_add_precision(p, weight, c.factor + static_cast<size_t>(j) * triangle, r, column, sum);
  for (int first = 0; first < c.count && at_once > 0; first += at_once) {
    const int count = c.count - first < at_once ? c.count - first : at_once;
    const double *const factor = c.factor + static_cast<size_t>(first) * triangle;
    __syncthreads(); /* the factors before have been added */
#ifdef __CUDACC__
#pragma unroll 8
#endif
    for (int i = static_cast<int>(threadIdx.x); i < count * triangle; i += ENTRY_THREADS) factors[i] = factor[i];
    __syncthreads();
    const double *row = factors;
    for (int j = 0; j < count; j++) {
#ifdef __CUDACC__
#pragma unroll 4
#endif
      for (int k = 0; k < p; row += ++k) sum = wb_fma(k < r ? 0.0 : weight * row[r], row[column], sum);
    }
  }
  if (adds) precision[entry] = sum;
}

/* Coefficients as cuda/mixture/draw_tile.cuh reads them, one block a component: see
 * mixture_coefficients(). */
template <typename Real>
__global__ void __launch_bounds__(ENTRY_THREADS) mixture_pack(mixture_components c, int order, Real *coefficients) {
  const int p = c.columns, j = static_cast<int>(blockIdx.x);
  const wb_component component = component_at(c, j);
  const size_t size = mixture_coefficients<Real>(static_cast<size_t>(order));
  Real *const to = coefficients + static_cast<size_t>(j) * size;
  for (int r = 0; r < order; r++) {
    Real *const line = to + coefficient_line(static_cast<size_t>(r));
    for (int i = static_cast<int>(threadIdx.x); i <= r + 1; i += ENTRY_THREADS) {
      double value = 0;
      if (r < p && i == 0) value = -component.offset[r];
      if (r < p && i > 0) value = component.factor[wb_packed_row(r) + static_cast<size_t>(i) - 1];
      line[i] = static_cast<Real>(value);
    }
  }
  const double constant = wb_component_log_floored(p, c.log_weight[j], *component.log_determinant, *component.floor_trace);
  const size_t last = coefficient_line(static_cast<size_t>(order));
  for (size_t i = last + threadIdx.x; i < size; i += ENTRY_THREADS) to[i] = i == last ? static_cast<Real>(constant) : Real(0);
}

/* The same as cuda/mixture/tensor.cuh reads them (cuda/mixture/fragments.cuh): a block for each sixteen components and line of the triangle, and
 * one for their constants. */
static __global__ void __launch_bounds__(ENTRY_THREADS) mixture_pack_fragments(mixture_components c, double *coefficients) {
  const int p = c.columns, block = static_cast<int>(blockIdx.x), r = static_cast<int>(blockIdx.y);
  double *const line = coefficients + static_cast<size_t>(block) * static_cast<size_t>(fragment_block(p)) + fragment_line(r);
  const int values = r < p ? FRAGMENT_COMPONENTS + FRAGMENT_LINE * (r / 4 + 1) : FRAGMENT_COMPONENTS;
  for (int i = static_cast<int>(threadIdx.x); i < values; i += ENTRY_THREADS) {
    const bool first = i < FRAGMENT_COMPONENTS;
    const int at = first ? i : i - FRAGMENT_COMPONENTS, lane = at % FRAGMENT_LINE / 2;
    const int column = at / FRAGMENT_LINE * 4 + lane % 4, j = FRAGMENT_COMPONENTS * block + at % 2 * 8 + (first ? lane : lane / 4);
    double value = 0;
    if (j < c.count) {
      const wb_component component = component_at(c, j);
      if (r == p)
        value = wb_component_log_floored(p, c.log_weight[j], *component.log_determinant, *component.floor_trace);
      else if (first)
        value = -component.offset[r];
      else if (column <= r)
        value = component.factor[wb_packed_row(r) + static_cast<size_t>(column)];
    }
    line[i] = value;
  }
}

/* What the host reads of a pass over the rows: for each component the count of its rows, then
 * which failed, then the log likelihood. One thread a component. */
static __global__ void __launch_bounds__(GATHER_THREADS) mixture_gather(mixture_components c, double *answer) {
  const int j = static_cast<int>(blockIdx.x * GATHER_THREADS + threadIdx.x);
  if (j >= c.count) return;
  const size_t k = static_cast<size_t>(c.count), size = WB_MIXTURE_STATISTICS(c.columns);
  answer[j] = c.statistics[static_cast<size_t>(j) * size];
  answer[k + static_cast<size_t>(j)] = c.failed[j];
  if (j == 0) answer[2 * k] = c.statistics[k * size];
}

} // namespace wb

#endif
