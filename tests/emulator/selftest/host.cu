/* The runtime functions that host code calls: their refusals, failures asked for, and when a kernel's failure is seen.
 * With the argument "leak" the program leaves things behind for the report at the end of the process. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

__global__ void add_one(double *x, int n) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += 1;
}
__global__ void uses_dynamic(double *x) {
  WB_DYNAMIC_SHARED(double, all);
  all[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = all[threadIdx.x];
}
__global__ void fails(double *) { __trap(); }

static bool text_has(const char *words) { return strstr(check::failure_text().data(), words) != nullptr; }

/* Copies --------------------------------------------------------------------------- */

static void test_copies() {
  double host[10] = {0}, *device = nullptr, *other = nullptr, *pinned = nullptr;
  CHECK(cudaMalloc(&device, sizeof host) == cudaSuccess && cudaMalloc(&other, sizeof host) == cudaSuccess);
  CHECK(cudaMallocHost(&pinned, sizeof host) == cudaSuccess);
  const size_t size = sizeof host;
  CHECK(cudaMemcpy(device, host, size, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(other, device, size, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(pinned, other + 2, size - 16, cudaMemcpyDeviceToHost) == cudaSuccess && pinned[7] == 0);
  CHECK(cudaMemcpy(host, device, size, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaMemcpy(device, host, size + 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue &&
        text_has("runs over the end"));
  CHECK(cudaMemcpy(device + 1, host, size, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host, pinned, size, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue &&
        text_has("is not device memory"));
  CHECK(cudaMemcpy(device, host, size, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue &&
        text_has("is device memory"));
  CHECK(cudaMemcpy(device, other, size, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host, size, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemset(device, 0, size) == cudaSuccess && cudaMemset(device, 0, size + 1) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(device, 40, host, 40, 24, 2, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy2D(device, 40, host, 40, 24, 3, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(device, pinned, size, cudaMemcpyHostToDevice, (cudaStream_t)host) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle && cudaGetLastError() == cudaSuccess);
  CHECK(cudaFree(device + 1) == cudaErrorInvalidValue && cudaFree(pinned) == cudaErrorInvalidValue &&
        cudaFreeHost(device) == cudaErrorInvalidValue);
  CHECK(cudaFree(device) == cudaSuccess && cudaFree(other) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(device) == cudaErrorInvalidValue && cudaFree(nullptr) == cudaSuccess);
}

/* Devices, limits, launches ----------------------------------------------------------- */

static void test_devices() {
  int count = -1, current = -1;
  size_t available = 0, total = 0;
  void *memory = nullptr;
  const int none = 0, two = 2, one = 1;
  wb_emulator_devices(&none);
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
  CHECK(cudaMalloc(&memory, 8) == cudaErrorNoDevice && cudaSetDevice(0) == cudaErrorNoDevice);
  wb_emulator_devices(&two);
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 2);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice && cudaSetDevice(-1) == cudaErrorInvalidDevice);
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaSetDevice(1) == cudaSuccess && cudaGetDevice(&current) == cudaSuccess && current == 1);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 1) == cudaSuccess && properties.major == 9 && properties.warpSize == 32);
  CHECK(cudaSetDevice(0) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  wb_emulator_devices(&one);
  const double limit = 1000, unlimited = 0;
  wb_emulator_memory(&limit);
  CHECK(cudaMemGetInfo(&available, &total) == cudaSuccess && available == 1000 && total == 1000);
  CHECK(cudaMalloc(&memory, 600) == cudaSuccess);
  void *more = memory;
  CHECK(cudaMalloc(&more, 401) == cudaErrorMemoryAllocation && more == nullptr);
  CHECK(cudaMemGetInfo(&available, &total) == cudaSuccess && available == 400);
  CHECK(cudaFree(memory) == cudaSuccess);
  wb_emulator_memory(&unlimited);
}

static void test_launches() {
  double *x = nullptr;
  CHECK(cudaMalloc(&x, 1024 * sizeof(double)) == cudaSuccess);
  CHECK(cudaMemset(x, 0, 1024 * sizeof(double)) == cudaSuccess);
  CHECK(check::run(1, 1025, 0, add_one, x, 8) == cudaErrorInvalidConfiguration);
  CHECK(check::run(1, 0, 0, add_one, x, 8) == cudaErrorInvalidConfiguration);
  CHECK(check::run(0, 32, 0, add_one, x, 8) == cudaErrorInvalidConfiguration);
  CHECK(check::run(dim3(1, 65536), 32, 0, add_one, x, 8) == cudaErrorInvalidConfiguration);
  CHECK(check::run(1, 32, 48 * 1024, uses_dynamic, x) == cudaSuccess);
  CHECK(check::run(1, 32, 48 * 1024 + 8, uses_dynamic, x) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(uses_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024) ==
        cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(uses_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024) == cudaSuccess);
  CHECK(check::run(1, 32, 200 * 1024, uses_dynamic, x) == cudaSuccess);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_dynamic, 256, 100 * 1024) == cudaSuccess &&
        blocks == 2);
  CHECK(check::run(4, 256, 0, add_one, x, 1000) == cudaSuccess);
  double host[1024];
  CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess && host[999] == 1 && host[1000] == 0);
  CHECK(cudaFree(x) == cudaSuccess);
}

/* Graphs: nothing is done while work is taken in, and each launch reads the memory of its time. */
static void test_graphs() {
  double *x = nullptr, *pinned = nullptr, pageable[4] = {0};
  cudaStream_t stream = nullptr, other = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  const size_t size = sizeof pageable;
  CHECK(cudaMalloc(&x, size) == cudaSuccess && cudaMallocHost(&pinned, 2 * size) == cudaSuccess);
  CHECK(cudaStreamCreate(&stream) == cudaSuccess && cudaStreamCreate(&other) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorInvalidValue && graph == nullptr);
  for (int i = 0; i < 8; i++) pinned[i] = i;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(cudaMemcpyAsync(x, pinned, size, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  CHECK(cudaMemcpyAsync(x, pageable, size, cudaMemcpyHostToDevice, stream) == cudaErrorStreamCaptureUnsupported);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(4);
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, add_one, x, 4) == cudaSuccess);
  CHECK(cudaMemcpyAsync(pinned + 4, x, size, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess && pinned[4] == 4);
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
  for (int turn = 1; turn < 3; turn++) {
    pinned[0] = 10 * turn;
    CHECK(cudaGraphLaunch(exec, other) == cudaSuccess && cudaStreamSynchronize(other) == cudaSuccess);
    CHECK(pinned[4] == 10 * turn + 1 && pinned[7] == 4);
  }
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphExecDestroy(exec) == cudaErrorInvalidValue);
  CHECK(cudaGraphLaunch(exec, other) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess && cudaStreamDestroy(other) == cudaSuccess);
  CHECK(cudaFree(x) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);
}

/* A kernel's failure ---------------------------------------------------------------- */

static void test_sticky() {
  double *x = nullptr, host[4];
  cudaLaunchConfig_t config = {};
  (void)cudaGetLastError();
  CHECK(cudaMalloc(&x, sizeof host) == cudaSuccess && cudaMemset(x, 0, sizeof host) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&config, fails, x) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&config, add_one, x, 4) == cudaSuccess);
  CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure && cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaLaunchKernelEx(&config, add_one, x, 4) == cudaErrorLaunchFailure);
  void *more;
  CHECK(cudaMalloc(&more, 8) == cudaErrorLaunchFailure);
  int count;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(cudaFree(x) == cudaErrorLaunchFailure);
  double device_bytes, pinned_bytes;
  int handles;
  wb_emulator_usage(&device_bytes, &pinned_bytes, &handles);
  CHECK(device_bytes == 0 && pinned_bytes == 0 && handles == 0);
  wb_emulator_reset();
  CHECK(cudaMalloc(&more, 8) == cudaSuccess && cudaFree(more) == cudaSuccess);
}

