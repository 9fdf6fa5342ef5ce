/* Draws from many discrete distributions, in slices of rows so that a user can interrupt. Rows that a backend leaves
 * open are found wrong here, or drawn one by one. */
#include "core/rounding.h"

#include "categorical/categorical.h"

#include "core/elementary.h"
#include "numeric/memory.h"
#include "numeric/poll.h"
#include "numeric/spread.h"

/* Weights and draws of a slice: some tenths of a second on a graphics card, or for this many threads. */
#define SLICE_THREADS 32
#define SLICE_WEIGHTS ((int64_t)1 << 28)
#define SLICE_DRAWS ((int64_t)1 << 26)

/* Factors that keep sums of 2^31 finite weights finite, and make sums of subnormal weights usable. */
#define SCALE_DOWN 0x1p-64
#define SCALE_UP 0x1p200

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

typedef struct row_view {
  const double *weights;
  int64_t stride, count, columns;
  const int32_t *column;
  int is_log;
} row_view;

static row_view dense_row(const wb_categorical_rows *rows, int64_t i) {
  return (row_view){
      rows->weights + i * rows->row_stride, rows->column_stride, rows->columns, rows->columns, NULL, rows->is_log};
}

static row_view sparse_row(const wb_categorical_sparse *rows, int64_t i) {
  const int64_t at = rows->offset[i];
  return (row_view){rows->weights + at, 1, rows->offset[i + 1] - at, rows->columns, rows->column + at, 0};
}

/* "row 7, column 2", or "position 2" of a vector. */
static void place(int is_vector, int64_t row, int64_t column, wb_message *text) {
  if (is_vector) wb_message_write(text, "position %.0f", (double)column);
  else wb_message_write(text, "row %.0f, column %.0f", (double)row, (double)column);
}

/* WB_OK, or WB_ERROR_INPUT with a message about what is wrong with the row. `row` counts from 1. */
static int judge(int is_vector, const row_view *view, int64_t row, wb_message *message) {
  int possible = 0;
  wb_message where;
  for (int64_t i = 0; i < view->count; i++) {
    const double x = view->weights[i * view->stride];
    const int allowed = view->is_log ? x < wb_infinity() : x >= 0 && x < wb_infinity();
    possible |= view->is_log ? x > -wb_infinity() : x > 0;
    if (allowed) continue;
    place(is_vector, row, (view->column ? view->column[i] : i) + 1, &where);
    const char *const rule = view->is_log ? "log weights must be finite, or -Inf for an impossible item"
                                          : "weights must be finite and not negative";
    if (x != x) return wb_fail(message, WB_ERROR_INPUT, "`weights` has a missing value (NA or NaN) in %s", where.text);
    if (x - x != 0)
      return wb_fail(message, WB_ERROR_INPUT, "`weights` has the entry %s in %s; %s", x > 0 ? "Inf" : "-Inf",
                     where.text, rule);
    return wb_fail(message, WB_ERROR_INPUT, "`weights` has the entry %.15g in %s; %s", x, where.text, rule);
  }
  if (possible) return WB_OK;
  if (is_vector)
    return wb_fail(message, WB_ERROR_INPUT, "`weights` has no positive weight: at least one item must be possible");
  return wb_fail(message, WB_ERROR_INPUT,
                 "`weights` has no positive weight in row %.0f: at least one item must be possible", (double)row);
}

/* A draw from a valid row, in double, by a copy of its weights (room for a row) whose sum is a normal number. */
static int draw_apart(const wb_call *call, const row_view *view, const wb_categorical_draws *draws, int64_t row,
                      int64_t draw, int32_t *index, double *copy) {
  double largest = -wb_infinity(), sum = 0;
  for (int64_t i = 0; i < view->count; i++) {
    const double x = view->weights[i * view->stride];
    largest = x > largest ? x : largest;
    sum += x;
  }
  const double factor = !(sum < wb_infinity()) ? SCALE_DOWN : sum < 0x1p-900 ? SCALE_UP : 1.0;
  for (int64_t i = 0; i < view->count; i++) {
    const double x = view->weights[i * view->stride];
    /* + 0.0 turns -0 into 0. */
    copy[i] = view->is_log ? wb_exp_weight(x - largest) : x * factor + 0.0;
  }
  wb_categorical_draws one = *draws;
  one.precision = WB_DOUBLE;
  one.first_row = draws->first_row + row;
  one.first_draw = draw;
  one.draws = 1;
  one.index = index;
  one.index_stride = 1;
  wb_run alone = call->run;
  alone.threads = 1;
  if (!view->column) {
    const wb_categorical_rows copied = {1, view->count, copy, view->count, 1, 0};
    return call->processor->categorical->draw(&copied, &one, &alone, call->message);
  }
  const int64_t offset[2] = {0, view->count};
  const wb_categorical_sparse copied = {1, view->columns, offset, view->column, copy};
  return call->processor->categorical->draw_sparse(&copied, &one, &alone, call->message);
}

/* Items of a slice; draw d starts at d * stride. `open` marks parts with unfinished rows. */
#define PARTS 64
typedef struct slice_items {
  int32_t *index;
  int64_t rows, draws, stride;
  char open[PARTS];
} slice_items;

static void count_from_one(void *context, int64_t part) {
  slice_items *const all = context;
  const int64_t begin = all->rows * part / PARTS, end = all->rows * (part + 1) / PARTS;
  int32_t least = 1;
  for (int64_t d = 0; d < all->draws; d++) {
    int32_t *const index = all->index + d * all->stride;
    for (int64_t i = begin; i < end; i++) {
      index[i]++;
      least = index[i] < least ? index[i] : least;
    }
  }
  all->open[part] = least < 1;
}

