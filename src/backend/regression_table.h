/* The functions of regressions by Polya-Gamma variables, a part of backend.h. Formulas: core/regression_row.h. */
#pragma once

#include "backend/types.h"

/* A grouping term (z | g): each level of g has effects of its own on the q columns of z, which are added to the linear
 * predictors of its rows. `index` has the rows by level, and in ascending order within a level. */
typedef struct wb_regression_term {
  int32_t columns, levels; /* q, and the number of levels */
  const double *z;         /* rows x q, column-major; NULL: q = 1 and z is 1 */
  const int32_t *level;    /* rows */
  const int32_t *start;    /* levels + 1: where a level begins in `index` */
  const int32_t *index;    /* rows */
} wb_regression_term;

/* What a regression of counts knows of the regression of zeros beside it, whose session has the same rows in an order
 * of its own: core/regression_zero.h has the formulas. Rows of the counts stand for as many observations as `dispersed`
 * says in multiples of `unit`. */
typedef struct wb_regression_zeros {
  int32_t hurdle;       /* counts beyond a hurdle; 0: zero-inflated counts */
  const double *count;  /* rows */
  const double *weight; /* rows */
  const double *unit;   /* rows: 1, or r of the surrogate of a Poisson row */
  const int32_t *row;   /* rows: this row among the rows of the session of zeros */
} wb_regression_zeros;

#define WB_REGRESSION_MOST_TERMS 16
#define WB_REGRESSION_MOST_TERM_COLUMNS 16

/* Rows of data; those of a group are contiguous. The session scales the design: (x - center) * inverse_scale. A sparse
 * design is given scaled, by rows, and is not centred. All arrays must outlive the session. */
typedef struct wb_regression_data {
  const double *x; /* rows x columns, column-major; NULL: the design is sparse */
  int64_t rows;
  int32_t columns;
  const double *center;        /* columns; not read if the design is sparse */
  const double *inverse_scale; /* columns; not read if the design is sparse */
  const int32_t *row_start;    /* sparse: rows + 1; row i has the entries row_start[i] to row_start[i + 1] - 1 */
  const int32_t *column;       /* sparse: of each entry, ascending within a row */
  const double *value;         /* sparse: of each entry */
  int32_t outcomes;            /* linear predictors of a row: 1, or those of a multinomial */
  const double *offset;        /* rows x outcomes, column-major; NULL: 0 */
  const double *shape;         /* rows: b without the dispersion's part */
  const double *kappa;         /* rows x outcomes, column-major: kappa without the dispersion's part */
  const double *dispersed;     /* rows: the multiple of the dispersion in b; NULL: 0 */
  int32_t primal;              /* not dual, however few rows there are */
  int32_t dual;                /* whether sweep() gives omega and z of the rows in place of sums over rows */
  int32_t poisson;             /* rows are Poisson, and shape and kappa are of their surrogates */
  int32_t groups;              /* 0: none */
  const int64_t *group_start;  /* groups + 1: the first row of each, and `rows` */
  int32_t term_count;          /* grouping terms, only without groups; each outcome has effects of its own. 0: none */
  const wb_regression_term *terms;
  const wb_regression_zeros *zeros; /* of a session of counts beside a session of zeros; NULL: there is none */
  double *completed;                /* host copy of what complete() changes: `dispersed`, or `kappa`; or NULL */
  const double *observed;           /* rows: kappa as it was given */
} wb_regression_data;

/* The weights of the rows in X'WX and X'z. */
enum {
  WB_REGRESSION_DRAWN,       /* Polya-Gamma variables, and z = kappa - omega * fixed */
  WB_REGRESSION_EXPECTED,    /* their means, and z as before */
  WB_REGRESSION_INFORMATION, /* less the second derivative of the log likelihood in the logit, and the first */
  WB_REGRESSION_CROSS,       /* the mixed second derivative in the predictors of the outcome and `other`, and 0 */
  WB_REGRESSION_GIVEN,       /* what inform() wrote */
  WB_REGRESSION_RATIO        /* none. In place of the log likelihood of Poisson rows its excess over the surrogates' */
};

