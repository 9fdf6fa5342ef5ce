/* The prior of coefficients given the scales in the state, where its blocks lie, draws of coefficients, and how many
 * effects there are. */
#include "core/scalar.h"

#include "numeric/root.h"
#include "regression/draws.h"

static size_t effects_from(const wb_regression_grouping *grouping, int32_t first) {
  size_t size = 0;
  for (int32_t t = first; t < grouping->count; t++)
    size += (size_t)grouping->terms[t].levels * (size_t)grouping->terms[t].columns;
  return size;
}

size_t wb_regression_effects(const wb_regression_grouping *grouping) { return effects_from(grouping, 0); }

size_t wb_regression_lattice_effects(const wb_regression_grouping *grouping) {
  return effects_from(grouping, grouping->count - grouping->lattices);
}

size_t wb_regression_covariances(const wb_regression_grouping *grouping) {
  size_t size = 0;
  for (int32_t t = 0; t < grouping->count; t++) size += WB_REGRESSION_COVARIANCE(grouping->terms[t].columns);
  return size;
}

wb_regression_scales wb_regression_scales_of(const wb_regression_state *state, int32_t outcome) {
  const size_t p = (size_t)state->columns;
  double *const local = state->shrinkage + (size_t)outcome * WB_REGRESSION_SHRINKAGE(p), *const global = local + 2 * p;
  return (wb_regression_scales){local, local + p, global, global + 1, global + 2};
}

int32_t wb_regression_blocks(const wb_regression_prior *prior) {
  const int last = prior->law ? prior->law[prior->columns - 1] : 0;
  return last >= WB_REGRESSION_BLOCK ? last - WB_REGRESSION_BLOCK + 1 : 0;
}

int wb_regression_are_blocks(const wb_regression_prior *prior) {
  int before = WB_REGRESSION_BLOCK - 1;
  double gap_before = 0.0;
  for (int c = 0; c < prior->columns && prior->law; c++) {
    const int law = prior->law[c];
    if (law < 0 || (law < before && before >= WB_REGRESSION_BLOCK) || law > before + 1) return 0;
    /* A block is an autoregression as a whole, whose first level has no level before it. */
    if (law >= WB_REGRESSION_BLOCK && prior->gap) {
      const double gap = prior->gap[c];
      if (!(gap < wb_infinity()) || (law > before && gap > 0.0) || (law == before && (gap < 0.0) != (gap_before < 0.0)))
        return 0;
      gap_before = gap;
    }
    if (law >= WB_REGRESSION_BLOCK) before = law;
  }
  return 1;
}

int32_t wb_regression_block_column(const wb_regression_prior *prior, int32_t block) {
  int c = 0;
  while (c < prior->columns && prior->law[c] < WB_REGRESSION_BLOCK + block) c++;
  return c;
}

int wb_regression_is_autoregression(const wb_regression_prior *prior, int32_t column) {
  return prior->gap && prior->law[column] >= WB_REGRESSION_BLOCK && prior->gap[column] >= 0.0;
}

wb_regression_ar_step wb_regression_ar_step_of(double gap, double logit) {
  const double log_weight = -gap * wb_log1p(wb_exp(-logit));
  const wb_regression_ar_step first = {0.0, 1.0}, later = {wb_exp(log_weight), -1.0 / wb_expm1(2.0 * log_weight)};
  return gap > 0.0 ? later : first;
}

void wb_regression_put_autoregression(const double *gap, int k, double logit, int first, double *packed) {
  for (int r = 0; r < k; r++) {
    const wb_regression_ar_step step = wb_regression_ar_step_of(gap[r], logit);
    const int at = first + r;
    double *const row = packed + wb_packed_row(at);
    row[at] = step.precision;
    if (!(gap[r] > 0.0)) continue;
    row[at - 1] = -step.weight * step.precision;
    double *const before = packed + wb_packed_at(at - 1, at - 1);
    *before = wb_fma(step.weight * step.weight, step.precision, *before);
  }
}

