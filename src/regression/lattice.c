/* Effects of many areas or times, which have one coefficient for each level and a banded precision (Rue & Held 2005,
 * Gaussian Markov Random Fields, sections 2.3 and 2.4). Given Polya-Gamma variables, the effects and the coefficients
 * have the precision [D + K/v, C; C', P], with D diagonal. With U'U = D + K/v and V = U'^-1 C the effects leave
 * P - V'V to the coefficients. The deviation's law, and the correlation's, have both integrated out. */
#include "core/scalar.h"

#include "regression/draws.h"

#include "numeric/root.h"
#include "regression/quadratic.h"

/* `sums` of a level are D, C (columns) and the linear term. `solved` has a column of `levels` for each coefficient,
 * then the linear term, then the shares, all solved by U'. */
typedef struct lattice_law {
  const wb_regression_lattice *lattice;
  wb_isa isa;
  int32_t levels, columns;
  const double *sums;
  size_t size;
  double scale;
  double log_variance, logit; /* of the factor, if `known` */
  int known;
  double log_determinant, square; /* of the factor; of the linear term solved by it */
  double *information, *tilt;     /* of the coefficients, with their prior, packed; and their linear term */
  double *precision, *linear;     /* the same with the effects integrated out */
  double *inner, *root, *solved;
} lattice_law;

size_t wb_regression_lattice_room(const wb_regression_state *state) {
  const size_t p = (size_t)state->columns;
  size_t most = 0;
  for (int32_t t = 0; t < state->grouping->count; t++) {
    const size_t levels = (size_t)state->grouping->terms[t].levels,
                 width = wb_root_band_width(state->grouping->lattice[t].band),
                 size = levels * (width + p + 2) + 2 * wb_packed_size((int)p) + 5 * p + 2;
    if (wb_regression_is_lattice(state->grouping, t) && size > most) most = size;
  }
  return most;
}

/* Where the unit that begins at a level ends. The levels of an autoregression need not be taken apart. */
static int32_t unit_end(const lattice_law *law, int32_t begin) {
  const int32_t *const unit = law->lattice->unit;
  int32_t end = unit ? begin + 1 : law->levels;
  while (end < law->levels && unit[end] == unit[begin]) end++;
  return end;
}

/* Whether no observation has a part in a unit. */
static int is_unseen(const lattice_law *law, int32_t begin, int32_t end) {
  while (begin < end && law->sums[(size_t)begin * law->size] == 0.0) begin++;
  return begin == end;
}

/* Writes D + K/v. The mean of a unit without observations is not known: a pin takes its place. */
static void set_precision(lattice_law *law, double inverse, double logit) {
  const wb_regression_lattice *const lattice = law->lattice;
  const size_t width = wb_root_band_width(lattice->band), filled = (size_t)lattice->band + 1, n = (size_t)law->levels;
  double *const root = law->root;
  law->log_determinant = 0.0;
  for (size_t l = 0; l < n && !lattice->gap; l++)
    for (size_t j = 0; j < width; j++)
      root[l * width + j] = j < filled ? inverse * lattice->precision[l * filled + j] : 0.0;
  for (size_t l = 0; l < n && lattice->gap; l++) {
    const wb_regression_ar_step step = wb_regression_ar_step_of(lattice->gap[l], logit);
    double *const row = root + l * width;
    row[0] = inverse * step.precision;
    row[1] = 0.0;
    law->log_determinant = wb_fma(-0.5, wb_log(step.precision), law->log_determinant);
    if (!(lattice->gap[l] > 0.0)) continue;
    row[-1] = -step.weight * row[0];
    row[-2] = wb_fma(step.weight * step.weight, row[0], row[-2]);
  }
  for (int32_t begin = 0, end; begin < law->levels && lattice->share; begin = end) {
    end = unit_end(law, begin);
    if (is_unseen(law, begin, end)) root[(size_t)begin * width] *= 2.0;
  }
  for (size_t l = 0; l < n; l++) root[l * width] += law->sums[l * law->size];
}

