/* Loops that only multiply and add, included once for each instruction set by isa.h. Each of MULTIPLY_ADD_CHAINS
 * independent vectors x is iterated by x = a x + b. A processor has at most 8 to 10 multiply-adds under way (latency
 * times units), so the chains are more than that. They are few enough to stay in registers with a and b (AVX2 has 16
 * registers). */
#define MULTIPLY_ADD_CHAINS (WB_VECTOR_BYTES == 64 ? 24 : 12)

/* Iterates every x `rounds` times; *count is the number of multiply-adds in a round. Returns the sum of all x, so that
 * the compiler cannot leave the work out. */
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