typedef struct wb_regression_parameters {
  const double *coefficients; /* columns x outcomes, column-major, of the scaled design */
  const double *intercepts;   /* groups; NULL if there are none */
  double dispersion;          /* r; 0 if there is none */
  double shift;               /* added to the offset of every row: -log(r), or 0 */
  int32_t weights;            /* what takes the place of omega and z */
  const double *effects;      /* for each outcome those of all terms, each columns x levels; NULL if there are none */
  int32_t other;              /* another outcome; read with WB_REGRESSION_CROSS */
} wb_regression_parameters;

/* A session: the data, in memory that the backend reads, and working memory. */
typedef struct wb_regression_session wb_regression_session;

/* Doubles of the statistics of p columns: X'WX, a lower triangle row by row, then X'z. */
#define WB_REGRESSION_STATISTICS(p) ((size_t)(p) * ((size_t)(p) + 1) / 2 + (size_t)(p))
/* Doubles of the statistics of one group: sums of omega x (p), of omega, and of z. */
#define WB_REGRESSION_GROUP_STATISTICS(p) ((size_t)(p) + 2)
/* Doubles of the statistics of a level of a term with q columns: the lower triangle Z'WZ, Z'WX (q rows of p), Z'z. */
#define WB_REGRESSION_LEVEL_STATISTICS(p, q) ((size_t)(q) * ((size_t)(q) + 1) / 2 + (size_t)(q) * ((size_t)(p) + 1))
#define WB_REGRESSION_MOST_OUTCOMES 32

/* What predictions summarise: linear predictors, their logistic, their exponential, or outcomes + 1 probabilities. */
enum { WB_REGRESSION_LINEAR, WB_REGRESSION_PROBABILITY, WB_REGRESSION_MEAN, WB_REGRESSION_CLASSES };

/* A term of the linear predictor whose coefficient differs between levels of a grouping: a row adds
 * multiple[row] * draw[level[row] * draws + d] in draw d, or nothing if its level is negative. */
typedef struct wb_regression_effect {
  int32_t outcome;
  int32_t levels;
  const int32_t *level;   /* rows */
  const double *multiple; /* rows; NULL: 1 */
  const double *draw;     /* draws x levels, column-major */
} wb_regression_effect;

/* Rows and draws to predict from. A predictor adds columns, offset and effects, in order. */
typedef struct wb_regression_prediction {
  const double *x; /* rows x columns, column-major, in the data's units; NULL: the design is sparse */
  int64_t rows;
  int32_t columns, outcomes;
  const int32_t *row_start, *column; /* sparse, as in wb_regression_data */
  const double *value;
  const double *offset; /* rows x outcomes; NULL: 0 */
  int32_t effects;
  const wb_regression_effect *effect;
  int64_t draws;
  const double *coefficients; /* draws x columns x outcomes, column-major */
  int32_t kind;
  /* The two quantiles: each lies `part` of the way from the draw of this index, in ascending order, to the next. */
  int64_t index[2];
  double part[2];
  /* For each quantile a guess of where its draws lie, in deviations from the mean: saves time, changes no result. */
  double score[2][2], start[2];
} wb_regression_prediction;

/* Columns of a prediction: mean, standard deviation, lower and upper quantile. */
#define WB_REGRESSION_SUMMARIES 4

/* What to do with the effects of all levels of a term: core/regression_level.h says what the parts are. */
typedef struct wb_regression_placing {
  int32_t term;                      /* -1: the intercepts of groups */
  int32_t columns;                   /* of the term */
  int32_t action;                    /* WB_LEVEL_FOLLOW, ... */
  int32_t renewed;                   /* whether the records differ from the records of the last call for this term */
  const double *records;             /* levels x WB_LEVEL_RECORD() */
  const double *change, *tie, *most; /* as in wb_level_place */
  uint64_t key, first;               /* proposals of level l are of element first + l */
  uint32_t iteration;
  const double *from; /* levels x columns */
} wb_regression_placing;

/* Two regressions of the same rows. */
typedef struct wb_regression_pair {
  wb_regression_session *counts, *zeros;
  wb_regression_parameters of_counts, of_zeros;
} wb_regression_pair;

