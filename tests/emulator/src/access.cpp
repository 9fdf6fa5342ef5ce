/* Checks every load and store of the kernels' files. They are compiled with -fsanitize=thread, which calls a function
 * for each access. This file has these functions in place of the sanitizer's. A thread of a kernel may touch device and
 * pinned memory, the block's shared memory, its own stack, its arguments and the constants of the library. It may read
 * device and shared memory only where something was written. Host code may not touch device memory. In contrast to the
 * address sanitizer, this check tells host memory from device memory and works in an ordinary process. */
#ifdef WB_EMULATOR_ACCESS

#include "access.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <string>

#include "faults.h"
#include "grid.h"

/* The first byte of the object that this file is linked into, and the byte after its last. */
extern "C" __attribute__((visibility("hidden"))) char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) char _end[];

namespace wb_emulator {

struct Region {
  uintptr_t start;
  size_t size;
  Memory kind;
  std::string name;
  unsigned char *written; /* a flag for each byte; NULL for pinned memory, which the host writes */
};

static std::map<uintptr_t, Region> &regions(void) {
  static std::map<uintptr_t, Region> *const all = new std::map<uintptr_t, Region>();
  return *all;
}

/* The regions of the latest accesses, the most recent first. Most accesses are found here. */
static Region *recent[4];

static bool holds(const Region *region, uintptr_t address) { return address - region->start < region->size; }

static Region *find(uintptr_t address) {
  for (Region *region : recent)
    if (region != NULL && holds(region, address)) return region;
  auto after = regions().upper_bound(address);
  if (after == regions().begin()) return NULL;
  Region *const region = &(--after)->second;
  if (!holds(region, address)) return NULL;
  memmove(recent + 1, recent, sizeof recent - sizeof recent[0]);
  recent[0] = region;
  return region;
}

void access_open(const void *start, size_t size, Memory kind, const char *name) {
  if (size == 0) return;
  const uintptr_t address = (uintptr_t)start;
  access_close(start);
  unsigned char *const written = kind == PINNED_MEMORY ? NULL : (unsigned char *)calloc(size, 1);
  regions()[address] = Region{address, size, kind, name, written};
}

void access_close(const void *start) {
  const auto found = regions().find((uintptr_t)start);
  if (found == regions().end()) return;
  memset(recent, 0, sizeof recent);
  free(found->second.written);
  regions().erase(found);
}

void access_renew(const void *start) {
  const auto found = regions().find((uintptr_t)start);
  if (found != regions().end()) memset(found->second.written, 0, found->second.size);
}

void access_written(const void *start, size_t size) {
  Region *const region = find((uintptr_t)start);
  if (region != NULL && region->written != NULL) memset(region->written + ((uintptr_t)start - region->start), 1, size);
}

void access_copied(const void *to, const void *from, size_t size) {
  Region *const target = find((uintptr_t)to), *const source = find((uintptr_t)from);
  if (target == NULL || target->written == NULL) return;
  unsigned char *const written = target->written + ((uintptr_t)to - target->start);
  if (source == NULL || source->written == NULL) memset(written, 1, size);
  else memmove(written, source->written + ((uintptr_t)from - source->start), size);
}

static bool within(uintptr_t address, const void *start, size_t size) { return address - (uintptr_t)start < size; }

/* For an address outside all regions: the nearest region if it is within 64 bytes, otherwise NULL. */
static const Region *neighbour(uintptr_t address) {
  const Region *nearest = NULL;
  uintptr_t distance = 65;
  auto after = regions().upper_bound(address);
  if (after != regions().end() && after->first - address < distance) {
    nearest = &after->second;
    distance = after->first - address;
  }
  if (after == regions().begin()) return nearest;
  const Region *const before = &(--after)->second;
  return address - (before->start + before->size) < distance ? before : nearest;
}

/* A thread of a kernel touches memory that is in no region. */
static void check_elsewhere(uintptr_t address, size_t size, bool write) {
  const Closure *const closure = block.closure;
  if (!write && within(address, closure, closure->size)) return;
  if (within(address, __ehdr_start, (size_t)(_end - __ehdr_start))) return;
  const char *const verb = write ? "writes" : "reads";
  for (unsigned i = 0; i < block.thread_count; i++) {
    const Thread &t = block.threads[i];
    if (within(address, t.fiber.stack, t.fiber.stack_size))
      fail(cudaErrorIllegalAddress, "%s %zu bytes of a local variable of thread (%u,%u,%u)", verb, size, t.index.x,
           t.index.y, t.index.z);
  }
  const Region *const region = neighbour(address);
  if (region != NULL)
    fail(cudaErrorIllegalAddress, "%s %zu bytes at %td of the %zu bytes of %s", verb, size,
         (ptrdiff_t)(address - region->start), region->size, region->name.c_str());
  fail(cudaErrorIllegalAddress, "%s %zu bytes at %p, which is host memory or nobody's", verb, size, (void *)address);
}

static void check_device(uintptr_t address, size_t size, bool write) {
  if (within(address, current->fiber.stack, current->fiber.stack_size)) return;
  const Region *const region = find(address);
  if (region == NULL) return check_elsewhere(address, size, write);
  const size_t offset = address - region->start;
  if (size > region->size - offset)
    fail(cudaErrorIllegalAddress, "%s %zu bytes at %zu of the %zu bytes of %s", write ? "writes" : "reads", size,
         offset, region->size, region->name.c_str());
  if (region->written == NULL) return;
  if (write) {
    memset(region->written + offset, 1, size);
  } else if (memchr(region->written + offset, 0, size) != NULL) {
    fail(cudaErrorLaunchFailure, "reads %zu bytes at %zu of the %zu bytes of %s, which nobody has written", size,
         offset, region->size, region->name.c_str());
  }
}

static void check_host(uintptr_t address, size_t size, bool write) {
  const Lock lock;
  const Region *const region = find(address);
  if (region == NULL || region->kind != DEVICE_MEMORY || kernel_failed()) return;
  report("host code %s %zu bytes of %s at %zu of %zu", write ? "writes" : "reads", size, region->name.c_str(),
         address - region->start, region->size);
  set_pending(cudaErrorIllegalAddress);
}

static void check(const volatile void *address, size_t size, bool write) {
  if (current != NULL) check_device((uintptr_t)address, size, write);
  else check_host((uintptr_t)address, size, write);
}

} // namespace wb_emulator

