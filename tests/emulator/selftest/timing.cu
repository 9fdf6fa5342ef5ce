/* Measures the cost of each operation of the emulator, in nanoseconds for each participating thread, on blocks of 128
 * threads. Argument 1: the number of repetitions, 10000 by default. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

static double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__global__ void shuffles(int times, double *out) {
  double x = threadIdx.x;
  for (int i = 0; i < times; i++) x += __shfl_xor_sync(0xffffffffu, x, 1 + (i & 15));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void ballots(int times, int *out) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < times; i++) x += __ballot_sync(0xffffffffu, (int)(x & 1));
  out[blockIdx.x * blockDim.x + threadIdx.x] = (int)x;
}

__global__ void barriers(int times, int *out) {
  for (int i = 0; i < times; i++) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = times;
}

__global__ void nothing(int times, int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = times; }

template <typename T>
static double time_of(void (*kernel)(int, T *), int blocks, int times) {
  const int threads = 128;
  T *out;
  if (cudaMalloc(&out, sizeof(T) * (size_t)(blocks * threads)) != cudaSuccess) return -1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3(threads);
  double best = 1e9;
  for (int round = 0; round < 3; round++) {
    const double start = seconds();
    if (cudaLaunchKernelEx(&config, kernel, times, out) != cudaSuccess) return -1;
    const double taken = seconds() - start;
    if (taken < best) best = taken;
  }
  if (cudaFree(out) != cudaSuccess) return -1;
  return 1e9 * best / ((double)blocks * threads * times);
}

int main(int argc, char **argv) {
  const int times = argc == 2 ? atoi(argv[1]) : 10000;
  std::printf("shuffle  %6.1f ns per lane\n", time_of(shuffles, 1, times));
  std::printf("ballot   %6.1f ns per lane\n", time_of(ballots, 1, times));
  std::printf("barrier  %6.1f ns per thread\n", time_of(barriers, 1, times));
  std::printf("thread   %6.1f ns to start and end\n", time_of(nothing, times / 10, 1));
}
