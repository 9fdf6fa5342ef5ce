/* Bad arguments. Each call must return WARPBAYES_INPUT with a message, and must not crash. */
#include "client.h"

#include <math.h>
#include <string.h>

#define SIZE 8

static int calls, accepted;
static char first_accepted[64];

static void refused(const char *what, int status, const warpbayes_message *message) {
  calls++;
  if (status == WARPBAYES_INPUT && message->text[0] != '\0' && strlen(message->text) < sizeof message->text) return;
  if (accepted++ == 0) strncpy(first_accepted, what, sizeof first_accepted - 1);
}

#define REFUSED(call) refused(#call, wb->call, &m)

static double out[SIZE * SIZE], bad[SIZE], good[SIZE * SIZE];
static int32_t items[SIZE * SIZE];
static const double wrong[] = {NAN, -1, 0, INFINITY, -INFINITY};
static const int64_t sizes[] = {-1, INT64_MIN, INT64_MAX};

static void streams(void) {
  warpbayes_message m;
  warpbayes_stream stream, closed;
  memset(&closed, 0, sizeof closed);
  REFUSED(stream_open(1, 1, 1, NULL, &m));
  REFUSED(stream_open(1, 1, (uint64_t)1 << 48, &stream, &m));
  wb->stream_open(1, 1, 1, &stream, NULL);
  REFUSED(stream_uniform(NULL, 1, out, &m));
  REFUSED(stream_uniform(&closed, 1, out, &m));
  REFUSED(stream_uniform(&stream, 1, NULL, &m));
  REFUSED(stream_normal(&closed, 1, out, &m));
  REFUSED(stream_normal(&stream, 1, NULL, &m));
  REFUSED(stream_gamma(&closed, 1, good, 1, 0, out, &m));
  REFUSED(stream_gamma(&stream, 1, NULL, 1, 0, out, &m));
  REFUSED(stream_gamma(&stream, 1, good, 0, 0, out, &m));
  REFUSED(stream_beta(&closed, 1, good, 1, good, 1, 0, out, &m));
  REFUSED(stream_beta(&stream, 1, good, 1, NULL, 1, 0, out, &m));
  REFUSED(stream_beta(&stream, 1, good, 1, good, -1, 0, out, &m));
  REFUSED(stream_dirichlet(&closed, 2, good, 0, out, &m));
  REFUSED(stream_dirichlet(&stream, 2, NULL, 0, out, &m));
  REFUSED(stream_dirichlet(&stream, 0, good, 0, out, &m));
  for (int i = 0; i < 3; i++) {
    REFUSED(stream_uniform(&stream, sizes[i], out, &m));
    REFUSED(stream_normal(&stream, sizes[i], out, &m));
    REFUSED(stream_gamma(&stream, sizes[i], good, 1, 0, out, &m));
    REFUSED(stream_beta(&stream, sizes[i], good, 1, good, 1, 0, out, &m));
    REFUSED(stream_dirichlet(&stream, sizes[i], good, 0, out, &m));
  }
  for (int i = 0; i < 5; i++) {
    bad[SIZE - 1] = wrong[i];
    REFUSED(stream_gamma(&stream, 1, bad, SIZE, 0, out, &m));
    REFUSED(stream_beta(&stream, 1, bad, SIZE, good, 1, 0, out, &m));
    REFUSED(stream_beta(&stream, 1, good, 1, bad, SIZE, 0, out, &m));
    REFUSED(stream_dirichlet(&stream, SIZE, bad, 1, out, &m));
  }
}

static void draws(const warpbayes_source *from, int64_t n) {
  warpbayes_message m;
  REFUSED(uniform_draw(from, n, out, &m));
  REFUSED(normal_draw(from, n, out, &m));
  REFUSED(gamma_draw(from, n, good, 1, 0, out, &m));
  REFUSED(beta_draw(from, n, good, 1, good, 1, 0, out, &m));
  REFUSED(dirichlet_draw(from, n, 2, good, 0, 0, out, &m));
  REFUSED(polyagamma_draw(from, n, good, 1, good, 1, out, &m));
  REFUSED(categorical_draw(from, n, 2, good, 0, 1, items, &m));
}

