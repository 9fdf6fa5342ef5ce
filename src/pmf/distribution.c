/* Operations on one distribution: cumulative sums, draws, and the normalized product that conditions on a sum. */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include "core/elementary.h"
#include "core/min_max.h"
#include "core/philox.h"
#include "numeric/memory.h"
#include "numeric/wide.h"

/* A running sum of wide numbers, (high + low) 2^exponent; `low`: rounding errors (Knuth's two-sum). */
typedef struct running_sum {
  double high, low, exponent;
} running_sum;

static void running_add(running_sum *sum, double mantissa, double exponent) {
  if (mantissa == 0) return;
  if (exponent > sum->exponent) {
    const double scale = wb_power_of_two(sum->exponent - exponent);
    sum->high *= scale;
    sum->low *= scale;
    sum->exponent = exponent;
  }
  const double term = mantissa * wb_power_of_two(exponent - sum->exponent);
  const double high = sum->high + term, part = high - sum->high;
  sum->low += (sum->high - (high - part)) + (term - part);
  sum->high = high;
}

static void to_wide(int64_t count, const double *x, int log, double *mantissa, double *exponent, wb_isa isa) {
  if (log) wb_wide_from_log(count, x, mantissa, exponent, isa);
  else wb_wide_from_double(count, x, mantissa, exponent, isa);
}

#define TOGETHER 1024
#define NUMBER_TIME 20.0

int wb_pmf_cumulate(wb_call *call, int64_t count, const double *x, int log, int upper, double *result) {
  const wb_isa isa = call->run.isa;
  double mantissa[TOGETHER], exponent[TOGETHER];
  running_sum sum = {0, 0, WB_WIDE_NOTHING};
  for (int64_t done = 0; done < count; done += TOGETHER) {
    const int64_t here = wb_min_int(TOGETHER, count - done), first = upper ? count - done - here : done;
    to_wide(here, x + first, log, mantissa, exponent, isa);
    for (int64_t i = 0; i < here; i++) {
      const int64_t at = upper ? here - 1 - i : i;
      running_add(&sum, mantissa[at], exponent[at]);
      double total = sum.high + sum.low, e = sum.exponent;
      while (total >= 2.0) { /* a mantissa is below 2 */
        total *= 0.5;
        e += 1.0;
      }
      mantissa[at] = total;
      exponent[at] = e;
    }
    if (log) wb_wide_to_log(here, mantissa, exponent, result + first, isa);
    else wb_wide_to_double(here, mantissa, exponent, result + first, isa);
    if (wb_poll_after(&call->poll, NUMBER_TIME * (double)here)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

int wb_pmf_condition(wb_call *call, int64_t count, const double *p, const double *q, int log_in, int log_out,
                     double *r) {
  const wb_isa isa = call->run.isa;
  const size_t bytes = 4 * (size_t)count * sizeof(double);
  double *const memory = wb_aligned_malloc(bytes);
  if (!memory) return wb_out_of_memory(call->message, "products of probabilities", bytes);
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
  if (wb_poll_after(&call->poll, NUMBER_TIME * (double)count)) {
    status = WB_INTERRUPTED;
  } else if (total > 0) {
    for (int64_t i = 0; i < count; i++) {
      mantissa[i] /= total;
      exponent[i] = mantissa[i] == 0 ? WB_WIDE_NOTHING : exponent[i] - sum.exponent;
    }
    if (log_out) wb_wide_to_log(count, mantissa, exponent, r, isa);
    else wb_wide_to_double(count, mantissa, exponent, r, isa);
  } else {
    wb_message_write(call->message, "the sum has this value with probability zero");
    status = WB_ERROR_INPUT;
  }
  wb_aligned_free(memory);
  return status;
}

/* Inversion: the first cumulative sum above u times the total. A table for 1,024 slices of u bounds positions. */
int wb_pmf_draw(int64_t count, const double *cumulative, uint64_t seed, int64_t draws, double *position,
                wb_poll *poll) {
  enum { slices = 1024 };
  const double total = cumulative[count - 1];
  int64_t start[slices + 1];
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
      if (cumulative[middle] > target) high = middle;
      else low = middle + 1;
    }
    position[i] = (double)low;
    if (i % TOGETHER == 0 && wb_poll_after(poll, 10 * NUMBER_TIME * TOGETHER)) return WB_INTERRUPTED;
  }
  return WB_OK;
}
