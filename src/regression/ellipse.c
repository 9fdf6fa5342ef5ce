/* Generalised elliptical slice moves of a regression's coefficients, effects of groups and dispersion together
 * (Murray, Adams & MacKay 2010, "Elliptical slice sampling", AISTATS; with a Student t as Nishihara, Murray & Adams
 * 2014, "Parallel MCMC with generalized elliptical slice sampling", JMLR 15, 2087-2112, section 3). The t has 5 degrees
 * of freedom. Its centre and scale are those of the posterior if the log likelihood is replaced by its quadratic
 * approximation at the mode; the normal prior has its present scales. A move has nothing to tune and is never rejected.
 * It costs one pass over the rows for the log likelihood at each trial.
 *
 * The linear predictors are logs of means, so the dispersion r and the coefficients are nearly independent. */
#include "core/scalar.h"

#include "regression/ellipse.h"

#include "core/linear_algebra.h"
#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "core/trigonometric.h"
#include "numeric/memory.h"
#include "regression/quadratic.h"
#include "regression/wide_design.h"

#define DEGREES_OF_FREEDOM 5.0
#define TWO_PI 6.283185307179586
/* Where log(r) may lie, as in regression/hyperparameters.c. */
#define DISPERSION_MOST 30.0

enum { MOST_PACKED = WB_REGRESSION_MOST_TERM_COLUMNS * (WB_REGRESSION_MOST_TERM_COLUMNS + 1) / 2 };

/* Points are vectors: for each outcome its coefficients and its effects of the terms other than the main one; log(r) if
 * it is learned; and the blocks: intercepts of groups, or effects of the levels of the main term, which has most
 * levels. A block has the effects of the first outcome, then those of the next. */
typedef struct layout {
  int32_t outcomes;
  int32_t main;              /* -1: no term */
  int32_t each, wide;        /* coefficients and effects of one outcome, and of all, which come before log(r) */
  int32_t blocks, each_q, q; /* coordinates of a block for one outcome, and for all */
} layout;

static size_t term_effects(const wb_regression_grouping *grouping, int32_t term) {
  return (size_t)grouping->terms[term].levels * (size_t)grouping->terms[term].columns;
}

static int32_t main_term(const wb_regression_grouping *grouping) {
  int32_t main = 0;
  for (int32_t t = 1; t < grouping->count; t++)
    if (grouping->terms[t].levels > grouping->terms[main].levels) main = t;
  return main;
}

/* Whether there can be moves. Too many effects make the vectors long, and the posterior too little like a t. */
static int is_movable(int32_t columns, int32_t outcomes, const wb_regression_grouping *grouping) {
  const size_t m = (size_t)outcomes, p = m * (size_t)columns;
  if (outcomes > 1 && p > WB_REGRESSION_MOST_OUTCOME_COEFFICIENTS) return 0;
  if (!grouping || grouping->count == 0) return 1;
  const int32_t term = main_term(grouping);
  const size_t one = term_effects(grouping, term), main = m * one, others = m * (wb_regression_effects(grouping) - one);
  return main <= WB_REGRESSION_MOST_MAIN_EFFECTS && others <= WB_REGRESSION_MOST_OTHER_EFFECTS &&
         main * (p + others) <= WB_REGRESSION_MOST_PAIRS &&
         m * (size_t)grouping->terms[term].columns <= WB_REGRESSION_MOST_TERM_COLUMNS;
}

static layout layout_of(int32_t columns, int32_t groups, int32_t outcomes, const wb_regression_grouping *grouping) {
  layout l = {outcomes, -1, columns, columns * outcomes, groups, 1, 1};
  if (!grouping || grouping->count == 0) return l;
  l.main = main_term(grouping);
  l.blocks = grouping->terms[l.main].levels;
  l.each_q = grouping->terms[l.main].columns;
  l.q = l.each_q * outcomes;
  l.each += (int32_t)(wb_regression_effects(grouping) - term_effects(grouping, l.main));
  l.wide = l.each * outcomes;
  return l;
}

size_t wb_regression_ellipse_size(int32_t columns, int32_t groups, int32_t outcomes,
                                  const wb_regression_grouping *grouping) {
  if (!is_movable(columns, outcomes, grouping)) return WB_REGRESSION_ELLIPSE_HEAD;
  const layout l = layout_of(columns, groups, outcomes, grouping);
  return WB_REGRESSION_ELLIPSE_HEAD + wb_regression_quadratic_size((size_t)l.wide, (size_t)l.blocks, (size_t)l.q);
}

/* The data, the prior, and the state that stands for the current point. */
typedef struct target {
  const wb_backend *backend;
  wb_regression_session *session;
  const wb_regression_prior *prior;
  const wb_regression_counts *counts;
  wb_regression_state *state;
  layout place;
  const double *mean; /* the prior's, of the first `wide` coordinates */
  wb_regression_ties ties;
} target;

