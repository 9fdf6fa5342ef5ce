/* Sweeps of the Gibbs sampler of regressions (Polson, Scott & Windle 2013). A sweep draws the coefficients of every
 * outcome and the groups' intercepts from a backend's sums, then the hyperparameters. */
#include "core/scalar.h"

#include "numeric/memory.h"
#include "regression/draws.h"
#include "regression/ellipse.h"
#include "regression/regression.h"
#include "regression/target.h"

static int pass(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, double *log_likelihood) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_parameters parameters = wb_regression_own_parameters(state);
  return chain->backend->regression->sweep(
      chain->session, &parameters, outcome, chain->key, iteration, state->statistics,
      state->groups > 0 && state->dual_rows == 0 ? state->group_statistics : NULL, log_likelihood, chain->message);
}

static int evaluate(const wb_regression_chain *chain, double *log_likelihood) {
  const wb_regression_parameters parameters = wb_regression_own_parameters(&chain->state);
  return wb_regression_evaluate(chain, &parameters, log_likelihood);
}

/* Whether a sweep begins with the drawing pass: with terms, drawn one by one, and after changes of the data. */
static int passes_first(const wb_regression_chain *chain) { return chain->state.grouping || chain->data->completed; }

int wb_regression_start(const wb_regression_chain *chain, double spread) {
  const wb_regression_state *const state = &chain->state;
  double log_likelihood;
  int status = WB_OK;
  const int has_mode =
      (state->outcomes == 1 && state->dual_rows == 0 && !(state->grouping && state->grouping->lattices > 0)) ||
      wb_regression_is_movable(state);
  if (spread > 0.0 && !chain->beside) status = wb_level_start(chain);
  if (spread > 0.0 && has_mode && status == WB_OK) status = wb_regression_find_mode(chain, spread);
  if (wb_level_used(state) && state->ellipse) state->ellipse[0] = 0.0;
  /* Many columns together spread the linear predictors as one does. */
  const double each = 0.25 * spread / (state->dual_rows > 0 ? wb_sqrt((double)state->columns) : 1.0);
  for (int32_t k = 0; k < state->outcomes && !has_mode && spread > 0.0; k++) {
    wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_COEFFICIENT, 0, (uint64_t)k);
    double *const coefficients = state->coefficients + (size_t)k * (size_t)state->columns;
    for (int32_t c = 0; c < state->columns; c++)
      coefficients[c] = wb_fma(each, wb_draw_normal(&stream), coefficients[c]);
  }
  return status == WB_OK && !passes_first(chain) ? pass(chain, 0, 0, &log_likelihood) : status;
}

/* Integrates the groups' intercepts out of the precision and the linear term. With D_g = sum of omega + 1/variance,
 * M_g = sum of omega x and t_g = sum of z, these become precision - sum M_g M_g'/D_g and linear - sum M_g t_g/D_g. */
static void eliminate_groups(const wb_regression_state *state, double *precision, double *linear) {
  const int p = state->columns;
  const double tie = 1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE];
  for (int32_t g = 0; g < state->groups; g++) {
    const double *const sums = state->group_statistics + (size_t)g * WB_REGRESSION_GROUP_STATISTICS(p);
    const double inverse = 1.0 / (sums[p] + tie);
    wb_symmetric_add_outer(p, -inverse, sums, precision);
    for (int c = 0; c < p; c++) linear[c] = wb_fma(-inverse * sums[p + 1], sums[c], linear[c]);
  }
}

