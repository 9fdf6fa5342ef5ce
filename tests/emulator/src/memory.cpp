/* Device and pinned host memory: a table of allocations that checks copies. A new allocation holds the pattern of
 * unwritten memory. Under the address sanitizer it has exactly its size, between the sanitizer's red zones. Otherwise
 * it has a band of the pattern on either side, which is checked after every launch and at the end. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <memory>
#include <vector>

#include "access.h"
#include "emulator.h"
#include "faults.h"
#include "shared.h"

namespace wb_emulator {

#ifdef WB_EMULATOR_ASAN
static const size_t BAND = 0;
#else
static const size_t BAND = 256;
#endif

struct Allocation {
  size_t size;
  int device; /* -1: pinned host memory */
  int number; /* in order of allocation, for messages */
};

typedef std::map<uintptr_t, Allocation> Table;

/* Never destroyed, because the report of leaks comes last of all. */
static Table &table(void) {
  static Table *const allocations = new Table();
  return *allocations;
}

/* The caller's page-locked host memory: start and number of bytes. */
static std::map<uintptr_t, size_t> &locked(void) {
  static std::map<uintptr_t, size_t> *const all = new std::map<uintptr_t, size_t>();
  return *all;
}

static size_t used[16];
static size_t pinned;
static int allocations_made;

static void *take(size_t size, int device) {
  void *memory;
  if (posix_memalign(&memory, 256, size + 2 * BAND) != 0) return NULL;
  poison_fill(memory, size + 2 * BAND);
  char *const start = (char *)memory + BAND;
  table()[(uintptr_t)start] = Allocation{size, device, ++allocations_made};
  (device < 0 ? pinned : used[device]) += size;
  char name[64];
  snprintf(name, sizeof name, "%s allocation %d", device < 0 ? "pinned" : "device", allocations_made);
  access_open(start, size, device < 0 ? PINNED_MEMORY : DEVICE_MEMORY, name);
  return start;
}

static bool bands_intact(uintptr_t start, const Allocation &a) {
  return poison_intact((char *)start - BAND, BAND) && poison_intact((char *)start + a.size, BAND);
}

void memory_check(const char *kernel) {
  for (const auto &entry : table()) {
    if (bands_intact(entry.first, entry.second)) continue;
    report("kernel %s wrote beside %s allocation %d of %zu bytes", kernel,
           entry.second.device < 0 ? "pinned" : "device", entry.second.number, entry.second.size);
    poison_fill((char *)entry.first - BAND, BAND);
    poison_fill((char *)entry.first + entry.second.size, BAND);
    set_pending(cudaErrorIllegalAddress);
  }
}

static cudaError_t give_back(Call *call, void *pointer, bool device) {
  const auto found = table().find((uintptr_t)pointer);
  if (found == table().end() || (found->second.device >= 0) != device)
    return call->refuse(cudaErrorInvalidValue, "%p is not what %s gave", pointer,
                        device ? "cudaMalloc" : "cudaMallocHost");
  const Allocation a = found->second;
  const bool intact = bands_intact(found->first, a);
  access_close(pointer);
  table().erase(found);
  (a.device < 0 ? pinned : used[a.device]) -= a.size;
  free((char *)pointer - BAND);
  if (!intact)
    return call->refuse(cudaErrorIllegalAddress, "something was written beside allocation %d of %zu bytes", a.number,
                        a.size);
  return call->finish(cudaSuccess);
}

/* The allocation that holds the byte at `address`, or NULL. `left`: the bytes from there to its end. */
static const Allocation *locate(const void *pointer, size_t *left) {
  const uintptr_t address = (uintptr_t)pointer;
  auto after = table().upper_bound(address);
  if (after == table().begin()) return NULL;
  --after;
  if (address - after->first >= after->second.size) return NULL;
  *left = after->second.size - (address - after->first);
  return &after->second;
}

/* Whether this host memory is page-locked: a copy then reads or writes it when the copy is done, not when it is
 * requested. */
static bool is_locked(const void *pointer) {
  size_t left;
  if (locate(pointer, &left) != NULL) return true;
  const uintptr_t address = (uintptr_t)pointer;
  auto after = locked().upper_bound(address);
  return after != locked().begin() && address - (--after)->first < after->second;
}

/* Whether `size` bytes at `pointer` can serve as device memory, or as host memory if not `device`. Returns NULL or the
 * reason why not. */
static const char *objection(const void *pointer, size_t size, bool device) {
  size_t left = 0;
  const Allocation *const a = locate(pointer, &left);
  if (device && (a == NULL || a->device < 0)) return "is not device memory";
  if (!device && a != NULL && a->device >= 0) return "is device memory";
  if (a != NULL && size > left) return "runs over the end of its allocation";
  return NULL;
}

static bool is_device(const void *pointer) {
  size_t left;
  const Allocation *const a = locate(pointer, &left);
  return a != NULL && a->device >= 0;
}

/* A rectangle of bytes: `height` rows of `width`. */
struct Copy {
  void *to;
  size_t to_pitch;
  const void *from;
  size_t from_pitch;
  size_t width, height;

