/* Draws of the effects of many areas or times, with their deviation and, of an autoregression, the correlation. */
#pragma once

#include "regression/draws.h"

/* What a term's draw reads and writes. `number`, `first_level`: among all outcomes; they choose its random numbers. */
typedef struct wb_regression_term_place {
  int32_t outcome, term, columns, levels;
  uint64_t number, first_level; /* terms, and their levels, before it */
  double *coefficients, *effects, *covariance;
  double *sums; /* levels x `size` */
  size_t size, triangle;
} wb_regression_term_place;

/* Doubles that a draw of any lattice needs. */
size_t wb_regression_lattice_room(const wb_regression_state *state);

/* Draws the deviation of a lattice and the variances of blocks, with coefficients and effects integrated out, then
 * these. `change` gets the effects before. `room`: as for coefficients. `own`: wb_regression_lattice_room() doubles. */
int wb_regression_draw_lattice(const wb_regression_chain *chain, const wb_regression_term_place *term, double scale,
                               uint32_t iteration, double *change, double *room, double *own);
