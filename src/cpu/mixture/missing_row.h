/* A row with missing values under all components, in the precision REAL of cpu/real.h. Vectors run across components.
 * The operations and their order are those of cpu/mixture/draw_tile.h, where vectors run across rows.
 *
 * For each block of WB_MISSING_LANES components, the table of a pattern has the numbers of wb_missing_reorder() with
 * negative offsets, component beside component, and then the log constants. */

#define BLOCK_LOG REAL
#include "cpu/block_loops.h"

#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
#define VECTORS (WB_MISSING_LANES / LANES)
/* Rows of the triangle at a time. Times the vectors of a block they are as many sums as registers can hold. */
#define HEIGHT (VECTORS <= 2 ? 4 : 2)

/* Adds z_r^2, z = F x - offset, for `count` (a constant) rows of F from `row` on, to the components' distances. */
WB_INLINE void REAL_NAME(add_missing_squares)(const int count, int row, const REAL *restrict block,
                                              const REAL *restrict x, REAL_VECTOR squares[VECTORS]) {
  REAL_VECTOR z[HEIGHT][VECTORS];
  const REAL *line[HEIGHT];
  WB_UNROLL
  for (int i = 0; i < count; i++) {
    line[i] = block + wb_missing_row(row + i) * WB_MISSING_LANES;
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) z[i][v] = *(const REAL_VECTOR *)(line[i] + v * LANES);
    line[i] += WB_MISSING_LANES;
  }
  for (int c = 0; c < row; c++) {
    const REAL_VECTOR value = REAL_SET(x[c]);
    WB_UNROLL
    for (int i = 0; i < count; i++) {
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++)
        z[i][v] = REAL_FMA(*(const REAL_VECTOR *)(line[i] + c * WB_MISSING_LANES + v * LANES), value, z[i][v]);
    }
  }
  WB_UNROLL
  for (int c = 0; c < count; c++) {
    const REAL_VECTOR value = REAL_SET(x[row + c]);
    WB_UNROLL
    for (int i = c; i < count; i++) {
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++)
        z[i][v] = REAL_FMA(*(const REAL_VECTOR *)(line[i] + (row + c) * WB_MISSING_LANES + v * LANES), value, z[i][v]);
    }
  }
  WB_UNROLL
  for (int i = 0; i < count; i++) {
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) squares[v] = REAL_FMA(z[i][v], z[i][v], squares[v]);
  }
}

/* Log weights of a block of components for a row with `observed` values. */
static void REAL_NAME(missing_log_weight)(int p, int observed, const REAL *restrict block, const REAL *restrict x,
                                          REAL *restrict log_weight) {
  REAL_VECTOR squares[VECTORS];
  WB_UNROLL
  for (int v = 0; v < VECTORS; v++) squares[v] = REAL_SET(0);
  int row = 0;
  for (; row + HEIGHT <= observed; row += HEIGHT) REAL_NAME(add_missing_squares)(HEIGHT, row, block, x, squares);
  for (; row < observed; row++) REAL_NAME(add_missing_squares)(1, row, block, x, squares);
  const REAL *constant = block + wb_missing_size(p) * WB_MISSING_LANES;
  WB_UNROLL
  for (int v = 0; v < VECTORS; v++)
    *(REAL_VECTOR *)(log_weight + v * LANES) =
        REAL_FMA(REAL_SET((REAL)-0.5), squares[v], *(const REAL_VECTOR *)(constant + v * LANES));
}

static inline REAL REAL_NAME(missing_top)(const REAL *weight, int count, int *best) {
  REAL top = weight[0];
  *best = 0;
  for (int j = 1; j < count; j++)
    if (weight[j] > top) {
      top = weight[j];
      *best = j;
    }
  return top;
}

