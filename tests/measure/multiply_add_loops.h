/* Loops that only multiply and add, in the precision REAL of cpu/real.h. Each of CHAINS independent vectors x is
 * iterated by x = a x + b. A processor has at most 8 to 10 multiply-adds under way (latency times units), so the chains
 * are more than that. They are few enough to stay in registers with a and b (AVX2 has 16 registers). */

/* Iterates every x `rounds` times; *count: multiply-adds of a round. Returns the sum, lest the work be left out. */
static double REAL_NAME(multiply_add)(int64_t rounds, int *count) {
  enum { LANES = WB_VECTOR_BYTES / sizeof(REAL), CHAINS = WB_VECTOR_BYTES == 64 ? 24 : 12 };
  const REAL_VECTOR a = REAL_SET((REAL)0.75), b = REAL_SET((REAL)0.25);
  REAL_VECTOR x[CHAINS];
  REAL sum = 0;
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++) x[i] = REAL_SET((REAL)i);
  for (int64_t round = 0; round < rounds; round++) {
    WB_UNROLL
    for (int i = 0; i < CHAINS; i++) x[i] = REAL_FMA(a, x[i], b);
  }
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++)
    for (int l = 0; l < LANES; l++) sum += x[i][l];
  *count = LANES * CHAINS;
  return (double)sum;
}
