/* Polya-Gamma variables: a part of the table of backend.h. */
#pragma once

#include "backend/types.h"

/* Element i of count, i from 0, is a draw of PG(shape[(begin + i) % shapes], tilt[(begin + i) % tilts]). It depends
 * only on key, iteration, first + i, its shape and its tilt: wb_polyagamma_draw() of element first + i. */
typedef struct wb_polyagamma_work {
  int64_t count;
  const double *shape;
  int64_t shapes;
  const double *tilt;
  int64_t tilts;
  int64_t begin;
  int32_t method; /* wb_polyagamma_method of core/polyagamma_draw.h; 0: any */
  uint64_t key;
  uint32_t iteration;
  uint64_t first;
  double *draws; /* count; NaN if the shape is not positive or a value is not finite */
} wb_polyagamma_work;

/* Densities and tail probabilities of PG(shape[i], tilt[i]) at x[i], or quantiles at the probability x[i]. With `log`
 * set, densities and probabilities are logarithms. NaN if a value is not a number, the shape is not positive, a
 * parameter is infinite, or a probability is outside [0, 1]. */
typedef struct wb_polyagamma_points {
  int64_t count;
  const double *x, *shape, *tilt;
  int32_t quantity; /* wb_polyagamma_quantity of core/polyagamma_law.h */
  int32_t log;
  double *value;
} wb_polyagamma_points;

typedef struct wb_polyagamma_functions {
  int (*draw)(const wb_polyagamma_work *work, const wb_run *run, wb_message *message);
  int (*evaluate)(const wb_polyagamma_points *points, const wb_run *run, wb_message *message);
} wb_polyagamma_functions;
