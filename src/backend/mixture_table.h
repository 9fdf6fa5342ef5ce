/* The table of functions for Gaussian mixtures. */
#ifndef WB_BACKEND_MIXTURE_TABLE_H
#define WB_BACKEND_MIXTURE_TABLE_H

#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which values are missing: those of x that are no numbers. Rows that lack the same columns share a
 * pattern; the most frequent pattern comes first. */
typedef struct wb_mixture_missing {
  int32_t patterns;
  const int32_t *order;    /* patterns x columns: the columns with values, then those without, each increasing */
  const int32_t *observed; /* patterns: how many columns have values */
  const int64_t *first;    /* patterns + 1: where the rows of each begin in `row`; the last: how many there are */
  const int32_t *row;      /* the rows that lack values, pattern by pattern, increasing in each */
  int64_t values;          /* how many values are missing */
} wb_mixture_missing;

/* Rows of data. The session reads x in the data's units and computes with the scaled
 * units (x - center) * inverse_scale. x must outlive the session. */
typedef struct wb_mixture_data {
  const double *x; /* rows x columns, column-major */
  int64_t rows;
  int32_t columns;
  const double *center;        /* columns */
  const double *inverse_scale; /* columns */
  wb_precision precision;      /* in which log densities and weights are computed */
  int keep_labels;             /* whether the labels drawn last are kept, which pairs need */
  int32_t samples;             /* how many samples the rows come from, each with weights of its own */
  const int32_t *sample;       /* rows: the sample of each, from 0, in any order; NULL: they are one. Must outlive
                                * the session */
  const wb_mixture_missing *missing; /* outlives the session; NULL: nothing is missing */
  /* Where the rows are a part of a whole: how many rows of the whole are before them, which random numbers and
   * anchors count, and how many leaves, a power of two, have a node of the tree over the whole. A part
   * begins where such a node begins. 0, 0: the rows are the whole. */
  int64_t first_row, piece;
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
  int32_t components, pairs; /* pairs: at most WB_MIXTURE_MOST_PAIRS */
  const int32_t *pair; /* components: the pair of each; negative: none */
  const int32_t *side; /* components: 0 or 1, which half of its pair it is; negative where the
                        * halves are drawn because one of the two has no rows */
} wb_mixture_pairs;

/* Smaller probabilities of a row change no sum that matters: a trillion rows of them weigh as much
 * as one. Without them a row is added to a few components, not to all. */
#define WB_MIXTURE_LEAST_WEIGHT 0x1p-40

/* A session: the data, in memory that the backend reads, and its working memory. */
typedef struct wb_mixture_session wb_mixture_session;

/* The number of doubles in the sufficient statistics of one component: the count of
 * its rows, p sums, and p(p+1)/2 sums of products, a lower triangle row by row. */
#define WB_MIXTURE_STATISTICS(p) (1 + (size_t)(p) + (size_t)(p) * ((size_t)(p) + 1) / 2)

/* What to say with WB_ERROR_INPUT where the covariance of component %d, from 1, cannot be
 * drawn: the first one that failed, by its number among the statistics. */
#define WB_MIXTURE_NO_COVARIANCE "the covariance of component %d could not be drawn: its scale matrix is not finite"

/* What means and covariances are drawn from, beside the rows (see mixture/mixture.h): m,
 * gamma, nu, Phi, and the diagonal of E. */
typedef struct wb_mixture_law {
  const double *mean; /* columns */
  double mean_scale, df;
  const double *scale; /* packed lower triangle */
  const double *floor; /* columns; NULL: zero */
} wb_mixture_law;

/* Sums over components, added to what is there; each may be NULL. */
typedef struct wb_mixture_precisions {
  double mean_weight, scale_weight;
  double *pull;            /* columns: mean_weight Sigma_j^-1 mu_j */
  double *mean_precision;  /* packed: mean_weight Sigma_j^-1 */
  double *scale_precision; /* packed: scale_weight Sigma_j^-1 */
} wb_mixture_precisions;

/* Numbers of each component; outputs may be NULL. */
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

/* The components of a session are its own: their statistics, which draw_labels() writes, and
 * their parameters, which draw_components() draws from these. They stay where the
 * backend computes. A sweep is one call of each; what it moves does not depend on the rows and,
 * but for some numbers of each component, not on the components. */
