/* Draws from discrete distributions given by non-negative weights: the laws that the loops of the processor and the
 * kernels share. Each is exact but for rounding, and none ever gives an item of zero weight.
 *
 * In one pass (a row of a matrix, one draw): blocks of WB_BLOCK_ITEMS items with a uniform each, as core/block_draw.h
 * explains; prefix sums within a block in order, the blocks' sums added in order.
 *
 * By inversion (many draws): the first item whose prefix sum, added up in order, exceeds wb_target(u, total).
 */
#ifndef WB_CORE_CATEGORICAL_DRAW_H
#define WB_CORE_CATEGORICAL_DRAW_H

#include "core/host_device.h"
#include "core/block_draw.h"

/* What prefix sums are compared with, below the total for every u in (0, 1): the first prefix sum above it exists, and
 * is one that its own item has raised. total is positive and finite. */
WB_HD double wb_target(double u, double total) {
  const double target = u * total, last = wb_next_below(total);
  return target < last ? target : last;
}
WB_HD float wb_targetf(float u, float total) {
  const float target = u * total, last = wb_next_belowf(total);
  return target < last ? target : last;
}

#endif
