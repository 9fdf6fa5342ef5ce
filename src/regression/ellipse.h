/* Moves of all coefficients of a regression together, beside the Polya-Gamma sweep. Given Polya-Gamma variables of many
 * trials, the coefficients are known far more precisely than the data know them, so sweeps alone hardly move: the
 * effective draws of a sweep are about 1/(2 lambda - 1). lambda is the largest eigenvalue of
 * (X'WX + P)^-1 (X'EX + P) at the mode of the posterior. W is the information of the rows, E the means of the
 * Polya-Gamma variables, and P the prior's precision. Where lambda exceeds WB_REGRESSION_TOLERABLE, elliptical slice
 * moves follow each sweep, unless there are very many groups. They always do if the dispersion of counts is learned
 * and there are no groups: the moves draw it too, for less than the slice sampler of regression/hyperparameters.c. */
#ifndef WB_REGRESSION_ELLIPSE_H
#define WB_REGRESSION_ELLIPSE_H

#include "regression/regression.h"

#define WB_REGRESSION_TOLERABLE 3.0
#define WB_REGRESSION_MOVES 3

/* The quadratic approximation of the log likelihood about the mode, which the moves of a chain share. It is a vector of
 * doubles: the moves after each sweep; lambda; then, with d = columns + 1 (log(r); not used if r is not learned), the
 * linear term (d) and the information (d (d + 1)/2, packed); then for each group its intercept's information with the
 * others (d), its own, and its linear term. The prior of log(r) counts as likelihood. */
#define WB_REGRESSION_ELLIPSE(p, groups) \
  (2 + (size_t)((p) + 1) + ((size_t)(p) + 1) * ((size_t)(p) + 2) / 2 + (size_t)(groups) * ((size_t)(p) + 3))

/* Finds the mode of the posterior given the scales in the state, from the state on, and the approximation there. Leaves
 * the mode in the state. Without a mode there are no moves. With spread > 0, `spread` times a t draw about the mode
 * takes its place. */
int wb_regression_find_mode(const wb_backend *backend, wb_regression_session *session,
                            const wb_regression_prior *prior, const wb_regression_counts *counts,
                            wb_regression_state *state, uint64_t key, double spread, wb_message *message);

/* The moves after a sweep. `moved`: whether there were any. They move the dispersion too. `room`:
 * wb_regression_move_room() doubles. */
size_t wb_regression_move_room(const wb_regression_state *state);
int wb_regression_move(const wb_backend *backend, wb_regression_session *session, const wb_regression_prior *prior,
                       const wb_regression_counts *counts, wb_regression_state *state, uint64_t key,
                       uint32_t iteration, double *room, int *moved, wb_message *message);

#endif
