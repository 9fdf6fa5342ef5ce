/* Adds logarithms of gamma functions. Logarithms of large arguments are computed in vectors. */
#include "core/rounding.h"

#include "numeric/log_gamma.h"

#include "core/elementary.h"

#define LOG_GAMMA_CHUNK 256

/* What Stirling's series adds to (x - 1/2) log(x) - x + log(2 pi)/2; its next term is 1/(1260 x^5). */
static inline double stirling(double x) { return (1.0 / 12.0 - 1.0 / (360.0 * x * x)) / x; }

#define WB_LOOPS "numeric/log_gamma_loops.h"
#include "numeric/isa.h"

double wb_log_gamma_sum(wb_isa isa, int64_t count, const double *value, const double *weight, double shift,
                        double sum) {
  for (int64_t i = 0; i < count; i += LOG_GAMMA_CHUNK)
    sum = WB_LOOP(log_gamma_sum, isa)(count - i < LOG_GAMMA_CHUNK ? (int)(count - i) : LOG_GAMMA_CHUNK, value + i,
                                      weight + i, shift, sum);
  return sum;
}

double wb_log_gamma_excess_sum(wb_isa isa, int64_t count, const double *value, const double *weight, double shift) {
  double sum = 0.0, term[LOG_GAMMA_CHUNK];
  for (int64_t first = 0; first < count; first += LOG_GAMMA_CHUNK) {
    const int size = count - first < LOG_GAMMA_CHUNK ? (int)(count - first) : LOG_GAMMA_CHUNK;
    WB_LOOP(log_gamma_excess, isa)(size, value + first, shift, stirling(shift), term);
    for (int i = 0; i < size; i++) sum = wb_fma(weight[first + i], term[i], sum);
  }
  return sum;
}
