/* Entries of the mixture: they convert between R's values and the host algorithm's (mixture/mixture.h).
 * Components and labels count from 1 in R and from 0 in C. */
#include "entry/entry.h"

#include <stdlib.h>
#include <string.h>

#include "entry/fields.h"
#include "entry/mixture/open_mixture.h"
#include "entry/slices.h"
#include "mixture/mixture.h"
#include "numeric/memory.h"
#include "numeric/variates.h"

void wb_mixture_close(SEXP pointer) {
  open_mixture *opened = R_ExternalPtrAddr(pointer);
  if (!opened) return;
  opened->backend->mixture->close(opened->session);
  free(opened->missing);
  R_ClearExternalPtr(pointer);
  free(opened->sample);
  free(opened->first_row);
  free(opened);
}

open_mixture *wb_mixture_from_sexp(SEXP pointer) {
  return TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
}

SEXP wb_mixture_closed(void) { return wb_refuse("the mixture session is closed"); }

/* A user can change a fit: parts that no longer agree must not be read past their ends. */

static int is_data(SEXP x, SEXP center, SEXP inverse_scale) {
  return TYPEOF(x) == REALSXP && Rf_isMatrix(x) && wb_is_numbers(center, Rf_ncols(x)) &&
         wb_is_numbers(inverse_scale, Rf_ncols(x));
}

/* Columns, from 0, and values: see wb_mixture_spots. */
static int is_atoms(SEXP atoms, int p) {
  if (!wb_is_matrix(atoms, 2)) return 0;
  for (int a = 0; a < Rf_ncols(atoms); a++) {
    const double column = REAL_RO(atoms)[2 * a];
    if (!(column >= 0 && column < p)) return 0;
  }
  return 1;
}

/* From R's values to the host algorithm's. */

static wb_mixture_data data_from_sexp(SEXP x, SEXP center, SEXP inverse_scale) {
  return (wb_mixture_data){.x = REAL_RO(x),
                           .rows = Rf_nrows(x),
                           .columns = Rf_ncols(x),
                           .center = REAL_RO(center),
                           .inverse_scale = REAL_RO(inverse_scale)};
}

static wb_mixture_data session_data(SEXP pointer, const open_mixture *opened, SEXP center, SEXP scale) {
  double *inverse_scale = (double *)R_alloc((size_t)opened->columns, sizeof(double));
  for (int32_t c = 0; c < opened->columns; c++) inverse_scale[c] = 1 / REAL_RO(scale)[c];
  return (wb_mixture_data){.x = opened->first_row ? NULL : REAL_RO(R_ExternalPtrProtected(pointer)),
                           .rows = opened->rows,
                           .columns = opened->columns,
                           .center = REAL_RO(center),
                           .inverse_scale = inverse_scale};
}

static wb_mixture_state state_of(int32_t components, int32_t columns) {
  wb_mixture_state state;
  wb_mixture_state_place(&state, components, columns,
                         (double *)R_alloc(wb_mixture_state_size(components, columns), sizeof(double)));
  return state;
}

/* A chain, and what lists have of it. */
typedef struct reading {
  wb_mixture_chain chain;
  wb_mixture_hyperprior hyper;
  wb_mixture_samples samples;
  const double *values; /* the part of the prior that may be learned: m, gamma, nu, Phi */
  const double *statistics, *sizes, *log_share;
  double concentration, shape, rate, sample_concentration, pooled, sweep;
} reading;
#define IN(member) offsetof(reading, member)

enum { COLUMNS = WB_OWN, PACKED, VALUES, FOUR, GRID, COMPONENTS, TABLE, SIZES };

static const wb_field prior_fields[] = {
    {"concentration", REALSXP, {WB_TWO}, WB_COPIED, IN(chain.prior.shape)},
    {"floor", REALSXP, {COLUMNS}, 0, IN(chain.prior.floor)},
};

