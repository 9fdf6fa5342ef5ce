/* The blocked Gibbs sampler of a truncated Dirichlet-process mixture of Gaussians (Ishwaran & James 2001; Suchard et
 * al. 2010, appendix A). The backend computes what a sweep needs for each row and each component.
 *
 *   mu_j | Sigma_j ~ N(m, gamma Sigma_j),  Sigma_j ~ IW(nu + p + 1, nu Phi), E Sigma_j = Phi,
 *   pi_j = v_j prod_{r<j} (1 - v_r),  v_k = 1,  v_j ~ Be(1, alpha),  alpha ~ Ga(e, rate f).
 *
 * The target has one more factor, the floor, which keeps covariances from collapsing onto cells that agree in a marker:
 * for each row i of component j exp(-tr(Sigma_j^-1 E) / 2), E diagonal. N(x_i | mu_j, Sigma_j) times this factor is the
 * geometric mean of N(x_i + u | mu_j, Sigma_j) over u ~ N(0, E): each value is known only to within a variance E. The
 * posterior scale gets E once for each row, and every log weight of the allocation is lowered by tr(Sigma_j^-1 E) / 2.
 * The density of the mixture itself is without the factor.
 *
 * A chain's state is the statistics of the last labels, alpha, the learned parts of the prior and, with several
 * samples, wb_mixture_samples, all in the scaled units of the session.
 *
 * Missing values are unknowns too: core/mixture_missing.h has the target. The statistics count the completed rows. */
#pragma once

#include "backend/backend.h"

/* The missing values of x (rows x columns) and their patterns (missing_rows.c), for free(); NULL if none. */
int wb_mixture_missing_find(const double *x, int64_t rows, int32_t columns, int32_t threads,
                            wb_mixture_missing **missing, wb_message *message);

#define WB_MIXTURE_DF_GRID 25 /* values that a learned nu can take */

/* The prior of the prior: m ~ N(mean, I), gamma ~ IG(shape, rate), Phi ~ W(scale_df, scale / scale_df), nu: a grid. */
typedef struct wb_mixture_hyperprior {
  int learn_mean, learn_mean_scale, learn_scale, learn_df;
  const double *mean;                       /* columns */
  double mean_scale_shape, mean_scale_rate; /* > 0 */
  double scale_df;                          /* q > columns - 1 */
  const double *scale;                      /* packed: E Phi */
  const double *df_grid;                    /* WB_MIXTURE_DF_GRID values > 0 */
  /* Set by wb_mixture_prepare_hyperprior(): for each nu log nu and log Gamma_p((nu + p + 1)/2), and constants. */
  double df_log[WB_MIXTURE_DF_GRID], df_log_gamma[WB_MIXTURE_DF_GRID];
  double mean_scale_constant, scale_log_gamma;
} wb_mixture_hyperprior;

void wb_mixture_prepare_hyperprior(wb_mixture_hyperprior *hyper, int32_t columns);

typedef struct wb_mixture_prior {
  int32_t columns;
  double *mean;                       /* m: columns */
  double mean_scale;                  /* gamma > 0 */
  double df;                          /* nu > 0 */
  double *scale;                      /* Phi, packed lower triangle, positive definite */
  double shape, rate;                 /* e, f > 0 */
  const double *floor;                /* columns: the diagonal of E, >= 0; NULL: zero */
  const wb_mixture_hyperprior *hyper; /* which of these parameters each sweep draws, and how; NULL: none */
} wb_mixture_prior;

#define WB_MIXTURE_POINTS 8 /* that share one call of measure() */

/* What a chain of several samples has in addition (samples.c). The caller owns the memory. */
typedef struct wb_mixture_samples {
  int32_t samples, components;
  uint32_t pooled;      /* up to this sweep the samples are treated as one, pi_s = beta; at least 1, unless `sizes` and
                         * log_share are those of the previous sweep */
  int together;         /* whether the last sweep treated the samples as one */
  double shape, rate;   /* > 0: a ~ Ga(shape, rate) */
  double concentration; /* a */
  double *sizes;        /* samples x components: rows of each sample in each component */
  double *log_share;    /* components: log beta */
  double *log_weight;   /* samples x components: log pi_s */
  double *rows;         /* samples */
  double *shape_of;     /* components: a beta_j; working memory */
} wb_mixture_samples;

/* A chain's state and the parameters drawn last. The caller owns the memory. While a chain runs, the session holds the
 * statistics and parameters. The fields marked "a copy" hold copies of them, made only by the functions that say so. */