static size_t block_coordinates(const layout *place) {
  return (size_t)place->blocks * (size_t)place->q;
}

/* Copies `count` coordinates between a point and the state. */
static void copy_part(double *point, double *state, size_t count, int to_point) {
  memcpy(to_point ? point : state, to_point ? state : point, count * sizeof(double));
}

/* Copies the coordinates between a point and the state: `to_point`, or to the state. */
static void copy_point(const target *t, double *point, int to_point) {
  wb_regression_state *const state = t->state;
  const layout *const place = &t->place;
  const size_t p = (size_t)state->columns, q = (size_t)place->each_q;
  double *const blocks = point + place->wide + (t->counts->distinct > 0), *effects = state->effects;
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

static void get_point(const target *t, double *point) {
  copy_point(t, point, 1);
  if (t->counts->distinct > 0) point[t->place.wide] = wb_log(t->state->scalars[WB_REGRESSION_DISPERSION]);
}

static void put_point(const target *t, double *point) {
  copy_point(t, point, 0);
  if (t->counts->distinct > 0) t->state->scalars[WB_REGRESSION_DISPERSION] = wb_exp(point[t->place.wide]);
}

/* Copies a packed symmetric matrix of n rows to row and column `first` of a larger one. The two may share memory. */
static void place_symmetric(int32_t n, const double *from, int32_t first, double *to) {
  for (int32_t r = n - 1; r >= 0; r--)
    memmove(to + wb_packed_row(first + r) + first, from + wb_packed_row(r), ((size_t)r + 1) * sizeof(double));
}

/* The prior's mean and precision of the coefficients and of the effects of the terms other than the main one. */
static void widen_prior(const wb_regression_prior *prior, const wb_regression_state *state, const layout *place,
                        double *mean, double *precision) {
  const int32_t p = state->columns;
  for (size_t i = 0; i < wb_packed_size(place->wide); i++) precision[i] = 0.0;
  /* The last outcome first: the upper left corner is room for each. */
  for (int32_t k = place->outcomes - 1; k >= 0; k--) {
    const int32_t own = k * place->each;
    wb_regression_prior_precision(prior, state, k, precision);
    place_symmetric(p, precision, own, precision);
    for (int32_t c = 0; c < place->each; c++) mean[own + c] = c < p ? prior->mean[c] : 0.0;
  }
  const double *covariance = state->covariances;
  for (int32_t k = 0; k < place->outcomes && place->each > p; k++)
    for (int32_t t = 0, first = k * place->each + p; t < state->grouping->count; t++) {
      const int32_t q = state->grouping->terms[t].columns, levels = state->grouping->terms[t].levels;
      const double *const tie = covariance + wb_packed_size(q);
      covariance += WB_REGRESSION_COVARIANCE(q);
      for (int32_t l = 0; t != place->main && l < levels; l++, first += q) place_symmetric(q, tie, first, precision);
    }
}

/* The precision of a block. */
static const double *tie_of(const wb_regression_state *state, const layout *place, double *tie) {
  *tie = 1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE];
  if (place->main < 0) return tie;
  memset(tie, 0, wb_packed_size(place->q) * sizeof(double));
  const double *covariance = state->covariances;
  for (int32_t k = 0; k < place->outcomes; k++)
    for (int32_t t = 0; t < state->grouping->count; t++) {
      if (t == place->main)
        place_symmetric(place->each_q, covariance + wb_packed_size(place->each_q), k * place->each_q, tie);
      covariance += WB_REGRESSION_COVARIANCE(state->grouping->terms[t].columns);
    }
  return tie;
}

/* What a pass computes: weights of the rows, for an outcome and, where weights are of pairs of outcomes, another. */
typedef struct weighing {
  int32_t weights, outcome, other;
} weighing;

/* A pass over the rows with the dispersion r. Adds what the log likelihood and the prior of log(r) have besides. */
static int pass(const target *t, double log_r, weighing what, double *statistics, double *block_statistics,
                double *log_likelihood, wb_message *message) {
  const int learned = t->counts->distinct > 0;
  const double r = learned ? wb_exp(log_r) : 0.0;
  wb_regression_parameters parameters = wb_regression_parameters_of(t->state, r);
  parameters.weights = what.weights;
  parameters.other = what.other;
  const int status = t->backend->regression->sweep(t->session, &parameters, what.outcome, 0, 0, statistics,
                                                   t->place.blocks > 0 ? block_statistics : NULL, log_likelihood,
                                                   message);
  if (learned)
    *log_likelihood += wb_regression_count_constant(t->counts, r) +
                       wb_fma(t->prior->dispersion_shape, log_r, -t->prior->dispersion_rate * r);
  return status;
}

