/* Tests whether the draws of core/ have their distributions. It compares them with distribution functions computed here
 * in long double with the C library's functions, by Kolmogorov-Smirnov distances, and compares first moments.
 *
 * False alarms: each of at most 250 tests has level 1e-8, so the whole program has at most 3e-6. The seed is fixed. The
 * level of a distance is from the bound 2 exp(-2 n D^2) (Massart 1990), which holds for every n. Moments use the normal
 * limit. To show that errors are found, the tests must reject distributions that are wrong by 2%.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random_beta.h"
#include "core/random_binomial.h"
#include "core/random_gamma_strips.h"
#include "core/random_tables.h"
#include "core/random_wishart.h"
#include "core/topic_tables.h"
#include "numeric/slice.c"

#define WB_DRAWS 1000000
#define WB_DRAWS_A_STREAM 4
static const double wb_distance_limit = 3.0915; /* sqrt(log(2/1e-8)/2) */
static const double wb_moment_limit = 5.7307;   /* two-sided normal quantile of 1e-8 */
static const double wb_worst_limit = 6.3995;    /* of 1e-8/64, for the worst of up to 64 */

static int tests = 0, failures = 0;
static uint64_t key;

static void report(const char *name, const char *what, double statistic, double limit, int should_hold) {
  int holds = statistic <= limit;
  tests++;
  if (holds != should_hold) failures++;
  printf("%-34s %-22s %8.3f %s %.3f%s\n", name, what, statistic, holds ? "<=" : "> ", limit,
         holds == should_hold ? "" : "   FAILED");
}

/* Distribution functions ---------------------------------------------------- */

/* P(G <= exp(y)), G ~ Ga(a, 1): a series below a + 1 (Abramowitz & Stegun 6.5.29), a continued fraction above (6.5.31,
 * by the modified Lentz algorithm). The argument is y because G may be below the smallest number. */
static double gamma_cdf(double y, const double *a_) {
  long double a = a_[0], x = expl(y), front = a * (long double)y - x;
  if (x < a + 1.0L) {
    long double term = 1.0L, sum = 1.0L;
    for (int i = 1; i < 1000000 && term > sum * 1e-20L; i++) {
      term *= x / (a + i);
      sum += term;
    }
    return (double)(expl(front - lgammal(a + 1.0L)) * sum);
  }
  long double b = x + 1.0L - a, c = 1e300L, d = 1.0L / b, h = d;
  for (int i = 1; i < 1000000; i++) {
    long double an = -i * (i - a);
    b += 2.0L;
    d = 1.0L / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (fabsl(d * c - 1.0L) < 1e-18L) break;
  }
  return (double)(1.0L - expl(front - lgammal(a)) * h);
}

/* I_x(a, b) for x <= (a + 1)/(a + b + 2) by its continued fraction (A & S 26.5.8). */
static long double beta_fraction(long double x, long double log_x, long double log_1mx, long double a, long double b) {
  long double c = 1.0L, d = 1.0L / (1.0L - (a + b) * x / (a + 1.0L)), h = d;
  for (int m = 1; m < 100000; m++) {
    long double even = m * (b - m) * x / ((a + 2 * m - 1.0L) * (a + 2 * m));
    long double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0L));
    d = 1.0L / (1.0L + even * d);
    c = 1.0L + even / c;
    h *= d * c;
    d = 1.0L / (1.0L + odd * d);
    c = 1.0L + odd / c;
    h *= d * c;
    if (fabsl(d * c - 1.0L) < 1e-18L) break;
  }
  return expl(a * log_x + b * log_1mx + lgammal(a + b) - lgammal(a + 1.0L) - lgammal(b)) * h;
}

/* P(V <= exp(y)), V ~ Be(a, b). */
static double beta_cdf(double y, const double *ab) {
  long double a = ab[0], b = ab[1], x = expl(y), log_1mx = logl(-expm1l(y));
  if (x <= (a + 1.0L) / (a + b + 2.0L)) return (double)beta_fraction(x, y, log_1mx, a, b);
  return (double)(1.0L - beta_fraction(-expm1l(y), log_1mx, y, b, a));
}

