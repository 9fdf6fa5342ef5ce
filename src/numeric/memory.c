/* Aligned memory from malloc alone, which every platform has. */
#include "numeric/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

void *wb_aligned_malloc(size_t bytes) {
  const size_t extra = 64 + sizeof(void *);
  if (bytes > SIZE_MAX - extra) return NULL;
  /* The address that malloc gave is kept just below the aligned one. */
  char *const memory = malloc(bytes + extra);
  if (!memory) return NULL;
  char *const aligned = (char *)(((uintptr_t)memory + extra - 1) & ~(uintptr_t)63);
  ((void **)aligned)[-1] = memory;
  return aligned;
}

void wb_aligned_free(void *memory) {
  if (memory) free(((void **)memory)[-1]);
}

void wb_large_pages(void *memory, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const uintptr_t page = (uintptr_t)1 << 21;
  const uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page;
  const uintptr_t end = ((uintptr_t)memory + bytes) / page * page;
  if (begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes) {
  snprintf(message->text, sizeof message->text, "no memory for %s (%.1f MB)", purpose, (double)bytes / 1e6);
  return WB_ERROR_MEMORY;
}
