/* The draw of cuda/mixture/draw_tensor.cuh, and the evaluation of components, for more columns than a lane has
 * registers for. Rows and pieces of coefficients pass through shared memory. A warp works on four lines of the triangle
 * at a time. Products and squared distances are in double precision also where rows are in single. */
#pragma once

#include <cuda_pipeline.h>

#include "cuda/mixture/draw_tile.cuh"
#include "cuda/mixture/tensor_cores.cuh"

namespace wb {

constexpr int WIDE_THREADS = 128;
/* Lines of a panel, columns of a product, products of a line in a piece, and pieces in memory: one used, two arrive. */
constexpr int WIDE_LINES = 4, WIDE_COLUMNS = 4, WIDE_PIECE = 4, WIDE_PIECES = 3;

/* From one column of the rows to the next: lanes that read at the same time meet no bank twice. */
template <typename Real>
constexpr int wide_stride = WIDE_THREADS + 32 / int(sizeof(Real));

/* Shared memory of a block, before the values of its rows. */
template <typename Real>
struct __align__(16) wide_memory {
  struct piece {
    double offset[WIDE_LINES][FRAGMENT_COMPONENTS];
    double factor[WIDE_LINES][WIDE_PIECE][FRAGMENT_LINE];
  } pieces[WIDE_PIECES];
  Real weight[WIDE_THREADS / 32][WB_BLOCK_ITEMS * 40];
  Real uniform[precise<Real>::uniforms * WIDE_THREADS];
  Real x[4]; /* wide_stride for each column, rounded up to whole products */
};

template <typename Real>
constexpr size_t wide_bytes(int p) {
  const size_t columns = size_t((p + WIDE_COLUMNS - 1) / WIDE_COLUMNS * WIDE_COLUMNS);
  return sizeof(wide_memory<Real>) + columns * size_t(wide_stride<Real>) * sizeof(Real);
}

/* The log weights of 32 rows of a warp, sixteen components at a time. */
template <typename Real>
class mixture_wide_weights {
public:
  typedef precise<Real> as;
  static constexpr int THREADS = WIDE_THREADS, AT_ONCE = 4;
  static constexpr int TILES = 4; /* of 8 rows */
  static constexpr int STRIDE = 40;

  __device__ __forceinline__ mixture_wide_weights(wide_memory<Real> &shared, const Real *x, int p,
                                                  const double *coefficients, int components, int64_t rows,
                                                  int64_t first = 0)
      : shared_(shared),
        coefficients_(coefficients),
        p_(p),
        panels_((p + WIDE_LINES - 1) / WIDE_LINES),
        blocks_(fragment_blocks(components)),
        warp_(int(threadIdx.x) / 32),
        lane_(int(threadIdx.x) % 32) {
    const int64_t row = row_of_thread<THREADS>(1, 0);
    const Real *const values = first_value_of_row(x, p, first + (row < rows ? row : rows - 1));
    for (int c = 0; c < WIDE_COLUMNS * panels_; c++)
      shared.x[c * wide_stride<Real> + int(threadIdx.x)] = c < p ? values[c * WB_LEAF_ROWS] : Real(0);
    fetch_next();
    fetch_next();
  }

  template <typename Use>
  __device__ __forceinline__ void weigh(int base, int count, Use use) {
    const double *const last = block_of(base / FRAGMENT_COMPONENTS) + fragment_line(p_);
    const double2 constant = reinterpret_cast<const double2 *>(last)[lane_ / 4];
    double squares[TILES][4] = {};
    WB_ROLLED
    for (int s = 0; s < panels_; s++) {
      double z[WIDE_LINES][TILES][4];
      WB_ROLLED
      for (int first = 0; first <= s; first += WIDE_PIECE) {
        __pipeline_wait_prior(1);
        /* From here on the piece is complete, nobody reads the one before, and the weights before have been used. */
        __syncthreads();
        const typename wide_memory<Real>::piece &now = shared_.pieces[used_];
        used_ = used_ + 1 == WIDE_PIECES ? 0 : used_ + 1;
        fetch_next();
        if (first == 0) begin(now, z);
        const int end = s - first < WIDE_PIECE - 1 ? s - first + 1 : WIDE_PIECE;
        WB_ROLLED
        for (int c = 0; c < end; c++) add_products(now, c, first + c, z);
      }
      const int lines = p_ - WIDE_LINES * s < WIDE_LINES ? p_ - WIDE_LINES * s : WIDE_LINES;
      WB_UNROLL
      for (int r = 0; r < WIDE_LINES; r++) {
        if (r >= lines) continue;
        WB_UNROLL
        for (int t = 0; t < TILES; t++) {
          WB_UNROLL
          for (int i = 0; i < 4; i++) squares[t][i] = wb_fma(z[r][t][i], z[r][t][i], squares[t][i]);
        }
      }
    }
    Real *const upper = shared_.weight[warp_] + lane_ / 4 * STRIDE + lane_ % 4 * 2, *const lower = upper + 8 * STRIDE;
    WB_UNROLL
    for (int t = 0; t < TILES; t++) {
      WB_UNROLL
      for (int i = 0; i < 2; i++) {
        upper[8 * t + i] = Real(wb_fma(-0.5, squares[t][i], constant.x));
        lower[8 * t + i] = Real(wb_fma(-0.5, squares[t][2 + i], constant.y));
      }
    }
    __syncwarp();
    WB_UNROLL
    for (int j = 0; j < WB_BLOCK_ITEMS; j++)
      if (j < count) use(j, 0, weight(j, 0));
  }

