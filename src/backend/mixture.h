/* Gaussian mixtures: a part of the table of backend.h. */
#ifndef WB_BACKEND_MIXTURE_H
#define WB_BACKEND_MIXTURE_H

#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n rows of p values. The session reads x in its own units and works on
 * (x - center) * inverse_scale; x must outlive the session. */
typedef struct wb_mixture_data {
  const double *x; /* rows x columns, column-major */
  int64_t rows;
  int32_t columns;
  const double *center;        /* columns */
  const double *inverse_scale; /* columns */
  wb_precision precision;      /* of log densities and weights */
} wb_mixture_data;

/* k components, in the scaled units. With Sigma = L L', F = L^-1:
 * log(pi_j N(x | mu_j, Sigma_j)) = log_constant_j - |F_j x - offset_j|^2 / 2. */
typedef struct wb_mixture_parameters {
  int32_t components;
  const double *factor; /* components x p(p+1)/2: lower triangles F, row by row */
  const double *offset; /* components x p: F mu */
  const double *log_constant; /* components: log pi - log|L| - p/2 log(2 pi) */
} wb_mixture_parameters;

/* A session: the data in memory that the backend can read, and memory to work in. */
typedef struct wb_mixture_session wb_mixture_session;

/* Doubles of the sufficient statistics of one component: its count, its p sums
 * and the p(p+1)/2 sums of products, lower triangle row by row. */
#define WB_MIXTURE_STATISTICS(p) (1 + (size_t)(p) + (size_t)(p) * ((size_t)(p) + 1) / 2)

/* Rows of a leaf of the summation tree: within a leaf, rows are added in order; the sums
 * of leaves are combined by a binary tree over their indices. */
#define WB_LEAF_ROWS 2048

typedef struct wb_mixture_functions {
  int (*open)(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session,
              wb_message *message);
  /* Draws the component of every row from its posterior under `parameters`
   * and computes the statistics of the components with the rows that they get. The draw of row i depends on (key,
   * iteration, i) alone. labels: rows, from 0, or NULL. statistics:
   * components x WB_MIXTURE_STATISTICS(columns). log_likelihood: sum over rows
   * of the log mixture density of the scaled row. */
  int (*draw_labels)(wb_mixture_session *session, const wb_mixture_parameters *parameters,
                     uint64_t key, uint32_t iteration, int32_t *labels, double *statistics,
                     double *log_likelihood, wb_message *message);
  /* Rows first..first + count - 1: the most probable component (from 0), the
   * log mixture density of the scaled row, and the component probabilities
   * (count x components, column-major). Each output may be NULL. */
  int (*evaluate)(wb_mixture_session *session, const wb_mixture_parameters *parameters,
                  int64_t first, int64_t count, int32_t *labels, double *log_density,
                  double *probability, wb_message *message);
  void (*close)(wb_mixture_session *session); /* NULL-safe, never fails */
} wb_mixture_functions;

#ifdef __cplusplus
}
#endif
#endif