/* Draws the intercepts, or leaves them as they are. Returns the law of the factor of intercepts and deviation. */
static wb_regression_factor_law weigh_intercepts(const wb_regression_chain *chain, uint32_t iteration, int draw) {
  const wb_regression_state *const state = &chain->state;
  const int p = wb_regression_summed(state);
  const double scale = chain->prior.group_scale;
  const double tie = 1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE];
  wb_regression_factor_law law = {0.0, 0.0, 1.0, tie, 1.0 / (scale * scale)};
  for (int32_t g = 0; g < state->groups; g++) {
    const double *const sums = state->group_statistics + (size_t)g * WB_REGRESSION_GROUP_STATISTICS(p);
    const double inverse = 1.0 / (sums[p] + tie);
    double mean = sums[p + 1];
    for (int c = 0; c < p; c++) mean = wb_fma(-sums[c], state->coefficients[c], mean);
    wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_GROUP_INTERCEPT, iteration, (uint64_t)g);
    if (draw) state->intercepts[g] = wb_fma(wb_sqrt(inverse), wb_draw_normal(&stream), mean * inverse);
    const double value = state->intercepts[g];
    law.linear = wb_fma(value, mean, law.linear);
    law.square = wb_fma(value * value, sums[p], law.square);
  }
  return law;
}

static void rescale_intercepts(const wb_regression_chain *chain, const wb_regression_factor_law *law,
                               uint32_t iteration) {
  const wb_regression_state *const state = &chain->state;
  const double tie = law->tie;
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TERM_SCALE, iteration, 0);
  const double factor = wb_exp(wb_regression_draw_log_factor(law, &stream));
  for (int32_t g = 0; g < state->groups; g++) state->intercepts[g] *= factor;
  state->scalars[WB_REGRESSION_GROUP_VARIANCE] *= factor * factor;
  state->scalars[WB_REGRESSION_GROUP_AUXILIARY] = (tie / (factor * factor) + law->floor) / wb_draw_exponential(&stream);
}

/* Draws the variances of blocks, if there are any. Then draws the coefficients of an outcome from N(Q^-1 b, Q^-1) with
 * Q = X'WX + P and b = X'z + P m; m and P are the prior's mean and precision. `room`: draw_room() doubles. */
static size_t draw_room(const wb_regression_chain *chain) {
  const int32_t p = wb_regression_summed(&chain->state);
  return wb_packed_size(p) + 2 * (size_t)p + wb_regression_block_room(&chain->prior);
}

static int draw_coefficients(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, double *room) {
  const wb_regression_state *const state = &chain->state;
  const int p = state->columns;
  const size_t triangle = wb_packed_size(p);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_COEFFICIENT, iteration, (uint64_t)outcome);
  if (state->dual_rows > 0) {
    const double *const omega = state->statistics, *const z = omega + state->dual_rows;
    const wb_regression_dual_grouping groups = wb_regression_dual_groups(chain);
    return wb_regression_draw_dual(chain, outcome, iteration, state->groups > 0 ? &groups : NULL, omega, z, &stream);
  }
  double *const precision = room, *const linear = room + triangle, *const normal = linear + p;
  if (wb_regression_blocks(&chain->prior) > 0) {
    memcpy(precision, state->statistics, (triangle + (size_t)p) * sizeof(double));
    if (state->groups > 0) eliminate_groups(state, precision, linear);
    wb_regression_draw_blocks(chain, outcome, iteration, (uint64_t)outcome, precision, linear, normal + p);
  }
  memcpy(linear, state->statistics + triangle, (size_t)p * sizeof(double));
  wb_regression_add_prior(&chain->prior, state, outcome, precision, linear);
  for (size_t i = 0; i < triangle; i++) precision[i] += state->statistics[i];
  if (state->groups > 0) eliminate_groups(state, precision, linear);
  return wb_regression_draw_normal(chain->counts.isa, p, precision, linear, normal, &stream, iteration,
                                   state->coefficients + (size_t)outcome * (size_t)p, chain->message);
}

static int refresh_groups(const wb_regression_chain *chain) {
  const wb_regression_state *const state = &chain->state;
  if (state->dual_rows == 0 || state->groups == 0) return WB_OK;
  const wb_regression_dual_grouping groups = wb_regression_dual_groups(chain);
  return wb_regression_dual_sums(chain, 0, &groups, state->statistics, state->statistics + state->dual_rows,
                                 state->group_statistics);
}

