/* The assignment problem: gives each of n agents one task so that the sum of costs is least. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of `memory` that wb_assignment_solve() needs. */
size_t wb_assignment_memory(int32_t n);

/* cost: n x n finite numbers, the tasks of an agent one after another. Writes the task of each agent into `task`. The
 * least sum is exact if sums and differences of costs are exact, as for counts. Among several optimal assignments the
 * choice is deterministic and prefers the task of the agent's own number. Takes at most O(n^3) steps. */
void wb_assignment_solve(int32_t n, const double *cost, int32_t *task, void *memory);
