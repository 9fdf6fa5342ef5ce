/* The bytes per second that a graphics card reads from its memory, and that go to it and back: what the
 * benchmarks divide by where a kernel reads much and computes little, or the data travel. The twin of cpu/read.c. */
#include "cuda/table.cuh"

#include <cstring>

#include "cuda/device.cuh"

namespace {

constexpr int THREADS = 256, BLOCKS = 16, LOADS = 8, REPEATS = 3;
/* From a size that the emulator reads in a moment to one that no cache holds. */
constexpr size_t LEAST = size_t(1) << 20, MOST = size_t(1) << 30;
constexpr float MILLISECONDS = 1;
/* A copy of so many bytes takes a millisecond or more. */
constexpr size_t BUS_BYTES = size_t(1) << 26;

/* The threads of the grid go through `pairs` pairs of doubles together, LOADS of 16 bytes each
 * in flight. The sums are written so that nothing is left out. */
__global__ void __launch_bounds__(THREADS) read_all(const double2 *values, int64_t pairs, double *sums) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
  double sum[LOADS] = {};
  int64_t at = thread;
  for (; at + (LOADS - 1) * threads < pairs; at += LOADS * threads) {
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < LOADS; i++) {
      const double2 value = values[at + i * threads];
      sum[i] += value.x + value.y;
    }
  }
  for (; at < pairs; at += threads) sum[0] += values[at].x + values[at].y;
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = 1; i < LOADS; i++) sum[0] += sum[i];
  sums[thread] = sum[0];
}

int measure(wb::event &start, wb::event &end, unsigned blocks, const wb::device_array<double> &values,
            const wb::device_array<double> &sums, size_t bytes, float *milliseconds, wb_message *message) {
  wb::launch_shape shape;
  shape.blocks = dim3(blocks);
  shape.threads = dim3(THREADS);
  int status = start.record(nullptr, message);
  if (status == WB_OK)
    status = wb::launch(shape, read_all, "measuring how fast memory is read", message,
                        reinterpret_cast<const double2 *>(values.data()), static_cast<int64_t>(bytes / sizeof(double2)),
                        sums.data());
  if (status == WB_OK) status = end.record(nullptr, message);
  if (status == WB_OK) status = end.wait("measuring how fast memory is read", message);
  if (status != WB_OK) return status;
  return wb::status_of(cudaEventElapsedTime(milliseconds, start.get(), end.get()), "reading the clock", message);
}

} // namespace

int wb_cuda_read_rate(const wb_run *run, double *rate, wb_message *message) {
  wb::device_scope scope;
  wb::event start, end;
  wb::device_array<double> values, sums;
  int processors = 0;
  uint64_t available = 0;
  int status = scope.enter(run->device, message);
  if (status == WB_OK) status = wb::memory_left(run->memory_limit, 0, &available, message);
  if (status == WB_OK)
    status = wb::status_of(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, run->device),
                           "asking for the number of multiprocessors", message);
  const unsigned blocks = static_cast<unsigned>(processors * BLOCKS);
  if (status == WB_OK) status = start.create(true, message);
  if (status == WB_OK) status = end.create(true, message);
  if (status == WB_OK) status = sums.allocate(static_cast<size_t>(blocks) * THREADS, "sums", message);
  size_t bytes = LEAST;
  float milliseconds = 0;
  while (status == WB_OK) {
    status = values.allocate(bytes / sizeof(double), "what is read", message);
    if (status == WB_OK)
      status = wb::status_of(cudaMemset(values.data(), 0, bytes), "clearing what is read", message);
    if (status == WB_OK) status = measure(start, end, blocks, values, sums, bytes, &milliseconds, message);
    if (milliseconds >= MILLISECONDS || 2 * bytes > MOST || 4 * bytes > available) break;
    bytes *= 2;
  }
  *rate = 0;
  for (int i = 0; i < REPEATS && status == WB_OK; i++) {
    status = measure(start, end, blocks, values, sums, bytes, &milliseconds, message);
    const double seconds = static_cast<double>(milliseconds) / 1000;
    if (status == WB_OK && static_cast<double>(bytes) > *rate * seconds) *rate = static_cast<double>(bytes) / seconds;
  }
  return status;
}

int wb_cuda_bus_rate(const wb_run *run, double *to_device, double *from_device, wb_message *message) {
  static const char *const what = "measuring how fast the bus is";
  wb::device_scope scope;
  wb::event start, end;
  wb::device_bytes there;
  wb::pinned_bytes here;
  uint64_t available = 0;
  int status = scope.enter(run->device, message);
  if (status == WB_OK) status = wb::memory_left(run->memory_limit, 0, &available, message);
  const size_t bytes = available / 2 < BUS_BYTES ? static_cast<size_t>(available / 2) : BUS_BYTES;
  if (status == WB_OK) status = start.create(true, message);
  if (status == WB_OK) status = end.create(true, message);
  if (status == WB_OK) status = there.allocate(bytes, "what is copied", message);
  if (status == WB_OK) status = here.allocate(bytes, "what is copied", message);
  *to_device = *from_device = 0;
  if (status == WB_OK) std::memset(here.address(), 0, bytes);
  /* A round before these, in which the device's clocks rise. */
  for (int i = -2; i < 2 * REPEATS && status == WB_OK; i++) {
    const bool sends = i % 2 == 0;
    double *const rate = sends ? to_device : from_device;
    float milliseconds = 0;
    status = start.record(nullptr, message);
    if (status == WB_OK)
      status = wb::status_of(cudaMemcpyAsync(sends ? there.address() : here.address(), sends ? here.address() : there.address(), bytes,
                                             sends ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, nullptr),
                             what, message);
    if (status == WB_OK) status = end.record(nullptr, message);
    if (status == WB_OK) status = end.wait(what, message);
    if (status == WB_OK) status = wb::status_of(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading the clock", message);
    const double seconds = static_cast<double>(milliseconds) / 1000;
    if (status == WB_OK && i >= 0 && static_cast<double>(bytes) > *rate * seconds) *rate = static_cast<double>(bytes) / seconds;
  }
  return status;
}
