/* Topic models on the processor. Threads run over documents and over terms; a unit
 * of work counts the topics of its own tokens, draws theta or phi from the counts, and
 * uses it while it is in the caches. Counts are whole numbers and sums of numbers have
 * a fixed order, so results do not depend on the threads.
 */
#include "core/rounding.h"

#include "cpu/backend.h"

#include <stdlib.h>

#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma_trial.h"
#include "core/topic_draw.h"
#include "core/topic_tables.h"
#include "numeric/memory.h"

/* Gammas that pass together. */
#define TOPIC_GAMMAS 512

typedef struct topic_gamma_room {
  uint64_t element[TOPIC_GAMMAS], accepted[TOPIC_GAMMAS];
  double shape[TOPIC_GAMMAS], u[TOPIC_GAMMAS], v[TOPIC_GAMMAS], draw[TOPIC_GAMMAS];
  int32_t index[TOPIC_GAMMAS];
} topic_gamma_room;

#define WB_LOOPS "cpu/topic_loops.h"
#include "numeric/isa.h"

/* Pairs of a document that pass together. */
#define TOPIC_PAIRS 256

struct wb_topic_session {
  wb_topic_corpus corpus;
  wb_topic_settings settings;
  int threads;
  wb_isa isa;
  int rows;      /* of topics */
  size_t width;  /* rows x lanes */
  uint16_t *topic;  /* tokens */
  void *phi;        /* terms x width, in the precision of the weights: gammas or means */
  double *leaf_sum; /* leaves x topics */
  double *inverse;  /* topics: 1 over the sum of a topic's gammas */
};

typedef void draw_double(int rows, const double *theta, const double *phi, int pairs, const int32_t *term,
                         const int32_t *count, const double *uniform, double *sums, double *total, uint16_t *topic);
typedef void draw_single(int rows, const float *theta, const float *phi, int pairs, const int32_t *term,
                         const int32_t *count, const double *uniform, float *sums, double *total, uint16_t *topic);
typedef void narrow_double(const double *value, const double *factor, int count, double *weight);
typedef void narrow_single(const double *value, const double *factor, int count, float *weight);
typedef void gammas(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first, const double *shape,
                    int count, topic_gamma_room *room, double *draw);
typedef void uniforms(uint64_t key, uint32_t iteration, uint64_t first, int pairs, double *uniform);
typedef double log_sum(const int32_t *count, int pairs, double *weight, double sum);

static draw_double *const draw_doubles[] = WB_ISA_TABLE(topic_draw_double);
static draw_single *const draw_singles[] = WB_ISA_TABLE(topic_draw_single);
static narrow_double *const narrow_doubles[] = WB_ISA_TABLE(topic_narrow_double);
static narrow_single *const narrow_singles[] = WB_ISA_TABLE(topic_narrow_single);
static gammas *const gammas_of[] = WB_ISA_TABLE(topic_gammas);
static uniforms *const uniforms_of[] = WB_ISA_TABLE(topic_uniforms);
static log_sum *const log_sums[] = WB_ISA_TABLE(topic_log_sum);

static size_t real_size(const wb_topic_session *s) {
  return s->settings.precision == WB_SINGLE ? sizeof(float) : sizeof(double);
}

static int64_t leaves_of(const wb_topic_session *s) {
  return ((int64_t)s->corpus.terms + WB_TOPIC_LEAF - 1) / WB_TOPIC_LEAF;
}

static void close_session(wb_topic_session *s) {
  if (!s) return;
  free(s->topic);
  wb_aligned_free(s->phi);
  wb_aligned_free(s->leaf_sum);
  free(s->inverse);
  free(s);
}

