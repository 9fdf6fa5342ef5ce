/* The processor's fused multiply-adds per second. Benchmarks say how near to this limit a computation comes. */
#include "core/rounding.h"

#include "measure.h"

#ifdef _OPENMP
#include <omp.h>
#else
#include <time.h>
#endif

#define REAL_LOOPS "multiply_add_loops.h"
#define WB_LOOPS "cpu/both_precisions.h"
#include "numeric/isa.h"

typedef double timed_loop(int64_t rounds, int *count);

/* Seconds of a measurement (enough for the clock, and for the sustained speed), and number of measurements. */
#define MULTIPLY_ADD_SECONDS 0.05
#define MULTIPLY_ADD_REPEATS 3

/* Without OpenMP there is one thread, so processor time will do. */
static double seconds(void) {
#ifdef _OPENMP
  return omp_get_wtime();
#else
  return (double)clock() / (double)CLOCKS_PER_SEC;
#endif
}

/* Multiply-adds of all threads together, and the seconds they took. */
static double measure(timed_loop *loop, int threads, int64_t rounds, double *elapsed) {
  double done = 0, sums = 0;
  const double start = seconds();
#pragma omp parallel num_threads(threads) reduction(+ : done, sums)
  {
    int count;
    sums += loop(rounds, &count);
    done += (double)count * (double)rounds;
  }
  *elapsed = seconds() - start;
  /* Every x tends to 1, so the sum is positive. The compiler does not know that and must keep the loop. */
  return sums > 0 ? done : 0;
}

int measure_cpu_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message) {
  timed_loop *const loop =
      precision == WB_SINGLE ? WB_LOOP(multiply_add_single, run->isa) : WB_LOOP(multiply_add_double, run->isa);
  int64_t rounds = 1024;
  double elapsed;
  (void)message;
  while (measure(loop, run->threads, rounds, &elapsed), elapsed < MULTIPLY_ADD_SECONDS) rounds *= 2;
  *rate = 0;
  for (int i = 0; i < MULTIPLY_ADD_REPEATS; i++) {
    const double done = measure(loop, run->threads, rounds, &elapsed);
    if (done > *rate * elapsed) *rate = done / elapsed;
  }
  return WB_OK;
}