static const wb_field hyperprior_fields[] = {
    {"learn", LGLSXP, {FOUR}, WB_COPIED, IN(hyper.learn_mean)},
    {"mean", REALSXP, {COLUMNS}, 0, IN(hyper.mean)},
    {"mean_scale", REALSXP, {WB_TWO}, WB_COPIED, IN(hyper.mean_scale_shape)},
    {"scale_df", REALSXP, {WB_ONE}, WB_COPIED, IN(hyper.scale_df)},
    {"packed_scale", REALSXP, {PACKED}, 0, IN(hyper.scale)},
    {"df_grid", REALSXP, {GRID}, 0, IN(hyper.df_grid)},
};

static const wb_field state_fields[] = {
    {"prior", REALSXP, {VALUES}, 0, IN(values)},
    {"statistics", REALSXP, {WB_ANY}, 0, IN(statistics)},
    {"key", RAWSXP, {WB_EIGHT}, WB_COPIED, IN(chain.key)},
    {"sweep", REALSXP, {WB_ONE}, WB_COPIED, IN(sweep)},
    {"concentration", REALSXP, {WB_ONE}, WB_COPIED, IN(concentration)},
};

/* What a chain of several samples has in addition; see wb_mixture_samples. */
static const wb_field samples_fields[] = {
    {"log_share", REALSXP, {COMPONENTS}, 0, IN(log_share)},
    {"sample_sizes", REALSXP, {TABLE}, 0, IN(sizes)},
    {"sample_concentration", REALSXP, {WB_ONE}, WB_COPIED, IN(sample_concentration)},
    {"pooled", REALSXP, {WB_ONE}, WB_COPIED, IN(pooled)},
};
static const wb_field samples_prior_fields[] = {
    {"sample_concentration", REALSXP, {WB_TWO}, WB_COPIED, IN(shape)},
};

/* Numbers of rows: whole, and of a size that both double and int64_t hold. */
static int are_sizes(const double *sizes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!(sizes[i] >= 0 && sizes[i] <= 0x1p53 && sizes[i] == (double)(int64_t)sizes[i])) return 0;
  return 1;
}

static void set_sizes(double *size, int32_t columns) {
  const double p = columns, triangle = p * (p + 1) / 2;
  const double own[SIZES] = {WB_SIZES, p, triangle, 2 + p + triangle, 4, WB_MIXTURE_DF_GRID, 0, 0};
  memcpy(size, own, sizeof own);
}

/* `values`: the part of the prior that may be learned; NULL: `to` has it. */
static int read_prior(SEXP prior, SEXP values, int32_t columns, reading *to) {
  double size[SIZES];
  const size_t p = (size_t)columns;
  set_sizes(size, columns);
  if (!WB_READ(prior, prior_fields, size, to) || (values && !wb_is_numbers(values, size[VALUES]))) return 0;
  SEXP hyper = wb_list_element(prior, "hyper");
  if (hyper != R_NilValue && !WB_READ(hyper, hyperprior_fields, size, to)) return 0;
  const double *const given = values ? REAL_RO(values) : to->values;
  wb_mixture_prior *const out = &to->chain.prior;
  out->columns = columns;
  out->mean = (double *)R_alloc(p, sizeof(double));
  out->scale = (double *)R_alloc(p * (p + 1) / 2, sizeof(double));
  wb_mixture_set_prior_values(out, given);
  if (hyper == R_NilValue) return 1;
  wb_mixture_prepare_hyperprior(&to->hyper, columns);
  out->hyper = &to->hyper;
  return 1;
}

