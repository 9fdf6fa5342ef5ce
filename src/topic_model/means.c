/* What is averaged of a chain, given the topics z of all tokens: the means of theta and phi, first topics of documents,
 * shares of topics, and the score, which ranks the modes that chains are in:
 *   score = log p(w, z | alpha, beta) - sum_i log p(z_i | z of the other tokens, w, alpha, beta).
 * Its mean is a lower bound of the log of the posterior mass around a mode, since the entropies of each z_i given the
 * others sum to at most the entropy of z (Han 1978, Information and Control 36, 133-156). */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <string.h>

#include "core/elementary.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Documents, or terms, of a piece of work. */
#define MEANS_ROWS 64
/* Operations, of about a nanosecond each, that are worth a thread. */
#define MEANS_WORK 1e5
#define PURPOSE "the averages of a topic model"

/* A term has so many tokens in a topic. */
typedef struct place {
  int32_t topic, count;
} place;

typedef struct averaging {
  const wb_topic_means *m;
  int64_t shares;   /* parts of the tokens that are counted at the same time */
  int64_t *size;    /* topics: tokens; then the same for each share */
  double *beta_sum; /* topics: the prior counts of all terms */
  double *sizes;    /* pieces of the documents x topics: theta over their tokens */
  double *sum;      /* pieces of the documents, then of the terms: their parts of the score */
  int64_t *first;   /* terms + 1: where there is room for the places of each */
  int64_t *end;     /* terms: where its places end */
  place *places;
} averaging;

static int64_t pieces_of(int64_t rows) { return (rows + MEANS_ROWS - 1) / MEANS_ROWS; }

static const double *extra_of(const wb_topic_means *m, int64_t term) {
  const int64_t row = m->structure->extras > 0 ? m->structure->extra_of[term] : -1;
  return row < 0 ? NULL : m->structure->extra + row * m->state->topics;
}

/* tally: a document's tokens of each topic. of_topic: its weights over the topics' sizes. of_term: a term's. */
static double score_tokens(const averaging *a, int64_t d, const double *alpha, const int32_t *tally, double *of_topic,
                           int32_t *of_term) {
  const wb_topic_means *const m = a->m;
  const size_t topics = (size_t)m->state->topics;
  double all = 0, sum = 0, product = 1;
  for (size_t k = 0; k < topics; k++) {
    all += of_topic[k] = (alpha[k] + (double)tally[k]) / (a->beta_sum[k] + (double)a->size[k]);
    if (tally[k] > 0) sum += wb_topic_log_rising(alpha[k], tally[k]);
  }
  int64_t token = m->corpus->first_token[d];
  for (int64_t i = m->corpus->first_pair[d]; i < m->corpus->first_pair[d + 1]; i++) {
    const int32_t w = m->corpus->term[i];
    const double *const extra = extra_of(m, w);
    double total = m->state->beta * all;
    for (const place *p = a->places + a->first[w]; p < a->places + a->end[w]; p++) {
      of_term[p->topic] = p->count;
      total = wb_fma(p->count, of_topic[p->topic], total);
    }
    for (size_t k = 0; extra && k < topics; k++) total = wb_fma(extra[k], of_topic[k], total);
    for (const int64_t end = token + m->corpus->count[i]; token < end; token++) {
      const size_t k = m->topic[token];
      const double count = m->state->beta + (extra ? extra[k] : 0) + (double)of_term[k];
      const double own =
          (alpha[k] + (double)(tally[k] - 1)) * (count - 1) / (a->beta_sum[k] + (double)(a->size[k] - 1));
      product *= own / (total - of_topic[k] * count + own);
      if (product > 1e-150) continue;
      sum -= wb_log(product);
      product = 1;
    }
  }
  return sum - wb_log(product);
}

static void add_documents(void *context, int64_t piece, void *memory) {
  const averaging *const a = context;
  const wb_topic_means *const m = a->m;
  const size_t topics = (size_t)m->state->topics;
  double *const of_topic = memory, *const size = a->sizes + (size_t)piece * topics;
  int32_t *const tally = (int32_t *)(of_topic + topics);
  const int64_t begin = piece * MEANS_ROWS, left = m->corpus->documents - begin;
  for (int64_t d = begin; d < begin + (left < MEANS_ROWS ? left : MEANS_ROWS); d++) {
    const int64_t first = m->corpus->first_token[d], tokens = wb_topic_tokens(m->corpus, d);
    const size_t group = m->structure->groups > 1 ? (size_t)m->structure->group[d] : 0;
    const double *const alpha = m->state->alpha + group * topics;
    double *const to = m->theta_sum + (size_t)d * topics, *const first_to = m->first_sum + (size_t)d * topics;
    double alpha_sum = 0, most = 0, ties = 1;
    for (size_t k = 0; k < topics; k++) alpha_sum += alpha[k];
    memset(tally, 0, topics * sizeof(int32_t));
    for (int64_t i = first; i < first + tokens; i++) tally[m->topic[i]]++;
    const double inverse = 1.0 / (alpha_sum + (double)tokens);
    for (size_t k = 0; k < topics; k++) {
      const double own = alpha[k] + (double)tally[k], mean = own * inverse;
      to[k] += mean;
      size[k] += mean * (double)tokens;
      if (own == most) ties++;
      if (own > most) most = own, ties = 1;
    }
    for (size_t k = 0; k < topics; k++)
      if (alpha[k] + (double)tally[k] == most) first_to[k] += 1.0 / ties;
    if (m->score)
      a->sum[piece] +=
          score_tokens(a, d, alpha, tally, of_topic, tally + topics) - wb_topic_log_rising(alpha_sum, tokens);
  }
}

