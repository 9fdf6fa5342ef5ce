/* The Gibbs sweep of topic models on the processor (core/topic_draw.h). Threads run over documents and over terms.
 * Counts are integers and real sums have a fixed order, so results do not depend on the threads.
 *
 * Lower bound of a sweep:
 *
 * - A gamma for each topic of each term and document: half a block of Philox, two numbers from a table and an
 *   exponential where tables serve, three times that elsewhere.
 * - A multiply-add and two loads for each topic of each pair; phi is written once, and read once for each group. */
#include "core/rounding.h"

#include "cpu/table.h"

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
#include "core/topic_member.h"
#include "core/topic_tables.h"
#include "cpu/topic_model/token_order.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Tokens whose uniforms are drawn together. */
#define TOPIC_UNIFORMS 256

/* Gammas drawn together, and gammas whose random words are computed together. */
#define TOPIC_GAMMAS 4096
#define TOPIC_WORDS 1024

/* Gammas not accepted yet. */
typedef struct topic_gamma_list {
  int32_t index[TOPIC_GAMMAS];
  double shape[TOPIC_GAMMAS];
  uint64_t trial[TOPIC_GAMMAS];
} topic_gamma_list;

/* Points whose acceptance the strips leave open. */
typedef struct topic_strip_list {
  int32_t index[TOPIC_GAMMAS];
  uint64_t count[TOPIC_GAMMAS];
  uint64_t bits[TOPIC_GAMMAS];
} topic_strip_list;

typedef struct topic_gamma_room {
  topic_gamma_list small, large;
  topic_strip_list strips;
  uint64_t word[TOPIC_WORDS + 32];
} topic_gamma_room;

/* Bytes of theta of a group: five eighths of the second-level cache, within these bounds; if unknown, the lower. */
#define TOPIC_GROUP_BYTES ((size_t)384 * 1024)
#define TOPIC_GROUP_MOST ((size_t)1280 * 1024)

typedef struct workbench workbench;

struct wb_topic_session {
  wb_topic_corpus corpus;
  wb_topic_settings settings;
  int threads;
  wb_isa isa;
  int groups;   /* of documents */
  int rows;     /* of topics */
  size_t width; /* rows x lanes */
  topic_order order;
  uint16_t *topic;                             /* places: topics of the tokens */
  void *phi;                                   /* terms x width, in the precision of the weights: gammas or means */
  double *leaf_sum;                            /* leaves x topics */
  double *inverse;                             /* topics: 1 over the sum of a topic's gammas */
  wb_gamma_strips *term_strips, *share_strips; /* NULL until first used */
  double *log_phi;                             /* terms x width; NULL unless documents have one topic */
  uint16_t *member;                            /* documents: that topic; NULL likewise */
  int32_t alpha_levels, beta_levels;           /* of core/topic_tables.h */
  int32_t *counts;            /* documents x topics; NULL unless alpha is learned, or if they would take much memory */
  int32_t *term_counts;       /* terms x topics; NULL unless beta is learned, or if most of them would be 0 */
  int counted, terms_counted; /* whether `counts` and `term_counts` agree with the topics */
  workbench *idle; /* a list: kept between passes, since fresh memory takes longer than a sweep of few documents */
};

/* Bytes of these counts. They save counting the topics twice in a sweep that learns alpha, or beta. */
#define TOPIC_COUNTS ((size_t)8 * 1024 * 1024)

static size_t real_size(const wb_topic_session *s) {
  return s->settings.precision == WB_SINGLE ? sizeof(float) : sizeof(double);
}

static int64_t leaves_of(const wb_topic_session *s) {
  return ((int64_t)s->corpus.terms + WB_TOPIC_LEAF - 1) / WB_TOPIC_LEAF;
}

#include "cpu/topic_model/workbench.h"

/* A group of documents and its pass. */
typedef struct topic_pass {
  const wb_topic_session *session;
  const wb_topic_draw *draw; /* NULL: tokens keep their topics */
  const workbench *bench;
  uint32_t document;  /* the first */
  int64_t first, end; /* pairs */
  double *score;      /* documents: receives the log weights of their words */
} topic_pass;