static void parameters(const warpbayes_source *from) {
  warpbayes_message m;
  REFUSED(uniform_draw(from, 1, NULL, &m));
  REFUSED(normal_draw(from, 1, NULL, &m));
  REFUSED(gamma_draw(from, 1, good, 1, 0, NULL, &m));
  REFUSED(gamma_draw(from, 1, NULL, 1, 0, out, &m));
  REFUSED(gamma_draw(from, 1, good, 0, 0, out, &m));
  REFUSED(beta_draw(from, 1, good, 1, good, -5, 0, out, &m));
  REFUSED(beta_draw(from, 1, NULL, 1, good, 1, 0, out, &m));
  REFUSED(dirichlet_draw(from, 1, 0, good, 0, 0, out, &m));
  REFUSED(dirichlet_draw(from, 1, 2, NULL, 0, 0, out, &m));
  REFUSED(dirichlet_draw(from, 1, 2, good, 0, 0, NULL, &m));
  REFUSED(polyagamma_draw(from, 1, NULL, 1, good, 1, out, &m));
  REFUSED(polyagamma_draw(from, 1, good, 1, NULL, 1, out, &m));
  REFUSED(polyagamma_draw(from, 1, good, 1, good, 0, out, &m));
  REFUSED(polyagamma_draw(from, 1, good, 1, good, 1, NULL, &m));
  REFUSED(categorical_draw(from, 2, 2, NULL, 0, 1, items, &m));
  REFUSED(categorical_draw(from, 2, 2, good, 0, 1, NULL, &m));
  REFUSED(categorical_draw(from, 2, 0, good, 0, 1, items, &m));
  for (int i = 0; i < 3; i++) {
    REFUSED(dirichlet_draw(from, 1, sizes[i], good, 1, 0, out, &m));
    REFUSED(categorical_draw(from, 2, sizes[i], good, 0, 1, items, &m));
    REFUSED(categorical_draw(from, 2, 2, good, 0, sizes[i], items, &m));
  }
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < SIZE; j++) bad[j] = wrong[i];
    REFUSED(gamma_draw(from, 1, bad, SIZE, 0, out, &m));
    REFUSED(beta_draw(from, 1, good, 1, bad, SIZE, 1, out, &m));
    REFUSED(dirichlet_draw(from, 2, 4, bad, 1, 0, out, &m));
    REFUSED(polyagamma_draw(from, 1, bad, SIZE, good, 1, out, &m));
    if (i != 1 && i != 2) REFUSED(polyagamma_draw(from, 1, good, 1, bad, SIZE, out, &m));
    REFUSED(categorical_draw(from, 2, 4, bad, 0, 1, items, &m));
    if (i != 1 && i != 2) REFUSED(categorical_draw(from, 2, 4, bad, 1, 1, items, &m));
    REFUSED(pmf_convolve(2, good, SIZE, bad, 0, 0, 1, out, &m));
    if (i != 1 && i != 2) REFUSED(pmf_convolve(SIZE, bad, 2, good, 1, 0, 1, out, &m));
    if (i != 2) REFUSED(pmf_convolve(2, good, 2, good, 0, wrong[i], 1, out, &m));
  }
}

