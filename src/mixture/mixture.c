/* One sweep of the Gibbs sampler, as far as it concerns all components and no single
 * row: from statistics to parameters, and the prior's density (see mixture.h). */
#include "core/rounding.h"

#include "mixture/mixture.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "core/random_wishart.h"

size_t wb_mixture_state_size(int32_t components, int32_t columns) {
  const size_t k = (size_t)components, p = (size_t)columns;
  return k * (WB_MIXTURE_STATISTICS(columns) + 2 * p + wb_packed_size(columns) + 4) +
         3 * wb_packed_size(columns) + 3 * p;
}

void wb_mixture_state_place(wb_mixture_state *state, int32_t components, int32_t columns,
                            double *memory) {
  const size_t k = (size_t)components, p = (size_t)columns;
  state->components = components;
  state->columns = columns;
  state->statistics = memory;
  state->mean = state->statistics + k * WB_MIXTURE_STATISTICS(columns);
  state->offset = state->mean + k * p;
  state->factor = state->offset + k * p;
  state->log_weight = state->factor + k * wb_packed_size(columns);
  state->log_rest = state->log_weight + k;
  state->log_constant = state->log_rest + k;
  state->log_floored = state->log_constant + k;
  state->workspace = state->log_floored + k;
}

static double *statistics_of(const wb_mixture_state *state, int32_t j) {
  return state->statistics + (size_t)j * WB_MIXTURE_STATISTICS(state->columns);
}

/* Cholesky factor of the posterior scale; 0 if there is none. If a component's rows agree
 * to 1e-8 of the data's spread and the prior adds less than that, rounding can make an
 * eigenvalue zero or negative. Then the diagonal is raised by 1e-15 of its largest entry,
 * or by the least power of ten times that for which the matrix has a factor. */
static int factor_scale(int32_t p, const double *scale, double *factor) {
  double largest = 0;
  for (int32_t r = 0; r < p; r++) {
    const double variance = scale[wb_packed_row(r) + (size_t)r];
    if (variance > largest) largest = variance;
  }
  for (double ridge = 0; ridge < 1; ridge = ridge == 0 ? 1e-15 : 10 * ridge) {
    memcpy(factor, scale, wb_packed_size(p) * sizeof(double));
    for (int32_t r = 0; r < p; r++) factor[wb_packed_row(r) + (size_t)r] += ridge * largest;
    if (wb_cholesky(p, factor) == 0) return 1;
  }
  return 0;
}

void wb_mixture_posterior_scale(const wb_mixture_prior *prior, const double *statistics,
                                double *scale) {
  const int32_t p = prior->columns;
  const double *sum = statistics + 1, *product = sum + p;
  const double n = statistics[0], shrink = 1 / (1 + prior->mean_scale * n);
  for (int32_t r = 0; r < p; r++) {
    for (int32_t c = 0; c <= r; c++) {
      const size_t at = wb_packed_row(r) + (size_t)c;
      double value = prior->df * prior->scale[at];
      if (n > 0) {
        const double xr = sum[r] / n, xc = sum[c] / n;
        value += product[at] - sum[r] * xc;
        value += n * shrink * ((xr - prior->mean[r]) * (xc - prior->mean[c]));
        if (r == c && prior->floor) value += n * prior->floor[r];
      }
      scale[at] = value;
    }
  }
}

/* Sigma_j and mu_j from their normal-inverse-Wishart law given the rows of
 * component j (gamma_n, m_n, Psi_n). With Psi = C C' and a lower
 * triangle B such that B'B is Wishart with identity scale, F = B C^-1. */
static int draw_component(const wb_mixture_prior *prior, wb_mixture_state *state, int32_t j,
                          uint64_t key, uint32_t iteration) {
  const int32_t p = state->columns;
  const size_t triangle = wb_packed_size(p);
  const double *statistics = statistics_of(state, j), *sum = statistics + 1;
  const double n = statistics[0], shrink = 1 / (1 + prior->mean_scale * n);
  double *scale = state->workspace, *root = scale + triangle, *bartlett = root + triangle;
  double *center = bartlett + triangle, *noise = center + p;
  double *mean = state->mean + (size_t)j * (size_t)p, *offset = state->offset + (size_t)j * (size_t)p;
  double *factor = state->factor + (size_t)j * triangle;

  for (int32_t r = 0; r < p; r++)
    center[r] = (prior->mean[r] + prior->mean_scale * sum[r]) * shrink;
  wb_mixture_posterior_scale(prior, statistics, scale);
  if (!factor_scale(p, scale, root)) return 0;
  wb_triangle_inverse(p, root, root);

  wb_stream stream = wb_stream_open(key, WB_PURPOSE_COVARIANCE, iteration, (uint64_t)j);
  wb_draw_wishart_gram_factor(&stream, p, prior->df + n + p + 1, bartlett);
  wb_triangle_multiply(p, bartlett, root, factor);

  stream = wb_stream_open(key, WB_PURPOSE_MEAN, iteration, (uint64_t)j);
  const double sd = wb_sqrt(prior->mean_scale * shrink);
  for (int32_t r = 0; r < p; r++) noise[r] = sd * wb_draw_normal(&stream);
  wb_triangle_apply(p, factor, center, offset);
  for (int32_t r = 0; r < p; r++) offset[r] += noise[r];
  wb_triangle_solve(p, factor, noise, mean);
  for (int32_t r = 0; r < p; r++) mean[r] += center[r];
  return 1;
}