/* Documents with one topic each. */
typedef struct members_pass {
  wb_topic_session *session;
  const wb_topic_draw *draw;
  const double *log_share; /* width */
  double *log_likelihood, *theta;
  double *room; /* threads x width */
  int64_t next, thread;
} members_pass;

#define WB_LOOPS "cpu/topic_model/tokens_loops.h"
#include "numeric/isa.h"

static void close_session(wb_topic_session *s) {
  if (!s) return;
  for (workbench *bench = s->idle, *next; bench; bench = next) {
    next = bench->next;
    wb_aligned_free(bench);
  }
  free(s->topic);
  topic_order_free(&s->order);
  wb_aligned_free(s->phi);
  wb_aligned_free(s->leaf_sum);
  free(s->inverse);
  free(s->counts);
  free(s->term_counts);
  wb_aligned_free(s->log_phi);
  free(s->member);
  wb_aligned_free(s->term_strips);
  wb_aligned_free(s->share_strips);
  free(s);
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
  s->groups = settings->structure.groups > 1 ? settings->structure.groups : 1;
  s->rows = wb_topic_rows(settings->topics);
  s->width = (size_t)s->rows * WB_TOPIC_LANES;
  s->alpha_levels = wb_topic_alpha_levels((int64_t)s->groups * settings->topics, corpus->longest_document);
  s->beta_levels = wb_topic_beta_levels(corpus->longest_term);
  const size_t phi_bytes = (size_t)corpus->terms * s->width * real_size(s);
  const size_t leaf_bytes = (size_t)leaves_of(s) * (size_t)settings->topics * sizeof(double);
  /* Enough groups for an even share of the threads. */
  const int64_t fit = (int64_t)(group_bytes() / (s->width * real_size(s)));
  const int64_t share = run->threads > 1 ? corpus->documents / (4 * (int64_t)run->threads) : corpus->documents;
  const int64_t group = fit < share ? fit : share;
  /* First, because it needs memory that it gives back. */
  const int ordered = topic_order_build(&s->corpus, group > 1 ? group : 1, &s->order);
  s->topic = calloc((size_t)corpus->tokens + 1, sizeof(uint16_t));
  s->phi = wb_aligned_malloc(phi_bytes);
  s->leaf_sum = wb_aligned_malloc(leaf_bytes);
  /* The lanes past the last topic stay 0: a weight of 0 times an arbitrary value could be NaN. */
  if (s->phi) {
    wb_large_pages(s->phi, phi_bytes);
    memset(s->phi, 0, phi_bytes);
  }
  if (s->leaf_sum) memset(s->leaf_sum, 0, leaf_bytes);
  s->inverse = calloc((size_t)settings->topics, sizeof(double));
  if (!ordered || !s->topic || !s->phi || !s->leaf_sum || !s->inverse) {
    const size_t bytes = phi_bytes + leaf_bytes + (size_t)corpus->tokens * sizeof(uint16_t);
    close_session(s);
    return wb_out_of_memory(message, "the terms of the topics", bytes);
  }
  *session = s;
  return WB_OK;
}

/* Threads for `units` units of work: one, and one more for each 20 us or so, at about 1 ns an operation. */
static int useful_threads(const wb_topic_session *s, double operations, int64_t units) {
  double threads = 1 + operations / 2e4;
  if (threads > s->threads) threads = s->threads;
  if (threads > (double)units) threads = (double)units;
  return threads < 2 ? 1 : wb_idle_threads((int)threads);
}

/* Tokens whose topics a thread brings into another order at a time. */
#define TOKENS_TOGETHER 16384

/* The topics of all tokens in the caller's order; `given` are read, `wanted` are written. */
typedef struct token_topics {
  wb_topic_session *session;
  const uint16_t *given;
  uint16_t *wanted;
} token_topics;

static void order_topics(void *context, int64_t piece) {
  const token_topics *const all = context;
  wb_topic_session *const s = all->session;
  const int64_t first = piece * TOKENS_TOGETHER, tokens = s->corpus.tokens;
  const int64_t end = first + TOKENS_TOGETHER < tokens ? first + TOKENS_TOGETHER : tokens;
  if (all->given)
    for (int64_t i = first; i < end; i++) s->topic[i] = all->given[s->order.token[i]];
  else
    for (int64_t i = first; i < end; i++) all->wanted[s->order.token[i]] = s->topic[i];
}

