/* Measures the bytes per second that a processor's threads read from memory. Benchmarks of computations that read much
 * and compute little are compared with this rate. */
#include "core/rounding.h"

#include "measure.h"

#include <time.h>

#include "numeric/memory.h"

#define WB_LOOPS "read_loops.h"
#include "numeric/isa.h"

/* READ_DOUBLES is more than any cache holds. Threads take pieces of READ_PIECE one after the other. */
#define READ_DOUBLES ((int64_t)1 << 26)
#define READ_PIECE ((int64_t)1 << 17)
#define READ_REPEATS 3

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int measure_cpu_read_rate(const wb_run *run, double *rate, wb_message *message) {
  const size_t bytes = (size_t)READ_DOUBLES * sizeof(double);
  double *const values = wb_aligned_malloc(bytes);
  if (!values) return wb_out_of_memory(message, "measuring how fast it is read", bytes);
#pragma omp parallel for num_threads(run->threads)
  for (int64_t i = 0; i < READ_DOUBLES; i++) values[i] = 1;
  *rate = 0;
  for (int repeat = 0; repeat < READ_REPEATS; repeat++) {
    double sum = 0;
    const double start = seconds();
#pragma omp parallel for num_threads(run->threads) reduction(+ : sum)
    for (int64_t at = 0; at < READ_DOUBLES; at += READ_PIECE)
      sum += WB_LOOP(read_sum, run->isa)(values + at, READ_PIECE);
    const double elapsed = seconds() - start;
    /* The sum is positive. The compiler does not know this, so it must compute the sum. */
    if (sum > 0 && (double)bytes > *rate * elapsed) *rate = (double)bytes / elapsed;
  }
  wb_aligned_free(values);
  return WB_OK;
}
