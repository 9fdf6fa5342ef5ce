/* A sweep of the moves that regression/level_moves.h describes. */
#include "core/scalar.h"

#include "regression/level_moves.h"

#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "numeric/memory.h"
#include "regression/ellipse.h"
#include "regression/quadratic.h"

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
  const wb_regression_functions *const table = chain->backend->regression;
  int status;
  memcpy(own_coefficients(&pass->t, pass->room->coefficients), theta, (size_t)pass->t.p * sizeof(double));
  if (chain->beside) {
    const wb_regression_pair pair = wb_regression_pair_of(chain, &parameters);
    status = table->pair_level_log_likelihoods(&pair, !chain->data->zeros, pass->t.term, logs, chain->message);
  } else {
    status = table->level_log_likelihoods(chain->session, &parameters, pass->t.term, logs, chain->message);
  }
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

/* Some coordinates of theta in the units of the ellipse, and where they lead. */
typedef struct moving {
  level_pass *pass;
  int32_t first, count;
  double white[MOST], theta[MOST]; /* all coordinates in these units, and theta */
  wb_level_covariance at;
} moving;

/* The density with standardised effects fixed. Effects and likelihoods of the levels are in the room. */
static int moved_density(void *context, double *white, double *density) {
  moving *const own = context;
  level_pass *const pass = own->pass;
  const wb_level_term *const t = &pass->t;
  double value = 0.0;
  *density = -wb_infinity();
  memcpy(own->white + own->first, white, (size_t)own->count * sizeof(double));
  wb_triangle_solve_transposed(t->d, pass->room->root, own->white, own->theta);
  for (int32_t c = 0; c < t->d; c++) own->theta[c] += pass->centre[c];
  if (!wb_level_covariance_of(t, own->theta + t->p, &own->at)) return WB_OK;
  WB_TRY(
      act(pass, WB_LEVEL_FOLLOW, own->theta, &own->at, pass->room->standard, pass->room->effects + t->effect, &value));
  WB_TRY(evaluate(pass, own->theta, pass->room->trial_logs, &value));
  *density = value + log_prior(pass, own->theta, &own->at);
  return WB_OK;
}

static int move(level_pass *pass, int number, int32_t first, int32_t count, double *theta, wb_level_covariance *at,
                double *density) {
  const wb_level_term *const t = &pass->t;
  moving own = {.pass = pass, .first = first, .count = count};
  double ahead[MOST], white[MOST], aside[MOST], trial[MOST], origin[MOST] = {0};
  wb_stream stream = wb_stream_open(
      pass->chain->key, WB_PURPOSE_LEVEL_MOVE, pass->iteration,
      (uint64_t)(number / WB_LEVEL_MOVES) << 32 | (uint64_t)(pass->number * WB_LEVEL_MOVES + number % WB_LEVEL_MOVES));
  for (int32_t c = 0; c < t->d; c++) trial[c] = theta[c] - pass->centre[c];
  wb_triangle_apply_transposed(t->d, pass->room->root, trial, own.white);
  memcpy(ahead, own.white + first, (size_t)count * sizeof(double));
  const wb_regression_curve curve = {(size_t)count, origin, &own, moved_density, NULL, NULL};
  WB_TRY(wb_regression_move_along(&curve, &stream, ahead, white, aside, trial, density));
  memcpy(theta, own.theta, (size_t)t->d * sizeof(double));
  memcpy(pass->room->logs, pass->room->trial_logs, (size_t)t->levels * sizeof(double));
  memcpy(t->effects, pass->room->effects + t->effect, (size_t)t->levels * (size_t)t->q * sizeof(double));
  *at = own.at;
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

/* Shifts that all outcomes of a multinomial share. Where the reference class is rare they are known far less well than
 * an outcome given the others. First of a coefficient, by slice sampling. */
typedef struct shift_law {
  const wb_regression_chain *chain;
  int32_t column;
  double from[WB_REGRESSION_MOST_OUTCOMES], square, linear; /* the prior's part: -linear x - square x^2/2 */
  int *status;
} shift_law;

static double shift_density(const void *of, double shift) {
  const shift_law *const law = of;
  const wb_regression_state *const state = &law->chain->state;
  const wb_regression_parameters parameters = wb_regression_own_parameters(state);
  double density = 0.0;
  for (int32_t k = 0; k < state->outcomes; k++)
    state->coefficients[k * state->columns + law->column] = law->from[k] + shift;
  if (*law->status == WB_OK) *law->status = wb_regression_evaluate(law->chain, &parameters, &density);
  return density - shift * wb_fma(0.5 * law->square, shift, law->linear);
}

static int shift_coefficient(const wb_regression_chain *chain, uint32_t iteration, int32_t c) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_prior *const prior = &chain->prior;
  const int32_t p = state->columns;
  double precision[WB_LEVEL_MOST_COEFFICIENTS * (WB_LEVEL_MOST_COEFFICIENTS + 1) / 2];
  int status = WB_OK;
  shift_law law = {.chain = chain, .column = c, .status = &status};
  for (int32_t k = 0; k < state->outcomes; k++) {
    const double *const own = state->coefficients + (size_t)k * (size_t)p;
    law.from[k] = own[c];
    wb_regression_prior_precision(prior, state, k, precision);
    for (int32_t r = 0; r < p; r++)
      law.linear = wb_fma(precision[r <= c ? wb_packed_row(c) + (size_t)r : wb_packed_row(r) + (size_t)c],
                          own[r] - wb_regression_prior_mean(prior, state, k, r), law.linear);
    law.square += precision[wb_packed_row(c) + (size_t)c];
  }
  /* Outcomes are correlated: regression/chain.h. */
  if (!prior->law || prior->law[c] == WB_REGRESSION_NORMAL) law.square /= state->outcomes;
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_OUTCOME_SHIFT, iteration, (uint64_t)c);
  const double shift = wb_slice_draw(shift_density, &law, 0.5, 32, WB_MOST_LOG, 0.0, &stream);
  (void)shift_density(&law, shift);
  return status;
}

