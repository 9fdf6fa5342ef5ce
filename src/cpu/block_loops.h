/* Draws from blocks of weights (core/block_draw.h) for `rows` rows side by side, in the precision REAL of cpu/real.h.
 * Vectors run across the rows.
 *
 * The including file defines BLOCK_LOG, the type of the logarithms of weights. */

/* The most rows side by side. */
#define BLOCK_ROWS 64

/* The sum of a row is kept divided by the row's largest weight so far, whose logarithm is `largest`. If `top`, the
 * largest logarithm of the current block, is larger, the sum is rescaled. */
WB_INLINE void REAL_NAME(block_rescale)(BLOCK_LOG top, BLOCK_LOG *largest, REAL *total) {
  const BLOCK_LOG new_largest = top > *largest ? top : *largest;
  *total *= REAL_EXP_WEIGHT((REAL)(*largest - new_largest));
  *largest = new_largest;
}

/* Sums the `count` weights of a block for each row. The logarithm of weight j of row l is log_weight[j stride + l]. If
 * `prefix` is not NULL, the sum up to weight j goes to prefix[j apart + l], which may be its place. */
WB_INLINE void REAL_NAME(block_sum)(const int rows, int count, const BLOCK_LOG *log_weight, int64_t stride,
                                    const BLOCK_LOG *restrict largest, REAL *restrict sum, REAL *prefix,
                                    const int apart) {
  for (int l = 0; l < rows; l++) sum[l] = 0;
  for (int j = 0; j < count; j++)
    for (int l = 0; l < rows; l++) {
      sum[l] += REAL_EXP_WEIGHT((REAL)(log_weight[j * stride + l] - largest[l]));
      if (prefix) prefix[j * apart + l] = sum[l];
    }
}

/* Adds the block's sums to the sums of earlier blocks. If a row's uniform u makes the block take over the draw,
 * `chosen` becomes the item drawn; `base` is the item of the block's first weight. */
WB_INLINE void REAL_NAME(block_take)(const int rows, REAL_INDEX base, int count, const REAL *restrict prefix,
                                     const int apart, const REAL *restrict u, REAL *restrict total,
                                     REAL_INDEX *restrict chosen) {
  _Alignas(64) REAL position[BLOCK_ROWS];
  _Alignas(64) REAL_INDEX item[BLOCK_ROWS];
  const REAL *const sum = prefix + (count - 1) * apart;
  for (int l = 0; l < rows; l++) {
    position[l] = REAL_POSITION(u[l], total[l], sum[l]);
    total[l] += sum[l];
    item[l] = base;
  }
  /* The position is below the last prefix sum. */
  for (int j = 0; j < count - 1; j++)
    for (int l = 0; l < rows; l++) item[l] += prefix[j * apart + l] <= position[l] ? 1 : 0;
  for (int l = 0; l < rows; l++) chosen[l] = position[l] >= 0 ? item[l] : chosen[l];
}

/* block_take() for a single row, in registers. */
WB_INLINE void REAL_NAME(block_take_one)(REAL_INDEX base, int count, const REAL *prefix, REAL u, REAL *total,
                                         REAL_INDEX *chosen) {
  const REAL sum = prefix[count - 1], position = REAL_POSITION(u, *total, sum);
  *total += sum;
  if (!(position >= 0)) return;
  REAL_INDEX item = base;
  for (int j = 0; j < count - 1; j++) item += prefix[j] <= position ? 1 : 0;
  *chosen = item;
}

#undef BLOCK_LOG
