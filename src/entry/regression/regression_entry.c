/* Entries of regressions (regression/regression.h). */
#include "entry/fields.h"
#include "entry/slices.h"

#include <stdlib.h>
#include <string.h>

#include "regression/draws.h"
#include "regression/ellipse.h"
#include "regression/regression.h"
#include "regression/zeros.h"

/* The external pointer of an open regression. Its protected value keeps the R vectors that the session reads. */
typedef struct open_regression {
  const wb_backend *backend;
  wb_regression_session *session;
  wb_run run;
  wb_regression_data data;
  int32_t scales; /* columns of all terms */
  wb_regression_grouping grouping;
  wb_regression_term terms[WB_REGRESSION_MOST_TERMS];
  wb_regression_zeros zeros;
  int64_t group_start[1]; /* groups + 1 */
} open_regression;

static void free_parts(open_regression *opened) {
  for (int t = 0; t < WB_REGRESSION_MOST_TERMS; t++) free((void *)opened->terms[t].start);
  free(opened->data.completed);
}

static void close_regression(SEXP pointer) {
  open_regression *opened = R_ExternalPtrAddr(pointer);
  if (!opened) return;
  opened->backend->regression->close(opened->session);
  R_ClearExternalPtr(pointer);
  free_parts(opened);
  free(opened);
}

/* Data ----------------------------------------------------------------------------------------------------------- */

int wb_read_sparse(SEXP list, double rows, double columns, const int32_t **row_start, const int32_t **column,
                   const double **value) {
  SEXP starts = wb_list_element(list, "row_start"), columns_of = wb_list_element(list, "column"),
       values = wb_list_element(list, "value");
  if (TYPEOF(starts) != INTSXP || (double)Rf_xlength(starts) != rows + 1 || TYPEOF(columns_of) != INTSXP) return 0;
  const int *const start = INTEGER_RO(starts), *const of = INTEGER_RO(columns_of);
  const R_xlen_t n = (R_xlen_t)rows;
  if (start[0] != 0 || Rf_xlength(columns_of) != start[n] || !wb_is_numbers(values, start[n])) return 0;
  for (R_xlen_t i = 0; i < n; i++) {
    if (start[i] > start[i + 1] || start[i + 1] > start[n]) return 0;
    for (int e = start[i]; e < start[i + 1]; e++)
      if (of[e] < 0 || of[e] >= columns || (e > start[i] && of[e] <= of[e - 1])) return 0;
  }
  *row_start = start;
  *column = of;
  *value = REAL_RO(values);
  return 1;
}

enum { ROWS = WB_OWN, COLUMNS, OUTCOMES, PREDICTORS, TERM_COLUMNS = COLUMNS, WIDTH = OUTCOMES, OF_LEVELS = PREDICTORS };
#define IN_DATA(member) offsetof(wb_regression_data, member)

static const wb_field data_fields[] = {
    {"x", REALSXP, {ROWS, COLUMNS}, WB_OPTIONAL, IN_DATA(x)},
    {"center", REALSXP, {COLUMNS}, 0, IN_DATA(center)},
    {"inverse_scale", REALSXP, {COLUMNS}, 0, IN_DATA(inverse_scale)},
    {"offset", REALSXP, {PREDICTORS}, WB_OPTIONAL, IN_DATA(offset)},
    {"shape", REALSXP, {ROWS}, 0, IN_DATA(shape)},
    {"kappa", REALSXP, {ROWS, OUTCOMES}, 0, IN_DATA(kappa)},
    {"dispersed", REALSXP, {ROWS}, WB_OPTIONAL, IN_DATA(dispersed)},
    {"poisson", INTSXP, {WB_ONE}, WB_OPTIONAL | WB_COPIED, IN_DATA(poisson)},
    {"primal", INTSXP, {WB_ONE}, WB_OPTIONAL | WB_COPIED, IN_DATA(primal)},
};

