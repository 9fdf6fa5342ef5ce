/* How many threads are worth starting while other programs keep some of the machine's cores busy: OpenMP's threads wait
 * for each other by spinning, so that two threads on two busy cores took ten times as long as one. */
#pragma once

/* The smaller of `wanted` and the number of cores that other programs left idle in the last tenths of a second; at
 * least 1. `wanted` if the system does not tell, or if WARPBAYES_FIXED_THREADS is set. Main thread only. */
int wb_idle_threads(int wanted);
