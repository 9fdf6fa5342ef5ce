/* Vectors of Polya-Gamma variables and of values of their laws, in slices between which a user can interrupt. */
#include "core/rounding.h"

#include "polyagamma/polyagamma.h"

#include "core/philox.h"
#include "core/polyagamma_draw.h"
#include "core/polyagamma_law.h"
#include "core/polyagamma_moments.h"
#include "numeric/poll.h"
#include "numeric/spread.h"

/* Elements of a slice: a second or two of one thread, and enough for a GPU. The same for points of a law. */
#define POLYAGAMMA_SLICE ((int64_t)1 << 24)
#define POLYAGAMMA_SLICE_POINTS ((int64_t)1 << 15)

/* The sum method makes as many draws for an element as its shape, so its slices are shorter. */
static int64_t slice_of(const double *shape, int64_t shapes, int method) {
  double most = 12.0;
  if (method != WB_POLYAGAMMA_SUM) return POLYAGAMMA_SLICE;
  for (int64_t i = 0; i < shapes; i++) most = shape[i] > most ? shape[i] : most;
  const double slice = 12.0 * (double)POLYAGAMMA_SLICE / most;
  return slice > 64.0 ? (int64_t)slice : 64;
}

int wb_polyagamma_fill(wb_call *call, int64_t count, const double *shape, int64_t shapes, const double *tilt,
                       int64_t tilts, int method, uint64_t seed, double *draws) {
  const wb_polyagamma_functions *functions = call->backend->polyagamma;
  WB_TRY(wb_backend_has(call->backend, functions, "Polya-Gamma variables", call->message));
  wb_polyagamma_work work = {
      .shape = shape, .shapes = shapes, .tilt = tilt, .tilts = tilts, .method = method, .key = wb_chain_key(seed, 0)};
  const int64_t slice = slice_of(shape, shapes, method);
  for (int64_t done = 0; done < count; done += slice) {
    if (done > 0 && wb_poll_after(&call->poll, WB_POLL_EVERY)) return WB_INTERRUPTED;
    work.count = count - done < slice ? count - done : slice;
    work.begin = done;
    work.first = (uint64_t)done;
    work.draws = draws + done;
    WB_TRY(functions->draw(&work, &call->run, call->message));
  }
  return WB_OK;
}

/* The pieces of a search, each by one thread. */
#define NAN_PIECES 64
typedef struct nan_search {
  int64_t count;
  const double *draws;
  char found[NAN_PIECES];
} nan_search;

static void find_nan(void *context, int64_t piece) {
  nan_search *const search = context;
  const int64_t end = search->count * (piece + 1) / NAN_PIECES;
  int found = 0;
  for (int64_t i = search->count * piece / NAN_PIECES; i < end; i++) found |= search->draws[i] != search->draws[i];
  search->found[piece] = (char)found;
}

int wb_polyagamma_any_nan(const wb_call *call, int64_t count, const double *draws) {
  nan_search search = {.count = count, .draws = draws};
  int found = 0;
  wb_spread(count < 65536 ? 1 : call->run.threads, NAN_PIECES, find_nan, &search);
  for (int i = 0; i < NAN_PIECES; i++) found |= search.found[i];
  return found;
}

/* A quantile takes a processor as long as twenty probabilities. */
static int64_t points_of_slice(const wb_call *call, int32_t quantity) {
  if (quantity < WB_POLYAGAMMA_LOWER_QUANTILE || call->backend != call->processor) return POLYAGAMMA_SLICE_POINTS;
  const int64_t points = POLYAGAMMA_SLICE_POINTS / 16 * call->run.threads;
  return points < POLYAGAMMA_SLICE_POINTS ? points : POLYAGAMMA_SLICE_POINTS;
}

int wb_polyagamma_values(wb_call *call, const wb_polyagamma_points *points) {
  const wb_polyagamma_functions *functions = call->backend->polyagamma;
  WB_TRY(wb_backend_has(call->backend, functions, "Polya-Gamma variables", call->message));
  const int64_t most = points_of_slice(call, points->quantity);
  for (int64_t done = 0; done < points->count; done += most) {
    if (done > 0 && wb_poll_after(&call->poll, WB_POLL_EVERY)) return WB_INTERRUPTED;
    const int64_t left = points->count - done;
    wb_polyagamma_points slice = *points;
    slice.count = left < most ? left : most;
    slice.x += done;
    slice.shape += done;
    slice.tilt += done;
    slice.value += done;
    WB_TRY(functions->evaluate(&slice, &call->run, call->message));
  }
  return WB_OK;
}

void wb_polyagamma_cumulants(int64_t count, const double *shape, const double *tilt, const double *order,
                             double *value) {
  for (int64_t i = 0; i < count; i++)
    value[i] = order[i] == order[i] ? wb_polyagamma_cumulant(shape[i], tilt[i], (int)order[i]) : wb_nan();
}
