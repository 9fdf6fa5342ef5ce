/* Large pages of memory: 2 MB each, and each begins at a multiple of its size. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WB_LARGE_PAGE ((uintptr_t)1 << 21)

/* Bytes from the beginning of the memory to the first large page. */
static inline size_t wb_before_pages(const void *memory) {
  return (size_t)((WB_LARGE_PAGE - (uintptr_t)memory % WB_LARGE_PAGE) % WB_LARGE_PAGE);
}

/* How many large pages begin in the memory; the last may be a part of one. */
static inline int64_t wb_pages_of(const void *memory, size_t bytes) {
  const size_t before = wb_before_pages(memory);
  return bytes <= before ? 0 : (int64_t)((bytes - before + WB_LARGE_PAGE - 1) / WB_LARGE_PAGE);
}

/* Writes to large page number i, which the system then clears if the page is new. What was there is lost. */
static inline void wb_touch_page(void *memory, int64_t i) {
  volatile char *const at = (char *)memory + wb_before_pages(memory) + (uintptr_t)i * WB_LARGE_PAGE;
  *at = 0;
}
