/* Runs independent pieces of work on several threads. */
#ifndef WB_SPREAD_H
#define WB_SPREAD_H

#include <stddef.h>

#include "backend/types.h"

/* Calls work(context, i) for every i < pieces on `threads` threads, and returns when all pieces are done. A thread
 * takes the next piece when it has finished one. */
void wb_spread(int32_t threads, int64_t pieces, wb_piece *work, void *context);

/* Has new memory cleared by several threads, each its own pages. Where threads write to one new page at the same time,
 * each of them clears it. What was in the memory is lost. */
void wb_touch_pages(void *memory, size_t bytes, int32_t threads);

#endif
