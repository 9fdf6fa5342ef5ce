/* Loops over the rows of a grouping term's levels, compiled for each instruction set by cpu/regression/terms.c. */

/* Adds the products of left[i] and the TERM_COLUMNS numbers of line i to the first `width` numbers of `to`, line by
 * line. The columns' sums do not wait for each other, as the lines of one sum do. */
static inline void WB_NAME(term_add)(int rows, const double *restrict left, const double *restrict line, int width,
                                     double *restrict to) {
  enum { VECTORS = TERM_COLUMNS * 8 / WB_VECTOR_BYTES };
  double sum[TERM_COLUMNS] = {0};
  wb_vector part[VECTORS];
  memcpy(sum, to, (size_t)width * sizeof(double));
  WB_UNROLL
  for (int v = 0; v < VECTORS; v++) memcpy(&part[v], sum + v * (WB_VECTOR_BYTES / 8), WB_VECTOR_BYTES);
  for (int i = 0; i < rows; i++) {
    const wb_vector factor = WB_VECTOR_SET(left[i]);
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) {
      wb_vector values;
      memcpy(&values, line + i * TERM_COLUMNS + v * (WB_VECTOR_BYTES / 8), WB_VECTOR_BYTES);
      part[v] = WB_VECTOR_FMA(factor, values, part[v]);
    }
  }
  WB_UNROLL
  for (int v = 0; v < VECTORS; v++) memcpy(sum + v * (WB_VECTOR_BYTES / 8), &part[v], WB_VECTOR_BYTES);
  memcpy(to, sum, (size_t)width * sizeof(double));
}

/* Column k of Z, times `factor` if there is one, into each `step`-th number of `to`. */
static inline void WB_NAME(term_take)(const wb_regression_data *data, const wb_regression_term *term, int k,
                                      const int32_t *restrict row, int rows, const double *restrict factor,
                                      double *restrict to, int step) {
  const double *const z = term->z ? term->z + (size_t)k * (size_t)data->rows : NULL;
  for (int i = 0; i < rows; i++)
    to[i * step] = z ? (factor ? factor[i] * z[row[i]] : z[row[i]]) : factor ? factor[i] : 1.0;
}

/* Columns block, ..., block + width - 1 of Z of these rows, as lines. */
static inline void WB_NAME(term_lines)(const wb_regression_data *data, const wb_regression_term *term, int block,
                                       int width, const int32_t *restrict row, int rows, double *restrict line) {
  if (width < TERM_COLUMNS) memset(line, 0, (size_t)rows * TERM_COLUMNS * sizeof(double));
  for (int k = 0; k < width; k++) WB_NAME(term_take)(data, term, block + k, row, rows, NULL, line + k, TERM_COLUMNS);
}

/* Predictors block, ..., block + width - 1 of `rows` rows, first, first + 1, ... or those in `row`, as lines. */
static inline void WB_NAME(term_predictors)(const wb_regression_data *data, int block, int width,
                                            const int32_t *restrict row, int64_t first, int rows,
                                            double *restrict line) {
  if (width < TERM_COLUMNS) memset(line, 0, (size_t)rows * TERM_COLUMNS * sizeof(double));
  for (int c = 0; c < width; c++) {
    const double *const x = data->x + (size_t)(block + c) * (size_t)data->rows;
    const double center = data->center[block + c], inverse_scale = data->inverse_scale[block + c];
    for (int i = 0; i < rows; i++)
      line[i * TERM_COLUMNS + c] = wb_regression_scaled(x[row ? row[i] : first + i], center, inverse_scale);
  }
}

/* The sums of omega x, omega and z over `count` rows from `first` on. omega, z: of these rows. */
static void WB_NAME(term_segment)(const wb_regression_data *data, int64_t first, int count, const double *omega,
                                  const double *z, double *restrict to) {
  const int p = data->columns;
  double line[TERM_ROWS * TERM_COLUMNS];
  for (int at = 0; data->x && at < count; at += TERM_ROWS) {
    const int rows = count - at < TERM_ROWS ? count - at : TERM_ROWS;
    for (int block = 0; block < p; block += TERM_COLUMNS) {
      const int width = p - block < TERM_COLUMNS ? p - block : TERM_COLUMNS;
      WB_NAME(term_predictors)(data, block, width, NULL, first + at, rows, line);
      WB_NAME(term_add)(rows, omega + at, line, width, to + block);
    }
  }
  for (int i = 0; i < count; i++) {
    for (int32_t e = data->x ? 0 : data->row_start[first + i]; !data->x && e < data->row_start[first + i + 1]; e++)
      to[data->column[e]] = wb_fma(omega[i], data->value[e], to[data->column[e]]);
    to[p] += omega[i];
    to[p + 1] += z[i];
  }
}