static int read_samples(SEXP state, SEXP prior, int32_t samples, int32_t components, double *size, reading *to) {
  const size_t k = (size_t)components, table = (size_t)samples * k;
  wb_mixture_samples *const out = &to->samples;
  size[COMPONENTS] = components;
  size[TABLE] = (double)table;
  if (!WB_READ(state, samples_fields, size, to) || !WB_READ(prior, samples_prior_fields, size, to) ||
      !are_sizes(to->sizes, table))
    return 0;
  wb_mixture_samples_place(out, samples, components,
                           (double *)R_alloc(wb_mixture_samples_size(samples, components), sizeof(double)));
  out->pooled = to->pooled >= 0 && to->pooled <= UINT32_MAX ? (uint32_t)to->pooled : 0;
  out->together = 1;
  out->shape = to->shape;
  out->rate = to->rate;
  out->concentration = to->sample_concentration;
  memcpy(out->sizes, to->sizes, table * sizeof(double));
  memcpy(out->log_share, to->log_share, k * sizeof(double));
  to->chain.state.samples = out;
  return 1;
}

/* Reads the chain of an open session. `samples`: 0 if the rows are one sample. */
static int read_chain(const open_mixture *opened, SEXP prior, SEXP state, int32_t samples, reading *to,
                      wb_message *message) {
  const int32_t p = opened->columns;
  double size[SIZES];
  memset(to, 0, sizeof *to);
  set_sizes(size, p);
  if (!WB_READ(state, state_fields, size, to) || !read_prior(prior, NULL, p, to)) return 0;
  const R_xlen_t statistics = Rf_xlength(wb_list_element(state, "statistics"));
  const double components = (double)statistics / (double)WB_MIXTURE_STATISTICS(p);
  if (!(components >= 1 && components == (double)(int32_t)components)) return 0;
  to->chain.backend = opened->backend;
  to->chain.session = opened->session;
  to->chain.message = message;
  to->chain.state = state_of((int32_t)components, p);
  to->chain.state.concentration = to->concentration;
  memcpy(to->chain.state.statistics, to->statistics, (size_t)statistics * sizeof(double));
  return samples == 0 || read_samples(state, prior, samples, (int32_t)components, size, to);
}

/* The number of the sweep before which clusters are joined; 0 if there is none. */
static uint32_t merge_sweep(SEXP state) {
  SEXP merge = wb_list_element(state, "merge");
  const double sweep = wb_is_numbers(merge, 1) ? Rf_asReal(merge) : 0;
  return sweep >= 0 && sweep <= UINT32_MAX ? (uint32_t)sweep : 0;
}

/* The first and the last sweep with a search, and the chain's level. */
static int read_search(SEXP state, double *search) {
  SEXP given = wb_list_element(state, "search");
  memset(search, 0, 3 * sizeof(double));
  if (given == R_NilValue) return 1;
  if (!wb_is_numbers(given, 3)) return 0;
  memcpy(search, REAL_RO(given), 3 * sizeof(double));
  return search[0] >= 1 && search[0] <= search[1] && search[1] <= 1e6;
}

/* From the host algorithm's values to R's. */

/* Returns a pointer to the statistics. */
static double *put_state(SEXP out, const wb_mixture_state *state) {
  const size_t k = (size_t)state->components, size = k * WB_MIXTURE_STATISTICS(state->columns);
  double *statistics =
      memcpy(wb_list_numbers(out, "statistics", (double)size), state->statistics, size * sizeof(double));
  wb_list_put(out, "concentration", Rf_ScalarReal(state->concentration));
  return statistics;
}

static void put_samples(SEXP out, const wb_mixture_samples *samples) {
  const size_t k = (size_t)samples->components, table = k * (size_t)samples->samples;
  memcpy(wb_list_numbers(out, "sample_sizes", (double)table), samples->sizes, table * sizeof(double));
  memcpy(wb_list_numbers(out, "log_share", (double)k), samples->log_share, k * sizeof(double));
  wb_list_put(out, "sample_concentration", Rf_ScalarReal(samples->concentration));
}

static void count_from_one(int32_t *labels, int64_t count) {
  for (int64_t i = 0; i < count; i++) labels[i]++;
}

static double *put_covariances(SEXP out, int32_t components, int32_t columns) {
  return REAL(wb_list_put(out, "covariances", Rf_alloc3DArray(REALSXP, columns, columns, components)));
}

