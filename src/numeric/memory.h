/* Memory for host algorithms and the CPU backend. */
#pragma once

#include <stddef.h>

#include "backend/types.h"

/* Memory at a multiple of 64, or NULL if there is none. Only wb_aligned_free() frees it, and accepts NULL. */
void *wb_aligned_malloc(size_t bytes);
void wb_aligned_free(void *memory);

/* Asks the system for large pages for this memory, if it offers them. Otherwise many megabytes of fresh memory are
 * cleared page by page at the first touch, which can take longer than computing what is written there. */
void wb_large_pages(void *memory, size_t bytes);

/* The message that `bytes` for `purpose` (say "statistics") could not be allocated. Returns WB_ERROR_MEMORY. */
int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes);
