/* Loops of numeric/root.c, included once for each instruction set by isa.h. */

/* Subtracts from row c + i, for i below 8 and the columns from c on, what the rows above row c contribute: a[k][c + i]
 * times row k, for k in order. c is a multiple of 8. Sums of 8 columns stay in registers. */
static void WB_NAME(root_subtract)(int32_t c, int32_t n, size_t stride, double *a) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = 8 / LANES, BLOCK = WB_VECTOR_BYTES == 64 ? 8 : 4 };
  for (int32_t r = c; r < n; r += 8)
    for (int32_t first = c; first < c + 8; first += BLOCK) {
      double *const to = a + (size_t)first * stride + r;
      wb_vector sum[BLOCK][VECTORS];
      WB_UNROLL
      for (int i = 0; i < BLOCK; i++) {
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++) sum[i][v] = *(const wb_vector *)(to + (size_t)i * stride + v * LANES);
      }
      for (int32_t k = 0; k < c; k++) {
        const double *const row = a + (size_t)k * stride;
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++) {
          const wb_vector x = *(const wb_vector *)(row + r + v * LANES);
          WB_UNROLL
          for (int i = 0; i < BLOCK; i++) sum[i][v] = WB_VECTOR_FMA(WB_VECTOR_SET(-row[first + i]), x, sum[i][v]);
        }
      }
      WB_UNROLL
      for (int i = 0; i < BLOCK; i++) {
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++) *(wb_vector *)(to + (size_t)i * stride + v * LANES) = sum[i][v];
      }
    }
}

/* to += weight from */
static void WB_NAME(root_add)(int32_t count, double weight, const double *restrict from, double *restrict to) {
  for (int32_t i = 0; i < count; i++) to[i] = wb_fma(weight, from[i], to[i]);
}

/* Subtracts from row c of a band what the rows above contribute, as root_subtract() does. Behind each row are zeros. */
static void WB_NAME(root_subtract_band)(int32_t c, int32_t band, size_t width, double *a) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = WB_ROOT_ZEROS / LANES };
  for (int32_t r = 0; r <= band; r += WB_ROOT_ZEROS) {
    double *const to = a + (size_t)c * width + r;
    wb_vector sum[VECTORS], x;
    memcpy(sum, to, sizeof sum);
    for (int32_t k = c + r > band ? c + r - band : 0; k < c; k++) {
      const double *const row = a + (size_t)k * width + (c - k);
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) {
        memcpy(&x, row + r + v * LANES, sizeof x);
        sum[v] = WB_VECTOR_FMA(WB_VECTOR_SET(-*row), x, sum[v]);
      }
    }
    memcpy(to, sum, sizeof sum);
  }
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(root_divide)(int32_t count, double pivot, double *to) {
  for (int32_t i = 0; i < count; i++) to[i] /= pivot;
}

/* tools/loops: no vector multiply-adds */
static double WB_NAME(root_dot)(int32_t count, const double *restrict row, const double *restrict x, double sum) {
  for (int32_t i = 0; i < count; i++) sum = wb_fma(-row[i], x[i], sum);
  return sum;
}
