/* Draws by a system of the rows: regression/dual_draw.h. */
#include "core/scalar.h"

#include "regression/dual_draw.h"

#include "core/regression_row.h"
#include "numeric/memory.h"
#include "numeric/root.h"
#include "regression/draws.h"
#include "regression/ellipse.h"

enum { MOST = WB_REGRESSION_MOST_TERM_COLUMNS, MOST_PACKED = MOST * (MOST + 1) / 2 };

/* The weight of a row whose Polya-Gamma variable is too small for a double. */
#define LEAST_WEIGHT 1e-300

int wb_regression_dual_open(const wb_regression_chain *chain, wb_regression_dual *dual) {
  const wb_regression_state *const state = &chain->state;
  const int64_t *const start = chain->data->group_start;
  const size_t padded = (size_t)wb_root_padded(state->dual_rows), stride = wb_root_stride(state->dual_rows),
               effects = state->grouping ? wb_regression_effects(state->grouping) : (size_t)state->groups;
  *dual = (wb_regression_dual){.padded = (int32_t)padded, .stride = stride};
  dual->memory = WB_PARTS("the system of the rows", chain->message, WB_PART(dual->gram, padded * stride),
                          WB_PART(dual->system, padded * stride), WB_PART(dual->root, padded),
                          WB_PART(dual->solution, padded), WB_PART(dual->linear, padded),
                          WB_CLEARED(dual->residual, padded), WB_PART(dual->variance, state->columns),
                          WB_PART(dual->point, state->columns), WB_PART(dual->effects, effects),
                          WB_PART(dual->fixed, padded), WB_PART(dual->start, padded), WB_PART(dual->noise, padded),
                          WB_PART(dual->at, padded), WB_PART(dual->now, padded), WB_PART(dual->group, padded));
  if (!dual->memory) return WB_ERROR_MEMORY;
  for (int32_t g = 0; g < state->groups; g++)
    for (int64_t row = start[g]; row < start[g + 1]; row++) dual->group[row] = g;
  return WB_OK;
}

wb_regression_dual_grouping wb_regression_dual_groups(const wb_regression_chain *chain) {
  const wb_regression_state *const state = &chain->state;
  return (wb_regression_dual_grouping){.term = {.columns = 1, .levels = state->groups, .level = chain->dual->group},
                                       .covariance = state->scalars + WB_REGRESSION_GROUP_VARIANCE};
}

static double z_of(const wb_regression_term *term, int32_t rows, int32_t k, int32_t row) {
  return term->z ? term->z[(size_t)k * (size_t)rows + (size_t)row] : 1.0;
}

/* value + weight z'b of a row, b the effects of its level. */
static double add_effects(const wb_regression_term *term, int32_t rows, int32_t row, double weight,
                          const double *effects, double value) {
  const double *const own = effects + (size_t)term->level[row] * (size_t)term->columns;
  for (int32_t k = 0; k < term->columns; k++) value = wb_fma(weight * z_of(term, rows, k, row), own[k], value);
  return value;
}

/* The covariance that effects give two rows of one level. */
static double shared(const wb_regression_dual_grouping *grouping, int32_t rows, int32_t a, int32_t b) {
  double sum = 0.0;
  for (int32_t k = 0; k < grouping->term.columns; k++)
    for (int32_t m = 0; m < grouping->term.columns; m++)
      sum = wb_fma(grouping->covariance[wb_packed_at(k, m)] * z_of(&grouping->term, rows, k, a),
                   z_of(&grouping->term, rows, m, b), sum);
  return sum;
}

/* Draws effects from their prior. Returns 0 if it is not positive. */
static int draw_effects(const wb_regression_dual_grouping *grouping, wb_stream *stream, double *effects) {
  const int32_t q = grouping->term.columns;
  double root[MOST_PACKED];
  memcpy(root, grouping->covariance, wb_packed_size(q) * sizeof(double));
  if (wb_cholesky(q, root) > 0) return 0;
  for (int32_t l = 0; l < grouping->term.levels; l++, effects += q) {
    for (int32_t k = 0; k < q; k++) effects[k] = wb_draw_normal(stream);
    wb_triangle_apply(q, root, effects, effects);
  }
  return 1;
}

/* The upper triangle of the system, of which eight rows are read from the gram matrix at a time. */
static void make_system(const wb_regression_dual *dual, const wb_regression_dual_grouping *grouping, int32_t rows) {
  const size_t stride = dual->stride;
  for (int32_t first = 0; first < dual->padded; first += 8)
    for (int32_t r = first; r < dual->padded; r++)
      for (int32_t c = first; c < first + 8 && c <= r; c++) {
        double value = 0.0;
        if (r < rows) {
          value = dual->gram[(size_t)r * stride + (size_t)c];
          if (grouping && grouping->term.level[r] == grouping->term.level[c]) value += shared(grouping, rows, c, r);
          value *= dual->root[c] * dual->root[r];
        }
        dual->system[(size_t)c * stride + (size_t)r] = c == r ? 1.0 + value : value;
      }
}

