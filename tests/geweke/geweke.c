/* Geweke's joint-distribution test of the mixture's Gibbs sampler (Geweke 2004, "Getting it right", Journal of the
 * American Statistical Association 99, 799-804). Suppose that the sampler leaves the posterior of any data invariant.
 * Then sweeps that alternate with new data, drawn given parameters and labels, leave the joint law of parameters,
 * labels and data invariant. That law can also be simulated directly (prior_simulator.h). The test compares the means
 * of many functions of the draws between the two simulations.
 *
 *   geweke [-n sweeps] [-c case] [-t threads] [-s seed] [-v]
 *
 *   -n sweeps of the first four cases (default 200,000; at least 50,000, because in shorter runs neighbouring batches
 *      are correlated, which fails the test). Each other case has a quarter or a half as many.
 *   -c runs one case only.
 *   -v prints every functional.
 *
 * Standard errors are from batch means. Chains start in their stationary law. If the sampler is right, the probability
 * that some functional of the run exceeds the bound on |z| is 1e-6 (Bonferroni, Student's t for the number of batches).
 * The line of each case states the shift of a functional's mean that would be found half of the time: the median over
 * functionals and the worst one, in standard deviations of the functional under the prior. The shift shrinks with the
 * square root of the number of sweeps. The last line is "N passed, N failed"; the status is 0 if none failed. mutate.sh
 * shows on planted errors what the test finds. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/linear_algebra.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_normal.h"
#include "cpu/table.h"
#include "mixture/mixture.h"
#include "prior_simulator.h"

#define FALSE_ALARM 1e-6
#define MOST_FUNCTIONALS 300
#define CHAINS 4
#define BATCHES 100 /* of each chain */

/* The parts of a backend that the sampler uses. */
static const wb_backend processor = {
    .abi_version = WB_ABI_VERSION,
    .size = sizeof(wb_backend),
    .name = "cpu",
    .mixture = &wb_cpu_mixture,
};

static wb_isa widest_isa(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return WB_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return WB_ISA_AVX2;
#endif
  return WB_ISA_BASELINE;
}

typedef struct test_case {
  const char *name;
  int n, k, p;
  int moves;
  wb_precision precision;
  double share; /* of the sweeps asked for */
  int learned;  /* m, gamma, nu and Phi are learned */
  double floor;
  int samples;
  int missing; /* some values are missing */
} test_case;

static const test_case cases[] = {
    {"k=3 p=2 moves", 8, 3, 2, 1, WB_DOUBLE, 1, 0, 0, 0},
    {"k=3 p=2", 8, 3, 2, 0, WB_DOUBLE, 1, 0, 0, 0},
    {"k=3 p=2 moves single", 8, 3, 2, 1, WB_SINGLE, 1, 0, 0, 0},
    {"k=3 p=2 learned", 8, 3, 2, 1, WB_DOUBLE, 1, 1, 0, 0},
    {"k=1 p=2 moves", 8, 1, 2, 1, WB_DOUBLE, 0.25, 0, 0, 0},
    {"k=2 p=5 moves", 8, 2, 5, 1, WB_DOUBLE, 0.25, 0, 0, 0},
    {"k=4 p=1 moves", 8, 4, 1, 1, WB_DOUBLE, 0.25, 0, 0, 0},
    {"k=4 p=1 single", 8, 4, 1, 0, WB_SINGLE, 0.25, 0, 0, 0},
    {"k=18 p=1 moves", 12, 18, 1, 1, WB_DOUBLE, 0.25, 0, 0, 0},
    {"k=2 p=3 learned", 8, 2, 3, 0, WB_DOUBLE, 0.25, 1, 0, 0},
    {"k=3 p=2 floor", 8, 3, 2, 1, WB_DOUBLE, 0.5, 0, 0.15, 0},
    {"k=3 p=2 learned, floor", 8, 3, 2, 1, WB_DOUBLE, 0.5, 1, 0.15, 0},
    {"k=3 p=2 floor single", 8, 3, 2, 0, WB_SINGLE, 0.25, 0, 0.15, 0},
    {"k=3 p=2 2 samples", 8, 3, 2, 1, WB_DOUBLE, 0.25, 0, 0, 2},
    {"k=4 p=1 3 samples", 8, 4, 1, 1, WB_DOUBLE, 0.25, 0, 0, 3},
    {"k=3 p=2 3 samples single", 8, 3, 2, 0, WB_SINGLE, 0.25, 1, 0, 3},
    {"k=3 p=2 missing", 8, 3, 2, 1, WB_DOUBLE, 0.25, 0, 0, .missing = 1},
    {"k=2 p=3 missing, floor", 8, 2, 3, 1, WB_DOUBLE, 0.25, 0, 0.15, .missing = 1},
    {"k=4 p=3 2 samples missing single", 8, 4, 3, 0, WB_SINGLE, 0.25, 0, 0, 2, .missing = 1},
};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

