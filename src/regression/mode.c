/* The mode of a regression's posterior by Newton's method, the quadratic approximation of the log likelihood there, and
 * lambda, which says whether moves pay: see regression/ellipse.h. */
#include "core/scalar.h"

#include "regression/ellipse.h"

#include "core/regression_level.h"
#include "numeric/memory.h"
#include "regression/target.h"
#include "regression/wide_design.h"

/* Working memory of the search: statistics of three passes and some points. */
typedef struct search {
  double *statistics[3], *blocks[3];
  double *point, *gradient, *step, *trial, *room;
  wb_regression_factor f;
  double density;
} search;

static wb_regression_level sums_of(const wb_regression_target *t, const double *blocks, int32_t block) {
  return wb_regression_level_at(t->place.main < 0, t->place.each, t->place.each_q, blocks, block);
}

/* Puts what a pass says about an outcome and the same or an earlier one into e. */
static void put_information(const wb_regression_target *t, const wb_regression_quadratic *e,
                            wb_regression_weighing what, double sign, const double *statistics, const double *blocks) {
  const int32_t each = t->place.each, q = t->place.each_q, pair[2] = {what.outcome, what.other};
  const size_t most = (size_t)e->p + 1;
  wb_regression_put_pair(each, sign, statistics, pair[0] * each, pair[1] * each, e->information);
  for (int32_t b = 0; b < e->blocks; b++) {
    const wb_regression_level sums = sums_of(t, blocks, b);
    double *const block = e->block + (size_t)b * e->stride;
    wb_regression_put_pair(q, sign, sums.own, pair[0] * q, pair[1] * q, block + (size_t)e->q * most);
    for (int32_t i = 0; i < 2; i++)
      for (int32_t r = 0; r < q; r++)
        for (int32_t c = 0; c < each; c++)
          block[(size_t)(pair[i] * q + r) * most + (size_t)(pair[1 - i] * each + c)] =
              sign * sums.cross[(size_t)r * (size_t)each + (size_t)c];
  }
}

/* Passes with weights for all outcomes, and what they say about coefficients and blocks. With `gradient`, weights are
 * the information: the gradient too, and how outcomes share information. */
static int inform(const wb_regression_target *t, const wb_regression_quadratic *e, double log_r, int32_t weights,
                  search *s, double *gradient, double *value) {
  const int32_t each = t->place.each, q = t->place.each_q;
  memset(e->information, 0, wb_packed_size(e->p) * sizeof(double));
  for (int32_t b = 0; b < e->blocks; b++)
    memset(e->block + (size_t)b * e->stride, 0, (e->stride - (size_t)e->q) * sizeof(double));
  for (int32_t k = 0; k < t->place.outcomes; k++) {
    const wb_regression_weighing alone = {weights, k, k};
    WB_TRY(wb_regression_pass(t, log_r, alone, s->statistics[0], s->blocks[0], value));
    put_information(t, e, alone, 1.0, s->statistics[0], s->blocks[0]);
    if (!gradient) continue;
    memcpy(gradient + (size_t)k * (size_t)each, s->statistics[0] + wb_packed_size(each), (size_t)each * sizeof(double));
    for (int32_t b = 0; b < e->blocks; b++)
      memcpy(gradient + e->d + (size_t)b * (size_t)e->q + (size_t)k * (size_t)q, sums_of(t, s->blocks[0], b).slope,
             (size_t)q * sizeof(double));
    for (int32_t other = 0; other < k; other++) {
      const wb_regression_weighing pair = {WB_REGRESSION_CROSS, k, other};
      double unused;
      WB_TRY(wb_regression_pass(t, log_r, pair, s->statistics[0], s->blocks[0], &unused));
      put_information(t, e, pair, -1.0, s->statistics[0], s->blocks[0]);
    }
  }
  return WB_OK;
}

/* The information at the state, the gradient of the log likelihood, and the log posterior. Derivatives in log(r) are
 * differences over `h` on either side: a smaller one would lose them in rounding if r is large. */