/* Solves U'U x = b, or U'x = b. */
static void solve(const wb_regression_chain *chain, int both, double *x) {
  const wb_regression_dual *const dual = chain->dual;
  wb_root_solve_transposed(chain->counts.isa, dual->padded, dual->stride + 1, dual->padded, dual->system, x);
  if (both) wb_root_solve(chain->counts.isa, dual->padded, dual->stride + 1, dual->padded, dual->system, x);
}

int wb_regression_draw_dual(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration,
                            const wb_regression_dual_grouping *grouping, const double *omega, const double *z,
                            wb_stream *stream) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_functions *const table = chain->backend->regression;
  wb_regression_dual *const dual = chain->dual;
  const int32_t p = state->columns, n = state->dual_rows;
  double *const coefficients = state->coefficients + (size_t)outcome * (size_t)p;
  if (!dual->known) {
    wb_regression_prior_variances(&chain->prior, state, outcome, dual->variance);
    WB_TRY(table->gram(chain->session, dual->variance, dual->stride, dual->gram, chain->message));
    dual->known = !chain->prior.law;
  }
  for (int32_t c = 0; c < p; c++)
    dual->point[c] = wb_fma(wb_sqrt(dual->variance[c]), wb_draw_normal(stream),
                            wb_regression_prior_mean(&chain->prior, state, outcome, c));
  WB_TRY(table->multiply(chain->session, dual->point, dual->linear, chain->message));
  int positive = !grouping || draw_effects(grouping, stream, dual->effects);
  memset(dual->root, 0, (size_t)dual->padded * sizeof(double));
  memset(dual->solution, 0, (size_t)dual->padded * sizeof(double));
  for (int32_t i = 0; i < n; i++) {
    const double root = wb_sqrt(omega[i] > LEAST_WEIGHT ? omega[i] : LEAST_WEIGHT);
    double linear = dual->linear[i];
    if (grouping) linear = add_effects(&grouping->term, n, i, 1.0, dual->effects, linear);
    dual->root[i] = root;
    dual->solution[i] = wb_fma(-root, linear, z[i] / root) - wb_draw_normal(stream);
  }
  make_system(dual, grouping, n);
  positive = positive && wb_root(chain->counts.isa, dual->padded, dual->stride, dual->system) == 0;
  if (!positive)
    return wb_fail(chain->message, WB_ERROR_INPUT,
                   "the system of the rows is not positive in sweep %u: values of the data are too large, or the "
                   "prior is too wide",
                   (unsigned)iteration);
  solve(chain, 1, dual->solution);
  for (int32_t i = 0; i < n; i++) dual->solution[i] *= dual->root[i];
  WB_TRY(table->multiply_transposed(chain->session, dual->solution, coefficients, chain->message));
  for (int32_t c = 0; c < p; c++) coefficients[c] = wb_fma(dual->variance[c], coefficients[c], dual->point[c]);
  return WB_OK;
}

int wb_regression_dual_sums(const wb_regression_chain *chain, int32_t outcome,
                            const wb_regression_dual_grouping *grouping, const double *omega, const double *z,
                            double *sums) {
  const wb_regression_term *const term = &grouping->term;
  const int32_t n = chain->state.dual_rows, q = term->columns;
  const size_t triangle = wb_packed_size(q), size = WB_REGRESSION_LEVEL_STATISTICS(0, q);
  const double *const coefficients = chain->state.coefficients + (size_t)outcome * (size_t)chain->state.columns;
  const int status =
      chain->backend->regression->multiply(chain->session, coefficients, chain->dual->linear, chain->message);
  memset(sums, 0, (size_t)term->levels * size * sizeof(double));
  for (int32_t i = 0; i < n && status == WB_OK; i++) {
    double *const own = sums + (size_t)term->level[i] * size;
    const double rest = wb_fma(-omega[i], chain->dual->linear[i], z[i]);
    double value[MOST];
    for (int32_t k = 0; k < q; k++) {
      value[k] = z_of(term, n, k, i);
      own[triangle + (size_t)k] = wb_fma(rest, value[k], own[triangle + (size_t)k]);
    }
    wb_symmetric_add_outer(q, omega[i], value, own);
  }
  return status;
}

void wb_regression_dual_change(const wb_regression_term *term, int32_t rows, const double *change, double weight,
                               const double *omega, double *z) {
  for (int32_t i = 0; i < rows; i++) z[i] = add_effects(term, rows, i, -weight * omega[i], change, z[i]);
}

/* Given r, the coefficients are about normal: about a reference, a row has the likelihood of a normal t with its slope
 * and information W there. A draw of this law is made of u and e as in regression/dual_draw.h, with S = W^(1/2). In a
 * move of r u and e stay, and the coefficients follow. With f = X (coefficients less prior means) the density is
 *   p(r) p(y | f, r) N(t; 0, X D X' + W^-1) / N(t; f, W^-1).
 * If u and e give f* and the state has f, then X u + f - f* and e - S (f - f*) give f. */
#define LEAST_INFORMATION 1e-3

