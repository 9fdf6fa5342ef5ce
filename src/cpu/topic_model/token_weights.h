/* The weights of tokens and the draw of their topics (core/topic_draw.h), in the precision REAL; included by
 * cpu/topic_model/tokens_loops.h.
 *
 * Lower bound: a multiply-add and two loads for each topic of a (document, term) pair. The term's row of phi comes from
 * the caches or memory. Several pairs are computed together, so that enough multiply-adds are under way. */

#define VECTORS ((int)(WB_TOPIC_LANES * sizeof(REAL) / WB_VECTOR_BYTES))
#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
/* Pairs computed together. Multiply-adds wait for the one before, so eight chains keep a core busy. */
#define REAL_PAIRS (VECTORS >= 8 ? 1 : VECTORS >= 4 ? 2 : VECTORS >= 2 ? 4 : 8)

/* The lanes' sums of `pairs` pairs after each stretch: pairs x stretches x WB_TOPIC_LANES. If `common`, all pairs have
 * the same term, whose row is loaded once. `pairs`, `common`: constants. `aheads` rows of phi are prefetched. */
#define add_weights REAL_NAME(add_weights_double, add_weights_single)
WB_INLINE void add_weights(const int pairs, const int common, int rows, const REAL *const *theta,
                           const REAL *const *phi, const REAL *const *ahead, int aheads, REAL *sums) {
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
                               *(const REAL_VECTOR *)(line[common ? 0 : i] + at + v * LANES), sum[i][v]);
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

/* The topic that the uniform u selects by the weights of one pair. */
#define choose_topic REAL_NAME(choose_topic_double, choose_topic_single)
WB_INLINE int choose_topic(int rows, const REAL *restrict theta, const REAL *restrict phi, const REAL *restrict sums,
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
  for (int r = begin; r < end - 1; r++) {
    sum = REAL_SCALAR_FMA(theta[(size_t)r * WB_TOPIC_LANES + lane], phi[(size_t)r * WB_TOPIC_LANES + lane], sum);
    row += (double)sum <= position;
  }
  return row * WB_TOPIC_LANES + lane;
}

#if WB_VECTOR_BYTES >= 32
#define gather_reals REAL_NAME(gather_reals_double, gather_reals_single)
WB_INLINE void gather_reals(const REAL *table, const uint64_t *at, REAL *value) {
  WB_UNROLL
  for (int i = 0; i < WB_PHILOX_TILE; i += WB_VECTOR_BYTES / 8) REAL_GATHER(value + i, table, at + i);
}

/* choose_topic() for a tile of tokens. Token i belongs to the pair in slot[i] of the ring. The sums, trees and rows of
 * this pair begin at slot * size, slot * (WB_TOPIC_TREE + 1), theta_at[slot] and phi_at[slot]. Returns a bit for each
 * token whose position was rounded up to the end of its lane. */
#define choose_tile REAL_NAME(choose_tile_double, choose_tile_single)
WB_INLINE uint32_t choose_tile(int rows, const REAL *theta, const REAL *phi, const uint64_t *theta_at,
                               const uint64_t *phi_at, const REAL *sums, size_t size, const double *tree,
                               const uint8_t *slot, const double *u, uint16_t *topic) {
  uint64_t failed[WB_PHILOX_TILE];
  const int stretches = wb_topic_stretches(rows), stretch = wb_topic_stretch(rows), searched = wb_topic_searched(rows);
  uint64_t own[WB_PHILOX_TILE], at[WB_PHILOX_TILE], lane[WB_PHILOX_TILE], row[WB_PHILOX_TILE], begin[WB_PHILOX_TILE];
  uint64_t of_theta[WB_PHILOX_TILE], of_phi[WB_PHILOX_TILE], some[WB_PHILOX_TILE];
  double position[WB_PHILOX_TILE], left[WB_PHILOX_TILE];
  REAL sum[WB_PHILOX_TILE], share[WB_PHILOX_TILE], line[WB_PHILOX_TILE];
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    own[i] = (uint64_t)slot[i] * (WB_TOPIC_TREE + 1);
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
    own[i] = (uint64_t)slot[i] * size + lane[i];
    at[i] = own[i];
    begin[i] = 0;
    sum[i] = 0;
  }
  /* The last sum of a stretch that is not above the position, and the number of these sums. */
  for (int s = 0; s < stretches - 1; s++) {
    gather_reals(sums, at, share);
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
    of_theta[i] = theta_at[slot[i]] + lane[i];
    of_phi[i] = phi_at[slot[i]] + lane[i];
    row[i] = begin[i];
  }
  for (int r = 0; r < searched; r++) {
    /* Rows past the last one repeat it and are not counted. */
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      const uint64_t here = begin[i] + (uint64_t)r, last = (uint64_t)(rows - 1);
      at[i] = of_theta[i] + (here < last ? here : last) * WB_TOPIC_LANES;
      some[i] = of_phi[i] + (here < last ? here : last) * WB_TOPIC_LANES;
    }
    gather_reals(theta, at, share);
    gather_reals(phi, some, line);
    WB_VECTOR_LOOP
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      sum[i] = REAL_SCALAR_FMA(share[i], line[i], sum[i]);
      row[i] += (begin[i] + (uint64_t)r < (uint64_t)rows) & ((double)sum[i] <= position[i]);
    }
  }
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) topic[i] = (uint16_t)(row[i] * WB_TOPIC_LANES + lane[i]);
  return WB_NAME(mask_bits)(failed);
}

