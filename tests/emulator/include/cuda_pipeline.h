/* Stands in for CUDA's header of this name: a thread begins copies from device to shared memory and waits for them
 * later. A copy is done as late as possible, when the thread waits for it. Without the wait, the thread reads memory
 * that was never written. */
#ifndef WB_EMULATOR_CUDA_PIPELINE_H
#define WB_EMULATOR_CUDA_PIPELINE_H

#include <cuda_runtime.h>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

struct LaterCopy {
  uint64_t group; /* the number of groups that were complete before */
  char *to;
  const char *from;
  size_t size;
};
void copy_later(void *to, const void *from, size_t size, Place place);
void commit_copies(void);
/* The running thread's next copy that belongs to a complete group other than the last `prior`. False if there is
 * none. */
bool next_copy(size_t prior, LaterCopy *copy);

} // namespace wb_emulator
#pragma GCC visibility pop

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t size, WB_EMULATOR_HERE) {
  wb_emulator::copy_later(to, from, size, WB_EMULATOR_PLACE);
}
static inline void __pipeline_commit(void) { wb_emulator::commit_copies(); }
static inline void __pipeline_wait_prior(size_t prior) {
  wb_emulator::LaterCopy copy;
  /* This loop is in the header, because loads and stores of src/ are not watched. */
  while (wb_emulator::next_copy(prior, &copy))
    for (size_t i = 0; i < copy.size; i += 4)
      *reinterpret_cast<uint32_t *>(copy.to + i) = *reinterpret_cast<const uint32_t *>(copy.from + i);
}

#endif
