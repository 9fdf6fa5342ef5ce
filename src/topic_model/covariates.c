/* Covariates of documents (Dirichlet-multinomial regression, Mimno & McCallum 2008, UAI, 411-418): the coefficients of
 * log alpha given the topics of all tokens, and the regression of theta on the covariates. Both are small and run on
 * the host, in the same way for all backends: a backend gives the topics and theta, and needs no kernel for them. */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <stdlib.h>

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/purpose.h"
#include "core/random_gamma.h"
#include "numeric/memory.h"

/* Standard deviations of the normal priors of the intercepts and of the other coefficients. */
#define INTERCEPT_SCALE 5.0
#define SLOPE_SCALE 2.5

double wb_topic_covariate_alpha(double log_alpha) {
  return wb_exp(log_alpha < -200.0 ? -200.0 : log_alpha > 15.0 ? 15.0 : log_alpha);
}

/* Derivative of log Gamma(x), x > 0 (Abramowitz & Stegun 6.3.5 and 6.3.18). */
static double digamma(double x) {
  double below = 0;
  for (; x < 8.0; x += 1.0) below += 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
  return wb_log(x) - 0.5 / x - series - below;
}

double wb_topic_log_rising(double a, int64_t n, double *slope) {
  if (n > 12) {
    if (slope) *slope = digamma(a + (double)n) - digamma(a);
    return wb_lgamma(a + (double)n) - wb_lgamma(a);
  }
  double product = 1, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    product *= a + (double)i;
    if (slope) sum += 1.0 / (a + (double)i);
  }
  if (slope) *slope = sum;
  return wb_log(product);
}

/* The law of one topic's coefficients near a value: the log density there, and the normal that proposes the next. */
typedef struct place {
  double *value, *mean; /* columns */
  double *root;         /* lower triangle of the precision's Cholesky factor */
  double *alpha;        /* groups */
  double log_density;
} place;

typedef struct work {
  const wb_topic_chain *chain;
  const wb_topic_covariates *covariates;
  int32_t *count; /* topics x documents: tokens */
  double *total;  /* groups: the sum of all alphas */
  double *score, *square;
  place now, next;
} work;

static const int32_t *groups(const wb_topic_chain *chain) {
  return chain->structure->groups > 1 ? chain->structure->group : NULL;
}

/* Documents with the same covariates have the same alpha, so they add to one row of the design. */
static void look_at(const work *w, size_t k, place *at) {
  const wb_topic_covariates *const c = w->covariates;
  const wb_topic_corpus *const corpus = w->chain->corpus;
  const int32_t *const group = groups(w->chain), *const count = w->count + k * (size_t)corpus->documents;
  const double *const alpha = w->chain->state.alpha;
  const int p = c->columns;
  const size_t topics = (size_t)w->chain->state.topics;
  double log_density = 0;
  for (size_t g = 0; g < (size_t)c->rows; g++) {
    double sum = 0;
    for (int j = 0; j < p; j++) sum = wb_fma(c->basis[g * (size_t)p + (size_t)j], at->value[j], sum);
    at->alpha[g] = wb_topic_covariate_alpha(sum);
    w->score[g] = w->square[g] = 0;
  }
  for (size_t d = 0; d < (size_t)corpus->documents; d++) {
    if (!c->used[d]) continue;
    const size_t g = group ? (size_t)group[d] : 0;
    const double others = w->total[g] - alpha[g * topics + k], own = at->alpha[g];
    double slope, of_all;
    log_density -= wb_topic_log_rising((others > 0 ? others : 0) + own,
                                       corpus->first_token[d + 1] - corpus->first_token[d], &of_all);
    log_density += wb_topic_log_rising(own, count[d], &slope);
    const double score = own * (slope - of_all);
    w->score[g] += score;
    w->square[g] += score * score;
  }
  for (size_t i = 0; i < wb_packed_size(p); i++) at->root[i] = 0;
  for (int j = 0; j < p; j++) {
    const double scale = j == 0 ? INTERCEPT_SCALE : SLOPE_SCALE, precision = 1.0 / (scale * scale);
    at->root[wb_packed_row(j) + (size_t)j] = precision;
    at->mean[j] = -precision * at->value[j];
    log_density -= 0.5 * precision * at->value[j] * at->value[j];
  }
  for (size_t g = 0; g < (size_t)c->rows; g++) {
    const double *const row = c->basis + g * (size_t)p;
    wb_symmetric_add_outer(p, w->square[g], row, at->root);
    for (int j = 0; j < p; j++) at->mean[j] = wb_fma(w->score[g], row[j], at->mean[j]);
  }
  /* At least the prior's precision is on the diagonal. */
  (void)wb_cholesky(p, at->root);
  wb_cholesky_solve(p, at->root, at->mean, at->mean);
  for (int j = 0; j < p; j++) at->mean[j] += at->value[j];
  at->log_density = log_density;
}

/* Log density of a value under the normal that `from` proposes, up to a constant. `part` is room for p numbers. */
static double proposal(int p, const double *value, const place *from, double *part) {
  double sum = 0;
  for (int j = 0; j < p; j++) part[j] = value[j] - from->mean[j];
  wb_triangle_apply_transposed(p, from->root, part, part);
  for (int j = 0; j < p; j++) sum += part[j] * part[j];
  return wb_triangle_log_determinant(p, from->root) - 0.5 * sum;
}

