/* Log weights of rows under all components, log(pi_j N(x | mu_j, Sigma_j)), a block of
 * components at a time: what the kernels of cuda/mixture/draw_tile.cuh share. The processor's
 * loop is add_squares() of cpu/mixture/draw_tile.h.
 *
 * A thread has R rows, their values in registers. Components come by in blocks
 * of WB_BLOCK_ITEMS. Their coefficients are the same for all threads: they are read
 * from shared memory, 16 bytes at a time, and each serves R multiply-adds. With
 * R = 1 the reads, not the multiply-adds, would set the pace. While these components
 * are used, the next travel from device memory to the other half of the buffer.
 */
#ifndef WB_CUDA_MIXTURE_WEIGHTS_CUH
#define WB_CUDA_MIXTURE_WEIGHTS_CUH

#include <utility>

#include "core/unroll.h"
#include "cuda/mixture/precision.cuh"

namespace wb {

/* A leaf of rows is stored column by column, leaf after leaf: where a row's first
 * value is; the next are WB_LEAF_ROWS apart. */
template <typename Real>
__device__ __forceinline__ const Real *first_value_of_row(const Real *x, int p, int64_t row) {
  return x + row / WB_LEAF_ROWS * (static_cast<int64_t>(p) * WB_LEAF_ROWS) + row % WB_LEAF_ROWS;
}

/* The log weights of R rows of a thread, a block of components at a time. */
template <typename Real, int P, int R>
class mixture_weights {
public:
  typedef precise<Real> as;
  typedef typename as::piece piece;
  static constexpr int SIZE = static_cast<int>(mixture_coefficients<Real>(P));
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
      log_weights(now, log_weight);
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
  __device__ __forceinline__ void log_weights(const piece *coefficients, Real (&log_weight)[R]) {
    Real squares[R];
    WB_UNROLL
    for (int v = 0; v < R; v++) squares[v] = 0;
    piece read;
    add_lines(coefficients, read, squares, std::make_integer_sequence<int, P>());
    constexpr int last = P * (P + 3) / 2;
    if (last % as::in_piece == 0) read = coefficients[last / as::in_piece];
    WB_UNROLL
    for (int v = 0; v < R; v++)
      log_weight[v] = as::fma(Real(-0.5), squares[v], as::of(read, last % as::in_piece));
  }

  /* A template and no loop over lines, which the compiler unrolls only in part from 28 lines on: then the values of x_ are
   * not where the code knows of, and the kernel takes three to six times as long. */
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
    const size_t size = mixture_coefficients<Real>(static_cast<size_t>(order));
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      const Real *const coefficients = coefficients_ + static_cast<size_t>(base + j) * size;
      Real squares[R];
      WB_UNROLL
      for (int v = 0; v < R; v++) squares[v] = 0;
      WB_ROLLED
      for (int row = 0; row < order; row += 4) add_squares(row, coefficients, squares);
      const Real constant = coefficients[coefficient_line(static_cast<size_t>(order))];
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
      line[i] = coefficients + coefficient_line(static_cast<size_t>(row + i));
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

} // namespace wb

#endif
