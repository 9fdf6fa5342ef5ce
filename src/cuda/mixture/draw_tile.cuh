/* Draws a component for each row, and evaluates all components at each row (Suchard et al. 2010, section 2). The twin
 * of cpu/mixture/draw_tile.h: the same operations in the same order.
 *
 * A thread has R rows, with their values in registers. Coefficients of blocks of WB_BLOCK_ITEMS components are read
 * from shared memory, 16 bytes at a time, and each serves R multiply-adds. The next stage of components travels
 * meanwhile. */
#pragma once

#include <utility>

#include "core/unroll.h"
#include "core/purpose.h"
#include "cuda/mixture/kernels.cuh"
#include "cuda/one_pass.cuh"

namespace wb {

/* The log weights of R rows of a thread, a block of components at a time. */
template <typename Real, int P, int R>
class mixture_weights {
public:
  typedef precise<Real> as;
  typedef typename as::piece piece;
  static constexpr int SIZE = int(mixture_coefficients<Real>(P));
  static constexpr int PIECES = SIZE / as::in_piece;
  static constexpr int MINE = (PIECES + MIXTURE_THREADS - 1) / MIXTURE_THREADS;
  /* Threads of a block, and how many components' exponentials a thread computes side by side for each of its rows. */
  static constexpr int THREADS = MIXTURE_THREADS, AT_ONCE = 1;
  /* Components between two barriers. */
  static constexpr int STAGE = P <= 16 ? 4 : P <= 24 ? 2 : 1;
  struct shared_memory {
    piece coefficients[2][STAGE * PIECES];
    Real weight[WB_BLOCK_ITEMS * R * MIXTURE_THREADS];
  };

  __device__ __forceinline__ mixture_weights(shared_memory &shared, const Real *const (&rows)[R], int p,
                                             const Real *coefficients, int components)
      : shared_(shared), coefficients_(reinterpret_cast<const piece *>(coefficients)), components_(components) {
    WB_UNROLL
    for (int c = 0; c < P; c++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) x_[c][v] = c < p ? rows[v][c * WB_LEAF_ROWS] : Real(0);
    }
    const int first = components < STAGE ? components : STAGE;
    for (int i = int(threadIdx.x); i < first * PIECES; i += MIXTURE_THREADS)
      shared.coefficients[0][i] = coefficients_[i];
  }

  /* Log weights of components base..base + count - 1; all threads of the block come here together. */
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
        const int i = int(threadIdx.x) + m * MIXTURE_THREADS;
        if (next < components_ && i < PIECES) held[m] = coefficients_[size_t(next) * PIECES + i];
      }
      Real log_weight[R];
      log_weights(now, log_weight);
      WB_UNROLL
      for (int m = 0; m < MINE; m++) {
        const int i = int(threadIdx.x) + m * MIXTURE_THREADS;
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
    return shared_.weight[(j * R + v) * MIXTURE_THREADS + int(threadIdx.x)];
  }

private:
  __device__ __forceinline__ void log_weights(const piece *coefficients, Real (&log_weight)[R]) {
    Real squares[R];
    WB_UNROLL
    for (int v = 0; v < R; v++) squares[v] = 0;
    piece read;
    add_lines(coefficients, read, squares, std::make_integer_sequence<int, P>());
    constexpr int last = P * (P + 3) / 2;
    if (last % as::in_piece == 0) read = coefficients[last / as::in_piece];
    WB_UNROLL
    for (int v = 0; v < R; v++) log_weight[v] = as::fma(Real(-0.5), squares[v], as::of(read, last % as::in_piece));
  }

  /* A template, since loops over lines are unrolled only in part from 28 lines on: x_ would leave its registers. */
  template <int... LINES>
  __device__ __forceinline__ void add_lines(const piece *coefficients, piece &read, Real (&squares)[R],
                                            std::integer_sequence<int, LINES...>) {
    (add_line<LINES>(coefficients, read, squares), ...);
  }
  template <int LINE>
  __device__ __forceinline__ void add_line(const piece *coefficients, piece &read, Real (&squares)[R]) {
    Real z[R] = {};
    WB_UNROLL
    for (int c = -1; c < LINE + 1; c++) {
      const int i = LINE * (LINE + 3) / 2 + 1 + c;
      if (i % as::in_piece == 0) read = coefficients[i / as::in_piece];
      const Real coefficient = as::of(read, i % as::in_piece);
      WB_UNROLL
      for (int v = 0; v < R; v++) z[v] = c < 0 ? coefficient : as::fma(coefficient, x_[c < 0 ? 0 : c][v], z[v]);
    }
    WB_UNROLL
    for (int v = 0; v < R; v++) squares[v] = as::fma(z[v], z[v], squares[v]);
  }

  shared_memory &shared_;
  const piece *coefficients_;
  int components_;
  Real x_[P][R];
};