/* Failures asked for ------------------------------------------------------------------- */

/* The calls of a usual session. Returns the first error. Everything is given back. */
static cudaError_t session() {
  double *device = nullptr, *pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int current;
  cudaError_t error = cudaGetDevice(&current);
  if (error == cudaSuccess) error = cudaSetDevice(0);
  if (error == cudaSuccess) error = cudaStreamCreate(&stream);
  if (error == cudaSuccess) error = cudaEventCreate(&event);
  if (error == cudaSuccess) error = cudaMalloc(&device, 256);
  if (error == cudaSuccess) error = cudaMallocHost(&pinned, 256);
  if (error == cudaSuccess) {
    pinned[0] = 3;
    error = cudaMemcpyAsync(device, pinned, 256, cudaMemcpyHostToDevice, stream);
  }
  if (error == cudaSuccess) {
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(32);
    config.stream = stream;
    error = cudaLaunchKernelEx(&config, add_one, device, 1);
  }
  if (error == cudaSuccess) error = cudaMemcpyAsync(pinned, device, 256, cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess) error = cudaEventRecord(event, stream);
  if (error == cudaSuccess) error = cudaEventSynchronize(event);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (error == cudaSuccess && pinned[0] != 4) error = cudaErrorUnknown;
  const cudaError_t freed[4] = {cudaFree(device), cudaFreeHost(pinned),
                                stream != nullptr ? cudaStreamDestroy(stream) : cudaSuccess,
                                event != nullptr ? cudaEventDestroy(event) : cudaSuccess};
  for (cudaError_t e : freed)
    if (error == cudaSuccess) error = e;
  return error;
}

