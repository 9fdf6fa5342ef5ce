/* Log densities of rows under all components, and the draw of a component for
 * each row (Suchard et al. 2010, section 2): the kernels whose loops on the
 * processor are in cpu/mixture_tile.h. Every number is computed by the same
 * operations in the same order as there.
 *
 * A thread has R rows, their values in registers. Components come by in blocks
 * of WB_BLOCK_ITEMS; their coefficients are the same for all threads and are
 * read from shared memory, 16 bytes at a time, each serving R multiply-adds. With
 * R = 1 the reads, not the multiply-adds, would set the pace. The next components
 * travel from device memory to the other half of the buffer while these are used.
 *
 * The draw is that of core/block_draw.h: one pass, no table. Where 32 rows share
 * a warp and each row's weights lie across its lanes, partial sums must be
 * transposed by a butterfly of shuffles; here a lane has all weights of its own
 * rows, in a column of shared memory that no other lane reads, and neither
 * shuffles nor barriers are needed to sum or to search them.
 */
#ifndef WB_CUDA_MIXTURE_TILE_CUH
#define WB_CUDA_MIXTURE_TILE_CUH

#include "core/elementary.h"
#include "core/block_draw.h"
#include "core/scaled_value.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "cuda/mixture_kernels.cuh"

/* Full unrolling of loops whose arrays must live in registers. */
#ifdef __CUDACC__
#define WB_UNROLL _Pragma("unroll")
#define WB_ROLLED _Pragma("unroll 1")
#else
#define WB_UNROLL
#define WB_ROLLED
#endif

namespace wb {

/* What the two precisions do differently. A piece is what one load moves. */
template <typename Real>
struct precise;

template <>
struct precise<double> {
  typedef double2 piece;
  static constexpr int in_piece = mixture_piece<double>(), uniforms = 2;
  static constexpr double nothing = WB_BLOCK_NOTHING, negligible = WB_BLOCK_NEGLIGIBLE;
  static __device__ __forceinline__ double of(piece values, int i) { return i == 0 ? values.x : values.y; }
  static __device__ __forceinline__ double fma(double a, double b, double c) { return wb_fma(a, b, c); }
  static __device__ __forceinline__ double exp_weight(double x) { return wb_exp_weight(x); }
  static __device__ __forceinline__ double log(double x) { return wb_log(x); }
  static __device__ __forceinline__ double narrow(double x) { return x; }
  static __device__ __forceinline__ double uniform(wb_bits bits, uint32_t which) {
    return wb_uniform(wb_bits64(bits, static_cast<int>(which)));
  }
  static __device__ __forceinline__ double position(double u, double before, double sum) {
    return wb_block_position(u, before, sum);
  }
};

template <>
struct precise<float> {
  typedef float4 piece;
  static constexpr int in_piece = mixture_piece<float>(), uniforms = 4;
  static constexpr float nothing = WB_BLOCK_NOTHINGF, negligible = WB_BLOCK_NEGLIGIBLEF;
  static __device__ __forceinline__ float of(piece values, int i) {
    return i == 0 ? values.x : i == 1 ? values.y : i == 2 ? values.z : values.w;
  }
  static __device__ __forceinline__ float fma(float a, float b, float c) { return wb_fmaf(a, b, c); }
  static __device__ __forceinline__ float exp_weight(float x) { return wb_exp_weightf(x); }
  static __device__ __forceinline__ float log(float x) { return wb_logf(x); }
  static __device__ __forceinline__ float narrow(double x) { return wb_scaled_valuef(x); }
  static __device__ __forceinline__ float uniform(wb_bits bits, uint32_t which) {
    const uint32_t low = which & 1 ? bits.word[1] : bits.word[0];
    const uint32_t high = which & 1 ? bits.word[3] : bits.word[2];
    return wb_uniformf(which & 2 ? high : low);
  }
  static __device__ __forceinline__ float position(float u, float before, float sum) {
    return wb_block_positionf(u, before, sum);
  }
};

/* A leaf of rows is stored column by column, leaf after leaf: where a row's first
 * value is; the next are WB_LEAF_ROWS apart. */
template <typename Real>
__device__ __forceinline__ const Real *mixture_row_values(const Real *x, int p, int64_t row) {
  return x + row / WB_LEAF_ROWS * (static_cast<int64_t>(p) * WB_LEAF_ROWS) + row % WB_LEAF_ROWS;
}

/* The log weights of R rows of a thread, a block of components at a time. */
template <typename Real, int P, int R>
class mixture_rows {
public:
  typedef precise<Real> as;
  typedef typename as::piece piece;
  static constexpr int SIZE = static_cast<int>(mixture_coefficients<Real>(P));
  static constexpr int PIECES = SIZE / as::in_piece;
  static constexpr int MINE = (PIECES + MIXTURE_THREADS - 1) / MIXTURE_THREADS;
  /* Components between two barriers. */
  static constexpr int STAGE = P <= 16 ? 4 : P <= 24 ? 2 : 1;
  struct shared_memory {
    piece coefficients[2][STAGE * PIECES];
    Real weight[WB_BLOCK_ITEMS * R * MIXTURE_THREADS];
  };

