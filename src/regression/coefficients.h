/* The parts of a draw of coefficients that models with and without grouping terms share: regression/regression.c and
 * regression/groups.c. */
#ifndef WB_REGRESSION_COEFFICIENTS_H
#define WB_REGRESSION_COEFFICIENTS_H

#include "core/philox.h"
#include "regression/regression.h"

/* Writes the prior's precision P of an outcome's coefficients, packed, and adds P m to `linear`. */
void wb_regression_add_prior(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                             double *precision, double *linear);

/* Draws from N(Q^-1 b, Q^-1). Q is in `precision` and b in `linear`; both are overwritten. `normal`: room. */
int wb_regression_draw_normal(int32_t columns, double *precision, double *linear, double *normal, wb_stream *stream,
                              uint32_t iteration, double *coefficients, wb_message *message);

#endif
