/* One pass over a tile of rows that lie side by side, in the precision REAL; included by cpu/categorical/items_loops.h.
 *
 * Lower bound: 8 bytes read, a load, two additions, a comparison and a bit operation for each weight, across rows. */

#define BLOCK_LOG double
#include "cpu/block_loops.h"

/* Rows of a vector: the number of doubles in a vector, in both precisions. */
#define LANES (WB_VECTOR_BYTES / 8)
#define REAL_LANES REAL_NAME(lanes)
#define REAL_ITEMS REAL_NAME(item_lanes)
typedef REAL REAL_LANES __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef REAL_INDEX REAL_ITEMS __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));

/* tools/loops: vector additions */
static void REAL_NAME(categorical_uniforms)(uint64_t key, uint64_t row, uint32_t group, int rows,
                                            REAL *restrict uniform) {
  for (int l = 0; l < rows; l++) {
    const uint64_t element = row + (uint64_t)l;
    uint64_t first, second;
    wb_philox_wide(key, group, element & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_CATEGORICAL, element), 0, &first,
                   &second);
    REAL_SPREAD(uniform + l, CATEGORICAL_TILE, first, second);
  }
}

/* Uniforms of draws first..first + DRAW_TILE - 1 of a row, and the guide's entries; without: "item 0 or later". */
/* tools/loops: vector additions, scalar on NEON */
static void REAL_NAME(categorical_guess)(uint64_t key, uint64_t row, uint64_t first, int32_t slices,
                                         const int32_t *restrict guide, REAL *restrict uniform,
                                         int32_t *restrict item) {
  const uint64_t group = first / REAL_UNIFORMS;
  const uint32_t c2 = wb_philox_c2(WB_PURPOSE_CATEGORICAL_MORE, row);
  for (int l = 0; l < DRAW_TILE / REAL_UNIFORMS; l++) {
    uint64_t even, odd;
    wb_philox_wide(key, (group + (uint64_t)l) & 0xFFFFFFFFu, row & 0xFFFFFFFFu, c2, (group + (uint64_t)l) >> 32, &even,
                   &odd);
    REAL_SPREAD(uniform + REAL_UNIFORMS * l, 1, even, odd);
  }
  for (int l = 0; l < DRAW_TILE; l++) item[l] = guide ? guide[(int32_t)(uniform[l] * (REAL)slices)] : ~0;
}

/* A whole block of `rows` rows, a multiple of LANES, in registers. The position is wb_block_position() in vectors. */
/* tools/loops: vector additions */
static void REAL_NAME(categorical_block)(int rows, int32_t base, const double *restrict weights, int64_t stride,
                                         const REAL *restrict uniform, REAL *restrict total, uint64_t *restrict signs,
                                         REAL_INDEX *restrict chosen) {
  for (int l = 0; l < rows; l += LANES) {
    REAL_LANES prefix[WB_BLOCK_ITEMS], sum = {0};
    WB_NAME(index_lanes) sign = *(const WB_NAME(index_lanes) *)(signs + l);
    WB_UNROLL
    for (int j = 0; j < WB_BLOCK_ITEMS; j++) {
      const WB_NAME(weight_lanes) x = *(const WB_NAME(weight_lanes) *)(weights + j * stride + l);
      sign |= (WB_NAME(index_lanes))x;
      sum += __builtin_convertvector(x, REAL_LANES);
      prefix[j] = sum;
    }
    REAL_LANES *const totals = (REAL_LANES *)(total + l);
    const REAL_LANES before = *totals, at = *(const REAL_LANES *)(uniform + l) * (before + sum) - before;
    const REAL_LANES last = (REAL_LANES)((REAL_ITEMS)sum - 1);
    const REAL_ITEMS within = at < last;
    const REAL_LANES position = (REAL_LANES)((within & (REAL_ITEMS)at) | (~within & (REAL_ITEMS)last));
    *totals = before + sum;
    *(WB_NAME(index_lanes) *)(signs + l) = sign;
    REAL_ITEMS item = (REAL_ITEMS){0} + (REAL_INDEX)base;
    /* A comparison that holds is -1 in its lane. */
    WB_UNROLL
    for (int j = 0; j < WB_BLOCK_ITEMS - 1; j++) item -= prefix[j] <= position;
    const REAL_ITEMS taken = position >= 0;
    REAL_ITEMS *const drawn = (REAL_ITEMS *)(chosen + l);
    *drawn = (taken & item) | (~taken & *drawn);
  }
}

