/* Where the moves of regression/level_moves.h take their ellipse and their map from: passes at the mode at the start of
 * a chain and at times of its warm-up. Also decides whether there are moves. */
#include "core/scalar.h"

#include "regression/level_moves.h"

#include "numeric/memory.h"
#include "regression/quadratic.h"

/* Numbers of the start and of learning: they change how fast chains mix, not their law. The climb begins at the first
 * deviation, and its passes take the terms in turn. No deviation gets below the least: effects would stay. */
enum { CLIMB_PASSES = 10, CLIMB_PASSES_OF_TERM = 5, LEARNING_STEPS = 5, EIGENVALUE_STEPS = 60 };
#define FIRST_DEVIATION 0.5
#define LEAST_DEVIATION 0.05
/* A sample of scales needs two draws a scale and five more. Its covariance is taken 1% wider, to be positive. */
#define DRAWS_OF_SCALE 2.0
#define MORE_DRAWS 5.0
#define WIDER 1.01
/* Below these, numbers are rounding errors of what they were taken from, or their squares may underflow. */
#define RELATIVE_PIVOT 1e-10
#define RELATIVE_RIDGE 1e-8
#define LEAST_PIVOT 1e-280

/* Terms of an outcome that can have moves: not the lattices, which come last. */
static int32_t own_terms(const wb_regression_grouping *grouping) { return grouping->count - grouping->lattices; }

int32_t wb_level_terms(const wb_regression_state *state) {
  return state->groups > 0 ? 1 : state->grouping ? state->outcomes * own_terms(state->grouping) : 0;
}

/* Doubles of a term's part of the moves, and its coordinates. */
static size_t term_size(const wb_level_term *t) {
  const size_t d = (size_t)t->d;
  return 2 * d + (size_t)t->p + wb_packed_size(t->p) + 2 * wb_packed_size(t->d) + (size_t)t->levels * t->record;
}

static wb_level_term shape_of(const wb_regression_state *state, int32_t number) {
  const wb_regression_grouping *const grouping = state->grouping;
  wb_level_term t = {.term = -1, .p = state->columns, .q = 1, .levels = state->groups, .independent = 1};
  if (grouping) {
    t.term = number % own_terms(grouping);
    t.outcome = number / own_terms(grouping);
    t.q = grouping->terms[t.term].columns;
    t.levels = grouping->terms[t.term].levels;
    t.independent = grouping->independent[t.term];
  }
  t.d = t.p + (t.independent ? t.q : t.q * (t.q + 1) / 2);
  t.record = WB_LEVEL_RECORD(t.q, t.p);
  return t;
}

size_t wb_level_size(const wb_regression_state *state) {
  size_t size = WB_LEVEL_HEAD;
  if (wb_level_terms(state) == 0 || state->dual_rows > 0 || state->columns > WB_LEVEL_MOST_COEFFICIENTS) return 0;
  for (int32_t i = 0; i < wb_level_terms(state); i++) {
    const wb_level_term t = shape_of(state, i);
    if (t.q > WB_LEVEL_MOST) return 0;
    size += term_size(&t);
  }
  return size;
}

int wb_level_used(const wb_regression_state *state) { return state->moves && state->moves[WB_LEVEL_USED] > 0.0; }

wb_level_term wb_level_term_of(const wb_regression_chain *chain, int32_t number) {
  const wb_regression_state *const state = &chain->state;
  wb_level_term t = shape_of(state, number);
  double *at = state->moves + WB_LEVEL_HEAD;
  const double *scale = chain->prior.effect_scale;
  double *covariance = state->covariances;
  for (int32_t i = 0; i < number; i++) {
    const wb_level_term before = shape_of(state, i);
    at += term_size(&before);
    if (before.outcome == t.outcome) scale += before.q;
    covariance += WB_REGRESSION_COVARIANCE(before.q);
    t.first += (uint64_t)before.levels;
    t.effect += (size_t)before.levels * (size_t)before.q;
  }
  if (t.outcome > 0) {
    t.effect += (size_t)t.outcome * wb_regression_lattice_effects(state->grouping);
    covariance += t.outcome * state->grouping->lattices * (int32_t)WB_REGRESSION_COVARIANCE(1);
  }
  t.effects = (t.term < 0 ? state->intercepts : state->effects) + t.effect;
  t.covariance = t.term < 0 ? state->scalars + WB_REGRESSION_GROUP_VARIANCE : covariance;
  t.scale = t.term < 0 ? &chain->prior.group_scale : scale;
  t.mean = wb_regression_cut(&at, (size_t)t.d);
  t.shape = wb_regression_cut(&at, wb_packed_size(t.d));
  t.pull = wb_regression_cut(&at, (size_t)t.p);
  t.inverse = wb_regression_cut(&at, wb_packed_size(t.p));
  t.sum = wb_regression_cut(&at, (size_t)t.d);
  t.products = wb_regression_cut(&at, wb_packed_size(t.d));
  t.records = at;
  return t;
}

