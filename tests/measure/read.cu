/* Measures the bytes per second that a graphics card reads from its memory. Benchmarks of kernels that read much and
 * compute little are compared with this rate. The twin of read.c. */
#include "measure.h"

#include "core/unroll.h"
#include "shortest.cuh"

namespace {

constexpr int THREADS = 256, BLOCKS = 16, LOADS = 8, REPEATS = 3;
/* Bytes to read: LEAST takes the emulator a moment, MOST fits in no cache. */
constexpr size_t LEAST = size_t(1) << 20, MOST = size_t(1) << 30;
constexpr double SECONDS = 1e-3;

/* The threads of the grid go through `pairs` pairs of doubles together. Each thread has LOADS loads of 16 bytes in
 * flight. The sums are written so that the compiler leaves out no load. */
__global__ void __launch_bounds__(THREADS) read_all(const double2 *values, int64_t pairs, double *sums) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
  double sum[LOADS] = {};
  int64_t at = thread;
  for (; at + (LOADS - 1) * threads < pairs; at += LOADS * threads) {
    WB_UNROLL
    for (int i = 0; i < LOADS; i++) {
      const double2 value = values[at + i * threads];
      sum[i] += value.x + value.y;
    }
  }
  for (; at < pairs; at += threads) sum[0] += values[at].x + values[at].y;
  WB_UNROLL
  for (int i = 1; i < LOADS; i++) sum[0] += sum[i];
  sums[thread] = sum[0];
}

/* *seconds is the time of the shortest of `times` readings. */
int read_times(int32_t times, unsigned blocks, const wb::device_array<double> &values,
               const wb::device_array<double> &sums, size_t bytes, double *seconds, wb_message *message) {
  return measure_shortest(times, seconds, message, [&] {
    return wb::launch(wb::grid(THREADS, blocks), read_all, "measuring how fast memory is read", message,
                      reinterpret_cast<const double2 *>(values.data()), static_cast<int64_t>(bytes / sizeof(double2)),
                      sums.data());
  });
}

} // namespace

extern "C" MEASURE_EXPORT int wb_measure_read_rate(const wb_run *run, double *rate, wb_message *message) {
  wb::device_scope scope;
  wb::device_array<double> values, sums;
  int processors = 0;
  uint64_t available = 0;
  int status = scope.enter(run->device, message);
  if (status == WB_OK) status = wb::memory_left(run->memory_limit, 0, &available, message);
  if (status == WB_OK)
    status = wb::status_of(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, run->device),
                           "asking for the number of multiprocessors", message);
  const unsigned blocks = static_cast<unsigned>(processors * BLOCKS);
  if (status == WB_OK) status = sums.allocate(static_cast<size_t>(blocks) * THREADS, "sums", message);
  size_t bytes = LEAST;
  double seconds = 0;
  while (status == WB_OK) {
    status = values.allocate(bytes / sizeof(double), "what is read", message);
    if (status == WB_OK) status = wb::status_of(cudaMemset(values.data(), 0, bytes), "clearing what is read", message);
    if (status == WB_OK) status = read_times(1, blocks, values, sums, bytes, &seconds, message);
    if (seconds >= SECONDS || 2 * bytes > MOST || 4 * bytes > available) break;
    bytes *= 2;
  }
  if (status == WB_OK) status = read_times(REPEATS, blocks, values, sums, bytes, &seconds, message);
  *rate = static_cast<double>(bytes) / seconds;
  return status;
}
