/* A sweep of the moves that regression/level_moves.h describes. */
#include "core/scalar.h"

#include "regression/level_moves.h"

#include "core/trigonometric.h"
#include "numeric/memory.h"
#include "regression/ellipse.h"
#include "regression/quadratic.h"

#define TWO_PI 6.283185307179586

enum { MOST = WB_LEVEL_MOST_COEFFICIENTS + WB_LEVEL_MOST_SCALES };

static size_t all_coefficients(const wb_regression_state *state) {
  return (size_t)state->columns * (size_t)state->outcomes;
}

static size_t all_effects(const wb_regression_state *state) {
  return state->groups > 0 ? (size_t)state->groups : (size_t)state->outcomes * wb_regression_effects(state->grouping);
}

int wb_level_open(const wb_regression_chain *chain, wb_level_room *room) {
  const wb_regression_state *const state = &chain->state;
  size_t levels = 0, most = 0;
  for (int32_t i = 0; i < wb_level_terms(state); i++) {
    const size_t own = (size_t)wb_level_term_of(chain, i).levels;
    levels += own;
    if (own > most) most = own;
  }
  room->memory =
      WB_PARTS("the moves of groups' effects", chain->message, WB_PART(room->events, levels), WB_PART(room->logs, most),
               WB_PART(room->trial_logs, most), WB_PART(room->density, most),
               WB_PART(room->standard, WB_LEVEL_MOST * most), WB_PART(room->root, wb_packed_size(MOST)),
               WB_PART(room->coefficients, all_coefficients(state)), WB_PART(room->effects, all_effects(state)));
  if (!room->memory) return WB_ERROR_MEMORY;
  room->fresh = 0;
  wb_level_count_events(chain, room->events);
  return WB_OK;
}

typedef struct level_pass {
  const wb_regression_chain *chain;
  wb_level_term t;
  wb_level_room *room;
  uint32_t iteration;
  int renewed; /* whether the backend has not seen the records */
  int32_t number;
  double centre[MOST];
  const double *precision; /* of the coefficients' prior */
} level_pass;

static double *own_coefficients(const wb_level_term *t, double *of_all) {
  return of_all + (size_t)t->outcome * (size_t)t->p;
}

/* Acts on all levels at theta (core/regression_level.h). Adds up the densities in `sum`. */
static int act(level_pass *pass, int action, const double *theta, const wb_level_covariance *at, const double *from,
               double *to, double *sum) {
  const wb_level_term *const t = &pass->t;
  double change[WB_LEVEL_MOST_COEFFICIENTS], most[WB_LEVEL_MOST];
  for (int32_t c = 0; c < t->p; c++) change[c] = theta[c] - t->mean[c];
  for (int32_t k = 0; k < t->q; k++) most[k] = 3.0 * theta[t->p + k];
  const wb_regression_placing placing = {.term = t->term,
                                         .columns = t->q,
                                         .action = action,
                                         .renewed = pass->renewed,
                                         .records = t->records,
                                         .change = change,
                                         .tie = at->tie,
                                         .most = most,
                                         .key = pass->chain->key,
                                         .first = t->first,
                                         .iteration = pass->iteration,
                                         .from = from};
  const int status = pass->chain->backend->regression->place_levels(pass->chain->session, &placing, to,
                                                                    pass->room->density, pass->chain->message);
  pass->renewed = 0;
  for (int32_t l = 0; l < t->levels && sum; l++) *sum += pass->room->density[l];
  return status;
}

/* The log likelihoods of the levels at the effects of the room. Adds them up in `sum`. */
static int evaluate(const level_pass *pass, const double *theta, double *logs, double *sum) {
  const wb_regression_chain *const chain = pass->chain;
  const double *const effects = pass->room->effects;
  const wb_regression_parameters parameters = wb_level_parameters(chain, pass->room->coefficients, effects);
  memcpy(own_coefficients(&pass->t, pass->room->coefficients), theta, (size_t)pass->t.p * sizeof(double));
  const int status = chain->backend->regression->level_log_likelihoods(chain->session, &parameters, pass->t.term, logs,
                                                                       chain->message);
  for (int32_t l = 0; l < pass->t.levels && sum; l++) *sum += logs[l];
  return status;
}

static double log_prior(const level_pass *pass, const double *theta, const wb_level_covariance *at) {
  const wb_regression_chain *const chain = pass->chain;
  const int32_t p = pass->t.p;
  double off[WB_LEVEL_MOST_COEFFICIENTS], weighed[WB_LEVEL_MOST_COEFFICIENTS];
  for (int32_t c = 0; c < p; c++)
    off[c] = theta[c] - wb_regression_prior_mean(&chain->prior, &chain->state, pass->t.outcome, c);
  wb_regression_apply_symmetric(p, pass->precision, off, weighed);
  return at->log_prior - 0.5 * wb_regression_dot((size_t)p, off, weighed) - pass->t.levels * at->half_log_determinant;
}

