/* The sum of two variables whose weights are spread out, by one Fourier transform.
 *
 * Untilted, the transform certifies the entries that are not much smaller than the
 * product of the factors' 2-norms (pmf_window.c has the bound): for weights of one
 * size, all but about 3% at either end, which are summed directly. Vectors too
 * short for windows to pay gain most from this. A few entries, an eighth from
 * either end, decide whether it is tried.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#include "pmf.h"

#include <string.h>

#include "core/host_device.h"
#include "memory.h"

/* Outputs that are looked at before the transform. */
#define SAMPLE 32

static double sum_of_squares(int64_t count, const double *x) {
  double sum[8] = {0}, total = 0;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int l = 0; l < 8; l++) sum[l] += x[i + l] * x[i + l];
  for (; i < count; i++) sum[0] += x[i] * x[i];
  for (int l = 0; l < 8; l++) total += sum[l];
  return total;
}

/* Outputs [first, first + count) by direct sums, on the processor: they are few. */
static int direct(const wb_pmf_context *context, int64_t m, const double *p, int64_t n, const double *q,
                  int64_t first, int64_t count, double *r, wb_message *message) {
  const wb_convolution work = {
    .pairs = 1, .m = m, .n = n, .p = p, .p_stride = 1, .q = q, .q_stride = 1,
    .first = first, .count = count, .r = r, .r_stride = 1,
  };
  return count > 0 ? wb_cpu_backend()->convolve(&work, &context->run, message) : WB_OK;
}

static int all_from(int64_t count, const double *x, double least) {
  int below = 0;
  for (int64_t i = 0; i < count; i++) below |= !(x[i] >= least);
  return !below;
}

int wb_pmf_convolve_flat(const wb_pmf_context *context, int64_t m, const double *p, int64_t n, const double *q,
                         double *r, int *done, wb_message *message) {
  const int64_t outputs = m + n - 1;
  const double p_square = sum_of_squares(m, p), q_square = sum_of_squares(n, q);
  *done = 0;
  /* Well inside the range of doubles, products too. */
  if (!(p_square > 1e-200 && p_square < 1e200 && q_square > 1e-200 && q_square < 1e200)) return WB_OK;
  int log2 = WB_FFT_LEAST;
  while (((int64_t)1 << log2) < outputs) log2++;
  if (log2 > WB_FFT_KEPT) return WB_OK;
  double scale = 1.0; /* of q, so that both norms agree to within sqrt(2) */
  while (q_square * scale * scale < 0.5 * p_square) scale *= 2.0;
  while (q_square * scale * scale > 2.0 * p_square) scale *= 0.5;
  const double error = wb_fft_error_bound(log2) * (p_square + q_square * scale * scale) * (0.5 / scale);
  const double least = error / (0.99 * (context->accuracy - 3e-15));

  double sample[SAMPLE];
  for (int end = 0; end < 2; end++) {
    const int64_t first = end == 0 ? outputs / 8 : outputs - outputs / 8 - SAMPLE;
    const int status = direct(context, m, p, n, q, first, SAMPLE, sample, message);
    if (status != WB_OK || !all_from(SAMPLE, sample, least)) return status;
  }

  const size_t length = (size_t)1 << log2, bytes = 2 * length * sizeof(double);
  const wb_fft *const fft = wb_fft_keep(context->cache, log2, context->run.isa);
  double *const re = wb_aligned_malloc(bytes);
  if (!fft || !re) {
    wb_aligned_free(re);
    return wb_out_of_memory(message, "a Fourier transform", bytes);
  }
  double *const im = re + length;
  memcpy(re, p, (size_t)m * sizeof(double));
  memset(re + m, 0, (length - (size_t)m) * sizeof(double));
  for (int64_t k = 0; k < n; k++) im[k] = scale * q[k];
  memset(im + n, 0, (length - (size_t)n) * sizeof(double));
  wb_fft_square(fft, re, im, context->run.isa);

  /* The imaginary part is 2 length scale times the sums. */
  const double unit = 0.5 / scale / (double)length;
  int64_t first = 0, last = outputs;
  for (int64_t i = 0; i < outputs; i++) im[i] *= unit;
  while (first < outputs && im[first] < least) first++;
  while (last > first && im[last - 1] < least) last--;
  int status = WB_OK;
  if (last - first > outputs / 2 && all_from(last - first, im + first, least)) {
    memcpy(r + first, im + first, (size_t)(last - first) * sizeof(double));
    status = direct(context, m, p, n, q, 0, first, r, message);
    if (status == WB_OK) status = direct(context, m, p, n, q, last, outputs - last, r + last, message);
    *done = 1;
  }
  wb_aligned_free(re);
  return status;
}
