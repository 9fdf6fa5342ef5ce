/* Grids, threads and their numbers, places in a triangle, launches of kernels, and batches of work that fit. */
#pragma once

#include "core/elementary.h"
#include "cuda/device.cuh"

namespace wb {

template <typename T>
constexpr __host__ __device__ T smaller(T a, T b) {
  return a < b ? a : b;
}

template <typename T>
constexpr __host__ __device__ T larger(T a, T b) {
  return a > b ? a : b;
}

/* Parts of `size` that hold `count`. */
constexpr __host__ __device__ int64_t ceiling(int64_t count, int64_t size) { return (count + size - 1) / size; }

template <int THREADS, typename Number = int64_t>
__device__ __forceinline__ Number thread_number() {
  return Number(blockIdx.x) * THREADS + Number(threadIdx.x);
}
/* The same where only the launch knows how many threads a block has. */
template <typename Number = int64_t>
__device__ __forceinline__ Number thread_number() {
  return Number(blockIdx.x) * Number(blockDim.x) + Number(threadIdx.x);
}

/* The row and column of an entry of a packed triangle. */
__device__ __forceinline__ void triangle_position(int entry, int *row, int *column) {
  int r = int((wb_sqrt(8.0 * entry + 1.0) - 1.0) * 0.5);
  if (r * (r + 1) / 2 > entry) r--;
  if ((r + 1) * (r + 2) / 2 <= entry) r++;
  *row = r;
  *column = entry - r * (r + 1) / 2;
}

struct launch_shape {
  dim3 blocks;
  dim3 threads;
  size_t shared_bytes = 0;
  cudaStream_t stream = current_stream();

  launch_shape sharing(size_t bytes) const { return {blocks, threads, bytes, stream}; }
  launch_shape on(cudaStream_t other) const { return {blocks, threads, shared_bytes, other}; }
};

/* x, x by y, or x by y by z blocks of so many threads. */
inline launch_shape grid(int threads, int64_t x, int64_t y = 1, int64_t z = 1) {
  return {dim3(unsigned(x), unsigned(y), unsigned(z)), dim3(unsigned(threads))};
}

inline launch_shape cover(int threads, int64_t count, int64_t y = 1, int64_t z = 1) {
  return grid(threads, ceiling(count, threads), y, z);
}

/* Blocks along the second dimension, whose kernel goes through `count` items in steps of gridDim.y. */
inline int64_t rows_of_grid(int64_t count) { return smaller<int64_t>(count, 65535); }

/* Launches `kernel`, and returns errors of the launch; errors inside come by the next call that waits for it. */
template <typename... Parameters, typename... Arguments>
int launch(const launch_shape &shape, void (*kernel)(Parameters...), const char *what, wb_message *message,
           Arguments &&...arguments) {
  /* CUDA grants more than 48 KB of shared memory only to a kernel that asks for it. */
  if (shape.shared_bytes > 48 * 1024)
    WB_TRY(status_of(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, int(shape.shared_bytes)),
                     what, message));
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  return status_of(cudaLaunchKernelEx(&config, kernel, static_cast<Arguments &&>(arguments)...), what, message);
}

/* *bytes: the device memory that a call may take. A tenth stays free for what the runtime takes. */
inline int memory_for_call(const wb_run *run, uint64_t *bytes, wb_message *message) {
  WB_TRY(memory_left(run->memory_limit, 0, bytes, message));
  *bytes = *bytes / 10 * 9;
  return WB_OK;
}

/* One of the items of a call takes more bytes than it may take. */
int too_little(uint64_t bytes, const char *item, uint64_t needed, wb_message *message);

/* *at_once: how many of `all` items of `size` bytes each have room on the device, at least one. `item` names one. */
int fitting(const wb_run *run, uint64_t size, const char *item, int64_t all, int64_t *at_once, wb_message *message);

template <typename Work>
int in_batches(int64_t all, int64_t at_once, Work work) {
  for (int64_t first = 0; first < all; first += at_once) WB_TRY(work(first, smaller(at_once, all - first)));
  return WB_OK;
}

} // namespace wb
