/* The distribution of the sum of two variables whose weights are spread out, by one Fourier transform.
 *
 * Without a tilt the transform certifies the outputs that are not much smaller than the product of the factors' 2-norms
 * (wb_fft_product_error); the others are summed directly. Four outputs, an eighth of the length from the ends, decide
 * whether to try it. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include <string.h>

#include "core/min_max.h"
#include "numeric/memory.h"

/* Transforms of up to this length use the stack. */
#define SMALL_LENGTH 4096

static double sum_of_squares(int64_t count, const double *x) {
  double sum[8] = {0}, total = 0;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int l = 0; l < 8; l++) sum[l] += x[i + l] * x[i + l];
  for (; i < count; i++) sum[0] += x[i] * x[i];
  for (int l = 0; l < 8; l++) total += sum[l];
  return total;
}

/* Outputs [first, first + count) by direct sums on the CPU: the ends are too few for copies to a GPU. */
static int direct(const wb_pmf_method *method, int64_t m, const double *p, int64_t n, const double *q, int64_t first,
                  int64_t count, double *r) {
  const wb_convolution work = wb_pmf_one_pair(m, p, n, q, first, count, r);
  return count > 0 ? wb_pmf_direct(method, method->call->processor->pmf, &work, NULL) : WB_OK;
}

int wb_pmf_convolve_flat(const wb_pmf_method *method, int64_t m, const double *p, int64_t n, const double *q,
                         int64_t count, double *r, int *done) {
  const int64_t outputs = m + n - 1;
  const double p_square = sum_of_squares(m, p), q_square = sum_of_squares(n, q);
  *done = 0;
  /* Inside these bounds neither squares nor products overflow or underflow. */
  if (!(p_square > 1e-200 && p_square < 1e200 && q_square > 1e-200 && q_square < 1e200)) return WB_OK;
  const int log2 = wb_fft_log2(outputs);
  if (log2 > WB_FFT_KEPT) return WB_OK;
  const double scale = wb_fft_balance(p_square, q_square);
  const double error = wb_fft_product_error(log2, p_square, q_square, scale);
  const double least = error / (0.99 * (method->accuracy - 3e-15));

  /* Two neighbours on either side, in case every second value is impossible. */
  for (int side = 0; side < 2; side++) {
    double found[2];
    WB_TRY(direct(method, m, p, n, q, side ? outputs - outputs / 8 : outputs / 8, 2, found));
    if (!(found[0] >= least && found[1] >= least)) return WB_OK;
  }

  const size_t length = (size_t)1 << log2, bytes = 2 * length * sizeof(double);
  const wb_fft *fft;
  WB_TRY(wb_fft_keep(method->cache, log2, method->call->run.isa, &fft, method->call->message));
  _Alignas(64) double small[2 * SMALL_LENGTH];
  double *const taken = length > SMALL_LENGTH ? wb_aligned_malloc(bytes) : NULL;
  double *const re = length > SMALL_LENGTH ? taken : small;
  if (!re) return wb_out_of_memory(method->call->message, "a Fourier transform", bytes);
  double *const im = re + length;
  int status = wb_fft_multiply(fft, m, p, n, q, scale, re, im, 0, outputs, im, method->call->run.isa,
                               method->call->run.threads, &method->call->poll);
  /* Accepts the outputs from the middle to the first refused one on either side. */
  int64_t first = outputs / 2, last = outputs / 2;
  while (first > 0 && im[first - 1] >= least) first--;
  while (last < outputs && im[last] >= least) last++;
  if (status == WB_OK && first < outputs / 4 && outputs - last < outputs / 4) {
    if (count > first) memcpy(r + first, im + first, (size_t)(wb_min_int(last, count) - first) * sizeof(double));
    status = direct(method, m, p, n, q, 0, wb_min_int(first, count), r);
    if (status == WB_OK) status = direct(method, m, p, n, q, last, count - last, r + last);
    *done = 1;
  }
  wb_aligned_free(taken);
  return status;
}
