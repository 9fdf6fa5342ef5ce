/* Products of a design with more columns than rows on the processor: X diag(weight) X', X v and X'v, with each sum in
 * one fixed order. The GPU's twin is cuda/regression/dual.cu. */
#include "core/rounding.h"

#include "cpu/regression/parts.h"

#include <string.h>

#include "core/regression_row.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Columns of the design whose products are added at a time, and rows of the two blocks of rows. */
#define REGRESSION_TILE 64
#define GRAM_LINES 32
#define GRAM_WIDTH 256

/* Rows, or columns, of a piece of a product with a vector. */
#define DUAL_PIECE 256

#define WB_LOOPS "cpu/regression/dual_loops.h"
#include "numeric/isa.h"

typedef struct dual_work {
  const wb_regression_session *session;
  const double *v; /* or the weights */
  size_t stride;
  double *to;
} dual_work;

/* One thread, and another for each tenth of a millisecond of work or so. */
static int useful_threads(const wb_regression_session *session, double operations) {
  const double most = 1.0 + operations / 5e5;
  return most < session->threads ? (int)most : session->threads;
}

typedef struct gram_room {
  double left[GRAM_LINES * REGRESSION_TILE], right[REGRESSION_TILE * GRAM_WIDTH], sums[GRAM_LINES * GRAM_WIDTH];
} gram_room;

/* Blocks of GRAM_LINES rows by GRAM_WIDTH rows that reach the lower triangle, from the top. */
static void gram_block(void *context, int64_t piece, void *memory) {
  const dual_work *const work = context;
  const wb_regression_data *const data = &work->session->data;
  gram_room *const room = memory;
  int64_t begin = 0, first = 0, n = data->rows;
  for (; piece > 0; piece--) {
    first += GRAM_WIDTH;
    if (first >= begin + GRAM_LINES) {
      begin += GRAM_LINES;
      first = 0;
    }
  }
  const int lines = n - begin < GRAM_LINES ? (int)(n - begin) : GRAM_LINES,
            count = n - first < GRAM_WIDTH ? (int)(n - first) : GRAM_WIDTH;
  memset(room, 0, sizeof *room);
  for (int32_t tile = 0; tile < data->columns; tile += REGRESSION_TILE) {
    const int depth = data->columns - tile < REGRESSION_TILE ? data->columns - tile : REGRESSION_TILE;
    for (int l = 0; l < depth; l++) {
      const double *const x = data->x + (size_t)(tile + l) * (size_t)n;
      WB_LOOP(dual_factors, work->session->isa)(lines, x + begin, count, x + first, data->center[tile + l],
                                                data->inverse_scale[tile + l], work->v[tile + l], room->left + l,
                                                room->right + l * GRAM_WIDTH);
    }
    WB_LOOP(regression_products, work->session->isa)(depth, (int)(begin - first), GRAM_LINES, GRAM_WIDTH, room->left,
                                                     room->right, room->sums);
  }
  for (int r = 0; r < lines; r++)
    for (int c = 0; c < count && first + c <= begin + r; c++)
      work->to[(size_t)(begin + r) * work->stride + (size_t)(first + c)] = room->sums[r * GRAM_WIDTH + c];
}

/* Row `r` of a sparse design. Memory: a number for each column. */
static void gram_row(void *context, int64_t r, void *memory) {
  const dual_work *const work = context;
  const wb_regression_data *const data = &work->session->data;
  double *const spread = memory;
  memset(spread, 0, (size_t)data->columns * sizeof(double));
  for (int32_t e = data->row_start[r]; e < data->row_start[r + 1]; e++)
    spread[data->column[e]] = work->v[data->column[e]] * data->value[e];
  for (int64_t s = 0; s <= r; s++)
    work->to[(size_t)r * work->stride + (size_t)s] = WB_LOOP(dual_entries, work->session->isa)(
        data->row_start[s], data->row_start[s + 1], data->column, data->value, spread);
}

