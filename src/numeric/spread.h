/* Runs independent pieces of work on several threads. */
#ifndef WB_SPREAD_H
#define WB_SPREAD_H

#include "backend/types.h"

/* Calls work(context, i) for every i < pieces on `threads` threads, and returns when all pieces are done. A thread
 * takes the next piece when it has finished one. */
void wb_spread(int32_t threads, int64_t pieces, wb_piece *work, void *context);

#endif