static int open_session(const wb_topic_corpus *corpus, const wb_topic_settings *settings, const wb_run *run,
                        wb_topic_session **session, wb_message *message) {
  wb_topic_session *s = calloc(1, sizeof *s);
  if (!s) return wb_out_of_memory(message, "the session of the topic model", sizeof *s);
  s->corpus = *corpus;
  s->settings = *settings;
  s->threads = run->threads;
  s->isa = run->isa;
  s->rows = wb_topic_rows(settings->topics);
  s->width = (size_t)s->rows * WB_TOPIC_LANES;
  const size_t phi_bytes = (size_t)corpus->terms * s->width * real_size(s);
  const size_t leaf_bytes = (size_t)leaves_of(s) * (size_t)settings->topics * sizeof(double);
  s->topic = calloc((size_t)corpus->tokens + 1, sizeof(uint16_t));
  s->phi = wb_aligned_malloc(phi_bytes);
  s->leaf_sum = wb_aligned_malloc(leaf_bytes);
  s->inverse = calloc((size_t)settings->topics, sizeof(double));
  if (!s->topic || !s->phi || !s->leaf_sum || !s->inverse) {
    const size_t bytes = phi_bytes + leaf_bytes + (size_t)corpus->tokens * sizeof(uint16_t);
    close_session(s);
    return wb_out_of_memory(message, "the terms of the topics", bytes);
  }
  *session = s;
  return WB_OK;
}

static int set_topics(wb_topic_session *s, const uint16_t *topic, wb_message *message) {
  (void)message;
  memcpy(s->topic, topic, (size_t)s->corpus.tokens * sizeof(uint16_t));
  return WB_OK;
}

static int get_topics(wb_topic_session *s, uint16_t *topic, wb_message *message) {
  (void)message;
  memcpy(topic, s->topic, (size_t)s->corpus.tokens * sizeof(uint16_t));
  return WB_OK;
}

/* Threads for a pass in `units` units of work: one for each further half millisecond
 * or so of about a nanosecond an operation. */
static int useful_threads(const wb_topic_session *s, double operations, int64_t units) {
  double threads = 1 + operations / 5e5;
  if (threads > s->threads) threads = s->threads;
  if (threads > (double)units) threads = (double)units;
  return threads < 1 ? 1 : (int)threads;
}

static double document_work(const wb_topic_session *s) {
  const double topics = s->settings.topics;
  return (double)s->corpus.documents * topics * 5 + (double)s->corpus.pairs * (topics / 4 + 20);
}

/* What a thread works with. */
typedef struct workbench {
  double *shape;    /* topics */
  double *value;    /* width: gammas or means */
  void *weight;     /* width, in the precision of the weights */
  void *sums;       /* 8 pairs x stretches x lanes, likewise */
  double *uniform;
  double *total;    /* TOPIC_PAIRS */
  int32_t *tally;   /* topics */
  topic_gamma_room *room;
  void *memory;
} workbench;

/* Tokens of TOPIC_PAIRS pairs may be many: their uniforms are drawn in pieces. */
#define TOPIC_TOKENS 4096

static int workbench_open(const wb_topic_session *s, workbench *bench) {
  const size_t size = (size_t)wb_topic_stretches(s->rows) * WB_TOPIC_LANES;
  const size_t doubles = 3 * s->width + 8 * size + TOPIC_TOKENS + 2 + TOPIC_PAIRS + s->width;
  char *memory = wb_aligned_malloc(doubles * sizeof(double) + s->width * sizeof(int32_t) + sizeof(topic_gamma_room));
  if (!memory) return 0;
  bench->memory = memory;
  double *at = (double *)memory;
  bench->shape = at;
  bench->value = at + s->width;
  bench->weight = at + 2 * s->width;
  bench->sums = at + 3 * s->width;
  bench->total = at + 3 * s->width + 8 * size;
  bench->uniform = bench->total + TOPIC_PAIRS;
  bench->room = (topic_gamma_room *)(bench->uniform + TOPIC_TOKENS + 2 + s->width);
  bench->tally = (int32_t *)(bench->room + 1);
  return 1;
}

static void narrow(const wb_topic_session *s, const double *value, const double *factor, void *weight) {
  const int topics = s->settings.topics;
  const size_t rest = s->width - (size_t)topics;
  if (s->settings.precision == WB_SINGLE) {
    narrow_singles[s->isa](value, factor, topics, weight);
    memset((float *)weight + topics, 0, rest * sizeof(float));
  } else {
    narrow_doubles[s->isa](value, factor, topics, weight);
    memset((double *)weight + topics, 0, rest * sizeof(double));
  }
}

/* Dirichlet gammas, or their shapes where the mean is wanted, into bench->value. */
static void draw_values(const wb_topic_session *s, const wb_topic_draw *draw, uint32_t purpose, uint64_t row,
                        workbench *bench) {
  const int topics = s->settings.topics;
  if (draw->mean) {
    memcpy(bench->value, bench->shape, (size_t)topics * sizeof(double));
    return;
  }
  for (int first = 0; first < topics; first += TOPIC_GAMMAS) {
    const int count = topics - first < TOPIC_GAMMAS ? topics - first : TOPIC_GAMMAS;
    gammas_of[s->isa](draw->key, purpose, draw->iteration, row * (uint64_t)topics + (uint64_t)first,
                      bench->shape + first, count, bench->room, bench->value + first);
  }
}