static int order_all_topics(wb_topic_session *s, const uint16_t *given, uint16_t *wanted) {
  const int64_t tokens = s->corpus.tokens, pieces = (tokens + TOKENS_TOGETHER - 1) / TOKENS_TOGETHER;
  token_topics all = {s, given, wanted};
  wb_spread(useful_threads(s, 2.0 * (double)tokens, pieces), pieces, order_topics, &all);
  return WB_OK;
}

static int set_topics(wb_topic_session *s, const uint16_t *topic, wb_message *message) {
  (void)message;
  s->counted = s->terms_counted = 0;
  return order_all_topics(s, topic, NULL);
}

static int get_topics(wb_topic_session *s, uint16_t *topic, wb_message *message) {
  (void)message;
  return order_all_topics(s, NULL, topic);
}

/* The shapes of row r without counts: `own` of topic k or 0, plus `common`. Only these may be below 1. */
static void set_base(const wb_topic_session *s, const double *own, double common, int r, workbench *bench) {
  const int topics = s->settings.topics;
  double *const base = bench->base + r * topics, *const inverse = bench->inverse + r * topics;
  for (int k = 0; k < topics; k++) base[k] = (own ? own[k] : 0.0) + common;
  for (int k = 0; k < topics; k++) inverse[k] = 1.0 / base[k];
}

/* The same for all rows. */
static void set_bases(const wb_topic_session *s, const double *own, double common, workbench *bench) {
  const size_t topics = (size_t)s->settings.topics;
  set_base(s, own, common, 0, bench);
  for (size_t r = 1; r < (size_t)bench->rows; r++) {
    memcpy(bench->base + r * topics, bench->base, topics * sizeof(double));
    memcpy(bench->inverse + r * topics, bench->inverse, topics * sizeof(double));
  }
  const int used = bench->rows * s->settings.topics;
  for (int i = used; i < used + WB_TOPIC_LANES; i++) bench->inverse[i] = 1;
}

static const double *alpha_of(const wb_topic_session *s, const double *alpha, int64_t document) {
  return s->groups > 1 ? alpha + (size_t)s->settings.structure.group[document] * (size_t)s->settings.topics : alpha;
}

/* The prior counts of a term besides beta, or NULL. */
static const double *extra_of(const wb_topic_session *s, int64_t term) {
  const wb_topic_structure *t = &s->settings.structure;
  if (t->extras == 0 || t->extra_of[term] < 0) return NULL;
  return t->extra + (size_t)t->extra_of[term] * (size_t)s->settings.topics;
}

static void narrow(const wb_topic_session *s, const double *value, const double *factor, void *weight) {
  const int topics = s->settings.topics;
  const size_t rest = s->width - (size_t)topics;
  if (s->settings.precision == WB_SINGLE) {
    WB_LOOP(topic_narrow_single, s->isa)(value, factor, topics, weight);
    memset((float *)weight + topics, 0, rest * sizeof(float));
  } else {
    WB_LOOP(topic_narrow_double, s->isa)(value, factor, topics, weight);
    memset((double *)weight + topics, 0, rest * sizeof(double));
  }
}

typedef struct strips_call {
  void (*build)(double base, int count, wb_gamma_strips *strips);
  double base;
  wb_gamma_strips *strips;
} strips_call;

static void build_count(void *context, int64_t count) {
  const strips_call *const call = context;
  call->build(call->base, (int)count, call->strips);
}

/* Builds the tables of a base in *strips unless an earlier sweep did. */
static int prepare_strips(const wb_topic_session *s, double base, wb_gamma_strips **strips, wb_message *message) {
  if (!*strips) {
    *strips = wb_aligned_malloc(sizeof **strips);
    if (!*strips) return wb_out_of_memory(message, "tables of gammas", sizeof **strips);
    (*strips)->law[0].shape = 0;
  }
  if ((*strips)->law[0].shape == base) return WB_OK;
  strips_call call = {WB_LOOP(topic_strips, s->isa), base, *strips};
  wb_spread(s->threads, WB_GAMMA_COUNTS, build_count, &call);
  return WB_OK;
}

