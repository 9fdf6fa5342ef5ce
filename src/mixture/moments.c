/* Converts between the data's and scaled units; evaluates a mixture given by moments. */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/scaled_value.h"
#include "mixture/mixture.h"

int wb_mixture_scaled_row(const wb_backend *backend, wb_mixture_session *session, const wb_mixture_data *data,
                          int64_t row, double *values, wb_message *message) {
  int missing = !data->x;
  for (int32_t c = 0; c < data->columns && data->x; c++) {
    values[c] =
        wb_scaled_value(data->x[(size_t)row + (size_t)c * (size_t)data->rows], data->center[c], data->inverse_scale[c]);
    missing |= values[c] != values[c];
  }
  return missing ? backend->mixture->get_row(session, row, values, message) : WB_OK;
}

/* The covariance of a component in scaled units, as a packed lower triangle. */
static void covariance_of(const wb_mixture_state *state, int32_t component, double *covariance) {
  const int32_t p = state->columns;
  wb_triangle_inverse(p, state->factor + (size_t)component * wb_packed_size(p), covariance);
  wb_triangle_square(p, covariance, covariance);
}

void wb_mixture_moments(wb_mixture_state *state, const wb_mixture_draw *draw) {
  const size_t k = (size_t)state->components, p = (size_t)state->columns;
  const double *unit = draw->scale;
  if (draw->means)
    for (size_t j = 0; j < k; j++)
      for (size_t c = 0; c < p; c++) draw->means[j + c * k] = draw->center[c] + unit[c] * state->mean[j * p + c];
  if (!draw->covariances) return;
  for (size_t j = 0; j < k; j++) {
    double *packed = state->workspace, *full = draw->covariances + j * p * p;
    covariance_of(state, (int32_t)j, packed);
    for (size_t r = 0; r < p; r++)
      for (size_t c = 0; c <= r; c++) full[r + c * p] = full[c + r * p] = unit[r] * unit[c] * *packed++;
  }
}

int wb_mixture_from_moments(wb_mixture_state *state, const double *weights, const double *means,
                            const double *covariances, const double *center, const double *inverse_scale,
                            wb_message *message) {
  const int32_t p = state->columns, k = state->components;
  for (int32_t j = 0; j < k; j++) {
    double *factor = state->factor + (size_t)j * wb_packed_size(p);
    double *mean = state->mean + (size_t)j * (size_t)p;
    const double *covariance = covariances + (size_t)j * (size_t)p * (size_t)p;
    for (int32_t r = 0; r < p; r++) {
      mean[r] = (means[(size_t)j + (size_t)r * (size_t)k] - center[r]) * inverse_scale[r];
      for (int32_t c = 0; c <= r; c++)
        factor[wb_packed_at(r, c)] =
            covariance[(size_t)r + (size_t)c * (size_t)p] * inverse_scale[r] * inverse_scale[c];
    }
    if (wb_cholesky(p, factor) != 0)
      return wb_fail(message, WB_ERROR_INPUT, "the covariance of component %d is not positive definite", (int)j + 1);
    wb_triangle_inverse(p, factor, factor);
    wb_triangle_apply(p, factor, mean, state->offset + (size_t)j * (size_t)p);
    state->log_weight[j] = wb_log(weights[j]);
    state->log_determinant[j] = wb_triangle_log_determinant(p, factor);
  }
  wb_mixture_set_constants(state);
  return WB_OK;
}

double wb_mixture_log_unit(int32_t columns, const double *scale) {
  double sum = 0;
  for (int32_t c = 0; c < columns; c++) sum += wb_log(scale[c]);
  return sum;
}

int wb_mixture_evaluate(const wb_backend *backend, wb_mixture_session *session, const wb_mixture_state *state,
                        int64_t first, int64_t count, int32_t *labels, double *log_density, double *probability,
                        wb_message *message) {
  const wb_mixture_parameters parameters = wb_mixture_parameters_of(state);
  return backend->mixture->evaluate(session, &parameters, first, count, labels, log_density, probability, message);
}
