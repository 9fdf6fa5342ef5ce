/* Latent Dirichlet allocation: builds a corpus and runs sweeps on a backend (core/topic_tables.h has the laws of alpha
 * and beta). */
#include "core/rounding.h"

#include "topic_model/topic_model.h"

#include <stdlib.h>

#include "core/purpose.h"
#include "core/random_gamma.h"
#include "core/random_gamma_strips.h"
#include "core/topic_tables.h"
#include "numeric/memory.h"

int wb_topic_corpus_build(int32_t documents, int32_t terms, const int32_t *start, const int32_t *row,
                          const int32_t *count, wb_topic_corpus *corpus, void **memory, wb_message *message) {
  const size_t pairs = (size_t)start[terms];
  const size_t heads = 3 * ((size_t)documents + 1) + (size_t)terms + 1;
  const size_t bytes = heads * sizeof(int64_t) + 4 * pairs * sizeof(int32_t);
  char *taken = malloc(bytes);
  if (!taken) return wb_out_of_memory(message, "the documents", bytes);
  int64_t *const first_pair = (int64_t *)taken, *const first_token = first_pair + documents + 1;
  int64_t *const next = first_token + documents + 1, *const first_place = next + documents + 1;
  int32_t *const term = (int32_t *)(first_place + terms + 1), *const by_document = term + pairs;
  uint32_t *const place_token = (uint32_t *)(by_document + pairs);
  int32_t *const place_count = (int32_t *)(place_token + pairs);
  for (int64_t d = 0; d <= documents; d++) first_pair[d] = first_token[d] = 0;
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
  for (size_t i = 0; i < pairs; i++) {
    place_token[i] = (uint32_t)next[row[i]];
    place_count[i] = count[i];
    next[row[i]] += count[i];
  }
  const wb_topic_corpus built = {documents, terms, (int64_t)pairs, first_token[documents], term, by_document,
                                 first_pair, first_token, first_place, place_token, place_count};
  *corpus = built;
  *memory = taken;
  return WB_OK;
}

void wb_topic_start(int64_t tokens, int32_t topics, uint64_t key, uint16_t *topic) {
  for (int64_t i = 0; i < tokens; i++) {
    const uint64_t element = (uint64_t)i;
    const wb_bits bits = wb_philox(key, 0, (uint32_t)element, wb_philox_c2(WB_PURPOSE_TOPIC_START, element), 0);
    topic[i] = (uint16_t)(wb_uniform(wb_bits64(bits, 0)) * topics);
  }
}

/* A draw from Ga(shape, rate), or its mean for mean-for-mode estimation. */
static double learned(const wb_topic_draw *draw, uint32_t purpose, uint64_t element, double shape, double rate) {
  if (draw->mean) return shape / rate;
  wb_stream stream = wb_stream_open(draw->key, purpose, draw->iteration, element);
  const double value = wb_draw_gamma(&stream, shape) / rate;
  return value > 1e-100 ? value : 1e-100;
}

static int learn_alpha(const wb_backend *backend, wb_topic_session *session, const wb_topic_corpus *corpus,
                       const wb_topic_method *method, const wb_topic_draw *draw, double *alpha, int32_t topics,
                       wb_message *message) {
  const size_t documents = (size_t)corpus->documents;
  const size_t bytes = (size_t)topics * sizeof(int64_t) + documents * sizeof(double);
  int64_t *tables = malloc(bytes);
  if (!tables) return wb_out_of_memory(message, "learning alpha", bytes);
  double *const log_stick = (double *)(tables + topics);
  const int status = backend->topic_model->draw_document_tables(session, draw, tables, log_stick, message);
  if (status == WB_OK) {
    double sum = 0;
    int64_t all = 0;
    for (size_t d = 0; d < documents; d++) sum += log_stick[d];
    for (int32_t k = 0; k < topics; k++) all += tables[k];
    if (method->learn_alpha == WB_ALPHA_COMMON) {
      const double common = learned(draw, WB_PURPOSE_TOPIC_ALPHA, 0, method->alpha_shape + (double)all,
                                    method->alpha_rate - topics * sum);
      for (int32_t k = 0; k < topics; k++) alpha[k] = common;
    } else {
      for (int32_t k = 0; k < topics; k++)
        alpha[k] = learned(draw, WB_PURPOSE_TOPIC_ALPHA, (uint64_t)k, method->alpha_shape + (double)tables[k],
                           method->alpha_rate - sum);
    }
  }
  free(tables);
  return status;
}

