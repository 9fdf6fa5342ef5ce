/* Covariates of documents (Dirichlet-multinomial regression, Mimno & McCallum 2008, UAI, 411-418): the coefficients of
 * log alpha given the topics of all tokens, and the regression of theta on the covariates, on the host. */
#include "core/scalar.h"

#include "topic_model/topic_model.h"

#include <math.h>

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "core/purpose.h"
#include "core/random_gamma.h"
#include "core/topic_tables.h"
#include "numeric/memory.h"

/* Standard deviations of the normal priors of the intercepts and of the other coefficients. */
#define INTERCEPT_SCALE 5.0
#define SLOPE_SCALE 2.5

#define SLICE_WIDTH 0.5
#define SLICE_STEPS 80

double wb_topic_slice(double (*log_density)(const void *, double), const void *law, wb_stream *stream, double x) {
  const double level = log_density(law, x) + wb_log(wb_stream_uniform(stream));
  double low = x - SLICE_WIDTH * wb_stream_uniform(stream), high = low + SLICE_WIDTH;
  int left = (int)(SLICE_STEPS * wb_stream_uniform(stream)), right = SLICE_STEPS - 1 - left;
  for (; left > 0 && log_density(law, low) > level; left--) low -= SLICE_WIDTH;
  for (; right > 0 && log_density(law, high) > level; right--) high += SLICE_WIDTH;
  for (int i = 0; i < 200; i++) {
    const double next = low + (high - low) * wb_stream_uniform(stream);
    if (log_density(law, next) > level) return next;
    *(next < x ? &low : &high) = next;
  }
  return x;
}

double wb_topic_covariate_alpha(double log_alpha) {
  return wb_exp(log_alpha < -200.0 ? -200.0 : log_alpha > 15.0 ? 15.0 : log_alpha);
}

double wb_topic_log_rising(double a, int64_t n) {
  if (n > 12) return wb_lgamma(a + (double)n) - wb_lgamma(a);
  double product = 1;
  for (int64_t i = 0; i < n; i++) product *= a + (double)i;
  return wb_log(product);
}

/* So many documents of a row of the basis have `count` tokens of a topic, or in all. */
typedef struct part {
  int32_t row, count, documents;
} part;

typedef struct work {
  wb_topic_chain *chain;
  const wb_topic_covariates *covariates;
  const part *parts; /* of each topic, and then of all tokens */
  size_t *end;       /* topics + 1: where the parts of each end */
  double *direction; /* columns x columns: combinations of coefficients that are orthogonal over documents */
  double *along;     /* columns x rows: the change of log alpha by a step in each direction */
  double *free;      /* topics x rows: exp of the linear predictors */
  double *rate;      /* rows: the sum of -log of the sticks of the documents; or room for sums of alpha */
  double *factor;    /* rows */
} work;

/* The law of a step x in a direction, for the coefficients of some topics. */
typedef struct step_law {
  const work *w;
  size_t first, last; /* topics */
  const double *along;
  double slope, precision; /* of the prior's log density, slope x - precision x^2/2 */
} step_law;

static double within(double alpha, const double *ends) {
  return alpha < ends[0] ? ends[0] : alpha > ends[1] ? ends[1] : alpha;
}

/* Given the sticks topics are independent. Without them, all topics take the same step: their sum is free. */
static double log_density(const void *law, double x) {
  const step_law *const own = law;
  const work *const w = own->w;
  const size_t topics = (size_t)w->chain->state.topics, rows = (size_t)w->covariates->rows;
  const int all = own->last - own->first == topics && topics > 1;
  const double ends[] = {wb_topic_covariate_alpha(-INFINITY), wb_topic_covariate_alpha(INFINITY)};
  double sum = x * (own->slope - 0.5 * own->precision * x), product = 1;
  for (size_t g = 0; g < rows; g++) w->factor[g] = wb_exp(x * own->along[g]);
  for (size_t k = own->first; k < own->last; k++)
    for (size_t i = k > 0 ? w->end[k - 1] : 0; i < w->end[k]; i++) {
      const part *const p = w->parts + i;
      const double alpha = within(w->free[k * rows + (size_t)p->row] * w->factor[p->row], ends);
      if (p->documents > 1 || p->count > 12) {
        sum += p->documents * wb_topic_log_rising(alpha, p->count);
        continue;
      }
      for (int32_t n = 0; n < p->count; n++) product *= alpha + (double)n;
      if (product > 1e-100 && product < 1e100) continue;
      sum += wb_log(product);
      product = 1;
    }
  sum += wb_log(product);
  for (size_t g = 0; g < rows && !all; g++)
    sum -= w->rate[g] * within(w->free[own->first * rows + g] * w->factor[g], ends);
  if (!all) return sum;
  for (size_t g = 0; g < rows; g++) {
    double total = 0;
    for (size_t k = 0; k < topics; k++) total += within(w->free[k * rows + g] * w->factor[g], ends);
    w->rate[g] = total;
  }
  for (size_t i = w->end[topics - 1]; i < w->end[topics]; i++)
    sum -= w->parts[i].documents * wb_topic_log_rising(w->rate[w->parts[i].row], w->parts[i].count);
  return sum;
}

