/* Entries of categorical draws. R code has checked types and sizes, but not weights. */
#include "entry/entry.h"

#include "categorical/categorical.h"
#include "numeric/variates.h"

#include <R_ext/Random.h>

static wb_categorical_rows read_rows(SEXP weights, SEXP log) {
  const SEXP dim = Rf_getAttrib(weights, R_DimSymbol);
  const int64_t rows = dim == R_NilValue ? 1 : INTEGER_RO(dim)[0];
  return (wb_categorical_rows){.rows = rows,
                               .columns = dim == R_NilValue ? (int64_t)Rf_xlength(weights) : INTEGER_RO(dim)[1],
                               .weights = REAL_RO(weights),
                               .row_stride = 1,
                               .column_stride = rows,
                               .is_log = Rf_asLogical(log)};
}

static wb_categorical_draws new_draws(int64_t rows, SEXP draws, SEXP seed, SEXP precision, SEXP result) {
  return (wb_categorical_draws){.precision = Rf_asInteger(precision) ? WB_SINGLE : WB_DOUBLE,
                                .key = wb_chain_key_of(wb_whole_from_sexp(seed), 0),
                                .draws = wb_size_from_sexp(draws),
                                .index = INTEGER(result),
                                .index_stride = rows};
}

/* weights: doubles, a matrix or one row. first: the number of the first row, from 0. Items from 1, draw after draw. */
SEXP wb_entry_categorical_draw(SEXP weights, SEXP draws, SEXP log, SEXP seed, SEXP precision, SEXP first, SEXP run) {
  const wb_categorical_rows rows = read_rows(weights, log);
  const int is_vector = Rf_getAttrib(weights, R_DimSymbol) == R_NilValue;
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  SEXP result = PROTECT(wb_result_new(INTSXP, rows.rows * wb_size_from_sexp(draws)));
  wb_categorical_draws asked = new_draws(rows.rows, draws, seed, precision, result);
  asked.first_row = wb_size_from_sexp(first);
  const int status = wb_categorical_draw(&call, &rows, is_vector, &asked);
  return wb_finish(result, status, &message);
}

static int is_whole(SEXP value, double least, double most) {
  if ((TYPEOF(value) != REALSXP && TYPEOF(value) != INTSXP) || Rf_isObject(value) || XLENGTH(value) != 1) return 0;
  const double x = Rf_asReal(value);
  return x >= least && x <= most && x == (double)(int64_t)x;
}

/* Few draws from a short vector, for which the checks of R code take longer than the draws. NULL if R code must look.
 * Without a seed, as check_seed() of R/base_random.R. */
SEXP wb_entry_categorical_draw_few(SEXP weights, SEXP draws, SEXP seed, SEXP run) {
  const double few = 1e4 / (double)Rf_xlength(weights);
  if (TYPEOF(weights) != REALSXP || Rf_isObject(weights) || Rf_getAttrib(weights, R_DimSymbol) != R_NilValue ||
      few > 1e4 || !is_whole(draws, 1, few) || (seed != R_NilValue && !is_whole(seed, 0, 0x1.fffffffffffffp52)))
    return R_NilValue;
  double number = seed == R_NilValue ? 0 : Rf_asReal(seed);
  if (seed == R_NilValue) {
    GetRNGstate();
    number = (double)(int64_t)(unif_rand() * 0x1p26) * 0x1p27;
    number += (double)(int64_t)(unif_rand() * 0x1p27);
    PutRNGstate();
  }
  SEXP value = PROTECT(Rf_ScalarReal(number)), zero = PROTECT(Rf_ScalarInteger(0));
  SEXP result = wb_entry_categorical_draw(weights, draws, zero, value, zero, zero, run);
  UNPROTECT(2);
  return result;
}

/* dim, start, row, weights: the slots dim, p, i and x of a matrix stored by columns. */
SEXP wb_entry_categorical_draw_sparse(SEXP dim, SEXP start, SEXP row, SEXP weights, SEXP draws, SEXP seed,
                                      SEXP precision, SEXP run) {
  const int64_t rows = INTEGER_RO(dim)[0], columns = INTEGER_RO(dim)[1];
  const size_t entries = (size_t)Rf_xlength(weights);
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  SEXP result = PROTECT(wb_result_new(INTSXP, rows * wb_size_from_sexp(draws)));
  int64_t *const offset = (int64_t *)R_alloc((size_t)rows + 1, sizeof(int64_t));
  int32_t *const column = (int32_t *)R_alloc(entries + 1, sizeof(int32_t));
  double *const by_row = (double *)R_alloc(entries + 1, sizeof(double));
  wb_categorical_rows_of(rows, columns, INTEGER_RO(start), INTEGER_RO(row), REAL_RO(weights), offset, column, by_row);
  const wb_categorical_sparse stored = {
      .rows = rows, .columns = columns, .offset = offset, .column = column, .weights = by_row};
  const wb_categorical_draws asked = new_draws(rows, draws, seed, precision, result);
  const int status = wb_categorical_draw_sparse(&call, &stored, &asked);
  return wb_finish(result, status, &message);
}
