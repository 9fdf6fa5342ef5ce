/* Predictive resampling: a part of the table of backend.h.
 *
 * A resample is one run of the recursion "draw the next observation from its predictive law, then update that law". The
 * draw of step t of resample r depends only on (key, r, t). The caller keeps the states between calls. */
#pragma once

#include "backend/types.h"

/* The mean of a normal law. Before step 0 the mean is worth `weight` observations. Known variance (scale NULL):
 * y = mean + sd sqrt(1 + 1/weight) eps. Unknown variance: y is Student's t with 2 shape degrees of freedom about the
 * mean, and `scale` is the scale of the variance's inverse gamma law. Each step adds 1 to weight and 1/2 to shape. */
typedef struct wb_normal_chains {
  uint64_t key;
  int64_t first, resamples; /* resamples first..first + resamples - 1 */
  int64_t first_step, steps;
  double weight, shape; /* before step 0 */
  double sd;
  double *mean;  /* resamples; in: before first_step, out: after the last step */
  double *scale; /* resamples, in and out as `mean`; NULL: known variance */
  /* The mean after every step t with t + 1 a multiple of `every`: a row of `resamples` values each; NULL: none. */
  int64_t every;
  double *trajectory;
} wb_normal_chains;

/* The Bayesian bootstrap: independent exponential weights of the observations. With `steps` > 0 a weight is 1 plus the
 * number of times that the observation was drawn, in that many draws under them. */
typedef struct wb_bootstrap {
  uint64_t key;
  int64_t first, resamples; /* resamples first..first + resamples - 1 */
  int64_t observations;
  int64_t steps;
  double *weight; /* observations x resamples, columns sum to 1 */
} wb_bootstrap;

/* Copula updates (core/copula.h) at points that several resamples share.
 *
 * Weights of covariates: log k = point_term + row_term + sum over c of point_covariate_c row_covariate_c, added in the
 * order of c by fused multiply-adds. There is closeness only if `covariates` > 0. */
typedef enum wb_copula_kind { WB_COPULA_GAUSSIAN = 0, WB_COPULA_BINARY = 1 } wb_copula_kind;

typedef struct wb_copula_model {
  wb_copula_kind kind;
  int32_t dimensions; /* of the response; 1 for binary */
  int32_t covariates; /* 0: the observations' weights are the same at all points */
  int64_t rows;       /* of covariates */
} wb_copula_model;

/* How observations are compared with points. The arrays of group g begin at g * (their size) if `grouped`, else at
 * 0. */
typedef struct wb_copula_closeness {
  int grouped;
  const double *point_term;      /* points */
  const double *point_covariate; /* covariates x points, points side by side */
  const double *row_term;        /* rows */
  const double *row_covariate;   /* covariates x rows, rows side by side */
} wb_copula_closeness;

/* `groups` sequences of `points` observations each, every one predicted from those before it in its group.
 *   conditional  groups x dimensions x points: the distribution functions of the observations before the first one
 *                (binary: the probabilities of 1), overwritten
 *   score        groups x points x dimensions: the normal scores (binary: the clipped probability of 1, negative if y
 *                is 0)
 *   gain         groups x dimensions x points: the predicted density of the first j + 1 coordinates of an observation
 *                over that before the first observation (binary: the probability of what was observed) */
typedef struct wb_copula_fit {
  wb_copula_model model;
  int64_t groups, points;
  const double *rho;             /* groups x dimensions */
  const double *outcome;         /* groups x points, binary only: 0 or 1 */
  wb_copula_closeness closeness; /* row i is observation i */
  double *conditional;
  double *score;
  double *gain;
} wb_copula_fit;

/* Updates `groups` states at `points` points by `steps` observations. conditional, gain: groups x dimensions x points,
 * in and out; gain has the factors by which the densities have grown, or is NULL for binary responses.
 *
 * With `score` (groups x steps x dimensions) the observations are given, and row `row[group x steps]` has a step's
 * covariates. Without `score` they are drawn: group g is resample `first_group` + g, and the steps are first_step,
 * first_step + 1, ... A binary response is drawn from its probability at the row. For that, row_conditional (groups x
 * rows), in and out, is the state at the rows, and row_closeness compares rows with rows. */
typedef struct wb_copula_update {
  wb_copula_model model;
  uint64_t key;
  int64_t first_group, groups, points;
  int64_t first_step, steps;
  double observations; /* before step 0: step t has the forward weight of observations + t + 1 */
  double most;         /* numerator of these weights (core/copula.h) */
  const double *rho;   /* dimensions */
  const double *score;
  const int32_t *row;
  wb_copula_closeness closeness;
  wb_copula_closeness row_closeness;
  double *row_conditional;
  double *conditional;
  double *gain;
} wb_copula_update;

typedef struct wb_predictive_functions {
  int (*normal_chains)(const wb_normal_chains *work, const wb_run *run, wb_message *message);
  int (*bootstrap)(const wb_bootstrap *work, const wb_run *run, wb_message *message);
  int (*copula_fit)(const wb_copula_fit *work, const wb_run *run, wb_message *message);
  int (*copula_update)(const wb_copula_update *work, const wb_run *run, wb_message *message);
} wb_predictive_functions;
