/* Multiply-adds as fast as they go, included once for each instruction set by
 * isa.h: MULTIPLY_ADD_CHAINS vectors, each the fixed-point iteration x = a x + b,
 * so that none waits for another; more than latency times units of any processor
 * (8 to 10), and with a and b still within 16 registers where there are no more. */
#define MULTIPLY_ADD_CHAINS (WB_VECTOR_BYTES == 64 ? 24 : 12)

/* The sums of all lanes after `rounds` multiply-adds of each; *count: multiply-adds
 * of a round. The sums are returned so that the work is not left out. */
static double WB_NAME(multiply_add_double)(int64_t rounds, int *count) {
  enum { LANES = WB_VECTOR_BYTES / 8, CHAINS = MULTIPLY_ADD_CHAINS };
  const wb_vector a = WB_VECTOR_SET(0.75), b = WB_VECTOR_SET(0.25);
  wb_vector x[CHAINS];
  double sum = 0;
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++) x[i] = WB_VECTOR_SET((double)i);
  for (int64_t round = 0; round < rounds; round++) {
    WB_UNROLL
    for (int i = 0; i < CHAINS; i++) x[i] = WB_VECTOR_FMA(a, x[i], b);
  }
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++)
    for (int l = 0; l < LANES; l++) sum += x[i][l];
  *count = LANES * CHAINS;
  return sum;
}

static double WB_NAME(multiply_add_single)(int64_t rounds, int *count) {
  enum { LANES = WB_VECTOR_BYTES / 4, CHAINS = MULTIPLY_ADD_CHAINS };
  const wb_vectorf a = WB_VECTOR_SETF(0.75f), b = WB_VECTOR_SETF(0.25f);
  wb_vectorf x[CHAINS];
  float sum = 0;
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++) x[i] = WB_VECTOR_SETF((float)i);
  for (int64_t round = 0; round < rounds; round++) {
    WB_UNROLL
    for (int i = 0; i < CHAINS; i++) x[i] = WB_VECTOR_FMAF(a, x[i], b);
  }
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++)
    for (int l = 0; l < LANES; l++) sum += x[i][l];
  *count = LANES * CHAINS;
  return (double)sum;
}

#undef MULTIPLY_ADD_CHAINS
