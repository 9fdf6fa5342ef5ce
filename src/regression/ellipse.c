/* Generalised elliptical slice moves of a regression's coefficients, groups' intercepts and dispersion together
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

#define DEGREES_OF_FREEDOM 5.0
#define TWO_PI 6.283185307179586
/* Where log(r) may lie, as in regression/hyperparameters.c. */
#define DISPERSION_MOST 30.0

/* A view of the vector of ellipse.h. Points are vectors of coefficients, log(r) if it is learned, and intercepts. */
typedef struct ellipse {
  int32_t p, d, groups;
  size_t stride; /* of a group */
  double *head, *linear, *information, *group;
} ellipse;

static ellipse ellipse_of(const wb_regression_state *state, const wb_regression_counts *counts) {
  const size_t most = (size_t)state->columns + 1;
  ellipse e = {.p = state->columns, .d = state->columns + (counts->distinct > 0), .groups = state->groups,
               .stride = most + 2, .head = state->ellipse};
  e.linear = e.head + 2;
  e.information = e.linear + most;
  e.group = e.information + most * (most + 1) / 2;
  return e;
}

/* The data, the prior, and the state that stands for the current point. */
typedef struct target {
  const wb_backend *backend;
  wb_regression_session *session;
  const wb_regression_prior *prior;
  const wb_regression_counts *counts;
  wb_regression_state *state;
  const double *precision; /* the prior's, packed */
  double tie;              /* 1 / variance of the intercepts */
} target;

static void get_point(const target *t, double *point) {
  const wb_regression_state *const state = t->state;
  double *to = point + state->columns;
  memcpy(point, state->coefficients, (size_t)state->columns * sizeof(double));
  if (t->counts->distinct > 0) *to++ = wb_log(state->scalars[WB_REGRESSION_DISPERSION]);
  if (state->groups > 0) memcpy(to, state->intercepts, (size_t)state->groups * sizeof(double));
}

static void put_point(const target *t, const double *point) {
  wb_regression_state *const state = t->state;
  const double *from = point + state->columns;
  memcpy(state->coefficients, point, (size_t)state->columns * sizeof(double));
  if (t->counts->distinct > 0) state->scalars[WB_REGRESSION_DISPERSION] = wb_exp(*from++);
  if (state->groups > 0) memcpy(state->intercepts, from, (size_t)state->groups * sizeof(double));
}

/* A pass over the rows with the dispersion r. Adds what the log likelihood and the prior of log(r) have besides. */
static int pass(const target *t, double log_r, int32_t weights, double *statistics, double *group_statistics,
                double *log_likelihood, wb_message *message) {
  const int learned = t->counts->distinct > 0;
  const double r = learned ? wb_exp(log_r) : 0.0;
  wb_regression_parameters parameters = wb_regression_parameters_of(t->state, r);
  parameters.weights = weights;
  const int status = t->backend->regression->sweep(t->session, &parameters, 0, 0, 0, statistics,
                                                   t->state->groups > 0 ? group_statistics : NULL, log_likelihood,
                                                   message);
  if (learned)
    *log_likelihood += wb_regression_count_constant(t->counts, r) +
                       wb_fma(t->prior->dispersion_shape, log_r, -t->prior->dispersion_rate * r);
  return status;
}

/* out = A x of a symmetric matrix A whose lower half is packed. */
static void apply_symmetric(int n, const double *a, const double *x, double *out) {
  for (int r = 0; r < n; r++) out[r] = 0.0;
  for (int r = 0; r < n; r++) {
    const double *const row = a + wb_packed_row(r);
    for (int c = 0; c < r; c++) {
      out[r] = wb_fma(row[c], x[c], out[r]);
      out[c] = wb_fma(row[c], x[r], out[c]);
    }
    out[r] = wb_fma(row[r], x[r], out[r]);
  }
}

static double dot(size_t n, const double *x, const double *y) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum = wb_fma(x[i], y[i], sum);
  return sum;
}