/* Draws what has normal laws given the Polya-Gamma variables where there are no terms: coefficients, outcome by
 * outcome, and intercepts; then the factor of intercepts. `before`: room for coefficients, the variances and the
 * correlations of their blocks, and intercepts. */
static int draw_without_terms(const wb_regression_chain *chain, uint32_t iteration, double *room, double *before) {
  const wb_regression_state *const state = &chain->state;
  const size_t coefficients = (size_t)state->columns * sizeof(double), groups = (size_t)state->groups * sizeof(double);
  double *const local = before + state->columns, *const intercepts = local + 2 * state->columns,
                *const scalars = state->scalars;
  double log_ratio, unused;
  int taken;
  WB_TRY(wb_regression_log_ratios(chain, &log_ratio));
  if (chain->data->poisson) {
    memcpy(before, state->coefficients, coefficients);
    memcpy(local, state->shrinkage, 2 * coefficients);
    if (groups > 0) memcpy(intercepts, state->intercepts, groups);
  }
  for (int32_t k = 0; k < state->outcomes; k++) {
    WB_TRY(draw_coefficients(chain, k, iteration, room));
    if (k + 1 < state->outcomes) WB_TRY(pass(chain, k + 1, iteration, &unused));
  }
  WB_TRY(refresh_groups(chain));
  wb_regression_factor_law law = {0};
  if (groups > 0) law = weigh_intercepts(chain, iteration, 1);
  WB_TRY(wb_regression_accept(chain, iteration, 0, &log_ratio, &taken));
  if (!taken) {
    memcpy(state->coefficients, before, coefficients);
    memcpy(state->shrinkage, local, 2 * coefficients);
    if (groups > 0) memcpy(state->intercepts, intercepts, groups);
    WB_TRY(refresh_groups(chain));
  }
  if (groups == 0) return WB_OK;
  if (!taken) law = weigh_intercepts(chain, iteration, 0);
  if (chain->data->poisson) memcpy(intercepts, state->intercepts, groups);
  const double variance = scalars[WB_REGRESSION_GROUP_VARIANCE], auxiliary = scalars[WB_REGRESSION_GROUP_AUXILIARY];
  rescale_intercepts(chain, &law, iteration);
  WB_TRY(wb_regression_accept(chain, iteration, 1, &log_ratio, &taken));
  if (taken) return WB_OK;
  memcpy(state->intercepts, intercepts, groups);
  scalars[WB_REGRESSION_GROUP_VARIANCE] = variance;
  scalars[WB_REGRESSION_GROUP_AUXILIARY] = auxiliary;
  return WB_OK;
}

/* A sweep by the moves of regression/level_moves.h, without Polya-Gamma variables. */
static int move_levels(const wb_regression_chain *chain, uint32_t iteration, wb_level_room *room, double *level_sums,
                       double *log_likelihood) {
  const wb_regression_state *const state = &chain->state;
  WB_TRY(wb_level_sweep(chain, iteration, room, level_sums, log_likelihood));
  for (int32_t k = 0; k < state->outcomes; k++) {
    if (state->grouping) wb_regression_shift_terms(chain, k, iteration, level_sums);
    if (chain->prior.law) wb_regression_draw_shrinkage(chain, k, iteration);
  }
  if (chain->counts.distinct == 0) return state->outcomes > 1 ? evaluate(chain, log_likelihood) : WB_OK;
  WB_TRY(wb_regression_draw_dispersion(chain, iteration));
  WB_TRY(evaluate(chain, log_likelihood));
  *log_likelihood += wb_regression_count_constant(&chain->counts, state->scalars[WB_REGRESSION_DISPERSION]);
  return WB_OK;
}

