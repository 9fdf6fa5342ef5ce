/* Sweeps of approximate distributed collapsed Gibbs sampling (cpu/topic_model/token_collapsed.h has the law and its
 * source). Documents pass in batches. Within a batch threads run over groups of documents, then over terms, whose
 * counts they bring up to date. Batches depend on the number of documents alone, and a token's topic on its batch and
 * the earlier tokens of its document, so results depend neither on threads nor on groups.
 *
 * From random topics this finds good topics in fewer sweeps than draws of theta and phi do: each batch learns from the
 * previous ones, and theta adds no noise. A sweep has no gammas, and its table of phi changes only where a token
 * moved. */
#ifndef WB_CPU_TOPIC_MODEL_COLLAPSED_BATCHES_H
#define WB_CPU_TOPIC_MODEL_COLLAPSED_BATCHES_H

/* Batches of a sweep, at least: one for every so many documents. */
#define TOPIC_BATCHES 16
/* Ranges of terms that threads bring up to date. */
#define TOPIC_RANGES 64
/* Tokens whose counts are fetched ahead. */
#define TOPIC_AHEAD 16

typedef struct topic_batches {
  const wb_topic_corpus *corpus;
  const wb_topic_structure *structure;
  const wb_topic_draw *draw;
  int topics, rows;
  size_t width;
  int64_t batch, group;            /* documents of each; the group divides the batch */
  uint32_t *token, *term, *document; /* tokens, by group, in the order of the visits */
  uint16_t *topic, *before;        /* tokens; before: at the beginning of the batch */
  float *phi;                      /* terms x width: counts and prior */
  int64_t *size;                   /* topics: tokens */
  double *prior, *total, *inverse; /* topics: prior of all terms, with the tokens, 1 over that */
} topic_batches;

static void topic_batches_free(topic_batches *b) {
  free(b->token);
  free(b->term);
  free(b->document);
  free(b->before);
  wb_aligned_free(b->phi);
  free(b->size);
  free(b->prior);
}

static double batch_base(const topic_batches *b, int64_t term, int64_t topic) {
  const wb_topic_structure *t = b->structure;
  if (t->extras == 0 || t->extra_of[term] < 0) return b->draw->beta;
  return b->draw->beta + t->extra[(size_t)t->extra_of[term] * (size_t)b->topics + (size_t)topic];
}

/* The tokens of a term in a group: the first tokens of all pairs, then their second ones, and so on, so that
 * neighbours are of different documents. Pairs first..end - 1 are by term. */
static int64_t order_run(topic_batches *b, uint32_t term, const uint32_t *document, int64_t first, int64_t end,
                         int64_t at) {
  const wb_topic_corpus *c = b->corpus;
  for (int32_t t = 0, left = 1; left; t++) {
    left = 0;
    for (int64_t i = first; i < end; i++) {
      if (c->place_count[i] <= t) continue;
      b->token[at] = c->place_token[i] + (uint32_t)t;
      b->term[at] = term;
      b->document[at++] = document[i];
      left = 1;
    }
  }
  return at;
}

static int order_visits(topic_batches *b) {
  const wb_topic_corpus *c = b->corpus;
  const int64_t groups = (c->documents + b->group - 1) / b->group;
  uint32_t *const document = malloc(((size_t)c->pairs + 1) * sizeof(uint32_t));
  int64_t *const next = malloc(((size_t)c->terms + (size_t)groups + 1) * sizeof(int64_t));
  if (document && next) {
    memcpy(next, c->first_place, (size_t)c->terms * sizeof(int64_t));
    for (int64_t d = 0; d < c->documents; d++)
      for (int64_t i = c->first_pair[d]; i < c->first_pair[d + 1]; i++) document[next[c->term[i]]++] = (uint32_t)d;
    for (int64_t g = 0; g < groups; g++) next[g] = c->first_token[g * b->group];
    for (int64_t w = 0; w < c->terms; w++)
      for (int64_t i = c->first_place[w], end; i < c->first_place[w + 1]; i = end) {
        const int64_t g = document[i] / b->group;
        for (end = i + 1; end < c->first_place[w + 1] && document[end] / b->group == g;) end++;
        next[g] = order_run(b, (uint32_t)w, document, i, end, next[g]);
      }
    for (int t = 0; t < WB_PHILOX_TILE; t++) b->token[c->tokens + t] = 0;
  }
  const int ready = document && next;
  free(document);
  free(next);
  return ready;
}

/* Counts all tokens. */
static void count_batches(topic_batches *b) {
  const wb_topic_corpus *c = b->corpus;
  memset(b->size, 0, (size_t)b->topics * sizeof(int64_t));
  for (int k = 0; k < b->topics; k++) b->prior[k] = 0;
  for (int64_t w = 0; w < c->terms; w++) {
    float *const row = b->phi + (size_t)w * b->width;
    memset(row, 0, b->width * sizeof(float));
    for (int64_t i = c->first_place[w]; i < c->first_place[w + 1]; i++)
      for (int32_t t = 0; t < c->place_count[i]; t++) {
        const uint16_t k = b->topic[c->place_token[i] + (uint32_t)t];
        row[k] += 1;
        b->size[k]++;
      }
    for (int k = 0; k < b->topics; k++) {
      const double base = batch_base(b, w, k);
      b->prior[k] += base;
      row[k] = (float)((double)row[k] + base);
    }
  }
}