/* The same for any number of columns: values and coefficients are read where they
 * lie, four rows of the triangle at a time, through the caches. */
template <typename Real, int R>
class mixture_weights<Real, 0, R> {
public:
  typedef precise<Real> as;
  static constexpr int THREADS = MIXTURE_THREADS, AT_ONCE = 1;
  struct shared_memory {
    Real weight[WB_BLOCK_ITEMS * R * MIXTURE_THREADS];
  };

  __device__ __forceinline__ mixture_weights(shared_memory &shared, const Real *const (&rows)[R], int p,
                                             const Real *coefficients, int)
      : shared_(shared), coefficients_(coefficients), p_(p) {
    WB_UNROLL
    for (int v = 0; v < R; v++) rows_[v] = rows[v];
  }

  template <typename Use>
  __device__ __forceinline__ void weigh(int base, int count, Use use) {
    const int order = (p_ + 3) / 4 * 4;
    const size_t size = mixture_coefficients<Real>(size_t(order));
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      const Real *const coefficients = coefficients_ + size_t(base + j) * size;
      Real squares[R];
      WB_UNROLL
      for (int v = 0; v < R; v++) squares[v] = 0;
      WB_ROLLED
      for (int row = 0; row < order; row += 4) add_squares(row, coefficients, squares);
      const Real constant = coefficients[coefficient_line(size_t(order))];
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        const Real log_weight = as::fma(Real(-0.5), squares[v], constant);
        weight(j, v) = log_weight;
        use(j, v, log_weight);
      }
    }
  }

  __device__ __forceinline__ Real &weight(int j, int v) {
    return shared_.weight[(j * R + v) * MIXTURE_THREADS + int(threadIdx.x)];
  }

private:
  __device__ __forceinline__ void add_squares(int row, const Real *coefficients, Real (&squares)[R]) {
    const Real *line[4];
    Real z[4][R];
    WB_UNROLL
    for (int i = 0; i < 4; i++) {
      line[i] = coefficients + coefficient_line(size_t(row + i));
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
    const size_t at = size_t(c < p_ ? c : p_ - 1) * WB_LEAF_ROWS;
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

/* How many blocks of a multiprocessor the compiler must be able to run at a time; 0: it chooses. For these two orders
 * nvcc 13 would spill registers on sm_100 and sm_110 to run six blocks; four are enough. */
template <typename Real>
constexpr int mixture_blocks(int order) {
  return order == (sizeof(Real) == sizeof(float) ? 28 : 10) ? 4 : 0;
}

/* The log of the sum of the weights of a row that was kept. */
template <typename Weights>
__device__ __forceinline__ auto log_sum_kept(Weights &weights, int v) {
  return weights.weight(0, v) + Weights::as::log(weights.weight(1, v));
}

/* The number of a thread's row v among the rows of its launch, of which four LANES have two rows (draw_half.cuh). */
template <int THREADS = MIXTURE_THREADS, int LANES = 1>
__device__ __forceinline__ int64_t row_of_thread(int rows_each, int v) {
  const int thread = int(threadIdx.x);
  if (LANES == 4) return int64_t(blockIdx.x) * (THREADS / 2) + thread / 32 * 16 + thread % 32 / 4 + 8 * v;
  return int64_t(blockIdx.x) * (THREADS * rows_each) + threadIdx.x + v * THREADS;
}

/* Stores the labels of a thread's rows, and the rest in its column of shared memory, from which a rolled loop reads it
 * at the end of a kernel, to keep the code short. */
template <typename Real, int R, typename Weights>
__device__ __forceinline__ void keep(const one_pass<Real, R> &seen, Weights &weights, int64_t rows, int32_t *label) {
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    const int64_t i = row_of_thread<Weights::THREADS>(R, v);
    if (i < rows) label[i] = seen.chosen[v];
    weights.weight(0, v) = seen.largest[v];
    weights.weight(1, v) = seen.total[v];
  }
}

/* The weights of a thread's rows of first..first + rows - 1. Threads past the end compute the last row again. */
template <typename Real, int P, int R>
__device__ __forceinline__ mixture_weights<Real, P, R> weights_of_rows(
    typename mixture_weights<Real, P, R>::shared_memory &shared, const Real *x, int p, const Real *coefficients,
    int components, int64_t first, int64_t rows) {
  const Real *values[R];
  WB_UNROLL
  for (int v = 0; v < R; v++) {
    const int64_t i = row_of_thread(R, v);
    values[v] = first_value_of_row(x, p, first + (i < rows ? i : rows - 1));
  }
  return mixture_weights<Real, P, R>(shared, values, p, coefficients, components);
}

/* Uniforms for the draws of a thread's rows. One block of random numbers serves several blocks of components. Uniforms
 * wait in `room`, shared memory of the block's threads. The LANES of a row have numbers of their own. */
template <typename Real, int R, int THREADS, int LANES = 1>
class label_uniforms {
public:
  __device__ __forceinline__ label_uniforms(Real *room, uint64_t key, uint32_t iteration, uint64_t first_row)
      : mine_(room + threadIdx.x), key_(key), iteration_(iteration), first_row_(first_row) {}

  __device__ __forceinline__ void take(int block) {
    which_ = block % as::uniforms;
    if (block / as::uniforms == drawn_) return;
    drawn_ = block / as::uniforms;
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      const wb_bits drawn = bits(uint32_t(LANES * drawn_) + threadIdx.x % LANES, v);
      WB_UNROLL
      for (int u = 0; u < as::uniforms; u++) mine_[(u * R + v) * THREADS] = as::uniform(drawn, uint32_t(u));
    }
  }
  __device__ __forceinline__ Real operator()(int v) const { return mine_[(which_ * R + v) * THREADS]; }

  /* The uniform by which one of the lanes is drawn. */
  __device__ __forceinline__ Real last(int v) const { return as::uniform(bits(0xffffffffu, v), 0); }

private:
  typedef precise<Real> as;
  __device__ __forceinline__ wb_bits bits(uint32_t number, int v) const {
    const uint64_t element = first_row_ + uint64_t(row_of_thread<THREADS, LANES>(R, v));
    return wb_philox(key_, number, uint32_t(element), wb_philox_c2(WB_PURPOSE_LABEL, element), iteration_);
  }

  Real *mine_;
  uint64_t key_;
  uint32_t iteration_;
  uint64_t first_row_;
  int which_ = 0, drawn_ = -1; /* the group of blocks whose uniforms there are; none yet */
};