int wb_regression_sweep(wb_regression_sweeper *sweeper, uint32_t iteration, double *log_likelihood) {
  const wb_regression_chain *const chain = &sweeper->chain;
  const wb_regression_state *const state = &chain->state;
  double *const room = sweeper->room, *const more = sweeper->more;
  const int learned = chain->counts.distinct > 0;
  const int levels = wb_level_used(state), draws = state->grouping && (!levels || wb_level_has_lattices(state));
  int moved = 0;
  for (int32_t k = 0; k < state->outcomes && draws; k++)
    WB_TRY(wb_regression_draw_terms(chain, k, iteration, more, room));
  if (levels) return move_levels(chain, iteration, &sweeper->levels, more, log_likelihood);
  if (!state->grouping && chain->data->completed) WB_TRY(pass(chain, 0, iteration, log_likelihood));
  if (!state->grouping) WB_TRY(draw_without_terms(chain, iteration, room, more));
  if (learned && state->dual_rows > 0 && !chain->beside) WB_TRY(wb_regression_move_dispersion(chain, iteration));
  if (state->groups > 0) wb_regression_draw_group_scale(chain, iteration);
  for (int32_t k = 0; k < state->outcomes && chain->prior.law; k++) wb_regression_draw_shrinkage(chain, k, iteration);
  for (int32_t k = 0; k < state->outcomes && chain->prior.law && state->dual_rows > 0; k++)
    WB_TRY(wb_regression_move_shrinkage(chain, k, iteration));
  WB_TRY(wb_regression_move(chain, iteration, room, &moved));
  /* With groups, the moves may be short. */
  if (learned && (!moved || state->groups > 0 || state->grouping))
    WB_TRY(wb_regression_draw_dispersion(chain, iteration));
  if (chain->data->completed) return WB_OK;
  WB_TRY(passes_first(chain) ? evaluate(chain, log_likelihood) : pass(chain, 0, iteration, log_likelihood));
  if (learned)
    *log_likelihood += wb_regression_count_constant(&chain->counts, state->scalars[WB_REGRESSION_DISPERSION]);
  return WB_OK;
}

void wb_regression_note(const wb_regression_sweeps *sweeps, const wb_regression_chain *chain, int32_t sweep,
                        double log_likelihood) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_prior *const prior = &chain->prior;
  const wb_regression_grouping *const grouping = state->grouping;
  const size_t p = (size_t)state->columns, count = (size_t)sweeps->count,
               effects = grouping ? wb_regression_effects(grouping) : 0,
               traced = grouping ? wb_regression_lattice_effects(grouping) : 0, kept = effects - traced;
  const int32_t lattices = grouping ? grouping->lattices : 0;
  double *to = sweeps->coefficients + sweep;
  for (int32_t k = 0; k < state->outcomes; k++) {
    for (size_t c = 0; c < p; c++, to += count) *to = state->coefficients[(size_t)k * p + c];
    for (size_t l = kept; l < effects; l++, to += count) *to = state->effects[(size_t)k * effects + l];
  }
  sweeps->log_likelihood[sweep] = log_likelihood;
  if (sweeps->dispersion) sweeps->dispersion[sweep] = state->scalars[WB_REGRESSION_DISPERSION];
  size_t at = (size_t)sweep;
  for (int32_t i = 0, blocks = wb_regression_blocks(prior), all = blocks + lattices; i < all * state->outcomes; i++) {
    const int32_t k = i / all, block = i % all, t = block < blocks ? 0 : grouping->count - all + block,
                  first = block < blocks ? wb_regression_block_column(prior, block) : 0;
    const double *variance = state->shrinkage + (size_t)k * WB_REGRESSION_SHRINKAGE(p) + (size_t)first,
                 *logit = variance + p;
    if (block >= blocks) {
      variance = state->covariances + (size_t)(k + 1) * wb_regression_covariances(grouping) -
                 (size_t)(grouping->count - t) * WB_REGRESSION_COVARIANCE(1);
      logit = variance + 2;
    }
    sweeps->block_deviation[at] = wb_sqrt(*variance);
    at += count;
    if (block < blocks ? !wb_regression_is_autoregression(prior, first) : !grouping->lattice[t].gap) continue;
    sweeps->block_deviation[at] = 1.0 / (1.0 + wb_exp(-*logit));
    at += count;
  }
  if (sweeps->group_deviation) sweeps->group_deviation[sweep] = wb_sqrt(state->scalars[WB_REGRESSION_GROUP_VARIANCE]);
  const int32_t after = sweep - sweeps->kept_first;
  if (sweeps->kept_count > 0 && after >= 0 && after % sweeps->kept_every == 0 &&
      after / sweeps->kept_every < sweeps->kept_count) {
    const double *const from = grouping ? state->effects : state->intercepts;
    const size_t size = grouping ? kept : (size_t)state->groups, m = (size_t)state->outcomes;
    for (size_t k = 0, first = m * (size_t)(after / sweeps->kept_every); k < m && size > 0; k++)
      memcpy(sweeps->kept + (first + k) * size, from + k * effects, size * sizeof(double));
  }
  at = (size_t)sweep;
  const double *covariance = state->covariances;
  for (int32_t i = 0; sweeps->covariances && i < state->outcomes * grouping->count; i++) {
    const int32_t t = i % grouping->count, q = grouping->terms[t].columns;
    for (size_t j = 0; j < wb_packed_size(q) && !wb_regression_is_lattice(grouping, t); j++, at += count)
      sweeps->covariances[at] = covariance[j];
    covariance += WB_REGRESSION_COVARIANCE(q);
  }
}