static double uniform_cdf(double y, const double *unused) {
  (void)unused;
  return y;
}
static double normal_cdf(double y, const double *sd) { return 0.5 * erfc(-y / sd[0] / sqrt(2.0)); }
static double exponential_cdf(double y, const double *unused) {
  (void)unused;
  return -expm1(-y);
}

/* Tests --------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the draws and compares at 4,000 of them. The result is at most the distance. */
static void check_law(const char *name, double *draws, int n, double (*cdf)(double, const double *),
                      const double *parameters, int should_hold) {
  double distance = 0.0;
  qsort(draws, (size_t)n, sizeof *draws, ascending);
  for (int i = 0; i < n; i += n / 4000) {
    double p = cdf(draws[i], parameters);
    double above = p - (double)i / n, below = (double)(i + 1) / n - p;
    if (!(above <= distance)) distance = above;
    if (!(below <= distance)) distance = below;
  }
  report(name, should_hold ? "distance" : "distance to a wrong law", sqrt((double)n) * distance, wb_distance_limit,
         should_hold);
}

/* Compares the mean and variance of the draws with `mean` and `variance`. `fourth` is the fourth central moment. */
static void check_moments(const char *name, const double *draws, int n, double mean, double variance, double fourth) {
  double first = 0.0, second = 0.0;
  for (int i = 0; i < n; i++) {
    double deviation = draws[i] - mean;
    first += deviation;
    second += deviation * deviation;
  }
  report(name, "mean", fabs(first / n) / sqrt(variance / n), wb_moment_limit, 1);
  report(name, "variance", fabs(second / n - variance) / sqrt((fourth - variance * variance) / n), wb_moment_limit, 1);
}

/* The stream of draw i. The stream of each element gives WB_DRAWS_A_STREAM draws. */
static wb_stream *stream_for(int i) {
  static wb_stream stream;
  static uint32_t iteration = 0;
  if (i == 0) iteration++;
  if (i % WB_DRAWS_A_STREAM == 0) {
    stream = wb_stream_open(key, WB_PURPOSE_SIMULATION, iteration, (uint64_t)(i / WB_DRAWS_A_STREAM));
  }
  return &stream;
}

static void check_uniform(double *draws, int n) {
  for (int i = 0; i < n; i++) draws[i] = wb_stream_uniform(stream_for(i));
  check_moments("uniform", draws, n, 0.5, 1.0 / 12.0, 1.0 / 80.0);
  double product = 0.0;
  for (int i = 0; i + 1 < n; i++) product += (draws[i] - 0.5) * (draws[i + 1] - 0.5);
  report("uniform", "neighbours' covariance", fabs(product / n) * 12.0 * sqrt((double)n), wb_moment_limit, 1);
  check_law("uniform", draws, n, uniform_cdf, NULL, 1);
  for (int i = 0; i < n; i++) {
    draws[i] = wb_uniformf(wb_philox(key, 0, (uint32_t)i, wb_philox_c2(WB_PURPOSE_SIMULATION, 0), 0).word[3]);
  }
  check_law("uniform, single precision", draws, n, uniform_cdf, NULL, 1);
}

static void check_normal(double *draws, int n) {
  const double one = 1.0, wrong = 1.02;
  for (int i = 0; i < n; i++) draws[i] = wb_draw_normal(stream_for(i));
  check_moments("normal", draws, n, 0.0, 1.0, 3.0);
  double third = 0.0, fourth = 0.0;
  for (int i = 0; i < n; i++) {
    double square = draws[i] * draws[i];
    third += draws[i] * square;
    fourth += square * square - 3.0;
  }
  report("normal", "third moment", fabs(third / n) / sqrt(15.0 / n), wb_moment_limit, 1);
  report("normal", "fourth moment", fabs(fourth / n) / sqrt(96.0 / n), wb_moment_limit, 1);
  check_law("normal", draws, n, normal_cdf, &one, 1);
  check_law("normal", draws, n, normal_cdf, &wrong, 0);
}

