/* Draws from many discrete distributions on the processor, as core/categorical_draw.h defines them.
 *
 * R's matrices are stored by columns, so one pass over tiles of rows makes draw 0 of every row. Later draws need the
 * prefix sums of a row, which are kept for a few rows at a time. With many draws, a guide table maps the leading bits
 * of the uniform to the few items that are possible (Chen & Asau 1974). */
#include "core/rounding.h"

#include "cpu/table.h"

#include "core/categorical_draw.h"
#include "core/elementary.h"
#include "core/min_max.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Rows of a tile. Their sums are kept from one block to the next. */
#define CATEGORICAL_TILE 512

/* Fewer rows than this are drawn one by one. */
#define CATEGORICAL_TILE_FROM 4

/* Sparse rows that a thread takes at a time. */
#define SPARSE_TOGETHER 256

/* Draws whose uniforms are computed together; a multiple of 4. */
#define DRAW_TILE 256

/* Rows whose results, which lie side by side, are written together; fewer if prefix sums take more than this. */
#define SUMMED_ROWS 16
#define SUMMED_BYTES ((size_t)16 << 20)

/* Slices of a guide for each item, at least GUIDE_LEAST if draws are many; more than 2^20 would not stay in a cache. */
#define GUIDE_SLICES 8
#define GUIDE_LEAST 2048
#define GUIDE_MOST (1 << 20)

#define WB_LOOPS "cpu/categorical/items_loops.h"
#include "numeric/isa.h"

#undef REAL_LOOPS
#define REAL_LOOPS "cpu/categorical/items_row.h"
#include "cpu/both_precisions.h"

/* Threads for `work` weights and draws. Waking threads takes some microseconds. */
static int threads_for(double work, const wb_run *run) { return work < 1e5 ? 1 : wb_idle_threads(run->threads); }

/* Rows to draw from and their draws. A thread takes `together` rows at a time. */
typedef struct draw_call {
  const wb_categorical_rows *dense; /* one of these two is NULL */
  const wb_categorical_sparse *sparse;
  int64_t rows, together;
  const wb_categorical_draws *draws;
  wb_isa isa;
  int64_t first, end;         /* draws by inversion: from `first` to `end` - 1 */
  int32_t slices;             /* of a row's guide; 0: none */
  size_t prefix_bytes, bytes; /* of a row's prefix sums; with its guide */
} draw_call;

/* The first weight of a row, the distance between weights, their number and their columns (NULL: all). */
typedef struct row_entries {
  const double *weights;
  int64_t stride, count;
  const int32_t *column;
  int log;
} row_entries;

static row_entries entries_of(const draw_call *call, int64_t i) {
  const wb_categorical_rows *const dense = call->dense;
  if (dense)
    return (row_entries){dense->weights + i * dense->row_stride, dense->column_stride, dense->columns, NULL,
                         dense->is_log};
  const int64_t at = call->sparse->offset[i];
  return (row_entries){call->sparse->weights + at, 1, call->sparse->offset[i + 1] - at, call->sparse->column + at, 0};
}

static int is_single(const draw_call *call) { return call->draws->precision == WB_SINGLE; }

static void draw_first(void *context, int64_t piece) {
  const draw_call *const call = context;
  const wb_categorical_rows *const dense = call->dense;
  const wb_categorical_draws *const draws = call->draws;
  const int64_t first = piece * call->together, end = wb_min_int(call->rows, first + call->together);
  if (dense && dense->row_stride == 1 && end - first >= CATEGORICAL_TILE_FROM) {
    (is_single(call) ? WB_LOOP(categorical_tile_single, call->isa)
                     : WB_LOOP(categorical_tile_double, call->isa))((int)(end - first), dense->columns, dense->is_log,
                                                                    dense->weights + first, dense->column_stride,
                                                                    draws->key, (uint64_t)(draws->first_row + first),
                                                                    draws->index + first);
    return;
  }
  for (int64_t i = first; i < end; i++) {
    const row_entries row = entries_of(call, i);
    draws->index[i] = (is_single(call) ? draw_row_single : draw_row_double)(
        row.count, row.weights, row.stride, row.column, row.log, draws->key, (uint64_t)(draws->first_row + i));
  }
}

/* A row whose prefix sums are computed, for draws by inversion. */
typedef struct summed_row {
  int usable;
  int64_t count;
  const int32_t *column;
  void *prefix;
  int32_t *guide; /* NULL: none */
} summed_row;

/* At most as many slices as the draws repay. */
static int32_t slices_for(int64_t columns, int64_t draws) {
  int32_t slices = 16;
  if (columns < 2 || draws < 4 * slices) return 0;
  const int64_t wanted = GUIDE_SLICES * columns > GUIDE_LEAST ? GUIDE_SLICES * columns : GUIDE_LEAST;
  while (slices < GUIDE_MOST && slices < wanted && slices <= draws / 8) slices *= 2;
  return slices;
}

static summed_row sum_row(const draw_call *call, int64_t i, char *memory) {
  const row_entries row = entries_of(call, i);
  summed_row summed = {0, row.count, row.column, memory, NULL};
  if (row.count > 0)
    summed.usable = (is_single(call) ? prefix_sums_single : prefix_sums_double)(row.count, row.weights, row.stride,
                                                                                row.log, memory);
  if (!summed.usable || call->slices == 0) return summed;
  summed.guide = (int32_t *)(void *)(memory + call->prefix_bytes);
  (is_single(call) ? make_guide_single : make_guide_double)(row.count, memory, call->slices, summed.guide);
  return summed;
}

