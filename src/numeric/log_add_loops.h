/* Logarithms of sums, included once for each instruction set by isa.h. */

static void WB_NAME(log_add_to)(int64_t count, const double *restrict b, const double *restrict unit, int64_t step,
                                double *restrict sum) {
  if (step == 0)
    for (int64_t i = 0; i < count; i++) sum[i] = wb_log_sum(sum[i], b[i] - *unit);
  else
    for (int64_t i = 0; i < count; i++) sum[i] = wb_log_sum(sum[i], b[i] - unit[i]);
}