/* Version 2. */
static void more_laws(const warpbayes_source *from) {
  warpbayes_message m;
  warpbayes_stream stream;
  const double half = 0.5, two = 2, many = 4294967296.0, unit[4] = {1, 0, 0, 1}, singular[4] = {1, 1, 1, 1};
  wb->stream_open(1, 1, 1, &stream, NULL);
  REFUSED(exponential_draw(from, 1, NULL, &m));
  REFUSED(gumbel_draw(NULL, 1, out, &m));
  REFUSED(stream_exponential(&stream, -1, out, &m));
  REFUSED(stream_gumbel(NULL, 1, out, &m));
  REFUSED(truncated_normal_draw(from, 1, NULL, 1, &two, 1, out, &m));
  REFUSED(truncated_normal_draw(from, 2, &two, 1, &two, 1, out, &m));
  REFUSED(truncated_normal_draw(from, 1, &two, 1, &half, 1, out, &m));
  REFUSED(truncated_normal_draw(from, 1, &wrong[3], 1, &wrong[3], 1, out, &m));
  REFUSED(truncated_normal_draw(from, 1, &wrong[4], 1, &wrong[4], 1, out, &m));
  REFUSED(truncated_normal_draw(from, 1, &wrong[0], 1, &two, 1, out, &m));
  REFUSED(stream_truncated_normal(&stream, 1, &two, 1, &wrong[0], 1, out, &m));
  REFUSED(stream_truncated_normal(&stream, 1, &two, 0, &two, 1, out, &m));
  REFUSED(binomial_draw(from, 1, &half, 1, &half, 1, out, &m));
  REFUSED(binomial_draw(from, 1, &many, 1, &half, 1, out, &m));
  REFUSED(binomial_draw(from, 1, &two, 1, &two, 1, out, &m));
  REFUSED(stream_binomial(&stream, 1, NULL, 1, &half, 1, out, &m));
  for (int i = 0; i < 5; i++) {
    if (i != 2) REFUSED(binomial_draw(from, 1, &wrong[i], 1, &half, 1, out, &m));
    if (i != 2) REFUSED(stream_binomial(&stream, 1, &two, 1, &wrong[i], 1, out, &m));
    if (i != 2) REFUSED(multinomial_draw(from, 1, 2, &wrong[i], 1, good, 0, out, &m));
    for (int j = 0; j < SIZE; j++) bad[j] = wrong[i];
    REFUSED(multinomial_draw(from, 2, 2, &two, 1, bad, 1, out, &m));
    REFUSED(stream_multinomial(&stream, SIZE, 2, bad, out, &m));
    if (i != 1 && i != 2) REFUSED(multivariate_normal_draw(from, 2, 2, bad, 1, unit, 0, out, &m));
    REFUSED(multivariate_normal_draw(from, 1, 2, good, 0, bad, i % 2, out, &m));
    REFUSED(stream_multivariate_normal(&stream, 2, good, bad, i % 2, out, &m));
    REFUSED(wishart_draw(from, 1, 2, wrong[i], unit, 0, out, &m));
    REFUSED(wishart_draw(from, 1, 2, 5, bad, i % 2, out, &m));
    REFUSED(stream_wishart(&stream, 2, wrong[i], unit, 1, out, &m));
  }
  REFUSED(wishart_draw(from, 1, 2, 1, unit, 0, out, &m));
  REFUSED(wishart_draw(from, 1, 2, 5, singular, 0, out, &m));
  REFUSED(wishart_draw(from, 1, 2, 5, NULL, 0, out, &m));
  REFUSED(wishart_draw(from, 1, 1025, 2000, unit, 0, out, &m));
  REFUSED(multivariate_normal_draw(from, 1, 2, good, 0, singular, 1, out, &m));
  REFUSED(multivariate_normal_draw(from, 1, 2, NULL, 0, unit, 0, out, &m));
  REFUSED(multivariate_normal_draw(from, 1, 2, good, 0, NULL, 0, out, &m));
  REFUSED(multivariate_normal_draw(from, 1, 1025, good, 0, unit, 0, out, &m));
  for (int i = 0; i < 3; i++) {
    REFUSED(multinomial_draw(from, sizes[i], 2, &two, 1, good, 0, out, &m));
    REFUSED(multinomial_draw(from, 2, sizes[i], &two, 1, good, 1, out, &m));
    REFUSED(multivariate_normal_draw(from, 1, sizes[i], good, 0, unit, 0, out, &m));
    REFUSED(wishart_draw(from, sizes[i], 2, 5, unit, 0, out, &m));
    REFUSED(stream_wishart(&stream, sizes[i], 5, unit, 0, out, &m));
  }
}

static void convolutions(void) {
  warpbayes_message m;
  REFUSED(pmf_convolve(0, good, 2, good, 0, 0, 1, out, &m));
  REFUSED(pmf_convolve(2, NULL, 2, good, 0, 0, 1, out, &m));
  REFUSED(pmf_convolve(2, good, 2, NULL, 0, 0, 1, out, &m));
  REFUSED(pmf_convolve(2, good, 2, good, 0, 0, 1, NULL, &m));
  REFUSED(pmf_convolve(2, good, 2, good, 0, 0, 0, out, &m));
  for (int i = 0; i < 3; i++) {
    REFUSED(pmf_convolve(sizes[i], good, 2, good, 0, 0, 1, out, &m));
    REFUSED(pmf_convolve(2, good, sizes[i], good, 0, 0, 1, out, &m));
  }
}

/* Both functions of mixtures refuse it. */
static void mixture(const warpbayes_source *from, const warpbayes_mixture *given, int64_t rows, const double *x) {
  warpbayes_message m;
  REFUSED(mixture_evaluate(given, rows, x, 1, out, out + SIZE, items, &m));
  REFUSED(mixture_allocate(from, given, rows, x, items, out, &m));
}

