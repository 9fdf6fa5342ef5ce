/* The weights of tokens and the draw of their topics (core/topic_draw.h), in the precision REAL; included by
 * cpu/topic_model/tokens_loops.h.
 *
 * Lower bound: a multiply-add and two loads for each topic of a (document, term) pair. */

#define VECTORS ((int)(WB_TOPIC_LANES * sizeof(REAL) / WB_VECTOR_BYTES))
#define LANES ((int)(WB_VECTOR_BYTES / sizeof(REAL)))
/* Pairs computed together. Multiply-adds wait for the one before, so eight chains keep a core busy. */
#define REAL_PAIRS (VECTORS >= 8 ? 1 : VECTORS >= 4 ? 2 : VECTORS >= 2 ? 4 : 8)

/* The lanes' sums of `pairs` pairs after each stretch: pairs x stretches x WB_TOPIC_LANES. If `common`, all pairs have
 * the same term, whose row is loaded once. `pairs`, `common`: constants. `aheads` rows of phi are prefetched. */
WB_INLINE void REAL_NAME(add_weights)(const int pairs, const int common, int rows, const REAL *const *theta,
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
WB_INLINE int REAL_NAME(choose_topic)(int rows, const REAL *restrict theta, const REAL *restrict phi,
                                      const REAL *restrict sums, const double *tree, double u) {
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

#if WB_VECTOR_BYTES == 64
/* choose_topic() for a tile of tokens. Token i belongs to the pair in slot[i] of the ring. The sums, trees and rows of
 * this pair begin at slot * size, slot * (WB_TOPIC_TREE + 1), theta_at[slot] and phi_at[slot]. Returns a bit for each
 * token whose position was rounded up to the end of its lane. */
WB_INLINE uint32_t REAL_NAME(choose_tile)(int rows, const REAL *theta, const REAL *phi, const uint64_t *theta_at,
                                          const uint64_t *phi_at, const REAL *sums, size_t size, const double *tree,
                                          const uint8_t *slot, const double *u, uint16_t *topic) {
  enum { HALVES = WB_PHILOX_TILE / 8 };
  const int stretches = wb_topic_stretches(rows), searched = wb_topic_searched(rows);
  const __m512i step = _mm512_set1_epi64(wb_topic_stretch(rows));
  const __m512i last = _mm512_set1_epi64(rows - 1), one = _mm512_set1_epi64(1);
  __m512i of[HALVES], own[HALVES], lane[HALVES], begin[HALVES], row[HALVES], of_theta[HALVES], of_phi[HALVES];
  __m512d position[HALVES], left[HALVES];
  REAL_EIGHT sum[HALVES];
  __mmask8 failed[HALVES];
  WB_UNROLL
  for (int h = 0; h < HALVES; h++) {
    of[h] = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(slot + 8 * h)));
    own[h] = _mm512_slli_epi64(of[h], 5);
    left[h] = _mm512_i64gather_pd(_mm512_add_epi64(own[h], _mm512_set1_epi64(WB_TOPIC_TREE - 1)), tree, 8);
    position[h] = _mm512_mul_pd(_mm512_loadu_pd(u + 8 * h), left[h]);
    lane[h] = _mm512_setzero_si512();
  }
  long long level = 28;
  WB_UNROLL
  for (long long half = 1; half <= 8; half *= 2) {
    WB_UNROLL
    for (int h = 0; h < HALVES; h++) {
      const __m512i at = _mm512_add_epi64(_mm512_add_epi64(own[h], lane[h]), _mm512_set1_epi64(level));
      left[h] = _mm512_i64gather_pd(at, tree, 8);
    }
    WB_UNROLL
    for (int h = 0; h < HALVES; h++) {
      const __mmask8 right = _mm512_cmp_pd_mask(position[h], left[h], _CMP_GE_OQ);
      position[h] = _mm512_mask_sub_pd(position[h], right, position[h], left[h]);
      lane[h] = _mm512_mask_add_epi64(lane[h], right, lane[h], _mm512_set1_epi64(half));
    }
    level -= 4 * half;
  }
  WB_UNROLL
  for (int h = 0; h < HALVES; h++) {
    left[h] = _mm512_i64gather_pd(_mm512_add_epi64(own[h], lane[h]), tree, 8);
    failed[h] = (__mmask8)~_mm512_cmp_pd_mask(position[h], left[h], _CMP_LT_OQ);
    own[h] = _mm512_add_epi64(_mm512_mullo_epi64(of[h], _mm512_set1_epi64((long long)size)), lane[h]);
    of_theta[h] = _mm512_add_epi64(_mm512_i64gather_epi64(of[h], theta_at, 8), lane[h]);
    of_phi[h] = _mm512_add_epi64(_mm512_i64gather_epi64(of[h], phi_at, 8), lane[h]);
    begin[h] = _mm512_setzero_si512();
    sum[h] = REAL_EIGHT_ZERO;
  }
  for (int s = 0; s < stretches - 1; s++) {
    WB_UNROLL
    for (int h = 0; h < HALVES; h++) {
      const REAL_EIGHT share = REAL_EIGHT_GATHER(sums, own[h]);
      const __mmask8 passed = _mm512_cmp_pd_mask(REAL_EIGHT_DOUBLE(share), position[h], _CMP_LE_OQ);
      begin[h] = _mm512_mask_add_epi64(begin[h], passed, begin[h], step);
      sum[h] = REAL_EIGHT_SELECT(sum[h], passed, share);
      own[h] = _mm512_add_epi64(own[h], _mm512_set1_epi64(WB_TOPIC_LANES));
    }
  }
  WB_UNROLL
  for (int h = 0; h < HALVES; h++) row[h] = begin[h];
  for (int r = 0; r < searched; r++) {
    WB_UNROLL
    for (int h = 0; h < HALVES; h++) {
      const __mmask8 there = _mm512_cmp_epi64_mask(begin[h], last, _MM_CMPINT_LE);
      const __m512i at = _mm512_slli_epi64(_mm512_min_epi64(begin[h], last), 4);
      const REAL_EIGHT share = REAL_EIGHT_GATHER(theta, _mm512_add_epi64(of_theta[h], at));
      const REAL_EIGHT line = REAL_EIGHT_GATHER(phi, _mm512_add_epi64(of_phi[h], at));
      sum[h] = REAL_EIGHT_FMA(share, line, sum[h]);
      const __mmask8 passed = _mm512_mask_cmp_pd_mask(there, REAL_EIGHT_DOUBLE(sum[h]), position[h], _CMP_LE_OQ);
      row[h] = _mm512_mask_add_epi64(row[h], passed, row[h], one);
      begin[h] = _mm512_add_epi64(begin[h], one);
    }
  }
  uint32_t again = 0;
  WB_UNROLL
  for (int h = 0; h < HALVES; h++) {
    const __m512i chosen = _mm512_add_epi64(_mm512_slli_epi64(row[h], 4), lane[h]);
    _mm_storeu_si128((__m128i *)(void *)(topic + 8 * h), _mm512_cvtepi64_epi16(chosen));
    again |= (uint32_t)failed[h] << (8 * h);
  }
  return again;
}
#endif