  void run() const {
    for (size_t row = 0; row < height; row++) {
      char *const target = (char *)to + row * to_pitch;
      const char *const source = (const char *)from + row * from_pitch;
      memmove(target, source, width);
      access_copied(target, source, width);
    }
  }
};

/* Submits the copy to a stream. Host memory that is not pinned is read at once and written before the call returns. */
static void submit(Copy copy, cudaStream_t stream) {
  if (queue_captures(stream)) return queue_submit(stream, [copy] { copy.run(); });
  if (queue_defers() && !is_locked(copy.from)) {
    const std::shared_ptr<std::vector<char>> staged(new std::vector<char>(copy.width * copy.height));
    for (size_t row = 0; row < copy.height; row++)
      memcpy(staged->data() + row * copy.width, (const char *)copy.from + row * copy.from_pitch, copy.width);
    copy.from = staged->data();
    copy.from_pitch = copy.width;
    queue_submit(stream, [copy, staged] { copy.run(); });
  } else {
    queue_submit(stream, [copy] { copy.run(); });
  }
  if (!is_locked(copy.to) || queue_defers_kernels()) queue_finish(queue_last());
}

static cudaError_t copy_rows(Call *call, const Copy &copy, cudaMemcpyKind kind, cudaStream_t stream) {
  if (call->failed()) return call->error();
  if (!stream_usable(stream)) return call->refuse(cudaErrorInvalidResourceHandle, "stream %p", (void *)stream);
  if (copy.width == 0 || copy.height == 0) return call->finish(cudaSuccess);
  if (copy.height > 1 && (copy.width > copy.to_pitch || copy.width > copy.from_pitch))
    return call->refuse(cudaErrorInvalidValue, "rows of %zu bytes at pitches %zu and %zu", copy.width, copy.to_pitch,
                        copy.from_pitch);
  if ((unsigned)kind > cudaMemcpyDefault)
    return call->refuse(cudaErrorInvalidMemcpyDirection, "direction %d", (int)kind);
  const bool to_device = kind == cudaMemcpyDefault ? is_device(copy.to)
                                                   : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDefault
                               ? is_device(copy.from)
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const size_t to_size = (copy.height - 1) * copy.to_pitch + copy.width;
  const size_t from_size = (copy.height - 1) * copy.from_pitch + copy.width;
  const char *reason = objection(copy.to, to_size, to_device);
  if (reason != NULL)
    return call->refuse(cudaErrorInvalidValue, "destination %p, %zu bytes, %s", copy.to, to_size, reason);
  reason = objection(copy.from, from_size, from_device);
  if (reason != NULL)
    return call->refuse(cudaErrorInvalidValue, "source %p, %zu bytes, %s", copy.from, from_size, reason);
  if (queue_captures(stream) && !(is_locked(copy.to) && is_locked(copy.from)))
    return call->refuse(cudaErrorStreamCaptureUnsupported, "a graph copies memory that is not page-locked");
  submit(copy, stream);
  return call->finish(cudaSuccess);
}

static cudaError_t copy(Call *call, void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(call, Copy{to, size, from, size, size, 1}, kind, stream);
}

static cudaError_t set(Call *call, void *to, int value, size_t size, cudaStream_t stream) {
  if (call->failed()) return call->error();
  if (!stream_usable(stream)) return call->refuse(cudaErrorInvalidResourceHandle, "stream %p", (void *)stream);
  if (size == 0) return call->finish(cudaSuccess);
  const char *const reason = objection(to, size, true);
  if (reason != NULL) return call->refuse(cudaErrorInvalidValue, "destination %p, %zu bytes, %s", to, size, reason);
  queue_submit(stream, [to, value, size] {
    memset(to, value, size);
    access_written(to, size);
  });
  return call->finish(cudaSuccess);
}

