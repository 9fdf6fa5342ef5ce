/* The number of tables in a Chinese restaurant process (Antoniak 1974, "Mixtures of Dirichlet processes", Annals of
 * Statistics 2, 1152-1174): customer i, from 1, opens a table independently with probability c/(c + i - 1). */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

/* `customers` is an integer; concentration > 0. Candidates come with the probability of the customer before them, and
 * are kept with the ratio of their own to it: about c log(1 + customers/c) uniforms. */
WB_HD double wb_draw_tables(wb_stream *stream, double concentration, double customers) {
  double tables = customers > 0.0 ? 1.0 : 0.0, next = 2.0;
  while (next <= customers) {
    double bound = concentration + next - 1.0;
    double log_pass = wb_log1p(-concentration / bound);
    double steps = wb_log(wb_stream_uniform(stream)) / log_pass;
    if (!(steps < customers)) break; /* also if log_pass is 0 */
    double customer = next + (double)(int64_t)steps;
    if (customer > customers) break;
    if (wb_stream_uniform(stream) * (concentration + customer - 1.0) < bound) tables += 1.0;
    next = customer + 1.0;
  }
  return tables;
}
