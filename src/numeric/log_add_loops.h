/* Included once for each instruction set by isa.h. */

static void WB_NAME(log_add)(int64_t count, const double *restrict a, const double *restrict b, double *restrict sum) {
  for (int64_t i = 0; i < count; i++) {
    const double high = wb_select(a[i] > b[i], a[i], b[i]), low = wb_select(a[i] > b[i], b[i], a[i]);
    /* Where both are -Inf, their difference would be NaN. */
    const double below = wb_select(high > -wb_infinity(), low - high, 0.0);
    sum[i] = high + wb_log1p(wb_exp_weight(below));
  }
}
