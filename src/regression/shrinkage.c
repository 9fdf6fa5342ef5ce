/* The scales of a regression's coefficients under priors that are mixtures of normals: Student t, horseshoe (Makalic &
 * Schmidt 2016) and regularised horseshoe (Piironen & Vehtari 2017). */
#include "core/scalar.h"

#include "regression/draws.h"
#include "regression/dual_draw.h"

static double draw_inverse_exponential(wb_stream *stream, double scale) { return scale / wb_draw_exponential(stream); }

static int has_horseshoe(const wb_regression_prior *prior) {
  for (int c = 0; c < prior->columns; c++)
    if (prior->law[c] == WB_REGRESSION_HORSESHOE) return 1;
  return 0;
}

static void draw_horseshoe(const wb_regression_prior *prior, const double *coefficients,
                           const wb_regression_scales *own, wb_stream *stream) {
  double *const local = own->local, *const local_auxiliary = own->local_auxiliary, *const global = own->global;
  double sum = 0.0, shrunk = 0.0;
  for (int c = 0; c < prior->columns; c++) {
    if (prior->law[c] != WB_REGRESSION_HORSESHOE) continue;
    const double square = coefficients[c] * coefficients[c];
    local[c] = draw_inverse_exponential(stream, 1.0 / local_auxiliary[c] + 0.5 * square / *global);
    local_auxiliary[c] = draw_inverse_exponential(stream, 1.0 + 1.0 / local[c]);
    sum += square / local[c];
    shrunk += 1.0;
  }
  *global = wb_fma(0.5, sum, 1.0 / *own->global_auxiliary) / wb_draw_gamma(stream, 0.5 * (shrunk + 1.0));
  *own->global_auxiliary =
      draw_inverse_exponential(stream, 1.0 / (prior->global_scale * prior->global_scale) + 1.0 / *global);
}

/* The regularised horseshoe: slice sampling of log scales, without conjugate laws. Which: a coefficient, or these. */
enum { GLOBAL = -1, SLAB = -2 };

static double log_normal_density(double square, double local, double global, double slab) {
  const double precision = 1.0 / (local * global) + 1.0 / slab;
  return 0.5 * (wb_log(precision) - precision * square);
}

typedef struct scale_law {
  const wb_regression_prior *prior;
  const double *coefficients;
  const wb_regression_scales *own;
  int which;
} scale_law;

/* The log density of the log of a scale, up to a constant. The square root of `local` is half-Cauchy: the density of
 * log(local) is proportional to local^(1/2)/(1 + local). */
static double scale_density(const void *what, double log_scale) {
  const scale_law *const law = what;
  const wb_regression_prior *const prior = law->prior;
  const double *const coefficients = law->coefficients;
  const wb_regression_scales *const own = law->own;
  const int which = law->which;
  const double at = wb_exp(log_scale), global = which == GLOBAL ? at : *own->global,
               slab = which == SLAB ? at : *own->slab;
  const double square = prior->global_scale * prior->global_scale;
  double sum = which == SLAB ? -0.5 * prior->slab_df *
                                   wb_fma(prior->slab_scale * prior->slab_scale, wb_exp(-log_scale), log_scale)
                             : wb_fma(0.5, log_scale, -wb_log1p(which == GLOBAL ? at / square : at));
  for (int c = which < 0 ? 0 : which; c < (which < 0 ? prior->columns : which + 1); c++)
    if (prior->law[c] == WB_REGRESSION_HORSESHOE)
      sum += log_normal_density(coefficients[c] * coefficients[c], which >= 0 ? at : own->local[c], global, slab);
  return sum;
}

static void draw_scale(const wb_regression_prior *prior, const double *coefficients, const wb_regression_scales *own,
                       int which, double *scale, wb_stream *stream) {
  const scale_law law = {prior, coefficients, own, which};
  *scale = wb_exp(wb_slice_draw(scale_density, &law, 2.0, 32, WB_MOST_LOG, wb_log(*scale), stream));
}

