/* Runs long pieces of work at the same time, each of which may use several threads of its own. */
#pragma once

#include "backend/types.h"

/* Calls work(context, i) for every i < pieces, each on a thread of its own, and returns when all are done. OpenMP
 * keeps a pool of threads for each, which it would not do for nested parallel regions. The threads take no signals.
 * If the system gives no more threads, in a forked child and on Windows, the calling thread does what is left. */
void wb_together(int32_t pieces, wb_piece *work, void *context);
