/* Draws from many discrete distributions on the processor, as core/categorical_draw.h defines them.
 *
 * Draw 0 needs no prefix sums: R's matrices are stored by columns, so one pass over tiles of rows makes draw 0 of every
 * row. Later draws need the prefix sums of a row, which are kept for a few rows at a time. With many draws, a guide
 * table replaces most of the search: it maps the leading bits of the uniform to the few items that are possible (Chen &
 * Asau 1974, "On generating random variates from an empirical distribution"). */
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

/* Draws whose uniforms are computed together; a multiple of 4. */
#define DRAW_TILE 256

/* The results of a draw lie side by side, so the prefix sums of several rows are held and their results written
 * together. Rows are fewer if they would take more memory than this. */
#define SUMMED_ROWS 16
#define SUMMED_BYTES ((size_t)16 << 20)

/* Slices of a guide: this many for each item, at least GUIDE_LEAST if draws are many. Few slices then contain a border
 * between items. A guide of more than 2^20 slices would not stay in a cache. */
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

/* Draw 0 of rows, `together` rows a piece. */
typedef struct first_draws {
  const wb_categorical_rows *dense; /* one of these two is NULL */
  const wb_categorical_sparse *sparse;
  const wb_categorical_draws *draws;
  wb_isa isa;
  int64_t together;
} first_draws;

static void draw_dense_piece(void *context, int64_t piece) {
  const first_draws *const call = context;
  const wb_categorical_rows *const rows = call->dense;
  const wb_categorical_draws *const draws = call->draws;
  const int single = draws->precision == WB_SINGLE;
  const int64_t first = piece * call->together, count = wb_min_int(call->together, rows->rows - first);
  const double *const weights = rows->weights + first * rows->row_stride;
  const uint64_t row = (uint64_t)(draws->first_row + first);
  if (rows->row_stride == 1 && count >= CATEGORICAL_TILE_FROM) {
    (single ? WB_LOOP(categorical_tile_single, call->isa)
            : WB_LOOP(categorical_tile_double, call->isa))((int)count, rows->columns, rows->is_log, weights,
                                                           rows->column_stride, draws->key, row, draws->index + first);
    return;
  }
  for (int64_t i = 0; i < count; i++)
    draws->index[first + i] =
        (single ? draw_row_single : draw_row_double)(rows->columns, weights + i * rows->row_stride, rows->column_stride,
                                                     NULL, rows->is_log, draws->key, row + (uint64_t)i);
}

static void draw_first(const wb_categorical_rows *rows, const wb_categorical_draws *draws, const wb_run *run) {
  const int threads = threads_for((double)rows->rows * (double)rows->columns, run);
  /* Whole tiles, several for each thread if possible. The size of tiles does not change results. */
  int64_t tile = (rows->rows / (threads > 1 ? 4 * (int64_t)threads : 1) + 7) / 8 * 8;
  tile = tile < 8 ? 8 : wb_min_int(tile, CATEGORICAL_TILE);
  first_draws call = {rows, NULL, draws, run->isa, tile};
  wb_spread(threads, (rows->rows + tile - 1) / tile, draw_dense_piece, &call);
}

/* A row whose prefix sums are computed, for draws by inversion. */
typedef struct summed_row {
  int usable;
  int64_t count;
  const int32_t *column; /* NULL: all */
  void *prefix;
  int32_t *guide; /* NULL: none */
  int32_t slices;
} summed_row;

/* At most as many slices as the draws repay. */
static int32_t slices_for(int64_t columns, int64_t draws) {
  int32_t slices = 16;
  if (columns < 2 || draws < 4 * slices) return 0;
  const int64_t wanted = GUIDE_SLICES * columns > GUIDE_LEAST ? GUIDE_SLICES * columns : GUIDE_LEAST;
  while (slices < GUIDE_MOST && slices < wanted && slices <= draws / 8) slices *= 2;
  return slices;
}

static void sum_one(summed_row *row, const double *weights, int64_t stride, int log, int single) {
  if (row->count == 0) {
    row->usable = 0;
  } else if (single) {
    row->usable = prefix_sums_single(row->count, weights, stride, log, row->prefix);
    if (row->usable && row->slices) make_guide_single(row->count, row->prefix, row->slices, row->guide);
  } else {
    row->usable = prefix_sums_double(row->count, weights, stride, log, row->prefix);
    if (row->usable && row->slices) make_guide_double(row->count, row->prefix, row->slices, row->guide);
  }
}

