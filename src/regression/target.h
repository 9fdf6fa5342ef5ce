/* The posterior of a regression's coefficients, effects and dispersion together, as a density of points: what
 * regression/mode.c climbs and regression/ellipse.c moves in. */
#pragma once

#include "regression/draws.h"
#include "regression/quadratic.h"

#define WB_REGRESSION_MOST_PACKED (WB_REGRESSION_MOST_TERM_COLUMNS * (WB_REGRESSION_MOST_TERM_COLUMNS + 1) / 2)

/* Points are vectors: for each outcome its coefficients and its effects of the terms other than the main one; log(r) if
 * it is learned; and the blocks: intercepts of groups, or effects of the levels of the main term, which has most
 * levels. Without moves, a point has no effects of terms. A block has effects outcome by outcome. */
typedef struct wb_regression_layout {
  int32_t outcomes;
  int32_t main;              /* -1: no term */
  int32_t each, wide;        /* coefficients and effects of one outcome, and of all, which come before log(r) */
  int32_t blocks, each_q, q; /* coordinates of a block for one outcome, and for all */
} wb_regression_layout;

/* Whether there can be moves (regression/ellipse.h). */
int wb_regression_is_movable(const wb_regression_state *state);
wb_regression_layout wb_regression_layout_of(const wb_regression_state *state);

/* The chain, whose state stands for the current point, and the prior given its present scales. */
typedef struct wb_regression_target {
  wb_regression_chain chain;
  wb_regression_layout place;
  const double *mean; /* the prior's, of the first `wide` coordinates */
  wb_regression_ties ties;
  double tie[WB_REGRESSION_MOST_PACKED]; /* room for the precision of a block */
} wb_regression_target;

/* Puts `sign` times a packed matrix of n rows at a row and column of another. Both may share memory at its diagonal. */
void wb_regression_put_pair(int32_t n, double sign, const double *from, int32_t row, int32_t column, double *to);

/* Sets the prior, for which `mean` (wide) and `precision` (packed) are room. */
void wb_regression_target_tie(wb_regression_target *t, double *mean, double *precision);

/* Copies all coordinates but log(r) between a point and the state: `to_point`, or to the state. */
void wb_regression_copy_point(const wb_regression_target *t, double *point, int to_point);
void wb_regression_get_point(const wb_regression_target *t, double *point);
void wb_regression_put_point(const wb_regression_target *t, double *point);

/* What a pass computes: weights of the rows, for an outcome and, where weights are of pairs of outcomes, another. */
typedef struct wb_regression_weighing {
  int32_t weights, outcome, other;
} wb_regression_weighing;

/* A pass over the rows with the dispersion r. Adds what the log likelihood and the prior of log(r) have besides. */
int wb_regression_pass(const wb_regression_target *t, double log_r, wb_regression_weighing what, double *statistics,
                       double *block_statistics, double *log_likelihood);

/* The log prior of coefficients and effects given its scales, and the log posterior. `room`: 2 wide. */
double wb_regression_log_prior(const wb_regression_target *t, const double *point, double *room);
int wb_regression_log_density(const wb_regression_target *t, double *point, double *room, double *density);
