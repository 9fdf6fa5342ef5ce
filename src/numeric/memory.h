/* Memory for the host algorithms and the processor's loops. */
#ifndef WB_MEMORY_H
#define WB_MEMORY_H

#include <stddef.h>

#include "backend/types.h"

/* Memory at an address that is a multiple of 64, or NULL if there is none. To be freed
 * by wb_aligned_free(), which takes NULL too, and not by free(). */
void *wb_aligned_malloc(size_t bytes);
void wb_aligned_free(void *memory);

/* Asks the system to back this memory with large pages, where it has them to give. Memory
 * of many megabytes that was never touched is cleared page by page at the first touch,
 * which can take longer than the sums that are written to it. */
void wb_large_pages(void *memory, size_t bytes);

/* Writes the message that `bytes` for `purpose` ("statistics") could not be allocated.
 * Returns WB_ERROR_MEMORY. */
int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes);

#endif
