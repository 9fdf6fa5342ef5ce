/* Entries of the mixture: R's values to the sampler of mixture.h and back. */
#include "entry/entry.h"
#include "mixture/mixture.h"

#include <stdlib.h>
#include <string.h>


/* What the external pointer of a session holds. R's data matrix, which the
 * session reads, is kept alive as the pointer's protected value. */
typedef struct session {
  const wb_backend *backend;
  wb_mixture_session *mixture;
  int32_t columns;
  int64_t rows;
} session;

static void close_session(SEXP pointer) {
  session *s = R_ExternalPtrAddr(pointer);
  if (!s) return;
  s->backend->mixture->close(s->mixture);
  R_ClearExternalPtr(pointer);
  free(s);
}

static session *open_session(SEXP pointer, wb_message *message) {
  session *s = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
  if (!s) wb_message_write(message, "the mixture session is closed");
  return s;
}

/* A fit is a list that its user can change, and what no longer fits together must
 * not be read past its end. */
static int is_numbers(SEXP values, double length) {
  return TYPEOF(values) == REALSXP && (double)Rf_xlength(values) == length;
}

static SEXP changed_fit(void) {
  wb_message message;
  wb_message_write(&message, "the parts of the fit do not agree in size or type: it has been changed since it was made");
  return wb_failure(WB_ERROR_INPUT, &message);
}

static int is_data(SEXP x, SEXP center, SEXP inverse_scale) {
  return TYPEOF(x) == REALSXP && Rf_isMatrix(x) && is_numbers(center, Rf_ncols(x)) &&
         is_numbers(inverse_scale, Rf_ncols(x));
}

/* What state_from_sexp() and prior_from_list() read. */
static int is_state(SEXP prior, SEXP statistics, SEXP concentration, double columns) {
  const double size = 1 + columns + columns * (columns + 1) / 2;
  const double components = TYPEOF(statistics) == REALSXP ? (double)Rf_xlength(statistics) / size : 0;
  return components >= 1 && components == (double)(int32_t)components && is_numbers(concentration, 1) &&
         TYPEOF(prior) == VECSXP && is_numbers(wb_list_element(prior, "values"), size + 1) &&
         is_numbers(wb_list_element(prior, "concentration"), 2);
}

static wb_mixture_data data_from_sexp(SEXP x, SEXP center, SEXP inverse_scale,
                                      wb_precision precision) {
  const wb_mixture_data data = {REAL_RO(x), Rf_nrows(x), Rf_ncols(x), REAL_RO(center),
                                REAL_RO(inverse_scale), precision};
  return data;
}

SEXP wb_entry_mixture_open(SEXP x, SEXP center, SEXP inverse_scale, SEXP precision, SEXP run) {
  if (!is_data(x, center, inverse_scale)) return changed_fit();
  wb_message message;
  wb_run where;
  const wb_backend *backend;
  wb_run_from_list(run, &where, &backend);
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, x));
  R_RegisterCFinalizerEx(pointer, close_session, TRUE);
  const wb_mixture_data data = data_from_sexp(x, center, inverse_scale, Rf_asInteger(precision) ? WB_SINGLE : WB_DOUBLE);
  session *s = malloc(sizeof *s);
  if (!s) {
    UNPROTECT(1);
    wb_message_write(&message, "no memory for the mixture session");
    return wb_failure(WB_ERROR_MEMORY, &message);
  }
  s->backend = backend;
  s->columns = data.columns;
  s->rows = data.rows;
  int status = wb_backend_has(backend, backend->mixture, "mixtures", &message);
  if (status == WB_OK) status = backend->mixture->open(&data, &where, &s->mixture, &message);
  if (status != WB_OK) {
    free(s);
    UNPROTECT(1);
    return wb_failure(status, &message);
  }
  R_SetExternalPtrAddr(pointer, s);
  UNPROTECT(1);
  return pointer;
}

SEXP wb_entry_mixture_close(SEXP pointer) {
  close_session(pointer);
  return R_NilValue;
}

/* The hyperprior that resolve_hyperprior() of R/dp_prior.R made. */
static wb_mixture_hyperprior hyper_from_list(SEXP hyper) {
  const int *learn = LOGICAL_RO(wb_list_element(hyper, "learn"));
  const double *mean_scale = REAL_RO(wb_list_element(hyper, "mean_scale"));
  const wb_mixture_hyperprior out = {learn[0], learn[1], learn[2], learn[3],
                                     REAL_RO(wb_list_element(hyper, "mean")),
                                     mean_scale[0], mean_scale[1],
                                     Rf_asReal(wb_list_element(hyper, "scale_df")),
                                     REAL_RO(wb_list_element(hyper, "packed_scale")),
                                     REAL_RO(wb_list_element(hyper, "df_grid"))};
  return out;
}