/* Builds the tree over the lanes' last sums. Returns the total. */
WB_INLINE double REAL_NAME(add_tree)(const REAL *lanes, double *tree) {
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

WB_INLINE void REAL_NAME(weigh_block)(const topic_pass *p, int64_t begin, int slot, size_t size, uint64_t *theta_at,
                                      uint64_t *phi_at, double *total) {
  const wb_topic_session *const s = p->session;
  const REAL *const theta = (const REAL *)p->bench->weight, *const phi = s->phi;
  REAL *const sums = (REAL *)p->bench->sums + (size_t)slot * size;
  double *const trees = p->bench->trees + (size_t)slot * (WB_TOPIC_TREE + 1);
  const int ahead = 16;
  const uint32_t *const term = s->order.term + begin, *const document = s->order.document;
  for (int i = 0; i < TOPIC_BLOCK; i++) {
    theta_at[slot + i] = (size_t)(document[begin + i < p->end ? begin + i : p->end - 1] - p->document) * s->width;
    phi_at[slot + i] = (size_t)term[i] * s->width;
  }
  for (int first = 0; first < TOPIC_BLOCK; first += REAL_PAIRS) {
    const REAL *share[REAL_PAIRS], *line[REAL_PAIRS], *next[REAL_PAIRS];
    int nexts = 0;
    for (int i = first + ahead; i < first + ahead + REAL_PAIRS; i++)
      if (term[i] != term[i - 1]) next[nexts++] = phi + (size_t)term[i] * s->width;
    for (int i = 0; i < REAL_PAIRS; i++) {
      share[i] = theta + theta_at[slot + first + i];
      line[i] = phi + phi_at[slot + first + i];
    }
    REAL *const to = sums + (size_t)first * size;
    /* Terms are in order within the group; after its last pair come the terms of another group. */
    const int common = begin + first + REAL_PAIRS <= p->end && term[first] == term[first + REAL_PAIRS - 1];
    if (common) REAL_NAME(add_weights)(REAL_PAIRS, 1, s->rows, share, line, next, nexts, to);
    else REAL_NAME(add_weights)(REAL_PAIRS, 0, s->rows, share, line, next, nexts, to);
  }
  for (int i = 0; i < TOPIC_BLOCK; i++)
    total[i] = REAL_NAME(add_tree)(sums + (size_t)(i + 1) * size - WB_TOPIC_LANES, trees + i * (WB_TOPIC_TREE + 1));
}

/* Draws the topics of at most 16 tokens from `place` on, given their uniforms. */
WB_INLINE void REAL_NAME(choose_topics)(const topic_pass *p, uint32_t place, int tokens, size_t size,
                                        const uint64_t *theta_at, const uint64_t *phi_at, const double *u) {
  const wb_topic_session *const s = p->session;
  const REAL *const theta = (const REAL *)p->bench->weight, *const phi = s->phi, *const sums = p->bench->sums;
  const double *const trees = p->bench->trees;
  const uint8_t *const slot = s->order.slot + place;
  uint32_t again = (uint32_t)((UINT64_C(1) << tokens) - 1);
  uint16_t topic[WB_PHILOX_TILE];
#if WB_VECTOR_BYTES == 64
  again &= REAL_NAME(choose_tile)(s->rows, theta, phi, theta_at, phi_at, sums, size, trees, slot, u, topic);
#endif
  for (; again; again &= again - 1) {
    const int i = __builtin_ctz(again), at = slot[i];
    topic[i] = (uint16_t)REAL_NAME(choose_topic)(s->rows, theta + theta_at[at], phi + phi_at[at],
                                                 sums + (size_t)at * size, trees + at * (WB_TOPIC_TREE + 1), u[i]);
  }
  if (tokens == WB_PHILOX_TILE) memcpy(s->topic + place, topic, sizeof topic);
  else memcpy(s->topic + place, topic, (size_t)tokens * sizeof(uint16_t));
}

/* Processes a group of documents: computes a block's weights, then draws the previous block's topics, by sixteen. */
static void REAL_NAME(topic_pass_tokens)(const topic_pass *p) {
  const topic_order *const order = &p->session->order;
  const size_t size = (size_t)wb_topic_stretches(p->session->rows) * WB_TOPIC_LANES;
  const uint32_t last = order->first[p->end];
  uint64_t theta_at[TOPIC_RING], phi_at[TOPIC_RING];
  double total[TOPIC_BLOCK], uniform[TOPIC_UNIFORMS];
  uint32_t place = order->first[p->first], known = place; /* the next token, and the first without a uniform */
  int slot = 0;
  for (int64_t begin = p->first; begin < p->end + TOPIC_BLOCK; begin += TOPIC_BLOCK) {
    uint32_t ready = last;
    if (begin < p->end) {
      const int block = p->end - begin < TOPIC_BLOCK ? (int)(p->end - begin) : TOPIC_BLOCK;
      REAL_NAME(weigh_block)(p, begin, slot, size, theta_at, phi_at, total);
      slot = slot + TOPIC_BLOCK < TOPIC_RING ? slot + TOPIC_BLOCK : 0;
      WB_VECTOR_LOOP
      for (int i = 0; i < TOPIC_BLOCK; i++) total[i] = wb_log(total[i]);
      for (int i = 0; i < block; i++) {
        double *const score = p->score + order->document[begin + i];
        *score = wb_fma((double)order->count[begin + i], total[i], *score);
      }
      ready = order->first[begin];
    }
    if (!p->draw) continue;
    while (place + WB_PHILOX_TILE <= ready || (ready == last && place < last)) {
      if (place == known) {
        const int some = last - place < TOPIC_UNIFORMS ? (int)(last - place) : TOPIC_UNIFORMS;
        WB_NAME(topic_uniforms)(p->draw->key, p->draw->iteration, order->token + place, some, uniform);
        known = place + TOPIC_UNIFORMS;
      }
      const int tokens = last - place < WB_PHILOX_TILE ? (int)(last - place) : WB_PHILOX_TILE;
      REAL_NAME(choose_topics)(p, place, tokens, size, theta_at, phi_at, uniform + (TOPIC_UNIFORMS - (known - place)));
      place += (uint32_t)tokens;
    }
  }
}

/* The logs of phi of some terms, 0 past the last topic. Rows have `width`; inverse: 1 over each topic's gammas. */
/* tools/loops: no vector multiply-adds */
static void REAL_NAME(topic_log_terms)(const REAL *phi, const double *restrict inverse, int64_t terms, int topics,
                                       size_t width, double *restrict log_phi) {
  for (int64_t w = 0; w < terms; w++) {
    const REAL *const line = phi + (size_t)w * width;
    double *const to = log_phi + (size_t)w * width;
    for (size_t k = 0; k < width; k++) to[k] = k < (size_t)topics ? wb_topic_term((double)line[k] * inverse[k]) : 1.0;
    WB_NAME(topic_logs)((int64_t)width, to);
  }
}

/* Weights in the precision of the draw: the values, times factors if `scaled`, a constant. Lanes are a number of their
 * own, since GCC at -O2 does not vectorise a loop of unknown length. */
WB_INLINE void REAL_NAME(narrow_values)(const int scaled, const double *restrict value, const double *restrict factor,
                                        int count, REAL *restrict weight) {
  int i = 0;
  for (; i + WB_TOPIC_LANES <= count; i += WB_TOPIC_LANES) {
    double some[WB_TOPIC_LANES];
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_TOPIC_LANES; l++) {
      some[l] = scaled ? value[i + l] * factor[i + l] : value[i + l];
      some[l] = some[l] < REAL_LEAST ? 0.0 : some[l];
    }
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_TOPIC_LANES; l++) weight[i + l] = (REAL)some[l];
  }
  for (; i < count; i++) weight[i] = REAL_WEIGHT(scaled ? value[i] * factor[i] : value[i]);
}

