/* Generalised elliptical slice moves of a regression's coefficients, effects of groups and dispersion together
 * (Murray, Adams & MacKay 2010, "Elliptical slice sampling", AISTATS; with a Student t as Nishihara, Murray & Adams
 * 2014, "Parallel MCMC with generalized elliptical slice sampling", JMLR 15, 2087-2112, section 3). The t has 5 degrees
 * of freedom. Its centre and scale are those of the posterior if the log likelihood is replaced by its quadratic
 * approximation at the mode; the normal prior has its present scales. A move has nothing to tune and is never rejected.
 * It costs one pass over the rows for the log likelihood at each trial.
 *
 * The linear predictors are logs of means, so the dispersion r and the coefficients are nearly independent. */
#include "core/rounding.h"

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

/* Points are vectors: coefficients, effects of the terms other than the main one, log(r) if it is learned, and the
 * blocks: intercepts of groups, or effects of the levels of the main term, which has most levels. */
typedef struct layout {
  int32_t wide;      /* coefficients and effects before log(r) */
  int32_t main;      /* -1: no term */
  int32_t blocks, q; /* q coordinates a block */
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
  if (outcomes > 1) return 0;
  if (!grouping || grouping->count == 0) return 1;
  const size_t main = term_effects(grouping, main_term(grouping)), others = wb_regression_effects(grouping) - main;
  return main <= WB_REGRESSION_MOST_MAIN_EFFECTS && others <= WB_REGRESSION_MOST_OTHER_EFFECTS &&
         main * ((size_t)columns + others) <= WB_REGRESSION_MOST_PAIRS;
}

static layout layout_of(int32_t columns, int32_t groups, const wb_regression_grouping *grouping) {
  layout l = {columns, -1, groups, 1};
  if (!grouping || grouping->count == 0) return l;
  l.main = main_term(grouping);
  l.blocks = grouping->terms[l.main].levels;
  l.q = grouping->terms[l.main].columns;
  l.wide += (int32_t)(wb_regression_effects(grouping) - term_effects(grouping, l.main));
  return l;
}

