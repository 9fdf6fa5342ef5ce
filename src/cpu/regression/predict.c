/* Predictions on the processor: linear predictors of a few rows for all draws, which stay in the cache, then the sums
 * and quantiles of each row. Quantiles are exact: some thirty draws around a guess are ranked; if the quantile is not
 * among them, all draws are searched. The GPU's twin is cuda/regression/predict.cu.
 *
 * For 10 columns and 500 draws, a row takes 5,000 multiply-adds, 500 logistic functions (30 instructions and a division
 * for 8), four reads of its draws from the cache, and 8 bytes of the design a column. */
#include "core/rounding.h"

#include "cpu/table.h"

#include <string.h>

#include "core/regression_predict.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Rows computed together; the padding of draws, whole vectors; rows that a thread takes; most values ranked. */
enum { PREDICT_ROWS = 4, PREDICT_PAD = 16, PREDICT_CHUNK = 256, PREDICT_RANKED = 96 };

#define WB_LOOPS "cpu/regression/predict_loops.h"
#include "numeric/isa.h"

/* What all threads read. `table` has the coefficients, padded: columns x outcomes x padded. */
typedef struct prediction_plan {
  const wb_regression_prediction *what;
  const double *table;
  int draws, padded, shown;
  wb_isa isa;
} prediction_plan;

typedef struct prediction_room {
  double *x;                            /* columns x PREDICT_ROWS */
  double *linear;                       /* outcomes x PREDICT_ROWS x padded */
  double *row;                          /* outcomes x padded: the predictors of one row */
  double *value;                        /* shown x padded */
  double *below, *above, *most, *total; /* padded */
} prediction_room;

static size_t room_doubles(const prediction_plan *plan) {
  const size_t padded = (size_t)plan->padded, outcomes = (size_t)plan->what->outcomes;
  return (size_t)plan->what->columns * PREDICT_ROWS +
         padded * (outcomes * (PREDICT_ROWS + 1) + (size_t)plan->shown + 4);
}

static prediction_room room_in(double *memory, const prediction_plan *plan) {
  const size_t padded = (size_t)plan->padded, outcomes = (size_t)plan->what->outcomes;
  prediction_room room;
  room.linear = memory;
  room.row = room.linear + outcomes * PREDICT_ROWS * padded;
  room.value = room.row + outcomes * padded;
  room.below = room.value + (size_t)plan->shown * padded;
  room.above = room.below + padded;
  room.most = room.above + padded;
  room.total = room.most + padded;
  room.x = room.total + padded;
  return room;
}

/* The value of this index in ascending order (Hoare's FIND, 1961), and the next one. Reorders the values. */
static void find_two(double *value, int count, int index, double *first, double *second) {
  int low = 0, high = count - 1;
  while (low < high) {
    const double pivot = value[low + (high - low) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (value[i] < pivot) i++;
      while (pivot < value[j]) j--;
      if (i <= j) {
        const double held = value[i];
        value[i++] = value[j];
        value[j--] = held;
      }
    }
    if (index <= j) high = j;
    else if (index >= i) low = i;
    else break;
  }
  *first = *second = value[index];
  for (int i = index + 1; i < count; i++)
    if (i == index + 1 || value[i] < *second) *second = value[i];
}

/* The same. Few values are ranked: the value of this index is the largest with at most `index` values below it. The
 * comparisons cannot be foreseen, so the loop chooses without branches. */
static void choose_two(wb_isa isa, double *value, int count, int index, double *first, double *second) {
  if (count > PREDICT_RANKED) {
    find_two(value, count, index, first, second);
    return;
  }
  int64_t less[PREDICT_RANKED];
  WB_LOOP(regression_ranks, isa)(count, value, less);
  double best = -wb_infinity(), next = best;
  for (int i = 0; i < count; i++) {
    const double one = wb_select(less[i] <= index, value[i], -wb_infinity()),
                 other = wb_select(less[i] <= index + 1, value[i], -wb_infinity());
    best = one > best ? one : best;
    next = other > next ? other : next;
  }
  *first = best;
  *second = next;
}