static void test_injection(cudaError_t asked) {
  int before, after, handles;
  double device_bytes, pinned_bytes;
  wb_emulator_calls(&before);
  CHECK(session() == cudaSuccess);
  wb_emulator_calls(&after);
  CHECK(after - before == 16);
  for (int at = 1; at <= after - before; at++) {
    const int error = (int)asked;
    wb_emulator_fail(&at, &error);
    CHECK(session() == asked && text_has("as asked"));
    wb_emulator_reset();
    wb_emulator_usage(&device_bytes, &pinned_bytes, &handles);
    CHECK(device_bytes == 0 && pinned_bytes == 0 && handles == 0);
    CHECK(session() == cudaSuccess);
  }
}

/* Deferred work --------------------------------------------------------------------------- */

/* With WB_EMULATOR_DEFER a missing wait gives a wrong result. */
static void test_deferred() {
  const size_t size = 32 * sizeof(double);
  double *pinned = nullptr, *device = nullptr;
  float milliseconds = -1;
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t start = nullptr, end = nullptr;
  CHECK(cudaMallocHost(&pinned, size) == cudaSuccess && cudaMalloc(&device, size) == cudaSuccess);
  CHECK(cudaStreamCreate(&stream) == cudaSuccess && cudaStreamCreate(&other) == cudaSuccess);
  CHECK(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess);
  setenv("WB_EMULATOR_DEFER", "1", 1);
  /* Pinned memory that changes before the copy is waited for. */
  pinned[0] = 1;
  CHECK(cudaEventRecord(start, stream) == cudaSuccess);
  CHECK(cudaMemcpyAsync(device, pinned, size, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  CHECK(cudaEventRecord(end, stream) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorNotReady);
  pinned[0] = 2;
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess && milliseconds >= 0);
  pinned[0] = 3;
  CHECK(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, stream) == cudaSuccess && pinned[0] == 3);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess && pinned[0] == 2);
  /* A kernel runs with the arguments of its launch. */
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(32);
  config.stream = stream;
  int n = 1;
  CHECK(cudaLaunchKernelEx(&config, add_one, device, n) == cudaSuccess);
  n = 0;
  CHECK(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, stream) == cudaSuccess && pinned[0] == 2);
  CHECK(cudaEventRecord(end, stream) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(other, end) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess && pinned[0] == 3);
  /* Host memory that is not pinned is read at once and written before the call returns. */
  double host[32] = {4};
  CHECK(cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  host[0] = 5;
  CHECK(cudaMemcpyAsync(host, device, size, cudaMemcpyDeviceToHost, stream) == cudaSuccess && host[0] == 4);
  /* The wait returns the failure. Work submitted after the failed kernel is dropped. */
  CHECK(cudaLaunchKernelEx(&config, fails, device) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&config, add_one, device, 1) == cudaSuccess && cudaGetLastError() == cudaErrorNotReady);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
  wb_emulator_reset();
  CHECK(cudaMemcpy(host, device, size, cudaMemcpyDeviceToHost) == cudaSuccess && host[0] == 4);
  CHECK(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(end) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess && cudaStreamDestroy(other) == cudaSuccess);
  CHECK(cudaFree(device) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);
  test_injection(cudaErrorLaunchFailure);
  unsetenv("WB_EMULATOR_DEFER");
}

/* A wait for one stream does not do another stream's work, unless an event or the default stream requires it. The
 * caller's page-locked memory is read when the copy is done. */
