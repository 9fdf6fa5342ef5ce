/* Medians of groups of rows. */
#ifndef WB_MEDIANS_H
#define WB_MEDIANS_H

#include <stdint.h>

/* The median of each column of x (rows x columns, column-major) over the rows of each group, without NaN.
 *   group    of each row, from 1
 *   medians  groups x columns; NaN without a value
 * Threads share the columns. Each has memory for a column and for the number of groups. Returns 0 if memory does
 * not suffice for one. */
int wb_group_medians(const double *x, int64_t rows, int32_t columns, const int32_t *group, int32_t groups,
                     int32_t threads, double *medians);

#endif
