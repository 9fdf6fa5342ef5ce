/* Direct sums through the backend's table, cut into slices so that an interrupt is
 * heeded between them. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include "core/min_max.h"

/* Products of one slice. A processor with vectors of multiply-adds takes less than half a
 * second for them on one thread; a graphics card a few milliseconds, and the copies
 * of the vectors for each slice then take no longer. */
#define SLICE 4e9
#define BASELINE_SLICE 2e8
#define DEVICE_SLICE 1e10

/* Likewise for wide weights, whose products take at least ten times as long. */
#define WIDE_SLICE 1e8

/* Outputs and pairs that one thread computes at a time: a slice has as many for each thread. */
#define THREAD_OUTPUTS 512
#define THREAD_PAIRS 64

wb_convolution wb_pmf_one_pair(int64_t m, const double *p, int64_t n, const double *q, int64_t first, int64_t count,
                               double *r) {
  const wb_convolution work = {
    .pairs = 1, .m = m, .n = n, .p = p, .p_stride = 1, .q = q, .q_stride = 1,
    .first = first, .count = count, .r = r, .r_stride = 1,
  };
  return work;
}

/* The same sums with the shorter vector in the place of p. */
static wb_convolution shorter_first(const wb_convolution *work) {
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
  return ordered;
}

/* The slice of `work` from pair `pair` and output `output` on. */
static wb_convolution slice_of(const wb_convolution *work, int64_t pair, int64_t pairs, int64_t output, int64_t count) {
  wb_convolution slice = *work;
  slice.pairs = wb_min_int(pairs, work->pairs - pair);
  slice.p = work->p + pair * work->p_pair_stride;
  slice.q = work->q + pair * work->q_pair_stride;
  slice.first = work->first + output;
  slice.count = wb_min_int(count, work->count - output);
  slice.r = work->r + pair * work->r_pair_stride + output * work->r_stride;
  return slice;
}

static int64_t round_up(double value, int64_t unit) {
  return ((int64_t)value + unit) / unit * unit;
}

int wb_pmf_direct(const wb_pmf_context *context, const wb_pmf_functions *table, const wb_convolution *work,
                  wb_message *message) {
  const wb_convolution ordered = shorter_first(work);
  const double products = (double)ordered.m * (double)ordered.count;
  const double most = table != context->processor            ? DEVICE_SLICE
                      : context->run.isa == WB_ISA_BASELINE ? BASELINE_SLICE
                                                             : SLICE;
  const int64_t threads = context->run.threads;
  const int64_t pairs = products * (double)ordered.pairs <= most ? ordered.pairs : round_up(most / products, THREAD_PAIRS * threads);
  const int64_t count = ordered.pairs > 1 || products <= most ? ordered.count : round_up(most / (double)ordered.m, THREAD_OUTPUTS * threads);
  for (int64_t pair = 0; pair < ordered.pairs; pair += pairs)
    for (int64_t output = 0; output < ordered.count; output += count) {
      const wb_convolution slice = slice_of(&ordered, pair, pairs, output, count);
      const int status = table->convolve(&slice, &context->run, message);
      if (status != WB_OK) return status;
      const double done = (double)slice.m * (double)slice.count * (double)slice.pairs;
      if (wb_poll_after(context->poll, 1e3 + done / most * WB_POLL_EVERY)) return WB_INTERRUPTED;
    }
  return WB_OK;
}

int wb_pmf_direct_wide(const wb_pmf_context *context, const wb_wide *p, const wb_wide *q, int64_t first, int64_t count,
                       double *mantissa, double *exponent) {
  const double terms = (double)wb_min_int(p->length, q->length);
  const int64_t at_once = (int64_t)(WIDE_SLICE / terms) + WB_WIDE_OUTPUTS;
  for (int64_t done = 0; done < count; done += at_once) {
    const int64_t here = wb_min_int(at_once, count - done);
    wb_wide_convolve(p, q, first + done, here, mantissa + done, exponent + done, context->run.isa);
    if (wb_poll_after(context->poll, terms * (double)here)) return WB_INTERRUPTED;
  }
  return WB_OK;
}