/* The same of the effects of each level of a term: a draw given the differences between outcomes under the prior, which
 * is taken by its likelihood. */
static int shift_effects(const wb_regression_chain *chain, const wb_level_room *room, uint32_t iteration,
                         int32_t term) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_functions *const table = chain->backend->regression;
  const int32_t each = wb_level_terms(state) / state->outcomes;
  const wb_level_term t = wb_level_term_of(chain, term);
  const size_t q = (size_t)t.q, packed = wb_packed_size(t.q);
  wb_regression_parameters parameters = wb_regression_own_parameters(state);
  double factor[WB_LEVEL_MOST_PACKED], shift[WB_LEVEL_MOST], tied[WB_LEVEL_MOST];
  copy_state(state, room);
  for (int32_t l = 0; l < t.levels; l++) {
    wb_stream stream =
        wb_stream_open(chain->key, WB_PURPOSE_OUTCOME_SHIFT, iteration, (uint64_t)1 << 32 | (t.first + (uint64_t)l));
    memset(factor, 0, sizeof factor);
    memset(shift, 0, sizeof shift);
    for (int32_t k = 0; k < state->outcomes; k++) {
      const wb_level_term own = wb_level_term_of(chain, k * each + term);
      const double *const tie = own.covariance + packed;
      for (size_t i = 0; i < packed; i++) factor[i] += tie[i];
      wb_regression_apply_symmetric(t.q, tie, own.effects + (size_t)l * q, tied);
      for (size_t j = 0; j < q; j++) shift[j] -= tied[j];
    }
    if (wb_cholesky(t.q, factor) > 0) return WB_OK;
    wb_triangle_solve(t.q, factor, shift, shift);
    for (size_t j = 0; j < q; j++) shift[j] += wb_draw_normal(&stream);
    wb_triangle_solve_transposed(t.q, factor, shift, shift);
    for (int32_t k = 0; k < state->outcomes; k++)
      for (size_t j = 0; j < q; j++)
        room->effects[wb_level_term_of(chain, k * each + term).effect + (size_t)l * q + j] += shift[j];
    room->density[l] = wb_draw_exponential(&stream);
  }
  WB_TRY(table->level_log_likelihoods(chain->session, &parameters, term, room->logs, chain->message));
  parameters.effects = room->effects;
  WB_TRY(table->level_log_likelihoods(chain->session, &parameters, term, room->trial_logs, chain->message));
  for (int32_t k = 0; k < state->outcomes; k++) {
    const wb_level_term own = wb_level_term_of(chain, k * each + term);
    for (int32_t l = 0; l < t.levels; l++)
      if (room->trial_logs[l] - room->logs[l] + room->density[l] > 0.0)
        memcpy(own.effects + (size_t)l * q, room->effects + own.effect + (size_t)l * q, q * sizeof(double));
  }
  return WB_OK;
}

/* All terms, and up to WB_LEVEL_PART columns in turn. */
static int shift_outcomes(const wb_regression_chain *chain, const wb_level_room *room, uint32_t iteration) {
  const int32_t p = chain->state.columns, outcomes = chain->state.outcomes;
  for (int32_t i = 0; i < WB_LEVEL_PART && i < p; i++)
    WB_TRY(shift_coefficient(chain, iteration,
                             (int32_t)(((uint64_t)iteration * WB_LEVEL_PART + (uint64_t)i) % (uint64_t)p)));
  for (int32_t t = 0; t < wb_level_terms(&chain->state) / outcomes; t++)
    WB_TRY(shift_effects(chain, room, iteration, t));
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
  if (state->outcomes > 1) WB_TRY(shift_outcomes(chain, room, iteration));
  if (!learning) return WB_OK;
  state->moves[WB_LEVEL_COUNT] += 1.0;
  if (!learns_after(chain->warmup, iteration) || state->moves[WB_LEVEL_COUNT] < 10.0) return WB_OK;
  room->fresh = 0;
  copy_state(state, room);
  return wb_level_learn(chain, room->events, &passes);
}
