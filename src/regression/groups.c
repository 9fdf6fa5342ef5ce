/* Draws of the effects of grouping terms and of their covariances. A sweep draws the coefficients together with all
 * effects of one term, given the effects of the others, term by term: the levels of a term share no rows, so that
 * they are eliminated one by one. That keeps crossed terms mixing (Papaspiliopoulos, Roberts & Zanella 2020,
 * "Scalable inference for crossed random effects models", Biometrika 107, 25-40). */
#include "core/scalar.h"

#include "core/random_wishart.h"
#include "regression/draws.h"
#include "regression/dual_draw.h"
#include "regression/quadratic.h"

enum { MOST = WB_REGRESSION_MOST_TERM_COLUMNS, MOST_PACKED = MOST * (MOST + 1) / 2 };

/* Room for the draw of a lattice, the statistics of all levels, the change of effects, the coefficients, the variances
 * of their blocks and the effects before a draw by surrogates, room for V, and room for shifts or Z'z of a term. */
size_t wb_regression_level_sums(const wb_regression_state *state) {
  const wb_regression_grouping *const grouping = state->grouping;
  const int32_t summed = wb_regression_summed(state);
  size_t size = wb_regression_lattice_room(state) + 3 * wb_regression_effects(grouping) + 3 * (size_t)state->columns +
                MOST * (size_t)summed;
  for (int32_t t = 0; t < grouping->count; t++) {
    const wb_regression_term *const term = grouping->terms + t;
    size += (size_t)term->levels * (WB_REGRESSION_LEVEL_STATISTICS(summed, term->columns) + 1);
  }
  return size;
}

wb_regression_level wb_regression_level_at(int is_group, int32_t p, int32_t q, const double *sums, int32_t l) {
  const double *const own = sums + (size_t)l * WB_REGRESSION_LEVEL_STATISTICS(p, q);
  if (is_group) return (wb_regression_level){own + p, own, own + p + 1};
  return (wb_regression_level){own, own + wb_packed_size(q), own + wb_packed_size(q) + (size_t)q * (size_t)p};
}

void wb_regression_index_levels(int64_t rows, int32_t levels, const int32_t *level, int32_t *start, int32_t *index) {
  memset(start, 0, ((size_t)levels + 1) * sizeof(int32_t));
  for (int64_t row = 0; row < rows; row++) start[level[row] + 1]++;
  for (int32_t l = 0; l < levels; l++) start[l + 1] += start[l];
  for (int64_t row = 0; row < rows; row++) index[start[level[row]]++] = (int32_t)row;
  for (int32_t l = levels; l > 0; l--) start[l] = start[l - 1];
  start[0] = 0;
}

typedef wb_regression_term_place term_place;

static term_place place_of(const wb_regression_state *state, int32_t outcome, double *sums, int32_t term) {
  const wb_regression_grouping *const grouping = state->grouping;
  const size_t before = (size_t)outcome;
  term_place place = {.outcome = outcome,
                      .term = term,
                      .number = before * (uint64_t)grouping->count + (uint64_t)term,
                      .coefficients = state->coefficients + before * (size_t)state->columns,
                      .effects = state->effects + before * wb_regression_effects(grouping),
                      .covariance = state->covariances + before * wb_regression_covariances(grouping),
                      .sums = sums};
  for (int32_t t = 0; t < grouping->count; t++) place.first_level += before * (uint64_t)grouping->terms[t].levels;
  for (int32_t t = 0; t <= term; t++) {
    place.columns = grouping->terms[t].columns;
    place.levels = grouping->terms[t].levels;
    place.size = WB_REGRESSION_LEVEL_STATISTICS(wb_regression_summed(state), place.columns);
    place.triangle = wb_packed_size(place.columns);
    if (t == term) break;
    place.first_level += (uint64_t)place.levels;
    place.effects += (size_t)place.levels * (size_t)place.columns;
    place.covariance += WB_REGRESSION_COVARIANCE(place.columns);
    place.sums += (size_t)place.levels * place.size;
  }
  return place;
}

