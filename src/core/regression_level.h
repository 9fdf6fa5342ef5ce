/* The effects of one level of a grouping term given everything else: about their mean and their precision. Moves of
 * coefficients and covariances that hold effects in these units mix where events are few (regression/level_moves.h).
 *
 * The log likelihood of a level with effects u, at coefficients beta, is replaced by that of a few binomial rows z_j of
 * equal weight about a reference point (u*, beta*):
 *   linear'u - sum_j (weight/t) log(1 - t + t exp(z_j'(u - u* + G (beta - beta*)))),
 * where weight, t, z and G give the level's slope and information there, and its information with the coefficients.
 * Rows with q = 1 are z = 1. With an intercept and q - 1 slopes there are two rows for each slope. */
#pragma once

#include "core/linear_algebra.h"
#include "core/random_gamma.h"
#include "core/unroll.h"

/* The most effects of a level that are moved. */
#define WB_LEVEL_MOST 4
#define WB_LEVEL_MOST_PACKED (WB_LEVEL_MOST * (WB_LEVEL_MOST + 1) / 2)
#define WB_LEVEL_STEPS 6
/* Newton steps end here, so that the first do not overshoot, and exponents, so that exp() is finite. */
#define WB_LEVEL_MOST_STEP 2.0
#define WB_LEVEL_MOST_LOGIT 600.0

/* Doubles of the record of a level: weight, t, u* (q), linear (q), z (rows x q), G (q x p). */
#define WB_LEVEL_ROWS(q) ((q) == 1 ? 1 : 2 * (q)-2)
#define WB_LEVEL_RECORD(q, p) (2 + (size_t)(q) * (2 + (size_t)WB_LEVEL_ROWS(q) + (size_t)(p)))

/* What all levels share: the change of the p coefficients from beta*, the inverse of the effects' covariance, packed,
 * and how far from 0 the search for an effect may start. */
typedef struct wb_level_place {
  int q, p;
  const double *change, *tie, *most;
} wb_level_place;

/* x, or the nearest number that lies within `most` of 0. */
WB_HD double wb_level_within(double x, double most) {
  return wb_select(x > most, most, wb_select(x < -most, -most, x));
}

/* Weight and t of a level's binomial rows: with the slope e - m, e of them events and m expected, m is the sum of the
 * rows' means, and the information is m (1 - t). Below t = 1 the rows have information. */
WB_HD void wb_level_stand_in(int rows, double events, double slope, double information, double *record) {
  const double most = 1.0 - 1e-9, expected = events - slope;
  const double t = expected > 0.0 ? wb_select(information < expected, 1.0 - information / expected, 0.0) : 0.0;
  record[0] = expected > 0.0 ? expected / rows : 0.0;
  record[1] = t < most ? t : most;
}

WB_HD double wb_level_share(double deviation, double information) {
  const double known = deviation * deviation * information;
  return known / (1.0 + known);
}

/* How much of a deviation is drawn anew by a sweep, which draws it given the effects, and then given the effects in
 * units of the deviation (regression/draws.h). The information about its logarithm, and 1 for the prior, is `informed`
 * with effects integrated out, 2 a level given the effects, and `rows` given standardised effects. The first step
 * remembers the share 1 - informed/(2 levels), the second 1 - informed/rows, and both together about the product (Yu &
 * Meng 2011, theorem 1). */
WB_HD double wb_level_forgotten(double informed, double levels, double rows) {
  const double known = 1.0 + informed;
  const double first = 1.0 - known / (1.0 + 2.0 * levels), second = known < rows ? 1.0 - known / rows : 0.0;
  return (1.0 - first * second) / (1.0 + first * second);
}

/* The effective draws in 1,000 Polya-Gamma sweeps, if they draw the share `forgotten` anew. lambda is the largest ratio
 * of what a sweep holds fixed, the information of the Polya-Gamma variables' means, to the information of the data. */
WB_HD double wb_level_effective_draws(double forgotten, double lambda) {
  return 1000.0 * forgotten / (2.0 * lambda - 1.0);
}

/* The slope of the log density at u, and its precision; `shift` is G (beta - beta*) - u*. `third`, unless it is NULL:
 * the derivative of log det(precision), whose root is given. */
