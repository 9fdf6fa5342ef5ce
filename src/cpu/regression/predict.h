/* Predictions of regressions on the processor: `predict` of backend/regression_table.h. */
#pragma once

#include "backend/backend.h"

int wb_cpu_regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                              double *out, wb_message *message);
