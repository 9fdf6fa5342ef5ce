/* Latent Dirichlet allocation: builds a corpus, runs sweeps on a backend (core/topic_tables.h: laws of alpha, beta). */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <math.h>

#include "core/elementary.h"
#include "core/purpose.h"
#include "core/random_gamma.h"
#include "core/random_gamma_strips.h"
#include "core/topic_tables.h"
#include "numeric/memory.h"

int wb_topic_corpus_build(int32_t documents, int32_t terms, const int32_t *start, const int32_t *row,
                          const int32_t *count, wb_topic_corpus *corpus, void **memory, wb_message *message) {
  const size_t pairs = (size_t)start[terms], heads = (size_t)documents + 1;
  int64_t *first_pair, *first_token, *next, *first_place;
  int32_t *term, *by_document;
  uint32_t *place_token;
  *memory = WB_PARTS("the documents", message, WB_CLEARED(first_pair, heads), WB_CLEARED(first_token, heads),
                     WB_PART(next, heads), WB_PART(first_place, (size_t)terms + 1), WB_PART(term, pairs),
                     WB_PART(by_document, pairs), WB_PART(place_token, pairs));
  if (!*memory) return WB_ERROR_MEMORY;
  for (size_t i = 0; i < pairs; i++) {
    first_pair[row[i] + 1]++;
    first_token[row[i] + 1] += count[i];
  }
  for (int64_t d = 0; d < documents; d++) {
    first_pair[d + 1] += first_pair[d];
    first_token[d + 1] += first_token[d];
    next[d] = first_pair[d];
  }
  for (int64_t w = 0; w <= terms; w++) first_place[w] = start[w];
  for (int32_t w = 0; w < terms; w++)
    for (int32_t i = start[w]; i < start[w + 1]; i++) {
      const int64_t at = next[row[i]]++;
      term[at] = w;
      by_document[at] = count[i];
    }
  /* Terms ascend within a document, so this meets its tokens in their order. */
  for (int64_t d = 0; d < documents; d++) next[d] = first_token[d];
  int64_t longest_document = 0, longest_term = 0;
  for (int32_t w = 0; w < terms; w++) {
    int64_t tokens = 0;
    for (int32_t i = start[w]; i < start[w + 1]; i++) {
      place_token[i] = (uint32_t)next[row[i]];
      next[row[i]] += count[i];
      tokens += count[i];
    }
    if (tokens > longest_term) longest_term = tokens;
  }
  for (int64_t d = 0; d < documents; d++)
    if (next[d] - first_token[d] > longest_document) longest_document = next[d] - first_token[d];
  *corpus = (wb_topic_corpus){documents,   terms,       (int64_t)pairs, first_token[documents],
                              term,        by_document, first_pair,     first_token,
                              first_place, place_token, count,          longest_document,
                              longest_term};
  return WB_OK;
}

void wb_topic_start(int64_t tokens, int32_t topics, uint64_t key, uint16_t *topic) {
  for (int64_t i = 0; i < tokens; i++) {
    const uint64_t element = (uint64_t)i;
    const wb_bits bits = wb_philox(key, 0, (uint32_t)element, wb_philox_c2(WB_PURPOSE_TOPIC_START, element), 0);
    topic[i] = (uint16_t)(wb_uniform(wb_bits64(bits, 0)) * topics);
  }
}

void wb_topic_split(int64_t tokens, int32_t topics, int32_t target, uint64_t key, uint32_t iteration,
                    const uint16_t *topic, uint16_t *split) {
  for (int64_t i = 0; i < tokens; i++) {
    const uint64_t element = (uint64_t)i;
    const int64_t first = (int64_t)topic[i] * target / topics, end = ((int64_t)topic[i] + 1) * target / topics;
    const wb_bits bits = wb_philox(key, 0, (uint32_t)element, wb_philox_c2(WB_PURPOSE_TOPIC_PART, element), iteration);
    split[i] = (uint16_t)(first + (int64_t)(wb_uniform(wb_bits64(bits, 0)) * (double)(end - first)));
  }
}

/* Learned alphas and betas are at least LEAST_ALPHA. Logarithms of alpha are drawn between these limits. */
#define LEAST_ALPHA 1e-100
#define LEAST_LOG_ALPHA (-230.0)
#define MOST_LOG_ALPHA 34.0