/* The log prior of coefficients and effects given its scales, up to a constant. `room`: 2 wide. */
static double log_prior(const target *t, const double *point, double *room) {
  const int32_t wide = t->place.wide, q = t->place.q;
  const double *const blocks = point + wide + (t->counts->distinct > 0);
  double tied[WB_REGRESSION_MOST_TERM_COLUMNS], sum = 0.0;
  for (int c = 0; c < wide; c++) room[c] = point[c] - t->mean[c];
  wb_regression_apply_symmetric(wide, t->ties.precision, room, room + wide);
  for (int32_t l = 0; l < t->place.blocks; l++) {
    wb_regression_apply_symmetric(q, t->ties.tie, blocks + (size_t)l * (size_t)q, tied);
    sum += wb_regression_dot((size_t)q, blocks + (size_t)l * (size_t)q, tied);
  }
  return -0.5 * wb_regression_dot((size_t)wide, room, room + wide) - 0.5 * sum;
}

/* The log posterior density at a point, up to a constant. */
static int log_density(const target *t, double *point, double *room, double *density, wb_message *message) {
  const double log_r = t->counts->distinct > 0 ? point[t->place.wide] : 0.0;
  *density = -wb_infinity();
  if (!(log_r >= -DISPERSION_MOST && log_r <= DISPERSION_MOST)) return WB_OK;
  put_point(t, point);
  const weighing none = {WB_REGRESSION_DRAWN, 0, 0};
  const int status = pass(t, log_r, none, NULL, NULL, density, message);
  *density += log_prior(t, point, room);
  return status;
}

/* The mode ------------------------------------------------------------------------------------------------------ */

/* Working memory of the search: statistics of three passes and some points. */
typedef struct search {
  double *statistics[3], *blocks[3];
  double *point, *gradient, *step, *trial, *room;
  wb_regression_factor f;
  double density;
} search;

static double *cut(double **memory, size_t count) {
  double *const part = *memory;
  *memory += count;
  return part;
}

static size_t block_statistics(const wb_regression_quadratic *e) {
  return (size_t)e->blocks * WB_REGRESSION_LEVEL_STATISTICS(e->p, e->q);
}

static size_t search_doubles(const wb_regression_quadratic *e) {
  const size_t p = (size_t)e->p, blocks = (size_t)e->blocks, q = (size_t)e->q, size = (size_t)e->d + blocks * q;
  return 3 * (WB_REGRESSION_STATISTICS(p) + block_statistics(e)) + 4 * size + 2 * p +
         wb_regression_factor_size((size_t)e->d, blocks, q);
}

static search search_in(double *memory, const wb_regression_quadratic *e) {
  const size_t p = (size_t)e->p, size = (size_t)e->d + (size_t)e->blocks * (size_t)e->q;
  search s = {.density = 0.0};
  for (int i = 0; i < 3; i++) {
    s.statistics[i] = cut(&memory, WB_REGRESSION_STATISTICS(p));
    s.blocks[i] = cut(&memory, block_statistics(e));
  }
  s.point = cut(&memory, size);
  s.gradient = cut(&memory, size);
  s.step = cut(&memory, size);
  s.trial = cut(&memory, size);
  s.room = cut(&memory, 2 * p);
  s.f = wb_regression_factor_in(memory, e);
  return s;
}

/* The statistics of a block for one outcome: its own information, packed, that with the p coefficients (q rows), and
 * the slopes. Those of a group have another order than those of a level. */
typedef struct block_sums {
  const double *own, *cross, *slope;
} block_sums;

static block_sums sums_of(const target *t, const double *blocks, int32_t block) {
  const size_t p = (size_t)t->place.each, q = (size_t)t->place.each_q;
  const double *const sums = blocks + (size_t)block * WB_REGRESSION_LEVEL_STATISTICS(p, q);
  const double *const cross = t->place.main < 0 ? sums : sums + wb_packed_size(t->place.each_q);
  const int is_group = t->place.main < 0;
  const block_sums parts = {is_group ? sums + p : sums, cross, is_group ? sums + p + 1 : cross + q * p};
  return parts;
}

static double *block_linear(const wb_regression_quadratic *e, int32_t block) {
  return e->block + (size_t)(block + 1) * e->stride - e->q;
}

static size_t size_of(const wb_regression_quadratic *e) {
  return (size_t)e->d + (size_t)e->blocks * (size_t)e->q;
}

/* Puts `sign` times a symmetric matrix of n rows, packed, where the coordinates of one outcome meet those of an outcome
 * that is not after it: at row `row` and column `column` of a packed matrix. */
static void put_pair(int32_t n, double sign, const double *from, int32_t row, int32_t column, double *to) {
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = 0; c < (row == column ? r + 1 : n); c++)
      to[wb_packed_row(row + r) + (size_t)(column + c)] =
          sign * from[c <= r ? wb_packed_row(r) + (size_t)c : wb_packed_row(c) + (size_t)r];
}

