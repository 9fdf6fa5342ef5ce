/* Convolution of two vectors of non-negative weights: the choice between the
 * direct sum and windows, and the small operations on one distribution. The
 * shorter vector takes the place of p in backend.h: then the rows of the sum
 * need no zeros, and its order does not depend on which vector was named first.
 */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include <stdio.h>

#include "core/elementary.h"
#include "core/philox.h"
#include "numeric/memory.h"

/* As whole numbers the bits of usable weights lie below those of infinity, and
 * adding one to the exponent does not reach the sign; their union is not 0 if one
 * is positive. */
typedef struct bits_seen {
  uint64_t all, above;
} bits_seen;

static bits_seen see_weights(int64_t count, const double *x, uint64_t *restrict row) {
  bits_seen seen = {0, 0};
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, x + i, sizeof bits);
    seen.all |= bits;
    seen.above |= bits + ((uint64_t)1 << 52);
    if (row) row[i] |= bits;
  }
  return seen;
}

/* The same for logarithms, in which a bit for a number and the sign's bit for
 * what cannot be used stand for these. */
static bits_seen see_logarithms(int64_t count, const double *x, uint64_t *restrict row) {
  bits_seen seen = {0, 0};
  for (int64_t i = 0; i < count; i++) {
    const uint64_t number = (x[i] >= -0x1p49) & (x[i] <= 0x1p49);
    const uint64_t usable = number | (uint64_t)(x[i] == -wb_infinity());
    seen.all |= number;
    seen.above |= (usable ^ 1) << 63;
    if (row) row[i] |= number;
  }
  return seen;
}

int wb_pmf_usable(int64_t rows, int64_t columns, const double *x, int log) {
  enum { together = 256 };
  if (rows == 0 || columns == 0) return 0;
  if (rows == 1) {
    const bits_seen seen = log ? see_logarithms(columns, x, NULL) : see_weights(columns, x, NULL);
    return (seen.all | seen.above) >> 63 == 0 && seen.all != 0;
  }
  for (int64_t first = 0; first < rows; first += together) {
    uint64_t row[together] = {0};
    const int64_t here = rows - first < together ? rows - first : together;
    for (int64_t column = 0; column < columns; column++) {
      const double *const from = x + column * rows + first;
      const bits_seen seen = log ? see_logarithms(here, from, row) : see_weights(here, from, row);
      if ((seen.all | seen.above) >> 63 != 0) return 0;
    }
    for (int64_t l = 0; l < here; l++)
      if (row[l] == 0) return 0;
  }
  return 1;
}

int wb_pmf_convolve_part(const wb_pmf_context *context, const wb_convolution *work, wb_message *message) {
  wb_convolution ordered = *work;
  if (work->m > work->n) {
    ordered.m = work->n;
    ordered.p = work->q;
    ordered.p_stride = work->q_stride;
    ordered.p_pair_stride = work->q_pair_stride;
    ordered.n = work->m;
    ordered.q = work->p;
    ordered.q_stride = work->p_stride;
    ordered.q_pair_stride = work->p_pair_stride;
  }
  const double products = (double)ordered.m * (double)ordered.count * (double)ordered.pairs;
  if (products <= WB_PMF_SLICE || ordered.pairs > 1 || !context->interrupted)
    return context->backend->convolution->convolve(&ordered, &context->run, message);
  /* Whole chunks of outputs, so that no thread has less to do than the others. */
  const int64_t at_once = ((int64_t)(WB_PMF_SLICE / (double)ordered.m) + 4096) / 4096 * 4096;
  for (int64_t done = 0; done < work->count; done += at_once) {
    ordered.first = work->first + done;
    ordered.count = work->count - done < at_once ? work->count - done : at_once;
    ordered.r = work->r + done * work->r_stride;
    const int status = context->backend->convolution->convolve(&ordered, &context->run, message);
    if (status != WB_OK) return status;
    if (context->interrupted()) return WB_PMF_INTERRUPTED;
  }
  return WB_OK;
}

/* Whether a pair of these lengths is not simply summed directly. */
static int may_be_fast(const wb_pmf_context *context, int64_t m, int64_t n) {
  const double products = (double)m * (double)n;
  return (context->accuracy >= 1e-13 && products >= WB_PMF_FLAT_FROM) ||
         (context->accuracy > 0 && products >= WB_PMF_FAST_FROM);
}

int wb_pmf_convolve_batch(const wb_pmf_context *context, const wb_convolution *work, wb_message *message) {
  if (!may_be_fast(context, work->m, work->n)) return wb_pmf_convolve_part(context, work, message);
  const int64_t m = work->m, n = work->n, outputs = m + n - 1;
  const size_t bytes = (size_t)(m + n + outputs) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "copies of a pair of vectors", bytes);
  double *const p = memory, *const q = p + m, *const r = q + n;
  int status = WB_OK;
  for (int64_t pair = 0; pair < work->pairs && status == WB_OK; pair++) {
    for (int64_t j = 0; j < m; j++) p[j] = work->p[pair * work->p_pair_stride + j * work->p_stride];
    for (int64_t j = 0; j < n; j++) q[j] = work->q[pair * work->q_pair_stride + j * work->q_stride];
    status = wb_pmf_convolve(context, m, p, n, q, r, message);
    for (int64_t i = 0; i < outputs; i++) work->r[pair * work->r_pair_stride + i * work->r_stride] = r[i];
    if (status == WB_OK && pair % 64 == 63 && context->interrupted && context->interrupted())
      status = WB_PMF_INTERRUPTED;
  }
  wb_aligned_free(memory);
  return status;
}

