/* Draws of hyperparameters of a regression: the variance of the groups' intercepts, and the dispersion of counts. */
#include "core/scalar.h"

#include "core/random_gamma.h"
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

/* The log density of log(r), up to a constant, given the coefficients. */
static int log_density(const wb_regression_chain *chain, double log_r, double *density) {
  const double r = wb_exp(log_r);
  const wb_regression_parameters parameters = wb_regression_parameters_of(&chain->state, r);
  WB_TRY(chain->backend->regression->log_likelihood(chain->session, &parameters, density, chain->message));
  *density += wb_regression_count_constant(&chain->counts, r) + wb_regression_log_dispersion(&chain->prior, log_r);
  return WB_OK;
}

/* Steps out on both sides together (Neal 2003, "Slice sampling", Annals of Statistics 31, 705-767, figure 3). */
#define DISPERSION_STEPS 32

int wb_regression_draw_dispersion(const wb_regression_chain *chain, uint32_t iteration) {
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_DISPERSION, iteration, 0);
  double *const dispersion = &chain->state.scalars[WB_REGRESSION_DISPERSION];
  const double current = wb_log(*dispersion);
  /* A few standard deviations of log(r) where it is well determined. */
  const double wide = 6.0 / wb_sqrt(chain->counts.rows + 1.0), width = wide > 1.0 ? 1.0 : wide;
  double level, density = 0.0, low, high;
  WB_TRY(log_density(chain, current, &level));
  level -= wb_draw_exponential(&stream);
  low = current - width * wb_stream_uniform(&stream);
  high = low + width;
  int left = (int)(DISPERSION_STEPS * wb_stream_uniform(&stream)), right = DISPERSION_STEPS - 1 - left;
  for (; left > 0 && low > -WB_REGRESSION_DISPERSION_MOST; left--, low -= width) {
    WB_TRY(log_density(chain, low, &density));
    if (!(density > level)) break;
  }
  for (; right > 0 && high < WB_REGRESSION_DISPERSION_MOST; right--, high += width) {
    WB_TRY(log_density(chain, high, &density));
    if (!(density > level)) break;
  }
  if (low < -WB_REGRESSION_DISPERSION_MOST) low = -WB_REGRESSION_DISPERSION_MOST;
  if (high > WB_REGRESSION_DISPERSION_MOST) high = WB_REGRESSION_DISPERSION_MOST;
  for (;;) {
    const double at = wb_fma(high - low, wb_stream_uniform(&stream), low);
    WB_TRY(log_density(chain, at, &density));
    if (density > level) *dispersion = wb_exp(at);
    if (density > level || !(high - low > 1e-14)) return WB_OK;
    if (at < current) low = at;
    else high = at;
  }
}
