/* Polya-Gamma variables: what the entries call. Functions return a wb_status and on failure have written into the
 * message. */
#ifndef WB_POLYAGAMMA_H
#define WB_POLYAGAMMA_H

#include "backend/backend.h"

/* `count` draws, draw i of PG(shape[i % shapes], tilt[i % tilts]) and a function of the seed, i, its shape and its tilt
 * alone. method: wb_polyagamma_method of core/polyagamma_draw.h, whose shapes the caller has looked at. NaN where the
 * shape is not positive or something not finite. */
int wb_polyagamma_fill(wb_call *call, int64_t count, const double *shape, int64_t shapes, const double *tilt,
                       int64_t tilts,
                       int method, uint64_t seed, double *draws, wb_message *message);

/* Values of laws, in slices; see wb_polyagamma_points. */
int wb_polyagamma_values(wb_call *call, const wb_polyagamma_points *points, wb_message *message);

/* Cumulants of PG(shape[i], tilt[i]), of an order from 1 (the mean) to 20. */
void wb_polyagamma_cumulants(int64_t count, const double *shape, const double *tilt, const double *order,
                             double *value);

#endif