typedef struct wb_mixture_state {
  int32_t components, columns;
  double *statistics;   /* components x WB_MIXTURE_STATISTICS(columns): a copy */
  double concentration; /* alpha */
  double *sizes;        /* components: rows of each; while the sticks of several samples are drawn, tables */
  int32_t *source;      /* components: the number of each before the last exchanges of labels */
  double *mean;         /* components x columns: mu, a copy */
  double *factor;       /* components x packed triangle: F with F' F = Sigma^-1, a copy */
  double *offset;       /* components x columns: F mu, of a mixture given by its moments */
  double *log_weight;   /* components: log pi; with several samples the log of the samples' mean, weighted by rows */
  double *log_rest;     /* components: log(1 - v), 0 for the last */
  double *log_constant; /* components: of the density */
  double *log_determinant, *distance, *trace; /* components: the last measurements */
  double *point_distance;                     /* components x WB_MIXTURE_POINTS: the same */
  double *workspace;                          /* three packed triangles and three vectors of columns */
  wb_mixture_samples *samples;                /* NULL: the rows are one sample */
} wb_mixture_state;

static inline double *wb_mixture_statistics_of(const wb_mixture_state *state, int32_t j) {
  return state->statistics + (size_t)j * WB_MIXTURE_STATISTICS(state->columns);
}

/* How many doubles a state points to, and a function that sets its pointers into a block of that size. */
size_t wb_mixture_state_size(int32_t components, int32_t columns);
void wb_mixture_state_place(wb_mixture_state *state, int32_t components, int32_t columns, double *memory);

size_t wb_mixture_samples_size(int32_t samples, int32_t components);
void wb_mixture_samples_place(wb_mixture_samples *samples, int32_t count, int32_t components, double *memory);
void wb_mixture_draw_tables(wb_mixture_samples *samples, double *tables, uint64_t key, uint32_t iteration);

void wb_mixture_exchange_samples(wb_mixture_samples *samples, const int32_t *source);

/* Draws a and all pi_s given log beta in log_weight and the tables; log_weight becomes the samples' log mean. */
void wb_mixture_draw_samples(wb_mixture_samples *samples, double tables, double *log_weight, uint64_t key,
                             uint32_t iteration);

void wb_mixture_add_samples(const wb_mixture_samples *samples, double *sizes);

/* Log density of a and of the logs of all pi_s given beta; 0 while the samples are treated as one. */
double wb_mixture_log_samples(const wb_mixture_samples *samples);

typedef struct wb_mixture_chain {
  const wb_backend *backend;
  wb_mixture_session *session;
  wb_mixture_prior prior;
  wb_mixture_state state;
  uint64_t key; /* of the chain's random numbers */
  wb_message *message;
} wb_mixture_chain;

/* Gives the state's statistics to a session, before the first of some sweeps. */
int wb_mixture_begin(wb_mixture_chain *chain);

/* Copies statistics, all from the session (fetch) or some to it (send). Only between two sweeps. */
int wb_mixture_fetch_statistics(wb_mixture_chain *chain);
int wb_mixture_send_statistics(wb_mixture_chain *chain, int32_t first, int32_t count);

int wb_mixture_fetch_parameters(wb_mixture_chain *chain);
int wb_mixture_learn_prior(wb_mixture_chain *chain, uint32_t iteration);

/* One sweep, after wb_mixture_begin(): draws the parameters, what is learned of the prior, and the labels of all rows,
 * which are counted in `sizes`. With `moves`, neighbouring labels may be exchanged, large components to the front. */
int wb_mixture_begin_sweep(wb_mixture_chain *chain, uint32_t iteration, int moves, int32_t *labels);
int wb_mixture_finish_sweep(wb_mixture_chain *chain, double *log_likelihood);

/* Where splits may begin: at rows of the data, or at atoms, single values that many rows share. */
typedef struct wb_mixture_spots {
  const wb_mixture_data *data; /* of the session */
  int32_t atoms;
  const double *atom; /* 2 x atoms: a column, from 0, and the value, scaled */
} wb_mixture_spots;

/* What a call of wb_mixture_run() does, and what is noted after each sweep. */
typedef struct wb_mixture_sweeps {
  int32_t count;
  uint32_t iteration;            /* the number of the first sweep */
  int moves;                     /* see wb_mixture_begin_sweep() */
  const wb_mixture_spots *spots; /* where splits begin, if the session keeps labels; NULL: no splits and joins */
  uint32_t merge;     /* 0, or the sweep before which clusters are joined. With splits and joins, some sweeps before it
                       * join neighbours instead */
  uint32_t search[2]; /* the first and the last sweep after which a better start is searched (search.c); 0, 0: none */
  double *level;      /* the chain's score during the search: a running mean */
  int32_t points;
  const double *probe;                                /* columns x points, scaled units: where the density is noted */
  double *log_likelihood, *log_prior, *concentration; /* count each */
  double *score;                                      /* count: of wb_mixture_score() */
  int32_t *occupied;                                  /* count: components that hold rows */
  double *probe_density;                              /* count x points: log mixture densities */
  double *sizes;                                      /* components: how many rows had each label in the last sweep */
} wb_mixture_sweeps;

