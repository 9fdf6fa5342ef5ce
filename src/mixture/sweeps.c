/* Runs several sweeps in one call, notes the traces after each, and keeps the draws of some. */
#include "core/scalar.h"

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "mixture/mixture.h"

double wb_mixture_log_density(const wb_mixture_state *state, const double *distance) {
  double largest = WB_BLOCK_NOTHING, total = 0;
  for (int32_t j = 0; j < state->components; j++) {
    const double log_weight = wb_fma(-0.5, distance[j], state->log_constant[j]);
    if (log_weight > largest) {
      total *= wb_exp_weight(largest - log_weight);
      largest = log_weight;
    }
    total += wb_exp_weight(log_weight - largest);
  }
  return largest + wb_log(total);
}

/* Notes the densities at points first, first + 1, ..., whose distances were measured. */
static void note_density(const wb_mixture_sweeps *sweeps, const wb_mixture_state *state, int32_t sweep, int32_t first,
                         int32_t points) {
  for (int32_t q = 0; q < points; q++)
    sweeps->probe_density[(size_t)sweep + (size_t)(first + q) * (size_t)sweeps->count] =
        wb_mixture_log_density(state, state->point_distance + (size_t)q * (size_t)state->components);
}

static int note(wb_mixture_chain *chain, const wb_mixture_sweeps *sweeps, int32_t sweep) {
  wb_mixture_state *const state = &chain->state;
  int32_t points = sweeps->points < WB_MIXTURE_POINTS ? sweeps->points : WB_MIXTURE_POINTS;
  WB_TRY(wb_mixture_log_prior(chain, points, sweeps->probe, &sweeps->log_prior[sweep]));
  sweeps->concentration[sweep] = state->concentration;
  wb_mixture_set_constants(state);
  note_density(sweeps, state, sweep, 0, points);
  for (int32_t first = points; first < sweeps->points; first += points) {
    points = sweeps->points - first < WB_MIXTURE_POINTS ? sweeps->points - first : WB_MIXTURE_POINTS;
    const wb_mixture_measures more = {.points = points,
                                      .point = sweeps->probe + (size_t)first * (size_t)state->columns,
                                      .point_distance = state->point_distance};
    WB_TRY(chain->backend->mixture->measure(chain->session, &more, chain->message));
    note_density(sweeps, state, sweep, first, points);
  }
  return WB_OK;
}

static int merge(wb_mixture_chain *chain) {
  const int32_t k = chain->state.components;
  WB_TRY(wb_mixture_fetch_statistics(chain));
  WB_TRY(wb_mixture_merge(&chain->prior, k, chain->state.statistics, chain->message));
  return wb_mixture_send_statistics(chain, 0, k);
}

/* Whether a sweep has splits and joins: the first hundred do, then up to seven in eight do not, as rows are many. */
static int splits(uint32_t iteration, int64_t rows) {
  const uint32_t every = rows < 875000 ? 1 + (uint32_t)(rows / 125000) : 8;
  return iteration <= 100 || iteration % every == 0;
}

/* Whether a sweep with splits and joins joins neighbours instead: up to JOINING_SWEEPS sweeps before sweep `merge`. */
#define JOINING_SWEEPS 20
static int joins_neighbours(uint32_t iteration, uint32_t merge) {
  return iteration < merge && iteration + JOINING_SWEEPS >= merge;
}

static int64_t kept_at(const wb_mixture_kept *kept, int32_t sweep) {
  if (kept->count == 0 || sweep < kept->first || (sweep - kept->first) % kept->every != 0) return -1;
  const int32_t at = (sweep - kept->first) / kept->every;
  return at < kept->count ? at : -1;
}

/* Keeps the draw of the sweep that ended last, all but its labels. */
static int keep(wb_mixture_chain *chain, const wb_mixture_kept *kept, size_t at) {
  wb_mixture_state *const state = &chain->state;
  const size_t k = (size_t)state->components, p = (size_t)state->columns;
  if (kept->log_weight) memcpy(kept->log_weight + at * k, state->log_weight, k * sizeof(double));
  if (kept->prior) wb_mixture_prior_values(&chain->prior, kept->prior + at * WB_MIXTURE_PRIOR_VALUES(p));
  if (state->samples && kept->sample_log_weight) {
    const size_t table = k * (size_t)state->samples->samples;
    memcpy(kept->sample_log_weight + at * table, state->samples->log_weight, table * sizeof(double));
    memcpy(kept->sample_sizes + at * table, state->samples->sizes, table * sizeof(double));
  }
  if (state->samples && kept->sample_concentration) kept->sample_concentration[at] = state->samples->concentration;
  wb_mixture_draw moments = kept->moments;
  if (!moments.means && !moments.covariances) return WB_OK;
  if (moments.means) moments.means += at * k * p;
  if (moments.covariances) moments.covariances += at * k * p * p;
  WB_TRY(wb_mixture_fetch_parameters(chain));
  wb_mixture_moments(state, &moments);
  return WB_OK;
}

/* Sweeps between scores: a score of many components and markers takes longer than a card's sweep. */
static uint32_t between_scores(const wb_mixture_state *state) {
  const double p = state->columns, every = 1 + state->components * p * p * p / 100000;
  return every > 50 ? 50 : (uint32_t)every;
}

int wb_mixture_run(wb_mixture_chain *chain, const wb_mixture_sweeps *sweeps, const wb_mixture_kept *kept) {
  const wb_mixture_state *const state = &chain->state;
  WB_TRY(wb_mixture_begin(chain));
  for (int32_t i = 0; i < sweeps->count; i++) {
    const int64_t at = kept_at(kept, i);
    int32_t *labels = at >= 0 && kept->labels ? kept->labels + at * kept->rows : NULL;
    const uint32_t iteration = sweeps->iteration + (uint32_t)i;
    if (sweeps->merge == iteration && !sweeps->spots) WB_TRY(merge(chain));
    WB_TRY(wb_mixture_begin_sweep(chain, iteration, sweeps->moves, labels));
    WB_TRY(note(chain, sweeps, i));
    WB_TRY(wb_mixture_finish_sweep(chain, &sweeps->log_likelihood[i]));
    const int searches = iteration >= sweeps->search[0] && iteration <= sweeps->search[1];
    sweeps->score[i] = wb_nan();
    if (searches || iteration % between_scores(state) == 0)
      WB_TRY(wb_mixture_score(chain, sweeps->log_likelihood[i], &sweeps->score[i]));
    sweeps->occupied[i] = 0;
    for (int32_t j = 0; j < state->components; j++) sweeps->occupied[i] += state->sizes[j] > 0;
    if (i == sweeps->count - 1) memcpy(sweeps->sizes, state->sizes, (size_t)state->components * sizeof(double));
    if (at >= 0) WB_TRY(keep(chain, kept, (size_t)at));
    /* Splits and joins change the components' rows, but not the sizes in each sample. */
    if (sweeps->spots && (!state->samples || iteration < state->samples->pooled) &&
        splits(iteration, sweeps->spots->data->rows))
      WB_TRY(wb_mixture_split_merge(chain, sweeps->spots, joins_neighbours(iteration, sweeps->merge), iteration));
    if (searches) {
      const double before = iteration == sweeps->search[0] ? sweeps->score[i] : *sweeps->level;
      *sweeps->level = 0.8 * before + 0.2 * sweeps->score[i];
      WB_TRY(wb_mixture_search(chain, iteration, sweeps->moves, sweeps->level));
    }
  }
  return wb_mixture_fetch_statistics(chain);
}