size_t wb_regression_ellipse_size(int32_t columns, int32_t groups, int32_t outcomes,
                                  const wb_regression_grouping *grouping) {
  if (!is_movable(columns, outcomes, grouping)) return WB_REGRESSION_ELLIPSE_HEAD;
  const layout l = layout_of(columns, groups, grouping);
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

/* Copies the coordinates between a point and the state: `to_point`, or to the state. */
static void copy_point(const target *t, double *point, int to_point) {
  wb_regression_state *const state = t->state;
  const size_t p = (size_t)state->columns;
  double *at = point + p, *const blocks = point + t->place.wide + (t->counts->distinct > 0);
  memcpy(to_point ? point : state->coefficients, to_point ? state->coefficients : point, p * sizeof(double));
  if (state->groups > 0)
    memcpy(to_point ? blocks : state->intercepts, to_point ? state->intercepts : blocks,
           (size_t)state->groups * sizeof(double));
  double *effects = state->effects;
  for (int32_t i = 0; t->place.main >= 0 && i < state->grouping->count; i++) {
    const size_t count = term_effects(state->grouping, i);
    double *const part = i == t->place.main ? blocks : at;
    memcpy(to_point ? part : effects, to_point ? effects : part, count * sizeof(double));
    if (i != t->place.main) at += count;
    effects += count;
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

/* The prior's mean and precision of the coefficients and of the effects of the terms other than the main one. */
static void widen_prior(const wb_regression_prior *prior, const wb_regression_state *state, const layout *place,
                        double *mean, double *precision) {
  const int32_t p = state->columns;
  wb_regression_prior_precision(prior, state, 0, precision);
  memcpy(mean, prior->mean, (size_t)p * sizeof(double));
  for (int32_t c = p; c < place->wide; c++) mean[c] = 0.0;
  for (size_t i = wb_packed_size(p); i < wb_packed_size(place->wide); i++) precision[i] = 0.0;
  const double *covariance = state->covariances;
  for (int32_t t = 0, first = p; place->wide > p && t < state->grouping->count; t++) {
    const int32_t q = state->grouping->terms[t].columns, levels = state->grouping->terms[t].levels;
    const double *const tie = covariance + wb_packed_size(q);
    covariance += WB_REGRESSION_COVARIANCE(q);
    for (int32_t l = 0; t != place->main && l < levels; l++, first += q)
      for (int32_t r = 0; r < q; r++)
        memcpy(precision + wb_packed_row(first + r) + first, tie + wb_packed_row(r), ((size_t)r + 1) * sizeof(double));
  }
}

/* The precision of a block. `inverse`: room for that of groups. */
static const double *tie_of(const wb_regression_state *state, const layout *place, double *inverse) {
  *inverse = 1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE];
  if (place->main < 0) return inverse;
  const double *covariance = state->covariances;
  for (int32_t t = 0; t < place->main; t++) covariance += WB_REGRESSION_COVARIANCE(state->grouping->terms[t].columns);
  return covariance + wb_packed_size(place->q);
}

/* A pass over the rows with the dispersion r. Adds what the log likelihood and the prior of log(r) have besides. */
static int pass(const target *t, double log_r, int32_t weights, double *statistics, double *block_statistics,
                double *log_likelihood, wb_message *message) {
  const int learned = t->counts->distinct > 0;
  const double r = learned ? wb_exp(log_r) : 0.0;
  wb_regression_parameters parameters = wb_regression_parameters_of(t->state, r);
  parameters.weights = weights;
  const int status = t->backend->regression->sweep(t->session, &parameters, 0, 0, 0, statistics,
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
  const int status = pass(t, log_r, WB_REGRESSION_DRAWN, NULL, NULL, density, message);
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

/* The statistics of a block: its own information, packed, that with the p coefficients (q rows), and the slopes. Those
 * of a group have another order than those of a level. */
typedef struct block_sums {
  const double *own, *cross, *slope;
} block_sums;

static block_sums sums_of(const target *t, const wb_regression_quadratic *e, const double *blocks, int32_t block) {
  const size_t p = (size_t)e->p, q = (size_t)e->q;
  const double *const sums = blocks + (size_t)block * WB_REGRESSION_LEVEL_STATISTICS(p, q);
  const double *const cross = t->place.main < 0 ? sums : sums + wb_packed_size(e->q);
  const int is_group = t->place.main < 0;
  const block_sums parts = {is_group ? sums + p : sums, cross, is_group ? sums + p + 1 : cross + q * p};
  return parts;
}

/* Takes what a pass with weights says about coefficients and blocks. */
static void take_information(const target *t, const wb_regression_quadratic *e, const double *statistics,
                             const double *blocks) {
  const size_t p = (size_t)e->p, most = p + 1;
  memcpy(e->information, statistics, wb_packed_size(e->p) * sizeof(double));
  for (int32_t b = 0; b < e->blocks; b++) {
    const block_sums sums = sums_of(t, e, blocks, b);
    double *const block = e->block + (size_t)b * e->stride;
    for (size_t k = 0; k < (size_t)e->q; k++) {
      memcpy(block + k * most, sums.cross + k * p, p * sizeof(double));
      block[k * most + p] = 0.0;
    }
    memcpy(block + (size_t)e->q * most, sums.own, wb_packed_size(e->q) * sizeof(double));
  }
}

static double *block_linear(const wb_regression_quadratic *e, int32_t block) {
  return e->block + (size_t)(block + 1) * e->stride - e->q;
}

static size_t size_of(const wb_regression_quadratic *e) {
  return (size_t)e->d + (size_t)e->blocks * (size_t)e->q;
}

/* The information at the state, the gradient of the log likelihood, and the log posterior. The derivatives in log(r)
 * are differences over `h` on either side. */
static int measure(const target *t, const wb_regression_quadratic *e, search *s, wb_message *message) {
  const double h = 1e-3;
  const int32_t p = e->p, d = e->d, q = e->q;
  const size_t triangle = wb_packed_size(p);
  double value[3] = {0, 0, 0};
  get_point(t, s->point);
  const double log_r = d > p ? s->point[p] : 0.0;
  int status = WB_OK;
  for (int i = 0; i < (d > p ? 3 : 1) && status == WB_OK; i++)
    status = pass(t, i == 0 ? log_r : i == 1 ? log_r + h : log_r - h, WB_REGRESSION_INFORMATION, s->statistics[i],
                  s->blocks[i], &value[i], message);
  if (status != WB_OK) return status;
  take_information(t, e, s->statistics[0], s->blocks[0]);
  memcpy(s->gradient, s->statistics[0] + triangle, (size_t)p * sizeof(double));
  for (int32_t b = 0; b < e->blocks; b++)
    memcpy(s->gradient + d + (size_t)b * (size_t)q, sums_of(t, e, s->blocks[0], b).slope, (size_t)q * sizeof(double));
  if (d > p) {
    double *const row = e->information + wb_packed_row(p);
    for (int32_t c = 0; c < p; c++)
      row[c] = (s->statistics[2][triangle + (size_t)c] - s->statistics[1][triangle + (size_t)c]) / (2.0 * h);
    row[p] = (2.0 * value[0] - value[1] - value[2]) / (h * h);
    s->gradient[p] = (value[1] - value[2]) / (2.0 * h);
    for (int32_t b = 0; b < e->blocks; b++) {
      const double *const above = sums_of(t, e, s->blocks[1], b).slope;
      const double *const below = sums_of(t, e, s->blocks[2], b).slope;
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
  const int status = pass(t, log_r, WB_REGRESSION_EXPECTED, s->statistics[1], s->blocks[1], &unused, message);
  if (status != WB_OK) return status;
  const size_t bytes =
      wb_regression_quadratic_size((size_t)e->p, (size_t)e->blocks, (size_t)e->q) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "the mode's eigenvalue", bytes);
  const wb_regression_quadratic expected = wb_regression_quadratic_in(memory, e->p, 0, e->blocks, e->q);
  take_information(t, &expected, s->statistics[1], s->blocks[1]);
  wb_stream stream = wb_stream_open(0, WB_PURPOSE_ELLIPSE, 0, 0);
  for (size_t i = 0; i < size; i++) s->step[i] = wb_draw_normal(&stream);
  for (int i = 0; i < 60; i++) {
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
  return WB_OK;
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
 * the sums of all pairs of terms. `coefficients`: room for those. */
static int search_wide(target *t, const wb_regression_rows *rows, const wb_regression_quadratic *e, search *s,
                       uint64_t key, double spread, double *head, double *coefficients, wb_message *message) {
  wb_regression_state *const real = t->state, wide_state = *real;
  wb_regression_wide_design design;
  int status = wb_regression_wide_open(rows, real->grouping, t->place.main, t->backend, &design, message);
  if (status != WB_OK) return status;
  const layout place = t->place;
  wide_state.columns = place.wide;
  wide_state.coefficients = coefficients;
  wide_state.grouping = &design.grouping;
  wide_state.effects = real->effects;
  for (int32_t i = 0; i < place.main; i++) wide_state.effects += term_effects(real->grouping, i);
  get_point(t, s->point);
  memcpy(coefficients, s->point, (size_t)place.wide * sizeof(double));
  target wide = *t;
  wide.session = design.session;
  wide.state = &wide_state;
  wide.place.main = 0;
  status = approximate(&wide, e, s, key, spread, head, message);
  /* Effects of the main term and the dispersion are in place. */
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
              layout_of(state->columns, state->groups, movable ? state->grouping : NULL), NULL, {NULL, NULL}};
  const size_t wide = (size_t)t.place.wide,
               size = wb_regression_quadratic_size(wide, (size_t)t.place.blocks, (size_t)t.place.q);
  wb_regression_quadratic e =
      wb_regression_quadratic_in(NULL, t.place.wide, counts->distinct > 0, t.place.blocks, t.place.q);
  const size_t bytes = (size + search_doubles(&e) + 2 * wide + wb_packed_size(t.place.wide)) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes), *at = memory;
  double head[WB_REGRESSION_ELLIPSE_HEAD] = {0}, inverse;
  if (!memory) return wb_out_of_memory(message, "the search for the mode", bytes);
  double *const quadratic = cut(&at, size), *const mean = cut(&at, wide), *const coefficients = cut(&at, wide),
         *const precision = cut(&at, wb_packed_size(t.place.wide));
  memset(quadratic, 0, size * sizeof(double));
  e = wb_regression_quadratic_in(quadratic, t.place.wide, counts->distinct > 0, t.place.blocks, t.place.q);
  search s = search_in(at, &e);
  widen_prior(prior, state, &t.place, mean, precision);
  t.mean = mean;
  t.ties.precision = precision;
  t.ties.tie = tie_of(state, &t.place, &inverse);
  const int status = t.place.wide > state->columns
                         ? search_wide(&t, rows, &e, &s, key, spread, head, coefficients, message)
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
  const layout place = layout_of(state->columns, state->groups, state->grouping);
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
  target t = {backend, session, prior, counts, state, layout_of(state->columns, state->groups, state->grouping),
              NULL, {NULL, NULL}};
  const wb_regression_quadratic e =
      wb_regression_quadratic_in(state->ellipse + WB_REGRESSION_ELLIPSE_HEAD, t.place.wide, counts->distinct > 0,
                                 t.place.blocks, t.place.q);
  const size_t size = size_of(&e), wide = (size_t)e.p;
  const double half_df = 0.5 * (DEGREES_OF_FREEDOM + (double)size);
  double *const centre = cut(&room, size), *const white = cut(&room, size), *const ahead = cut(&room, size),
         *const aside = cut(&room, size), *const trial = cut(&room, size), *const spare = cut(&room, 2 * wide),
         *const mean = cut(&room, wide), *const precision = cut(&room, wb_packed_size(e.p));
  wb_regression_factor f = wb_regression_factor_in(room, &e);
  double inverse;
  widen_prior(prior, state, &t.place, mean, precision);
  t.mean = mean;
  t.ties.precision = precision;
  t.ties.tie = tie_of(state, &t.place, &inverse);
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
