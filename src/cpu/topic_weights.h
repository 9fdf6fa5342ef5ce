/* The weights of tokens and the draw of their topics in the precision REAL: included
 * by topic_loops.h.
 *
 * Floor: for each topic of a pair of document and term a multiply-add and two loads,
 * for which the term's row of phi comes from the caches or from memory. Several pairs
 * go together, so that enough chains of multiply-adds are under way.
 */

#define VECTORS ((int)(WB_TOPIC_LANES * sizeof(REAL) / WB_VECTOR_BYTES))
#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
/* Eight accumulators are 4 (double) or 8 (single) pairs with AVX-512, 2 or 4 with AVX2. */
#define REAL_PAIRS (VECTORS >= 8 ? 1 : 8 / VECTORS)

/* The lanes' sums of `pairs` pairs after each stretch: pairs x stretches x
 * WB_TOPIC_LANES. `pairs` is a constant at each call. */
static inline __attribute__((always_inline)) void REAL_NAME(add_weights)(const int pairs, int rows,
                                                                         const REAL *const *theta,
                                                                         const REAL *const *phi, REAL *sums) {
  const int stretches = wb_topic_stretches(rows), stretch = wb_topic_stretch(rows);
  const REAL *share[8], *line[8];
  REAL_VECTOR sum[8][8];
  WB_UNROLL
  for (int i = 0; i < pairs; i++) {
    share[i] = theta[i];
    line[i] = phi[i];
    WB_UNROLL
    for (int v = 0; v < VECTORS; v++) sum[i][v] = REAL_SET(0);
  }
  for (int s = 0; s < stretches; s++) {
    const int end = (s + 1) * stretch < rows ? (s + 1) * stretch : rows;
    for (int r = s * stretch; r < end; r++) {
      const size_t at = (size_t)r * WB_TOPIC_LANES;
      WB_UNROLL
      for (int i = 0; i < pairs; i++) {
        WB_UNROLL
        for (int v = 0; v < VECTORS; v++)
          sum[i][v] = REAL_FMA(*(const REAL_VECTOR *)(share[i] + at + v * LANES),
                               *(const REAL_VECTOR *)(line[i] + at + v * LANES), sum[i][v]);
      }
    }
    WB_UNROLL
    for (int i = 0; i < pairs; i++) {
      WB_UNROLL
      for (int v = 0; v < VECTORS; v++)
        *(REAL_VECTOR *)(sums + ((size_t)i * (size_t)stretches + (size_t)s) * WB_TOPIC_LANES + v * LANES) = sum[i][v];
    }
  }
}

/* The topic that the uniform u takes from the weights of one pair. */
static inline __attribute__((always_inline)) int REAL_NAME(choose)(int rows, const REAL *restrict theta,
                                                                   const REAL *restrict phi, const REAL *restrict sums,
                                                                   const double *tree, double u) {
  double position;
  const int lane = wb_topic_lane(tree, u, &position);
  const int stretches = wb_topic_stretches(rows), stretch = wb_topic_stretch(rows);
  int before = 0;
  for (int s = 0; s < stretches - 1; s++) before += (double)sums[s * WB_TOPIC_LANES + lane] <= position;
  REAL sum = before > 0 ? sums[(before - 1) * WB_TOPIC_LANES + lane] : 0;
  const int begin = before * stretch;
  const int end = begin + stretch < rows ? begin + stretch : rows;
  int row = begin;
  for (int r = begin; r < end; r++) {
    sum = REAL_SCALAR_FMA(theta[(size_t)r * WB_TOPIC_LANES + lane], phi[(size_t)r * WB_TOPIC_LANES + lane], sum);
    row += (double)sum <= position;
  }
  return row * WB_TOPIC_LANES + lane;
}

/* Draws the topics of the tokens of `pairs` pairs, count[i] of pair i with the rows
 * theta[i] and phi[i], 8 pairs more than there are. total[i] takes the sum of the weights
 * of pair i, `topic` a number from 0 a token. Without `uniform` nothing is drawn. sums:
 * room for REAL_PAIRS x stretches x lanes. */
static void REAL_NAME(topic_draw)(int rows, int pairs, const void *const *thetas, const void *const *phis,
                                  const int32_t *restrict count, const double *restrict uniform, void *restrict room,
                                  double *restrict total, uint16_t *restrict topic) {
  const REAL *const *theta = (const REAL *const *)thetas, *const *phi = (const REAL *const *)phis;
  REAL *const sums = room;
  const size_t width = (size_t)rows * WB_TOPIC_LANES;
  const size_t size = (size_t)wb_topic_stretches(rows) * WB_TOPIC_LANES;
  for (int first = 0; first < pairs; first += REAL_PAIRS) {
    const int some = pairs - first < REAL_PAIRS ? pairs - first : REAL_PAIRS;
#if defined(__GNUC__)
    /* The next rows come from memory while these are used. */
    for (int i = first + REAL_PAIRS; i < first + 2 * REAL_PAIRS && i < pairs; i++)
      if (phi[i] != phi[i - 1])
        for (size_t at = 0; at < width; at += 64 / sizeof(REAL)) __builtin_prefetch(phi[i] + at);
#endif
    REAL_NAME(add_weights)(REAL_PAIRS, rows, theta + first, phi + first, sums);
    for (int i = 0; i < some; i++) {
      const REAL *own = sums + (size_t)i * size;
      double tree[WB_TOPIC_TREE];
      for (int l = 0; l < WB_TOPIC_LANES; l++) tree[l] = (double)own[size - WB_TOPIC_LANES + (size_t)l];
      wb_topic_add_tree(tree);
      total[first + i] = tree[WB_TOPIC_TREE - 1];
      if (!uniform) continue;
      for (int32_t t = 0; t < count[first + i]; t++)
        *topic++ = (uint16_t)REAL_NAME(choose)(rows, theta[first + i], phi[first + i], own, tree, *uniform++);
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
#undef REAL_PAIRS
#undef REAL
#undef REAL_NAME
#undef REAL_VECTOR
#undef REAL_FMA
#undef REAL_SET
#undef REAL_SCALAR_FMA
#undef REAL_WEIGHT
