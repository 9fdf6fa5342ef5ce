/* The copies that a thread begins and waits for later (include/cuda_pipeline.h). */
#include <cuda_pipeline.h>

#include <deque>
#include <vector>

#include "grid.h"

namespace wb_emulator {

struct Copies {
  std::deque<LaterCopy> begun;
  uint64_t groups = 0; /* complete */
};

/* One for each thread of a block. */
static std::vector<Copies> all;

static Copies &of_thread(void) {
  const size_t index = (size_t)(current - block.threads.data());
  if (all.size() <= index) all.resize(index + 1);
  return all[index];
}

void forget_copies(void) {
  for (Copies &copies : all) copies.begun.clear();
}

void copy_later(void *to, const void *from, size_t size, Place place) {
  if ((size != 4 && size != 8 && size != 16) || (uintptr_t)to % size != 0 || (uintptr_t)from % size != 0)
    fail(cudaErrorMisalignedAddress, "__pipeline_memcpy_async at %s:%d: %zu bytes from %p to %p", place.file,
         place.line, size, from, to);
  const OwnBusiness own;
  Copies &copies = of_thread();
  copies.begun.push_back({copies.groups, (char *)to, (const char *)from, size});
}

void commit_copies(void) {
  const OwnBusiness own;
  of_thread().groups++;
}

bool next_copy(size_t prior, LaterCopy *copy) {
  const OwnBusiness own;
  Copies &copies = of_thread();
  if (copies.begun.empty() || copies.begun.front().group + prior >= copies.groups) return false;
  *copy = copies.begun.front();
  copies.begun.pop_front();
  return true;
}

} // namespace wb_emulator
