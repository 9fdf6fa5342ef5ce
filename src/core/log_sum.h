/* The logarithm of a sum of two numbers, given their logarithms. */
#pragma once

#include "core/elementary.h"

/* log(exp(a) + exp(b)), relative to the larger one so that nothing overflows. -Inf is the log of 0. */
WB_HD double wb_log_sum(double a, double b) {
  const double high = wb_select(a > b, a, b), low = wb_select(a > b, b, a);
  /* If both are -Inf, their difference would be NaN. */
  const double below = wb_select(high > -wb_infinity(), low - high, 0.0);
  return high + wb_log1p(wb_exp_weight(below));
}