/* Neighbours in order at both indices. The values have this mean and standard deviation. */
static void find_neighbours(const prediction_plan *plan, const double *value, double mean, double deviation,
                            const prediction_room *room, double neighbours[2][2]) {
  const wb_regression_prediction *what = plan->what;
  const int last = plan->draws - 1;
  double limits[2][2];
  int counts[2][2];
  for (int i = 0; i < 4; i++) limits[i / 2][i % 2] = mean + what->score[i / 2][i % 2] * deviation;
  WB_LOOP(regression_collect, plan->isa)(plan->draws, value, (const double(*)[2])limits, room->below, room->above,
                                         counts);
  for (int tail = 0; tail < 2; tail++) {
    const int index = (int)what->index[tail], next = index < last ? index + 1 : index;
    double *const found = tail == 0 ? room->below : room->above;
    const int under = counts[tail][0], count = counts[tail][1];
    if (index >= under && next < under + count) {
      choose_two(plan->isa, found, count, index - under, &neighbours[tail][0], &neighbours[tail][1]);
    } else {
      memcpy(found, value, (size_t)plan->draws * sizeof(double));
      find_two(found, plan->draws, index, &neighbours[tail][0], &neighbours[tail][1]);
    }
  }
}

static double respond_one(int kind, double linear) {
  if (kind == WB_REGRESSION_PROBABILITY) return wb_predict_probability(linear);
  return kind == WB_REGRESSION_MEAN ? wb_exp(linear) : linear;
}

static void describe(const prediction_plan *plan, const double *value, double *mean, double *deviation) {
  double sum[WB_PREDICT_LANES] __attribute__((aligned(64))), squares[WB_PREDICT_LANES] __attribute__((aligned(64)));
  WB_LOOP(regression_sums, plan->isa)(plan->padded, value, sum, squares);
  const double total = wb_predict_fold(sum);
  *mean = wb_predict_mean(value[0], total, plan->draws);
  *deviation = wb_sqrt(wb_predict_variance(total, wb_predict_fold(squares), plan->draws));
}

/* Summaries of a row and outcome, `stride` apart. A monotone response has the linear predictor's quantiles. */
static void summarise(const prediction_plan *plan, const double *linear, const double *value, int kind,
                      const prediction_room *room, size_t stride, double *out) {
  double mean, deviation, neighbours[2][2];
  describe(plan, linear, &mean, &deviation);
  if (!(mean - mean == 0.0)) {
    for (int i = 0; i < WB_REGRESSION_SUMMARIES; i++) out[(size_t)i * stride] = wb_nan();
    return;
  }
  find_neighbours(plan, linear, mean, deviation, room, neighbours);
  if (value != linear) describe(plan, value, &mean, &deviation);
  out[0] = mean;
  out[stride] = deviation;
  for (int tail = 0; tail < 2; tail++)
    out[(size_t)(2 + tail) * stride] = wb_predict_between(
        respond_one(kind, neighbours[tail][0]), respond_one(kind, neighbours[tail][1]), plan->what->part[tail]);
}

/* Linear predictors of rows row..row + count - 1 for one outcome, without offsets and effects. */
static void multiply(const prediction_plan *plan, int64_t row, int count, int outcome, prediction_room *room) {
  const wb_regression_prediction *what = plan->what;
  const size_t padded = (size_t)plan->padded;
  const double *const table = plan->table + (size_t)outcome * (size_t)what->columns * padded;
  double *const linear = room->linear + (size_t)outcome * PREDICT_ROWS * padded;
  if (what->x) {
    WB_LOOP(regression_linear, plan->isa)(what->columns, plan->padded, room->x, table, linear);
    return;
  }
  memset(linear, 0, PREDICT_ROWS * padded * sizeof(double));
  for (int r = 0; r < count; r++)
    for (int32_t e = what->row_start[row + r]; e < what->row_start[row + r + 1]; e++)
      WB_LOOP(regression_add_multiple, plan->isa)(
          plan->padded, what->value[e], table + (size_t)what->column[e] * padded, linear + (size_t)r * padded);
}

/* Offset and effects of one row, for all outcomes. The padding repeats the first draw. */
static void complete_row(const prediction_plan *plan, int64_t row, int r, const prediction_room *room) {
  const wb_regression_prediction *what = plan->what;
  const size_t padded = (size_t)plan->padded;
  for (int k = 0; k < what->outcomes; k++) {
    double *const linear = room->row + (size_t)k * padded;
    memcpy(linear, room->linear + ((size_t)k * PREDICT_ROWS + (size_t)r) * padded, padded * sizeof(double));
    const size_t at = (size_t)k * (size_t)what->rows + (size_t)row;
    if (what->offset) WB_LOOP(regression_shift, plan->isa)(plan->draws, what->offset[at], linear);
  }
  for (int e = 0; e < what->effects; e++) {
    const wb_regression_effect *effect = &what->effect[e];
    if (effect->level[row] < 0) continue;
    WB_LOOP(regression_add_multiple, plan->isa)(plan->draws, effect->multiple ? effect->multiple[row] : 1.0,
                                                effect->draw + (size_t)effect->level[row] * (size_t)plan->draws,
                                                room->row + (size_t)effect->outcome * padded);
  }
  for (int k = 0; k < what->outcomes; k++) {
    double *const linear = room->row + (size_t)k * padded;
    for (size_t d = (size_t)plan->draws; d < padded; d++) linear[d] = linear[0];
  }
}

