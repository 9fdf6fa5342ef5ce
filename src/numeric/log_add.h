/* Adds numbers whose logarithms are given. */
#ifndef WB_LOG_ADD_H
#define WB_LOG_ADD_H

#include "backend/types.h"

/* sum = log(exp(sum) + exp(b - unit)) for each of `count` numbers. `step` is 1, or 0 if all numbers have the same
 * unit. */
void wb_log_add_to(wb_isa isa, int64_t count, const double *b, const double *unit, int64_t step, double *sum);

#endif