static double REAL_NAME(missing_draw)(int p, int observed, int components, const void *table, const void *shares,
                                      const void *values, uint64_t key, uint32_t iteration, uint64_t row,
                                      int32_t *label) {
  _Alignas(64) REAL weight[WB_MISSING_LANES], part[WB_MISSING_LANES];
  const REAL *block = table, *share = shares, *x = values;
  REAL largest = REAL_NOTHING, total = 0;
  REAL_INDEX chosen = 0;
  for (int base = 0; base < components;
       base += WB_MISSING_LANES, block += WB_MISSING_LANES * (wb_missing_size(p) + 1)) {
    const int count = components - base < WB_MISSING_LANES ? components - base : WB_MISSING_LANES;
    REAL_NAME(missing_log_weight)(p, observed, block, x, weight);
    for (int j = 0; share && j < count; j++) weight[j] += share[base + j];
    int best;
    const REAL top = REAL_NAME(missing_top)(weight, count, &best);
    if (!(top > largest - REAL_NEGLIGIBLE)) continue;
    REAL_NAME(block_rescale)(top, &largest, &total);
    for (int j = 0; j < WB_MISSING_LANES; j++) part[j] = REAL_EXP_WEIGHT(weight[j] - largest);
    REAL sum = 0;
    for (int j = 0; j < count; j++) part[j] = sum += part[j];
    const uint32_t number = (uint32_t)(base / WB_MISSING_LANES);
    uint64_t first, second;
    wb_philox_wide(key, number / REAL_UNIFORMS, row & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_LABEL, row), iteration,
                   &first, &second);
    const REAL u = REAL_UNIFORM(first, second, number % REAL_UNIFORMS);
    REAL_NAME(block_take_one)(base, count, part, u, &total, &chosen);
  }
  *label = (int32_t)chosen;
  return (double)(largest + REAL_LOG(total));
}

/* The most probable component of a row, as mixture_evaluate(). Probabilities, unless NULL, are `stride` apart. */
static double REAL_NAME(missing_evaluate)(int p, int observed, int components, const void *table, const void *values,
                                          int32_t *label, double *probability, int64_t stride) {
  _Alignas(64) REAL weight[WB_MISSING_LANES], part[WB_MISSING_LANES];
  const REAL *block = table, *x = values;
  REAL largest = REAL_NOTHING, total = 0;
  *label = 0;
  for (int base = 0; base < components;
       base += WB_MISSING_LANES, block += WB_MISSING_LANES * (wb_missing_size(p) + 1)) {
    const int count = components - base < WB_MISSING_LANES ? components - base : WB_MISSING_LANES;
    REAL_NAME(missing_log_weight)(p, observed, block, x, weight);
    if (probability)
      for (int j = 0; j < count; j++) probability[(base + j) * stride] = (double)weight[j];
    int best;
    const REAL top = REAL_NAME(missing_top)(weight, count, &best);
    if (top > largest) *label = base + best;
    REAL_NAME(block_rescale)(top, &largest, &total);
    for (int j = 0; j < WB_MISSING_LANES; j++) part[j] = REAL_EXP_WEIGHT(weight[j] - largest);
    REAL sum = 0;
    for (int j = 0; j < count; j++) sum += part[j];
    total += sum;
  }
  for (int j = 0; j < components && probability; j++) {
    double *entry = probability + j * stride;
    *entry = (double)(REAL_EXP_WEIGHT((REAL)*entry - largest) / total);
  }
  return (double)(largest + REAL_LOG(total));
}

/* Draws the missing values of a row given its other values and its component: C x_M = e + offset_M - B x_O. */
/* tools/loops: no vector multiply-adds */
static void REAL_NAME(missing_impute)(int p, int observed, const void *table, int32_t label, uint64_t key,
                                      uint32_t iteration, uint64_t row, void *values) {
  REAL *x = values;
  const REAL *component = (const REAL *)table + label % WB_MISSING_LANES +
                          (size_t)(label / WB_MISSING_LANES) * WB_MISSING_LANES * (wb_missing_size(p) + 1);
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_MISSING, iteration, row);
  for (int r = observed; r < p; r++) {
    const REAL *line = component + wb_missing_row(r) * WB_MISSING_LANES;
    double z = (double)line[0];
    for (int c = 0; c < r; c++) z = wb_fma((double)line[(c + 1) * WB_MISSING_LANES], (double)x[c], z);
    x[r] = REAL_NARROW((wb_draw_normal(&stream) - z) / (double)line[(r + 1) * WB_MISSING_LANES]);
  }
}

static void REAL_NAME(missing_build)(int p, int observed, const int32_t *order, const double *whole, double *work,
                                     void *block) {
  const size_t size = wb_missing_size(p) * WB_MISSING_LANES;
  REAL *to = block;
  memcpy(work, whole, (size + WB_MISSING_LANES) * sizeof(double));
  wb_missing_reorder(WB_MISSING_LANES, p, observed, order, work, work + size);
  for (int r = 0; r < p; r++)
    for (size_t l = 0; l < WB_MISSING_LANES; l++) work[wb_missing_row(r) * WB_MISSING_LANES + l] *= -1;
  for (size_t i = 0; i < size + WB_MISSING_LANES; i++) to[i] = (REAL)work[i];
}

#undef LANES
#undef VECTORS
#undef HEIGHT