/* y += weight A x of a symmetric matrix A whose lower half is packed. */
static void add_symmetric(int32_t q, double weight, const double *a, const double *x, double *y) {
  for (int32_t r = 0; r < q; r++)
    for (int32_t c = 0; c < q; c++) y[r] = wb_fma(weight * a[wb_packed_at(r, c)], x[c], y[r]);
}

/* The factor of Z'WZ + Sigma^-1 of a level. It exists, because Sigma^-1 is positive definite. */
static int factor_level(const term_place *term, const double *sums, double *factor) {
  const double *const tie = term->covariance + term->triangle;
  for (size_t i = 0; i < term->triangle; i++) factor[i] = sums[i] + tie[i];
  return wb_cholesky(term->columns, factor);
}

static int not_positive(const term_place *term, uint32_t iteration, wb_message *message) {
  return wb_fail(message, WB_ERROR_INPUT,
                 "the posterior precision of the effects of grouping term %d is not positive in sweep %u: values of "
                 "the data are too large",
                 (int)term->term + 1, (unsigned)iteration);
}

/* Takes the effects b of a term out of the fixed parts of rows: X'z and Z'z grow by X'WZ b and Z'WZ b. Then integrates
 * the effects out: with C the factor of Z'WZ + Sigma^-1 of a level, V = C^-1 Z'WX and u = C^-1 Z'z, precision and
 * linear term of the coefficients become precision - sum V'V and linear - sum V'u. `v`: room for V. 0: failure. */
static int eliminate_levels(const term_place *term, int32_t p, double *v, double *precision, double *linear) {
  const int32_t q = term->columns;
  double factor[MOST_PACKED], u[MOST];
  for (int32_t l = 0; l < term->levels; l++) {
    double *const sums = term->sums + (size_t)l * term->size;
    const double *const products = sums + term->triangle, *const own = term->effects + (size_t)l * (size_t)q;
    double *const z = sums + term->triangle + (size_t)q * (size_t)p;
    add_symmetric(q, 1.0, sums, own, z);
    if (factor_level(term, sums, factor) > 0) return 0;
    wb_triangle_solve(q, factor, z, u);
    wb_regression_eliminate(q, factor, p, products, (size_t)p, v, precision);
    for (int32_t k = 0; k < q; k++)
      for (int32_t c = 0; c < p; c++) {
        linear[c] = wb_fma(own[k], products[(size_t)k * (size_t)p + (size_t)c], linear[c]);
        linear[c] = wb_fma(-u[k], v[(size_t)k * (size_t)p + (size_t)c], linear[c]);
      }
  }
  return 1;
}

/* The log likelihood of a term's effects if column k is multiplied by c_k: linear[k] c_k, -square[k, m] c_k c_m / 2. */
typedef struct scale_sums {
  double linear[MOST], square[MOST_PACKED];
} scale_sums;

/* Draws the effects of each level given the coefficients, or leaves them. `change` gets the effects before. */
static void draw_effects(const term_place *term, int32_t p, uint64_t key, uint32_t iteration, int draw, double *change,
                         scale_sums *scales) {
  const int32_t q = term->columns;
  double factor[MOST_PACKED], rest[MOST], value[MOST];
  memset(scales, 0, sizeof *scales);
  for (int32_t l = 0; l < term->levels; l++) {
    const double *const sums = term->sums + (size_t)l * term->size, *const products = sums + term->triangle;
    double *const own = term->effects + (size_t)l * (size_t)q;
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_TERM_EFFECT, iteration, term->first_level + (uint64_t)l);
    (void)factor_level(term, sums, factor);
    for (int32_t k = 0; k < q; k++) {
      const double *const row = products + (size_t)k * (size_t)p;
      rest[k] = products[(size_t)q * (size_t)p + (size_t)k];
      for (int32_t c = 0; c < p; c++) rest[k] = wb_fma(-row[c], term->coefficients[c], rest[k]);
    }
    wb_triangle_solve(q, factor, rest, value);
    for (int32_t k = 0; k < q; k++) value[k] += wb_draw_normal(&stream);
    wb_triangle_solve_transposed(q, factor, value, value);
    for (int32_t k = 0; k < q; k++) {
      if (!draw) value[k] = own[k];
      change[(size_t)l * (size_t)q + (size_t)k] = own[k];
      own[k] = value[k];
      scales->linear[k] = wb_fma(value[k], rest[k], scales->linear[k]);
      for (size_t m = 0, at = wb_packed_row(k); m <= (size_t)k; m++, at++)
        scales->square[at] = wb_fma(value[k] * value[m], sums[at], scales->square[at]);
    }
  }
}

