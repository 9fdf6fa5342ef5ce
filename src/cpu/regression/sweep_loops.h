/* Loops of the regression's sweep over a tile of REGRESSION_TILE rows or a leaf, for each instruction set. */

#include "cpu/regression/products_loops.h"

/* tools/loops: no vector multiply-adds */
static void WB_NAME(regression_load)(const double *restrict x, double center, double inverse_scale,
                                     double *restrict line) {
  for (int l = 0; l < REGRESSION_TILE; l++) line[l] = wb_regression_scaled(x[l], center, inverse_scale);
}

/* Shape, kappa, fixed part and logit of `count` rows. `fixed` holds the offsets on entry. */
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

/* Replaces kappa by z in `count` rows. A row without trials gets weight 0. */
static void WB_NAME(regression_complete)(int count, const double *restrict shape, const double *restrict fixed,
                                         double *restrict omega, double *restrict kappa) {
  for (int l = 0; l < count; l++) {
    omega[l] = wb_select(shape[l] == 0.0, 0.0, omega[l]);
    kappa[l] = wb_fma(-omega[l], fixed[l], kappa[l]);
  }
}

/* Information in place of omega, and slopes in place of kappa. GCC 12 does not vectorise one loop of both for AVX2. */
static void WB_NAME(regression_inform)(int count, const double *restrict shape, const double *restrict psi,
                                       double *restrict omega, double *restrict kappa) {
  for (int l = 0; l < count; l++) omega[l] = wb_regression_information(shape[l], psi[l]);
  for (int l = 0; l < count; l++) kappa[l] = wb_regression_slope(kappa[l], shape[l], psi[l]);
}

static void WB_NAME(regression_inform_poisson)(int count, const double *restrict shape, const double *restrict psi,
                                               double *restrict omega, double *restrict kappa) {
  for (int l = 0; l < count; l++) omega[l] = wb_regression_poisson_information(kappa[l], shape[l], psi[l]);
  for (int l = 0; l < count; l++) kappa[l] = wb_fma(0.5, shape[l], kappa[l]) - omega[l];
}

#if WB_VECTOR_BYTES == 64
/* Transposes 8 columns, REGRESSION_TILE apart, into 8 rows, `padded` apart: single numbers, then pairs. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(regression_turn)(const double *restrict from, double *restrict to, int padded) {
  __m512d even[4], odd[4];
  WB_UNROLL
  for (int k = 0; k < 4; k++) {
    const __m512d a = _mm512_loadu_pd(from + 2 * k * REGRESSION_TILE),
                  b = _mm512_loadu_pd(from + (2 * k + 1) * REGRESSION_TILE);
    even[k] = _mm512_unpacklo_pd(a, b);
    odd[k] = _mm512_unpackhi_pd(a, b);
  }
  WB_UNROLL
  for (int k = 0; k < 2; k++) {
    const __m512d *const pairs = k ? odd : even;
    const __m512d a = _mm512_shuffle_f64x2(pairs[0], pairs[1], 0x88),
                  b = _mm512_shuffle_f64x2(pairs[2], pairs[3], 0x88);
    const __m512d c = _mm512_shuffle_f64x2(pairs[0], pairs[1], 0xdd),
                  d = _mm512_shuffle_f64x2(pairs[2], pairs[3], 0xdd);
    _mm512_storeu_pd(to + k * padded, _mm512_shuffle_f64x2(a, b, 0x88));
    _mm512_storeu_pd(to + (4 + k) * padded, _mm512_shuffle_f64x2(a, b, 0xdd));
    _mm512_storeu_pd(to + (2 + k) * padded, _mm512_shuffle_f64x2(c, d, 0x88));
    _mm512_storeu_pd(to + (6 + k) * padded, _mm512_shuffle_f64x2(c, d, 0xdd));
  }
}
#endif

/* The factors of a tile's products: `right` is x, transposed to rows; `left` is omega x in columns, followed by z. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(regression_factors)(int rows, int columns, int padded, const double *restrict line,
                                        const double *restrict omega, const double *restrict z, double *restrict left,
                                        double *restrict right) {
  for (int c = 0; c < columns; c++)
    for (int l = 0; l < rows; l++) left[c * REGRESSION_TILE + l] = omega[l] * line[c * REGRESSION_TILE + l];
  for (int l = 0; l < rows; l++) left[columns * REGRESSION_TILE + l] = z[l];
#if WB_VECTOR_BYTES == 64
  for (int l = 0; l < rows; l += 8)
    for (int c = 0; c < columns; c += 8)
      WB_NAME(regression_turn)(line + c * REGRESSION_TILE + l, right + l * padded + c, padded);
#else
  for (int l = 0; l < rows; l++)
    for (int c = 0; c < columns; c++) right[l * padded + c] = line[c * REGRESSION_TILE + l];
#endif
}

/* Log likelihoods of `count` rows, a multiple of 8. */
static void WB_NAME(regression_log_likelihood)(int count, const double *restrict kappa, const double *restrict shape,
                                               const double *restrict psi, double *restrict log_likelihood) {
  for (int l = 0; l < count; l++) log_likelihood[l] = wb_regression_log_likelihood(kappa[l], shape[l], psi[l]);
}

