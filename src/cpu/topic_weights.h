/* The weights of tokens and the draw of their topics in the precision REAL: included
 * by topic_loops.h.
 *
 * Floor: for each topic of a pair of document and term a multiply-add and two loads,
 * for which the term's row of phi comes from the caches or from memory. Several pairs
 * go together, so that enough chains of multiply-adds are under way.
 */

#define VECTORS ((int)(WB_TOPIC_LANES * sizeof(REAL) / WB_VECTOR_BYTES))
#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
/* Each multiply-add takes two loads, so four chains of them keep a core busy. */
#define REAL_PAIRS (VECTORS >= 8 ? 1 : VECTORS >= 4 ? 2 : 4)

/* The lanes' sums of `pairs` pairs after each stretch: pairs x stretches x
 * WB_TOPIC_LANES. `pairs` is a constant at each call. Meanwhile `aheads` rows of phi are
 * fetched from memory. */
static inline __attribute__((always_inline)) void REAL_NAME(add_weights)(const int pairs, int rows,
                                                                         const REAL *const *theta,
                                                                         const REAL *const *phi, const REAL *const *ahead,
                                                                         int aheads, REAL *sums) {
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
#if defined(__GNUC__)
      for (int i = 0; i < aheads; i++) {
        __builtin_prefetch(ahead[i] + at);
        if (sizeof(REAL) == 8) __builtin_prefetch(ahead[i] + at + 8);
      }
#endif
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

#if WB_VECTOR_BYTES >= 32
static inline __attribute__((always_inline)) void REAL_NAME(gather_reals)(const REAL *table, const uint64_t *at, REAL *value) {
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += WB_VECTOR_BYTES / 8) REAL_GATHER(value + i, table, at + i);
}

/* choose() for a tile of tokens of the pairs pair[0..15], whose sums, trees and rows begin at
 * pair * size, pair * (WB_TOPIC_TREE + 1), theta_at[pair] and phi_at[pair]. */
static inline __attribute__((always_inline)) void REAL_NAME(choose_tile)(int rows, const REAL *theta, const REAL *phi,
                                                                         const uint64_t *theta_at, const uint64_t *phi_at,
                                                                         const REAL *sums, size_t size, const double *tree,
                                                                         const uint64_t *pair, const double *u,
                                                                         uint64_t *topic, uint64_t *failed) {
  const int stretches = wb_topic_stretches(rows), stretch = wb_topic_stretch(rows);
  uint64_t own[WB_PHILOX_TILE], at[WB_PHILOX_TILE], lane[WB_PHILOX_TILE], row[WB_PHILOX_TILE], begin[WB_PHILOX_TILE];
  uint64_t of_theta[WB_PHILOX_TILE], of_phi[WB_PHILOX_TILE], some[WB_PHILOX_TILE];
  double position[WB_PHILOX_TILE], left[WB_PHILOX_TILE];
  REAL sum[WB_PHILOX_TILE], share[WB_PHILOX_TILE], line[WB_PHILOX_TILE];
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    own[i] = pair[i] * (WB_TOPIC_TREE + 1);
    at[i] = own[i] + (WB_TOPIC_TREE - 1);
    lane[i] = 0;
  }
  WB_NAME(gather_tile)(tree, at, left);
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) position[i] = u[i] * left[i];
  uint64_t level = 28;
  WB_UNROLL
  for (uint64_t half = 1; half <= 8; half *= 2) {
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) at[i] = own[i] + level + lane[i];
    WB_NAME(gather_tile)(tree, at, left);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      const uint64_t right = wb_mask(position[i] >= left[i]);
      position[i] -= wb_bits_double(wb_double_bits(left[i]) & right);
      lane[i] += half & right;
    }
    level -= 4 * half;
  }
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) at[i] = own[i] + lane[i];
  WB_NAME(gather_tile)(tree, at, left);
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    failed[i] = ~wb_mask(position[i] < left[i]);
    own[i] = pair[i] * size + lane[i];
    at[i] = own[i];
    begin[i] = 0;
    sum[i] = 0;
  }
  /* The last sum of a stretch that is not above the position, and how many there are. */
  for (int s = 0; s < stretches - 1; s++) {
    REAL_NAME(gather_reals)(sums, at, share);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      const int passed = (double)share[i] <= position[i];
      begin[i] += (uint64_t)stretch & wb_mask(passed);
      sum[i] = passed ? share[i] : sum[i];
      at[i] += WB_TOPIC_LANES;
    }
  }
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    of_theta[i] = theta_at[pair[i]] + lane[i];
    of_phi[i] = phi_at[pair[i]] + lane[i];
    row[i] = begin[i];
  }
  for (int r = 0; r < stretch; r++) {
    /* Rows past the last one: the last again, not counted. */
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      const uint64_t here = begin[i] + (uint64_t)r, last = (uint64_t)(rows - 1);
      at[i] = of_theta[i] + (here < last ? here : last) * WB_TOPIC_LANES;
      some[i] = of_phi[i] + (here < last ? here : last) * WB_TOPIC_LANES;
    }
    REAL_NAME(gather_reals)(theta, at, share);
    REAL_NAME(gather_reals)(phi, some, line);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      sum[i] = REAL_SCALAR_FMA(share[i], line[i], sum[i]);
      row[i] += (begin[i] + (uint64_t)r < (uint64_t)rows) & ((double)sum[i] <= position[i]);
    }
  }
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) topic[i] = row[i] * WB_TOPIC_LANES + lane[i];
}
#endif