/* Multiplies column k of the effects, and row and column k of their covariance, by a factor c_k that is drawn given
 * everything else (regression/draws.h), and draws the auxiliary variables. With q columns that are correlated, the
 * prior of the covariance without its auxiliary variables, the Jacobian of its change and the group's measure leave
 *   c_k^-(nu + q) (nu (Sigma^-1)_kk / c_k^2 + 1/scale_k^2)^-((nu + q)/2),
 * and for independent columns the same with nu = q = 1. Columns from `first` to before `end` get factors. */
static void rescale_effects(const term_place *term, int independent, const double *scale, const scale_sums *scales,
                            int32_t first, int32_t end, wb_stream *stream) {
  const int32_t q = term->columns;
  double *const covariance = term->covariance, *const tie = covariance + term->triangle,
                *const auxiliary = tie + term->triangle;
  const double nu = independent ? 1.0 : 2.0, power = independent ? 1.0 : nu + q - 1.0;
  double factor[MOST];
  for (int32_t k = 0; k < q; k++) factor[k] = 1.0;
  for (int32_t k = first; k < end; k++) {
    const size_t diagonal = wb_packed_at(k, k);
    wb_regression_factor_law law = {scales->linear[k], scales->square[diagonal], power, nu * tie[diagonal],
                                    1.0 / (scale[k] * scale[k])};
    for (int32_t m = 0; m < q; m++)
      if (m != k) law.linear = wb_fma(-factor[m], scales->square[wb_packed_at(k, m)], law.linear);
    factor[k] = wb_exp(wb_regression_draw_log_factor(&law, stream));
    auxiliary[k] = (law.tie / (factor[k] * factor[k]) + law.floor) / wb_draw_gamma(stream, 0.5 * (power + 1.0));
  }
  for (int32_t k = 0; k < q; k++)
    for (int32_t m = 0; m <= k; m++) {
      covariance[wb_packed_at(k, m)] *= factor[k] * factor[m];
      tie[wb_packed_at(k, m)] /= factor[k] * factor[m];
    }
  for (int32_t l = 0; l < term->levels; l++)
    for (int32_t k = 0; k < q; k++) term->effects[(size_t)l * (size_t)q + (size_t)k] *= factor[k];
}

/* Row j of the inverse root of the covariance times the effects of a level. */
static double standardised(const double *inverse, int32_t j, const double *effects) {
  double sum = 0.0;
  for (int32_t k = 0; k <= j; k++) sum = wb_fma(inverse[wb_packed_at(j, k)], effects[k], sum);
  return sum;
}

/* The law of a change of element (i, j) of the covariance's root below its diagonal, given everything else and the
 * standardised effects: normal with this precision and linear term. With L the root, the prior of the covariance gives
 * exp(-tr(D (L L')^-1)/2) with D = 2 nu diag(1/a); its Jacobian has the diagonal of L alone. */
