/* Draws the learned parts of the prior from their full conditionals, given the means and covariances of all components,
 * with or without rows (West, Müller & Escobar 1994 for m and gamma; conjugate for Phi; nu on a grid). */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "core/random_wishart.h"
#include "mixture/mixture.h"

void wb_mixture_prior_values(const wb_mixture_prior *prior, double *values) {
  const size_t p = (size_t)prior->columns;
  memcpy(values, prior->mean, p * sizeof(double));
  values[p] = prior->mean_scale;
  values[p + 1] = prior->df;
  memcpy(values + p + 2, prior->scale, wb_packed_size(prior->columns) * sizeof(double));
}

void wb_mixture_set_prior_values(wb_mixture_prior *prior, const double *values) {
  const size_t p = (size_t)prior->columns;
  memcpy(prior->mean, values, p * sizeof(double));
  prior->mean_scale = values[p];
  prior->df = values[p + 1];
  memcpy(prior->scale, values + p + 2, wb_packed_size(prior->columns) * sizeof(double));
}

void wb_mixture_prepare_hyperprior(wb_mixture_hyperprior *hyper, int32_t columns) {
  const double a = hyper->mean_scale_shape;
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) {
    const double nu = hyper->df_grid[i], df = nu + columns + 1;
    hyper->df_log[i] = wb_log(nu);
    hyper->df_log_gamma[i] = wb_lgamma_multivariate(columns, 0.5 * df);
  }
  hyper->mean_scale_constant = a * wb_log(hyper->mean_scale_rate) - wb_lgamma(a);
  hyper->scale_log_gamma = wb_lgamma_multivariate(columns, 0.5 * hyper->scale_df);
}

/* m ~ N(m0, I) has posterior precision I + sum Sigma_j^-1 / gamma. The sums begin with the prior's terms. */
static void begin_mean(const wb_mixture_hyperprior *hyper, int32_t p, double *precision, double *pull) {
  memset(precision, 0, wb_packed_size(p) * sizeof(double));
  for (int32_t r = 0; r < p; r++) {
    precision[wb_packed_at(r, r)] = 1;
    pull[r] = hyper->mean[r];
  }
}

static void learn_mean(wb_mixture_prior *prior, uint64_t key, uint32_t iteration, double *precision, double *pull) {
  const int32_t p = prior->columns;
  if (wb_cholesky(p, precision) != 0) return;
  wb_triangle_solve(p, precision, pull, pull);
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PRIOR_MEAN, iteration, 0);
  for (int32_t r = 0; r < p; r++) pull[r] += wb_draw_normal(&stream);
  wb_triangle_solve_transposed(p, precision, pull, prior->mean);
}

/* gamma ~ IG(a, b) has the posterior IG(a + k p/2, b + sum |F_j (mu_j - m)|^2 / 2). */
static int learn_mean_scale(wb_mixture_chain *chain, uint32_t iteration) {
  wb_mixture_prior *const prior = &chain->prior;
  const wb_mixture_hyperprior *const hyper = prior->hyper;
  const wb_mixture_state *const state = &chain->state;
  const wb_mixture_measures measures = {.center = prior->mean, .distance = state->distance};
  WB_TRY(chain->backend->mixture->measure(chain->session, &measures, chain->message));
  double rate = hyper->mean_scale_rate;
  for (int32_t j = 0; j < state->components; j++) rate += 0.5 * state->distance[j];
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_PRIOR_MEAN_SCALE, iteration, 0);
  const double shape = hyper->mean_scale_shape + 0.5 * (double)state->components * state->columns;
  prior->mean_scale = wb_exp(wb_log(rate) - wb_draw_log_gamma(&stream, shape));
  return WB_OK;
}

/* Phi ~ W(q, R) has the posterior W(q + k (nu + p + 1), (R^-1 + nu sum Sigma_j^-1)^-1). Returns 0 if R has no root. */
static int begin_scale(const wb_mixture_hyperprior *hyper, int32_t p, double *root, double *precision) {
  for (size_t i = 0; i < wb_packed_size(p); i++) root[i] = hyper->scale[i] / hyper->scale_df;
  if (wb_cholesky(p, root) != 0) return 0;
  wb_triangle_inverse(p, root, root);
  wb_triangle_gram(p, root, precision);
  return 1;
}

static void learn_scale(wb_mixture_chain *chain, uint32_t iteration, double *precision, double *bartlett,
                        double *root) {
  const wb_mixture_prior *const prior = &chain->prior;
  const int32_t p = prior->columns;
  if (wb_cholesky(p, precision) != 0) return;
  wb_triangle_inverse(p, precision, precision);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_PRIOR_SCALE, iteration, 0);
  const double df = prior->hyper->scale_df + (double)chain->state.components * (prior->df + p + 1);
  wb_draw_wishart_gram_factor(&stream, p, df, bartlett);
  wb_triangle_multiply(p, bartlett, precision, root);
  wb_triangle_gram(p, root, prior->scale);
}