/* Entries ---------------------------------------------------------------- */

int wb_mixture_open_rows(const wb_call *call, SEXP sample, wb_mixture_data *data, int32_t **own_sample,
                         wb_mixture_missing **missing, wb_mixture_session **session) {
  const wb_mixture_functions *const mixture = call->backend->mixture;
  const size_t bytes = (size_t)data->rows * sizeof(int32_t);
  WB_TRY(wb_backend_has(call->backend, mixture, "mixtures", call->message));
  if (data->samples > 0 && !(*own_sample = malloc(bytes))) return wb_out_of_memory(call->message, "samples", bytes);
  for (int64_t i = 0; i < data->rows && data->samples > 0; i++) (*own_sample)[i] = INTEGER_RO(sample)[i] - 1;
  data->sample = *own_sample;
  WB_TRY(wb_mixture_missing_find(data->x, data->rows, data->columns, call->run.threads, missing, call->message));
  data->missing = *missing;
  return mixture->open(data, &call->run, session, call->message);
}

/* sample: the sample of each row, from 1 to `samples`; NULL: the rows are one sample. */
SEXP wb_entry_mixture_open_samples(SEXP x, SEXP center, SEXP inverse_scale, SEXP precision, SEXP keep_labels, SEXP run,
                                   SEXP sample, SEXP samples) {
  const int count = Rf_isNull(sample) ? 0 : Rf_asInteger(samples);
  if (!is_data(x, center, inverse_scale) ||
      !(Rf_isNull(sample) || wb_are_integers(sample, Rf_nrows(x), 1, count + 1.0)))
    return wb_changed_fit();
  wb_message message;
  const wb_call call = wb_call_from_list(run, &message);
  SEXP pointer = PROTECT(wb_session_begin(x, wb_mixture_close));
  wb_mixture_data data = data_from_sexp(x, center, inverse_scale);
  data.precision = Rf_asInteger(precision) ? WB_SINGLE : WB_DOUBLE;
  data.keep_labels = Rf_asLogical(keep_labels);
  data.samples = count;
  int status = WB_OK;
  open_mixture *opened = calloc(1, sizeof *opened);
  if (opened) {
    *opened = (open_mixture){.backend = call.backend,
                             .columns = data.columns,
                             .rows = data.rows,
                             .keeps_labels = data.keep_labels,
                             .samples = count};
    status = wb_mixture_open_rows(&call, sample, &data, &opened->sample, &opened->missing, &opened->session);
  } else {
    status = wb_out_of_memory(&message, "the mixture session", sizeof *opened);
  }
  if (status != WB_OK && opened) {
    free(opened->sample);
    free(opened->missing);
  }
  SEXP result = wb_session_end(pointer, opened, status, &message);
  UNPROTECT(1);
  return result;
}

SEXP wb_entry_mixture_open(SEXP x, SEXP center, SEXP inverse_scale, SEXP precision, SEXP keep_labels, SEXP run) {
  return wb_entry_mixture_open_samples(x, center, inverse_scale, precision, keep_labels, run, R_NilValue, R_NilValue);
}

/* The labels of mixture_start, of at most `components` clusters. */
static int is_start(SEXP labels, int rows, int32_t components) {
  if (components < 1) return 0;
  if (Rf_isNull(labels)) return 1;
  if (TYPEOF(labels) == REALSXP)
    return Rf_xlength(labels) == 1 && rows == wb_mixture_start_count(wb_size_from_sexp(labels), components);
  if (TYPEOF(labels) != INTSXP || Rf_xlength(labels) != rows) return 0;
  for (int i = 0; i < rows; i++)
    if (INTEGER_RO(labels)[i] != NA_INTEGER && (INTEGER_RO(labels)[i] < 1 || INTEGER_RO(labels)[i] > components))
      return 0;
  return 1;
}

/* The statistics with which a chain starts: of the given labels (NA: left out) or of k-means, if `labels` is NULL or a
 * number: how many rows there are, of which x has only the rows that mixture_start_rows chose. */
