/* The draws of a sweep, and what they share. */
#pragma once

#include "core/linear_algebra.h"
#include "core/random_gamma.h"
#include "numeric/slice.h"
#include "regression/chain.h"

/* Where the scales of one outcome's p coefficients are. The auxiliary ones belong to half-Cauchy laws. */
typedef struct wb_regression_scales {
  double *local, *local_auxiliary; /* p */
  double *global, *global_auxiliary, *slab;
} wb_regression_scales;

wb_regression_scales wb_regression_scales_of(const wb_regression_state *state, int32_t outcome);

/* The prior of an outcome's coefficients, given the scales in the state: the precision, packed, or the variances in a
 * dual session; and the mean of a coefficient, given those of the other outcomes. */
void wb_regression_prior_precision(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                                   double *precision);
void wb_regression_prior_variances(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                                   double *variance);
double wb_regression_prior_mean(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                                int32_t column);

/* Blocks of coefficients: their number, whether the laws are in order, and a block's first column. */
int32_t wb_regression_blocks(const wb_regression_prior *prior);
int wb_regression_are_blocks(const wb_regression_prior *prior);
int32_t wb_regression_block_column(const wb_regression_prior *prior, int32_t block);
/* Whether the block of a column is an autoregression. The entries of its K, unscaled, for the logit of its correlation,
 * at the row `first` of a packed matrix that is 0 elsewhere. */
int wb_regression_is_autoregression(const wb_regression_prior *prior, int32_t column);
void wb_regression_put_autoregression(const double *gap, int k, double logit, int first, double *packed);
/* The law of a level given the one before, at this distance: normal about `weight` times it, with this precision. */
typedef struct wb_regression_ar_step {
  double weight, precision;
} wb_regression_ar_step;

wb_regression_ar_step wb_regression_ar_step_of(double gap, double logit);
/* The log of 1 - rho^2, the innovations' variance at distance 1 for a deviation of 1. */
double wb_regression_log_innovation(double logit);

/* The variances of all blocks and the correlations of autoregressions, with the coefficients integrated out of a
 * likelihood of this information and linear term. `draw`: its number in the sweep. `room`: wb_regression_block_room()
 * doubles. */
size_t wb_regression_block_room(const wb_regression_prior *prior);
void wb_regression_draw_blocks(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, uint64_t draw,
                               const double *information, const double *linear, double *room);
void wb_regression_draw_blocks_given(const wb_regression_chain *chain, int32_t outcome, wb_stream *stream);

void wb_regression_draw_shrinkage(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration);

/* A move of an outcome's shrunk coefficients together with their common scales, where the session is dual. */
int wb_regression_move_shrinkage(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration);

/* Where log(r) of the dispersion may lie, on either side of 0: counts with r are representable. */
#define WB_REGRESSION_DISPERSION_MOST 30.0
#define WB_MOST_LOG 100.0 /* the same for the logs of scales and the logits of correlations */

/* Draws by surrogates of Poisson rows (regression/surrogate.c). The log likelihood less theirs; else 0. */
int wb_regression_log_ratios(const wb_regression_chain *chain, double *log_ratio);
/* Whether the state, which was drawn by surrogates, is taken: always if rows are not Poisson. `draw`: its number in the
 * sweep. `log_ratio`: as above, before the draw, and on return of the state that the chain goes on with. */
int wb_regression_accept(const wb_regression_chain *chain, uint32_t iteration, uint64_t draw, double *log_ratio,
                         int *accepted);

void wb_regression_draw_group_scale(const wb_regression_chain *chain, uint32_t iteration);
int wb_regression_draw_dispersion(const wb_regression_chain *chain, uint32_t iteration);

/* The draws of an outcome in a sweep where there are terms: Polya-Gamma variables, coefficients with the effects of
 * each term, shifts of nested terms, covariances. `sums`: wb_regression_level_sums() doubles. */
int wb_regression_draw_terms(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, double *sums,
                             double *room);
void wb_regression_shift_terms(const wb_regression_chain *chain, int32_t outcome, uint32_t iteration, double *sums);

/* The part of the log likelihood of counts that depends on the dispersion r but not on the means. */
double wb_regression_count_constant(const wb_regression_counts *counts, double r);

double wb_regression_log_dispersion(const wb_regression_prior *prior, double log_r);

wb_regression_parameters wb_regression_parameters_of(const wb_regression_state *state, double dispersion);
wb_regression_parameters wb_regression_own_parameters(const wb_regression_state *state);

/* A chain and the one beside it, with the parameters of the former. */
wb_regression_pair wb_regression_pair_of(const wb_regression_chain *chain, const wb_regression_parameters *own);
/* The log likelihood of all rows, with what completes the data summed out. */
int wb_regression_evaluate(const wb_regression_chain *chain, const wb_regression_parameters *own, double *sum);

/* Parts of a draw of coefficients: writes the prior's precision P, packed, and adds P m to `linear`. */
void wb_regression_add_prior(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                             double *precision, double *linear);

/* Replaces the packed A by its root, as wb_cholesky() does and with the same bits. Vectors factor a large A. */
int wb_regression_root(wb_isa isa, int32_t n, double *a);

/* Draws from N(Q^-1 b, Q^-1). Q is in `precision` and b in `linear`; both are overwritten. `normal`: room. */
int wb_regression_draw_normal(wb_isa isa, int32_t columns, double *precision, double *linear, double *normal,
                              wb_stream *stream, uint32_t iteration, double *coefficients, wb_message *message);

/* The factor c of the effects of groups and of their deviation, which otherwise hold each other where they are (Liu &
 * Sabatti 2000, "Generalised Gibbs sampler and multigrid Monte Carlo for Bayesian computation", Biometrika 87, 353-369,
 * with the group of scales). The log density of t = log(c), without the auxiliary variable of the deviation's prior, is
 *
 *    linear c - square c^2/2 - power t - (power + 1)/2 log(tie/c^2 + floor).
 *
 * The first two are of the likelihood. The effects' own density and the Jacobian of their change cancel. */
typedef struct wb_regression_factor_law {
  double linear, square, power, tie, floor;
} wb_regression_factor_law;
double wb_regression_draw_log_factor(const wb_regression_factor_law *law, wb_stream *stream);

/* What a term's draw reads and writes. `number`, `first_level`: among all outcomes; they choose its random numbers. */
typedef struct wb_regression_term_place {
  int32_t outcome, term, columns, levels;
  uint64_t number, first_level; /* terms, and their levels, before it */
  double *coefficients, *effects, *covariance;
  double *sums; /* levels x `size` */
  size_t size, triangle;
} wb_regression_term_place;

/* Doubles that a draw of any lattice (the effects of many areas or times) needs. */
size_t wb_regression_lattice_room(const wb_regression_state *state);

/* Draws the deviation of a lattice, the variances of blocks, then coefficients and effects. `change` gets the
 * effects before. `room`: as for coefficients. `own`: wb_regression_lattice_room() doubles. */
int wb_regression_draw_lattice(const wb_regression_chain *chain, const wb_regression_term_place *term, double scale,
                               uint32_t iteration, double *change, double *room, double *own);
