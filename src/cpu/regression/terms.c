/* Sums over the levels of grouping terms on the processor: Z'WZ, Z'WX and Z'z of each level, with rows read through the
 * term's index in a fixed order. The GPU's twin is cuda/regression/terms.cu. */
#include "core/rounding.h"

#include "cpu/regression/terms.h"

#include <stdlib.h>
#include <string.h>

#include "core/linear_algebra.h"
#include "core/regression_row.h"
#include "numeric/memory.h"

static int cut_pieces(const wb_regression_term *term, int64_t *pieces, int32_t **start, int32_t **level) {
  size_t count = 0;
  for (int32_t l = 0; l < term->levels; l++)
    count += (size_t)((term->start[l + 1] - term->start[l] + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS);
  *start = malloc((count + 1) * sizeof(int32_t));
  *level = malloc((count + 1) * sizeof(int32_t));
  if (!*start || !*level) return 0;
  count = 0;
  for (int32_t l = 0; l < term->levels; l++)
    for (int32_t at = term->start[l]; at < term->start[l + 1]; at += WB_LEAF_ROWS) {
      (*start)[count] = at;
      (*level)[count++] = l;
    }
  (*start)[count] = term->start[term->levels];
  *pieces = (int64_t)count;
  return 1;
}

void wb_cpu_terms_close(wb_term_sums *sums) {
  for (int t = 0; t < WB_REGRESSION_MOST_TERMS; t++) {
    free(sums->piece_start[t]);
    free(sums->piece_level[t]);
  }
  wb_aligned_free(sums->omega);
  wb_aligned_free(sums->z);
  wb_aligned_free(sums->piece_sums);
}

int wb_cpu_terms_open(const wb_regression_data *data, wb_term_sums *sums, wb_message *message) {
  const size_t bytes = (size_t)data->rows * sizeof(double);
  size_t most = 0;
  sums->omega = wb_aligned_malloc(bytes);
  sums->z = wb_aligned_malloc(bytes);
  int good = sums->omega && sums->z;
  for (int t = 0; t < data->term_count && good; t++) {
    const wb_regression_term *const term = data->terms + t;
    good = cut_pieces(term, &sums->pieces[t], &sums->piece_start[t], &sums->piece_level[t]);
    const size_t size = (size_t)sums->pieces[t] * WB_REGRESSION_LEVEL_STATISTICS(data->columns, term->columns);
    if (size > most) most = size;
  }
  if (good) sums->piece_sums = wb_aligned_malloc(most * sizeof(double));
  if (!good || !sums->piece_sums)
    return wb_out_of_memory(message, "the grouping terms' sums", 2 * bytes + most * sizeof(double));
  return WB_OK;
}

/* Adds the products of z and the effects of a term to a value of row `row`. */
static double add_row(const wb_regression_data *data, const wb_regression_term *term, const double *effects,
                      int64_t row, double value) {
  const double *const own = effects + (size_t)term->level[row] * (size_t)term->columns;
  if (!term->z) return value + own[0];
  for (int k = 0; k < term->columns; k++) value = wb_fma(term->z[(size_t)k * (size_t)data->rows + row], own[k], value);
  return value;
}

static size_t count_effects(const wb_regression_data *data) {
  size_t count = 0;
  for (int t = 0; t < data->term_count; t++) count += (size_t)data->terms[t].columns * (size_t)data->terms[t].levels;
  return count;
}

void wb_cpu_terms_add(const wb_regression_data *data, const double *effects, int outcome, int64_t begin, int rows,
                      double *fixed) {
  effects += (size_t)outcome * count_effects(data);
  for (int t = 0; t < data->term_count; t++) {
    const wb_regression_term *const term = data->terms + t;
    for (int i = 0; i < rows; i++) fixed[i] = add_row(data, term, effects, begin + i, fixed[i]);
    effects += (size_t)term->columns * (size_t)term->levels;
  }
}

/* Z'WX of one column of Z over a piece: each of the p sums in the order of rows. */
static void add_predictors(const wb_regression_data *data, const double *z, const int32_t *row, int32_t count,
                           const double *omega, double *to) {
  for (int32_t i = 0; !data->x && i < count; i++) {
    const double left = z ? omega[row[i]] * z[row[i]] : omega[row[i]];
    for (int32_t e = data->row_start[row[i]]; e < data->row_start[row[i] + 1]; e++)
      to[data->column[e]] = wb_fma(left, data->value[e], to[data->column[e]]);
  }
  for (int32_t c = 0; data->x && c < data->columns; c++) {
    const double *const x = data->x + (size_t)c * (size_t)data->rows;
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++)
      sum = wb_fma(z ? omega[row[i]] * z[row[i]] : omega[row[i]],
                   wb_regression_scaled(x[row[i]], data->center[c], data->inverse_scale[c]), sum);
    to[c] = sum;
  }
}

