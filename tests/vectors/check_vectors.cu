// Compares core/ on the graphics card with the known answers of the files named.
#include <cuda_runtime.h>

#include "check_vectors.h"

static __global__ void wb_kernel_evaluate(wb_case *cases, size_t count) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) wb_case_evaluate(&cases[i]);
}

static int wb_cases_evaluate(wb_case *cases, size_t count) {
  wb_case *copy = NULL;
  size_t bytes = count * sizeof *cases;
  cudaLaunchConfig_t launch = {};
  launch.blockDim = dim3(64);
  launch.gridDim = dim3((unsigned)((count + 63) / 64));
  cudaError_t status = cudaMalloc((void **)&copy, bytes);
  if (status == cudaSuccess) status = cudaMemcpy(copy, cases, bytes, cudaMemcpyHostToDevice);
  if (status == cudaSuccess) status = cudaLaunchKernelEx(&launch, wb_kernel_evaluate, copy, count);
  if (status == cudaSuccess) status = cudaMemcpy(cases, copy, bytes, cudaMemcpyDeviceToHost);
  if (status != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(status));
  cudaFree(copy);
  return status != cudaSuccess;
}

int main(int argc, char **argv) { return wb_check_main("CUDA", argc, argv); }