int wb_pmf_convolve(const wb_pmf_context *context, int64_t m, const double *p, int64_t n, const double *q,
                    double *r, wb_message *message) {
  if (m > n) return wb_pmf_convolve(context, n, q, m, p, r, message);
  const double products = (double)m * (double)n;
  if (context->accuracy >= 1e-13 && products >= WB_PMF_FLAT_FROM && products < WB_PMF_FAST_FROM) {
    int done;
    const int status = wb_pmf_convolve_flat(context, m, p, n, q, r, &done, message);
    if (status != WB_OK || done) return status;
  }
  if (context->accuracy == 0 || products < WB_PMF_FAST_FROM) {
    const wb_convolution work = {
      .pairs = 1, .m = m, .n = n, .p = p, .p_stride = 1, .q = q, .q_stride = 1,
      .first = 0, .count = m + n - 1, .r = r, .r_stride = 1,
    };
    return wb_pmf_convolve_part(context, &work, message);
  }
  const size_t bytes = 2 * (size_t)(m + n) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "the exponents of two vectors", bytes);
  const wb_wide p_wide = {m, memory, memory + m}, q_wide = {n, memory + 2 * m, memory + 2 * m + n};
  wb_wide_from_double(m, p, p_wide.mantissa, p_wide.exponent, context->run.isa);
  wb_wide_from_double(n, q, q_wide.mantissa, q_wide.exponent, context->run.isa);
  const int status = wb_pmf_convolve_windows(context, &p_wide, &q_wide, p, q, r, NULL, message);
  wb_aligned_free(memory);
  return status;
}

/* Pairs so small that looking for a window takes longer than all terms. */
#define WIDE_DIRECT_UP_TO 4096

int wb_pmf_convolve_wide(const wb_pmf_context *context, const wb_wide *p, const wb_wide *q, wb_wide *r,
                         wb_message *message) {
  const wb_wide *const longer = p->length > q->length ? p : q, *const shorter = p->length > q->length ? q : p;
  if ((double)p->length * (double)q->length > WIDE_DIRECT_UP_TO)
    return wb_pmf_convolve_windows(context, shorter, longer, NULL, NULL, NULL, r, message);
  double padding[2 * (WIDE_DIRECT_UP_TO + 2 * WB_WIDE_OUTPUTS)];
  const int64_t n = longer->length, padded = n + 2 * WB_WIDE_OUTPUTS;
  double *const mantissa = padding + WB_WIDE_OUTPUTS, *const exponent = mantissa + padded;
  for (int64_t k = 1; k <= WB_WIDE_OUTPUTS; k++) {
    mantissa[-k] = mantissa[n - 1 + k] = 0;
    exponent[-k] = exponent[n - 1 + k] = WB_WIDE_NOTHING;
  }
  memcpy(mantissa, longer->mantissa, (size_t)n * sizeof(double));
  memcpy(exponent, longer->exponent, (size_t)n * sizeof(double));
  const wb_wide inner = {n, mantissa, exponent};
  r->length = p->length + q->length - 1;
  wb_wide_convolve(shorter, &inner, 0, r->length, r->mantissa, r->exponent, context->run.isa);
  return WB_OK;
}

int wb_pmf_convolve_batch_log(const wb_pmf_context *context, const wb_convolution *work, wb_message *message) {
  const int64_t m = work->m, n = work->n, outputs = m + n - 1;
  const size_t bytes = 3 * (size_t)(m + n + outputs) * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "the exponents of two vectors", bytes);
  double *const gathered = memory, *const log_r = gathered + m + n;
  double *const numbers = log_r + outputs;
  const wb_wide p = {m, numbers, numbers + m}, q = {n, p.exponent + m, p.exponent + m + n};
  wb_wide r = {outputs, q.exponent + n, q.exponent + n + outputs};
  const wb_isa isa = context->run.isa;
  int status = WB_OK;
  for (int64_t pair = 0; pair < work->pairs && status == WB_OK; pair++) {
    if (pair % 4096 == 4095 && context->interrupted && context->interrupted()) {
      status = WB_PMF_INTERRUPTED;
      break;
    }
    for (int64_t j = 0; j < m; j++) gathered[j] = work->p[pair * work->p_pair_stride + j * work->p_stride];
    for (int64_t j = 0; j < n; j++) gathered[m + j] = work->q[pair * work->q_pair_stride + j * work->q_stride];
    wb_wide_from_log(m, gathered, p.mantissa, p.exponent, isa);
    wb_wide_from_log(n, gathered + m, q.mantissa, q.exponent, isa);
    status = wb_pmf_convolve_wide(context, &p, &q, &r, message);
    if (status != WB_OK) break;
    wb_wide_to_log(outputs, r.mantissa, r.exponent, log_r, isa);
    for (int64_t i = 0; i < outputs; i++) work->r[pair * work->r_pair_stride + i * work->r_stride] = log_r[i];
  }
  wb_aligned_free(memory);
  return status;
}

