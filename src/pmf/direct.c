/* Direct sums of pairs: of doubles by the backend's table, of wide weights in slices. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include "core/min_max.h"

/* Products of wide weights in one slice, about a tenth of a second: interrupts are polled between slices. */
#define WIDE_SLICE 1e8

wb_convolution wb_pmf_one_pair(int64_t m, const double *p, int64_t n, const double *q, int64_t first, int64_t count,
                               double *r) {
  return (wb_convolution){1, m, n, p, 1, 0, q, 1, 0, first, count, r, 1, 0};
}

int wb_pmf_direct(const wb_pmf_method *method, const wb_pmf_functions *table, const wb_convolution *work,
                  unsigned *seen) {
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
  return table->convolve(&ordered, &method->call->run, &method->call->poll, seen, method->call->message);
}

int wb_pmf_direct_wide(const wb_pmf_method *method, const wb_wide *p, const wb_wide *q, int64_t first, int64_t count,
                       double *mantissa, double *exponent) {
  const double terms = (double)wb_min_int(p->length, q->length);
  const int64_t at_once = (int64_t)(WIDE_SLICE / terms) + WB_WIDE_OUTPUTS;
  for (int64_t done = 0; done < count; done += at_once) {
    const int64_t here = wb_min_int(at_once, count - done);
    wb_wide_convolve(p, q, first + done, here, mantissa + done, exponent + done, method->call->run.isa);
    if (wb_poll_after(&method->call->poll, terms * (double)here)) return WB_INTERRUPTED;
  }
  return WB_OK;
}