static void total_batches(topic_batches *b) {
  for (int k = 0; k < b->topics; k++) {
    b->total[k] = b->prior[k] + (double)b->size[k];
    b->inverse[k] = 1.0 / b->total[k];
  }
}

/* Moves a token of a term to or from a topic: the counts in phi are whole numbers, so their order does not matter. They
 * are exact below 2^22. */
static void count_token(topic_batches *b, int64_t term, int64_t topic, double change) {
  float *const at = b->phi + (size_t)term * b->width + topic;
  const double base = batch_base(b, term, topic);
  const double count = (double)(int64_t)((double)*at - base + 0.5);
  *at = (float)(count + change + base);
}

/* Brings the counts of terms first..end - 1 up to date after a batch, whose documents are from..to - 1. */
static void count_moves(topic_batches *b, uint32_t first, uint32_t end, int64_t from, int64_t to, int64_t *moved) {
  const wb_topic_corpus *c = b->corpus;
  for (int64_t d = from; d < to; d += b->group) {
    const int64_t after = c->first_token[d + b->group < to ? d + b->group : to];
    int64_t low = c->first_token[d], high = after;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (b->term[middle] < first) low = middle + 1;
      else high = middle;
    }
    for (int64_t i = low; i < after && b->term[i] < end; i++) {
#if defined(__GNUC__)
      /* Where the next counts are is known long before they are needed. */
      const int64_t next = i + TOPIC_AHEAD < after ? i + TOPIC_AHEAD : i;
      const float *const row = b->phi + (size_t)b->term[next] * b->width;
      __builtin_prefetch(row + b->before[b->token[next]]);
      __builtin_prefetch(row + b->topic[b->token[next]]);
#endif
      const uint16_t old = b->before[b->token[i]], new = b->topic[b->token[i]];
      if (old == new) continue;
      count_token(b, b->term[i], old, -1.0);
      count_token(b, b->term[i], new, 1.0);
      moved[old]--;
      moved[new]++;
    }
  }
}

/* What a thread needs. */
typedef struct batch_bench {
  float *share, *sums;
  double *trees;
  const double **alpha;
  int64_t *moved;
  uint32_t *seen;
} batch_bench;

static batch_bench *batch_bench_open(const topic_batches *b) {
  const size_t size = (size_t)wb_topic_stretches(b->rows) * WB_TOPIC_LANES, group = (size_t)b->group;
  const size_t head = (sizeof(batch_bench) + 63) / 64 * 64;
  char *memory = wb_aligned_malloc(head + (group * b->width + WB_PHILOX_TILE * size) * sizeof(float) +
                                   WB_PHILOX_TILE * (WB_TOPIC_TREE + 1) * sizeof(double) +
                                   group * (sizeof(double *) + sizeof(uint32_t)) +
                                   (size_t)b->topics * sizeof(int64_t));
  if (!memory) return NULL;
  batch_bench *bench = (batch_bench *)memory;
  bench->share = (float *)(memory + head);
  bench->sums = bench->share + group * b->width;
  bench->trees = (double *)(bench->sums + WB_PHILOX_TILE * size);
  bench->moved = (int64_t *)(bench->trees + WB_PHILOX_TILE * (WB_TOPIC_TREE + 1));
  bench->alpha = (const double **)(bench->moved + b->topics);
  bench->seen = (uint32_t *)(bench->alpha + group);
  memset(bench->moved, 0, (size_t)b->topics * sizeof(int64_t));
  return bench;
}

/* Draws the topics of the tokens of documents first..end - 1, a group. */
static void visit_group(topic_batches *b, wb_isa isa, uint32_t iteration, int64_t first, int64_t end,
                        batch_bench *bench) {
  const wb_topic_corpus *c = b->corpus;
  const int64_t begin = c->first_token[first];
  for (int64_t d = first; d < end; d++) {
    float *const share = bench->share + (size_t)(d - first) * b->width;
    const size_t own = b->structure->groups > 1 ? (size_t)b->structure->group[d] : 0;
    const double *const alpha = b->draw->alpha + own * (size_t)b->topics;
    memset(share, 0, b->width * sizeof(float));
    for (int64_t i = c->first_token[d]; i < c->first_token[d + 1]; i++) share[b->topic[i]] += 1;
    for (int k = 0; k < b->topics; k++) share[k] = (float)(((double)share[k] + alpha[k]) * b->inverse[k]);
    bench->alpha[d - first] = alpha;
    bench->seen[d - first] = 0;
  }
  const topic_visits visits = {
    .key = b->draw->key, .iteration = iteration, .topics = b->topics, .rows = b->rows, .width = b->width,
    .first_document = (uint32_t)first, .tokens = c->first_token[end] - begin, .token = b->token + begin,
    .term = b->term + begin, .document = b->document + begin, .topic = b->topic, .share = bench->share, .phi = b->phi,
    .alpha = bench->alpha, .total = b->total, .inverse = b->inverse, .sums = bench->sums, .trees = bench->trees,
    .seen = bench->seen,
  };
  visits_of[isa](&visits);
}