static void count_term(const wb_topic_session *s, int64_t term, int32_t *tally) {
  const wb_topic_corpus *c = &s->corpus;
  memset(tally, 0, (size_t)s->settings.topics * sizeof(int32_t));
  for (int64_t i = c->first_place[term]; i < c->first_place[term + 1]; i++) {
    const uint16_t *topic = s->topic + c->place_token[i];
    for (int32_t j = 0; j < c->place_count[i]; j++) tally[topic[j]]++;
  }
}

static void count_document(const wb_topic_session *s, int64_t document, int32_t *tally) {
  memset(tally, 0, (size_t)s->settings.topics * sizeof(int32_t));
  for (int64_t i = s->corpus.first_token[document]; i < s->corpus.first_token[document + 1]; i++)
    tally[s->topic[i]]++;
}

static int draw_terms(wb_topic_session *s, const wb_topic_draw *draw, wb_message *message) {
  const int topics = s->settings.topics;
  const int64_t leaves = leaves_of(s);
  int failed = 0;
  const int threads = useful_threads(s, (double)s->corpus.terms * topics * (draw->mean ? 1 : 5) + (double)s->corpus.tokens, leaves);
#pragma omp parallel num_threads(threads)
  {
    workbench bench;
    const int ready = workbench_open(s, &bench);
    if (!ready) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
      if (!ready) continue;
      double *const sum = s->leaf_sum + (size_t)leaf * (size_t)topics;
      memset(sum, 0, (size_t)topics * sizeof(double));
      const int64_t first = leaf * WB_TOPIC_LEAF;
      const int64_t end = first + WB_TOPIC_LEAF < s->corpus.terms ? first + WB_TOPIC_LEAF : s->corpus.terms;
      for (int64_t term = first; term < end; term++) {
        count_term(s, term, bench.tally);
        for (int k = 0; k < topics; k++) bench.shape[k] = draw->beta + (double)bench.tally[k];
        draw_values(s, draw, WB_PURPOSE_TOPIC_TERM, (uint64_t)term, &bench);
        for (int k = 0; k < topics; k++) sum[k] += bench.value[k];
        narrow(s, bench.value, NULL, (char *)s->phi + (size_t)term * s->width * real_size(s));
      }
    }
    if (ready) wb_aligned_free(bench.memory);
  }
  if (failed) return wb_out_of_memory(message, "drawing the terms of the topics", 8 * s->width);
  for (int k = 0; k < topics; k++) s->inverse[k] = 0;
  for (int64_t leaf = 0; leaf < leaves; leaf++)
    for (int k = 0; k < topics; k++) s->inverse[k] += s->leaf_sum[(size_t)leaf * (size_t)topics + (size_t)k];
  for (int k = 0; k < topics; k++) s->inverse[k] = 1.0 / s->inverse[k];
  return WB_OK;
}

static int set_phi(wb_topic_session *s, const double *phi, wb_message *message) {
  (void)message;
  const size_t topics = (size_t)s->settings.topics;
  for (size_t term = 0; term < (size_t)s->corpus.terms; term++)
    narrow(s, phi + term * topics, NULL, (char *)s->phi + term * s->width * real_size(s));
  for (size_t k = 0; k < topics; k++) s->inverse[k] = 1;
  return WB_OK;
}

static int get_phi(wb_topic_session *s, double *phi, wb_message *message) {
  (void)message;
  const size_t topics = (size_t)s->settings.topics;
  for (size_t term = 0; term < (size_t)s->corpus.terms; term++)
    for (size_t k = 0; k < topics; k++) {
      const size_t at = term * s->width + k;
      const double value = s->settings.precision == WB_SINGLE ? (double)((float *)s->phi)[at] : ((double *)s->phi)[at];
      phi[term * topics + k] = value * s->inverse[k];
    }
  return WB_OK;
}

