/* Adds and compares numbers whose logarithms are given. */
#pragma once

#include "backend/types.h"

/* sum = log(exp(sum) + exp(b - unit)) for `count` numbers. `step`: 1, or 0 if all have the same unit. */
void wb_log_add_to(wb_isa isa, int64_t count, const double *b, const double *unit, int64_t step, double *sum);

/* At each of `count` places from `first` on: which of several numbers, given by their logarithms, is the largest (from
 * 0; the first of equal ones), and its share of their sum, NaN if this is 0. log_number: `numbers` vectors. */
void wb_log_largest(wb_isa isa, int64_t first, int64_t count, int32_t numbers, const double *const *log_number,
                    int32_t *largest, double *share);
