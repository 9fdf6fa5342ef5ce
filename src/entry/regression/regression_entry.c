/* Entries of regressions: they convert between R's values and those of the host algorithm of
 * regression/regression.h. */
#include "entry/entry.h"

#include <stdlib.h>
#include <string.h>

#include "regression/ellipse.h"

/* What the external pointer of an open regression holds. Its protected value keeps R's vectors alive, which the
 * backend's session reads. */
typedef struct open_regression {
  const wb_backend *backend;
  wb_regression_session *session;
  wb_run run;
  wb_regression_data data;
  int32_t columns, outcomes, groups;
  wb_regression_grouping grouping;
  wb_regression_term terms[WB_REGRESSION_MOST_TERMS];
  int64_t group_start[1]; /* groups + 1 */
} open_regression;

static void free_terms(open_regression *opened) {
  for (int t = 0; t < WB_REGRESSION_MOST_TERMS; t++) free((void *)opened->terms[t].start);
}

static void close_regression(SEXP pointer) {
  open_regression *opened = R_ExternalPtrAddr(pointer);
  if (!opened) return;
  opened->backend->regression->close(opened->session);
  R_ClearExternalPtr(pointer);
  free_terms(opened);
  free(opened);
}

static int is_optional(SEXP values, double length) {
  return values == R_NilValue || wb_is_numbers(values, length);
}

static int are_group_starts(SEXP starts, double rows) {
  if (starts == R_NilValue) return 1;
  if (TYPEOF(starts) != REALSXP || Rf_xlength(starts) < 2) return 0;
  const double *start = REAL_RO(starts);
  const R_xlen_t groups = Rf_xlength(starts) - 1;
  for (R_xlen_t g = 0; g < groups; g++)
    if (!(start[g] < start[g + 1])) return 0;
  return start[0] == 0 && start[groups] == rows;
}

static int is_integers(SEXP values, double length) {
  return TYPEOF(values) == INTSXP && (double)Rf_xlength(values) == length;
}

/* Whether the data have a sparse design of this size, by rows, with columns ascending within a row. */
int wb_is_sparse_design(SEXP data, double rows, double columns) {
  SEXP starts = wb_list_element(data, "row_start"), column = wb_list_element(data, "column");
  if (!is_integers(starts, rows + 1)) return 0;
  const int *start = INTEGER_RO(starts);
  const R_xlen_t n = (R_xlen_t)rows;
  if (start[0] != 0 || !is_integers(column, start[n]) || !wb_is_numbers(wb_list_element(data, "value"), start[n]))
    return 0;
  const int *of = INTEGER_RO(column);
  for (R_xlen_t i = 0; i < n; i++) {
    if (start[i] > start[i + 1] || start[i + 1] > start[n]) return 0;
    for (int e = start[i]; e < start[i + 1]; e++)
      if (of[e] < 0 || of[e] >= columns || (e > start[i] && of[e] <= of[e - 1])) return 0;
  }
  return 1;
}

static int is_dense(SEXP x, double rows, double columns) {
  return TYPEOF(x) == REALSXP && Rf_isMatrix(x) && Rf_nrows(x) == rows && Rf_ncols(x) == columns;
}

static int rows_of(SEXP data) {
  return Rf_nrows(wb_list_element(data, "kappa"));
}

static int columns_of(SEXP data) {
  return (int)Rf_xlength(wb_list_element(data, "center"));
}

static int are_levels(SEXP level, double length, int levels) {
  if (!is_integers(level, length)) return 0;
  for (R_xlen_t i = 0; i < Rf_xlength(level); i++)
    if (INTEGER_RO(level)[i] < 0 || INTEGER_RO(level)[i] >= levels) return 0;
  return 1;
}

static int term_levels(SEXP term) {
  SEXP levels = wb_list_element(term, "levels");
  return TYPEOF(levels) == INTSXP && Rf_xlength(levels) == 1 ? INTEGER_RO(levels)[0] : 0;
}

static int term_columns(SEXP term) {
  SEXP z = wb_list_element(term, "z");
  return z == R_NilValue ? 1 : Rf_ncols(z);
}

