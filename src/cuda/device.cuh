/* What all CUDA sources share: CUDA's errors as statuses, memory, streams and events that free themselves, and the
 * choice of the device. Launches are in cuda/launch.cuh. */
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "backend/backend.h"

/* Declares the dynamic shared memory of a kernel as an array of `type`. Kernels use no
 * other declaration, since the <cuda_runtime.h> of tests/emulator has its own. */
#ifndef WB_DYNAMIC_SHARED
#define WB_DYNAMIC_SHARED(type, name) \
  extern __shared__ __align__(16) unsigned char wb_dynamic_shared[]; \
  type *name = reinterpret_cast<type *>(wb_dynamic_shared)
#endif

namespace wb {

/* The status of CUDA's answer to `what` ("copying the rows to the device"); errors come in CUDA's own words. */
int status_of(cudaError_t error, const char *what, wb_message *message);

/* WB_ERROR_BACKEND in a child forked after CUDA was used, where it does not work. All functions call this first. */
int same_process(wb_message *message);

class own_stream;

/* Makes a device the current one as long as the object exists; then it is again the one before. In the same way
 * launches and copies that name no stream go to `own`, not to the default stream. */
class device_scope {
public:
  device_scope() = default;
  ~device_scope();
  device_scope(const device_scope &) = delete;
  device_scope &operator=(const device_scope &) = delete;

  int enter(int32_t device, wb_message *message, own_stream *own = nullptr);

private:
  int before_ = -1;
  own_stream *stream_before_ = nullptr;
};

/* For the rest of the block this device is current, with this stream if named; or the function returns failure. */
#define WB_ON_DEVICE(...) \
  wb::device_scope scope; \
  WB_TRY(scope.enter(__VA_ARGS__))

/* Ends a session on its device. */
template <typename Session>
void close_on_device(Session *session) {
  if (session == nullptr) return;
  wb_message ignored;
  device_scope scope;
  (void)scope.enter(session->device, &ignored);
  delete session;
}

/* Calls work() while `device` is the current one. */
template <typename Work>
int on_device(int32_t device, wb_message *message, Work work) {
  WB_ON_DEVICE(device, message);
  return work();
}

/* Of this thread: see device_scope and graph. nullptr is the default stream. */
cudaStream_t current_stream();

/* Copies by the current stream, after its earlier work, from and to pageable memory. They return when done. */
int copy_to_device(void *to, const void *from, size_t bytes, const char *what, wb_message *message);
int copy_to_host(void *to, const void *from, size_t bytes, const char *what, wb_message *message);
/* The same between page-locked memory and the device. The copy is done when the stream comes to it. */
inline int copy_later(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, const char *what,
                      wb_message *message, cudaStream_t stream = current_stream()) {
  return status_of(cudaMemcpyAsync(to, from, bytes, kind, stream), what, message);
}
/* All bytes are 0 for later work of the current stream. */
inline int clear(void *address, size_t bytes, const char *what, wb_message *message) {
  return status_of(cudaMemsetAsync(address, 0, bytes, current_stream()), what, message);
}

/* Calls work(real), where `real` has the type of the precision. */
template <typename Work>
int with_precision(wb_precision precision, Work work) {
  return precision == WB_SINGLE ? work(float()) : work(double());
}

inline int multiprocessors(int32_t device, int *count, wb_message *message) {
  return status_of(cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device),
                   "asking for the number of multiprocessors", message);
}

/* *left: the bytes of device memory that may still be allocated, which are those free on
 * the current device, but at most `limit` less the `held` bytes of the caller. limit = 0: all free bytes. */
int memory_left(uint64_t limit, uint64_t held, uint64_t *left, wb_message *message);

/* Whether CUDA may be called to free memory and the like. In a forked child they belong to the parent. */
bool may_release();

/* What CUDA has given, and how it is given back: when the object ends, or by release(). It can be moved. */
template <typename Handle, cudaError_t (*give_back)(Handle)>
class owned {
public:
  owned() = default;
  owned(owned &&other) : handle_(std::exchange(other.handle_, Handle())) {}
  owned &operator=(owned &&other) {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned() { release(); }

  void release() {
    if (handle_ != Handle() && may_release()) (void)give_back(handle_);
    handle_ = Handle();
  }
  Handle get() const { return handle_; }

protected:
  Handle handle_ = Handle();
};

/* Memory of the current device. */
class device_bytes : public owned<void *, cudaFree> {
public:
  int allocate(size_t bytes, const char *what, wb_message *message);
  void *address() const { return handle_; }
  size_t bytes() const { return handle_ == nullptr ? 0 : bytes_; }

private:
  size_t bytes_ = 0;
};

template <typename T>
class device_array : public device_bytes {
public:
  int allocate(size_t count, const char *what, wb_message *message) {
    return device_bytes::allocate(count * sizeof(T), what, message);
  }
  T *data() const { return static_cast<T *>(address()); }
  size_t size() const { return bytes() / sizeof(T); }
  /* Room for `count`, in new memory if there is less. */
  int grow(size_t count, const char *what, wb_message *message) {
    return size() < count ? allocate(count, what, message) : int(WB_OK);
  }

