/* Loops over products of the design, for sweep.c and dual.c, included once for each instruction set. */

/* Adds coefficient times column to the linear predictors of `rows` rows. */
static void WB_NAME(regression_add)(int rows, const double *restrict x, double center, double inverse_scale,
                                    double coefficient, double *restrict linear) {
  for (int l = 0; l < rows; l++)
    linear[l] = wb_fma(wb_regression_scaled(x[l], center, inverse_scale), coefficient, linear[l]);
}

/* Adds all columns of a sparse design to the linear predictors. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(regression_add_entries)(int rows, const int32_t *restrict row_start, const int32_t *restrict column,
                                            const double *restrict value, const double *restrict coefficients,
                                            double *restrict linear) {
  for (int l = 0; l < rows; l++) {
    double sum = linear[l];
    for (int32_t e = row_start[l]; e < row_start[l + 1]; e++) sum = wb_fma(value[e], coefficients[column[e]], sum);
    linear[l] = sum;
  }
}

/* sums[r][c] += left[r][l] right[l][c] over the rows l of a tile, in order, for the blocks of 8 columns c that reach
 * the lower triangle. Line 0 of the sums has the diagonal in column `first`. `left` and the sums have `lines` rows;
 * `right` and the sums have `padded` columns; both are multiples of 8. A block of sums stays in registers. */
static void WB_NAME(regression_products)(int rows, int first, int lines, int padded, const double *restrict left,
                                         const double *restrict right, double *restrict sums) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = 8 / LANES, BLOCK = WB_VECTOR_BYTES == 64 ? 8 : 4 };
  for (int r = 0; r < lines; r += BLOCK) {
    for (int c = 0; c < padded && c < first + r + BLOCK; c += 8) {
      wb_vector sum[BLOCK][VECTORS];
      WB_UNROLL
      for (int i = 0; i < BLOCK; i++) {
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++)
          sum[i][v] = *(const wb_vector *)(sums + (size_t)(r + i) * (size_t)padded + c + v * LANES);
      }
      for (int l = 0; l < rows; l++) {
        const double *const a = left + (size_t)r * REGRESSION_TILE + l;
        const double *const b = right + (size_t)l * (size_t)padded + c;
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++) {
          const wb_vector x = *(const wb_vector *)(b + v * LANES);
          WB_UNROLL
          for (int i = 0; i < BLOCK; i++)
            sum[i][v] = WB_VECTOR_FMA(WB_VECTOR_SET(a[i * REGRESSION_TILE]), x, sum[i][v]);
        }
      }
      WB_UNROLL
      for (int i = 0; i < BLOCK; i++) {
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++)
          *(wb_vector *)(sums + (size_t)(r + i) * (size_t)padded + c + v * LANES) = sum[i][v];
      }
    }
  }
}