static void weigh_change(const term_place *term, int32_t p, const double *inverse, int32_t i, int32_t j,
                         double *precision, double *linear) {
  const int32_t q = term->columns;
  const double nu = 2.0, *const auxiliary = term->covariance + 2 * term->triangle;
  double length = 0.0;
  *precision = *linear = 0.0;
  for (int32_t r = i; r < q; r++) {
    const double v = inverse[wb_packed_at(r, i)];
    length = wb_fma(v, v, length);
  }
  for (int32_t k = 0; k <= j; k++) {
    const double w = inverse[wb_packed_at(j, k)], weight = 2.0 * nu / auxiliary[k] * w;
    double inner = 0.0;
    for (int32_t r = i; r < q; r++) inner = wb_fma(inverse[wb_packed_at(r, i)], inverse[wb_packed_at(r, k)], inner);
    *precision = wb_fma(weight * w, length, *precision);
    *linear = wb_fma(weight, inner, *linear);
  }
  for (int32_t l = 0; l < term->levels; l++) {
    const double *const sums = term->sums + (size_t)l * term->size;
    const double *const products = sums + term->triangle, *const row = products + (size_t)i * (size_t)p;
    const double *const effects = term->effects + (size_t)l * (size_t)q;
    const double u = standardised(inverse, j, effects);
    double rest = products[(size_t)q * (size_t)p + (size_t)i];
    for (int32_t c = 0; c < p; c++) rest = wb_fma(-row[c], term->coefficients[c], rest);
    for (int32_t m = 0; m < q; m++) rest = wb_fma(-sums[wb_packed_at(i, m)], effects[m], rest);
    *precision = wb_fma(u * u, sums[wb_packed_at(i, i)], *precision);
    *linear = wb_fma(u, rest, *linear);
  }
}

/* Draws the elements of the covariance's root below its diagonal, each given everything else and the standardised
 * effects, so that the effects follow (Yu & Meng 2011, "To center or not to center: that is not the question",
 * Journal of Computational and Graphical Statistics 20, 531-570). Otherwise effects hold their correlations. */
static void redraw_root(const term_place *term, int32_t p, wb_stream *stream) {
  const int32_t q = term->columns;
  double *const covariance = term->covariance, *const tie = covariance + term->triangle;
  double root[MOST_PACKED], inverse[MOST_PACKED], precision, linear;
  memcpy(root, covariance, term->triangle * sizeof(double));
  if (q == 1 || wb_cholesky(q, root) > 0) return;
  wb_triangle_inverse(q, root, inverse);
  for (int32_t i = 1; i < q; i++)
    for (int32_t j = 0; j < i; j++) {
      weigh_change(term, p, inverse, i, j, &precision, &linear);
      const double change = (linear + wb_sqrt(precision) * wb_draw_normal(stream)) / precision;
      for (int32_t l = 0; l < term->levels; l++) {
        double *const effects = term->effects + (size_t)l * (size_t)q;
        effects[i] = wb_fma(change, standardised(inverse, j, effects), effects[i]);
      }
      root[wb_packed_at(i, j)] += change;
      for (int32_t r = i; r < q; r++)
        for (int32_t k = 0; k <= j; k++)
          inverse[wb_packed_at(r, k)] =
              wb_fma(-change * inverse[wb_packed_at(r, i)], inverse[wb_packed_at(j, k)], inverse[wb_packed_at(r, k)]);
    }
  wb_triangle_square(q, root, covariance);
  wb_triangle_gram(q, inverse, tie);
}

static void note_change(const term_place *term, int32_t p, double *change, double *linear) {
  const int32_t q = term->columns;
  for (int32_t l = 0; l < term->levels; l++)
    for (int32_t k = 0; k < q; k++) {
      const size_t at = (size_t)l * (size_t)q + (size_t)k;
      const double *const row = term->sums + (size_t)l * term->size + term->triangle + (size_t)k * (size_t)p;
      change[at] = term->effects[at] - change[at];
      for (int32_t c = 0; c < p; c++) linear[c] = wb_fma(-change[at], row[c], linear[c]);
    }
}

/* The statistics of a term's levels in a dual session, given the coefficients; its effects are not fixed parts. */
static int sum_dual(const wb_regression_chain *chain, const term_place *term) {
  const wb_regression_dual_grouping grouping = {chain->state.grouping->terms[term->term], term->covariance};
  return wb_regression_dual_sums(chain, term->outcome, &grouping, chain->state.statistics, chain->dual->residual,
                                 term->sums);
}

