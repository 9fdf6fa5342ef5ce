/* Polls for an interrupt now and then during long work, on the calling thread, never inside a parallel region. */
#pragma once

#include "backend/types.h"

/* Nanoseconds of work between polls; a poll takes about a microsecond. */
#define WB_POLL_EVERY 2e7

/* Reports that about this many nanoseconds of work have been done. Nonzero: stop with WB_INTERRUPTED. */
static inline int wb_poll_after(wb_poll *poll, double nanoseconds) {
  poll->work += nanoseconds;
  if (poll->work < WB_POLL_EVERY || !poll->interrupted) return 0;
  poll->work = 0;
  return poll->interrupted();
}
