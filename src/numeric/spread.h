/* Runs independent pieces of work on several threads. */
#pragma once

#include <stddef.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/types.h"

/* Calls work(context, i) for i < pieces on `threads` threads, which take them one by one; returns when all are done. */
void wb_spread(int32_t threads, int64_t pieces, wb_piece *work, void *context);

/* Calls work(context) once on each of `threads` threads, and returns when all have. They take pieces with wb_take(). */
void wb_on_threads(int32_t threads, void (*work)(void *context), void *context);

/* A piece of work, with working memory of the thread that does it. */
typedef void wb_memory_piece(void *context, int64_t piece, void *memory);

/* Like wb_spread(), but each thread has its own `memory`: `bytes` at a multiple of 64, not cleared between its pieces.
 * While other programs keep cores busy, fewer threads work (numeric/idle.h). Threads for which memory suffices do all
 * the work. Returns 0, with no piece done, if there are none. */
int wb_spread_with_memory(int32_t threads, int64_t pieces, size_t bytes, wb_memory_piece *work, void *context);

/* The next piece of work, from *next on, that no thread has taken. An `omp for` would allocate memory. */
static inline int64_t wb_take(int64_t *next) {
  int64_t taken;
#pragma omp atomic capture
  taken = (*next)++;
  return taken;
}

/* The calling thread's number in a team of `threads`; 0 for one thread, which may be in another team. */
static inline int wb_thread_of(int threads) {
#ifdef _OPENMP
  if (threads > 1) return omp_get_thread_num();
#endif
  (void)threads;
  return 0;
}

/* Has new memory cleared by several threads, each its own pages. What was in the memory is lost. */
void wb_touch_pages(void *memory, size_t bytes, int32_t threads);