static void exchange(double *a, double *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    const double kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

/* Exchanges of neighbouring labels l, l + 1, from the last pair to the first,
 * with the sticks integrated out: p(z | alpha) is proportional to
 * prod_{j<k} n_j! Gamma(alpha + n_k) / prod_{j<=k-2} (alpha + s_j), where s_j is the
 * number of rows of the components after j. The rest of the joint density does not
 * depend on the labels. */
static void exchange_labels(wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t k = state->components, p = state->columns;
  const double alpha = state->concentration;
  double behind = 0; /* rows of the components after l + 1 */
  for (int32_t l = k - 2; l >= 0; l--) {
    const double n = statistics_of(state, l)[0], next = statistics_of(state, l + 1)[0];
    double log_ratio;
    if (l == k - 2)
      log_ratio = wb_lgamma(1 + next) + wb_lgamma(alpha + n) - wb_lgamma(1 + n) - wb_lgamma(alpha + next);
    else
      log_ratio = wb_log((alpha + next + behind) / (alpha + n + behind));
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_LABEL_SWAP, iteration, (uint64_t)l);
    if (wb_log(wb_stream_uniform(&stream)) < log_ratio) {
      const size_t columns = (size_t)p, at = (size_t)l;
      exchange(statistics_of(state, l), statistics_of(state, l + 1), WB_MIXTURE_STATISTICS(p));
      exchange(state->mean + at * columns, state->mean + (at + 1) * columns, columns);
      exchange(state->offset + at * columns, state->offset + (at + 1) * columns, columns);
      exchange(state->factor + at * wb_packed_size(p), state->factor + (at + 1) * wb_packed_size(p),
               wb_packed_size(p));
    }
    behind += statistics_of(state, l + 1)[0];
  }
}

/* v_j ~ Be(1 + n_j, alpha + s_j), s_j the number of rows of the components after j. */
static void draw_sticks(wb_mixture_state *state, uint64_t key, uint32_t iteration) {
  const int32_t k = state->components;
  double behind = 0;
  for (int32_t j = k - 1; j >= 0; j--) {
    const double n = statistics_of(state, j)[0];
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_STICK, iteration, (uint64_t)j);
    if (j == k - 1) {
      state->log_weight[j] = 0;
      state->log_rest[j] = 0;
    } else {
      wb_draw_log_beta(&stream, 1 + n, state->concentration + behind, &state->log_weight[j],
                       &state->log_rest[j]);
    }
    behind += n;
  }
  double before = 0;
  for (int32_t j = 0; j < k; j++) {
    state->log_weight[j] += before;
    before += state->log_rest[j];
  }
}

/* alpha ~ Ga(e + k - 1, f - sum_{j<k} log(1 - v_j)). */
static void draw_concentration(const wb_mixture_prior *prior, wb_mixture_state *state,
                               uint64_t key, uint32_t iteration) {
  double rate = prior->rate;
  for (int32_t j = 0; j < state->components - 1; j++) rate -= state->log_rest[j];
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_CONCENTRATION, iteration, 0);
  const double log_gamma = wb_draw_log_gamma(&stream, prior->shape + state->components - 1);
  /* The next sticks need alpha above 0 and finite. */
  const double alpha = wb_exp(log_gamma - wb_log(rate));
  state->concentration = alpha < 1e-300 ? 1e-300 : alpha > 1e300 ? 1e300 : alpha;
}

void wb_mixture_set_constants(wb_mixture_state *state) {
  const int32_t p = state->columns;
  for (int32_t j = 0; j < state->components; j++)
    state->log_constant[j] = state->log_weight[j] - 0.5 * p * WB_LOG_2_PI +
                             wb_triangle_log_determinant(p, state->factor + (size_t)j * wb_packed_size(p));
}

