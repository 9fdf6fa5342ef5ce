/* The emulated devices, and the launches that they refuse. */
#include <stdio.h>
#include <string.h>

#include <map>

#include "emulator.h"
#include "faults.h"
#include "grid.h"
#include "memory.h"
#include "shared.h"
#include "symbols.h"

namespace wb_emulator {

/* The device has few multiprocessors, so grids that fill it stay small. */
static int capability[2] = {9, 0};
static const int MULTIPROCESSORS = 4;
static const int THREADS_PER_BLOCK = 1024;
static const int THREADS_PER_MULTIPROCESSOR = 2048;
static const int BLOCKS_PER_MULTIPROCESSOR = 32;
static const size_t SHARED_PER_BLOCK = 48 * 1024;
static const size_t SHARED_PER_BLOCK_OPTIN = 227 * 1024;
static const size_t SHARED_PER_MULTIPROCESSOR = 228 * 1024;
static const size_t SHARED_RESERVED = 1024;

/* Kernels that may use more dynamic shared memory than the default limit of a block. */
static std::map<const void *, size_t> &dynamic_limits(void) {
  static std::map<const void *, size_t> *const limits = new std::map<const void *, size_t>();
  return *limits;
}

static size_t dynamic_limit(const void *kernel) {
  const auto found = dynamic_limits().find(kernel);
  const size_t fixed = shared_static_size(kernel);
  const size_t rest = fixed < SHARED_PER_BLOCK ? SHARED_PER_BLOCK - fixed : 0;
  return found != dynamic_limits().end() && found->second > rest ? found->second : rest;
}

cudaError_t function_set_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  Call call("cudaFuncSetAttribute", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return call.finish(cudaSuccess);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      (size_t)value + shared_static_size(kernel) > SHARED_PER_BLOCK_OPTIN)
    return call.refuse(cudaErrorInvalidValue, "%s: attribute %d, value %d", function_name(kernel).c_str(),
                       (int)attribute, value);
  dynamic_limits()[kernel] = (size_t)value;
  return call.finish(cudaSuccess);
}

cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *kernel) {
  Call call("cudaFuncGetAttributes", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  memset(attributes, 0, sizeof *attributes);
  attributes->sharedSizeBytes = shared_static_size(kernel);
  attributes->maxThreadsPerBlock = THREADS_PER_BLOCK;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = (int)dynamic_limit(kernel);
  attributes->preferredShmemCarveout = -1;
  return call.finish(cudaSuccess);
}

/* The number of blocks that threads and shared memory allow. Registers are not modelled. */
cudaError_t occupancy(int *blocks, const void *kernel, int block_size, size_t dynamic_shared) {
  Call call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (block_size < 1) return call.refuse(cudaErrorInvalidValue, "blocks of %d threads", block_size);
  const size_t shared = shared_static_size(kernel) + dynamic_shared + SHARED_RESERVED;
  *blocks = 0;
  if (block_size <= THREADS_PER_BLOCK && dynamic_shared <= dynamic_limit(kernel)) {
    *blocks = THREADS_PER_MULTIPROCESSOR / ((block_size + 31) / 32 * 32);
    if (*blocks > BLOCKS_PER_MULTIPROCESSOR) *blocks = BLOCKS_PER_MULTIPROCESSOR;
    if ((size_t)*blocks > SHARED_PER_MULTIPROCESSOR / shared) *blocks = (int)(SHARED_PER_MULTIPROCESSOR / shared);
  }
  return call.finish(cudaSuccess);
}

cudaError_t launch(const cudaLaunchConfig_t *config, const void *kernel, const Closure *closure) {
  Call call("cudaLaunchKernelEx", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  const char *const name = function_name(kernel).c_str();
  const dim3 grid = config->gridDim, threads = config->blockDim;
  const uint64_t count = (uint64_t)threads.x * threads.y * threads.z;
  if (count == 0 || count > (uint64_t)THREADS_PER_BLOCK || threads.x > 1024 || threads.y > 1024 || threads.z > 64)
    return call.refuse(cudaErrorInvalidConfiguration, "%s: blocks of (%u,%u,%u) threads", name, threads.x, threads.y,
                       threads.z);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535u || grid.z > 65535u)
    return call.refuse(cudaErrorInvalidConfiguration, "%s: a grid of (%u,%u,%u) blocks", name, grid.x, grid.y, grid.z);
  if (config->dynamicSmemBytes > dynamic_limit(kernel))
    return call.refuse(cudaErrorInvalidValue, "%s: %zu bytes of dynamic shared memory; the kernel may use %zu", name,
                       config->dynamicSmemBytes, dynamic_limit(kernel));
  if (config->numAttrs != 0) return call.refuse(cudaErrorNotSupported, "%s: launch attributes", name);
  if (!stream_usable(config->stream))
    return call.refuse(cudaErrorInvalidResourceHandle, "%s: stream %p", name, (void *)config->stream);
  const std::shared_ptr<Closure> own(closure->copy(closure), closure->destroy);
  queue_submit(config->stream, [grid, threads, kernel, name, own, size = config->dynamicSmemBytes] {
    shared_open(kernel, size);
    grid_run(grid, threads, name, own.get());
    memory_check(name);
  });
  return call.finish(cudaSuccess);
}

static bool is_device_index(int device) { return device >= 0 && device < device_count(); }

} // namespace wb_emulator