static void test_streams() {
  const size_t size = 4096;
  static double host[3 * 512];
  double *const first = host, *const second = host + 1024, *device = nullptr, *pinned = nullptr;
  cudaStream_t one = nullptr, two = nullptr, apart = nullptr;
  cudaEvent_t event = nullptr;
  CHECK(cudaMalloc(&device, size) == cudaSuccess && cudaMallocHost(&pinned, size) == cudaSuccess);
  CHECK(cudaStreamCreate(&one) == cudaSuccess && cudaStreamCreate(&two) == cudaSuccess);
  CHECK(cudaEventCreate(&event) == cudaSuccess);
  CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking) == cudaSuccess);
  CHECK(cudaHostRegister(first, size, cudaHostRegisterPortable) == cudaSuccess);
  CHECK(cudaHostRegister(first + 256, size, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostUnregister(second) == cudaErrorHostMemoryNotRegistered);
  setenv("WB_EMULATOR_UNLOCKABLE", "1", 1);
  CHECK(cudaHostRegister(second, size, 0) == cudaErrorNotSupported);
  unsetenv("WB_EMULATOR_UNLOCKABLE");
  CHECK(cudaMemset(device, 0, size) == cudaSuccess && cudaStreamWaitEvent(one, event) == cudaSuccess);
  setenv("WB_EMULATOR_DEFER", "1", 1);
  first[0] = 7;
  CHECK(cudaMemcpyAsync(device, first, size, cudaMemcpyHostToDevice, one) == cudaSuccess);
  CHECK(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, two) == cudaSuccess);
  CHECK(cudaStreamSynchronize(two) == cudaSuccess && pinned[0] == 0);
  first[0] = 8;
  CHECK(cudaEventRecord(event, one) == cudaSuccess && cudaStreamWaitEvent(two, event) == cudaSuccess);
  CHECK(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, two) == cudaSuccess && pinned[0] == 0);
  CHECK(cudaStreamSynchronize(two) == cudaSuccess && pinned[0] == 8);
  /* Work of the default stream waits for earlier work of other streams, and their later work waits for it. Non-blocking
   * streams do neither. */
  CHECK(cudaMemsetAsync(device, 0, 8, one) == cudaSuccess && cudaMemsetAsync(device + 1, 1, 8, apart) == cudaSuccess);
  CHECK(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cudaMemsetAsync(device, 1, 8, two) == cudaSuccess && cudaStreamSynchronize(two) == cudaSuccess);
  CHECK(pinned[0] == 0 && pinned[1] == 0);
  /* Copies are done early, but not before the work that they must follow. */
  setenv("WB_EMULATOR_DEFER", "kernels", 1);
  CHECK(cudaMemcpy(device, second, size, cudaMemcpyHostToDevice) == cudaSuccess);
  for (int waits = 0; waits < 2; waits++) {
    CHECK(cudaMemsetAsync(device, 0, 8, one) == cudaSuccess && cudaEventRecord(event, one) == cudaSuccess);
    if (waits) CHECK(cudaStreamWaitEvent(two, event) == cudaSuccess);
    CHECK(cudaMemcpyAsync(device, first, size, cudaMemcpyHostToDevice, two) == cudaSuccess);
    CHECK(cudaMemcpy(pinned, device, size, cudaMemcpyDeviceToHost) == cudaSuccess && pinned[0] == (waits ? 8 : 0));
  }
  unsetenv("WB_EMULATOR_DEFER");
  CHECK(cudaHostUnregister(first) == cudaSuccess && cudaHostUnregister(first) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaEventDestroy(event) == cudaSuccess && cudaStreamDestroy(one) == cudaSuccess);
  CHECK(cudaStreamDestroy(two) == cudaSuccess && cudaStreamDestroy(apart) == cudaSuccess);
  CHECK(cudaFree(device) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);
}

/* A forked child has no context. */
/* Threads of the host ----------------------------------------------------------------- */

static void test_threads() {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&good] {
      for (int j = 0; j < 25; j++) good += session() == cudaSuccess;
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(good == 100);
}

static void test_fork() {
  CHECK(session() == cudaSuccess);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    void *memory;
    _exit(cudaMalloc(&memory, 8) == cudaErrorInitializationError ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "leak") == 0) {
    void *memory;
    cudaStream_t stream;
    cudaEvent_t event;
    return cudaMalloc(&memory, 123) != cudaSuccess || cudaMallocHost(&memory, 45) != cudaSuccess ||
           cudaStreamCreate(&stream) != cudaSuccess || cudaEventCreate(&event) != cudaSuccess;
  }
  /* As the environment asks. */
  if (argc == 2 && strcmp(argv[1], "session") == 0) {
    std::printf("%s\n", cudaGetErrorName(session()));
    return 0;
  }
  test_copies();
  test_devices();
  test_launches();
  test_graphs();
  test_sticky();
  test_injection(cudaErrorUnknown);
  test_injection(cudaErrorMemoryAllocation);
  test_injection(cudaErrorLaunchFailure);
  test_deferred();
  test_streams();
  test_threads();
  test_fork();
  CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  CHECK(strcmp(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure") == 0);
  return check::summary();
}
