/* Looks for an interrupt now and then in the course of long work, on the thread that
 * called, never within a parallel region. */
#ifndef WB_POLL_H
#define WB_POLL_H

#include "backend/types.h"

/* To ask takes about a microsecond. */
#define WB_POLL_EVERY 2e7

/* Says that work of about so many nanoseconds has been done. Nonzero: stop, with WB_INTERRUPTED. */
static inline int wb_poll_after(wb_poll *poll, double nanoseconds) {
  poll->work += nanoseconds;
  if (poll->work < WB_POLL_EVERY || !poll->interrupted) return 0;
  poll->work = 0;
  return poll->interrupted();
}

#endif