#endif

/* Builds the tree over the lanes' last sums. Returns the total. */
#define add_tree REAL_NAME(add_tree_double, add_tree_single)
WB_INLINE double add_tree(const REAL *lanes, double *tree) {
#if WB_VECTOR_BYTES >= 32
  /* wb_topic_add_tree() in registers: loading what was just stored in other widths would stall. */
  __m256d leaf[4], eight[2];
  WB_UNROLL
  for (int v = 0; v < 4; v++) {
    leaf[v] = REAL_FOUR_LOAD(lanes + 4 * v);
    _mm256_storeu_pd(tree + 4 * v, leaf[v]);
  }
  WB_UNROLL
  for (int v = 0; v < 2; v++) {
    eight[v] = _mm256_add_pd(leaf[v], leaf[v + 2]);
    _mm256_storeu_pd(tree + 16 + 4 * v, eight[v]);
  }
  const __m256d four = _mm256_add_pd(eight[0], eight[1]);
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  const __m128d one = _mm_add_sd(two, _mm_unpackhi_pd(two, two));
  _mm256_storeu_pd(tree + 24, four);
  _mm_storeu_pd(tree + 28, two);
  _mm_store_sd(tree + 30, one);
  return _mm_cvtsd_f64(one);
#else
  for (int l = 0; l < WB_TOPIC_LANES; l++) tree[l] = (double)lanes[l];
  wb_topic_add_tree(tree);
  return tree[WB_TOPIC_TREE - 1];
#endif
}

/* Computes the weights of a block of pairs into the ring from `slot` on; past the last pair they are not used. */
#define weigh_block REAL_NAME(weigh_block_double, weigh_block_single)
WB_INLINE void weigh_block(const topic_pass *p, int64_t begin, int slot, size_t size, uint64_t *theta_at,
                           uint64_t *phi_at, double *total) {
  const REAL *const theta = p->theta, *const phi = p->phi;
  REAL *const sums = (REAL *)p->sums + (size_t)slot * size;
  double *const trees = p->trees + (size_t)slot * (WB_TOPIC_TREE + 1);
  const int ahead = 16;
  const uint32_t *const term = p->term + begin;
  for (int i = 0; i < TOPIC_BLOCK; i++) {
    const int64_t at = begin + i < p->pairs ? begin + i : p->pairs - 1;
    theta_at[slot + i] = (size_t)(p->document[at] - p->first_document) * p->width;
    phi_at[slot + i] = (size_t)term[i] * p->width;
  }
  for (int first = 0; first < TOPIC_BLOCK; first += REAL_PAIRS) {
    const REAL *share[REAL_PAIRS], *line[REAL_PAIRS], *next[REAL_PAIRS];
    int nexts = 0;
    for (int i = first + ahead; i < first + ahead + REAL_PAIRS; i++)
      if (term[i] != term[i - 1]) next[nexts++] = phi + (size_t)term[i] * p->width;
    for (int i = 0; i < REAL_PAIRS; i++) {
      share[i] = theta + theta_at[slot + first + i];
      line[i] = phi + phi_at[slot + first + i];
    }
    REAL *const to = sums + (size_t)first * size;
    /* Terms are in order within the group; after its last pair come the terms of another group. */
    const int common = begin + first + REAL_PAIRS <= p->pairs && term[first] == term[first + REAL_PAIRS - 1];
    if (common) add_weights(REAL_PAIRS, 1, p->rows, share, line, next, nexts, to);
    else add_weights(REAL_PAIRS, 0, p->rows, share, line, next, nexts, to);
  }
  for (int i = 0; i < TOPIC_BLOCK; i++)
    total[i] = add_tree(sums + (size_t)(i + 1) * size - WB_TOPIC_LANES, trees + i * (WB_TOPIC_TREE + 1));
}

