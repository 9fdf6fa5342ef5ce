/* Runs independent pieces of work on OpenMP's threads. */
#include "core/rounding.h"

#include "numeric/spread.h"

#include "numeric/idle.h"
#include "numeric/memory.h"
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

typedef struct memory_pass {
  wb_memory_piece *work;
  void *context;
  size_t bytes;
  int64_t next, pieces;
  int served; /* whether a thread had memory */
} memory_pass;

static void work_in_memory(void *context) {
  memory_pass *const pass = context;
  void *const memory = wb_aligned_malloc(pass->bytes);
  if (!memory) return;
#pragma omp atomic write
  pass->served = 1;
  for (int64_t i; (i = wb_take(&pass->next)) < pass->pieces;) pass->work(pass->context, i, memory);
  wb_aligned_free(memory);
}

int wb_spread_with_memory(int32_t threads, int64_t pieces, size_t bytes, wb_memory_piece *work, void *context) {
  if (pieces < 1) return 1;
  const int32_t most = pieces < threads ? (int32_t)pieces : threads;
  memory_pass pass = {work, context, bytes, 0, pieces, 0};
  wb_on_threads(most > 1 ? wb_idle_threads(most) : 1, work_in_memory, &pass);
  return pass.served;
}

static void touch(void *memory, int64_t page) { wb_touch_page(memory, page); }

void wb_touch_pages(void *memory, size_t bytes, int32_t threads) {
  const int64_t pages = wb_pages_of(memory, bytes);
  if (threads > 1 && pages > 1) wb_spread(threads, pages, touch, memory);
}
