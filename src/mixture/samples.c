/* Samples share the components, each with its own proportions: the hierarchical Dirichlet process of Teh, Jordan, Beal
 * & Blei (2006, Journal of the American Statistical Association 101, 1566-1581), truncated at k components:
 *
 *   beta_j = v_j prod_{r<j} (1 - v_r),  pi_s | beta ~ Dirichlet(a beta_1, ..., a beta_k),
 *   z_i ~ pi_s for the rows i of sample s,  a ~ Ga(shape, rate).
 *
 * With the pi_s integrated out, n_sj rows of sample s in component j sit at m_sj tables of a restaurant with
 * concentration a beta_j. Given these, beta and exchanges of labels depend only on m_j = sum_s m_sj.
 *
 * Splits and joins are moves of one sample. So the first sweeps of a chain treat all samples as one, pi_s = beta. */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma.h"
#include "core/random_tables.h"
#include "mixture/mixture.h"

/* A gamma's shape must not underflow to zero, and a log weight must be representable in single precision. */
#define LEAST_SHAPE 1e-300
#define LEAST_LOG_WEIGHT (-1e30)

size_t wb_mixture_samples_size(int32_t samples, int32_t components) {
  return (size_t)samples * (2 * (size_t)components + 1) + 2 * (size_t)components;
}

void wb_mixture_samples_place(wb_mixture_samples *s, int32_t samples, int32_t components, double *memory) {
  const size_t k = (size_t)components, table = (size_t)samples * k;
  s->samples = samples;
  s->components = components;
  s->sizes = memory;
  s->log_weight = s->sizes + table;
  s->rows = s->log_weight + table;
  s->log_share = s->rows + samples;
  s->shape_of = s->log_share + k;
}

static void set_shapes(wb_mixture_samples *s) {
  for (int32_t j = 0; j < s->components; j++) {
    const double shape = s->concentration * wb_exp(s->log_share[j]);
    s->shape_of[j] = shape < LEAST_SHAPE ? LEAST_SHAPE : shape;
  }
}

void wb_mixture_draw_tables(wb_mixture_samples *s, double *tables, uint64_t key, uint32_t iteration) {
  const size_t k = (size_t)s->components;
  set_shapes(s);
  for (size_t j = 0; j < k; j++) tables[j] = 0;
  for (size_t i = 0; i < (size_t)s->samples * k; i++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_SAMPLE_TABLES, iteration, i);
    tables[i % k] += wb_draw_tables(&stream, s->shape_of[i % k], s->sizes[i]);
  }
}

void wb_mixture_exchange_samples(wb_mixture_samples *s, const int32_t *source) {
  const size_t k = (size_t)s->components;
  double *kept = s->shape_of;
  for (int32_t i = 0; i < s->samples; i++) {
    double *sizes = s->sizes + (size_t)i * k;
    memcpy(kept, sizes, k * sizeof(double));
    for (size_t j = 0; j < k; j++) sizes[j] = kept[source[j]];
  }
}

static void count_rows(wb_mixture_samples *s) {
  const size_t k = (size_t)s->components;
  for (int32_t i = 0; i < s->samples; i++) {
    s->rows[i] = 0;
    for (size_t j = 0; j < k; j++) s->rows[i] += s->sizes[(size_t)i * k + j];
  }
}

/* Draws a given the number of tables, by the auxiliary variables of Teh et al. (appendix A):
 *   w_s ~ Be(a + 1, n_s),  u_s = 1 with probability n_s/(n_s + a),
 *   a ~ Ga(shape + tables - sum u_s, rate - sum log w_s). */
static void draw_sample_concentration(wb_mixture_samples *s, double tables, uint64_t key, uint32_t iteration) {
  double shape = s->shape + tables, rate = s->rate;
  for (int32_t i = 0; i < s->samples; i++) {
    if (!(s->rows[i] > 0)) continue;
    double log_w, log_rest;
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_SAMPLE_STICK, iteration, (uint64_t)i);
    wb_draw_log_beta(&stream, s->concentration + 1, s->rows[i], &log_w, &log_rest);
    rate -= log_w;
    shape -= wb_stream_uniform(&stream) * (s->rows[i] + s->concentration) < s->rows[i];
  }
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_SAMPLE_CONCENTRATION, iteration, 0);
  const double a = wb_exp(wb_draw_log_gamma(&stream, shape) - wb_log(rate));
  s->concentration = a < 1e-300 ? 1e-300 : a > 1e300 ? 1e300 : a;
}

