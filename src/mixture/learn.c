/* Parts of the prior that are learned along with the mixture: draws from their full
 * conditionals given the means and covariances of all components, with or without rows
 * (West, Müller & Escobar 1994 for m and gamma; conjugate for Phi; nu on a grid). */
#include "core/rounding.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "core/random_wishart.h"
#include "mixture/mixture.h"

static const double *factor_of(const wb_mixture_state *state, int32_t j) {
  return state->factor + (size_t)j * wb_packed_size(state->columns);
}

/* gram += weight F'F, packed. */
static void add_gram(int32_t p, double weight, const double *factor, double *gram) {
  for (int32_t k = 0; k < p; k++) {
    const double *row = factor + wb_packed_row(k);
    for (int32_t r = 0; r <= k; r++)
      for (int32_t c = 0; c <= r; c++)
        gram[wb_packed_row(r) + (size_t)c] = wb_fma(weight * row[r], row[c], gram[wb_packed_row(r) + (size_t)c]);
  }
}

/* m ~ N(m0, I): precision I + sum Sigma_j^-1 / gamma. */
static void learn_mean(const wb_mixture_hyperprior *hyper, wb_mixture_prior *prior,
                       wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t p = state->columns;
  double *precision = state->workspace, *sum = precision + 3 * wb_packed_size(p), *pull = sum + p;
  const double weight = 1 / prior->mean_scale;
  memset(precision, 0, wb_packed_size(p) * sizeof(double));
  for (int32_t r = 0; r < p; r++) {
    precision[wb_packed_row(r) + (size_t)r] = 1;
    sum[r] = hyper->mean[r];
  }
  for (int32_t j = 0; j < state->components; j++) {
    add_gram(p, weight, factor_of(state, j), precision);
    wb_triangle_apply_transposed(p, factor_of(state, j), state->offset + (size_t)j * (size_t)p, pull);
    for (int32_t r = 0; r < p; r++) sum[r] = wb_fma(weight, pull[r], sum[r]);
  }
  if (wb_cholesky(p, precision) != 0) return;
  wb_triangle_solve(p, precision, sum, sum);
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PRIOR_MEAN, iteration, 0);
  for (int32_t r = 0; r < p; r++) sum[r] += wb_draw_normal(&stream);
  wb_triangle_solve_transposed(p, precision, sum, prior->mean);
}

/* gamma ~ IG(a, b): IG(a + k p/2, b + sum |F_j (mu_j - m)|^2 / 2). */
static void learn_mean_scale(const wb_mixture_hyperprior *hyper, wb_mixture_prior *prior,
                             wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t p = state->columns;
  double *deviation = state->workspace, rate = hyper->mean_scale_rate;
  for (int32_t j = 0; j < state->components; j++) {
    for (int32_t r = 0; r < p; r++)
      deviation[r] = state->mean[(size_t)j * (size_t)p + (size_t)r] - prior->mean[r];
    rate += 0.5 * wb_quadratic_form(p, factor_of(state, j), deviation);
  }
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PRIOR_MEAN_SCALE, iteration, 0);
  const double shape = hyper->mean_scale_shape + 0.5 * (double)state->components * p;
  prior->mean_scale = wb_exp(wb_log(rate) - wb_draw_log_gamma(&stream, shape));
}

/* Phi ~ W(q, R): W(q + k (nu + p + 1), (R^-1 + nu sum Sigma_j^-1)^-1). */
static void learn_scale(const wb_mixture_hyperprior *hyper, wb_mixture_prior *prior,
                        wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t p = state->columns;
  const size_t triangle = wb_packed_size(p);
  double *precision = state->workspace, *bartlett = precision + triangle, *root = bartlett + triangle;
  /* R = scale / q: its inverse by way of its Cholesky factor. */
  for (size_t i = 0; i < triangle; i++) root[i] = hyper->scale[i] / hyper->scale_df;
  if (wb_cholesky(p, root) != 0) return;
  wb_triangle_inverse(p, root, root);
  wb_triangle_gram(p, root, precision);
  for (int32_t j = 0; j < state->components; j++) add_gram(p, prior->df, factor_of(state, j), precision);
  if (wb_cholesky(p, precision) != 0) return;
  wb_triangle_inverse(p, precision, precision);
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PRIOR_SCALE, iteration, 0);
  const double df = hyper->scale_df + (double)state->components * (prior->df + p + 1);
  wb_draw_wishart_gram_factor(&stream, p, df, bartlett);
  wb_triangle_multiply(p, bartlett, precision, root);
  wb_triangle_gram(p, root, prior->scale);
}

