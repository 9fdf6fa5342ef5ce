/* Entries of predictive resampling (predictive/predictive.h). R code has checked the values. */
#include "entry/fields.h"

#include "numeric/variates.h"
#include "predictive/predictive.h"

static const int *dim_of(SEXP array) { return INTEGER_RO(Rf_getAttrib(array, R_DimSymbol)); }

/* data: list(binary, y, x), y n x d and x n x q, matrices of doubles; if binary also start, n log odds or NULL. Where
 * the score is of the coordinates after the first ones, given these, `given` is their number. */
static wb_predictive_data read_data(SEXP data) {
  const SEXP y = wb_list_element(data, "y"), x = wb_list_element(data, "x");
  const int binary = Rf_asLogical(wb_list_element(data, "binary"));
  const SEXP start = binary ? wb_list_element(data, "start") : y, given = wb_list_element(data, "given");
  const int *const y_dim = dim_of(y);
  return (wb_predictive_data){
      .kind = binary ? WB_COPULA_BINARY : WB_COPULA_GAUSSIAN,
      .n = y_dim[0],
      .dimensions = y_dim[1],
      .covariates = dim_of(x)[1],
      .given = given == R_NilValue ? 0 : Rf_asInteger(given),
      .y = REAL_RO(y),
      .start = start == R_NilValue ? NULL : REAL_RO(start),
      .x = REAL_RO(x),
  };
}

/* bandwidth: list(rho, rho_x) of doubles. */
static wb_predictive_bandwidth read_bandwidth(SEXP bandwidth) {
  return (wb_predictive_bandwidth){REAL_RO(wb_list_element(bandwidth, "rho")),
                                   REAL_RO(wb_list_element(bandwidth, "rho_x"))};
}

static uint64_t read_key(SEXP seed) { return wb_chain_key_of(wb_whole_from_sexp(seed), 0); }

/* Returns an n x count matrix, each column an order of 0, ..., n - 1. */
SEXP wb_entry_predictive_orders(SEXP seed, SEXP n, SEXP count) {
  SEXP order = PROTECT(Rf_allocMatrix(INTSXP, Rf_asInteger(n), Rf_asInteger(count)));
  wb_predictive_orders(read_key(seed), Rf_asInteger(n), Rf_asInteger(count), INTEGER(order));
  return wb_finish(order, WB_OK, NULL);
}

/* Returns count x 2: the shift and the stretch of each resample. */
SEXP wb_entry_predictive_places(SEXP seed, SEXP count, SEXP df, SEXP sd) {
  const int resamples = Rf_asInteger(count);
  SEXP place = PROTECT(Rf_allocMatrix(REALSXP, resamples, 2));
  wb_predictive_places(read_key(seed), resamples, Rf_asReal(df), Rf_asReal(sd), REAL(place), REAL(place) + resamples);
  return wb_finish(place, WB_OK, NULL);
}

enum { PARTS = WB_OWN, STICKS, RESAMPLES };

typedef struct urn {
  wb_predictive_urn draws;
  double *unseen;
} urn;

static const wb_field urn_fields[] = {
    {"weight", REALSXP, {PARTS, RESAMPLES}, 0, offsetof(urn, draws.weight)},
    {"uniform", REALSXP, {STICKS, RESAMPLES}, 0, offsetof(urn, draws.uniform)},
    {"unseen", REALSXP, {RESAMPLES}, 0, offsetof(urn, unseen)},
};

/* A list for the first `fields` of these. Not protected. shape: of the values seen. */
static SEXP urn_new(SEXP shape, SEXP sticks, SEXP first, SEXP resamples, SEXP seed, int fields, urn *to) {
  const int values = (int)Rf_xlength(shape), pieces = Rf_asInteger(sticks), count = Rf_asInteger(resamples);
  const double size[] = {WB_SIZES, values + pieces, pieces, count};
  to->draws = (wb_predictive_urn){.key = read_key(seed),
                                  .first = wb_size_from_sexp(first),
                                  .resamples = count,
                                  .values = values,
                                  .sticks = pieces,
                                  .shape = REAL_RO(shape)};
  return wb_fields_new(urn_fields, fields, size, to);
}

