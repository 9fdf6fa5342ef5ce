/* Measurements and ways of drawing that only bench/ and tests/ use, so that the package has none of it. build.sh
 * makes two libraries of this folder: measure.so has the entries for R (measure.c) and what runs on the processor,
 * measure_cuda.so what runs on a graphics card or on the emulator. R hands the address of a function of the second
 * to an entry of the first.
 *
 * Functions return a wb_status and on failure write one sentence into the message. *seconds is the time of the
 * kernels alone, without copies: the shortest of `times` runs.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "backend/backend.h"

#define MEASURE_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* How rows that lie one after the other in memory are drawn from by trees. The item does not depend on it. */
typedef enum measure_way {
  MEASURE_BUTTERFLY = 0,     /* partial sums travel between the lanes of a warp */
  MEASURE_TRANSPOSITION = 1, /* weights do */
  MEASURE_NAIVE = 2          /* each lane reads its own row */
} measure_way;

/* Bytes per second that a run reads from memory. */
typedef int measure_read_rate(const wb_run *run, double *rate, wb_message *message);

/* Draw 0 of every row, `option` being the lanes of a warp for each row (0: as the package chooses, else 1, 4 or 32), or
 * of rows whose columns lie side by side by trees, `option` being a measure_way. */
typedef int measure_categorical(const wb_categorical_rows *rows, const wb_categorical_draws *draws, int32_t option,
                                int32_t times, double *seconds, const wb_run *run, wb_message *message);

/* Draws of PG(*shape, *tilt), which stay on the device. */
typedef int measure_polyagamma(int64_t count, double shape, double tilt, int32_t times, double *seconds,
                               const wb_run *run, wb_message *message);

/* Pairs of n weights each, convolved by the kernel for tiles or, with skew not 0, by the one for small pairs. */
typedef int measure_convolution(int64_t pairs, int64_t n, int32_t skew, int32_t times, double *seconds,
                                const wb_run *run, wb_message *message);

int measure_cpu_read_rate(const wb_run *run, double *rate, wb_message *message);

#ifdef __cplusplus
}
#endif
#endif