/* The sum of a document's gammas: each lane's in order of its rows, then the lanes'. */
static double value_sum(const wb_topic_session *s, const double *value) {
  double lane[WB_TOPIC_LANES] = {0};
  for (int k = 0; k < s->settings.topics; k++) lane[k % WB_TOPIC_LANES] += value[k];
  double sum = 0;
  for (int l = 0; l < WB_TOPIC_LANES; l++) sum += lane[l];
  return sum;
}

/* The weights of a document's tokens in bench->weight; its pairs, with draws or
 * without; the log probability of its words. */
static double pass_document(const wb_topic_session *s, const wb_topic_draw *draw, int64_t document, double norm,
                            workbench *bench) {
  const wb_topic_corpus *c = &s->corpus;
  const int64_t end = c->first_pair[document + 1];
  int64_t token = c->first_token[document];
  double log_likelihood = 0;
  int pairs;
  for (int64_t first = c->first_pair[document]; first < end; first += pairs) {
    int64_t tokens = 0;
    pairs = 0;
    while (first + pairs < end && pairs < TOPIC_PAIRS &&
           (pairs == 0 || tokens + c->count[first + pairs] <= TOPIC_TOKENS))
      tokens += c->count[first + pairs++];
    const double *uniform = NULL;
    double *many = NULL;
    if (draw) {
      /* A single pair with more tokens than the bench has room for. */
      double *room = bench->uniform;
      if (tokens > TOPIC_TOKENS) room = many = malloc(((size_t)tokens + 2) * sizeof(double));
      if (!room) return wb_nan();
      uniforms_of[s->isa](draw->key, draw->iteration, (uint64_t)token / 2, (int)((token + tokens + 1) / 2 - token / 2), room);
      uniform = room + token % 2;
    }
    if (s->settings.precision == WB_SINGLE)
      draw_singles[s->isa](s->rows, bench->weight, s->phi, pairs, c->term + first, c->count + first, uniform,
                           bench->sums, bench->total, s->topic + token);
    else
      draw_doubles[s->isa](s->rows, bench->weight, s->phi, pairs, c->term + first, c->count + first, uniform,
                           bench->sums, bench->total, s->topic + token);
    free(many);
    log_likelihood = log_sums[s->isa](c->count + first, pairs, bench->total, log_likelihood);
    token += tokens;
  }
  const double tokens = (double)(token - c->first_token[document]);
  return wb_fma(-tokens, wb_log(norm), log_likelihood);
}

static int draw_documents(wb_topic_session *s, const wb_topic_draw *draw, double *log_likelihood, double *theta,
                          wb_message *message) {
  const int topics = s->settings.topics;
  const int64_t documents = s->corpus.documents;
  int failed = 0;
  const int threads = useful_threads(s, document_work(s), documents);
#pragma omp parallel num_threads(threads)
  {
    workbench bench;
    const int ready = workbench_open(s, &bench);
    if (!ready) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 4)
    for (int64_t d = 0; d < documents; d++) {
      const int empty = s->corpus.first_token[d] == s->corpus.first_token[d + 1];
      log_likelihood[d] = 0;
      if (!ready || (empty && !theta)) continue;
      count_document(s, d, bench.tally);
      for (int k = 0; k < topics; k++) bench.shape[k] = draw->alpha[k] + (double)bench.tally[k];
      draw_values(s, draw, WB_PURPOSE_TOPIC_SHARE, (uint64_t)d, &bench);
      const double norm = value_sum(s, bench.value);
      if (theta)
        for (int k = 0; k < topics; k++) theta[(size_t)d * (size_t)topics + (size_t)k] = bench.value[k] / norm;
      if (empty) continue;
      narrow(s, bench.value, s->inverse, bench.weight);
      log_likelihood[d] = pass_document(s, draw, d, norm, &bench);
    }
    if (ready) wb_aligned_free(bench.memory);
  }
  return failed ? wb_out_of_memory(message, "drawing the topics of the documents", 8 * s->width) : WB_OK;
}

static int score(wb_topic_session *s, const double *theta, double *log_likelihood, wb_message *message) {
  const int64_t documents = s->corpus.documents;
  int failed = 0;
  const int threads = useful_threads(s, document_work(s), documents);
#pragma omp parallel num_threads(threads)
  {
    workbench bench;
    const int ready = workbench_open(s, &bench);
    if (!ready) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 4)
    for (int64_t d = 0; d < documents; d++) {
      if (!ready) continue;
      narrow(s, theta + (size_t)d * (size_t)s->settings.topics, s->inverse, bench.weight);
      log_likelihood[d] = pass_document(s, NULL, d, 1.0, &bench);
    }
    if (ready) wb_aligned_free(bench.memory);
  }
  return failed ? wb_out_of_memory(message, "the probabilities of the documents", 8 * s->width) : WB_OK;
}