static void WB_NAME(regression_log_counts)(int count, double shift, const double *restrict base,
                                           const double *restrict shape, const double *restrict psi,
                                           double *restrict log_likelihood) {
  for (int l = 0; l < count; l++) log_likelihood[l] = wb_regression_log_counts(base[l], shape[l], shift, psi[l]);
}

/* The same of Poisson rows, and their log ratios to surrogates. */
static void WB_NAME(regression_log_poisson)(int count, const double *restrict kappa, const double *restrict shape,
                                            const double *restrict psi, double *restrict log_likelihood) {
  for (int l = 0; l < count; l++) log_likelihood[l] = wb_regression_log_poisson(kappa[l], shape[l], psi[l]);
}
static void WB_NAME(regression_log_ratio)(int count, const double *restrict kappa, const double *restrict shape,
                                          const double *restrict psi, double *restrict log_ratio) {
  for (int l = 0; l < count; l++) log_ratio[l] = wb_regression_log_ratio(kappa[l], shape[l], psi[l]);
}

/* The log probabilities of a count of 0 of `count` rows, a multiple of 8, by families. */
static void WB_NAME(regression_log_none)(int count, int poisson, const double *restrict size,
                                         const double *restrict psi, double *restrict none) {
  if (poisson)
    for (int l = 0; l < count; l++) none[l] = wb_zero_log_none(1, size[l], psi[l]);
  else
    for (int l = 0; l < count; l++) none[l] = wb_zero_log_none(0, size[l], psi[l]);
}

/* Log likelihoods of `count` rows of a pair, by families and kinds. `to` has those of the counts alone meanwhile. */
static void WB_NAME(regression_log_pair)(int count, int poisson, int hurdle, double shift, const double *restrict y,
                                         const double *restrict weight, const double *restrict size,
                                         const double *restrict psi, const double *restrict none,
                                         const double *restrict zero, double *restrict to) {
  if (poisson)
    for (int l = 0; l < count; l++) to[l] = wb_zero_log_count(1, y[l], size[l], shift, psi[l]);
  else
    for (int l = 0; l < count; l++) to[l] = wb_zero_log_count(0, y[l], size[l], shift, psi[l]);
  if (hurdle)
    for (int l = 0; l < count; l++) to[l] = weight[l] * wb_zero_log_likelihood(1, y[l], to[l], none[l], zero[l]);
  else
    for (int l = 0; l < count; l++) to[l] = weight[l] * wb_zero_log_likelihood(0, y[l], to[l], none[l], zero[l]);
}

/* wb_regression_log_sum() of `count` rows, a multiple of 8. Outcomes are WB_LEAF_ROWS apart. */
static void WB_NAME(regression_log_sums)(int count, int outcomes, int left_out, const double *restrict linear,
                                         double *restrict log_sum) {
  enum { ROWS = 64 };
  double most[ROWS], sum[ROWS];
  for (int first = 0; first < count; first += ROWS) {
    const double *restrict const from = linear + first;
    const int rows = count - first < ROWS ? count - first : ROWS;
    for (int l = 0; l < rows; l++) most[l] = 0.0;
    for (int k = 0; k < outcomes; k++) {
      const double *restrict const value = from + (size_t)k * WB_LEAF_ROWS;
      for (int l = 0; k != left_out && l < rows; l++) most[l] = wb_select(value[l] > most[l], value[l], most[l]);
    }
    for (int l = 0; l < rows; l++) sum[l] = wb_exp_weight(-most[l]);
    for (int k = 0; k < outcomes; k++) {
      const double *restrict const value = from + (size_t)k * WB_LEAF_ROWS;
      for (int l = 0; k != left_out && l < rows; l++) sum[l] += wb_exp_weight(value[l] - most[l]);
    }
    for (int l = 0; l < rows; l++) log_sum[first + l] = most[l] + wb_log(sum[l]);
  }
}

/* Adds what an outcome adds to the log likelihoods of `count` rows of a multinomial. */
static void WB_NAME(regression_add_outcome)(int count, const double *restrict trials, const double *restrict kappa,
                                            const double *restrict linear, double *restrict log_likelihood) {
  for (int l = 0; l < count; l++)
    log_likelihood[l] = wb_fma(wb_fma(0.5, trials[l], kappa[l]), linear[l], log_likelihood[l]);
}

/* X'WX and X'z for rows of a sparse design: the lower triangle of the sums, and X'z in their line `columns`. */
/* tools/loops: no vector multiply-adds */
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