static void add_terms(void *context, int64_t piece, void *tally) {
  const averaging *const a = context;
  const wb_topic_means *const m = a->m;
  const wb_topic_corpus *const corpus = m->corpus;
  const size_t topics = (size_t)m->state->topics;
  const int64_t begin = piece * MEANS_ROWS, left = corpus->terms - begin;
  double *const sum = a->sum + pieces_of(corpus->documents) + piece;
  int32_t *const count = tally;
  for (int64_t w = begin; w < begin + (left < MEANS_ROWS ? left : MEANS_ROWS); w++) {
    const double *const extra = extra_of(m, w);
    double *const to = m->phi_sum + (size_t)w * topics;
    place *next = m->score ? a->places + a->first[w] : NULL;
    memset(count, 0, topics * sizeof(int32_t));
    for (int64_t i = corpus->first_place[w]; i < corpus->first_place[w + 1]; i++)
      for (int32_t j = 0; j < corpus->place_count[i]; j++) count[m->topic[corpus->place_token[i] + (uint32_t)j]]++;
    for (size_t k = 0; k < topics; k++) {
      const double prior = (extra ? extra[k] : 0.0) + m->state->beta;
      to[k] += (prior + (double)count[k]) / (a->beta_sum[k] + (double)a->size[k]);
      if (!next || count[k] == 0) continue;
      *next++ = (place){(int32_t)k, count[k]};
      *sum += wb_topic_log_rising(prior, count[k]);
    }
    if (next) a->end[w] = next - a->places;
  }
}

static void count_share(void *context, int64_t share, void *unused) {
  (void)unused;
  const averaging *const a = context;
  const int64_t tokens = a->m->corpus->tokens, end = tokens * (share + 1) / a->shares;
  int64_t *const size = a->size + (share + 1) * a->m->state->topics;
  for (int64_t i = tokens * share / a->shares; i < end; i++) size[a->m->topic[i]]++;
}

static int make_places(averaging *a, wb_message *message) {
  const wb_topic_corpus *const corpus = a->m->corpus;
  const int64_t topics = a->m->state->topics, terms = corpus->terms;
  if (!WB_PARTS(PURPOSE, message, WB_CLEARED(a->first, terms + 1), WB_PART(a->end, terms))) return 0;
  for (int64_t w = 0; w < terms; w++) {
    int64_t tokens = 0;
    for (int64_t i = corpus->first_place[w]; i < corpus->first_place[w + 1] && tokens < topics; i++)
      tokens += corpus->place_count[i];
    a->first[w + 1] = a->first[w] + (tokens < topics ? tokens : topics);
  }
  return WB_PARTS(PURPOSE, message, WB_PART(a->places, a->first[terms] + 1)) != NULL;
}

int wb_topic_add_means(const wb_topic_means *m, int32_t threads, wb_message *message) {
  const size_t topics = (size_t)m->state->topics;
  const int64_t documents = pieces_of(m->corpus->documents), terms = m->phi_sum ? pieces_of(m->corpus->terms) : 0;
  const double rows = (double)m->corpus->documents + (double)m->corpus->terms;
  const double worth = 1 + ((double)m->corpus->tokens + rows * (double)topics) / MEANS_WORK;
  averaging a = {.m = m, .shares = worth < threads ? (int64_t)worth : threads};
  const int32_t useful = (int32_t)a.shares;
  const size_t counts = ((size_t)useful + 1) * topics, of_pieces = topics * (size_t)documents;
  void *const memory = WB_PARTS(PURPOSE, message, WB_CLEARED(a.size, counts), WB_CLEARED(a.beta_sum, topics),
                                WB_CLEARED(a.sizes, of_pieces), WB_CLEARED(a.sum, documents + terms));
  if (!memory) return WB_ERROR_MEMORY;
  const size_t room = topics * (sizeof(double) + 2 * sizeof(int32_t));
  int done = !m->phi_sum || wb_spread_with_memory(useful, a.shares, room, count_share, &a);
  for (size_t i = topics; i < counts; i++) a.size[i % topics] += a.size[i];
  wb_topic_sum_extras(m->structure, m->state->topics, a.beta_sum);
  for (size_t k = 0; k < topics; k++) a.beta_sum[k] += m->state->beta * m->corpus->terms;
  done = done && (!m->score || make_places(&a, message)) && wb_spread_with_memory(useful, terms, room, add_terms, &a) &&
         wb_spread_with_memory(useful, documents, room, add_documents, &a);
  double score = 0;
  for (size_t k = 0; k < topics; k++) m->share[k] = 0;
  for (size_t i = 0; i < of_pieces; i++) m->share[i % topics] += a.sizes[i] / (double)m->corpus->tokens;
  for (int64_t i = 0; i < documents + terms; i++) score += a.sum[i];
  for (size_t k = 0; m->score && k < topics; k++) score -= wb_topic_log_rising(a.beta_sum[k], a.size[k]);
  if (m->score) *m->score = score;
  wb_aligned_free(a.places);
  wb_aligned_free(a.first);
  wb_aligned_free(memory);
  return done ? WB_OK : wb_out_of_memory(message, PURPOSE, room);
}
