/* The CUDA backend: which devices there are, and the table of all topics. */
#include "cuda/table.cuh"

#include <cstdio>
#include <cstring>

#include "cuda/device.cuh"

static int device_count(int32_t *count, wb_message *message) {
  *count = 0;
  WB_TRY(wb::same_process(message));
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorNoDevice) {
    (void)cudaGetLastError();
    return WB_OK;
  }
  if (error == cudaErrorInsufficientDriver) {
    /* CUDA reports a machine without any driver as one whose driver is too old. */
    int driver = 0, runtime = 0;
    (void)cudaGetLastError();
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return wb_fail(message, WB_ERROR_BACKEND, "no NVIDIA driver is loaded on this machine");
    return wb_fail(message, WB_ERROR_BACKEND,
                   "the NVIDIA driver is for CUDA %d.%d, but the plugin was built with CUDA %d.%d: update the driver",
                   driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  }
  WB_TRY(wb::status_of(error, "asking the driver for CUDA devices", message));
  *count = devices;
  return WB_OK;
}

static int device_describe(int32_t index, wb_device *device, wb_message *message) {
  WB_ON_DEVICE(index, message);
  cudaDeviceProp properties;
  size_t available = 0, total = 0;
  int driver = 0, runtime = 0;
  WB_TRY(wb::status_of(cudaGetDeviceProperties(&properties, index), "reading the device's properties", message));
  WB_TRY(wb::status_of(cudaMemGetInfo(&available, &total), "asking for free device memory", message));
  WB_TRY(wb::status_of(cudaDriverGetVersion(&driver), "asking for the driver's version", message));
  WB_TRY(wb::status_of(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version", message));
  std::memset(device, 0, sizeof *device);
  std::snprintf(device->name, sizeof device->name, "%s", properties.name);
  device->memory = total;
  device->memory_free = available;
  device->major = properties.major;
  device->minor = properties.minor;
  device->driver = driver;
  device->runtime = runtime;
  return WB_OK;
}

#if defined(_WIN32)
#define WB_EXPORT __declspec(dllexport)
#else
#define WB_EXPORT __attribute__((visibility("default")))
#endif

extern "C" WB_EXPORT const wb_backend *wb_plugin_backend(void) {
  static const wb_backend backend = {WB_ABI_VERSION,       sizeof(wb_backend),  "cuda",
                                     device_count,         device_describe,     wb::release_kept,
                                     &wb_cuda_mixture,     &wb_cuda_pmf,        &wb_cuda_categorical,
                                     &wb_cuda_topic_model, &wb_cuda_polyagamma, &wb_cuda_regression,
                                     &wb_cuda_predictive};
  return &backend;
}
