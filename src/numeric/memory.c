/* Aligned memory, by malloc() alone since aligned_alloc() is missing on some platforms, and large pages. */
#include "core/rounding.h"

#include "numeric/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "numeric/pages.h"

void *wb_aligned_malloc(size_t bytes) {
  const size_t extra = 64 + sizeof(void *);
  if (bytes > SIZE_MAX - extra) return NULL;
  /* The address that malloc() returned is stored just below the aligned one. */
  char *const memory = malloc(bytes + extra);
  if (!memory) return NULL;
  char *const aligned = (char *)(((uintptr_t)memory + extra - 1) & ~(uintptr_t)63);
  ((void **)aligned)[-1] = memory;
  return aligned;
}

void wb_aligned_free(void *memory) {
  if (memory) free(((void **)memory)[-1]);
}

void *wb_parts_malloc(const wb_part *part, size_t parts, const char *purpose, wb_message *message) {
  size_t bytes = 0;
  for (size_t i = 0; i < parts; i++) bytes += (part[i].bytes + 63) / 64 * 64;
  char *const memory = wb_aligned_malloc(bytes), *at = memory;
  if (!memory) wb_out_of_memory(message, purpose, bytes);
  for (size_t i = 0; memory && i < parts; at += (part[i++].bytes + 63) / 64 * 64) {
    memcpy(part[i].pointer, &at, sizeof at);
    if (part[i].cleared) memset(at, 0, part[i].bytes);
  }
  return memory;
}

void wb_large_pages(void *memory, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  char *const begin = (char *)memory + wb_before_pages(memory);
  const uintptr_t end = ((uintptr_t)memory + bytes) / WB_LARGE_PAGE * WB_LARGE_PAGE;
  if ((uintptr_t)begin < end) (void)madvise(begin, end - (uintptr_t)begin, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes) {
  snprintf(message->text, sizeof message->text, "could not allocate %.1f MB of memory for %s", (double)bytes / 1e6,
           purpose);
  return WB_ERROR_MEMORY;
}
