/* The functions of cuda/predictive/copula_update.cu, for the table in cuda/predictive/resample.cu. */
#pragma once

#include "backend/backend.h"

namespace wb {

int copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message);
int copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message);

} // namespace wb
