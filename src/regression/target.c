/* The posterior density that regression/target.h describes. */
#include "core/scalar.h"

#include "regression/target.h"

#include "regression/ellipse.h"

static size_t term_effects(const wb_regression_grouping *grouping, int32_t term) {
  return (size_t)grouping->terms[term].levels * (size_t)grouping->terms[term].columns;
}

static int32_t main_term(const wb_regression_grouping *grouping) {
  int32_t main = 0;
  for (int32_t t = 1; t < grouping->count; t++)
    if (grouping->terms[t].levels > grouping->terms[main].levels) main = t;
  return main;
}

/* Too many effects make the vectors long, and the posterior too little like a t. */
int wb_regression_is_movable(const wb_regression_state *state) {
  const wb_regression_grouping *const grouping = state->grouping;
  const size_t m = (size_t)state->outcomes, p = m * (size_t)state->columns;
  if (state->dual_rows > 0) return 0;
  if (m > 1 && p > WB_REGRESSION_MOST_OUTCOME_COEFFICIENTS) return 0;
  if (!grouping) return 1;
  if (grouping->lattices > 0) return 0;
  const int32_t term = main_term(grouping);
  const size_t one = term_effects(grouping, term), main = m * one, others = m * (wb_regression_effects(grouping) - one);
  return main <= WB_REGRESSION_MOST_MAIN_EFFECTS && others <= WB_REGRESSION_MOST_OTHER_EFFECTS &&
         main * (p + others) <= WB_REGRESSION_MOST_PAIRS &&
         m * (size_t)grouping->terms[term].columns <= WB_REGRESSION_MOST_TERM_COLUMNS;
}

wb_regression_layout wb_regression_layout_of(const wb_regression_state *state) {
  const wb_regression_grouping *const grouping = state->grouping;
  const int32_t columns = state->columns, outcomes = state->outcomes;
  wb_regression_layout l = {outcomes, -1, columns, columns * outcomes, state->groups, 1, 1};
  if (!grouping || !wb_regression_is_movable(state)) return l;
  l.main = main_term(grouping);
  l.blocks = grouping->terms[l.main].levels;
  l.each_q = grouping->terms[l.main].columns;
  l.q = l.each_q * outcomes;
  l.each += (int32_t)(wb_regression_effects(grouping) - term_effects(grouping, l.main));
  l.wide = l.each * outcomes;
  return l;
}

/* Copies `count` coordinates between a point and the state. */
static void copy_part(double *point, double *state, size_t count, int to_point) {
  memcpy(to_point ? point : state, to_point ? state : point, count * sizeof(double));
}

void wb_regression_copy_point(const wb_regression_target *t, double *point, int to_point) {
  const wb_regression_state *const state = &t->chain.state;
  const wb_regression_layout *const place = &t->place;
  const size_t p = (size_t)state->columns, q = (size_t)place->each_q;
  double *const blocks = point + place->wide + (t->chain.counts.distinct > 0), *effects = state->effects;
  if (state->groups > 0) copy_part(blocks, state->intercepts, (size_t)state->groups, to_point);
  for (int32_t k = 0; k < place->outcomes; k++) {
    double *at = point + (size_t)k * (size_t)place->each;
    copy_part(at, state->coefficients + (size_t)k * p, p, to_point);
    at += p;
    for (int32_t i = 0; place->main >= 0 && i < state->grouping->count; i++) {
      const size_t count = term_effects(state->grouping, i);
      for (int32_t l = 0; i == place->main && l < place->blocks; l++)
        copy_part(blocks + (size_t)l * (size_t)place->q + (size_t)k * q, effects + (size_t)l * q, q, to_point);
      if (i != place->main) {
        copy_part(at, effects, count, to_point);
        at += count;
      }
      effects += count;
    }
  }
}

void wb_regression_get_point(const wb_regression_target *t, double *point) {
  wb_regression_copy_point(t, point, 1);
  if (t->chain.counts.distinct > 0) point[t->place.wide] = wb_log(t->chain.state.scalars[WB_REGRESSION_DISPERSION]);
}

void wb_regression_put_point(const wb_regression_target *t, double *point) {
  wb_regression_copy_point(t, point, 0);
  if (t->chain.counts.distinct > 0) t->chain.state.scalars[WB_REGRESSION_DISPERSION] = wb_exp(point[t->place.wide]);
}

void wb_regression_put_pair(int32_t n, double sign, const double *from, int32_t row, int32_t column, double *to) {
  for (int32_t r = n - 1; r >= 0; r--)
    for (int32_t c = row == column ? r : n - 1; c >= 0; c--)
      to[wb_packed_at(row + r, column + c)] = sign * from[wb_packed_at(r, c)];
}

