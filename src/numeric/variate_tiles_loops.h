/* Uniform, normal, exponential, Gumbel and gamma draws of consecutive elements, for each instruction set (isa.h). */

#include "numeric/philox_loops.h"

/* Laws that take one word for each element. A tile at a time; the last one is cut. */
static void WB_NAME(variates)(uint64_t key, wb_purpose purpose, uint32_t iteration, uint64_t first, int64_t count,
                              double *draws) {
  _Alignas(64) uint64_t one[WB_PHILOX_TILE], two[WB_PHILOX_TILE];
  _Alignas(64) double tile[WB_PHILOX_TILE];
  for (int64_t at = 0; at < count; at += WB_PHILOX_TILE) {
    WB_NAME(philox_series)(key, purpose, iteration, first + (uint64_t)at, one, two);
    if (purpose == WB_PURPOSE_NORMAL) {
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) tile[i] = wb_normal_quantile_within(wb_uniform(one[i]));
    } else if (purpose == WB_PURPOSE_UNIFORM) {
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) tile[i] = wb_uniform(one[i]);
    } else {
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) tile[i] = -wb_log(wb_uniform(one[i]));
    }
    if (purpose == WB_PURPOSE_GUMBEL) {
      WB_VECTOR_LOOP
      for (int i = 0; i < WB_PHILOX_TILE; i++) tile[i] = -wb_log(tile[i]);
    }
    const int64_t left = count - at;
    memcpy(draws + at, tile, (size_t)(left < WB_PHILOX_TILE ? left : WB_PHILOX_TILE) * sizeof(double));
  }
}

/* The first trial of WB_PHILOX_TILE gamma draws of shapes from 1 on; -1 where the quick test does not accept it. */
static void WB_NAME(variates_gamma)(uint64_t key, uint32_t iteration, uint64_t first, const double *restrict shape,
                                    double *restrict draws) {
  _Alignas(64) uint64_t one[WB_PHILOX_TILE], two[WB_PHILOX_TILE];
  WB_NAME(philox_series)(key, WB_PURPOSE_GAMMA, iteration, first, one, two);
  WB_VECTOR_LOOP
  for (int i = 0; i < WB_PHILOX_TILE; i++) {
    const double d = shape[i] - 0.3333333333333333, scale = 1.0 / wb_sqrt(9.0 * d);
    const double normal = wb_normal_quantile_within(wb_uniform(one[i]));
    double t;
    const double x = wb_gamma_large_propose(d, scale, normal, &t);
    draws[i] = wb_select(wb_gamma_large_quick(normal, t, wb_uniform(two[i])), x, -1.0);
  }
}