/* Degrees of freedom and shape are large enough for the variances of all functionals to exist. The scales make
 * components overlap without being alike. */
static model case_model(const test_case *c) {
  model m = {.n = c->n,
             .k = c->k,
             .p = c->p,
             .shape = 5,
             .rate = 3,
             .learned = c->learned,
             .mean_scale_shape = 9,
             .mean_scale_rate = 16,
             .scale_df = 15,
             .floor = c->floor,
             .samples = c->samples,
             .sample_shape = 5,
             .sample_rate = 2,
             .missing = c->missing};
  m.component.mean_scale = 2;
  m.component.df = 12;
  for (int r = 0; r < c->p; r++) {
    m.component.mean[r] = 0.5 - 0.3 * r;
    for (int s = 0; s < c->p; s++) m.component.scale[r][s] = r == s ? 1 + 0.2 * r : 0.3;
  }
  component_prior_prepare(c->p, &m.component);
  return m;
}

/* Functionals ------------------------------------------------------------- */

typedef struct functionals {
  int count;
  double value[MOST_FUNCTIONALS];
  char (*name)[40]; /* NULL: names are not wanted */
} functionals;

static void put(functionals *f, double value, const char *name, int a, int b) {
  if (f->name) snprintf(f->name[f->count], sizeof f->name[0], name, a, b);
  f->value[f->count++] = value;
}

static void put_moments(functionals *f, double value, const char *name, int a, int b) {
  char square[64];
  snprintf(square, sizeof square, "(%s)^2", name);
  put(f, value, name, a, b);
  put(f, value * value, square, a, b);
}

static void put_component(functionals *f, const model *m, const point *at, int j) {
  const int p = m->p, last = p - 1;
  const component_prior *prior = &at->component;
  double trace = 0, distance = 0, count = 0;
  for (int r = 0; r < p; r++)
    for (int c = 0; c < p; c++) {
      trace += prior->scale[r][c] * at->precision[j][r][c];
      distance += at->precision[j][r][c] * (at->mean[j][r] - prior->mean[r]) * (at->mean[j][c] - prior->mean[c]);
    }
  for (int i = 0; i < m->n; i++) count += at->label[i] == j;
  if (m->k > 1) {
    put_moments(f, at->log_weight[j], "log pi%d", j + 1, 0);
    put_moments(f, exp(at->log_weight[j]), "pi%d", j + 1, 0);
    put(f, at->alpha * at->log_weight[j], "alpha log pi%d", j + 1, 0);
    put_moments(f, count, "n%d", j + 1, 0);
    put(f, count * at->alpha, "n%d alpha", j + 1, 0);
    put(f, count * at->log_weight[j], "n%d log pi", j + 1, 0);
    put(f, count * at->mean[j][0], "n%d mu.1", j + 1, 0);
    put(f, count * at->log_determinant[j], "n%d log det", j + 1, 0);
    put(f, at->label[0] == j, "[z1 = %d]", j + 1, 0);
  }
  if (j < m->k - 1) {
    put_moments(f, -expm1(at->log_rest[j]), "v%d", j + 1, 0);
    put_moments(f, at->log_rest[j], "log(1 - v%d)", j + 1, 0);
  }
  for (int r = 0; r < p; r++) put_moments(f, at->mean[j][r], "mu%d.%d", j + 1, r + 1);
  put_moments(f, at->covariance[j][0][0], "Sigma%d.11", j + 1, 0);
  put(f, at->mean[j][0] * at->covariance[j][0][0], "mu%d.1 Sigma.11", j + 1, 0);
  if (p > 1) {
    put(f, at->mean[j][0] * at->mean[j][last], "mu%d.1 mu.%d", j + 1, p);
    put_moments(f, at->covariance[j][last][last], "Sigma%d.%d", j + 1, 11 * p);
    put(f, at->mean[j][last] * at->covariance[j][last][last], "mu%d.%d Sigma.pp", j + 1, p);
    put_moments(f, at->covariance[j][last][0], "Sigma%d.%d", j + 1, 10 * p + 1);
  }
  put_moments(f, at->log_determinant[j], "log det%d", j + 1, 0);
  put(f, trace, "tr Sigma%d^-1 Phi", j + 1, 0);
  put(f, distance, "|mu%d - m|", j + 1, 0);
}