WB_HD void wb_level_weigh(int q, const double *record, const double *tie, const double *u, const double *shift,
                          double *slope, double *precision, const double *root, double *third) {
  const double weight = record[0], t = record[1], *linear = record + 2 + q, *z = linear + q;
  for (int k = 0; k < q; k++) slope[k] = linear[k];
  for (int k = 0; k < q; k++)
    for (int m = 0; m < q; m++) slope[k] = wb_fma(-tie[wb_packed_at(k, m)], u[m], slope[k]);
  for (size_t i = 0; i < wb_packed_size(q); i++) precision[i] = tie[i];
  for (int k = 0; third && k < q; k++) third[k] = 0.0;
  for (int j = 0; j < WB_LEVEL_ROWS(q); j++, z += q) {
    double at = 0.0, length = 0.0, own[WB_LEVEL_MOST];
    for (int k = 0; k < q; k++) at = wb_fma(z[k], u[k] + shift[k], at);
    const double e = wb_exp(wb_level_within(at, WB_LEVEL_MOST_LOGIT)), under = wb_fma(t, e, 1.0 - t),
                 mean = weight * e / under;
    const double information = mean * (1.0 - t) / under;
    for (int k = 0; k < q; k++) slope[k] = wb_fma(-mean, z[k], slope[k]);
    wb_symmetric_add_outer(q, information, z, precision);
    if (!third) continue;
    wb_triangle_solve(q, root, z, own);
    for (int k = 0; k < q; k++) length = wb_fma(own[k], own[k], length);
    for (int k = 0; k < q; k++) third[k] = wb_fma(information * (1.0 - 2.0 * t * e / under) * length, z[k], third[k]);
  }
}

/* wb_level_map() for one effect, without branches. */
WB_HD void wb_level_map_one(double weight, double t, double mode, double linear, double shift, double tie, double most,
                            double *mean, double *root) {
  double u = wb_level_within(mode, most), information = 0.0, precision = 0.0, share = 0.0;
  WB_UNROLL
  for (int step = 0; step <= WB_LEVEL_STEPS; step++) {
    double e = wb_exp(wb_level_within(u + shift, WB_LEVEL_MOST_LOGIT)), over = 1.0 / wb_fma(t, e, 1.0 - t);
    double expected = weight * e * over;
    information = expected * (1.0 - t) * over;
    precision = information + tie;
    share = t * e * over;
    if (step < WB_LEVEL_STEPS) u += wb_level_within(wb_fma(-tie, u, linear - expected) / precision, WB_LEVEL_MOST_STEP);
  }
  *mean = wb_fma(-0.5 * information / (precision * precision), wb_fma(-2.0, share, 1.0), u);
  *root = wb_sqrt(precision);
}

/* G (beta - beta*) - u* of effect k. */
WB_HD double wb_level_shift(const wb_level_place *place, const double *record, int k) {
  const double *g = record + 2 + place->q * (2 + WB_LEVEL_ROWS(place->q)) + k * place->p;
  double shift = -record[2 + k];
  for (int c = 0; c < place->p; c++) shift = wb_fma(g[c], place->change[c], shift);
  return shift;
}

/* wb_level_map() for two or more effects. */
WB_HD void wb_level_map_several(int q, const wb_level_place *place, const double *record, double *mean, double *root) {
  const double *const mode = record + 2;
  double shift[WB_LEVEL_MOST], slope[WB_LEVEL_MOST], third[WB_LEVEL_MOST], last[WB_LEVEL_MOST_PACKED];
  for (int k = 0; k < q; k++) {
    shift[k] = wb_level_shift(place, record, k);
    mean[k] = wb_level_within(mode[k], place->most[k]);
  }
  for (int step = 0; step < WB_LEVEL_STEPS; step++) {
    wb_level_weigh(q, record, place->tie, mean, shift, slope, root, NULL, NULL);
    (void)wb_cholesky(q, root);
    wb_cholesky_solve(q, root, slope, slope);
    for (int k = 0; k < q; k++) mean[k] += wb_level_within(slope[k], WB_LEVEL_MOST_STEP);
  }
  wb_level_weigh(q, record, place->tie, mean, shift, slope, root, NULL, NULL);
  (void)wb_cholesky(q, root);
  wb_level_weigh(q, record, place->tie, mean, shift, slope, last, root, third);
  wb_cholesky_solve(q, root, third, third);
  for (int k = 0; k < q; k++) mean[k] = wb_fma(-0.5, third[k], mean[k]);
}