/* Draws the gammas of `rows` rows from `first` on into bench->value. The shape is the count in bench->tally plus the
 * base of the strips or, if these are NULL, bench->base. If the mean is wanted, the value is the shape itself. */
static void draw_values(const wb_topic_session *s, const wb_topic_draw *draw, uint32_t purpose,
                        const wb_gamma_strips *strips, int64_t first, int rows, workbench *bench) {
  const int topics = s->settings.topics, count = rows * topics;
  const uint64_t element = (uint64_t)first * (uint64_t)topics;
  if (strips) {
    for (int begin = 0; begin < count; begin += TOPIC_GAMMAS)
      WB_LOOP(topic_strip_gammas, s->isa)(
          draw->key, purpose, draw->iteration, element + (uint64_t)begin, strips, bench->tally + begin,
          count - begin < TOPIC_GAMMAS ? count - begin : TOPIC_GAMMAS, bench->room, bench->value + begin);
    return;
  }
  double *const shape = draw->mean ? bench->value : bench->shape;
  for (int i = 0; i < count; i++) shape[i] = bench->base[i] + (double)bench->tally[i];
  if (draw->mean) return;
  for (int begin = 0; begin < count; begin += TOPIC_GAMMAS)
    WB_LOOP(topic_gammas, s->isa)(draw->key, purpose, draw->iteration, element + (uint64_t)begin, bench->shape + begin,
                                  bench->inverse + begin, count - begin < TOPIC_GAMMAS ? count - begin : TOPIC_GAMMAS,
                                  bench->room, bench->value + begin);
}

static void count_term(const wb_topic_session *s, int64_t term, int32_t *tally) {
  memset(tally, 0, (size_t)s->settings.topics * sizeof(int32_t));
  for (int64_t i = s->order.first_segment[term]; i < s->order.first_segment[term + 1]; i++) {
    const topic_segment segment = s->order.segment[i];
    const uint16_t *const topic = s->topic + segment.first;
    for (uint32_t j = 0; j < segment.tokens; j++) tally[topic[j]]++;
  }
}

static void count_group(const wb_topic_session *s, int64_t first, int64_t end, int32_t *tally) {
  const size_t topics = (size_t)s->settings.topics;
  const int64_t from = s->corpus.first_pair[first], to = s->corpus.first_pair[end];
  memset(tally, 0, (size_t)(end - first) * topics * sizeof(int32_t));
  for (int64_t i = from; i < to; i++) {
    int32_t *const row = tally + (size_t)(s->order.document[i] - (uint32_t)first) * topics;
    const uint16_t *const topic = s->topic + s->order.first[i];
    for (int32_t j = 0; j < s->order.count[i]; j++) row[topic[j]]++;
  }
}

typedef struct terms_pass {
  wb_topic_session *session;
  const wb_topic_draw *draw;
  const wb_gamma_strips *strips;
  int64_t next, leaves;
  int failed;
} terms_pass;

static void draw_leaf(const terms_pass *pass, int64_t leaf, workbench *bench) {
  const wb_topic_session *const s = pass->session;
  const int topics = s->settings.topics;
  double *const sum = s->leaf_sum + (size_t)leaf * (size_t)topics;
  memset(sum, 0, (size_t)topics * sizeof(double));
  const int64_t first = leaf * WB_TOPIC_LEAF;
  const int64_t end = first + WB_TOPIC_LEAF < s->corpus.terms ? first + WB_TOPIC_LEAF : s->corpus.terms;
  for (int64_t term = first, rows; term < end; term += rows) {
    const int own = extra_of(s, term) != NULL;
    /* Together: terms that all have prior counts of their own, or that all have none. */
    for (rows = 1; rows < bench->rows && term + rows < end && (extra_of(s, term + rows) != NULL) == own;) rows++;
    if (s->terms_counted)
      memcpy(bench->tally, s->term_counts + (size_t)term * (size_t)topics,
             (size_t)rows * (size_t)topics * sizeof(int32_t));
    for (int r = 0; !s->terms_counted && r < rows; r++) count_term(s, term + r, bench->tally + r * topics);
    for (int r = 0; s->settings.structure.extras > 0 && r < rows; r++)
      set_base(s, extra_of(s, term + r), pass->draw->beta, r, bench);
    draw_values(s, pass->draw, WB_PURPOSE_TOPIC_TERM, own ? NULL : pass->strips, term, (int)rows, bench);
    for (int r = 0; r < rows; r++) {
      const double *value = bench->value + r * topics;
      const size_t at = (size_t)(term + r) * s->width;
      if (s->settings.precision == WB_SINGLE)
        WB_LOOP(topic_keep_single, s->isa)(value, topics, sum, (float *)s->phi + at);
      else WB_LOOP(topic_keep_double, s->isa)(value, topics, sum, (double *)s->phi + at);
    }
  }
}

