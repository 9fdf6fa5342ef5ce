/* Normal draws by inversion. Each takes one uniform, so that the position of a draw in its stream is known in advance
 * and the lanes of a warp never diverge. */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

/* A standard normal draw; takes one word. The largest possible is 8.21. */
WB_HD double wb_draw_normal(wb_stream *stream) { return wb_normal_quantile_within(wb_stream_uniform(stream)); }