typedef struct wb_regression_functions {
  int (*open)(const wb_regression_data *data, const wb_run *run, wb_regression_session **session, wb_message *message);
  /* The log likelihood of all rows up to a constant. Sums over rows have the order of WB_LEAF_ROWS. */
  int (*log_likelihood)(wb_regression_session *session, const wb_regression_parameters *parameters,
                        double *log_likelihood, wb_message *message);
  /* Draws the Polya-Gamma variables of `outcome` given the parameters, or computes other weights, and computes the sums
   * over rows that its coefficients need, and the log likelihood. The variable of row i depends only on (key,
   * iteration, i), and is the element outcome * rows + i. The sums of a group are over its rows within each leaf, added
   * in the order of leaves.
   * With terms, the effects of `outcome` are part of the fixed part of a row (core/regression_row.h), and the session
   * keeps omega and z of the rows. The sums of a level are over pieces of WB_LEAF_ROWS rows in the order of `index`,
   * added in order.
   * Of a dual session `statistics` are omega of the rows, then z, and there are no group statistics.
   *   group_statistics  groups x WB_REGRESSION_GROUP_STATISTICS(columns), or for each term levels x
   *                     WB_REGRESSION_LEVEL_STATISTICS(columns, q), where NULL leaves them out; NULL without either */
  int (*sweep)(wb_regression_session *session, const wb_regression_parameters *parameters, int32_t outcome,
               uint64_t key, uint32_t iteration, double *statistics, double *group_statistics, double *log_likelihood,
               wb_message *message);
  /* Products of the scaled design X of a dual session. The lower triangle of X diag(weight) X' is written row by row
   * into `gram`, where rows are `stride` numbers apart. An entry adds (weight x_r) x_s over the columns, in order, with
   * the weight at the row r >= s. X v adds columns in order. X'v adds rows in order, row i to part i mod
   * WB_REGRESSION_LANES, and core/regression_row.h adds the parts. */
  int (*gram)(wb_regression_session *session, const double *weight, size_t stride, double *gram, wb_message *message);
  int (*multiply)(wb_regression_session *session, const double *v, double *product, wb_message *message);
  int (*multiply_transposed)(wb_regression_session *session, const double *v, double *product, wb_message *message);
  /* After a sweep that drew: `change` (columns x levels) was added to the outcome's effects of term `changed`, and the
   * rows' z follow. Writes Z'z of each level of term `wanted` into `linear`, columns x levels. */
  int (*change_effects)(wb_regression_session *session, int32_t changed, const double *change, int32_t wanted,
                        double *linear, wb_message *message);
  /* The log likelihood of the rows of each level of a term, or of each group (term -1), up to a constant. One outcome.
   * Rows are added in the order of the sums of levels, or groups, above. */
  int (*level_log_likelihoods)(wb_regression_session *session, const wb_regression_parameters *parameters, int32_t term,
                               double *log_likelihoods, wb_message *message);
  /* Acts on all levels. to: levels x columns; density: levels, what wb_level_act() returns. */
  int (*place_levels)(wb_regression_session *session, const wb_regression_placing *placing, double *to, double *density,
                      wb_message *message);
  /* Of a session of counts and its session of zeros, with the parameters of both: completes the data by draws of
   * (key, iteration, row), or by expectations, for which a search for a mode reads `completed`. */
  int (*complete)(const wb_regression_pair *pair, const uint64_t *key, uint32_t iteration, wb_message *message);
  /* The log likelihood of all rows up to a constant, with what completes the data summed out. */
  int (*pair_log_likelihood)(const wb_regression_pair *pair, double *log_likelihood, wb_message *message);
  /* The same of the rows of each level of a term of the counts (`part` 0) or of zeros (1), as above. */
  int (*pair_level_log_likelihoods)(const wb_regression_pair *pair, int part, int32_t term, double *log_likelihoods,
                                    wb_message *message);
  /* Writes what wb_zero_inform() knows of each row of a part, for a sweep of its session with these weights. */
  int (*inform)(const wb_regression_pair *pair, int part, wb_message *message);
  void (*close)(wb_regression_session *session); /* NULL-safe, never fails */
  /* Predicts rows first..first + count - 1. out: count x (outcomes, or classes) x WB_REGRESSION_SUMMARIES, or NaN. */
  int (*predict)(const wb_regression_prediction *prediction, int64_t first, int64_t count, const wb_run *run,
                 double *out, wb_message *message);
} wb_regression_functions;