/* The prior's mean and precision of the coefficients and of the effects of the terms other than the main one. */
static void widen_prior(const wb_regression_target *t, double *mean, double *precision) {
  const wb_regression_prior *const prior = &t->chain.prior;
  const wb_regression_state *const state = &t->chain.state;
  const wb_regression_layout *const place = &t->place;
  const int32_t p = state->columns;
  for (size_t i = 0; i < wb_packed_size(place->wide); i++) precision[i] = 0.0;
  /* The last outcome first: the upper left corner is room for each. */
  for (int32_t k = place->outcomes - 1; k >= 0; k--) {
    const int32_t own = k * place->each;
    wb_regression_prior_precision(prior, state, k, precision);
    wb_regression_put_pair(p, 1.0, precision, own, own, precision);
    for (int32_t c = 0; c < place->each; c++) mean[own + c] = c < p ? prior->mean[k * p + c] : 0.0;
  }
  /* Between outcomes: regression/chain.h. */
  for (int32_t k = 0; k < place->outcomes; k++)
    for (int32_t r = 0; r < p; r++)
      for (int32_t c = 0; c < p; c++) {
        const double one = precision[wb_packed_at(r, c)];
        const int is_normal = !prior->law || prior->law[r] + prior->law[c] == WB_REGRESSION_NORMAL;
        for (int32_t other = 0; other < k && is_normal; other++)
          precision[wb_packed_row(k * place->each + r) + (size_t)(other * place->each + c)] = -one / place->outcomes;
      }
  const double *covariance = state->covariances;
  for (int32_t k = 0; k < place->outcomes && place->each > p; k++)
    for (int32_t i = 0, first = k * place->each + p; i < state->grouping->count; i++) {
      const int32_t q = state->grouping->terms[i].columns, levels = state->grouping->terms[i].levels;
      const double *const tie = covariance + wb_packed_size(q);
      covariance += WB_REGRESSION_COVARIANCE(q);
      for (int32_t l = 0; i != place->main && l < levels; l++, first += q)
        wb_regression_put_pair(q, 1.0, tie, first, first, precision);
    }
}

static const double *tie_of(const wb_regression_state *state, const wb_regression_layout *place, double *tie) {
  *tie = 1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE];
  if (place->main < 0) return tie;
  memset(tie, 0, wb_packed_size(place->q) * sizeof(double));
  const double *covariance = state->covariances;
  for (int32_t k = 0; k < place->outcomes; k++)
    for (int32_t t = 0; t < state->grouping->count; t++) {
      if (t == place->main)
        wb_regression_put_pair(place->each_q, 1.0, covariance + wb_packed_size(place->each_q), k * place->each_q,
                               k * place->each_q, tie);
      covariance += WB_REGRESSION_COVARIANCE(state->grouping->terms[t].columns);
    }
  return tie;
}

int wb_regression_pass(const wb_regression_target *t, double log_r, wb_regression_weighing what, double *statistics,
                       double *block_statistics, double *log_likelihood) {
  const wb_regression_chain *const chain = &t->chain;
  const int learned = chain->counts.distinct > 0;
  const double r = learned ? wb_exp(log_r) : chain->state.scalars[WB_REGRESSION_DISPERSION];
  wb_regression_parameters parameters = wb_regression_parameters_of(&chain->state, r);
  parameters.weights = what.weights;
  parameters.other = what.other;
  const wb_regression_functions *const functions = chain->backend->regression;
  const int status =
      statistics ? functions->sweep(chain->session, &parameters, what.outcome, 0, 0, statistics,
                                    t->place.blocks > 0 ? block_statistics : NULL, log_likelihood, chain->message)
                 : functions->log_likelihood(chain->session, &parameters, log_likelihood, chain->message);
  if (learned)
    *log_likelihood +=
        wb_regression_count_constant(&chain->counts, r) + wb_regression_log_dispersion(&chain->prior, log_r);
  return status;
}

double wb_regression_log_prior(const wb_regression_target *t, const double *point, double *room) {
  const int32_t wide = t->place.wide, q = t->place.q;
  const double *const blocks = point + wide + (t->chain.counts.distinct > 0);
  double tied[WB_REGRESSION_MOST_TERM_COLUMNS], sum = 0.0;
  for (int c = 0; c < wide; c++) room[c] = point[c] - t->mean[c];
  wb_regression_apply_symmetric(wide, t->ties.precision, room, room + wide);
  for (int32_t l = 0; l < t->place.blocks; l++) {
    wb_regression_apply_symmetric(q, t->ties.tie, blocks + (size_t)l * (size_t)q, tied);
    sum += wb_regression_dot((size_t)q, blocks + (size_t)l * (size_t)q, tied);
  }
  return -0.5 * wb_regression_dot((size_t)wide, room, room + wide) - 0.5 * sum;
}

int wb_regression_log_density(const wb_regression_target *t, double *point, double *room, double *density) {
  const double log_r = t->chain.counts.distinct > 0 ? point[t->place.wide] : 0.0;
  *density = -wb_infinity();
  if (!(log_r >= -WB_REGRESSION_DISPERSION_MOST && log_r <= WB_REGRESSION_DISPERSION_MOST)) return WB_OK;
  wb_regression_put_point(t, point);
  const wb_regression_weighing none = {WB_REGRESSION_DRAWN, 0, 0};
  const int status = wb_regression_pass(t, log_r, none, NULL, NULL, density);
  *density += wb_regression_log_prior(t, point, room);
  return status;
}

void wb_regression_target_tie(wb_regression_target *t, double *mean, double *precision) {
  widen_prior(t, mean, precision);
  t->mean = mean;
  t->ties.isa = t->chain.counts.isa;
  t->ties.precision = precision;
  t->ties.tie = tie_of(&t->chain.state, &t->place, t->tie);
}