static int learn_beta(const wb_backend *backend, wb_topic_session *session, const wb_topic_corpus *corpus,
                      const wb_topic_method *method, const wb_topic_draw *draw, double *beta, int32_t topics,
                      wb_message *message) {
  const size_t bytes = (size_t)topics * sizeof(int64_t);
  int64_t *size = malloc(bytes), tables = 0;
  if (!size) return wb_out_of_memory(message, "learning beta", bytes);
  const int status = backend->topic_model->draw_term_tables(session, draw, &tables, size, message);
  if (status == WB_OK) {
    double sum = 0;
    for (int32_t k = 0; k < topics; k++)
      sum += wb_topic_log_stick(draw->key, WB_PURPOSE_TOPIC_TERM_STICK, draw->iteration, (uint64_t)k,
                                draw->beta * corpus->terms, size[k]);
    *beta = learned(draw, WB_PURPOSE_TOPIC_BETA, 0, method->beta_shape + (double)tables,
                    method->beta_rate - corpus->terms * sum);
  }
  free(size);
  return status;
}

static int same_alphas(const wb_topic_state *state) {
  for (int k = 1; k < state->topics; k++)
    if (state->alpha[k] != state->alpha[0]) return 0;
  return 1;
}

int wb_topic_sweep(const wb_backend *backend, wb_topic_session *session, const wb_topic_corpus *corpus,
                   const wb_topic_method *method, wb_topic_state *state, uint64_t key, uint32_t iteration,
                   double *log_likelihood, double *theta, double *phi, wb_message *message) {
  const wb_topic_model_functions *functions = backend->topic_model;
  wb_topic_draw draw = {key, iteration, method->mean, state->alpha, state->beta, 0, 0};
  if (!method->mean) {
    draw.alpha_tables = same_alphas(state) && wb_gamma_strips_serve(state->alpha[0], !method->learn_alpha,
                                                                    (int64_t)corpus->documents * state->topics);
    draw.beta_tables = wb_gamma_strips_serve(state->beta, !method->learn_beta, (int64_t)corpus->terms * state->topics);
  }
  const size_t bytes = ((size_t)corpus->documents + 1) * sizeof(double);
  double *of_document = malloc(bytes);
  if (!of_document) return wb_out_of_memory(message, "the probabilities of the documents", bytes);
  int status = functions->draw_terms(session, &draw, message);
  if (status == WB_OK && phi) status = functions->get_phi(session, phi, message);
  if (status == WB_OK) status = functions->draw_documents(session, &draw, of_document, theta, message);
  if (status == WB_OK) {
    double sum = 0;
    for (int64_t d = 0; d < corpus->documents; d++) sum += of_document[d];
    *log_likelihood = sum;
  }
  free(of_document);
  /* Both are learned from the alpha and beta of this sweep. */
  double beta = state->beta;
  if (status == WB_OK && method->learn_beta)
    status = learn_beta(backend, session, corpus, method, &draw, &beta, state->topics, message);
  if (status == WB_OK && method->learn_alpha != WB_ALPHA_FIXED)
    status = learn_alpha(backend, session, corpus, method, &draw, state->alpha, state->topics, message);
  state->beta = beta;
  return status;
}

void wb_topic_add_means(const wb_topic_corpus *corpus, const wb_topic_state *state, const uint16_t *topic,
                        double *theta_sum, double *phi_sum, int32_t *tally, int64_t *size) {
  const size_t topics = (size_t)state->topics;
  double alpha_sum = 0;
  for (size_t k = 0; k < topics; k++) alpha_sum += state->alpha[k];
  for (int64_t d = 0; theta_sum && d < corpus->documents; d++) {
    const int64_t first = corpus->first_token[d], end = corpus->first_token[d + 1];
    double *const to = theta_sum + (size_t)d * topics;
    memset(tally, 0, topics * sizeof(int32_t));
    for (int64_t i = first; i < end; i++) tally[topic[i]]++;
    const double inverse = 1.0 / (alpha_sum + (double)(end - first));
    for (size_t k = 0; k < topics; k++) to[k] += (state->alpha[k] + (double)tally[k]) * inverse;
  }
  if (!phi_sum) return;
  memset(size, 0, topics * sizeof(int64_t));
  for (int64_t i = 0; i < corpus->tokens; i++) size[topic[i]]++;
  for (int64_t w = 0; w < corpus->terms; w++) {
    double *const to = phi_sum + (size_t)w * topics;
    memset(tally, 0, topics * sizeof(int32_t));
    for (int64_t i = corpus->first_place[w]; i < corpus->first_place[w + 1]; i++)
      for (int32_t j = 0; j < corpus->place_count[i]; j++) tally[topic[corpus->place_token[i] + (uint32_t)j]]++;
    for (size_t k = 0; k < topics; k++)
      to[k] += (state->beta + (double)tally[k]) / (state->beta * corpus->terms + (double)size[k]);
  }
}
