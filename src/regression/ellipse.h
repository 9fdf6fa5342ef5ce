/* Moves of all coefficients of a regression together, after the Polya-Gamma sweep. Given Polya-Gamma variables of many
 * trials, the coefficients are known far more precisely than the data know them: the effective draws of a sweep are
 * about 1/(2 lambda - 1), where lambda is the largest eigenvalue of (X'WX + P)^-1 (X'EX + P) at the mode. W is the
 * information of the rows, E the means of the Polya-Gamma variables, and P the prior's precision; coefficients here are
 * also the effects of groups. Moves follow where lambda exceeds WB_REGRESSION_TOLERABLE, unless there are very many
 * groups, and always if the dispersion of counts is learned without groups: they draw it too, for less than the slice
 * sampler of regression/hyperparameters.c.
 *
 * Outcomes share information, so several move together. A sweep draws one after the other, and lambda is defined by
 * how fast that approaches the mode (lambda_of_outcomes()). */
#pragma once

#include "core/philox.h"
#include "regression/chain.h"

#define WB_REGRESSION_TOLERABLE 3.0
#define WB_REGRESSION_MOVES 3
/* Degrees of freedom of the t whose ellipses the moves follow. */
#define WB_REGRESSION_T_FREEDOM 5.0

/* With grouping terms there are moves only if the term of most levels has at most so many effects, the others together
 * at most so many, and if there are at most so many pairs of the former with the latter and the coefficients. */
#define WB_REGRESSION_MOST_MAIN_EFFECTS 4096
#define WB_REGRESSION_MOST_OTHER_EFFECTS 64
#define WB_REGRESSION_MOST_PAIRS (4096 * 128)
/* With several outcomes these limits are for all outcomes together, and all coefficients are at most so many. */
#define WB_REGRESSION_MOST_OUTCOME_COEFFICIENTS 256

/* The vector that the moves of a chain share: the moves after each sweep; lambda; then, if there can be moves, the
 * quadratic approximation of the log likelihood about the mode (regression/quadratic.h). The blocks are the groups, or
 * the levels of the term of most levels. The prior of log(r) counts as likelihood. */
#define WB_REGRESSION_ELLIPSE_HEAD 2
size_t wb_regression_ellipse_size(const wb_regression_state *state);

/* Finds the mode of the posterior given the scales in the state, and the approximation there. Leaves in the state
 * the mode or, with spread > 0, `spread` times a t draw about it. Without a mode there are no moves. Where there
 * cannot be moves, the effects of terms stay as they are. */
int wb_regression_find_mode(const wb_regression_chain *chain, double spread);

/* What a move follows: ellipses of a t about `centre`. log_density() makes a point the state. whiten() gives the vector
 * whose squared length is that of a point in the t's scale; colour() is its inverse, in place. Both NULL: the same. */
typedef struct wb_regression_curve {
  size_t size;
  const double *centre;
  void *context;
  int (*log_density)(void *context, double *point, double *density);
  void (*whiten)(void *context, const double *x, double *w);
  void (*colour)(void *context, double *w);
} wb_regression_curve;

/* One move of `ahead`, the distance of the state from the centre, and of its `density`. The last density that is
 * computed is that of the state. white, aside, trial: room. */
int wb_regression_move_along(const wb_regression_curve *curve, wb_stream *stream, double *ahead, double *white,
                             double *aside, double *trial, double *density);

/* The moves after a sweep, of the dispersion too. `moved`: whether any. `room`: wb_regression_move_room() doubles. */
size_t wb_regression_move_room(const wb_regression_state *state);
int wb_regression_move(const wb_regression_chain *chain, uint32_t iteration, double *room, int *moved);
