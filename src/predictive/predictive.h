/* Host part of predictive resampling by copulas (core/copula.h): orders, prequential fit, prediction, resamples. */
#pragma once

#include "backend/backend.h"

/* n observations. y: n x dimensions, column-major, standardised (binary: 0 or 1). start: y (binary: the log odds with
 * which each observation is predicted before the first one, or NULL for 0; they are the y of points, too). x: n x
 * covariates, column-major, standardised. The prequential score is that of the coordinates given the first `given`. */
typedef struct wb_predictive_data {
  wb_copula_kind kind;
  int64_t n;
  int32_t dimensions, covariates, given;
  const double *y, *start, *x;
} wb_predictive_data;

/* rho has `dimensions` elements, rho_x `covariates`, each strictly between 0 and 1. */
typedef struct wb_predictive_bandwidth {
  const double *rho, *rho_x;
} wb_predictive_bandwidth;

/* `count` random orders of 0..n - 1, one after the other. */
void wb_predictive_orders(uint64_t key, int64_t n, int32_t count, int32_t *order);

/* The shift and the stretch of resamples 0..count - 1 (core/predictive_draw.h): count of each. */
void wb_predictive_places(uint64_t key, int64_t count, double df, double sd, double *shift, double *stretch);

/* An urn's limit given data (core/predictive_draw.h). Dirichlet shapes: shape[0..values - 1], new values `rest`. */
typedef struct wb_predictive_urn {
  uint64_t key;
  int64_t first, resamples; /* resamples first..first + resamples - 1 */
  int64_t values, sticks;   /* sticks: new values of a resample; the last takes all that is left */
  const double *shape;
  double rest, discount;
  double *weight;  /* (values + sticks) x resamples, columns sum to 1 */
  double *uniform; /* sticks x resamples: where the new values lie in the base measure */
} wb_predictive_urn;

void wb_predictive_urns(const wb_predictive_urn *urn);

/* The limit of Gnedin's urn given n data. `unseen` (resamples) are the numbers of new types. The values seen have
 * Dirichlet shapes shape[], their counts plus 1, and each new type 1. Of more than `sticks` new types, each of `sticks`
 * new values stands for an equal number, so that all have their mass. */
void wb_predictive_gnedin(const wb_predictive_urn *urn, double n, double gamma, double *unseen);

/* Prequential fits for each of `sets` bandwidths (rho: sets x dimensions, rho_x: sets x covariates) and each of `count`
 * orders. log_score (sets x count) is the mean over observations of the log density, or probability, that was
 * predicted, relative to the density before the first observation. score (count x n x dimensions; or NULL): of the
 * first set. */
int wb_predictive_fit(wb_call *call, const wb_predictive_data *data, int32_t sets, const double *rho,
                      const double *rho_x, int32_t count, const int32_t *order, double *log_score, double *score);

/* The prediction of each order at `points` points (y: points x dimensions). Results: count x dimensions x points. */
int wb_predictive_state(wb_call *call, const wb_predictive_data *data, wb_predictive_bandwidth bandwidth, int32_t count,
                        const int32_t *order, const double *score, int64_t points, const double *y, const double *x,
                        double *conditional, double *gain);

/* The mixture of `count` predictions, equal weights; conditionals are weighted by densities of earlier coordinates. */
void wb_predictive_average(int32_t count, int32_t dimensions, int64_t points, const double *conditional,
                           const double *gain, double *mean_conditional, double *mean_gain);

/* States of `groups` resamples (groups x dimensions x points) to advance. row_state: groups x n, if binary. */
typedef struct wb_predictive_resamples {
  uint64_t key;
  int64_t first_group, groups, points, first_step, steps;
  double most;     /* numerator of the weights (core/copula.h) */
  const double *x; /* of the points */
  double *conditional, *gain, *row_state;
} wb_predictive_resamples;

int wb_predictive_resample(wb_call *call, const wb_predictive_data *data, wb_predictive_bandwidth bandwidth,
                           const wb_predictive_resamples *resamples);