static void draw_leaves(void *context) {
  terms_pass *const pass = context;
  workbench *const bench = workbench_take(pass->session, &pass->failed);
  if (!bench) return;
  set_bases(pass->session, NULL, pass->draw->beta, bench);
  for (int64_t leaf; (leaf = wb_take(&pass->next)) < pass->leaves;) draw_leaf(pass, leaf, bench);
  workbench_put(pass->session, bench);
}

static int draw_terms(wb_topic_session *s, const wb_topic_draw *draw, wb_message *message) {
  const int topics = s->settings.topics;
  const int64_t leaves = leaves_of(s);
  const wb_gamma_strips *strips = NULL;
  if (draw->beta_tables) {
    WB_TRY(prepare_strips(s, draw->beta, &s->term_strips, message));
    strips = s->term_strips;
  }
  const int threads =
      useful_threads(s, (double)s->corpus.terms * topics * (draw->mean ? 1 : 5) + (double)s->corpus.tokens, leaves);
  terms_pass pass = {s, draw, strips, 0, leaves, 0};
  wb_on_threads(threads, draw_leaves, &pass);
  if (pass.failed) return wb_out_of_memory(message, "drawing the terms of the topics", 8 * s->width);
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

/* The log probability of each document's words for a group with weights in bench->weight. May draw all topics, too. */
static void pass_group(wb_topic_session *s, const wb_topic_draw *draw, int64_t document, int64_t end, workbench *bench,
                       double *log_likelihood) {
  const wb_topic_corpus *c = &s->corpus;
  const topic_pass pass = {
      s, draw, bench, (uint32_t)document, c->first_pair[document], c->first_pair[end], log_likelihood};
  for (int64_t d = document; d < end; d++) log_likelihood[d] = 0;
  if (s->settings.precision == WB_SINGLE) WB_LOOP(topic_pass_tokens_single, s->isa)(&pass);
  else WB_LOOP(topic_pass_tokens_double, s->isa)(&pass);
  WB_LOOP(topic_logs, s->isa)(end - document, bench->norm);
  for (int64_t d = document; d < end; d++) {
    const double tokens = (double)(c->first_token[d + 1] - c->first_token[d]);
    /* Without tokens and with a small alpha, all gammas of theta may be too small for a double: their sum is 0. */
    if (tokens > 0) log_likelihood[d] = wb_fma(-tokens, bench->norm[d - document], log_likelihood[d]);
  }
}

static void draw_group(const wb_topic_session *s, const wb_topic_draw *draw, const wb_gamma_strips *strips,
                       int64_t first, int64_t end, workbench *bench, double *theta) {
  const int topics = s->settings.topics;
  const size_t bytes = s->width * real_size(s);
  int32_t *const counts = s->counted ? s->counts + (size_t)first * (size_t)topics : bench->group_tally;
  if (!s->counted) count_group(s, first, end, counts);
  for (int64_t d = first; d < end; d += bench->rows) {
    const int rows = end - d < bench->rows ? (int)(end - d) : bench->rows;
    /* Copied, because the gammas need room for whole tiles. */
    memcpy(bench->tally, counts + (size_t)(d - first) * (size_t)topics,
           (size_t)rows * (size_t)topics * sizeof(int32_t));
    for (int r = 0; s->groups > 1 && r < rows; r++) set_base(s, alpha_of(s, draw->alpha, d + r), 0, r, bench);
    draw_values(s, draw, WB_PURPOSE_TOPIC_SHARE, strips, d, rows, bench);
    for (int r = 0; r < rows; r++) {
      const double *value = bench->value + r * topics;
      const size_t at = (size_t)(d + r - first);
      /* The sum of the gammas: over each lane in order of its rows, then over the lanes. */
      double lane[WB_TOPIC_LANES] = {0};
      for (int k = 0; k < topics; k++) lane[k % WB_TOPIC_LANES] += value[k];
      bench->norm[at] = 0;
      for (int l = 0; l < WB_TOPIC_LANES; l++) bench->norm[at] += lane[l];
      narrow(s, value, s->inverse, bench->weight + at * bytes);
      if (theta)
        for (int k = 0; k < topics; k++)
          theta[(size_t)(d + r) * (size_t)topics + (size_t)k] = value[k] / bench->norm[at];
    }
  }
}

typedef struct documents_pass {
  wb_topic_session *session;
  const wb_topic_draw *draw;
  const wb_gamma_strips *strips;
  const double *given;
  double *log_likelihood, *theta;
  int64_t next; /* group */
  int failed;
} documents_pass;

static void pass_groups(void *context) {
  documents_pass *const pass = context;
  wb_topic_session *const s = pass->session;
  const int64_t documents = s->corpus.documents, size = s->order.group;
  const size_t topics = (size_t)s->settings.topics;
  workbench *const bench = workbench_take(s, &pass->failed);
  if (!bench) return;
  if (pass->draw) set_bases(s, pass->draw->alpha, 0, bench);
  for (int64_t first; (first = size * wb_take(&pass->next)) < documents;) {
    const int64_t end = first + size < documents ? first + size : documents;
    if (pass->given) {
      for (int64_t d = first; d < end; d++) {
        narrow(s, pass->given + (size_t)d * topics, s->inverse,
               bench->weight + (size_t)(d - first) * s->width * real_size(s));
        bench->norm[d - first] = 1;
      }
    } else {
      draw_group(s, pass->draw, pass->strips, first, end, bench, pass->theta);
    }
    pass_group(s, pass->draw, first, end, bench, pass->log_likelihood);
  }
  workbench_put(s, bench);
}

static int pass_documents(wb_topic_session *s, const wb_topic_draw *draw, const double *given, double *log_likelihood,
                          double *theta, wb_message *message) {
  const int64_t documents = s->corpus.documents, size = s->order.group, groups = (documents + size - 1) / size;
  const wb_gamma_strips *strips = NULL;
  if (draw && draw->alpha_tables) {
    WB_TRY(prepare_strips(s, draw->alpha[0], &s->share_strips, message));
    strips = s->share_strips;
  }
  documents_pass pass = {s, draw, strips, given, log_likelihood, theta, 0, 0};
  const double topics = s->settings.topics;
  const double work = (double)documents * topics * 5 + (double)s->corpus.pairs * (topics / 4 + 20);
  wb_on_threads(useful_threads(s, work, groups), pass_groups, &pass);
  if (draw) s->counted = s->terms_counted = 0;
  if (!pass.failed) return WB_OK;
  return wb_out_of_memory(message, "a group of documents", (size_t)size * s->width * real_size(s));
}

static int draw_documents(wb_topic_session *s, const wb_topic_draw *draw, double *log_likelihood, double *theta,
                          wb_message *message) {
  return pass_documents(s, draw, NULL, log_likelihood, theta, message);
}

static int score(wb_topic_session *s, const double *theta, double *log_likelihood, wb_message *message) {
  return pass_documents(s, NULL, theta, log_likelihood, NULL, message);
}

#include "cpu/topic_model/tokens_members.h"
#include "cpu/topic_model/tokens_tables.h"

const wb_topic_model_functions wb_cpu_topic_model = {
    .open = open_session,
    .set_topics = set_topics,
    .get_topics = get_topics,
    .draw_terms = draw_terms,
    .set_phi = set_phi,
    .get_phi = get_phi,
    .draw_documents = draw_documents,
    .draw_members = draw_members,
    .count_documents = count_all_documents,
    .draw_term_tables = draw_term_tables,
    .score = score,
    .close = close_session,
};