static double moved_density(const void *of, double log_r) {
  const wb_regression_chain *const chain = of;
  const wb_regression_data *const data = chain->data;
  wb_regression_dual *const dual = chain->dual;
  const double *const reference = chain->state.ellipse + WB_REGRESSION_ELLIPSE_HEAD;
  const int32_t n = chain->state.dual_rows;
  const double r = wb_exp(log_r);
  double sum = wb_regression_count_constant(&chain->counts, r) + wb_regression_log_dispersion(&chain->prior, log_r);
  for (int32_t i = 0; i < n; i++) {
    const double psi = reference[i] + dual->fixed[i] - log_r,
                 shape = wb_regression_shape(data->shape[i], data->dispersed[i], r),
                 slope = wb_regression_slope(wb_regression_kappa(data->kappa[i], data->dispersed[i], r), shape, psi),
                 information = wb_regression_information(shape, psi),
                 root = wb_sqrt(information > LEAST_INFORMATION ? information : LEAST_INFORMATION);
    dual->root[i] = root;
    dual->linear[i] = dual->residual[i] = wb_fma(root, reference[i], slope / root);
    dual->solution[i] = dual->at[i] = wb_fma(-root, dual->start[i], dual->linear[i]) - dual->noise[i];
  }
  make_system(dual, NULL, n);
  if (wb_root(chain->counts.isa, dual->padded, dual->stride, dual->system) != 0) return -wb_infinity();
  solve(chain, 1, dual->solution);
  solve(chain, 0, dual->residual);
  for (int32_t i = 0; i < n; i++) {
    const double root = dual->root[i], f = dual->start[i] + (dual->at[i] - dual->solution[i]) / root,
                 off = wb_fma(root, f, -dual->linear[i]),
                 shape = wb_regression_shape(data->shape[i], data->dispersed[i], r);
    sum += wb_regression_log_counts(data->shape[i], shape, -log_r, f + dual->fixed[i] - log_r) +
           0.5 * (off * off - dual->residual[i] * dual->residual[i]) -
           wb_log(dual->system[(size_t)i * (dual->stride + 1)]);
    dual->at[i] = f;
    dual->solution[i] *= root;
  }
  return sum;
}

int wb_regression_move_dispersion(const wb_regression_chain *chain, uint32_t iteration) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_functions *const table = chain->backend->regression;
  wb_regression_dual *const dual = chain->dual;
  const int32_t n = state->dual_rows, p = state->columns;
  double *const reference = state->ellipse + WB_REGRESSION_ELLIPSE_HEAD, *const point = dual->point;
  const double *effects = state->grouping ? state->effects : state->intercepts;
  const double log_r = wb_log(state->scalars[WB_REGRESSION_DISPERSION]);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_DISPERSION, iteration, 1);
  WB_TRY(table->multiply(chain->session, chain->prior.mean, dual->fixed, chain->message));
  for (int32_t c = 0; c < p; c++) point[c] = state->coefficients[c] - chain->prior.mean[c];
  WB_TRY(table->multiply(chain->session, point, dual->now, chain->message));
  for (int32_t c = 0; c < p; c++) point[c] = wb_sqrt(dual->variance[c]) * wb_draw_normal(&stream);
  WB_TRY(table->multiply(chain->session, point, dual->start, chain->message));
  for (int32_t i = 0; i < n; i++) {
    dual->noise[i] = wb_draw_normal(&stream);
    if (chain->data->offset) dual->fixed[i] += chain->data->offset[i];
    /* The reference is learned in the warm-up, in which late sweeps weigh more. */
    if (iteration <= chain->warmup)
      reference[i] = wb_fma(2.0 / (iteration + 1.0), dual->now[i] - reference[i], reference[i]);
  }
  const wb_regression_dual_grouping groups = wb_regression_dual_groups(chain);
  const wb_regression_term *term = state->grouping ? state->grouping->terms : &groups.term;
  for (int32_t t = state->grouping ? state->grouping->count : state->groups > 0; t > 0; t--, term++) {
    for (int32_t i = 0; i < n; i++) dual->fixed[i] = add_effects(term, n, i, 1.0, effects, dual->fixed[i]);
    effects += (size_t)term->levels * (size_t)term->columns;
  }
  if (!(moved_density(chain, log_r) > -wb_infinity())) return WB_OK;
  for (int32_t i = 0; i < n; i++) {
    const double off = dual->now[i] - dual->at[i];
    dual->start[i] += off;
    dual->noise[i] = wb_fma(-dual->root[i], off, dual->noise[i]);
    dual->now[i] = dual->solution[i];
  }
  const double to = wb_slice_draw(moved_density, chain, 1.0, 8, WB_REGRESSION_DISPERSION_MOST, log_r, &stream);
  if (to == log_r) return WB_OK;
  state->scalars[WB_REGRESSION_DISPERSION] = wb_exp(to);
  for (int32_t i = 0; i < n; i++) dual->solution[i] -= dual->now[i];
  WB_TRY(table->multiply_transposed(chain->session, dual->solution, point, chain->message));
  for (int32_t c = 0; c < p; c++) state->coefficients[c] = wb_fma(dual->variance[c], point[c], state->coefficients[c]);
  return WB_OK;
}
