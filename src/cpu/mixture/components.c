/* The components of a mixture session on the processor: draws their means and covariances from the statistics of their
 * rows (core/mixture_component.h) and computes the sums that the host algorithm needs. Threads share the components; in
 * sums over components they share the result's entries: one thread computes each, in an order that is fixed. */
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

/* All the threads that draw the labels if there are enough `nanoseconds` of work, otherwise one. With any other number,
 * OpenMP would end threads here and start them again for the labels. */
static int component_threads(const wb_mixture_session *session, double nanoseconds) {
  const int64_t rows = session->data.rows, leaves = (rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const int threads = mixture_threads(session, session->components, rows, leaves);
  return nanoseconds < 100000 ? 1 : threads;
}

/* A call's components in shares. A thread takes one share at a time. */
typedef struct component_shares {
  wb_mixture_session *session;
  int32_t size, count;
  int64_t next;
  int failed; /* components that could not be drawn */
  int poor;   /* threads without memory */
} component_shares;

static component_shares share_out(wb_mixture_session *session, int threads) {
  const int32_t k = session->components, size = k / threads / 8 + 1;
  return (component_shares){session, size, (k + size - 1) / size, 0, 0, 0};
}

/* The next share of components, *first, ..., *end - 1; 0 if all are taken. */
static int take_share(component_shares *shares, int32_t *first, int32_t *end) {
  const int64_t i = wb_take(&shares->next);
  const int32_t k = shares->session->components;
  if (i >= shares->count) return 0;
  *first = (int32_t)i * shares->size;
  *end = k - *first < shares->size ? k : *first + shares->size;
  return 1;
}

static double *component_work(component_shares *shares) {
  double *work = wb_aligned_malloc(wb_component_work_size(shares->session->data.columns) * sizeof(double));
  if (!work) {
#pragma omp atomic write
    shares->poor = 1;
  }
  return work;
}

typedef struct draw_call {
  component_shares shares;
  const wb_component_law *law;
  const int32_t *source;
  uint64_t key;
  uint32_t iteration;
} draw_call;

static void draw_shares(void *context) {
  draw_call *const call = context;
  const wb_mixture_session *session = call->shares.session;
  double *work = component_work(&call->shares);
  int failed = 0;
  for (int32_t first, end; work && take_share(&call->shares, &first, &end);)
    failed += WB_LOOP(mixture_components_draw, session->isa)(session, call->law, call->source, first, end, call->key,
                                                             call->iteration, work);
  wb_aligned_free(work);
#pragma omp atomic
  call->shares.failed += failed;
}

int wb_cpu_mixture_draw_components(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source,
                                   uint64_t key, uint32_t iteration, wb_message *message) {
  const int p = session->data.columns;
  const int32_t k = session->components;
  const wb_component_law scalars = {p, law->mean_scale, law->df, law->mean, law->scale, law->floor};
  /* 20 ns for a random number and half a nanosecond for a multiply-add. */
  const int threads = component_threads(session, k * (10.0 * p * (p + 10) + 0.4 * p * p * p));
  draw_call call = {share_out(session, threads), &scalars, source, key, iteration};
  wb_on_threads(threads, draw_shares, &call);
  if (call.shares.poor)
    return wb_out_of_memory(message, "the draw of the components", wb_component_work_size(p) * sizeof(double));
  if (!call.shares.failed) return WB_OK;
  int32_t which = k;
  for (int32_t l = 0; l < k; l++)
    if (session->factor[(size_t)l * wb_packed_size(p)] == 0 && source[l] < which) which = source[l];
  return wb_fail(message, WB_ERROR_INPUT, WB_MIXTURE_NO_COVARIANCE, (int)which + 1);
}

typedef struct measure_call {
  component_shares shares;
  const wb_mixture_measures *measures;
} measure_call;

static void measure_shares(void *context) {
  measure_call *const call = context;
  const wb_mixture_session *session = call->shares.session;
  double *work = component_work(&call->shares);
  for (int32_t first, end; work && take_share(&call->shares, &first, &end);)
    WB_LOOP(mixture_components_measure, session->isa)(session, call->measures, first, end, work);
  wb_aligned_free(work);
}

int wb_cpu_mixture_measure(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message) {
  const int p = session->data.columns;
  const int32_t k = session->components;
  const double cubic = measures->trace ? 0.2 * p * p * p : 0;
  const int threads = component_threads(session, k * (cubic + (measures->points + 1) * 1.0 * p * p));
  measure_call call = {share_out(session, threads), measures};
  wb_on_threads(threads, measure_shares, &call);
  if (!call.shares.poor) return WB_OK;
  return wb_out_of_memory(message, "measures of the components", wb_component_work_size(p) * sizeof(double));
}

typedef struct precisions_call {
  const wb_mixture_session *session;
  const wb_mixture_precisions *sums;
} precisions_call;

/* Piece i of the sums: one row of a triangle each, the last being the longest, then the pull. */
static void add_piece(void *context, int64_t i) {
  const precisions_call *const call = context;
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
  precisions_call call = {session, sums};
  wb_spread(threads, 2 * p + 1, add_piece, &call);
  return WB_OK;
}