/* A batch: documents from..to - 1. Called by all threads of a region together; without a bench a thread does nothing,
 * and the sweep is void. */
static void pass_batch(topic_batches *b, wb_isa isa, uint32_t iteration, int64_t from, int64_t to, batch_bench *bench) {
  const wb_topic_corpus *c = b->corpus;
  const int64_t groups = (to - from + b->group - 1) / b->group;
#pragma omp single
  {
    const int64_t begin = c->first_token[from], tokens = c->first_token[to] - begin;
    memcpy(b->before + begin, b->topic + begin, (size_t)tokens * sizeof(uint16_t));
    total_batches(b);
  }
#pragma omp for schedule(dynamic, 1)
  for (int64_t g = 0; g < groups; g++) {
    const int64_t first = from + g * b->group, end = first + b->group < to ? first + b->group : to;
    if (bench) visit_group(b, isa, iteration, first, end, bench);
  }
#pragma omp for schedule(dynamic, 1)
  for (int64_t r = 0; r < TOPIC_RANGES; r++) {
    const uint32_t first = (uint32_t)(r * c->terms / TOPIC_RANGES);
    const uint32_t end = (uint32_t)((r + 1) * c->terms / TOPIC_RANGES);
    if (bench && first < end) count_moves(b, first, end, from, to, bench->moved);
  }
  if (bench) {
#pragma omp critical(wb_topic_moves)
    for (int k = 0; k < b->topics; k++) b->size[k] += bench->moved[k];
    memset(bench->moved, 0, (size_t)b->topics * sizeof(int64_t));
  }
#pragma omp barrier
}

/* The largest power of two that is at most x, at least 1. */
static int64_t power_below(int64_t x) {
  int64_t power = 1;
  while (2 * power <= x) power *= 2;
  return power;
}

static int draw_collapsed(const wb_topic_corpus *c, const wb_topic_settings *settings, const wb_run *run,
                          const wb_topic_draw *draw, int32_t sweeps, uint16_t *topic, wb_message *message) {
  const int rows = wb_topic_rows(settings->topics);
  topic_batches b = {.corpus = c, .structure = &settings->structure, .draw = draw, .topics = settings->topics,
                     .rows = rows, .width = (size_t)rows * WB_TOPIC_LANES, .topic = topic};
  const size_t tokens = (size_t)c->tokens + WB_PHILOX_TILE, topics = (size_t)b.topics;
  const size_t phi_bytes = ((size_t)c->terms + 1) * b.width * sizeof(float);
  const double work = (double)c->tokens * (b.topics / 4 + 40) / TOPIC_BATCHES;
  int threads = (int)(1 + work / 2e4 < run->threads ? 1 + work / 2e4 : run->threads), failed = 0;
  if (threads > 1) threads = wb_idle_threads(threads);
  b.batch = power_below(c->documents / TOPIC_BATCHES);
  const int64_t fit = (int64_t)(group_bytes() / (b.width * sizeof(float)));
  const int64_t share = threads > 1 ? b.batch / (2 * threads) : b.batch;
  b.group = power_below(fit < share ? fit : share);
  b.token = malloc(tokens * sizeof(uint32_t));
  b.term = malloc(tokens * sizeof(uint32_t));
  b.document = malloc(tokens * sizeof(uint32_t));
  b.before = malloc(tokens * sizeof(uint16_t));
  b.phi = wb_aligned_malloc(phi_bytes);
  b.size = malloc(topics * sizeof(int64_t));
  b.prior = malloc(3 * topics * sizeof(double));
  if (!b.token || !b.term || !b.document || !b.before || !b.phi || !b.size || !b.prior || !order_visits(&b)) {
    topic_batches_free(&b);
    return wb_out_of_memory(message, "the start of the topic model", phi_bytes + 14 * tokens);
  }
  wb_large_pages(b.phi, phi_bytes);
  b.total = b.prior + topics;
  b.inverse = b.total + topics;
  count_batches(&b);
#pragma omp parallel num_threads(threads)
  {
    batch_bench *const bench = batch_bench_open(&b);
    if (!bench) {
#pragma omp atomic write
      failed = 1;
    }
    for (int32_t sweep = 0; sweep < sweeps; sweep++)
      for (int64_t from = 0; from < c->documents; from += b.batch)
        pass_batch(&b, run->isa, draw->iteration + (uint32_t)sweep, from,
                   from + b.batch < c->documents ? from + b.batch : c->documents, bench);
    wb_aligned_free(bench);
  }
  topic_batches_free(&b);
  return failed ? wb_out_of_memory(message, "a group of documents", (size_t)b.group * b.width * sizeof(float)) : WB_OK;
}

#endif
