/* What all CUDA sources share: CUDA's errors as statuses, memory that frees itself, the
 * choice of the device, and the launch of a kernel. */
#ifndef WB_CUDA_DEVICE_CUH
#define WB_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backend/backend.h"

/* Declares the dynamic shared memory of a kernel as an array of `type`. Kernels use no
 * other declaration, since the <cuda_runtime.h> of tests/emulator has its own. */
#ifndef WB_DYNAMIC_SHARED
#define WB_DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char wb_dynamic_shared[]; \
  type *name = reinterpret_cast<type *>(wb_dynamic_shared)
#endif

namespace wb {

/* Turns what CUDA returned while `what` ("copying the rows to the device") into a status
 * and, if it is an error, a message with CUDA's own words. */
int status_of(cudaError_t error, const char *what, wb_message *message);

/* WB_ERROR_BACKEND in a child that was forked after its parent had used CUDA, which does
 * not work there. Every function of the backend calls this first. */
int same_process(wb_message *message);

/* Makes a device the current one as long as the object exists; then it is again the one
 * before. */
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

/* *left: the bytes of device memory that may still be allocated, which are those free on
 * the current device, but at most `limit` less the `held` bytes that the caller already
 * has. With limit = 0 all free ones. */
int memory_left(uint64_t limit, uint64_t held, uint64_t *left, wb_message *message);

/* Memory of the current device. It is freed with the object. */
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

  /* Both copies begin when earlier work of the default stream is done. */
  int upload(const T *from, size_t count, const char *what, wb_message *message) {
    return status_of(cudaMemcpy(data(), from, count * sizeof(T), cudaMemcpyHostToDevice), what, message);
  }
  int download(T *to, size_t count, const char *what, wb_message *message) const {
    return status_of(cudaMemcpy(to, data(), count * sizeof(T), cudaMemcpyDeviceToHost), what, message);
  }

private:
  device_bytes memory_;
};

/* Page-locked host memory: copies from and to it can run at the same time as kernels. */
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

/* Memory of the caller that is page-locked as long as the object exists, for all devices. */
class locked_bytes {
public:
  locked_bytes() = default;
  ~locked_bytes();
  locked_bytes(const locked_bytes &) = delete;
  locked_bytes &operator=(const locked_bytes &) = delete;

  /* False where the system refuses, which is no failure: then copies from there are slower. */
  bool lock(const void *address, size_t bytes);

private:
  void *address_ = nullptr;
};

/* Page-locked memory that is kept from call to call, since to lock pages takes longer than to copy what they hold.
 * It belongs to one object at a time; another one gets memory of its own. */
class kept_pinned {
public:
  kept_pinned() = default;
  ~kept_pinned() { release(); }
  kept_pinned(const kept_pinned &) = delete;
  kept_pinned &operator=(const kept_pinned &) = delete;

  int take(size_t bytes, wb_message *message);
  void release();
  void *address() const { return address_; }

private:
  void *address_ = nullptr;
  pinned_bytes own_;
};

/* Frees what is kept, unless it is in use. */
void release_kept();

/* Calls work(i) for every i below `pieces`, on the host's threads, but on few if it has many: all wait for the last
 * one. Sums of 262,144 pairs of 32 values took 42 ms with 64 threads, and 11 ms on a machine with 16. */
constexpr int32_t MOST_THREADS = 16;
template <typename Work>
void spread(const wb_run *run, int64_t pieces, Work work) {
  if (run->spread == nullptr) {
    for (int64_t i = 0; i < pieces; i++) work(i);
    return;
  }
  run->spread(
      run->threads < MOST_THREADS ? run->threads : MOST_THREADS, pieces,
      [](void *context, int64_t i) { (*static_cast<Work *>(context))(i); }, &work);
}

class stream {
public:
  stream() = default;
  ~stream();
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;

  int create(wb_message *message);
  /* A stream whose kernels start before those that wait in others. */
  int create_urgent(wb_message *message);
  /* A stream that the default stream neither waits for nor keeps waiting. */
  int create_apart(wb_message *message);
  int wait(const char *what, wb_message *message);
  cudaStream_t get() const { return stream_; }

private:
  cudaStream_t stream_ = nullptr;
};

/* A point in the work of a stream for which the host can wait. */
class event {
public:
  event() = default;
  ~event();
  event(const event &) = delete;
  event &operator=(const event &) = delete;

  /* The time between two timed events can be measured. */
  int create(bool timed, wb_message *message);
  int record(cudaStream_t stream, wb_message *message);
  int wait(const char *what, wb_message *message); /* returns at once if never recorded */
  /* Work given to `stream` from now on begins after this point. */
  int hold(cudaStream_t stream, wb_message *message);
  cudaEvent_t get() const { return event_; }

private:
  cudaEvent_t event_ = nullptr;
};

/* The configuration of a launch. */
struct launch_shape {
  dim3 blocks;
  dim3 threads;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

/* Launches `kernel`. Errors of the launch are returned here, errors inside the kernel by
 * the next call that waits for it. */
template <typename... Parameters, typename... Arguments>
int launch(const launch_shape &shape, void (*kernel)(Parameters...), const char *what, wb_message *message,
           Arguments &&...arguments) {
  /* CUDA grants more than 48 KB of shared memory only to a kernel that asks for it. */
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
