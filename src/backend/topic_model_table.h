/* Topic models (latent Dirichlet allocation): a part of the table of backend.h.
 *
 * A document's token has topic k and term w with weight theta_dk phi_kw, where theta_d ~ Dir(alpha) over K topics and
 * phi_k ~ Dir(beta) over V terms. The topics of all tokens are the whole state of a chain.
 *
 *   draw_terms        topics -> phi, all terms in parallel
 *   draw_documents    topics -> theta -> topics, all documents in parallel
 *   draw_members      one topic for all tokens of a document
 *
 * A draw depends only on (key, iteration, element): the pair of row and topic (phi, theta) or the token. */
#pragma once

#include "backend/types.h"

/* Topics take 16 bits a token, and a document's shares stay close to where they are used. */
#define WB_TOPIC_MOST 16384

/* The gammas of this many terms are added in order; then the sums of these leaves are added in order. */
#define WB_TOPIC_LEAF 64

/* Documents x terms counts, by document and by term. Arrays must outlive the session. The tokens of a document follow
 * one another in the order of its pairs. There are fewer than 2^31 tokens, so positions have 32 bits. */
typedef struct wb_topic_corpus {
  int32_t documents, terms;
  int64_t pairs;                          /* pairs of document and term with a count */
  int64_t tokens;                         /* sum of the counts */
  const int32_t *term;                    /* pairs: by document, terms ascending */
  const int32_t *count;                   /* pairs: at least 1 */
  const int64_t *first_pair;              /* documents + 1 */
  const int64_t *first_token;             /* documents + 1 */
  const int64_t *first_place;             /* terms + 1 */
  const uint32_t *place_token;            /* pairs by term, documents ascending: the pair's first token */
  const int32_t *place_count;             /* pairs by term: its count */
  int64_t longest_document, longest_term; /* the most tokens of a document, of a term */
} wb_topic_corpus;

/* Priors that differ between documents or terms. Arrays must outlive the session. All zero: none differs. */
typedef struct wb_topic_structure {
  int32_t groups;          /* of documents, each with its own alpha; 0 counts as 1 */
  const int32_t *group;    /* documents: their group, from 0; not read for one group */
  int32_t extras;          /* terms with prior counts of their own */
  const int32_t *extra_of; /* terms: the row of `extra`, or -1; not read if there are none */
  const double *extra;     /* extras x topics: prior counts, >= 0, in addition to beta */
} wb_topic_structure;

typedef struct wb_topic_settings {
  int32_t topics;         /* 1..WB_TOPIC_MOST */
  wb_precision precision; /* of the weights of tokens and of a lane's sums of them */
  wb_topic_structure structure;
} wb_topic_settings;

typedef struct wb_topic_session wb_topic_session;

typedef struct wb_topic_draw {
  uint64_t key;
  uint32_t iteration;
  int mean;            /* whether to take the mean instead of a Dirichlet draw */
  const double *alpha; /* groups x topics, > 0 */
  double beta;         /* > 0 */
  /* Whether gammas come from the tables of core/random_gamma_strips.h. The tables of alpha serve shapes of alpha[0] and
   * more, so alpha[0] must be the least alpha. Those of beta serve terms without prior counts of their own. */
  int alpha_tables, beta_tables;
} wb_topic_draw;

typedef struct wb_topic_model_functions {
  int (*open)(const wb_topic_corpus *corpus, const wb_topic_settings *settings, const wb_run *run,
              wb_topic_session **session, wb_message *message);
  int (*set_topics)(wb_topic_session *session, const uint16_t *topic, wb_message *message);
  int (*get_topics)(wb_topic_session *session, uint16_t *topic, wb_message *message);
  /* phi | topics, beta. */
  int (*draw_terms)(wb_topic_session *session, const wb_topic_draw *draw, wb_message *message);
  /* Set or get phi, terms x topics with the topics of a term side by side. Each topic sums to one over the terms. */
  int (*set_phi)(wb_topic_session *session, const double *phi, wb_message *message);
  int (*get_phi)(wb_topic_session *session, double *phi, wb_message *message);
  /* theta | topics, alpha, then the topics of all tokens given theta and phi.
   *   log_likelihood  documents: the log probability of each document's words given theta and phi
   *   theta           documents x topics with the topics of a document side by side, or NULL */
  int (*draw_documents)(wb_topic_session *session, const wb_topic_draw *draw, double *log_likelihood, double *theta,
                        wb_message *message);
  /* For documents of one group: one topic for all tokens of a document, k with weight exp(log_share[k]) times the
   * probability of the document's words in topic k. draw: key and iteration are read.
   *   members         topics: the documents of each, without those that have no tokens
   *   log_likelihood  documents: the log probability of each document's words given phi and the shares
   *   theta           documents x topics: the probabilities of the topics, or NULL */
  int (*draw_members)(wb_topic_session *session, const wb_topic_draw *draw, const double *log_share, int64_t *members,
                      double *log_likelihood, double *theta, wb_message *message);
  /* For learning alpha, given the topics, in levels of wb_topic_alpha_levels(). All 0 before:
   *   histogram  groups x topics x (levels + 1): the documents with n tokens of a topic, or with as many as the last
   *              level or more; those with 0 tokens may be missing
   *   tables     groups x topics: sums over documents d and i = levels, ..., n_dk - 1 of independent Bernoulli draws
   *              with probability alpha_gk / (alpha_gk + i) (Teh, Jordan, Beal & Blei 2006, appendix A) */
  int (*count_documents)(wb_topic_session *session, const wb_topic_draw *draw, int32_t *histogram, int64_t *tables,
                         wb_message *message);
  /* For learning beta, the tables of all tokens, with probability beta / (beta + extra + i).
   *   tables  their sum over terms and topics
   *   size    topics: the tokens of each */
  int (*draw_term_tables)(wb_topic_session *session, const wb_topic_draw *draw, int64_t *tables, int64_t *size,
                          wb_message *message);
  /* The log probability of the words of each document under phi and the given theta (documents x topics, by rows). */
  int (*score)(wb_topic_session *session, const double *theta, double *log_likelihood, wb_message *message);
  void (*close)(wb_topic_session *session); /* NULL-safe, never fails */
} wb_topic_model_functions;
