/* Whether the package's compiled code may leave the process. */
#pragma once

/* wb_unload_forbid(): from now on the code must stay, for the reason `why`, such as "another package uses it".
 * wb_unload_obstacle(): the reason, or NULL if the code may go. Then OpenMP's run time, whose idle threads sleep in it,
 * stays in the process without this package. */
void wb_unload_forbid(const char *why);
const char *wb_unload_obstacle(void);