/* A running sum of wide numbers: (high + low) 2^exponent, low holding what
 * rounding took from high (Knuth's two-sum). */
typedef struct running_sum {
  double high, low, exponent;
} running_sum;

/* 2^e for whole e from -1000 to 0, 0 below. */
static double power_down(double e) {
  return e < -1000.0 ? 0.0 : wb_bits_double((wb_double_bits(e + WB_TO_INTEGER) + 1023) << 52);
}

static void running_add(running_sum *sum, double mantissa, double exponent) {
  if (mantissa == 0) return;
  if (exponent > sum->exponent) {
    const double scale = power_down(sum->exponent - exponent);
    sum->high *= scale;
    sum->low *= scale;
    sum->exponent = exponent;
  }
  const double term = mantissa * power_down(exponent - sum->exponent);
  const double high = sum->high + term, part = high - sum->high;
  sum->low += (sum->high - (high - part)) + (term - part);
  sum->high = high;
}

static void to_wide(int64_t count, const double *x, int log, double *mantissa, double *exponent, wb_isa isa) {
  if (log)
    wb_wide_from_log(count, x, mantissa, exponent, isa);
  else
    wb_wide_from_double(count, x, mantissa, exponent, isa);
}

int wb_pmf_cumulate(int64_t count, const double *x, int log, int upper, double *result, wb_isa isa,
                    wb_message *message) {
  const size_t bytes = 2 * (size_t)count * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "cumulative sums", bytes);
  double *const mantissa = memory, *const exponent = memory + count;
  to_wide(count, x, log, mantissa, exponent, isa);
  running_sum sum = {0, 0, WB_WIDE_NOTHING};
  for (int64_t i = 0; i < count; i++) {
    const int64_t at = upper ? count - 1 - i : i;
    running_add(&sum, mantissa[at], exponent[at]);
    double total = sum.high + sum.low, e = sum.exponent;
    while (total >= 2.0) { /* into the range of a mantissa */
      total *= 0.5;
      e += 1.0;
    }
    mantissa[at] = total;
    exponent[at] = e;
  }
  if (log)
    wb_wide_to_log(count, mantissa, exponent, result, isa);
  else
    wb_wide_to_double(count, mantissa, exponent, result, isa);
  wb_aligned_free(memory);
  return WB_OK;
}

int wb_pmf_product(int64_t count, const double *p, const double *q, int log_in, int log_out, double *r, wb_isa isa,
                   wb_message *message) {
  const size_t bytes = 4 * (size_t)count * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(message, "products of probabilities", bytes);
  double *const mantissa = memory, *const exponent = memory + count;
  double *const q_mantissa = exponent + count, *const q_exponent = q_mantissa + count;
  to_wide(count, p, log_in, mantissa, exponent, isa);
  to_wide(count, q, log_in, q_mantissa, q_exponent, isa);
  running_sum sum = {0, 0, 2 * WB_WIDE_NOTHING};
  for (int64_t i = 0; i < count; i++) {
    mantissa[i] *= q_mantissa[i];
    exponent[i] += q_exponent[i];
    running_add(&sum, mantissa[i], exponent[i]);
  }
  const double total = sum.high + sum.low;
  int status = WB_OK;
  if (total > 0) {
    for (int64_t i = 0; i < count; i++) {
      double m = mantissa[i] / total, e = exponent[i] - sum.exponent;
      if (m == 0) e = WB_WIDE_NOTHING;
      mantissa[i] = m;
      exponent[i] = e;
    }
    if (log_out)
      wb_wide_to_log(count, mantissa, exponent, r, isa);
    else
      wb_wide_to_double(count, mantissa, exponent, r, isa);
  } else {
    snprintf(message->text, sizeof message->text, "the sum has this value with probability zero");
    status = WB_ERROR_INPUT;
  }
  wb_aligned_free(memory);
  return status;
}

/* Inversion: the first position whose cumulative sum passes u times the total,
 * found from a table of where the search for each of 2^k slices begins. */
void wb_pmf_draw(int64_t count, const double *cumulative, uint64_t seed, int64_t draws, double *position) {
  const int64_t slices = 1024;
  const double total = cumulative[count - 1];
  int64_t start[1025];
  for (int64_t s = 0, at = 0; s <= slices; s++) {
    while (at < count - 1 && cumulative[at] <= total * ((double)s / (double)slices)) at++;
    start[s] = at;
  }
  const uint64_t key = wb_chain_key(seed, 0);
  for (int64_t i = 0; i < draws; i++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_PMF, 0, (uint64_t)i);
    const double u = wb_stream_uniform(&stream), target = u * total;
    const int64_t slice = (int64_t)(u * (double)slices);
    int64_t low = start[slice], high = start[slice + 1];
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (cumulative[middle] > target)
        high = middle;
      else
        low = middle + 1;
    }
    position[i] = (double)low;
  }
}
