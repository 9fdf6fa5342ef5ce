/* The bytes per second that travel from page-locked memory of the host to a graphics card: what
 * benchmarks divide by where data do not fit on the card. */
#include "cuda/backend.cuh"

#include <cstring>

#include "cuda/device.cuh"

namespace {

constexpr int REPEATS = 3;
/* From a size that the emulator copies in a moment to one that takes some milliseconds. */
constexpr size_t LEAST = size_t(1) << 20, MOST = size_t(1) << 28;
constexpr float MILLISECONDS = 1;
const char *const MEASURING = "measuring the bus";

int measure(wb::event &start, wb::event &end, const wb::pinned_array<char> &from, const wb::device_array<char> &to, size_t bytes,
            float *milliseconds, wb_message *message) {
  int status = start.record(nullptr, message);
  if (status == WB_OK)
    status = wb::status_of(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyHostToDevice, nullptr), MEASURING, message);
  if (status == WB_OK) status = end.record(nullptr, message);
  if (status == WB_OK) status = end.wait(MEASURING, message);
  if (status != WB_OK) return status;
  return wb::status_of(cudaEventElapsedTime(milliseconds, start.get(), end.get()), "reading the clock", message);
}

} // namespace

int wb_cuda_bus_rate(const wb_run *run, double *rate, wb_message *message) {
  wb::device_scope scope;
  wb::event start, end;
  wb::pinned_array<char> from;
  wb::device_array<char> to;
  uint64_t available = 0;
  int status = scope.enter(run->device, message);
  if (status == WB_OK) status = wb::memory_left(run->memory_limit, 0, &available, message);
  if (status == WB_OK) status = start.create(true, message);
  if (status == WB_OK) status = end.create(true, message);
  size_t bytes = LEAST;
  float milliseconds = 0;
  while (status == WB_OK) {
    status = from.allocate(bytes, "what is sent", message);
    if (status == WB_OK) status = to.allocate(bytes, "what is sent", message);
    if (status == WB_OK) std::memset(from.data(), 0, bytes);
    if (status == WB_OK) status = measure(start, end, from, to, bytes, &milliseconds, message);
    if (milliseconds >= MILLISECONDS || 2 * bytes > MOST || 4 * bytes > available) break;
    bytes *= 2;
  }
  *rate = 0;
  for (int i = 0; i < REPEATS && status == WB_OK; i++) {
    status = measure(start, end, from, to, bytes, &milliseconds, message);
    const double seconds = static_cast<double>(milliseconds) / 1000;
    if (status == WB_OK && static_cast<double>(bytes) > *rate * seconds) *rate = static_cast<double>(bytes) / seconds;
  }
  return status;
}