static void put_component_prior(functionals *f, const model *m, const point *at) {
  const int p = m->p;
  const component_prior *prior = &at->component;
  double scale[MOST_COLUMNS][MOST_COLUMNS] = {{0}}, log_determinant = 0;
  for (int r = 0; r < p; r++) {
    put_moments(f, prior->mean[r], "m.%d", r + 1, 0);
    put(f, prior->mean[r] * at->mean[0][r], "m.%d mu1", r + 1, 0);
    for (int c = 0; c <= r; c++) {
      put_moments(f, prior->scale[r][c], "Phi.%d%d", r + 1, c + 1);
      put(f, prior->scale[r][c] * at->covariance[0][r][c], "Phi.%d%d Sigma1", r + 1, c + 1);
      /* The Cholesky factor, for the determinant. */
      scale[r][c] = prior->scale[r][c];
      for (int i = 0; i < c; i++) scale[r][c] -= scale[r][i] * scale[c][i];
      scale[r][c] = r == c ? sqrt(scale[r][c]) : scale[r][c] / scale[c][c];
    }
    log_determinant += 2 * log(scale[r][r]);
  }
  put_moments(f, log_determinant, "log det Phi", 0, 0);
  put_moments(f, prior->mean_scale, "gamma", 0, 0);
  put_moments(f, log(prior->mean_scale), "log gamma", 0, 0);
  put_moments(f, prior->df, "nu", 0, 0);
  put(f, prior->df * at->log_determinant[0], "nu log det1", 0, 0);
  put(f, prior->df * log_determinant, "nu log det Phi", 0, 0);
  put(f, prior->mean_scale * at->mean[0][0] * at->mean[0][0], "gamma mu1.1^2", 0, 0);
  put(f, prior->df * prior->mean_scale, "nu gamma", 0, 0);
}

static void put_samples(functionals *f, const model *m, const point *at) {
  const int n = m->n;
  const double a = at->sample_concentration;
  double count[MOST_SAMPLES][MOST_COMPONENTS] = {{0}};
  for (int i = 0; i < n; i++) count[i % m->samples][at->label[i]] += 1;
  put_moments(f, a, "a", 0, 0);
  put_moments(f, log(a), "log a", 0, 0);
  put(f, a * at->alpha, "a alpha", 0, 0);
  for (int s = 0; s < m->samples; s++)
    for (int j = 0; j < m->k; j++) {
      const double weight = exp(at->log_sample_weight[s][j]);
      put_moments(f, weight, "pi%d.%d", s + 1, j + 1);
      put(f, a * weight * weight, "a pi%d.%d^2", s + 1, j + 1);
      put(f, weight * exp(at->log_weight[j]), "pi%d.%d beta", s + 1, j + 1);
      put_moments(f, count[s][j], "n%d.%d", s + 1, j + 1);
      put(f, count[s][j] * weight, "n%d.%d pi", s + 1, j + 1);
      put(f, count[s][j] * a, "n%d.%d a", s + 1, j + 1);
      put(f, count[s][j] * exp(at->log_weight[j]), "n%d.%d beta", s + 1, j + 1);
      put(f, count[s][j] * at->mean[j][0], "n%d.%d mu", s + 1, j + 1);
    }
  put(f, count[0][0] * count[1][0], "n1.1 n2.1", 0, 0);
  put(f, count[0][0] * count[1][1], "n1.1 n2.2", 0, 0);
  put(f, exp(at->log_sample_weight[0][0] + at->log_sample_weight[1][0]), "pi1.1 pi2.1", 0, 0);
  put(f, exp(at->log_sample_weight[0][0] + at->log_sample_weight[1][1]), "pi1.1 pi2.2", 0, 0);
}