/* Returns list(weight: (values + sticks) x resamples, uniform: sticks x resamples). */
SEXP wb_entry_predictive_urn(SEXP shape, SEXP rest, SEXP discount, SEXP sticks, SEXP first, SEXP resamples, SEXP seed) {
  urn of;
  SEXP result = PROTECT(urn_new(shape, sticks, first, resamples, seed, 2, &of));
  of.draws.rest = Rf_asReal(rest);
  of.draws.discount = Rf_asReal(discount);
  wb_predictive_urns(&of.draws);
  return wb_finish(result, WB_OK, NULL);
}

/* As above, with the number of new types of each resample: list(weight, uniform, unseen). */
SEXP wb_entry_predictive_gnedin(SEXP shape, SEXP n, SEXP gamma, SEXP sticks, SEXP first, SEXP resamples, SEXP seed) {
  urn of;
  SEXP result = PROTECT(urn_new(shape, sticks, first, resamples, seed, 3, &of));
  wb_predictive_gnedin(&of.draws, Rf_asReal(n), Rf_asReal(gamma), of.unseen);
  return wb_finish(result, WB_OK, NULL);
}

/* bandwidth: rho d x sets, rho_x q x sets. Returns log_score (orders x sets), score (d x n x orders, first set). */
SEXP wb_entry_predictive_fit(SEXP data, SEXP bandwidth, SEXP order, SEXP run) {
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  const wb_predictive_data observed = read_data(data);
  const wb_predictive_bandwidth rho = read_bandwidth(bandwidth);
  const int count = dim_of(order)[1];
  const int sets = (int)(Rf_xlength(wb_list_element(bandwidth, "rho")) / observed.dimensions);
  SEXP result = PROTECT(wb_list_new("log_score score"));
  double *const log_score = wb_list_matrix(result, "log_score", count, sets);
  SET_VECTOR_ELT(result, 1, Rf_alloc3DArray(REALSXP, observed.dimensions, (int)observed.n, count));
  const int status = wb_predictive_fit(&call, &observed, sets, rho.rho, rho.rho_x, count, INTEGER_RO(order), log_score,
                                       REAL(VECTOR_ELT(result, 1)));
  return wb_finish(result, status, &message);
}

/* points: list(y, x). Returns list(conditional, gain), each points x d x orders. */
SEXP wb_entry_predictive_state(SEXP data, SEXP bandwidth, SEXP order, SEXP score, SEXP points, SEXP run) {
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  const wb_predictive_data observed = read_data(data);
  const SEXP y = wb_list_element(points, "y");
  const int count = dim_of(order)[1], rows = dim_of(y)[0];
  SEXP result = PROTECT(wb_list_new("conditional gain"));
  SET_VECTOR_ELT(result, 0, Rf_alloc3DArray(REALSXP, rows, observed.dimensions, count));
  SET_VECTOR_ELT(result, 1, Rf_alloc3DArray(REALSXP, rows, observed.dimensions, count));
  const int status = wb_predictive_state(&call, &observed, read_bandwidth(bandwidth), count, INTEGER_RO(order),
                                         REAL_RO(score), rows, REAL_RO(y), REAL_RO(wb_list_element(points, "x")),
                                         REAL(VECTOR_ELT(result, 0)), REAL(VECTOR_ELT(result, 1)));
  return wb_finish(result, status, &message);
}

SEXP wb_entry_predictive_average(SEXP state) {
  const SEXP conditional = wb_list_element(state, "conditional");
  const int *const dim = dim_of(conditional);
  SEXP result = PROTECT(wb_list_new("conditional gain"));
  double *const mean = wb_list_matrix(result, "conditional", dim[0], dim[1]);
  wb_predictive_average(dim[2], dim[1], dim[0], REAL_RO(conditional), REAL_RO(wb_list_element(state, "gain")), mean,
                        wb_list_matrix(result, "gain", dim[0], dim[1]));
  return wb_finish(result, WB_OK, NULL);
}

/* state: list(conditional, gain: points x d x resamples; rows: n x resamples, or NULL). first: list(resample, step,
 * most), the first two from 0. Returns the new state. */
