/* The tables of the functions that launch kernels, one for each topic. */
#ifndef WB_CUDA_BACKEND_CUH
#define WB_CUDA_BACKEND_CUH

#include "backend/backend.h"

extern const wb_mixture_functions wb_cuda_mixture;
extern const wb_convolution_functions wb_cuda_convolution;
extern const wb_polyagamma_functions wb_cuda_polyagamma;
extern const wb_regression_functions wb_cuda_regression;
int wb_cuda_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

#endif
