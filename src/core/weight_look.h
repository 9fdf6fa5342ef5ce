/* Checks that weights make a distribution: finite, not negative, and not all zero. */
#pragma once

#include "core/elementary.h"

/* What a pass over weights has seen, without a branch for each. `all` is the union of their bits: 0 if all weights are
 * zero; its sign bit is set if one is negative. `above` is the union of the bits with 1 added to the exponent field:
 * its sign bit is set if a weight is infinite or NaN; likewise `large`, if a weight is 2^500 or more. */
typedef struct wb_weight_bits {
  uint64_t all, above, large;
} wb_weight_bits;

#define WB_WEIGHT_ABOVE ((uint64_t)1 << 52)
#define WB_WEIGHT_LARGE ((uint64_t)(2048 - 1023 - 500) << 52)

WB_HD void wb_weight_see(wb_weight_bits *seen, double weight) {
  const uint64_t bits = wb_double_bits(weight + 0.0); /* -0 becomes 0 */
  seen->all |= bits;
  seen->above |= bits + WB_WEIGHT_ABOVE;
  seen->large |= bits + WB_WEIGHT_LARGE;
}

/* The verdict on weights: 0, or the union of these. */
#define WB_WEIGHTS_UNUSABLE 1u
#define WB_WEIGHTS_LARGE 2u

WB_HD unsigned wb_weight_judge(wb_weight_bits seen) {
  return ((seen.all | seen.above) >> 63 != 0 || seen.all == 0 ? WB_WEIGHTS_UNUSABLE : 0u) |
         (seen.large >> 63 != 0 ? WB_WEIGHTS_LARGE : 0u);
}
