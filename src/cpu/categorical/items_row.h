/* Draws from one row at a time, in the precision REAL; cpu/categorical/items.c includes this file twice. Rows are
 * strided or sparse. The operations and their order are the same as in cpu/categorical/items_tile.h. */

#define BLOCK_LOG double
#include "cpu/block_loops.h"

/* Draw 0 of a row, in one pass; a block without entries never takes over the draw. `column`: NULL if all are stored. */
static int32_t REAL_NAME(draw_row)(int64_t count, const double *weights, int64_t stride, const int32_t *column, int log,
                                   uint64_t key, uint64_t row) {
  REAL total = 0;
  double largest = WB_BLOCK_NOTHING;
  int bad = 0;
  REAL_INDEX chosen = -1; /* index among the entries */
  uint64_t drawn = UINT64_MAX;
  uint64_t one = 0, two = 0;
  for (int64_t first = 0, end; first < count; first = end) {
    const int64_t block = (column ? column[first] : first) / WB_BLOCK_ITEMS;
    REAL prefix[WB_BLOCK_ITEMS], sum = 0;
    double top = weights[first * stride];
    for (end = first; end < count && (column ? column[end] : end) / WB_BLOCK_ITEMS == block; end++) {
      const double x = weights[end * stride];
      bad |= log ? !(x < wb_infinity()) : (int)(wb_double_bits(x) >> 63);
      top = x > top ? x : top;
    }
    const int entries = (int)(end - first);
    if (log) {
      if (top > largest) REAL_NAME(block_rescale)(top, &largest, &total);
      REAL_NAME(block_sum)(1, entries, weights + first * stride, stride, &largest, &sum, prefix, 1);
    } else {
      for (int j = 0; j < entries; j++) prefix[j] = sum += (REAL)weights[(first + j) * stride];
    }
    if ((uint64_t)block / REAL_UNIFORMS != drawn) {
      drawn = (uint64_t)block / REAL_UNIFORMS;
      wb_philox_wide(key, drawn, row & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_CATEGORICAL, row), 0, &one, &two);
    }
    const REAL u = REAL_UNIFORM(one, two, block % REAL_UNIFORMS);
    REAL_NAME(block_take_one)((REAL_INDEX)first, entries, prefix, u, &total, &chosen);
  }
  if (bad || !REAL_USABLE(total)) return -1;
  return column ? column[chosen] : (int32_t)chosen;
}

/* Prefix sums of a row, in order. Returns 0 if the weights are invalid. */
static int REAL_NAME(prefix_sums)(int64_t count, const double *weights, int64_t stride, int log, void *sums) {
  REAL total = 0, *const prefix = sums;
  double largest = WB_BLOCK_NOTHING;
  int bad = 0;
  if (log) {
    for (int64_t j = 0; j < count; j++) largest = weights[j * stride] > largest ? weights[j * stride] : largest;
  }
  for (int64_t j = 0; j < count; j++) {
    const double x = weights[j * stride];
    bad |= log ? !(x < wb_infinity()) : (int)(wb_double_bits(x) >> 63);
    prefix[j] = total += log ? REAL_EXP_WEIGHT((REAL)(x - largest)) : (REAL)x;
  }
  return !bad && REAL_USABLE(total);
}

/* The first item of low..high whose prefix sum exceeds the target; there is one. */
static inline int32_t REAL_NAME(search_prefix)(const REAL *prefix, REAL target, int32_t low, int32_t high) {
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (prefix[middle] > target) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Maps the leading bits of u to items. guide[s] is the item for the smallest target with u >= s / slices, or its
 * complement if other items fall into the same slice. guide[slices] is the last item. slices: a power of two. */
static void REAL_NAME(make_guide)(int64_t count, const void *sums, int32_t slices, int32_t *guide) {
  const REAL *const prefix = sums, total = prefix[count - 1];
  int32_t item = 0;
  for (int32_t s = 0; s <= slices; s++) {
    const REAL target = REAL_TARGET((REAL)s / (REAL)slices, total);
    while (prefix[item] <= target) item++;
    guide[s] = item;
    if (s > 0 && guide[s - 1] != item) guide[s - 1] = ~guide[s - 1];
  }
}

/* Draws first..first + count - 1 of a row by inversion. */
static void REAL_NAME(invert_row)(int64_t columns, const void *sums, const int32_t *column, const int32_t *guide,
                                  int32_t slices, wb_isa isa, uint64_t key, uint64_t row, int64_t first, int64_t count,
                                  int32_t *index, int64_t index_stride) {
  _Alignas(64) REAL uniform[DRAW_TILE];
  _Alignas(64) int32_t guess[DRAW_TILE];
  const REAL *const prefix = sums, total = prefix[columns - 1];
  for (int64_t base = first - first % DRAW_TILE; base < first + count; base += DRAW_TILE) {
    const int64_t begin = base < first ? first : base;
    const int64_t end = base + DRAW_TILE < first + count ? base + DRAW_TILE : first + count;
    REAL_LOOP(categorical_guess, isa)(key, row, (uint64_t)base, slices, guide, uniform, guess);
    for (int64_t d = begin; d < end; d++) {
      int32_t item = guess[d - base];
      if (item < 0) {
        const REAL u = uniform[d - base];
        const int32_t next = guide ? guide[(int32_t)(u * (REAL)slices) + 1] : (int32_t)columns - 1;
        item = REAL_NAME(search_prefix)(prefix, REAL_TARGET(u, total), ~item, next < 0 ? ~next : next);
      }
      index[(d - first) * index_stride] = column ? column[item] : item;
    }
  }
}