/* Draws the topics of the tokens of `pairs` pairs, count[i] of pair i with the rows at
 * theta_at[i] and phi_at[i], TOPIC_MORE_PAIRS more than there are, whose rows of phi are
 * those that come next. total[i] takes the sum of the
 * weights of pair i, `topic` a number from 0 a token. Without `uniform` nothing is drawn.
 * block: pairs whose sums fit into room, a multiple of 8, at most TOPIC_PAIRS. */
static void REAL_NAME(topic_draw)(int rows, int pairs, int block, const void *all_theta, const void *all_phi,
                                  const uint64_t *restrict theta_at, const uint64_t *restrict phi_at,
                                  const int32_t *restrict count, const double *restrict uniform, void *restrict room,
                                  double *restrict total, uint16_t *restrict topic) {
  const REAL *const theta = all_theta, *const phi = all_phi;
  REAL *const sums = room;
  const size_t size = (size_t)wb_topic_stretches(rows) * WB_TOPIC_LANES;
  const int ahead = rows <= 16 ? 16 : 8;
  double trees[TOPIC_PAIRS * (WB_TOPIC_TREE + 1)];
  for (int start = 0; start < pairs; start += block) {
    const int end = pairs - start < block ? pairs : start + block;
    int tokens = 0;
    for (int first = start; first < end; first += REAL_PAIRS) {
      const REAL *share[4], *line[4], *next[4];
      int nexts = 0;
      for (int i = first + ahead; i < first + ahead + REAL_PAIRS; i++)
        if (phi_at[i] != phi_at[i - 1]) next[nexts++] = phi + phi_at[i];
      for (int i = 0; i < REAL_PAIRS; i++) {
        share[i] = theta + theta_at[first + i];
        line[i] = phi + phi_at[first + i];
      }
      REAL_NAME(add_weights)(REAL_PAIRS, rows, share, line, next, nexts, sums + (size_t)(first - start) * size);
    }
    for (int i = start; i < end; i++) {
      const REAL *const own = sums + (size_t)(i - start + 1) * size - WB_TOPIC_LANES;
      double *const tree = trees + (i - start) * (WB_TOPIC_TREE + 1);
      for (int l = 0; l < WB_TOPIC_LANES; l++) tree[l] = (double)own[l];
      wb_topic_add_tree(tree);
      total[i] = tree[WB_TOPIC_TREE - 1];
      tokens += count[i];
    }
    if (!uniform) continue;
    int pair = start;
    int32_t left = count[start];
    for (int begin = 0; begin < tokens; begin += WB_PHILOX_TILE) {
      const int tile = tokens - begin < WB_PHILOX_TILE ? tokens - begin : WB_PHILOX_TILE;
      uint64_t of[WB_PHILOX_TILE];
      for (int i = 0; i < WB_PHILOX_TILE; i++) {
        of[i] = (uint64_t)(pair - start);
        if (--left == 0 && pair + 1 < end) left = count[++pair];
      }
#if WB_VECTOR_BYTES >= 32
      uint64_t chosen[WB_PHILOX_TILE], failed[WB_PHILOX_TILE];
      double u[WB_PHILOX_TILE];
      for (int i = 0; i < WB_PHILOX_TILE; i++) u[i] = uniform[i < tile ? i : 0];
      REAL_NAME(choose_tile)(rows, theta, phi, theta_at + start, phi_at + start, sums, size, trees, of, u, chosen, failed);
      for (int i = 0; i < tile; i++) topic[i] = (uint16_t)chosen[i];
      uint32_t again = WB_NAME(mask_bits)(failed) & (uint32_t)((UINT64_C(1) << tile) - 1);
#else
      uint32_t again = (uint32_t)((UINT64_C(1) << tile) - 1);
#endif
      for (; again; again &= again - 1) {
        const int i = __builtin_ctz(again), at = start + (int)of[i];
        topic[i] = (uint16_t)REAL_NAME(choose)(rows, theta + theta_at[at], phi + phi_at[at], sums + of[i] * size,
                                               trees + of[i] * (WB_TOPIC_TREE + 1), uniform[i]);
      }
      topic += tile;
      uniform += tile;
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
#undef REAL_GATHER
