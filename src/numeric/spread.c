/* Runs independent pieces of work on OpenMP's threads. */
#include "core/rounding.h"

#include "numeric/spread.h"

#include "numeric/pages.h"

void wb_spread(int32_t threads, int64_t pieces, wb_piece *work, void *context) {
  if (threads < 2 || pieces < 2) {
    for (int64_t i = 0; i < pieces; i++) work(context, i);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t i = 0; i < pieces; i++) work(context, i);
}

void wb_on_threads(int32_t threads, void (*work)(void *context), void *context) {
  if (threads < 2) {
    work(context);
    return;
  }
#pragma omp parallel num_threads(threads)
  work(context);
}

static void touch(void *memory, int64_t page) {
  wb_touch_page(memory, page);
}

void wb_touch_pages(void *memory, size_t bytes, int32_t threads) {
  const int64_t pages = wb_pages_of(memory, bytes);
  if (threads > 1 && pages > 1) wb_spread(threads, pages, touch, memory);
}