static int is_term(SEXP term, double rows) {
  if (TYPEOF(term) != VECSXP || term_levels(term) < 1) return 0;
  SEXP z = wb_list_element(term, "z"), independent = wb_list_element(term, "independent");
  return (z == R_NilValue || (TYPEOF(z) == REALSXP && Rf_isMatrix(z) && Rf_nrows(z) == rows && Rf_ncols(z) > 0 &&
                              Rf_ncols(z) <= WB_REGRESSION_MOST_TERM_COLUMNS)) &&
         TYPEOF(independent) == LGLSXP && Rf_xlength(independent) == 1 &&
         are_levels(wb_list_element(term, "level"), rows, term_levels(term));
}

/* The term in whose levels those of a term lie, from 0; -1: none. */
static int term_parent(SEXP term) {
  SEXP parent = wb_list_element(term, "parent");
  return TYPEOF(parent) == INTSXP && Rf_xlength(parent) == 1 ? INTEGER_RO(parent)[0] : -1;
}

/* `terms` of the data: NULL, or what regression_terms() of R/bayes_logit_terms.R made. */
static int are_terms(SEXP data) {
  SEXP terms = wb_list_element(data, "terms");
  if (terms == R_NilValue) return 1;
  const R_xlen_t count = Rf_xlength(terms);
  if (TYPEOF(terms) != VECSXP || count < 1 || count > WB_REGRESSION_MOST_TERMS ||
      wb_list_element(data, "group_start") != R_NilValue)
    return 0;
  for (R_xlen_t t = 0; t < count; t++)
    if (!is_term(VECTOR_ELT(terms, t), rows_of(data))) return 0;
  for (R_xlen_t t = 0; t < count; t++) {
    SEXP term = VECTOR_ELT(terms, t);
    const int parent = term_parent(term);
    if (parent < 0) continue;
    if (parent >= count || parent == t || term_columns(VECTOR_ELT(terms, parent)) != term_columns(term) ||
        !are_levels(wb_list_element(term, "parent_level"), term_levels(term), term_levels(VECTOR_ELT(terms, parent))))
      return 0;
  }
  return 1;
}

static int is_data(SEXP data) {
  if (TYPEOF(data) != VECSXP) return 0;
  SEXP x = wb_list_element(data, "x"), kappa = wb_list_element(data, "kappa"), center = wb_list_element(data, "center");
  if (TYPEOF(kappa) != REALSXP || !Rf_isMatrix(kappa) || TYPEOF(center) != REALSXP) return 0;
  const double rows = rows_of(data), columns = columns_of(data);
  return rows > 0 && columns > 0 && Rf_ncols(kappa) > 0 && Rf_ncols(kappa) <= WB_REGRESSION_MOST_OUTCOMES &&
         (x == R_NilValue ? wb_is_sparse_design(data, rows, columns) : is_dense(x, rows, columns)) &&
         wb_is_numbers(wb_list_element(data, "inverse_scale"), columns) &&
         wb_is_numbers(wb_list_element(data, "shape"), rows) &&
         is_optional(wb_list_element(data, "offset"), rows * Rf_ncols(kappa)) &&
         is_optional(wb_list_element(data, "dispersed"), rows) &&
         are_group_starts(wb_list_element(data, "group_start"), rows) && are_terms(data);
}

static const double *numbers_or_null(SEXP list, const char *name) {
  SEXP values = wb_list_element(list, name);
  return values == R_NilValue ? NULL : REAL_RO(values);
}

static wb_regression_data data_from_list(SEXP data, int32_t groups, const int64_t *group_start) {
  wb_regression_data rows = {
    .x = numbers_or_null(data, "x"), .rows = rows_of(data), .columns = columns_of(data),
    .center = numbers_or_null(data, "center"),
    .inverse_scale = numbers_or_null(data, "inverse_scale"), .outcomes = Rf_ncols(wb_list_element(data, "kappa")),
    .offset = numbers_or_null(data, "offset"), .shape = numbers_or_null(data, "shape"),
    .kappa = numbers_or_null(data, "kappa"), .dispersed = numbers_or_null(data, "dispersed"),
    .groups = groups, .group_start = group_start,
  };
  if (rows.x) return rows;
  rows.row_start = INTEGER_RO(wb_list_element(data, "row_start"));
  rows.column = INTEGER_RO(wb_list_element(data, "column"));
  rows.value = REAL_RO(wb_list_element(data, "value"));
  return rows;
}

