/* Merges topics that have similar terms: more topics than subjects find all subjects, some several times.
 *
 * The cost of merging topics a and b is the loss of log likelihood of their words, each topic with its own frequencies
 * of terms: n_ab log n_ab - n_a log n_a - n_b log n_b - S_ab, where S_ab sums the same difference of the counts c log c
 * of each term. It is divided by the root of the number of words, as the loss itself favours small subjects. */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <string.h>

#include "core/elementary.h"
#include "numeric/memory.h"

#define TABLE 4096

static double count_log_count(double count) { return count > 0 ? count * wb_log(count) : 0; }

typedef struct merger {
  double *table;   /* c log c of small counts */
  double *gain;    /* topics x topics: S_ab of a < b, then the cost */
  int64_t *size;   /* topics: their tokens */
  int32_t *tally;  /* topics */
  int32_t *listed; /* topics: those of a term, ascending */
  uint16_t *to;    /* topics: the number of each after merging */
} merger;

static double tabled(const merger *m, int32_t count) {
  return count < TABLE ? m->table[count] : count_log_count((double)count);
}

/* Adds a term's part of S_ab for all pairs of topics that have it. */
static void add_term(const merger *m, int32_t topics, int32_t listed) {
  for (int32_t i = 0; i < listed; i++) {
    const int32_t a = m->listed[i], in_a = m->tally[a];
    double *const gain = m->gain + (size_t)a * (size_t)topics;
    const double own = tabled(m, in_a);
    for (int32_t j = i + 1; j < listed; j++) {
      const int32_t b = m->listed[j], in_b = m->tally[b];
      gain[b] += tabled(m, in_a + in_b) - own - tabled(m, in_b);
    }
  }
}

static void add_terms(const merger *m, const wb_topic_corpus *corpus, int32_t topics, const uint16_t *topic) {
  const size_t count = (size_t)topics;
  for (int32_t w = 0; w < corpus->terms; w++) {
    memset(m->tally, 0, count * sizeof(int32_t));
    for (int64_t i = corpus->first_place[w]; i < corpus->first_place[w + 1]; i++)
      for (int32_t j = 0; j < corpus->place_count[i]; j++) m->tally[topic[corpus->place_token[i] + (uint32_t)j]]++;
    int32_t listed = 0;
    for (int32_t k = 0; k < topics; k++) {
      m->size[k] += m->tally[k];
      m->listed[listed] = k;
      listed += m->tally[k] > 0;
    }
    add_term(m, topics, listed);
  }
}

static void find_costs(const merger *m, int32_t topics) {
  for (int32_t a = 0; a < topics; a++)
    for (int32_t b = a + 1; b < topics; b++) {
      double *const cost = m->gain + (size_t)a * (size_t)topics + (size_t)b;
      const double in_a = (double)m->size[a], in_b = (double)m->size[b];
      const double loss = count_log_count(in_a + in_b) - count_log_count(in_a) - count_log_count(in_b) - *cost;
      *cost = loss / wb_sqrt(in_a * in_b / (in_a + in_b + 1) + 1);
    }
}

static void merge_pairs(const merger *m, int32_t topics, int32_t target) {
  uint8_t *const taken = (uint8_t *)m->listed;
  for (int32_t k = 0; k < topics; k++) {
    taken[k] = 0;
    m->to[k] = (uint16_t)k;
  }
  for (int32_t left = topics; left > target; left--) {
    int32_t first = -1, second = -1;
    double least = wb_infinity();
    for (int32_t a = 0; a < topics; a++)
      for (int32_t b = a + 1; b < topics && !taken[a]; b++)
        if (!taken[b] && m->gain[(size_t)a * (size_t)topics + (size_t)b] < least) {
          least = m->gain[(size_t)a * (size_t)topics + (size_t)b];
          first = a;
          second = b;
        }
    m->to[second] = (uint16_t)first;
    taken[first] = taken[second] = 1;
  }
  /* A topic is merged into an earlier one, whose new number is known. */
  int32_t next = 0;
  for (int32_t k = 0; k < topics; k++) m->to[k] = m->to[k] == k ? (uint16_t)next++ : m->to[m->to[k]];
}

int wb_topic_merge(const wb_topic_corpus *corpus, int32_t topics, int32_t target, const uint16_t *topic,
                   uint16_t *merged, wb_message *message) {
  const size_t count = (size_t)topics;
  merger m;
  void *const memory =
      WB_PARTS("merging topics", message, WB_PART(m.table, TABLE), WB_CLEARED(m.gain, count * count),
               WB_CLEARED(m.size, count), WB_PART(m.tally, count), WB_PART(m.listed, count + 1), WB_PART(m.to, count));
  if (!memory) return WB_ERROR_MEMORY;
  for (int c = 0; c < TABLE; c++) m.table[c] = count_log_count(c);
  add_terms(&m, corpus, topics, topic);
  find_costs(&m, topics);
  merge_pairs(&m, topics, target);
  for (int64_t i = 0; i < corpus->tokens; i++) merged[i] = m.to[topic[i]];
  wb_aligned_free(memory);
  return WB_OK;
}
