/* Sums of densities of mixtures given by moments, and the most probable mixture. */
#include "core/rounding.h"

#include "mixture/mixture.h"

#include "numeric/log_add.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

typedef struct conversion {
  const wb_mixture_draws *draws;
  const double *center, *inverse_scale;
  wb_mixture_state *state; /* draws; likewise the others */
  wb_message *message;
  int *status;
} conversion;

static void convert(void *context, int64_t i) {
  const conversion *const c = context;
  const wb_mixture_draws *const draws = c->draws;
  const size_t k = (size_t)draws->components, p = (size_t)draws->columns, at = (size_t)draws->which[i];
  c->status[i] =
      wb_mixture_from_moments(&c->state[i], draws->weights + (size_t)i * k, draws->means + at * k * p,
                              draws->covariances + at * k * p * p, c->center, c->inverse_scale, &c->message[i]);
}

int wb_mixture_add_densities(const wb_backend *backend, wb_mixture_session *session, int32_t threads,
                             const wb_mixture_draws *draws, const double *center, const double *inverse_scale,
                             int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                             wb_message *message) {
  const size_t n = (size_t)draws->count, size = wb_mixture_state_size(draws->components, draws->columns);
  conversion c = {.draws = draws, .center = center, .inverse_scale = inverse_scale};
  wb_mixture_parameters *parameters;
  double *room;
  void *const memory = WB_PARTS("the components of draws", message, WB_PART(room, n * size), WB_PART(c.state, n),
                                WB_PART(parameters, n), WB_PART(c.message, n), WB_PART(c.status, n));
  if (!memory) return WB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++)
    wb_mixture_state_place(c.state + i, draws->components, draws->columns, room + i * size);
  wb_spread(threads, draws->count, convert, &c);
  int status = WB_OK;
  for (size_t i = 0; i < n && status == WB_OK; i++) {
    if ((status = c.status[i]) != WB_OK) *message = c.message[i];
    parameters[i] = wb_mixture_parameters_of(c.state + i);
  }
  if (status == WB_OK)
    status = backend->mixture->add_densities(session, parameters, draws->count, first, count, log_unit, units,
                                             log_density, message);
  wb_aligned_free(memory);
  return status;
}

#define ROWS_TOGETHER 4096

typedef struct choice {
  wb_isa isa;
  int64_t count;
  int32_t types;
  const double *const *log_density;
  int32_t *type;
  double *probability;
} choice;

static void choose_types(void *context, int64_t piece) {
  const choice *const c = context;
  const int64_t at = piece * ROWS_TOGETHER, left = c->count - at;
  wb_log_largest(c->isa, at, left < ROWS_TOGETHER ? left : ROWS_TOGETHER, c->types, c->log_density, c->type,
                 c->probability);
}

void wb_mixture_most_probable(wb_isa isa, int32_t threads, int64_t count, int32_t types,
                              const double *const *log_density, int32_t *type, double *probability) {
  const choice c = {isa, count, types, log_density, type, probability};
  wb_spread(threads, (count + ROWS_TOGETHER - 1) / ROWS_TOGETHER, choose_types, (void *)&c);
}