/* Puts what a pass says about two outcomes, of which the second is not after the first, into e. */
static void put_information(const target *t, const wb_regression_quadratic *e, weighing what, double sign,
                            const double *statistics, const double *blocks) {
  const int32_t each = t->place.each, q = t->place.each_q, pair[2] = {what.outcome, what.other};
  const size_t most = (size_t)e->p + 1;
  put_pair(each, sign, statistics, pair[0] * each, pair[1] * each, e->information);
  for (int32_t b = 0; b < e->blocks; b++) {
    const block_sums sums = sums_of(t, blocks, b);
    double *const block = e->block + (size_t)b * e->stride;
    put_pair(q, sign, sums.own, pair[0] * q, pair[1] * q, block + (size_t)e->q * most);
    for (int32_t i = 0; i < 2; i++)
      for (int32_t r = 0; r < q; r++)
        for (int32_t c = 0; c < each; c++)
          block[(size_t)(pair[i] * q + r) * most + (size_t)(pair[1 - i] * each + c)] =
              sign * sums.cross[(size_t)r * (size_t)each + (size_t)c];
  }
}

/* Passes with weights for all outcomes, and what they say about coefficients and blocks. With `gradient`, weights are
 * the information: the gradient too, and how outcomes share information. */
static int inform(const target *t, const wb_regression_quadratic *e, double log_r, int32_t weights, search *s,
                  double *gradient, double *value, wb_message *message) {
  const int32_t each = t->place.each, q = t->place.each_q;
  int status = WB_OK;
  memset(e->information, 0, wb_packed_size(e->p) * sizeof(double));
  for (int32_t b = 0; b < e->blocks; b++)
    memset(e->block + (size_t)b * e->stride, 0, (e->stride - (size_t)e->q) * sizeof(double));
  for (int32_t k = 0; k < t->place.outcomes && status == WB_OK; k++) {
    const weighing alone = {weights, k, k};
    status = pass(t, log_r, alone, s->statistics[0], s->blocks[0], value, message);
    if (status != WB_OK) return status;
    put_information(t, e, alone, 1.0, s->statistics[0], s->blocks[0]);
    if (!gradient) continue;
    memcpy(gradient + (size_t)k * (size_t)each, s->statistics[0] + wb_packed_size(each), (size_t)each * sizeof(double));
    for (int32_t b = 0; b < e->blocks; b++)
      memcpy(gradient + e->d + (size_t)b * (size_t)e->q + (size_t)k * (size_t)q, sums_of(t, s->blocks[0], b).slope,
             (size_t)q * sizeof(double));
    for (int32_t other = 0; other < k && status == WB_OK; other++) {
      const weighing pair = {WB_REGRESSION_CROSS, k, other};
      double unused;
      status = pass(t, log_r, pair, s->statistics[0], s->blocks[0], &unused, message);
      if (status == WB_OK) put_information(t, e, pair, -1.0, s->statistics[0], s->blocks[0]);
    }
  }
  return status;
}

/* The information at the state, the gradient of the log likelihood, and the log posterior. The derivatives in log(r)
 * are differences over `h` on either side. */
static int measure(const target *t, const wb_regression_quadratic *e, search *s, wb_message *message) {
  const double h = 1e-3;
  const int32_t p = e->p, d = e->d, q = e->q;
  const size_t triangle = wb_packed_size(p);
  const weighing one = {WB_REGRESSION_INFORMATION, 0, 0};
  double value[3] = {0, 0, 0};
  get_point(t, s->point);
  const double log_r = d > p ? s->point[p] : 0.0;
  int status = inform(t, e, log_r, WB_REGRESSION_INFORMATION, s, s->gradient, &value[0], message);
  for (int i = 1; d > p && i < 3 && status == WB_OK; i++)
    status = pass(t, i == 1 ? log_r + h : log_r - h, one, s->statistics[i], s->blocks[i], &value[i], message);
  if (status != WB_OK) return status;
  if (d > p) {
    double *const row = e->information + wb_packed_row(p);
    for (int32_t c = 0; c < p; c++)
      row[c] = (s->statistics[2][triangle + (size_t)c] - s->statistics[1][triangle + (size_t)c]) / (2.0 * h);
    row[p] = (2.0 * value[0] - value[1] - value[2]) / (h * h);
    s->gradient[p] = (value[1] - value[2]) / (2.0 * h);
    for (int32_t b = 0; b < e->blocks; b++) {
      const double *const above = sums_of(t, s->blocks[1], b).slope;
      const double *const below = sums_of(t, s->blocks[2], b).slope;
      for (int32_t k = 0; k < q; k++)
        e->block[(size_t)b * e->stride + (size_t)k * ((size_t)p + 1) + (size_t)p] = (below[k] - above[k]) / (2.0 * h);
    }
  }
  s->density = value[0] + log_prior(t, s->point, s->room);
  return WB_OK;
}