void wb_regression_prior_precision(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                                   double *precision) {
  const int p = prior->columns;
  memcpy(precision, prior->precision, wb_packed_size(p) * sizeof(double));
  if (!prior->law) return;
  const wb_regression_scales own = wb_regression_scales_of(state, outcome);
  const double slab = prior->slab_scale > 0.0 ? 1.0 / *own.slab : 0.0;
  for (int32_t block = 0, blocks = prior->gap ? wb_regression_blocks(prior) : 0; block < blocks; block++) {
    const int first = wb_regression_block_column(prior, block), end = wb_regression_block_column(prior, block + 1);
    if (wb_regression_is_autoregression(prior, first))
      wb_regression_put_autoregression(prior->gap + first, end - first, own.local_auxiliary[first], first, precision);
  }
  for (int c = 0; c < p; c++) {
    double *const diagonal = precision + wb_packed_at(c, c);
    if (prior->law[c] == WB_REGRESSION_HORSESHOE) *diagonal = 1.0 / (own.local[c] * *own.global) + slab;
    if (prior->law[c] == WB_REGRESSION_STUDENT) *diagonal = 1.0 / own.local[c];
    for (int other = c; other >= 0 && prior->law[c] >= WB_REGRESSION_BLOCK && prior->law[other] == prior->law[c];
         other--)
      precision[wb_packed_at(c, other)] /= own.local[c];
  }
}

double wb_regression_prior_mean(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                                int32_t column) {
  const size_t p = (size_t)prior->columns, c = (size_t)column;
  double others = 0.0;
  for (int32_t k = 0; k < state->outcomes && (!prior->law || prior->law[c] == WB_REGRESSION_NORMAL); k++)
    if (k != outcome) others += state->coefficients[(size_t)k * p + c] - prior->mean[(size_t)k * p + c];
  return prior->mean[(size_t)outcome * p + c] + others / state->outcomes;
}

void wb_regression_prior_variances(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                                   double *variance) {
  const wb_regression_scales own = wb_regression_scales_of(state, outcome);
  for (int c = 0; c < prior->columns; c++) {
    const int law = prior->law ? prior->law[c] : WB_REGRESSION_NORMAL;
    variance[c] = 1.0 / prior->precision[c];
    if (law == WB_REGRESSION_STUDENT) variance[c] = own.local[c];
    if (law != WB_REGRESSION_HORSESHOE) continue;
    variance[c] = own.local[c] * *own.global;
    if (prior->slab_scale > 0.0) variance[c] = 1.0 / (1.0 / variance[c] + 1.0 / *own.slab);
  }
}

void wb_regression_add_prior(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                             double *precision, double *linear) {
  const int p = state->columns;
  wb_regression_prior_precision(prior, state, outcome, precision);
  for (int c = 0; c < p; c++) {
    const double mean = wb_regression_prior_mean(prior, state, outcome, c);
    for (int r = 0; r < p; r++) linear[r] = wb_fma(precision[wb_packed_at(r, c)], mean, linear[r]);
  }
}

int wb_regression_root(wb_isa isa, int32_t n, double *a) {
  const int row = n < WB_ROOT_WORTH ? -1 : (int)wb_root_packed(isa, n, a);
  return row < 0 ? wb_cholesky(n, a) : row;
}

int wb_regression_draw_normal(wb_isa isa, int32_t columns, double *precision, double *linear, double *normal,
                              wb_stream *stream, uint32_t iteration, double *coefficients, wb_message *message) {
  const int row = wb_regression_root(isa, columns, precision);
  if (row > 0)
    return wb_fail(message, WB_ERROR_INPUT,
                   "the posterior precision of coefficient %d is not positive in sweep %u: its column nearly "
                   "depends on others, values of the data are too large, or the prior is too wide",
                   row, (unsigned)iteration);
  wb_triangle_solve(columns, precision, linear, linear);
  for (int32_t c = 0; c < columns; c++) normal[c] = linear[c] + wb_draw_normal(stream);
  wb_triangle_solve_transposed(columns, precision, normal, coefficients);
  return WB_OK;
}