SEXP wb_entry_mixture_start(SEXP x, SEXP center, SEXP inverse_scale, SEXP prior, SEXP components, SEXP key, SEXP merge,
                            SEXP atoms, SEXP labels) {
  wb_message message;
  reading from;
  memset(&from, 0, sizeof from);
  const int32_t k = Rf_asInteger(components);
  if (!is_data(x, center, inverse_scale) || !is_atoms(atoms, Rf_ncols(x)) || TYPEOF(prior) != VECSXP ||
      !read_prior(prior, wb_list_element(prior, "values"), Rf_ncols(x), &from) || !is_start(labels, Rf_nrows(x), k))
    return wb_changed_fit();
  const wb_mixture_data data = data_from_sexp(x, center, inverse_scale);
  SEXP statistics = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)k * (R_xlen_t)WB_MIXTURE_STATISTICS(data.columns)));
  if (TYPEOF(labels) != INTSXP) {
    wb_poll poll = {wb_interrupted, 0};
    const wb_mixture_spots spots = {&data, Rf_ncols(atoms), REAL_RO(atoms)};
    const int64_t rows = Rf_isNull(labels) ? data.rows : wb_size_from_sexp(labels);
    const int status = wb_mixture_start(&spots, &from.chain.prior, k, wb_key_from_raw(key), Rf_asLogical(merge), rows,
                                        REAL(statistics), &poll, &message);
    return wb_finish(statistics, status, &message);
  }
  int32_t *from_zero = (int32_t *)R_alloc((size_t)data.rows, sizeof(int32_t));
  const int *given = INTEGER_RO(labels);
  for (int64_t i = 0; i < data.rows; i++) from_zero[i] = given[i] == NA_INTEGER ? -1 : given[i] - 1;
  double *last = (double *)R_alloc((size_t)k * (size_t)data.columns, sizeof(double));
  wb_mixture_sum_labels(&data, k, NULL, data.rows, from_zero, last, REAL(statistics));
  return wb_finish(statistics, WB_OK, NULL);
}

/* The numbers, from 1, of the rows from which k-means starts a chain. */
SEXP wb_entry_mixture_start_rows(SEXP rows, SEXP components, SEXP key) {
  const int64_t all = wb_size_from_sexp(rows), count = wb_mixture_start_count(all, Rf_asInteger(components));
  int64_t *row = (int64_t *)R_alloc((size_t)count, sizeof(int64_t));
  wb_mixture_start_rows(all, count, wb_key_from_raw(key), row);
  SEXP numbers = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count));
  for (int64_t i = 0; i < count; i++) REAL(numbers)[i] = (double)(row[i] + 1);
  return wb_finish(numbers, WB_OK, NULL);
}

/* Values of `count` draws, one draw after the other. That of a single draw is a rows x columns matrix. */
static double *put_draws(SEXP out, const char *name, double rows, double columns, double count) {
  return count == 1 ? wb_list_matrix(out, name, rows, columns) : wb_list_numbers(out, name, count * rows * columns);
}

/* Room for the labels, means and covariances that `keep` asks for. */
static wb_mixture_kept put_kept(SEXP out, const int *sweeps, const int *keep, const open_mixture *opened,
                                int32_t components, const wb_mixture_prior *prior) {
  const double k = components, p = opened->columns, samples = opened->samples, count = sweeps[3];
  wb_mixture_kept kept = {.first = sweeps[1], .every = sweeps[2], .count = sweeps[3], .rows = opened->rows};
  if (count == 0) return kept;
  kept.log_weight = wb_list_numbers(out, "log_weight", count * k);
  if (prior->hyper)
    kept.prior = wb_list_numbers(out, "kept_prior", count * (double)WB_MIXTURE_PRIOR_VALUES(opened->columns));
  if (samples > 0) {
    kept.sample_log_weight = put_draws(out, "sample_log_weight", k, samples, count);
    kept.sample_sizes = put_draws(out, "kept_sample_sizes", k, samples, count);
    kept.sample_concentration = wb_list_numbers(out, "kept_sample_concentration", count);
  }
  if (keep[0]) kept.labels = wb_list_integers(out, "labels", (double)opened->rows * count);
  if (keep[1]) kept.moments.means = put_draws(out, "means", k, p, count);
  if (keep[2])
    kept.moments.covariances = count == 1 ? put_covariances(out, components, opened->columns)
                                          : wb_list_numbers(out, "covariances", count * k * p * p);
  return kept;
}

