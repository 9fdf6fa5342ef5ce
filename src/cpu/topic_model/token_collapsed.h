/* The topics of tokens with theta integrated out, in single precision; included by cpu/topic_model/token_weights.h.
 *
 * The weight of topic k for a token of term w in document d is (n_dk + alpha_k) (n_kw + beta) / (n_k + V beta), where
 * the counts leave the token itself out. n_dk is that of the moment; n_kw and n_k are those of the beginning of a batch
 * of documents, as in approximate distributed collapsed Gibbs sampling (Newman, Asuncion, Smyth & Welling 2009, Journal
 * of Machine Learning Research 10, 1801-1828). So documents of a batch do not depend on each other. */

/* n + alpha_k over a topic's total, and n from it. n is exact below 2^22. */
static inline float WB_NAME(collapsed_share)(double count, double alpha, double inverse) {
  return (float)((count + alpha) * inverse);
}
static inline double WB_NAME(collapsed_count)(float share, double alpha, double total) {
  return (double)(int64_t)((double)share * total - alpha + 0.5);
}

/* Tokens whose weights are computed together: with more, their rows' addresses do not fit into the registers. */
#define COLLAPSED_TOKENS (REAL_PAIRS > 4 ? 4 : REAL_PAIRS)

/* A token while its topic is drawn. */
typedef struct WB_NAME(collapsed_token) {
  float *share;        /* of its document: topics */
  const double *alpha; /* of its document: topics */
  int32_t old;
  double others;       /* other tokens of the document with the old topic */
} WB_NAME(collapsed_token);

/* Takes a token out of the share of its topic, and out of the counts of its term and topic: these are in phi, so that
 * the share is made smaller instead. */
static inline __attribute__((always_inline)) void WB_NAME(take_out)(const topic_visits *v, int32_t topic,
                                                                    const float *phi, WB_NAME(collapsed_token) *t) {
  const double total = v->total[topic], inverse = v->inverse[topic], count = (double)phi[topic];
  const double rest = total - 1.0 > 1e-30 ? total - 1.0 : 1e-30;
  t->old = topic;
  t->others = WB_NAME(collapsed_count)(t->share[topic], t->alpha[topic], total) - 1.0;
  const double share = (t->others + t->alpha[topic]) * inverse;
  t->share[topic] = (float)(share * ((count - 1.0) * total / (count * rest)));
}

static inline __attribute__((always_inline)) void WB_NAME(put_in)(const topic_visits *v, int32_t topic,
                                                                  const WB_NAME(collapsed_token) *t) {
  const int32_t old = t->old;
  t->share[old] = WB_NAME(collapsed_share)(t->others, t->alpha[old], v->inverse[old]);
  const double count = WB_NAME(collapsed_count)(t->share[topic], t->alpha[topic], v->total[topic]);
  t->share[topic] = WB_NAME(collapsed_share)(count + 1.0, t->alpha[topic], v->inverse[topic]);
}

/* How many of the next tokens, from `at` to before `end`, are of different documents: their topics are drawn together,
 * which is the same as one after the other. */
static inline __attribute__((always_inline)) int WB_NAME(collapsed_block)(const topic_visits *v, int64_t at,
                                                                          int64_t end, uint32_t block) {
  int tokens = 0;
  for (; tokens < WB_PHILOX_TILE && at + tokens < end; tokens++) {
    uint32_t *const seen = v->seen + (v->document[at + tokens] - v->first_document);
    if (*seen == block) break;
    *seen = block;
  }
  return tokens;
}

