/* CUDA's errors as statuses, memory, streams and events that free themselves, and the choice of the device: see
 * device.cuh. */
#include "cuda/device.cuh"

#include <cstdio>

#ifdef _WIN32
#include <process.h>
#define getpid _getpid
#else
#include <unistd.h>
#endif

namespace wb {

namespace {

/* The process in which the CUDA runtime was first used, or 0. */
long first_process = 0;

bool is_memory(cudaError_t error) {
  return error == cudaErrorMemoryAllocation;
}

/* Whether the device cannot be used at all; other errors mean that it failed in use. */
bool is_absence(cudaError_t error) {
  return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || error == cudaErrorInvalidDevice ||
         error == cudaErrorInitializationError || error == cudaErrorNoKernelImageForDevice ||
         error == cudaErrorDevicesUnavailable || error == cudaErrorStubLibrary ||
         error == cudaErrorSystemNotReady || error == cudaErrorSystemDriverMismatch ||
         error == cudaErrorCompatNotSupportedOnDevice;
}

} // namespace

int status_of(cudaError_t error, const char *what, wb_message *message) {
  if (error == cudaSuccess) {
    return WB_OK;
  }
  std::snprintf(message->text, sizeof message->text, "%s: CUDA says \"%s\" (%s)", what, cudaGetErrorString(error),
                cudaGetErrorName(error));
  /* CUDA keeps an error until it is read. The next call must not find this one. */
  (void)cudaGetLastError();
  return is_memory(error) ? WB_ERROR_MEMORY : is_absence(error) ? WB_ERROR_BACKEND : WB_ERROR_DEVICE;
}

int same_process(wb_message *message) {
  const long process = static_cast<long>(getpid());
  if (first_process == 0) {
    first_process = process;
  }
  if (first_process != process) {
    std::snprintf(message->text, sizeof message->text,
                  "CUDA was used before this process was forked and does not work in the child");
    return WB_ERROR_BACKEND;
  }
  return WB_OK;
}

/* Whether CUDA may be called to free memory and the like. In a forked child they belong
 * to the parent. */
static bool may_release() {
  return first_process == static_cast<long>(getpid());
}

device_scope::~device_scope() {
  if (before_ >= 0) {
    (void)cudaSetDevice(before_);
  }
}

int device_scope::enter(int32_t device, wb_message *message) {
  int status = same_process(message);
  if (status != WB_OK) {
    return status;
  }
  int before = 0;
  status = status_of(cudaGetDevice(&before), "finding the current device", message);
  if (status != WB_OK) {
    return status;
  }
  char what[64];
  std::snprintf(what, sizeof what, "choosing device %d", static_cast<int>(device));
  status = status_of(cudaSetDevice(device), what, message);
  if (status == WB_OK) {
    before_ = before;
  }
  return status;
}

int memory_left(uint64_t limit, uint64_t held, uint64_t *left, wb_message *message) {
  size_t available = 0, total = 0;
  int status = status_of(cudaMemGetInfo(&available, &total), "asking for free device memory", message);
  if (status != WB_OK) {
    return status;
  }
  *left = available;
  if (limit > 0) {
    const uint64_t allowed = limit > held ? limit - held : 0;
    if (allowed < *left) {
      *left = allowed;
    }
  }
  return WB_OK;
}

int device_bytes::allocate(size_t bytes, const char *what, wb_message *message) {
  release();
  if (bytes == 0) {
    return WB_OK;
  }
  char text[160];
  std::snprintf(text, sizeof text, "allocating %.1f MB of device memory for %s", static_cast<double>(bytes) / 1e6,
                what);
  void *address = nullptr;
  int status = status_of(cudaMalloc(&address, bytes), text, message);
  if (status == WB_OK) {
    address_ = address;
    bytes_ = bytes;
  }
  return status;
}

void device_bytes::release() {
  if (address_ != nullptr && may_release()) {
    (void)cudaFree(address_);
  }
  address_ = nullptr;
  bytes_ = 0;
}

int pinned_bytes::allocate(size_t bytes, const char *what, wb_message *message) {
  release();
  if (bytes == 0) {
    return WB_OK;
  }
  char text[160];
  std::snprintf(text, sizeof text, "allocating %.1f MB of page-locked memory for %s", static_cast<double>(bytes) / 1e6,
                what);
  void *address = nullptr;
  int status = status_of(cudaMallocHost(&address, bytes), text, message);
  if (status == WB_OK) {
    address_ = address;
  }
  return status;
}

void pinned_bytes::release() {
  if (address_ != nullptr && may_release()) {
    (void)cudaFreeHost(address_);
  }
  address_ = nullptr;
}

locked_bytes::~locked_bytes() {
  if (address_ != nullptr && may_release()) {
    (void)cudaHostUnregister(address_);
  }
}

bool locked_bytes::lock(const void *address, size_t bytes) {
  void *const start = const_cast<void *>(address);
  if (cudaHostRegister(start, bytes, cudaHostRegisterPortable) == cudaSuccess) {
    address_ = start;
    return true;
  }
  (void)cudaGetLastError();
  return false;
}

/* Freed by whoever opened the plugin, before CUDA ends with the process. */
static void *kept_address = nullptr;
static size_t kept_bytes = 0;
static bool kept_taken = false;

void release_kept() {
  if (kept_taken) {
    return;
  }
  if (kept_address != nullptr && may_release()) {
    (void)cudaFreeHost(kept_address);
  }
  kept_address = nullptr;
  kept_bytes = 0;
}

int kept_pinned::take(size_t bytes, wb_message *message) {
  if (kept_taken) {
    const int status = own_.allocate(bytes, "copies", message);
    address_ = own_.address();
    return status;
  }
  if (kept_bytes < bytes) {
    release_kept();
    char text[160];
    std::snprintf(text, sizeof text, "allocating %.1f MB of page-locked memory for copies",
                  static_cast<double>(bytes) / 1e6);
    void *address = nullptr;
    const int status = status_of(cudaMallocHost(&address, bytes), text, message);
    if (status != WB_OK) {
      return status;
    }
    kept_address = address;
    kept_bytes = bytes;
  }
  kept_taken = true;
  address_ = kept_address;
  return WB_OK;
}

void kept_pinned::release() {
  if (address_ != nullptr && own_.address() == nullptr) {
    kept_taken = false;
  }
  own_.release();
  address_ = nullptr;
}

stream::~stream() {
  if (stream_ != nullptr && may_release()) {
    (void)cudaStreamDestroy(stream_);
  }
}

int stream::create(wb_message *message) {
  return status_of(cudaStreamCreate(&stream_), "creating a stream", message);
}

int stream::create_urgent(wb_message *message) {
  int least = 0, greatest = 0;
  int status = status_of(cudaDeviceGetStreamPriorityRange(&least, &greatest), "creating a stream", message);
  if (status != WB_OK) {
    return status;
  }
  return status_of(cudaStreamCreateWithPriority(&stream_, cudaStreamDefault, greatest), "creating a stream", message);
}

int stream::create_apart(wb_message *message) {
  return status_of(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream", message);
}

int stream::wait(const char *what, wb_message *message) {
  return status_of(cudaStreamSynchronize(stream_), what, message);
}

event::~event() {
  if (event_ != nullptr && may_release()) {
    (void)cudaEventDestroy(event_);
  }
}

int event::create(bool timed, wb_message *message) {
  return status_of(cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming),
                   "creating an event", message);
}

int event::record(cudaStream_t stream, wb_message *message) {
  return status_of(cudaEventRecord(event_, stream), "recording an event", message);
}

int event::hold(cudaStream_t stream, wb_message *message) {
  return status_of(cudaStreamWaitEvent(stream, event_, 0), "making a stream wait", message);
}

int event::wait(const char *what, wb_message *message) {
  return status_of(cudaEventSynchronize(event_), what, message);
}

} // namespace wb
