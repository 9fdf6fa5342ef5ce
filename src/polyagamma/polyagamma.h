/* Polya-Gamma variables. Functions return a wb_status. On failure they have written into the message. */
#pragma once

#include "backend/backend.h"

/* Makes `count` draws. Draw i is of PG(shape[i % shapes], tilt[i % tilts]), and depends on the seed, i, its shape and
 * its tilt alone. method: wb_polyagamma_method of core/polyagamma_draw.h; the caller has checked that it allows the
 * shapes. NaN if the shape is not positive, or if shape or tilt is not finite. */
int wb_polyagamma_fill(wb_call *call, int64_t count, const double *shape, int64_t shapes, const double *tilt,
                       int64_t tilts, int method, uint64_t seed, double *draws);

int wb_polyagamma_any_nan(const wb_call *call, int64_t count, const double *draws);

/* Evaluates laws in slices; see wb_polyagamma_points. */
int wb_polyagamma_values(wb_call *call, const wb_polyagamma_points *points);

/* value[i] is the cumulant of PG(shape[i], tilt[i]) of order order[i], from 1 (the mean) to 20. */
void wb_polyagamma_cumulants(int64_t count, const double *shape, const double *tilt, const double *order,
                             double *value);
