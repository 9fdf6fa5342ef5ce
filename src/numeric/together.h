/* Runs long pieces of work at the same time, each of which may use several threads of its own. */
#pragma once

#include "backend/types.h"

/* Calls work(context, i) for every i < pieces, each on a thread of its own that takes no signals, and returns when all
 * are done. If the system gives no more threads, and on Windows, the calling thread does what is left. */
void wb_together(int32_t pieces, wb_piece *work, void *context);