/* The log prior of coefficients and intercepts given its scales, up to a constant. `room`: 2 columns. */
static double log_prior(const target *t, const double *point, double *room) {
  const int p = t->state->columns;
  const double *const intercepts = point + p + (t->counts->distinct > 0);
  for (int c = 0; c < p; c++) room[c] = point[c] - t->prior->mean[c];
  apply_symmetric(p, t->precision, room, room + p);
  return -0.5 * dot((size_t)p, room, room + p) -
         0.5 * t->tie * dot((size_t)t->state->groups, intercepts, intercepts);
}

/* The log posterior density at a point, up to a constant. */
static int log_density(const target *t, const double *point, double *room, double *density, wb_message *message) {
  const int p = t->state->columns;
  const double log_r = t->counts->distinct > 0 ? point[p] : 0.0;
  *density = -wb_infinity();
  if (!(log_r >= -DISPERSION_MOST && log_r <= DISPERSION_MOST)) return WB_OK;
  put_point(t, point);
  const int status = pass(t, log_r, WB_REGRESSION_DRAWN, NULL, NULL, density, message);
  *density += log_prior(t, point, room);
  return status;
}

/* The factor of the precision of the first `leading` coordinates and the intercepts: L with L L' = information + prior
 * less what the intercepts explain, and the inverses of the intercepts' precisions. */
typedef struct factor {
  int32_t leading;
  double *lower;   /* packed */
  double *inverse; /* groups */
} factor;

/* Returns 0 if the precision is not positive definite. */
static int make_factor(const ellipse *e, const target *t, factor *f) {
  memcpy(f->lower, e->information, wb_packed_size(f->leading) * sizeof(double));
  for (size_t i = 0; i < wb_packed_size(e->p); i++) f->lower[i] += t->precision[i];
  for (int32_t g = 0; g < e->groups; g++) {
    const double *const group = e->group + (size_t)g * e->stride;
    const double own = group[e->p + 1] + t->tie;
    if (!(own > 0.0)) return 0;
    f->inverse[g] = 1.0 / own;
    wb_symmetric_add_outer(f->leading, -f->inverse[g], group, f->lower);
  }
  return wb_cholesky(f->leading, f->lower) == 0;
}

/* Replaces w by the point x whose squared length in this precision is |w|^2. */
static void colour(const ellipse *e, const factor *f, double *w) {
  wb_triangle_solve_transposed(f->leading, f->lower, w, w);
  for (int32_t g = 0; g < e->groups; g++) {
    double *const to = w + f->leading + g;
    const double explained = dot((size_t)f->leading, e->group + (size_t)g * e->stride, w);
    *to = wb_fma(wb_sqrt(f->inverse[g]), *to, -f->inverse[g] * explained);
  }
}

/* The inverse of colour(). */
static void whiten(const ellipse *e, const factor *f, const double *x, double *w) {
  for (int32_t g = 0; g < e->groups; g++) {
    const double explained = dot((size_t)f->leading, e->group + (size_t)g * e->stride, x);
    w[f->leading + g] = wb_fma(f->inverse[g], explained, x[f->leading + g]) / wb_sqrt(f->inverse[g]);
  }
  wb_triangle_apply_transposed(f->leading, f->lower, x, w);
}

/* Replaces b by the solution x of (information + prior) x = b. */
static void solve(const ellipse *e, const factor *f, double *b) {
  for (int32_t g = 0; g < e->groups; g++) {
    const double *const group = e->group + (size_t)g * e->stride;
    for (int32_t c = 0; c < f->leading; c++) b[c] = wb_fma(-f->inverse[g] * b[f->leading + g], group[c], b[c]);
  }
  wb_triangle_solve(f->leading, f->lower, b, b);
  wb_triangle_solve_transposed(f->leading, f->lower, b, b);
  for (int32_t g = 0; g < e->groups; g++) {
    const double *const group = e->group + (size_t)g * e->stride;
    double *const to = b + f->leading + g;
    for (int32_t c = 0; c < f->leading; c++) *to = wb_fma(-group[c], b[c], *to);
    *to *= f->inverse[g];
  }
}