/* Blocks that are not whole, and blocks of logarithms. `largest` is the largest logarithm so far. */
/* tools/loops: vector additions */
static void REAL_NAME(categorical_part)(int rows, int log, int32_t base, int count, const double *restrict weights,
                                        int64_t stride, const REAL *restrict uniform, REAL *restrict total,
                                        double *restrict largest, uint64_t *restrict signs,
                                        REAL_INDEX *restrict chosen) {
  _Alignas(64) REAL prefix[WB_BLOCK_ITEMS][BLOCK_ROWS], sum[BLOCK_ROWS];
  _Alignas(64) double top[BLOCK_ROWS];
  for (int first = 0; first < rows; first += BLOCK_ROWS) {
    const int strip = rows - first < BLOCK_ROWS ? rows - first : BLOCK_ROWS;
    const double *const w = weights + first;
    if (log) {
      for (int l = 0; l < strip; l++) top[l] = largest[first + l];
      for (int j = 0; j < count; j++)
        for (int l = 0; l < strip; l++) {
          const double x = w[j * stride + l];
          top[l] = x > top[l] ? x : top[l];
          signs[first + l] |= wb_mask(!(x < wb_infinity()));
        }
      for (int l = 0; l < strip; l++) REAL_NAME(block_rescale)(top[l], &largest[first + l], &total[first + l]);
      REAL_NAME(block_sum)(strip, count, w, stride, top, sum, prefix[0], BLOCK_ROWS);
    } else {
      for (int l = 0; l < strip; l++) sum[l] = 0;
      for (int j = 0; j < count; j++)
        for (int l = 0; l < strip; l++) {
          signs[first + l] |= wb_double_bits(w[j * stride + l]);
          prefix[j][l] = sum[l] += (REAL)w[j * stride + l];
        }
    }
    REAL_NAME(block_take)(strip, base, count, prefix[0], BLOCK_ROWS, uniform + first, total + first, chosen + first);
  }
}

/* Draw 0 of `rows` <= CATEGORICAL_TILE rows. */
/* tools/loops: vector additions */
static void REAL_NAME(categorical_tile)(int rows, int64_t columns, int log, const double *restrict weights,
                                        int64_t stride, uint64_t key, uint64_t first_row, int32_t *restrict index) {
  _Alignas(64) REAL uniform[REAL_UNIFORMS * CATEGORICAL_TILE], total[CATEGORICAL_TILE];
  _Alignas(64) REAL_INDEX chosen[CATEGORICAL_TILE];
  _Alignas(64) uint64_t signs[CATEGORICAL_TILE];
  _Alignas(64) double largest[CATEGORICAL_TILE];
  for (int l = 0; l < rows; l++) {
    total[l] = 0;
    chosen[l] = -1;
    signs[l] = 0;
    largest[l] = WB_BLOCK_NOTHING;
  }
  for (int64_t base = 0; base < columns; base += WB_BLOCK_ITEMS) {
    const uint32_t block = (uint32_t)(base / WB_BLOCK_ITEMS);
    if (block % REAL_UNIFORMS == 0)
      REAL_NAME(categorical_uniforms)(key, first_row, block / REAL_UNIFORMS, rows, uniform);
    const REAL *const u = uniform + block % REAL_UNIFORMS * CATEGORICAL_TILE;
    const int count = columns - base < WB_BLOCK_ITEMS ? (int)(columns - base) : WB_BLOCK_ITEMS;
    const double *const w = weights + base * stride;
    const int whole = count < WB_BLOCK_ITEMS || log ? 0 : rows - rows % LANES;
    if (whole > 0) REAL_NAME(categorical_block)(whole, (int32_t)base, w, stride, u, total, signs, chosen);
    if (whole < rows)
      REAL_NAME(categorical_part)(rows - whole, log, (int32_t)base, count, w + whole, stride, u + whole, total + whole,
                                  largest + whole, signs + whole, chosen + whole);
  }
  for (int l = 0; l < rows; l++) index[l] = !(signs[l] >> 63) && REAL_USABLE(total[l]) ? (int32_t)chosen[l] : -1;
}

#undef LANES
#undef REAL_LANES
#undef REAL_ITEMS
