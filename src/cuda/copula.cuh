/* The functions of copula.cu, for the table in predictive.cu. */
#ifndef WB_CUDA_COPULA_CUH
#define WB_CUDA_COPULA_CUH

#include "backend/backend.h"

namespace wb {

int copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message);
int copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message);

} // namespace wb

#endif