static int factor(lattice_law *law, double log_variance, double logit) {
  const wb_regression_lattice *const lattice = law->lattice;
  const int32_t n = law->levels, p = law->columns;
  const size_t width = wb_root_band_width(lattice->band);
  if (law->known && law->log_variance == log_variance && law->logit == logit) return 1;
  law->known = 0;
  set_precision(law, wb_exp(-log_variance), logit);
  if (wb_root_band(law->isa, n, lattice->band, law->root) > 0) return 0;
  for (int32_t l = 0; l < n; l++) law->log_determinant += wb_log(law->root[(size_t)l * width]);
  for (int32_t c = 0; c <= p + (lattice->share != NULL); c++) {
    double *const column = law->solved + (size_t)c * (size_t)n;
    for (int32_t l = 0; l < n; l++)
      column[l] = c > p ? lattice->share[l] : law->sums[(size_t)l * law->size + 1 + (size_t)c];
    wb_root_solve_transposed(law->isa, n, width, lattice->band, law->root, column);
  }
  law->log_variance = log_variance;
  law->logit = logit;
  return law->known = 1;
}

/* What a unit's effects leave to the coefficients. The shares m of a unit add m m'/v to its precision, so that with
 * a = U'^-1 m the inverse of the whole, in products of solved columns, is I - a a'/(a'a + v). */
static void integrate_unit(lattice_law *law, int32_t begin, int32_t end) {
  const size_t n = (size_t)law->levels, count = (size_t)(end - begin);
  const int32_t p = law->columns;
  const double *const first = law->solved + begin, *const linear = first + (size_t)p * n, *const share = linear + n;
  double *const inner = law->inner, over = 0.0;
  if (law->lattice->share) {
    const double variance = wb_exp(law->log_variance), whole = wb_regression_dot(count, share, share) + variance;
    over = 1.0 / whole;
    law->log_determinant = wb_fma(0.5, wb_log(whole / variance), law->log_determinant);
  }
  for (int32_t r = 0; r <= p; r++) {
    const double *const row = first + (size_t)r * n;
    inner[r] = law->lattice->share ? wb_regression_dot(count, row, share) : 0.0;
    for (int32_t c = 0; c <= r; c++) {
      double *const to = r == p ? c == p ? &law->square : law->linear + c : law->precision + wb_packed_at(r, c);
      const double product = wb_fma(-over * inner[r], inner[c], wb_regression_dot(count, row, first + (size_t)c * n));
      *to += r == p && c == p ? product : -product;
    }
  }
}

static void integrate(lattice_law *law, const double *information, const double *tilt) {
  const double known = law->log_determinant;
  memcpy(law->precision, information, wb_packed_size(law->columns) * sizeof(double));
  memcpy(law->linear, tilt, (size_t)law->columns * sizeof(double));
  law->square = 0.0;
  for (int32_t begin = 0, end; begin < law->levels; begin = end) {
    end = unit_end(law, begin);
    integrate_unit(law, begin, end);
  }
  law->square -= 2.0 * (law->log_determinant - known);
  law->log_determinant = known;
}

/* The log density of the log of v: the root of v is half-Cauchy. */
static double log_density(lattice_law *law, double log_variance, double logit) {
  const int32_t p = law->columns;
  const double prior =
      wb_fma(-0.5 * (law->levels - 1.0), log_variance, -wb_log1p(wb_exp(log_variance) / (law->scale * law->scale)));
  if (!factor(law, log_variance, logit)) return -wb_infinity();
  integrate(law, law->information, law->tilt);
  if (wb_regression_root(law->isa, p, law->precision) > 0) return -wb_infinity();
  wb_triangle_solve(p, law->precision, law->linear, law->linear);
  const double square = law->square + wb_regression_dot((size_t)p, law->linear, law->linear);
  return wb_fma(0.5, square, prior) - law->log_determinant - wb_triangle_log_determinant(p, law->precision);
}