int wb_regression_sweeper_open(const wb_regression_chain *chain, wb_regression_sweeper *sweeper) {
  const wb_regression_state *const state = &chain->state;
  const size_t drawing = draw_room(chain), moving = wb_regression_move_room(state);
  *sweeper = (wb_regression_sweeper){.chain = *chain};
  sweeper->memory = WB_PARTS(
      "the coefficients' precision", chain->message, WB_PART(sweeper->room, drawing > moving ? drawing : moving),
      WB_PART(sweeper->more,
              state->grouping ? wb_regression_level_sums(state) : 3 * (size_t)state->columns + (size_t)state->groups));
  if (!sweeper->memory) return WB_ERROR_MEMORY;
  if (state->dual_rows > 0) {
    WB_TRY(wb_regression_dual_open(chain, &sweeper->system));
    sweeper->chain.dual = &sweeper->system;
  }
  return wb_level_used(state) ? wb_level_open(chain, &sweeper->levels) : WB_OK;
}

void wb_regression_sweeper_close(wb_regression_sweeper *sweeper) {
  wb_aligned_free(sweeper->memory);
  wb_aligned_free(sweeper->system.memory);
  wb_aligned_free(sweeper->levels.memory);
}

int wb_regression_run(const wb_regression_chain *chain, const wb_regression_sweeps *sweeps) {
  wb_regression_sweeper sweeper;
  int status = wb_regression_sweeper_open(chain, &sweeper);
  for (int32_t i = 0; i < sweeps->count && status == WB_OK; i++) {
    double log_likelihood = 0.0;
    status = wb_regression_sweep(&sweeper, sweeps->iteration + (uint32_t)i, &log_likelihood);
    wb_regression_note(sweeps, &sweeper.chain, i, log_likelihood);
  }
  wb_regression_sweeper_close(&sweeper);
  return status;
}

int wb_regression_step(const wb_call *call, const wb_regression_data *data, wb_regression_chain *chain,
                       uint32_t iteration) {
  const size_t bytes = draw_room(chain) * sizeof(double);
  const wb_backend *const backend = chain->backend = call->backend;
  chain->counts.isa = call->run.isa;
  double log_likelihood;
  WB_TRY(wb_backend_has(backend, backend->regression, "regressions", chain->message));
  WB_TRY(backend->regression->open(data, &call->run, &chain->session, chain->message));
  double *const room = wb_aligned_malloc(bytes);
  int status = room ? pass(chain, 0, iteration, &log_likelihood)
                    : wb_out_of_memory(chain->message, "the coefficients' precision", bytes);
  if (status == WB_OK) status = draw_coefficients(chain, 0, iteration, room);
  wb_aligned_free(room);
  backend->regression->close(chain->session);
  return status;
}
