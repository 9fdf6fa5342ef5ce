/* Slice sampling of one variable. */
#include "core/scalar.h"

#include "core/random_gamma.h"
#include "regression/draws.h"

/* Neal 2003, figures 3 and 5. The logs of scales lie within 100 of 0. */
double wb_regression_slice(double (*log_density)(const void *law, double at), const void *law, double width,
                           double current, wb_stream *stream) {
  enum { STEPS = 32 };
  const double most = 100.0;
  const double level = log_density(law, current) - wb_draw_exponential(stream);
  double low = current - width * wb_stream_uniform(stream), high = low + width;
  int left = (int)(STEPS * wb_stream_uniform(stream)), right = STEPS - 1 - left;
  for (; left > 0 && low > -most && log_density(law, low) > level; left--) low -= width;
  for (; right > 0 && high < most && log_density(law, high) > level; right--) high += width;
  if (low < -most) low = -most;
  if (high > most) high = most;
  while (high - low > 1e-12) {
    const double at = wb_fma(high - low, wb_stream_uniform(stream), low);
    if (log_density(law, at) > level) return at;
    if (at < current) low = at;
    else high = at;
  }
  return current;
}