static void put_data(functionals *f, const model *m, const point *at) {
  const int n = m->n, p = m->p, z = at->label[0];
  const double *x = at->x;
  double mean = 0, square = 0;
  for (int i = 0; i < n; i++) {
    mean += x[i] / n;
    square += x[i] * x[i] / n;
  }
  put_moments(f, x[0], "x1.1", 0, 0);
  put(f, x[0] * x[1], "x1.1 x2.1", 0, 0);
  put_moments(f, mean, "mean x.1", 0, 0);
  put(f, square - mean * mean, "var x.1", 0, 0);
  put(f, x[0] * at->mean[z][0], "x1.1 mu", 0, 0);
  put(f, at->alpha * x[0], "alpha x1.1", 0, 0);
  if (p > 1) {
    put_moments(f, x[(p - 1) * n], "x1.%d", p, 0);
    put(f, x[0] * x[(p - 1) * n], "x1.1 x1.%d", p, 0);
  }
}

static void put_all(functionals *f, const model *m, const point *at) {
  const int n = m->n, k = m->k;
  f->count = 0;
  put_moments(f, at->alpha, "alpha", 0, 0);
  put_moments(f, log(at->alpha), "log alpha", 0, 0);
  for (int j = 0; j < k; j++)
    if (j < 3 || j == k - 1) put_component(f, m, at, j);
  if (k > 1) {
    double pairs = 0, occupied = 0, count[MOST_COMPONENTS] = {0};
    for (int i = 0; i < n; i++) count[at->label[i]] += 1;
    for (int j = 0; j < k; j++) {
      pairs += count[j] * (count[j] - 1);
      occupied += count[j] > 0;
    }
    put_moments(f, pairs, "pairs together", 0, 0);
    put(f, at->label[0] == at->label[1], "[z1 = z2]", 0, 0);
    put(f, at->label[0] == at->label[n - 1], "[z1 = zn]", 0, 0);
    put_moments(f, occupied, "occupied", 0, 0);
    put(f, exp(at->log_weight[0] + at->log_weight[1]), "pi1 pi2", 0, 0);
    put(f, count[0] * count[1], "n1 n2", 0, 0);
    put(f, at->mean[0][0] * at->mean[1][0], "mu1.1 mu2.1", 0, 0);
    put(f, at->log_determinant[0] * at->log_determinant[1], "log det1 log det2", 0, 0);
  }
  if (m->learned) put_component_prior(f, m, at);
  if (m->samples > 0) put_samples(f, m, at);
  put_data(f, m, at);
  put_moments(f, at->log_likelihood, "log likelihood", 0, 0);
  put(f, at->log_prior, "log prior", 0, 0);
  put(f, at->distance, "|x - mu| before", 0, 0);
  put(f, at->product, "x mu before", 0, 0);
}

/* Functionals of the labels and the data from which the labels were drawn. */
static void relate(const model *m, point *at) {
  at->distance = 0;
  at->product = 0;
  for (int i = 0; i < m->n; i++) {
    at->distance += row_distance(m, at, i) / m->n;
    at->product += at->x[i] * at->mean[at->label[i]][0] / m->n;
  }
}

/* The two simulators ------------------------------------------------------ */

/* The means of the functionals in one batch. */
typedef double batch_means[MOST_FUNCTIONALS];

static int simulate_prior(const model *m, uint64_t seed, int chain, int length, batch_means *out) {
  generator g;
  point at;
  functionals f = {.name = NULL};
  generator_open(&g, seed, (uint64_t)chain);
  for (int b = 0; b < BATCHES; b++) {
    memset(out[b], 0, sizeof out[b]);
    for (int i = 0; i < length; i++) {
      prior_draw(m, &g, &at);
      at.log_likelihood = log_likelihood(m, &at);
      at.log_prior = log_prior(m, &at);
      relate(m, &at);
      put_all(&f, m, &at);
      for (int j = 0; j < f.count; j++) out[b][j] += f.value[j] / length;
    }
  }
  return f.count;
}