/* Draws the components of a thread's R rows by the weights of `tile`. `uniform`: room for the block's numbers. */
template <typename Real, int R, typename Weights>
__device__ __forceinline__ void draw_rows(Weights &tile, Real *uniform, int components, const Real *share,
                                          const int32_t *sample, uint64_t key, uint32_t iteration, uint64_t first_row,
                                          int64_t rows, int32_t *label, Real *log_sum) {
  constexpr int THREADS = Weights::THREADS;
  one_pass<Real, R> seen(0);
  label_uniforms<Real, R, THREADS> uniforms(uniform, key, iteration, first_row);
  const auto weigh = [&](int base, int count, Real(&top)[R]) {
    tile.weigh(base, count, [&](int j, int v, Real weight) { top[v] = j == 0 || weight > top[v] ? weight : top[v]; });
    if (share == nullptr) return;
    WB_ROLLED
    for (int v = 0; v < R; v++) { /* short code, like the end of the kernel */
      const int64_t i = row_of_thread<THREADS>(R, v);
      const size_t mine = size_t(sample[i < rows ? i : rows - 1]);
      const Real *const own = share + mine * size_t(components) + base;
      Real highest = 0;
      WB_ROLLED
      for (int j = 0; j < count; j++) {
        const Real weight = tile.weight(j, v) + own[j];
        tile.weight(j, v) = weight;
        highest = j == 0 || weight > highest ? weight : highest;
      }
      WB_UNROLL
      for (int u = 0; u < R; u++) top[u] = u == v ? highest : top[u];
    }
  };
  draw_in_one_pass(seen, tile, components, weigh, uniforms);
  keep(seen, tile, rows, label);
  WB_ROLLED
  for (int v = 0; v < R; v++) {
    const int64_t i = row_of_thread<THREADS>(R, v);
    if (i < rows) log_sum[i] = log_sum_kept(tile, v);
  }
}

/* Draws the component of each of `rows` rows and gives the log of the sum of its weights. first_row is the number of
 * the first. share: NULL, or samples x components, added to the log weights of a sample's rows.
 *
 * Launch: 64 threads a block, R rows a thread. For each (row, component) p(p + 3)/2 multiply-adds, where p is rounded
 * up to the next order that has a kernel, and about 25 operations for the weight and its draw, fewer where a block of
 * components is negligible. Shared memory: p(p + 3)/4 reads of 16 bytes (double; p(p + 3)/8 in single) for R pairs, and
 * two reads and two writes of the weight. Device memory: reads sizeof(Real) p bytes a row and the coefficients once a
 * block, and writes 4 + sizeof(Real) bytes a row. Few warps run, each with R independent chains. */
template <typename Real, int P, int R>
__global__ void __launch_bounds__(MIXTURE_THREADS, mixture_blocks<Real>(P))
    mixture_draw(const Real *x, int p, const Real *coefficients, int components, const Real *share,
                 const int32_t *sample, uint64_t key, uint32_t iteration, uint64_t first_row, int64_t rows,
                 int32_t *label, Real *log_sum) {
  __shared__ __align__(16) typename mixture_weights<Real, P, R>::shared_memory shared;
  __shared__ Real uniform[precise<Real>::uniforms * R * MIXTURE_THREADS];
  mixture_weights<Real, P, R> tile = weights_of_rows<Real, P, R>(shared, x, p, coefficients, components, 0, rows);
  draw_rows<Real, R>(tile, uniform, components, share, sample, key, iteration, first_row, rows, label, log_sum);
}

