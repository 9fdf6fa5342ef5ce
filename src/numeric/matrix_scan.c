/* Scans a matrix column by column for finiteness, mean, standard deviation and range. Blocks that stay in the cache are
 * combined by the pairwise update of Chan, Golub & LeVeque (1983), The American Statistician 37(3), 242-247. */
#include "core/rounding.h"

#include "numeric/matrix_scan.h"

#include <math.h>
#include <stddef.h>

#include "numeric/spread.h"

#define BLOCK 2048
/* A block has LANES partial sums, to hide the latency of additions. Value i is in sum i % LANES: a fixed order. */
#define LANES 8

static double lanes_total(const double lane[LANES]) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* The sum is finite only if every value is. It may overflow with finite values; then block_search() counts none. */
static double block_sum(const double *x, int64_t count, double origin) {
  double lane[LANES] = {0.0};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (int l = 0; l < LANES; l++) lane[l] += x[i + l] - origin;
  }
  for (int l = 0; i < count; i++, l++) lane[l] += x[i] - origin;
  return lanes_total(lane);
}

static wb_matrix_moments block_moments(const double *x, int64_t count, double origin, double sum) {
  wb_matrix_moments block = {origin, (double)count, sum / (double)count, 0.0, 0.0, 0.0};
  double lane[LANES] = {0.0}, low[LANES], high[LANES];
  int64_t i = 0;
  for (int l = 0; l < LANES; l++) low[l] = high[l] = x[0];
  for (; i + LANES <= count; i += LANES) {
    for (int l = 0; l < LANES; l++) {
      const double value = x[i + l], deviation = (value - origin) - block.mean;
      lane[l] += deviation * deviation;
      low[l] = value < low[l] ? value : low[l];
      high[l] = value > high[l] ? value : high[l];
    }
  }
  for (int l = 0; i < count; i++, l++) {
    const double value = x[i], deviation = (value - origin) - block.mean;
    lane[l] += deviation * deviation;
    low[l] = value < low[l] ? value : low[l];
    high[l] = value > high[l] ? value : high[l];
  }
  block.squares = lanes_total(lane);
  block.min = low[0];
  block.max = high[0];
  for (int l = 1; l < LANES; l++) {
    block.min = low[l] < block.min ? low[l] : block.min;
    block.max = high[l] > block.max ? high[l] : block.max;
  }
  return block;
}

static void moments_add(wb_matrix_moments *all, const wb_matrix_moments *block) {
  if (all->count == 0.0) {
    *all = *block;
    return;
  }
  const double count = all->count + block->count;
  const double shift = block->mean - all->mean;
  all->mean += shift * (block->count / count);
  all->squares += block->squares + shift * shift * (all->count * block->count / count);
  all->count = count;
  all->min = block->min < all->min ? block->min : all->min;
  all->max = block->max > all->max ? block->max : all->max;
}

/* Counts the values of a block that are not finite and notes the first. */
static void block_search(const double *x, int64_t count, int64_t first_row, int32_t column, wb_matrix_scan *scan) {
  for (int64_t i = 0; i < count; i++) {
    if (isfinite(x[i])) continue;
    scan->not_finite++;
    if (scan->row < 0 || first_row + i < scan->row) {
      scan->row = first_row + i;
      scan->column = column;
    }
  }
}

typedef struct scan_request {
  const double *x;
  int64_t rows, first_row;
  wb_matrix_moments *moments;
  wb_matrix_scan *scan;
} scan_request;

static void scan_column(void *context, int64_t c) {
  const scan_request *ask = context;
  const double *column = ask->x + (size_t)c * (size_t)ask->rows;
  /* Copies, because threads that write beside each other would wait for each other's cache lines. */
  wb_matrix_moments all = ask->moments[c];
  wb_matrix_scan scan = {0, -1, -1};
  /* Moments about the column's first value lose no digits if the mean is much larger than the spread. */
  if (all.count == 0.0) all.origin = column[0];
  for (int64_t first = 0; first < ask->rows; first += BLOCK) {
    const int64_t count = ask->rows - first < BLOCK ? ask->rows - first : BLOCK;
    const double sum = block_sum(column + first, count, all.origin);
    if (!isfinite(sum)) block_search(column + first, count, ask->first_row + first, (int32_t)c, &scan);
    const wb_matrix_moments block = block_moments(column + first, count, all.origin, sum);
    moments_add(&all, &block);
  }
  ask->moments[c] = all;
  ask->scan[c] = scan;
}

void wb_matrix_scan_rows(const double *x, int64_t rows, int32_t columns, int64_t first_row, int32_t threads,
                         wb_matrix_moments *moments, wb_matrix_scan *scan) {
  scan_request ask = {x, rows, first_row, moments, scan};
  /* Half a nanosecond for a value. */
  wb_spread(rows * columns < 400000 ? 1 : threads, columns, scan_column, &ask);
}

wb_matrix_scan wb_matrix_scan_join(const wb_matrix_scan *scan, int32_t columns) {
  wb_matrix_scan all = {0, -1, -1};
  for (int32_t c = 0; c < columns; c++) {
    all.not_finite += scan[c].not_finite;
    if (scan[c].row < 0 || (all.row >= 0 && all.row <= scan[c].row)) continue;
    all.row = scan[c].row;
    all.column = scan[c].column;
  }
  return all;
}

void wb_matrix_scan_finish(const wb_matrix_moments *moments, int32_t columns, double *mean, double *sd, double *min,
                           double *max) {
  for (int32_t c = 0; c < columns; c++) {
    const wb_matrix_moments *all = &moments[c];
    const int is_constant = all->min == all->max;
    min[c] = all->min;
    max[c] = all->max;
    /* The mean of a constant column is exactly its value, and rounding gives it no spread. */
    mean[c] = is_constant ? all->min : all->origin + all->mean;
    sd[c] = is_constant || all->count < 2 ? 0.0 : sqrt(all->squares / (all->count - 1));
  }
}