/* The prior that compiled_prior() of R/dp_mixture.R made. What may be learned of
 * it travels as one vector: m, gamma, nu, Phi. */
static wb_mixture_prior prior_from_list(SEXP prior, int32_t columns, wb_mixture_hyperprior *hyper) {
  SEXP given = wb_list_element(prior, "values"), learned = wb_list_element(prior, "hyper");
  const size_t size = (size_t)Rf_xlength(given), p = (size_t)columns;
  const double *shape = REAL_RO(wb_list_element(prior, "concentration"));
  double *values = (double *)R_alloc(size, sizeof(double));
  memcpy(values, REAL_RO(given), size * sizeof(double));
  if (learned != R_NilValue) *hyper = hyper_from_list(learned);
  const wb_mixture_prior out = {columns,  values,   values[p], values[p + 1], values + p + 2,
                                shape[0], shape[1], learned != R_NilValue ? hyper : NULL};
  return out;
}

static SEXP prior_to_sexp(const wb_mixture_prior *prior) {
  const size_t p = (size_t)prior->columns, size = p + 2 + p * (p + 1) / 2;
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)size);
  memcpy(REAL(out), prior->mean, size * sizeof(double));
  REAL(out)[p] = prior->mean_scale;
  REAL(out)[p + 1] = prior->df;
  return out;
}

/* Statistics of a start: from labels (from 1, NA: left out) or from k-means. */
SEXP wb_entry_mixture_start(SEXP x, SEXP center, SEXP inverse_scale, SEXP prior, SEXP components,
                            SEXP key, SEXP labels) {
  if (!is_data(x, center, inverse_scale)) return changed_fit();
  wb_message message;
  int status = WB_OK;
  const wb_mixture_data data = data_from_sexp(x, center, inverse_scale, WB_DOUBLE);
  const int32_t k = Rf_asInteger(components);
  SEXP statistics = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)k * (R_xlen_t)WB_MIXTURE_STATISTICS(data.columns)));
  if (Rf_isNull(labels)) {
    wb_mixture_hyperprior hyper;
    const wb_mixture_prior priors = prior_from_list(prior, data.columns, &hyper);
    status = wb_mixture_start(&data, &priors, k, wb_key_from_raw(key), REAL(statistics), &message);
  } else {
    int32_t *zero_based = (int32_t *)R_alloc((size_t)data.rows, sizeof(int32_t));
    const int *given = INTEGER_RO(labels);
    for (int64_t i = 0; i < data.rows; i++) zero_based[i] = given[i] == NA_INTEGER ? -1 : given[i] - 1;
    wb_mixture_sum_labels(&data, k, NULL, data.rows, zero_based, REAL(statistics));
  }
  UNPROTECT(1);
  return status == WB_OK ? statistics : wb_failure(status, &message);
}

static void state_from_sexp(wb_mixture_state *state, SEXP statistics, SEXP concentration,
                            int32_t columns) {
  const size_t size = WB_MIXTURE_STATISTICS(columns);
  const int32_t k = (int32_t)((size_t)Rf_xlength(statistics) / size);
  double *memory = (double *)R_alloc(wb_mixture_state_size(k, columns), sizeof(double));
  wb_mixture_state_place(state, k, columns, memory);
  memcpy(state->statistics, REAL_RO(statistics), (size_t)k * size * sizeof(double));
  state->concentration = Rf_asReal(concentration);
}

static SEXP numbers(size_t size, const double *values) {
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)size);
  memcpy(REAL(out), values, size * sizeof(double));
  return out;
}

static int occupied(const wb_mixture_state *state) {
  int count = 0;
  for (int32_t j = 0; j < state->components; j++)
    count += state->statistics[(size_t)j * WB_MIXTURE_STATISTICS(state->columns)] > 0;
  return count;
}

/* The draw and the state after it. Scaled units; matrices are components in the
 * columns (columns x components, packed triangle x components). */
static void put_state(SEXP out, int first, const wb_mixture_state *state) {
  const size_t k = (size_t)state->components, p = (size_t)state->columns;
  SET_VECTOR_ELT(out, first, numbers(k * WB_MIXTURE_STATISTICS(p), state->statistics));
  SET_VECTOR_ELT(out, first + 1, Rf_ScalarReal(state->concentration));
  SET_VECTOR_ELT(out, first + 2, numbers(k, state->log_weight));
  SET_VECTOR_ELT(out, first + 3, numbers(k * p, state->mean));
  SET_VECTOR_ELT(out, first + 4, numbers(k * p * (p + 1) / 2, state->factor));
}

