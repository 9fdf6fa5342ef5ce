/* Runs independent pieces of work on OpenMP's threads. */
#include "core/rounding.h"

#include "numeric/spread.h"

void wb_spread(int32_t threads, int64_t pieces, wb_piece *work, void *context) {
  (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1 && pieces > 1)
  for (int64_t i = 0; i < pieces; i++) work(context, i);
}