/* out = (information + prior) x */
static void apply(const ellipse *e, const target *t, int32_t leading, const double *x, double *out, double *room) {
  apply_symmetric(leading, e->information, x, out);
  apply_symmetric(e->p, t->precision, x, room);
  for (int32_t c = 0; c < e->p; c++) out[c] += room[c];
  for (int32_t g = 0; g < e->groups; g++) {
    const double *const group = e->group + (size_t)g * e->stride, at = x[leading + g];
    for (int32_t c = 0; c < leading; c++) out[c] = wb_fma(group[c], at, out[c]);
    out[leading + g] = wb_fma(group[e->p + 1] + t->tie, at, dot((size_t)leading, group, x));
  }
}

/* The mode ------------------------------------------------------------------------------------------------------ */

/* Working memory of the search: statistics of three passes and some points. */
typedef struct search {
  double *statistics[3], *groups[3];
  double *point, *gradient, *step, *trial, *room;
  factor f;
  double density;
} search;

static size_t search_doubles(const wb_regression_state *state) {
  const size_t p = (size_t)state->columns, groups = (size_t)state->groups, d = p + 1;
  return 3 * (WB_REGRESSION_STATISTICS(p) + groups * WB_REGRESSION_GROUP_STATISTICS(p)) + 4 * (d + groups) + 2 * p +
         d * (d + 1) / 2 + groups + wb_packed_size(state->columns);
}

static double *cut(double **memory, size_t count) {
  double *const part = *memory;
  *memory += count;
  return part;
}

static search search_in(double *memory, const ellipse *e, double **precision) {
  const size_t p = (size_t)e->p, groups = (size_t)e->groups, size = (size_t)e->d + groups;
  search s = {.f = {.leading = e->d}};
  for (int i = 0; i < 3; i++) {
    s.statistics[i] = cut(&memory, WB_REGRESSION_STATISTICS(p));
    s.groups[i] = cut(&memory, groups * WB_REGRESSION_GROUP_STATISTICS(p));
  }
  s.point = cut(&memory, size);
  s.gradient = cut(&memory, size);
  s.step = cut(&memory, size);
  s.trial = cut(&memory, size);
  s.room = cut(&memory, 2 * p);
  s.f.lower = cut(&memory, wb_packed_size(e->d));
  s.f.inverse = cut(&memory, groups);
  *precision = cut(&memory, wb_packed_size(e->p));
  return s;
}

/* Takes what a pass with weights says about coefficients and intercepts into the ellipse. */
static void take_information(const ellipse *e, const double *statistics, const double *groups) {
  memcpy(e->information, statistics, wb_packed_size(e->p) * sizeof(double));
  for (int32_t g = 0; g < e->groups; g++) {
    const double *const sums = groups + (size_t)g * WB_REGRESSION_GROUP_STATISTICS(e->p);
    double *const group = e->group + (size_t)g * e->stride;
    memcpy(group, sums, (size_t)e->p * sizeof(double));
    group[e->p] = 0.0;
    group[e->p + 1] = sums[e->p];
  }
}

/* The information at the state, the gradient of the log likelihood, and the log posterior. The derivatives in log(r)
 * are differences over `h` on either side. */
