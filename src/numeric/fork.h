/* Whether this process is a forked child. The OpenMP threads of its parent do not exist there: it gets one thread. */
#pragma once

/* wb_forked(): whether this process was forked from one that had loaded the package. wb_fork_watch() is called when the
 * package is loaded, so that wb_forked() can tell. */
void wb_fork_watch(void);
int wb_forked(void);
