/* The functions of the CUDA runtime that host code calls. */
#ifndef WB_EMULATOR_HOST_H
#define WB_EMULATOR_HOST_H

#pragma GCC visibility push(hidden)

#define CUDART_VERSION 13000

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaDeviceScheduleAuto 0x00

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

/* Numbers as in CUDA. Attributes that the emulator cannot answer are left out. */
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  size_t totalConstMem;
  int major, minor, multiProcessorCount, integrated, canMapHostMemory;
  int concurrentKernels, ECCEnabled, asyncEngineCount, unifiedAddressing;
  int memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, maxBlocksPerMultiProcessor;
  size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
};

struct cudaPointerAttributes {
  enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2 } type;
  int device;
  void *devicePointer, *hostPointer;
};

/* Errors */
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

/* Devices */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);

/* Memory */
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void *to, int value, size_t size);
cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream = 0);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);

/* Streams and events */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

/* Graphs */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

/* Kernels. Callers use the templates below and launch.h. */
namespace wb_emulator {
cudaError_t function_set_attribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t occupancy(int *blocks, const void *kernel, int block_size, size_t dynamic_shared);
cudaError_t copy_to_symbol(void *symbol, size_t symbol_size, const void *from, size_t size, size_t offset);
} // namespace wb_emulator

#pragma GCC visibility pop

template <typename T>
static inline cudaError_t cudaMalloc(T **pointer, size_t size) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), size);
}
template <typename T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void **>(pointer), size, stream);
}
template <typename T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t size, unsigned int flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void **>(pointer), size, flags);
}
template <typename T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void **>(pointer), size, flags);
}
template <typename T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t size, size_t offset = 0,
                                             cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return wb_emulator::copy_to_symbol(&symbol, sizeof(T), from, size, offset);
}
template <typename T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
  return wb_emulator::function_set_attribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
  return wb_emulator::function_attributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int block_size,
                                                                        size_t dynamic_shared) {
  return wb_emulator::occupancy(blocks, reinterpret_cast<const void *>(kernel), block_size, dynamic_shared);
}

#endif
