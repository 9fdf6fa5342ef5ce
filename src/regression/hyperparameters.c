/* Draws of hyperparameters: the variance of the groups' intercepts, their factor, and the dispersion of counts. */
#include "core/scalar.h"

#include "numeric/log_gamma.h"
#include "regression/draws.h"

wb_regression_parameters wb_regression_parameters_of(const wb_regression_state *state, double dispersion) {
  return (wb_regression_parameters){
      state->coefficients,
      state->groups > 0 ? state->intercepts : NULL,
      dispersion,
      dispersion > 0.0 ? -wb_log(dispersion) : 0.0,
      WB_REGRESSION_DRAWN,
      state->grouping ? state->effects : NULL,
      0,
  };
}

wb_regression_parameters wb_regression_own_parameters(const wb_regression_state *state) {
  return wb_regression_parameters_of(state, state->scalars[WB_REGRESSION_DISPERSION]);
}

wb_regression_pair wb_regression_pair_of(const wb_regression_chain *chain, const wb_regression_parameters *own) {
  const wb_regression_chain *const other = chain->beside;
  const wb_regression_parameters its = wb_regression_own_parameters(&other->state);
  return chain->data->zeros ? (wb_regression_pair){chain->session, other->session, *own, its}
                            : (wb_regression_pair){other->session, chain->session, its, *own};
}

int wb_regression_evaluate(const wb_regression_chain *chain, const wb_regression_parameters *own, double *sum) {
  const wb_regression_functions *const table = chain->backend->regression;
  if (!chain->beside) return table->log_likelihood(chain->session, own, sum, chain->message);
  const wb_regression_pair pair = wb_regression_pair_of(chain, own);
  return table->pair_log_likelihood(&pair, sum, chain->message);
}

void wb_regression_draw_group_scale(const wb_regression_chain *chain, uint32_t iteration) {
  const wb_regression_state *const state = &chain->state;
  const double scale = chain->prior.group_scale;
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_GROUP_SCALE, iteration, 0);
  double *const variance = &state->scalars[WB_REGRESSION_GROUP_VARIANCE];
  double *const auxiliary = &state->scalars[WB_REGRESSION_GROUP_AUXILIARY];
  double sum = 0.0;
  for (int32_t g = 0; g < state->groups; g++) sum = wb_fma(state->intercepts[g], state->intercepts[g], sum);
  *variance = wb_fma(0.5, sum, 1.0 / *auxiliary) / wb_draw_gamma(&stream, 0.5 * ((double)state->groups + 1.0));
  *auxiliary = (1.0 / (scale * scale) + 1.0 / *variance) / wb_draw_exponential(&stream);
}

/* The sum of lgamma(y + r) - lgamma(r) - y log(r). For large r the gamma functions would lose all digits. */
double wb_regression_count_constant(const wb_regression_counts *counts, double r) {
  double sum = 0.0;
  if (r < 1000.0) {
    for (int64_t i = 0; i < counts->distinct; i++) sum = wb_fma(counts->weight[i], counts->value[i], sum);
    return wb_log_gamma_sum(counts->isa, counts->distinct, counts->value, counts->weight, r,
                            wb_fma(-sum, wb_log(r), -counts->rows * wb_lgamma(r)));
  }
  return wb_log_gamma_excess_sum(counts->isa, counts->distinct, counts->value, counts->weight, r);
}

/* 1/sqrt(r) is the coefficient of variation of means besides the predictors. If it is half-Cauchy of scale s, log(r)
 * has a density proportional to exp(-log(r)/2)/(s^2 + 1/r). */
double wb_regression_log_dispersion(const wb_regression_prior *prior, double log_r) {
  const double scale = prior->dispersion_scale;
  if (scale > 0.0) return wb_fma(-0.5, log_r, -wb_log(wb_fma(scale, scale, wb_exp(-log_r))));
  return wb_fma(prior->dispersion_shape, log_r, -prior->dispersion_rate * wb_exp(log_r));
}

typedef struct dispersion_law {
  const wb_regression_chain *chain;
  int *status;
} dispersion_law;

static double log_density(const void *of, double log_r) {
  const dispersion_law *const law = of;
  const wb_regression_chain *const chain = law->chain;
  const double r = wb_exp(log_r);
  const wb_regression_parameters parameters = wb_regression_parameters_of(&chain->state, r);
  double density = 0.0;
  if (*law->status == WB_OK) *law->status = wb_regression_evaluate(chain, &parameters, &density);
  return density +
         (wb_regression_count_constant(&chain->counts, r) + wb_regression_log_dispersion(&chain->prior, log_r));
}

int wb_regression_draw_dispersion(const wb_regression_chain *chain, uint32_t iteration) {
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_DISPERSION, iteration, 0);
  double *const dispersion = &chain->state.scalars[WB_REGRESSION_DISPERSION];
  int status = WB_OK;
  const dispersion_law law = {chain, &status};
  /* A few standard deviations of log(r) where it is well determined. */
  const double wide = 6.0 / wb_sqrt(chain->counts.rows + 1.0), width = wide > 1.0 ? 1.0 : wide;
  const double log_r =
      wb_slice_draw(log_density, &law, width, 32, WB_REGRESSION_DISPERSION_MOST, wb_log(*dispersion), &stream);
  if (status == WB_OK) *dispersion = wb_exp(log_r);
  return status;
}

static double factor_density(const void *of, double t) {
  const wb_regression_factor_law *const law = of;
  const double c = wb_exp(t);
  return wb_fma(c, wb_fma(-0.5 * law->square, c, law->linear), -law->power * t) -
         0.5 * (law->power + 1.0) * wb_log(law->tie / (c * c) + law->floor);
}

double wb_regression_draw_log_factor(const wb_regression_factor_law *law, wb_stream *stream) {
  return wb_slice_draw(factor_density, law, 1.0, 16, WB_MOST_LOG, 0.0, stream);
}
