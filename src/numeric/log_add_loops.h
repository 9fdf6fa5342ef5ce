/* Logarithms of sums, included once for each instruction set by isa.h. */

static void WB_NAME(log_add_to)(int64_t count, const double *restrict b, const double *restrict unit, int64_t step,
                                double *restrict sum) {
  if (step == 0)
    for (int64_t i = 0; i < count; i++) sum[i] = wb_log_sum(sum[i], b[i] - *unit);
  else
    for (int64_t i = 0; i < count; i++) sum[i] = wb_log_sum(sum[i], b[i] - unit[i]);
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(log_raise_top)(int count, const double *restrict log_number, int32_t number,
                                   int32_t *restrict largest, double *restrict top) {
  for (int i = 0; i < count; i++) {
    const int higher = log_number[i] > top[i];
    largest[i] = higher ? number : largest[i];
    top[i] = higher ? log_number[i] : top[i];
  }
}

static void WB_NAME(log_add_weight)(int count, const double *restrict log_number, const double *restrict top,
                                    double *restrict sum) {
  for (int i = 0; i < count; i++) sum[i] += wb_exp_weight(log_number[i] - top[i]);
}