static int measure(const target *t, const ellipse *e, search *s, wb_message *message) {
  const double h = 1e-3;
  const int32_t p = e->p, d = e->d;
  const size_t triangle = wb_packed_size(p), size = WB_REGRESSION_GROUP_STATISTICS(p);
  double value[3] = {0, 0, 0};
  get_point(t, s->point);
  const double log_r = d > p ? s->point[p] : 0.0;
  int status = WB_OK;
  for (int i = 0; i < (d > p ? 3 : 1) && status == WB_OK; i++)
    status = pass(t, i == 0 ? log_r : i == 1 ? log_r + h : log_r - h, WB_REGRESSION_INFORMATION, s->statistics[i],
                  s->groups[i], &value[i], message);
  if (status != WB_OK) return status;
  take_information(e, s->statistics[0], s->groups[0]);
  memcpy(s->gradient, s->statistics[0] + triangle, (size_t)p * sizeof(double));
  for (int32_t g = 0; g < e->groups; g++) s->gradient[d + g] = s->groups[0][(size_t)g * size + (size_t)p + 1];
  if (d > p) {
    double *const row = e->information + wb_packed_row(p);
    for (int32_t c = 0; c < p; c++)
      row[c] = (s->statistics[2][triangle + (size_t)c] - s->statistics[1][triangle + (size_t)c]) / (2.0 * h);
    row[p] = (2.0 * value[0] - value[1] - value[2]) / (h * h);
    s->gradient[p] = (value[1] - value[2]) / (2.0 * h);
    for (int32_t g = 0; g < e->groups; g++) {
      const size_t at = (size_t)g * size + (size_t)p + 1;
      e->group[(size_t)g * e->stride + (size_t)p] = (s->groups[2][at] - s->groups[1][at]) / (2.0 * h);
    }
  }
  s->density = value[0] + log_prior(t, s->point, s->room);
  return WB_OK;
}

/* The Newton step from the state, and the increase of the log posterior that it promises. If the posterior is not
 * concave here, the dispersion is taken for independent of the rest. */
static int newton_step(const target *t, const ellipse *e, search *s, double *promise) {
  const int32_t p = e->p;
  if (!make_factor(e, t, &s->f) && e->d > p) {
    double *const row = e->information + wb_packed_row(p);
    const double curvature = row[p] < 0.0 ? -row[p] : row[p];
    for (int32_t c = 0; c < p; c++) row[c] = 0.0;
    row[p] = curvature > 0.1 ? curvature : 0.1;
    for (int32_t g = 0; g < e->groups; g++) e->group[(size_t)g * e->stride + (size_t)p] = 0.0;
  }
  if (!make_factor(e, t, &s->f)) return 0;
  for (int32_t c = 0; c < p; c++) s->room[c] = s->point[c] - t->prior->mean[c];
  apply_symmetric(p, t->precision, s->room, s->step);
  for (int32_t c = 0; c < p; c++) s->step[c] = s->gradient[c] - s->step[c];
  if (e->d > p) s->step[p] = s->gradient[p];
  for (int32_t g = e->d; g < e->d + e->groups; g++) s->step[g] = wb_fma(-t->tie, s->point[g], s->gradient[g]);
  const size_t size = (size_t)e->d + (size_t)e->groups;
  memcpy(s->trial, s->step, size * sizeof(double));
  solve(e, &s->f, s->step);
  *promise = dot(size, s->trial, s->step);
  return *promise >= 0.0 && *promise < wb_infinity();
}