static void invert_one(const summed_row *row, const wb_categorical_draws *draws, wb_isa isa, int64_t i, int64_t first,
                       int64_t count) {
  int32_t *const index = draws->index + i + (first - draws->first_draw) * draws->index_stride;
  const uint64_t element = (uint64_t)(draws->first_row + i);
  const int32_t *const guide = row->slices ? row->guide : NULL;
  if (!row->usable) {
    for (int64_t d = 0; d < count; d++) index[d * draws->index_stride] = -1;
  } else if (draws->precision == WB_SINGLE) {
    invert_row_single(row->count, row->prefix, row->column, guide, row->slices, isa, draws->key, element, first, count,
                      index, draws->index_stride);
  } else {
    invert_row_double(row->count, row->prefix, row->column, guide, row->slices, isa, draws->key, element, first, count,
                      index, draws->index_stride);
  }
}

/* The first weight of a row, the distance between weights, their number and their columns. */
typedef struct row_entries {
  const double *weights;
  int64_t stride, count;
  const int32_t *column;
} row_entries;

static row_entries dense_entries(const wb_categorical_rows *rows, int64_t i) {
  return (row_entries){rows->weights + i * rows->row_stride, rows->column_stride, rows->columns, NULL};
}

static row_entries sparse_entries(const wb_categorical_sparse *rows, int64_t i) {
  const int64_t at = rows->offset[i];
  return (row_entries){rows->weights + at, 1, rows->offset[i + 1] - at, rows->column + at};
}

static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Draws first..end - 1 of rows. One of `dense` and `sparse` is NULL. */
typedef struct more_draws {
  const wb_categorical_rows *dense;
  const wb_categorical_sparse *sparse;
  int64_t rows;
  const wb_categorical_draws *draws;
  int64_t first, end;
  wb_isa isa;
  int32_t slices;
  size_t prefix_bytes, bytes; /* of a row's prefix sums; with its guide */
  int64_t together;           /* rows of a piece */
} more_draws;

static summed_row sum_row(const more_draws *call, int64_t i, char *memory) {
  const row_entries entries = call->dense ? dense_entries(call->dense, i) : sparse_entries(call->sparse, i);
  summed_row row = {0, entries.count, entries.column, memory, NULL, call->slices};
  row.guide = (int32_t *)(void *)(memory + call->prefix_bytes);
  sum_one(&row, entries.weights, entries.stride, call->dense && call->dense->is_log,
          call->draws->precision == WB_SINGLE);
  return row;
}

static void draw_rows(void *context, int64_t piece, void *memory) {
  const more_draws *const call = context;
  const int64_t base = piece * call->together;
  const int count = (int)wb_min_int(call->together, call->rows - base);
  summed_row summed[SUMMED_ROWS];
  for (int i = 0; i < count; i++) summed[i] = sum_row(call, base + i, (char *)memory + (size_t)i * call->bytes);
  for (int64_t d = call->first; d < call->end; d += DRAW_TILE)
    for (int i = 0; i < count; i++)
      invert_one(summed + i, call->draws, call->isa, base + i, d, wb_min_int(DRAW_TILE, call->end - d));
}

typedef struct shared_row {
  const more_draws *call;
  int64_t row;
  summed_row summed;
} shared_row;

#define SHARED_DRAWS (64 * DRAW_TILE)

static void draw_part(void *context, int64_t piece) {
  const shared_row *const shared = context;
  const more_draws *const call = shared->call;
  const int64_t first = call->first + piece * SHARED_DRAWS;
  invert_one(&shared->summed, call->draws, call->isa, shared->row, first, wb_min_int(SHARED_DRAWS, call->end - first));
}

/* Takes one row after the other. Returns 0 if there is no memory for its prefix sums. */
static int draw_shared_rows(const more_draws *call, int threads) {
  char *const memory = wb_aligned_malloc(call->bytes);
  for (int64_t i = 0; memory && i < call->rows; i++) {
    shared_row shared = {call, i, sum_row(call, i, memory)};
    wb_spread(threads, (call->end - call->first + SHARED_DRAWS - 1) / SHARED_DRAWS, draw_part, &shared);
  }
  wb_aligned_free(memory);
  return memory != NULL;
}

