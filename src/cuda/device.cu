/* CUDA's errors as statuses, memory, streams and events that free themselves, the choice of the device, and
 * the memory of a call: see device.cuh and launch.cuh. */
#include "cuda/launch.cuh"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#ifdef _WIN32
#include <process.h>
#define getpid _getpid
#else
#include <unistd.h>
#endif

void wb_message_write(wb_message *message, const char *format, ...) {
  va_list values;
  va_start(values, format);
  std::vsnprintf(message->text, sizeof message->text, format, values);
  va_end(values);
}

namespace wb {

namespace {

/* The process in which the CUDA runtime was first used, or 0. */
std::atomic<long> first_process{0};

thread_local own_stream *host_thread_stream = nullptr;
/* Takes work into a graph; or nullptr. */
thread_local cudaStream_t host_thread_taking = nullptr;

/* Whether the device cannot be used at all; other errors mean that it failed in use. */
bool is_absence(cudaError_t error) {
  return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || error == cudaErrorInvalidDevice ||
         error == cudaErrorInitializationError || error == cudaErrorNoKernelImageForDevice ||
         error == cudaErrorDevicesUnavailable || error == cudaErrorStubLibrary || error == cudaErrorSystemNotReady ||
         error == cudaErrorSystemDriverMismatch || error == cudaErrorCompatNotSupportedOnDevice;
}

} // namespace

int status_of(cudaError_t error, const char *what, wb_message *message) {
  if (error == cudaSuccess) return WB_OK;
  std::snprintf(message->text, sizeof message->text, "%s: CUDA says \"%s\" (%s)", what, cudaGetErrorString(error),
                cudaGetErrorName(error));
  /* CUDA keeps an error until it is read. The next call must not find this one. */
  (void)cudaGetLastError();
  return error == cudaErrorMemoryAllocation ? WB_ERROR_MEMORY : is_absence(error) ? WB_ERROR_BACKEND : WB_ERROR_DEVICE;
}

int same_process(wb_message *message) {
  const long process = long(getpid());
  long first = 0;
  if (!first_process.compare_exchange_strong(first, process) && first != process)
    return wb_fail(message, WB_ERROR_BACKEND,
                   "CUDA was used before this process was forked and does not work in the child");
  return WB_OK;
}

bool may_release() { return first_process == long(getpid()); }

device_scope::~device_scope() {
  if (before_ < 0) return;
  (void)cudaSetDevice(before_);
  host_thread_stream = stream_before_;
}

int device_scope::enter(int32_t device, wb_message *message, own_stream *own) {
  WB_TRY(same_process(message));
  int before = 0;
  WB_TRY(status_of(cudaGetDevice(&before), "finding the current device", message));
  char what[64];
  std::snprintf(what, sizeof what, "choosing device %d", int(device));
  WB_TRY(status_of(cudaSetDevice(device), what, message));
  before_ = before;
  stream_before_ = host_thread_stream;
  host_thread_stream = own;
  return WB_OK;
}

cudaStream_t current_stream() {
  if (host_thread_taking != nullptr) return host_thread_taking;
  return host_thread_stream != nullptr ? host_thread_stream->get() : nullptr;
}

int copy_to_device(void *to, const void *from, size_t bytes, const char *what, wb_message *message) {
  if (host_thread_stream == nullptr)
    return status_of(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), what, message);
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, host_thread_stream->get()), what, message);
}

int copy_to_host(void *to, const void *from, size_t bytes, const char *what, wb_message *message) {
  if (host_thread_stream == nullptr)
    return status_of(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), what, message);
  const bool by_mail = bytes <= own_stream::SHORT_BYTES;
  WB_TRY(status_of(cudaMemcpyAsync(by_mail ? host_thread_stream->mail() : to, from, bytes, cudaMemcpyDeviceToHost,
                                   host_thread_stream->get()),
                   what, message));
  WB_TRY(host_thread_stream->wait(what, message));
  if (by_mail && bytes > 0) std::memcpy(to, host_thread_stream->mail(), bytes);
  return WB_OK;
}

int memory_left(uint64_t limit, uint64_t held, uint64_t *left, wb_message *message) {
  size_t available = 0, total = 0;
  WB_TRY(status_of(cudaMemGetInfo(&available, &total), "asking for free device memory", message));
  *left = available;
  const uint64_t allowed = limit > held ? limit - held : 0;
  if (limit > 0 && allowed < *left) *left = allowed;
  return WB_OK;
}

