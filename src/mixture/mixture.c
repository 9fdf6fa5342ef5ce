/* One sweep of the Gibbs sampler (mixture.h). */
#include "core/scalar.h"

#include "mixture/mixture.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/mixture_component.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma.h"

/* Doubles for `count` whole numbers of 32 bits. */
static size_t doubles_for(size_t count) { return (count + 1) / 2; }

size_t wb_mixture_state_size(int32_t components, int32_t columns) {
  const size_t k = (size_t)components, p = (size_t)columns;
  return k * (WB_MIXTURE_STATISTICS(columns) + 2 * p + wb_packed_size(columns) + 7 + WB_MIXTURE_POINTS) +
         3 * wb_packed_size(columns) + 3 * p + doubles_for(k);
}

void wb_mixture_state_place(wb_mixture_state *state, int32_t components, int32_t columns, double *memory) {
  const size_t k = (size_t)components, p = (size_t)columns;
  state->components = components;
  state->columns = columns;
  state->samples = NULL;
  state->statistics = memory;
  state->mean = state->statistics + k * WB_MIXTURE_STATISTICS(columns);
  state->offset = state->mean + k * p;
  state->factor = state->offset + k * p;
  state->log_weight = state->factor + k * wb_packed_size(columns);
  state->log_rest = state->log_weight + k;
  state->log_constant = state->log_rest + k;
  state->sizes = state->log_constant + k;
  state->log_determinant = state->sizes + k;
  state->distance = state->log_determinant + k;
  state->trace = state->distance + k;
  state->point_distance = state->trace + k;
  state->workspace = state->point_distance + k * WB_MIXTURE_POINTS;
  state->source = (int32_t *)(state->workspace + 3 * wb_packed_size(columns) + 3 * p);
}

static void note_sizes(wb_mixture_state *state, int32_t first, int32_t count) {
  for (int32_t j = first; j < first + count; j++) state->sizes[j] = *wb_mixture_statistics_of(state, j);
}

int wb_mixture_begin(wb_mixture_chain *chain) {
  wb_mixture_state *const state = &chain->state;
  note_sizes(state, 0, state->components);
  return chain->backend->mixture->set_components(chain->session, state->components, state->statistics, chain->message);
}

int wb_mixture_send_statistics(wb_mixture_chain *chain, int32_t first, int32_t count) {
  wb_mixture_state *const state = &chain->state;
  note_sizes(state, first, count);
  return chain->backend->mixture->set_statistics(chain->session, first, count, wb_mixture_statistics_of(state, first),
                                                 chain->message);
}

int wb_mixture_fetch_statistics(wb_mixture_chain *chain) {
  return chain->backend->mixture->get_statistics(chain->session, 0, chain->state.components, chain->state.statistics,
                                                 chain->message);
}

void wb_mixture_posterior_scale(const wb_mixture_prior *prior, const double *statistics, double *average,
                                double *scale) {
  const wb_component_law law = {prior->columns, prior->mean_scale, prior->df, prior->mean, prior->scale, prior->floor};
  const wb_team alone = {0, 1};
  wb_component_posterior_scale(alone, &law, statistics, average, scale);
}

/* Proposes exchanges of the neighbouring labels l and l + 1, from the last pair to the first, with the sticks
 * integrated out: p(z | alpha) is proportional to
 *   prod_{j<k} n_j! Gamma(alpha + n_k) / prod_{j<=k-2} (alpha + s_j),
 * where s_j is the number of rows of the components after j. `source` records each component's number before. */
static void exchange_labels(wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t k = state->components;
  const double alpha = state->concentration;
  double *size = state->sizes, behind = 0; /* rows of the components after l + 1 */
  int32_t *source = state->source;
  for (int32_t l = k - 2; l >= 0; l--) {
    const double n = size[l], next = size[l + 1];
    double log_ratio;
    if (l == k - 2) log_ratio = wb_lgamma(1 + next) + wb_lgamma(alpha + n) - wb_lgamma(1 + n) - wb_lgamma(alpha + next);
    else log_ratio = wb_log((alpha + next + behind) / (alpha + n + behind));
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_LABEL_SWAP, iteration, (uint64_t)l);
    if (wb_log(wb_stream_uniform(&stream)) < log_ratio) {
      const int32_t kept = source[l];
      source[l] = source[l + 1];
      source[l + 1] = kept;
      size[l] = next;
      size[l + 1] = n;
    }
    behind += size[l + 1];
  }
}

/* v_j ~ Be(1 + n_j, alpha + s_j), where s_j is the number of rows of the components after j. */
static void draw_sticks(wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t k = state->components;
  double behind = 0;
  for (int32_t j = k - 1; j >= 0; j--) {
    const double n = state->sizes[j];
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_STICK, iteration, (uint64_t)j);
    if (j == k - 1) {
      state->log_weight[j] = 0;
      state->log_rest[j] = 0;
    } else {
      wb_draw_log_beta(&stream, 1 + n, state->concentration + behind, &state->log_weight[j], &state->log_rest[j]);
    }
    behind += n;
  }
  double before = 0;
  for (int32_t j = 0; j < k; j++) {
    state->log_weight[j] += before;
    before += state->log_rest[j];
  }
}

/* alpha ~ Ga(e + k - 1, f - sum_{j<k} log(1 - v_j)). */
static void draw_concentration(const wb_mixture_prior *prior, wb_mixture_state *state, uint64_t key,
                               uint32_t iteration) {
  double rate = prior->rate;
  for (int32_t j = 0; j < state->components - 1; j++) rate -= state->log_rest[j];
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_CONCENTRATION, iteration, 0);
  const double log_gamma = wb_draw_log_gamma(&stream, prior->shape + state->components - 1);
  /* The next sticks need alpha above 0 and finite. */
  const double alpha = wb_exp(log_gamma - wb_log(rate));
  state->concentration = alpha < 1e-300 ? 1e-300 : alpha > 1e300 ? 1e300 : alpha;
}

