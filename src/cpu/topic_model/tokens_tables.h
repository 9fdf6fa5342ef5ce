/* The auxiliary variables of alpha and beta (core/topic_tables.h), from counts of counts. Only cpu/topic_model/tokens.c
 * includes this file. Lower bound: the topics of all tokens are read and counted by document and by term. */
#pragma once

static void add_document_levels(const wb_topic_session *s, const wb_topic_draw *draw, int64_t first, int64_t end,
                                const int32_t *tally, int32_t *histogram, int64_t *excess) {
  const size_t topics = (size_t)s->settings.topics;
  const int32_t levels = s->alpha_levels;
  for (int64_t d = first; d < end; d++) {
    const double *const alpha = alpha_of(s, draw->alpha, d);
    const size_t row = (size_t)(alpha - draw->alpha);
    int32_t *const own = histogram + row * ((size_t)levels + 1);
    for (size_t k = 0; k < topics; k++) {
      const int32_t count = tally[(size_t)(d - first) * topics + k];
      own[k * ((size_t)levels + 1) + (size_t)(count < levels ? count : levels)]++;
      if (count > levels)
        excess[row + k] += wb_topic_openings(draw->key, WB_PURPOSE_TOPIC_TABLES, draw->iteration,
                                             (uint64_t)d * topics + k, alpha[k], 0.0, levels, count);
    }
  }
}

typedef struct document_tables_pass {
  wb_topic_session *session;
  const wb_topic_draw *draw;
  size_t alphas, cells; /* of all groups of documents; of their histograms */
  int threads;
  int64_t next; /* group of documents that are counted together */
  int32_t *all; /* alphas x (levels + 1) */
  int64_t *tables;
  int failed;
} document_tables_pass;

static void count_documents(void *context) {
  document_tables_pass *const pass = context;
  const wb_topic_session *const s = pass->session;
  const size_t topics = (size_t)s->settings.topics, alphas = pass->alphas;
  const int64_t documents = s->corpus.documents, size = s->order.group;
  const size_t own = s->counts ? 0 : (size_t)size * topics;
  int64_t *const excess = calloc(alphas * sizeof(int64_t) + own * sizeof(int32_t), 1);
  int32_t *const tally = (int32_t *)(excess + (excess ? alphas : 0));
  int32_t *const histogram = pass->threads > 1 ? calloc(pass->cells, sizeof(int32_t)) : pass->all;
  if (excess && histogram) {
    for (int64_t first; (first = size * wb_take(&pass->next)) < documents;) {
      const int64_t end = first + size < documents ? first + size : documents;
      int32_t *const counts = s->counts ? s->counts + (size_t)first * topics : tally;
      count_group(s, first, end, counts);
      add_document_levels(s, pass->draw, first, end, counts, histogram, excess);
    }
#pragma omp critical(wb_topic_tables)
    {
      for (size_t i = 0; i < alphas; i++) pass->tables[i] += excess[i];
      if (pass->threads > 1)
        for (size_t i = 0; i < pass->cells; i++) pass->all[i] += histogram[i];
    }
  } else {
#pragma omp atomic write
    pass->failed = 1;
  }
  free(excess);
  if (pass->threads > 1) free(histogram);
}

static int count_all_documents(wb_topic_session *s, const wb_topic_draw *draw, int32_t *histogram, int64_t *tables,
                               wb_message *message) {
  const size_t topics = (size_t)s->settings.topics, alphas = (size_t)s->groups * topics;
  const int64_t documents = s->corpus.documents, size = s->order.group, groups = (documents + size - 1) / size;
  const size_t cells = alphas * ((size_t)s->alpha_levels + 1);
  const size_t bytes = (size_t)documents * topics * sizeof(int32_t);
  if (!s->counts && bytes <= TOPIC_COUNTS) s->counts = malloc(bytes + 1);
  memset(tables, 0, alphas * sizeof(int64_t));
  const int threads = useful_threads(s, (double)s->corpus.tokens * 2 + (double)documents * (double)topics, groups);
  document_tables_pass pass = {s, draw, alphas, cells, threads, 0, histogram, tables, 0};
  wb_on_threads(threads, count_documents, &pass);
  s->counted = s->counts && !pass.failed;
  return pass.failed ? wb_out_of_memory(message, "learning alpha", cells * sizeof(int32_t)) : WB_OK;
}

/* What draw_term_tables() adds up over terms. */
typedef struct term_sums {
  int64_t excess;     /* tables of tokens above the levels, and of terms with prior counts */
  int64_t *size;      /* topics: tokens */
  int32_t *histogram; /* levels + 1 */
} term_sums;

/* Adds the count of a term and topic where the term may have prior counts. */
static void add_own_level(const wb_topic_session *s, const wb_topic_draw *draw, int64_t term, const double *extra,
                          size_t k, int32_t count, term_sums *sums) {
  const uint64_t element = (uint64_t)term * (uint64_t)s->settings.topics + k;
  const int own = extra && extra[k] > 0;
  if (!own) sums->histogram[count < s->beta_levels ? count : s->beta_levels]++;
  if (own || count > s->beta_levels)
    sums->excess += wb_topic_openings(draw->key, WB_PURPOSE_TOPIC_TERM_TABLES, draw->iteration, element, draw->beta,
                                      own ? extra[k] : 0.0, own ? 0 : s->beta_levels, count);
}