/* The state of the sampler and of its prior. */
typedef struct sampler {
  wb_mixture_chain chain;
  wb_mixture_samples samples;
  double sample_memory[MOST_SAMPLES * (2 * MOST_COMPONENTS + 1) + 2 * MOST_COMPONENTS];
  wb_mixture_hyperprior hyper;
  double mean[MOST_COLUMNS], scale[MOST_COLUMNS * (MOST_COLUMNS + 1) / 2];
  double floor[MOST_COLUMNS], hyper_scale[MOST_COLUMNS * (MOST_COLUMNS + 1) / 2], df_grid[WB_MIXTURE_DF_GRID];
} sampler;

static void sampler_open(const model *m, const point *at, double *memory, sampler *s) {
  const int p = m->p;
  for (int r = 0; r < p; r++) {
    s->mean[r] = at->component.mean[r];
    s->floor[r] = m->floor;
    for (int c = 0; c <= r; c++) {
      s->scale[wb_packed_row(r) + (size_t)c] = at->component.scale[r][c];
      s->hyper_scale[wb_packed_row(r) + (size_t)c] = m->component.scale[r][c];
    }
  }
  for (int i = 0; i < WB_MIXTURE_DF_GRID; i++) s->df_grid[i] = m->component.df + i;
  s->hyper = (wb_mixture_hyperprior){
      .learn_mean = 1,
      .learn_mean_scale = 1,
      .learn_scale = 1,
      .learn_df = 1,
      .mean = m->component.mean,
      .mean_scale_shape = m->mean_scale_shape,
      .mean_scale_rate = m->mean_scale_rate,
      .scale_df = m->scale_df,
      .scale = s->hyper_scale,
      .df_grid = s->df_grid,
  };
  wb_mixture_prepare_hyperprior(&s->hyper, p);
  s->chain.prior =
      (wb_mixture_prior){p,       s->mean,  at->component.mean_scale,     at->component.df, s->scale, m->shape,
                         m->rate, s->floor, m->learned ? &s->hyper : NULL};
  wb_mixture_state_place(&s->chain.state, m->k, p, memory);
  s->chain.state.concentration = at->alpha;
  if (m->samples == 0) return;
  wb_mixture_samples_place(&s->samples, m->samples, m->k, s->sample_memory);
  s->chain.state.samples = &s->samples;
  s->samples.pooled = 0;
  s->samples.shape = m->sample_shape;
  s->samples.rate = m->sample_rate;
  s->samples.concentration = at->sample_concentration;
  memcpy(s->samples.log_share, at->log_weight, (size_t)m->k * sizeof(double));
  memset(s->samples.sizes, 0, (size_t)(m->samples * m->k) * sizeof(double));
  for (int i = 0; i < m->n; i++) s->samples.sizes[i % m->samples * m->k + at->label[i]] += 1;
}

/* The sampler's state as the functionals see it. */
static void read_state(const model *m, const sampler *s, point *at) {
  const int p = m->p;
  const wb_mixture_state *state = &s->chain.state;
  for (int r = 0; r < p; r++) {
    at->component.mean[r] = s->chain.prior.mean[r];
    for (int c = 0; c < p; c++)
      at->component.scale[r][c] = s->chain.prior.scale[wb_packed_row(r > c ? r : c) + (size_t)(r > c ? c : r)];
  }
  at->component.mean_scale = s->chain.prior.mean_scale;
  at->component.df = (int)s->chain.prior.df;
  at->alpha = state->concentration;
  at->sample_concentration = s->samples.concentration;
  for (int j = 0; j < m->k; j++) {
    const double *factor = state->factor + (size_t)j * wb_packed_size(p);
    at->log_weight[j] = state->samples ? state->samples->log_share[j] : state->log_weight[j];
    for (int i = 0; i < m->samples; i++) at->log_sample_weight[i][j] = s->samples.log_weight[i * m->k + j];
    at->log_rest[j] = state->log_rest[j];
    for (int r = 0; r < p; r++) {
      at->mean[j][r] = state->mean[j * p + r];
      for (int c = 0; c < p; c++) {
        at->precision[j][r][c] = 0;
        for (int i = r > c ? r : c; i < p; i++)
          at->precision[j][r][c] += factor[wb_packed_row(i) + (size_t)r] * factor[wb_packed_row(i) + (size_t)c];
      }
    }
  }
  point_complete(m, at);
}

