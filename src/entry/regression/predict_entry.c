/* Entry of predictions (regression/regression.h). */
#include "entry/fields.h"

#include "regression/regression.h"

enum { ROWS = WB_OWN, PREDICTORS, DRAWS, COLUMNS, LEVEL_COUNT };
#define IN_PREDICTION(member) offsetof(wb_regression_prediction, member)
#define IN_EFFECT(member) offsetof(wb_regression_effect, member)

/* Rows and draws as R/regression_summaries.R makes them. */
static const wb_field rows_fields[] = {
    {"x", REALSXP, {ROWS, COLUMNS}, WB_OPTIONAL, IN_PREDICTION(x)},
    {"offset", REALSXP, {PREDICTORS}, WB_OPTIONAL, IN_PREDICTION(offset)},
};

static const wb_field draws_fields[] = {
    {"outcomes", INTSXP, {WB_ONE}, WB_COPIED, IN_PREDICTION(outcomes)},
    {"kind", INTSXP, {WB_ONE}, WB_COPIED, IN_PREDICTION(kind)},
    {"coefficients", REALSXP, {WB_ANY}, 0, IN_PREDICTION(coefficients)},
};

static const wb_field effect_fields[] = {
    {"outcome", INTSXP, {WB_ONE}, WB_COPIED, IN_EFFECT(outcome)},
    {"level", INTSXP, {ROWS}, 0, IN_EFFECT(level)},
    {"multiple", REALSXP, {ROWS}, WB_OPTIONAL, IN_EFFECT(multiple)},
    {"draw", REALSXP, {DRAWS, LEVEL_COUNT}, 0, IN_EFFECT(draw)},
};

static int columns_of(SEXP list, const char *name) {
  SEXP value = TYPEOF(list) == VECSXP ? wb_list_element(list, name) : R_NilValue;
  return Rf_isMatrix(value) ? Rf_ncols(value) : 0;
}

static int read_effect(SEXP list, double *size, int outcomes, wb_regression_effect *effect) {
  effect->levels = columns_of(list, "draw");
  effect->multiple = NULL;
  size[LEVEL_COUNT] = effect->levels;
  if (!WB_READ(list, effect_fields, size, effect) || effect->outcome < 0 || effect->outcome >= outcomes) return 0;
  for (R_xlen_t i = 0; i < (R_xlen_t)size[ROWS]; i++)
    if (effect->level[i] >= effect->levels) return 0;
  return 1;
}

static int read_prediction(SEXP rows, SEXP draws, wb_regression_prediction *to) {
  SEXP count = TYPEOF(rows) == VECSXP ? wb_list_element(rows, "rows") : R_NilValue;
  double size[] = {WB_SIZES, 0, 0, 0, 0, 0};
  if (!wb_are_finite(count, 1) || !WB_READ(draws, draws_fields, size, to)) return 0;
  SEXP coefficients = wb_list_element(draws, "coefficients"), effects = wb_list_element(rows, "effects");
  const double n = REAL_RO(count)[0];
  if (!Rf_isMatrix(coefficients) || Rf_nrows(coefficients) < 1 || TYPEOF(effects) != VECSXP || to->outcomes < 1 ||
      to->outcomes > WB_REGRESSION_MOST_OUTCOMES || to->kind < 0 || to->kind > WB_REGRESSION_CLASSES ||
      Rf_ncols(coefficients) % to->outcomes != 0 || n < 0 || n > 2147483647.0)
    return 0;
  to->rows = (int64_t)n;
  to->draws = Rf_nrows(coefficients);
  to->columns = Rf_ncols(coefficients) / to->outcomes;
  size[ROWS] = n;
  size[PREDICTORS] = n * to->outcomes;
  size[DRAWS] = (double)to->draws;
  size[COLUMNS] = to->columns;
  if (!WB_READ(rows, rows_fields, size, to)) return 0;
  if (!to->x && !wb_read_sparse(rows, n, to->columns, &to->row_start, &to->column, &to->value)) return 0;
  to->effects = (int32_t)Rf_xlength(effects);
  wb_regression_effect *effect = (wb_regression_effect *)R_alloc((size_t)to->effects + 1, sizeof *effect);
  to->effect = effect;
  for (int32_t e = 0; e < to->effects; e++)
    if (!read_effect(VECTOR_ELT(effects, e), size, to->outcomes, effect + e)) return 0;
  return 1;
}

/* Summaries of rows first..first + count - 1 (from 0): count x outcomes or classes x WB_REGRESSION_SUMMARIES. */
SEXP wb_entry_regression_predict(SEXP rows, SEXP draws, SEXP first, SEXP count, SEXP run) {
  wb_regression_prediction prediction = {.x = NULL};
  if (!wb_are_finite(first, 1) || !wb_are_finite(count, 1) || !read_prediction(rows, draws, &prediction) ||
      !wb_are_finite(wb_list_element(draws, "probability"), 2))
    return wb_changed_fit();
  const double from = REAL_RO(first)[0], length = REAL_RO(count)[0];
  const double *const probability = REAL_RO(wb_list_element(draws, "probability"));
  if (from < 0 || length < 0 || from + length > (double)prediction.rows ||
      !(probability[0] >= 0 && probability[0] <= probability[1] && probability[1] <= 1))
    return wb_changed_fit();
  const int shown = prediction.outcomes + (prediction.kind == WB_REGRESSION_CLASSES);
  wb_message message;
  const wb_call call = wb_call_from_list(run, &message);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)length * shown * WB_REGRESSION_SUMMARIES));
  const int status = wb_regression_predict(&call, &prediction, probability, (int64_t)from, (int64_t)length, REAL(out));
  return wb_finish(out, status, &message);
}