/* The number of counts of 0 is not used: whether a count is 0 would often be predicted wrongly. */
static inline void take_count(const wb_topic_session *s, const wb_topic_draw *draw, int64_t term, const double *extra,
                              size_t k, int32_t count, term_sums *sums) {
  sums->size[k] += count;
  if (!extra && count <= s->beta_levels) sums->histogram[count]++;
  else if (count > 0) add_own_level(s, draw, term, extra, k, count, sums);
}

/* room: topics, all 0 before and after. */
static void add_term_levels(const wb_topic_session *s, const wb_topic_draw *draw, int64_t term, int32_t *room,
                            term_sums *sums) {
  const double *const extra = extra_of(s, term);
  const int64_t begin = s->order.first_segment[term], end = s->order.first_segment[term + 1];
  const size_t topics = (size_t)s->settings.topics;
  int32_t *const tally = s->term_counts ? s->term_counts + (size_t)term * topics : room;
  int64_t tokens = 0;
  if (s->term_counts) memset(tally, 0, topics * sizeof(int32_t));
  for (int64_t i = begin; i < end; i++) {
    const uint16_t *const topic = s->topic + s->order.segment[i].first;
    for (uint32_t j = 0; j < s->order.segment[i].tokens; j++) tally[topic[j]]++;
    tokens += s->order.segment[i].tokens;
  }
  if (s->term_counts || tokens > (int64_t)topics) {
    for (size_t k = 0; k < topics; k++) take_count(s, draw, term, extra, k, tally[k], sums);
    if (!s->term_counts) memset(tally, 0, topics * sizeof(int32_t));
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    const uint16_t *const topic = s->topic + s->order.segment[i].first;
    for (uint32_t j = 0; j < s->order.segment[i].tokens; j++) {
      take_count(s, draw, term, extra, topic[j], tally[topic[j]], sums);
      tally[topic[j]] = 0; /* taken */
    }
  }
}

typedef struct term_tables_pass {
  const wb_topic_session *session;
  const wb_topic_draw *draw;
  int64_t next; /* terms, TERMS_TOGETHER at a time */
  term_sums sums;
  int failed;
} term_tables_pass;

#define TERMS_TOGETHER 16

static void count_terms(void *context) {
  term_tables_pass *const pass = context;
  const wb_topic_session *const s = pass->session;
  const size_t topics = (size_t)s->settings.topics;
  const int32_t levels = s->beta_levels;
  int64_t *const memory = calloc(topics * (sizeof(int64_t) + sizeof(int32_t)) + ((size_t)levels + 1) * 4, 1);
  if (!memory) {
#pragma omp atomic write
    pass->failed = 1;
    return;
  }
  term_sums sums = {0, memory, (int32_t *)(memory + topics)};
  int32_t *const tally = sums.histogram + levels + 1;
  for (int64_t first; (first = TERMS_TOGETHER * wb_take(&pass->next)) < s->corpus.terms;) {
    const int64_t end = s->corpus.terms - first < TERMS_TOGETHER ? s->corpus.terms : first + TERMS_TOGETHER;
    for (int64_t term = first; term < end; term++) add_term_levels(s, pass->draw, term, tally, &sums);
  }
#pragma omp critical(wb_topic_tables)
  {
    pass->sums.excess += sums.excess;
    for (size_t k = 0; k < topics; k++) pass->sums.size[k] += sums.size[k];
    for (int32_t i = 0; i <= levels; i++) pass->sums.histogram[i] += sums.histogram[i];
  }
  free(memory);
}

static int draw_term_tables(wb_topic_session *s, const wb_topic_draw *draw, int64_t *tables, int64_t *size,
                            wb_message *message) {
  const size_t topics = (size_t)s->settings.topics;
  const int32_t levels = s->beta_levels;
  int32_t *const all = calloc((size_t)levels + 1, sizeof(int32_t));
  if (!all) return wb_out_of_memory(message, "learning beta", 12 * topics);
  const int64_t cells = (int64_t)s->corpus.terms * (int64_t)topics;
  if (!s->term_counts && cells <= s->corpus.tokens && (size_t)cells * sizeof(int32_t) <= TOPIC_COUNTS)
    s->term_counts = malloc((size_t)cells * sizeof(int32_t));
  memset(size, 0, topics * sizeof(int64_t));
  const int threads = useful_threads(s, (double)s->corpus.tokens * 3, s->corpus.terms);
  term_tables_pass pass = {s, draw, 0, {0, size, all}, 0};
  wb_on_threads(threads, count_terms, &pass);
  *tables = pass.sums.excess;
  int64_t above = all[levels];
  for (int32_t chunk = (levels - 1) / WB_TOPIC_LEVEL_CHUNK; !pass.failed && chunk >= 0; chunk--)
    *tables += wb_topic_chunk_openings(draw->key, WB_PURPOSE_TOPIC_TERM_LEVELS, draw->iteration, draw->beta, all,
                                       levels, chunk, &above);
  *tables += above;
  free(all);
  s->terms_counted = s->term_counts && !pass.failed;
  return pass.failed ? wb_out_of_memory(message, "learning beta", 12 * topics) : WB_OK;
}