int too_little(uint64_t bytes, const char *item, uint64_t needed, wb_message *message) {
  return wb_fail(message, WB_ERROR_MEMORY, "%.3g MB of device memory are available, and %s takes %.3g MB",
                 double(bytes) / 1e6, item, double(needed) / 1e6);
}

int fitting(const wb_run *run, uint64_t size, const char *item, int64_t all, int64_t *at_once, wb_message *message) {
  uint64_t bytes = 0;
  WB_TRY(memory_for_call(run, &bytes, message));
  if (bytes < size) return too_little(bytes, item, size, message);
  *at_once = smaller(all, int64_t(bytes / size));
  return WB_OK;
}

/* *address: what take(address, bytes) allocates; none for no bytes. `kind`: of memory. */
template <typename Take>
static int allocate(Take take, size_t bytes, const char *kind, const char *what, void **address, wb_message *message) {
  *address = nullptr;
  if (bytes == 0) return WB_OK;
  char text[160];
  std::snprintf(text, sizeof text, "allocating %.1f MB of %s memory for %s", double(bytes) / 1e6, kind, what);
  void *taken = nullptr;
  WB_TRY(status_of(take(&taken, bytes), text, message));
  *address = taken;
  return WB_OK;
}

static int allocate_pinned(size_t bytes, const char *what, void **address, wb_message *message) {
  return allocate([](void **to, size_t size) { return cudaMallocHost(to, size); }, bytes, "page-locked", what, address,
                  message);
}

int device_bytes::allocate(size_t bytes, const char *what, wb_message *message) {
  release();
  bytes_ = bytes;
  return wb::allocate([](void **to, size_t size) { return cudaMalloc(to, size); }, bytes, "device", what, &handle_,
                      message);
}

int pinned_bytes::allocate(size_t bytes, const char *what, wb_message *message) {
  release();
  return allocate_pinned(bytes, what, &handle_, message);
}

bool locked_bytes::lock(const void *address, size_t bytes) {
  void *const start = const_cast<void *>(address);
  if (cudaHostRegister(start, bytes, cudaHostRegisterPortable) == cudaSuccess) {
    handle_ = start;
    return true;
  }
  (void)cudaGetLastError();
  return false;
}

/* Freed by whoever opened the plugin, before CUDA ends with the process. */
static std::mutex kept;
static void *kept_address = nullptr;
static size_t kept_bytes = 0;
static bool kept_taken = false;

static void release_unlocked() {
  if (kept_taken) return;
  if (kept_address != nullptr && may_release()) (void)cudaFreeHost(kept_address);
  kept_address = nullptr;
  kept_bytes = 0;
}

void release_kept() {
  const std::lock_guard<std::mutex> lock(kept);
  release_unlocked();
}

int kept_pinned::take(size_t bytes, wb_message *message) {
  const std::lock_guard<std::mutex> lock(kept);
  if (kept_taken) {
    WB_TRY(own_.allocate(bytes, "copies", message));
    address_ = own_.address();
    return WB_OK;
  }
  if (kept_bytes < bytes) {
    release_unlocked();
    WB_TRY(allocate_pinned(bytes, "copies", &kept_address, message));
    kept_bytes = bytes;
  }
  kept_taken = true;
  address_ = kept_address;
  return WB_OK;
}

void kept_pinned::release() {
  if (address_ != nullptr && own_.address() == nullptr) {
    const std::lock_guard<std::mutex> lock(kept);
    kept_taken = false;
  }
  own_.release();
  address_ = nullptr;
}

int stream::create_urgent(wb_message *message) {
  int least = 0, greatest = 0;
  WB_TRY(status_of(cudaDeviceGetStreamPriorityRange(&least, &greatest), "creating a stream", message));
  return status_of(cudaStreamCreateWithPriority(&handle_, cudaStreamDefault, greatest), "creating a stream", message);
}

bool graph::begin() {
  wb_message unused;
  if (apart_.create_apart(&unused) == WB_OK &&
      status_of(cudaStreamBeginCapture(apart_.get(), cudaStreamCaptureModeThreadLocal), "", &unused) == WB_OK)
    host_thread_taking = apart_.get();
  return host_thread_taking != nullptr;
}

void graph::end(bool whole) {
  host_thread_taking = nullptr;
  cudaGraph_t taken = nullptr;
  if (cudaStreamEndCapture(apart_.get(), &taken) == cudaSuccess && whole &&
      cudaGraphInstantiateWithFlags(&handle_, taken, 0) != cudaSuccess)
    handle_ = nullptr;
  if (taken != nullptr) (void)cudaGraphDestroy(taken);
  apart_.release();
  (void)cudaGetLastError();
}

} // namespace wb
