/* Topic models on the processor. Threads run over documents and over terms; a unit
 * of work counts the topics of its own tokens, draws theta or phi from the counts, and
 * uses it while it is in the caches. Counts are whole numbers and sums of numbers have
 * a fixed order, so results do not depend on the threads.
 *
 * Floor of a sweep: a gamma for each topic of each term and document, which is half a
 * block of Philox, two numbers from a table and an exponential where tables serve (three
 * times that where they do not); a multiply-add and two loads for each topic of each pair,
 * theta's from the second cache; and the table of phi, which passes once for each group of
 * documents. On the AssociatedPress counts there are 3 gammas a token with 100 topics and
 * 29 with 1,000. With AVX-512 a gamma takes 5 ns. With 100 topics that is a sixth of the time,
 * and the weights, the draws from them and going through lists of pairs are the rest; with
 * 1,000 topics gammas are 40% and the weights, with theta and phi on their way, most
 * of the rest.
 */
#include "core/rounding.h"

#include "cpu/backend.h"

#include <stdlib.h>
#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma_strips.h"
#include "core/random_gamma_trial.h"
#include "core/topic_draw.h"
#include "core/topic_tables.h"
#include "numeric/memory.h"

/* Pairs and tokens that pass together, and pairs of the next pass that a pass knows. */
#define TOPIC_PAIRS 64
#define TOPIC_TOKENS 1024
#define TOPIC_MORE_PAIRS 24
/* The most bytes of the sums of pairs whose tokens are drawn together, if these are more
 * than 8. */
#define TOPIC_SUMS ((size_t)128 * 1024)

/* Gammas that pass together. */
#define TOPIC_GAMMAS 1024

/* Gammas that are still to be accepted. */
typedef struct topic_gamma_list {
  int32_t index[TOPIC_GAMMAS];
  double shape[TOPIC_GAMMAS];
  uint64_t trial[TOPIC_GAMMAS];
} topic_gamma_list;

/* Points whose strips leave open whether they are accepted. */
typedef struct topic_strip_list {
  int32_t index[TOPIC_GAMMAS];
  uint64_t count[TOPIC_GAMMAS];
  uint64_t bits[TOPIC_GAMMAS];
} topic_strip_list;

typedef struct topic_gamma_room {
  topic_gamma_list small, large;
  topic_strip_list strips;
  uint64_t word[TOPIC_GAMMAS + 32];
} topic_gamma_room;

#define WB_LOOPS "cpu/topic_loops.h"
#include "numeric/isa.h"

/* Documents whose theta stays in the second cache while the terms pass in order, so that
 * the row of a term is fetched once for all of them: so many bytes of theta at least, and
 * as many as five eighths of that cache where the system says how large it is. */
#define TOPIC_GROUP_BYTES ((size_t)384 * 1024)
#define TOPIC_GROUP_MOST ((size_t)1280 * 1024)

/* A pair in the order of its group: by term, then by document. */
typedef struct topic_entry {
  uint32_t pair, token;
  int32_t document, term, count;
} topic_entry;

struct wb_topic_session {
  wb_topic_corpus corpus;
  wb_topic_settings settings;
  int threads;
  wb_isa isa;
  int rows;         /* of topics */
  size_t width;     /* rows x lanes */
  int64_t group;    /* documents of a group */
  uint16_t *topic;  /* tokens */
  topic_entry *entry; /* pairs, group by group */
  void *phi;        /* terms x width, in the precision of the weights: gammas or means */
  double *leaf_sum; /* leaves x topics */
  double *inverse;  /* topics: 1 over the sum of a topic's gammas */
  wb_gamma_strips *term_strips, *share_strips; /* NULL until they serve */
};

typedef void draw_pairs(int rows, int pairs, int block, const void *all_theta, const void *all_phi, const uint64_t *theta_at,
                        const uint64_t *phi_at, const int32_t *count, const double *uniform, void *sums, double *total,
                        uint16_t *topic);
typedef void narrow_double(const double *value, const double *factor, int count, double *weight);
typedef void narrow_single(const double *value, const double *factor, int count, float *weight);
typedef void gammas(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first, double *shape,
                    const double *inverse, int count, topic_gamma_room *room, double *draw);
