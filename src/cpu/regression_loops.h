/* Loops of the regression's sweep, included once for each instruction set by isa.h: over a
 * tile of REGRESSION_TILE rows, or over the rows of a leaf. */

/* One column of a tile in the units of the computation. */
static void WB_NAME(regression_load)(const double *restrict x, double center, double inverse_scale,
                                     double *restrict line) {
  for (int l = 0; l < REGRESSION_TILE; l++) line[l] = wb_regression_scaled(x[l], center, inverse_scale);
}

/* Adds coefficient times column to the linear predictors of a tile. */
static void WB_NAME(regression_add)(const double *restrict line, double coefficient, double *restrict linear) {
  for (int l = 0; l < REGRESSION_TILE; l++) linear[l] = wb_fma(line[l], coefficient, linear[l]);
}

/* Log likelihoods of `count` rows, a multiple of 8. */
static void WB_NAME(regression_log_likelihood)(int count, const double *restrict kappa, const double *restrict shape,
                                               const double *restrict psi, double *restrict log_likelihood) {
  for (int l = 0; l < count; l++) log_likelihood[l] = wb_regression_log_likelihood(kappa[l], shape[l], psi[l]);
}

/* sums[r][c] += left[l][r] right[l][c] over the rows l of a tile, in order, for the blocks of 8
 * columns c that reach below the diagonal. `left` and the sums have `lines` rows r, a
 * multiple of 8; right and the sums have `padded` columns, a multiple of 8. A block of sums stays in
 * registers while the rows pass. */
static void WB_NAME(regression_products)(int rows, int lines, int padded, const double *restrict left,
                                         const double *restrict right, double *restrict sums) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = 8 / LANES, BLOCK = WB_VECTOR_BYTES == 64 ? 8 : 4 };
  for (int r = 0; r < lines; r += BLOCK) {
    for (int c = 0; c < padded && c < r + BLOCK; c += 8) {
      wb_vector sum[BLOCK][VECTORS];
      WB_UNROLL
      for (int i = 0; i < BLOCK; i++)
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++)
          sum[i][v] = *(const wb_vector *)(sums + (size_t)(r + i) * (size_t)padded + c + v * LANES);
      for (int l = 0; l < rows; l++) {
        const double *const a = left + (size_t)l * (size_t)lines + r;
        const double *const b = right + (size_t)l * (size_t)padded + c;
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++) {
          const wb_vector x = *(const wb_vector *)(b + v * LANES);
          WB_UNROLL
          for (int i = 0; i < BLOCK; i++) sum[i][v] = WB_VECTOR_FMA(WB_VECTOR_SET(a[i]), x, sum[i][v]);
        }
      }
      WB_UNROLL
      for (int i = 0; i < BLOCK; i++)
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++)
          *(wb_vector *)(sums + (size_t)(r + i) * (size_t)padded + c + v * LANES) = sum[i][v];
    }
  }
}