/* The Newton step from the state, and the increase of the log posterior that it promises. If the posterior is not
 * concave here, the dispersion is taken for independent of the rest. */
static int newton_step(const target *t, const wb_regression_quadratic *e, search *s, double *promise) {
  const int32_t p = e->p;
  if (!wb_regression_factor_make(e, &t->ties, &s->f) && e->d > p) {
    double *const row = e->information + wb_packed_row(p);
    const double curvature = row[p] < 0.0 ? -row[p] : row[p];
    for (int32_t c = 0; c < p; c++) row[c] = 0.0;
    row[p] = curvature > 0.1 ? curvature : 0.1;
    for (int32_t b = 0; b < e->blocks; b++)
      for (int32_t k = 0; k < e->q; k++)
        e->block[(size_t)b * e->stride + (size_t)k * ((size_t)p + 1) + (size_t)p] = 0.0;
  }
  if (!wb_regression_factor_make(e, &t->ties, &s->f)) return 0;
  for (int32_t c = 0; c < p; c++) s->room[c] = s->point[c] - t->mean[c];
  wb_regression_apply_symmetric(p, t->ties.precision, s->room, s->step);
  for (int32_t c = 0; c < p; c++) s->step[c] = s->gradient[c] - s->step[c];
  if (e->d > p) s->step[p] = s->gradient[p];
  for (int32_t b = 0; b < e->blocks; b++) {
    const size_t at = (size_t)e->d + (size_t)b * (size_t)e->q;
    wb_regression_apply_symmetric(e->q, t->ties.tie, s->point + at, s->step + at);
    for (size_t k = at; k < at + (size_t)e->q; k++) s->step[k] = s->gradient[k] - s->step[k];
  }
  const size_t size = size_of(e);
  memcpy(s->trial, s->step, size * sizeof(double));
  wb_regression_factor_solve(e, &s->f, s->step);
  *promise = wb_regression_dot(size, s->trial, s->step);
  return *promise >= 0.0 && *promise < wb_infinity();
}

/* Newton's method with halved steps. `found`: whether it converged. The state and the search then hold the mode. */
static int climb(const target *t, const wb_regression_quadratic *e, search *s, int *found, wb_message *message) {
  const size_t size = size_of(e);
  *found = 0;
  for (int i = 0; i < 100; i++) {
    double promise, length = 1.0, density;
    int status = measure(t, e, s, message), better = 0;
    if (status != WB_OK) return status;
    if (!newton_step(t, e, s, &promise)) return WB_OK;
    if (promise < 1e-6) {
      *found = 1;
      return WB_OK;
    }
    if (e->d > e->p) {
      const double change = s->step[e->p] < 0.0 ? -s->step[e->p] : s->step[e->p];
      if (change > 2.0) length = 2.0 / change;
    }
    for (int j = 0; j < 40 && !better; j++, length *= 0.5) {
      for (size_t c = 0; c < size; c++) s->trial[c] = wb_fma(length, s->step[c], s->point[c]);
      status = log_density(t, s->trial, s->room, &density, message);
      if (status != WB_OK) return status;
      better = density > s->density;
    }
    if (!better) {
      /* The rest of the way is lost in rounding. */
      put_point(t, s->point);
      *found = promise < 1e-2;
      return WB_OK;
    }
  }
  return WB_OK;
}

/* Sets the coordinates of all outcomes but one to 0. */
static void keep_outcome(const target *t, const wb_regression_quadratic *e, int32_t outcome, double *x) {
  for (int32_t c = 0; c < e->p; c++)
    if (c / t->place.each != outcome) x[c] = 0.0;
  for (int32_t i = 0; i < e->blocks * e->q; i++)
    if (i % e->q / t->place.each_q != outcome) x[e->p + i] = 0.0;
}

/* lambda of several outcomes. Near the mode, a sweep takes the mean of the coefficients towards it as the block
 * Gauss-Seidel iteration does in which the expected information of an outcome takes the place of its information. If
 * the distance shrinks by the factor 1 - 1/lambda, draws decay as those of one outcome with this lambda do. */