/* Z'z of a piece: adds to `to`. */
static void WB_NAME(term_linear)(const wb_regression_data *data, const wb_regression_term *term, const double *z,
                                 const int32_t *row, int32_t count, double *to) {
  double line[TERM_ROWS * TERM_COLUMNS], weight[TERM_ROWS];
  const int q = term->columns;
  for (int32_t at = 0; at < count; at += TERM_ROWS) {
    const int rows = count - at < TERM_ROWS ? count - at : TERM_ROWS;
    for (int i = 0; i < rows; i++) weight[i] = z[row[at + i]];
    for (int block = 0; block < q; block += TERM_COLUMNS) {
      const int width = q - block < TERM_COLUMNS ? q - block : TERM_COLUMNS;
      WB_NAME(term_lines)(data, term, block, width, row + at, rows, line);
      WB_NAME(term_add)(rows, weight, line, width, to + block);
    }
  }
}

/* Z'WZ and Z'WX of a piece: adds to `to`, the statistics of a level. */
static void WB_NAME(term_products)(const wb_regression_data *data, const wb_regression_term *term, const double *omega,
                                   const int32_t *row, int32_t count, double *to) {
  const int p = data->columns, q = term->columns;
  double *const predictors = to + wb_packed_size(q);
  double line[TERM_ROWS * TERM_COLUMNS], weight[TERM_ROWS], left[TERM_ROWS];
  for (int32_t at = 0; at < count; at += TERM_ROWS) {
    const int rows = count - at < TERM_ROWS ? count - at : TERM_ROWS;
    const int32_t *const these = row + at;
    for (int i = 0; i < rows; i++) weight[i] = omega[these[i]];
    for (int block = 0; block < q; block += TERM_COLUMNS) {
      const int width = q - block < TERM_COLUMNS ? q - block : TERM_COLUMNS;
      WB_NAME(term_lines)(data, term, block, width, these, rows, line);
      for (int k = block; k < q; k++) {
        WB_NAME(term_take)(data, term, k, these, rows, weight, left, 1);
        WB_NAME(term_add)(rows, left, line, k + 1 - block < width ? k + 1 - block : width,
                          to + wb_packed_row(k) + block);
      }
    }
    for (int block = 0; data->x && block < p; block += TERM_COLUMNS) {
      const int width = p - block < TERM_COLUMNS ? p - block : TERM_COLUMNS;
      WB_NAME(term_predictors)(data, block, width, these, 0, rows, line);
      for (int k = 0; k < q; k++) {
        WB_NAME(term_take)(data, term, k, these, rows, weight, left, 1);
        WB_NAME(term_add)(rows, left, line, width, predictors + (size_t)k * (size_t)p + block);
      }
    }
    for (int k = 0; !data->x && k < q; k++) {
      double *const sums = predictors + (size_t)k * (size_t)p;
      WB_NAME(term_take)(data, term, k, these, rows, weight, left, 1);
      for (int i = 0; i < rows; i++)
        for (int32_t e = data->row_start[these[i]]; e < data->row_start[these[i] + 1]; e++)
          sums[data->column[e]] = wb_fma(left[i], data->value[e], sums[data->column[e]]);
    }
  }
}

/* Adds the products of Z and the effects of a term to the values of `rows` rows from `begin` on. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(term_effects)(const wb_regression_data *data, const wb_regression_term *term, const double *effects,
                                  int64_t begin, int rows, double *restrict value) {
  const int32_t *const level = term->level + begin;
  const int q = term->columns;
  for (int i = 0; !term->z && i < rows; i++) value[i] += effects[level[i]];
  for (int k = 0; term->z && k < q; k++) {
    const double *const z = term->z + (size_t)k * (size_t)data->rows + begin;
    for (int i = 0; i < rows; i++) value[i] = wb_fma(z[i], effects[(size_t)level[i] * (size_t)q + (size_t)k], value[i]);
  }
}

/* Takes from the weights z in the linear term what a change of effects adds to the rows: up to TERM_ROWS rows. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(term_change)(const wb_regression_data *data, const wb_regression_term *term, const double *change,
                                 int64_t begin, int rows, const double *restrict omega, double *restrict z) {
  double added[TERM_ROWS] = {0};
  WB_NAME(term_effects)(data, term, change, begin, rows, added);
  for (int i = 0; i < rows; i++) z[begin + i] = wb_fma(-omega[begin + i], added[i], z[begin + i]);
}

static void WB_NAME(level_map)(int count, wb_level_columns *all, double tie, double most) {
  for (int l = 0; l < count; l++)
    wb_level_map_one(all->weight[l], all->share[l], all->mode[l], all->linear[l], all->shift[l], tie, most,
                     all->mean + l, all->root + l);
}
