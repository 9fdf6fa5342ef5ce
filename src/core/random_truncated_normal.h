/* Normal draws between two bounds, by rejection without any tail probability (Robert 1995, "Simulation of truncated
 * normal variables", Statistics and Computing 5, 121-125; Geweke 1991). At least 37% of the trials are accepted. */
#pragma once

#include "core/random_normal.h"

/* A standard normal draw between 0 <= lower < upper. Where the density falls by less than a factor e, proposals are
 * uniform, otherwise exponential with Robert's rate lower + gap. Each trial takes two words. */
WB_HD double wb_draw_normal_tail(wb_stream *stream, double lower, double upper) {
  const double width = upper - lower;
  const int is_narrow = 0.5 * width * (lower + upper) < 1.0;
  const double gap = 2.0 / (lower + wb_sqrt(wb_fma(lower, lower, 4.0))), rate = lower + gap;
  const double within = is_narrow ? 0.0 : 1.0 - wb_exp(-rate * width);
  for (;;) {
    const double u = wb_stream_uniform(stream), v = wb_stream_uniform(stream);
    const double over = is_narrow ? width * u : -wb_log1p(-within * u) / rate;
    const double away = over - gap;
    const double log_ratio = is_narrow ? -0.5 * over * (2.0 * lower + over) : -0.5 * away * away;
    if (!(wb_log(v) <= log_ratio)) continue;
    const double x = lower + over;
    return x < upper ? x : upper;
  }
}

WB_HD double wb_draw_truncated_normal(wb_stream *stream, double lower, double upper) {
  if (lower >= 0.0) return wb_draw_normal_tail(stream, lower, upper);
  if (upper <= 0.0) return -wb_draw_normal_tail(stream, -upper, -lower);
  const double width = upper - lower;
  for (;;) {
    if (width > 2.5) {
      const double x = wb_draw_normal(stream);
      if (x >= lower && x <= upper) return x;
    } else {
      const double x = wb_fma(width, wb_stream_uniform(stream), lower), v = wb_stream_uniform(stream);
      if (wb_log(v) <= -0.5 * x * x) return x < upper ? x : upper;
    }
  }
}