static int draw_document_tables(wb_topic_session *s, const wb_topic_draw *draw, int64_t *tables, double *log_stick,
                                wb_message *message) {
  const int topics = s->settings.topics;
  const int64_t documents = s->corpus.documents;
  double alpha_sum = 0;
  for (int k = 0; k < topics; k++) alpha_sum += draw->alpha[k];
  memset(tables, 0, (size_t)topics * sizeof(int64_t));
  int failed = 0;
  const int threads = useful_threads(s, (double)s->corpus.tokens * 10 + (double)documents * topics, documents);
#pragma omp parallel num_threads(threads)
  {
    int32_t *tally = malloc((size_t)topics * sizeof(int32_t));
    int64_t *own = calloc((size_t)topics, sizeof(int64_t));
    const int ready = tally && own;
    if (!ready) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 4)
    for (int64_t d = 0; d < documents; d++) {
      if (!ready) continue;
      const int64_t tokens = s->corpus.first_token[d + 1] - s->corpus.first_token[d];
      log_stick[d] = wb_topic_log_stick(draw->key, WB_PURPOSE_TOPIC_STICK, draw->iteration, (uint64_t)d, alpha_sum, tokens);
      count_document(s, d, tally);
      for (int k = 0; k < topics; k++)
        if (tally[k] > 0)
          own[k] += wb_topic_tables(draw->key, WB_PURPOSE_TOPIC_TABLES, draw->iteration,
                                    (uint64_t)d * (uint64_t)topics + (uint64_t)k, draw->alpha[k], tally[k]);
    }
    if (ready) {
#pragma omp critical(wb_topic_tables)
      for (int k = 0; k < topics; k++) tables[k] += own[k];
    }
    free(tally);
    free(own);
  }
  return failed ? wb_out_of_memory(message, "learning alpha", 12 * (size_t)topics) : WB_OK;
}

static int draw_term_tables(wb_topic_session *s, const wb_topic_draw *draw, int64_t *tables, int64_t *size,
                            wb_message *message) {
  const int topics = s->settings.topics;
  const int64_t terms = s->corpus.terms;
  int64_t total = 0;
  memset(size, 0, (size_t)topics * sizeof(int64_t));
  int failed = 0;
  const int threads = useful_threads(s, (double)s->corpus.tokens * 10 + (double)terms * topics, terms);
#pragma omp parallel num_threads(threads)
  {
    int32_t *tally = malloc((size_t)topics * sizeof(int32_t));
    int64_t *own = calloc((size_t)topics, sizeof(int64_t));
    int64_t own_tables = 0;
    const int ready = tally && own;
    if (!ready) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 16)
    for (int64_t term = 0; term < terms; term++) {
      if (!ready || s->corpus.first_place[term] == s->corpus.first_place[term + 1]) continue;
      count_term(s, term, tally);
      for (int k = 0; k < topics; k++) {
        if (tally[k] == 0) continue;
        own[k] += tally[k];
        own_tables += wb_topic_tables(draw->key, WB_PURPOSE_TOPIC_TERM_TABLES, draw->iteration,
                                      (uint64_t)term * (uint64_t)topics + (uint64_t)k, draw->beta, tally[k]);
      }
    }
    if (ready) {
#pragma omp critical(wb_topic_tables)
      {
        total += own_tables;
        for (int k = 0; k < topics; k++) size[k] += own[k];
      }
    }
    free(tally);
    free(own);
  }
  *tables = total;
  return failed ? wb_out_of_memory(message, "learning beta", 12 * (size_t)topics) : WB_OK;
}

const wb_topic_functions wb_cpu_topic_model = {
  .open = open_session,
  .set_topics = set_topics,
  .get_topics = get_topics,
  .draw_terms = draw_terms,
  .set_phi = set_phi,
  .get_phi = get_phi,
  .draw_documents = draw_documents,
  .draw_document_tables = draw_document_tables,
  .draw_term_tables = draw_term_tables,
  .score = score,
  .close = close_session,
};
