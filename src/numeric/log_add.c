/* Adds and compares numbers whose logarithms are given. */
#include "core/rounding.h"

#include "numeric/log_add.h"

#include "core/elementary.h"

#define WB_LOOPS "numeric/log_add_loops.h"
#include "numeric/isa.h"

void wb_log_add_to(wb_isa isa, int64_t count, const double *b, const double *unit, int64_t step, double *sum) {
  WB_LOOP(log_add_to, isa)(count, b, unit, step, sum);
}

/* The numbers of so many places stay in the cache between the two passes over them. */
#define LARGEST_TOGETHER 256

void wb_log_largest(wb_isa isa, int64_t first, int64_t count, int32_t numbers, const double *const *log_number,
                    int32_t *largest, double *share) {
  double top[LARGEST_TOGETHER];
  const int64_t end = first + count;
  for (int64_t at = first; at < end; at += LARGEST_TOGETHER) {
    const int together = end - at < LARGEST_TOGETHER ? (int)(end - at) : LARGEST_TOGETHER;
    for (int l = 0; l < together; l++) {
      largest[at + l] = 0;
      top[l] = log_number[0][at + l];
      share[at + l] = 0;
    }
    for (int32_t i = 1; i < numbers; i++)
      WB_LOOP(log_raise_top, isa)(together, log_number[i] + at, i, largest + at, top);
    for (int32_t i = 0; i < numbers; i++) WB_LOOP(log_add_weight, isa)(together, log_number[i] + at, top, share + at);
    /* Of numbers that are all 0, none has a share. */
    for (int l = 0; l < together; l++) share[at + l] = share[at + l] > 0 ? 1 / share[at + l] : wb_nan();
  }
}