/* Makes the draws of all rows from `first` >= 1 on. `dense` or `sparse` has them. `longest`: the entries of a row. */
static int draw_more(const wb_categorical_rows *dense, const wb_categorical_sparse *sparse, int64_t rows,
                     int64_t longest, const wb_categorical_draws *draws, int64_t first, const wb_run *run,
                     wb_message *message) {
  const int64_t end = draws->first_draw + draws->draws;
  if (first >= end || rows == 0) return WB_OK;
  const int single = draws->precision == WB_SINGLE;
  const int32_t slices = slices_for(longest, end - first);
  /* If rows are few, the threads share the draws of each row. */
  const int threads = threads_for((double)rows * ((double)longest + (double)(end - first)), run);
  const int by_draws = rows < 4 * (int64_t)threads;
  const size_t prefix_bytes =
      whole_lines((size_t)(longest > 0 ? longest : 1) * (single ? sizeof(float) : sizeof(double)));
  const size_t guide_bytes = slices ? whole_lines(((size_t)slices + 1) * sizeof(int32_t)) : 0,
               bytes = prefix_bytes + guide_bytes;
  const int64_t together =
      by_draws || bytes > SUMMED_BYTES ? 1 : wb_min_int(SUMMED_ROWS, (int64_t)(SUMMED_BYTES / bytes));
  more_draws call = {dense, sparse, rows, draws, first, end, run->isa, slices, prefix_bytes, bytes, together};
  const int done = by_draws ? draw_shared_rows(&call, threads)
                            : wb_spread_with_memory(threads, (rows + together - 1) / together, bytes * (size_t)together,
                                                    draw_rows, &call);
  return done ? WB_OK : wb_out_of_memory(message, "prefix sums of the weights", bytes * (size_t)together);
}

static int64_t first_of_more(const wb_categorical_draws *draws) {
  return draws->first_draw > 0 ? draws->first_draw : 1;
}

/* If each thread made all draws of its rows, the threads would write to all pages of the results at the same time. */
static void touch_results(const wb_categorical_draws *draws, int64_t rows, const wb_run *run) {
  if (draws->index_stride == rows && rows >= 4 * (int64_t)run->threads)
    wb_touch_pages(draws->index, (size_t)(rows * draws->draws) * sizeof(int32_t), wb_idle_threads(run->threads));
}

static int draw(const wb_categorical_rows *rows, const wb_categorical_draws *draws, const wb_run *run,
                wb_message *message) {
  touch_results(draws, rows->rows, run);
  if (draws->first_draw == 0 && draws->draws > 0) draw_first(rows, draws, run);
  return draw_more(rows, NULL, rows->rows, rows->columns, draws, first_of_more(draws), run, message);
}

#define SPARSE_TOGETHER 256

static void draw_sparse_piece(void *context, int64_t piece) {
  const first_draws *const call = context;
  const wb_categorical_draws *const draws = call->draws;
  const int64_t first = piece * call->together, end = wb_min_int(call->sparse->rows, first + call->together);
  for (int64_t i = first; i < end; i++) {
    const row_entries entries = sparse_entries(call->sparse, i);
    draws->index[i] = (draws->precision == WB_SINGLE ? draw_row_single : draw_row_double)(
        entries.count, entries.weights, 1, entries.column, 0, draws->key, (uint64_t)(draws->first_row + i));
  }
}

static int draw_sparse(const wb_categorical_sparse *rows, const wb_categorical_draws *draws, const wb_run *run,
                       wb_message *message) {
  int64_t longest = 0;
  touch_results(draws, rows->rows, run);
  for (int64_t i = 0; i < rows->rows; i++) {
    const int64_t entries = rows->offset[i + 1] - rows->offset[i];
    longest = entries > longest ? entries : longest;
  }
  if (draws->first_draw == 0 && draws->draws > 0) {
    first_draws call = {NULL, rows, draws, run->isa, SPARSE_TOGETHER};
    wb_spread(threads_for((double)rows->offset[rows->rows], run), (rows->rows + SPARSE_TOGETHER - 1) / SPARSE_TOGETHER,
              draw_sparse_piece, &call);
  }
  return draw_more(NULL, rows, rows->rows, longest, draws, first_of_more(draws), run, message);
}

const wb_categorical_functions wb_cpu_categorical = {.draw = draw, .draw_sparse = draw_sparse};