typedef struct running {
  reading at;
  const open_mixture *opened;
  wb_mixture_data data;
  wb_mixture_spots spots;
  wb_mixture_sweeps sweeps;
  wb_mixture_kept kept;
  double search[3];
} running;

static int run_sweeps(void *chain) {
  running *const r = chain;
  WB_TRY(wb_mixture_run(&r->at.chain, &r->sweeps, &r->kept));
  if (r->kept.labels) count_from_one(r->kept.labels, r->opened->rows * r->kept.count);
  return WB_OK;
}

static void finish_sweeps(void *chain, SEXP out) {
  const running *const r = chain;
  put_state(out, &r->at.chain.state);
  wb_mixture_prior_values(&r->at.chain.prior,
                          wb_list_numbers(out, "prior", (double)WB_MIXTURE_PRIOR_VALUES(r->at.chain.prior.columns)));
  if (r->opened->samples > 0) put_samples(out, &r->at.samples);
  if (r->search[1] > 0) memcpy(wb_list_numbers(out, "search", 3), r->search, 3 * sizeof(double));
}

/* Sweeps from a state of the chain, with the arguments pointer, prior, state, sweeps, moves, atoms, probe (columns x
 * points, scaled), keep (whether labels, means, covariances are kept), center and scale (the data's). Returns the new
 * state, the traces and the kept draws, one after the other. */
static SEXP prepare_sweeps(const SEXP *argument, wb_slice *slice) {
  SEXP pointer = argument[0], state = argument[2], sweeps = argument[3], atoms = argument[5], probe = argument[6],
       keep = argument[7], center = argument[8], scale = argument[9];
  const open_mixture *const opened = wb_mixture_from_sexp(pointer);
  if (!opened) return wb_mixture_closed();
  const int32_t p = opened->columns;
  int number[4];
  running *const r = (running *)R_alloc(1, sizeof *r);
  if (!read_chain(opened, argument[1], state, opened->samples, &r->at, &slice->message) || !is_atoms(atoms, p) ||
      !wb_is_matrix(probe, p) || !wb_is_numbers(center, p) || !wb_is_numbers(scale, p) ||
      !wb_read_sweeps(sweeps, number) || !read_search(state, r->search) || TYPEOF(keep) != LGLSXP ||
      Rf_xlength(keep) != 3)
    return wb_changed_fit();
  const int32_t k = r->at.chain.state.components;
  const int count = number[0], points = Rf_ncols(probe);
  SEXP out = PROTECT(
      wb_list_new("statistics concentration prior log_weight log_likelihood log_prior score concentration_trace "
                  "occupied probe_density sizes labels means covariances sample_sizes log_share sample_concentration "
                  "sample_log_weight kept_sample_sizes kept_sample_concentration kept_prior search"));
  r->opened = opened;
  r->data = session_data(pointer, opened, center, scale);
  r->spots = (wb_mixture_spots){&r->data, Rf_ncols(atoms), REAL_RO(atoms)};
  r->sweeps = (wb_mixture_sweeps){.count = count,
                                  .iteration = (uint32_t)r->at.sweep + 1,
                                  .moves = Rf_asLogical(argument[4]),
                                  .merge = merge_sweep(state),
                                  .search = {(uint32_t)r->search[0], (uint32_t)r->search[1]},
                                  .level = &r->search[2],
                                  .spots = opened->keeps_labels ? &r->spots : NULL,
                                  .points = points,
                                  .probe = REAL_RO(probe),
                                  .log_likelihood = wb_list_numbers(out, "log_likelihood", count),
                                  .log_prior = wb_list_numbers(out, "log_prior", count),
                                  .score = wb_list_numbers(out, "score", count),
                                  .concentration = wb_list_numbers(out, "concentration_trace", count),
                                  .occupied = wb_list_integers(out, "occupied", count),
                                  .probe_density = wb_list_matrix(out, "probe_density", count, points),
                                  .sizes = wb_list_numbers(out, "sizes", k)};
  r->kept = put_kept(out, number, LOGICAL_RO(keep), opened, k, &r->at.chain.prior);
  r->kept.moments.center = REAL_RO(center);
  r->kept.moments.scale = REAL_RO(scale);
  return wb_slice_ready(slice, out, r, run_sweeps, finish_sweeps);
}