  __device__ __forceinline__ mixture_rows(shared_memory &shared, const Real *const (&rows)[R], int p,
                                          const Real *coefficients, int components)
      : shared_(shared), coefficients_(reinterpret_cast<const piece *>(coefficients)), components_(components) {
    WB_UNROLL
    for (int c = 0; c < P; c++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) x_[c][v] = c < p ? rows[v][c * WB_LEAF_ROWS] : Real(0);
    }
    const int first = components < STAGE ? components : STAGE;
    for (int i = static_cast<int>(threadIdx.x); i < first * PIECES; i += MIXTURE_THREADS)
      shared.coefficients[0][i] = coefficients_[i];
  }

  /* Log weights of components base..base + count - 1; all threads of the block
   * come here together. */
  template <typename Use>
  __device__ __forceinline__ void weigh(int base, int count, Use use) {
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      const int component = base + j, slot = component % STAGE, stage = component / STAGE;
      /* From here on the stage is complete, and nobody reads the one before. */
      if (slot == 0) __syncthreads();
      const piece *const now = shared_.coefficients[stage & 1] + slot * PIECES;
      piece *const later = shared_.coefficients[(stage + 1) & 1] + slot * PIECES;
      const int next = component + STAGE;
      piece held[MINE];
      WB_UNROLL
      for (int m = 0; m < MINE; m++) {
        const int i = static_cast<int>(threadIdx.x) + m * MIXTURE_THREADS;
        if (next < components_ && i < PIECES) held[m] = coefficients_[static_cast<size_t>(next) * PIECES + i];
      }
      Real log_weight[R];
      log_density(now, log_weight);
      WB_UNROLL
      for (int m = 0; m < MINE; m++) {
        const int i = static_cast<int>(threadIdx.x) + m * MIXTURE_THREADS;
        if (next < components_ && i < PIECES) later[i] = held[m];
      }
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        weight(j, v) = log_weight[v];
        use(j, v, log_weight[v]);
      }
    }
  }

  __device__ __forceinline__ Real &weight(int j, int v) {
    return shared_.weight[(j * R + v) * MIXTURE_THREADS + static_cast<int>(threadIdx.x)];
  }

private:
  __device__ __forceinline__ void log_density(const piece *coefficients, Real (&log_weight)[R]) {
    Real squares[R];
    WB_UNROLL
    for (int v = 0; v < R; v++) squares[v] = 0;
    piece four;
    WB_UNROLL
    for (int r = 0; r < P; r++) {
      Real z[R] = {};
      WB_UNROLL
      for (int c = -1; c < r + 1; c++) {
        const int i = r * (r + 3) / 2 + 1 + c;
        if (i % as::in_piece == 0) four = coefficients[i / as::in_piece];
        const Real coefficient = as::of(four, i % as::in_piece);
        WB_UNROLL
        for (int v = 0; v < R; v++) z[v] = c < 0 ? coefficient : as::fma(coefficient, x_[c < 0 ? 0 : c][v], z[v]);
      }
      WB_UNROLL
      for (int v = 0; v < R; v++) squares[v] = as::fma(z[v], z[v], squares[v]);
    }
    constexpr int last = P * (P + 3) / 2;
    if (last % as::in_piece == 0) four = coefficients[last / as::in_piece];
    WB_UNROLL
    for (int v = 0; v < R; v++)
      log_weight[v] = as::fma(Real(-0.5), squares[v], as::of(four, last % as::in_piece));
  }

  shared_memory &shared_;
  const piece *coefficients_;
  int components_;
  Real x_[P][R];
};

/* The same for any number of columns: values and coefficients are read where they
 * lie, four rows of the triangle at a time, through the caches. */
template <typename Real, int R>
class mixture_rows<Real, 0, R> {
public:
  typedef precise<Real> as;
  struct shared_memory {
    Real weight[WB_BLOCK_ITEMS * R * MIXTURE_THREADS];
  };

