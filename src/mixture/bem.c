/* Bayesian EM of the truncated Dirichlet-process mixture: finds modes of the posterior instead of drawing from it
 * (idea: Suchard et al. 2010, appendix A; the formulas here differ where the published ones do not climb).
 *
 * Each step raises the log density of the data, with the floor of mixture.h, plus that of the prior in the coordinates
 * mu_j, the entries of Sigma_j, -log(1 - v_j) and alpha; m, gamma, nu and Phi stay fixed.
 *
 * A step takes the weighted statistics of the rows to the parameters that maximise the expected log posterior. With p_j
 * the weight of a component's rows, s_j that of the components behind it, and Psi_n as in a sweep:
 *
 *   mu_j = (m + gamma sum_j) / (1 + gamma p_j),  Sigma_j = Psi_n / (nu + p_j + 2p + 3),
 *   v_j = p_j / (p_j + alpha + s_j),  then  alpha = (e + k - 2) / (f - sum log(1 - v_j)).
 *
 * Means instead of modes: Sigma_j = Psi_n / (nu + p_j), v_j = (1 + p_j) / (1 + p_j + alpha + s_j) and
 * alpha = (e + k - 1) / (f - sum log(1 - v_j)). With means the log posterior may fall.
 *
 * A component with p_j = 0 has v_j = 0 and never gets a row again. It is cut: the pass over the rows leaves it out. */
#include "core/rounding.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/mixture_component.h"
#include "mixture/mixture.h"
#include "numeric/memory.h"

/* log v and log(1 - v) of all sticks, then alpha. */
static void set_sticks(const wb_mixture_prior *prior, wb_mixture_state *state, int means) {
  const int32_t k = state->components;
  const double extra = means ? 1 : 0;
  double behind = 0, before = 0, rate = prior->rate;
  for (int32_t j = k - 1; j >= 0; j--) {
    const double n = state->sizes[j] + extra, rest = state->concentration + behind;
    const double whole = n + rest;
    state->log_weight[j] = j == k - 1 ? 0 : n > 0 ? wb_log(n / whole) : -wb_infinity();
    state->log_rest[j] = j == k - 1 ? 0 : wb_log(rest / whole);
    behind += state->sizes[j];
  }
  for (int32_t j = 0; j < k; j++) {
    state->log_weight[j] += before;
    before += state->log_rest[j];
    rate -= state->log_rest[j];
  }
  /* With one component there are no sticks to inform alpha, and its mode may be zero: alpha stays. */
  if (k == 1) return;
  const double alpha = (prior->shape + k - 2 + extra) / rate;
  state->concentration = alpha < 1e-300 ? 1e-300 : alpha > 1e300 ? 1e300 : alpha;
}

/* Mean and covariance of component j from its statistics. 0 if its scale has no Cholesky factor. */
static int set_component(const wb_component_law *law, wb_mixture_state *state, int32_t j, int means) {
  const wb_team alone = {0, 1};
  const int p = law->columns;
  const size_t triangle = wb_packed_size(p), columns = (size_t)p;
  const double *statistics = wb_mixture_statistics_of(state, j);
  const double n = statistics[0], shrink = 1 / (1 + law->mean_scale * n);
  double *scale = state->workspace, *root = scale + triangle, *average = root + triangle;
  double *mean = state->mean + (size_t)j * columns, *factor = state->factor + (size_t)j * triangle;
  wb_component_posterior_scale(alone, law, statistics, average, scale);
  if (!wb_component_factor_scale(alone, p, scale, root)) return 0;
  wb_triangle_inverse(p, root, factor);
  const double width = wb_sqrt(law->df + n + (means ? 0 : 2 * p + 3));
  for (size_t i = 0; i < triangle; i++) factor[i] *= width;
  for (int r = 0; r < p; r++) mean[r] = (law->mean[r] + law->mean_scale * statistics[1 + r]) * shrink;
  wb_triangle_apply(p, factor, mean, state->offset + (size_t)j * columns);
  state->log_determinant[j] = wb_triangle_log_determinant(p, factor);
  return 1;
}

static int set_parameters(wb_mixture_chain *chain, int means) {
  const wb_mixture_prior *const prior = &chain->prior;
  wb_mixture_state *const state = &chain->state;
  const wb_component_law law = {prior->columns, prior->mean_scale, prior->df, prior->mean, prior->scale, prior->floor};
  for (int32_t j = 0; j < state->components; j++) {
    state->sizes[j] = *wb_mixture_statistics_of(state, j);
    if (set_component(&law, state, j, means)) continue;
    return wb_fail(chain->message, WB_ERROR_INPUT, WB_MIXTURE_NO_COVARIANCE, (int)j + 1);
  }
  set_sticks(prior, state, means);
  wb_mixture_set_constants(state);
  return WB_OK;
}