static wb_regression_level sums_of(const wb_regression_chain *chain, const wb_level_term *t, const double *sums,
                                   int32_t l) {
  for (int32_t i = 0; i < t->term; i++) {
    const wb_regression_term *const before = chain->state.grouping->terms + i;
    sums += (size_t)before->levels * WB_REGRESSION_LEVEL_STATISTICS(t->p, before->columns);
  }
  return wb_regression_level_at(t->term < 0, t->p, t->q, sums, l);
}

void wb_level_count_events(const wb_regression_chain *chain, double *events) {
  const wb_regression_data *const data = chain->data;
  for (int32_t i = 0; i < wb_level_terms(&chain->state); i++) {
    const wb_level_term t = shape_of(&chain->state, i);
    const double *const kappa = data->observed ? data->observed : data->kappa + (size_t)t.outcome * (size_t)data->rows;
    memset(events, 0, (size_t)t.levels * sizeof(double));
    int32_t g = 0;
    for (int64_t row = 0; row < data->rows; row++) {
      while (t.term < 0 && data->group_start[g + 1] <= row) g++;
      events[t.term < 0 ? g : data->terms[t.term].level[row]] += wb_fma(0.5, data->shape[row], kappa[row]);
    }
    events += t.levels;
  }
}

wb_regression_parameters wb_level_parameters(const wb_regression_chain *chain, const double *coefficients,
                                             const double *effects) {
  wb_regression_parameters parameters = wb_regression_own_parameters(&chain->state);
  parameters.coefficients = coefficients;
  *(chain->state.groups > 0 ? &parameters.intercepts : &parameters.effects) = effects;
  return parameters;
}

int wb_level_pass(const wb_regression_chain *chain, const wb_level_passes *at, int32_t outcome, int32_t weights) {
  double unused;
  wb_regression_parameters parameters = wb_level_parameters(chain, at->coefficients, at->effects);
  parameters.weights = weights;
  if (chain->beside && weights == WB_REGRESSION_INFORMATION) {
    const wb_regression_pair pair = wb_regression_pair_of(chain, &parameters);
    WB_TRY(chain->backend->regression->inform(&pair, !chain->data->zeros, chain->message));
    parameters.weights = WB_REGRESSION_GIVEN;
  }
  return chain->backend->regression->sweep(chain->session, &parameters, outcome, 0, 0, at->statistics, at->sums,
                                           &unused, chain->message);
}

/* Copies a term's effects between the modes in its records and the effects of all terms. */
static void copy_modes(const wb_level_term *t, double *effects, int to_records) {
  const size_t q = (size_t)t->q;
  for (int32_t l = 0; l < t->levels; l++) {
    double *const mode = t->records + (size_t)l * t->record + 2, *const own = effects + t->effect + (size_t)l * q;
    memcpy(to_records ? mode : own, to_records ? own : mode, q * sizeof(double));
  }
}

/* A root of a matrix that may be singular: its column is 0 where a pivot is. */
static void semidefinite_root(int32_t n, double *a) {
  for (int32_t c = 0; c < n; c++) {
    double *const pivot = a + wb_packed_at(c, c), whole = *pivot;
    double left = whole;
    for (int32_t k = 0; k < c; k++) left = wb_fma(-pivot[k - c], pivot[k - c], left);
    const int empty = !(left > RELATIVE_PIVOT * whole && left > LEAST_PIVOT);
    *pivot = empty ? 0.0 : wb_sqrt(left);
    for (int32_t r = c + 1; r < n; r++) {
      double *const row = a + wb_packed_row(r), sum = row[c];
      double rest = sum;
      for (int32_t k = 0; k < c; k++) rest = wb_fma(-row[k], pivot[k - c], rest);
      row[c] = empty ? 0.0 : rest / *pivot;
    }
  }
}