/* The same, with factors unless `factor` is NULL. */
/* tools/loops: no vector multiply-adds */
static void REAL_NAME(topic_narrow)(const double *value, const double *factor, int count, REAL *weight) {
  if (factor) REAL_NAME(narrow_values)(1, value, factor, count, weight);
  else REAL_NAME(narrow_values)(0, value, NULL, count, weight);
}

/* tools/loops: no vector multiply-adds */
static void REAL_NAME(topic_keep)(const double *restrict value, int count, double *restrict sum,
                                  REAL *restrict weight) {
  int i = 0;
  for (; i + WB_TOPIC_LANES <= count; i += WB_TOPIC_LANES) {
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_TOPIC_LANES; l++) sum[i + l] += value[i + l];
  }
  for (; i < count; i++) sum[i] += value[i];
  REAL_NAME(narrow_values)(0, value, NULL, count, weight);
}

#undef VECTORS
#undef LANES
#undef REAL_PAIRS
#undef REAL_WEIGHT
#undef REAL_LEAST
#undef REAL_FOUR_LOAD
#undef REAL_EIGHT
#undef REAL_EIGHT_ZERO
#undef REAL_EIGHT_GATHER
#undef REAL_EIGHT_DOUBLE
#undef REAL_EIGHT_SELECT
#undef REAL_EIGHT_FMA