/* Newton's method with halved steps. `found`: whether it converged. The state and the search then hold the mode. */
static int climb(const target *t, const ellipse *e, search *s, int *found, wb_message *message) {
  const size_t size = (size_t)e->d + (size_t)e->groups;
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
static int find_lambda(const target *t, const ellipse *e, search *s, double *lambda, wb_message *message) {
  const size_t size = (size_t)e->p + (size_t)e->groups, most = (size_t)e->p + 1;
  const double log_r = e->d > e->p ? s->point[e->p] : 0.0;
  double unused;
  *lambda = 1.0;
  s->f.leading = e->p;
  if (!make_factor(e, t, &s->f)) return WB_OK;
  const int status =
      pass(t, log_r, WB_REGRESSION_EXPECTED, s->statistics[1], s->groups[1], &unused, message);
  if (status != WB_OK) return status;
  const size_t bytes = (most * (most + 1) / 2 + (size_t)e->groups * e->stride) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "the mode's eigenvalue", bytes);
  ellipse expected = *e;
  expected.information = memory;
  expected.group = memory + most * (most + 1) / 2;
  take_information(&expected, s->statistics[1], s->groups[1]);
  wb_stream stream = wb_stream_open(0, WB_PURPOSE_ELLIPSE, 0, 0);
  for (size_t i = 0; i < size; i++) s->step[i] = wb_draw_normal(&stream);
  for (int i = 0; i < 60; i++) {
    apply(e, t, e->p, s->step, s->trial, s->room);
    const double below = dot(size, s->step, s->trial);
    apply(&expected, t, e->p, s->step, s->trial, s->room);
    const double ratio = dot(size, s->step, s->trial) / below;
    if (ratio > *lambda) *lambda = ratio;
    solve(e, &s->f, s->trial);
    const double unit = 1.0 / wb_sqrt(dot(size, s->trial, s->trial));
    for (size_t c = 0; c < size; c++) s->step[c] = unit * s->trial[c];
  }
  wb_aligned_free(memory);
  return WB_OK;
}

/* Whether moves repay their time, by the measurements of bench/regression-ellipse.R. Each group with few rows makes the
 * posterior less normal, and the moves shorter. */
static int pays(const ellipse *e, double lambda) {
  if (e->groups == 0 && e->d > e->p) return 1;
  return lambda > WB_REGRESSION_TOLERABLE && (double)e->groups <= 10.0 * lambda;
}

/* A t draw about the mode in s->point. */
static void scatter(const target *t, const ellipse *e, search *s, uint64_t key, double spread) {
  const size_t size = (size_t)e->d + (size_t)e->groups;
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_COEFFICIENT, 0, 0);
  s->f.leading = e->d;
  if (!make_factor(e, t, &s->f)) return;
  const double scale =
      spread * wb_sqrt(DEGREES_OF_FREEDOM / (2.0 * wb_draw_gamma(&stream, 0.5 * DEGREES_OF_FREEDOM)));
  for (size_t i = 0; i < size; i++) s->step[i] = scale * wb_draw_normal(&stream);
  colour(e, &s->f, s->step);
  for (size_t i = 0; i < size; i++) s->step[i] += s->point[i];
  if (e->d > e->p) {
    double *const log_r = s->step + e->p;
    if (*log_r > DISPERSION_MOST) *log_r = DISPERSION_MOST;
    if (*log_r < -DISPERSION_MOST) *log_r = -DISPERSION_MOST;
  }
  put_point(t, s->step);
}

int wb_regression_find_mode(const wb_backend *backend, wb_regression_session *session,
                            const wb_regression_prior *prior, const wb_regression_counts *counts,
                            wb_regression_state *state, uint64_t key, double spread, wb_message *message) {
  const ellipse e = ellipse_of(state, counts);
  const size_t bytes = search_doubles(state) * sizeof(double);
  memset(state->ellipse, 0, WB_REGRESSION_ELLIPSE(state->columns, state->groups) * sizeof(double));
  double *const memory = wb_aligned_malloc(bytes), *precision;
  if (!memory) return wb_out_of_memory(message, "the search for the mode", bytes);
  search s = search_in(memory, &e, &precision);
  wb_regression_prior_precision(prior, state, 0, precision);
  const target t = {backend, session, prior, counts, state, precision,
                    1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE]};
  int found = 0;
  int status = climb(&t, &e, &s, &found, message);
  if (status == WB_OK && found) {
    const size_t size = (size_t)e.d + (size_t)e.groups;
    double lambda = 1.0;
    /* The linear term of the approximation: information times mode, and the gradient there. */
    memset(precision, 0, wb_packed_size(e.p) * sizeof(double));
    const target flat = {backend, session, prior, counts, state, precision, 0.0};
    apply(&e, &flat, e.d, s.point, s.trial, s.room);
    for (size_t i = 0; i < size; i++) s.trial[i] += s.gradient[i];
    memcpy(e.linear, s.trial, (size_t)e.d * sizeof(double));
    for (int32_t g = 0; g < e.groups; g++) e.group[(size_t)g * e.stride + (size_t)e.p + 2] = s.trial[e.d + g];
    wb_regression_prior_precision(prior, state, 0, precision);
    status = find_lambda(&t, &e, &s, &lambda, message);
    e.head[0] = pays(&e, lambda) ? WB_REGRESSION_MOVES : 0.0;
    e.head[1] = lambda;
    if (spread > 0.0) scatter(&t, &e, &s, key, spread);
  }
  wb_aligned_free(memory);
  return status;
}