static int measure(const wb_regression_target *t, const wb_regression_quadratic *e, search *s) {
  const double deviation = wb_sqrt(2.0 / (t->chain.counts.rows + 2.0)), h = 0.1 * deviation;
  const int32_t p = e->p, d = e->d, q = e->q;
  const size_t triangle = wb_packed_size(p);
  const wb_regression_weighing one = {WB_REGRESSION_INFORMATION, 0, 0};
  double value[3] = {0, 0, 0};
  wb_regression_get_point(t, s->point);
  const double log_r = d > p ? s->point[p] : 0.0;
  WB_TRY(inform(t, e, log_r, WB_REGRESSION_INFORMATION, s, s->gradient, &value[0]));
  for (int i = 1; d > p && i < 3; i++)
    WB_TRY(wb_regression_pass(t, i == 1 ? log_r + h : log_r - h, one, s->statistics[i], s->blocks[i], value + i));
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
  s->density = value[0] + wb_regression_log_prior(t, s->point, s->room);
  return WB_OK;
}

/* The Newton step from the state, and the increase of the log posterior that it promises. If the posterior is not
 * concave here, the dispersion is taken for independent of the rest. */
static int newton_step(const wb_regression_target *t, const wb_regression_quadratic *e, search *s, double *promise) {
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
  const size_t size = wb_regression_quadratic_points(e);
  memcpy(s->trial, s->step, size * sizeof(double));
  wb_regression_factor_solve(e, &s->f, s->step);
  *promise = wb_regression_dot(size, s->trial, s->step);
  return *promise >= 0.0 && *promise < wb_infinity();
}

/* Newton's method with halved steps. `found`: whether it converged. The state and the search then hold the mode. */
static int climb(const wb_regression_target *t, const wb_regression_quadratic *e, search *s, int *found) {
  const size_t size = wb_regression_quadratic_points(e);
  *found = 0;
  for (int i = 0; i < 100; i++) {
    double promise, length = 1.0, density;
    int better = 0;
    WB_TRY(measure(t, e, s));
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
      WB_TRY(wb_regression_log_density(t, s->trial, s->room, &density));
      better = density > s->density;
    }
    if (!better) {
      /* The rest of the way is lost in rounding. */
      wb_regression_put_point(t, s->point);
      *found = promise < 1e-2;
      return WB_OK;
    }
  }
  return WB_OK;
}

static void keep_outcome(const wb_regression_target *t, const wb_regression_quadratic *e, int32_t outcome, double *x) {
  for (int32_t c = 0; c < e->p; c++)
    if (c / t->place.each != outcome) x[c] = 0.0;
  for (int32_t i = 0; i < e->blocks * e->q; i++)
    if (i % e->q / t->place.each_q != outcome) x[e->p + i] = 0.0;
}

/* lambda of several outcomes. Near the mode, a sweep takes the mean of the coefficients towards it as the block
 * Gauss-Seidel iteration does in which the expected information of an outcome takes the place of its information. If
 * the distance shrinks by the factor 1 - 1/lambda, draws decay as the draws of one outcome with this lambda do. */