/* Reads the terms and indexes their levels. */
static int open_terms(SEXP data, open_regression *opened, wb_message *message) {
  SEXP terms = wb_list_element(data, "terms");
  const int32_t count = terms == R_NilValue ? 0 : (int32_t)Rf_xlength(terms);
  const size_t rows = (size_t)rows_of(data);
  opened->grouping.terms = opened->terms;
  for (int32_t t = 0; t < count; t++) {
    SEXP term = VECTOR_ELT(terms, t);
    const size_t levels = (size_t)term_levels(term);
    int32_t *const start = malloc((levels + 1 + rows) * sizeof(int32_t));
    if (!start) {
      wb_message_write(message, "no memory for the levels of grouping terms");
      return WB_ERROR_MEMORY;
    }
    const wb_regression_term one = {
      .columns = term_columns(term), .levels = (int32_t)levels, .z = numbers_or_null(term, "z"),
      .level = INTEGER_RO(wb_list_element(term, "level")), .start = start, .index = start + levels + 1,
    };
    wb_regression_index_levels((int64_t)rows, one.levels, one.level, start, start + levels + 1);
    opened->terms[t] = one;
    opened->grouping.count = t + 1;
    opened->grouping.independent[t] = LOGICAL_RO(wb_list_element(term, "independent"))[0] == 1;
    opened->grouping.parent[t] = term_parent(term);
    if (opened->grouping.parent[t] >= 0)
      opened->grouping.parent_level[t] = INTEGER_RO(wb_list_element(term, "parent_level"));
  }
  return WB_OK;
}

/* `data`: what regression_data() of R/bayes_logit_formula.R made. */
SEXP wb_entry_regression_open(SEXP data, SEXP run) {
  if (!is_data(data)) return wb_changed_fit();
  const wb_call call = wb_call_from_list(run);
  const wb_backend *const backend = call.backend;
  wb_message message;
  SEXP starts = wb_list_element(data, "group_start");
  const R_xlen_t groups = starts == R_NilValue ? 0 : Rf_xlength(starts) - 1;
  SEXP pointer = PROTECT(wb_session_begin(data, close_regression));
  open_regression *opened = calloc(1, sizeof *opened + (size_t)groups * sizeof(int64_t));
  int status = opened ? wb_backend_has(backend, backend->regression, "regressions", &message) : WB_ERROR_MEMORY;
  if (!opened) wb_message_write(&message, "no memory for the regression session");
  if (status == WB_OK) {
    opened->backend = backend;
    opened->run = call.run;
    opened->columns = columns_of(data);
    opened->outcomes = Rf_ncols(wb_list_element(data, "kappa"));
    opened->groups = (int32_t)groups;
    for (R_xlen_t g = 0; groups > 0 && g <= groups; g++) opened->group_start[g] = (int64_t)REAL_RO(starts)[g];
    status = open_terms(data, opened, &message);
  }
  if (status == WB_OK) {
    opened->data = data_from_list(data, opened->groups, opened->group_start);
    opened->data.term_count = opened->grouping.count;
    opened->data.terms = opened->terms;
    status = backend->regression->open(&opened->data, &opened->run, &opened->session, &message);
  }
  if (status != WB_OK && opened) free_terms(opened);
  SEXP result = wb_session_end(pointer, opened, status, &message);
  UNPROTECT(1);
  return result;
}

SEXP wb_entry_regression_close(SEXP pointer) {
  close_regression(pointer);
  return R_NilValue;
}

/* The parts of a state that are vectors of doubles, and their sizes. */
enum { ELLIPSE = 6, STATE_PARTS = 9 };
static const char *const state_names[STATE_PARTS] = {"coefficients", "statistics", "intercepts",
                                                     "group_statistics", "shrinkage", "scalars", "ellipse",
                                                     "effects", "covariances"};

static void state_sizes(const open_regression *opened, double *size) {
  const size_t p = (size_t)opened->columns, groups = (size_t)opened->groups, outcomes = (size_t)opened->outcomes;
  size[0] = (double)(p * outcomes);
  size[1] = (double)WB_REGRESSION_STATISTICS(p);
  size[2] = (double)groups;
  size[3] = (double)(groups * WB_REGRESSION_GROUP_STATISTICS(p));
  size[4] = (double)(outcomes * WB_REGRESSION_SHRINKAGE(p));
  size[5] = WB_REGRESSION_SCALARS;
  size[ELLIPSE] =
      (double)wb_regression_ellipse_size(opened->columns, opened->groups, opened->outcomes, &opened->grouping);
  size[7] = (double)(outcomes * wb_regression_effects(&opened->grouping));
  size[8] = (double)(outcomes * wb_regression_covariances(&opened->grouping));
}

