/* Normal draws by inversion, one uniform each: positions in the stream are known, and lanes never diverge. */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

/* A standard normal draw; takes one word. The largest possible is 8.21. */
WB_HD double wb_draw_normal(wb_stream *stream) { return wb_normal_quantile_within(wb_stream_uniform(stream)); }