  __device__ __forceinline__ mixture_rows(shared_memory &shared, const Real *const (&rows)[R], int p,
                                          const Real *coefficients, int)
      : shared_(shared), coefficients_(coefficients), p_(p) {
    WB_UNROLL
    for (int v = 0; v < R; v++) rows_[v] = rows[v];
  }

  template <typename Use>
  __device__ __forceinline__ void weigh(int base, int count, Use use) {
    const int order = (p_ + 3) / 4 * 4;
    const size_t size = mixture_coefficients<Real>(static_cast<size_t>(order));
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      const Real *const coefficients = coefficients_ + static_cast<size_t>(base + j) * size;
      Real squares[R];
      WB_UNROLL
      for (int v = 0; v < R; v++) squares[v] = 0;
      WB_ROLLED
      for (int row = 0; row < order; row += 4) add_squares(row, coefficients, squares);
      const Real constant = coefficients[mixture_row(static_cast<size_t>(order))];
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        const Real log_weight = as::fma(Real(-0.5), squares[v], constant);
        weight(j, v) = log_weight;
        use(j, v, log_weight);
      }
    }
  }

  __device__ __forceinline__ Real &weight(int j, int v) {
    return shared_.weight[(j * R + v) * MIXTURE_THREADS + static_cast<int>(threadIdx.x)];
  }

private:
  __device__ __forceinline__ void add_squares(int row, const Real *coefficients, Real (&squares)[R]) {
    const Real *line[4];
    Real z[4][R];
    WB_UNROLL
    for (int i = 0; i < 4; i++) {
      line[i] = coefficients + mixture_row(static_cast<size_t>(row + i));
      WB_UNROLL
      for (int v = 0; v < R; v++) z[i][v] = __ldg(line[i]);
      line[i]++;
    }
    WB_ROLLED
    for (int c = 0; c < row; c++) add_column(0, c, line, z);
    WB_UNROLL
    for (int i = 0; i < 4; i++) add_column(i, row + i, line, z);
    WB_UNROLL
    for (int i = 0; i < 4; i++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) squares[v] = as::fma(z[i][v], z[i][v], squares[v]);
    }
  }

  /* Column c times rows first..3 of the four. */
  __device__ __forceinline__ void add_column(const int first, int c, const Real *const (&line)[4], Real (&z)[4][R]) {
    Real value[R];
    /* A column past the last has zero coefficients: any finite value will do. */
    const size_t at = static_cast<size_t>(c < p_ ? c : p_ - 1) * WB_LEAF_ROWS;
    WB_UNROLL
    for (int v = 0; v < R; v++) value[v] = __ldg(rows_[v] + at);
    WB_UNROLL
    for (int i = 0; i < 4; i++) {
      if (i < first) continue;
      const Real coefficient = __ldg(line[i] + c);
      WB_UNROLL
      for (int v = 0; v < R; v++) z[i][v] = as::fma(coefficient, value[v], z[i][v]);
    }
  }

  shared_memory &shared_;
  const Real *coefficients_;
  int p_;
  const Real *rows_[R];
};

/* Blocks of a multiprocessor that the compiler must leave registers for, 0: as it
 * sees fit. For these orders nvcc 13 would spill a few bytes on sm_100 or sm_110
 * rather than give up the sixth block; with four rows a thread four will do. */
template <typename Real>
constexpr int mixture_blocks(int order) {
  return order == (sizeof(Real) == sizeof(float) ? 28 : 10) ? 4 : 0;
}

/* Draws the component of each of `rows` rows and gives the log of the sum of its
 * weights. first_row is the number of the first.
 *
 * Launch: 64 threads a block, R rows a thread. For each (row, component) p(p + 3)/2
 * multiply-adds, with p rounded up to an order there is a kernel for, and about 25
 * operations for the weight and its draw, fewer where a block of components does
 * not matter. Shared memory: p(p + 3)/4 reads of 16 bytes (double; p(p + 3)/8 in
 * single) for R pairs, and two reads and two writes of the weight. Device memory:
 * reads sizeof(Real) p bytes a row and the coefficients once a block, which the L2
 * cache holds, and writes 4 + sizeof(Real) bytes a row: at p = 14 and k = 256 in
 * double 246 multiply-adds a byte, so that only arithmetic counts.
 *
 * nvcc 13 for sm_90, no spills; blocks of a multiprocessor as the registers of its
 * quarters and its 227 KB of shared memory allow:
 *
 *   order           2    8   10   14   16   20   24   32   40
 *   double: R       4    4    4    4    4    3    3    2    2
 *     registers   148  164  210  218  254  220  254  250  254
 *     shared, KB   32   35   36   40   42   31   34   25   29
 *     blocks        6    6    4    4    4    4    4    4    4
 *   single: R       4    4    4    4    4    4    4    4    4
 *     registers    80  116  128  123  147  162  168  248  244
 *     shared, KB   16   18   18   20   21   20   21   20   23
 *     blocks       12    8    8    8    6    6    6    4    4
 *
 * Few warps, then, but each has R chains of multiply-adds that do not wait for one
 * another, and as many again from the next row of the triangle. */