/* The stand-in rows of a level from its sums at the reference point, and its `events` or information that is `even`. */
static void make_record(const wb_level_term *t, wb_regression_level sums, int even, double events, double *record) {
  const int32_t q = t->q, p = t->p, rows = WB_LEVEL_ROWS(q);
  double *const linear = record + 2 + q, *const z = linear + q, *const g = z + (size_t)rows * (size_t)q;
  const double information = sums.own[0];
  double factor[WB_LEVEL_MOST_PACKED];
  wb_level_stand_in(rows, even ? sums.slope[0] + 2.0 * information : events, sums.slope[0], information, record);
  for (int32_t j = 0; j < rows; j++) z[(size_t)j * (size_t)q] = 1.0;
  if (q > 1) {
    double mean[WB_LEVEL_MOST], spread[WB_LEVEL_MOST_PACKED];
    const double over = information > 0.0 ? 1.0 / information : 0.0, wide = wb_sqrt(q - 1.0);
    for (int32_t k = 1; k < q; k++) mean[k] = sums.own[wb_packed_row(k)] * over;
    for (int32_t k = 1; k < q; k++)
      for (int32_t m = 1; m <= k; m++)
        spread[wb_packed_at(k - 1, m - 1)] = wb_fma(sums.own[wb_packed_at(k, m)], over, -mean[k] * mean[m]);
    semidefinite_root(q - 1, spread);
    for (int32_t j = 0; j < rows; j++)
      for (int32_t k = 1; k < q; k++) {
        const int32_t column = j / 2;
        const double off = column <= k - 1 ? wide * spread[wb_packed_row(k - 1) + (size_t)column] : 0.0;
        z[(size_t)j * (size_t)q + (size_t)k] = j % 2 == 0 ? mean[k] + off : mean[k] - off;
      }
  }
  for (int32_t k = 0; k < q; k++) {
    linear[k] = sums.slope[k];
    for (int32_t j = 0; j < rows; j++) linear[k] = wb_fma(record[0], z[(size_t)j * (size_t)q + (size_t)k], linear[k]);
  }
  /* G = (Z'WZ)^-1 Z'WX; what Z'WZ does not know has no weight. */
  memcpy(factor, sums.own, wb_packed_size(q) * sizeof(double));
  for (int32_t k = 0; k < q; k++) {
    double *const diagonal = factor + wb_packed_at(k, k);
    *diagonal = wb_fma(RELATIVE_RIDGE, *diagonal, *diagonal) + LEAST_PIVOT;
  }
  const int known = wb_cholesky(q, factor) == 0;
  for (int32_t c = 0; c < p; c++) {
    double column[WB_LEVEL_MOST];
    for (int32_t k = 0; k < q; k++) column[k] = sums.cross[(size_t)k * (size_t)p + (size_t)c];
    if (known) wb_cholesky_solve(q, factor, column, column);
    for (int32_t k = 0; k < q; k++) g[(size_t)k * (size_t)p + (size_t)c] = known ? column[k] : 0.0;
  }
}

int wb_level_has_lattices(const wb_regression_state *state) { return state->grouping && state->grouping->lattices > 0; }

int wb_level_changes(const wb_regression_chain *chain) {
  return wb_level_terms(&chain->state) > 1 || chain->counts.distinct > 0 || chain->beside ||
         wb_level_has_lattices(&chain->state);
}

int wb_level_make_records(const wb_regression_chain *chain, const wb_level_term *t, const double *events,
                          const wb_level_passes *at) {
  copy_modes(t, at->effects, 0);
  memcpy(at->coefficients + (size_t)t->outcome * (size_t)t->p, t->mean, (size_t)t->p * sizeof(double));
  WB_TRY(wb_level_pass(chain, at, t->outcome, WB_REGRESSION_INFORMATION));
  for (int32_t l = 0; l < t->levels; l++)
    make_record(t, sums_of(chain, t, at->sums, l), chain->beside && !chain->data->zeros, events[t->first + (uint64_t)l],
                t->records + (size_t)l * t->record);
  return WB_OK;
}

/* The root of a level's precision; of the prior's where rows with zeros of two kinds have too negative information. */
static int factor_level(int32_t q, const double *own, const double *tie, double *factor) {
  for (size_t i = 0; i < wb_packed_size(q); i++) factor[i] = own[i] + tie[i];
  if (wb_cholesky(q, factor) == 0) return 0;
  memcpy(factor, tie, wb_packed_size(q) * sizeof(double));
  return wb_cholesky(q, factor);
}

/* Adds the information about the coefficients with the effects of a term integrated out to `precision`, packed.
 * Returns 0 if a level's is not positive. Takes what the term explains at these effects out of `linear` (or NULL),
 * the slope of the log posterior in the coefficients. */