static int is_state(const open_regression *opened, SEXP state) {
  double size[STATE_PARTS];
  if (TYPEOF(state) != VECSXP) return 0;
  state_sizes(opened, size);
  /* Fits of earlier versions lack the parts of grouping terms, which they do not have. Those of several outcomes have
   * the head of an ellipse alone, without moves. */
  for (int i = 0; i < STATE_PARTS; i++) {
    SEXP values = wb_list_element(state, state_names[i]);
    const int is_head = i == ELLIPSE && opened->outcomes > 1 && wb_is_numbers(values, WB_REGRESSION_ELLIPSE_HEAD) &&
                        REAL_RO(values)[0] == 0;
    if (!wb_is_numbers(values, size[i]) && !(values == R_NilValue && size[i] == 0) && !is_head) return 0;
  }
  SEXP key = wb_list_element(state, "key");
  return TYPEOF(key) == RAWSXP && Rf_xlength(key) == 8 && wb_is_numbers(wb_list_element(state, "sweep"), 1);
}

/* Copies a state's vectors into `out`, the new state, and returns pointers to the copies. */
static wb_regression_state copy_state(const open_regression *opened, SEXP state, SEXP out) {
  double *part[STATE_PARTS], size[STATE_PARTS];
  state_sizes(opened, size);
  for (int i = 0; i < STATE_PARTS; i++) {
    SEXP values = wb_list_element(state, state_names[i]);
    const size_t length = values == R_NilValue ? 0 : (size_t)Rf_xlength(values), needed = (size_t)size[i];
    part[i] = REAL(wb_list_put(out, state_names[i], Rf_allocVector(REALSXP, (R_xlen_t)needed)));
    if (length > 0) memcpy(part[i], REAL_RO(values), length * sizeof(double));
    for (size_t at = length; at < needed; at++) part[i][at] = 0;
  }
  const wb_regression_state copy = {opened->columns, opened->outcomes, opened->groups, part[0], part[1], part[2],
                                    part[3], part[4], part[5], part[ELLIPSE],
                                    opened->grouping.count > 0 ? &opened->grouping : NULL, part[7], part[8]};
  return copy;
}

static open_regression *regression_from_sexp(SEXP pointer, wb_message *message) {
  open_regression *opened = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
  if (!opened) wb_message_write(message, "the regression session is closed");
  return opened;
}

static uint32_t sweep_of(SEXP state) {
  return (uint32_t)Rf_asReal(wb_list_element(state, "sweep"));
}

static int has_effect_scales(const open_regression *opened, SEXP prior) {
  double columns = 0;
  for (int32_t t = 0; t < opened->grouping.count; t++) columns += opened->terms[t].columns;
  return columns == 0 || wb_is_numbers(wb_list_element(prior, "effect_scale"), columns);
}

static int is_prior(double p, SEXP prior) {
  SEXP law = wb_list_element(prior, "law"), counts = wb_list_element(prior, "counts");
  if (TYPEOF(prior) != VECSXP || !wb_is_numbers(wb_list_element(prior, "mean"), p) ||
      !wb_is_numbers(wb_list_element(prior, "precision"), p * (p + 1) / 2) ||
      !(law == R_NilValue || (TYPEOF(law) == INTSXP && Rf_xlength(law) == (R_xlen_t)p)) ||
      !wb_is_numbers(wb_list_element(prior, "df"), p) || !wb_is_numbers(wb_list_element(prior, "scale"), p) ||
      !wb_is_numbers(wb_list_element(prior, "global_scale"), 1) || !wb_is_numbers(wb_list_element(prior, "slab"), 2) ||
      !wb_is_numbers(wb_list_element(prior, "group_scale"), 1) ||
      !wb_is_numbers(wb_list_element(prior, "dispersion"), 2))
    return 0;
  if (counts == R_NilValue) return 1;
  SEXP value = wb_list_element(counts, "value");
  return TYPEOF(value) == REALSXP && wb_is_numbers(wb_list_element(counts, "weight"), (double)Rf_xlength(value)) &&
         wb_is_numbers(wb_list_element(counts, "rows"), 1);
}

