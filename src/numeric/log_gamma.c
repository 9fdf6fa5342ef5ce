/* Adds logarithms of gamma functions. Those of large arguments are computed in vectors. */
#include "core/rounding.h"

#include "numeric/log_gamma.h"

#include "core/elementary.h"

/* Values whose logarithms are computed together. */
#define LOG_GAMMA_CHUNK 256

#define WB_LOOPS "numeric/log_gamma_loops.h"
#include "numeric/isa.h"

typedef double add_log_gammas(int count, const double *value, const double *weight, double shift, double sum);

static add_log_gammas *const sums[] = WB_ISA_TABLE(log_gamma_sum);

double wb_log_gamma_sum(wb_isa isa, int64_t count, const double *value, const double *weight, double shift,
                        double sum) {
  for (int64_t i = 0; i < count; i += LOG_GAMMA_CHUNK)
    sum = sums[isa](count - i < LOG_GAMMA_CHUNK ? (int)(count - i) : LOG_GAMMA_CHUNK, value + i, weight + i, shift,
                    sum);
  return sum;
}
