/* Predictions on a graphics card: linear predictors of a block of rows for all draws, then the sums and quantiles of
 * each row. The twin of cpu/regression/predict.c: sums have the order of core/regression_predict.h, and quantiles are
 * exact, so both give the same bits.
 *
 * Draws lie draw by draw, so that the threads of a warp, with neighbouring rows, read neighbouring numbers. */
#include "cuda/table.cuh"

#include <vector>

#include "core/regression_predict.h"
#include "core/unroll.h"
#include "cuda/copies.cuh"

namespace wb {

namespace {

constexpr int predict_threads = 128, draws_at_once = 4;

/* What the kernels read: the rows of this call, and the block of rows that begins at `begin`. */
struct prediction_rows {
  const double *x;
  const int32_t *row_start, *column;
  const double *value, *offset;
  int64_t rows, begin, block;
  int columns, outcomes, draws, kind;
  const double *coefficients;
};
struct prediction_tails {
  int index[2];
  double part[2], start[2];
};

/* Linear predictors: linear[(outcome * draws + d) * block + row]. Launch: a thread for each row of the block, by groups
 * of draws_at_once draws, by outcomes. Global bytes a thread: 8 a column and draw; a multiply-add for each pair. */
__global__ void __launch_bounds__(predict_threads) regression_linear(prediction_rows data, double *linear) {
  const int64_t i = thread_number<predict_threads>(), row = data.begin + i;
  if (i >= data.block || row >= data.rows) return;
  const int k = int(blockIdx.z), first = int(blockIdx.y) * draws_at_once;
  const double *const table = data.coefficients + size_t(k) * data.columns * data.draws;
  double sum[draws_at_once] = {};
  if (data.x != nullptr) {
    for (int c = 0; c < data.columns; c++) {
      const double x = data.x[c * data.rows + row];
      WB_UNROLL
      for (int d = 0; d < draws_at_once; d++)
        if (first + d < data.draws) sum[d] = wb_fma(x, table[size_t(c) * data.draws + first + d], sum[d]);
    }
  } else {
    for (int32_t e = data.row_start[row]; e < data.row_start[row + 1]; e++) {
      WB_UNROLL
      for (int d = 0; d < draws_at_once; d++)
        if (first + d < data.draws)
          sum[d] = wb_fma(data.value[e], table[size_t(data.column[e]) * data.draws + first + d], sum[d]);
    }
  }
  WB_UNROLL
  for (int d = 0; d < draws_at_once; d++)
    if (first + d < data.draws)
      linear[(size_t(k) * data.draws + first + d) * data.block + i] =
          data.offset != nullptr ? sum[d] + data.offset[k * data.rows + row] : sum[d];
}

/* Adds an effect. Launch: a thread for each row of the block, by draws. */
__global__ void __launch_bounds__(predict_threads)
    regression_add_effect(prediction_rows data, int outcome, const int32_t *level, const double *multiple,
                          const double *draw, double *linear) {
  const int64_t i = thread_number<predict_threads>(), row = data.begin + i;
  if (i >= data.block || row >= data.rows || level[row] < 0) return;
  const double by = multiple != nullptr ? multiple[row] : 1.0;
  const double *const from = draw + size_t(level[row]) * data.draws;
  for (int d = int(blockIdx.y); d < data.draws; d += int(gridDim.y)) {
    double *const to = linear + (size_t(outcome) * data.draws + d) * data.block + i;
    *to = wb_fma(by, from[d], *to);
  }
}

/* Replaces the linear predictors by the probabilities of classes; values[0] has the reference class. All are NaN where
 * a linear predictor is not finite. Launch: a thread for each row of the block, by draws. */
__global__ void __launch_bounds__(predict_threads)
    regression_classes(prediction_rows data, double *reference, double *linear) {
  const int64_t i = thread_number<predict_threads>();
  if (i >= data.block || data.begin + i >= data.rows) return;
  const size_t step = size_t(data.draws) * data.block;
  for (int d = int(blockIdx.y); d < data.draws; d += int(gridDim.y)) {
    double *const of = linear + size_t(d) * data.block + i;
    double most = 0.0, broken = 0.0;
    for (int k = 0; k < data.outcomes; k++) {
      most = of[k * step] > most ? of[k * step] : most;
      broken += of[k * step] - of[k * step];
    }
    double total = wb_exp_weight(-most);
    const double first = total;
    for (int k = 0; k < data.outcomes; k++) {
      const double weight = wb_exp_weight(of[k * step] - most);
      of[k * step] = weight;
      total += weight;
    }
    for (int k = 0; k < data.outcomes; k++) of[k * step] = of[k * step] / total + broken;
    reference[size_t(d) * data.block + i] = first / total + broken;
  }
}

__device__ double respond(int kind, double linear) {
  if (kind == WB_REGRESSION_PROBABILITY) return wb_predict_probability(linear);
  return kind == WB_REGRESSION_MEAN ? wb_exp(linear) : linear;
}

__device__ void describe(const double *value, int64_t block, int draws, int kind, double *mean, double *deviation) {
  double sum[WB_PREDICT_LANES] = {}, squares[WB_PREDICT_LANES] = {};
  const double shift = respond(kind, value[0]);
  for (int d = 0; d < draws; d += WB_PREDICT_LANES) {
    WB_UNROLL
    for (int l = 0; l < WB_PREDICT_LANES; l++) {
      if (d + l >= draws) continue;
      const double change = respond(kind, value[size_t(d + l) * block]) - shift;
      sum[l] += change;
      squares[l] = wb_fma(change, change, squares[l]);
    }
  }
  const double total = wb_predict_fold(sum);
  *mean = wb_predict_mean(shift, total, draws);
  *deviation = wb_sqrt(wb_predict_variance(total, wb_predict_fold(squares), draws));
}

/* Whole numbers in the order of doubles, and back. */
__device__ int64_t key_of(double x) {
  const uint64_t bits = wb_double_bits(x + 0.0); /* -0 becomes 0 */
  return bits >> 63 != 0 ? -int64_t(bits & 0x7FFFFFFFFFFFFFFFu) : int64_t(bits);
}
__device__ double of_key(int64_t key) {
  return wb_bits_double(key < 0 ? uint64_t(-key) | 0x8000000000000000u : uint64_t(key));
}

/* The value of this index in ascending order, and the next. A bracket has at most `index` values up to its lower end
 * and more up to its upper end. It is narrowed where a straight line through the counts puts the value; every third
 * time, and where that fails, in the middle of the doubles between the ends. Each end moves to a value of the row. */
__device__ void find_two(const double *value, int64_t block, int draws, int index, double mean, double deviation,
                         double start, double *first, double *second) {
  const double infinity = wb_infinity();
  int64_t low = key_of(-infinity), high = key_of(infinity);
  int up_to_low = 0, up_to_high = draws;
  double at = mean + start * deviation, stride = 0.25 * deviation;
  for (int step = 1; uint64_t(high) - uint64_t(low) > 1; step++) {
    const double from = of_key(low), to = of_key(high);
    const bool within = at > from && at < to;
    const int64_t middle = low + int64_t((uint64_t(high) - uint64_t(low)) / 2);
    const double limit = within ? at : of_key(middle);
    int count = 0;
    double most = -infinity, least = infinity;
    WB_UNROLL_BY(8)
    for (int d = 0; d < draws; d++) {
      const double v = value[size_t(d) * block];
      const bool inside = v <= limit;
      count += inside ? 1 : 0;
      most = inside && v > most ? v : most;
      least = !inside && v < least ? v : least;
    }
    if (count == index + 1) {
      *first = most;
      *second = count < draws ? least : most;
      return;
    }
    if (count > index) {
      high = key_of(most);
      up_to_high = count;
    } else {
      low = key_of(least) - 1;
      up_to_low = count;
    }
    const double bottom = of_key(low), top = of_key(high);
    if (step % 3 == 0) at = infinity;
    else if (bottom == -infinity) at = top - stride;
    else if (top == infinity) at = bottom + stride;
    else at = bottom + (top - bottom) * ((index + 0.5 - up_to_low) / (up_to_high - up_to_low));
    stride *= 2.0;
  }
  *first = *second = of_key(high);
}

/* Summaries of a row. Launch: a thread a row of the block, by outcomes or classes. Bytes: 8 a draw, some 12 times. */
__global__ void __launch_bounds__(predict_threads)
    regression_summaries(prediction_rows data, prediction_tails tails, int shown, const double *reference,
                         const double *linear, double *out) {
  const int64_t i = thread_number<predict_threads>(), row = data.begin + i;
  if (i >= data.block || row >= data.rows) return;
  const int k = int(blockIdx.y);
  const bool classes = data.kind == WB_REGRESSION_CLASSES;
  const size_t outcome = size_t(classes && k > 0 ? k - 1 : k);
  const double *const from = classes && k == 0 ? reference : linear + outcome * data.draws * data.block;
  const int kind = classes ? WB_REGRESSION_LINEAR : data.kind;
  const double *const value = from + i;
  const size_t stride = size_t(data.rows) * shown;
  double *const to = out + size_t(k) * data.rows + row;
  double mean, deviation;
  describe(value, data.block, data.draws, WB_REGRESSION_LINEAR, &mean, &deviation);
  if (!(mean - mean == 0.0)) {
    for (int s = 0; s < WB_REGRESSION_SUMMARIES; s++) to[s * stride] = wb_nan();
    return;
  }
  for (int tail = 0; tail < 2; tail++) {
    double first, second;
    find_two(value, data.block, data.draws, tails.index[tail], mean, deviation, tails.start[tail], &first, &second);
    to[(2 + tail) * stride] = wb_predict_between(respond(kind, first), respond(kind, second), tails.part[tail]);
  }
  if (kind != WB_REGRESSION_LINEAR) describe(value, data.block, data.draws, kind, &mean, &deviation);
  to[0] = mean;
  to[stride] = deviation;
}

constexpr const char *PREDICTED = "the rows to predict";

/* Copies `count` rows, from `first` on, of columns of `rows` numbers. */
template <typename T>
int put_rows(const wb_run *run, device_array<T> &to, const T *from, int64_t rows, int64_t first, int64_t count,
             int columns, wb_message *message) {
  if (from == nullptr) return WB_OK;
  WB_TRY(to.allocate(size_t(count) * size_t(columns), PREDICTED, message));
  for (int c = 0; c < columns; c++)
    WB_TRY(send(run, to.data() + c * count, from + c * rows + first, count, "copying the rows to the device", message));
  return WB_OK;
}

/* Bytes of draws that are held at a time. */
constexpr size_t draws_held = size_t(512) << 20;

struct prediction_session {
  const wb_run *const caller;
  device_array<double> x, value, offset, coefficients, linear, reference, out;
  device_array<int32_t> row_start, column;
  prediction_rows data = {};

