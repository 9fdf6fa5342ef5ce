/* The mixture model simulated from its prior, as Geweke's marginal-conditional
 * simulator: parameters, labels, then data. Nothing here is shared with the
 * package: another generator, the C library's functions, and for each
 * distribution its definition in place of an algorithm (a gamma of whole shape is
 * a sum of exponentials, a Wishart matrix of whole degrees of freedom a sum of
 * outer products). Hence shape and df are whole numbers here. */
#ifndef PRIOR_SIMULATOR_H
#define PRIOR_SIMULATOR_H

#include <stdint.h>

#define MOST_ROWS 16
#define MOST_COMPONENTS 20
#define MOST_COLUMNS 5
#define MOST_SAMPLES 3

/* What a component's mean and covariance are drawn from: nu is df. */
typedef struct component_prior {
  double mean[MOST_COLUMNS], mean_scale;
  int df;
  double scale[MOST_COLUMNS][MOST_COLUMNS];
  /* Filled by component_prior_prepare(): nu Phi, the root of its inverse, and the
   * constant of the log density of a component. */
  double scaled[MOST_COLUMNS][MOST_COLUMNS], wishart_root[MOST_COLUMNS][MOST_COLUMNS];
  double log_constant;
} component_prior;

/* The model. Each row has the factor exp(-floor tr(Sigma^-1)/2) for the component that it
 * is in. With `learned`, `component` is what the hyperprior is centred on:
 * m ~ N(mean, I), gamma ~ IG(mean_scale_shape, mean_scale_rate),
 * Phi ~ W(scale_df, scale/scale_df), nu uniform on DF_VALUES numbers from df on. */
#define DF_VALUES 25
typedef struct model {
  int n, k, p;
  component_prior component;
  int shape;
  double rate;
  int learned;
  int mean_scale_shape;
  double mean_scale_rate;
  int scale_df;
  double floor; /* of every column; see mixture/mixture.h */
  int samples;  /* 0: weights are those of the sticks. Otherwise row i is of sample i % samples, whose weights are
                 * Dirichlet(a beta), beta from the sticks, a ~ Ga(sample_shape, sample_rate) */
  int sample_shape;
  double sample_rate;
  int missing;  /* whether some values are missing: see is_missing() */
} model;

/* Whether the sampler does not see a value: rows lack none, one, several or all of the first three columns. */
int is_missing(const model *m, int row, int column);

void component_prior_prepare(int p, component_prior *prior);

/* One draw of everything. x is n x p, column-major. */
typedef struct point {
  component_prior component; /* the model's own, or learned */
  double alpha;
  double log_weight[MOST_COMPONENTS], log_rest[MOST_COMPONENTS];
  double sample_concentration, log_sample_weight[MOST_SAMPLES][MOST_COMPONENTS];
  double mean[MOST_COMPONENTS][MOST_COLUMNS];
  double precision[MOST_COMPONENTS][MOST_COLUMNS][MOST_COLUMNS];
  int32_t label[MOST_ROWS];
  double x[MOST_ROWS * MOST_COLUMNS];
  /* Of the same parameters and labels with the data from which the labels came. */
  double log_likelihood, log_prior, distance, product;
  /* Derived by point_complete(). */
  double covariance[MOST_COMPONENTS][MOST_COLUMNS][MOST_COLUMNS];
  double log_determinant[MOST_COMPONENTS]; /* of the covariance */
} point;

typedef struct generator {
  uint64_t state[4];
  double spare;
  int has_spare;
} generator;

void generator_open(generator *g, uint64_t seed, uint64_t stream);

void prior_draw(const model *m, generator *g, point *at);

/* Covariances and their determinants from the precisions. */
void point_complete(const model *m, point *at);

/* Squared distance of row i from the mean of its component, in units of its
 * covariance. */
double row_distance(const model *m, const point *at, int i);

/* Log density of the data, without what is missing, given the parameters, labels summed out. */
double log_likelihood(const model *m, const point *at);

/* Log density of the parameters: means, covariances, sticks, concentration. */
double log_prior(const model *m, const point *at);

#endif
