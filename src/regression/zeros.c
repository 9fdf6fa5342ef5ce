/* The sampler that regression/zeros.h describes. */
#include "core/scalar.h"

#include "regression/zeros.h"

#include "core/regression_row.h"
#include "numeric/memory.h"
#include "regression/draws.h"
#include "regression/ellipse.h"
#include "regression/level_moves.h"
#include "regression/quadratic.h"

typedef struct joint_law {
  const wb_regression_both *both;
  size_t p[2], d;        /* coefficients of counts and zeros, and all coordinates */
  double *tie[2];        /* the prior's precision of both, given its scales, packed */
  double *spare;         /* 2 max(p) */
  double *root;          /* of the precision of the t, packed */
  double log_likelihood; /* of the last point */
} joint_law;

static const wb_regression_chain *part_of(const wb_regression_both *both, int part) {
  return part == 0 ? &both->counts : &both->zeros;
}

static int is_learned(const wb_regression_both *both) { return both->counts.counts.distinct > 0; }

static size_t coordinates(const wb_regression_both *both) {
  return (size_t)both->counts.state.columns + (size_t)both->zeros.state.columns + (size_t)is_learned(both);
}

static int can_move(const wb_regression_both *both) {
  for (int i = 0; i < 2; i++) {
    const wb_regression_chain *const part = part_of(both, i);
    if (part->state.dual_rows > 0 || !part->data->x) return 0;
  }
  return coordinates(both) <= WB_REGRESSION_MOST_MOVED;
}

size_t wb_regression_both_ellipse(const wb_regression_both *both) {
  const int d = can_move(both) ? (int)coordinates(both) : 0;
  return 1 + (size_t)d + wb_packed_size(d);
}

static wb_regression_pair pair_of(const wb_regression_both *both) {
  const wb_regression_parameters own = wb_regression_own_parameters(&both->counts.state);
  return wb_regression_pair_of(&both->counts, &own);
}

static int complete(const wb_regression_both *both, const uint64_t *key, uint32_t iteration) {
  const wb_regression_pair pair = pair_of(both);
  return both->counts.backend->regression->complete(&pair, key, iteration, both->counts.message);
}

static int log_likelihood(const wb_regression_both *both, double *sum) {
  const wb_regression_pair pair = pair_of(both);
  WB_TRY(both->counts.backend->regression->pair_log_likelihood(&pair, sum, both->counts.message));
  if (is_learned(both)) *sum += wb_regression_count_constant(&both->counts.counts, pair.of_counts.dispersion);
  return WB_OK;
}

static void copy_point(const joint_law *law, double *point, int to_point) {
  for (int i = 0; i < 2; i++) {
    double *const own = part_of(law->both, i)->state.coefficients;
    memcpy(to_point ? point : own, to_point ? own : point, law->p[i] * sizeof(double));
    point += law->p[i];
  }
  double *const r = law->both->counts.state.scalars + WB_REGRESSION_DISPERSION;
  if (is_learned(law->both) && to_point) *point = wb_log(*r);
  else if (is_learned(law->both)) *r = wb_exp(*point);
}

static int log_density(void *context, double *point, double *density) {
  joint_law *const law = context;
  const wb_regression_chain *const counts = &law->both->counts;
  const double log_r = is_learned(law->both) ? point[law->d - 1] : 0.0;
  *density = -wb_infinity();
  if (!(log_r >= -WB_REGRESSION_DISPERSION_MOST && log_r <= WB_REGRESSION_DISPERSION_MOST)) return WB_OK;
  copy_point(law, point, 0);
  WB_TRY(log_likelihood(law->both, &law->log_likelihood));
  double sum = is_learned(law->both) ? wb_regression_log_dispersion(&counts->prior, log_r) : 0.0;
  for (int i = 0; i < 2; i++) {
    const wb_regression_prior *const prior = &part_of(law->both, i)->prior;
    double *const away = law->spare, *const tied = away + law->p[i];
    for (size_t c = 0; c < law->p[i]; c++) away[c] = point[c] - prior->mean[c];
    wb_regression_apply_symmetric((int)law->p[i], law->tie[i], away, tied);
    sum -= 0.5 * wb_regression_dot(law->p[i], away, tied);
    point += law->p[i];
  }
  sum += law->log_likelihood;
  if (sum - sum == 0.0) *density = sum;
  return WB_OK;
}