/* Subtracts log sum exp, so that the exponentials add up to one. */
static void normalize(size_t count, double *log_weight) {
  double largest = log_weight[0], total = 0;
  for (size_t j = 1; j < count; j++) largest = log_weight[j] > largest ? log_weight[j] : largest;
  for (size_t j = 0; j < count; j++) total += wb_exp(log_weight[j] - largest);
  const double log_total = largest + wb_log(total);
  for (size_t j = 0; j < count; j++) {
    log_weight[j] -= log_total;
    if (!(log_weight[j] > LEAST_LOG_WEIGHT)) log_weight[j] = LEAST_LOG_WEIGHT;
  }
}

/* pi_s ~ Dirichlet(a beta + n_s). */
static void draw_weights(wb_mixture_samples *s, uint64_t key, uint32_t iteration) {
  const size_t k = (size_t)s->components;
  set_shapes(s);
  for (size_t i = 0; i < (size_t)s->samples * k; i++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_SAMPLE_WEIGHT, iteration, i);
    s->log_weight[i] = wb_draw_log_gamma(&stream, s->shape_of[i % k] + s->sizes[i]);
  }
  for (int32_t i = 0; i < s->samples; i++) normalize(k, s->log_weight + (size_t)i * k);
}

/* The log of the mean of the samples' weights, weighted by their numbers of rows. */
static void pool_weights(const wb_mixture_samples *s, double *log_weight) {
  const size_t k = (size_t)s->components;
  double all = 0;
  for (int32_t i = 0; i < s->samples; i++) all += s->rows[i];
  for (size_t j = 0; j < k; j++) {
    double largest = LEAST_LOG_WEIGHT, total = 0;
    for (int32_t i = 0; i < s->samples; i++)
      if (s->log_weight[(size_t)i * k + j] > largest) largest = s->log_weight[(size_t)i * k + j];
    for (int32_t i = 0; i < s->samples; i++)
      total += s->rows[i] / all * wb_exp(s->log_weight[(size_t)i * k + j] - largest);
    log_weight[j] = largest + wb_log(total > 1e-300 ? total : 1e-300);
  }
}

void wb_mixture_draw_samples(wb_mixture_samples *s, double tables, double *log_weight, uint64_t key,
                             uint32_t iteration) {
  const size_t k = (size_t)s->components;
  memcpy(s->log_share, log_weight, k * sizeof(double));
  s->together = iteration <= s->pooled;
  if (s->together) {
    for (int32_t i = 0; i < s->samples; i++) memcpy(s->log_weight + (size_t)i * k, log_weight, k * sizeof(double));
    return;
  }
  count_rows(s);
  draw_sample_concentration(s, tables, key, iteration);
  draw_weights(s, key, iteration);
  pool_weights(s, log_weight);
}

void wb_mixture_add_samples(const wb_mixture_samples *s, double *sizes) {
  const size_t k = (size_t)s->components;
  for (size_t j = 0; j < k; j++) sizes[j] = 0;
  for (size_t i = 0; i < (size_t)s->samples * k; i++) sizes[i % k] += s->sizes[i];
}

double wb_mixture_log_samples(const wb_mixture_samples *s) {
  const size_t k = (size_t)s->components;
  const double a = s->concentration;
  if (s->together) return 0;
  double sum = s->shape * wb_log(s->rate) - wb_lgamma(s->shape) + (s->shape - 1) * wb_log(a) - s->rate * a;
  double constant = wb_lgamma(a);
  for (size_t j = 0; j < k; j++) constant -= wb_lgamma(s->shape_of[j]);
  for (int32_t i = 0; i < s->samples; i++) {
    sum += constant;
    for (size_t j = 0; j < k; j++) sum += s->shape_of[j] * s->log_weight[(size_t)i * k + j];
  }
  return sum;
}