  explicit prediction_session(const wb_run *run) : caller(run) {}

  int open(const wb_regression_prediction &what, int64_t first, int64_t count, int shown, wb_message *message) {
    std::vector<int32_t> start;
    WB_TRY(put_rows(caller, x, what.x, what.rows, first, count, what.columns, message));
    WB_TRY(put_rows(caller, offset, what.offset, what.rows, first, count, what.outcomes, message));
    if (what.x == nullptr) {
      const int32_t begin = what.row_start[first];
      const size_t entries = size_t(what.row_start[first + count] - begin);
      for (int64_t i = 0; i <= count; i++) start.push_back(what.row_start[first + i] - begin);
      WB_TRY(bring(caller, row_start, start.data(), start.size(), PREDICTED, message));
      WB_TRY(bring(caller, column, what.column + begin, entries, PREDICTED, message));
      WB_TRY(bring(caller, value, what.value + begin, entries, PREDICTED, message));
    }
    const size_t draws = size_t(what.draws), outcomes = size_t(what.outcomes);
    WB_TRY(bring(caller, coefficients, what.coefficients, draws * size_t(what.columns) * outcomes, "the coefficients",
                 message));
    int64_t block = int64_t(draws_held / (draws * size_t(shown) * sizeof(double)));
    block = smaller(count, larger<int64_t>(1, block / predict_threads) * predict_threads);
    const size_t held = draws * size_t(block);
    const size_t summaries = size_t(count) * WB_REGRESSION_SUMMARIES;
    WB_TRY(linear.allocate(outcomes * held, "the draws of a block of rows", message));
    if (what.kind == WB_REGRESSION_CLASSES) WB_TRY(reference.allocate(held, "the draws of a block of rows", message));
    WB_TRY(out.allocate(summaries * size_t(shown), "the predictions", message));
    const int all_draws = int(what.draws);
    data = {x.data(),     row_start.data(), column.data(), value.data(), offset.data(),      count, 0, block,
            what.columns, what.outcomes,    all_draws,     what.kind,    coefficients.data()};
    return WB_OK;
  }