/* Visits the tokens of a group of documents in order. */
static void WB_NAME(topic_collapsed)(const topic_visits *v) {
  const size_t size = (size_t)wb_topic_stretches(v->rows) * WB_TOPIC_LANES;
  uint64_t share_at[WB_PHILOX_TILE], phi_at[WB_PHILOX_TILE];
  uint16_t topic[WB_PHILOX_TILE];
  uint8_t slot[WB_PHILOX_TILE];
  double uniform[TOPIC_UNIFORMS + WB_PHILOX_TILE] = {0};
  WB_NAME(collapsed_token) token[WB_PHILOX_TILE];
  int64_t known = 0, first = 0, ahead = 0; /* tokens first..known - 1 have uniforms; rows before `ahead` are fetched */
  uint32_t block = 0;
  int tokens;
  for (int64_t at = 0; at < v->tokens; at += tokens) {
    if (at == known) {
      const int some = v->tokens - at < TOPIC_UNIFORMS ? (int)(v->tokens - at) : TOPIC_UNIFORMS;
      WB_NAME(topic_uniforms)(v->key, v->iteration, v->token + at, some, uniform);
      first = at;
      known = at + some;
    }
    tokens = WB_NAME(collapsed_block)(v, at, known, ++block);
    for (int i = 0; i < WB_PHILOX_TILE; i++) {
      const int64_t here = at + (i < tokens ? i : tokens - 1);
      slot[i] = (uint8_t)(i < tokens ? i : tokens - 1);
      share_at[i] = (size_t)(v->document[here] - v->first_document) * v->width;
      phi_at[i] = (size_t)v->term[here] * v->width;
    }
    for (int i = 0; i < tokens; i++) {
      token[i].share = v->share + share_at[i];
      token[i].alpha = v->alpha[v->document[at + i] - v->first_document];
      WB_NAME(take_out)(v, v->topic[v->token[at + i]], v->phi + phi_at[i], &token[i]);
    }
    if (ahead < at + tokens) ahead = at + tokens;
    const int64_t most = at + tokens + 2 * WB_PHILOX_TILE < v->tokens ? at + tokens + 2 * WB_PHILOX_TILE : v->tokens;
    for (int i = 0; i < tokens; i += COLLAPSED_TOKENS) {
      const REAL *share[COLLAPSED_TOKENS], *line[COLLAPSED_TOKENS], *next[COLLAPSED_TOKENS];
      int nexts = 0, common = 1;
      for (; ahead < most && nexts < COLLAPSED_TOKENS; ahead++)
        if (v->term[ahead] != v->term[ahead - 1]) next[nexts++] = v->phi + (size_t)v->term[ahead] * v->width;
      for (int j = 0; j < COLLAPSED_TOKENS; j++) {
        share[j] = v->share + share_at[i + j];
        line[j] = v->phi + phi_at[i + j];
        common &= phi_at[i + j] == phi_at[i];
      }
      REAL *const to = v->sums + (size_t)i * size;
      if (common) REAL_NAME(add_weights)(COLLAPSED_TOKENS, 1, v->rows, share, line, next, nexts, to);
      else REAL_NAME(add_weights)(COLLAPSED_TOKENS, 0, v->rows, share, line, next, nexts, to);
    }
    for (int i = 0; i < tokens; i++)
      REAL_NAME(add_tree)(v->sums + (size_t)(i + 1) * size - WB_TOPIC_LANES, v->trees + i * (WB_TOPIC_TREE + 1));
    const double *const u = uniform + (at - first);
    uint32_t again = (uint32_t)((UINT64_C(1) << tokens) - 1);
#if WB_VECTOR_BYTES >= 32
    again &= REAL_NAME(choose_tile)(v->rows, v->share, v->phi, share_at, phi_at, v->sums, size, v->trees, slot, u,
                                    topic);
#endif
    for (; again; again &= again - 1) {
      const int i = __builtin_ctz(again), of = slot[i];
      topic[i] = (uint16_t)REAL_NAME(choose)(v->rows, v->share + share_at[of], v->phi + phi_at[of],
                                             v->sums + (size_t)of * size, v->trees + of * (WB_TOPIC_TREE + 1), u[i]);
    }
    for (int i = 0; i < tokens; i++) {
      /* With an alpha or beta near the smallest numbers no topic may have a weight. */
      const int drawn = v->trees[i * (WB_TOPIC_TREE + 1) + WB_TOPIC_TREE - 1] > 0 && topic[i] < v->topics;
      const int32_t chosen = drawn ? topic[i] : token[i].old;
      WB_NAME(put_in)(v, chosen, &token[i]);
      v->topic[v->token[at + i]] = (uint16_t)chosen;
    }
  }
}

#undef COLLAPSED_TOKENS