static double lambda_of_outcomes(const target *t, const wb_regression_quadratic *information,
                                 const wb_regression_quadratic *expected, search *s) {
  enum { SETTLING = 30, MEASURED = 30 };
  const size_t size = size_of(information);
  double sum = 0.0;
  if (!wb_regression_factor_make(expected, &t->ties, &s->f)) return 1.0;
  for (int i = 0; i < SETTLING + MEASURED; i++) {
    for (int32_t k = 0; k < t->place.outcomes; k++) {
      wb_regression_quadratic_apply(information, &t->ties, information->p, s->step, s->trial, s->room);
      keep_outcome(t, information, k, s->trial);
      wb_regression_factor_solve(expected, &s->f, s->trial);
      for (size_t c = 0; c < size; c++) s->step[c] -= s->trial[c];
    }
    wb_regression_quadratic_apply(information, &t->ties, information->p, s->step, s->trial, s->room);
    const double length = wb_sqrt(wb_regression_dot(size, s->step, s->trial));
    if (!(length > 0.0)) return 1.0;
    for (size_t c = 0; c < size; c++) s->step[c] /= length;
    if (i >= SETTLING) sum += wb_log(length);
  }
  const double rate = wb_exp(sum / MEASURED);
  return rate < 1.0 ? 1.0 / (1.0 - rate) : wb_infinity();
}

/* lambda of ellipse.h by power iteration, from below. */
static int find_lambda(const target *t, const wb_regression_quadratic *e, search *s, double *lambda,
                       wb_message *message) {
  const double log_r = e->d > e->p ? s->point[e->p] : 0.0;
  /* log(r) has no part. */
  wb_regression_quadratic without = *e;
  without.d = e->p;
  const size_t size = size_of(&without);
  double unused;
  *lambda = 1.0;
  s->f.leading = e->p;
  if (!wb_regression_factor_make(&without, &t->ties, &s->f)) return WB_OK;
  const size_t bytes =
      wb_regression_quadratic_size((size_t)e->p, (size_t)e->blocks, (size_t)e->q) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "the mode's eigenvalue", bytes);
  const wb_regression_quadratic expected = wb_regression_quadratic_in(memory, e->p, 0, e->blocks, e->q);
  const int status = inform(t, &expected, log_r, WB_REGRESSION_EXPECTED, s, NULL, &unused, message);
  wb_stream stream = wb_stream_open(0, WB_PURPOSE_ELLIPSE, 0, 0);
  for (size_t i = 0; i < size; i++) s->step[i] = wb_draw_normal(&stream);
  if (status == WB_OK && t->place.outcomes > 1) *lambda = lambda_of_outcomes(t, &without, &expected, s);
  for (int i = 0; i < 60 && status == WB_OK && t->place.outcomes == 1; i++) {
    wb_regression_quadratic_apply(&without, &t->ties, e->p, s->step, s->trial, s->room);
    const double below = wb_regression_dot(size, s->step, s->trial);
    wb_regression_quadratic_apply(&expected, &t->ties, e->p, s->step, s->trial, s->room);
    const double ratio = wb_regression_dot(size, s->step, s->trial) / below;
    if (ratio > *lambda) *lambda = ratio;
    wb_regression_factor_solve(&without, &s->f, s->trial);
    const double unit = 1.0 / wb_sqrt(wb_regression_dot(size, s->trial, s->trial));
    for (size_t c = 0; c < size; c++) s->step[c] = unit * s->trial[c];
  }
  wb_aligned_free(memory);
  return status;
}

/* Whether moves repay their time, by the measurements of bench/regression-ellipse.R. Each block with few rows makes the
 * posterior less normal, and the moves shorter. */
static int pays(const wb_regression_quadratic *e, double lambda) {
  if (e->blocks == 0 && e->d > e->p) return 1;
  return lambda > WB_REGRESSION_TOLERABLE && (double)e->blocks <= 10.0 * lambda;
}

/* A t draw about the mode in s->point. */
static void scatter(const target *t, const wb_regression_quadratic *e, search *s, uint64_t key, double spread) {
  const size_t size = size_of(e);
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_COEFFICIENT, 0, 0);
  s->f.leading = e->d;
  if (!wb_regression_factor_make(e, &t->ties, &s->f)) return;
  const double scale =
      spread * wb_sqrt(DEGREES_OF_FREEDOM / (2.0 * wb_draw_gamma(&stream, 0.5 * DEGREES_OF_FREEDOM)));
  for (size_t i = 0; i < size; i++) s->step[i] = scale * wb_draw_normal(&stream);
  wb_regression_factor_colour(e, &s->f, s->step);
  for (size_t i = 0; i < size; i++) s->step[i] += s->point[i];
  if (e->d > e->p) {
    double *const log_r = s->step + e->p;
    if (*log_r > DISPERSION_MOST) *log_r = DISPERSION_MOST;
    if (*log_r < -DISPERSION_MOST) *log_r = -DISPERSION_MOST;
  }
  put_point(t, s->step);
}