static int eliminate(const wb_regression_chain *chain, const wb_level_term *t, const double *tie,
                     const double *statistics, const double *sums, const double *effects, double *precision,
                     double *linear) {
  const int32_t q = t->q, p = t->p;
  double factor[WB_LEVEL_MOST_PACKED], v[WB_LEVEL_MOST * WB_LEVEL_MOST_COEFFICIENTS], slope[WB_LEVEL_MOST];
  for (size_t i = 0; i < wb_packed_size(p); i++) precision[i] += statistics[i];
  for (int32_t l = 0; l < t->levels; l++) {
    const wb_regression_level own = sums_of(chain, t, sums, l);
    if (factor_level(q, own.own, tie, factor) > 0) return 0;
    if (linear) {
      wb_regression_apply_symmetric(q, tie, effects + t->effect + (size_t)l * (size_t)q, slope);
      for (int32_t k = 0; k < q; k++) slope[k] = own.slope[k] - slope[k];
      wb_triangle_solve(q, factor, slope, slope);
    }
    wb_regression_eliminate(q, factor, p, own.cross, (size_t)p, v, precision);
    for (int32_t k = 0; k < q && linear; k++)
      for (int32_t c = 0; c < p; c++) linear[c] = wb_fma(-slope[k], v[(size_t)k * (size_t)p + (size_t)c], linear[c]);
  }
  return 1;
}

static double at_least(double x, double least) { return x > least ? x : least; }

/* Newton steps of the effects of each level given a change of the coefficients, and what the squares of effects are
 * expected to add up to: sum of u u' + (Z'WZ + Sigma^-1)^-1. */
static void step_levels(const wb_regression_chain *chain, const wb_level_term *t, const double *tie, const double *sums,
                        const double *change, double *effects, double *squares) {
  const int32_t q = t->q, p = t->p;
  double factor[WB_LEVEL_MOST_PACKED], step[WB_LEVEL_MOST];
  for (size_t i = 0; i < wb_packed_size(q); i++) squares[i] = 0.0;
  for (int32_t l = 0; l < t->levels; l++) {
    const wb_regression_level own = sums_of(chain, t, sums, l);
    double *const u = effects + t->effect + (size_t)l * (size_t)q;
    if (factor_level(q, own.own, tie, factor) > 0) continue;
    wb_regression_apply_symmetric(q, tie, u, step);
    for (int32_t k = 0; k < q; k++) {
      step[k] = own.slope[k] - step[k];
      for (int32_t c = 0; c < p && change; c++)
        step[k] = wb_fma(-own.cross[(size_t)k * (size_t)p + (size_t)c], change[c], step[k]);
    }
    wb_cholesky_solve(q, factor, step, step);
    for (int32_t k = 0; k < q; k++) u[k] += wb_level_within(step[k], WB_LEVEL_MOST_STEP);
    wb_symmetric_add_outer(q, 1.0, u, squares);
    wb_triangle_inverse(q, factor, factor);
    wb_triangle_gram(q, factor, factor);
    for (size_t i = 0; i < wb_packed_size(q); i++) squares[i] += factor[i];
  }
}

/* The information about the scales of a term if its effects are integrated out, as for normal responses: 2 sum of
 * lambda^2 / s^2 of each deviation, with lambda the share of the data in what is known of an effect. */
static void inform_scales(const wb_regression_chain *chain, const wb_level_term *t, const double *scales,
                          const double *sums, double *squares) {
  for (int32_t k = 0; k < t->d - t->p; k++) squares[k] = 0.0;
  for (int32_t l = 0; l < t->levels; l++) {
    const wb_regression_level own = sums_of(chain, t, sums, l);
    double share[WB_LEVEL_MOST];
    for (int32_t k = 0; k < t->q; k++) {
      share[k] = wb_level_share(scales[k], own.own[wb_packed_at(k, k)]);
      squares[k] = wb_fma(2.0 * share[k], share[k], squares[k]);
    }
    for (int32_t k = 1, at = t->q; k < t->q && !t->independent; k++)
      for (int32_t m = 0; m < k; m++, at++) squares[at] = wb_fma(share[k], share[m], squares[at]);
  }
}

int wb_level_learns_scales(const wb_regression_chain *chain) {
  for (int32_t c = 0; c < chain->state.columns && chain->prior.law; c++)
    if (chain->prior.law[c] == WB_REGRESSION_HORSESHOE || chain->prior.law[c] >= WB_REGRESSION_BLOCK) return 1;
  return 0;
}

/* From `sweeps` sweeps whose coefficients lay off the prior's mean by `off` on average, while the inverse of D + P was
 * `inverse` / sweeps: the mean slope of the log likelihood is such that they lie about the ellipses' centres. */
