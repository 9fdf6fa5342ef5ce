/* The mixture slots of the CUDA backend (see backend.h). */
#ifndef WB_CUDA_MIXTURE_CUH
#define WB_CUDA_MIXTURE_CUH

#include "../backend.h"

int wb_cuda_mixture_open(const wb_mixture_data *data, const wb_run *run, wb_mixture **session, wb_message *message);
int wb_cuda_mixture_allocate(wb_mixture *session, const wb_mixture_parameters *parameters, uint64_t key,
                             uint32_t iteration, int32_t *labels, double *statistics, double *log_likelihood,
                             wb_message *message);
int wb_cuda_mixture_evaluate(wb_mixture *session, const wb_mixture_parameters *parameters, int64_t first,
                             int64_t count, int32_t *labels, double *log_density, double *probability,
                             wb_message *message);
void wb_cuda_mixture_close(wb_mixture *session);

#endif
