/* Reads memory as fast as possible: adds `count` doubles, a multiple of 64, in sums that do not wait for one another.
 * isa.h includes this file once for each instruction set. */
static double WB_NAME(read_sum)(const double *values, int64_t count) {
  enum { LANES = WB_VECTOR_BYTES / 8, SUMS = 8 };
  wb_vector sums[SUMS];
  double total = 0;
  WB_UNROLL
  for (int i = 0; i < SUMS; i++) sums[i] = WB_VECTOR_SET(0.0);
  for (int64_t at = 0; at < count; at += SUMS * LANES) {
    WB_UNROLL
    for (int i = 0; i < SUMS; i++) sums[i] += *(const wb_vector *)(values + at + i * LANES);
  }
  WB_UNROLL
  for (int i = 0; i < SUMS; i++)
    for (int l = 0; l < LANES; l++) total += sums[i][l];
  return total;
}
