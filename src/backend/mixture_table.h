/* The table of functions for Gaussian mixtures: a part of the table of backend.h. mixture/mixture.h has the model. */
#pragma once

#include "backend/types.h"

/* Which values are missing: the NaNs of x. Rows that lack the same columns share a pattern. Most frequent first. */
typedef struct wb_mixture_missing {
  int32_t patterns;
  const int32_t *order;    /* patterns x columns: the columns with values, then the columns without, each ascending */
  const int32_t *observed; /* patterns: how many columns have values */
  const int64_t *first;    /* patterns + 1: where the rows of each pattern begin in `row`, and at the end the length of
                            * `row` */
  const int32_t *row;      /* the rows that lack values, pattern by pattern, ascending in each */
  int64_t values;          /* how many values are missing */
} wb_mixture_missing;

/* Rows of data, which must outlive the session. It computes in the scaled units (x - center) * inverse_scale. */
typedef struct wb_mixture_data {
  const double *x; /* rows x columns, column-major */
  int64_t rows;
  int32_t columns;
  const double *center;        /* columns */
  const double *inverse_scale; /* columns */
  wb_precision precision;      /* in which log densities and weights are computed */
  int keep_labels;             /* whether to keep the labels drawn last, which pairs need */
  int32_t samples;             /* how many samples the rows come from, each with its own weights */
  const int32_t *sample;       /* rows: the sample of each, from 0, in any order; NULL: all rows are one sample. Must
                                * outlive the session */
  const wb_mixture_missing *missing; /* must outlive the session; NULL: nothing is missing */
  /* For a part of a whole. first_row: how many rows of the whole precede the part; random numbers and anchors count
   * rows of the whole. piece: how many leaves, a power of two, a node of the tree over the whole spans; a part begins
   * where such a node begins. 0, 0: the rows are the whole. */
  int64_t first_row, piece;
} wb_mixture_data;

/* Components in the scaled units; p is the number of columns. With Sigma = L L' and F = L^-1:
 *   log(pi_j N(x | mu_j, Sigma_j)) = log_constant_j - |F_j x - offset_j|^2 / 2 */
typedef struct wb_mixture_parameters {
  int32_t components;
  const double *factor;       /* components x p(p+1)/2: lower triangles F, row by row */
  const double *offset;       /* components x p: F mu */
  const double *log_constant; /* components: log pi - log|L| - p/2 log(2 pi) */
} wb_mixture_parameters;

/* The most pairs of one call. */
#define WB_MIXTURE_MOST_PAIRS 32

/* Disjoint pairs of components, to split or join. A pair has all rows of both components. */
typedef struct wb_mixture_pairs {
  int32_t components, pairs; /* pairs: at most WB_MIXTURE_MOST_PAIRS */
  const int32_t *pair;       /* components: the pair of each; negative: none */
  const int32_t *side; /* components: 0 or 1, which half of its pair it is; negative: the halves are drawn, because one
                        * of the two components has no rows */
} wb_mixture_pairs;

#define WB_MIXTURE_LEAST_WEIGHT 0x1p-40

/* A session: the data, in memory that the backend reads, and working memory. */
typedef struct wb_mixture_session wb_mixture_session;

/* Doubles of the statistics of a component: its rows, p sums, p(p+1)/2 sums of products (a lower triangle by rows). */
#define WB_MIXTURE_STATISTICS(p) (1 + (size_t)(p) + (size_t)(p) * ((size_t)(p) + 1) / 2)

#define WB_MIXTURE_NO_COVARIANCE "the covariance of component %d could not be drawn: its scale matrix is not finite"

/* The prior of means and covariances (see mixture/mixture.h): m, gamma, nu, Phi, and the diagonal of E. */
typedef struct wb_mixture_law {
  const double *mean; /* columns */
  double mean_scale, df;
  const double *scale; /* packed lower triangle */
  const double *floor; /* columns; NULL: zero */
} wb_mixture_law;

/* Sums over components, added to the values that are there. Each may be NULL. */
typedef struct wb_mixture_precisions {
  double mean_weight, scale_weight;
  double *pull;            /* columns: mean_weight Sigma_j^-1 mu_j */
  double *mean_precision;  /* packed: mean_weight Sigma_j^-1 */
  double *scale_precision; /* packed: scale_weight Sigma_j^-1 */
} wb_mixture_precisions;

/* Numbers for each component. Outputs may be NULL. */
typedef struct wb_mixture_measures {
  double *log_determinant; /* components: log det F_j */
  const double *center;    /* columns */
  double *distance;        /* components: |F_j (mu_j - center)|^2 */
  const double *root;      /* packed lower triangle */
  double *trace;           /* components: |F_j root|^2, the sum of squares of all entries */
  int32_t points;
  const double *point;    /* columns x points, scaled units */
  double *point_distance; /* components x points: |F_j x - offset_j|^2 */
} wb_mixture_measures;

/* A session owns its components: the statistics, which draw_labels() writes, and the parameters, which
 * draw_components() draws from the statistics. A sweep calls both once. They stay where the backend computes. */
