/* Predictions of a regression from draws of its coefficients, as stats::quantile() and sd() of R would give them. */
#pragma once

#include "backend/backend.h"

/* Predicts rows first..first + count - 1. `probability`: of the two quantiles, ascending; sets their indices. */
int wb_regression_predict(const wb_call *call, wb_regression_prediction *prediction, const double *probability,
                          int64_t first, int64_t count, double *out);
