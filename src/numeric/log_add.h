/* Sums of numbers whose logarithms are given. */
#ifndef WB_LOG_ADD_H
#define WB_LOG_ADD_H

#include "backend/types.h"

/* log(exp(a) + exp(b)) of each pair, by the larger of the two: nothing overflows. -Inf is the log of 0. */
void wb_log_add(wb_isa isa, int64_t count, const double *a, const double *b, double *sum);

/* The same of sum and b - unit, into sum. `step`: 1, or 0 where one unit is that of all. */
void wb_log_add_to(wb_isa isa, int64_t count, const double *b, const double *unit, int64_t step, double *sum);

#endif