typedef void build_strips(double base, int count, wb_gamma_strips *strips);
typedef void strip_gammas(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t first, const wb_gamma_strips *strips,
                          int32_t *tally, int count, topic_gamma_room *room, double *draw);
typedef void uniforms(uint64_t key, uint32_t iteration, const uint32_t *token, int tokens, double *uniform);
typedef void logs(int64_t count, double *value);
typedef void add_score(int64_t pairs, const int32_t *count, const double *log_total, double *sum);

static draw_pairs *const draw_doubles[] = WB_ISA_TABLE(topic_draw_double);
static draw_pairs *const draw_singles[] = WB_ISA_TABLE(topic_draw_single);
static narrow_double *const narrow_doubles[] = WB_ISA_TABLE(topic_narrow_double);
static narrow_single *const narrow_singles[] = WB_ISA_TABLE(topic_narrow_single);
static gammas *const gammas_of[] = WB_ISA_TABLE(topic_gammas);
static build_strips *const strips_of[] = WB_ISA_TABLE(topic_strips);
static strip_gammas *const strip_gammas_of[] = WB_ISA_TABLE(topic_strip_gammas);
static uniforms *const uniforms_of[] = WB_ISA_TABLE(topic_uniforms);
static logs *const logs_of[] = WB_ISA_TABLE(topic_logs);
static add_score *const score_of[] = WB_ISA_TABLE(topic_score);

static size_t real_size(const wb_topic_session *s) {
  return s->settings.precision == WB_SINGLE ? sizeof(float) : sizeof(double);
}

static int64_t leaves_of(const wb_topic_session *s) {
  return ((int64_t)s->corpus.terms + WB_TOPIC_LEAF - 1) / WB_TOPIC_LEAF;
}

static void close_session(wb_topic_session *s) {
  if (!s) return;
  free(s->topic);
  free(s->entry);
  wb_aligned_free(s->phi);
  wb_aligned_free(s->leaf_sum);
  free(s->inverse);
  wb_aligned_free(s->term_strips);
  wb_aligned_free(s->share_strips);
  free(s);
}

/* Lists the pairs of each group of documents by term. */
static int list_pairs(wb_topic_session *s) {
  const wb_topic_corpus *c = &s->corpus;
  const int64_t groups = (c->documents + s->group - 1) / s->group;
  int64_t *next = malloc(((size_t)c->terms + (size_t)groups) * sizeof(int64_t));
  s->entry = malloc(((size_t)c->pairs + 1) * sizeof(topic_entry));
  topic_entry *by_term = malloc(((size_t)c->pairs + 1) * sizeof(topic_entry));
  const int ready = next && s->entry && by_term;
  if (ready) {
    int64_t *const next_of_group = next + c->terms;
    memcpy(next, c->first_place, (size_t)c->terms * sizeof(int64_t));
    for (int64_t g = 0; g < groups; g++) next_of_group[g] = c->first_pair[g * s->group];
    for (int64_t d = 0; d < c->documents; d++) {
      int64_t token = c->first_token[d];
      for (int64_t i = c->first_pair[d]; i < c->first_pair[d + 1]; i++) {
        by_term[next[c->term[i]]++] = (topic_entry){(uint32_t)i, (uint32_t)token, (int32_t)d, c->term[i], c->count[i]};
        token += c->count[i];
      }
    }
    for (int64_t i = 0; i < c->pairs; i++) s->entry[next_of_group[by_term[i].document / s->group]++] = by_term[i];
  }
  free(by_term);
  free(next);
  return ready;
}

