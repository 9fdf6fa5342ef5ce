/* Logarithms of gamma functions, included once for each instruction set by isa.h. */

/* A function of its own with every compiler, so that tools/loops can look at it. */
static __attribute__((noinline)) void WB_NAME(log_gamma_series)(int count, const double *restrict value, double shift,
                                                                double *restrict out) {
  for (int i = 0; i < count; i++) out[i] = wb_lgamma_series(value[i] + shift);
}

/* The sum has a fixed order, so only its terms are computed in vectors. */
/* tools/loops: no vector multiply-adds */
static double WB_NAME(log_gamma_sum)(int count, const double *value, const double *weight, double shift, double sum) {
  double term[LOG_GAMMA_CHUNK];
  WB_NAME(log_gamma_series)(count, value, shift, term);
  for (int i = 0; i < count; i++) {
    const double x = value[i] + shift;
    sum = wb_fma(weight[i], x < 8.0 ? wb_lgamma(x) : term[i], sum);
  }
  return sum;
}

static __attribute__((noinline)) void WB_NAME(log_gamma_excess)(int count, const double *restrict value, double shift,
                                                                double of_shift, double *restrict out) {
  for (int i = 0; i < count; i++)
    out[i] =
        wb_fma(shift + value[i] - 0.5, wb_log1p(value[i] / shift), -value[i]) + (stirling(shift + value[i]) - of_shift);
}