SEXP wb_entry_predictive_resample(SEXP data, SEXP bandwidth, SEXP points, SEXP state, SEXP seed, SEXP first, SEXP steps,
                                  SEXP run) {
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  const wb_predictive_data observed = read_data(data);
  const SEXP conditional = wb_list_element(state, "conditional"), rows = wb_list_element(state, "rows");
  const int *const dim = dim_of(conditional);
  SEXP result = PROTECT(wb_list_new("conditional gain rows"));
  SET_VECTOR_ELT(result, 0, Rf_duplicate(conditional));
  SET_VECTOR_ELT(result, 1, Rf_duplicate(wb_list_element(state, "gain")));
  SET_VECTOR_ELT(result, 2, Rf_duplicate(rows));
  const wb_predictive_resamples resamples = {
      .key = read_key(seed),
      .first_group = wb_size_from_sexp(wb_list_element(first, "resample")),
      .groups = dim[2],
      .points = dim[0],
      .first_step = wb_size_from_sexp(wb_list_element(first, "step")),
      .steps = wb_size_from_sexp(steps),
      .most = Rf_asReal(wb_list_element(first, "most")),
      .x = REAL_RO(wb_list_element(points, "x")),
      .conditional = REAL(VECTOR_ELT(result, 0)),
      .gain = REAL(VECTOR_ELT(result, 1)),
      .row_state = rows == R_NilValue ? NULL : REAL(VECTOR_ELT(result, 2)),
  };
  const int status = wb_predictive_resample(&call, &observed, read_bandwidth(bandwidth), &resamples);
  return wb_finish(result, status, &message);
}

/* start: list(weight, shape, sd) before step 0. first_resample: the number of the first resample. state: list(mean,
 * scale), scale NULL if the variance is known. Returns list(mean, scale, trajectory: resamples x records). */
SEXP wb_entry_predictive_normal(SEXP start, SEXP state, SEXP seed, SEXP first_resample, SEXP first_step, SEXP steps,
                                SEXP every, SEXP run) {
  wb_message message;
  const wb_call call = wb_call_from_list(run, &message);
  const SEXP mean = wb_list_element(state, "mean"), scale = wb_list_element(state, "scale");
  const int64_t first = wb_size_from_sexp(first_step), count = wb_size_from_sexp(steps),
                thin = wb_size_from_sexp(every);
  const int64_t records = thin > 0 ? (first + count) / thin - first / thin : 0;
  SEXP result = PROTECT(wb_list_new("mean scale trajectory"));
  SET_VECTOR_ELT(result, 0, Rf_duplicate(mean));
  SET_VECTOR_ELT(result, 1, Rf_duplicate(scale));
  double *const trajectory = wb_list_matrix(result, "trajectory", (double)Rf_xlength(mean), (double)records);
  const wb_normal_chains work = {
      .key = read_key(seed),
      .first = wb_size_from_sexp(first_resample),
      .resamples = Rf_xlength(mean),
      .first_step = first,
      .steps = count,
      .weight = Rf_asReal(wb_list_element(start, "weight")),
      .shape = Rf_asReal(wb_list_element(start, "shape")),
      .sd = Rf_asReal(wb_list_element(start, "sd")),
      .mean = REAL(VECTOR_ELT(result, 0)),
      .scale = scale == R_NilValue ? NULL : REAL(VECTOR_ELT(result, 1)),
      .every = thin > 0 ? thin : 1,
      .trajectory = records > 0 ? trajectory : NULL,
  };
  int status = wb_backend_has(call.backend, call.backend->predictive, "predictive resampling", &message);
  if (status == WB_OK) status = call.backend->predictive->normal_chains(&work, &call.run, &message);
  return wb_finish(result, status, &message);
}

/* Returns observations x resamples; columns sum to 1. */
SEXP wb_entry_predictive_bootstrap(SEXP observations, SEXP first, SEXP resamples, SEXP steps, SEXP seed, SEXP run) {
  wb_message message;
  const wb_call call = wb_call_from_list(run, &message);
  SEXP weight = PROTECT(Rf_allocMatrix(REALSXP, Rf_asInteger(observations), Rf_asInteger(resamples)));
  const wb_bootstrap work = {
      .key = read_key(seed),
      .first = wb_size_from_sexp(first),
      .resamples = Rf_asInteger(resamples),
      .observations = Rf_asInteger(observations),
      .steps = wb_size_from_sexp(steps),
      .weight = REAL(weight),
  };
  int status = wb_backend_has(call.backend, call.backend->predictive, "predictive resampling", &message);
  if (status == WB_OK) status = call.backend->predictive->bootstrap(&work, &call.run, &message);
  return wb_finish(weight, status, &message);
}