static void learn_pull(const wb_level_term *t, double sweeps, const double *off) {
  const int32_t p = t->p;
  double along[WB_LEVEL_MOST_COEFFICIENTS];
  for (size_t i = 0; i < wb_packed_size(p); i++) t->inverse[i] /= sweeps;
  if (wb_cholesky(p, t->inverse) == 0) {
    wb_cholesky_solve(p, t->inverse, off, t->pull);
    wb_regression_apply_symmetric(p, t->shape, off, along);
    for (int32_t c = 0; c < p; c++) t->pull[c] -= along[c];
  }
  memset(t->inverse, 0, wb_packed_size(p) * sizeof(double));
}

/* The shape of the ellipse about a term's mean, of which `at` has the pass: the information about the coefficients, and
 * the scales of a sample of `covariance` (packed, NULL: not known) and how coefficients follow them there. */
static void make_shape(const wb_regression_chain *chain, const wb_level_term *t, const wb_level_passes *at,
                       const double *covariance, double sweeps) {
  const int32_t p = t->p, count = t->d - p;
  const size_t packed = wb_packed_size(p);
  const double *const scales = t->mean + p;
  const int apart = wb_level_learns_scales(chain);
  wb_level_covariance of_effects;
  double score[WB_LEVEL_MOST_COEFFICIENTS], off[WB_LEVEL_MOST_COEFFICIENTS];
  double squares[WB_LEVEL_MOST_SCALES], inverse[WB_LEVEL_MOST_SCALES * (WB_LEVEL_MOST_SCALES + 1) / 2];
  if (apart) {
    for (int32_t c = 0; c < p; c++)
      off[c] = t->mean[c] - wb_regression_prior_mean(&chain->prior, &chain->state, t->outcome, c);
    if (sweeps > 0.0) learn_pull(t, sweeps, off);
    memset(t->shape, 0, packed * sizeof(double));
    memcpy(score, at->statistics + packed, (size_t)p * sizeof(double));
  } else {
    wb_regression_prior_precision(&chain->prior, &chain->state, t->outcome, t->shape);
  }
  memset(t->shape + packed, 0, (wb_packed_size(t->d) - packed) * sizeof(double));
  if (!wb_level_covariance_of(t, scales, &of_effects) ||
      !eliminate(chain, t, of_effects.tie, at->statistics, at->sums, at->effects, t->shape, apart ? score : NULL))
    return;
  if (apart) {
    double along[WB_LEVEL_MOST_COEFFICIENTS];
    wb_regression_apply_symmetric(p, t->shape, off, along);
    for (int32_t c = 0; c < p; c++) t->pull[c] = along[c] + (sweeps > 0.0 ? t->pull[c] : score[c]);
  }
  for (int32_t k = 0; k < count && covariance; k++) {
    memcpy(inverse + wb_packed_row(k), covariance + wb_packed_row(p + k) + p, ((size_t)k + 1) * sizeof(double));
    inverse[wb_packed_at(k, k)] *= WIDER;
  }
  if (!covariance || wb_cholesky(count, inverse) > 0) {
    inform_scales(chain, t, scales, at->sums, squares);
    for (int32_t k = 0; k < count; k++)
      t->shape[wb_packed_at(p + k, p + k)] =
          k < t->q ? at_least(squares[k], 2.0) / (scales[k] * scales[k]) : at_least(squares[k], 1.0);
    return;
  }
  wb_triangle_inverse(count, inverse, inverse);
  wb_triangle_gram(count, inverse, inverse);
  for (int32_t k = 0; k < count; k++) {
    double *const row = t->shape + wb_packed_row(p + k);
    for (int32_t m = 0; m < count; m++) {
      const double weight = inverse[wb_packed_at(k, m)];
      for (int32_t c = 0; c < p; c++) row[c] = wb_fma(weight, covariance[wb_packed_row(p + m) + (size_t)c], row[c]);
    }
    memcpy(row + p, inverse + wb_packed_row(k), ((size_t)k + 1) * sizeof(double));
  }
}

