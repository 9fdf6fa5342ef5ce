/* Loops of cpu/regression/dual.c, included once for each instruction set by isa.h. */

#include "cpu/regression/products_loops.h"

/* The factors of the products of two blocks of rows, for one column of the design: `left` has its weighted values of
 * GRAM_LINES rows, REGRESSION_TILE apart, and `right` its values of `count` rows. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(dual_factors)(int lines, const double *restrict x_left, int count, const double *restrict x_right,
                                  double center, double inverse_scale, double weight, double *restrict left,
                                  double *restrict right) {
  for (int r = 0; r < lines; r++)
    left[r * REGRESSION_TILE] = weight * wb_regression_scaled(x_left[r], center, inverse_scale);
  for (int c = 0; c < count; c++) right[c] = wb_regression_scaled(x_right[c], center, inverse_scale);
}

/* The product of a column and a vector. */
static double WB_NAME(dual_dot)(int64_t rows, const double *x, double center, double inverse_scale, const double *v) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = WB_REGRESSION_LANES / LANES };
  const wb_vector centers = WB_VECTOR_SET(center), scales = WB_VECTOR_SET(inverse_scale);
  wb_vector sum[VECTORS];
  double part[WB_REGRESSION_LANES];
  int64_t i = 0;
  WB_UNROLL
  for (int k = 0; k < VECTORS; k++) sum[k] = WB_VECTOR_SET(0.0);
  for (; i + WB_REGRESSION_LANES <= rows; i += WB_REGRESSION_LANES) {
    WB_UNROLL
    for (int k = 0; k < VECTORS; k++) {
      wb_vector value, other;
      memcpy(&value, x + i + k * LANES, sizeof value);
      memcpy(&other, v + i + k * LANES, sizeof other);
      sum[k] = WB_VECTOR_FMA((value - centers) * scales, other, sum[k]);
    }
  }
  memcpy(part, sum, sizeof part);
  for (int k = 0; i < rows; i++, k++)
    part[k] = wb_fma(wb_regression_scaled(x[i], center, inverse_scale), v[i], part[k]);
  return wb_regression_fold(part);
}

/* The product of the entries of a row and a vector. */
/* tools/loops: no vector multiply-adds */
static double WB_NAME(dual_entries)(int32_t begin, int32_t end, const int32_t *restrict column,
                                    const double *restrict value, const double *restrict v) {
  double sum = 0.0;
  for (int32_t e = begin; e < end; e++) sum = wb_fma(v[column[e]], value[e], sum);
  return sum;
}