/* A draw from Ga(shape, rate), or its mean for mean-for-mode estimation. */
static double learned(const wb_topic_draw *draw, uint32_t purpose, uint64_t element, double shape, double rate) {
  if (draw->mean) return shape / rate;
  wb_stream stream = wb_stream_open(draw->key, purpose, draw->iteration, element);
  const double value = wb_draw_gamma(&stream, shape) / rate;
  return value > LEAST_ALPHA ? value : LEAST_ALPHA;
}

/* One of `count` values with these log weights, or the last of the most probable ones for mean-for-mode estimation. */
static int choose(const wb_topic_draw *draw, uint32_t purpose, int count, double *weight) {
  double top = weight[0], sum = 0;
  int chosen = 0;
  for (int i = 1; i < count; i++)
    if (weight[i] > top) top = weight[i];
  for (int i = 0; i < count; i++) {
    if (weight[i] == top) chosen = i;
    sum += weight[i] = wb_exp(weight[i] - top);
  }
  if (draw->mean) return chosen;
  wb_stream stream = wb_stream_open(draw->key, purpose, draw->iteration, 0);
  double at = wb_stream_uniform(&stream) * sum;
  for (chosen = 0; chosen < count - 1 && at >= weight[chosen]; chosen++) at -= weight[chosen];
  return chosen;
}

#define CONCENTRATIONS 9

/* s/K given the tables of all topics, with the alphas integrated out. rate: of the alphas given the tables. */
static double draw_concentration(const wb_topic_draw *draw, const wb_topic_method *method, int32_t topics,
                                 const int64_t *tables, double rate) {
  const double least = 0.25 * method->alpha_shape / topics, ratio = wb_log(method->alpha_rate / rate);
  double weight[CONCENTRATIONS];
  for (int i = 0; i < CONCENTRATIONS; i++) {
    const double own = least * (double)(1 << i), none = wb_lgamma(own);
    weight[i] = topics * own * ratio;
    for (int32_t k = 0; k < topics; k++)
      if (tables[k] > 0) weight[i] += wb_lgamma(own + (double)tables[k]) - none;
  }
  return least * (double)(1 << choose(draw, WB_PURPOSE_TOPIC_CONCENTRATION, CONCENTRATIONS, weight));
}

/* The factor (Gamma(scale a + first + count) / Gamma(scale a + first))^weight of a density of a. */
typedef struct factor {
  double scale, weight;
  int64_t first, count;
} factor;

/* The density of x = log a is exp(shape x - rate e^x) times the factors, up to a constant. */
typedef struct law {
  double shape, rate;
  const factor *factors;
  size_t count;
} law;

typedef struct counts {
  int32_t levels, cap;
  int64_t *excess;    /* topics: tables of the tokens above the levels */
  int64_t *tables;    /* topics: tables of all tokens */
  int32_t *histogram; /* topics x (levels + 1): documents with so many tokens of the topic; the last one: or more */
  int32_t *length;    /* cap + 1: documents of so many tokens; the last one: or more */
  size_t *end;        /* topics: the end of the topic's factors; those of the documents follow */
  factor *factors;
} counts;

/* The sum over the documents of the logs of draws from Be(sum of alpha, N_d). */
static double draw_sticks(const wb_topic_chain *chain, const wb_topic_draw *draw, const counts *own) {
  const double alpha_sum = wb_topic_alpha_sum(&chain->state);
  int64_t more = chain->corpus->documents;
  double sum = 0;
  wb_stream stream = wb_stream_open(draw->key, WB_PURPOSE_TOPIC_STICK_LEVELS, draw->iteration, 0);
  for (int32_t i = 0; i < own->cap && (more -= own->length[i]) > 0; i++)
    sum -= wb_draw_gamma_from_one(&stream, (double)more) / (alpha_sum + (double)i);
  for (int64_t d = 0; d < chain->corpus->documents && own->length[own->cap] > 0; d++)
    if (wb_topic_tokens(chain->corpus, d) > own->cap)
      sum += wb_topic_log_stick(draw->key, WB_PURPOSE_TOPIC_STICK, draw->iteration, (uint64_t)d,
                                alpha_sum + (double)own->cap, wb_topic_tokens(chain->corpus, d) - own->cap);
  return sum;
}

static double log_density(const void *of, double x) {
  const law *const own = of;
  if (!(x > LEAST_LOG_ALPHA && x < MOST_LOG_ALPHA)) return -INFINITY;
  const double a = wb_exp(x);
  double sum = own->shape * x - own->rate * a;
  for (size_t i = 0; i < own->count; i++) {
    const factor *const f = own->factors + i;
    sum += f->weight * wb_topic_log_rising(f->scale * a + (double)f->first, f->count);
  }
  return sum;
}