typedef struct wb_mixture_functions {
  int (*open)(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session, wb_message *message);
  int (*set_components)(wb_mixture_session *session, int32_t components, const double *statistics, wb_message *message);
  /* Statistics of components first, ..., first + count - 1: count x WB_MIXTURE_STATISTICS(columns). */
  int (*set_statistics)(wb_mixture_session *session, int32_t first, int32_t count, const double *statistics,
                        wb_message *message);
  int (*get_statistics)(wb_mixture_session *session, int32_t first, int32_t count, double *statistics,
                        wb_message *message);
  /* Draws mean and covariance of every component: j from the statistics of component source[j] and random numbers of
   * (key, iteration, source[j]). If a covariance cannot be drawn, this function fails, or the next finish_labels() or
   * get_components(). The statistics keep their order until draw_labels() begins to replace them. */
  int (*draw_components)(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source, uint64_t key,
                         uint32_t iteration, wb_message *message);
  int (*add_precisions)(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message);
  int (*measure)(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message);
  /* Begins to draw the component of every row given the parameters, and to sum the rows of each component. The draw of
   * row i depends only on (key, iteration, i). Before finish_labels(), only add_precisions() and measure() may be
   * called. If a row lacks values, its densities are those of its other values. Then its missing values are drawn given
   * these and the component. The completed rows are summed, and pairs use them too.
   *   log_weight  samples x components, those of a sample side by side
   *   labels      one for each row, from 0, by the end of finish_labels(); or NULL */
  int (*draw_labels)(wb_mixture_session *session, const double *log_weight, uint64_t key, uint32_t iteration,
                     int32_t *labels, wb_message *message);
  /* Waits for the labels and the statistics.
   *   sizes           samples x components: how many rows of each sample were drawn to each component
   *   log_likelihood  the sum over rows of the log mixture density in scaled units, lowered by the floor */
  int (*finish_labels)(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message);
  /* The parameters drawn last: means (components x columns) and F (components x packed triangle). Each may be NULL. */
  int (*get_components)(wb_mixture_session *session, double *mean, double *factor, wb_message *message);
  /* Evaluates rows first, ..., first + count - 1 under `parameters`, which need not be those of the session's
   * components. Each output may be NULL.
   *   labels       the most probable component of each row, from 0
   *   log_density  the log mixture density of each row in scaled units
   *   probability  of each row (count) and component, column-major */
  int (*evaluate)(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                  int32_t *labels, double *log_density, double *probability, wb_message *message);
  /* Draws the component of rows first, ..., first + count - 1, from 0, as `draw` of backend/categorical_table.h draws
   * from their probabilities, where `number` is that of the first row. NULL: evaluate() and that function do. */
  int (*draw_rows)(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                   uint64_t key, int64_t number, int32_t *labels, wb_message *message);
  /* Adds the densities of rows first, ..., first + count - 1 under each mixture, of as many components, to those given.
   *   log_unit     subtracted from each log density in scaled units: `count` numbers, or one if `units` is 1
   *   log_density  for each row the log of the given density, -Inf for zero; becomes the log of the sum */
  int (*add_densities)(wb_mixture_session *session, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                       int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                       wb_message *message);
  /* Chooses two rows of each pair, each uniformly, given the labels that draw_labels() drew last. There is one for each
   * half, chosen from all rows of the pair if the halves are to be drawn.
   *   anchors  2 for each pair; negative if there is no row */
  int (*choose_anchors)(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration,
                        int64_t *anchors, wb_message *message);
  /* Draws the half of every row of a pair from two components: those of pair g are 2g and 2g + 1 of `halves`. The
   * pair's anchors belong to their halves. If `known` is not 0, a row whose component has a side belongs to that half.
   *   step             the block of the rows' random numbers
   *   statistics       2 pairs x WB_MIXTURE_STATISTICS(columns)
   *   log_probability  of each pair: the log probability of drawing all its rows but the anchors to their halves */
  int (*draw_halves)(wb_mixture_session *session, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves,
                     const int64_t *anchors, int known, uint64_t key, uint32_t iteration, uint32_t step,
                     double *statistics, double *log_probability, wb_message *message);
  /* Sums all rows, each weighted by its probability of every component under `parameters`, which need not be those of
   * the session's components. Probabilities below WB_MIXTURE_LEAST_WEIGHT count as zero in the statistics.
   *   statistics      components x WB_MIXTURE_STATISTICS(columns)
   *   log_likelihood  the sum over rows of the log of the sum of their weights */
  int (*weigh_rows)(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
                    double *log_likelihood, wb_message *message);
  /* For a part of a whole: the sums of each piece of `piece` leaves from the last finish_labels(), draw_halves() or
   * weigh_rows(), whose own sums, and sizes if the rows are one sample, are unspecified for a part.
   *   nodes  pieces x (components x WB_MIXTURE_STATISTICS(columns), log likelihood) */
  int (*get_nodes)(wb_mixture_session *session, double *nodes, wb_message *message);
  /* A row in scaled units, `columns` doubles. Missing values are those drawn last. */
  int (*get_row)(wb_mixture_session *session, int64_t row, double *values, wb_message *message);
  void (*close)(wb_mixture_session *session); /* NULL-safe, never fails */
} wb_mixture_functions;