template <typename Real, int P, int R>
__global__ void __launch_bounds__(MIXTURE_THREADS, mixture_blocks<Real>(P))
    mixture_draw(const Real *x, int p, const Real *coefficients, int components, uint64_t key, uint32_t iteration,
                 uint64_t first_row, int64_t rows, int32_t *label, Real *log_sum) {
  typedef precise<Real> as;
  typedef mixture_rows<Real, P, R> pass;
  __shared__ __align__(16) typename pass::shared_memory shared;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * (MIXTURE_THREADS * R) + threadIdx.x;
  const Real *values[R];
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    const int64_t i = first + v * MIXTURE_THREADS;
    values[v] = mixture_row_values(x, p, i < rows ? i : rows - 1);
  }
  pass tile(shared, values, p, coefficients, components);
  Real largest[R], total[R];
  int32_t chosen[R];
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    largest[v] = as::nothing;
    total[v] = 0;
    chosen[v] = 0;
  }
  WB_ROLLED
  for (int base = 0; base < components; base += WB_BLOCK_ITEMS) {
    const int count = components - base < WB_BLOCK_ITEMS ? components - base : WB_BLOCK_ITEMS;
    Real top[R] = {};
    tile.weigh(base, count, [&](int j, int v, Real weight) { top[v] = j == 0 || weight > top[v] ? weight : top[v]; });
    bool matters = false;
    WB_UNROLL
    for (int v = 0; v < R; v++) matters |= top[v] > largest[v] - as::negligible;
    if (!matters) continue;
    Real sum[R];
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      const Real new_largest = top[v] > largest[v] ? top[v] : largest[v];
      total[v] *= as::exp_weight(largest[v] - new_largest);
      largest[v] = new_largest;
      sum[v] = 0;
    }
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        sum[v] += as::exp_weight(tile.weight(j, v) - largest[v]);
        tile.weight(j, v) = sum[v];
      }
    }
    const uint32_t block = static_cast<uint32_t>(base / WB_BLOCK_ITEMS);
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      const uint64_t element = first_row + static_cast<uint64_t>(first + v * MIXTURE_THREADS);
      const wb_bits bits = wb_philox(key, block / as::uniforms, static_cast<uint32_t>(element),
                                     wb_philox_c2(WB_PURPOSE_LABEL, element), iteration);
      const Real position = as::position(as::uniform(bits, block % as::uniforms), total[v], sum[v]);
      total[v] += sum[v];
      if (position >= 0) {
        int32_t inside = base;
        WB_ROLLED
        for (int j = 0; j < count; j++) inside += tile.weight(j, v) <= position ? 1 : 0;
        chosen[v] = inside;
      }
    }
  }
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    const int64_t i = first + v * MIXTURE_THREADS;
    if (i >= rows) continue;
    label[i] = chosen[v];
    log_sum[i] = largest[v] + as::log(total[v]);
  }
}

/* As mixture_draw(), with 16 bytes of output for a row and twice 8 for each of its
 * probabilities. Registers on sm_90: 135 to 248 in double, 79 to 242 in single.
 *
 * The most probable component of rows first..first + count - 1 of x, the first of
 * equals, and the log of the sum of the weights. probability, if it is not NULL,
 * is `stride` x components and holds the log weights first. */
