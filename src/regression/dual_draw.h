/* Draws of coefficients where there are more columns than rows (Bhattacharya, Chakraborty & Mallick 2016, "Fast
 * sampling with Gaussian scale-mixture priors in high-dimensional regression", Biometrika 103, 985-991). The precision
 * of p coefficients takes n p^2/2 + p^3/6 multiply-adds, the system of n rows n^2 p/2 + n^3/6: fewer if n < p. The
 * products of the rows, n^2 p/2, are needed once if all priors are normal.
 *
 * Given Polya-Gamma variables omega, with D the prior's variances and m its means, z the rows' weights in the linear
 * term and S = diag(sqrt(omega)): draw u from N(m, D) and e from N(0, I), solve
 *   (I + S (X D X' + C) S) w = S^-1 z - S X u - S a - e,
 * and u + D X' S w is a draw of the coefficients. C is the covariance that the integrated effects of a grouping give
 * the rows, and a a draw of these effects, which are drawn afterwards. This is exact, also for rows without weight. */
#pragma once

#include "core/philox.h"
#include "regression/chain.h"

/* Whether the coefficients are drawn so. It depends on the data alone. */
static inline int wb_regression_is_dual(int64_t rows, int64_t columns) { return columns > rows && rows > 0; }

/* Working memory. `padded`: rows up to a multiple of 8. */
typedef struct wb_regression_dual {
  int32_t padded;
  size_t stride;
  int known;                                /* whether `gram` is X D X' for every draw */
  double *gram, *system;                    /* padded x stride */
  double *root, *solution;                  /* padded */
  double *linear, *residual;                /* rows: X u or X beta; z without what is not drawn */
  double *variance, *point;                 /* columns */
  double *effects;                          /* of any grouping */
  double *fixed, *start, *noise, *at, *now; /* rows in a move of r: all but f, X u, e, f, and f of the state */
  int32_t *group;                           /* rows: the group of each */
  void *memory;                             /* of all; the caller frees it */
} wb_regression_dual;

int wb_regression_dual_open(const wb_regression_chain *chain, wb_regression_dual *dual);

/* A grouping whose effects are integrated out, with the packed `covariance`; reads columns, levels, z and level. */
typedef struct wb_regression_dual_grouping {
  wb_regression_term term;
  const double *covariance;
} wb_regression_dual_grouping;

wb_regression_dual_grouping wb_regression_dual_groups(const wb_regression_chain *chain);

/* Draws an outcome's coefficients given omega and z of the rows. `grouping`: NULL without. */
int wb_regression_draw_dual(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration,
                            const wb_regression_dual_grouping *grouping, const double *omega, const double *z,
                            wb_stream *stream);

/* For each level of a grouping Z'WZ, packed, and Z'(z - W X beta). */
int wb_regression_dual_sums(const wb_regression_chain *chain, int32_t outcome,
                            const wb_regression_dual_grouping *grouping, const double *omega, const double *z,
                            double *sums);

/* The effects of a term change by `change` (columns x levels): takes weight W Z change from z. */
void wb_regression_dual_change(const wb_regression_term *term, int32_t rows, const double *change, double weight,
                               const double *omega, double *z);

/* A move of the dispersion, which the coefficients follow. The system has the prior's present scales. */
int wb_regression_move_dispersion(const wb_regression_chain *chain, uint32_t iteration);
