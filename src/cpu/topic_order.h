/* The order in which pairs of document and term pass: group by group of documents, in a
 * group by term, then by document. So the row of a term is fetched once for a group whose
 * thetas stay in the second cache. The topics of tokens lie in this order too, one after the
 * other as they are drawn: counting those of a term goes through memory in order, and
 * counting those of a document stays within its group.
 */
#ifndef WB_CPU_TOPIC_ORDER_H
#define WB_CPU_TOPIC_ORDER_H

#include "backend/topic_model.h"

/* Pairs whose weights are formed together, and their places in a ring, of which the last
 * one or two blocks may still have tokens without topics. */
#define TOPIC_BLOCK 16
#define TOPIC_RING 48

/* Pairs past the last one that can be read: the last one again. */
#define TOPIC_MORE_PAIRS 64
/* Tokens, likewise. */
#define TOPIC_MORE_TOKENS 16

/* Tokens of a term in one group: first place, and number. */
typedef struct topic_segment {
  uint32_t first, tokens;
} topic_segment;

typedef struct topic_order {
  int64_t group;         /* documents of a group */
  uint32_t *document;    /* pairs, in this order */
  uint32_t *term;        /* pairs */
  int32_t *count;        /* pairs */
  uint32_t *first;       /* pairs + 1: the place of a pair's first token */
  uint32_t *place;       /* pairs, by document: likewise */
  uint32_t *token;       /* places: the number of the token by document */
  uint8_t *slot;         /* places: where in the ring its pair is */
  int64_t *first_segment; /* terms + 1 */
  topic_segment *segment;
} topic_order;

/* 0 without memory. */
int wb_topic_order_build(const wb_topic_corpus *corpus, int64_t group, topic_order *order);
void wb_topic_order_free(topic_order *order);

#endif