/* For Poisson rows: takes the drawn coefficients and effects of a term or not. Then one column of the effects gets a
 * factor: factors of several columns could not be corrected together, because their order matters. `before`: the
 * coefficients, and the variances and correlations of their blocks, before the draw, and room for effects. */
static int correct_term(const wb_regression_chain *chain, const term_place *term, uint32_t iteration,
                        const double *scale, double *change, scale_sums *scales, double *before, double *log_ratio,
                        wb_stream *stream) {
  const int32_t p = chain->state.columns, q = term->columns,
                independent = chain->state.grouping->independent[term->term];
  const int is_dual = chain->state.dual_rows > 0;
  const size_t effects = (size_t)term->levels * (size_t)q * sizeof(double),
               covariance = WB_REGRESSION_COVARIANCE(q) * sizeof(double);
  double kept[WB_REGRESSION_COVARIANCE(MOST)];
  int taken;
  WB_TRY(wb_regression_accept(chain, iteration, 2 * (uint64_t)term->term, log_ratio, &taken));
  if (!taken) {
    memcpy(term->coefficients, before, (size_t)p * sizeof(double));
    memcpy(chain->state.shrinkage, before + p, 2 * (size_t)p * sizeof(double));
    memcpy(term->effects, change, effects);
    if (is_dual) WB_TRY(sum_dual(chain, term));
    draw_effects(term, wb_regression_summed(&chain->state), chain->key, iteration, 0, change, scales);
  }
  memcpy(before + 3 * p, term->effects, effects);
  memcpy(kept, term->covariance, covariance);
  const int32_t column = (int32_t)(iteration % (uint32_t)q);
  rescale_effects(term, independent, scale, scales, column, column + 1, stream);
  WB_TRY(wb_regression_accept(chain, iteration, 2 * (uint64_t)term->term + 1, log_ratio, &taken));
  if (taken) return WB_OK;
  memcpy(term->effects, before + 3 * p, effects);
  memcpy(term->covariance, kept, covariance);
  return WB_OK;
}

static int draw_dual(const wb_regression_chain *chain, const term_place *term, uint32_t iteration, wb_stream *stream) {
  const wb_regression_state *const state = &chain->state;
  const int32_t n = state->dual_rows;
  const double *const omega = state->statistics, *const z = omega + n;
  const wb_regression_dual_grouping grouping = {state->grouping->terms[term->term], term->covariance};
  memcpy(chain->dual->residual, z, (size_t)n * sizeof(double));
  wb_regression_dual_change(&grouping.term, n, term->effects, -1.0, omega, chain->dual->residual);
  WB_TRY(wb_regression_draw_dual(chain, term->outcome, iteration, &grouping, omega, chain->dual->residual, stream));
  return sum_dual(chain, term);
}

/* The same by the precision of the coefficients; `v` and `room` as in draw_term(). */
static int draw_coefficients(const wb_regression_chain *chain, const term_place *term, uint32_t iteration,
                             wb_stream *stream, double *v, double *room) {
  const wb_regression_state *const state = &chain->state;
  const int32_t p = state->columns;
  const size_t triangle = wb_packed_size(p);
  double *const precision = room, *const linear = room + triangle, *const normal = linear + p;
  const int blocks = wb_regression_blocks(&chain->prior) > 0;
  memcpy(linear, state->statistics + triangle, (size_t)p * sizeof(double));
  if (blocks) memcpy(precision, state->statistics, triangle * sizeof(double));
  else wb_regression_add_prior(&chain->prior, state, term->outcome, precision, linear);
  for (size_t i = 0; i < triangle && !blocks; i++) precision[i] += state->statistics[i];
  if (!eliminate_levels(term, p, v, precision, linear)) return not_positive(term, iteration, chain->message);
  if (blocks) {
    double *const spare = normal + p;
    wb_regression_draw_blocks(chain, term->outcome, iteration, term->number, precision, linear, spare);
    wb_regression_add_prior(&chain->prior, state, term->outcome, spare, linear);
    for (size_t i = 0; i < triangle; i++) precision[i] += spare[i];
  }
  return wb_regression_draw_normal(chain->counts.isa, p, precision, linear, normal, stream, iteration,
                                   term->coefficients, chain->message);
}