/* A Newton step with a normal deviate (Metropolis & Hastings). Precision: the sum of documents' squared gradients. */
static void draw_topic(work *w, size_t k, uint32_t iteration) {
  const wb_topic_chain *const chain = w->chain;
  const size_t topics = (size_t)chain->state.topics;
  const int p = w->covariates->columns;
  double *const coefficients = chain->state.coefficients + k * (size_t)p, *const alpha = chain->state.alpha;
  wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TOPIC_COEFFICIENT, iteration, k);
  for (int j = 0; j < p; j++) w->now.value[j] = coefficients[j];
  look_at(w, k, &w->now);
  for (int j = 0; j < p; j++) w->next.value[j] = wb_draw_normal(&stream);
  wb_triangle_solve_transposed(p, w->now.root, w->next.value, w->next.value);
  for (int j = 0; j < p; j++) w->next.value[j] += w->now.mean[j];
  look_at(w, k, &w->next);
  double *const part = w->next.value + p; /* behind the values */
  const double ratio = w->next.log_density - w->now.log_density + proposal(p, w->now.value, &w->next, part) -
                       proposal(p, w->next.value, &w->now, part);
  if (!(wb_log(wb_stream_uniform(&stream)) < ratio)) return;
  for (int j = 0; j < p; j++) coefficients[j] = w->next.value[j];
  for (size_t g = 0; g < (size_t)w->covariates->rows; g++) {
    w->total[g] += w->next.alpha[g] - alpha[g * topics + k];
    alpha[g * topics + k] = w->next.alpha[g];
  }
}

static void tally(const wb_topic_corpus *corpus, const uint16_t *topic, int32_t *count) {
  for (int64_t d = 0; d < corpus->documents; d++)
    for (int64_t i = corpus->first_token[d]; i < corpus->first_token[d + 1]; i++)
      count[(size_t)topic[i] * (size_t)corpus->documents + (size_t)d]++;
}

int wb_topic_draw_coefficients(wb_topic_chain *chain, uint32_t iteration) {
  const wb_topic_covariates *const c = chain->covariates;
  const wb_topic_corpus *const corpus = chain->corpus;
  const size_t p = (size_t)c->columns, rows = (size_t)c->rows, topics = (size_t)chain->state.topics;
  const size_t numbers = 5 * rows + 5 * p + 2 * wb_packed_size((int)p);
  const size_t counts = topics * (size_t)corpus->documents;
  const size_t bytes = numbers * sizeof(double) + counts * sizeof(int32_t) + (size_t)corpus->tokens * sizeof(uint16_t);
  double *const memory = calloc(bytes, 1);
  if (!memory) return wb_out_of_memory(chain->message, "the coefficients of covariates", bytes);
  double *const score = memory + rows, *const square = score + rows, *const now = square + rows,
                *const next = now + rows;
  double *const value = next + rows, *const root = value + 5 * p;
  int32_t *const count = (int32_t *)(root + 2 * wb_packed_size((int)p));
  uint16_t *const topic = (uint16_t *)(count + counts);
  work w = {chain,
            c,
            count,
            memory,
            score,
            square,
            {value, value + p, root, now, 0},
            {value + 3 * p, value + 2 * p, root + wb_packed_size((int)p), next, 0}};
  const int status = chain->backend->topic_model->get_topics(chain->session, topic, chain->message);
  if (status == WB_OK) {
    tally(corpus, topic, count);
    for (size_t i = 0; i < rows * topics; i++) memory[i / topics] += chain->state.alpha[i];
    for (size_t k = 0; k < topics; k++) draw_topic(&w, k, iteration);
  }
  free(memory);
  return status;
}

int wb_topic_draw_effects(const wb_topic_chain *chain, uint32_t iteration, const double *theta, double *effects) {
  const wb_topic_covariates *const c = chain->covariates;
  const size_t q = (size_t)c->terms, topics = (size_t)chain->state.topics, size = wb_packed_size((int)q);
  double *const gram = calloc(size, sizeof(double));
  if (!gram) return wb_out_of_memory(chain->message, "the effects of covariates", size * sizeof(double));
  for (size_t i = 0; i < q * topics; i++) effects[i] = 0;
  for (size_t d = 0; d < (size_t)chain->corpus->documents; d++) {
    if (!c->used[d]) continue;
    const double *const row = c->frame + d * q, *const share = theta + d * topics;
    wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TOPIC_WEIGHT, iteration, d);
    const double drawn = wb_draw_exponential(&stream), weight = drawn > 1e-6 ? drawn : 1e-6;
    wb_symmetric_add_outer((int)q, weight, row, gram);
    for (size_t k = 0; k < topics; k++)
      for (size_t j = 0; j < q; j++) effects[k * q + j] = wb_fma(weight * share[k], row[j], effects[k * q + j]);
  }
  /* The columns of the frame are orthonormal, and no weight is 0. */
  (void)wb_cholesky((int)q, gram);
  for (size_t k = 0; k < topics; k++) wb_cholesky_solve((int)q, gram, effects + k * q, effects + k * q);
  free(gram);
  return WB_OK;
}
