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

/* The same for all columns of rows of a sparse design. */
static void WB_NAME(regression_add_entries)(int rows, const int32_t *restrict row_start, const int32_t *restrict column,
                                            const double *restrict value, const double *restrict coefficients,
                                            double *restrict linear) {
  for (int l = 0; l < rows; l++) {
    double sum = linear[l];
    for (int32_t e = row_start[l]; e < row_start[l + 1]; e++) sum = wb_fma(value[e], coefficients[column[e]], sum);
    linear[l] = sum;
  }
}

/* Shape, kappa, fixed part and logit of `count` rows; `fixed` holds the offsets and takes the fixed part. */
static void WB_NAME(regression_weigh)(int count, const double *restrict base_shape, const double *restrict base_kappa,
                                      const double *restrict dispersed, double dispersion, double shift,
                                      const double *restrict linear, double *restrict shape, double *restrict kappa,
                                      double *restrict fixed, double *restrict psi) {
  for (int l = 0; l < count; l++) {
    shape[l] = wb_regression_shape(base_shape[l], dispersed[l], dispersion);
    kappa[l] = wb_regression_kappa(base_kappa[l], dispersed[l], dispersion);
    fixed[l] += shift;
    psi[l] = linear[l] + fixed[l];
  }
}

/* z of `count` rows, in the place of kappa; no trials, no weight. */
static void WB_NAME(regression_complete)(int count, const double *restrict shape, const double *restrict fixed,
                                         double *restrict omega, double *restrict kappa) {
  for (int l = 0; l < count; l++) {
    omega[l] = wb_select(shape[l] == 0.0, 0.0, omega[l]);
    kappa[l] = wb_fma(-omega[l], fixed[l], kappa[l]);
  }
}

/* A tile from columns to rows: right = x, left = omega x with z after it. */
static void WB_NAME(regression_transpose)(int rows, int columns, int lines, int padded, const double *restrict line,
                                          const double *restrict omega, const double *restrict z,
                                          double *restrict left, double *restrict right) {
  for (int c = 0; c < columns; c++) {
    const double *restrict const column = line + c * REGRESSION_TILE;
    for (int l = 0; l < rows; l++) {
      right[l * padded + c] = column[l];
      left[l * lines + c] = omega[l] * column[l];
    }
  }
  for (int l = 0; l < rows; l++) left[l * lines + columns] = z[l];
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

/* What these products and X'z are for rows of a sparse design: the sums on and below the diagonal, and their
 * line `columns`. */
static void WB_NAME(regression_multiply_entries)(int rows, int columns, int padded, const int32_t *restrict row_start,
                                                 const int32_t *restrict column, const double *restrict value,
                                                 const double *restrict omega, const double *restrict z,
                                                 double *restrict sums) {
  double *restrict const last = sums + (size_t)columns * (size_t)padded;
  for (int l = 0; l < rows; l++) {
    for (int32_t e = row_start[l]; e < row_start[l + 1]; e++) {
      const double left = omega[l] * value[e];
      double *restrict const line = sums + (size_t)column[e] * (size_t)padded;
      for (int32_t f = row_start[l]; f <= e; f++) line[column[f]] = wb_fma(left, value[f], line[column[f]]);
      last[column[e]] = wb_fma(z[l], value[e], last[column[e]]);
    }
  }
}
