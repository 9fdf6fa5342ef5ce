/* Draws from discrete distributions given by non-negative weights, exact except for rounding. One pass (one draw for
 * each row of a matrix): blocks of WB_BLOCK_ITEMS items take one uniform each (core/block_draw.h). Prefix sums and
 * block sums are added in order. Inversion (many draws): the first item whose prefix sum, added up in order, exceeds
 * wb_target(u, total). */
#pragma once

#include "core/host_device.h"
#include "core/block_draw.h"

/* Whether draws from weights with this sum have the digits of their precision; otherwise a row is scaled first. */
WB_HD int wb_categorical_usable(double total) { return total >= 0x1p-960 && total - total == 0; }
WB_HD int wb_categorical_usablef(float total) { return total >= 0x1p-100f && total - total == 0; }

/* The value that a prefix sum must exceed; total is positive and finite. It is below the total for every u in (0, 1),
 * so that such a prefix sum exists. Its item has a positive weight, since it raised the sum. */
WB_HD double wb_target(double u, double total) {
  const double target = u * total, last = wb_next_below(total);
  return target < last ? target : last;
}
WB_HD float wb_targetf(float u, float total) {
  const float target = u * total, last = wb_next_belowf(total);
  return target < last ? target : last;
}