using wb_emulator::check;

/* What the compiler calls ------------------------------------------------------------- */

extern "C" {

void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_read_range(void *address, unsigned long size) {
  if (size != 0) check(address, size, false);
}
void __tsan_write_range(void *address, unsigned long size) {
  if (size != 0) check(address, size, true);
}

#define WB_EMULATOR_PLAIN(size) \
  void __tsan_read##size(void *address) { check(address, size, false); } \
  void __tsan_write##size(void *address) { check(address, size, true); } \
  void __tsan_unaligned_read##size(void *address) { check(address, size, false); } \
  void __tsan_unaligned_write##size(void *address) { check(address, size, true); }
WB_EMULATOR_PLAIN(1)
WB_EMULATOR_PLAIN(2)
WB_EMULATOR_PLAIN(4)
WB_EMULATOR_PLAIN(8)
WB_EMULATOR_PLAIN(16)

#define WB_EMULATOR_FETCH(bits, type, name) \
  type __tsan_atomic##bits##_fetch_##name(volatile type *address, type value, int) { \
    check(address, sizeof(type), false); \
    check(address, sizeof(type), true); \
    return __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST); \
  }
#define WB_EMULATOR_ATOMIC(bits, type) \
  type __tsan_atomic##bits##_load(const volatile type *address, int) { \
    check(address, sizeof(type), false); \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST); \
  } \
  void __tsan_atomic##bits##_store(volatile type *address, type value, int) { \
    check(address, sizeof(type), true); \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST); \
  } \
  type __tsan_atomic##bits##_exchange(volatile type *address, type value, int) { \
    check(address, sizeof(type), false); \
    check(address, sizeof(type), true); \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST); \
  } \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected, type value, int, int) { \
    check(address, sizeof(type), false); \
    check(address, sizeof(type), true); \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  } \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int a, int b) { \
    __tsan_atomic##bits##_compare_exchange_strong(address, &expected, value, a, b); \
    return expected; \
  } \
  WB_EMULATOR_FETCH(bits, type, add) \
  WB_EMULATOR_FETCH(bits, type, sub) \
  WB_EMULATOR_FETCH(bits, type, and) \
  WB_EMULATOR_FETCH(bits, type, or) \
  WB_EMULATOR_FETCH(bits, type, xor)
WB_EMULATOR_ATOMIC(8, uint8_t)
WB_EMULATOR_ATOMIC(32, uint32_t)
WB_EMULATOR_ATOMIC(64, uint64_t)
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

/* The compiler leaves some copies to the C library. build.sh redirects them to these functions. */
__attribute__((visibility("hidden"))) void *wb_emulator_memcpy(void *to, const void *from, size_t size) {
  __tsan_read_range(const_cast<void *>(from), size);
  __tsan_write_range(to, size);
  return memcpy(to, from, size);
}
__attribute__((visibility("hidden"))) void *wb_emulator_memmove(void *to, const void *from, size_t size) {
  __tsan_read_range(const_cast<void *>(from), size);
  __tsan_write_range(to, size);
  return memmove(to, from, size);
}
__attribute__((visibility("hidden"))) void *wb_emulator_memset(void *to, int value, size_t size) {
  __tsan_write_range(to, size);
  return memset(to, value, size);
}
/* clang calls these itself from version 15 on. */
void *__tsan_memcpy(void *to, const void *from, size_t size) { return wb_emulator_memcpy(to, from, size); }
void *__tsan_memmove(void *to, const void *from, size_t size) { return wb_emulator_memmove(to, from, size); }
void *__tsan_memset(void *to, int value, size_t size) { return wb_emulator_memset(to, value, size); }

} // extern "C"

#endif