typedef struct scale_law {
  lattice_law *law;
  double other; /* the logit of the correlation, or the log of the innovations' variance */
} scale_law;

static double variance_density(const void *what, double log_variance) {
  const scale_law *const scale = what;
  return log_density(scale->law, log_variance, scale->other);
}
static double correlation_density(const void *what, double logit) {
  const scale_law *const scale = what;
  return log_density(scale->law, scale->other - wb_regression_log_innovation(logit), logit) - wb_log1p(wb_exp(logit)) -
         wb_log1p(wb_exp(-logit));
}

/* One of the scales, v (0) or the correlation (1). Steps are about as wide as their laws are with so many levels. */
static void draw_scale(lattice_law *law, int which, double *log_variance, double *logit, wb_stream *stream) {
  const double innovation = wb_regression_log_innovation(*logit), wide = 20.0 / wb_sqrt((double)law->levels),
               width = wide < 1.0 ? wide : 1.0;
  const scale_law scale = {law, which == 0 ? *logit : *log_variance + innovation};
  if (which == 0) {
    *log_variance = wb_slice_draw(variance_density, &scale, width, 32, WB_MOST_LOG, *log_variance, stream);
  } else if (law->lattice->gap) {
    *logit = wb_slice_draw(correlation_density, &scale, 2.0 * width, 32, WB_MOST_LOG, *logit, stream);
    *log_variance = scale.other - wb_regression_log_innovation(*logit);
  }
}

/* Draws the effects given the coefficients: the shares' sum of each unit becomes a draw of deviation sqrt(v). */
static void draw_effects(lattice_law *law, const wb_regression_term_place *term, uint64_t key, uint32_t iteration,
                         wb_stream *sums) {
  const wb_regression_lattice *const lattice = law->lattice;
  const int32_t n = law->levels, p = law->columns;
  const size_t width = wb_root_band_width(lattice->band);
  double *const effect = law->solved + (size_t)p * (size_t)n, *const share = effect + n;
  const double variance = wb_exp(law->log_variance);
  for (int32_t l = 0; l < n; l++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_TERM_EFFECT, iteration, term->first_level + (uint64_t)l);
    for (int32_t c = 0; c < p; c++)
      effect[l] = wb_fma(-law->solved[(size_t)c * (size_t)n + (size_t)l], term->coefficients[c], effect[l]);
    effect[l] += wb_draw_normal(&stream);
  }
  wb_root_solve(law->isa, n, width, lattice->band, law->root, effect);
  for (int32_t begin = 0, end; begin < n && lattice->share; begin = end) {
    end = unit_end(law, begin);
    const double whole = wb_regression_dot((size_t)(end - begin), share + begin, share + begin) + variance;
    for (int32_t l = begin; l < end; l++) share[l] /= whole;
  }
  if (lattice->share) wb_root_solve(law->isa, n, width, lattice->band, law->root, share);
  for (int32_t begin = 0, end; begin < n && lattice->share; begin = end) {
    end = unit_end(law, begin);
    const int unseen = is_unseen(law, begin, end);
    double sum = 0.0, whole = 0.0;
    for (int32_t l = begin; l < end; l++) {
      sum = wb_fma(lattice->share[l], effect[l], sum);
      whole += lattice->share[l];
    }
    sum = wb_fma(-wb_sqrt(variance), wb_draw_normal(sums), sum);
    for (int32_t l = begin; l < end; l++) effect[l] = wb_fma(-sum, unseen ? 1.0 / whole : share[l], effect[l]);
  }
  memcpy(term->effects, effect, (size_t)n * sizeof(double));
  law->known = 0;
}

