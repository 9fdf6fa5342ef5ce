/* The convolution slot of the CUDA backend (see backend.h). */
#ifndef WB_CUDA_CONVOLVE_CUH
#define WB_CUDA_CONVOLVE_CUH

#include "../backend.h"

int wb_cuda_convolve(const wb_convolution *work, const wb_run *run, wb_message *message);

#endif