static void whiten(void *context, const double *x, double *w) {
  const joint_law *const law = context;
  wb_triangle_apply_transposed((int)law->d, law->root, x, w);
}
static void colour(void *context, double *w) {
  const joint_law *const law = context;
  wb_triangle_solve_transposed((int)law->d, law->root, w, w);
}

/* The gradient of the log posterior at a point. Other derivatives are differences over this distance. */
#define STEP 1e-3
static int score(joint_law *law, double *point, double *gradient) {
  const double log_r = point[law->d - 1];
  double above = 0.0, below = 0.0;
  for (size_t i = 0, first = 0; i < 2; first += law->p[i++]) {
    const wb_regression_chain *const chain = part_of(law->both, (int)i);
    const wb_regression_state *const state = &chain->state;
    const wb_level_passes at = {state->coefficients, state->grouping ? state->effects : state->intercepts,
                                state->statistics, state->groups > 0 ? state->group_statistics : NULL};
    const int p = state->columns;
    double *const own = gradient + first, *const away = law->spare, *const tied = away + p;
    copy_point(law, point, 0);
    WB_TRY(wb_level_pass(chain, &at, 0, WB_REGRESSION_INFORMATION));
    for (int c = 0; c < p; c++) away[c] = point[first + (size_t)c] - chain->prior.mean[c];
    wb_regression_apply_symmetric(p, law->tie[i], away, tied);
    for (int c = 0; c < p; c++) own[c] = state->statistics[wb_packed_size(p) + (size_t)c] - tied[c];
  }
  if (!is_learned(law->both)) return WB_OK;
  point[law->d - 1] = log_r + STEP;
  WB_TRY(log_density(law, point, &above));
  point[law->d - 1] = log_r - STEP;
  WB_TRY(log_density(law, point, &below));
  point[law->d - 1] = log_r;
  gradient[law->d - 1] = (above - below) / (2.0 * STEP);
  return WB_OK;
}

/* Replaces the precision by its root. Directions without information, in which the mode may be far away, get the
 * precision of a standard deviation of 5. `room`: as many numbers. */
static int make_root(wb_isa isa, int d, double *precision, double *room) {
  memcpy(room, precision, wb_packed_size(d) * sizeof(double));
  for (double ridge = 0.0; ridge<1e12; ridge = ridge> 0.0 ? 4.0 * ridge : 0.04) {
    memcpy(precision, room, wb_packed_size(d) * sizeof(double));
    for (int c = 0; c < d; c++) precision[wb_packed_at(c, c)] += ridge;
    int good = wb_regression_root(isa, d, precision) == 0;
    for (int c = 0; c < d && good; c++) good = precision[wb_packed_at(c, c)] >= 0.2;
    if (good) return 1;
  }
  return 0;
}

/* `room`: law_room() doubles. */
static size_t law_room(const wb_regression_both *both) {
  return 2 * coordinates(both) + wb_packed_size(both->counts.state.columns) + wb_packed_size(both->zeros.state.columns);
}

static joint_law law_of(const wb_regression_both *both, double *room) {
  joint_law law = {.both = both, .d = coordinates(both)};
  for (int i = 0; i < 2; i++) {
    const wb_regression_chain *const part = part_of(both, i);
    law.p[i] = (size_t)part->state.columns;
    law.tie[i] = wb_regression_cut(&room, wb_packed_size(part->state.columns));
    wb_regression_prior_precision(&part->prior, &part->state, 0, law.tie[i]);
  }
  law.spare = room;
  law.root = both->ellipse + 1 + law.d;
  return law;
}

