/* Ranks the modes that chains are in. With z the topics of all tokens, drawn given alpha and beta,
 *   score = log p(w, z | alpha, beta) - sum_i log p(z_i | z of the other tokens, w, alpha, beta).
 * Its mean is a lower bound of the log of the posterior mass around a mode, since the entropies of each z_i given the
 * others sum to at most the entropy of z (Han 1978, Information and Control 36, 133-156). The log likelihood counts the
 * height of a mode and not its room. */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <stdlib.h>
#include <string.h>

#include "core/elementary.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Documents, or terms, of a piece of work, and tokens that are worth a thread. */
#define SCORE_ROWS 64
#define SCORE_WORK 20000

/* A term has so many tokens in a topic. */
typedef struct place {
  int32_t topic, count;
} place;

typedef struct scoring {
  const wb_topic_means *means;
  int64_t *end;   /* terms: where the places of each end; they begin where as many as it can have begin */
  int64_t *first; /* terms + 1 */
  place *places;
  double *beta_sum; /* topics: of the prior counts of all terms */
  int64_t *size;    /* topics: tokens */
  double *sum;      /* pieces: their parts of the score */
} scoring;

static const double *extra_of(const wb_topic_means *m, int64_t term) {
  const int64_t row = m->structure->extras > 0 ? m->structure->extra_of[term] : -1;
  return row < 0 ? NULL : m->structure->extra + row * m->state->topics;
}

static void score_term(const scoring *s, int64_t w, int32_t *tally, double *sum) {
  const wb_topic_means *const m = s->means;
  const wb_topic_corpus *const corpus = m->corpus;
  const double *const extra = extra_of(m, w);
  place *to = s->places + s->first[w];
  memset(tally, 0, (size_t)m->state->topics * sizeof(int32_t));
  for (int64_t i = corpus->first_place[w]; i < corpus->first_place[w + 1]; i++)
    for (int32_t j = 0; j < corpus->place_count[i]; j++) tally[m->topic[corpus->place_token[i] + (uint32_t)j]]++;
  for (int32_t k = 0; k < m->state->topics; k++) {
    if (tally[k] == 0) continue;
    *to++ = (place){k, tally[k]};
    *sum += wb_topic_log_rising(m->state->beta + (extra ? extra[k] : 0), tally[k]);
  }
  s->end[w] = to - s->places;
}

/* of_topic: the weights of the topics in the document, over their sizes. of_term: their tokens of a term. */
static void score_document(const scoring *s, int64_t d, int32_t *tally, double *of_topic, double *sum) {
  const wb_topic_means *const m = s->means;
  const wb_topic_corpus *const corpus = m->corpus;
  const size_t topics = (size_t)m->state->topics;
  const double beta = m->state->beta;
  const double *const alpha =
      m->state->alpha + (m->structure->groups > 1 ? (size_t)m->structure->group[d] * topics : 0);
  int32_t *const of_term = tally + topics;
  int64_t token = corpus->first_token[d];
  double alpha_sum = 0, all = 0, product = 1;
  memset(tally, 0, topics * sizeof(int32_t));
  for (int64_t i = token; i < corpus->first_token[d + 1]; i++) tally[m->topic[i]]++;
  for (size_t k = 0; k < topics; k++) {
    alpha_sum += alpha[k];
    all += of_topic[k] = (alpha[k] + (double)tally[k]) / (s->beta_sum[k] + (double)s->size[k]);
    if (tally[k] > 0) *sum += wb_topic_log_rising(alpha[k], tally[k]);
  }
  *sum -= wb_topic_log_rising(alpha_sum, wb_topic_tokens(corpus, d));
  for (int64_t i = corpus->first_pair[d]; i < corpus->first_pair[d + 1]; i++) {
    const int32_t w = corpus->term[i];
    const double *const extra = extra_of(m, w);
    double total = beta * all;
    for (const place *p = s->places + s->first[w]; p < s->places + s->end[w]; p++) {
      of_term[p->topic] = p->count;
      total = wb_fma(p->count, of_topic[p->topic], total);
    }
    for (size_t k = 0; extra && k < topics; k++) total = wb_fma(extra[k], of_topic[k], total);
    for (const int64_t end = token + corpus->count[i]; token < end; token++) {
      const size_t k = m->topic[token];
      const double count = beta + (extra ? extra[k] : 0) + (double)of_term[k];
      const double own =
          (alpha[k] + (double)(tally[k] - 1)) * (count - 1) / (s->beta_sum[k] + (double)(s->size[k] - 1));
      product *= own / (total - of_topic[k] * count + own);
      if (product > 1e-150) continue;
      *sum -= wb_log(product);
      product = 1;
    }
  }
  *sum -= wb_log(product);
}

