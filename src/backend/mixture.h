/* The table of functions for Gaussian mixtures. */
#ifndef WB_BACKEND_MIXTURE_H
#define WB_BACKEND_MIXTURE_H

#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of data. The session reads x in the data's units and computes with the scaled
 * units (x - center) * inverse_scale. x must outlive the session. */
typedef struct wb_mixture_data {
  const double *x; /* rows x columns, column-major */
  int64_t rows;
  int32_t columns;
  const double *center;        /* columns */
  const double *inverse_scale; /* columns */
  wb_precision precision;      /* in which log densities and weights are computed */
} wb_mixture_data;

/* Components in the scaled units, p being the columns. With Sigma = L L' and
 * F = L^-1: log(pi_j N(x | mu_j, Sigma_j)) = log_constant_j - |F_j x - offset_j|^2 / 2. */
typedef struct wb_mixture_parameters {
  int32_t components;
  const double *factor; /* components x p(p+1)/2: lower triangles F, row by row */
  const double *offset; /* components x p: F mu */
  const double *log_constant; /* components: log pi - log|L| - p/2 log(2 pi) */
} wb_mixture_parameters;

/* How many pairs there are at most. */
#define WB_MIXTURE_MOST_PAIRS 32

/* Disjoint pairs of components, for moves that split a component in two halves and join
 * two to one. All rows of a pair's two components belong to the pair. */
typedef struct wb_mixture_pairs {
  int32_t components, pairs;
  const int32_t *pair; /* components: the pair of each; negative: none */
  const int32_t *side; /* components: 0 or 1, which half of its pair it is; negative where the
                        * halves are drawn because one of the two has no rows */
} wb_mixture_pairs;

/* A session: the data, in memory that the backend reads, and its working memory. */
typedef struct wb_mixture_session wb_mixture_session;

/* The number of doubles in the sufficient statistics of one component: the count of
 * its rows, p sums, and p(p+1)/2 sums of products, a lower triangle row by row. */
#define WB_MIXTURE_STATISTICS(p) (1 + (size_t)(p) + (size_t)(p) * ((size_t)(p) + 1) / 2)

typedef struct wb_mixture_functions {
  int (*open)(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session,
              wb_message *message);
  /* Draws the component of every row from its conditional posterior given
   * `parameters`. The draw of row i depends on (key, iteration, i) alone.
   *   labels          one for each row, from 0; or NULL
   *   statistics      components x WB_MIXTURE_STATISTICS(columns): of the rows drawn
   *                   to each component
   *   log_likelihood  the sum over rows of the log mixture density in scaled units */
  int (*draw_labels)(wb_mixture_session *session, const wb_mixture_parameters *parameters,
                     uint64_t key, uint32_t iteration, int32_t *labels, double *statistics,
                     double *log_likelihood, wb_message *message);
  /* Evaluates rows first, ..., first + count - 1 under `parameters`. Each output may
   * be NULL.
   *   labels       the most probable component of each row, from 0
   *   log_density  the log mixture density of each row in scaled units
   *   probability  of each row (count) and component, column-major */
  int (*evaluate)(wb_mixture_session *session, const wb_mixture_parameters *parameters,
                  int64_t first, int64_t count, int32_t *labels, double *log_density,
                  double *probability, wb_message *message);
  /* Chooses two rows of each pair, each uniformly, given the labels that draw_labels() drew
   * last: one for each half, from all rows of the pair where the halves are to be drawn.
   *   anchors  2 for each pair; negative where there is no row */
  int (*choose_anchors)(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key,
                        uint32_t iteration, int64_t *anchors, wb_message *message);
  /* Draws the half of every row of a pair from two components, those of pair g being 2g and
   * 2g + 1 of `halves`; the pair's anchors belong to their halves. Where `known` is not 0,
   * a row whose component has a side belongs to that half.
   *   step             the block of the rows' random numbers
   *   statistics       2 pairs x WB_MIXTURE_STATISTICS(columns)
   *   log_probability  of each pair: with which probability all its rows but the anchors
   *                    are drawn to their halves */
  int (*draw_halves)(wb_mixture_session *session, const wb_mixture_pairs *pairs,
                     const wb_mixture_parameters *halves, const int64_t *anchors, int known,
                     uint64_t key, uint32_t iteration, uint32_t step, double *statistics,
                     double *log_probability, wb_message *message);
  void (*close)(wb_mixture_session *session); /* takes NULL too; never fails */
} wb_mixture_functions;

#ifdef __cplusplus
}
#endif
#endif
