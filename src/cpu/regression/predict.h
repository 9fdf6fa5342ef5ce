/* Predictions of regressions on the processor: `predict` of backend/regression_table.h. */
#ifndef WB_CPU_REGRESSION_PREDICT_H
#define WB_CPU_REGRESSION_PREDICT_H

#include "backend/backend.h"

int wb_cpu_regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                              double *out, wb_message *message);

#endif
