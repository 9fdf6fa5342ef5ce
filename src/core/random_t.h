/* Student's t by the polar method: Bailey 1994, "Polar generation of random
 * variates with the t-distribution", Mathematics of Computation 62, 779-781. */
#ifndef WB_RANDOM_T_H
#define WB_RANDOM_T_H

#include "core/elementary.h"
#include "core/philox.h"

/* df > 0. A trial takes two words, 79% are accepted. */
WB_HD double wb_draw_t(wb_stream *stream, double df) {
  for (;;) {
    double u = wb_fma(2.0, wb_stream_uniform(stream), -1.0);
    double v = wb_fma(2.0, wb_stream_uniform(stream), -1.0);
    double w = wb_fma(u, u, v * v);
    if (w > 1.0) continue;
    return u * wb_sqrt(df * wb_expm1(-2.0 / df * wb_log(w)) / w);
  }
}

#endif