/* `sweeps` sweeps, the first numbered `iteration`. probe: columns x points in
 * scaled units. The labels, if wanted, are those of the last sweep, from 1. */
SEXP wb_entry_mixture_sweep(SEXP pointer, SEXP prior, SEXP statistics, SEXP concentration, SEXP key,
                            SEXP iteration, SEXP sweeps, SEXP moves, SEXP want_labels, SEXP probe) {
  static const char *const names[] = {"statistics", "concentration", "log_weight", "mean", "factor",
                                      "log_likelihood", "log_prior", "concentration_trace",
                                      "occupied", "probe_density", "labels", "prior"};
  wb_message message;
  session *s = open_session(pointer, &message);
  if (!s) return wb_failure(WB_ERROR_INPUT, &message);
  if (!is_state(prior, statistics, concentration, s->columns) || TYPEOF(probe) != REALSXP ||
      !Rf_isMatrix(probe) || Rf_nrows(probe) != s->columns)
    return changed_fit();
  wb_mixture_state state;
  state_from_sexp(&state, statistics, concentration, s->columns);
  wb_mixture_hyperprior hyper;
  wb_mixture_prior priors = prior_from_list(prior, s->columns, &hyper);
  const uint64_t chain_key = wb_key_from_raw(key);
  const uint32_t first = (uint32_t)Rf_asReal(iteration);
  const int count = Rf_asInteger(sweeps), points = Rf_ncols(probe), last = count - 1;
  SEXP out = PROTECT(wb_list_new(12, names));
  SEXP labels = R_NilValue;
  SET_VECTOR_ELT(out, 5, Rf_allocVector(REALSXP, count));
  SET_VECTOR_ELT(out, 6, Rf_allocVector(REALSXP, count));
  SET_VECTOR_ELT(out, 7, Rf_allocVector(REALSXP, count));
  SET_VECTOR_ELT(out, 8, Rf_allocVector(INTSXP, count));
  SET_VECTOR_ELT(out, 9, Rf_allocMatrix(REALSXP, count, points));
  if (Rf_asLogical(want_labels)) {
    labels = Rf_allocVector(INTSXP, (R_xlen_t)s->rows);
    SET_VECTOR_ELT(out, 10, labels);
  }
  double *log_likelihood = REAL(VECTOR_ELT(out, 5)), *log_prior = REAL(VECTOR_ELT(out, 6));
  for (int i = 0; i < count; i++) {
    int32_t *drawn = i == last && labels != R_NilValue ? INTEGER(labels) : NULL;
    const int status = wb_mixture_sweep(s->backend, s->mixture, &priors, &state, chain_key, first + (uint32_t)i,
                                        Rf_asLogical(moves), drawn, &log_likelihood[i], &message);
    if (status != WB_OK) {
      UNPROTECT(1);
      return wb_failure(status, &message);
    }
    log_prior[i] = wb_mixture_log_prior(&priors, &state);
    REAL(VECTOR_ELT(out, 7))[i] = state.concentration;
    INTEGER(VECTOR_ELT(out, 8))[i] = occupied(&state);
    for (int q = 0; q < points; q++)
      REAL(VECTOR_ELT(out, 9))[i + (R_xlen_t)q * count] =
          wb_mixture_log_density(&state, REAL_RO(probe) + (size_t)q * (size_t)s->columns);
  }
  if (labels != R_NilValue) {
    int *from_one = INTEGER(labels);
    for (int64_t i = 0; i < s->rows; i++) from_one[i]++;
  }
  put_state(out, 0, &state);
  SET_VECTOR_ELT(out, 11, prior_to_sexp(&priors));
  UNPROTECT(1);
  return out;
}

/* One draw of the parameters given statistics, without data. */
SEXP wb_entry_mixture_draw(SEXP prior, SEXP statistics, SEXP concentration, SEXP columns, SEXP key,
                           SEXP iteration, SEXP moves) {
  static const char *const names[] = {"statistics", "concentration", "log_weight", "mean", "factor",
                                      "log_prior"};
  wb_message message;
  wb_mixture_state state;
  const int32_t p = Rf_asInteger(columns);
  state_from_sexp(&state, statistics, concentration, p);
  wb_mixture_hyperprior hyper;
  const wb_mixture_prior priors = prior_from_list(prior, p, &hyper);
  const int status = wb_mixture_draw_parameters(&priors, &state, wb_key_from_raw(key),
                                                (uint32_t)Rf_asReal(iteration), Rf_asLogical(moves), &message);
  if (status != WB_OK) return wb_failure(status, &message);
  SEXP out = PROTECT(wb_list_new(6, names));
  put_state(out, 0, &state);
  SET_VECTOR_ELT(out, 5, Rf_ScalarReal(wb_mixture_log_prior(&priors, &state)));
  UNPROTECT(1);
  return out;
}