static void predict_row(const prediction_plan *plan, const prediction_room *room, size_t count, double *out) {
  const wb_regression_prediction *what = plan->what;
  const size_t padded = (size_t)plan->padded, stride = count * (size_t)plan->shown;
  if (what->kind == WB_REGRESSION_CLASSES) {
    for (int k = 0; k < what->outcomes; k++) {
      double mean, deviation;
      describe(plan, room->row + (size_t)k * padded, &mean, &deviation);
      if (mean - mean == 0.0) continue;
      for (size_t i = 0; i < (size_t)plan->shown * WB_REGRESSION_SUMMARIES; i++) out[i * count] = wb_nan();
      return;
    }
    WB_LOOP(regression_classes, plan->isa)(what->outcomes, plan->padded, room->row, room->most, room->total,
                                           room->value);
    for (int k = 0; k < plan->shown; k++) {
      const double *const value = room->value + (size_t)k * padded;
      summarise(plan, value, value, WB_REGRESSION_LINEAR, room, stride, out + (size_t)k * count);
    }
    return;
  }
  for (int k = 0; k < plan->shown; k++) {
    const double *const linear = room->row + (size_t)k * padded;
    const double *value = room->value;
    if (what->kind == WB_REGRESSION_PROBABILITY)
      WB_LOOP(regression_probability, plan->isa)(plan->padded, linear, room->value);
    else if (what->kind == WB_REGRESSION_MEAN) WB_LOOP(regression_mean, plan->isa)(plan->padded, linear, room->value);
    else value = linear;
    summarise(plan, linear, value, what->kind, room, stride, out + (size_t)k * count);
  }
}

typedef struct prediction_call {
  const prediction_plan *plan;
  int64_t first, count;
  double *out;
} prediction_call;

static void predict_chunk(void *context, int64_t chunk, void *memory) {
  const prediction_call *const call = context;
  const wb_regression_prediction *const what = call->plan->what;
  const int64_t begin = chunk * PREDICT_CHUNK, left = call->count - begin;
  const int64_t end = begin + (left < PREDICT_CHUNK ? left : PREDICT_CHUNK);
  prediction_room room = room_in(memory, call->plan);
  for (int64_t i = begin; i < end; i += PREDICT_ROWS) {
    const int rows = end - i < PREDICT_ROWS ? (int)(end - i) : PREDICT_ROWS;
    const int64_t row = call->first + i;
    for (int c = 0; what->x && c < what->columns; c++)
      for (int r = 0; r < PREDICT_ROWS; r++)
        room.x[c * PREDICT_ROWS + r] = what->x[(size_t)c * (size_t)what->rows + (size_t)(row + (r < rows ? r : 0))];
    for (int k = 0; k < what->outcomes; k++) multiply(call->plan, row, rows, k, &room);
    for (int r = 0; r < rows; r++) {
      complete_row(call->plan, row + r, r, &room);
      predict_row(call->plan, &room, (size_t)call->count, call->out + i + r);
    }
  }
}

int wb_cpu_regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                              double *out, wb_message *message) {
  prediction_plan plan = {.what = what, .draws = (int)what->draws, .isa = run->isa};
  plan.padded = (plan.draws + PREDICT_PAD - 1) / PREDICT_PAD * PREDICT_PAD;
  plan.shown = what->outcomes + (what->kind == WB_REGRESSION_CLASSES);
  const size_t columns = (size_t)what->columns * (size_t)what->outcomes, padded = (size_t)plan.padded;
  double *const table = wb_aligned_malloc(columns * padded * sizeof(double));
  if (!table) return wb_out_of_memory(message, "the draws of the coefficients", columns * padded * sizeof(double));
  memset(table, 0, columns * padded * sizeof(double));
  for (size_t c = 0; c < columns; c++)
    memcpy(table + c * padded, what->coefficients + c * (size_t)what->draws, (size_t)what->draws * sizeof(double));
  plan.table = table;
  const size_t bytes = room_doubles(&plan) * sizeof(double);
  prediction_call call = {&plan, first, count, out};
  const int done =
      wb_spread_with_memory(run->threads, (count + PREDICT_CHUNK - 1) / PREDICT_CHUNK, bytes, predict_chunk, &call);
  wb_aligned_free(table);
  return done ? WB_OK : wb_out_of_memory(message, "the draws of a few rows", bytes);
}