/* Appends the factors of counted tokens but the first of each; the last level has larger counts too. Returns the counts
 * above 0. */
static double add_factors(const int32_t *histogram, int32_t levels, double weight, factor *factors, size_t *count) {
  int64_t above = histogram[levels], end = levels;
  for (int64_t n = levels - 1; n >= 1; n--) {
    if (histogram[n] == 0 && n > 1) continue;
    if (above > 0) factors[(*count)++] = (factor){1, weight * (double)above, n, end - n};
    above += histogram[n];
    end = n;
  }
  return (double)above;
}

/* Makes the factors. shape: what the tokens of a topic add to that of its alpha. Returns what all add for the sum. */
static double make_factors(const wb_topic_corpus *corpus, int32_t topics, counts *own, double *shape, size_t *count) {
  double all = 0;
  for (int32_t k = 0; k < topics; k++) {
    shape[k] = add_factors(own->histogram + (size_t)k * ((size_t)own->levels + 1), own->levels, 1, own->factors, count);
    all += shape[k] += (double)own->excess[k];
    own->end[k] = *count;
  }
  all -= add_factors(own->length, own->cap, -1, own->factors, count);
  for (int64_t d = 0; d < corpus->documents && own->length[own->cap] > 0; d++)
    if (wb_topic_tokens(corpus, d) > own->cap)
      own->factors[(*count)++] = (factor){1, -1, own->cap, wb_topic_tokens(corpus, d) - own->cap};
  return all;
}

static void draw_sum(const counts *own, const law *of_sum, wb_stream *stream, const wb_topic_state *state) {
  const double sum = wb_topic_alpha_sum(state);
  for (size_t k = 0, i = 0; k < (size_t)state->topics; k++)
    for (; i < own->end[k]; i++) own->factors[i].scale = state->alpha[k] / sum;
  const double ratio = wb_exp(wb_topic_slice(log_density, of_sum, stream, wb_log(sum))) / sum;
  for (int32_t k = 0; k < state->topics; k++)
    state->alpha[k] = state->alpha[k] * ratio > LEAST_ALPHA ? state->alpha[k] * ratio : LEAST_ALPHA;
}

/* Alphas by slices of their law given the topics of all tokens. Without sticks the sum moves freely; given sticks the
 * alphas are independent. `prior`: the shape of each alpha. */
static int slice_alpha(wb_topic_chain *chain, const wb_topic_draw *draw, counts *own, double prior) {
  const wb_topic_method *const method = &chain->method;
  const int32_t topics = chain->state.topics;
  const int common = method->learn_alpha == WB_ALPHA_COMMON;
  double *const alpha = chain->state.alpha;
  size_t most = (size_t)chain->corpus->documents + (size_t)topics + 2, count = 0;
  for (size_t i = 0; i < (size_t)topics * ((size_t)own->levels + 1); i++) most += own->histogram[i] != 0;
  double *shape;
  void *const memory = WB_PARTS("learning alpha", chain->message, WB_PART(own->factors, most), WB_PART(shape, topics),
                                WB_PART(own->end, topics));
  if (!memory) return WB_ERROR_MEMORY;
  const double all = make_factors(chain->corpus, topics, own, shape, &count);
  const law of_sum = {(common ? 1 : topics) * prior + all, method->alpha_rate / (common ? topics : 1), own->factors,
                      count};
  wb_stream stream = wb_stream_open(draw->key, WB_PURPOSE_TOPIC_SLICE, draw->iteration, (uint64_t)topics);
  draw_sum(own, &of_sum, &stream, &chain->state);
  if (method->learn_alpha == WB_ALPHA_EACH) {
    const double rate = method->alpha_rate - draw_sticks(chain, draw, own);
    for (size_t i = 0; i < own->end[topics - 1]; i++) own->factors[i].scale = 1;
    for (int32_t k = 0; k < topics; k++) {
      const size_t from = k > 0 ? own->end[k - 1] : 0;
      const law each = {prior + shape[k], rate, own->factors + from, own->end[k] - from};
      wb_stream of_topic = wb_stream_open(draw->key, WB_PURPOSE_TOPIC_SLICE, draw->iteration, (uint64_t)k);
      alpha[k] = wb_exp(wb_topic_slice(log_density, &each, &of_topic, wb_log(alpha[k])));
    }
  }
  draw_sum(own, &of_sum, &stream, &chain->state);
  wb_aligned_free(memory);
  return WB_OK;
}

