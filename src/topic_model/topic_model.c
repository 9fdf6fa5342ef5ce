/* Latent Dirichlet allocation: builds a corpus and runs sweeps on a backend (core/topic_tables.h has the laws of alpha
 * and beta). */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <stdlib.h>

#include "core/elementary.h"
#include "core/purpose.h"
#include "core/random_gamma.h"
#include "core/random_gamma_strips.h"
#include "core/topic_tables.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

int wb_topic_corpus_build(int32_t documents, int32_t terms, const int32_t *start, const int32_t *row,
                          const int32_t *count, wb_topic_corpus *corpus, void **memory, wb_message *message) {
  const size_t pairs = (size_t)start[terms];
  const size_t heads = 3 * ((size_t)documents + 1) + (size_t)terms + 1;
  const size_t bytes = heads * sizeof(int64_t) + 3 * pairs * sizeof(int32_t);
  char *taken = malloc(bytes);
  if (!taken) return wb_out_of_memory(message, "the documents", bytes);
  int64_t *const first_pair = (int64_t *)taken, *const first_token = first_pair + documents + 1;
  int64_t *const next = first_token + documents + 1, *const first_place = next + documents + 1;
  int32_t *const term = (int32_t *)(first_place + terms + 1), *const by_document = term + pairs;
  uint32_t *const place_token = (uint32_t *)(by_document + pairs);
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
    next[row[i]] += count[i];
  }
  int64_t longest_document = 0, longest_term = 0;
  for (int64_t d = 0; d < documents; d++) {
    const int64_t tokens = first_token[d + 1] - first_token[d];
    if (tokens > longest_document) longest_document = tokens;
  }
  for (int32_t w = 0; w < terms; w++) {
    int64_t tokens = 0;
    for (int32_t i = start[w]; i < start[w + 1]; i++) tokens += count[i];
    if (tokens > longest_term) longest_term = tokens;
  }
  const wb_topic_corpus built = {documents,   terms,       (int64_t)pairs, first_token[documents],
                                 term,        by_document, first_pair,     first_token,
                                 first_place, place_token, count,          longest_document,
                                 longest_term};
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

void wb_topic_split(int64_t tokens, int32_t topics, int32_t target, uint64_t key, uint32_t iteration,
                    const uint16_t *topic, uint16_t *split) {
  for (int64_t i = 0; i < tokens; i++) {
    const uint64_t element = (uint64_t)i;
    const int64_t first = (int64_t)topic[i] * target / topics, end = ((int64_t)topic[i] + 1) * target / topics;
    const wb_bits bits = wb_philox(key, 0, (uint32_t)element, wb_philox_c2(WB_PURPOSE_TOPIC_PART, element), iteration);
    split[i] = (uint16_t)(first + (int64_t)(wb_uniform(wb_bits64(bits, 0)) * (double)(end - first)));
  }
}

static int32_t groups_of(const wb_topic_structure *structure) { return structure->groups > 1 ? structure->groups : 1; }

/* A draw from Ga(shape, rate), or its mean for mean-for-mode estimation. */
static double learned(const wb_topic_draw *draw, uint32_t purpose, uint64_t element, double shape, double rate) {
  if (draw->mean) return shape / rate;
  wb_stream stream = wb_stream_open(draw->key, purpose, draw->iteration, element);
  const double value = wb_draw_gamma(&stream, shape) / rate;
  return value > 1e-100 ? value : 1e-100;
}

/* The terms of log p(m_k | alphas) that depend on x = log m_k, for G alphas with the sum S. */
static double mean_density(double x, double shape, double rate, double likeness, double groups, double sum) {
  return (shape - groups * likeness) * x - rate * wb_exp(x) - likeness * sum * wb_exp(-x);
}

/* m_k given the alphas of its groups: a slice of the log-concave law of log m_k, stepped out and shrunk (Neal 2003,
 * Annals of Statistics 31, 705-767). Its mode for mean-for-mode estimation. */