  int run(const wb_regression_prediction &what, int64_t first, int shown, wb_message *message) {
    const prediction_tails tails = {
        {int(what.index[0]), int(what.index[1])}, {what.part[0], what.part[1]}, {what.start[0], what.start[1]}};
    const size_t effects = size_t(what.effects);
    std::vector<device_array<int32_t>> level(effects);
    std::vector<device_array<double>> multiple(effects), draw(effects);
    for (size_t e = 0; e < level.size(); e++) {
      const wb_regression_effect &effect = what.effect[e];
      WB_TRY(put_rows(caller, level[e], effect.level, what.rows, first, data.rows, 1, message));
      WB_TRY(put_rows(caller, multiple[e], effect.multiple, what.rows, first, data.rows, 1, message));
      WB_TRY(bring(caller, draw[e], effect.draw, size_t(effect.levels) * size_t(what.draws), "the draws of effects",
                   message));
    }
    for (data.begin = 0; data.begin < data.rows; data.begin += data.block) {
      const launch_shape by_draws = cover(predict_threads, data.block, ceiling(data.draws, draws_at_once));
      WB_TRY(launch(cover(predict_threads, data.block, ceiling(data.draws, draws_at_once), data.outcomes),
                    regression_linear, "predicting rows", message, data, linear.data()));
      for (size_t e = 0; e < level.size(); e++)
        WB_TRY(launch(by_draws, regression_add_effect, "predicting rows", message, data, what.effect[e].outcome,
                      level[e].data(), multiple[e].data(), draw[e].data(), linear.data()));
      if (data.kind == WB_REGRESSION_CLASSES)
        WB_TRY(launch(by_draws, regression_classes, "predicting rows", message, data, reference.data(), linear.data()));
      WB_TRY(launch(cover(predict_threads, data.block, shown), regression_summaries, "predicting rows", message, data,
                    tails, shown, reference.data(), linear.data(), out.data()));
    }
    return WB_OK;
  }
};

} // namespace

int regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                       double *out, wb_message *message) {
  if (count == 0) return WB_OK;
  WB_ON_DEVICE(run->device, message);
  const int shown = what->outcomes + (what->kind == WB_REGRESSION_CLASSES ? 1 : 0);
  prediction_session session(run);
  WB_TRY(session.open(*what, first, count, shown, message));
  WB_TRY(session.run(*what, first, shown, message));
  return fetch(run, out, session.out.data(), count * shown * WB_REGRESSION_SUMMARIES,
               "copying the predictions from the device", message);
}

} // namespace wb