/* Moves theta, standardised effects fixed: `count` coordinates in the units of the ellipse, from `first`. theta, `at`,
 * `density` stay current; effects and likelihoods follow. */
static int move(level_pass *pass, int number, int32_t first, int32_t count, double *theta, wb_level_covariance *at,
                double *density) {
  const wb_regression_chain *const chain = pass->chain;
  const wb_level_term *const t = &pass->t;
  const int32_t d = t->d;
  const double half_df = 0.5 * (WB_REGRESSION_T_FREEDOM + count);
  double white[MOST], aside[MOST], trial[MOST], turned[MOST];
  wb_level_covariance there;
  wb_stream stream = wb_stream_open(
      chain->key, WB_PURPOSE_LEVEL_MOVE, pass->iteration,
      (uint64_t)(number / WB_LEVEL_MOVES) << 32 | (uint64_t)(pass->number * WB_LEVEL_MOVES + number % WB_LEVEL_MOVES));
  for (int32_t c = 0; c < d; c++) trial[c] = theta[c] - pass->centre[c];
  wb_triangle_apply_transposed(d, pass->room->root, trial, white);
  const double own = wb_regression_dot((size_t)count, white + first, white + first);
  /* Given the point, the scale of a t is inverse gamma; given the scale, the other axis is normal. */
  const double scale = wb_sqrt((WB_REGRESSION_T_FREEDOM + own) / (2.0 * wb_draw_gamma(&stream, half_df)));
  for (int32_t c = 0; c < count; c++) aside[c] = scale * wb_draw_normal(&stream);
  memcpy(turned, white, (size_t)d * sizeof(double));
  const double level = *density + half_df * wb_log1p(own / WB_REGRESSION_T_FREEDOM) - wb_draw_exponential(&stream);
  double angle = TWO_PI * wb_stream_uniform(&stream), low = angle - TWO_PI, high = angle;
  while (high - low > 1e-10) {
    double sine, cosine;
    wb_sine_cosine(angle, &sine, &cosine);
    for (int32_t c = 0; c < count; c++) turned[first + c] = wb_fma(cosine, white[first + c], sine * aside[c]);
    wb_triangle_solve_transposed(d, pass->room->root, turned, trial);
    for (int32_t c = 0; c < d; c++) trial[c] += pass->centre[c];
    if (wb_level_covariance_of(t, trial + t->p, &there)) {
      double value = 0.0;
      WB_TRY(act(pass, WB_LEVEL_FOLLOW, trial, &there, pass->room->standard, pass->room->effects + t->effect, &value));
      WB_TRY(evaluate(pass, trial, pass->room->trial_logs, &value));
      value += log_prior(pass, trial, &there);
      const double square = wb_regression_dot((size_t)count, turned + first, turned + first);
      if (value + half_df * wb_log1p(square / WB_REGRESSION_T_FREEDOM) > level) {
        memcpy(theta, trial, (size_t)d * sizeof(double));
        memcpy(pass->room->logs, pass->room->trial_logs, (size_t)t->levels * sizeof(double));
        memcpy(t->effects, pass->room->effects + t->effect, (size_t)t->levels * (size_t)t->q * sizeof(double));
        *at = there;
        *density = value;
        return WB_OK;
      }
    }
    if (angle < 0.0) low = angle;
    else high = angle;
    angle = wb_fma(high - low, wb_stream_uniform(&stream), low);
  }
  return WB_OK;
}

static int redraw(level_pass *pass, const double *theta, const wb_level_covariance *at) {
  const wb_level_term *const t = &pass->t;
  const size_t q = (size_t)t->q;
  double *const proposed = pass->room->effects + t->effect;
  WB_TRY(act(pass, WB_LEVEL_PROPOSE, theta, at, t->effects, proposed, NULL));
  WB_TRY(evaluate(pass, theta, pass->room->trial_logs, NULL));
  for (int32_t l = 0; l < t->levels; l++) {
    if (!(pass->room->trial_logs[l] - pass->room->logs[l] + pass->room->density[l] > 0.0)) continue;
    memcpy(t->effects + (size_t)l * q, proposed + (size_t)l * q, q * sizeof(double));
    pass->room->logs[l] = pass->room->trial_logs[l];
  }
  return WB_OK;
}

static void copy_state(const wb_regression_state *state, const wb_level_room *room) {
  memcpy(room->coefficients, state->coefficients, all_coefficients(state) * sizeof(double));
  memcpy(room->effects, state->groups > 0 ? state->intercepts : state->effects, all_effects(state) * sizeof(double));
}

static void note(const level_pass *pass, const double *theta) {
  const wb_level_term *const t = &pass->t;
  double off[MOST], inverse[WB_LEVEL_MOST_COEFFICIENTS * (WB_LEVEL_MOST_COEFFICIENTS + 1) / 2];
  for (int32_t c = 0; c < t->d; c++) {
    off[c] = theta[c] - t->mean[c];
    t->sum[c] += off[c];
  }
  wb_symmetric_add_outer(t->d, 1.0, off, t->products);
  if (!wb_level_learns_scales(pass->chain)) return;
  wb_triangle_inverse(t->p, pass->room->root, inverse);
  wb_triangle_gram(t->p, inverse, inverse);
  for (size_t i = 0; i < wb_packed_size(t->p); i++) t->inverse[i] += inverse[i];
}