/* The approximation at the mode, and lambda. Leaves a draw about the mode in the target's state. */
static int approximate(const target *t, const wb_regression_quadratic *e, search *s, uint64_t key, double spread,
                       double *head, wb_message *message) {
  int found = 0;
  int status = climb(t, e, s, &found, message);
  if (status != WB_OK || !found) return status;
  double lambda = 1.0, nothing[MOST_PACKED] = {0};
  /* The linear term of the approximation: information times mode, and the gradient there. */
  double *const none = s->statistics[1];
  memset(none, 0, wb_packed_size(e->p) * sizeof(double));
  const wb_regression_ties flat = {none, nothing};
  wb_regression_quadratic_apply(e, &flat, e->d, s->point, s->trial, s->room);
  for (size_t i = 0; i < size_of(e); i++) s->trial[i] += s->gradient[i];
  memcpy(e->linear, s->trial, (size_t)e->d * sizeof(double));
  for (int32_t b = 0; b < e->blocks; b++)
    memcpy(block_linear(e, b), s->trial + e->d + (size_t)b * (size_t)e->q, (size_t)e->q * sizeof(double));
  status = find_lambda(t, e, s, &lambda, message);
  head[0] = pays(e, lambda) ? WB_REGRESSION_MOVES : 0.0;
  head[1] = lambda;
  if (spread > 0.0) scatter(t, e, s, key, spread);
  return status;
}

/* Searches with the effects of all terms but the main one as coefficients of a wide design, so that the backend makes
 * the sums of all pairs of terms. `room`: for those, and for the effects of the main term. */
static int search_wide(target *t, const wb_regression_rows *rows, const wb_regression_quadratic *e, search *s,
                       uint64_t key, double spread, double *head, double *room, wb_message *message) {
  wb_regression_state *const real = t->state, wide_state = *real;
  wb_regression_wide_design design;
  int status = wb_regression_wide_open(rows, real->grouping, t->place.main, t->backend, &design, message);
  if (status != WB_OK) return status;
  wide_state.columns = t->place.each;
  wide_state.coefficients = room;
  wide_state.grouping = &design.grouping;
  wide_state.effects = room + t->place.wide;
  target wide = *t;
  wide.session = design.session;
  wide.state = &wide_state;
  wide.place.main = 0;
  copy_point(t, s->point, 1);
  copy_point(&wide, s->point, 0);
  status = approximate(&wide, e, s, key, spread, head, message);
  get_point(&wide, s->point);
  put_point(t, s->point);
  wb_regression_wide_close(&design, t->backend);
  return status;
}

int wb_regression_find_mode(const wb_backend *backend, wb_regression_session *session, const wb_regression_rows *rows,
                            const wb_regression_prior *prior, const wb_regression_counts *counts,
                            wb_regression_state *state, uint64_t key, double spread, wb_message *message) {
  const int movable = is_movable(state->columns, state->outcomes, state->grouping);
  target t = {backend, session, prior, counts, state,
              layout_of(state->columns, state->groups, state->outcomes, movable ? state->grouping : NULL), NULL,
              {NULL, NULL}};
  const size_t wide = (size_t)t.place.wide, blocks = block_coordinates(&t.place),
               size = wb_regression_quadratic_size(wide, (size_t)t.place.blocks, (size_t)t.place.q);
  wb_regression_quadratic e =
      wb_regression_quadratic_in(NULL, t.place.wide, counts->distinct > 0, t.place.blocks, t.place.q);
  const size_t bytes =
      (size + search_doubles(&e) + 2 * wide + blocks + wb_packed_size(t.place.wide)) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes), *at = memory;
  double head[WB_REGRESSION_ELLIPSE_HEAD] = {0}, tie[MOST_PACKED];
  if (!memory) return wb_out_of_memory(message, "the search for the mode", bytes);
  double *const quadratic = cut(&at, size), *const mean = cut(&at, wide), *const coordinates = cut(&at, wide + blocks),
         *const precision = cut(&at, wb_packed_size(t.place.wide));
  memset(quadratic, 0, size * sizeof(double));
  e = wb_regression_quadratic_in(quadratic, t.place.wide, counts->distinct > 0, t.place.blocks, t.place.q);
  search s = search_in(at, &e);
  widen_prior(prior, state, &t.place, mean, precision);
  t.mean = mean;
  t.ties.precision = precision;
  t.ties.tie = tie_of(state, &t.place, tie);
  const int status = t.place.each > state->columns
                         ? search_wide(&t, rows, &e, &s, key, spread, head, coordinates, message)
                         : approximate(&t, &e, &s, key, spread, head, message);
  memcpy(state->ellipse, head, sizeof head);
  if (!movable) state->ellipse[0] = 0.0;
  else memcpy(state->ellipse + WB_REGRESSION_ELLIPSE_HEAD, quadratic, size * sizeof(double));
  wb_aligned_free(memory);
  return status;
}

/* The moves ----------------------------------------------------------------------------------------------------- */

size_t wb_regression_move_room(const wb_regression_state *state) {
  if (!state->ellipse || !is_movable(state->columns, state->outcomes, state->grouping)) return 0;
  const layout place = layout_of(state->columns, state->groups, state->outcomes, state->grouping);
  const size_t wide = (size_t)place.wide, size = wide + 1 + block_coordinates(&place);
  return 5 * size + 3 * wide + wb_packed_size(place.wide) +
         wb_regression_factor_size(wide + 1, (size_t)place.blocks, (size_t)place.q);
}