/* The coefficients and effects of a lattice, which are taken or not if rows are Poisson. */
static int draw_lattice(const wb_regression_chain *chain, const term_place *term, double scale, uint32_t iteration,
                        double *change, double *room, double *own, double *before, double *log_ratio) {
  const size_t p = (size_t)chain->state.columns;
  double covariance[WB_REGRESSION_COVARIANCE(1)];
  int taken;
  memcpy(covariance, term->covariance, sizeof covariance);
  WB_TRY(wb_regression_draw_lattice(chain, term, scale, iteration, change, room, own));
  WB_TRY(wb_regression_accept(chain, iteration, 2 * (uint64_t)term->term, log_ratio, &taken));
  if (taken) return WB_OK;
  memcpy(term->coefficients, before, p * sizeof(double));
  memcpy(chain->state.shrinkage, before + p, 2 * p * sizeof(double));
  memcpy(term->effects, change, (size_t)term->levels * sizeof(double));
  memcpy(term->covariance, covariance, sizeof covariance);
  return WB_OK;
}

/* The coefficients and the effects of one term. `linear` of the statistics is X'z given all effects, before and after.
 * `room`: as draw_coefficients() of regression/regression.c has it. `v`: MOST rows of p. */
static int draw_term(const wb_regression_chain *chain, const term_place *term, uint32_t iteration, double *change,
                     double *v, double *room, double *own, double *before, double *log_ratio) {
  const wb_regression_state *const state = &chain->state;
  const int32_t p = wb_regression_summed(state), n = state->dual_rows;
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TERM_COEFFICIENT, iteration, term->number);
  memcpy(before, term->coefficients, (size_t)state->columns * sizeof(double));
  memcpy(before + state->columns, state->shrinkage, 2 * (size_t)state->columns * sizeof(double));
  const double *scale = chain->prior.effect_scale;
  for (int32_t t = 0; t < term->term; t++) scale += state->grouping->terms[t].columns;
  if (wb_regression_is_lattice(state->grouping, term->term)) {
    WB_TRY(draw_lattice(chain, term, *scale, iteration, change, room, own, before, log_ratio));
    note_change(term, p, change, state->statistics + wb_packed_size(p));
    return WB_OK;
  }
  WB_TRY(n > 0 ? draw_dual(chain, term, iteration, &stream)
               : draw_coefficients(chain, term, iteration, &stream, v, room));
  scale_sums scales;
  draw_effects(term, p, chain->key, iteration, 1, change, &scales);
  stream = wb_stream_open(chain->key, WB_PURPOSE_TERM_SCALE, iteration, term->number);
  if (chain->data->poisson) {
    WB_TRY(correct_term(chain, term, iteration, scale, change, &scales, before, log_ratio, &stream));
  } else {
    rescale_effects(term, state->grouping->independent[term->term], scale, &scales, 0, term->columns, &stream);
    if (!state->grouping->independent[term->term]) redraw_root(term, p, &stream);
  }
  note_change(term, p, change, state->statistics + wb_packed_size(p));
  if (n > 0)
    wb_regression_dual_change(state->grouping->terms + term->term, n, change, 1.0, state->statistics,
                              state->statistics + n);
  return WB_OK;
}

/* The mean effect of the levels in a level of the parent is known far less well than the sum of both. So each level
 * of the parent takes a normal shift from all of its levels. With S and P the inverse covariances of the term and
 * its parent, and m levels of effects b in one of effects a, it has precision m S + P and linear term S sum(b) - P
 * a. `sums`: levels of the parent x (columns + 1). */