static void check_exponential(double *draws, int n) {
  for (int i = 0; i < n; i++) draws[i] = wb_draw_exponential(stream_for(i));
  check_moments("exponential", draws, n, 1.0, 1.0, 9.0);
  check_law("exponential", draws, n, exponential_cdf, NULL, 1);
}

static void check_gamma(double *draws, int n) {
  const double shapes[] = {1e-8, 1e-3, 0.1, 0.5, 0.99, 1.0, 2.5, 100.0, 1e6};
  char name[64];
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    const double a = shapes[s], wrong = 1.02 * a;
    snprintf(name, sizeof name, "log gamma, shape %g", a);
    for (int i = 0; i < n; i++) draws[i] = wb_draw_log_gamma(stream_for(i), a);
    check_law(name, draws, n, gamma_cdf, &a, 1);
    check_law(name, draws, n, gamma_cdf, &wrong, 0);
    if (a < 0.5) continue;
    snprintf(name, sizeof name, "gamma, shape %g", a);
    for (int i = 0; i < n; i++) draws[i] = wb_draw_gamma(stream_for(i), a);
    check_moments(name, draws, n, a, a, 3.0 * a * a + 6.0 * a);
    for (int i = 0; i < n; i++) draws[i] = log(draws[i]);
    check_law(name, draws, n, gamma_cdf, &a, 1);
  }
}

/* Gammas from tables: the laws for some shapes, and the covariance of draws from neighbouring elements. */
static void check_gamma_strips(double *draws, int n) {
  const double bases[] = {1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0, 1.1, 5.0, 50.0, 1e3};
  const int counts[] = {0, 1, WB_GAMMA_COUNTS - 1};
  wb_gamma_strips *strips = (wb_gamma_strips *)malloc(sizeof *strips);
  if (!strips) abort();
  char name[64];
  for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++)
    for (size_t c = 0; c < (b % 3 == 0 ? 3 : 1); c++) {
      const int count = counts[c];
      const double shape = bases[b] + count, wrong = 1.02 * shape;
      wb_gamma_strips_build(shape, &strips->law[count], strips->strip[count]);
      for (int i = 0; i < n; i++)
        draws[i] = wb_draw_log_gamma_by_strips(strips, count, key, WB_PURPOSE_SIMULATION, (uint32_t)(100 + 10 * b + c),
                                               (uint64_t)i);
      double product = 0.0;
      for (int i = 0; i + 1 < n; i++)
        product += (gamma_cdf(draws[i], &shape) - 0.5) * (gamma_cdf(draws[i + 1], &shape) - 0.5);
      snprintf(name, sizeof name, "log gamma by strips, shape %g", shape);
      report(name, "neighbours' covariance", fabs(product / n) * 12.0 * sqrt((double)n), wb_moment_limit, 1);
      check_law(name, draws, n, gamma_cdf, &shape, 1);
      check_law(name, draws, n, gamma_cdf, &wrong, 0);
    }
  free(strips);
}

static void check_beta(double *draws, double *others, int n) {
  const double shapes[][2] = {{1.0, 1e-3}, {1.0, 1.0}, {1.0, 5.0}, {0.5, 0.5}, {2.5, 0.7}, {1000.0, 3.0}};
  char name[64];
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    const double *ab = shapes[s], ba[2] = {ab[1], ab[0]};
    for (int i = 0; i < n; i++) wb_draw_log_beta(stream_for(i), ab[0], ab[1], &draws[i], &others[i]);
    /* Compares log V or log(1 - V), whichever is not crowded at 0. */
    if (ab[0] <= ab[1]) {
      snprintf(name, sizeof name, "log V, V ~ Be(%g, %g)", ab[0], ab[1]);
      check_law(name, draws, n, beta_cdf, ab, 1);
    } else {
      snprintf(name, sizeof name, "log(1 - V), V ~ Be(%g, %g)", ab[0], ab[1]);
      check_law(name, others, n, beta_cdf, ba, 1);
    }
  }
  /* log(1 - v) of Be(1, b) has the law exp(b y). With b = 1e-3 it reaches down to -2e4, where v itself is 1. */
  const double b = 1e-3;
  for (int i = 0; i < n; i++) {
    wb_draw_log_beta(stream_for(i), 1.0, b, &draws[i], &others[i]);
    others[i] = exp(b * others[i]);
  }
  check_law("V ~ Be(1, 0.001), closed form", others, n, uniform_cdf, NULL, 1);
}

