/* The weights of tokens and the draw of their topics in the precision REAL: included
 * by topic_loops.h.
 *
 * Floor: a multiply-add for each topic of a pair of document and term, for which the
 * term's row of phi comes from the caches or from memory. Several terms of a document
 * go together, so that a load of theta serves all of them and enough chains of
 * multiply-adds are under way.
 */

#define VECTORS ((int)(WB_TOPIC_LANES * sizeof(REAL) / WB_VECTOR_BYTES))
#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
/* Eight accumulators are 4 (double) or 8 (single) terms with AVX-512, 2 or 4 with AVX2. */
#define REAL_TERMS (VECTORS >= 8 ? 1 : 8 / VECTORS)

/* The lanes' sums of `terms` rows of phi after each stretch: terms x stretches x
 * WB_TOPIC_LANES. `terms` is a constant at each call. */
static inline __attribute__((always_inline)) void REAL_NAME(add_weights)(
    const int terms, int rows, const REAL *restrict theta, const REAL *const *restrict phi, REAL *restrict sums) {
  const int stretches = wb_topic_stretches(rows);
  const REAL *line[8];
  REAL_VECTOR sum[8][8];
  WB_UNROLL
  for (int w = 0; w < terms; w++) {
    line[w] = phi[w];
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) sum[w][v] = REAL_SET(0);
  }
  for (int s = 0; s < stretches; s++) {
    const int end = (s + 1) * WB_TOPIC_ROWS < rows ? (s + 1) * WB_TOPIC_ROWS : rows;
    for (int r = s * WB_TOPIC_ROWS; r < end; r++) {
      const size_t at = (size_t)r * WB_TOPIC_LANES;
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++) {
        const REAL_VECTOR share = *(const REAL_VECTOR *)(theta + at + v * LANES);
        WB_UNROLL
        for (int w = 0; w < terms; w++)
          sum[w][v] = REAL_FMA(share, *(const REAL_VECTOR *)(line[w] + at + v * LANES), sum[w][v]);
      }
    }
    WB_UNROLL
    for (int w = 0; w < terms; w++) {
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++)
        *(REAL_VECTOR *)(sums + ((size_t)w * (size_t)stretches + (size_t)s) * WB_TOPIC_LANES + v * LANES) = sum[w][v];
    }
  }
}

/* The topic that position `u` of the weights of one pair takes. */
static inline __attribute__((always_inline)) int REAL_NAME(choose)(int rows, const REAL *restrict theta,
                                                                   const REAL *restrict phi, const REAL *restrict sums,
                                                                   const double *lane_sum, const double *prefix,
                                                                   double u) {
  double position;
  const int lane = wb_topic_lane(lane_sum, prefix, u, &position);
  const int stretches = wb_topic_stretches(rows);
  int stretch = 0;
  for (int s = 0; s < stretches - 1; s++) stretch += (double)sums[s * WB_TOPIC_LANES + lane] <= position;
  REAL sum = stretch > 0 ? sums[(stretch - 1) * WB_TOPIC_LANES + lane] : 0;
  const int begin = stretch * WB_TOPIC_ROWS;
  const int end = begin + WB_TOPIC_ROWS < rows ? begin + WB_TOPIC_ROWS : rows;
  int row = begin;
  for (int r = begin; r < end; r++) {
    sum = REAL_SCALAR_FMA(theta[(size_t)r * WB_TOPIC_LANES + lane], phi[(size_t)r * WB_TOPIC_LANES + lane], sum);
    row += (double)sum <= position;
  }
  return row * WB_TOPIC_LANES + lane;
}

/* Draws the topics of the tokens of `pairs` pairs of one document: term[i] with
 * count[i] tokens. theta: rows x lanes; phi: a row for each term. total[i] takes the
 * sum of the weights of pair i, `topic` a number from 0 a token. Without `uniform`
 * nothing is drawn. sums: room for REAL_TERMS x stretches x lanes. */
static void REAL_NAME(topic_draw)(int rows, const REAL *restrict theta, const REAL *restrict phi, int pairs,
                                  const int32_t *restrict term, const int32_t *restrict count,
                                  const double *restrict uniform, REAL *restrict sums, double *restrict total,
                                  uint16_t *restrict topic) {
  const size_t width = (size_t)rows * WB_TOPIC_LANES;
  const size_t size = (size_t)wb_topic_stretches(rows) * WB_TOPIC_LANES;
  for (int first = 0; first < pairs; first += REAL_TERMS) {
    const int terms = pairs - first < REAL_TERMS ? pairs - first : REAL_TERMS;
    const REAL *line[8];
    for (int w = 0; w < REAL_TERMS; w++)
      line[w] = phi + (size_t)term[w < terms ? first + w : first] * width;
#if defined(__GNUC__)
    /* The next rows come from memory while these are used. */
    for (int w = first + REAL_TERMS; w < first + 2 * REAL_TERMS && w < pairs; w++) {
      const REAL *next = phi + (size_t)term[w] * width;
      for (size_t at = 0; at < width; at += 64 / sizeof(REAL)) __builtin_prefetch(next + at);
    }
#endif
    REAL_NAME(add_weights)(REAL_TERMS, rows, theta, line, sums);
    for (int w = 0; w < terms; w++) {
      const REAL *own = sums + (size_t)w * size;
      double lane_sum[WB_TOPIC_LANES], prefix[WB_TOPIC_LANES];
      for (int l = 0; l < WB_TOPIC_LANES; l++) lane_sum[l] = (double)own[size - WB_TOPIC_LANES + (size_t)l];
      total[first + w] = wb_topic_prefix(lane_sum, prefix);
      if (!uniform) continue;
      for (int32_t i = 0; i < count[first + w]; i++)
        *topic++ = (uint16_t)REAL_NAME(choose)(rows, theta, line[w], own, lane_sum, prefix, *uniform++);
    }
  }
}

/* Weights as the draw reads them. */
static void REAL_NAME(topic_narrow)(const double *restrict value, const double *restrict factor, int count,
                                    REAL *restrict weight) {
  if (factor)
    for (int i = 0; i < count; i++) weight[i] = REAL_WEIGHT(value[i] * factor[i]);
  else
    for (int i = 0; i < count; i++) weight[i] = REAL_WEIGHT(value[i]);
}

#undef VECTORS
#undef LANES
#undef REAL_TERMS
#undef REAL
#undef REAL_NAME
#undef REAL_VECTOR
#undef REAL_FMA
#undef REAL_SET
#undef REAL_SCALAR_FMA
#undef REAL_WEIGHT