/* About the mean of a level's effects (mode and third derivative), and the root L of about their precision L L'. */
WB_HD_CALLED void wb_level_map(const wb_level_place *place, const double *record, double *mean, double *root) {
  if (place->q == 1)
    wb_level_map_one(record[0], record[1], record[2], record[3], wb_level_shift(place, record, 0), place->tie[0],
                     place->most[0], mean, root);
  else if (place->q == 2) wb_level_map_several(2, place, record, mean, root); /* the compiler knows its loops */
  else wb_level_map_several(place->q, place, record, mean, root);
}

WB_HD double wb_level_log_prior(int q, const double *tie, const double *u) {
  double sum = 0.0;
  for (int k = 0; k < q; k++)
    for (int m = 0; m <= k; m++)
      sum = wb_fma((m < k ? 2.0 : 1.0) * tie[wb_packed_row(k) + (size_t)m] * u[k], u[m], sum);
  return -0.5 * sum;
}

/* Effects in the units of their map, z = L'(u - mean), and back. */
WB_HD void wb_level_standardise(int q, const double *mean, const double *root, const double *u, double *z) {
  double off[WB_LEVEL_MOST];
  for (int k = 0; k < q; k++) off[k] = u[k] - mean[k];
  wb_triangle_apply_transposed(q, root, off, z);
}
WB_HD void wb_level_follow(int q, const double *mean, const double *root, const double *z, double *u) {
  wb_triangle_solve_transposed(q, root, z, u);
  for (int k = 0; k < q; k++) u[k] += mean[k];
}

/* Proposals are Student t in the units of the map. */
#define WB_LEVEL_FREEDOM 7.0
WB_HD double wb_level_log_t(int q, const double *z) {
  double square = 0.0;
  for (int k = 0; k < q; k++) square = wb_fma(z[k], z[k], square);
  return -0.5 * (WB_LEVEL_FREEDOM + q) * wb_log1p(square / WB_LEVEL_FREEDOM);
}

/* What to do with a level whose map is known. FOLLOW: `from` is z, `to` becomes u. STANDARDISE: the reverse. Both
 * return the log density of u under the prior and the log Jacobian of z to u. PROPOSE: `from` is u, `to` becomes a
 * proposal. It is accepted if its log likelihood less the log likelihood of u, plus what this returns, exceeds 0. */
enum { WB_LEVEL_FOLLOW, WB_LEVEL_STANDARDISE, WB_LEVEL_PROPOSE };
WB_HD_CALLED double wb_level_act(const wb_level_place *place, int action, const double *mean, const double *root,
                                 const double *from, double *to, wb_stream *stream) {
  const int q = place->q;
  double z[WB_LEVEL_MOST], own[WB_LEVEL_MOST];
  if (action != WB_LEVEL_PROPOSE) {
    const double *const u = action == WB_LEVEL_FOLLOW ? to : from;
    if (action == WB_LEVEL_FOLLOW) wb_level_follow(q, mean, root, from, to);
    else wb_level_standardise(q, mean, root, from, to);
    return wb_level_log_prior(q, place->tie, u) - wb_triangle_log_determinant(q, root);
  }
  wb_level_standardise(q, mean, root, from, own);
  for (int k = 0; k < q; k++) z[k] = wb_draw_normal(stream);
  const double scale = wb_sqrt(0.5 * WB_LEVEL_FREEDOM / wb_draw_gamma(stream, 0.5 * WB_LEVEL_FREEDOM));
  for (int k = 0; k < q; k++) z[k] *= scale;
  wb_level_follow(q, mean, root, z, to);
  return wb_level_log_prior(q, place->tie, to) - wb_level_log_prior(q, place->tie, from) + wb_level_log_t(q, own) -
         wb_level_log_t(q, z) + wb_draw_exponential(stream);
}