static wb_regression_prior prior_from_list(SEXP prior, int32_t columns) {
  SEXP law = wb_list_element(prior, "law");
  const double *dispersion = REAL_RO(wb_list_element(prior, "dispersion"));
  const double *slab = REAL_RO(wb_list_element(prior, "slab"));
  const wb_regression_prior out = {
    .columns = columns, .mean = REAL_RO(wb_list_element(prior, "mean")),
    .precision = REAL_RO(wb_list_element(prior, "precision")), .law = law == R_NilValue ? NULL : INTEGER_RO(law),
    .df = REAL_RO(wb_list_element(prior, "df")), .scale = REAL_RO(wb_list_element(prior, "scale")),
    .global_scale = Rf_asReal(wb_list_element(prior, "global_scale")), .slab_scale = slab[0], .slab_df = slab[1],
    .group_scale = Rf_asReal(wb_list_element(prior, "group_scale")),
    .effect_scale = numbers_or_null(prior, "effect_scale"), .dispersion_shape = dispersion[0],
    .dispersion_rate = dispersion[1],
  };
  return out;
}

/* What the law of the dispersion needs, if it is learned. */
static wb_regression_counts counts_from_list(const open_regression *opened, SEXP prior) {
  SEXP counts = wb_list_element(prior, "counts");
  wb_regression_counts learned = {.isa = opened->run.isa};
  if (counts == R_NilValue) return learned;
  SEXP value = wb_list_element(counts, "value");
  learned.distinct = Rf_xlength(value);
  learned.value = REAL_RO(value);
  learned.weight = REAL_RO(wb_list_element(counts, "weight"));
  learned.rows = Rf_asReal(wb_list_element(counts, "rows"));
  return learned;
}

/* The state with which a chain starts: near the mode with a spread above 0, otherwise the given one. */
SEXP wb_entry_regression_start(SEXP pointer, SEXP prior, SEXP state, SEXP spread) {
  wb_message message;
  open_regression *opened = regression_from_sexp(pointer, &message);
  if (!opened) return wb_failure(WB_ERROR_INPUT, &message);
  if (!is_prior(opened->columns, prior) || !is_state(opened, state)) return wb_changed_fit();
  SEXP out = PROTECT(wb_list_new(STATE_PARTS, state_names));
  wb_regression_state current = copy_state(opened, state, out);
  const wb_regression_prior priors = prior_from_list(prior, opened->columns);
  const wb_regression_counts learned = counts_from_list(opened, prior);
  const wb_regression_rows rows = {&opened->data, &opened->run};
  const int status =
      wb_regression_start(opened->backend, opened->session, &rows, &priors, &learned, &current,
                          wb_key_from_raw(wb_list_element(state, "key")), Rf_asReal(spread), &message);
  UNPROTECT(1);
  return status == WB_OK ? out : wb_failure(status, &message);
}

static int is_sweeps(SEXP sweeps) {
  if (TYPEOF(sweeps) != INTSXP || Rf_xlength(sweeps) < 1 || INTEGER_RO(sweeps)[0] < 1) return 0;
  if (Rf_xlength(sweeps) == 1) return 1;
  const int *const number = INTEGER_RO(sweeps);
  return Rf_xlength(sweeps) == 4 &&
         (number[3] == 0 || (number[1] >= 0 && number[2] > 0 && number[3] > 0 &&
                             number[1] + (number[3] - 1.0) * number[2] < number[0]));
}

/* Sweeps from a state. Returns the state after them, and the traces. `sweeps`: their number, and, if draws of groups
 * are kept, the first kept sweep, from 0, the distance between kept sweeps, and how many are kept. */
