/* Slice sampling of one number. */
#include "core/scalar.h"

#include "numeric/slice.h"

#include "core/random_gamma.h"

double wb_slice_draw(double (*log_density)(const void *of, double at), const void *of, double width, int steps,
                     double most, double current, wb_stream *stream) {
  const double level = log_density(of, current) - wb_draw_exponential(stream);
  double low = current - width * wb_stream_uniform(stream), high = low + width;
  int left = (int)(steps * wb_stream_uniform(stream)), right = steps - 1 - left;
  for (; left > 0 && low > -most && log_density(of, low) > level; left--) low -= width;
  for (; right > 0 && high < most && log_density(of, high) > level; right--) high += width;
  if (low < -most) low = -most;
  if (high > most) high = most;
  for (int trial = 0; trial < 1000 && high - low > 1e-12; trial++) {
    const double at = wb_fma(high - low, wb_stream_uniform(stream), low);
    if (log_density(of, at) > level) return at;
    if (at < current) low = at;
    else high = at;
  }
  return current;
}
