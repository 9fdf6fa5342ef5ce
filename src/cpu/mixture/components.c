/* The components of a mixture session on the processor: draws them (core/mixture_component.h) and computes sums over
 * them, each entry of a result by one thread in a fixed order. */
#include "core/rounding.h"

#include "cpu/mixture/state.h"

#include <stdlib.h>

#include "core/mixture_component.h"
#include "numeric/memory.h"

#define WB_LOOPS "cpu/mixture/components_loops.h"
#include "numeric/isa.h"

int wb_cpu_mixture_set_components(wb_mixture_session *session, int32_t components, const double *statistics,
                                  wb_message *message) {
  const size_t k = (size_t)components, p = (size_t)session->data.columns, triangle = wb_packed_size((int)p);
  if (session->components != components) {
    const size_t table = session->data.sample ? (size_t)session->data.samples * k : 0;
    const size_t bytes =
        (k * (WB_MIXTURE_STATISTICS(p) + 3 * p + triangle + 3) + table) * sizeof(double) + table * sizeof(int64_t);
    free(session->memory);
    session->components = 0;
    session->memory = malloc(bytes);
    if (!session->memory) return wb_out_of_memory(message, "the components", bytes);
    session->components = components;
    session->statistics = session->memory;
    session->mean = session->statistics + k * WB_MIXTURE_STATISTICS(p);
    session->offset = session->mean + k * p;
    session->factor = session->offset + k * p;
    session->pull = session->factor + k * triangle;
    session->log_determinant = session->pull + k * p;
    session->floor_trace = session->log_determinant + k;
    session->log_constant = session->floor_trace + k;
    session->share = table > 0 ? session->log_constant + k : NULL;
    session->sizes = table > 0 ? (int64_t *)(session->log_constant + k + table) : NULL;
  }
  return wb_cpu_mixture_set_statistics(session, 0, components, statistics, message);
}

int wb_cpu_mixture_set_statistics(wb_mixture_session *session, int32_t first, int32_t count, const double *statistics,
                                  wb_message *message) {
  const size_t size = WB_MIXTURE_STATISTICS(session->data.columns);
  (void)message;
  memcpy(session->statistics + (size_t)first * size, statistics, (size_t)count * size * sizeof(double));
  return WB_OK;
}

int wb_cpu_mixture_get_statistics(wb_mixture_session *session, int32_t first, int32_t count, double *statistics,
                                  wb_message *message) {
  const size_t size = WB_MIXTURE_STATISTICS(session->data.columns);
  (void)message;
  memcpy(statistics, session->statistics + (size_t)first * size, (size_t)count * size * sizeof(double));
  return WB_OK;
}

int wb_cpu_mixture_get_components(wb_mixture_session *session, double *mean, double *factor, wb_message *message) {
  const size_t k = (size_t)session->components, p = (size_t)session->data.columns;
  (void)message;
  if (mean) memcpy(mean, session->mean, k * p * sizeof(double));
  if (factor) memcpy(factor, session->factor, k * wb_packed_size((int)p) * sizeof(double));
  return WB_OK;
}

/* The threads that draw the labels for enough `nanoseconds` of work, or one: others make OpenMP restart threads. */
static int component_threads(const wb_mixture_session *session, double nanoseconds) {
  const int64_t rows = session->data.rows, leaves = (rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const int threads = mixture_threads(session, session->components, rows, leaves);
  return nanoseconds < 100000 ? 1 : threads;
}

/* A call's components in shares of `size`, of which a thread takes one at a time. */
typedef struct components_call {
  wb_mixture_session *session;
  int32_t size;
  const wb_component_law *law;
  const int32_t *source;
  uint64_t key;
  uint32_t iteration;
  int failed; /* components that could not be drawn */
  const wb_mixture_measures *measures;
  const wb_mixture_precisions *sums;
} components_call;

static int share_out(components_call *call, int threads, wb_memory_piece *work, const char *purpose,
                     wb_message *message) {
  const int32_t k = call->session->components;
  const size_t bytes = wb_component_work_size(call->session->data.columns) * sizeof(double);
  call->size = k / threads / 8 + 1;
  if (wb_spread_with_memory(threads, (k + call->size - 1) / call->size, bytes, work, call)) return WB_OK;
  return wb_out_of_memory(message, purpose, bytes);
}

/* The end of a share, whose first component is i * size. */
static int32_t share_end(const components_call *call, int64_t i) {
  const int32_t end = ((int32_t)i + 1) * call->size;
  return end < call->session->components ? end : call->session->components;
}

static void draw_share(void *context, int64_t i, void *work) {
  components_call *const call = context;
  const wb_mixture_session *session = call->session;
  const int failed = WB_LOOP(mixture_components_draw, session->isa)(
      session, call->law, call->source, (int32_t)i * call->size, share_end(call, i), call->key, call->iteration, work);
#pragma omp atomic
  call->failed += failed;
}

int wb_cpu_mixture_draw_components(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source,
                                   uint64_t key, uint32_t iteration, wb_message *message) {
  const int p = session->data.columns;
  const int32_t k = session->components;
  const wb_component_law scalars = {p, law->mean_scale, law->df, law->mean, law->scale, law->floor};
  /* 20 ns for a random number and half a nanosecond for a multiply-add. */
  const int threads = component_threads(session, k * (10.0 * p * (p + 10) + 0.4 * p * p * p));
  components_call call = {.session = session, .law = &scalars, .source = source, .key = key, .iteration = iteration};
  WB_TRY(share_out(&call, threads, draw_share, "the draw of the components", message));
  if (!call.failed) return WB_OK;
  int32_t which = k;
  for (int32_t l = 0; l < k; l++)
    if (session->factor[(size_t)l * wb_packed_size(p)] == 0 && source[l] < which) which = source[l];
  return wb_fail(message, WB_ERROR_INPUT, WB_MIXTURE_NO_COVARIANCE, (int)which + 1);
}

static void measure_share(void *context, int64_t i, void *work) {
  const components_call *const call = context;
  WB_LOOP(mixture_components_measure, call->session->isa)
  (call->session, call->measures, (int32_t)i * call->size, share_end(call, i), work);
}

int wb_cpu_mixture_measure(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message) {
  const int p = session->data.columns;
  const double cubic = measures->trace ? 0.2 * p * p * p : 0;
  const int threads = component_threads(session, session->components * (cubic + (measures->points + 1) * 1.0 * p * p));
  components_call call = {.session = session, .measures = measures};
  return share_out(&call, threads, measure_share, "measures of the components", message);
}

static void add_piece(void *context, int64_t i) {
  const components_call *const call = context;
  const wb_mixture_session *const session = call->session;
  const wb_mixture_precisions *const sums = call->sums;
  const int r = (int)(i / 2);
  double *gram = i % 2 ? sums->mean_precision : sums->scale_precision;
  if (r == session->data.columns) {
    if (sums->pull) WB_LOOP(mixture_components_pull, session->isa)(session, sums->mean_weight, sums->pull);
  } else if (gram) {
    WB_LOOP(mixture_components_gram, session->isa)(session, i % 2 ? sums->mean_weight : sums->scale_weight, r, r + 1,
                                                   gram);
  }
}

int wb_cpu_mixture_add_precisions(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message) {
  const int p = session->data.columns;
  const int threads = component_threads(session, 0.1 * session->components * p * p * p);
  (void)message;
  components_call call = {.session = session, .sums = sums};
  wb_spread(threads, 2 * p + 1, add_piece, &call);
  return WB_OK;
}