/* Draws the topics of at most 16 tokens from `place` on, given their uniforms. */
#define choose_topics REAL_NAME(choose_topics_double, choose_topics_single)
WB_INLINE void choose_topics(const topic_pass *p, uint32_t place, int tokens, size_t size, const uint64_t *theta_at,
                             const uint64_t *phi_at, const double *u) {
  const REAL *const theta = p->theta, *const phi = p->phi, *const sums = p->sums;
  const uint8_t *const slot = p->slot + place;
  uint32_t again = (uint32_t)((UINT64_C(1) << tokens) - 1);
  uint16_t topic[WB_PHILOX_TILE];
#if WB_VECTOR_BYTES >= 32
  again &= choose_tile(p->rows, theta, phi, theta_at, phi_at, sums, size, p->trees, slot, u, topic);
#endif
  for (; again; again &= again - 1) {
    const int i = __builtin_ctz(again), at = slot[i];
    topic[i] = (uint16_t)choose_topic(p->rows, theta + theta_at[at], phi + phi_at[at], sums + (size_t)at * size,
                                      p->trees + at * (WB_TOPIC_TREE + 1), u[i]);
  }
  if (tokens == WB_PHILOX_TILE) memcpy(p->topic + place, topic, sizeof topic);
  else memcpy(p->topic + place, topic, (size_t)tokens * sizeof(uint16_t));
}

/* Processes a group of documents: computes a block's weights, then draws the previous block's topics, by sixteen. */
#define topic_pass_tokens REAL_NAME(topic_pass_tokens_double, topic_pass_tokens_single)
static void topic_pass_tokens(const topic_pass *p) {
  const size_t size = (size_t)wb_topic_stretches(p->rows) * WB_TOPIC_LANES;
  const uint32_t last = p->first[p->pairs];
  uint64_t theta_at[TOPIC_RING], phi_at[TOPIC_RING];
  double total[TOPIC_BLOCK], uniform[TOPIC_UNIFORMS];
  uint32_t place = p->first[0], known = place; /* the next token, and the first without a uniform */
  int slot = 0;
  for (int64_t begin = 0; begin < p->pairs + TOPIC_BLOCK; begin += TOPIC_BLOCK) {
    uint32_t ready = last;
    if (begin < p->pairs) {
      const int block = p->pairs - begin < TOPIC_BLOCK ? (int)(p->pairs - begin) : TOPIC_BLOCK;
      weigh_block(p, begin, slot, size, theta_at, phi_at, total);
      slot = slot + TOPIC_BLOCK < TOPIC_RING ? slot + TOPIC_BLOCK : 0;
      WB_VECTOR_LOOP
      for (int i = 0; i < TOPIC_BLOCK; i++) total[i] = wb_log(total[i]);
      for (int i = 0; i < block; i++) {
        double *const score = p->score + (p->document[begin + i] - p->first_document);
        *score = wb_fma((double)p->count[begin + i], total[i], *score);
      }
      ready = p->first[begin];
    }
    if (!p->draw) continue;
    while (place + WB_PHILOX_TILE <= ready || (ready == last && place < last)) {
      if (place == known) {
        const int some = last - place < TOPIC_UNIFORMS ? (int)(last - place) : TOPIC_UNIFORMS;
        WB_NAME(topic_uniforms)(p->key, p->iteration, p->token + place, some, uniform);
        known = place + TOPIC_UNIFORMS;
      }
      const int tokens = last - place < WB_PHILOX_TILE ? (int)(last - place) : WB_PHILOX_TILE;
      choose_topics(p, place, tokens, size, theta_at, phi_at, uniform + (TOPIC_UNIFORMS - (known - place)));
      place += (uint32_t)tokens;
    }
  }
}

/* The logs of phi of some terms, 0 past the last topic. Rows have `width`; inverse: 1 over each topic's gammas. */
/* tools/loops: no vector multiply-adds */
#define topic_log_terms REAL_NAME(topic_log_terms_double, topic_log_terms_single)
static void topic_log_terms(const REAL *phi, const double *restrict inverse, int64_t terms, int topics, size_t width,
                            double *restrict log_phi) {
  for (int64_t w = 0; w < terms; w++) {
    const REAL *const line = phi + (size_t)w * width;
    double *const to = log_phi + (size_t)w * width;
    for (size_t k = 0; k < width; k++) to[k] = k < (size_t)topics ? wb_topic_term((double)line[k] * inverse[k]) : 1.0;
    WB_NAME(topic_logs)((int64_t)width, to);
  }
}

/* Weights in the precision of the draw: the values, times factors unless `factor` is NULL. */
/* tools/loops: no vector multiply-adds */
#define topic_narrow REAL_NAME(topic_narrow_double, topic_narrow_single)
static void topic_narrow(const double *restrict value, const double *restrict factor, int count,
                         REAL *restrict weight) {
  for (int i = 0; i < count; i++) weight[i] = REAL_WEIGHT(factor ? value[i] * factor[i] : value[i]);
}

/* Adds the gammas of a term to the sums of the topics and stores them as weights. */
/* tools/loops: no vector multiply-adds */
#define topic_keep REAL_NAME(topic_keep_double, topic_keep_single)
static void topic_keep(const double *restrict value, int count, double *restrict sum, REAL *restrict weight) {
  for (int i = 0; i < count; i++) sum[i] += value[i];
  for (int i = 0; i < count; i++) weight[i] = REAL_WEIGHT(value[i]);
}

#undef VECTORS
#undef LANES
#undef REAL_PAIRS
#undef REAL_WEIGHT
#undef REAL_GATHER
#undef REAL_FOUR_LOAD
