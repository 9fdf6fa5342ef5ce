/* Student's t by the polar method: Bailey 1994, "Polar generation of random variates with the t-distribution",
 * Mathematics of Computation 62, 779-781. */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

/* A trial: a point of [-1, 1]^2 (*u is the first coordinate). Its squared distance; accepted if at most 1. */
WB_HD double wb_t_trial(double first, double second, double *u) {
  double v = wb_fma(2.0, second, -1.0);
  *u = wb_fma(2.0, first, -1.0);
  return wb_fma(*u, *u, v * v);
}

WB_HD double wb_t_of_trial(double u, double w, double df) {
  return u * wb_sqrt(df * wb_expm1(-2.0 / df * wb_log(w)) / w);
}

/* Student's t, df > 0. A trial takes two words; 79% are accepted. */
WB_HD double wb_draw_t(wb_stream *stream, double df) {
  for (;;) {
    double u, first = wb_stream_uniform(stream);
    double w = wb_t_trial(first, wb_stream_uniform(stream), &u);
    if (w > 1.0) continue;
    return wb_t_of_trial(u, w, df);
  }
}
