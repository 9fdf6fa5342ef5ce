/* The draw of cuda/mixture/draw_tile.cuh in double precision, with squared distances by tensor cores
 * (cuda/mixture/tensor_cores.cuh), with the same bits.
 *
 * A line of the triangle is a matrix product of 16 components and 8 rows. A warp has 32 rows. Lane 4g + q holds columns
 * q, q + 4, ... of rows g, g + 8, g + 16 and g + 24 in its registers, as the product needs them. It gets squared
 * distances of components g and g + 8 at two rows of each eight, for the lanes of these rows. */
#pragma once

#include <cuda_pipeline.h>

#include "cuda/mixture/draw_tile.cuh"
#include "cuda/mixture/tensor_cores.cuh"

namespace wb {

constexpr int TENSOR_THREADS = 128;

/* How many blocks of a multiprocessor the registers must be enough for. */
constexpr int tensor_blocks(int panels) { return panels <= 4 ? 3 : 2; }

/* The log weights of 32 rows of a warp, sixteen components at a time; PANELS is the number of columns over 4, rounded
 * up. Coefficients come panel by panel through shared memory: while one is used, the next arrives. */
template <int PANELS>
class mixture_tensor_weights {
public:
  typedef precise<double> as;
  static constexpr int THREADS = TENSOR_THREADS, AT_ONCE = 4;
  static constexpr int TILES = 4; /* of 8 rows */
  /* From one component's weights to the next one's: lanes that write at the same time meet no bank twice. */
  static constexpr int STRIDE = 40;
  static constexpr int LARGEST = fragment_block(4 * PANELS) - fragment_line(4 * PANELS - 4);
  struct __align__(16) shared_memory {
    double panel[2][LARGEST];
    double weight[THREADS / 32][WB_BLOCK_ITEMS * STRIDE];
    double uniform[as::uniforms * THREADS];
  };

  __device__ __forceinline__ mixture_tensor_weights(shared_memory &shared, const double *x, int p,
                                                    const double *coefficients, int components, int64_t rows)
      : shared_(shared),
        coefficients_(coefficients),
        p_(p),
        blocks_(fragment_blocks(components)),
        warp_(int(threadIdx.x) / 32),
        lane_(int(threadIdx.x) % 32) {
    WB_UNROLL
    for (int t = 0; t < TILES; t++) {
      const int64_t row = row_of_thread<THREADS>(1, 0) - lane_ + 8 * t + lane_ / 4;
      const double *const values = first_value_of_row(x, p, row < rows ? row : rows - 1);
      WB_UNROLL
      for (int s = 0; s < PANELS; s++) {
        const int c = 4 * s + lane_ % 4;
        x_[s][t] = c < p ? values[c * WB_LEAF_ROWS] : 0.0;
      }
    }
    fetch(0, 0);
  }

  template <typename Use>
  __device__ __forceinline__ void weigh(int base, int count, Use use) {
    const int block = base / FRAGMENT_COMPONENTS;
    double squares[TILES][4] = {};
    const double *line = nullptr;
    WB_UNROLL
    for (int s = 0; s < PANELS; s++) {
      __pipeline_wait_prior(0);
      /* From here on the panel is complete, nobody reads the one before, and the weights before have been used. */
      __syncthreads();
      line = shared_.panel[(block * PANELS + s) & 1];
      if (s < PANELS - 1) fetch(block, s + 1);
      else if (block + 1 < blocks_) fetch(block + 1, 0);
      const int lines = p_ - 4 * s < 4 ? p_ - 4 * s : 4;
      WB_ROLLED
      for (int r = 0; r < lines; r++) {
        add_squares(s, line, squares);
        line += FRAGMENT_COMPONENTS + FRAGMENT_LINE * (s + 1);
      }
    }
    const double2 constant = reinterpret_cast<const double2 *>(line)[lane_ / 4];
    double *const upper = shared_.weight[warp_] + lane_ / 4 * STRIDE + lane_ % 4 * 2, *const lower = upper + 8 * STRIDE;
    WB_UNROLL
    for (int t = 0; t < TILES; t++) {
      *reinterpret_cast<double2 *>(upper + 8 * t) =
          make_double2(as::fma(-0.5, squares[t][0], constant.x), as::fma(-0.5, squares[t][1], constant.x));
      *reinterpret_cast<double2 *>(lower + 8 * t) =
          make_double2(as::fma(-0.5, squares[t][2], constant.y), as::fma(-0.5, squares[t][3], constant.y));
    }
    __syncwarp();
    WB_UNROLL
    for (int j = 0; j < WB_BLOCK_ITEMS; j++)
      if (j < count) use(j, 0, weight(j, 0));
  }

