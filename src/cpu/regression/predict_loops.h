/* Loops of predictions, for each instruction set (isa.h). Vectors of draws are padded to PREDICT_PAD. */

/* Linear predictors of PREDICT_ROWS rows: linear[r][d] = sum over c, in order, of x[c][r] coefficients[c][d]. */
static void WB_NAME(regression_linear)(int columns, int padded, const double *restrict x,
                                       const double *restrict coefficients, double *restrict linear) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = 2 };
  for (int d = 0; d < padded; d += LANES * VECTORS) {
    wb_vector sum[PREDICT_ROWS][VECTORS];
    WB_UNROLL
    for (int r = 0; r < PREDICT_ROWS; r++) {
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) sum[r][v] = WB_VECTOR_SET(0.0);
    }
    for (int c = 0; c < columns; c++) {
      const double *const from = coefficients + (size_t)c * (size_t)padded + d;
      WB_UNROLL
      for (int r = 0; r < PREDICT_ROWS; r++) {
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++)
          sum[r][v] =
              WB_VECTOR_FMA(WB_VECTOR_SET(x[c * PREDICT_ROWS + r]), *(const wb_vector *)(from + v * LANES), sum[r][v]);
      }
    }
    WB_UNROLL
    for (int r = 0; r < PREDICT_ROWS; r++) {
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) *(wb_vector *)(linear + (size_t)r * (size_t)padded + d + v * LANES) = sum[r][v];
    }
  }
}

static void WB_NAME(regression_add_multiple)(int draws, double multiple, const double *restrict values,
                                             double *restrict linear) {
  for (int d = 0; d < draws; d++) linear[d] = wb_fma(multiple, values[d], linear[d]);
}

/* tools/loops: vector additions */
static void WB_NAME(regression_shift)(int draws, double shift, double *restrict linear) {
  for (int d = 0; d < draws; d++) linear[d] += shift;
}

static void WB_NAME(regression_probability)(int draws, const double *restrict linear, double *restrict value) {
  for (int d = 0; d < draws; d++) value[d] = wb_predict_probability(linear[d]);
}

static void WB_NAME(regression_mean)(int draws, const double *restrict linear, double *restrict value) {
  for (int d = 0; d < draws; d++) value[d] = wb_exp(linear[d]);
}

/* Probabilities of classes, `padded` apart, from the linear predictors of all but the first. */
static void WB_NAME(regression_classes)(int outcomes, int padded, const double *restrict linear, double *restrict most,
                                        double *restrict total, double *restrict value) {
  for (int d = 0; d < padded; d++) most[d] = 0.0;
  for (int k = 0; k < outcomes; k++) {
    const double *const from = linear + (size_t)k * (size_t)padded;
    for (int d = 0; d < padded; d++) most[d] = from[d] > most[d] ? from[d] : most[d];
  }
  for (int d = 0; d < padded; d++) total[d] = value[d] = wb_exp_weight(-most[d]);
  for (int k = 0; k < outcomes; k++) {
    const double *const from = linear + (size_t)k * (size_t)padded;
    double *const to = value + (size_t)(k + 1) * (size_t)padded;
    for (int d = 0; d < padded; d++) {
      to[d] = wb_exp_weight(from[d] - most[d]);
      total[d] += to[d];
    }
  }
  for (int k = 0; k <= outcomes; k++) {
    double *const to = value + (size_t)k * (size_t)padded;
    for (int d = 0; d < padded; d++) to[d] /= total[d];
  }
}

