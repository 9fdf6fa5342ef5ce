/* Slice sampling of the factor that regression/rescale.h describes. */
#include "core/scalar.h"

#include "regression/rescale.h"

#include "core/elementary.h"
#include "core/random_gamma.h"

static double log_density(const wb_regression_factor_law *law, double t) {
  const double c = wb_exp(t);
  return wb_fma(c, wb_fma(-0.5 * law->square, c, law->linear), -law->power * t) -
         0.5 * (law->power + 1.0) * wb_log(law->tie / (c * c) + law->floor);
}

/* Neal 2003, figures 3 and 5. The width is fixed: it must not depend on where the chain is. */
double wb_regression_draw_log_factor(const wb_regression_factor_law *law, wb_stream *stream) {
  const double level = log_density(law, 0.0) - wb_draw_exponential(stream);
  double low = -wb_stream_uniform(stream), high = low + 1.0;
  int left = (int)(16.0 * wb_stream_uniform(stream)), right = 15 - left;
  for (; left > 0 && log_density(law, low) > level; left--) low -= 1.0;
  for (; right > 0 && log_density(law, high) > level; right--) high += 1.0;
  while (high - low > 1e-14) {
    const double at = wb_fma(high - low, wb_stream_uniform(stream), low);
    if (log_density(law, at) > level) return at;
    if (at < 0.0) low = at;
    else high = at;
  }
  return 0.0;
}
