/* Polya-Gamma variables: a part of the table of backend.h. */
#ifndef WB_BACKEND_POLYAGAMMA_H
#define WB_BACKEND_POLYAGAMMA_H

#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element i of count, i from 0, is a draw of PG(shape[i % shapes], tilt[i % tilts]),
 * a function of key, iteration, first + i, its shape and its tilt alone: the draw that
 * wb_polyagamma_draw_by of core/polyagamma_draw.h makes for element first + i. Where `way` is
 * WB_POLYAGAMMA_AUTO, wb_polyagamma_choose finds the way of each element. */
#define WB_POLYAGAMMA_AUTO -1

typedef struct wb_polyagamma_work {
  int64_t count;
  const double *shape;
  int64_t shapes;
  const double *tilt;
  int64_t tilts;
  int32_t way; /* wb_polyagamma_way, or WB_POLYAGAMMA_AUTO */
  uint64_t key;
  uint32_t iteration;
  uint64_t first;
  double *draws; /* count; NaN where the shape is not positive or something not finite */
} wb_polyagamma_work;

typedef struct wb_polyagamma_functions {
  int (*draw)(const wb_polyagamma_work *work, const wb_run *run, wb_message *message);
} wb_polyagamma_functions;

#ifdef __cplusplus
}
#endif
#endif
