/* One draw from the weights of many items in one pass, block by block, without storing all weights or prefix sums. With
 * the weights of earlier blocks adding up to `before`, a block of weight `sum` takes over with probability sum /
 * (before + sum). The uniform that decided so is then again uniform over the block, and picks the item.
 *
 * Weights come as logarithms, scaled by the largest seen so far; a larger one rescales `before`. */
#pragma once

#include "core/host_device.h"

/* Items of a block. Each block takes one uniform. */
#define WB_BLOCK_ITEMS 16

/* A block whose largest log weight lies this far below the largest seen changes no sum, not even in its last bit (16
 * exp(-42) < 2^-54, 16 exp(-21) < 2^-25), and cannot take over the draw. A loop may skip it with the same result. */
#define WB_BLOCK_NEGLIGIBLE 42.0
#define WB_BLOCK_NEGLIGIBLEF 21.0f

/* The largest log weight before the first block: below all others, yet finite. */
#define WB_BLOCK_NOTHING (-0x1p1000)
#define WB_BLOCK_NOTHINGF (-0x1p120f)

WB_HD double wb_next_below(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits -= 1;
  memcpy(&x, &bits, sizeof bits);
  return x;
}
WB_HD float wb_next_belowf(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits -= 1;
  memcpy(&x, &bits, sizeof bits);
  return x;
}

/* Where the draw falls inside the current block; u in (0, 1). Negative or NaN if the block does not take over.
 * Otherwise in [0, sum), so the first item whose prefix sum exceeds it has a positive weight. */
WB_HD double wb_block_position(double u, double before, double sum) {
  const double position = u * (before + sum) - before;
  const double last = wb_next_below(sum);
  return position < last ? position : last;
}
WB_HD float wb_block_positionf(float u, float before, float sum) {
  const float position = u * (before + sum) - before;
  const float last = wb_next_belowf(sum);
  return position < last ? position : last;
}