static double prior_precision(int j) {
  const double scale = j == 0 ? INTERCEPT_SCALE : SLOPE_SCALE;
  return 1.0 / (scale * scale);
}

/* Steps of the level and in two other directions in turn, so that many columns cost no more than few. */
static void step(const work *w, size_t first, size_t last, uint32_t iteration, wb_stream *stream) {
  const size_t rows = (size_t)w->covariates->rows, p = (size_t)w->covariates->columns;
  const size_t turn = 2 * (iteration / WB_TOPIC_COEFFICIENTS_EVERY), steps = p < 3 ? p : 3;
  double *const coefficients = w->chain->state.coefficients;
  for (size_t s = 0; s < steps; s++) {
    const size_t j = s > 0 ? 1 + (turn + s) % (p - 1) : 0;
    const double *const direction = w->direction + j * p;
    step_law law = {w, first, last, w->along + j * rows, 0, 0};
    for (size_t i = 0; i < p; i++) {
      const double precision = prior_precision((int)i) * direction[i];
      law.precision += (double)(last - first) * precision * direction[i];
      for (size_t k = first; k < last; k++) law.slope -= precision * coefficients[k * p + i];
    }
    const double x = wb_topic_slice(log_density, &law, stream, 0);
    for (size_t g = 0; g < rows; g++) w->factor[g] = wb_exp(x * law.along[g]);
    for (size_t k = first; k < last; k++) {
      for (size_t i = 0; i < p; i++) coefficients[k * p + i] = wb_fma(x, direction[i], coefficients[k * p + i]);
      for (size_t g = 0; g < rows; g++) w->free[k * rows + g] *= w->factor[g];
    }
  }
}

/* Directions of unit variance over the documents, orthogonal up to the prior (Gram & Schmidt, by Cholesky). */
static void find_directions(const work *w, double *root) {
  const wb_topic_covariates *const c = w->covariates;
  const int p = c->columns;
  const size_t columns = (size_t)p, topics = (size_t)w->chain->state.topics;
  double documents = 1;
  for (int j = 0; j < p; j++) root[wb_packed_at(j, j)] = prior_precision(j);
  for (size_t i = w->end[topics - 1]; i < w->end[topics]; i++) {
    documents += w->parts[i].documents;
    wb_symmetric_add_outer(p, w->parts[i].documents, c->basis + (size_t)w->parts[i].row * columns, root);
  }
  (void)wb_cholesky(p, root); /* at least the prior's precision is on the diagonal */
  for (size_t j = 0; j < columns; j++) {
    double *const direction = w->direction + j * columns;
    direction[j] = sqrt(documents);
    wb_triangle_solve_transposed(p, root, direction, direction);
    for (size_t g = 0; g < (size_t)c->rows; g++)
      for (size_t i = 0; i < columns; i++)
        w->along[j * (size_t)c->rows + g] =
            wb_fma(c->basis[g * columns + i], direction[i], w->along[j * (size_t)c->rows + g]);
  }
}

static double predictor(const work *w, size_t k, size_t g) {
  const size_t p = (size_t)w->covariates->columns;
  double sum = 0;
  for (size_t j = 0; j < p; j++)
    sum = wb_fma(w->covariates->basis[g * p + j], w->chain->state.coefficients[k * p + j], sum);
  return sum;
}

static void set_alpha(const work *w) {
  const size_t topics = (size_t)w->chain->state.topics;
  for (size_t g = 0; g < (size_t)w->covariates->rows; g++)
    for (size_t k = 0; k < topics; k++)
      w->chain->state.alpha[g * topics + k] = wb_topic_covariate_alpha(predictor(w, k, g));
}

static int32_t row_of(const wb_topic_chain *chain, int32_t document) {
  return chain->structure->groups > 1 ? chain->structure->group[document] : 0;
}

/* Rows given the sticks. The common level and slopes of all topics move without them. */
static void draw(work *w, uint32_t iteration) {
  const wb_topic_chain *const chain = w->chain;
  const wb_topic_corpus *const corpus = chain->corpus;
  const size_t topics = (size_t)chain->state.topics, rows = (size_t)w->covariates->rows;
  for (size_t k = 0; k < topics; k++)
    for (size_t g = 0; g < rows; g++) w->free[k * rows + g] = wb_exp(predictor(w, k, g));
  wb_stream common = wb_stream_open(chain->key, WB_PURPOSE_TOPIC_COEFFICIENT, iteration, topics);
  if (topics > 1) step(w, 0, topics, iteration, &common);
  set_alpha(w);
  for (size_t g = 0; g < rows; g++) {
    w->rate[g] = w->factor[g] = 0;
    for (size_t k = 0; k < topics; k++) w->factor[g] += chain->state.alpha[g * topics + k];
  }
  for (int32_t d = 0; d < corpus->documents; d++)
    if (w->covariates->used[d])
      w->rate[row_of(chain, d)] -= wb_topic_log_stick(chain->key, WB_PURPOSE_TOPIC_STICK, iteration, (uint64_t)d,
                                                      w->factor[row_of(chain, d)], wb_topic_tokens(corpus, d));
  for (size_t k = 0; k < topics; k++) {
    wb_stream stream = wb_stream_open(chain->key, WB_PURPOSE_TOPIC_COEFFICIENT, iteration, k);
    step(w, k, k + 1, iteration, &stream);
  }
  set_alpha(w);
}