int wb_cpu_dual_gram(wb_regression_session *session, const double *weight, size_t stride, double *gram,
                     wb_message *message) {
  const wb_regression_data *const data = &session->data;
  const double n = (double)data->rows, p = data->x ? data->columns : (double)data->row_start[data->rows] / n;
  dual_work work = {session, weight, stride, gram};
  int64_t pieces = data->rows;
  const size_t bytes = data->x ? sizeof(gram_room) : (size_t)data->columns * sizeof(double);
  if (data->x) {
    pieces = 0;
    for (int64_t begin = 0; begin < data->rows; begin += GRAM_LINES)
      pieces += (begin + GRAM_LINES + GRAM_WIDTH - 1) / GRAM_WIDTH;
  }
  if (wb_spread_with_memory(useful_threads(session, 0.5 * n * n * p), pieces, bytes, data->x ? gram_block : gram_row,
                            &work))
    return WB_OK;
  return wb_out_of_memory(message, "the products of the rows", bytes);
}

static void multiply_rows(void *context, int64_t piece) {
  const dual_work *const work = context;
  const wb_regression_data *const data = &work->session->data;
  const int64_t begin = piece * DUAL_PIECE, left = data->rows - begin;
  const int rows = left < DUAL_PIECE ? (int)left : DUAL_PIECE;
  memset(work->to + begin, 0, (size_t)rows * sizeof(double));
  if (!data->x)
    WB_LOOP(regression_add_entries, work->session->isa)(rows, data->row_start + begin, data->column, data->value,
                                                        work->v, work->to + begin);
  for (int32_t c = 0; data->x && c < data->columns; c++)
    WB_LOOP(regression_add, work->session->isa)(rows, data->x + (size_t)c * (size_t)data->rows + begin, data->center[c],
                                                data->inverse_scale[c], work->v[c], work->to + begin);
}

int wb_cpu_dual_multiply(wb_regression_session *session, const double *v, double *product, wb_message *message) {
  const int64_t rows = session->data.rows;
  dual_work work = {session, v, 0, product};
  (void)message;
  wb_spread(useful_threads(session, (double)rows * (double)session->data.columns), (rows + DUAL_PIECE - 1) / DUAL_PIECE,
            multiply_rows, &work);
  return WB_OK;
}

static void multiply_columns(void *context, int64_t piece) {
  const dual_work *const work = context;
  const wb_regression_data *const data = &work->session->data;
  const int64_t begin = piece * DUAL_PIECE, left = data->columns - begin, end = left < DUAL_PIECE ? left : DUAL_PIECE;
  for (int64_t c = begin; c < begin + end; c++)
    work->to[c] = WB_LOOP(dual_dot, work->session->isa)(data->rows, data->x + (size_t)c * (size_t)data->rows,
                                                        data->center[c], data->inverse_scale[c], work->v);
}

/* All columns of a sparse design. Memory: the parts of each column. */
static void multiply_entries(void *context, int64_t piece, void *memory) {
  const dual_work *const work = context;
  const wb_regression_data *const data = &work->session->data;
  double *const part = memory;
  (void)piece;
  memset(part, 0, (size_t)data->columns * WB_REGRESSION_LANES * sizeof(double));
  for (int64_t row = 0; row < data->rows; row++)
    for (int32_t e = data->row_start[row]; e < data->row_start[row + 1]; e++) {
      double *const sum = part + (size_t)data->column[e] * WB_REGRESSION_LANES + (size_t)(row % WB_REGRESSION_LANES);
      *sum = wb_fma(data->value[e], work->v[row], *sum);
    }
  for (int32_t c = 0; c < data->columns; c++) work->to[c] = wb_regression_fold(part + (size_t)c * WB_REGRESSION_LANES);
}

int wb_cpu_dual_multiply_transposed(wb_regression_session *session, const double *v, double *product,
                                    wb_message *message) {
  const wb_regression_data *const data = &session->data;
  dual_work work = {session, v, 0, product};
  const int useful = useful_threads(session, (double)data->rows * (double)data->columns);
  const size_t bytes = (size_t)data->columns * WB_REGRESSION_LANES * sizeof(double);
  if (data->x) wb_spread(useful, (data->columns + DUAL_PIECE - 1) / DUAL_PIECE, multiply_columns, &work);
  else if (!wb_spread_with_memory(1, 1, bytes, multiply_entries, &work))
    return wb_out_of_memory(message, "the products of the columns", bytes);
  return WB_OK;
}