SEXP wb_entry_regression_sweep(SEXP pointer, SEXP prior, SEXP state, SEXP sweeps) {
  static const char *const names[] = {"coefficients", "statistics", "intercepts", "group_statistics", "shrinkage",
                                      "scalars", "ellipse", "effects", "covariances", "coefficient_trace",
                                      "log_likelihood", "dispersion_trace", "group_deviation", "covariance_trace",
                                      "kept"};
  wb_message message;
  open_regression *opened = regression_from_sexp(pointer, &message);
  if (!opened) return wb_failure(WB_ERROR_INPUT, &message);
  if (!is_prior(opened->columns, prior) || !has_effect_scales(opened, prior) || !is_state(opened, state))
    return wb_changed_fit();
  if (!is_sweeps(sweeps)) return wb_changed_fit();
  const int count = INTEGER_RO(sweeps)[0];
  SEXP out = PROTECT(wb_list_new(15, names));
  wb_regression_state current = copy_state(opened, state, out);
  const wb_regression_prior priors = prior_from_list(prior, opened->columns);
  const wb_regression_counts learned = counts_from_list(opened, prior);
  wb_regression_sweeps what = {.count = count, .key = wb_key_from_raw(wb_list_element(state, "key")),
                               .iteration = sweep_of(state) + 1};
  what.coefficients = REAL(wb_list_put(out, "coefficient_trace",
                                       Rf_allocMatrix(REALSXP, count, opened->columns * opened->outcomes)));
  what.log_likelihood = REAL(wb_list_put(out, "log_likelihood", Rf_allocVector(REALSXP, count)));
  if (learned.distinct > 0)
    what.dispersion = REAL(wb_list_put(out, "dispersion_trace", Rf_allocVector(REALSXP, count)));
  if (opened->groups > 0)
    what.group_deviation = REAL(wb_list_put(out, "group_deviation", Rf_allocVector(REALSXP, count)));
  if (opened->grouping.count > 0) {
    int columns = 0;
    for (int32_t t = 0; t < opened->grouping.count; t++)
      columns += opened->terms[t].columns * (opened->terms[t].columns + 1) / 2;
    what.covariances =
        REAL(wb_list_put(out, "covariance_trace", Rf_allocMatrix(REALSXP, count, opened->outcomes * columns)));
  }
  if (Rf_xlength(sweeps) == 4 && INTEGER_RO(sweeps)[3] > 0) {
    what.kept_first = INTEGER_RO(sweeps)[1];
    what.kept_every = INTEGER_RO(sweeps)[2];
    what.kept_count = INTEGER_RO(sweeps)[3];
    const double size = opened->grouping.count > 0
                            ? (double)opened->outcomes * (double)wb_regression_effects(&opened->grouping)
                            : opened->groups;
    what.kept = REAL(wb_list_put(out, "kept", Rf_allocMatrix(REALSXP, (int)size, what.kept_count)));
  }
  const int status = wb_regression_run(opened->backend, opened->session, &priors, &learned, &current, &what, &message);
  UNPROTECT(1);
  return status == WB_OK ? out : wb_failure(status, &message);
}

/* One draw of the coefficients given `coefficients`, and the statistics from which it was made: X'WX, packed, and X'z.
 * `data` has no groups. */
SEXP wb_entry_regression_step(SEXP data, SEXP prior, SEXP coefficients, SEXP key, SEXP iteration, SEXP run) {
  static const char *const names[] = {"coefficients", "statistics"};
  if (!is_data(data)) return wb_changed_fit();
  wb_message message;
  const wb_regression_data rows = data_from_list(data, 0, NULL);
  if (!is_prior(rows.columns, prior) || !wb_is_numbers(coefficients, rows.columns) || TYPEOF(key) != RAWSXP ||
      Rf_xlength(key) != 8)
    return wb_changed_fit();
  const wb_call call = wb_call_from_list(run);
  const wb_regression_prior priors = prior_from_list(prior, rows.columns);
  double scalars[WB_REGRESSION_SCALARS] = {0, 1, 1};
  SEXP out = PROTECT(wb_list_new(2, names));
  wb_regression_state state = {.columns = rows.columns, .outcomes = 1, .scalars = scalars};
  state.coefficients = REAL(wb_list_put(out, "coefficients", Rf_duplicate(coefficients)));
  const R_xlen_t statistics = (R_xlen_t)WB_REGRESSION_STATISTICS(rows.columns);
  state.statistics = REAL(wb_list_put(out, "statistics", Rf_allocVector(REALSXP, statistics)));
  const int status = wb_regression_step(&call, &rows, &priors, &state, wb_key_from_raw(key),
                                        (uint32_t)Rf_asReal(iteration), &message);
  UNPROTECT(1);
  return status == WB_OK ? out : wb_failure(status, &message);
}
