/* Convolutions for other packages. */
#include "interface/interface.h"

#include <float.h>
#include <math.h>

#include "pmf/convolve.h"

/* Log weights go down to -infinity. */
static int check_weights(const char *name, const double *weights, int64_t length, int is_log, wb_message *message) {
  const double least = is_log ? -(double)INFINITY : 0;
  return wb_interface_numbers(name, weights, length, least, DBL_MAX, message);
}

/* A distribution has a positive weight. */
static int check_sum(const double *r, int64_t length, int is_log, wb_message *message) {
  for (int64_t i = 0; i < length; i++)
    if (r[i] > (is_log ? -(double)INFINITY : 0)) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "all weights of the result are below the smallest double%s",
                 is_log ? "" : ": give logarithms");
}

int wb_interface_pmf_convolve(int64_t m, const double *p, int64_t n, const double *q, int is_log, double accuracy,
                              int32_t threads, double *r, warpbayes_message *message) {
  wb_interface_call call;
  wb_message *const text = wb_interface_begin(&call, message);
  WB_TRY(wb_interface_size("m", m, 1, 0, text));
  WB_TRY(wb_interface_size("n", n, 1, 0, text));
  WB_TRY(check_weights("p", p, m, is_log, text));
  WB_TRY(check_weights("q", q, n, is_log, text));
  WB_TRY(wb_interface_pointer("r", r, text));
  WB_TRY(wb_interface_numbers("accuracy", &accuracy, 1, 0, 0.01, text));
  WB_TRY(wb_interface_threads(&call, threads));
  unsigned seen = 0;
  wb_fft_cache cache = {{0}};
  const wb_pmf_method method = {&call.call, call.call.backend->pmf, accuracy, &cache};
  const wb_convolution work = wb_pmf_one_pair(m, p, n, q, 0, m + n - 1, r);
  int status = wb_pmf_check_pairs(&work, is_log != 0, &seen, text);
  if (status == WB_OK) status = wb_pmf_convolve_pairs(&method, &work, is_log != 0, &seen);
  if (status == WB_OK) status = wb_pmf_check_result(seen, m + n - 1, r, text);
  if (status == WB_OK) status = check_sum(r, m + n - 1, is_log, text);
  wb_fft_cache_clear(&cache);
  return status;
}