static void redraw_data(const model *m, const wb_mixture_state *state, uint64_t key, uint32_t iteration, point *at) {
  const int p = m->p;
  for (int i = 0; i < m->n; i++) {
    const int j = at->label[i];
    double noise[MOST_COLUMNS];
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_SIMULATION, iteration, (uint64_t)i);
    for (int r = 0; r < p; r++) noise[r] = wb_draw_normal(&stream);
    wb_triangle_solve(p, state->factor + (size_t)j * wb_packed_size(p), noise, noise);
    for (int r = 0; r < p; r++) at->x[i + r * m->n] = at->mean[j][r] + noise[r];
  }
}

/* Whether the statistics of a sweep are those of its labels: the same counts, and sums that differ by rounding only. */
static int same_statistics(const model *m, const double *a, const double *b, wb_precision precision) {
  const size_t size = WB_MIXTURE_STATISTICS((size_t)m->p);
  const double tolerance = precision == WB_SINGLE ? 1e-5 : 1e-12;
  for (size_t i = 0; i < (size_t)m->k * size; i++) {
    if (i % size == 0 ? a[i] != b[i] : !(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(b[i])))) return 0;
  }
  return 1;
}

/* Copies the data for the sampler, with NaN for missing values. take_values() puts the values that the sampler drew for
 * them into the data. */
static void hide_values(const model *m, const point *at, double *seen) {
  for (int i = 0; i < m->n; i++)
    for (int c = 0; c < m->p; c++) seen[i + c * m->n] = is_missing(m, i, c) ? NAN : at->x[i + c * m->n];
}

static int take_values(const model *m, wb_mixture_session *session, point *at, wb_message *message) {
  int status = WB_OK;
  for (int i = 0; i < m->n && status == WB_OK; i++) {
    double row[MOST_COLUMNS];
    status = processor.mixture->get_row(session, i, row, message);
    for (int c = 0; c < m->p && status == WB_OK; c++)
      if (is_missing(m, i, c)) at->x[i + c * m->n] = row[c];
  }
  return status;
}

/* One chain of sweeps that alternate with new data. Returns the number of wrong results: a status other than WB_OK, or
 * statistics that are not those of the labels. */