void wb_level_ellipse_of(const wb_regression_chain *chain, const wb_level_term *t, const double *precision,
                         double *centre, double *root) {
  const int32_t p = t->p, d = t->d;
  const size_t packed = wb_packed_size(p);
  double moved[WB_LEVEL_MOST_SCALES * WB_LEVEL_MOST_COEFFICIENTS];
  memcpy(centre, t->mean, (size_t)d * sizeof(double));
  memcpy(root, t->shape, packed * sizeof(double));
  const int apart = wb_level_learns_scales(chain);
  for (size_t i = 0; i < packed && apart; i++) root[i] += precision[i];
  for (int32_t k = 0; k < d - p; k++) {
    const double *const row = t->shape + wb_packed_row(p + k);
    double *const to = root + wb_packed_row(p + k), *const own = moved + (size_t)k * (size_t)p;
    wb_regression_apply_symmetric(p, root, row, own);
    for (int32_t c = 0; c < p; c++) to[c] = -own[c];
    for (int32_t m = 0; m <= k; m++)
      to[p + m] = row[p + m] + wb_regression_dot((size_t)p, row, moved + (size_t)m * (size_t)p);
  }
  if (wb_cholesky(d, root) > 0) {
    memset(root, 0, wb_packed_size(d) * sizeof(double));
    for (int32_t c = 0; c < d; c++) root[wb_packed_at(c, c)] = 1.0;
  } else if (apart) {
    /* The leading part of the root is the root of the leading part. */
    wb_cholesky_solve(p, root, t->pull, centre);
    for (int32_t c = 0; c < p; c++) centre[c] += wb_regression_prior_mean(&chain->prior, &chain->state, t->outcome, c);
  }
}

int wb_level_learn(const wb_regression_chain *chain, const double *events, const wb_level_passes *at) {
  enum { MOST = WB_LEVEL_MOST_COEFFICIENTS + WB_LEVEL_MOST_SCALES };
  double covariance[MOST * (MOST + 1) / 2], squares[WB_LEVEL_MOST_PACKED];
  const double count = chain->state.moves[WB_LEVEL_COUNT];
  int status = WB_OK;
  for (int32_t i = 0; i < wb_level_terms(&chain->state) && status == WB_OK; i++) {
    const wb_level_term t = wb_level_term_of(chain, i);
    double *const own = at->coefficients + (size_t)t.outcome * (size_t)t.p;
    wb_level_covariance there;
    for (int32_t r = 0; r < t.d; r++)
      for (int32_t c = 0; c <= r; c++) {
        const size_t entry = wb_packed_at(r, c);
        covariance[entry] = (t.products[entry] - t.sum[r] * t.sum[c] / count) / (count - 1.0);
      }
    for (int32_t c = 0; c < t.d; c++) t.mean[c] += t.sum[c] / count;
    memset(t.sum, 0, (size_t)t.d * sizeof(double));
    memset(t.products, 0, wb_packed_size(t.d) * sizeof(double));
    copy_modes(&t, at->effects, 0);
    memcpy(own, t.mean, (size_t)t.p * sizeof(double));
    const int good = wb_level_covariance_of(&t, t.mean + t.p, &there);
    for (int step = 0; step < LEARNING_STEPS && good && status == WB_OK; step++) {
      status = wb_level_pass(chain, at, t.outcome, WB_REGRESSION_INFORMATION);
      if (status == WB_OK) step_levels(chain, &t, there.tie, at->sums, NULL, at->effects, squares);
    }
    copy_modes(&t, at->effects, 1);
    if (status == WB_OK) status = wb_level_make_records(chain, &t, events, at);
    if (status == WB_OK)
      make_shape(chain, &t, at, count > DRAWS_OF_SCALE * (t.d - t.p) + MORE_DRAWS ? covariance : NULL, count);
    memcpy(own, chain->state.coefficients + (own - at->coefficients), (size_t)t.p * sizeof(double));
    memcpy(at->effects + t.effect, t.effects, (size_t)t.levels * (size_t)t.q * sizeof(double));
  }
  chain->state.moves[WB_LEVEL_COUNT] = 0.0;
  return status;
}

/* The largest eigenvalue of A^-1 B by power iteration, from below; A is overwritten. */
static double largest_ratio(int32_t p, double *a, const double *b) {
  double x[WB_LEVEL_MOST_COEFFICIENTS], y[WB_LEVEL_MOST_COEFFICIENTS], most = 1.0;
  wb_stream stream = wb_stream_open(0, WB_PURPOSE_ELLIPSE, 0, 0);
  if (wb_cholesky(p, a) > 0) return 1.0;
  for (int32_t c = 0; c < p; c++) x[c] = wb_draw_normal(&stream);
  for (int i = 0; i < EIGENVALUE_STEPS; i++) {
    wb_triangle_apply_transposed(p, a, x, y);
    const double below = wb_regression_dot((size_t)p, y, y);
    wb_regression_apply_symmetric(p, b, x, y);
    const double ratio = wb_regression_dot((size_t)p, x, y) / below;
    if (ratio > most) most = ratio;
    wb_cholesky_solve(p, a, y, y);
    const double unit = 1.0 / wb_sqrt(wb_regression_dot((size_t)p, y, y));
    for (int32_t c = 0; c < p; c++) x[c] = unit * y[c];
  }
  return most;
}

