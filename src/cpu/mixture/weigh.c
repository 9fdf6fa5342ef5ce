/* The pass of a Bayesian EM step: adds every row to all components' sums, weighted by its probabilities.
 *
 * A thread takes one tile of a leaf at a time and holds at most MIXTURE_TILE rows of probabilities. */
#include "core/rounding.h"

#include "cpu/mixture/sums.h"

#include <stdlib.h>

typedef struct weigh_request {
  int components;
  const void *packed; /* coefficients */
} weigh_request;

static void weigh_leaf(const wb_mixture_session *session, const void *asked, int64_t leaf, tile *t, double *sums) {
  const weigh_request *ask = asked;
  const wb_mixture_data *data = &session->data;
  const int p = data->columns, k = ask->components;
  const size_t size = wb_cpu_mixture_padded_sums(p), padded = mixture_padded(p + 1);
  const int64_t begin = leaf * WB_LEAF_ROWS;
  const int all = data->rows - begin < WB_LEAF_ROWS ? (int)(data->rows - begin) : WB_LEAF_ROWS;
  double *const log_weight = t->room, *const largest = log_weight + (size_t)k * MIXTURE_TILE;
  double *const total = largest + MIXTURE_TILE, *const scaled = total + MIXTURE_TILE;
  int32_t member[MIXTURE_TILE];
  double weight[MIXTURE_TILE], log_likelihood = 0;
  for (int first = 0; first < all; first += MIXTURE_TILE) {
    const int rows = all - first < MIXTURE_TILE ? all - first : MIXTURE_TILE;
    double *const row = t->row + (size_t)first * padded;
    wb_cpu_mixture_tile_load(session, begin + first, rows, t);
    t->loop.transpose(p, rows, t->x, padded, row);
    t->loop.weigh(p, k, ask->packed, t->x, log_weight, largest, total, t->log_sum);
    for (int l = 0; l < rows; l++) log_likelihood += tile_log_sum(data, t, l);
    for (int32_t j = 0; j < k; j++) {
      const int count = t->loop.list((size_t)j, log_weight, largest, total, rows, member, weight);
      if (count > 0) t->loop.add_weighted(p + 1, row, padded, member, weight, count, scaled, sums + (size_t)j * size);
    }
  }
  mixture_has_leaf(t, leaf);
  sums[(size_t)k * size] = log_likelihood;
}

int wb_cpu_mixture_weigh_rows(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
                              double *log_likelihood, wb_message *message) {
  const int k = parameters->components;
  void *packed;
  WB_TRY(wb_cpu_mixture_pack(session, parameters, &packed, message));
  const weigh_request ask = {k, packed};
  const size_t room = ((size_t)k + 2 + mixture_padded(session->data.columns + 1)) * MIXTURE_TILE;
  const mixture_pass pass = {k, 1, k, 0, room, weigh_leaf, &ask};
  const int status = wb_cpu_mixture_pass(session, &pass, statistics, log_likelihood, NULL, message);
  free(packed);
  return status;
}
