/* Shared memory. Static variables are thread-local variables of the object that holds the kernels
 * (include/emulator/qualifiers.h). The dynamic array is an allocation of exactly the requested size. Before each block
 * all of this memory is filled with a pattern that is NaN in both precisions. build.sh puts a gap behind every static
 * variable. The address sanitizer forbids access to the gaps. In other builds the gaps hold the pattern and are checked
 * after each block. */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "faults.h"
#include "grid.h"
#include "symbols.h"

#ifdef WB_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace wb_emulator {

/* Bytes of the guard on either side of the dynamic array. */
#ifdef WB_EMULATOR_ASAN
static const size_t GUARD = 0;
#else
static const size_t GUARD = 128;
#endif

static struct {
  char *dynamic; /* guard, array, guard */
  size_t dynamic_size;
  const std::vector<SharedVariable> *statics;
  char *storage; /* the storage in which the gaps between static variables are guarded */
} state;

static unsigned char poison_byte(const void *address) {
  return (unsigned char)(POISON >> (8 * ((uintptr_t)address & 3)));
}

void poison_fill(void *memory, size_t size) {
  unsigned char *p = (unsigned char *)memory, *const end = p + size;
  for (; p < end && ((uintptr_t)p & 3) != 0; p++) *p = poison_byte(p);
  for (; end - p >= 4; p += 4) memcpy(p, &POISON, 4);
  for (; p < end; p++) *p = poison_byte(p);
}

bool poison_intact(const void *memory, size_t size) {
  const unsigned char *p = (const unsigned char *)memory, *const end = p + size;
  for (; p < end && ((uintptr_t)p & 3) != 0; p++)
    if (*p != poison_byte(p)) return false;
  for (; end - p >= 4; p += 4)
    if (memcmp(p, &POISON, 4) != 0) return false;
  for (; p < end; p++)
    if (*p != poison_byte(p)) return false;
  return true;
}

static void guard_statics(void) {
  static thread_local bool guarded; /* a new thread may have its storage where an old one had it */
  char *const storage = thread_local_storage(), *const before = state.storage;
  if (guarded && before == storage) return;
  guarded = true;
  state.storage = storage;
  for (const SharedVariable &v : shared_variables()) {
    if (before != NULL) access_close(before + v.offset);
    access_open(storage + v.offset, v.size, SHARED_MEMORY, v.name.c_str());
  }
  for (const SharedGap &gap : shared_gaps()) {
#ifdef WB_EMULATOR_ASAN
    __asan_poison_memory_region(storage + gap.offset, gap.size);
#else
    poison_fill(storage + gap.offset, gap.size);
#endif
  }
}

void shared_open(const void *kernel, size_t dynamic_size) {
  state.statics = &shared_variables(kernel);
  guard_statics();
  if (state.dynamic == NULL || state.dynamic_size != dynamic_size) {
    if (state.dynamic != NULL) access_close(dynamic_shared());
    free(state.dynamic);
    void *memory = NULL;
    if (posix_memalign(&memory, 128, dynamic_size + 2 * GUARD) != 0) memory = NULL;
    state.dynamic = (char *)memory;
    state.dynamic_size = dynamic_size;
    access_open(dynamic_shared(), dynamic_size, SHARED_MEMORY, "dynamic shared memory");
  }
  poison_fill(state.dynamic, dynamic_size + 2 * GUARD);
}

void *dynamic_shared(void) { return state.dynamic + GUARD; }

static void fill(void *memory, size_t size) {
  poison_fill(memory, size);
  memory_is_new(memory, size);
  access_renew(memory);
}

void shared_fill(void) {
  for (const SharedVariable &v : *state.statics) fill(state.storage + v.offset, v.size);
  fill(dynamic_shared(), state.dynamic_size);
}

void shared_check(void) {
#ifndef WB_EMULATOR_ASAN
  if (kernel_failed()) return;
  for (const SharedGap &gap : shared_gaps()) {
    char *const start = state.storage + gap.offset;
    if (poison_intact(start, gap.size)) continue;
    poison_fill(start, gap.size);
    const char *name = "a shared variable";
    for (const SharedVariable &v : *state.statics)
      if (v.offset + v.size == gap.offset || gap.offset + gap.size == v.offset) name = v.name.c_str();
    report("kernel %s, block (%u,%u,%u): something was written beside %s", block.kernel, blockIdx.x, blockIdx.y,
           blockIdx.z, name);
    set_pending(cudaErrorIllegalAddress);
  }
  char *const array = (char *)dynamic_shared();
  if (!poison_intact(array - GUARD, GUARD) || !poison_intact(array + state.dynamic_size, GUARD)) {
    report(
        "kernel %s, block (%u,%u,%u): something was written beside the %zu bytes of dynamic "
        "shared memory",
        block.kernel, blockIdx.x, blockIdx.y, blockIdx.z, state.dynamic_size);
    set_pending(cudaErrorIllegalAddress);
  }
#endif
}

size_t shared_static_size(const void *kernel) {
  size_t size = 0;
  for (const SharedVariable &v : shared_variables(kernel))
    if (v.owner == kernel) size += v.size;
  return size;
}

} // namespace wb_emulator