static double common_mean(const wb_topic_draw *draw, const wb_topic_method *method, uint64_t element, double present,
                          double likeness, double groups, double sum) {
  const double shape = method->alpha_shape, rate = method->alpha_rate;
  if (draw->mean) {
    const double b = shape - groups * likeness, root = sqrt(b * b + 4.0 * rate * likeness * sum);
    return b > 0 ? (b + root) / (2.0 * rate) : 2.0 * likeness * sum / (root - b);
  }
  wb_stream stream = wb_stream_open(draw->key, WB_PURPOSE_TOPIC_GROUP_MEAN, draw->iteration, element);
  const double x = wb_log(present);
  const double level = mean_density(x, shape, rate, likeness, groups, sum) + wb_log(wb_stream_uniform(&stream));
  double low = x - wb_stream_uniform(&stream), high = low + 1.0;
  for (int i = 0; i < 50 && mean_density(low, shape, rate, likeness, groups, sum) > level; i++) low -= 1.0;
  for (int i = 0; i < 50 && mean_density(high, shape, rate, likeness, groups, sum) > level; i++) high += 1.0;
  for (int i = 0; i < 200; i++) {
    const double y = low + (high - low) * wb_stream_uniform(&stream);
    if (mean_density(y, shape, rate, likeness, groups, sum) > level) return wb_exp(y);
    if (y < x) low = y;
    else high = y;
  }
  return present;
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

#define LIKENESSES 7

/* c given all alphas and means: one of 1, 2, 4, ..., 64.
 * logs: sum over groups and topics of log(alpha_gk/m_k) - alpha_gk/m_k. */
static double draw_likeness(const wb_topic_draw *draw, double count, double logs) {
  double weight[LIKENESSES];
  for (int i = 0; i < LIKENESSES; i++) {
    const double c = (double)(1 << i);
    weight[i] = count * (c * wb_log(c) - wb_lgamma(c)) + c * logs;
  }
  return (double)(1 << choose(draw, WB_PURPOSE_TOPIC_LIKENESS, LIKENESSES, weight));
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

/* The alphas of all groups, then what they have in common. tables: groups x topics; sticks: groups. With one alpha for
 * all topics of a group, that of topic 0 is learned and the others repeat it. */
static void learn_groups(wb_topic_chain *chain, const wb_topic_draw *draw, int32_t groups, const int64_t *tables,
                         const double *sticks) {
  const wb_topic_method *const method = &chain->method;
  wb_topic_state *const state = &chain->state;
  const size_t topics = (size_t)state->topics;
  const int each = method->learn_alpha == WB_ALPHA_EACH;
  const size_t learn = each ? topics : 1;
  double *const mean = state->common, c = mean[topics], logs = 0;
  for (size_t k = 0; k < learn; k++) {
    double sum = 0;
    for (size_t g = 0; g < (size_t)groups; g++) {
      double *const alpha = state->alpha + g * topics;
      int64_t all = tables[g * topics + k];
      for (size_t j = 1; !each && j < topics; j++) all += tables[g * topics + j];
      alpha[k] = learned(draw, WB_PURPOSE_TOPIC_ALPHA, g * topics + k, c + (double)all,
                         c / mean[k] - (each ? 1.0 : (double)topics) * sticks[g]);
      for (size_t j = 1; !each && j < topics; j++) alpha[j] = alpha[0];
      sum += alpha[k];
    }
    mean[k] = common_mean(draw, method, k, mean[k], c, groups, sum);
    /* With a smaller m the rate would be beyond the largest number. */
    if (!(mean[k] > 1e-100)) mean[k] = 1e-100;
    for (size_t j = 1; !each && j < topics; j++) mean[j] = mean[0];
    for (size_t g = 0; g < (size_t)groups; g++) {
      const double ratio = state->alpha[g * topics + k] / mean[k];
      logs += wb_log(ratio) - ratio;
    }
  }
  mean[topics] = draw_likeness(draw, (double)learn * groups, logs);
}

/* The documents of a group by their tokens, for the sum of their log sticks. */
typedef struct lengths {
  int64_t documents, levels, cap;
  int64_t *longer; /* levels + 1: documents with more than i tokens, as far as i < cap */
} lengths;

/* Sorts the documents of all groups by their tokens: first counts each number of tokens, up to twice the documents of
 * the group, and then adds the counts. The levels are chosen so that few gammas are drawn: one for each level, and two
 * for each document that is longer. */
static lengths *lengths_of(const wb_topic_corpus *corpus, const wb_topic_structure *structure, size_t *bytes) {
  const size_t groups = (size_t)groups_of(structure), documents = (size_t)corpus->documents;
  *bytes = groups * sizeof(lengths) + (2 * documents + 2 * groups) * sizeof(int64_t);
  lengths *const all = calloc(1, *bytes);
  if (!all) return NULL;
  for (size_t d = 0; d < documents; d++) all[groups > 1 ? structure->group[d] : 0].documents++;
  int64_t *next = (int64_t *)(all + groups);
  for (size_t g = 0; g < groups; g++) {
    all[g].cap = 2 * all[g].documents;
    all[g].longer = next;
    next += all[g].cap + 2;
  }
  for (size_t d = 0; d < documents; d++) {
    lengths *const own = &all[groups > 1 ? structure->group[d] : 0];
    const int64_t tokens = corpus->first_token[d + 1] - corpus->first_token[d];
    own->longer[tokens < own->cap ? tokens : own->cap]++;
  }
  for (size_t g = 0; g < groups; g++) {
    lengths *const own = &all[g];
    int64_t left = own->documents, least = INT64_MAX;
    for (int64_t i = 0; i <= own->cap; i++) {
      left -= own->longer[i];
      own->longer[i] = left;
      if (i + 2 * left < least) {
        least = i + 2 * left;
        own->levels = i;
      }
    }
  }
  return all;
}

/* The sums over the documents of each group of the logs of draws from Be(sum_k alpha_gk, N_d). */
static void draw_sticks(const wb_topic_chain *chain, const wb_topic_draw *draw, const lengths *all, double *shape_sum,
                        double *sum) {
  const wb_topic_corpus *const corpus = chain->corpus;
  const size_t groups = (size_t)groups_of(chain->structure), topics = (size_t)chain->state.topics;
  for (size_t g = 0; g < groups; g++) {
    shape_sum[g] = 0;
    for (size_t k = 0; k < topics; k++) shape_sum[g] += draw->alpha[g * topics + k];
    wb_stream stream = wb_stream_open(draw->key, WB_PURPOSE_TOPIC_STICK_LEVELS, draw->iteration, g);
    sum[g] = 0;
    for (int64_t i = 0; i < all[g].levels; i++)
      sum[g] -= wb_draw_gamma_from_one(&stream, (double)all[g].longer[i]) / (shape_sum[g] + (double)i);
  }
  for (size_t d = 0; d < (size_t)corpus->documents; d++) {
    const size_t g = groups > 1 ? (size_t)chain->structure->group[d] : 0;
    const int64_t more = corpus->first_token[d + 1] - corpus->first_token[d] - all[g].levels;
    if (more > 0)
      sum[g] += wb_topic_log_stick(draw->key, WB_PURPOSE_TOPIC_STICK, draw->iteration, d,
                                   shape_sum[g] + (double)all[g].levels, more);
  }
}

static int learn_alpha(wb_topic_chain *chain, const wb_topic_draw *draw) {
  const wb_topic_method *const method = &chain->method;
  const size_t groups = (size_t)groups_of(chain->structure);
  const int32_t topics = chain->state.topics;
  double *const alpha = chain->state.alpha;
  const size_t bytes = groups * (size_t)topics * sizeof(int64_t) + 2 * groups * sizeof(double);
  size_t length_bytes;
  lengths *const by_length = lengths_of(chain->corpus, chain->structure, &length_bytes);
  int64_t *const tables = malloc(bytes);
  if (!tables || !by_length) {
    free(tables);
    free(by_length);
    return wb_out_of_memory(chain->message, "learning alpha", bytes + length_bytes);
  }
  double *const sum = (double *)(tables + groups * (size_t)topics);
  const int status = chain->backend->topic_model->draw_document_tables(chain->session, draw, tables, chain->message);
  if (status == WB_OK) {
    int64_t all = 0;
    draw_sticks(chain, draw, by_length, sum + groups, sum);
    for (int32_t k = 0; k < topics; k++) all += tables[k];
    if (groups > 1) {
      learn_groups(chain, draw, (int32_t)groups, tables, sum);
    } else if (method->learn_alpha == WB_ALPHA_COMMON) {
      const double common = learned(draw, WB_PURPOSE_TOPIC_ALPHA, 0, method->alpha_shape + (double)all,
                                    method->alpha_rate - topics * sum[0]);
      for (int32_t k = 0; k < topics; k++) alpha[k] = common;
    } else {
      const double rate = method->alpha_rate - sum[0];
      const double shape = method->learn_alpha == WB_ALPHA_PROCESS
                               ? draw_concentration(draw, method, topics, tables, rate)
                               : method->alpha_shape;
      for (int32_t k = 0; k < topics; k++)
        alpha[k] = learned(draw, WB_PURPOSE_TOPIC_ALPHA, (uint64_t)k, shape + (double)tables[k], rate);
    }
  }
  free(tables);
  free(by_length);
  return status;
}

/* The prior counts of each topic besides beta, summed over the terms in order of their rows. */
static void sum_extras(const wb_topic_structure *structure, int32_t topics, double *prior) {
  for (int32_t k = 0; k < topics; k++) prior[k] = 0;
  for (size_t row = 0; row < (size_t)structure->extras; row++)
    for (int32_t k = 0; k < topics; k++) prior[k] += structure->extra[row * (size_t)topics + (size_t)k];
}

static int learn_beta(const wb_topic_chain *chain, const wb_topic_draw *draw, double *beta) {
  const int32_t topics = chain->state.topics, terms = chain->corpus->terms;
  const size_t bytes = (size_t)topics * (sizeof(int64_t) + sizeof(double));
  int64_t *size = malloc(bytes), tables = 0;
  if (!size) return wb_out_of_memory(chain->message, "learning beta", bytes);
  double *const prior = (double *)(size + topics);
  const int status = chain->backend->topic_model->draw_term_tables(chain->session, draw, &tables, size, chain->message);
  if (status == WB_OK) {
    double sum = 0;
    sum_extras(chain->structure, topics, prior);
    for (int32_t k = 0; k < topics; k++)
      sum += wb_topic_log_stick(draw->key, WB_PURPOSE_TOPIC_TERM_STICK, draw->iteration, (uint64_t)k,
                                draw->beta * terms + prior[k], size[k]);
    *beta = learned(draw, WB_PURPOSE_TOPIC_BETA, 0, chain->method.beta_shape + (double)tables,
                    chain->method.beta_rate - terms * sum);
  }
  free(size);
  return status;
}

static int same_alphas(const wb_topic_state *state, int32_t groups) {
  for (size_t k = 1; k < (size_t)groups * (size_t)state->topics; k++)
    if (state->alpha[k] != state->alpha[0]) return 0;
  return 1;
}

double wb_topic_alpha_sum(const wb_topic_state *state) {
  const double *const alpha = state->common ? state->common : state->alpha;
  double sum = 0;
  for (int32_t k = 0; k < state->topics; k++) sum += alpha[k];
  return sum;
}

int wb_topic_sweep(wb_topic_chain *chain, uint32_t iteration, double *log_likelihood, double *theta, double *phi) {
  const wb_topic_model_functions *const functions = chain->backend->topic_model;
  const wb_topic_corpus *const corpus = chain->corpus;
  const wb_topic_method *const method = &chain->method;
  wb_topic_state *const state = &chain->state;
  wb_topic_draw draw = {chain->key, iteration, method->mean, state->alpha, state->beta, 0, 0};
  if (!method->mean) {
    draw.alpha_tables =
        same_alphas(state, groups_of(chain->structure)) &&
        wb_gamma_strips_serve(state->alpha[0], !method->learn_alpha, (int64_t)corpus->documents * state->topics);
    draw.beta_tables = wb_gamma_strips_serve(state->beta, !method->learn_beta, (int64_t)corpus->terms * state->topics);
  }
  const size_t bytes = ((size_t)corpus->documents + 1) * sizeof(double);
  double *of_document = malloc(bytes);
  if (!of_document) return wb_out_of_memory(chain->message, "the probabilities of the documents", bytes);
  int status = functions->draw_terms(chain->session, &draw, chain->message);
  if (status == WB_OK && phi) status = functions->get_phi(chain->session, phi, chain->message);
  if (status == WB_OK) status = functions->draw_documents(chain->session, &draw, of_document, theta, chain->message);
  if (status == WB_OK) {
    double sum = 0;
    for (int64_t d = 0; d < corpus->documents; d++) sum += of_document[d];
    *log_likelihood = sum;
  }
  free(of_document);
  /* Both are learned from the alpha and beta of this sweep. */
  double beta = state->beta;
  if (status == WB_OK && method->learn_beta) status = learn_beta(chain, &draw, &beta);
  if (status == WB_OK && method->learn_alpha != WB_ALPHA_FIXED) status = learn_alpha(chain, &draw);
  state->beta = beta;
  return status;
}

/* Topics that a thread looks at together. */
#define RANGE_TOGETHER 65536

typedef struct topic_range {
  const uint16_t *topic;
  int64_t count;
  int32_t topics;
  int beyond;
} topic_range;

static void look_at_range(void *context, int64_t piece) {
  topic_range *const range = context;
  const int64_t first = piece * RANGE_TOGETHER, left = range->count - first;
  const int64_t end = first + (left < RANGE_TOGETHER ? left : RANGE_TOGETHER);
  int beyond = 0;
  for (int64_t i = first; i < end; i++) beyond |= range->topic[i] >= range->topics;
  if (beyond) {
#pragma omp atomic write
    range->beyond = 1;
  }
}

int wb_topic_in_range(const uint16_t *topic, int64_t count, int32_t topics, int32_t threads) {
  topic_range range = {topic, count, topics, 0};
  const int64_t pieces = (count + RANGE_TOGETHER - 1) / RANGE_TOGETHER;
  wb_spread(pieces > 1 && threads > 1 ? wb_idle_threads(threads) : 1, pieces, look_at_range, &range);
  return !range.beyond;
}

/* Documents, or terms, of a piece of work. */
#define MEANS_ROWS 64
/* Operations, of about a nanosecond each, that are worth a thread. */
#define MEANS_WORK 1e5

static void add_document_means(const wb_topic_means *m, int64_t d, int32_t *tally) {
  const size_t topics = (size_t)m->state->topics;
  const int64_t first = m->corpus->first_token[d], end = m->corpus->first_token[d + 1];
  const size_t group = groups_of(m->structure) > 1 ? (size_t)m->structure->group[d] : 0;
  const double *const alpha = m->state->alpha + group * topics;
  double *const to = m->theta_sum + (size_t)d * topics;
  double alpha_sum = 0;
  for (size_t k = 0; k < topics; k++) alpha_sum += alpha[k];
  memset(tally, 0, topics * sizeof(int32_t));
  for (int64_t i = first; i < end; i++) tally[m->topic[i]]++;
  const double inverse = 1.0 / (alpha_sum + (double)(end - first));
  for (size_t k = 0; k < topics; k++) to[k] += (alpha[k] + (double)tally[k]) * inverse;
}

static void add_term_means(const wb_topic_means *m, int64_t w, int32_t *tally) {
  const wb_topic_corpus *const corpus = m->corpus;
  const size_t topics = (size_t)m->state->topics;
  const int64_t row = m->structure->extras > 0 ? m->structure->extra_of[w] : -1;
  const double *const extra = row < 0 ? NULL : m->structure->extra + (size_t)row * topics;
  const double beta = m->state->beta;
  double *const to = m->phi_sum + (size_t)w * topics;
  memset(tally, 0, topics * sizeof(int32_t));
  for (int64_t i = corpus->first_place[w]; i < corpus->first_place[w + 1]; i++)
    for (int32_t j = 0; j < corpus->place_count[i]; j++) tally[m->topic[corpus->place_token[i] + (uint32_t)j]]++;
  for (size_t k = 0; k < topics; k++)
    to[k] += ((extra ? extra[k] : 0.0) + beta + (double)tally[k]) /
             (beta * corpus->terms + m->prior[k] + (double)m->size[k]);
}

static int64_t means_pieces(int64_t rows) { return (rows + MEANS_ROWS - 1) / MEANS_ROWS; }

static void add_piece(void *context, int64_t piece) {
  const wb_topic_means *const m = context;
  int32_t *const tally = malloc((size_t)m->state->topics * sizeof(int32_t));
  const int64_t before = m->theta_sum ? means_pieces(m->corpus->documents) : 0;
  const int64_t rows = piece < before ? m->corpus->documents : m->corpus->terms;
  const int64_t begin = (piece < before ? piece : piece - before) * MEANS_ROWS;
  m->failed[piece] = !tally;
  for (int64_t row = begin; tally && row < begin + MEANS_ROWS && row < rows; row++) {
    if (piece < before) add_document_means(m, row, tally);
    else add_term_means(m, row, tally);
  }
  free(tally);
}

/* Counts a share of the tokens by topic. */
static void count_share(void *context, int64_t share) {
  const wb_topic_means *const m = context;
  const int64_t tokens = m->corpus->tokens, end = tokens * (share + 1) / m->shares;
  int64_t *const size = m->size + (size_t)(share + 1) * (size_t)m->state->topics;
  for (int64_t i = tokens * share / m->shares; i < end; i++) size[m->topic[i]]++;
}

int wb_topic_add_means(wb_topic_means *m, int32_t threads, wb_message *message) {
  const size_t topics = (size_t)m->state->topics;
  const int64_t pieces =
      (m->theta_sum ? means_pieces(m->corpus->documents) : 0) + (m->phi_sum ? means_pieces(m->corpus->terms) : 0);
  const double rows = (double)m->corpus->documents + (double)m->corpus->terms;
  const double worth = 1 + ((double)m->corpus->tokens + rows * (double)topics) / MEANS_WORK;
  const int32_t wanted = worth < threads ? (int32_t)worth : threads;
  const int32_t useful = wanted > 1 ? wb_idle_threads(wanted) : 1;
  m->shares = useful;
  const size_t counts = ((size_t)useful + 1) * topics, bytes = (counts + topics) * sizeof(int64_t) + (size_t)pieces;
  m->size = calloc(bytes, 1);
  if (!m->size) return wb_out_of_memory(message, "the averages of a topic model", bytes);
  m->prior = (double *)(m->size + counts);
  m->failed = (char *)(m->prior + topics);
  if (m->phi_sum) wb_spread(useful, m->shares, count_share, m);
  for (size_t i = topics; i < counts; i++) m->size[i % topics] += m->size[i];
  sum_extras(m->structure, m->state->topics, m->prior);
  wb_spread(useful, pieces, add_piece, m);
  const int failed = memchr(m->failed, 1, (size_t)pieces) != NULL;
  free(m->size);
  return failed ? wb_out_of_memory(message, "the averages of a topic model", topics * sizeof(int32_t)) : WB_OK;
}
