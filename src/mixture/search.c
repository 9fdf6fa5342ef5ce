/* A search for a better start, in the warm-up: a component is dropped, joined to another, or split, and some sweeps
 * later the result is kept if it raises the score. */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "mixture/mixture.h"
#include "numeric/memory.h"

/* Sweeps before a trial is judged, sweeps that judge it, and further ones that a promising trial must pass. */
#define RELAX 8
#define JUDGE 6
#define CONFIRM 10
/* How far a trial must exceed the chain's level; one this far below it after a third of these sweeps ends. */
#define PROMISING 3.0
#define HOPELESS 60.0
/* Components of fewer rows are not tried. */
#define FEWEST 8
/* The noise of the choice of a partner: twice the log of a uniform, times this. */
#define CHOICE 20.0
/* Sweeps of trials have numbers from here on, so that they share no random numbers with the chain's own. */
#define FIRST_TRIAL 0x80000000u
#define TRIAL_SWEEPS 32u

static int scored_sweep(wb_mixture_chain *chain, uint32_t iteration, int moves, double *score) {
  double ignored, log_likelihood;
  WB_TRY(wb_mixture_begin_sweep(chain, iteration, moves, NULL));
  WB_TRY(wb_mixture_log_prior(chain, 0, NULL, &ignored));
  wb_mixture_set_constants(&chain->state);
  WB_TRY(wb_mixture_finish_sweep(chain, &log_likelihood));
  return wb_mixture_score(chain, log_likelihood, score);
}

static int32_t find_empty(const wb_mixture_state *state) {
  for (int32_t j = state->components - 1; j >= 0; j--)
    if (wb_mixture_statistics_of(state, j)[0] <= 0) return j;
  return -1;
}

static void join(const wb_mixture_chain *chain, int32_t j, wb_stream *stream, double *joined) {
  const wb_mixture_state *const state = &chain->state;
  const size_t size = WB_MIXTURE_STATISTICS(state->columns);
  double *average = state->workspace, *scale = average + state->columns, *own = wb_mixture_statistics_of(state, j);
  const double of_prior = wb_mixture_log_marginal_prior(&chain->prior, scale);
  double best = -wb_infinity();
  int32_t partner = -1;
  for (int32_t q = 0; q < state->components; q++) {
    const double *const other = wb_mixture_statistics_of(state, q);
    if (q == j || other[0] < FEWEST) continue;
    for (size_t i = 0; i < size; i++) joined[i] = own[i] + other[i];
    const double gain = wb_mixture_log_marginal(&chain->prior, of_prior, joined, average, scale) -
                        wb_mixture_log_marginal(&chain->prior, of_prior, other, average, scale) + wb_lgamma(joined[0]) -
                        wb_lgamma(other[0]) + 2 * CHOICE * wb_log(wb_stream_uniform(stream));
    if (gain > best) {
      best = gain;
      partner = q;
    }
  }
  if (partner < 0) return;
  double *const other = wb_mixture_statistics_of(state, partner);
  for (size_t i = 0; i < size; i++) own[i] += other[i];
  memset(other, 0, size * sizeof(double));
}

/* Cuts a component across a random direction, at t deviations from the mean, by moments of truncated normals. */
static void split(const wb_mixture_state *state, int32_t j, int32_t empty, wb_stream *stream, double *slope) {
  const int32_t p = state->columns;
  double *const own = wb_mixture_statistics_of(state, j), *const other = wb_mixture_statistics_of(state, empty);
  const double n = own[0], *sum = own + 1, *product = sum + p;
  double *direction = slope + p, *mean = direction + p, variance = 0;
  for (int32_t r = 0; r < p; r++) {
    mean[r] = sum[r] / n;
    const double spread = product[wb_packed_at(r, r)] / n - mean[r] * mean[r];
    direction[r] = wb_normal_quantile(wb_stream_uniform(stream)) / wb_sqrt(spread > 1e-10 ? spread : 1e-10);
  }
  for (int32_t r = 0; r < p; r++) {
    slope[r] = 0;
    for (int32_t c = 0; c < p; c++)
      slope[r] = wb_fma(product[wb_packed_at(r, c)] / n - mean[r] * mean[c], direction[c], slope[r]);
    variance = wb_fma(slope[r], direction[r], variance);
  }
  if (!(variance > 0)) return;
  for (int32_t r = 0; r < p; r++) slope[r] /= wb_sqrt(variance);
  const double share = 0.15 + 0.7 * wb_stream_uniform(stream), cut = wb_normal_quantile(share);
  const double density = 0.3989422804014327 * wb_exp(-0.5 * cut * cut);
  const double first = (double)(int64_t)(share * n + 0.5);
  for (int32_t side = 1; side >= 0; side--) {
    /* `own` is written last, since `other` is made from it. */
    double *const to = side ? other : own;
    const double rows = side ? n - first : first, hazard = side ? density / (1 - share) : -density / share;
    const double spread = 1 + hazard * (cut - hazard);
    for (int32_t r = p - 1; r >= 0; r--)
      for (int32_t c = r; c >= 0; c--) {
        const size_t at = (size_t)p + 1 + wb_packed_at(r, c);
        const double covariance = own[at] / n - mean[r] * mean[c] + (spread - 1) * slope[r] * slope[c];
        to[at] = rows * (covariance + (mean[r] + hazard * slope[r]) * (mean[c] + hazard * slope[c]));
      }
    for (int32_t r = 0; r < p; r++) to[1 + r] = rows * (mean[r] + hazard * slope[r]);
    to[0] = rows;
  }
}

