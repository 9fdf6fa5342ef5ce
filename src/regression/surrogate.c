/* Draws for Poisson rows. A negative binomial row with a large r is nearly the same, has a Polya-Gamma variable, and
 * is the surrogate of a Poisson row. Draws given the surrogates' variables are corrected by a Metropolis step:
 * variables and parameters together have the density of the surrogates' model times the ratio of the two
 * likelihoods, so a draw is taken with the probability min(1, ratio at the draw / ratio before). The posterior is
 * exact for any r. A larger r makes more draws acceptable and each of them shorter. */
#include "core/scalar.h"

#include "regression/draws.h"

int wb_regression_log_ratios(const wb_regression_chain *chain, double *log_ratio) {
  *log_ratio = 0.0;
  if (!chain->data->poisson) return WB_OK;
  wb_regression_parameters parameters = wb_regression_own_parameters(&chain->state);
  parameters.weights = WB_REGRESSION_RATIO;
  return chain->backend->regression->log_likelihood(chain->session, &parameters, log_ratio, chain->message);
}

int wb_regression_accept(const wb_regression_chain *chain, uint32_t iteration, uint64_t draw, double *log_ratio,
                         int *accepted) {
  *accepted = 1;
  if (!chain->data->poisson) return WB_OK;
  double drawn;
  const int status = wb_regression_log_ratios(chain, &drawn);
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_ACCEPTANCE, iteration, draw);
  *accepted = status == WB_OK && drawn > *log_ratio - wb_draw_exponential(&stream);
  if (*accepted) *log_ratio = drawn;
  return status;
}