/* Alphas from tables and sticks. Returns the shape of their prior, which a hierarchical Dirichlet process draws. */
static double table_alpha(wb_topic_chain *chain, const wb_topic_draw *draw, const counts *own) {
  const wb_topic_method *const method = &chain->method;
  const int32_t topics = chain->state.topics;
  double *const alpha = chain->state.alpha, shape = method->alpha_shape;
  const double sum = draw_sticks(chain, draw, own), rate = method->alpha_rate - sum;
  int64_t all = 0;
  for (int32_t k = 0; k < topics; k++) {
    const int32_t *const histogram = own->histogram + (size_t)k * ((size_t)own->levels + 1);
    int64_t above = histogram[own->levels];
    own->tables[k] = own->excess[k] + wb_topic_level_openings(draw->key, WB_PURPOSE_TOPIC_LEVELS, draw->iteration,
                                                              (uint64_t)k, alpha[k], histogram, 1, own->levels, &above);
    all += own->tables[k] += above;
  }
  if (method->learn_alpha == WB_ALPHA_COMMON) {
    alpha[0] = learned(draw, WB_PURPOSE_TOPIC_ALPHA, 0, shape + (double)all, method->alpha_rate - topics * sum);
    for (int32_t k = 1; k < topics; k++) alpha[k] = alpha[0];
    return shape;
  }
  if (method->learn_alpha == WB_ALPHA_PROCESS) shape = draw_concentration(draw, method, topics, own->tables, rate);
  for (int32_t k = 0; k < topics; k++)
    alpha[k] = learned(draw, WB_PURPOSE_TOPIC_ALPHA, (uint64_t)k, shape + (double)own->tables[k], rate);
  return shape;
}

/* Alphas that all documents share: where they depend on covariates, covariates.c draws them. */
static int learn_alpha(wb_topic_chain *chain, const wb_topic_draw *draw) {
  const wb_topic_corpus *const corpus = chain->corpus;
  const size_t topics = (size_t)chain->state.topics;
  counts own = {.levels = wb_topic_alpha_levels((int64_t)topics, corpus->longest_document),
                .cap = wb_topic_alpha_levels(1, corpus->longest_document)};
  void *const memory =
      WB_PARTS("learning alpha", chain->message, WB_CLEARED(own.excess, topics), WB_PART(own.tables, topics),
               WB_CLEARED(own.histogram, topics * ((size_t)own.levels + 1)), WB_CLEARED(own.length, own.cap + 1));
  if (!memory) return WB_ERROR_MEMORY;
  for (int64_t d = 0; d < corpus->documents; d++)
    own.length[wb_topic_tokens(corpus, d) < own.cap ? wb_topic_tokens(corpus, d) : own.cap]++;
  int status =
      chain->backend->topic_model->count_documents(chain->session, draw, own.histogram, own.excess, chain->message);
  if (status == WB_OK) {
    const int tables = draw->mean || chain->method.learn_alpha == WB_ALPHA_PROCESS;
    const double shape = tables ? table_alpha(chain, draw, &own) : chain->method.alpha_shape;
    if (!draw->mean) status = slice_alpha(chain, draw, &own, shape);
  }
  wb_aligned_free(memory);
  return status;
}

void wb_topic_sum_extras(const wb_topic_structure *structure, int32_t topics, double *prior) {
  for (int32_t k = 0; k < topics; k++) prior[k] = 0;
  for (size_t row = 0; row < (size_t)structure->extras; row++)
    for (int32_t k = 0; k < topics; k++) prior[k] += structure->extra[row * (size_t)topics + (size_t)k];
}

static int learn_beta(const wb_topic_chain *chain, const wb_topic_draw *draw, double *beta) {
  const int32_t topics = chain->state.topics, terms = chain->corpus->terms;
  int64_t *size, tables = 0;
  double *prior;
  void *const memory = WB_PARTS("learning beta", chain->message, WB_PART(size, topics), WB_PART(prior, topics));
  if (!memory) return WB_ERROR_MEMORY;
  const int status = chain->backend->topic_model->draw_term_tables(chain->session, draw, &tables, size, chain->message);
  if (status == WB_OK) {
    double sum = 0;
    wb_topic_sum_extras(chain->structure, topics, prior);
    for (int32_t k = 0; k < topics; k++)
      sum += wb_topic_log_stick(draw->key, WB_PURPOSE_TOPIC_TERM_STICK, draw->iteration, (uint64_t)k,
                                draw->beta * terms + prior[k], size[k]);
    *beta = learned(draw, WB_PURPOSE_TOPIC_BETA, 0, chain->method.beta_shape + (double)tables,
                    chain->method.beta_rate - terms * sum);
  }
  wb_aligned_free(memory);
  return status;
}