template <typename Real, int R, typename Weights>
__device__ __forceinline__ void evaluate_rows(Weights &tile, int components, int64_t count, int32_t *label,
                                              double *log_sum, double *probability, int64_t stride) {
  typedef precise<Real> as;
  constexpr int THREADS = Weights::THREADS;
  one_pass<Real, R> seen(0);
  const auto weigh = [&](int base, int in_block, Real(&top)[R], int32_t(&best)[R]) {
    tile.weigh(base, in_block, [&](int j, int v, Real weight) {
      best[v] = j == 0 || weight > top[v] ? base + j : best[v];
      top[v] = j == 0 || weight > top[v] ? weight : top[v];
    });
  };
  evaluate_in_one_pass(seen, tile, components, weigh, [=](int j, int v, Real log_weight) {
    const int64_t i = row_of_thread<THREADS>(R, v);
    if (probability != nullptr && i < count) probability[i + j * stride] = double(log_weight);
  });
  keep(seen, tile, count, label);
  WB_ROLLED
  for (int v = 0; v < R; v++) {
    const int64_t i = row_of_thread<THREADS>(R, v);
    if (i >= count) continue;
    log_sum[i] = double(log_sum_kept(tile, v));
    if (probability == nullptr) continue;
    WB_ROLLED
    for (int j = 0; j < components; j++) {
      double *const entry = probability + i + j * stride;
      *entry = double(as::exp_weight(Real(*entry) - tile.weight(0, v)) / tile.weight(1, v));
    }
  }
}

/* The most probable component of rows first..first + count - 1 of x, the first of equals, and the log of the sum of the
 * weights. probability, if it is not NULL, is `stride` x components and holds the log weights first.
 *
 * Launch and memory as for mixture_draw(), with 16 bytes of output for a row and 16 for each of its probabilities. */
template <typename Real, int P, int R>
__global__ void __launch_bounds__(MIXTURE_THREADS, mixture_blocks<Real>(P))
    mixture_evaluate(const Real *x, int p, const Real *coefficients, int components, int64_t first, int64_t count,
                     int32_t *label, double *log_sum, double *probability, int64_t stride) {
  __shared__ __align__(16) typename mixture_weights<Real, P, R>::shared_memory shared;
  mixture_weights<Real, P, R> tile = weights_of_rows<Real, P, R>(shared, x, p, coefficients, components, first, count);
  evaluate_rows<Real, R>(tile, components, count, label, log_sum, probability, stride);
}

/* As many rows for each thread as registers allow while enough warps still run. */
template <typename Real>
constexpr int rows_per_thread(int order) {
  if (sizeof(Real) == sizeof(float)) return order <= 16 ? 6 : 4;
  return order <= 16 ? 4 : order <= 24 ? 3 : 2;
}

template <typename Real, int P, int... MORE>
mixture_draw_kernel<Real> mixture_draw_of(int p) {
  constexpr int R = rows_per_thread<Real>(P), T = MIXTURE_THREADS;
  if (p <= P) return {P, R * T, T, 0, mixture_layout::lines, mixture_draw<Real, P, R>};
  if constexpr (sizeof...(MORE) > 0) return mixture_draw_of<Real, MORE...>(p);
  else return {(p + 3) / 4 * 4, 4 * T, T, 0, mixture_layout::lines, mixture_draw<Real, 0, 4>};
}
template <typename Real, int P, int... MORE>
mixture_evaluate_kernel<Real> mixture_evaluate_of(int p) {
  constexpr int R = rows_per_thread<Real>(P), T = MIXTURE_THREADS;
  if (p <= P) return {P, R * T, T, 0, mixture_layout::lines, mixture_evaluate<Real, P, R>};
  if constexpr (sizeof...(MORE) > 0) return mixture_evaluate_of<Real, MORE...>(p);
  else return {(p + 3) / 4 * 4, 4 * T, T, 0, mixture_layout::lines, mixture_evaluate<Real, 0, 4>};
}

/* In double precision tensor cores serve the panels of 30 markers. */
template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw(int p) {
  if constexpr (sizeof(Real) == sizeof(double))
    return mixture_draw_of<Real, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40>(p);
  else return mixture_draw_of<Real, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 30, 32, 40>(p);
}

/* Predictions are rare, so fewer orders are compiled to keep the plugin small. */
template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate(int p) {
  return mixture_evaluate_of<Real, 4, 8, 16, 24, 40>(p);
}

} // namespace wb
