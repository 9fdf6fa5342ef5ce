/* One pass over a matrix of data: whether every value is finite, and the mean, standard
 * deviation, minimum and maximum of each column. */
#ifndef WB_MATRIX_SCAN_H
#define WB_MATRIX_SCAN_H

#include <stdint.h>

typedef struct wb_matrix_scan {
  int64_t not_finite; /* how many values are NA, NaN or infinite */
  int64_t row;        /* from 0: the first row with such a value, -1 if none */
  int32_t column;     /* from 0: that row's first such column */
} wb_matrix_scan;

/* x: rows x columns, column-major, at least one row. Each of the four arrays gets one
 * value for each column, unspecified if the column has a value that is not finite. sd
 * has the divisor rows - 1 and is 0 for one row. */
void wb_matrix_scan_columns(const double *x, int64_t rows, int32_t columns, double *mean,
                            double *sd, double *min, double *max, wb_matrix_scan *scan);

#endif