  __device__ __forceinline__ Real &weight(int j, int) { return shared_.weight[warp_][j * STRIDE + lane_]; }

private:
  __device__ __forceinline__ const double *block_of(int block) const {
    return coefficients_ + size_t(block) * size_t(fragment_block(p_));
  }

  __device__ __forceinline__ void begin(const typename wide_memory<Real>::piece &now,
                                        double (&z)[WIDE_LINES][TILES][4]) {
    WB_UNROLL
    for (int r = 0; r < WIDE_LINES; r++) {
      const double2 offset = reinterpret_cast<const double2 *>(now.offset[r])[lane_ / 4];
      WB_UNROLL
      for (int t = 0; t < TILES; t++) {
        z[r][t][0] = z[r][t][1] = offset.x;
        z[r][t][2] = z[r][t][3] = offset.y;
      }
    }
  }

  __device__ __forceinline__ void add_products(const typename wide_memory<Real>::piece &now, int c, int product,
                                               double (&z)[WIDE_LINES][TILES][4]) {
    const Real *const column =
        shared_.x + (WIDE_COLUMNS * product + lane_ % 4) * wide_stride<Real> + 32 * warp_ + lane_ / 4;
    double value[TILES];
    WB_UNROLL
    for (int t = 0; t < TILES; t++) value[t] = double(column[8 * t]);
    WB_UNROLL
    for (int r = 0; r < WIDE_LINES; r++) {
      const double2 four = reinterpret_cast<const double2 *>(now.factor[r][c])[lane_];
      WB_UNROLL
      for (int t = 0; t < TILES; t++) multiply_add_16x8x4(z[r][t], four.x, four.y, value[t]);
    }
  }

  __device__ __forceinline__ void fetch_next() {
    if (next_block_ < blocks_) {
      typename wide_memory<Real>::piece &to = shared_.pieces[fetched_];
      const double *const block = block_of(next_block_);
      const int left = next_panel_ + 1 - next_product_, products = left < WIDE_PIECE ? left : WIDE_PIECE;
      WB_UNROLL
      for (int r = 0; r < WIDE_LINES; r++) {
        const int number = WIDE_LINES * next_panel_ + r;
        if (number >= p_) continue;
        const double *const line = block + fragment_line(number);
        const double *const from = line + FRAGMENT_COMPONENTS + FRAGMENT_LINE * next_product_;
        const int i = 2 * int(threadIdx.x);
        static_assert(WIDE_PIECE * FRAGMENT_LINE <= 2 * THREADS, "a thread copies two numbers of a line");
        if (i < products * FRAGMENT_LINE) copy_two(&to.factor[r][0][0] + i, from + i);
        if (next_product_ == 0 && i < FRAGMENT_COMPONENTS) copy_two(to.offset[r] + i, line + i);
      }
      fetched_ = fetched_ + 1 == WIDE_PIECES ? 0 : fetched_ + 1;
      next_product_ += WIDE_PIECE;
      if (next_product_ > next_panel_) {
        next_product_ = 0;
        next_panel_++;
      }
      if (next_panel_ == panels_) {
        next_panel_ = 0;
        next_block_++;
      }
    }
    __pipeline_commit();
  }

  static __device__ __forceinline__ void copy_two(double *to, const double *from) {
    __pipeline_memcpy_async(to, from, 2 * sizeof(double));
  }

  wide_memory<Real> &shared_;
  const double *coefficients_;
  int p_, panels_, blocks_, warp_, lane_;
  int used_ = 0, fetched_ = 0, next_block_ = 0, next_panel_ = 0, next_product_ = 0;
};

/* As mixture_draw(), for p columns that shared memory has room for: wide_bytes().
 *
 * Launch: 128 threads a block, a row a thread. For each (row, component) as many multiply-adds of tensor cores as in
 * mixture_draw_tensor(). Shared memory: for 16 products of a warp, 4 reads of 16 bytes and 4 values a lane. */
template <typename Real>
__global__ void __launch_bounds__(WIDE_THREADS, 2)
    mixture_draw_wide(const Real *x, int p, const Real *coefficients, int components, const Real *share,
                      const int32_t *sample, uint64_t key, uint32_t iteration, uint64_t first_row, int64_t rows,
                      int32_t *label, Real *log_sum) {
#ifdef WB_TENSOR_CORES
  WB_DYNAMIC_SHARED(wide_memory<Real>, shared);
  mixture_wide_weights<Real> tile(*shared, x, p, reinterpret_cast<const double *>(coefficients), components, rows);
  draw_rows<Real, 1>(tile, shared->uniform, components, share, sample, key, iteration, first_row, rows, label, log_sum);
#endif
}

/* As mixture_evaluate(), likewise. */
template <typename Real>
__global__ void __launch_bounds__(WIDE_THREADS, 2)
    mixture_evaluate_wide(const Real *x, int p, const Real *coefficients, int components, int64_t first, int64_t count,
                          int32_t *label, double *log_sum, double *probability, int64_t stride) {
#ifdef WB_TENSOR_CORES
  WB_DYNAMIC_SHARED(wide_memory<Real>, shared);
  mixture_wide_weights<Real> tile(*shared, x, p, reinterpret_cast<const double *>(coefficients), components, count,
                                  first);
  evaluate_rows<Real, 1>(tile, components, count, label, log_sum, probability, stride);
#endif
}

} // namespace wb
