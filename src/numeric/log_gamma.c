/* Adds logarithms of gamma functions. Logarithms of large arguments are computed in vectors. */
#include "core/rounding.h"

#include "numeric/log_gamma.h"

#include "core/elementary.h"

/* Values whose logarithms are computed together. */
#define LOG_GAMMA_CHUNK 256

#define WB_LOOPS "numeric/log_gamma_loops.h"
#include "numeric/isa.h"

double wb_log_gamma_sum(wb_isa isa, int64_t count, const double *value, const double *weight, double shift,
                        double sum) {
  for (int64_t i = 0; i < count; i += LOG_GAMMA_CHUNK)
    sum = WB_LOOP(log_gamma_sum, isa)(count - i < LOG_GAMMA_CHUNK ? (int)(count - i) : LOG_GAMMA_CHUNK, value + i,
                                      weight + i, shift, sum);
  return sum;
}
