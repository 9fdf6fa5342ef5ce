/* Adds numbers whose logarithms are given, by core/log_sum.h. */
#include "core/rounding.h"

#include "numeric/log_add.h"

#include "core/log_sum.h"

#define WB_LOOPS "numeric/log_add_loops.h"
#include "numeric/isa.h"

void wb_log_add_to(wb_isa isa, int64_t count, const double *b, const double *unit, int64_t step, double *sum) {
  WB_LOOP(log_add_to, isa)(count, b, unit, step, sum);
}
