/* Joins clusters of a start while that raises their marginal posterior, by greedy agglomeration (Heller & Ghahramani
 * 2005): the Gibbs sampler takes long to empty one of two components of a population. A few sweeps should sort the
 * cells first. With means and covariances integrated out, a cluster of n rows contributes, apart from terms that
 * merging leaves unchanged (Murphy 2007, equation 266, in our notation),
 *
 *    log Gamma_p(df_n/2) - log Gamma_p(df/2) + df/2 log|nu Phi| - df_n/2 log|Psi_n|
 *    - p/2 log(1 + gamma n),   df = nu + p + 1, df_n = df + n,
 *
 * and log alpha + log Gamma(n) from the Dirichlet process. */
#include "core/scalar.h"

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "numeric/memory.h"
#include "mixture/mixture.h"
#include "mixture/peaks.h"

/* A cluster is compared with this many of its nearest others. */
#define NEIGHBOURS 30

typedef struct merge {
  const wb_mixture_prior *prior;
  int32_t clusters;
  double *statistics;
  double constant;    /* log of the prior's shape / rate for alpha, added for every cluster */
  double of_prior;    /* of the log marginal density of every cluster */
  double *score;      /* clusters */
  double *gain;       /* clusters x NEIGHBOURS */
  int32_t *neighbour; /* clusters x NEIGHBOURS: -1: none */
  double *joined, *scale, *average, *distance;
} merge;

static double *statistics_of(const merge *m, int32_t j) {
  return m->statistics + (size_t)j * WB_MIXTURE_STATISTICS(m->prior->columns);
}

double wb_mixture_log_marginal_prior(const wb_mixture_prior *prior, double *scale) {
  const int32_t p = prior->columns;
  const double df = prior->df + p + 1;
  for (size_t i = 0; i < wb_packed_size(p); i++) scale[i] = prior->df * prior->scale[i];
  if (wb_cholesky(p, scale) != 0) return -wb_infinity();
  return df * wb_triangle_log_determinant(p, scale) - wb_lgamma_multivariate(p, 0.5 * df);
}

double wb_mixture_log_marginal(const wb_mixture_prior *prior, double of_prior, const double *statistics,
                               double *average, double *scale) {
  const int32_t p = prior->columns;
  const double n = statistics[0], df = prior->df + p + 1;
  if (n <= 0) return 0;
  wb_mixture_posterior_scale(prior, statistics, average, scale);
  if (wb_cholesky(p, scale) != 0) return -wb_infinity();
  return of_prior + wb_lgamma_multivariate(p, 0.5 * (df + n)) - (df + n) * wb_triangle_log_determinant(p, scale) -
         0.5 * p * wb_log1p(prior->mean_scale * n);
}

static double cluster_score(const merge *m, const double *statistics) {
  const double n = statistics[0];
  if (n <= 0) return 0;
  const double log_marginal = wb_mixture_log_marginal(m->prior, m->of_prior, statistics, m->average, m->scale);
  return log_marginal > -wb_infinity() ? m->constant + log_marginal + wb_lgamma(n) : 0;
}

static double merge_gain(const merge *m, int32_t a, int32_t b) {
  const size_t size = WB_MIXTURE_STATISTICS(m->prior->columns);
  const double *first = statistics_of(m, a), *second = statistics_of(m, b);
  for (size_t i = 0; i < size; i++) m->joined[i] = first[i] + second[i];
  return cluster_score(m, m->joined) - m->score[a] - m->score[b];
}

static void find_neighbours(merge *m, int32_t a) {
  const int32_t p = m->prior->columns;
  int32_t *neighbour = m->neighbour + (size_t)a * NEIGHBOURS;
  const double *own = statistics_of(m, a);
  int count = 0;
  for (int i = 0; i < NEIGHBOURS; i++) neighbour[i] = -1;
  for (int32_t b = 0; b < m->clusters; b++) {
    const double *other = statistics_of(m, b);
    if (b == a || other[0] <= 0) continue;
    double distance = 0;
    for (int32_t c = 1; c <= p; c++) {
      const double difference = own[c] / own[0] - other[c] / other[0];
      distance += difference * difference;
    }
    count = wb_insert_nearest(count, NEIGHBOURS, distance, b, m->distance, neighbour);
  }
  for (int i = 0; i < count; i++) m->gain[(size_t)a * NEIGHBOURS + (size_t)i] = merge_gain(m, a, neighbour[i]);
}