static void check_dirichlet(double *draws, double *others, int n) {
  const double shape[3] = {0.5, 2.0, 0.01}, first[2] = {0.5, 2.01}, third[2] = {0.01, 2.5};
  double worst = 0.0;
  for (int i = 0; i < n; i++) {
    double log_p[3];
    wb_draw_log_dirichlet(stream_for(i), 3, shape, log_p);
    draws[i] = log_p[0];
    others[i] = log_p[2];
    double error = fabs(exp(log_p[0]) + exp(log_p[1]) + exp(log_p[2]) - 1.0);
    if (!(error <= worst)) worst = error;
  }
  report("Dirichlet", "|sum - 1| / 2^-52", worst / 2.220446049250313e-16, 8.0, 1);
  check_law("Dirichlet, first of (.5, 2, .01)", draws, n, beta_cdf, first, 1);
  check_law("Dirichlet, third of (.5, 2, .01)", others, n, beta_cdf, third, 1);
}

/* Numbers of tables: the moments of a sum of independent events, and for few customers the probability of each
 * number. */
static void check_tables(double *draws, int n) {
  const double cases[][2] = {{0.05, 1e6}, {0.5, 1000}, {1.3, 12}, {3, 20}, {40, 1e5}, {200, 100}};
  char name[64];
  for (size_t s = 0; s < sizeof cases / sizeof cases[0]; s++) {
    const double c = cases[s][0], customers = cases[s][1];
    double mean = 0.0, variance = 0.0, fourth = 0.0, law[16] = {1.0}, worst = 0.0;
    snprintf(name, sizeof name, "tables of %g at %g", customers, c);
    for (int i = 0; i < n; i++) draws[i] = wb_draw_tables(stream_for(i), c, customers);
    for (int i = 0; i < (int)customers; i++) {
      const double p = c / (c + i), v = p * (1.0 - p);
      mean += p;
      variance += v;
      fourth += v * (1.0 - 6.0 * v);
      for (int t = 15; t >= 0; t--) law[t] = law[t] * (1.0 - p) + (t > 0 ? law[t - 1] * p : 0.0);
    }
    check_moments(name, draws, n, mean, variance, fourth + 3.0 * variance * variance);
    if (customers > 12) continue;
    for (int t = 1; t <= 12; t++) {
      double count = 0.0;
      for (int i = 0; i < n; i++) count += draws[i] == t;
      if (n * law[t] < 20) continue;
      const double z = fabs(count - n * law[t]) / sqrt(n * law[t] * (1.0 - law[t]));
      if (!(z <= worst)) worst = z;
    }
    report(name, "worst probability", worst, wb_worst_limit, 1);
  }
}

/* Whole draws from 0 to most - 1 against their law, whose lower tails are spread evenly by a uniform each; one with a
 * mean wrong by 2% must be found. */
static void check_whole_law(const char *name, double *draws, int n, const double *law, int most) {
  double *below = (double *)malloc(((size_t)most + 1) * sizeof *below), mean = 0.0, variance = 0.0, fourth = 0.0;
  if (!below) abort();
  below[0] = 0.0;
  for (int x = 0; x < most; x++) {
    below[x + 1] = below[x] + law[x];
    mean += x * law[x];
  }
  for (int x = 0; x < most; x++) {
    const double square = (x - mean) * (x - mean);
    variance += square * law[x];
    fourth += square * square * law[x];
  }
  check_moments(name, draws, n, mean, variance, fourth);
  for (int i = 0; i < n; i++) {
    const int x = (int)draws[i];
    const wb_bits bits = wb_philox(key, 77, (uint32_t)i, wb_philox_c2(WB_PURPOSE_SIMULATION, 0), 7);
    const double u = wb_uniform(wb_bits64(bits, 0));
    draws[i] = below[x] + u * law[x];
  }
  check_law(name, draws, n, uniform_cdf, NULL, 1);
  free(below);
}

