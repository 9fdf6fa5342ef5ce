/* Ranks the modes of the posterior. With h for what is learned of the prior, and labels z drawn by q from parameters,
 *   score = log p(x, z | h) + log p(h) - log q(z),  q(z) = prod_i pi_z N(x_i | z) / sum_j pi_j N(x_i | j).
 * Parameters and sticks are integrated out of p(x, z | h). The score's mean is a lower bound of the log of the
 * posterior mass around the parameters (Jensen), up to one constant for all chains. */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/mixture_component.h"
#include "mixture/mixture.h"

/* sum |F (x - mu)|^2 over the rows of a component, by their statistics. precision: room for a triangle. */
static double square_distances(int32_t p, const double *statistics, const double *mean, const double *factor,
                               double *precision) {
  const double n = statistics[0], *const sum = statistics + 1, *product = sum + p;
  double total = 0;
  wb_triangle_gram(p, factor, precision);
  for (int32_t r = 0; r < p; r++) {
    for (int32_t c = 0; c <= r; c++, precision++, product++) {
      const double moment = *product - sum[r] * mean[c] - mean[r] * sum[c] + n * mean[r] * mean[c];
      total += (r == c ? 1 : 2) * *precision * moment;
    }
  }
  return total;
}

int wb_mixture_score(wb_mixture_chain *chain, double log_likelihood, double *score) {
  wb_mixture_state *const state = &chain->state;
  const wb_mixture_prior *const prior = &chain->prior;
  const int32_t p = state->columns;
  const size_t triangle = wb_packed_size(p);
  const double alpha = state->concentration;
  double *const scale = state->workspace, *const precision = scale + triangle, *const average = precision + triangle;
  *score = wb_nan();
  if (state->samples && !state->samples->together) return WB_OK;
  WB_TRY(wb_mixture_fetch_statistics(chain));
  WB_TRY(wb_mixture_fetch_parameters(chain));
  double sum = log_likelihood + prior->shape * wb_log(alpha) - prior->rate * alpha, rows = 0;
  if (prior->hyper) sum += wb_mixture_log_hyperprior(prior->hyper, prior, state);
  const double of_prior = wb_mixture_log_marginal_prior(prior, scale);
  for (int32_t j = 0; j < state->components; j++) {
    const double *const statistics = wb_mixture_statistics_of(state, j);
    const double *const mean = state->mean + (size_t)j * (size_t)p;
    const double *const factor = state->factor + (size_t)j * triangle;
    const double n = statistics[0];
    if (n <= 0) continue;
    const double floor = prior->floor ? wb_component_floor_trace(p, factor, prior->floor) : 0;
    sum += wb_mixture_log_marginal(prior, of_prior, statistics, average, scale) + wb_lgamma(n) + wb_log(alpha) -
           n * (state->log_constant[j] - 0.5 * floor) + 0.5 * square_distances(p, statistics, mean, factor, precision);
    rows += n;
  }
  *score = sum + wb_lgamma(alpha) - wb_lgamma(alpha + rows) - 0.5 * rows * p * (WB_LOG_2_PI - WB_LN2_HIGH);
  return WB_OK;
}