int wb_regression_move(const wb_backend *backend, wb_regression_session *session, const wb_regression_prior *prior,
                       const wb_regression_counts *counts, wb_regression_state *state, uint64_t key,
                       uint32_t iteration, double *room, int *moved, wb_message *message) {
  *moved = 0;
  const int movable = state->ellipse && is_movable(state->columns, state->outcomes, state->grouping);
  const int moves = movable ? (int)state->ellipse[0] : 0;
  if (moves == 0) return WB_OK;
  target t = {backend, session, prior, counts, state,
              layout_of(state->columns, state->groups, state->outcomes, state->grouping), NULL, {NULL, NULL}};
  const wb_regression_quadratic e =
      wb_regression_quadratic_in(state->ellipse + WB_REGRESSION_ELLIPSE_HEAD, t.place.wide, counts->distinct > 0,
                                 t.place.blocks, t.place.q);
  const size_t size = size_of(&e), wide = (size_t)e.p;
  const double half_df = 0.5 * (DEGREES_OF_FREEDOM + (double)size);
  double *const centre = cut(&room, size), *const white = cut(&room, size), *const ahead = cut(&room, size),
         *const aside = cut(&room, size), *const trial = cut(&room, size), *const spare = cut(&room, 2 * wide),
         *const mean = cut(&room, wide), *const precision = cut(&room, wb_packed_size(e.p));
  wb_regression_factor f = wb_regression_factor_in(room, &e);
  double tie[MOST_PACKED];
  widen_prior(prior, state, &t.place, mean, precision);
  t.mean = mean;
  t.ties.precision = precision;
  t.ties.tie = tie_of(state, &t.place, tie);
  /* Whether there is an ellipse depends on the scales of the prior alone, which the moves do not change. */
  if (!wb_regression_factor_make(&e, &t.ties, &f)) return WB_OK;
  *moved = 1;
  wb_regression_apply_symmetric(e.p, precision, mean, centre);
  for (int32_t c = 0; c < e.p; c++) centre[c] += e.linear[c];
  if (e.d > e.p) centre[e.p] = e.linear[e.p];
  for (int32_t b = 0; b < e.blocks; b++)
    memcpy(centre + e.d + (size_t)b * (size_t)e.q, block_linear(&e, b), (size_t)e.q * sizeof(double));
  wb_regression_factor_solve(&e, &f, centre);
  get_point(&t, ahead);
  double density;
  int status = log_density(&t, ahead, spare, &density, message);
  for (size_t i = 0; i < size; i++) ahead[i] -= centre[i];
  for (int move = 0; move < moves && status == WB_OK; move++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ELLIPSE, iteration, (uint64_t)move);
    wb_regression_factor_whiten(&e, &f, ahead, white);
    const double own = wb_regression_dot(size, white, white);
    /* Given the point, the scale of a t is inverse gamma; given the scale, the other axis is normal. */
    const double scale = wb_sqrt((DEGREES_OF_FREEDOM + own) / (2.0 * wb_draw_gamma(&stream, half_df)));
    for (size_t i = 0; i < size; i++) aside[i] = scale * wb_draw_normal(&stream);
    const double other = wb_regression_dot(size, aside, aside), mixed = wb_regression_dot(size, white, aside);
    wb_regression_factor_colour(&e, &f, aside);
    const double level =
        density + half_df * wb_log1p(own / DEGREES_OF_FREEDOM) - wb_draw_exponential(&stream);
    double angle = TWO_PI * wb_stream_uniform(&stream), low = angle - TWO_PI, high = angle;
    while (status == WB_OK) {
      double sine, cosine, there;
      wb_sine_cosine(angle, &sine, &cosine);
      for (size_t i = 0; i < size; i++) trial[i] = wb_fma(cosine, ahead[i], wb_fma(sine, aside[i], centre[i]));
      status = log_density(&t, trial, spare, &there, message);
      const double square = cosine * cosine * own + 2.0 * cosine * sine * mixed + sine * sine * other;
      if (there + half_df * wb_log1p(square / DEGREES_OF_FREEDOM) > level) {
        for (size_t i = 0; i < size; i++) ahead[i] = trial[i] - centre[i];
        density = there;
        break;
      }
      if (angle < 0.0) low = angle;
      else high = angle;
      if (!(high - low > 1e-12)) {
        for (size_t i = 0; i < size; i++) trial[i] = centre[i] + ahead[i];
        put_point(&t, trial);
        break;
      }
      angle = wb_fma(high - low, wb_stream_uniform(&stream), low);
    }
  }
  return status;
}