/* Sums of value[d] - value[0] and of their squares, in WB_PREDICT_LANES parts each. */
static void WB_NAME(regression_sums)(int padded, const double *restrict value, double *restrict sum,
                                     double *restrict squares) {
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = WB_PREDICT_LANES / LANES };
  wb_vector first[VECTORS], second[VECTORS];
  const wb_vector shift = WB_VECTOR_SET(value[0]);
  WB_UNROLL
  for (int v = 0; v < VECTORS; v++) first[v] = second[v] = WB_VECTOR_SET(0.0);
  for (int d = 0; d < padded; d += WB_PREDICT_LANES) {
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) {
      const wb_vector change = *(const wb_vector *)(value + d + v * LANES) - shift;
      first[v] += change;
      second[v] = WB_VECTOR_FMA(change, change, second[v]);
    }
  }
  WB_UNROLL
  for (int v = 0; v < VECTORS; v++) {
    *(wb_vector *)(sum + v * LANES) = first[v];
    *(wb_vector *)(squares + v * LANES) = second[v];
  }
}

/* For both tails, copies the values above limits[tail][0] and up to limits[tail][1] to `found[tail]`. counts[tail] has
 * the numbers of values up to the lower limit and of copied values. A copy has room for all draws, padded. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(regression_collect)(int draws, const double *restrict value, const double limits[2][2],
                                        double *restrict first, double *restrict second, int counts[2][2]) {
  int under[2] = {0, 0}, inside[2] = {0, 0}, d = 0;
#if WB_VECTOR_BYTES == 64
  const __m512d from0 = _mm512_set1_pd(limits[0][0]), to0 = _mm512_set1_pd(limits[0][1]);
  const __m512d from1 = _mm512_set1_pd(limits[1][0]), to1 = _mm512_set1_pd(limits[1][1]);
  for (; d + 8 <= draws; d += 8) {
    const __m512d v = _mm512_loadu_pd(value + d);
    const __mmask8 under0 = _mm512_cmp_pd_mask(v, from0, _CMP_LE_OQ), under1 = _mm512_cmp_pd_mask(v, from1, _CMP_LE_OQ);
    const __mmask8 inside0 = _mm512_mask_cmp_pd_mask((__mmask8)~under0, v, to0, _CMP_LE_OQ),
                   inside1 = _mm512_mask_cmp_pd_mask((__mmask8)~under1, v, to1, _CMP_LE_OQ);
    _mm512_storeu_pd(first + inside[0], _mm512_maskz_compress_pd(inside0, v));
    _mm512_storeu_pd(second + inside[1], _mm512_maskz_compress_pd(inside1, v));
    under[0] += __builtin_popcount(under0);
    under[1] += __builtin_popcount(under1);
    inside[0] += __builtin_popcount(inside0);
    inside[1] += __builtin_popcount(inside1);
  }
#elif WB_VECTOR_BYTES == 32
  /* AVX2 has no instruction that moves chosen elements to the front. For each set of the four elements, as bits,
   * `front` has its elements in order, as pairs of 32 bits, `size` their number. What lies beyond is never read. */
  static const uint8_t size[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
#define CHOSEN(a, b, c, d) \
  { 2 * a, 2 * a + 1, 2 * b, 2 * b + 1, 2 * c, 2 * c + 1, 2 * d, 2 * d + 1 }
  static const int32_t front[16][8]
      __attribute__((aligned(32))) = {CHOSEN(0, 0, 0, 0), CHOSEN(0, 0, 0, 0), CHOSEN(1, 0, 0, 0), CHOSEN(0, 1, 0, 0),
                                      CHOSEN(2, 0, 0, 0), CHOSEN(0, 2, 0, 0), CHOSEN(1, 2, 0, 0), CHOSEN(0, 1, 2, 0),
                                      CHOSEN(3, 0, 0, 0), CHOSEN(0, 3, 0, 0), CHOSEN(1, 3, 0, 0), CHOSEN(0, 1, 3, 0),
                                      CHOSEN(2, 3, 0, 0), CHOSEN(0, 2, 3, 0), CHOSEN(1, 2, 3, 0), CHOSEN(0, 1, 2, 3)};
#undef CHOSEN
  const __m256d from0 = _mm256_set1_pd(limits[0][0]), to0 = _mm256_set1_pd(limits[0][1]);
  const __m256d from1 = _mm256_set1_pd(limits[1][0]), to1 = _mm256_set1_pd(limits[1][1]);
  for (; d + 4 <= draws; d += 4) {
    const __m256d v = _mm256_loadu_pd(value + d);
    const __m256d over0 = _mm256_cmp_pd(v, from0, _CMP_NLE_UQ), over1 = _mm256_cmp_pd(v, from1, _CMP_NLE_UQ);
    const int inside0 = _mm256_movemask_pd(_mm256_and_pd(over0, _mm256_cmp_pd(v, to0, _CMP_LE_OQ))),
              inside1 = _mm256_movemask_pd(_mm256_and_pd(over1, _mm256_cmp_pd(v, to1, _CMP_LE_OQ)));
    const __m256i whole = _mm256_castpd_si256(v);
    const __m256i chosen0 = _mm256_permutevar8x32_epi32(whole, _mm256_load_si256((const __m256i *)front[inside0])),
                  chosen1 = _mm256_permutevar8x32_epi32(whole, _mm256_load_si256((const __m256i *)front[inside1]));
    _mm256_storeu_si256((__m256i *)(first + inside[0]), chosen0);
    _mm256_storeu_si256((__m256i *)(second + inside[1]), chosen1);
    under[0] += 4 - size[_mm256_movemask_pd(over0)];
    under[1] += 4 - size[_mm256_movemask_pd(over1)];
    inside[0] += size[inside0];
    inside[1] += size[inside1];
  }
#else
  int64_t below[2][8] = {{0}};
  for (; d + 8 <= draws; d += 8) {
    int64_t in[2][8];
    for (int tail = 0; tail < 2; tail++) {
      const double from = limits[tail][0], to = limits[tail][1];
      for (int l = 0; l < 8; l++) {
        in[tail][l] = (value[d + l] > from) & (value[d + l] <= to);
        below[tail][l] += value[d + l] <= from;
      }
    }
    for (int l = 0; l < 8; l++) {
      first[inside[0]] = second[inside[1]] = value[d + l];
      inside[0] += (int)in[0][l];
      inside[1] += (int)in[1][l];
    }
  }
  for (int l = 0; l < 8; l++) {
    under[0] += (int)below[0][l];
    under[1] += (int)below[1][l];
  }
#endif
  for (; d < draws; d++) {
    const double v = value[d];
    first[inside[0]] = second[inside[1]] = v;
    inside[0] += (v > limits[0][0]) & (v <= limits[0][1]);
    inside[1] += (v > limits[1][0]) & (v <= limits[1][1]);
    under[0] += v <= limits[0][0];
    under[1] += v <= limits[1][0];
  }
  for (int tail = 0; tail < 2; tail++) {
    counts[tail][0] = under[tail];
    counts[tail][1] = inside[tail];
  }
}

