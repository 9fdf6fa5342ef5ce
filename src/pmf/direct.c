/* Direct sums through the backend's table, cut into slices so that an interrupt is
 * heeded between them. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include "core/min_max.h"

/* Products of one slice: they take less than a second even without a vector unit. */
#define SLICE 1e10

/* Likewise for wide weights, whose products take ten times as long. */
#define WIDE_SLICE 1e9

/* Slices are whole multiples of this: every loop and kernel cuts its work into
 * chunks that divide it or are many, so that no thread is left with less to do. */
#define SLICE_UNIT 4096

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

int wb_pmf_direct(const wb_pmf_context *context, const wb_convolution *work, wb_message *message) {
  wb_convolution slice = shorter_first(work);
  const double products = (double)slice.m * (double)slice.count * (double)slice.pairs;
  if (products <= SLICE || slice.pairs > 1 || !context->interrupted)
    return context->convolution->convolve(&slice, &context->run, message);
  const int64_t at_once = ((int64_t)(SLICE / (double)slice.m) + SLICE_UNIT) / SLICE_UNIT * SLICE_UNIT;
  for (int64_t done = 0; done < work->count; done += at_once) {
    slice.first = work->first + done;
    slice.count = wb_min_int(at_once, work->count - done);
    slice.r = work->r + done * work->r_stride;
    const int status = context->convolution->convolve(&slice, &context->run, message);
    if (status != WB_OK) return status;
    if (context->interrupted()) return WB_INTERRUPTED;
  }
  return WB_OK;
}

int wb_pmf_direct_wide(const wb_pmf_context *context, const wb_wide *p, const wb_wide *q, int64_t first, int64_t count,
                       double *mantissa, double *exponent) {
  const int64_t at_once = (int64_t)(WIDE_SLICE / (double)wb_min_int(p->length, q->length)) + WB_WIDE_OUTPUTS;
  for (int64_t done = 0; done < count; done += at_once) {
    wb_wide_convolve(p, q, first + done, wb_min_int(at_once, count - done), mantissa + done, exponent + done,
                     context->run.isa);
    if (context->interrupted && context->interrupted()) return WB_INTERRUPTED;
  }
  return WB_OK;
}