/* tr(Sigma^-1 E) = sum_c E_c sum_r F_rc^2. */
void wb_mixture_set_floor(const wb_mixture_prior *prior, wb_mixture_state *state) {
  const int32_t p = state->columns;
  for (int32_t j = 0; j < state->components; j++) {
    const double *factor = state->factor + (size_t)j * wb_packed_size(p);
    double trace = 0;
    if (prior->floor)
      for (int32_t r = 0; r < p; r++)
        for (int32_t c = 0; c <= r; c++, factor++) trace = wb_fma(prior->floor[c] * *factor, *factor, trace);
    state->log_floored[j] = state->log_constant[j] - 0.5 * trace;
  }
}

int wb_mixture_draw_parameters(const wb_mixture_prior *prior, wb_mixture_state *state,
                               uint64_t key, uint32_t iteration, int moves, wb_message *message) {
  for (int32_t j = 0; j < state->components; j++) {
    if (!draw_component(prior, state, j, key, iteration)) {
      wb_message_write(message, "the covariance of component %d could not be drawn: its scale matrix is not finite",
                       (int)j + 1);
      return WB_ERROR_INPUT;
    }
  }
  if (moves) exchange_labels(state, key, iteration);
  draw_sticks(state, key, iteration);
  draw_concentration(prior, state, key, iteration);
  wb_mixture_set_constants(state);
  wb_mixture_set_floor(prior, state);
  return WB_OK;
}

wb_mixture_parameters wb_mixture_parameters_of(const wb_mixture_state *state) {
  const wb_mixture_parameters parameters = {state->components, state->factor, state->offset,
                                            state->log_constant};
  return parameters;
}

wb_mixture_parameters wb_mixture_allocation_of(const wb_mixture_state *state) {
  const wb_mixture_parameters parameters = {state->components, state->factor, state->offset,
                                            state->log_floored};
  return parameters;
}

int wb_mixture_sweep(const wb_backend *backend, wb_mixture_session *session,
                     wb_mixture_prior *prior, wb_mixture_state *state, uint64_t key,
                     uint32_t iteration, int moves, int32_t *labels, double *log_likelihood,
                     wb_message *message) {
  const int status = wb_mixture_draw_parameters(prior, state, key, iteration, moves, message);
  if (status != WB_OK) return status;
  if (prior->hyper) wb_mixture_learn_prior(prior->hyper, prior, state, key, iteration);
  const wb_mixture_parameters parameters = wb_mixture_allocation_of(state);
  return backend->mixture->draw_labels(session, &parameters, key, iteration, labels, state->statistics,
                                       log_likelihood, message);
}

double wb_mixture_log_prior(const wb_mixture_prior *prior, wb_mixture_state *state) {
  const int32_t p = state->columns, k = state->components;
  const size_t triangle = wb_packed_size(p);
  double *root = state->workspace, *product = root + triangle, *deviation = product + 2 * triangle;
  const double df = prior->df + p + 1, alpha = state->concentration;
  const double hyper = prior->hyper ? wb_mixture_log_hyperprior(prior->hyper, prior, state) : 0;
  for (size_t i = 0; i < triangle; i++) product[i] = prior->df * prior->scale[i];
  if (!factor_scale(p, product, root)) return wb_nan();

  const double constant = df * wb_triangle_log_determinant(p, root) - 0.5 * df * p * WB_LN2_HIGH -
                          wb_lgamma_multivariate(p, 0.5 * df) - 0.5 * p * (WB_LOG_2_PI + wb_log(prior->mean_scale));
  double sum = hyper;
  for (int32_t j = 0; j < k; j++) {
    const double *factor = state->factor + (size_t)j * triangle;
    wb_triangle_multiply(p, factor, root, product);
    double trace = 0;
    for (size_t i = 0; i < triangle; i++) trace = wb_fma(product[i], product[i], trace);
    for (int32_t r = 0; r < p; r++)
      deviation[r] = state->mean[(size_t)j * (size_t)p + (size_t)r] - prior->mean[r];
    sum += constant + (df + p + 2) * wb_triangle_log_determinant(p, factor) - 0.5 * trace -
           0.5 / prior->mean_scale * wb_quadratic_form(p, factor, deviation);
  }
  for (int32_t j = 0; j < k - 1; j++) sum += wb_log(alpha) + (alpha - 1) * state->log_rest[j];
  return sum + prior->shape * wb_log(prior->rate) - wb_lgamma(prior->shape) +
         (prior->shape - 1) * wb_log(alpha) - prior->rate * alpha;
}