static int sweep_term(level_pass *pass, int learning, const wb_level_passes *passes) {
  const wb_regression_chain *const chain = pass->chain;
  const wb_regression_state *const state = &chain->state;
  const wb_level_term *const t = &pass->t;
  const size_t packed = wb_packed_size(t->q) * sizeof(double);
  double theta[MOST], density = 0.0;
  double precision[WB_LEVEL_MOST_COEFFICIENTS * (WB_LEVEL_MOST_COEFFICIENTS + 1) / 2];
  wb_level_covariance at;
  copy_state(state, pass->room);
  if (wb_level_changes(chain)) {
    WB_TRY(wb_level_make_records(chain, t, pass->room->events, passes));
    pass->renewed = 1;
    memcpy(pass->room->effects + t->effect, t->effects, (size_t)t->levels * (size_t)t->q * sizeof(double));
  }
  wb_regression_prior_precision(&chain->prior, state, t->outcome, precision);
  pass->precision = precision;
  wb_level_ellipse_of(chain, t, precision, pass->centre, pass->room->root);
  memcpy(theta, own_coefficients(t, state->coefficients), (size_t)t->p * sizeof(double));
  wb_level_scales_of(t, t->covariance, theta + t->p);
  if (!pass->room->fresh) WB_TRY(evaluate(pass, theta, pass->room->logs, NULL));
  if (!wb_level_covariance_of(t, theta + t->p, &at))
    return wb_fail(chain->message, WB_ERROR_INPUT,
                   "the covariance of the effects of grouping term %d is singular in sweep %u", (int)t->term + 1,
                   (unsigned)pass->iteration);
  WB_TRY(act(pass, WB_LEVEL_STANDARDISE, theta, &at, t->effects, pass->room->standard, &density));
  for (int32_t l = 0; l < t->levels; l++) density += pass->room->logs[l];
  density += log_prior(pass, theta, &at);
  int i = 0;
  for (; i < WB_LEVEL_MOVES; i++) WB_TRY(move(pass, i, 0, t->d, theta, &at, &density));
  if (t->d > WB_LEVEL_TOGETHER) {
    WB_TRY(move(pass, i++, t->p, t->d - t->p, theta, &at, &density));
    for (int32_t c = 0; c < t->p; c += WB_LEVEL_PART) {
      const int32_t left = t->p - c;
      WB_TRY(move(pass, i++, c, left < WB_LEVEL_PART ? left : WB_LEVEL_PART, theta, &at, &density));
    }
  }
  WB_TRY(redraw(pass, theta, &at));
  memcpy(own_coefficients(t, state->coefficients), theta, (size_t)t->p * sizeof(double));
  memcpy(t->covariance, at.covariance, packed);
  if (t->term >= 0) memcpy(t->covariance + wb_packed_size(t->q), at.tie, packed);
  if (learning) note(pass, theta);
  return WB_OK;
}

/* Sweeps of the warm-up after which ellipse and reference points are learned anew, without the first sweeps. */
static int learns_after(double warmup, uint32_t iteration) {
  static const double share[] = {0.15, 0.3, 0.6, 1.0};
  for (int i = 0; i < 4; i++)
    if ((double)iteration == (double)(int64_t)(warmup * share[i] + 0.5)) return 1;
  return 0;
}

int wb_level_sweep(const wb_regression_chain *chain, uint32_t iteration, wb_level_room *room, double *sums,
                   double *log_likelihood) {
  const wb_regression_state *const state = &chain->state;
  const int32_t terms = wb_level_terms(state);
  const int learning = iteration <= chain->warmup && iteration > 0.05 * chain->warmup;
  const wb_level_passes passes = {room->coefficients, room->effects, state->statistics,
                                  state->groups > 0 ? state->group_statistics : sums};
  for (int32_t i = 0; i < terms; i++) {
    level_pass pass = {chain, wb_level_term_of(chain, i), room, iteration, !room->fresh, i, {0}, NULL};
    if (wb_level_changes(chain)) room->fresh = 0;
    WB_TRY(sweep_term(&pass, learning, &passes));
    room->fresh = 1;
    *log_likelihood = 0.0;
    for (int32_t l = 0; l < pass.t.levels; l++) *log_likelihood += room->logs[l];
  }
  if (!learning) return WB_OK;
  state->moves[WB_LEVEL_COUNT] += 1.0;
  if (!learns_after(chain->warmup, iteration) || state->moves[WB_LEVEL_COUNT] < 10.0) return WB_OK;
  room->fresh = 0;
  copy_state(state, room);
  return wb_level_learn(chain, room->events, &passes);
}
