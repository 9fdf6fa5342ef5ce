/* Predictions of regressions on a graphics card: `predict` of backend/regression_table.h. */
#pragma once

#include "backend/backend.h"

namespace wb {
int regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                       double *out, wb_message *message);
}
