/* The order of (document, term) pairs and of the topics of their tokens: by group of documents, then by term, then by
 * document. So a row of phi is fetched once for a group, whose thetas stay in the second-level cache. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "backend/topic_model_table.h"

/* Pairs computed together, and places of the ring, whose last one or two blocks may have tokens without topics. */
#define TOPIC_BLOCK 16
#define TOPIC_RING 48

/* Pairs past the last one that may be read; they repeat the last pair. */
#define TOPIC_MORE_PAIRS 64
/* Tokens past the last one that may be read. */
#define TOPIC_MORE_TOKENS 16

/* The tokens of a term in one group: first place, and number. */
typedef struct topic_segment {
  uint32_t first, tokens;
} topic_segment;

typedef struct topic_order {
  int64_t group;          /* documents in a group */
  uint32_t *document;     /* pairs, in this order */
  uint32_t *term;         /* pairs */
  int32_t *count;         /* pairs */
  uint32_t *first;        /* pairs + 1: the place of a pair's first token */
  uint32_t *token;        /* places: the number of the token, by document */
  uint8_t *slot;          /* places: the ring place of the token's pair */
  int64_t *first_segment; /* terms + 1 */
  topic_segment *segment;
} topic_order;

static void topic_order_free(topic_order *order) {
  free(order->document);
  free(order->term);
  free(order->count);
  free(order->first);
  free(order->token);
  free(order->slot);
  free(order->first_segment);
  free(order->segment);
  memset(order, 0, sizeof *order);
}

/* Sorts pairs by group, term and document: by term, as the places are, each pair goes to the next place of its group.
 * order->first receives the number, by document, of each pair's first token. document_of: a pair at each place. */
static void sort_pairs(const wb_topic_corpus *c, topic_order *order, int64_t *next, uint32_t *document_of) {
  memcpy(next, c->first_place, (size_t)c->terms * sizeof(int64_t));
  for (int64_t d = 0; d < c->documents; d++)
    for (int64_t i = c->first_pair[d]; i < c->first_pair[d + 1]; i++) document_of[next[c->term[i]]++] = (uint32_t)d;
  for (int64_t g = 0; g * order->group < c->documents; g++) next[g] = c->first_pair[g * order->group];
  for (int64_t w = 0; w < c->terms; w++)
    for (int64_t i = c->first_place[w]; i < c->first_place[w + 1]; i++) {
      const int64_t at = next[document_of[i] / (uint64_t)order->group]++;
      order->document[at] = document_of[i];
      order->term[at] = (uint32_t)w;
      order->count[at] = c->place_count[i];
      order->first[at] = c->place_token[i];
    }
}

static void place_tokens(const wb_topic_corpus *c, topic_order *order) {
  uint32_t place = 0;
  for (int64_t first = 0; first < c->documents; first += order->group) {
    const int64_t end = first + order->group < c->documents ? first + order->group : c->documents;
    const int64_t begin = c->first_pair[first];
    for (int64_t i = begin; i < c->first_pair[end]; i++) {
      const uint32_t token = order->first[i];
      order->first[i] = place;
      for (int32_t t = 0; t < order->count[i]; t++) {
        order->token[place] = token + (uint32_t)t;
        order->slot[place++] = (uint8_t)((i - begin) % TOPIC_RING);
      }
    }
  }
  order->first[c->pairs] = place;
  for (int t = 0; t < TOPIC_MORE_TOKENS; t++) {
    order->token[place + (uint32_t)t] = 0;
    order->slot[place + (uint32_t)t] = 0;
  }
}

/* A segment begins where the term or the group changes. */
static int begins_segment(const topic_order *order, int64_t i) {
  return order->term[i] != order->term[i - 1] ||
         order->document[i] / (uint64_t)order->group != order->document[i - 1] / (uint64_t)order->group;
}

static int find_segments(const wb_topic_corpus *c, topic_order *order, int64_t *next) {
  int64_t segments = c->pairs > 0;
  memset(order->first_segment, 0, ((size_t)c->terms + 1) * sizeof(int64_t));
  for (int64_t i = 0; i < c->pairs; i++)
    if (i == 0 || begins_segment(order, i)) {
      order->first_segment[order->term[i] + 1]++;
      segments += i > 0;
    }
  for (int64_t w = 0; w < c->terms; w++) order->first_segment[w + 1] += order->first_segment[w];
  order->segment = malloc(((size_t)segments + 1) * sizeof(topic_segment));
  if (!order->segment) return 0;
  memcpy(next, order->first_segment, (size_t)c->terms * sizeof(int64_t));
  for (int64_t i = 0; i < c->pairs;) {
    int64_t end = i + 1;
    while (end < c->pairs && !begins_segment(order, end)) end++;
    order->segment[next[order->term[i]]++] = (topic_segment){order->first[i], order->first[end] - order->first[i]};
    i = end;
  }
  return 1;
}

/* Returns 0 without memory; topic_order_free() then frees what was allocated. */
static int topic_order_build(const wb_topic_corpus *c, int64_t group, topic_order *order) {
  const size_t pairs = (size_t)c->pairs, more = pairs + TOPIC_MORE_PAIRS;
  const size_t places = (size_t)c->tokens + TOPIC_MORE_TOKENS;
  const int64_t groups = (c->documents + group - 1) / group;
  order->group = group;
  order->document = calloc(more, sizeof(uint32_t));
  order->term = calloc(more, sizeof(uint32_t));
  order->count = calloc(more, sizeof(int32_t));
  order->first = malloc((pairs + 1) * sizeof(uint32_t));
  order->token = malloc(places * sizeof(uint32_t));
  order->slot = malloc(places);
  order->first_segment = malloc(((size_t)c->terms + 1) * sizeof(int64_t));
  int64_t *const next = malloc(((size_t)c->terms + (size_t)groups + 1) * sizeof(int64_t));
  uint32_t *const document_of = malloc((pairs + 1) * sizeof(uint32_t));
  int ready = order->document && order->term && order->count && order->first && order->token && order->slot &&
              order->first_segment && next && document_of;
  if (ready) sort_pairs(c, order, next, document_of);
  free(document_of);
  if (ready) {
    for (size_t i = pairs; pairs > 0 && i < more; i++) {
      order->document[i] = order->document[pairs - 1];
      order->term[i] = order->term[pairs - 1];
    }
    place_tokens(c, order);
    ready = find_segments(c, order, next);
  }
  free(next);
  return ready;
}