static void shift_levels(const term_place *term, const term_place *parent, const int32_t *parent_level, uint64_t key,
                         uint32_t iteration, double *sums) {
  const int32_t q = term->columns;
  const size_t size = (size_t)q + 1;
  const double *const own_tie = term->covariance + term->triangle, *const tie = parent->covariance + parent->triangle;
  double factor[MOST_PACKED], shift[MOST];
  memset(sums, 0, (size_t)parent->levels * size * sizeof(double));
  for (int32_t l = 0; l < term->levels; l++) {
    double *const to = sums + (size_t)parent_level[l] * size;
    for (int32_t k = 0; k < q; k++) to[k] += term->effects[(size_t)l * (size_t)q + (size_t)k];
    to[q] += 1.0;
  }
  for (int32_t l = 0; l < parent->levels; l++) {
    double *const to = sums + (size_t)l * size, *const effects = parent->effects + (size_t)l * (size_t)q;
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_TERM_SHIFT, iteration, term->first_level + (uint64_t)l);
    for (int32_t k = 0; k < q; k++) shift[k] = 0.0;
    add_symmetric(q, 1.0, own_tie, to, shift);
    add_symmetric(q, -1.0, tie, effects, shift);
    for (size_t i = 0; i < term->triangle; i++) factor[i] = wb_fma(to[q], own_tie[i], tie[i]);
    const int failed = wb_cholesky(q, factor);
    wb_triangle_solve(q, factor, shift, shift);
    for (int32_t k = 0; k < q; k++) shift[k] += wb_draw_normal(&stream);
    wb_triangle_solve_transposed(q, factor, shift, shift);
    for (int32_t k = 0; k < q; k++) {
      to[k] = failed ? 0.0 : shift[k];
      effects[k] += to[k];
    }
  }
  for (int32_t l = 0; l < term->levels; l++)
    for (int32_t k = 0; k < q; k++)
      term->effects[(size_t)l * (size_t)q + (size_t)k] -= sums[(size_t)parent_level[l] * size + (size_t)k];
}

/* Draws the variance of each column, whose deviation is half-Cauchy (Wand, Ormerod, Padoan & Fruhwirth 2011): both the
 * variance and its auxiliary variable are inverse gamma. */
static void draw_variances(const term_place *term, const double *scale, wb_stream *stream) {
  const int32_t q = term->columns;
  double *const covariance = term->covariance, *const tie = covariance + term->triangle,
                *const auxiliary = tie + term->triangle;
  for (size_t i = 0; i < term->triangle; i++) covariance[i] = tie[i] = 0.0;
  for (int32_t k = 0; k < q; k++) {
    double sum = 0.0;
    for (int32_t l = 0; l < term->levels; l++) {
      const double effect = term->effects[(size_t)l * (size_t)q + (size_t)k];
      sum = wb_fma(effect, effect, sum);
    }
    const double variance = wb_fma(0.5, sum, 1.0 / auxiliary[k]) / wb_draw_gamma(stream, 0.5 * (term->levels + 1.0));
    auxiliary[k] = (1.0 / (scale[k] * scale[k]) + 1.0 / variance) / wb_draw_exponential(stream);
    covariance[wb_packed_at(k, k)] = variance;
    tie[wb_packed_at(k, k)] = 1.0 / variance;
  }
}

/* Draws the covariance of the effects (Huang & Wand 2013, equation 4, with nu = 2): given auxiliary variables a_k it is
 * inverse Wishart with nu + q - 1 + levels degrees of freedom and the scale matrix 2 nu diag(1/a) + sum of b b'. */
static int draw_covariance(const term_place *term, const double *scale, wb_stream *stream) {
  const int32_t q = term->columns;
  const double nu = 2.0;
  double *const covariance = term->covariance, *const tie = covariance + term->triangle,
                *const auxiliary = tie + term->triangle;
  double root[MOST_PACKED], wishart[MOST_PACKED];
  for (size_t i = 0; i < term->triangle; i++) root[i] = 0.0;
  for (int32_t k = 0; k < q; k++) root[wb_packed_at(k, k)] = 2.0 * nu / auxiliary[k];
  for (int32_t l = 0; l < term->levels; l++)
    wb_symmetric_add_outer(q, 1.0, term->effects + (size_t)l * (size_t)q, root);
  if (wb_cholesky(q, root) > 0) return 0;
  wb_draw_wishart_gram_factor(stream, q, nu + q - 1.0 + term->levels, wishart);
  wb_triangle_inverse(q, wishart, wishart);
  wb_triangle_multiply(q, root, wishart, root);
  /* With root = L T^-1 of core/random_wishart.h, the covariance is root root'. */
  wb_triangle_square(q, root, covariance);
  wb_triangle_inverse(q, root, root);
  wb_triangle_gram(q, root, tie);
  for (int32_t k = 0; k < q; k++) {
    const double rate = wb_fma(nu, tie[wb_packed_at(k, k)], 1.0 / (scale[k] * scale[k]));
    auxiliary[k] = rate / wb_draw_gamma(stream, 0.5 * (nu + q));
  }
  return 1;
}

