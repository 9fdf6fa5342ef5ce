/* Measures the bytes per second that travel to a graphics card and back. No copy is faster. */
#include "measure.h"

#include <cstring>

#include "cuda/device.cuh"

namespace {

constexpr int REPEATS = 3;
/* A copy of so many bytes takes a millisecond or more. */
constexpr size_t BUS_BYTES = size_t(1) << 26;

} // namespace

extern "C" MEASURE_EXPORT int wb_measure_bus_rate(const wb_run *run, double *to_device, double *from_device,
                                                  wb_message *message) {
  static const char *const what = "measuring how fast the bus is";
  wb::device_scope scope;
  wb::event start, end;
  wb::device_bytes there;
  wb::pinned_bytes here;
  uint64_t available = 0;
  *to_device = *from_device = 0;
  WB_TRY(scope.enter(run->device, message));
  WB_TRY(wb::memory_left(run->memory_limit, 0, &available, message));
  const size_t bytes = available / 2 < BUS_BYTES ? static_cast<size_t>(available / 2) : BUS_BYTES;
  WB_TRY(start.create(true, message));
  WB_TRY(end.create(true, message));
  WB_TRY(there.allocate(bytes, "what is copied", message));
  WB_TRY(here.allocate(bytes, "what is copied", message));
  std::memset(here.address(), 0, bytes);
  /* A round before these, in which the device's clocks rise. */
  for (int i = -2; i < 2 * REPEATS; i++) {
    const bool sends = i % 2 == 0;
    double *const rate = sends ? to_device : from_device;
    float milliseconds = 0;
    void *const from = sends ? here.address() : there.address(), *const to = sends ? there.address() : here.address();
    WB_TRY(start.record(nullptr, message));
    WB_TRY(wb::status_of(
        cudaMemcpyAsync(to, from, bytes, sends ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, nullptr), what,
        message));
    WB_TRY(end.record(nullptr, message));
    WB_TRY(end.wait(what, message));
    WB_TRY(wb::status_of(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading the clock", message));
    const double seconds = static_cast<double>(milliseconds) / 1000;
    if (i >= 0 && static_cast<double>(bytes) > *rate * seconds) *rate = static_cast<double>(bytes) / seconds;
  }
  return WB_OK;
}
