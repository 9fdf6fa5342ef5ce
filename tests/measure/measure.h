/* Measurements, and ways of drawing, that only bench/ and tests/ use and that are not in the package. build.sh makes
 * two libraries of this folder. measure.so has the entries for R (measure.c) and the code for the processor.
 * measure_cuda.so has the code for a graphics card or the emulator. R passes the address of a function of
 * measure_cuda.so to an entry of measure.so.
 *
 * Functions return a wb_status. On failure they write one sentence into the message. *seconds is the shortest time of
 * the kernels over `times` runs, without copies.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "backend/backend.h"

#define MEASURE_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* How draws by trees read rows that lie one after the other in memory. The item does not depend on it. */
typedef enum measure_way {
  MEASURE_BUTTERFLY = 0,     /* partial sums travel between the lanes of a warp */
  MEASURE_TRANSPOSITION = 1, /* weights travel between the lanes */
  MEASURE_NAIVE = 2          /* each lane reads its own row */
} measure_way;

/* *rate is the bytes per second that a run reads from memory. */
typedef int measure_read_rate(const wb_run *run, double *rate, wb_message *message);

/* *rate is the fused multiply-adds per second of a run's threads or its card: the best of three times 50 ms. */
typedef int measure_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

/* Bytes per second between page-locked memory and the device: the best of three copies, one way at a time. */
typedef int measure_bus_rate(const wb_run *run, double *to_device, double *from_device, wb_message *message);

/* Makes draw 0 of every row. In measure_cuda.so, one function draws in one pass: its `option` is the number of lanes of
 * a warp for each row (1, 4 or 32; 0: as the package chooses). The other function draws by trees from rows whose
 * columns lie side by side: its `option` is a measure_way. */
typedef int measure_categorical(const wb_categorical_rows *rows, const wb_categorical_draws *draws, int32_t option,
                                int32_t times, double *seconds, const wb_run *run, wb_message *message);

/* Makes `count` draws of PG(shape, tilt), which stay on the device. */
typedef int measure_polyagamma(int64_t count, double shape, double tilt, int32_t times, double *seconds,
                               const wb_run *run, wb_message *message);

/* Convolves pairs of n weights each, by the kernel for tiles or, if skew is not 0, by the kernel for small pairs. */
typedef int measure_convolution(int64_t pairs, int64_t n, int32_t skew, int32_t times, double *seconds,
                                const wb_run *run, wb_message *message);

int measure_cpu_read_rate(const wb_run *run, double *rate, wb_message *message);
int measure_cpu_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

#ifdef __cplusplus
}
#endif
#endif