/* Newton's method to the mode, and the ellipse there. Second derivatives are those of some steps. */
static int find_ellipse(const wb_regression_both *both) {
  enum { STEPS = 12, STEPS_OF_ONE = 4 };
  const size_t d = coordinates(both);
  double *const point = both->ellipse + 1, *step, *room, *own;
  void *const memory = WB_PARTS("the search for the mode", both->counts.message, WB_PART(step, d),
                                WB_PART(room, wb_packed_size((int)d)), WB_PART(own, law_room(both)));
  if (!memory) return WB_ERROR_MEMORY;
  joint_law law = law_of(both, own);
  int status = WB_OK, good = 1;
  copy_point(&law, point, 1);
  for (int i = 0; i <= STEPS && status == WB_OK && good; i++) {
    status = score(&law, point, step);
    for (size_t c = 0; c < d && i % STEPS_OF_ONE == 0 && status == WB_OK; c++) {
      point[c] += STEP;
      status = score(&law, point, room);
      point[c] -= STEP;
      for (size_t r = c; r < d; r++) law.root[wb_packed_row((int)r) + c] = (step[r] - room[r]) / STEP;
    }
    if (i % STEPS_OF_ONE == 0) good = make_root(both->counts.counts.isa, (int)d, law.root, room);
    wb_cholesky_solve((int)d, law.root, step, step);
    for (size_t c = 0; c < d && i < STEPS && good; c++) point[c] += wb_level_within(step[c], WB_LEVEL_MOST_STEP);
  }
  both->ellipse[0] = good;
  copy_point(&law, point, 0);
  wb_aligned_free(memory);
  return status;
}

/* The regressions know each other, and must not share random numbers. */
static void join(wb_regression_both *both) {
  wb_stream stream = wb_stream_open(both->counts.key, WB_PURPOSE_ZERO_KEY, 0, 0);
  both->zeros.key = wb_stream_bits(&stream);
  both->counts.beside = &both->zeros;
  both->zeros.beside = &both->counts;
}

int wb_regression_both_start(wb_regression_both *both, double spread) {
  enum { STEPS = 8 };
  join(both);
  both->ellipse[0] = 0.0;
  /* The EM algorithm. */
  for (int step = 1; step <= STEPS; step++) {
    WB_TRY(complete(both, NULL, 0));
    for (int i = 0; i < 2 && step == STEPS; i++) WB_TRY(wb_level_start(part_of(both, i)));
    for (int i = 0; i < 2; i++) WB_TRY(wb_regression_start(part_of(both, i), step < STEPS ? 1e-6 : spread));
    if (step == STEPS - 1 && can_move(both)) WB_TRY(find_ellipse(both));
  }
  /* The move takes the place of the moves of a regression where it changes all of its parameters. */
  for (int i = 0; i < 2 && both->ellipse[0] > 0.0; i++) {
    const wb_regression_state *const state = &part_of(both, i)->state;
    if (state->groups == 0 && !state->grouping) state->ellipse[0] = 0.0;
  }
  return WB_OK;
}

/* Excess zeros, the intercept of counts and a small dispersion explain the same zeros, on a ridge without an end: the
 * more excess zeros, the higher are the counts. Moves along it keep the mean count and about keep the zeros. log(r)
 * grows by so many times the growth of the intercept; any number leaves the posterior as it is. */
#define RIDGE_SLOPE 1.5
#define RIDGE_WIDTH 3.0

typedef struct ridge_law {
  joint_law *law;
  const double *from;
  double *to;
  int *status;
} ridge_law;

static double ridge_density(const void *what, double logit) {
  const ridge_law *const ridge = what;
  const joint_law *const law = ridge->law;
  double *const to = ridge->to, density = -wb_infinity();
  const double growth = wb_log1p(wb_exp(logit)) - wb_log1p(wb_exp(ridge->from[law->p[0]]));
  memcpy(to, ridge->from, law->d * sizeof(double));
  to[0] += growth;
  to[law->p[0]] = logit;
  if (is_learned(law->both)) to[law->d - 1] = wb_fma(RIDGE_SLOPE, growth, to[law->d - 1]);
  if (*ridge->status == WB_OK) *ridge->status = log_density(ridge->law, to, &density);
  return density;
}