static int count_slice(const wb_call *call, const wb_categorical_draws *draws, int64_t rows) {
  /* One line of items takes no notice of rows. */
  const int is_line = draws->index_stride == rows || draws->draws == 1;
  slice_items all = {
      draws->index, is_line ? rows * draws->draws : rows, is_line ? 1 : draws->draws, draws->index_stride, {0}};
  int open = 0;
  wb_spread(rows * draws->draws < 65536 ? 1 : call->run.threads, PARTS, count_from_one, &all);
  for (int part = 0; part < PARTS; part++) open |= all.open[part];
  return open;
}

/* Counts items from 1, and checks and draws what the backend left open. `first`: the slice's first row, from 0. */
static int complete(const wb_call *call, const wb_categorical_rows *dense, const wb_categorical_sparse *sparse,
                    int is_vector, int64_t rows, int64_t first, const wb_categorical_draws *draws) {
  double *copy = NULL;
  int64_t room = 0;
  int status = WB_OK;
  if (!count_slice(call, draws, rows)) return WB_OK;
  for (int64_t d = 0; d < draws->draws && status == WB_OK; d++) {
    int32_t *const index = draws->index + d * draws->index_stride;
    for (int64_t i = 0; i < rows && status == WB_OK; i++) {
      if (index[i] > 0) continue;
      const row_view view = dense ? dense_row(dense, i) : sparse_row(sparse, i);
      status = judge(is_vector, &view, first + i + 1, call->message);
      if (status != WB_OK) break;
      if (view.count > room) {
        wb_aligned_free(copy);
        room = view.count;
        copy = wb_aligned_malloc((size_t)room * sizeof(double));
        if (!copy) return wb_out_of_memory(call->message, "a row of weights", (size_t)room * sizeof(double));
      }
      status = draw_apart(call, &view, draws, i, draws->first_draw + d, index + i, copy);
      index[i]++;
    }
  }
  wb_aligned_free(copy);
  return status;
}

/* Draws from the rows of `dense` in slices, or of `sparse` if `dense` is NULL. */
static int draw_slices(wb_call *call, const wb_categorical_rows *dense, const wb_categorical_sparse *sparse,
                       int is_vector, int64_t per_row, const wb_categorical_draws *draws) {
  const wb_categorical_functions *const functions = call->backend->categorical;
  WB_TRY(wb_backend_has(call->backend, functions, "categorical draws", call->message));
  const int64_t rows = dense ? dense->rows : sparse->rows;
  const int64_t threads = call->backend == call->processor ? smaller(call->run.threads, SLICE_THREADS) : SLICE_THREADS;
  const int64_t slice_draws = SLICE_DRAWS * threads / SLICE_THREADS;
  int64_t row_step = SLICE_WEIGHTS * threads / SLICE_THREADS / (per_row > 0 ? per_row : 1);
  row_step = smaller(row_step, slice_draws / smaller(draws->draws > 0 ? draws->draws : 1, 1024));
  if (row_step < 512) row_step = 512;
  for (int64_t row = 0; row < rows; row += row_step) {
    const int64_t count = smaller(row_step, rows - row);
    const int64_t draw_step = slice_draws / count > 1024 ? slice_draws / count : 1024;
    for (int64_t draw = 0; draw < draws->draws; draw += draw_step) {
      if (row + draw > 0 && wb_poll_after(&call->poll, WB_POLL_EVERY)) return WB_INTERRUPTED;
      wb_categorical_draws slice = *draws;
      slice.first_row += row;
      slice.first_draw += draw;
      slice.draws = smaller(draw_step, draws->draws - draw);
      slice.index += row + draw * draws->index_stride;
      if (dense) {
        wb_categorical_rows part = *dense;
        part.rows = count;
        part.weights += row * dense->row_stride;
        WB_TRY(functions->draw(&part, &slice, &call->run, call->message));
        WB_TRY(complete(call, &part, NULL, is_vector, count, row, &slice));
      } else {
        wb_categorical_sparse part = *sparse;
        part.rows = count;
        part.offset += row;
        WB_TRY(functions->draw_sparse(&part, &slice, &call->run, call->message));
        WB_TRY(complete(call, NULL, &part, 0, count, row, &slice));
      }
    }
  }
  return WB_OK;
}

int wb_categorical_draw(wb_call *call, const wb_categorical_rows *rows, int is_vector,
                        const wb_categorical_draws *draws) {
  return draw_slices(call, rows, NULL, is_vector, rows->columns, draws);
}

int wb_categorical_draw_sparse(wb_call *call, const wb_categorical_sparse *rows, const wb_categorical_draws *draws) {
  const int64_t entries = rows->rows > 0 ? rows->offset[rows->rows] / rows->rows : 0;
  return draw_slices(call, NULL, rows, 0, entries + 1, draws);
}

void wb_categorical_rows_of(int64_t rows, int64_t columns, const int32_t *start, const int32_t *row,
                            const double *weights, int64_t *offset, int32_t *column, double *by_row) {
  const int64_t entries = start[columns];
  for (int64_t i = 0; i <= rows; i++) offset[i] = 0;
  /* Row i is counted in offset[i + 2]. As entries are placed, offset[i + 1] moves from row i's begin to its end. */
  for (int64_t e = 0; e < entries; e++)
    if (row[e] + 2 <= rows) offset[row[e] + 2]++;
  for (int64_t i = 2; i <= rows; i++) offset[i] += offset[i - 1];
  for (int64_t j = 0; j < columns; j++)
    for (int64_t e = start[j]; e < start[j + 1]; e++) {
      const int64_t at = offset[row[e] + 1]++;
      column[at] = (int32_t)j;
      by_row[at] = weights[e];
    }
}