/* Whether the first effect of each level of all terms is an intercept, and levels are many. */
static int fits(const wb_regression_chain *chain) {
  const wb_regression_data *const data = chain->data;
  int32_t most = data->groups;
  for (int32_t i = 0; i < data->term_count; i++) {
    const wb_regression_term *const term = data->terms + i;
    if (term->levels > most) most = term->levels;
    for (int64_t row = 0; term->z && row < data->rows; row++)
      if (term->z[row] != 1.0) return 0;
  }
  return most >= WB_LEVEL_LEAST_LEVELS || chain->level_moves > 1.0;
}

typedef struct start_room {
  wb_level_passes at, expected; /* which share coefficients and effects */
  double *events, *precision, *linear, *other;
} start_room;

/* A Newton step of coefficients and effects, and an EM step (Dempster, Laird & Rubin 1977) of their covariance. */
static void step_term(const wb_regression_chain *chain, const wb_level_term *t, const start_room *room) {
  const int32_t p = t->p, q = t->q;
  double *const coefficients = room->at.coefficients + (size_t)t->outcome * (size_t)p;
  wb_level_covariance at;
  double squares[WB_LEVEL_MOST_PACKED];
  if (!wb_level_covariance_of(t, t->mean + p, &at)) return;
  double *const change = room->linear;
  wb_regression_prior_precision(&chain->prior, &chain->state, t->outcome, room->precision);
  for (int32_t c = 0; c < p; c++)
    change[c] = coefficients[c] - wb_regression_prior_mean(&chain->prior, &chain->state, t->outcome, c);
  wb_regression_apply_symmetric(p, room->precision, change, room->other);
  for (int32_t c = 0; c < p; c++) change[c] = room->at.statistics[wb_packed_size(p) + (size_t)c] - room->other[c];
  if (!eliminate(chain, t, at.tie, room->at.statistics, room->at.sums, room->at.effects, room->precision, change) ||
      wb_cholesky(p, room->precision) > 0)
    return;
  wb_cholesky_solve(p, room->precision, change, change);
  for (int32_t c = 0; c < p; c++) {
    change[c] = wb_level_within(change[c], WB_LEVEL_MOST_STEP);
    coefficients[c] += change[c];
  }
  step_levels(chain, t, at.tie, room->at.sums, change, room->at.effects, squares);
  for (int32_t k = 0; k < q; k++)
    for (int32_t m = 0; m <= k; m++) {
      double *const entry = squares + wb_packed_at(k, m);
      *entry = m == k           ? *entry / t->levels + LEAST_DEVIATION * LEAST_DEVIATION
               : t->independent ? 0.0
                                : *entry / t->levels;
    }
  wb_level_scales_of(t, squares, t->mean + p);
}

/* wb_level_forgotten() of column k of a term's effects. */
static double share_forgotten(const wb_regression_chain *chain, const wb_level_term *t, const double *sums, int32_t k,
                              double informed) {
  const double scale = t->mean[t->p + k];
  double rows = 1.0;
  for (int32_t l = 0; l < t->levels; l++)
    rows = wb_fma(scale * scale, sums_of(chain, t, sums, l).own[wb_packed_at(k, k)], rows);
  return wb_level_forgotten(informed, t->levels, rows);
}

/* Lowers and raises the arguments of wb_level_effective_draws() to a term's. The room has passes of its outcome. */
static void expect_draws(const wb_regression_chain *chain, const wb_level_term *t, const start_room *room,
                         double *least, double *most) {
  double informed[WB_LEVEL_MOST_SCALES], drawn[WB_LEVEL_MOST_SCALES];
  wb_level_covariance at;
  wb_regression_prior_precision(&chain->prior, &chain->state, t->outcome, room->precision);
  memcpy(room->other, room->precision, wb_packed_size(t->p) * sizeof(double));
  if (!wb_level_covariance_of(t, t->mean + t->p, &at) ||
      !eliminate(chain, t, at.tie, room->at.statistics, room->at.sums, NULL, room->precision, NULL) ||
      !eliminate(chain, t, at.tie, room->expected.statistics, room->expected.sums, NULL, room->other, NULL))
    return;
  *most = at_least(largest_ratio(t->p, room->precision, room->other), *most);
  inform_scales(chain, t, t->mean + t->p, room->at.sums, informed);
  inform_scales(chain, t, t->mean + t->p, room->expected.sums, drawn);
  for (int32_t k = 0; k < t->q; k++) {
    *most = at_least((drawn[k] + 1.0) / (informed[k] + 1.0), *most);
    const double share = share_forgotten(chain, t, room->at.sums, k, informed[k]);
    if (share < *least) *least = share;
  }
}