static double lambda_of_outcomes(const wb_regression_target *t, const wb_regression_quadratic *information,
                                 const wb_regression_quadratic *expected, search *s) {
  enum { SETTLING = 30, MEASURED = 30 };
  const size_t size = wb_regression_quadratic_points(information);
  double sum = 0.0;
  if (!wb_regression_factor_make(expected, &t->ties, &s->f)) return 1.0;
  for (int i = 0; i < SETTLING + MEASURED; i++) {
    for (int32_t k = 0; k < t->place.outcomes; k++) {
      wb_regression_quadratic_apply(information, &t->ties, information->p, s->step, s->trial, s->room);
      keep_outcome(t, information, k, s->trial);
      wb_regression_factor_solve(expected, &s->f, s->trial);
      keep_outcome(t, information, k, s->trial);
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
static int find_lambda(const wb_regression_target *t, const wb_regression_quadratic *e, search *s, double *lambda) {
  const double log_r = e->d > e->p ? s->point[e->p] : 0.0;
  /* log(r) has no part. */
  wb_regression_quadratic without = *e;
  without.d = e->p;
  const size_t size = wb_regression_quadratic_points(&without);
  double unused;
  *lambda = 1.0;
  s->f.leading = e->p;
  if (!wb_regression_factor_make(&without, &t->ties, &s->f)) return WB_OK;
  double *memory;
  if (!WB_PARTS("the mode's eigenvalue", t->chain.message,
                WB_PART(memory, wb_regression_quadratic_size((size_t)e->p, (size_t)e->blocks, (size_t)e->q))))
    return WB_ERROR_MEMORY;
  const wb_regression_quadratic expected = wb_regression_quadratic_in(memory, e->p, 0, e->blocks, e->q);
  const int status = inform(t, &expected, log_r, WB_REGRESSION_EXPECTED, s, NULL, &unused);
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

/* Whether moves repay their time (bench/regression-ellipse.R): blocks with few rows make them shorter. */
static int pays(const wb_regression_target *t, const wb_regression_quadratic *e, double lambda) {
  if (e->blocks == 0 && (e->d > e->p || t->chain.data->poisson)) return 1;
  return lambda > WB_REGRESSION_TOLERABLE && (double)e->blocks <= 10.0 * lambda;
}

/* A t draw about the mode in s->point. */
static void scatter(const wb_regression_target *t, const wb_regression_quadratic *e, search *s, double spread) {
  const size_t size = wb_regression_quadratic_points(e);
  wb_stream stream = wb_stream_open(t->chain.key, WB_PURPOSE_COEFFICIENT, 0, 0);
  s->f.leading = e->d;
  if (!wb_regression_factor_make(e, &t->ties, &s->f)) return;
  const double scale =
      spread * wb_sqrt(WB_REGRESSION_T_FREEDOM / (2.0 * wb_draw_gamma(&stream, 0.5 * WB_REGRESSION_T_FREEDOM)));
  for (size_t i = 0; i < size; i++) s->step[i] = scale * wb_draw_normal(&stream);
  wb_regression_factor_colour(e, &s->f, s->step);
  for (size_t i = 0; i < size; i++) s->step[i] += s->point[i];
  if (e->d > e->p) s->step[e->p] = wb_level_within(s->step[e->p], WB_REGRESSION_DISPERSION_MOST);
  wb_regression_put_point(t, s->step);
}

/* Counts that vary like Poisson counts leave log(r) a long tail on the right. Its scale becomes half the distance
 * over which the log density falls by 2 there, if that is more than the curvature says. The state stays the mode. */
static int widen_dispersion(const wb_regression_target *t, const wb_regression_quadratic *e, search *s) {
  const int32_t p = e->p;
  double *const row = e->information + wb_packed_row(p), curvature = row[p];
  double half = 1.0 / wb_sqrt(curvature), density = wb_infinity();
  for (int i = 0; i < 20; i++) {
    memcpy(s->trial, s->point, wb_regression_quadratic_points(e) * sizeof(double));
    s->trial[p] += 2.0 * half;
    WB_TRY(wb_regression_log_density(t, s->trial, s->room, &density));
    if (!(density > s->density - 2.0)) break;
    half *= 1.25;
  }
  wb_regression_put_point(t, s->point);
  const double ratio = 1.0 / (half * wb_sqrt(curvature));
  for (int32_t c = 0; c < p; c++) row[c] *= ratio;
  row[p] = curvature * ratio * ratio;
  for (int32_t b = 0; b < e->blocks; b++)
    for (int32_t k = 0; k < e->q; k++)
      e->block[(size_t)b * e->stride + (size_t)k * ((size_t)p + 1) + (size_t)p] *= ratio;
  return WB_OK;
}

static int approximate(const wb_regression_target *t, const wb_regression_quadratic *e, search *s, double spread,
                       double *head) {
  int found = 0;
  WB_TRY(climb(t, e, s, &found));
  if (found && e->d > e->p) WB_TRY(widen_dispersion(t, e, s));
  if (!found) return WB_OK;
  double lambda = 1.0, nothing[WB_REGRESSION_MOST_PACKED] = {0};
  /* The linear term of the approximation: information times mode, and the gradient there. */
  double *const none = s->statistics[1];
  memset(none, 0, wb_packed_size(e->p) * sizeof(double));
  const wb_regression_ties flat = {none, nothing, t->ties.isa};
  wb_regression_quadratic_apply(e, &flat, e->d, s->point, s->trial, s->room);
  for (size_t i = 0; i < wb_regression_quadratic_points(e); i++) s->trial[i] += s->gradient[i];
  memcpy(e->linear, s->trial, (size_t)e->d * sizeof(double));
  for (int32_t b = 0; b < e->blocks; b++)
    memcpy(wb_regression_quadratic_linear(e, b), s->trial + e->d + (size_t)b * (size_t)e->q,
           (size_t)e->q * sizeof(double));
  WB_TRY(find_lambda(t, e, s, &lambda));
  head[0] = pays(t, e, lambda) ? WB_REGRESSION_MOVES : 0.0;
  head[1] = lambda;
  if (spread > 0.0) scatter(t, e, s, spread);
  return WB_OK;
}

/* Searches with the effects of all terms but the main one as coefficients of a wide design, for the sums of all
 * pairs of terms. `room`: for those, and for the effects of the main term. */
static int search_wide(const wb_regression_target *t, const wb_regression_quadratic *e, search *s, double spread,
                       double *head, double *room) {
  wb_regression_target wide = *t;
  wb_regression_wide_design design;
  WB_TRY(wb_regression_wide_open(&t->chain, t->place.main, &design));
  wide.chain.session = design.session;
  wide.chain.state.columns = t->place.each;
  wide.chain.state.coefficients = room;
  wide.chain.state.grouping = &design.grouping;
  wide.chain.state.effects = room + t->place.wide;
  wide.place.main = 0;
  wb_regression_copy_point(t, s->point, 1);
  wb_regression_copy_point(&wide, s->point, 0);
  int status = approximate(&wide, e, s, spread, head);
  wb_regression_get_point(&wide, s->point);
  wb_regression_put_point(t, s->point);
  wb_regression_wide_close(&design, t->chain.backend);
  return status;
}

int wb_regression_find_mode(const wb_regression_chain *chain, double spread) {
  const wb_regression_state *const state = &chain->state;
  const int movable = wb_regression_is_movable(state);
  const int learned = chain->counts.distinct > 0;
  wb_regression_target t = {.chain = *chain, .place = wb_regression_layout_of(state)};
  const wb_regression_layout *const place = &t.place;
  const size_t wide = (size_t)place->wide, blocks = (size_t)place->blocks, q = (size_t)place->q,
               points = wide + (size_t)learned + blocks * q, size = wb_regression_quadratic_size(wide, blocks, q),
               statistics = WB_REGRESSION_STATISTICS(wide), sums = blocks * WB_REGRESSION_LEVEL_STATISTICS(wide, q);
  double *quadratic, *mean, *coordinates, *precision, *factor, head[WB_REGRESSION_ELLIPSE_HEAD] = {0};
  search s = {.density = 0.0};
  void *const memory = WB_PARTS(
      "the search for the mode", chain->message, WB_CLEARED(quadratic, size), WB_PART(mean, wide),
      WB_PART(coordinates, wide + blocks * q), WB_PART(precision, wb_packed_size(place->wide)),
      WB_PART(s.statistics[0], statistics), WB_PART(s.statistics[1], statistics), WB_PART(s.statistics[2], statistics),
      WB_PART(s.blocks[0], sums), WB_PART(s.blocks[1], sums), WB_PART(s.blocks[2], sums), WB_PART(s.point, points),
      WB_PART(s.gradient, points), WB_PART(s.step, points), WB_PART(s.trial, points), WB_PART(s.room, 2 * wide),
      WB_PART(factor, wb_regression_factor_size(wide + (size_t)learned, blocks, q)));
  if (!memory) return WB_ERROR_MEMORY;
  const wb_regression_quadratic e =
      wb_regression_quadratic_in(quadratic, place->wide, learned, place->blocks, place->q);
  s.f = wb_regression_factor_in(factor, &e);
  wb_regression_target_tie(&t, mean, precision);
  const int status = place->each > state->columns ? search_wide(&t, &e, &s, spread, head, coordinates)
                                                  : approximate(&t, &e, &s, spread, head);
  memcpy(state->ellipse, head, sizeof head);
  if (!movable) state->ellipse[0] = 0.0;
  else memcpy(state->ellipse + WB_REGRESSION_ELLIPSE_HEAD, quadratic, size * sizeof(double));
  wb_aligned_free(memory);
  return status;
}