static long simulate_chain(const test_case *c, const model *m, uint64_t seed, int chain, int length, batch_means *out) {
  const wb_backend *backend = &processor;
  const wb_run run = {.threads = 1, .isa = widest_isa()};
  const uint64_t key = wb_chain_key(seed, (uint32_t)chain);
  const double center[MOST_COLUMNS] = {0}, inverse_scale[MOST_COLUMNS] = {1, 1, 1, 1, 1};
  const size_t statistics = (size_t)m->k * WB_MIXTURE_STATISTICS((size_t)m->p);
  double *memory = malloc((wb_mixture_state_size(m->k, m->p) + statistics) * sizeof(double));
  double *expected = memory + wb_mixture_state_size(m->k, m->p);
  sampler s;
  point at;
  functionals f = {.name = NULL};
  generator g;
  generator_open(&g, seed, 1000 + (uint64_t)chain);
  prior_draw(m, &g, &at);
  sampler_open(m, &at, memory, &s);
  int32_t sample[MOST_ROWS];
  for (int i = 0; i < m->n && m->samples > 0; i++) sample[i] = i % m->samples;
  const wb_mixture_data whole = {
      at.x, m->n, m->p, center, inverse_scale, c->precision, 1, m->samples, m->samples > 0 ? sample : NULL};
  double seen[MOST_ROWS * MOST_COLUMNS];
  wb_mixture_missing *missing = NULL;
  wb_message message;
  hide_values(m, &at, seen);
  wb_mixture_chain *const running = &s.chain;
  running->backend = backend;
  running->key = key;
  running->message = &message;
  long wrong = wb_mixture_missing_find(seen, m->n, m->p, 1, &missing, &message) != WB_OK;
  wb_mixture_data data = whole;
  data.x = seen;
  data.missing = missing;
  for (int b = 0; b < BATCHES; b++) {
    memset(out[b], 0, sizeof out[b]);
    for (int i = 0; i < length && wrong < 1000; i++) {
      const uint32_t iteration = (uint32_t)(b * length + i + 1);
      wb_mixture_session *session;
      wb_mixture_sum_labels(&whole, m->k, NULL, m->n, at.label, NULL, s.chain.state.statistics);
      hide_values(m, &at, seen);
      if (backend->mixture->open(&data, &run, &session, &message) != WB_OK) {
        wrong++;
        continue;
      }
      running->session = session;
      wrong += wb_mixture_begin(running) != WB_OK;
      /* Splits and joins leave statistics but no labels, so they follow a sweep of their own. */
      if (c->moves && m->samples == 0) {
        const double atom[4] = {0, 0.4, m->p - 1, -0.2};
        const wb_mixture_spots spots = {&data, 2, atom};
        wrong += wb_mixture_begin_sweep(running, 2 * iteration, c->moves, at.label) != WB_OK;
        wrong += wb_mixture_finish_sweep(running, &at.log_likelihood) != WB_OK;
        wrong += wb_mixture_split_merge(running, &spots, 0, 2 * iteration) != WB_OK;
      }
      if (wb_mixture_begin_sweep(running, 2 * iteration + 1, c->moves, at.label) != WB_OK ||
          wb_mixture_log_prior(running, 0, NULL, &at.log_prior) != WB_OK ||
          wb_mixture_finish_sweep(running, &at.log_likelihood) != WB_OK ||
          wb_mixture_fetch_statistics(running) != WB_OK || wb_mixture_fetch_parameters(running) != WB_OK ||
          take_values(m, session, &at, &message) != WB_OK)
        wrong++;
      backend->mixture->close(session);
      wb_mixture_sum_labels(&whole, m->k, NULL, m->n, at.label, NULL, expected);
      wrong += !same_statistics(m, s.chain.state.statistics, expected, c->precision);
      read_state(m, &s, &at);
      relate(m, &at);
      redraw_data(m, &s.chain.state, key, 2 * iteration, &at);
      put_all(&f, m, &at);
      for (int j = 0; j < f.count; j++) out[b][j] += f.value[j] / length;
    }
  }
  free(missing);
  free(memory);
  return wrong;
}

/* Comparison -------------------------------------------------------------- */

typedef struct result {
  batch_means prior[CHAINS * BATCHES], chain[CHAINS * BATCHES];
  long wrong;
  int count;
  double draws;
  char name[MOST_FUNCTIONALS][40];
  double seconds;
} result;

/* The mean of the batches, its squared standard error, and the correlation of neighbouring batches. */
static void summarize(batch_means *batch, int j, double *mean, double *error, double *correlation) {
  const int count = CHAINS * BATCHES;
  double square = 0, product = 0;
  *mean = 0;
  for (int b = 0; b < count; b++) *mean += batch[b][j] / count;
  for (int b = 0; b < count; b++) {
    square += (batch[b][j] - *mean) * (batch[b][j] - *mean);
    if (b % BATCHES > 0) product += (batch[b][j] - *mean) * (batch[b - 1][j] - *mean);
  }
  *error = square / (count - 1) / count;
  *correlation = square > 0 ? product / square : 0;
}