  int upload(const T *from, size_t count, const char *what, wb_message *message) {
    return copy_to_device(data(), from, count * sizeof(T), what, message);
  }
  int download(T *to, size_t count, const char *what, wb_message *message) const {
    return copy_to_host(to, data(), count * sizeof(T), what, message);
  }
  /* Allocates and uploads `what`. */
  int hold(const T *from, size_t count, const char *what, wb_message *message) {
    char copying[160];
    std::snprintf(copying, sizeof copying, "copying %s to the device", what);
    WB_TRY(allocate(count, what, message));
    return count > 0 ? upload(from, count, copying, message) : int(WB_OK);
  }
};

template <typename... Memory>
uint64_t bytes_of(const Memory &...memory) {
  return (uint64_t(0) + ... + memory.bytes());
}

/* Page-locked host memory: copies from and to it can run at the same time as kernels. */
class pinned_bytes : public owned<void *, cudaFreeHost> {
public:
  int allocate(size_t bytes, const char *what, wb_message *message);
  void *address() const { return handle_; }
};

template <typename T>
class pinned_array : public pinned_bytes {
public:
  int allocate(size_t count, const char *what, wb_message *message) {
    return pinned_bytes::allocate(count * sizeof(T), what, message);
  }
  T *data() const { return static_cast<T *>(address()); }
};

/* Memory of the caller that is page-locked as long as the object exists, for all devices. */
class locked_bytes : public owned<void *, cudaHostUnregister> {
public:
  /* False where the system refuses, which is no failure: then copies from there are slower. */
  bool lock(const void *address, size_t bytes);
};

/* Page-locked memory kept from call to call, since locking takes longer than copying. One object has it at a time. */
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

/* Calls work(i) for every i below `pieces` on the host's threads, on few if it has many: all wait for the last one. */
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

class stream : public owned<cudaStream_t, cudaStreamDestroy> {
public:
  int create(wb_message *message) { return status_of(cudaStreamCreate(&handle_), "creating a stream", message); }
  /* A stream whose kernels start before those that wait in others. */
  int create_urgent(wb_message *message);
  /* A stream that the default stream neither waits for nor keeps waiting. */
  int create_apart(wb_message *message) {
    return status_of(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "creating a stream", message);
  }
  int wait(const char *what, wb_message *message) { return status_of(cudaStreamSynchronize(handle_), what, message); }
};

/* The stream of a session: work of the default stream would wait for that of all others. Short copies to the host go
 * through page-locked memory, since those to pageable memory wait inside CUDA. */
class own_stream : public stream {
public:
  static constexpr size_t SHORT_BYTES = 256 * 1024;
  int create(wb_message *message) {
    WB_TRY(mail_.allocate(SHORT_BYTES, "copies", message));
    return stream::create(message);
  }
  void *mail() const { return mail_.address(); }

private:
  pinned_bytes mail_;
};

/* Work for the current stream that is done often. Only what it reads in memory differs: it is one launch in place of
 * many. It is taken in by a stream apart, since other threads may use the default stream. */
class graph : public owned<cudaGraphExec_t, cudaGraphExecDestroy> {
public:
  /* Does work(), the first time as it is, so that CUDA has loaded its kernels; always so where CUDA makes no graph. */
  template <typename Work>
  int run(wb_message *message, Work work) {
    if (turn_ < 2 && turn_++ == 1 && begin()) end(work() == WB_OK);
    if (handle_ == nullptr) return work();
    return status_of(cudaGraphLaunch(handle_, current_stream()), "launching a graph", message);
  }

private:
  bool begin();
  void end(bool whole);

  int turn_ = 0;
  stream apart_;
};

/* A point in the work of a stream for which the host can wait. */
class event : public owned<cudaEvent_t, cudaEventDestroy> {
public:
  /* The time between two timed events can be measured. */
  int create(bool timed, wb_message *message) {
    return status_of(cudaEventCreateWithFlags(&handle_, timed ? cudaEventDefault : cudaEventDisableTiming),
                     "creating an event", message);
  }
  int record(cudaStream_t stream, wb_message *message) {
    return status_of(cudaEventRecord(handle_, stream), "recording an event", message);
  }
  /* Returns at once if never recorded. */
  int wait(const char *what, wb_message *message) { return status_of(cudaEventSynchronize(handle_), what, message); }
  /* Work given to `stream` from now on begins after this point. */
  int hold(cudaStream_t stream, wb_message *message) {
    return status_of(cudaStreamWaitEvent(stream, handle_, 0), "making a stream wait", message);
  }
};

} // namespace wb
