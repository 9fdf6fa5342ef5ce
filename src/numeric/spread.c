/* Runs independent pieces of work on OpenMP's threads. */
#include "core/rounding.h"

#include "numeric/spread.h"

void wb_spread(int32_t threads, int64_t pieces, wb_piece *work, void *context) {
  /* The barrier of a parallel region is a system call even if there is one thread. */
  if (threads < 2 || pieces < 2) {
    for (int64_t i = 0; i < pieces; i++) work(context, i);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t i = 0; i < pieces; i++) work(context, i);
}
