/* A chain while it sweeps, with its working memory. */
#pragma once

#include "regression/dual_draw.h"
#include "regression/regression.h"

typedef struct wb_regression_sweeper {
  wb_regression_chain chain; /* with a pointer to `system`: a sweeper is not copied */
  wb_regression_dual system;
  double *memory, *room, *level_room, *more;
} wb_regression_sweeper;

/* Close it whatever open() returned. */
int wb_regression_sweeper_open(const wb_regression_chain *chain, wb_regression_sweeper *sweeper);
void wb_regression_sweeper_close(wb_regression_sweeper *sweeper);

/* One sweep. On return the state holds the statistics for the next sweep, unless that begins with a pass that draws. No
 * log likelihood where complete() changes the rows (backend/regression_table.h). */
int wb_regression_sweep(const wb_regression_sweeper *sweeper, uint32_t iteration, double *log_likelihood);

/* Writes the state after the sweep with this index into the traces. */
void wb_regression_note(const wb_regression_sweeps *sweeps, const wb_regression_chain *chain, int32_t sweep,
                        double log_likelihood);
