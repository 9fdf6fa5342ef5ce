/* What may happen to the process with the package's compiled code in it. */
#pragma once

/* wb_unload_forbid(): from now on the code must stay, for the reason `why`, such as "another package uses it".
 * wb_unload_obstacle(): the reason, or NULL if the code may go. Then OpenMP's run time, in which idle threads sleep,
 * stays in the process. */
void wb_unload_forbid(const char *why);
const char *wb_unload_obstacle(void);

/* wb_forked(): whether this is a child of the process that called wb_fork_watch(), without its OpenMP threads. */
void wb_fork_watch(void);
int wb_forked(void);