/* Behind the statistics: the change of a term's effects, what was before, room for V, and room for the shifts. */
static double *behind_statistics(const wb_regression_state *state, int32_t outcome, double *sums) {
  const term_place last = place_of(state, outcome, sums, state->grouping->count - 1);
  return last.sums + (size_t)last.levels * last.size;
}

void wb_regression_shift_terms(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, double *sums) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_grouping *const grouping = state->grouping;
  double *const shifts = behind_statistics(state, outcome, sums) + 2 * wb_regression_effects(grouping) +
                         (size_t)state->columns + MOST * (size_t)wb_regression_summed(state);
  for (int32_t t = 0; t < grouping->count; t++) {
    const term_place term = place_of(state, outcome, sums, t);
    if (grouping->parent[t] < 0) continue;
    const term_place parent = place_of(state, outcome, sums, grouping->parent[t]);
    shift_levels(&term, &parent, grouping->parent_level[t], chain->key, iteration, shifts);
  }
}

int wb_regression_draw_terms(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, double *sums,
                             double *room) {
  const wb_regression_state *const state = &chain->state;
  const wb_regression_grouping *const grouping = state->grouping;
  const wb_regression_functions *const table = chain->backend->regression;
  const wb_regression_parameters parameters = wb_regression_own_parameters(state);
  double log_likelihood, log_ratio, *const own = sums;
  sums += wb_regression_lattice_room(state);
  WB_TRY(table->sweep(chain->session, &parameters, outcome, chain->key, iteration, state->statistics,
                      state->dual_rows > 0 ? NULL : sums, &log_likelihood, chain->message));
  WB_TRY(wb_regression_log_ratios(chain, &log_ratio));
  double *const change = behind_statistics(state, outcome, sums);
  double *const before = change + wb_regression_effects(grouping);
  double *const v = before + 3 * (size_t)state->columns + wb_regression_effects(grouping);
  double *const linear = v + MOST * (size_t)wb_regression_summed(state);
  for (int32_t t = 0; t < grouping->count; t++) {
    const term_place term = place_of(state, outcome, sums, t);
    WB_TRY(draw_term(chain, &term, iteration, change, v, room, own, before, &log_ratio));
    if (state->dual_rows > 0 || t + 1 == grouping->count) continue;
    const term_place next = place_of(state, outcome, sums, t + 1);
    WB_TRY(table->change_effects(chain->session, t, change, t + 1, linear, chain->message));
    for (int32_t l = 0; l < next.levels; l++)
      memcpy(next.sums + (size_t)l * next.size + next.triangle + (size_t)next.columns * (size_t)state->columns,
             linear + (size_t)l * (size_t)next.columns, (size_t)next.columns * sizeof(double));
  }
  const double *scale = chain->prior.effect_scale;
  wb_regression_shift_terms(chain, outcome, iteration, sums);
  for (int32_t t = 0; t < grouping->count - grouping->lattices; scale += grouping->terms[t++].columns) {
    const term_place term = place_of(state, outcome, sums, t);
    wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TERM_COVARIANCE, iteration, term.number);
    if (grouping->independent[t]) draw_variances(&term, scale, &stream);
    else if (!draw_covariance(&term, scale, &stream)) return not_positive(&term, iteration, chain->message);
  }
  return WB_OK;
}