void wb_emulator_capability(const int *major, const int *minor) {
  wb_emulator::capability[0] = *major;
  wb_emulator::capability[1] = *minor;
}

using namespace wb_emulator;

cudaError_t cudaGetDeviceCount(int *count) {
  Call call("cudaGetDeviceCount", INFORMS);
  if (call.failed()) return call.error();
  *count = device_count();
  return call.finish(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  Call call("cudaGetDeviceProperties", INFORMS);
  if (call.failed()) return call.error();
  if (!is_device_index(device)) return call.refuse(cudaErrorInvalidDevice, "device %d", device);
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "Emulated CUDA device %d", device);
  properties->totalGlobalMem = memory_limit();
  properties->sharedMemPerBlock = SHARED_PER_BLOCK;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = THREADS_PER_BLOCK;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = 65536;
  properties->major = capability[0];
  properties->minor = capability[1];
  properties->multiProcessorCount = MULTIPROCESSORS;
  properties->canMapHostMemory = properties->concurrentKernels = properties->unifiedAddressing = 1;
  properties->asyncEngineCount = 1;
  properties->memoryBusWidth = 64;
  properties->l2CacheSize = 1 << 20;
  properties->maxThreadsPerMultiProcessor = THREADS_PER_MULTIPROCESSOR;
  properties->maxBlocksPerMultiProcessor = BLOCKS_PER_MULTIPROCESSOR;
  properties->sharedMemPerMultiprocessor = SHARED_PER_MULTIPROCESSOR;
  properties->sharedMemPerBlockOptin = SHARED_PER_BLOCK_OPTIN;
  properties->reservedSharedMemPerBlock = SHARED_RESERVED;
  return call.finish(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  Call call("cudaDeviceGetAttribute", INFORMS);
  if (call.failed()) return call.error();
  if (!is_device_index(device)) return call.refuse(cudaErrorInvalidDevice, "device %d", device);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = THREADS_PER_BLOCK; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)SHARED_PER_BLOCK; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    case cudaDevAttrMultiProcessorCount: *value = MULTIPROCESSORS; break;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = THREADS_PER_MULTIPROCESSOR; break;
    case cudaDevAttrComputeCapabilityMajor: *value = capability[0]; break;
    case cudaDevAttrComputeCapabilityMinor: *value = capability[1]; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)SHARED_PER_MULTIPROCESSOR; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)SHARED_PER_BLOCK_OPTIN; break;
    default: return call.refuse(cudaErrorInvalidValue, "attribute %d", (int)attribute);
  }
  return call.finish(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  Call call("cudaSetDevice", INFORMS);
  if (call.failed()) return call.error();
  if (device_count() == 0) return call.finish(cudaErrorNoDevice);
  if (!is_device_index(device)) return call.refuse(cudaErrorInvalidDevice, "device %d", device);
  set_current_device(device);
  return call.finish(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device) {
  Call call("cudaGetDevice", INFORMS);
  if (call.failed()) return call.error();
  *device = current_device();
  return call.finish(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void) {
  Call call("cudaDeviceSynchronize", SYNCHRONISES);
  return call.finish(cudaSuccess);
}

/* Makes the device usable again. In contrast to CUDA's function it frees no memory. */
cudaError_t cudaDeviceReset(void) {
  Call call("cudaDeviceReset", INFORMS);
  if (call.failed()) return call.error();
  forget_errors();
  return call.finish(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version) {
  Call call("cudaDriverGetVersion", INFORMS);
  if (call.failed()) return call.error();
  *version = CUDART_VERSION;
  return call.finish(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  Call call("cudaRuntimeGetVersion", INFORMS);
  if (call.failed()) return call.error();
  *version = CUDART_VERSION;
  return call.finish(cudaSuccess);
}