/* What regression_data() of R/regression_formula.R made, without its groups and terms. */
static int read_data(SEXP list, wb_regression_data *data) {
  SEXP kappa = TYPEOF(list) == VECSXP ? wb_list_element(list, "kappa") : R_NilValue;
  if (!Rf_isMatrix(kappa)) return 0;
  const double rows = Rf_nrows(kappa), outcomes = Rf_ncols(kappa);
  const double columns = (double)Rf_xlength(wb_list_element(list, "center"));
  const double size[] = {WB_SIZES, rows, columns, outcomes, rows * outcomes};
  if (rows < 1 || columns < 1 || columns > INT32_MAX || outcomes < 1 || outcomes > WB_REGRESSION_MOST_OUTCOMES ||
      !WB_READ(list, data_fields, size, data))
    return 0;
  data->rows = (int64_t)rows;
  data->columns = (int32_t)columns;
  data->outcomes = (int32_t)outcomes;
  return data->x || wb_read_sparse(list, rows, columns, &data->row_start, &data->column, &data->value);
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

/* A term as regression_terms() of R/regression_terms.R made it. */
typedef struct given_term {
  wb_regression_term term;
  int32_t independent, parent; /* parent: the term in whose levels the levels of this one lie; -1: none */
  const int32_t *parent_level;
  wb_regression_lattice lattice;
} given_term;
#define IN_TERM(member) offsetof(given_term, member)

static const wb_field term_fields[] = {
    {"levels", INTSXP, {WB_ONE}, WB_COPIED, IN_TERM(term.levels)},
    {"independent", LGLSXP, {WB_ONE}, WB_COPIED, IN_TERM(independent)},
    {"parent", INTSXP, {WB_ONE}, WB_OPTIONAL | WB_COPIED, IN_TERM(parent)},
    {"z", REALSXP, {ROWS, TERM_COLUMNS}, WB_OPTIONAL, IN_TERM(term.z)},
    {"level", INTSXP, {ROWS}, 0, IN_TERM(term.level)},
    {"precision", REALSXP, {WIDTH, OF_LEVELS}, WB_OPTIONAL, IN_TERM(lattice.precision)},
    {"gap", REALSXP, {OF_LEVELS}, WB_OPTIONAL, IN_TERM(lattice.gap)},
    {"share", REALSXP, {OF_LEVELS}, WB_OPTIONAL, IN_TERM(lattice.share)},
    {"unit", INTSXP, {OF_LEVELS}, WB_OPTIONAL, IN_TERM(lattice.unit)},
};

/* Reads a term. The first level of an autoregression has no level before it. */
static int read_term(SEXP term, double rows, double columns, given_term *to) {
  SEXP levels = wb_list_element(term, "levels"), precision = wb_list_element(term, "precision");
  const double width = Rf_isMatrix(precision) ? Rf_nrows(precision) : 2,
               size[] = {WB_SIZES, rows, columns, width, Rf_isInteger(levels) ? Rf_asInteger(levels) : 0};
  *to = (given_term){.term.columns = (int32_t)columns, .parent = -1, .lattice.band = (int32_t)width - 1};
  if (!WB_READ(term, term_fields, size, to)) return 0;
  const wb_regression_lattice *const lattice = &to->lattice;
  const double n = to->term.levels;
  if (!lattice->precision && !lattice->gap) return 1;
  return columns == 1 && !to->term.z && width >= 1 && width <= n &&
         (lattice->gap ? wb_are_finite(wb_list_element(term, "gap"), n) && lattice->gap[0] == 0.0 && n > 1
                       : wb_are_finite(precision, width * n) && lattice->unit &&
                             wb_are_finite(wb_list_element(term, "share"), n));
}

static int32_t read_terms(SEXP data, double rows, given_term *given) {
  SEXP terms = wb_list_element(data, "terms");
  const R_xlen_t count = Rf_xlength(terms);
  if (terms == R_NilValue) return 0;
  if (TYPEOF(terms) != VECSXP || count < 1 || count > WB_REGRESSION_MOST_TERMS ||
      wb_list_element(data, "group_start") != R_NilValue)
    return -1;
  for (R_xlen_t t = 0; t < count; t++) {
    SEXP term = VECTOR_ELT(terms, t), z = TYPEOF(term) == VECSXP ? wb_list_element(term, "z") : R_NilValue;
    const double columns = TYPEOF(term) != VECSXP ? 0 : Rf_isMatrix(z) ? Rf_ncols(z) : 1;
    if (columns < 1 || columns > WB_REGRESSION_MOST_TERM_COLUMNS || !read_term(term, rows, columns, given + t) ||
        given[t].term.levels < 1 || !wb_are_integers(wb_list_element(term, "level"), rows, 0, given[t].term.levels))
      return -1;
  }
  for (R_xlen_t t = 0; t < count; t++) {
    const int32_t parent = given[t].parent, levels = given[t].term.levels;
    if (parent < 0) continue;
    SEXP level = wb_list_element(VECTOR_ELT(terms, t), "parent_level");
    if (parent >= count || parent == t || !wb_are_integers(level, levels, 0, given[parent].term.levels) ||
        given[parent].term.columns != given[t].term.columns)
      return -1;
    given[t].parent_level = INTEGER_RO(level);
  }
  return (int32_t)count;
}

static int open_terms(const given_term *given, int32_t count, open_regression *opened, wb_message *message) {
  const size_t rows = (size_t)opened->data.rows;
  wb_regression_grouping *const grouping = &opened->grouping;
  grouping->terms = opened->terms;
  for (int32_t t = 0; t < count; t++) {
    wb_regression_term *const term = opened->terms + t;
    int32_t *const start = malloc(((size_t)given[t].term.levels + 1 + rows) * sizeof(int32_t));
    if (!start) return wb_fail(message, WB_ERROR_MEMORY, "no memory for the levels of grouping terms");
    *term = given[t].term;
    term->start = start;
    term->index = start + term->levels + 1;
    wb_regression_index_levels((int64_t)rows, term->levels, term->level, start, start + term->levels + 1);
    opened->scales += opened->terms[t].columns;
    grouping->count = t + 1;
    grouping->independent[t] = given[t].independent == 1;
    grouping->parent[t] = given[t].parent;
    grouping->parent_level[t] = given[t].parent_level;
    grouping->lattice[t] = given[t].lattice;
    if (given[t].lattice.precision || given[t].lattice.gap) grouping->lattices++;
  }
  opened->data.term_count = count;
  opened->data.terms = opened->terms;
  return WB_OK;
}

static const wb_field zero_fields[] = {
    {"hurdle", INTSXP, {WB_ONE}, WB_COPIED, offsetof(wb_regression_zeros, hurdle)},
    {"count", REALSXP, {ROWS}, 0, offsetof(wb_regression_zeros, count)},
    {"weight", REALSXP, {ROWS}, 0, offsetof(wb_regression_zeros, weight)},
    {"unit", REALSXP, {ROWS}, 0, offsetof(wb_regression_zeros, unit)},
    {"row", INTSXP, {ROWS}, 0, offsetof(wb_regression_zeros, row)},
};

/* Whether the data are of one of two regressions of the same rows, and can be used so: `zeros` is what the counts know
 * of the regression of zeros, and a number among the data of the latter. Only the first regression reads it. */
static int read_zeros(SEXP data, const wb_regression_data *rows, wb_regression_zeros *to) {
  SEXP zeros = wb_list_element(data, "zeros");
  const double n = (double)rows->rows, size[] = {WB_SIZES, n};
  if (TYPEOF(zeros) != VECSXP) return 1;
  if (!WB_READ(zeros, zero_fields, size, to) || !wb_are_integers(wb_list_element(zeros, "row"), n, 0, n)) return 0;
  for (int64_t i = 0; i < rows->rows; i++)
    if (!(to->weight[i] >= 0 && to->weight[i] <= 1e6)) return 0;
  return rows->dispersed && (to->hurdle == 0 || to->hurdle == 1);
}

/* A copy of the values of the rows that change while sweeps run. */
static int copy_rows(SEXP data, open_regression *opened, wb_message *message) {
  wb_regression_data *const rows = &opened->data;
  const size_t bytes = (size_t)rows->rows * sizeof(double);
  SEXP zeros = wb_list_element(data, "zeros");
  if (zeros == R_NilValue) return WB_OK;
  if (!(rows->completed = malloc(bytes)))
    return wb_fail(message, WB_ERROR_MEMORY, "no memory for the completed counts");
  const double **const from = TYPEOF(zeros) == VECSXP ? &rows->dispersed : &rows->kappa;
  memcpy(rows->completed, *from, bytes);
  rows->observed = rows->kappa;
  *from = rows->completed;
  if (TYPEOF(zeros) == VECSXP) rows->zeros = &opened->zeros;
  return WB_OK;
}

/* `data`: what regression_data() of R/regression_formula.R made. */
SEXP wb_entry_regression_open(SEXP data, SEXP run) {
  wb_regression_data rows = {.x = NULL};
  wb_regression_zeros zeros;
  given_term given[WB_REGRESSION_MOST_TERMS];
  if (!read_data(data, &rows) || !read_zeros(data, &rows, &zeros)) return wb_changed_fit();
  SEXP starts = wb_list_element(data, "group_start");
  const int32_t terms = read_terms(data, (double)rows.rows, given);
  if (terms < 0 || !are_group_starts(starts, (double)rows.rows)) return wb_changed_fit();
  wb_message message;
  const wb_call call = wb_call_from_list(run, &message);
  const wb_backend *const backend = call.backend;
  const R_xlen_t groups = starts == R_NilValue ? 0 : Rf_xlength(starts) - 1;
  SEXP pointer = PROTECT(wb_session_begin(data, close_regression));
  open_regression *opened = calloc(1, sizeof *opened + (size_t)groups * sizeof(int64_t));
  int status = opened ? wb_backend_has(backend, backend->regression, "regressions", &message) : WB_ERROR_MEMORY;
  if (!opened) wb_message_write(&message, "no memory for the regression session");
  if (status == WB_OK) {
    opened->backend = backend;
    opened->run = call.run;
    opened->data = rows;
    opened->data.dual = !rows.primal && wb_regression_is_dual(rows.rows, rows.columns);
    opened->data.groups = (int32_t)groups;
    opened->data.group_start = opened->group_start;
    for (R_xlen_t g = 0; groups > 0 && g <= groups; g++) opened->group_start[g] = (int64_t)REAL_RO(starts)[g];
    opened->zeros = zeros;
    status = open_terms(given, terms, opened, &message);
  }
  if (status == WB_OK) status = copy_rows(data, opened, &message);
  if (status == WB_OK) status = backend->regression->open(&opened->data, &opened->run, &opened->session, &message);
  if (status != WB_OK && opened) free_parts(opened);
  SEXP result = wb_session_end(pointer, opened, status, &message);
  UNPROTECT(1);
  return result;
}

/* Chains --------------------------------------------------------------------------------------------------------- */

typedef struct sampling {
  wb_regression_chain chain;
  wb_regression_sweeps sweeps;
  double sweep; /* the number of sweeps before */
} sampling;
#define IN_PRIOR(member) offsetof(sampling, chain.prior.member)
#define IN_COUNTS(member) offsetof(sampling, chain.counts.member)
#define IN_STATE(member) offsetof(sampling, chain.state.member)
#define IN_SWEEPS(member) offsetof(sampling, sweeps.member)

/* Sizes of a prior, of a state and of traces. */
enum { COEFFICIENTS_OF_ONE = WB_OWN, PRECISION, SCALES, DISTINCT, OF_STATE };
enum { COEFFICIENTS = OF_STATE, STATISTICS, GROUPS, GROUP_STATISTICS, SHRINKAGE, SCALARS, ELLIPSE, OF_TERMS };
enum { EFFECTS = OF_TERMS, COVARIANCES, MOVES, OF_TRACES };
enum { TRACED = OF_TRACES, SWEEPS, OF_DISPERSION, OF_GROUPS, OF_BLOCKS, COVARIANCE_TRACE, KEPT, KEPT_COUNT, SIZES };

static const wb_field prior_fields[] = {
    {"mean", REALSXP, {COEFFICIENTS}, 0, IN_PRIOR(mean)},
    {"precision", REALSXP, {PRECISION}, 0, IN_PRIOR(precision)},
    {"law", INTSXP, {COEFFICIENTS_OF_ONE}, WB_OPTIONAL, IN_PRIOR(law)},
    {"df", REALSXP, {COEFFICIENTS_OF_ONE}, 0, IN_PRIOR(df)},
    {"scale", REALSXP, {COEFFICIENTS_OF_ONE}, 0, IN_PRIOR(scale)},
    {"gap", REALSXP, {COEFFICIENTS_OF_ONE}, WB_OPTIONAL, IN_PRIOR(gap)},
    {"global_scale", REALSXP, {WB_ONE}, WB_COPIED, IN_PRIOR(global_scale)},
    {"slab", REALSXP, {WB_TWO}, WB_COPIED, IN_PRIOR(slab_scale)},
    {"group_scale", REALSXP, {WB_ONE}, WB_COPIED, IN_PRIOR(group_scale)},
    {"effect_scale", REALSXP, {SCALES}, 0, IN_PRIOR(effect_scale)},
    {"dispersion", REALSXP, {WB_TWO}, WB_COPIED, IN_PRIOR(dispersion_shape)},
    {"dispersion_scale", REALSXP, {WB_ONE}, WB_COPIED, IN_PRIOR(dispersion_scale)},
    {"moves", REALSXP, {WB_TWO}, WB_OPTIONAL | WB_COPIED, offsetof(sampling, chain.warmup)},
};

static const wb_field counts_fields[] = {
    {"value", REALSXP, {DISTINCT}, 0, IN_COUNTS(value)},
    {"weight", REALSXP, {DISTINCT}, 0, IN_COUNTS(weight)},
    {"rows", REALSXP, {WB_ONE}, WB_COPIED, IN_COUNTS(rows)},
};

static const wb_field position_fields[] = {
    {"key", RAWSXP, {WB_EIGHT}, WB_COPIED, offsetof(sampling, chain.key)},
    {"sweep", REALSXP, {WB_ONE}, WB_COPIED, offsetof(sampling, sweep)},
};

/* A state, and behind it the traces of sweeps and the kept draws of groups. */
enum { STATE_PARTS = 10 };
static const wb_field result_fields[] = {
    {"coefficients", REALSXP, {COEFFICIENTS}, 0, IN_STATE(coefficients)},
    {"statistics", REALSXP, {STATISTICS}, 0, IN_STATE(statistics)},
    {"intercepts", REALSXP, {GROUPS}, 0, IN_STATE(intercepts)},
    {"group_statistics", REALSXP, {GROUP_STATISTICS}, 0, IN_STATE(group_statistics)},
    {"shrinkage", REALSXP, {SHRINKAGE}, 0, IN_STATE(shrinkage)},
    {"scalars", REALSXP, {SCALARS}, 0, IN_STATE(scalars)},
    {"ellipse", REALSXP, {ELLIPSE}, 0, IN_STATE(ellipse)},
    {"effects", REALSXP, {EFFECTS}, 0, IN_STATE(effects)},
    {"covariances", REALSXP, {COVARIANCES}, 0, IN_STATE(covariances)},
    {"moves", REALSXP, {MOVES}, WB_OPTIONAL, IN_STATE(moves)},
    {"coefficient_trace", REALSXP, {SWEEPS, TRACED}, 0, IN_SWEEPS(coefficients)},
    {"log_likelihood", REALSXP, {SWEEPS}, 0, IN_SWEEPS(log_likelihood)},
    {"dispersion_trace", REALSXP, {OF_DISPERSION}, WB_OPTIONAL, IN_SWEEPS(dispersion)},
    {"group_deviation", REALSXP, {OF_GROUPS}, WB_OPTIONAL, IN_SWEEPS(group_deviation)},
    {"block_deviation", REALSXP, {SWEEPS, OF_BLOCKS}, WB_OPTIONAL, IN_SWEEPS(block_deviation)},
    {"covariance_trace", REALSXP, {SWEEPS, COVARIANCE_TRACE}, WB_OPTIONAL, IN_SWEEPS(covariances)},
    {"kept", REALSXP, {KEPT, KEPT_COUNT}, WB_OPTIONAL, IN_SWEEPS(kept)},
};

static int read_prior(SEXP prior, double p, int dual, int32_t scales, double *size, sampling *to) {
  SEXP counts = TYPEOF(prior) == VECSXP ? wb_list_element(prior, "counts") : R_NilValue;
  size[COEFFICIENTS_OF_ONE] = p;
  size[PRECISION] = dual ? p : p * (p + 1) / 2;
  size[SCALES] = scales;
  to->chain.prior.columns = (int32_t)p;
  if (!WB_READ(prior, prior_fields, size, to) || !wb_regression_are_blocks(&to->chain.prior)) return 0;
  if (counts == R_NilValue) return 1;
  size[DISTINCT] = TYPEOF(counts) == VECSXP ? (double)Rf_xlength(wb_list_element(counts, "value")) : 0;
  to->chain.counts.distinct = (int64_t)size[DISTINCT];
  return WB_READ(counts, counts_fields, size, to);
}

/* Sizes of a state. With grouping terms `state` must have their grouping. */
static void set_sizes(const wb_regression_state *state, double *size) {
  const size_t p = (size_t)state->columns, groups = (size_t)state->groups, outcomes = (size_t)state->outcomes,
               summed = (size_t)wb_regression_summed(state);
  size[COEFFICIENTS] = (double)(p * outcomes);
  size[STATISTICS] = (double)wb_regression_statistics_size(state);
  size[GROUPS] = (double)groups;
  size[GROUP_STATISTICS] = (double)(groups * WB_REGRESSION_GROUP_STATISTICS(summed));
  size[SHRINKAGE] = (double)(outcomes * WB_REGRESSION_SHRINKAGE(p));
  size[SCALARS] = WB_REGRESSION_SCALARS;
  size[ELLIPSE] = (double)wb_regression_ellipse_size(state);
  size[EFFECTS] = state->grouping ? (double)(outcomes * wb_regression_effects(state->grouping)) : 0;
  size[COVARIANCES] = state->grouping ? (double)(outcomes * wb_regression_covariances(state->grouping)) : 0;
  const size_t moves = wb_level_size(state);
  size[MOVES] = moves > 0 ? (double)moves : -1;
}

/* Reads the session, the prior and the state of a chain. Returns a failure, or NULL. */
static SEXP read_chain(SEXP pointer, SEXP prior, SEXP state, double *size, sampling *to, wb_message *message) {
  open_regression *opened = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
  if (!opened) return wb_refuse("the regression session is closed");
  const wb_regression_data *const data = &opened->data;
  memset(to, 0, sizeof *to);
  memset(size, 0, SIZES * sizeof *size);
  memcpy(size, (double[]){WB_SIZES}, WB_OWN * sizeof *size);
  to->chain = (wb_regression_chain){
      .backend = opened->backend,
      .session = opened->session,
      .data = data,
      .run = &opened->run,
      .counts = {.isa = opened->run.isa},
      .message = message,
      .state = {.columns = data->columns,
                .outcomes = data->outcomes,
                .groups = data->groups,
                .dual_rows = data->dual ? (int32_t)data->rows : 0,
                .grouping = data->term_count > 0 ? &opened->grouping : NULL},
  };
  set_sizes(&to->chain.state, size);
  if (!read_prior(prior, data->columns, data->dual, opened->scales, size, to) ||
      !WB_READ(state, position_fields, size, to))
    return wb_changed_fit();
  return wb_fields_read(state, result_fields, STATE_PARTS, size, to) ? NULL : wb_changed_fit();
}

static int run_sweeps(void *chain) {
  const sampling *const at = chain;
  return wb_regression_run(&at->chain, &at->sweeps);
}

/* The result of sweeps of one chain, not protected, or a failure. Without `numbers`: a copy of its state. */
static SEXP new_sweeps(const SEXP *argument, SEXP numbers, sampling *at, wb_message *message, SEXP *failure) {
  double size[SIZES];
  int number[4] = {0};
  SEXP state = argument[2];
  *failure = read_chain(argument[0], argument[1], state, size, at, message);
  if (!*failure && numbers && !wb_read_sweeps(numbers, number)) *failure = wb_changed_fit();
  if (*failure) return *failure;
  if (!numbers) {
    SEXP out = PROTECT(wb_fields_new(result_fields, STATE_PARTS, size, at));
    wb_fields_copy(state, result_fields, STATE_PARTS, out);
    return wb_finish(out, WB_OK, NULL);
  }
  const wb_regression_state *const current = &at->chain.state;
  at->sweeps.count = number[0];
  at->sweeps.kept_first = number[1];
  at->sweeps.kept_every = number[2];
  at->sweeps.kept_count = LENGTH(numbers) == 1 ? 0 : number[3];
  if (!current->moves) size[MOVES] = -1;
  at->sweeps.iteration = (uint32_t)at->sweep + 1;
  size[SWEEPS] = at->sweeps.count;
  size[OF_DISPERSION] = at->chain.counts.distinct > 0 ? at->sweeps.count : -1;
  size[OF_GROUPS] = current->groups > 0 ? at->sweeps.count : -1;
  const int32_t blocks = wb_regression_blocks(&at->chain.prior);
  int32_t correlations = 0;
  const wb_regression_grouping *const grouping = current->grouping;
  const int32_t lattices = grouping ? grouping->lattices : 0, scales = blocks + lattices;
  const double effects = lattices > 0 ? current->outcomes * (double)wb_regression_lattice_effects(grouping) : 0;
  for (int32_t t = grouping ? grouping->count - lattices : 0; grouping && t < grouping->count; t++)
    correlations += grouping->lattice[t].gap != NULL;
  for (int32_t b = 0; b < blocks; b++)
    correlations += wb_regression_is_autoregression(&at->chain.prior, wb_regression_block_column(&at->chain.prior, b));
  size[OF_BLOCKS] = scales > 0 ? current->outcomes * (scales + correlations) : -1;
  size[COVARIANCE_TRACE] = grouping && lattices < grouping->count ? 0 : -1;
  for (int32_t t = 0; grouping && t < grouping->count - lattices; t++) {
    const int32_t q = grouping->terms[t].columns;
    size[COVARIANCE_TRACE] += current->outcomes * (q * (q + 1) / 2);
  }
  size[TRACED] = size[COEFFICIENTS] + effects;
  size[KEPT] = grouping ? size[EFFECTS] - effects : size[GROUPS];
  size[KEPT_COUNT] = at->sweeps.kept_count > 0 ? at->sweeps.kept_count : -1;
  SEXP out = PROTECT(WB_NEW(result_fields, size, at));
  wb_fields_copy(state, result_fields, STATE_PARTS, out);
  return wb_finish(out, WB_OK, NULL);
}

/* The state with which a chain starts: near the mode with a spread above 0, otherwise the given one. */
SEXP wb_entry_regression_start(SEXP pointer, SEXP prior, SEXP state, SEXP spread) {
  wb_message message;
  sampling at;
  SEXP failure, out = PROTECT(new_sweeps((SEXP[]){pointer, prior, state}, NULL, &at, &message, &failure));
  const int status = failure ? WB_OK : wb_regression_start(&at.chain, Rf_asReal(spread));
  return wb_finish(out, status, &message);
}

/* Sweeps from a state: session, prior, state and sweeps. Returns the state after them, and the traces. */
static SEXP prepare_sweeps(const SEXP *argument, wb_slice *slice) {
  sampling *const at = (sampling *)R_alloc(1, sizeof *at);
  SEXP failure, out = PROTECT(new_sweeps(argument, argument[3], at, &slice->message, &failure));
  if (!failure) return wb_slice_ready(slice, out, at, run_sweeps, NULL);
  UNPROTECT(1);
  return failure;
}

SEXP wb_entry_regression_sweeps(SEXP chains) { return wb_slices_run(prepare_sweeps, 4, chains); }

/* Two regressions ------------------------------------------------------------------------------------------------- */

/* The counts and the zeros, each with their session, prior and state; then the ellipse. */
enum { BOTH_ELLIPSE = 6, BOTH_SWEEPS };
typedef struct both_sampling {
  sampling part[2];
  wb_regression_both both;
} both_sampling;

/* Joins the chains, and copies the ellipse, NULL for zeros. Returns it, not protected, or NULL. */
static SEXP join_parts(both_sampling *at, SEXP ellipse) {
  at->both.counts = at->part[0].chain;
  at->both.zeros = at->part[1].chain;
  const wb_regression_data *const counts = at->both.counts.data, *const zeros = at->both.zeros.data;
  if (!counts->zeros || !zeros->completed || zeros->zeros || zeros->rows != counts->rows ||
      counts->outcomes * zeros->outcomes != 1 || at->both.counts.backend != at->both.zeros.backend)
    return NULL;
  const size_t size = wb_regression_both_ellipse(&at->both);
  if (ellipse && !wb_is_numbers(ellipse, (double)size)) return NULL;
  SEXP copy = Rf_allocVector(REALSXP, (R_xlen_t)size);
  at->both.ellipse = REAL(copy);
  for (size_t i = 0; i < size; i++) at->both.ellipse[i] = ellipse ? REAL_RO(ellipse)[i] : 0.0;
  return copy;
}

/* As new_sweeps(), for both, with the ellipse. */
static SEXP new_both(const SEXP *argument, SEXP numbers, SEXP ellipse, both_sampling *at, wb_message *message,
                     SEXP *failure) {
  SEXP out = PROTECT(wb_list_new("count zero ellipse"));
  *failure = NULL;
  for (int i = 0; i < 2 && !*failure; i++)
    SET_VECTOR_ELT(out, i, new_sweeps(argument + 3 * i, numbers, at->part + i, message, failure));
  SEXP own = *failure ? NULL : join_parts(at, ellipse);
  if (own) SET_VECTOR_ELT(out, 2, own);
  else if (!*failure) *failure = wb_changed_fit();
  UNPROTECT(1);
  return *failure ? *failure : out;
}

/* The states with which a chain of both regressions starts, and the ellipse of its moves. */
SEXP wb_entry_regression_start_both(SEXP parts, SEXP spread) {
  wb_message message;
  both_sampling at;
  SEXP part[BOTH_ELLIPSE], failure;
  if (TYPEOF(parts) != VECSXP || Rf_xlength(parts) != BOTH_ELLIPSE) return wb_changed_fit();
  for (int i = 0; i < BOTH_ELLIPSE; i++) part[i] = VECTOR_ELT(parts, i);
  SEXP out = PROTECT(new_both(part, NULL, NULL, &at, &message, &failure));
  const int status = failure ? WB_OK : wb_regression_both_start(&at.both, Rf_asReal(spread));
  return wb_finish(out, status, &message);
}

static int run_both(void *chain) {
  both_sampling *const at = chain;
  return wb_regression_both_run(&at->both, &at->part[0].sweeps, &at->part[1].sweeps);
}

/* Sweeps of both regressions. Returns what sweeps of each return, and the ellipse. */
static SEXP prepare_both(const SEXP *argument, wb_slice *slice) {
  both_sampling *const at = (both_sampling *)R_alloc(1, sizeof *at);
  SEXP failure;
  SEXP out = PROTECT(new_both(argument, argument[BOTH_SWEEPS], argument[BOTH_ELLIPSE], at, &slice->message, &failure));
  if (!failure) return wb_slice_ready(slice, out, at, run_both, NULL);
  UNPROTECT(1);
  return failure;
}

SEXP wb_entry_regression_sweeps_both(SEXP chains) { return wb_slices_run(prepare_both, BOTH_SWEEPS + 1, chains); }

/* One draw given `coefficients`, and its statistics: X'WX, packed, and X'z. `data` has no groups. */
SEXP wb_entry_regression_step(SEXP data, SEXP prior, SEXP coefficients, SEXP key, SEXP iteration, SEXP run) {
  wb_message message;
  double size[SIZES] = {WB_SIZES}, scalars[WB_REGRESSION_SCALARS] = {0, 1, 1};
  sampling at = {.chain = {.message = &message, .state = {.outcomes = 1, .scalars = scalars}}};
  wb_regression_data rows = {.x = NULL};
  if (!read_data(data, &rows)) return wb_changed_fit();
  size[COEFFICIENTS] = rows.columns;
  if (!read_prior(prior, rows.columns, 0, 0, size, &at) || !wb_is_numbers(coefficients, rows.columns) ||
      TYPEOF(key) != RAWSXP || Rf_xlength(key) != 8)
    return wb_changed_fit();
  const wb_call call = wb_call_from_list(run, &message);
  at.chain.key = wb_key_from_raw(key);
  at.chain.state.columns = rows.columns;
  set_sizes(&at.chain.state, size);
  SEXP out = PROTECT(wb_fields_new(result_fields, 2, size, &at));
  memcpy(at.chain.state.coefficients, REAL_RO(coefficients), (size_t)rows.columns * sizeof(double));
  return wb_finish(out, wb_regression_step(&call, &rows, &at.chain, (uint32_t)Rf_asReal(iteration)), &message);
}