static void draw_regularised(const wb_regression_prior *prior, const double *coefficients,
                             const wb_regression_scales *own, wb_stream *stream) {
  for (int c = 0; c < prior->columns; c++)
    if (prior->law[c] == WB_REGRESSION_HORSESHOE) draw_scale(prior, coefficients, own, c, &own->local[c], stream);
  draw_scale(prior, coefficients, own, GLOBAL, own->global, stream);
  draw_scale(prior, coefficients, own, SLAB, own->slab, stream);
}

void wb_regression_draw_shrinkage(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration) {
  const wb_regression_prior *const prior = &chain->prior;
  const double *const coefficients = chain->state.coefficients + (size_t)outcome * (size_t)prior->columns;
  const wb_regression_scales own = wb_regression_scales_of(&chain->state, outcome);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_SHRINKAGE, iteration, (uint64_t)outcome);
  if (has_horseshoe(prior))
    (prior->slab_scale > 0.0 ? draw_regularised : draw_horseshoe)(prior, coefficients, &own, &stream);
  for (int c = 0; c < prior->columns; c++) {
    if (prior->law[c] != WB_REGRESSION_STUDENT) continue;
    const double off = coefficients[c] - wb_regression_prior_mean(prior, &chain->state, outcome, c);
    const double rate = 0.5 * wb_fma(prior->df[c], prior->scale[c] * prior->scale[c], off * off);
    own.local[c] = rate / wb_draw_gamma(&stream, 0.5 * (prior->df[c] + 1.0));
  }
  wb_regression_draw_blocks_given(chain, outcome, &stream);
}

typedef struct moved_law {
  const wb_regression_chain *chain;
  const wb_regression_scales *own;
  const double *from;
  double *coefficients;
  int *status;
} moved_law;

/* The log posterior density of t if the shrunk coefficients are `from` times exp(t), and so are the deviations that
 * they share, without Polya-Gamma variables. Their prior given the scales and the change of units cancel. */
static double moved_density(const void *of, double t) {
  const moved_law *const law = of;
  const wb_regression_chain *const chain = law->chain;
  const wb_regression_prior *const prior = &chain->prior;
  const wb_regression_parameters parameters = wb_regression_own_parameters(&chain->state);
  const double factor = wb_exp(t), scale = prior->global_scale;
  double density = 0.0;
  for (int c = 0; c < prior->columns; c++)
    if (prior->law[c] == WB_REGRESSION_HORSESHOE) law->coefficients[c] = factor * law->from[c];
  if (*law->status == WB_OK)
    *law->status = chain->backend->regression->log_likelihood(chain->session, &parameters, &density, chain->message);
  density += t - wb_log1p(*law->own->global * factor * factor / (scale * scale));
  if (!(prior->slab_scale > 0.0)) return density;
  return density - 0.5 * prior->slab_df *
                       wb_fma(2.0, t, prior->slab_scale * prior->slab_scale / (*law->own->slab * factor * factor));
}

/* Large coefficients and their scales hold each other where they are, above all where the data are separated. Here
 * they change together, by slice sampling of the log of a common factor (Liu & Sabatti 2000, "Generalised Gibbs
 * sampler and multigrid Monte Carlo for Bayesian computation", Biometrika 87, 353-369). */
int wb_regression_move_shrinkage(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration) {
  const wb_regression_prior *const prior = &chain->prior;
  const wb_regression_scales own = wb_regression_scales_of(&chain->state, outcome);
  double *const from = chain->dual->point;
  double *const coefficients = chain->state.coefficients + (size_t)outcome * (size_t)prior->columns;
  int status = WB_OK;
  if (!has_horseshoe(prior)) return WB_OK;
  memcpy(from, coefficients, (size_t)prior->columns * sizeof(double));
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_SHRINKAGE_MOVE, iteration, (uint64_t)outcome);
  const moved_law law = {chain, &own, from, coefficients, &status};
  const double at = wb_slice_draw(moved_density, &law, 1.0, 16, WB_MOST_LOG, 0.0, &stream);
  if (at == 0.0) memcpy(coefficients, from, (size_t)prior->columns * sizeof(double));
  const double square = wb_exp(2.0 * at), scale = prior->global_scale;
  *own.global *= square;
  if (prior->slab_scale > 0.0) *own.slab *= square;
  else *own.global_auxiliary = draw_inverse_exponential(&stream, 1.0 / (scale * scale) + 1.0 / *own.global);
  return status;
}