static void take_out(const wb_regression_term_place *term, int32_t p, double *linear, double *change) {
  for (int32_t l = 0; l < term->levels; l++) {
    double *const own = term->sums + (size_t)l * term->size;
    change[l] = term->effects[l];
    own[1 + p] = wb_fma(own[0], change[l], own[1 + p]);
    for (int32_t c = 0; c < p; c++) linear[c] = wb_fma(change[l], own[1 + c], linear[c]);
  }
}

static int not_positive(const wb_regression_chain *chain, uint32_t iteration) {
  return wb_fail(chain->message, WB_ERROR_INPUT,
                 "the posterior precision of effects of areas or times is not positive in sweep %u: values of the data "
                 "are too large",
                 (unsigned)iteration);
}

/* The information about the coefficients with their prior, given its scales, and their linear term. */
static void add_prior(const wb_regression_chain *chain, int32_t outcome, const double *linear, lattice_law *law) {
  memcpy(law->tilt, linear, (size_t)law->columns * sizeof(double));
  wb_regression_add_prior(&chain->prior, &chain->state, outcome, law->information, law->tilt);
  for (size_t i = 0; i < wb_packed_size(law->columns); i++) law->information[i] += chain->state.statistics[i];
}

int wb_regression_draw_lattice(const wb_regression_chain *chain, const wb_regression_term_place *term, double scale,
                               uint32_t iteration, double *change, double *room, double *own) {
  const wb_regression_state *const state = &chain->state;
  const int32_t p = state->columns, n = term->levels;
  const size_t triangle = wb_packed_size(p);
  const wb_regression_lattice *const lattice = state->grouping->lattice + term->term;
  double *const covariance = term->covariance, *const spare = room + triangle + 2 * (size_t)p;
  lattice_law law = {.lattice = lattice,
                     .isa = chain->counts.isa,
                     .levels = n,
                     .columns = p,
                     .sums = term->sums,
                     .size = term->size,
                     .scale = scale,
                     .precision = room,
                     .linear = room + triangle};
  double *const linear = wb_regression_cut(&own, (size_t)p);
  law.information = wb_regression_cut(&own, triangle);
  law.tilt = wb_regression_cut(&own, (size_t)p);
  law.inner = wb_regression_cut(&own, (size_t)p + 1);
  law.root = wb_regression_cut(&own, (size_t)n * wb_root_band_width(lattice->band));
  law.solved = own;
  memcpy(linear, state->statistics + triangle, (size_t)p * sizeof(double));
  take_out(term, p, linear, change);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TERM_SCALE, iteration, term->number);
  enum { BLOCKS = 2 };
  const int backwards = wb_stream_uniform(&stream) < 0.5;
  double log_variance = wb_log(covariance[0]), logit = covariance[2];
  for (int step = 0; step <= BLOCKS; step++) {
    const int which = backwards ? BLOCKS - step : step;
    add_prior(chain, term->outcome, linear, &law);
    if (which < BLOCKS) draw_scale(&law, which, &log_variance, &logit, &stream);
    if (which < BLOCKS || wb_regression_blocks(&chain->prior) == 0) continue;
    if (!factor(&law, log_variance, logit)) return not_positive(chain, iteration);
    integrate(&law, state->statistics, linear);
    wb_regression_draw_blocks(chain, term->outcome, iteration, term->number, law.precision, law.linear, spare);
  }
  add_prior(chain, term->outcome, linear, &law);
  if (!factor(&law, log_variance, logit)) return not_positive(chain, iteration);
  integrate(&law, law.information, law.tilt);
  covariance[0] = wb_exp(log_variance);
  covariance[1] = 1.0 / covariance[0];
  covariance[2] = logit;
  wb_stream normals = wb_stream_open(chain->key, WB_PURPOSE_TERM_COEFFICIENT, iteration, term->number);
  WB_TRY(wb_regression_draw_normal(chain->counts.isa, p, law.precision, law.linear, law.linear + p, &normals, iteration,
                                   term->coefficients, chain->message));
  draw_effects(&law, term, chain->key, iteration, &stream);
  return WB_OK;
}
