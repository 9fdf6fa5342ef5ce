/* Kernels with and without a race, for the build with the thread sanitizer to judge. Argument 1 is the number of the
 * kernel that runs. The program prints "clean" or "race": what the kernel is. */
#include "check.h"

#include <cstdlib>

static const unsigned FULL = 0xffffffffu;

/* Neighbours exchange values through shared memory, twice. */
template <bool FIRST, bool SECOND>
__global__ void exchange(int *out) {
  __shared__ int tile[64];
  int x = (int)threadIdx.x;
  for (int round = 0; round < 2; round++) {
    tile[threadIdx.x] = x;
    if (FIRST) __syncthreads();
    x = tile[(threadIdx.x + 1) % 64];
    if (SECOND) __syncthreads();
  }
  out[64 * blockIdx.x + threadIdx.x] = x;
}

/* The same in dynamic shared memory. */
template <bool BARRIER>
__global__ void exchange_dynamic(int *out) {
  WB_DYNAMIC_SHARED(int, tile);
  tile[threadIdx.x] = (int)threadIdx.x;
  if (BARRIER) __syncthreads();
  out[64 * blockIdx.x + threadIdx.x] = tile[63 - threadIdx.x];
}

/* Within a warp, with __syncwarp for `MASKS` of the lanes: all, each half separately, or none. */
enum Masks { ALL_LANES, HALVES, NO_LANES };
template <Masks MASKS, int DISTANCE>
__global__ void exchange_warp(int *out) {
  __shared__ int tile[64];
  const unsigned half = threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
  int x = (int)threadIdx.x;
  for (int round = 0; round < 2; round++) {
    tile[threadIdx.x] = x;
    if (MASKS == ALL_LANES) __syncwarp();
    if (MASKS == HALVES) __syncwarp(half);
    x = tile[threadIdx.x ^ DISTANCE];
    if (MASKS == ALL_LANES) __syncwarp();
    if (MASKS == HALVES) __syncwarp(half);
  }
  out[64 * blockIdx.x + threadIdx.x] = x;
}

/* A shuffle makes lanes wait for each other, but does not order their memory. */
template <bool SYNC>
__global__ void exchange_by_shuffle(int *out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = (int)threadIdx.x;
  const int lane = __shfl_xor_sync(FULL, (int)threadIdx.x, 1);
  if (SYNC) __syncwarp();
  out[64 * blockIdx.x + threadIdx.x] = tile[lane];
}

/* Each warp is ordered, the block is not. */
__global__ void warps_without_barrier(int *out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 1;
  __syncwarp();
  out[64 * blockIdx.x + threadIdx.x] = tile[threadIdx.x ^ 32];
}

template <bool ATOMIC>
__global__ void count(int *total) {
  if (ATOMIC) atomicAdd(total, 1);
  else *total += 1;
}

/* Each block reads what another block of the launch writes. */
__global__ void blocks_meet(int *out) {
  out[64 * blockIdx.x + threadIdx.x] = out[64 * ((blockIdx.x + 1) % gridDim.x) + threadIdx.x];
}
__global__ void write_own(int *out) { out[64 * blockIdx.x + threadIdx.x] = 1; }
__global__ void read_other(const int *in, int *out) {
  out[64 * blockIdx.x + threadIdx.x] = in[64 * ((blockIdx.x + 1) % gridDim.x) + threadIdx.x];
}

/* All blocks pass barriers, which must not order one block before another. */
__global__ void blocks_with_barriers(int *out) {
  __syncthreads();
  if (threadIdx.x == 0) out[0] = (int)blockIdx.x;
  __syncthreads();
}

static cudaError_t run_case(int number, int *a, int *b, const char **what) {
  switch (number) {
    case 0: *what = "clean: exchange with both barriers"; return check::run(3, 64, 0, exchange<true, true>, a);
    case 1: *what = "race: exchange without the first barrier"; return check::run(3, 64, 0, exchange<false, true>, a);
    case 2: *what = "race: exchange without the second barrier"; return check::run(3, 64, 0, exchange<true, false>, a);
    case 3: *what = "clean: dynamic shared memory"; return check::run(3, 64, 256, exchange_dynamic<true>, a);
    case 4:
      *what = "race: dynamic shared memory, no barrier";
      return check::run(3, 64, 256, exchange_dynamic<false>, a);
    case 5: *what = "clean: warp with __syncwarp"; return check::run(3, 64, 0, exchange_warp<ALL_LANES, 17>, a);
    case 6: *what = "race: warp without __syncwarp"; return check::run(3, 64, 0, exchange_warp<NO_LANES, 17>, a);
    case 7: *what = "clean: half warps with __syncwarp"; return check::run(3, 64, 0, exchange_warp<HALVES, 5>, a);
    case 8: *what = "race: half warps that meet"; return check::run(3, 64, 0, exchange_warp<HALVES, 17>, a);
    case 9: *what = "race: warp with a shuffle"; return check::run(3, 64, 0, exchange_by_shuffle<false>, a);
    case 10: *what = "race: two warps with __syncwarp only"; return check::run(3, 64, 0, warps_without_barrier, a);
    case 11: *what = "clean: atomic counting"; return check::run(3, 64, 0, count<true>, a);
    case 12: *what = "race: plain counting"; return check::run(3, 64, 0, count<false>, a);
    case 13: *what = "race: blocks that meet"; return check::run(3, 64, 0, blocks_meet, a);
    case 14: *what = "race: blocks with barriers of their own"; return check::run(3, 64, 0, blocks_with_barriers, a);
    case 15:
      *what = "clean: warp with a shuffle and __syncwarp";
      return check::run(3, 64, 0, exchange_by_shuffle<true>, a);
    case 16: {
      *what = "clean: one launch after another";
      const cudaError_t error = check::run(3, 64, 0, write_own, a);
      if (error != cudaSuccess) return error;
      int host[192];
      (void)cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
      (void)check::run(3, 64, 0, read_other, (const int *)a, b);
      return check::run(3, 64, 0, write_own, a);
    }
    default: *what = nullptr; return cudaSuccess;
  }
}

int main(int argc, char **argv) {
  int *a = nullptr, *b = nullptr;
  const char *what = nullptr;
  if (cudaMalloc(&a, 192 * sizeof(int)) != cudaSuccess || cudaMalloc(&b, 192 * sizeof(int)) != cudaSuccess ||
      cudaMemset(a, 0, 192 * sizeof(int)) != cudaSuccess)
    return 2;
  const cudaError_t error = run_case(argc == 2 ? atoi(argv[1]) : 0, a, b, &what);
  if (cudaFree(a) != cudaSuccess || cudaFree(b) != cudaSuccess) return 2;
  if (what == nullptr) return 3; /* no more */
  std::printf("%s\n", what);
  return error == cudaSuccess ? 0 : 2;
}