static void check_binomial(double *draws, int n) {
  const double cases[][2] = {{1, 0.3},     {7, 0.5},    {30, 0.9},    {100, 0.11},  {24, 0.5},
                             {25, 0.5},    {121, 0.1},  {1000, 0.02}, {1000, 0.98}, {5000, 0.25},
                             {1e5, 0.001}, {1e5, 1e-5}, {1e5, 0.499}};
  char name[64];
  for (size_t s = 0; s < sizeof cases / sizeof cases[0]; s++) {
    const int trials = (int)cases[s][0];
    const double p = cases[s][1], wrong = 1.02 * p < 1.0 ? 1.02 * p : p / 1.02;
    double *law = (double *)malloc(((size_t)trials + 1) * sizeof *law);
    if (!law) abort();
    for (int x = 0; x <= trials; x++)
      law[x] = (double)expl(lgammal(trials + 1.0L) - lgammal(x + 1.0L) - lgammal(trials - x + 1.0L) +
                            x * logl((long double)p) + (trials - x) * log1pl(-(long double)p));
    snprintf(name, sizeof name, "binomial of %d at %g", trials, p);
    for (int i = 0; i < n; i++) {
      wb_stream stream = wb_stream_open(key, WB_PURPOSE_SIMULATION, 11, (uint64_t)i);
      draws[i] = (double)wb_draw_binomial(&stream, trials, p, 1.0 - p);
    }
    check_whole_law(name, draws, n, law, trials + 1);
    if (trials * p < 10.0) {
      free(law);
      continue;
    }
    for (int i = 0; i < n; i++) {
      wb_stream stream = wb_stream_open(key, WB_PURPOSE_SIMULATION, 12, (uint64_t)i);
      draws[i] = (double)wb_draw_binomial(&stream, trials, wrong, 1.0 - wrong);
    }
    double mean = 0.0;
    for (int i = 0; i < n; i++) mean += draws[i] / n;
    report(name, "2% wrong, mean", fabs(mean - trials * p) / sqrt(trials * p * (1.0 - p) / n), wb_moment_limit, 0);
    free(law);
  }
}

/* The tables of many counts: from their histogram with few levels, and one by one above these. */
static void check_levels(double *draws, int n) {
  enum { COUNTS = 60, MOST = 1200, LEVELS = 12 };
  const double shapes[] = {0.01, 0.3, 1.0, 1.3, 40.0};
  int32_t count[COUNTS];
  int32_t histogram[LEVELS + 1] = {0};
  char name[64];
  for (int j = 0; j < COUNTS; j++) {
    count[j] = j < 30 ? 1 + j / 10 : j < 55 ? 3 + j % 9 : 10 * (j - 50);
    histogram[count[j] < LEVELS ? count[j] : LEVELS]++;
  }
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    const double shape = shapes[s];
    double law[MOST] = {1.0};
    for (int j = 0; j < COUNTS; j++)
      for (int i = 0; i < count[j]; i++) {
        const double p = shape / (shape + i);
        for (int t = MOST - 1; t >= 0; t--) law[t] = law[t] * (1.0 - p) + (t > 0 ? law[t - 1] * p : 0.0);
      }
    snprintf(name, sizeof name, "tables by levels at %g", shape);
    for (int i = 0; i < n; i++) {
      int64_t above = histogram[LEVELS];
      int64_t tables =
          wb_topic_level_openings(key, WB_PURPOSE_SIMULATION, 13, (uint64_t)i, shape, histogram, 1, LEVELS, &above);
      for (int j = 0; j < COUNTS; j++)
        tables += wb_topic_openings(key, WB_PURPOSE_SIMULATION, 14, (uint64_t)i * COUNTS + (uint64_t)j, shape, 0.0,
                                    LEVELS, count[j]);
      draws[i] = (double)(tables + above);
    }
    check_whole_law(name, draws, n, law, MOST);
  }
}