/* nu uniform on a grid: p(nu | ...) is proportional to prod_j IW(Sigma_j | nu + p + 1, nu Phi). */
static int learn_df(wb_mixture_chain *chain, uint32_t iteration) {
  wb_mixture_prior *const prior = &chain->prior;
  const wb_mixture_hyperprior *const hyper = prior->hyper;
  const wb_mixture_state *const state = &chain->state;
  const int32_t p = state->columns, k = state->components;
  double *root = state->workspace, trace = 0, log_determinant = 0;
  memcpy(root, prior->scale, wb_packed_size(p) * sizeof(double));
  if (wb_cholesky(p, root) != 0) return WB_OK;
  const double log_scale = 2 * wb_triangle_log_determinant(p, root);
  const wb_mixture_measures measures = {.log_determinant = state->log_determinant, .root = root, .trace = state->trace};
  WB_TRY(chain->backend->mixture->measure(chain->session, &measures, chain->message));
  for (int32_t j = 0; j < k; j++) {
    trace += state->trace[j];
    log_determinant += state->log_determinant[j];
  }
  double log_weight[WB_MIXTURE_DF_GRID], weight[WB_MIXTURE_DF_GRID], largest = -1e300, total = 0;
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) {
    const double nu = hyper->df_grid[i], df = nu + p + 1;
    log_weight[i] =
        k * (0.5 * df * (p * hyper->df_log[i] + log_scale) - 0.5 * df * p * WB_LN2_HIGH - hyper->df_log_gamma[i]) +
        df * log_determinant - 0.5 * nu * trace;
    if (log_weight[i] > largest) largest = log_weight[i];
  }
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) total += weight[i] = wb_exp_weight(log_weight[i] - largest);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_PRIOR_DF, iteration, 0);
  const double position = wb_stream_uniform(&stream) * total;
  double sum = 0;
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) {
    if (weight[i] > 0) prior->df = hyper->df_grid[i];
    sum += weight[i];
    if (sum > position) break;
  }
  return WB_OK;
}

int wb_mixture_learn_prior(wb_mixture_chain *chain, uint32_t iteration) {
  wb_mixture_prior *const prior = &chain->prior;
  const wb_mixture_hyperprior *const hyper = prior->hyper;
  const wb_mixture_state *const state = &chain->state;
  const int32_t p = state->columns;
  const size_t triangle = wb_packed_size(p);
  /* The draw of Phi reuses the memory of the precision of m. */
  double *scale_precision = state->workspace, *mean_precision = scale_precision + triangle;
  double *root = mean_precision + triangle, *pull = root + triangle;
  if (hyper->learn_mean) begin_mean(hyper, p, mean_precision, pull);
  const int scale = hyper->learn_scale && begin_scale(hyper, p, root, scale_precision);
  if (hyper->learn_mean || scale) {
    const wb_mixture_precisions sums = {.mean_weight = 1 / prior->mean_scale,
                                        .scale_weight = prior->df,
                                        .pull = hyper->learn_mean ? pull : NULL,
                                        .mean_precision = hyper->learn_mean ? mean_precision : NULL,
                                        .scale_precision = scale ? scale_precision : NULL};
    WB_TRY(chain->backend->mixture->add_precisions(chain->session, &sums, chain->message));
  }
  if (hyper->learn_mean) learn_mean(prior, chain->key, iteration, mean_precision, pull);
  if (hyper->learn_mean_scale) WB_TRY(learn_mean_scale(chain, iteration));
  if (scale) learn_scale(chain, iteration, scale_precision, mean_precision, root);
  return hyper->learn_df ? learn_df(chain, iteration) : WB_OK;
}

double wb_mixture_log_hyperprior(const wb_mixture_hyperprior *hyper, const wb_mixture_prior *prior,
                                 wb_mixture_state *state) {
  const int32_t p = prior->columns;
  double sum = 0;
  if (hyper->learn_mean)
    for (int32_t r = 0; r < p; r++) {
      const double deviation = prior->mean[r] - hyper->mean[r];
      sum -= 0.5 * (WB_LOG_2_PI + deviation * deviation);
    }
  if (hyper->learn_mean_scale) {
    const double a = hyper->mean_scale_shape, b = hyper->mean_scale_rate;
    sum += hyper->mean_scale_constant - (a + 1) * wb_log(prior->mean_scale) - b / prior->mean_scale;
  }
  if (hyper->learn_scale) {
    const size_t triangle = wb_packed_size(p);
    const double q = hyper->scale_df;
    double *root = state->workspace, *inverse = root + triangle, trace = 0;
    memcpy(root, prior->scale, triangle * sizeof(double));
    for (size_t i = 0; i < triangle; i++) inverse[i] = hyper->scale[i] / q;
    if (wb_cholesky(p, root) != 0 || wb_cholesky(p, inverse) != 0) return wb_nan();
    sum += (q - p - 1) * wb_triangle_log_determinant(p, root) - q * wb_triangle_log_determinant(p, inverse) -
           0.5 * q * p * WB_LN2_HIGH - hyper->scale_log_gamma;
    wb_triangle_inverse(p, inverse, inverse);
    wb_triangle_multiply(p, inverse, root, inverse);
    for (size_t i = 0; i < triangle; i++) trace = wb_fma(inverse[i], inverse[i], trace);
    sum -= 0.5 * trace;
  }
  return sum;
}
