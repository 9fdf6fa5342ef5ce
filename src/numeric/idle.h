/* How many threads are worth starting while other programs keep cores busy: OpenMP's threads wait by spinning. */
#pragma once

/* The smaller of `wanted` and the number of cores that other programs left idle in the last tenths of a second; at
 * least 1. `wanted` if the system does not tell, or if WARPBAYES_FIXED_THREADS is set. Main thread only. */
int wb_idle_threads(int wanted);