/* Means and covariances in the data's units, x = center + scale * scaled; each is NULL if it is not wanted. */
typedef struct wb_mixture_draw {
  const double *center, *scale; /* columns */
  double *means;                /* components x columns, column-major */
  double *covariances;          /* columns x columns x components */
} wb_mixture_draw;

/* The kept draws: of sweeps first, first + every, ... (from 0), one after the other. NULL: not wanted. */
typedef struct wb_mixture_kept {
  int32_t first, every, count;
  wb_mixture_draw moments;
  int64_t rows;
  int32_t *labels;              /* rows, from 0 */
  double *log_weight;           /* components */
  double *prior;                /* WB_MIXTURE_PRIOR_VALUES */
  double *sample_log_weight;    /* components x samples */
  double *sample_sizes;         /* components x samples: rows; there if sample_log_weight is */
  double *sample_concentration; /* 1 */
} wb_mixture_kept;

/* The parts of the prior that may be learned, as one vector: m, gamma, nu, Phi. */
#define WB_MIXTURE_PRIOR_VALUES(columns) (2 + (size_t)(columns) + (size_t)(columns) * ((size_t)(columns) + 1) / 2)
void wb_mixture_prior_values(const wb_mixture_prior *prior, double *values);
void wb_mixture_set_prior_values(wb_mixture_prior *prior, const double *values);

int wb_mixture_run(wb_mixture_chain *chain, const wb_mixture_sweeps *sweeps, const wb_mixture_kept *kept);

/* A row in scaled units, in double; from the session if values are missing or the data are in other processes. */
int wb_mixture_scaled_row(const wb_backend *backend, wb_mixture_session *session, const wb_mixture_data *data,
                          int64_t row, double *values, wb_message *message);

/* The means and covariances that `draw` asks for. Uses the state's workspace. */
void wb_mixture_moments(wb_mixture_state *state, const wb_mixture_draw *draw);

wb_mixture_parameters wb_mixture_parameters_of(const wb_mixture_state *state);
void wb_mixture_set_constants(wb_mixture_state *state);

/* Log density of the prior at the parameters drawn last: of mu, Sigma, v, alpha and what is learned. Also measures
 * log_determinant and distances of up to WB_MIXTURE_POINTS points (columns x points, scaled) from all components. */
int wb_mixture_log_prior(wb_mixture_chain *chain, int32_t points, const double *point, double *log_prior);

/* The same without what is learned, from log_determinant, distance and trace, which was measured with `root`, the
 * Cholesky factor of nu Phi. The coordinate of each stick is v, or -log(1 - v) with `log_sticks`. */
double wb_mixture_log_prior_of(const wb_mixture_prior *prior, const wb_mixture_state *state, const double *root,
                               int log_sticks);
double wb_mixture_log_hyperprior(const wb_mixture_hyperprior *hyper, const wb_mixture_prior *prior,
                                 wb_mixture_state *state);

/* The score (score.c) of a sweep's labels after wb_mixture_finish_sweep(). NaN where samples have their own weights. */
int wb_mixture_score(wb_mixture_chain *chain, double log_likelihood, double *score);

/* Log density of the mixture, in scaled units, at a point with these measured distances. */
double wb_mixture_log_density(const wb_mixture_state *state, const double *distance);

/* The state of a mixture given by its weights, means (components x columns, column-major) and covariances (columns x
 * columns x components) in the data's units. Fills mean, factor, offset, log_weight and log_constant of `state`.
 * WB_ERROR_INPUT if a covariance is not positive definite. */
int wb_mixture_from_moments(wb_mixture_state *state, const double *weights, const double *means,
                            const double *covariances, const double *center, const double *inverse_scale,
                            wb_message *message);

/* The log of the product of the scales: what a log density in scaled units exceeds that in the data's units by. */
double wb_mixture_log_unit(int32_t columns, const double *scale);

int wb_mixture_evaluate(const wb_backend *backend, wb_mixture_session *session, const wb_mixture_state *state,
                        int64_t first, int64_t count, int32_t *labels, double *log_density, double *probability,
                        wb_message *message);