/* Climbs from the start of all chains, and makes records and ellipses there. Then the expected effective draws. */
static int climb(const wb_regression_chain *chain, const start_room *room, double *expected) {
  const wb_regression_state *const state = &chain->state;
  const int32_t p = state->columns, terms = wb_level_terms(state);
  memcpy(room->at.coefficients, state->coefficients, (size_t)p * (size_t)state->outcomes * sizeof(double));
  wb_level_count_events(chain, room->events);
  for (int32_t i = 0; i < terms; i++) {
    const wb_level_term t = wb_level_term_of(chain, i);
    for (int32_t k = 0; k < t.d - p; k++) t.mean[p + k] = k < t.q ? FIRST_DEVIATION : 0.0;
  }
  for (int32_t i = 0; i < CLIMB_PASSES * state->outcomes + CLIMB_PASSES_OF_TERM * terms; i++) {
    const wb_level_term t = wb_level_term_of(chain, i % terms);
    WB_TRY(wb_level_pass(chain, &room->at, t.outcome, WB_REGRESSION_INFORMATION));
    step_term(chain, &t, room);
  }
  double least = 1.0, most = 1.0;
  for (int32_t i = 0; i < terms; i++) {
    const wb_level_term t = wb_level_term_of(chain, i);
    memcpy(t.mean, room->at.coefficients + (size_t)t.outcome * (size_t)p, (size_t)p * sizeof(double));
    copy_modes(&t, room->at.effects, 1);
    WB_TRY(wb_level_make_records(chain, &t, room->events, &room->at));
    make_shape(chain, &t, &room->at, NULL, 0.0);
    WB_TRY(wb_level_pass(chain, &room->expected, t.outcome, WB_REGRESSION_EXPECTED));
    expect_draws(chain, &t, room, &least, &most);
  }
  *expected = wb_level_effective_draws(least, most);
  return WB_OK;
}

int wb_level_start(const wb_regression_chain *chain) {
  const wb_regression_state *const state = &chain->state;
  if (!state->moves) return WB_OK;
  memset(state->moves, 0, wb_level_size(state) * sizeof(double));
  if (!(chain->level_moves > 0.0) || !fits(chain) || (chain->beside && wb_level_has_lattices(state))) return WB_OK;
  const size_t p = (size_t)state->columns, statistics = WB_REGRESSION_STATISTICS(p), packed = wb_packed_size((int)p);
  const size_t sums =
      state->groups > 0 ? (size_t)state->groups * WB_REGRESSION_GROUP_STATISTICS(p) : wb_regression_level_sums(state);
  const size_t effects =
      state->grouping ? (size_t)state->outcomes * wb_regression_effects(state->grouping) : (size_t)state->groups;
  size_t levels = 0;
  for (int32_t i = 0; i < wb_level_terms(state); i++) levels += (size_t)shape_of(state, i).levels;
  start_room room;
  void *const memory = WB_PARTS("the moves of groups' effects", chain->message,
                                WB_PART(room.at.coefficients, p * (size_t)state->outcomes),
                                WB_CLEARED(room.at.effects, effects), WB_CLEARED(room.at.statistics, statistics),
                                WB_CLEARED(room.at.sums, sums), WB_CLEARED(room.expected.statistics, statistics),
                                WB_CLEARED(room.expected.sums, sums), WB_PART(room.events, levels),
                                WB_PART(room.precision, packed), WB_PART(room.linear, p), WB_PART(room.other, packed));
  if (!memory) return WB_ERROR_MEMORY;
  room.expected.coefficients = room.at.coefficients;
  room.expected.effects = room.at.effects;
  double expected;
  const int status = climb(chain, &room, &expected);
  if (status == WB_OK) {
    state->moves[WB_LEVEL_EXPECTED] = expected;
    state->moves[WB_LEVEL_USED] =
        expected < WB_LEVEL_ENOUGH || chain->data->poisson || chain->beside || chain->level_moves > 1.0;
  }
  wb_aligned_free(memory);
  return status;
}
