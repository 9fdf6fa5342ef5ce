/* The components of a mixture session on the processor: draws their means and covariances from the statistics of their
 * rows (core/mixture_component.h) and computes the sums that the host algorithm needs. Threads share the components; in
 * sums over components they share the entries of the result. One thread computes each number, in an order that does not
 * depend on the number of threads. */
#include "core/rounding.h"

#include "cpu/mixture/state.h"

#include <stdlib.h>

#include "core/mixture_component.h"
#include "numeric/memory.h"

#define WB_LOOPS "cpu/mixture/components_loops.h"
#include "numeric/isa.h"

typedef int draw_some(const wb_mixture_session *session, const wb_component_law *law, const int32_t *source,
                      int32_t first, int32_t end, uint64_t key, uint32_t iteration, double *work);
typedef void measure_some(const wb_mixture_session *session, const wb_mixture_measures *measures, int32_t first,
                          int32_t end, double *work);
typedef void add_gram(const wb_mixture_session *session, double weight, int first, int end, double *gram);
typedef void add_pull(const wb_mixture_session *session, double weight, double *pull);

static draw_some *const draw_of[] = WB_ISA_TABLE(mixture_components_draw);
static measure_some *const measure_of[] = WB_ISA_TABLE(mixture_components_measure);
static add_gram *const add_gram_of[] = WB_ISA_TABLE(mixture_components_gram);
static add_pull *const add_pull_of[] = WB_ISA_TABLE(mixture_components_pull);

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

int wb_cpu_mixture_draw_components(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source,
                                   uint64_t key, uint32_t iteration, wb_message *message) {
  const int p = session->data.columns;
  const int32_t k = session->components;
  const wb_component_law scalars = {p, law->mean_scale, law->df, law->mean, law->scale, law->floor};
  /* 20 ns for a random number and half a nanosecond for a multiply-add. */
  const int threads = component_threads(session, k * (10.0 * p * (p + 10) + 0.4 * p * p * p));
  const int32_t share = k / threads / 8 + 1, shares = (k + share - 1) / share;
  const size_t bytes = wb_component_work_size(p) * sizeof(double);
  int failed = 0, poor = 0;
#pragma omp parallel num_threads(threads) reduction(+ : failed, poor)
  {
    double *work = wb_aligned_malloc(bytes);
    poor += !work;
#pragma omp for schedule(dynamic, 1)
    for (int32_t i = 0; i < shares; i++) {
      const int32_t first = i * share, end = k - first < share ? k : first + share;
      if (work) failed += draw_of[session->isa](session, &scalars, source, first, end, key, iteration, work);
    }
    wb_aligned_free(work);
  }
  if (poor) return wb_out_of_memory(message, "the draw of the components", bytes);
  if (!failed) return WB_OK;
  int32_t which = k;
  for (int32_t l = 0; l < k; l++)
    if (session->factor[(size_t)l * wb_packed_size(p)] == 0 && source[l] < which) which = source[l];
  wb_message_write(message, WB_MIXTURE_NO_COVARIANCE, (int)which + 1);
  return WB_ERROR_INPUT;
}

int wb_cpu_mixture_measure(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message) {
  const int p = session->data.columns;
  const int32_t k = session->components;
  const double cubic = measures->trace ? 0.2 * p * p * p : 0;
  const int threads = component_threads(session, k * (cubic + (measures->points + 1) * 1.0 * p * p));
  const int32_t share = k / threads / 8 + 1, shares = (k + share - 1) / share;
  const size_t bytes = wb_component_work_size(p) * sizeof(double);
  int poor = 0;
#pragma omp parallel num_threads(threads) reduction(+ : poor)
  {
    double *work = wb_aligned_malloc(bytes);
    poor += !work;
#pragma omp for schedule(dynamic, 1)
    for (int32_t i = 0; i < shares; i++) {
      const int32_t first = i * share, end = k - first < share ? k : first + share;
      if (work) measure_of[session->isa](session, measures, first, end, work);
    }
    wb_aligned_free(work);
  }
  return poor ? wb_out_of_memory(message, "measures of the components", bytes) : WB_OK;
}

int wb_cpu_mixture_add_precisions(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message) {
  const int p = session->data.columns;
  const int threads = component_threads(session, 0.1 * session->components * p * p * p);
  (void)message;
  /* Pieces: one row of a triangle each, the last being the longest, then the pull. */
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int i = 0; i < 2 * p + 1; i++) {
    const int r = i / 2;
    double *gram = i % 2 ? sums->mean_precision : sums->scale_precision;
    if (r == p) {
      if (sums->pull) add_pull_of[session->isa](session, sums->mean_weight, sums->pull);
    } else if (gram) {
      add_gram_of[session->isa](session, i % 2 ? sums->mean_weight : sums->scale_weight, r, r + 1, gram);
    }
  }
  return WB_OK;
}
