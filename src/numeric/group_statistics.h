/* Medians or means of groups of rows. */
#pragma once

#include <stdint.h>

/* Rows in parts, such as samples, and in several draws of the group of each row. */
typedef struct wb_grouping {
  int64_t rows;
  int32_t parts, draws, groups;
  const int32_t *order; /* the rows of the first part, then of the second, and so on; from 1 */
  const int32_t *end;   /* parts: where each ends in `order` */
  const int32_t *group; /* rows x draws, from 1 */
} wb_grouping;

/* The median or mean of columns of x (column-major) over each group of each part, without NaN, and its variance.
 *   columns          which, from 1; there are `count`
 *   least            groups of fewer values have NaN
 *   value, variance  groups x parts x draws x count
 * Threads share parts, draws and columns. Returns 0 if memory does not suffice for one thread. */
int wb_group_statistics(const double *x, const int32_t *columns, int32_t count, const wb_grouping *grouping, int mean,
                        int64_t least, int32_t threads, double *value, double *variance);