/* Z'z of one column of Z over a piece. */
static double add_linear(const double *z, const int32_t *row, int32_t count, const double *weight) {
  double sum = 0.0;
  for (int32_t i = 0; i < count; i++) sum = z ? wb_fma(weight[row[i]], z[row[i]], sum) : sum + weight[row[i]];
  return sum;
}

static double add_square(const double *z, const double *other, const int32_t *row, int32_t count,
                         const double *omega) {
  double sum = 0.0;
  for (int32_t i = 0; i < count; i++)
    sum = z ? wb_fma(omega[row[i]] * z[row[i]], other[row[i]], sum) : sum + omega[row[i]];
  return sum;
}

static void sum_piece(const wb_regression_data *data, const wb_regression_term *term, const wb_term_sums *sums,
                      const int32_t *row, int32_t count, double *to) {
  const size_t p = (size_t)data->columns, q = (size_t)term->columns, n = (size_t)data->rows;
  const size_t triangle = wb_packed_size((int)q);
  memset(to, 0, WB_REGRESSION_LEVEL_STATISTICS(p, q) * sizeof(double));
  for (size_t k = 0; k < q; k++) {
    const double *const z = term->z ? term->z + k * n : NULL;
    for (size_t m = 0; m <= k; m++)
      to[wb_packed_row((int)k) + m] = add_square(z, z ? term->z + m * n : NULL, row, count, sums->omega);
    add_predictors(data, z, row, count, sums->omega, to + triangle + k * p);
    to[triangle + q * p + k] = add_linear(z, row, count, sums->z);
  }
}

/* The sums of each level over its pieces, in order. */
static void add_pieces(const wb_term_sums *sums, int t, int32_t levels, size_t size, double *to) {
  memset(to, 0, (size_t)levels * size * sizeof(double));
  for (int64_t i = 0; i < sums->pieces[t]; i++) {
    double *const level = to + (size_t)sums->piece_level[t][i] * size;
    for (size_t j = 0; j < size; j++) level[j] += sums->piece_sums[(size_t)i * size + j];
  }
}

void wb_cpu_terms_sum(const wb_regression_data *data, wb_term_sums *sums, int threads, double *statistics) {
  for (int t = 0; t < data->term_count; t++) {
    const wb_regression_term *const term = data->terms + t;
    const size_t size = WB_REGRESSION_LEVEL_STATISTICS(data->columns, term->columns);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < sums->pieces[t]; i++) {
      const int32_t begin = sums->piece_start[t][i], end = sums->piece_start[t][i + 1];
      sum_piece(data, term, sums, term->index + begin, end - begin, sums->piece_sums + (size_t)i * size);
    }
    add_pieces(sums, t, term->levels, size, statistics);
    statistics += size * (size_t)term->levels;
  }
}

void wb_cpu_terms_change(const wb_regression_data *data, wb_term_sums *sums, int threads, int32_t changed,
                         const double *change, int32_t wanted, double *linear) {
  const wb_regression_term *const moved = data->terms + changed, *const term = data->terms + wanted;
  const size_t q = (size_t)term->columns;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < data->rows; row++)
    sums->z[row] = wb_fma(-sums->omega[row], add_row(data, moved, change, row, 0.0), sums->z[row]);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < sums->pieces[wanted]; i++) {
    const int32_t begin = sums->piece_start[wanted][i], end = sums->piece_start[wanted][i + 1];
    for (size_t k = 0; k < q; k++)
      sums->piece_sums[(size_t)i * q + k] = add_linear(term->z ? term->z + k * (size_t)data->rows : NULL,
                                                       term->index + begin, end - begin, sums->z);
  }
  add_pieces(sums, wanted, term->levels, q, linear);
}
