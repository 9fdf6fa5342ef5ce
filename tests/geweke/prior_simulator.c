/* Simulates the mixture model as prior_simulator.h says. The generator is xoshiro256++ (Blackman & Vigna 2021). Its
 * state is filled by SplitMix64 (Steele, Lea & Flood 2014). */
#include "prior_simulator.h"

#include <math.h>
#include <string.h>

static uint64_t split_mix(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void generator_open(generator *g, uint64_t seed, uint64_t stream) {
  uint64_t state = seed * 1000003u + stream;
  for (int i = 0; i < 4; i++) g->state[i] = split_mix(&state);
  g->has_spare = 0;
}

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static double uniform(generator *g) {
  uint64_t *s = g->state;
  const uint64_t word = rotate(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotate(s[3], 45);
  return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

/* A pair of normals from a uniform point of the disc (Marsaglia & Bray 1964). */
static double normal(generator *g) {
  if (g->has_spare) {
    g->has_spare = 0;
    return g->spare;
  }
  for (;;) {
    const double a = 2 * uniform(g) - 1, b = 2 * uniform(g) - 1, square = a * a + b * b;
    if (square >= 1 || square == 0) continue;
    const double radius = sqrt(-2 * log(square) / square);
    g->spare = b * radius;
    g->has_spare = 1;
    return a * radius;
  }
}

/* The log of the multivariate gamma function of df/2, by recursion from Gamma(1/2) = sqrt(pi) and Gamma(1) = 1.
 * lgamma() may write a global variable, so it is not used. */
static double log_gamma_p(int p, int df) {
  double sum = 0.25 * p * (p - 1) * log(M_PI);
  for (int r = 0; r < p; r++) {
    if ((df - r) % 2) sum += 0.5 * log(M_PI);
    for (int twice = (df - r) % 2 ? 1 : 2; twice < df - r; twice += 2) sum += log(0.5 * twice);
  }
  return sum;
}

/* The lower triangle l with l l' = a. */
static void root(int p, double a[MOST_COLUMNS][MOST_COLUMNS], double l[MOST_COLUMNS][MOST_COLUMNS]) {
  memset(l, 0, sizeof(double[MOST_COLUMNS][MOST_COLUMNS]));
  for (int r = 0; r < p; r++)
    for (int c = 0; c <= r; c++) {
      double sum = a[r][c];
      for (int i = 0; i < c; i++) sum -= l[r][i] * l[c][i];
      l[r][c] = r == c ? sqrt(sum) : sum / l[c][c];
    }
}

/* Inverts a positive definite matrix by elimination. Returns the log of the determinant of `a`. */
static double invert(int p, double a[MOST_COLUMNS][MOST_COLUMNS], double inverse[MOST_COLUMNS][MOST_COLUMNS]) {
  double work[MOST_COLUMNS][MOST_COLUMNS], log_determinant = 0;
  memcpy(work, a, sizeof work);
  for (int r = 0; r < p; r++)
    for (int c = 0; c < p; c++) inverse[r][c] = r == c;
  for (int pivot = 0; pivot < p; pivot++) {
    const double size = work[pivot][pivot];
    log_determinant += log(size);
    for (int c = 0; c < p; c++) {
      work[pivot][c] /= size;
      inverse[pivot][c] /= size;
    }
    for (int r = 0; r < p; r++) {
      if (r == pivot) continue;
      const double times = work[r][pivot];
      for (int c = 0; c < p; c++) {
        work[r][c] -= times * work[pivot][c];
        inverse[r][c] -= times * inverse[pivot][c];
      }
    }
  }
  return log_determinant;
}

void component_prior_prepare(int p, component_prior *prior) {
  const double df = prior->df + p + 1;
  double inverse[MOST_COLUMNS][MOST_COLUMNS];
  for (int r = 0; r < p; r++)
    for (int c = 0; c < p; c++) prior->scaled[r][c] = prior->df * prior->scale[r][c];
  prior->log_constant = 0.5 * df * invert(p, prior->scaled, inverse) - 0.5 * df * p * log(2) -
                        log_gamma_p(p, prior->df + p + 1) - 0.5 * p * log(2 * M_PI * prior->mean_scale);
  root(p, inverse, prior->wishart_root);
}

void point_complete(const model *m, point *at) {
  for (int j = 0; j < m->k; j++) at->log_determinant[j] = -invert(m->p, at->precision[j], at->covariance[j]);
}

/* Draws a Wishart matrix with scale l l': the sum of df outer products of normal vectors. */
static void draw_wishart(int p, int df, double l[MOST_COLUMNS][MOST_COLUMNS], generator *g,
                         double w[MOST_COLUMNS][MOST_COLUMNS]) {
  double e[MOST_COLUMNS], y[MOST_COLUMNS];
  memset(w, 0, sizeof(double[MOST_COLUMNS][MOST_COLUMNS]));
  for (int i = 0; i < df; i++) {
    for (int r = 0; r < p; r++) {
      e[r] = normal(g);
      y[r] = 0;
      for (int c = 0; c <= r; c++) y[r] += l[r][c] * e[c];
    }
    for (int r = 0; r < p; r++)
      for (int c = 0; c < p; c++) w[r][c] += y[r] * y[c];
  }
}

/* Draws a gamma of whole shape and rate 1. */
static double draw_gamma(int shape, generator *g) {
  double sum = 0;
  for (int i = 0; i < shape; i++) sum -= log(uniform(g));
  return sum;
}

/* Draws the log of a gamma of any shape. For the fraction f of the shape it draws a beta of shapes f and 1 - f by
 * Johnk's method and multiplies it by an exponential. For the whole part it adds exponentials. It works in logs,
 * because f may be tiny. */
static double draw_log_gamma(double shape, generator *g) {
  const int whole = (int)shape;
  const double fraction = shape - whole;
  double log_part = -INFINITY;
  while (fraction > 0) {
    const double x = log(uniform(g)) / fraction, y = log(uniform(g)) / (1 - fraction);
    const double top = x > y ? x : y, log_sum = top + log(exp(x - top) + exp(y - top));
    if (log_sum > 0) continue;
    log_part = x - log_sum + log(-log(uniform(g)));
    break;
  }
  if (whole == 0) return log_part;
  const double log_whole = log(draw_gamma(whole, g)), top = log_part > log_whole ? log_part : log_whole;
  return top + log(exp(log_part - top) + exp(log_whole - top));
}

static void draw_sample_weights(const model *m, generator *g, point *at) {
  at->sample_concentration = draw_gamma(m->sample_shape, g) / m->sample_rate;
  for (int s = 0; s < m->samples; s++) {
    double *weight = at->log_sample_weight[s], top = -INFINITY, total = 0;
    for (int j = 0; j < m->k; j++) {
      weight[j] = draw_log_gamma(at->sample_concentration * exp(at->log_weight[j]), g);
      if (weight[j] > top) top = weight[j];
    }
    for (int j = 0; j < m->k; j++) total += exp(weight[j] - top);
    for (int j = 0; j < m->k; j++) weight[j] -= top + log(total);
  }
}

/* The log weight of component j in row i. */
static double log_weight_of(const model *m, const point *at, int i, int j) {
  return m->samples > 0 ? at->log_sample_weight[i % m->samples][j] : at->log_weight[j];
}

static void draw_component_prior(const model *m, generator *g, component_prior *prior) {
  const int p = m->p;
  double l[MOST_COLUMNS][MOST_COLUMNS], scale[MOST_COLUMNS][MOST_COLUMNS];
  *prior = m->component;
  if (!m->learned) return;
  for (int r = 0; r < p; r++) {
    prior->mean[r] += normal(g);
    for (int c = 0; c < p; c++) scale[r][c] = m->component.scale[r][c] / m->scale_df;
  }
  prior->mean_scale = m->mean_scale_rate / draw_gamma(m->mean_scale_shape, g);
  prior->df += (int)(DF_VALUES * uniform(g));
  root(p, scale, l);
  draw_wishart(p, m->scale_df, l, g, prior->scale);
  component_prior_prepare(p, prior);
}

/* Sigma_j^-1 is Wishart with nu + p + 1 degrees of freedom and scale (nu Phi)^-1. */
static void draw_component(const model *m, generator *g, point *at, int j) {
  const int p = m->p;
  component_prior *prior = &at->component;
  double l[MOST_COLUMNS][MOST_COLUMNS], e[MOST_COLUMNS];
  draw_wishart(p, prior->df + p + 1, prior->wishart_root, g, at->precision[j]);
  invert(p, at->precision[j], at->covariance[j]);
  root(p, at->covariance[j], l);
  for (int r = 0; r < p; r++) {
    e[r] = normal(g);
    at->mean[j][r] = prior->mean[r];
    for (int c = 0; c <= r; c++) at->mean[j][r] += sqrt(prior->mean_scale) * l[r][c] * e[c];
  }
}

/* The log of the factor by which the floor multiplies the density of each row of component j. */
static double log_factor(const model *m, const point *at, int j) {
  double trace = 0;
  for (int r = 0; r < m->p; r++) trace += at->precision[j][r][r];
  return -0.5 * m->floor * trace;
}

static void draw_parameters(const model *m, generator *g, point *at) {
  const int k = m->k;
  draw_component_prior(m, g, &at->component);
  at->alpha = draw_gamma(m->shape, g) / m->rate;
  double before = 0;
  for (int j = 0; j < k; j++) {
    /* 1 - v ~ Be(alpha, 1) has the distribution function u^alpha. */
    at->log_rest[j] = j < k - 1 ? log(uniform(g)) / at->alpha : 0;
    at->log_weight[j] = before + (j < k - 1 ? log(-expm1(at->log_rest[j])) : 0);
    before += at->log_rest[j];
    draw_component(m, g, at, j);
  }
  if (m->samples > 0) draw_sample_weights(m, g, at);
  point_complete(m, at);
}

/* With the data integrated out, the floor multiplies the density of the parameters by (sum_j pi_j exp(log_factor_j))^n,
 * which is at most 1. A draw from the prior is accepted with this probability. Given the parameters, labels have
 * weights pi_j exp(log_factor_j). Several samples have no floor. */
void prior_draw(const model *m, generator *g, point *at) {
  const int n = m->n, k = m->k, p = m->p;
  double weight[MOST_COMPONENTS], total;
  do {
    draw_parameters(m, g, at);
    total = 0;
    for (int j = 0; j < k; j++) total += weight[j] = exp(at->log_weight[j] + log_factor(m, at, j));
  } while (m->floor > 0 && uniform(g) > pow(total, n));
  for (int i = 0; i < n; i++) {
    if (m->samples > 0) {
      total = 0;
      for (int j = 0; j < k; j++) total += weight[j] = exp(log_weight_of(m, at, i, j));
    }
    double u = total * uniform(g), l[MOST_COLUMNS][MOST_COLUMNS], e[MOST_COLUMNS];
    int j = 0;
    while (j < k - 1 && (u -= weight[j]) > 0) j++;
    at->label[i] = j;
    root(p, at->covariance[j], l);
    for (int r = 0; r < p; r++) {
      e[r] = normal(g);
      double *value = &at->x[i + r * n];
      *value = at->mean[j][r];
      for (int c = 0; c <= r; c++) *value += l[r][c] * e[c];
    }
  }
}

static double distance(int p, double precision[MOST_COLUMNS][MOST_COLUMNS], const double *from, const double *to,
                       int step) {
  double sum = 0;
  for (int r = 0; r < p; r++)
    for (int c = 0; c < p; c++) sum += precision[r][c] * (to[r * step] - from[r]) * (to[c * step] - from[c]);
  return sum;
}

double row_distance(const model *m, const point *at, int i) {
  const int j = at->label[i];
  return distance(m->p, (double(*)[MOST_COLUMNS])at->precision[j], at->mean[j], at->x + i, m->n);
}

int is_missing(const model *m, int row, int column) {
  static const int lacks[8] = {0, 1, 4, 7, 3, 0, 2, 5};
  return m->missing && lacks[row % 8] >> column & 1;
}

/* The log density of the observed values of row i in component j, from the covariance of the observed columns. */
static double log_density(const model *m, const point *at, int i, int j) {
  double covariance[MOST_COLUMNS][MOST_COLUMNS] = {{0}}, precision[MOST_COLUMNS][MOST_COLUMNS], from[MOST_COLUMNS],
         to[MOST_COLUMNS];
  int seen[MOST_COLUMNS], p = 0;
  for (int c = 0; c < m->p; c++)
    if (!is_missing(m, i, c)) seen[p++] = c;
  for (int r = 0; r < p; r++) {
    from[r] = at->mean[j][seen[r]];
    to[r] = at->x[i + seen[r] * m->n];
    for (int c = 0; c < p; c++) covariance[r][c] = at->covariance[j][seen[r]][seen[c]];
  }
  const double log_determinant = invert(p, covariance, precision);
  return -0.5 * p * log(2 * M_PI) - 0.5 * log_determinant - 0.5 * distance(p, precision, from, to, 1);
}

double log_likelihood(const model *m, const point *at) {
  double sum = 0;
  for (int i = 0; i < m->n; i++) {
    double density = 0;
    for (int j = 0; j < m->k; j++)
      density += exp(log_weight_of(m, at, i, j) + log_factor(m, at, j) + log_density(m, at, i, j));
    sum += log(density);
  }
  return sum;
}

/* The log density of the learned parts of the prior, without the constant of nu. */
static double log_hyperprior(const model *m, const component_prior *prior) {
  const int p = m->p, a = m->mean_scale_shape, q = m->scale_df;
  const double b = m->mean_scale_rate;
  double scale[MOST_COLUMNS][MOST_COLUMNS], inverse[MOST_COLUMNS][MOST_COLUMNS], copy[MOST_COLUMNS][MOST_COLUMNS];
  double sum = a * log(b) - (a + 1) * log(prior->mean_scale) - b / prior->mean_scale;
  for (int i = 2; i < a; i++) sum -= log(i);
  for (int r = 0; r < p; r++) {
    const double deviation = prior->mean[r] - m->component.mean[r];
    sum -= 0.5 * log(2 * M_PI) + 0.5 * deviation * deviation;
    for (int c = 0; c < p; c++) {
      scale[r][c] = m->component.scale[r][c] / q;
      copy[r][c] = prior->scale[r][c];
    }
  }
  sum -= 0.5 * q * invert(p, scale, inverse) + 0.5 * q * p * log(2) + log_gamma_p(p, q);
  for (int r = 0; r < p; r++)
    for (int c = 0; c < p; c++) sum -= 0.5 * inverse[r][c] * prior->scale[r][c];
  return sum + 0.5 * (q - p - 1) * invert(p, copy, inverse);
}

/* The log density of the samples' log weights and of a. */
static double log_samples(const model *m, const point *at) {
  const double a = at->sample_concentration;
  double sum = m->sample_shape * log(m->sample_rate) + (m->sample_shape - 1) * log(a) - m->sample_rate * a;
  int sign;
  for (int i = 2; i < m->sample_shape; i++) sum -= log(i);
  for (int s = 0; s < m->samples; s++) {
    sum += lgamma_r(a, &sign);
    for (int j = 0; j < m->k; j++) {
      const double shape = a * exp(at->log_weight[j]);
      sum += shape * at->log_sample_weight[s][j] - lgamma_r(shape, &sign);
    }
  }
  return sum;
}

double log_prior(const model *m, const point *at) {
  const int p = m->p;
  const component_prior *prior = &at->component;
  const double df = prior->df + p + 1;
  double sum = m->shape * log(m->rate) + (m->shape - 1) * log(at->alpha) - m->rate * at->alpha;
  for (int i = 2; i < m->shape; i++) sum -= log(i);
  if (m->learned) sum += log_hyperprior(m, prior);
  if (m->samples > 0) sum += log_samples(m, at);
  for (int j = 0; j < m->k; j++) {
    double trace = 0;
    for (int r = 0; r < p; r++)
      for (int c = 0; c < p; c++) trace += prior->scaled[r][c] * at->precision[j][r][c];
    /* (df + p + 1)/2 from the inverse Wishart density, 1/2 from the normal one. */
    sum +=
        prior->log_constant - 0.5 * (df + p + 2) * at->log_determinant[j] - 0.5 * trace -
        0.5 / prior->mean_scale * distance(p, (double(*)[MOST_COLUMNS])at->precision[j], prior->mean, at->mean[j], 1);
    if (j < m->k - 1) sum += log(at->alpha) + (at->alpha - 1) * at->log_rest[j];
  }
  return sum;
}