template <typename Real, int P, int R>
__global__ void __launch_bounds__(MIXTURE_THREADS, mixture_blocks<Real>(P))
    mixture_evaluate(const Real *x, int p, const Real *coefficients, int components, int64_t first, int64_t count,
                     int32_t *label, double *log_sum, double *probability, int64_t stride) {
  typedef precise<Real> as;
  typedef mixture_rows<Real, P, R> pass;
  __shared__ __align__(16) typename pass::shared_memory shared;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * (MIXTURE_THREADS * R) + threadIdx.x;
  const Real *values[R];
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    const int64_t i = begin + v * MIXTURE_THREADS;
    values[v] = mixture_row_values(x, p, first + (i < count ? i : count - 1));
  }
  pass tile(shared, values, p, coefficients, components);
  Real largest[R], total[R];
  int32_t chosen[R];
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    largest[v] = as::nothing;
    total[v] = 0;
    chosen[v] = 0;
  }
  WB_ROLLED
  for (int base = 0; base < components; base += WB_BLOCK_ITEMS) {
    const int in_block = components - base < WB_BLOCK_ITEMS ? components - base : WB_BLOCK_ITEMS;
    Real top[R] = {};
    int32_t best[R] = {};
    tile.weigh(base, in_block, [&](int j, int v, Real weight) {
      best[v] = j == 0 || weight > top[v] ? base + j : best[v];
      top[v] = j == 0 || weight > top[v] ? weight : top[v];
    });
    Real sum[R];
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      const Real new_largest = top[v] > largest[v] ? top[v] : largest[v];
      chosen[v] = top[v] > largest[v] ? best[v] : chosen[v];
      total[v] *= as::exp_weight(largest[v] - new_largest);
      largest[v] = new_largest;
      sum[v] = 0;
    }
    WB_ROLLED
    for (int j = 0; j < in_block; j++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        const int64_t i = begin + v * MIXTURE_THREADS;
        const Real weight = tile.weight(j, v);
        if (probability != nullptr && i < count) probability[i + (base + j) * stride] = static_cast<double>(weight);
        sum[v] += as::exp_weight(weight - largest[v]);
      }
    }
    WB_UNROLL
    for (int v = 0; v < R; v++) total[v] += sum[v];
  }
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    const int64_t i = begin + v * MIXTURE_THREADS;
    if (i >= count) continue;
    label[i] = chosen[v];
    log_sum[i] = static_cast<double>(largest[v] + as::log(total[v]));
    if (probability == nullptr) continue;
    for (int j = 0; j < components; j++) {
      double *const entry = probability + i + j * stride;
      *entry = static_cast<double>(as::exp_weight(static_cast<Real>(*entry) - largest[v]) / total[v]);
    }
  }
}

/* Rows of a thread: as many as leave the registers enough room. */
template <typename Real>
constexpr int mixture_rows_of_thread(int order) {
  return sizeof(Real) == sizeof(float) || order <= 16 ? 4 : order <= 24 ? 3 : 2;
}

template <typename Real, int P>
mixture_draw_kernel<Real> mixture_draw_of_order() {
  constexpr int R = mixture_rows_of_thread<Real>(P);
  return {P, R, mixture_draw<Real, P, R>};
}
template <typename Real, int P>
mixture_evaluate_kernel<Real> mixture_evaluate_of_order() {
  constexpr int R = mixture_rows_of_thread<Real>(P);
  return {P, R, mixture_evaluate<Real, P, R>};
}

template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw(int p) {
  if (p <= 2) return mixture_draw_of_order<Real, 2>();
  if (p <= 4) return mixture_draw_of_order<Real, 4>();
  if (p <= 6) return mixture_draw_of_order<Real, 6>();
  if (p <= 8) return mixture_draw_of_order<Real, 8>();
  if (p <= 10) return mixture_draw_of_order<Real, 10>();
  if (p <= 12) return mixture_draw_of_order<Real, 12>();
  if (p <= 14) return mixture_draw_of_order<Real, 14>();
  if (p <= 16) return mixture_draw_of_order<Real, 16>();
  if (p <= 18) return mixture_draw_of_order<Real, 18>();
  if (p <= 20) return mixture_draw_of_order<Real, 20>();
  if (p <= 22) return mixture_draw_of_order<Real, 22>();
  if (p <= 24) return mixture_draw_of_order<Real, 24>();
  if (p <= 28) return mixture_draw_of_order<Real, 28>();
  if (p <= 32) return mixture_draw_of_order<Real, 32>();
  if (p <= 40) return mixture_draw_of_order<Real, 40>();
  return {(p + 3) / 4 * 4, 4, mixture_draw<Real, 0, 4>};
}

/* Predictions are asked for seldom: fewer orders, for a smaller plugin. */
template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate(int p) {
  if (p <= 4) return mixture_evaluate_of_order<Real, 4>();
  if (p <= 8) return mixture_evaluate_of_order<Real, 8>();
  if (p <= 16) return mixture_evaluate_of_order<Real, 16>();
  if (p <= 24) return mixture_evaluate_of_order<Real, 24>();
  if (p <= 40) return mixture_evaluate_of_order<Real, 40>();
  return {(p + 3) / 4 * 4, 4, mixture_evaluate<Real, 0, 4>};
}

} // namespace wb

#endif
