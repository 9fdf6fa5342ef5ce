/* Several sweeps in one call, with what is noted after each and what a kept draw
 * consists of after the last. */
#include "core/rounding.h"

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "mixture/mixture.h"

double wb_mixture_log_density(const wb_mixture_state *state, const double *x) {
  const int32_t p = state->columns;
  double largest = WB_BLOCK_NOTHING, total = 0;
  for (int32_t j = 0; j < state->components; j++) {
    const double *row = state->factor + (size_t)j * wb_packed_size(p);
    const double *offset = state->offset + (size_t)j * (size_t)p;
    double distance = 0;
    for (int32_t r = 0; r < p; r++, row += r) {
      double z = -offset[r];
      for (int32_t c = 0; c <= r; c++) z = wb_fma(row[c], x[c], z);
      distance = wb_fma(z, z, distance);
    }
    const double log_weight = wb_fma(-0.5, distance, state->log_constant[j]);
    if (log_weight > largest) {
      total *= wb_exp_weight(largest - log_weight);
      largest = log_weight;
    }
    total += wb_exp_weight(log_weight - largest);
  }
  return largest + wb_log(total);
}

static int32_t occupied(const wb_mixture_state *state) {
  int32_t count = 0;
  for (int32_t j = 0; j < state->components; j++)
    count += state->statistics[(size_t)j * WB_MIXTURE_STATISTICS(state->columns)] > 0;
  return count;
}

static void note(const wb_mixture_sweeps *sweeps, const wb_mixture_prior *prior, wb_mixture_state *state, int32_t sweep) {
  sweeps->log_prior[sweep] = wb_mixture_log_prior(prior, state);
  sweeps->concentration[sweep] = state->concentration;
  sweeps->occupied[sweep] = occupied(state);
  for (int32_t q = 0; q < sweeps->points; q++)
    sweeps->probe_density[(size_t)sweep + (size_t)q * (size_t)sweeps->count] =
        wb_mixture_log_density(state, sweeps->probe + (size_t)q * (size_t)state->columns);
}

int wb_mixture_run(const wb_backend *backend, wb_mixture_session *session, wb_mixture_prior *prior,
                   wb_mixture_state *state, const wb_mixture_sweeps *sweeps, const wb_mixture_draw *draw,
                   wb_message *message) {
  for (int32_t i = 0; i < sweeps->count; i++) {
    int32_t *labels = i == sweeps->count - 1 ? draw->labels : NULL;
    int status = WB_OK;
    if (sweeps->merge == sweeps->iteration + (uint32_t)i)
      status = wb_mixture_merge(prior, state->components, state->statistics, message);
    if (status == WB_OK)
      status = wb_mixture_sweep(backend, session, prior, state, sweeps->key, sweeps->iteration + (uint32_t)i,
                                sweeps->moves, labels, &sweeps->log_likelihood[i], message);
    if (status != WB_OK) return status;
    note(sweeps, prior, state, i);
    if (sweeps->moves && sweeps->iteration + (uint32_t)i >= sweeps->merge)
      status = wb_mixture_split_merge(backend, session, sweeps->spots, prior, state, sweeps->key,
                                      sweeps->iteration + (uint32_t)i, message);
    if (status != WB_OK) return status;
  }
  wb_mixture_moments(state, draw);
  return WB_OK;
}
