/* Latent Dirichlet allocation by uncollapsed Gibbs sampling, or by mean-for-mode estimation (Tristan, Huang,
 * Tassarotti, Pocock, Green & Steele 2015, "Efficient training of LDA on a GPU by mean-for-mode estimation", ICML).
 *
 *   theta_d ~ Dir(alpha_1..alpha_K),  phi_k ~ Dir(beta, ..., beta),
 *   alpha_k, or their common value, ~ Ga(shape, rate),  beta ~ Ga(shape, rate) where learned.
 *
 * Terms may have prior counts of their own, which are added to beta. Documents may have covariates x_d, and then
 *
 *   log alpha_dk = x_d' lambda_k,  lambda_k ~ N(0, diag(5^2, 2.5^2, ..., 2.5^2)).
 *
 * A hierarchical Dirichlet process, truncated at K topics, has alpha_k ~ Ga(s/K, rate), and s uniform on shape times
 * 1/4, 1/2, 1, ..., 64 (Ishwaran & Zarepour 2002, Canadian Journal of Statistics 30, 269-283).
 *
 * A mixture of unigrams (Nigam, McCallum, Thrun & Mitchell 2000, Machine Learning 39, 103-134) is the limit of
 * alpha = e pi as e falls to 0: theta_d has all of its mass on one topic, k with probability pi_k, and
 * pi ~ Dir(1, ..., 1). Its alpha is pi times WB_TOPIC_MEMBERS.
 *
 * A sweep draws theta and phi, then topics, then alpha and beta with theta and phi integrated out. With n_dk of the N_d
 * tokens of document d in topic k, alpha depends on histograms of them alone:
 *
 *   p(alpha) ~ prior x prod_d Gamma(S)/Gamma(S + N_d) prod_k Gamma(alpha_k + n_dk)/Gamma(alpha_k), S = sum alpha_k. */
#pragma once

#include "backend/backend.h"

/* Builds the corpus, by document and by term, from a matrix of counts (documents x terms) in compressed columns. Column
 * j has rows row[start[j]]..row[start[j + 1] - 1], ascending, each with a count of at least 1. The corpus
 * keeps `count`. `memory` holds the other arrays; the caller frees it. */
int wb_topic_corpus_build(int32_t documents, int32_t terms, const int32_t *start, const int32_t *row,
                          const int32_t *count, wb_topic_corpus *corpus, void **memory, wb_message *message);

static inline int64_t wb_topic_tokens(const wb_topic_corpus *corpus, int64_t document) {
  return corpus->first_token[document + 1] - corpus->first_token[document];
}

typedef enum wb_topic_alpha {
  WB_ALPHA_FIXED = 0,
  WB_ALPHA_COMMON = 1,
  WB_ALPHA_EACH = 2,
  WB_ALPHA_PROCESS = 3,
  WB_ALPHA_MEMBERS = 4 /* one topic a document */
} wb_topic_alpha;

typedef struct wb_topic_method {
  int mean; /* mean-for-mode estimation instead of Gibbs sampling */
  wb_topic_alpha learn_alpha;
  int learn_beta;
  double alpha_shape, alpha_rate, beta_shape, beta_rate; /* > 0 */
} wb_topic_method;

#define WB_TOPIC_MEMBERS 1e-12

/* Covariates of documents. Documents with the same covariates are a group of the structure, a row of the basis. */
typedef struct wb_topic_covariates {
  int32_t columns, rows;
  const double *basis; /* rows x columns; the first column is 1, and 0 is the mean of the others */
  const int *used;     /* documents: whether they count for coefficients and effects */
  int32_t terms;
  const double *frame; /* documents x terms: the design of the effects, with orthonormal columns over used documents */
} wb_topic_covariates;

/* The state of a chain besides the topics of its tokens, which the session holds. */
typedef struct wb_topic_state {
  int32_t topics;
  double *alpha; /* groups x topics */
  double beta;
  double *coefficients; /* topics x columns of the covariates; NULL without covariates, which then give alpha */
  int32_t columns;
} wb_topic_state;