typedef struct wb_mixture_functions {
  int (*open)(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session,
              wb_message *message);
  /* How many components there are, and the statistics of all. */
  int (*set_components)(wb_mixture_session *session, int32_t components, const double *statistics,
                        wb_message *message);
  /* Statistics of components first, ..., first + count - 1: count x
   * WB_MIXTURE_STATISTICS(columns). */
  int (*set_statistics)(wb_mixture_session *session, int32_t first, int32_t count, const double *statistics,
                        wb_message *message);
  int (*get_statistics)(wb_mixture_session *session, int32_t first, int32_t count, double *statistics,
                        wb_message *message);
  /* Draws mean and covariance of every component. Component j is drawn from the statistics
   * of component source[j] and from random numbers of (key, iteration, source[j]). The
   * statistics keep their order until draw_labels() begins to replace them. Where a covariance cannot
   * be drawn, this function, or the next finish_labels() or get_components(), fails. */
  int (*draw_components)(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source,
                         uint64_t key, uint32_t iteration, wb_message *message);
  int (*add_precisions)(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message);
  int (*measure)(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message);
  /* Begins to draw the component of every row from its conditional posterior given the
   * parameters, and to sum the rows of each component. The draw of row i depends on (key,
   * iteration, i) alone. Until finish_labels() is called add_precisions() and measure() may be, and
   * no other function. Where values are missing the densities are those of the others, and then
   * the missing values are drawn given these and the component, from random numbers of
   * (key, iteration, i): what is summed are whole rows. Pairs use these rows too.
   *   log_weight  samples x components, those of a sample side by side
   *   labels      one for each row, from 0, by the end of finish_labels(); or NULL */
  int (*draw_labels)(wb_mixture_session *session, const double *log_weight, uint64_t key, uint32_t iteration,
                     int32_t *labels, wb_message *message);
  /* Waits for the labels and the statistics.
   *   sizes           samples x components: how many rows of each sample were drawn to each component
   *   log_likelihood  the sum over rows of the log mixture density in scaled units, each
   *                   density lowered by its part of the floor */
  int (*finish_labels)(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message);
  /* The parameters drawn last: means (components x columns) and F (components x packed
   * triangle), each may be NULL. */
  int (*get_components)(wb_mixture_session *session, double *mean, double *factor, wb_message *message);
  /* Evaluates rows first, ..., first + count - 1 under `parameters`, which need not be those
   * of the session's components. Each output may be NULL.
   *   labels       the most probable component of each row, from 0
   *   log_density  the log mixture density of each row in scaled units
   *   probability  of each row (count) and component, column-major */
  int (*evaluate)(wb_mixture_session *session, const wb_mixture_parameters *parameters,
                  int64_t first, int64_t count, int32_t *labels, double *log_density,
                  double *probability, wb_message *message);
  /* Adds densities of rows first, ..., first + count - 1 under one mixture after the other, all of as many
   * components, to densities that are there.
   *   log_unit     what is taken from each log density in scaled units: `count` numbers, or one where `units` is 1
   *   log_density  of each row the log of a density, -Inf for none; becomes the log of the sum */
  int (*add_densities)(wb_mixture_session *session, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                       int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                       wb_message *message);
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
  /* Sums all rows, each weighted by its probability of every component under `parameters`,
   * which need not be those of the session's components. Probabilities below
   * WB_MIXTURE_LEAST_WEIGHT count as zero in the statistics.
   *   statistics      components x WB_MIXTURE_STATISTICS(columns)
   *   log_likelihood  the sum over rows of the log of the sum of their weights */
  int (*weigh_rows)(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
                    double *log_likelihood, wb_message *message);
  /* Of a part, in place of sums: those of each piece of `piece` leaves, from the last finish_labels(), draw_halves() or
   * weigh_rows(), whose statistics and log likelihoods are then unspecified, and sizes where there are no samples.
   *   nodes  pieces x (components x WB_MIXTURE_STATISTICS(columns), log likelihood) */
  int (*get_nodes)(wb_mixture_session *session, double *nodes, wb_message *message);
  /* A row in scaled units, with the values drawn last in place of missing ones: `columns` doubles. */
  int (*get_row)(wb_mixture_session *session, int64_t row, double *values, wb_message *message);
  void (*close)(wb_mixture_session *session); /* takes NULL too; never fails */
} wb_mixture_functions;

#ifdef __cplusplus
}
#endif
#endif
