/* Normal draws by inversion: one uniform in, one normal out, so that a draw's
 * place in its stream is known beforehand and lanes never part. */
#ifndef WB_RANDOM_NORMAL_H
#define WB_RANDOM_NORMAL_H

#include "core/elementary.h"
#include "core/philox.h"

/* Standard normal; takes one word. Largest possible: 8.21. */
WB_HD double wb_draw_normal(wb_stream *stream) {
  return wb_normal_quantile_within(wb_stream_uniform(stream));
}

#endif
