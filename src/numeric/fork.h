/* Whether this process is a forked child. The OpenMP threads of its parent do not exist there: it gets one thread. */
#pragma once

/* wb_forked(): whether this process was forked after the package was loaded, where wb_fork_watch() is called. */
void wb_fork_watch(void);
int wb_forked(void);
