/* The slot of the CUDA backend that measures the card's speed (see backend.h). */
#ifndef WB_CUDA_MULTIPLY_ADD_CUH
#define WB_CUDA_MULTIPLY_ADD_CUH

#include "../backend.h"

int wb_cuda_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

#endif
