/* Normal draws by inversion: each takes one uniform, so that the place of a draw in its stream is known beforehand and
 * the lanes of a warp never diverge. */
#ifndef WB_RANDOM_NORMAL_H
#define WB_RANDOM_NORMAL_H

#include "core/elementary.h"
#include "core/philox.h"

/* A standard normal draw. Takes one word. The largest possible is 8.21. */
WB_HD double wb_draw_normal(wb_stream *stream) {
  return wb_normal_quantile_within(wb_stream_uniform(stream));
}

#endif
