/* Measures the bytes per second that travel to a graphics card and back. No copy is faster. */
#include "cuda/table.cuh"

#include <cstring>

#include "cuda/device.cuh"

namespace {

constexpr int REPEATS = 3;
/* A copy of so many bytes takes a millisecond or more. */
constexpr size_t BUS_BYTES = size_t(1) << 26;

} // namespace

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
      status = wb::status_of(
          cudaMemcpyAsync(sends ? there.address() : here.address(), sends ? here.address() : there.address(), bytes,
                          sends ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, nullptr),
          what, message);
    if (status == WB_OK) status = end.record(nullptr, message);
    if (status == WB_OK) status = end.wait(what, message);
    if (status == WB_OK)
      status = wb::status_of(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading the clock", message);
    const double seconds = static_cast<double>(milliseconds) / 1000;
    if (status == WB_OK && i >= 0 && static_cast<double>(bytes) > *rate * seconds)
      *rate = static_cast<double>(bytes) / seconds;
  }
  return status;
}
