/* Allocates a row of two mixture components to one of two halves, for split and merge moves (mixture/split_merge.c). */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

/* Log probabilities are multiples of 2^-26, so that sums have no order. Odds beyond exp(+-10,000) have no chance. */
#define WB_HALF_UNIT 0x1p26
#define WB_HALF_MOST 10000.0

/* Draws a row's half, 0 or 1, by the second's relative log weight d; gives both log probabilities in 2^-26. */
WB_HD double wb_half_draw(double d, uint64_t bits, double *log_first, double *log_second) {
  const double above = wb_select(d > -WB_HALF_MOST, d, -WB_HALF_MOST);
  const double within = wb_select(above < WB_HALF_MOST, above, WB_HALF_MOST);
  /* Beyond 700 neither result depends on the odds. With wb_exp() GCC 14 would not vectorize the loops. */
  const double odds = wb_exp_weight(wb_select(within > -700.0, -within, 700.0));
  const double log_probability = wb_select(within < -700.0, within, -wb_log1p(odds));
  *log_second = wb_nearest(WB_HALF_UNIT * log_probability);
  *log_first = wb_nearest(WB_HALF_UNIT * (log_probability - within));
  return wb_select(wb_uniform(bits) * (1 + odds) < 1, 1.0, 0.0);
}

/* A row's ticket: the smallest is uniform over any set of rows. Rows count from 0 and are below 2^32. */
WB_HD uint64_t wb_half_ticket(uint64_t bits, uint64_t row) { return (bits & 0xFFFFFFFF00000000u) | row; }
