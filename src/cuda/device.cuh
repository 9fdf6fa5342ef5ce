/* What the kernel files share: CUDA's errors as statuses, device memory that
 * frees itself, the choice of the device, and the launch. */
#ifndef WB_CUDA_DEVICE_CUH
#define WB_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backend/backend.h"

/* Full unrolling of a loop whose arrays must live in registers. */
#if defined(__CUDACC__)
#define WB_UNROLL _Pragma("unroll")
#else
#define WB_UNROLL
#endif

/* Dynamic shared memory as an array of `type`. The only spelling in this tree:
 * tests/emulator's <cuda_runtime.h> has its own definition. */
#ifndef WB_DYNAMIC_SHARED
#define WB_DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char wb_dynamic_shared[]; \
  type *name = reinterpret_cast<type *>(wb_dynamic_shared)
#endif

namespace wb {

/* Turns CUDA's answer to `what` ("copying the rows to the device") into a
 * status and, on failure, a sentence with CUDA's own words. */
int status_of(cudaError_t error, const char *what, wb_message *message);

/* Refuses what CUDA would not survive: use in a child forked after the parent
 * had used it. Every function of the backend asks this first. */
int same_process(wb_message *message);

/* The device of a call: current while the object lives, then the one before. */
class device_scope {
public:
  device_scope() = default;
  ~device_scope();
  device_scope(const device_scope &) = delete;
  device_scope &operator=(const device_scope &) = delete;

  int enter(int32_t device, wb_message *message);

private:
  int before_ = -1;
};

/* Bytes that a call may still take: what is free on the current device, and no
 * more than the limit asked for (0: none) less what it already holds. */
int memory_left(uint64_t limit, uint64_t held, uint64_t *left, wb_message *message);

/* Memory of the current device, freed with the object. */
class device_bytes {
public:
  device_bytes() = default;
  ~device_bytes() { release(); }
  device_bytes(const device_bytes &) = delete;
  device_bytes &operator=(const device_bytes &) = delete;

  int allocate(size_t bytes, const char *what, wb_message *message);
  void release();
  void *address() const { return address_; }
  size_t bytes() const { return bytes_; }

private:
  void *address_ = nullptr;
  size_t bytes_ = 0;
};

template <typename T>
class device_array {
public:
  int allocate(size_t count, const char *what, wb_message *message) {
    return memory_.allocate(count * sizeof(T), what, message);
  }
  void release() { memory_.release(); }
  T *data() const { return static_cast<T *>(memory_.address()); }
  size_t size() const { return memory_.bytes() / sizeof(T); }
  size_t bytes() const { return memory_.bytes(); }

  /* Both copies wait for what the default stream has to do before. */
  int upload(const T *from, size_t count, const char *what, wb_message *message) {
    return status_of(cudaMemcpy(data(), from, count * sizeof(T), cudaMemcpyHostToDevice), what, message);
  }
  int download(T *to, size_t count, const char *what, wb_message *message) const {
    return status_of(cudaMemcpy(to, data(), count * sizeof(T), cudaMemcpyDeviceToHost), what, message);
  }

private:
  device_bytes memory_;
};

/* Page-locked host memory, from and to which copies run beside kernels. */
class pinned_bytes {
public:
  pinned_bytes() = default;
  ~pinned_bytes() { release(); }
  pinned_bytes(const pinned_bytes &) = delete;
  pinned_bytes &operator=(const pinned_bytes &) = delete;

  int allocate(size_t bytes, const char *what, wb_message *message);
  void release();
  void *address() const { return address_; }

private:
  void *address_ = nullptr;
};

template <typename T>
class pinned_array {
public:
  int allocate(size_t count, const char *what, wb_message *message) {
    return memory_.allocate(count * sizeof(T), what, message);
  }
  void release() { memory_.release(); }
  T *data() const { return static_cast<T *>(memory_.address()); }

private:
  pinned_bytes memory_;
};

class stream {
public:
  stream() = default;
  ~stream();
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;

  int create(wb_message *message);
  int wait(const char *what, wb_message *message);
  cudaStream_t get() const { return stream_; }

private:
  cudaStream_t stream_ = nullptr;
};

/* A point in a stream's work that the host can wait for. */
class event {
public:
  event() = default;
  ~event();
  event(const event &) = delete;
  event &operator=(const event &) = delete;

  /* Timed events can be asked for the time between them. */
  int create(bool timed, wb_message *message);
  int record(cudaStream_t stream, wb_message *message);
  int wait(const char *what, wb_message *message); /* at once if never recorded */
  cudaEvent_t get() const { return event_; }

private:
  cudaEvent_t event_ = nullptr;
};

/* How many threads run a kernel, and with what. */
struct launch_shape {
  dim3 blocks;
  dim3 threads;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

/* Starts `kernel`; the launch's own errors come back here, the kernel's with the
 * next call that waits for it. */
template <typename... Parameters, typename... Arguments>
int launch(const launch_shape &shape, void (*kernel)(Parameters...), const char *what, wb_message *message,
           Arguments &&...arguments) {
  /* Above 48 KB a kernel must have asked for its shared memory. */
  if (shape.shared_bytes > 48 * 1024) {
    int status = status_of(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(shape.shared_bytes)),
                           what, message);
    if (status != WB_OK) {
      return status;
    }
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  return status_of(cudaLaunchKernelEx(&config, kernel, static_cast<Arguments &&>(arguments)...), what, message);
}

} // namespace wb

#endif