typedef struct wb_topic_chain {
  const wb_backend *backend;
  wb_topic_session *session;
  const wb_topic_corpus *corpus;
  const wb_topic_structure *structure;
  const wb_topic_covariates *covariates; /* NULL: none */
  wb_topic_method method;
  wb_topic_state state;
  uint64_t key;
  wb_message *message;
} wb_topic_chain;

/* Draws the first topic of each token, uniform over all topics. */
void wb_topic_start(int64_t tokens, int32_t topics, uint64_t key, uint16_t *topic);

/* Splits `topics` topics at random into `target` topics: each into target / topics parts, or one part more or less. The
 * parts of a topic have consecutive numbers, and each of its tokens goes to one of them. */
void wb_topic_split(int64_t tokens, int32_t topics, int32_t target, uint64_t key, uint32_t iteration,
                    const uint16_t *topic, uint16_t *split);

/* Merges similar topics in pairs to `target`, topics/2 <= target <= topics. `merged`: the topics of all tokens. */
int wb_topic_merge(const wb_topic_corpus *corpus, int32_t topics, int32_t target, const uint16_t *topic,
                   uint16_t *merged, wb_message *message);

/* One sweep. log_likelihood: log probability of all words given theta and phi. theta (documents x topics) and phi
 * (terms x topics) have the topics side by side, or are NULL. */
int wb_topic_sweep(wb_topic_chain *chain, uint32_t iteration, double *log_likelihood, double *theta, double *phi);

/* Coefficients take longer than a sweep, so they are drawn before every other one. */
#define WB_TOPIC_COEFFICIENTS_EVERY 2

/* Draws the coefficients given the topics of all tokens, and sets alpha. */
int wb_topic_draw_coefficients(wb_topic_chain *chain, uint32_t iteration);

/* Regresses theta (documents x topics) on the frame with random exponential weights of the documents (the Bayesian
 * bootstrap, Rubin 1981, Annals of Statistics 9, 130-134). effects: topics x terms. */
int wb_topic_draw_effects(const wb_topic_chain *chain, uint32_t iteration, const double *theta, double *effects);

/* log of Gamma(a + n)/Gamma(a). Products of few factors are faster and exact. */
double wb_topic_log_rising(double a, int64_t n);

/* Slice sampling by stepping out and shrinking (Neal 2003, Annals of Statistics 31, 705-767, figures 3, 5). Returns the
 * next value after x of the law whose log density this is. */
struct wb_stream; /* core/philox.h */
double wb_topic_slice(double (*log_density)(const void *, double), const void *law, struct wb_stream *stream, double x);

/* alpha of its logarithm, kept within exp(-200) and exp(15). */
double wb_topic_covariate_alpha(double log_alpha);

/* The sum of alpha; with covariates, of the alpha of a document with their means. */
double wb_topic_alpha_sum(const wb_topic_state *state);

int wb_topic_in_range(const uint16_t *topic, int64_t count, int32_t topics);

/* The means of theta and phi given the topics are added to sums. `first_sum` counts the first topics of documents: ties
 * count equal parts. `share` receives the mean of theta over all tokens. */
typedef struct wb_topic_means {
  const wb_topic_corpus *corpus;
  const wb_topic_structure *structure;
  const wb_topic_state *state;
  const uint16_t *topic;
  double *theta_sum, *first_sum, *phi_sum, *share; /* phi_sum may be NULL */
  double *score; /* see means.c; without the prior of alpha and beta. NULL, as without phi_sum: it is not wanted */
} wb_topic_means;

/* The number of kept sweeps from one score to the next, as R's `score_every`. */
#define WB_TOPIC_SCORED_EVERY 4

int wb_topic_add_means(const wb_topic_means *means, int32_t threads, wb_message *message);

/* The prior counts of each topic besides beta, summed over the terms in order of their rows. */
void wb_topic_sum_extras(const wb_topic_structure *structure, int32_t topics, double *prior);