/* The moves ----------------------------------------------------------------------------------------------------- */

size_t wb_regression_move_room(const wb_regression_state *state) {
  const size_t p = (size_t)state->columns, groups = (size_t)state->groups, size = p + 1 + groups;
  return 5 * size + 2 * p + (p + 1) * (p + 2) / 2 + groups + wb_packed_size(state->columns);
}

int wb_regression_move(const wb_backend *backend, wb_regression_session *session, const wb_regression_prior *prior,
                       const wb_regression_counts *counts, wb_regression_state *state, uint64_t key,
                       uint32_t iteration, double *room, int *moved, wb_message *message) {
  *moved = 0;
  if (!state->ellipse) return WB_OK;
  const ellipse e = ellipse_of(state, counts);
  const int moves = (int)e.head[0];
  const size_t size = (size_t)e.d + (size_t)e.groups;
  const double half_df = 0.5 * (DEGREES_OF_FREEDOM + (double)size);
  double *const centre = cut(&room, size), *const white = cut(&room, size), *const ahead = cut(&room, size),
         *const aside = cut(&room, size), *const trial = cut(&room, size), *const spare = cut(&room, 2 * (size_t)e.p);
  factor f = {e.d, cut(&room, wb_packed_size(e.d)), cut(&room, (size_t)e.groups)};
  double *const precision = cut(&room, wb_packed_size(e.p));
  if (moves == 0) return WB_OK;
  wb_regression_prior_precision(prior, state, 0, precision);
  const target t = {backend, session, prior, counts, state, precision,
                    1.0 / state->scalars[WB_REGRESSION_GROUP_VARIANCE]};
  /* Whether there is an ellipse depends on the scales of the prior alone, which the moves do not change. */
  if (!make_factor(&e, &t, &f)) return WB_OK;
  *moved = 1;
  apply_symmetric(e.p, precision, prior->mean, centre);
  for (int32_t c = 0; c < e.p; c++) centre[c] += e.linear[c];
  if (e.d > e.p) centre[e.p] = e.linear[e.p];
  for (int32_t g = 0; g < e.groups; g++) centre[e.d + g] = e.group[(size_t)g * e.stride + (size_t)e.p + 2];
  solve(&e, &f, centre);
  get_point(&t, ahead);
  double density;
  int status = log_density(&t, ahead, spare, &density, message);
  for (size_t i = 0; i < size; i++) ahead[i] -= centre[i];
  for (int move = 0; move < moves && status == WB_OK; move++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ELLIPSE, iteration, (uint64_t)move);
    whiten(&e, &f, ahead, white);
    const double own = dot(size, white, white);
    /* Given the point, the scale of a t is inverse gamma; given the scale, the other axis is normal. */
    const double scale = wb_sqrt((DEGREES_OF_FREEDOM + own) / (2.0 * wb_draw_gamma(&stream, half_df)));
    for (size_t i = 0; i < size; i++) aside[i] = scale * wb_draw_normal(&stream);
    const double other = dot(size, aside, aside), mixed = dot(size, white, aside);
    colour(&e, &f, aside);
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