/* Means and variances of all entries of W, and the law of its first and last diagonal entries, which is chi-squared
 * with df degrees of freedom. Fourth central moments are 12 df^2 + 48 df on the diagonal and 3 df^2 + 6 df off it. */
static void check_wishart(int p, double df, double *first, double *last, int n) {
  size_t size = wb_packed_size(p);
  double *w = (double *)calloc(3 * size, sizeof *w), *mean = w + size, *square = mean + size;
  double half = 0.5 * df, worst_mean = 0.0, worst_square = 0.0;
  char name[64];
  if (!w) abort();
  snprintf(name, sizeof name, "Wishart by T' T, p = %d, df = %g", p, df);
  for (int i = 0; i < n; i++) {
    wb_draw_wishart_gram_factor(stream_for(i), p, df, w);
    wb_triangle_gram(p, w, w);
    first[i] = log(0.5 * w[0]);
    last[i] = log(0.5 * w[size - 1]);
    for (int r = 0; r < p; r++) {
      for (int c = 0; c <= r; c++) {
        size_t at = wb_packed_row(r) + (size_t)c;
        double deviation = w[at] - (r == c ? df : 0.0);
        mean[at] += deviation / n;
        square[at] += deviation * deviation / n;
      }
    }
  }
  for (int r = 0; r < p; r++) {
    for (int c = 0; c <= r; c++) {
      size_t at = wb_packed_row(r) + (size_t)c;
      double variance = r == c ? 2.0 * df : df;
      double fourth = r == c ? 12.0 * df * df + 48.0 * df : 3.0 * df * df + 6.0 * df;
      double z = fabs(mean[at]) / sqrt(variance / n);
      double zz = fabs(square[at] - variance) / sqrt((fourth - variance * variance) / n);
      if (!(z <= worst_mean)) worst_mean = z;
      if (!(zz <= worst_square)) worst_square = zz;
    }
  }
  report(name, "worst mean", worst_mean, wb_worst_limit, 1);
  report(name, "worst variance", worst_square, wb_worst_limit, 1);
  check_law(name, first, n, gamma_cdf, &half, 1);
  check_law(name, last, n, gamma_cdf, &half, 1);
  free(w);
}

/* A slice of a density without values shrinks for ever where neighbouring numbers are farther apart than 1e-12. */
static double no_density(const void *calls, double at) {
  if (++*(int *)calls > 100000) {
    printf("slice without a density, at %g: endless   FAILED\n", at);
    exit(1);
  }
  return NAN;
}

static void check_slice(void) {
  const double currents[] = {0.0, -3.0, 1e6, -1e9, 1e300, INFINITY};
  for (size_t i = 0; i < sizeof currents / sizeof *currents; i++) {
    int calls = 0;
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_SIMULATION, 13, i);
    double found = wb_slice_draw(no_density, &calls, 2.0, 16, INFINITY, currents[i], &stream);
    report("slice without a density", "stays where it was", found != currents[i], 0.0, 1);
  }
}

int main(void) {
  double *draws = (double *)malloc(2 * WB_DRAWS * sizeof *draws);
  if (!draws) abort();
  key = wb_chain_key(20240601, 0);
  check_uniform(draws, WB_DRAWS);
  check_normal(draws, WB_DRAWS);
  check_exponential(draws, WB_DRAWS);
  check_gamma(draws, WB_DRAWS);
  check_gamma_strips(draws, WB_DRAWS);
  check_beta(draws, draws + WB_DRAWS, WB_DRAWS);
  check_dirichlet(draws, draws + WB_DRAWS, WB_DRAWS);
  check_tables(draws, WB_DRAWS / 4);
  check_binomial(draws, WB_DRAWS / 10);
  check_levels(draws, WB_DRAWS / 20);
  check_slice();
  check_wishart(3, 2.5, draws, draws + WB_DRAWS, WB_DRAWS / 4);
  check_wishart(8, 20.3, draws, draws + WB_DRAWS, WB_DRAWS / 10);
  free(draws);
  printf("variates: %d tests, %d failed\n", tests, failures);
  return failures != 0;
}