  /* Of component base + j at the lane's row, for all sixteen; those past the last component are finite. */
  __device__ __forceinline__ double &weight(int j, int) { return shared_.weight[warp_][j * STRIDE + lane_]; }

private:
  __device__ __forceinline__ void add_squares(int s, const double *line, double (&squares)[TILES][4]) {
    const double2 offset = reinterpret_cast<const double2 *>(line)[lane_ / 4];
    double z[TILES][4];
    WB_UNROLL
    for (int t = 0; t < TILES; t++) {
      z[t][0] = z[t][1] = offset.x;
      z[t][2] = z[t][3] = offset.y;
    }
    const double2 *const factor = reinterpret_cast<const double2 *>(line + FRAGMENT_COMPONENTS) + lane_;
    WB_UNROLL
    for (int c = 0; c <= s; c++) {
      const double2 four = factor[c * (FRAGMENT_LINE / 2)];
      WB_UNROLL
      for (int t = 0; t < TILES; t++) multiply_add_16x8x4(z[t], four.x, four.y, x_[c][t]);
    }
    WB_UNROLL
    for (int t = 0; t < TILES; t++) {
      WB_UNROLL
      for (int i = 0; i < 4; i++) squares[t][i] = as::fma(z[t][i], z[t][i], squares[t][i]);
    }
  }

  __device__ __forceinline__ void fetch(int block, int s) {
    const int first = fragment_line(4 * s), end = s == PANELS - 1 ? fragment_block(p_) : fragment_line(4 * s + 4);
    const double *const from = coefficients_ + size_t(block) * size_t(fragment_block(p_)) + first;
    double *const to = shared_.panel[(block * PANELS + s) & 1];
    for (int i = 2 * int(threadIdx.x); i < end - first; i += 2 * THREADS)
      __pipeline_memcpy_async(to + i, from + i, 2 * sizeof(double));
    __pipeline_commit();
  }

  shared_memory &shared_;
  const double *coefficients_;
  int p_, blocks_, warp_, lane_;
  double x_[PANELS][TILES];
};

/* As mixture_draw(), for p columns that need PANELS.
 *
 * Launch: 128 threads a block, a row a thread. For each (row, component) p ordinary multiply-adds and those of the
 * products, at twice the rate: 4, 8, 12, ... for each four lines of the triangle. Shared memory: 16 bytes a lane for 4
 * products, and each weight is written and read three times. */
template <int PANELS>
__global__ void __launch_bounds__(TENSOR_THREADS, tensor_blocks(PANELS))
    mixture_draw_tensor(const double *x, int p, const double *coefficients, int components, const double *share,
                        const int32_t *sample, uint64_t key, uint32_t iteration, uint64_t first_row, int64_t rows,
                        int32_t *label, double *log_sum) {
#ifdef WB_TENSOR_CORES
  typedef mixture_tensor_weights<PANELS> weights;
  WB_DYNAMIC_SHARED(typename weights::shared_memory, shared);
  weights tile(*shared, x, p, coefficients, components, rows);
  draw_rows<double, 1>(tile, shared->uniform, components, share, sample, key, iteration, first_row, rows, label,
                       log_sum);
#endif
}

} // namespace wb