static size_t group_bytes(void) {
  size_t bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (cache > 0) bytes = (size_t)cache / 8 * 5;
#endif
  if (bytes < TOPIC_GROUP_BYTES) return TOPIC_GROUP_BYTES;
  return bytes > TOPIC_GROUP_MOST ? TOPIC_GROUP_MOST : bytes;
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
  /* The lanes past the last topic stay 0: a weight of 0 times whatever lay there could be NaN. */
  if (s->phi) {
    wb_large_pages(s->phi, phi_bytes);
    memset(s->phi, 0, phi_bytes);
  }
  if (s->leaf_sum) memset(s->leaf_sum, 0, leaf_bytes);
  s->inverse = calloc((size_t)settings->topics, sizeof(double));
  /* Enough groups for the threads to share them evenly. */
  const int64_t fit = (int64_t)(group_bytes() / (s->width * real_size(s)));
  const int64_t share = run->threads > 1 ? corpus->documents / (4 * (int64_t)run->threads) : corpus->documents;
  s->group = fit < share ? fit : share;
  if (s->group < 1) s->group = 1;
  if (!list_pairs(s) || !s->topic || !s->phi || !s->leaf_sum || !s->inverse) {
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
  int rows;         /* documents or terms whose gammas are drawn together */
  double *shape;    /* rows x topics */
  int32_t *tally;   /* rows x topics: tokens */
  double *inverse;  /* rows x topics: 1 over the shape of a count of 0 */
  double *value;    /* rows x topics: gammas or means */
  char *weight;     /* documents of a group x width, in the precision of the weights */
  int block;        /* pairs whose tokens are drawn together */
  double *sums;     /* block x stretches x lanes, likewise */
  double *norm;     /* documents of a group */
  double *total;    /* pairs of the group */
  int64_t total_room;
  topic_gamma_room *room;
  double uniform[TOPIC_TOKENS];
  double some_total[TOPIC_PAIRS + TOPIC_MORE_PAIRS];
  uint32_t token[TOPIC_TOKENS];
  uint16_t topic[TOPIC_TOKENS];
  int32_t count[TOPIC_PAIRS + TOPIC_MORE_PAIRS];
  uint64_t theta_at[TOPIC_PAIRS + TOPIC_MORE_PAIRS], phi_at[TOPIC_PAIRS + TOPIC_MORE_PAIRS]; /* where rows begin */
} workbench;

static void workbench_close(workbench *bench) {
  if (!bench) return;
  free(bench->total);
  wb_aligned_free(bench);
}

/* With room for the documents of a group if there are `documents` of them. */
static workbench *workbench_open(const wb_topic_session *s, int64_t documents) {
  const int topics = s->settings.topics;
  const int rows = topics < TOPIC_GAMMAS ? TOPIC_GAMMAS / topics : 1;
  const size_t lanes = WB_TOPIC_LANES, size = (size_t)wb_topic_stretches(s->rows) * lanes;
  int block = TOPIC_PAIRS;
  while (block > 8 && (size_t)block * size * real_size(s) > TOPIC_SUMS) block /= 2;
  const size_t gammas = ((size_t)rows * (size_t)topics + 2 * lanes - 1) / lanes * lanes;
  const size_t weights = (size_t)(documents > 0 ? documents : 1) * s->width;
  const size_t head = (sizeof(workbench) + 63) / 64 * 64, room = (sizeof(topic_gamma_room) + 63) / 64 * 64;
  char *memory = wb_aligned_malloc(head + room + (3 * gammas + weights + (size_t)block * size + (size_t)documents) * sizeof(double) +
                                   gammas * sizeof(int32_t));
  if (!memory) return NULL;
  workbench *bench = (workbench *)memory;
  bench->rows = rows;
  bench->block = block;
  bench->room = (topic_gamma_room *)(memory + head);
  bench->shape = (double *)(memory + head + room);
  bench->value = bench->shape + gammas;
  bench->inverse = bench->value + gammas;
  bench->sums = bench->inverse + gammas;
  bench->weight = (char *)(bench->sums + (size_t)block * size);
  bench->norm = (double *)bench->weight + weights;
  bench->tally = (int32_t *)(bench->norm + documents);
  bench->total = NULL;
  bench->total_room = 0;
  return bench;
}

/* The inverse of the shapes without counts, `base` of topic k or, if NULL, `common`: the
 * only ones that may be below 1. */
static void workbench_inverse(const wb_topic_session *s, const double *base, double common, workbench *bench) {
  const int topics = s->settings.topics;
  for (int r = 0; r < bench->rows; r++)
    for (int k = 0; k < topics; k++) bench->inverse[r * topics + k] = 1.0 / (base ? base[k] : common);
  for (int i = bench->rows * topics; i < bench->rows * topics + WB_TOPIC_LANES; i++) bench->inverse[i] = 1;
}

/* Room for the totals of so many pairs. */
static int workbench_pairs(workbench *bench, int64_t pairs) {
  if (pairs <= bench->total_room) return 1;
  free(bench->total);
  bench->total = malloc((size_t)pairs * sizeof(double));
  bench->total_room = bench->total ? pairs : 0;
  return bench->total != NULL;
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

/* The tables of a base in *strips, built unless they are there from an earlier sweep. */
static int prepare_strips(const wb_topic_session *s, double base, wb_gamma_strips **strips, wb_message *message) {
  if (!*strips) {
    *strips = wb_aligned_malloc(sizeof **strips);
    if (!*strips) return wb_out_of_memory(message, "tables of gammas", sizeof **strips);
    (*strips)->law[0].shape = 0;
  }
  if ((*strips)->law[0].shape == base) return WB_OK;
  build_strips *const build = strips_of[s->isa];
  wb_gamma_strips *const all = *strips;
#pragma omp parallel for num_threads(s->threads) schedule(static)
  for (int count = 0; count < WB_GAMMA_COUNTS; count++) build(base, count, all);
  return WB_OK;
}

/* Gammas of `rows` rows from `first` on, or their shapes where the mean is wanted, into
 * bench->value, from bench->tally and the shape of a count of 0: `base` of topic k or, if
 * NULL, `common`. strips: tables of `common`, or NULL. */
static void draw_values(const wb_topic_session *s, const wb_topic_draw *draw, uint32_t purpose, const double *base,
                        double common, const wb_gamma_strips *strips, int64_t first, int rows, workbench *bench) {
  const int topics = s->settings.topics, count = rows * topics;
  const uint64_t element = (uint64_t)first * (uint64_t)topics;
  if (strips) {
    for (int begin = 0; begin < count; begin += TOPIC_GAMMAS)
      strip_gammas_of[s->isa](draw->key, purpose, draw->iteration, element + (uint64_t)begin, strips, bench->tally + begin,
                              count - begin < TOPIC_GAMMAS ? count - begin : TOPIC_GAMMAS, bench->room, bench->value + begin);
    return;
  }
  double *const shape = draw->mean ? bench->value : bench->shape;
  for (int i = 0; i < count; i += topics)
    for (int k = 0; k < topics; k++) shape[i + k] = (base ? base[k] : common) + (double)bench->tally[i + k];
  if (draw->mean) return;
  for (int begin = 0; begin < count; begin += TOPIC_GAMMAS)
    gammas_of[s->isa](draw->key, purpose, draw->iteration, element + (uint64_t)begin, bench->shape + begin,
                      bench->inverse + begin, count - begin < TOPIC_GAMMAS ? count - begin : TOPIC_GAMMAS, bench->room, bench->value + begin);
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
  const wb_gamma_strips *strips = NULL;
  if (draw->beta_tables) {
    const int status = prepare_strips(s, draw->beta, &s->term_strips, message);
    if (status != WB_OK) return status;
    strips = s->term_strips;
  }
  int failed = 0;
  const int threads = useful_threads(s, (double)s->corpus.terms * topics * (draw->mean ? 1 : 5) + (double)s->corpus.tokens, leaves);
#pragma omp parallel num_threads(threads)
  {
    workbench *const bench = workbench_open(s, 0);
    if (!bench) {
#pragma omp atomic write
      failed = 1;
    }
    if (bench && !strips) workbench_inverse(s, NULL, draw->beta, bench);
#pragma omp for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
      if (!bench) continue;
      double *const sum = s->leaf_sum + (size_t)leaf * (size_t)topics;
      memset(sum, 0, (size_t)topics * sizeof(double));
      const int64_t first = leaf * WB_TOPIC_LEAF;
      const int64_t end = first + WB_TOPIC_LEAF < s->corpus.terms ? first + WB_TOPIC_LEAF : s->corpus.terms;
      for (int64_t term = first; term < end; term += bench->rows) {
        const int rows = end - term < bench->rows ? (int)(end - term) : bench->rows;
        for (int r = 0; r < rows; r++) count_term(s, term + r, bench->tally + r * topics);
        draw_values(s, draw, WB_PURPOSE_TOPIC_TERM, NULL, draw->beta, strips, term, rows, bench);
        for (int r = 0; r < rows; r++) {
          const double *value = bench->value + r * topics;
          for (int k = 0; k < topics; k++) sum[k] += value[k];
          narrow(s, value, NULL, (char *)s->phi + (size_t)(term + r) * s->width * real_size(s));
        }
      }
    }
    workbench_close(bench);
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

/* The topics of the tokens of entries first.. first + pairs - 1, at most TOPIC_TOKENS of
 * them, with the thetas of a group whose first document and pair are given. Without a
 * draw only the totals of the weights. */
static void pass_entries(wb_topic_session *s, const wb_topic_draw *draw, int64_t first, int pairs, int64_t document,
                         int64_t pair, int32_t skip, int32_t tokens, workbench *bench) {
  const topic_entry *entry = s->entry + first;
  int count = 0;
  for (int i = 0; i < pairs; i++) {
    bench->theta_at[i] = (size_t)(entry[i].document - document) * s->width;
    bench->phi_at[i] = (size_t)entry[i].term * s->width;
    bench->count[i] = tokens > 0 ? tokens : entry[i].count;
    if (draw)
      for (int32_t t = 0; t < bench->count[i]; t++) bench->token[count++] = entry[i].token + (uint32_t)(skip + t);
  }
  for (int i = pairs; i < pairs + TOPIC_MORE_PAIRS; i++) {
    bench->theta_at[i] = bench->theta_at[0];
    bench->phi_at[i] = first + i < s->corpus.pairs ? (size_t)entry[i].term * s->width : bench->phi_at[i - 1];
  }
  if (draw) {
    for (int t = count; t % WB_TOPIC_LANES != 0; t++) bench->token[t] = 0;
    uniforms_of[s->isa](draw->key, draw->iteration, bench->token, count, bench->uniform);
  }
  draw_pairs *const loop = s->settings.precision == WB_SINGLE ? draw_singles[s->isa] : draw_doubles[s->isa];
  loop(s->rows, pairs, bench->block, bench->weight, s->phi, bench->theta_at, bench->phi_at, bench->count,
       draw ? bench->uniform : NULL, bench->sums, bench->some_total, bench->topic);
  for (int i = 0; i < pairs; i++) bench->total[entry[i].pair - pair] = bench->some_total[i];
  for (int t = 0; t < count; t++) s->topic[bench->token[t]] = bench->topic[t];
}

/* All tokens of a group of documents whose weights lie in bench->weight, and the log
 * probability of the words of each. 0 without memory. */
static int pass_group(wb_topic_session *s, const wb_topic_draw *draw, int64_t document, int64_t end, workbench *bench,
                      double *log_likelihood) {
  const wb_topic_corpus *c = &s->corpus;
  const int64_t first_pair = c->first_pair[document], last_pair = c->first_pair[end];
  if (!workbench_pairs(bench, last_pair - first_pair + 1)) return 0;
  for (int64_t first = first_pair; first < last_pair;) {
    int64_t tokens = 0;
    int pairs = 0;
    while (first + pairs < last_pair && pairs < TOPIC_PAIRS) {
      tokens += s->entry[first + pairs].count;
      if (tokens > TOPIC_TOKENS) break;
      pairs++;
    }
    if (pairs > 0) {
      pass_entries(s, draw, first, pairs, document, first_pair, 0, 0, bench);
      first += pairs;
      continue;
    }
    /* One pair with many tokens. */
    for (int64_t done = 0; done < tokens; done += TOPIC_TOKENS)
      pass_entries(s, draw, first, 1, document, first_pair, (int32_t)done,
                   (int32_t)(tokens - done < TOPIC_TOKENS ? tokens - done : TOPIC_TOKENS), bench);
    first++;
  }
  logs_of[s->isa](last_pair - first_pair, bench->total);
  for (int64_t d = document; d < end; d++) {
    double sum = 0;
    score_of[s->isa](c->first_pair[d + 1] - c->first_pair[d], c->count + c->first_pair[d], bench->total + (c->first_pair[d] - first_pair), &sum);
    const double tokens = (double)(c->first_token[d + 1] - c->first_token[d]);
    log_likelihood[d] = wb_fma(-tokens, wb_log(bench->norm[d - document]), sum);
  }
  return 1;
}

/* theta of documents first..end - 1 into bench->weight. */
static void draw_group(const wb_topic_session *s, const wb_topic_draw *draw, const wb_gamma_strips *strips, int64_t first,
                       int64_t end, workbench *bench, double *theta) {
  const int topics = s->settings.topics;
  const size_t bytes = s->width * real_size(s);
  for (int64_t d = first; d < end; d += bench->rows) {
    const int rows = end - d < bench->rows ? (int)(end - d) : bench->rows;
    for (int r = 0; r < rows; r++) count_document(s, d + r, bench->tally + r * topics);
    draw_values(s, draw, WB_PURPOSE_TOPIC_SHARE, draw->alpha, 0, strips, d, rows, bench);
    for (int r = 0; r < rows; r++) {
      const double *value = bench->value + r * topics;
      const size_t at = (size_t)(d + r - first);
      bench->norm[at] = value_sum(s, value);
      narrow(s, value, s->inverse, bench->weight + at * bytes);
      if (theta)
        for (int k = 0; k < topics; k++)
          theta[(size_t)(d + r) * (size_t)topics + (size_t)k] = value[k] / bench->norm[at];
    }
  }
}

/* Group by group: theta drawn from the topics, or given (`given`), then the tokens. */
static int pass_documents(wb_topic_session *s, const wb_topic_draw *draw, const double *given, double *log_likelihood,
                          double *theta, wb_message *message) {
  const int64_t documents = s->corpus.documents, groups = (documents + s->group - 1) / s->group;
  const size_t topics = (size_t)s->settings.topics;
  const wb_gamma_strips *strips = NULL;
  if (draw && draw->alpha_tables) {
    const int status = prepare_strips(s, draw->alpha[0], &s->share_strips, message);
    if (status != WB_OK) return status;
    strips = s->share_strips;
  }
  int failed = 0;
  const int threads = useful_threads(s, document_work(s), groups);
#pragma omp parallel num_threads(threads)
  {
    workbench *const bench = workbench_open(s, s->group);
    if (!bench) {
#pragma omp atomic write
      failed = 1;
    }
    if (bench && draw && !strips) workbench_inverse(s, draw->alpha, 0, bench);
#pragma omp for schedule(dynamic, 1)
    for (int64_t group = 0; group < groups; group++) {
      if (!bench) continue;
      const int64_t first = group * s->group;
      const int64_t end = first + s->group < documents ? first + s->group : documents;
      if (given) {
        for (int64_t d = first; d < end; d++) {
          narrow(s, given + (size_t)d * topics, s->inverse, bench->weight + (size_t)(d - first) * s->width * real_size(s));
          bench->norm[d - first] = 1;
        }
      } else {
        draw_group(s, draw, strips, first, end, bench, theta);
      }
      if (!pass_group(s, draw, first, end, bench, log_likelihood)) {
#pragma omp atomic write
        failed = 1;
      }
    }
    workbench_close(bench);
  }
  return failed ? wb_out_of_memory(message, "a group of documents", (size_t)s->group * s->width * real_size(s)) : WB_OK;
}

static int draw_documents(wb_topic_session *s, const wb_topic_draw *draw, double *log_likelihood, double *theta,
                          wb_message *message) {
  return pass_documents(s, draw, NULL, log_likelihood, theta, message);
}

static int score(wb_topic_session *s, const double *theta, double *log_likelihood, wb_message *message) {
  return pass_documents(s, NULL, theta, log_likelihood, NULL, message);
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

const wb_topic_model_functions wb_cpu_topic_model = {
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