/* Draws of mixtures with the same number of components, in the data's units. */
typedef struct wb_mixture_draws {
  int32_t count, components, columns;
  const double *weights;     /* components x count: of each of these draws */
  const double *means;       /* components x columns x all draws */
  const double *covariances; /* columns x columns x components x all draws */
  const int32_t *which;      /* count: the position of each among all draws, from 0 */
} wb_mixture_draws;

/* Adds densities of rows under each draw: add_densities() of backend/mixture_table.h. */
int wb_mixture_add_densities(const wb_backend *backend, wb_mixture_session *session, int32_t threads,
                             const wb_mixture_draws *draws, const double *center, const double *inverse_scale,
                             int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                             wb_message *message);

/* Each row's most probable type, from 0, and its probability, given `types` vectors of `count` log densities. */
void wb_mixture_most_probable(wb_isa isa, int32_t threads, int64_t count, int32_t types,
                              const double *const *log_density, int32_t *type, double *probability);

/* Steps of Bayesian EM (bem.c), and what is noted after each. */
typedef struct wb_mixture_steps {
  int32_t count;        /* how many at most */
  int means;            /* conditional means of the parameters instead of modes */
  double least_gain;    /* stop after a step that changes the log posterior by no more than this */
  double log_posterior; /* in scaled units; in: before the first step, NaN if unknown; out: after the last */
  int32_t points;
  const double *probe;                                /* columns x points, scaled units: where the density is noted */
  double *log_likelihood, *log_prior, *concentration; /* count each */
  int32_t *occupied;                                  /* count: components that hold half a row or more */
  double *probe_density;                              /* count x points: log mixture densities */
  int32_t done;                                       /* how many steps were made */
  int converged;                                      /* whether the last step changed too little */
} wb_mixture_steps;

/* Takes statistics and alpha to new ones, and sets means, factors and log weights. The prior stays fixed. */
int wb_mixture_climb(wb_mixture_chain *chain, wb_mixture_steps *steps);

/* Statistics of rows with given labels (from 0; negative: left out). `rows` lists the rows; NULL: all rows. A missing
 * value is taken from the previous row of the same label: for a start, that keeps the spread of each column. `last`:
 * components x columns, working memory; NULL if nothing is missing. */
void wb_mixture_sum_labels(const wb_mixture_data *data, int32_t components, const int64_t *rows, int64_t count,
                           const int32_t *labels, double *last, double *statistics);

/* Psi_n = nu Phi + S + n E + n/(1 + gamma n) (xbar - m)(xbar - m)', packed: the scale of a component's inverse Wishart
 * law given its statistics. `average`: columns, working memory. */
void wb_mixture_posterior_scale(const wb_mixture_prior *prior, const double *statistics, double *average,
                                double *scale);

/* The log marginal density of a component's rows given these statistics, up to a factor pi^(-p/2) for each row;
 * -infinity if it cannot be computed. The first function gives its terms of the prior alone. Working memory:
 * `average`, columns, and `scale`, a packed triangle. */
double wb_mixture_log_marginal_prior(const wb_mixture_prior *prior, double *scale);
double wb_mixture_log_marginal(const wb_mixture_prior *prior, double of_prior, const double *statistics,
                               double *average, double *scale);

/* Splits and joins of components (split_merge.c), given the labels that the session drew last. Changes only the
 * statistics. With `neighbours`, near components are paired, which does not leave the posterior as it is. */
int wb_mixture_split_merge(wb_mixture_chain *chain, const wb_mixture_spots *spots, int neighbours, uint32_t iteration);

/* One trial of the search for a better start, after sweep `iteration`. `level` is the chain's score so far. */
int wb_mixture_search(wb_mixture_chain *chain, uint32_t iteration, int moves, double *level);

/* Puts components, given by their statistics, in order of size, the largest first. */
void wb_mixture_order_by_size(int32_t components, int32_t columns, double *statistics);

/* Joins clusters, given by statistics, while that raises their posterior (merge.c); orders by size, empty ones last. */
int wb_mixture_merge(const wb_mixture_prior *prior, int32_t clusters, double *statistics, wb_message *message);

/* A start: k-means on a subsample of the rows, in order of size. With `merge`, clusters that describe one population
 * are joined. The statistics of the subsample are multiplied so that they count all rows. `rows`: how many rows
 * there are; if the data have fewer, they are the subsample. */
int wb_mixture_start(const wb_mixture_spots *spots, const wb_mixture_prior *prior, int32_t components, uint64_t key,
                     int merge, int64_t rows, double *statistics, wb_poll *poll, wb_message *message);

/* The subsample: how many rows, and which. Each of `count` equal stretches gives one, so none comes twice. */
int64_t wb_mixture_start_count(int64_t rows, int32_t components);
void wb_mixture_start_rows(int64_t rows, int64_t count, uint64_t key, int64_t *row);
