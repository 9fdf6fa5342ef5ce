/* Simulates the mixture model from its prior: parameters, then labels, then data (Geweke's marginal-conditional
 * simulator). It shares nothing with the package: it has another generator and uses the C library's functions. Each
 * distribution is drawn by its definition: a gamma of whole shape is a sum of exponentials, a Wishart matrix of whole
 * degrees of freedom is a sum of outer products. So shape and df are whole numbers here. */
#ifndef PRIOR_SIMULATOR_H
#define PRIOR_SIMULATOR_H

#include <stdint.h>

#define MOST_ROWS 16
#define MOST_COMPONENTS 20
#define MOST_COLUMNS 5
#define MOST_SAMPLES 3

/* The prior of a component's mean and covariance. nu is df. */
typedef struct component_prior {
  double mean[MOST_COLUMNS], mean_scale;
  int df;
  double scale[MOST_COLUMNS][MOST_COLUMNS];
  /* Set by component_prior_prepare(): nu Phi, the root of its inverse, and the constant of a component's log
   * density. */
  double scaled[MOST_COLUMNS][MOST_COLUMNS], wishart_root[MOST_COLUMNS][MOST_COLUMNS];
  double log_constant;
} component_prior;

/* The model. The density of each row has the factor exp(-floor tr(Sigma^-1)/2), with the covariance of its component.
 * With `learned`, `component` has the parameters of the hyperprior: m ~ N(mean, I), gamma ~ IG(mean_scale_shape,
 * mean_scale_rate), Phi ~ W(scale_df, scale/scale_df), nu uniform on DF_VALUES numbers from df on. */
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
  int samples;  /* 0: the weights are those of the sticks. Otherwise row i is in sample i % samples, whose weights are
                 * Dirichlet(a beta), with beta from the sticks and a ~ Ga(sample_shape, sample_rate) */
  int sample_shape;
  double sample_rate;
  int missing; /* whether some values are missing: see is_missing() */
} model;

/* Whether a value is missing for the sampler. Rows lack none, one, several or all of the first three columns. */
int is_missing(const model *m, int row, int column);

void component_prior_prepare(int p, component_prior *prior);

/* One draw of parameters, labels and data. x is n x p, column-major. */
typedef struct point {
  component_prior component; /* the model's own, or learned */
  double alpha;
  double log_weight[MOST_COMPONENTS], log_rest[MOST_COMPONENTS];
  double sample_concentration, log_sample_weight[MOST_SAMPLES][MOST_COMPONENTS];
  double mean[MOST_COMPONENTS][MOST_COLUMNS];
  double precision[MOST_COMPONENTS][MOST_COLUMNS][MOST_COLUMNS];
  int32_t label[MOST_ROWS];
  double x[MOST_ROWS * MOST_COLUMNS];
  /* Functions of the parameters, the labels and the data from which the labels were drawn. */
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

/* Computes the covariances and the logs of their determinants from the precisions. */
void point_complete(const model *m, point *at);

/* The squared Mahalanobis distance of row i from the mean of its component. */
double row_distance(const model *m, const point *at, int i);

/* The log density of the observed data given the parameters, with labels summed out. */
double log_likelihood(const model *m, const point *at);

/* The log density of the parameters: means, covariances, sticks, concentration. */
double log_prior(const model *m, const point *at);

#endif