/* Means (components x columns) and covariances (columns x columns x components)
 * in the data's units from a draw's scaled mean and factor. */
SEXP wb_entry_mixture_moments(SEXP mean, SEXP factor, SEXP center, SEXP scale, SEXP want_covariances) {
  static const char *const names[] = {"means", "covariances"};
  const int p = LENGTH(center), k = (int)(Rf_xlength(mean) / p);
  const double *mu = REAL_RO(mean), *shift = REAL_RO(center), *unit = REAL_RO(scale);
  SEXP out = PROTECT(wb_list_new(2, names));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, k, p));
  double *means = REAL(VECTOR_ELT(out, 0));
  for (int j = 0; j < k; j++)
    for (int c = 0; c < p; c++) means[j + (R_xlen_t)c * k] = shift[c] + unit[c] * mu[(R_xlen_t)j * p + c];
  if (Rf_asLogical(want_covariances)) {
    wb_mixture_state state;
    wb_mixture_state_place(&state, k, p, (double *)R_alloc(wb_mixture_state_size(k, p), sizeof(double)));
    memcpy(state.factor, REAL_RO(factor), (size_t)Rf_xlength(factor) * sizeof(double));
    SET_VECTOR_ELT(out, 1, Rf_alloc3DArray(REALSXP, p, p, k));
    double *covariances = REAL(VECTOR_ELT(out, 1));
    for (int j = 0; j < k; j++) {
      double *packed = state.workspace, *full = covariances + (R_xlen_t)j * p * p;
      wb_mixture_covariance(&state, j, packed);
      for (int r = 0; r < p; r++)
        for (int c = 0; c <= r; c++) full[r + c * p] = full[c + r * p] = unit[r] * unit[c] * *packed++;
    }
  }
  UNPROTECT(1);
  return out;
}

/* Rows first.. first + count - 1 (from 0) under a mixture in the data's units.
 * want: class, log density, probabilities. */
SEXP wb_entry_mixture_evaluate(SEXP pointer, SEXP weights, SEXP means, SEXP covariances, SEXP center,
                               SEXP inverse_scale, SEXP first, SEXP count, SEXP want) {
  static const char *const names[] = {"class", "log_density", "prob"};
  wb_message message;
  session *s = open_session(pointer, &message);
  if (!s) return wb_failure(WB_ERROR_INPUT, &message);
  const double p = s->columns, components = (double)Rf_xlength(weights);
  if (!is_numbers(weights, components) || components < 1 || !is_numbers(means, components * p) ||
      !is_numbers(covariances, components * p * p) || !is_numbers(center, p) || !is_numbers(inverse_scale, p))
    return changed_fit();
  const int k = LENGTH(weights);
  const int64_t rows = wb_size_from_sexp(count);
  wb_mixture_state state;
  wb_mixture_state_place(&state, k, s->columns, (double *)R_alloc(wb_mixture_state_size(k, s->columns), sizeof(double)));
  int status = wb_mixture_from_moments(&state, REAL_RO(weights), REAL_RO(means), REAL_RO(covariances),
                                       REAL_RO(center), REAL_RO(inverse_scale), &message);
  if (status != WB_OK) return wb_failure(status, &message);
  const wb_mixture_parameters parameters = {k, state.factor, state.offset, state.log_constant};
  const int *wanted = LOGICAL_RO(want);
  SEXP out = PROTECT(wb_list_new(3, names));
  if (wanted[0]) SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)rows));
  if (wanted[1]) SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)rows));
  if (wanted[2]) SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, (int)rows, k));
  int32_t *labels = wanted[0] ? INTEGER(VECTOR_ELT(out, 0)) : NULL;
  status = s->backend->mixture->evaluate(s->mixture, &parameters, wb_size_from_sexp(first), rows, labels,
                                        wanted[1] ? REAL(VECTOR_ELT(out, 1)) : NULL,
                                        wanted[2] ? REAL(VECTOR_ELT(out, 2)) : NULL, &message);
  if (labels && status == WB_OK)
    for (int64_t i = 0; i < rows; i++) labels[i]++;
  UNPROTECT(1);
  return status == WB_OK ? out : wb_failure(status, &message);
}