/* nu uniform on a grid: p(nu | ...) is proportional to
 * prod_j IW(Sigma_j | nu + p + 1, nu Phi). */
static void learn_df(const wb_mixture_hyperprior *hyper, wb_mixture_prior *prior,
                     wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t p = state->columns, k = state->components;
  const size_t triangle = wb_packed_size(p);
  double *root = state->workspace, *product = root + triangle, trace = 0, log_determinant = 0;
  memcpy(root, prior->scale, triangle * sizeof(double));
  if (wb_cholesky(p, root) != 0) return;
  const double log_scale = 2 * wb_triangle_log_determinant(p, root);
  for (int32_t j = 0; j < k; j++) {
    wb_triangle_multiply(p, factor_of(state, j), root, product);
    for (size_t i = 0; i < triangle; i++) trace = wb_fma(product[i], product[i], trace);
    log_determinant += wb_triangle_log_determinant(p, factor_of(state, j));
  }
  double log_weight[WB_MIXTURE_DF_GRID], largest = -1e300, total = 0;
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) {
    const double nu = hyper->df_grid[i], df = nu + p + 1;
    log_weight[i] = k * (0.5 * df * (p * wb_log(nu) + log_scale) - 0.5 * df * p * WB_LN2_HIGH -
                         wb_lgamma_multivariate(p, 0.5 * df)) + df * log_determinant - 0.5 * nu * trace;
    if (log_weight[i] > largest) largest = log_weight[i];
  }
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) total += wb_exp_weight(log_weight[i] - largest);
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_PRIOR_DF, iteration, 0);
  const double position = wb_stream_uniform(&stream) * total;
  double sum = 0;
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) {
    const double weight = wb_exp_weight(log_weight[i] - largest);
    if (weight > 0) prior->df = hyper->df_grid[i];
    sum += weight;
    if (sum > position) return;
  }
}

void wb_mixture_learn_prior(const wb_mixture_hyperprior *hyper, wb_mixture_prior *prior,
                            wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  if (hyper->learn_mean) learn_mean(hyper, prior, state, key, iteration);
  if (hyper->learn_mean_scale) learn_mean_scale(hyper, prior, state, key, iteration);
  if (hyper->learn_scale) learn_scale(hyper, prior, state, key, iteration);
  if (hyper->learn_df) learn_df(hyper, prior, state, key, iteration);
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
    sum += a * wb_log(b) - wb_lgamma(a) - (a + 1) * wb_log(prior->mean_scale) - b / prior->mean_scale;
  }
  if (hyper->learn_scale) {
    const size_t triangle = wb_packed_size(p);
    const double q = hyper->scale_df;
    double *root = state->workspace, *inverse = root + triangle, trace = 0;
    memcpy(root, prior->scale, triangle * sizeof(double));
    for (size_t i = 0; i < triangle; i++) inverse[i] = hyper->scale[i] / q;
    if (wb_cholesky(p, root) != 0 || wb_cholesky(p, inverse) != 0) return wb_nan();
    sum += (q - p - 1) * wb_triangle_log_determinant(p, root) -
           q * wb_triangle_log_determinant(p, inverse) - 0.5 * q * p * WB_LN2_HIGH - wb_lgamma_multivariate(p, 0.5 * q);
    wb_triangle_inverse(p, inverse, inverse);
    wb_triangle_multiply(p, inverse, root, inverse);
    for (size_t i = 0; i < triangle; i++) trace = wb_fma(inverse[i], inverse[i], trace);
    sum -= 0.5 * trace;
  }
  return sum;
}