static int draw_members(wb_topic_chain *chain, const wb_topic_draw *draw, double *log_likelihood, double *theta) {
  const size_t topics = (size_t)chain->state.topics;
  double *const alpha = chain->state.alpha, *share, sum = 0;
  int64_t *members;
  void *const memory =
      WB_PARTS("the topics of documents", chain->message, WB_PART(members, topics), WB_PART(share, topics));
  if (!memory) return WB_ERROR_MEMORY;
  for (size_t k = 0; k < topics; k++) sum += alpha[k];
  for (size_t k = 0; k < topics; k++) share[k] = wb_log(alpha[k] / sum);
  const int status = chain->backend->topic_model->draw_members(chain->session, draw, share, members, log_likelihood,
                                                               theta, chain->message);
  sum = 0;
  for (size_t k = 0; k < topics && status == WB_OK; k++) {
    wb_stream stream = wb_stream_open(draw->key, WB_PURPOSE_TOPIC_MEMBERS, draw->iteration, k);
    sum += share[k] = wb_draw_gamma_from_one(&stream, 1.0 + (double)members[k]);
  }
  for (size_t k = 0; k < topics && status == WB_OK; k++) alpha[k] = WB_TOPIC_MEMBERS * (share[k] / sum);
  wb_aligned_free(memory);
  return status;
}

static int same_alphas(const wb_topic_state *state, int32_t groups) {
  for (size_t k = 1; k < (size_t)(groups > 1 ? groups : 1) * (size_t)state->topics; k++)
    if (state->alpha[k] != state->alpha[0]) return 0;
  return 1;
}

double wb_topic_alpha_sum(const wb_topic_state *state) {
  double sum = 0;
  for (size_t k = 0; k < (size_t)state->topics; k++)
    sum += state->coefficients ? wb_topic_covariate_alpha(state->coefficients[k * (size_t)state->columns])
                               : state->alpha[k];
  return sum;
}

int wb_topic_sweep(wb_topic_chain *chain, uint32_t iteration, double *log_likelihood, double *theta, double *phi) {
  const wb_topic_model_functions *const functions = chain->backend->topic_model;
  const wb_topic_corpus *const corpus = chain->corpus;
  const wb_topic_method *const method = &chain->method;
  wb_topic_state *const state = &chain->state;
  if (state->coefficients && iteration % WB_TOPIC_COEFFICIENTS_EVERY == 1)
    WB_TRY(wb_topic_draw_coefficients(chain, iteration));
  wb_topic_draw draw = {chain->key, iteration, method->mean, state->alpha, state->beta, 0, 0};
  if (!method->mean) {
    draw.alpha_tables =
        same_alphas(state, chain->structure->groups) &&
        wb_gamma_strips_serve(state->alpha[0], !method->learn_alpha, (int64_t)corpus->documents * state->topics);
    draw.beta_tables = wb_gamma_strips_serve(state->beta, !method->learn_beta, (int64_t)corpus->terms * state->topics);
  }
  double *of_document;
  if (!WB_PARTS("the probabilities of the documents", chain->message,
                WB_PART(of_document, (size_t)corpus->documents + 1)))
    return WB_ERROR_MEMORY;
  int status = functions->draw_terms(chain->session, &draw, chain->message);
  if (status == WB_OK && phi) status = functions->get_phi(chain->session, phi, chain->message);
  if (status == WB_OK)
    status = method->learn_alpha == WB_ALPHA_MEMBERS
                 ? draw_members(chain, &draw, of_document, theta)
                 : functions->draw_documents(chain->session, &draw, of_document, theta, chain->message);
  *log_likelihood = 0;
  for (int64_t d = 0; d < corpus->documents && status == WB_OK; d++) *log_likelihood += of_document[d];
  wb_aligned_free(of_document);
  /* Both are learned from the alpha and beta of this sweep. */
  double beta = state->beta;
  if (status == WB_OK && method->learn_beta) status = learn_beta(chain, &draw, &beta);
  if (status == WB_OK && method->learn_alpha != WB_ALPHA_FIXED && method->learn_alpha != WB_ALPHA_MEMBERS)
    status = learn_alpha(chain, &draw);
  state->beta = beta;
  return status;
}

int wb_topic_in_range(const uint16_t *topic, int64_t count, int32_t topics) {
  int beyond = 0;
  for (int64_t i = 0; i < count; i++) beyond |= topic[i] >= topics;
  return !beyond;
}
