/* Generalised elliptical slice moves of coefficients, effects of groups and dispersion together (Murray, Adams & MacKay
 * 2010, "Elliptical slice sampling", AISTATS; with a Student t as Nishihara, Murray & Adams 2014, "Parallel MCMC with
 * generalized elliptical slice sampling", JMLR 15, 2087-2112, section 3). Centre and scale of the t are those of the
 * posterior with the quadratic approximation of the log likelihood at the mode; the prior has its present scales.
 *
 * The linear predictors are logs of means, so the dispersion r and the coefficients are nearly independent. */
#include "core/scalar.h"

#include "regression/ellipse.h"

#include "core/trigonometric.h"
#include "regression/target.h"

#define TWO_PI 6.283185307179586

size_t wb_regression_ellipse_size(const wb_regression_state *state) {
  if (!wb_regression_is_movable(state)) return WB_REGRESSION_ELLIPSE_HEAD + (size_t)state->dual_rows;
  const wb_regression_layout l = wb_regression_layout_of(state);
  return WB_REGRESSION_ELLIPSE_HEAD + wb_regression_quadratic_size((size_t)l.wide, (size_t)l.blocks, (size_t)l.q);
}

size_t wb_regression_move_room(const wb_regression_state *state) {
  if (!state->ellipse || !wb_regression_is_movable(state)) return 0;
  const wb_regression_layout place = wb_regression_layout_of(state);
  const size_t wide = (size_t)place.wide, size = wide + 1 + (size_t)place.blocks * (size_t)place.q;
  return 5 * size + 3 * wide + wb_packed_size(place.wide) +
         wb_regression_factor_size(wide + 1, (size_t)place.blocks, (size_t)place.q);
}

int wb_regression_move_along(const wb_regression_curve *curve, wb_stream *stream, double *ahead, double *white,
                             double *aside, double *trial, double *density) {
  const size_t size = curve->size;
  const double half_df = 0.5 * (WB_REGRESSION_T_FREEDOM + (double)size);
  if (curve->whiten) curve->whiten(curve->context, ahead, white);
  else memcpy(white, ahead, size * sizeof(double));
  const double own = wb_regression_dot(size, white, white);
  /* Given the point, the scale of a t is inverse gamma; given the scale, the other axis is normal. */
  const double scale = wb_sqrt((WB_REGRESSION_T_FREEDOM + own) / (2.0 * wb_draw_gamma(stream, half_df)));
  for (size_t i = 0; i < size; i++) aside[i] = scale * wb_draw_normal(stream);
  const double other = wb_regression_dot(size, aside, aside), mixed = wb_regression_dot(size, white, aside);
  if (curve->colour) curve->colour(curve->context, aside);
  const double level = *density + half_df * wb_log1p(own / WB_REGRESSION_T_FREEDOM) - wb_draw_exponential(stream);
  double angle = TWO_PI * wb_stream_uniform(stream), low = angle - TWO_PI, high = angle;
  for (;;) {
    double sine, cosine, there;
    wb_sine_cosine(angle, &sine, &cosine);
    for (size_t i = 0; i < size; i++) trial[i] = wb_fma(cosine, ahead[i], wb_fma(sine, aside[i], curve->centre[i]));
    WB_TRY(curve->log_density(curve->context, trial, &there));
    const double square = cosine * cosine * own + 2.0 * cosine * sine * mixed + sine * sine * other;
    if (there + half_df * wb_log1p(square / WB_REGRESSION_T_FREEDOM) > level) {
      for (size_t i = 0; i < size; i++) ahead[i] = trial[i] - curve->centre[i];
      *density = there;
      return WB_OK;
    }
    if (angle < 0.0) low = angle;
    else high = angle;
    if (!(high - low > 1e-12)) {
      for (size_t i = 0; i < size; i++) trial[i] = curve->centre[i] + ahead[i];
      return curve->log_density(curve->context, trial, &there);
    }
    angle = wb_fma(high - low, wb_stream_uniform(stream), low);
  }
}

typedef struct ellipse_context {
  const wb_regression_target *t;
  const wb_regression_quadratic *e;
  const wb_regression_factor *f;
  double *spare;
} ellipse_context;

static int log_density(void *context, double *point, double *density) {
  const ellipse_context *const c = context;
  return wb_regression_log_density(c->t, point, c->spare, density);
}
static void whiten(void *context, const double *x, double *w) {
  const ellipse_context *const c = context;
  wb_regression_factor_whiten(c->e, c->f, x, w);
}
static void colour(void *context, double *w) {
  const ellipse_context *const c = context;
  wb_regression_factor_colour(c->e, c->f, w);
}

int wb_regression_move(const wb_regression_chain *chain, uint32_t iteration, double *room, int *moved) {
  const wb_regression_state *const state = &chain->state;
  *moved = 0;
  const int moves = state->ellipse && wb_regression_is_movable(state) ? (int)state->ellipse[0] : 0;
  if (moves == 0) return WB_OK;
  wb_regression_target t = {.chain = *chain, .place = wb_regression_layout_of(state)};
  const wb_regression_quadratic e = wb_regression_quadratic_in(
      state->ellipse + WB_REGRESSION_ELLIPSE_HEAD, t.place.wide, chain->counts.distinct > 0, t.place.blocks, t.place.q);
  const size_t size = wb_regression_quadratic_points(&e), wide = (size_t)e.p;
  double *const centre = wb_regression_cut(&room, size), *const white = wb_regression_cut(&room, size),
                *const ahead = wb_regression_cut(&room, size), *const aside = wb_regression_cut(&room, size),
                *const trial = wb_regression_cut(&room, size), *const spare = wb_regression_cut(&room, 2 * wide),
                *const mean = wb_regression_cut(&room, wide),
                *const precision = wb_regression_cut(&room, wb_packed_size(e.p));
  wb_regression_factor f = wb_regression_factor_in(room, &e);
  wb_regression_target_tie(&t, mean, precision);
  /* Whether there is an ellipse depends on the scales of the prior alone, which the moves do not change. */
  if (!wb_regression_factor_make(&e, &t.ties, &f)) return WB_OK;
  *moved = 1;
  wb_regression_apply_symmetric(e.p, precision, mean, centre);
  for (int32_t c = 0; c < e.p; c++) centre[c] += e.linear[c];
  if (e.d > e.p) centre[e.p] = e.linear[e.p];
  for (int32_t b = 0; b < e.blocks; b++)
    memcpy(centre + e.d + (size_t)b * (size_t)e.q, wb_regression_quadratic_linear(&e, b), (size_t)e.q * sizeof(double));
  wb_regression_factor_solve(&e, &f, centre);
  wb_regression_get_point(&t, ahead);
  double density;
  WB_TRY(wb_regression_log_density(&t, ahead, spare, &density));
  for (size_t i = 0; i < size; i++) ahead[i] -= centre[i];
  ellipse_context context = {&t, &e, &f, spare};
  const wb_regression_curve curve = {size, centre, &context, log_density, whiten, colour};
  for (int move = 0; move < moves; move++) {
    wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_ELLIPSE, iteration, (uint64_t)move);
    WB_TRY(wb_regression_move_along(&curve, &stream, ahead, white, aside, trial, &density));
  }
  return WB_OK;
}