static int64_t pieces_of(int64_t rows) { return (rows + SCORE_ROWS - 1) / SCORE_ROWS; }

static void score_terms(void *context, int64_t piece, void *memory) {
  const scoring *const s = context;
  const int64_t end = (piece + 1) * SCORE_ROWS, terms = s->means->corpus->terms;
  for (int64_t w = piece * SCORE_ROWS; w < end && w < terms; w++) score_term(s, w, memory, s->sum + piece);
}

static void score_documents(void *context, int64_t piece, void *memory) {
  const scoring *const s = context;
  const int64_t end = (piece + 1) * SCORE_ROWS, documents = s->means->corpus->documents;
  double *const of_topic = memory, *const sum = s->sum + pieces_of(s->means->corpus->terms) + piece;
  int32_t *const tally = (int32_t *)(of_topic + s->means->state->topics);
  for (int64_t d = piece * SCORE_ROWS; d < end && d < documents; d++) score_document(s, d, tally, of_topic, sum);
}

/* How many topics the tokens of a term can have. */
static size_t most_places(const wb_topic_means *m, size_t w) {
  const int64_t topics = m->state->topics;
  int64_t tokens = 0;
  for (int64_t i = m->corpus->first_place[w]; i < m->corpus->first_place[w + 1] && tokens < topics; i++)
    tokens += m->corpus->place_count[i];
  return (size_t)(tokens < topics ? tokens : topics);
}

int wb_topic_score(const wb_topic_means *means, int32_t threads, double *score, wb_message *message) {
  const wb_topic_corpus *const corpus = means->corpus;
  const size_t topics = (size_t)means->state->topics, terms = (size_t)corpus->terms;
  const int64_t of_terms = pieces_of(corpus->terms), pieces = of_terms + pieces_of(corpus->documents);
  size_t bytes = 2 * terms + 1 + 2 * topics + (size_t)pieces;
  for (size_t w = 0; w < terms; w++) bytes += most_places(means, w);
  bytes *= sizeof(int64_t);
  scoring s = {.means = means, .end = calloc(bytes, 1)};
  if (!s.end) return wb_out_of_memory(message, "the score of a topic model", bytes);
  s.first = s.end + terms;
  s.size = s.first + terms + 1;
  s.beta_sum = (double *)(s.size + topics);
  s.sum = s.beta_sum + topics;
  s.places = (place *)(s.sum + pieces);
  for (size_t w = 0; w < terms; w++) s.first[w + 1] = s.first[w] + (int64_t)most_places(means, w);
  const int64_t worth = 1 + corpus->tokens / SCORE_WORK;
  const int32_t useful = worth < threads ? (int32_t)worth : threads;
  const size_t room = topics * (sizeof(double) + 2 * sizeof(int32_t));
  int done = wb_spread_with_memory(useful, of_terms, room, score_terms, &s);
  wb_topic_sum_extras(means->structure, means->state->topics, s.beta_sum);
  for (size_t k = 0; k < topics; k++) s.beta_sum[k] += means->state->beta * corpus->terms;
  for (size_t w = 0; done && w < terms; w++)
    for (const place *p = s.places + s.first[w]; p < s.places + s.end[w]; p++) s.size[p->topic] += p->count;
  if (done) done = wb_spread_with_memory(useful, pieces - of_terms, room, score_documents, &s);
  *score = 0;
  for (int64_t i = 0; i < pieces; i++) *score += s.sum[i];
  for (size_t k = 0; k < topics; k++) *score -= wb_topic_log_rising(s.beta_sum[k], s.size[k]);
  free(s.end);
  return done ? WB_OK : wb_out_of_memory(message, "the score of a topic model", room);
}