/* The bound that |t| exceeds with `probability`, for Student's t with many degrees of freedom (Fisher's expansion). */
static double bound_of(double probability, double df) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    if (erfc(middle / sqrt(2)) > probability) low = middle;
    else high = middle;
  }
  const double z = low, cube = z * z * z;
  return z + (cube + z) / (4 * df) + (5 * cube * z * z + 16 * cube + 3 * z) / (96 * df * df);
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Prints the line of a case. Returns 1 if it passes. */
static int report(const test_case *c, result *r, int functionals_of_run, int verbose) {
  const double bound = bound_of(FALSE_ALARM / functionals_of_run, CHAINS * BATCHES - 1);
  double largest = -1, correlated = 0, shift[MOST_FUNCTIONALS];
  int where = 0;
  for (int j = 0; j < r->count; j++) {
    double means[2], errors[2], correlation, z;
    summarize(r->prior, j, &means[0], &errors[0], &correlation);
    summarize(r->chain, j, &means[1], &errors[1], &correlation);
    z = (means[1] - means[0]) / sqrt(errors[0] + errors[1]);
    if (!(fabs(z) <= largest)) { /* NaN counts as the largest */
      largest = isnan(z) ? INFINITY : fabs(z);
      where = j;
    }
    if (correlation > correlated) correlated = correlation;
    /* The prior's draws are independent: their variance is that of a batch's mean times its length. */
    shift[j] = bound * sqrt((errors[0] + errors[1]) / (errors[0] * r->draws));
    if (verbose)
      printf("  %-24s prior %12.6g  chain %12.6g  se %8.2g  z %7.2f\n", r->name[j], means[0], means[1],
             sqrt(errors[0] + errors[1]), z);
  }
  /* Correlated batches make standard errors too small. */
  const int passed = largest <= bound && r->wrong == 0 && correlated < 0.4;
  qsort(shift, (size_t)r->count, sizeof *shift, compare_doubles);
  printf(
      "%-23s %9.0f sweeps, %3d functionals: largest |z| %.2f (%s), bound %.2f; "
      "finds shifts of %.3f sd (worst %.3f); batch correlation %.2f; %.1f s: %s\n",
      c->name, r->draws, r->count, largest, r->name[where], bound, shift[r->count / 2], shift[r->count - 1], correlated,
      r->seconds,
      r->wrong ? "FAILED, wrong sweeps"
      : passed ? "passed"
               : "FAILED");
  fflush(stdout);
  return passed;
}

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Stores the names of a case's functionals, which do not depend on the draw. Returns their number. */
static int name_functionals(const model *m, result *r) {
  generator g;
  point at = {0};
  functionals f = {.name = r->name};
  generator_open(&g, 0, 0);
  prior_draw(m, &g, &at);
  put_all(&f, m, &at);
  return f.count;
}

static void run_case(const test_case *c, const model *m, uint64_t seed, int number, double sweeps, int threads,
                     result *r) {
  const int length = (int)ceil(c->share * sweeps / (CHAINS * BATCHES));
  const double start = clock_seconds();
  long wrong = 0;
  (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : wrong)
  for (int work = 0; work < 2 * CHAINS; work++) {
    const int chain = work / 2, id = number * CHAINS + chain + 1;
    if (work % 2) simulate_prior(m, seed, 2000 + id, length, r->prior + chain * BATCHES);
    else wrong += simulate_chain(c, m, seed, id, length, r->chain + chain * BATCHES);
  }
  r->wrong = wrong;
  r->draws = (double)length * CHAINS * BATCHES;
  r->seconds = clock_seconds() - start;
}

int main(int argc, char **argv) {
  double sweeps = 2e5;
  int only = -1, threads = 1, verbose = 0, passed = 0, failed = 0, total = 0;
  uint64_t seed = 20040901;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "0";
    if (!strcmp(argv[i], "-v")) {
      verbose = 1;
      continue;
    }
    if (!strcmp(argv[i], "-n")) sweeps = atof(value);
    else if (!strcmp(argv[i], "-c")) only = atoi(value) - 1;
    else if (!strcmp(argv[i], "-t")) threads = atoi(value);
    else if (!strcmp(argv[i], "-s")) seed = (uint64_t)atof(value);
    else {
      fprintf(stderr, "geweke: unknown option %s\n", argv[i]);
      return 2;
    }
    i++;
  }
  result *r = malloc(sizeof *r);
  for (int i = 0; i < CASES; i++) {
    const model m = case_model(&cases[i]);
    if (only < 0 || only == i) total += name_functionals(&m, r);
  }
  for (int i = 0; i < CASES; i++) {
    if (only >= 0 && only != i) continue;
    const model m = case_model(&cases[i]);
    r->count = name_functionals(&m, r);
    run_case(&cases[i], &m, seed, i, sweeps, threads, r);
    if (report(&cases[i], r, total, verbose)) passed++;
    else failed++;
  }
  free(r);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