static cudaError_t allocate_device(Call *call, void **pointer, size_t size) {
  if (call->failed()) return call->error();
  if (pointer == NULL) return call->refuse(cudaErrorInvalidValue, "no place for the pointer");
  *pointer = NULL;
  if (size == 0) return call->finish(cudaSuccess);
  const int device = current_device();
  if (size > memory_limit() || used[device] > memory_limit() - size) return call->finish(cudaErrorMemoryAllocation);
  *pointer = take(size, device);
  return call->finish(*pointer != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* Releases the memory even after an earlier error, which cudaFree() then returns. */
static cudaError_t release(Call *call, void *pointer, bool device) {
  if (pointer == NULL) return call->finish(cudaSuccess);
  return give_back(call, pointer, device);
}

__attribute__((destructor)) static void report_leaks(void) {
  for (const auto &entry : table())
    report("never freed: %s allocation %d of %zu bytes", entry.second.device < 0 ? "pinned" : "device",
           entry.second.number, entry.second.size);
  for (const auto &entry : locked()) report("never unregistered: %zu bytes of host memory", entry.second);
}

cudaError_t copy_to_symbol(void *symbol, size_t symbol_size, const void *from, size_t size, size_t offset) {
  Call call("cudaMemcpyToSymbol", SYNCHRONISES);
  if (call.failed()) return call.error();
  if (offset > symbol_size || size > symbol_size - offset)
    return call.refuse(cudaErrorInvalidValue, "%zu bytes at %zu of a symbol of %zu", size, offset, symbol_size);
  memcpy((char *)symbol + offset, from, size);
  return call.finish(cudaSuccess);
}

} // namespace wb_emulator

using namespace wb_emulator;

cudaError_t cudaMalloc(void **pointer, size_t size) {
  Call call("cudaMalloc", NEEDS_CONTEXT);
  return allocate_device(&call, pointer, size);
}
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t) {
  Call call("cudaMallocAsync", NEEDS_CONTEXT);
  return allocate_device(&call, pointer, size);
}
cudaError_t cudaFree(void *pointer) {
  Call call("cudaFree", SYNCHRONISES);
  return release(&call, pointer, true);
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
  Call call("cudaFreeAsync", NEEDS_CONTEXT);
  return release(&call, pointer, true);
}
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int) {
  Call call("cudaHostAlloc", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  *pointer = size == 0 ? NULL : take(size, -1);
  return call.finish(size == 0 || *pointer != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaMallocHost(void **pointer, size_t size) { return cudaHostAlloc(pointer, size, 0); }
cudaError_t cudaFreeHost(void *pointer) {
  Call call("cudaFreeHost", SYNCHRONISES);
  return release(&call, pointer, false);
}
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int) {
  Call call("cudaHostRegister", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (pointer == NULL || size == 0) return call.refuse(cudaErrorInvalidValue, "%zu bytes at %p", size, pointer);
  if (getenv("WB_EMULATOR_UNLOCKABLE") != NULL) return call.finish(cudaErrorNotSupported);
  /* Whole pages are locked. A page cannot be locked twice. */
  const uintptr_t first = (uintptr_t)pointer / 4096, end = ((uintptr_t)pointer + size - 1) / 4096;
  for (const auto &entry : locked())
    if (entry.first / 4096 <= end && first <= (entry.first + entry.second - 1) / 4096)
      return call.finish(cudaErrorHostMemoryAlreadyRegistered);
  locked()[(uintptr_t)pointer] = size;
  pinned += size;
  return call.finish(cudaSuccess);
}
cudaError_t cudaHostUnregister(void *pointer) {
  Call call("cudaHostUnregister", SYNCHRONISES);
  const auto found = locked().find((uintptr_t)pointer);
  if (found == locked().end()) return call.refuse(cudaErrorHostMemoryNotRegistered, "%p", pointer);
  pinned -= found->second;
  locked().erase(found);
  return call.finish(cudaSuccess);
}
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  Call call("cudaMemGetInfo", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  const size_t in_use = used[current_device()];
  *total = memory_limit();
  *free = in_use < *total ? *total - in_use : 0;
  return call.finish(cudaSuccess);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
  Call call("cudaMemcpy", SYNCHRONISES);
  const cudaError_t error = copy(&call, to, from, size, kind, NULL);
  queue_finish(queue_last());
  return error;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  Call call("cudaMemcpyAsync", NEEDS_CONTEXT);
  return copy(&call, to, from, size, kind, stream);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  Call call("cudaMemcpy2D", SYNCHRONISES);
  const cudaError_t error = copy_rows(&call, Copy{to, to_pitch, from, from_pitch, width, height}, kind, NULL);
  queue_finish(queue_last());
  return error;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  Call call("cudaMemcpy2DAsync", NEEDS_CONTEXT);
  return copy_rows(&call, Copy{to, to_pitch, from, from_pitch, width, height}, kind, stream);
}
cudaError_t cudaMemset(void *to, int value, size_t size) {
  Call call("cudaMemset", NEEDS_CONTEXT);
  return set(&call, to, value, size, NULL);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream) {
  Call call("cudaMemsetAsync", NEEDS_CONTEXT);
  return set(&call, to, value, size, stream);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  Call call("cudaPointerGetAttributes", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  size_t left;
  const Allocation *const a = locate(pointer, &left);
  memset(attributes, 0, sizeof *attributes);
  attributes->type = a == NULL       ? cudaPointerAttributes::cudaMemoryTypeUnregistered
                     : a->device < 0 ? cudaPointerAttributes::cudaMemoryTypeHost
                                     : cudaPointerAttributes::cudaMemoryTypeDevice;
  attributes->device = a == NULL ? -2 : a->device < 0 ? 0 : a->device;
  attributes->devicePointer = a == NULL ? NULL : const_cast<void *>(pointer);
  attributes->hostPointer = a != NULL && a->device < 0 ? const_cast<void *>(pointer) : NULL;
  return call.finish(cudaSuccess);
}

void wb_emulator_usage(double *device_bytes, double *pinned_bytes, int *handles) {
  *device_bytes = 0;
  for (size_t bytes : used) *device_bytes += (double)bytes;
  *pinned_bytes = (double)pinned;
  *handles = handle_count();
}