static void mixtures(const warpbayes_source *from) {
  warpbayes_message m;
  static const double weights[2] = {0.5, 0.5}, means[4] = {0, 1, 2, 3}, unit[8] = {1, 0, 0, 1, 1, 0, 0, 1};
  static const double x[4] = {1, 2, 3, 4}, far[4] = {1, 1e308, 2, 1e308};
  static const double tiny[8] = {2e-300, 1e-300, 1e-300, 2e-300, 2e-300, 0, 0, 2e-300};
  const warpbayes_mixture sound = {2, 2, weights, means, unit, NULL, NULL};
  warpbayes_mixture given = sound;
  mixture(from, NULL, 2, x);
  mixture(from, &given, 2, NULL);
  mixture(from, &given, -1, x);
  mixture(from, &given, INT64_MAX, x);
  REFUSED(mixture_allocate(NULL, &given, 2, x, items, out, &m));
  REFUSED(mixture_allocate(from, &given, 2, x, NULL, out, &m));
  REFUSED(mixture_evaluate(&given, 2, x, 0, out, NULL, NULL, &m));
  given.covariances = tiny;
  REFUSED(mixture_allocate(from, &given, 2, far, items, out, &m));
  given = sound;
  given.components = 0, mixture(from, &given, 2, x), given.components = -3, mixture(from, &given, 2, x), given = sound;
  given.columns = 0, mixture(from, &given, 2, x), given.columns = INT32_MAX, mixture(from, &given, 2, x), given = sound;
  given.weights = NULL, mixture(from, &given, 2, x), given = sound;
  given.means = NULL, mixture(from, &given, 2, x), given = sound;
  given.covariances = NULL, mixture(from, &given, 2, x), given = sound;
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < SIZE; j++) bad[j] = wrong[i];
    given.weights = bad, mixture(from, &given, 2, x), given = sound;
    given.covariances = bad, mixture(from, &given, 2, x), given = sound;
    given.scale = bad, mixture(from, &given, 2, x), given = sound;
    if (i == 1 || i == 2) continue;
    given.means = bad, mixture(from, &given, 2, x), given = sound;
    given.center = bad, mixture(from, &given, 2, x), given = sound;
    mixture(from, &given, 2, bad);
  }
}

/* Returns the number of calls, the number of those that were not refused, and the first of these. */
SEXP client_hostile(void) {
  const uint64_t key = wb->key(1, 0);
  const warpbayes_source sound = {key, 0, 1, 1};
  const warpbayes_source sources[] = {
      {key, 0, 1, 0}, {key, 0, 1, -1}, {key, 0, 1, 4097}, {key, (uint64_t)1 << 48, 1, 1}, {key, UINT64_MAX, 1, 1}};
  warpbayes_message m;
  for (int i = 0; i < SIZE * SIZE; i++) good[i] = 1;
  for (int i = 0; i < SIZE; i++) bad[i] = 1;
  calls = accepted = 0;
  strcpy(first_accepted, "");
  streams();
  draws(NULL, 1);
  for (int i = 0; i < 5; i++) draws(&sources[i], 2);
  for (int i = 0; i < 3; i++) draws(&sound, sizes[i]);
  parameters(&sound);
  more_laws(&sound);
  convolutions();
  mixtures(&sound);
  refused("open without a table", warpbayes_open(NULL, 1, &m), &m);
  /* A message may be NULL, and nothing to do is no error. */
  accepted += wb->uniform_draw(NULL, 1, out, NULL) != WARPBAYES_INPUT;
  accepted += wb->polyagamma_draw(&sound, 0, good, 1, good, 1, NULL, NULL) != WARPBAYES_OK;
  accepted += wb->wishart_draw(&sound, 0, 2, 5, NULL, 0, NULL, NULL) != WARPBAYES_OK;
  accepted += wb->categorical_draw(&sound, 0, 2, NULL, 0, 1, NULL, NULL) != WARPBAYES_OK;
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(calls));
  SET_VECTOR_ELT(result, 1, Rf_ScalarInteger(accepted));
  SET_VECTOR_ELT(result, 2, Rf_mkString(first_accepted));
  UNPROTECT(1);
  return result;
}
