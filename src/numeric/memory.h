/* Memory for host algorithms and the CPU backend. */
#pragma once

#include <stddef.h>

#include "backend/types.h"

/* Memory at a multiple of 64, or NULL if there is none. Only wb_aligned_free() frees it, and accepts NULL. */
void *wb_aligned_malloc(size_t bytes);
void wb_aligned_free(void *memory);

/* One block of memory for several arrays, each at a multiple of 64: WB_PARTS("counts", message, WB_PART(x, n), ...)
 * sets x to room for n of its elements, WB_CLEARED(x, n) cleared. Returns the block, for wb_aligned_free(), or NULL. */
typedef struct wb_part {
  void *pointer; /* its address */
  size_t bytes;
  int cleared;
} wb_part;
#define WB_PART(pointer, count) \
  { &(pointer), (size_t)(count) * sizeof *(pointer), 0 }
#define WB_CLEARED(pointer, count) \
  { &(pointer), (size_t)(count) * sizeof *(pointer), 1 }
#define WB_PARTS(purpose, message, ...) \
  wb_parts_malloc((wb_part[]){__VA_ARGS__}, sizeof((wb_part[]){__VA_ARGS__}) / sizeof(wb_part), purpose, message)
void *wb_parts_malloc(const wb_part *part, size_t parts, const char *purpose, wb_message *message);

/* Asks the system for large pages for this memory: clearing many small ones at first touch can take long. */
void wb_large_pages(void *memory, size_t bytes);

/* The message that `bytes` for `purpose` (say "statistics") could not be allocated. Returns WB_ERROR_MEMORY. */
int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes);