/* Documents in the order of their rows, then the counts of each topic and of all tokens, documents side by side. */
static void tally(const wb_topic_chain *chain, const uint16_t *topic, int32_t *first, int32_t *order, int32_t *count) {
  const wb_topic_covariates *const c = chain->covariates;
  const wb_topic_corpus *const corpus = chain->corpus;
  const size_t documents = (size_t)corpus->documents, topics = (size_t)chain->state.topics;
  for (int32_t d = 0; d < corpus->documents; d++) first[row_of(chain, d) + 1]++;
  for (int32_t g = 0; g < c->rows; g++) first[g + 1] += first[g];
  for (int32_t d = 0; d < corpus->documents; d++) {
    const size_t at = (size_t)first[row_of(chain, d)]++;
    order[at] = d;
    if (!c->used[d]) continue;
    for (int64_t i = corpus->first_token[d]; i < corpus->first_token[d + 1]; i++)
      count[(size_t)topic[i] * documents + at]++;
    count[topics * documents + at] = (int32_t)wb_topic_tokens(corpus, d);
  }
}

/* Documents of one row with as many tokens are one part. `place`: zeros, one for each number of tokens. */
static void join_parts(const work *w, const int32_t *order, const int32_t *count, size_t *place, part *parts) {
  const size_t documents = (size_t)w->chain->corpus->documents;
  size_t made = 0;
  for (size_t k = 0; k <= (size_t)w->chain->state.topics; k++) {
    size_t begin = made;
    for (size_t i = 0; i < documents; i++) {
      const int32_t n = count[k * documents + i], row = row_of(w->chain, order[i]);
      if (n == 0) continue;
      if (made > begin && parts[made - 1].row != row) begin = made;
      if (place[n] > begin) {
        parts[place[n] - 1].documents++;
        continue;
      }
      parts[made++] = (part){row, n, 1};
      place[n] = made;
    }
    w->end[k] = made;
  }
}

int wb_topic_draw_coefficients(wb_topic_chain *chain, uint32_t iteration) {
  const wb_topic_covariates *const c = chain->covariates;
  const wb_topic_corpus *const corpus = chain->corpus;
  const size_t p = (size_t)c->columns, rows = (size_t)c->rows, topics = (size_t)chain->state.topics;
  const size_t documents = (size_t)corpus->documents, tokens = (size_t)corpus->tokens, cells = topics * documents;
  const size_t most = (cells < tokens ? cells : tokens) + documents;
  work w = {.chain = chain, .covariates = c};
  double *root;
  size_t *place;
  part *parts;
  int32_t *first, *order, *count;
  uint16_t *topic;
  void *const memory =
      WB_PARTS("the coefficients of covariates", chain->message, WB_CLEARED(w.direction, p * p),
               WB_CLEARED(w.along, p * rows), WB_PART(w.free, topics * rows), WB_PART(w.rate, rows),
               WB_PART(w.factor, rows), WB_PART(w.end, topics + 1), WB_CLEARED(root, wb_packed_size((int)p)),
               WB_CLEARED(place, corpus->longest_document + 1), WB_PART(parts, most), WB_CLEARED(first, rows + 1),
               WB_PART(order, documents), WB_CLEARED(count, cells + documents), WB_PART(topic, tokens));
  if (!memory) return WB_ERROR_MEMORY;
  w.parts = parts;
  const int status = chain->backend->topic_model->get_topics(chain->session, topic, chain->message);
  if (status == WB_OK) {
    tally(chain, topic, first, order, count);
    join_parts(&w, order, count, place, parts);
    find_directions(&w, root);
    draw(&w, iteration);
  }
  wb_aligned_free(memory);
  return status;
}

int wb_topic_draw_effects(const wb_topic_chain *chain, uint32_t iteration, const double *theta, double *effects) {
  const wb_topic_covariates *const c = chain->covariates;
  const size_t q = (size_t)c->terms, topics = (size_t)chain->state.topics;
  double *gram;
  if (!WB_PARTS("the effects of covariates", chain->message, WB_CLEARED(gram, wb_packed_size((int)q))))
    return WB_ERROR_MEMORY;
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
  wb_aligned_free(gram);
  return WB_OK;
}