/* Whether the first coefficients of both regressions are intercepts, and zeros may be of either kind. */
static int has_ridge(const wb_regression_both *both) {
  for (int i = 0; i < 2; i++) {
    const wb_regression_data *const data = part_of(both, i)->data;
    for (int64_t row = 0; row < data->rows; row++)
      if (wb_regression_scaled(data->x[row], data->center[0], data->inverse_scale[0]) != 1.0) return 0;
  }
  return !both->counts.data->zeros->hurdle;
}

static int move_along_ridge(joint_law *law, wb_stream *stream, double *point, double *trial, double *density) {
  int status = WB_OK;
  const ridge_law ridge = {law, point, trial, &status};
  const double logit = wb_slice_draw(ridge_density, &ridge, RIDGE_WIDTH, 32, WB_MOST_LOG, point[law->p[0]], stream);
  *density = ridge_density(&ridge, logit);
  memcpy(point, trial, law->d * sizeof(double));
  return status;
}

/* The moves of a sweep. `room`: 4 d + law_room() doubles. */
static int move(const wb_regression_both *both, uint32_t iteration, double *room, double *sum) {
  const size_t d = coordinates(both);
  const double *const mode = both->ellipse + 1;
  double *const ahead = wb_regression_cut(&room, d), *const white = wb_regression_cut(&room, d),
                *const aside = wb_regression_cut(&room, d), *const trial = wb_regression_cut(&room, d), density;
  joint_law law = law_of(both, room);
  copy_point(&law, ahead, 1);
  WB_TRY(log_density(&law, ahead, &density));
  const wb_regression_curve curve = {d, mode, &law, log_density, whiten, colour};
  wb_stream stream = wb_stream_open(both->counts.key, WB_PURPOSE_ZERO_MOVE, iteration, 0);
  for (int i = 0, ridge = has_ridge(both); i <= ridge; i++) {
    if (ridge) WB_TRY(move_along_ridge(&law, &stream, ahead, trial, &density));
    for (size_t c = 0; c < d; c++) ahead[c] -= mode[c];
    WB_TRY(wb_regression_move_along(&curve, &stream, ahead, white, aside, trial, &density));
    for (size_t c = 0; c < d; c++) ahead[c] += mode[c];
  }
  *sum = law.log_likelihood;
  return WB_OK;
}

static int sweep(wb_regression_both *both, wb_regression_sweeper *sweeper, uint32_t iteration, double *room,
                 double *sum) {
  const int moves[2] = {wb_level_used(&both->counts.state), wb_level_used(&both->zeros.state)};
  double unused;
  if (!(moves[0] && moves[1])) WB_TRY(complete(both, &both->counts.key, iteration));
  /* What needs the completed data comes first, and the dispersion, whose draw changes their law, after it. */
  for (int moved = 0; moved < 2; moved++)
    for (int i = 1; i >= 0; i--)
      if (moves[i] == moved) WB_TRY(wb_regression_sweep(sweeper + i, iteration, &unused));
  return both->ellipse[0] > 0.0 && can_move(both) ? move(both, iteration, room, sum) : log_likelihood(both, sum);
}

int wb_regression_both_run(wb_regression_both *both, const wb_regression_sweeps *counts,
                           const wb_regression_sweeps *zeros) {
  wb_regression_sweeper sweeper[2] = {{.memory = NULL}, {.memory = NULL}};
  double *room, sum = 0.0;
  if (!WB_PARTS("a move of the coefficients", both->counts.message,
                WB_PART(room, 4 * coordinates(both) + law_room(both))))
    return WB_ERROR_MEMORY;
  int status = WB_OK;
  join(both);
  for (int i = 0; i < 2 && status == WB_OK; i++) status = wb_regression_sweeper_open(part_of(both, i), sweeper + i);
  for (int32_t i = 0; i < counts->count && status == WB_OK; i++) {
    status = sweep(both, sweeper, counts->iteration + (uint32_t)i, room, &sum);
    wb_regression_note(counts, &both->counts, i, sum);
    wb_regression_note(zeros, &both->zeros, i, sum);
  }
  for (int i = 0; i < 2; i++) wb_regression_sweeper_close(sweeper + i);
  wb_aligned_free(room);
  return status;
}
