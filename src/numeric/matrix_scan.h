/* One pass over a matrix of data: whether every value is finite, and the mean, standard deviation, minimum and maximum
 * of each column. The matrix may come in parts: all but the last have a multiple of WB_LEAF_ROWS rows. */
#pragma once

#include <stdint.h>

typedef struct wb_matrix_scan {
  int64_t not_finite; /* how many values are NA, NaN or infinite */
  int64_t row;        /* from 0: the first row with such a value, -1 if none */
  int32_t column;     /* from 0: that row's first such column */
} wb_matrix_scan;

/* The moments of a column so far; all zero before the first part. */
typedef struct wb_matrix_moments {
  double origin, count, mean, squares; /* of x - origin; `squares` is about the mean */
  double min, max;
} wb_matrix_moments;

/* Adds a part of the matrix: x is rows x columns, column-major, after `first_row` earlier rows. `moments` and `scan`
 * have an entry for each column. A column with a value that is not finite has unspecified moments. */
void wb_matrix_scan_rows(const double *x, int64_t rows, int32_t columns, int64_t first_row, int32_t threads,
                         wb_matrix_moments *moments, wb_matrix_scan *scan);

wb_matrix_scan wb_matrix_scan_join(const wb_matrix_scan *scan, int32_t columns);

/* Writes one value for each column into each of the four arrays. sd has the divisor rows - 1 and is 0 for one row. */
void wb_matrix_scan_finish(const wb_matrix_moments *moments, int32_t columns, double *mean, double *sd, double *min,
                           double *max);
