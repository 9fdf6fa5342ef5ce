/* Entry of predictions: it converts between R's values and those of regression/predictions.h. */
#include "entry/entry.h"

#include <stdlib.h>

#include "regression/predictions.h"

static int is_effect(SEXP effect, double rows, double draws, int outcomes) {
  if (TYPEOF(effect) != VECSXP) return 0;
  SEXP level = wb_list_element(effect, "level"), multiple = wb_list_element(effect, "multiple"),
       draw = wb_list_element(effect, "draw"), outcome = wb_list_element(effect, "outcome");
  if (TYPEOF(level) != INTSXP || (double)Rf_xlength(level) != rows || TYPEOF(draw) != REALSXP || !Rf_isMatrix(draw) ||
      Rf_nrows(draw) != draws || (multiple != R_NilValue && !wb_is_numbers(multiple, rows)) ||
      TYPEOF(outcome) != INTSXP || Rf_xlength(outcome) != 1 ||
      INTEGER_RO(outcome)[0] < 0 || INTEGER_RO(outcome)[0] >= outcomes)
    return 0;
  const int *of = INTEGER_RO(level), levels = Rf_ncols(draw);
  for (R_xlen_t i = 0; i < Rf_xlength(level); i++)
    if (of[i] >= levels) return 0;
  return 1;
}

/* Whether rows and draws are as R/bayes_logit_summaries.R makes them; then their sizes. */
static int is_prediction(SEXP rows, SEXP draws, wb_regression_prediction *prediction) {
  if (TYPEOF(rows) != VECSXP || TYPEOF(draws) != VECSXP) return 0;
  SEXP coefficients = wb_list_element(draws, "coefficients"), outcomes = wb_list_element(draws, "outcomes"),
       count = wb_list_element(rows, "rows"), x = wb_list_element(rows, "x"), offset = wb_list_element(rows, "offset"),
       effects = wb_list_element(rows, "effects"), kind = wb_list_element(draws, "kind");
  if (TYPEOF(coefficients) != REALSXP || !Rf_isMatrix(coefficients) || Rf_nrows(coefficients) < 1 ||
      TYPEOF(outcomes) != INTSXP || Rf_xlength(outcomes) != 1 || TYPEOF(kind) != INTSXP || Rf_xlength(kind) != 1 ||
      !wb_are_finite(wb_list_element(draws, "probability"), 2) || !wb_are_finite(count, 1) || TYPEOF(effects) != VECSXP)
    return 0;
  prediction->outcomes = INTEGER_RO(outcomes)[0];
  prediction->kind = INTEGER_RO(kind)[0];
  prediction->draws = Rf_nrows(coefficients);
  const double n = REAL_RO(count)[0];
  if (prediction->outcomes < 1 || prediction->outcomes > WB_REGRESSION_MOST_OUTCOMES || prediction->kind < 0 ||
      prediction->kind > WB_REGRESSION_CLASSES || Rf_ncols(coefficients) % prediction->outcomes != 0 || n < 0 ||
      n > 2147483647.0)
    return 0;
  prediction->rows = (int64_t)n;
  prediction->columns = Rf_ncols(coefficients) / prediction->outcomes;
  if (x == R_NilValue ? !wb_is_sparse_design(rows, n, prediction->columns)
                      : (TYPEOF(x) != REALSXP || !Rf_isMatrix(x) || Rf_nrows(x) != n ||
                         Rf_ncols(x) != prediction->columns))
    return 0;
  if (offset != R_NilValue && !wb_is_numbers(offset, n * prediction->outcomes)) return 0;
  for (R_xlen_t e = 0; e < Rf_xlength(effects); e++)
    if (!is_effect(VECTOR_ELT(effects, e), n, (double)prediction->draws, prediction->outcomes)) return 0;
  const double *probability = REAL_RO(wb_list_element(draws, "probability"));
  return probability[0] >= 0 && probability[0] <= probability[1] && probability[1] <= 1;
}

static wb_regression_effect effect_from_list(SEXP list) {
  SEXP multiple = wb_list_element(list, "multiple"), draw = wb_list_element(list, "draw");
  const wb_regression_effect effect = {
    INTEGER_RO(wb_list_element(list, "outcome"))[0], Rf_ncols(draw), INTEGER_RO(wb_list_element(list, "level")),
    multiple == R_NilValue ? NULL : REAL_RO(multiple), REAL_RO(draw),
  };
  return effect;
}

/* Summaries of rows first..first + count - 1 (from 0): a vector of count x outcomes or classes x
 * WB_REGRESSION_SUMMARIES. */
SEXP wb_entry_regression_predict(SEXP rows, SEXP draws, SEXP first, SEXP count, SEXP run) {
  wb_regression_prediction prediction = {0};
  if (!wb_are_finite(first, 1) || !wb_are_finite(count, 1) || !is_prediction(rows, draws, &prediction))
    return wb_changed_fit();
  const double from = REAL_RO(first)[0], length = REAL_RO(count)[0];
  if (from < 0 || length < 0 || from + length > (double)prediction.rows) return wb_changed_fit();
  SEXP x = wb_list_element(rows, "x"), offset = wb_list_element(rows, "offset"),
       effects = wb_list_element(rows, "effects");
  if (x != R_NilValue) {
    prediction.x = REAL_RO(x);
  } else {
    prediction.row_start = INTEGER_RO(wb_list_element(rows, "row_start"));
    prediction.column = INTEGER_RO(wb_list_element(rows, "column"));
    prediction.value = REAL_RO(wb_list_element(rows, "value"));
  }
  if (offset != R_NilValue) prediction.offset = REAL_RO(offset);
  prediction.coefficients = REAL_RO(wb_list_element(draws, "coefficients"));
  prediction.effects = (int32_t)Rf_xlength(effects);
  wb_regression_effect *effect =
      (wb_regression_effect *)R_alloc((size_t)prediction.effects + 1, sizeof(wb_regression_effect));
  for (int32_t e = 0; e < prediction.effects; e++) effect[e] = effect_from_list(VECTOR_ELT(effects, e));
  prediction.effect = effect;
  const int shown = prediction.outcomes + (prediction.kind == WB_REGRESSION_CLASSES);
  const wb_call call = wb_call_from_list(run);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)length * shown * WB_REGRESSION_SUMMARIES));
  wb_message message;
  const int status = wb_regression_predict(&call, &prediction, REAL_RO(wb_list_element(draws, "probability")),
                                           (int64_t)from, (int64_t)length, REAL(out), &message);
  UNPROTECT(1);
  return status == WB_OK ? out : wb_failure(status, &message);
}