/* Adds cluster b to a and empties b; finds a's neighbours anew, and a replaces a and b among those of others. */
static void join(merge *m, int32_t a, int32_t b) {
  const size_t size = WB_MIXTURE_STATISTICS(m->prior->columns);
  double *into = statistics_of(m, a), *from = statistics_of(m, b);
  for (size_t i = 0; i < size; i++) {
    into[i] += from[i];
    from[i] = 0;
  }
  m->score[a] = cluster_score(m, into);
  find_neighbours(m, a);
  for (int32_t c = 0; c < m->clusters; c++) {
    if (c == a || statistics_of(m, c)[0] <= 0) continue;
    int32_t *neighbour = m->neighbour + (size_t)c * NEIGHBOURS;
    int place = -1;
    for (int i = 0; i < NEIGHBOURS; i++) {
      if (neighbour[i] != a && neighbour[i] != b) continue;
      neighbour[i] = place < 0 ? a : -1;
      if (place < 0) place = i;
    }
    if (place >= 0) m->gain[(size_t)c * NEIGHBOURS + (size_t)place] = merge_gain(m, c, a);
  }
}

static void join_while_it_pays(merge *m) {
  for (;;) {
    double best = 0;
    int32_t a = -1, b = -1;
    for (int32_t j = 0; j < m->clusters; j++) {
      if (statistics_of(m, j)[0] <= 0) continue;
      for (int i = 0; i < NEIGHBOURS; i++) {
        const size_t at = (size_t)j * NEIGHBOURS + (size_t)i;
        if (m->neighbour[at] >= 0 && m->gain[at] > best) {
          best = m->gain[at];
          a = j;
          b = m->neighbour[at];
        }
      }
    }
    if (a < 0) return;
    join(m, a, b);
  }
}

/* Insertion sort by exchange of neighbours, stable: there are few components, and most are in place. */
void wb_mixture_order_by_size(int32_t components, int32_t columns, double *statistics) {
  const size_t size = WB_MIXTURE_STATISTICS(columns);
  for (int32_t j = 1; j < components; j++)
    for (int32_t l = j; l > 0 && statistics[(size_t)l * size] > statistics[(size_t)(l - 1) * size]; l--)
      for (size_t i = 0; i < size; i++) {
        double *here = statistics + (size_t)l * size + i, *before = here - size;
        const double kept = *here;
        *here = *before;
        *before = kept;
      }
}

int wb_mixture_merge(const wb_mixture_prior *prior, int32_t clusters, double *statistics, wb_message *message) {
  const int32_t p = prior->columns;
  const size_t k = (size_t)clusters, triangle = wb_packed_size(p);
  merge m = {.prior = prior, .clusters = clusters, .statistics = statistics};
  void *const memory =
      WB_PARTS("the start of a chain", message, WB_PART(m.score, k), WB_PART(m.gain, k * NEIGHBOURS),
               WB_PART(m.joined, WB_MIXTURE_STATISTICS(p)), WB_PART(m.scale, triangle), WB_PART(m.average, p),
               WB_PART(m.distance, NEIGHBOURS), WB_PART(m.neighbour, k * NEIGHBOURS));
  if (!memory) return WB_ERROR_MEMORY;
  m.constant = wb_log(prior->shape / prior->rate);
  m.of_prior = wb_mixture_log_marginal_prior(prior, m.scale);
  for (int32_t j = 0; j < clusters; j++) m.score[j] = cluster_score(&m, statistics_of(&m, j));
  for (int32_t j = 0; j < clusters; j++) {
    for (int i = 0; i < NEIGHBOURS; i++) m.neighbour[(size_t)j * NEIGHBOURS + (size_t)i] = -1;
    if (statistics_of(&m, j)[0] > 0) find_neighbours(&m, j);
  }
  join_while_it_pays(&m);
  wb_aligned_free(memory);
  wb_mixture_order_by_size(clusters, p, statistics);
  return WB_OK;
}