static double log_prior(const wb_mixture_prior *prior, wb_mixture_state *state) {
  const wb_team alone = {0, 1};
  const int p = state->columns;
  const size_t triangle = wb_packed_size(p);
  double *scaled = state->workspace, *root = scaled + triangle, *work = root + triangle;
  for (size_t i = 0; i < triangle; i++) scaled[i] = prior->df * prior->scale[i];
  if (!wb_component_factor_scale(alone, p, scaled, root)) return wb_nan();
  for (int32_t j = 0; j < state->components; j++) {
    const double *factor = state->factor + (size_t)j * triangle;
    /* The triangle `scaled` is not needed any more. */
    wb_component_mean_distance(alone, p, factor, state->mean + (size_t)j * (size_t)p, prior->mean, work,
                               &state->distance[j]);
    wb_component_trace(alone, p, factor, root, scaled, &state->trace[j]);
  }
  return wb_mixture_log_prior_of(prior, state, root, 1);
}

static void note_density(const wb_mixture_steps *steps, wb_mixture_state *state, int32_t step) {
  const wb_team alone = {0, 1};
  const size_t p = (size_t)state->columns;
  for (int32_t q = 0; q < steps->points; q++) {
    for (int32_t j = 0; j < state->components; j++)
      wb_component_distance(alone, state->columns, state->factor + (size_t)j * wb_packed_size(state->columns),
                            state->offset + (size_t)j * p, steps->probe + (size_t)q * p, state->workspace,
                            &state->point_distance[j]);
    steps->probe_density[(size_t)step + (size_t)q * (size_t)steps->count] =
        wb_mixture_log_density(state, state->point_distance);
  }
}

/* Statistics of all rows under the parameters; zero for cut components. memory: parameters for the pass over rows. */
static int weigh(wb_mixture_chain *chain, double *memory, double *log_likelihood) {
  const wb_mixture_prior *const prior = &chain->prior;
  wb_mixture_state *const state = &chain->state;
  const int p = state->columns;
  const size_t triangle = wb_packed_size(p), columns = (size_t)p, size = WB_MIXTURE_STATISTICS(columns);
  double *const offsets = memory + (size_t)state->components * triangle;
  double *const log_constant = offsets + (size_t)state->components * columns;
  int32_t count = 0;
  for (int32_t j = 0; j < state->components; j++) {
    if (state->log_weight[j] == -wb_infinity()) continue;
    const double *factor =
        memcpy(memory + (size_t)count * triangle, state->factor + (size_t)j * triangle, triangle * sizeof(double));
    memcpy(offsets + (size_t)count * columns, state->offset + (size_t)j * columns, columns * sizeof(double));
    const double trace = prior->floor ? wb_component_floor_trace(p, factor, prior->floor) : 0;
    log_constant[count] = wb_component_log_floored(p, state->log_weight[j], state->log_determinant[j], trace);
    state->source[count++] = j;
  }
  const wb_mixture_parameters parameters = {count, memory, offsets, log_constant};
  WB_TRY(chain->backend->mixture->weigh_rows(chain->session, &parameters, state->statistics, log_likelihood,
                                             chain->message));
  for (int32_t j = state->components - 1; j >= 0; j--) {
    double *to = state->statistics + (size_t)j * size;
    if (count > 0 && state->source[count - 1] == j)
      memmove(to, state->statistics + (size_t)--count * size, size * sizeof(double));
    else memset(to, 0, size * sizeof(double));
  }
  return WB_OK;
}

int wb_mixture_climb(wb_mixture_chain *chain, wb_mixture_steps *steps) {
  wb_mixture_state *const state = &chain->state;
  const size_t k = (size_t)state->components, p = (size_t)state->columns;
  double *memory;
  if (!WB_PARTS("the components", chain->message, WB_PART(memory, k * (wb_packed_size(state->columns) + p + 1))))
    return WB_ERROR_MEMORY;
  int status = WB_OK;
  steps->done = 0;
  steps->converged = 0;
  while (steps->done < steps->count && !steps->converged) {
    const int32_t i = steps->done;
    if ((status = set_parameters(chain, steps->means)) != WB_OK) break;
    steps->log_prior[i] = log_prior(&chain->prior, state);
    steps->concentration[i] = state->concentration;
    note_density(steps, state, i);
    if ((status = weigh(chain, memory, &steps->log_likelihood[i])) != WB_OK) break;
    steps->occupied[i] = 0;
    for (int32_t j = 0; j < state->components; j++) steps->occupied[i] += *wb_mixture_statistics_of(state, j) >= 0.5;
    const double now = steps->log_likelihood[i] + steps->log_prior[i], gain = now - steps->log_posterior;
    steps->converged = (gain < 0 ? -gain : gain) <= steps->least_gain;
    steps->log_posterior = now;
    steps->done++;
  }
  wb_aligned_free(memory);
  return status;
}