SEXP wb_entry_mixture_sweeps(SEXP chains) { return wb_slices_run(prepare_sweeps, 10, chains); }

/* Evaluates `count` rows from `first` on (from 0) under a mixture. want: class, log density, probabilities; or numbers,
 * by which a card draws classes of parts of the rows: the seed of each, and the number of its first row. */
SEXP wb_entry_mixture_evaluate(SEXP pointer, SEXP weights, SEXP means, SEXP covariances, SEXP center,
                               SEXP inverse_scale, SEXP first, SEXP count, SEXP want) {
  wb_message message;
  const open_mixture *const opened = wb_mixture_from_sexp(pointer);
  if (!opened) return wb_mixture_closed();
  const double p = opened->columns, components = (double)Rf_xlength(weights);
  if (!wb_is_numbers(weights, components) || components < 1 || !wb_is_numbers(means, components * p) ||
      !wb_is_numbers(covariances, components * p * p) || !wb_is_numbers(center, p) || !wb_is_numbers(inverse_scale, p))
    return wb_changed_fit();
  const R_xlen_t parts = Rf_xlength(first);
  const int draws = opened->backend->mixture->draw_rows && wb_are_finite(want, 2 * (double)parts);
  const double number = draws ? (double)parts : 1;
  if (!wb_is_numbers(first, number) || !wb_is_numbers(count, number)) return wb_changed_fit();
  const double *const begin = REAL_RO(first), *const many = REAL_RO(count);
  int64_t rows = 0, next = 0;
  for (R_xlen_t i = 0; i < parts; i++) {
    if (!(begin[i] >= 0 && many[i] >= 0 && begin[i] + many[i] <= (double)opened->rows)) return wb_changed_fit();
    rows += (int64_t)many[i];
  }
  const int k = LENGTH(weights), *const wanted = draws ? (int[]){1, 0, 0} : LOGICAL_RO(want);
  wb_mixture_state state = state_of(k, opened->columns);
  int status = wb_mixture_from_moments(&state, REAL_RO(weights), REAL_RO(means), REAL_RO(covariances), REAL_RO(center),
                                       REAL_RO(inverse_scale), &message);
  if (status != WB_OK) return wb_failure(status, &message);
  SEXP out = PROTECT(wb_list_new("class log_density prob"));
  int32_t *labels = wanted[0] ? wb_list_integers(out, "class", (double)rows) : NULL;
  double *log_density = wanted[1] ? wb_list_numbers(out, "log_density", (double)rows) : NULL;
  double *probability = wanted[2] ? wb_list_matrix(out, "prob", (double)rows, k) : NULL;
  const wb_mixture_parameters parameters = wb_mixture_parameters_of(&state);
  for (R_xlen_t i = 0; draws && i < parts && status == WB_OK; next += (int64_t)many[i++])
    status = opened->backend->mixture->draw_rows(opened->session, &parameters, (int64_t)begin[i], (int64_t)many[i],
                                                 wb_chain_key_of((uint64_t)REAL_RO(want)[2 * i], 0),
                                                 (int64_t)REAL_RO(want)[2 * i + 1], labels + next, &message);
  if (!draws)
    status = wb_mixture_evaluate(opened->backend, opened->session, &state, (int64_t)begin[0], rows, labels, log_density,
                                 probability, &message);
  if (labels && status == WB_OK) count_from_one(labels, rows);
  return wb_finish(out, status, &message);
}

