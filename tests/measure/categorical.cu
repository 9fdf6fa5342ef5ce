/* Times categorical draws on a graphics card: the package's pass with any number of lanes for a row, and the three ways
 * of drawing by trees that Steele & Tristan (2017) compare. */
#include "cuda/categorical/items.cu"

#include "butterfly.cuh"
#include "measure.h"
#include "shortest.cuh"

namespace wb {

namespace {

/* Rows that lie one after the other in memory, for a warp whose lane 0 has row `first`. */
template <typename Real>
struct warp_rows {
  const Real *weights;
  int64_t first, rows, stride;
  int columns;
  __device__ __forceinline__ Real operator()(int s, int column) const {
    const int64_t row = first + s < rows ? first + s : rows - 1;
    return column < columns ? weights[row * stride + column] : Real(0);
  }
};

template <typename Real>
struct lane_row {
  const Real *weights;
  __device__ __forceinline__ Real operator()(int column) const { return weights[column]; }
};

/* Launch: 128 threads a block, a row a lane. */
template <typename Real, typename Way>
__global__ void __launch_bounds__(DRAW_THREADS)
    categorical_draw_by_trees(const Real *weights, int64_t rows, int64_t stride, int columns, uint64_t key,
                              uint64_t first_row, int32_t *index) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t wanted = static_cast<int64_t>(blockIdx.x) * DRAW_THREADS + threadIdx.x;
  const int64_t row = wanted < rows ? wanted : rows - 1;
  const uint64_t element = first_row + static_cast<uint64_t>(row);
  const uint32_t c2 = wb_philox_c2(WB_PURPOSE_CATEGORICAL_TREES, element);
  const wb_bits bits = wb_philox(key, 0, static_cast<uint32_t>(element), c2, 0);
  const warp_rows<Real> of_warp = {weights, wanted - lane, rows, stride, columns};
  const lane_row<Real> own = {weights + row * stride};
  const int item = trees::draw_by_trees<Way>(of_warp, own, columns, precise<Real>::uniform(bits, 0), lane);
  if (wanted < rows) index[row] = item;
}

/* One call: copies the weights to the device, runs the kernel and copies the items back. */
template <typename Real>
struct timed_draw {
  const wb_run *host;
  const wb_categorical_rows *rows;
  const wb_categorical_draws *draws;
  int32_t times;
  double *seconds;
  wb_message *message;
  device_array<Real> weights;
  device_array<int32_t> index;

  template <typename Start>
  int run(int64_t lines, int64_t length, int64_t line_stride, int64_t stride, Start start) {
    int status = weights.allocate(static_cast<size_t>(rows->rows * rows->columns), "the weights", message);
    if (status == WB_OK) status = index.allocate(static_cast<size_t>(rows->rows), "the draws", message);
    if (status == WB_OK)
      status = send_lines(host, weights.data(), rows->weights, lines, length, line_stride, stride, message);
    if (status == WB_OK) status = measure_shortest(times, seconds, message, start);
    if (status != WB_OK) return status;
    return index.download(draws->index, static_cast<size_t>(rows->rows), "copying the draws from the device", message);
  }

  template <int L>
  int pass() {
    return launch(shape_for((rows->rows + 32 / L - 1) / (32 / L) * 32), categorical_draw<Real, Real, false, L>,
                  "drawing from rows", message, weights.data(), rows->rows, rows->columns, draws->key,
                  static_cast<uint64_t>(draws->first_row), index.data());
  }
  int by_lanes(int lanes) {
    return run(rows->columns, rows->rows, rows->column_stride, rows->row_stride, [&] {
      return lanes == 1 ? pass<1>() : lanes == 4 ? pass<4>() : pass<32>();
    });
  }

  template <typename Way>
  int grow() {
    return launch(shape_for(rows->rows), categorical_draw_by_trees<Real, Way>, "drawing by trees", message,
                  weights.data(), rows->rows, rows->columns, static_cast<int>(rows->columns), draws->key,
                  static_cast<uint64_t>(draws->first_row), index.data());
  }
  int by_trees(int32_t way) {
    return run(rows->rows, rows->columns, rows->row_stride, rows->column_stride, [&] {
      return way == MEASURE_BUTTERFLY       ? grow<trees::by_butterfly>()
             : way == MEASURE_TRANSPOSITION ? grow<trees::by_transposition>()
                                            : grow<trees::by_itself>();
    });
  }
};

} // namespace

} // namespace wb

extern "C" {

MEASURE_EXPORT int wb_measure_lanes(const wb_categorical_rows *rows, const wb_categorical_draws *draws, int32_t lanes,
                                    int32_t times, double *seconds, const wb_run *run, wb_message *message) {
  wb::device_scope scope;
  int processors = 0;
  WB_TRY(scope.enter(run->device, message));
  WB_TRY(wb::multiprocessors(run->device, &processors, message));
  if (lanes == 0) lanes = wb::lanes_for(rows->rows, rows->columns, processors);
  if (draws->precision == WB_SINGLE)
    return wb::timed_draw<float>{run, rows, draws, times, seconds, message, {}, {}}.by_lanes(lanes);
  return wb::timed_draw<double>{run, rows, draws, times, seconds, message, {}, {}}.by_lanes(lanes);
}

MEASURE_EXPORT int wb_measure_trees(const wb_categorical_rows *rows, const wb_categorical_draws *draws, int32_t way,
                                    int32_t times, double *seconds, const wb_run *run, wb_message *message) {
  wb::device_scope scope;
  WB_TRY(scope.enter(run->device, message));
  if (draws->precision == WB_SINGLE)
    return wb::timed_draw<float>{run, rows, draws, times, seconds, message, {}, {}}.by_trees(way);
  return wb::timed_draw<double>{run, rows, draws, times, seconds, message, {}, {}}.by_trees(way);
}
}
