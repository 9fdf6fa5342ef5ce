/* The distribution of the sum of two variables, from weights or logarithms: chooses among convolve.h's methods. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include "numeric/memory.h"

/* Wide pairs of up to so many products are summed directly: the search for a window takes longer. */
#define WIDE_DIRECT_UP_TO 4096

/* Estimated nanoseconds to copy and convert one number. */
#define CONVERSION_TIME 10.0

static int use_flat(const wb_pmf_method *method, double products) {
  return method->accuracy >= WB_PMF_LEAST_FFT_ACCURACY && products >= WB_PMF_FLAT_FROM;
}

static int use_windows(const wb_pmf_method *method, double products) {
  return method->accuracy > 0 && products >= WB_PMF_WINDOWS_FROM;
}

static int convolve_by_windows(const wb_pmf_method *method, int64_t m, const double *p, int64_t n, const double *q,
                               int64_t count, double *r) {
  const size_t bytes = 2 * (size_t)(m + n) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(method->call->message, "the exponents of two vectors", bytes);
  const wb_wide p_wide = {m, memory, memory + m}, q_wide = {n, memory + 2 * m, memory + 2 * m + n};
  wb_wide_from_double(m, p, p_wide.mantissa, p_wide.exponent, method->call->run.isa);
  int status = wb_poll_after(&method->call->poll, CONVERSION_TIME * (double)m) ? WB_INTERRUPTED : WB_OK;
  wb_wide_from_double(n, q, q_wide.mantissa, q_wide.exponent, method->call->run.isa);
  if (wb_poll_after(&method->call->poll, CONVERSION_TIME * (double)n)) status = WB_INTERRUPTED;
  if (status == WB_OK) status = wb_pmf_convolve_windows(method, &p_wide, &q_wide, p, q, count, r, NULL);
  wb_aligned_free(memory);
  return status;
}

int wb_pmf_convolve_first(const wb_pmf_method *method, int64_t m, const double *p, int64_t n, const double *q,
                          int64_t count, double *r) {
  if (m > n) return wb_pmf_convolve_first(method, n, q, m, p, count, r);
  const double products = (double)m * (double)n;
  if (use_windows(method, products)) return convolve_by_windows(method, m, p, n, q, count, r);
  if (use_flat(method, products) && products < WB_PMF_WINDOWS_FROM) {
    int done;
    WB_TRY(wb_pmf_convolve_flat(method, m, p, n, q, count, r, &done));
    if (done) return WB_OK;
  }
  const wb_convolution work = wb_pmf_one_pair(m, p, n, q, 0, count, r);
  return wb_pmf_direct(method, method->table, &work, NULL);
}

int wb_pmf_convolve_wide(const wb_pmf_method *method, const wb_wide *p, const wb_wide *q, wb_wide *r) {
  const wb_wide *const longer = p->length > q->length ? p : q, *const shorter = p->length > q->length ? q : p;
  if ((double)p->length * (double)q->length > WIDE_DIRECT_UP_TO)
    return wb_pmf_convolve_windows(method, shorter, longer, NULL, NULL, p->length + q->length - 1, NULL, r);
  double memory[2 * WB_WIDE_SURROUNDED(WIDE_DIRECT_UP_TO)];
  const wb_wide surrounded = wb_wide_surround(longer, memory);
  r->length = p->length + q->length - 1;
  return wb_pmf_direct_wide(method, shorter, &surrounded, 0, r->length, r->mantissa, r->exponent);
}

/* log_r is followed by room for 2 (m + n + outputs) numbers. */
static int convolve_logarithms(const wb_pmf_method *method, int64_t m, const double *log_p, int64_t n,
                               const double *log_q, double *log_r) {
  const int64_t outputs = m + n - 1;
  double *const numbers = log_r + outputs;
  const wb_wide p = {m, numbers, numbers + m}, q = {n, p.exponent + m, p.exponent + m + n};
  wb_wide r = {outputs, q.exponent + n, q.exponent + n + outputs};
  const wb_isa isa = method->call->run.isa;
  wb_wide_from_log(m, log_p, p.mantissa, p.exponent, isa);
  wb_wide_from_log(n, log_q, q.mantissa, q.exponent, isa);
  if (wb_poll_after(&method->call->poll, CONVERSION_TIME * (double)outputs)) return WB_INTERRUPTED;
  WB_TRY(wb_pmf_convolve_wide(method, &p, &q, &r));
  wb_wide_to_log(outputs, r.mantissa, r.exponent, log_r, isa);
  return WB_OK;
}

static int convolve_each(const wb_pmf_method *method, const wb_convolution *work, int log) {
  const int64_t m = work->m, n = work->n, outputs = m + n - 1;
  const size_t bytes = (log ? 3 : 1) * (size_t)(m + n + outputs) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(method->call->message, "copies of a pair of vectors", bytes);
  double *const p = memory, *const q = p + m, *const r = q + n;
  int status = WB_OK;
  for (int64_t pair = 0; pair < work->pairs && status == WB_OK; pair++) {
    for (int64_t j = 0; j < m; j++) p[j] = work->p[pair * work->p_pair_stride + j * work->p_stride];
    for (int64_t j = 0; j < n; j++) q[j] = work->q[pair * work->q_pair_stride + j * work->q_stride];
    status = log ? convolve_logarithms(method, m, p, n, q, r) : wb_pmf_convolve_first(method, m, p, n, q, outputs, r);
    if (status != WB_OK) break;
    for (int64_t i = 0; i < outputs; i++) work->r[pair * work->r_pair_stride + i * work->r_stride] = r[i];
    if (wb_poll_after(&method->call->poll, CONVERSION_TIME * (double)outputs)) status = WB_INTERRUPTED;
  }
  wb_aligned_free(memory);
  return status;
}

static int is_direct(const wb_pmf_method *method, const wb_convolution *work) {
  const double products = (double)work->m * (double)work->n;
  return work->pairs > 1 && !use_flat(method, products) && !use_windows(method, products);
}

int wb_pmf_sees_pairs(const wb_pmf_method *method, const wb_convolution *work, int log) {
  return !log && is_direct(method, work) && work->m > 0 && work->n > 0;
}

int wb_pmf_convolve_pairs(const wb_pmf_method *method, const wb_convolution *work, int log, unsigned *seen) {
  if (work->pairs == 1 && !log)
    return wb_pmf_convolve_first(method, work->m, work->p, work->n, work->q, work->m + work->n - 1, work->r);
  if (log || !is_direct(method, work)) return convolve_each(method, work, log);
  unsigned more = 0;
  const int status = wb_pmf_direct(method, method->table, work, &more);
  *seen |= more;
  return status == WB_OK ? wb_pmf_check_seen(*seen, method->call->message) : status;
}