void wb_mixture_set_constants(wb_mixture_state *state) {
  for (int32_t j = 0; j < state->components; j++)
    state->log_constant[j] = wb_component_log_constant(state->columns, state->log_weight[j], state->log_determinant[j]);
}

/* Draws all parameters given the session's statistics, and alpha given the sticks. */
static int draw_parameters(wb_mixture_chain *chain, uint32_t iteration, int moves) {
  const wb_mixture_prior *const prior = &chain->prior;
  wb_mixture_state *const state = &chain->state;
  wb_mixture_samples *samples = state->samples;
  const uint64_t key = chain->key;
  const int several = samples && iteration > samples->pooled;
  double tables = 0;
  if (several) wb_mixture_draw_tables(samples, state->sizes, key, iteration);
  for (int32_t j = 0; j < state->components; j++) {
    state->source[j] = j;
    tables += state->sizes[j];
  }
  if (moves) exchange_labels(state, key, iteration);
  if (several) wb_mixture_exchange_samples(samples, state->source);
  const wb_mixture_law law = {prior->mean, prior->mean_scale, prior->df, prior->scale, prior->floor};
  WB_TRY(chain->backend->mixture->draw_components(chain->session, &law, state->source, key, iteration, chain->message));
  draw_sticks(state, key, iteration);
  draw_concentration(prior, state, key, iteration);
  if (samples) wb_mixture_draw_samples(samples, tables, state->log_weight, key, iteration);
  return WB_OK;
}

int wb_mixture_fetch_parameters(wb_mixture_chain *chain) {
  return chain->backend->mixture->get_components(chain->session, chain->state.mean, chain->state.factor,
                                                 chain->message);
}

wb_mixture_parameters wb_mixture_parameters_of(const wb_mixture_state *state) {
  return (wb_mixture_parameters){state->components, state->factor, state->offset, state->log_constant};
}

int wb_mixture_begin_sweep(wb_mixture_chain *chain, uint32_t iteration, int moves, int32_t *labels) {
  const wb_mixture_state *const state = &chain->state;
  const double *const log_weight = state->samples ? state->samples->log_weight : state->log_weight;
  WB_TRY(draw_parameters(chain, iteration, moves));
  WB_TRY(
      chain->backend->mixture->draw_labels(chain->session, log_weight, chain->key, iteration, labels, chain->message));
  return chain->prior.hyper ? wb_mixture_learn_prior(chain, iteration) : WB_OK;
}

int wb_mixture_finish_sweep(wb_mixture_chain *chain, double *log_likelihood) {
  wb_mixture_samples *samples = chain->state.samples;
  double *const sizes = samples ? samples->sizes : chain->state.sizes;
  WB_TRY(chain->backend->mixture->finish_labels(chain->session, sizes, log_likelihood, chain->message));
  if (samples) wb_mixture_add_samples(samples, chain->state.sizes);
  return WB_OK;
}

double wb_mixture_log_prior_of(const wb_mixture_prior *prior, const wb_mixture_state *state, const double *root,
                               int log_sticks) {
  const int32_t p = state->columns, k = state->components;
  const double df = prior->df + p + 1, alpha = state->concentration;
  const double constant = df * wb_triangle_log_determinant(p, root) - 0.5 * df * p * WB_LN2_HIGH -
                          wb_lgamma_multivariate(p, 0.5 * df) - 0.5 * p * (WB_LOG_2_PI + wb_log(prior->mean_scale));
  double sum = 0;
  for (int32_t j = 0; j < k; j++)
    sum += constant + (df + p + 2) * state->log_determinant[j] - 0.5 * state->trace[j] -
           0.5 / prior->mean_scale * state->distance[j];
  for (int32_t j = 0; j < k - 1; j++) sum += wb_log(alpha) + (alpha - (log_sticks ? 0 : 1)) * state->log_rest[j];
  return sum + prior->shape * wb_log(prior->rate) - wb_lgamma(prior->shape) + (prior->shape - 1) * wb_log(alpha) -
         prior->rate * alpha;
}

int wb_mixture_log_prior(wb_mixture_chain *chain, int32_t points, const double *point, double *log_prior) {
  const wb_mixture_prior *const prior = &chain->prior;
  wb_mixture_state *const state = &chain->state;
  const int32_t p = state->columns;
  const size_t triangle = wb_packed_size(p);
  double *scaled = state->workspace, *root = scaled + triangle;
  const wb_team alone = {0, 1};
  *log_prior = prior->hyper ? wb_mixture_log_hyperprior(prior->hyper, prior, state) : 0;
  if (state->samples) *log_prior += wb_mixture_log_samples(state->samples);
  for (size_t i = 0; i < triangle; i++) scaled[i] = prior->df * prior->scale[i];
  const int is_proper = wb_component_factor_scale(alone, p, scaled, root);
  const wb_mixture_measures measures = {.log_determinant = state->log_determinant,
                                        .center = prior->mean,
                                        .distance = state->distance,
                                        .root = is_proper ? root : NULL,
                                        .trace = is_proper ? state->trace : NULL,
                                        .points = points,
                                        .point = point,
                                        .point_distance = state->point_distance};
  WB_TRY(chain->backend->mixture->measure(chain->session, &measures, chain->message));
  if (!is_proper) {
    *log_prior = wb_nan();
    return WB_OK;
  }
  *log_prior += wb_mixture_log_prior_of(prior, state, root, 0);
  return WB_OK;
}