/* At most `steps` steps of Bayesian EM from a state. The state's `log_posterior` belongs to its parameters in scaled
 * units; NaN if it has none. The mode is returned in `log_weight`, `means` and `covariances`. The traces have as many
 * rows as steps were asked for; rows after the first `done` are NA. */
SEXP wb_entry_mixture_climb(SEXP pointer, SEXP prior, SEXP state, SEXP steps, SEXP means, SEXP least_gain, SEXP probe,
                            SEXP center, SEXP scale) {
  wb_message message;
  const open_mixture *const opened = wb_mixture_from_sexp(pointer);
  if (!opened) return wb_mixture_closed();
  const int32_t p = opened->columns;
  SEXP before = TYPEOF(state) == VECSXP ? wb_list_element(state, "log_posterior") : R_NilValue;
  reading at;
  if (!read_chain(opened, prior, state, 0, &at, &message) || !wb_is_numbers(before, 1) || !wb_is_matrix(probe, p) ||
      !wb_is_numbers(center, p) || !wb_is_numbers(scale, p))
    return wb_changed_fit();
  wb_mixture_state *const current = &at.chain.state;
  const int count = Rf_asInteger(steps), points = Rf_ncols(probe);
  SEXP out =
      PROTECT(wb_list_new("statistics concentration log_weight log_likelihood log_prior concentration_trace occupied "
                          "probe_density sizes means covariances log_posterior done converged"));
  wb_mixture_steps what = {.count = count,
                           .means = Rf_asLogical(means),
                           .least_gain = Rf_asReal(least_gain),
                           .log_posterior = Rf_asReal(before),
                           .points = points,
                           .probe = REAL_RO(probe),
                           .log_likelihood = wb_list_numbers(out, "log_likelihood", count),
                           .log_prior = wb_list_numbers(out, "log_prior", count),
                           .concentration = wb_list_numbers(out, "concentration_trace", count),
                           .occupied = wb_list_integers(out, "occupied", count),
                           .probe_density = wb_list_matrix(out, "probe_density", count, points)};
  const wb_mixture_draw draw = {.center = REAL_RO(center),
                                .scale = REAL_RO(scale),
                                .means = wb_list_matrix(out, "means", current->components, p),
                                .covariances = put_covariances(out, current->components, p)};
  for (R_xlen_t i = 0; i < count; i++) {
    what.log_likelihood[i] = what.log_prior[i] = what.concentration[i] = NA_REAL;
    what.occupied[i] = NA_INTEGER;
  }
  for (R_xlen_t i = 0; i < (R_xlen_t)count * points; i++) what.probe_density[i] = NA_REAL;
  const int status = wb_mixture_climb(&at.chain, &what);
  if (status != WB_OK) return wb_finish(out, status, &message);
  wb_mixture_moments(current, &draw);
  double *statistics = put_state(out, current);
  memcpy(wb_list_numbers(out, "log_weight", current->components), current->log_weight,
         (size_t)current->components * sizeof(double));
  double *sizes = wb_list_numbers(out, "sizes", current->components);
  for (int32_t j = 0; j < current->components; j++) sizes[j] = statistics[(size_t)j * WB_MIXTURE_STATISTICS(p)];
  wb_list_put(out, "log_posterior", Rf_ScalarReal(what.log_posterior));
  wb_list_put(out, "done", Rf_ScalarInteger(what.done));
  wb_list_put(out, "converged", Rf_ScalarLogical(what.converged));
  return wb_finish(out, WB_OK, NULL);
}
