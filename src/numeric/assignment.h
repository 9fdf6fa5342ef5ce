/* The assignment problem: n agents get one task each so that the sum of costs is least. */
#ifndef WB_ASSIGNMENT_H
#define WB_ASSIGNMENT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of `memory` that wb_assignment_solve() needs. */
size_t wb_assignment_memory(int32_t n);

/* cost: n x n finite numbers, the tasks of an agent one after another. Writes the task
 * of each agent into `task`. The least sum is exact where sums and differences of the
 * costs are, as those of counts. Of several best assignments the result is always the same
 * one; an agent prefers the task of its own number. O(n^3) steps at most. */
void wb_assignment_solve(int32_t n, const double *cost, int32_t *task, void *memory);

#endif