/* less[i]: how many of the first `count` values are below value[i], for i below `count` rounded to PREDICT_PAD. */
/* tools/loops: no vector multiply-adds */
static void WB_NAME(regression_ranks)(int count, const double *restrict value, int64_t *restrict less) {
  typedef int64_t whole_vector __attribute__((vector_size(WB_VECTOR_BYTES)));
  enum { LANES = WB_VECTOR_BYTES / 8, VECTORS = PREDICT_PAD / LANES };
  for (int i = 0; i < count; i += PREDICT_PAD) {
    wb_vector own[VECTORS];
    whole_vector rank[VECTORS];
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) {
      memcpy(&own[v], value + i + v * LANES, sizeof own[v]);
      rank[v] = (whole_vector){0};
    }
    for (int j = 0; j < count; j++) {
      const wb_vector other = WB_VECTOR_SET(value[j]);
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) {
#if WB_VECTOR_BYTES == 64
        rank[v] = (whole_vector)_mm512_mask_add_epi64((__m512i)rank[v], _mm512_cmp_pd_mask(other, own[v], _CMP_LT_OQ),
                                                      (__m512i)rank[v], _mm512_set1_epi64(1));
#else
        rank[v] -= (whole_vector)(other < own[v]);
#endif
      }
    }
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) memcpy(less + i + v * LANES, &rank[v], sizeof rank[v]);
  }
}