static void invert_one(const draw_call *call, const summed_row *row, int64_t i, int64_t first, int64_t count) {
  const wb_categorical_draws *const draws = call->draws;
  int32_t *const index = draws->index + i + (first - draws->first_draw) * draws->index_stride;
  for (int64_t d = 0; !row->usable && d < count; d++) index[d * draws->index_stride] = -1;
  if (!row->usable) return;
  (is_single(call) ? invert_row_single : invert_row_double)(
      row->count, row->prefix, row->column, row->guide, call->slices, call->isa, draws->key,
      (uint64_t)(draws->first_row + i), first, count, index, draws->index_stride);
}

static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

static void draw_rows(void *context, int64_t piece, void *memory) {
  const draw_call *const call = context;
  const int64_t base = piece * call->together;
  const int count = (int)wb_min_int(call->together, call->rows - base);
  summed_row summed[SUMMED_ROWS];
  for (int i = 0; i < count; i++) summed[i] = sum_row(call, base + i, (char *)memory + (size_t)i * call->bytes);
  for (int64_t d = call->first; d < call->end; d += DRAW_TILE)
    for (int i = 0; i < count; i++) invert_one(call, summed + i, base + i, d, wb_min_int(DRAW_TILE, call->end - d));
}

typedef struct shared_row {
  const draw_call *call;
  int64_t row;
  summed_row summed;
} shared_row;

#define SHARED_DRAWS (64 * DRAW_TILE)

static void draw_part(void *context, int64_t piece) {
  const shared_row *const shared = context;
  const int64_t first = shared->call->first + piece * SHARED_DRAWS;
  invert_one(shared->call, &shared->summed, shared->row, first, wb_min_int(SHARED_DRAWS, shared->call->end - first));
}

/* Takes one row after the other. Returns 0 if there is no memory for its prefix sums. */
static int draw_shared_rows(const draw_call *call, int threads) {
  char *const memory = wb_aligned_malloc(call->bytes);
  for (int64_t i = 0; memory && i < call->rows; i++) {
    shared_row shared = {call, i, sum_row(call, i, memory)};
    wb_spread(threads, (call->end - call->first + SHARED_DRAWS - 1) / SHARED_DRAWS, draw_part, &shared);
  }
  wb_aligned_free(memory);
  return memory != NULL;
}

/* Makes the draws of all rows from number 1 on. `longest`: the entries of a row. */
static int draw_more(draw_call *call, int64_t longest, const wb_run *run, wb_message *message) {
  const int64_t rows = call->rows;
  call->first = wb_max_int(call->draws->first_draw, 1);
  call->end = call->draws->first_draw + call->draws->draws;
  if (call->first >= call->end || rows == 0) return WB_OK;
  call->slices = slices_for(longest, call->end - call->first);
  /* If rows are few, the threads share the draws of each row. */
  const int threads = threads_for((double)rows * ((double)longest + (double)(call->end - call->first)), run);
  const int by_draws = rows < 4 * (int64_t)threads;
  call->prefix_bytes =
      whole_lines((size_t)(longest > 0 ? longest : 1) * (is_single(call) ? sizeof(float) : sizeof(double)));
  call->bytes = call->prefix_bytes + (call->slices ? whole_lines(((size_t)call->slices + 1) * sizeof(int32_t)) : 0);
  const int64_t fit = (int64_t)(SUMMED_BYTES / call->bytes);
  call->together = by_draws || fit < 1 ? 1 : wb_min_int(SUMMED_ROWS, fit);
  const size_t bytes = call->bytes * (size_t)call->together;
  const int done =
      by_draws ? draw_shared_rows(call, threads)
               : wb_spread_with_memory(threads, (rows + call->together - 1) / call->together, bytes, draw_rows, call);
  return done ? WB_OK : wb_out_of_memory(message, "prefix sums of the weights", bytes);
}

/* `weights`: how many there are. */
static int draw_all(draw_call call, double weights, int64_t longest, const wb_run *run, wb_message *message) {
  const wb_categorical_draws *const draws = call.draws;
  /* If each thread made all draws of its rows, the threads would write to all pages of the results at the same time. */
  if (draws->index_stride == call.rows && call.rows >= 4 * (int64_t)run->threads)
    wb_touch_pages(draws->index, (size_t)(call.rows * draws->draws) * sizeof(int32_t), wb_idle_threads(run->threads));
  if (draws->first_draw == 0 && draws->draws > 0) {
    const int threads = threads_for(weights, run);
    const int64_t tile = (call.rows / (threads > 1 ? 4 * (int64_t)threads : 1) + 7) / 8 * 8;
    call.together = call.sparse ? SPARSE_TOGETHER : wb_max_int(8, wb_min_int(tile, CATEGORICAL_TILE));
    wb_spread(threads, (call.rows + call.together - 1) / call.together, draw_first, &call);
  }
  return draw_more(&call, longest, run, message);
}

static int draw(const wb_categorical_rows *rows, const wb_categorical_draws *draws, const wb_run *run,
                wb_message *message) {
  const draw_call call = {.dense = rows, .rows = rows->rows, .draws = draws, .isa = run->isa};
  return draw_all(call, (double)rows->rows * (double)rows->columns, rows->columns, run, message);
}

static int draw_sparse(const wb_categorical_sparse *rows, const wb_categorical_draws *draws, const wb_run *run,
                       wb_message *message) {
  const draw_call call = {.sparse = rows, .rows = rows->rows, .draws = draws, .isa = run->isa};
  int64_t longest = 0;
  for (int64_t i = 0; i < rows->rows; i++) longest = wb_max_int(longest, rows->offset[i + 1] - rows->offset[i]);
  return draw_all(call, (double)rows->offset[rows->rows], longest, run, message);
}

const wb_categorical_functions wb_cpu_categorical = {.draw = draw, .draw_sparse = draw_sparse};