static int propose(wb_mixture_chain *chain, uint32_t iteration, double *room) {
  const wb_mixture_state *const state = &chain->state;
  const int32_t k = state->components, empty = find_empty(state);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_SEARCH, iteration, 0);
  int32_t tried = 0;
  for (int32_t j = 0; j < k; j++) tried += wb_mixture_statistics_of(state, j)[0] >= FEWEST;
  if (tried < 2) return 0;
  int32_t place = (int32_t)(wb_stream_uniform(&stream) * tried), j = 0;
  for (; j < k - 1; j++)
    if (wb_mixture_statistics_of(state, j)[0] >= FEWEST && place-- == 0) break;
  if (iteration % 3 == 0)
    memset(wb_mixture_statistics_of(state, j), 0, WB_MIXTURE_STATISTICS(state->columns) * sizeof(double));
  else if (iteration % 3 == 1) join(chain, j, &stream, room);
  else if (empty >= 0) split(state, j, empty, &stream, room);
  else return 0;
  wb_mixture_order_by_size(k, state->columns, state->statistics);
  return 1;
}

static int judge(wb_mixture_chain *chain, uint32_t iteration, int moves, double level, double *score) {
  uint32_t sweep = FIRST_TRIAL + iteration * TRIAL_SWEEPS;
  double log_likelihood, sum = 0, one;
  for (int32_t i = 0; i < RELAX; i++) {
    WB_TRY(wb_mixture_begin_sweep(chain, sweep++, moves, NULL));
    WB_TRY(wb_mixture_finish_sweep(chain, &log_likelihood));
  }
  for (int32_t i = 1; i <= JUDGE; i++) {
    WB_TRY(scored_sweep(chain, sweep++, moves, &one));
    sum += one;
    *score = sum / i;
    if (i == JUDGE / 3 && !(*score > level - HOPELESS)) return WB_OK;
  }
  if (!(*score > level + PROMISING)) return WB_OK;
  for (int32_t i = 0; i < CONFIRM; i++) {
    WB_TRY(scored_sweep(chain, sweep++, moves, &one));
    *score = 0.8 * *score + 0.2 * one;
  }
  return WB_OK;
}

int wb_mixture_search(wb_mixture_chain *chain, uint32_t iteration, int moves, double *level) {
  wb_mixture_state *const state = &chain->state;
  const size_t p = (size_t)state->columns, size = WB_MIXTURE_STATISTICS(p), all = (size_t)state->components * size;
  double *statistics, *prior, *room, concentration = state->concentration, score = -wb_infinity();
  void *const memory = WB_PARTS("a search", chain->message, WB_PART(statistics, all), WB_PART(room, size + 3 * p),
                                WB_PART(prior, WB_MIXTURE_PRIOR_VALUES(p)));
  if (!memory) return WB_ERROR_MEMORY;
  int status = wb_mixture_fetch_statistics(chain);
  memcpy(statistics, state->statistics, all * sizeof(double));
  wb_mixture_prior_values(&chain->prior, prior);
  const uint32_t pooled = state->samples ? state->samples->pooled : 0;
  if (state->samples) state->samples->pooled = UINT32_MAX;
  if (status == WB_OK && propose(chain, iteration, room)) {
    status = wb_mixture_send_statistics(chain, 0, state->components);
    if (status == WB_OK) status = judge(chain, iteration, moves, *level, &score);
    if (score > *level) {
      *level = score;
    } else {
      memcpy(state->statistics, statistics, all * sizeof(double));
      state->concentration = concentration;
      wb_mixture_set_prior_values(&chain->prior, prior);
      if (status == WB_OK) status = wb_mixture_send_statistics(chain, 0, state->components);
    }
  }
  if (state->samples) state->samples->pooled = pooled;
  wb_aligned_free(memory);
  return status;
}
