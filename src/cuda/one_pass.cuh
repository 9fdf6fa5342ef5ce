/* The draw in a single pass of core/block_draw.h, and the evaluation of all weights in the same order, for the R rows
 * of a thread, for mixtures and categorical draws. */
#pragma once

#include "core/block_draw.h"
#include "core/unroll.h"
#include "cuda/device.cuh"
#include "cuda/real.cuh"

namespace wb {

template <typename Real, int R, typename Log = Real>
struct one_pass {
  typedef precise<Real> as;
  Log largest[R];    /* log weight */
  Real total[R];     /* the sum of all weights divided by the largest */
  int32_t chosen[R]; /* an item */

  __device__ __forceinline__ explicit one_pass(int32_t none) {
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      largest[v] = precise<Log>::nothing;
      total[v] = 0;
      chosen[v] = none;
    }
  }

  /* Before the weights of a block whose largest log weight is `top` are added. */
  __device__ __forceinline__ void rescale(int v, Log top) {
    const Log new_largest = top > largest[v] ? top : largest[v];
    total[v] *= as::exp_weight(Real(largest[v] - new_largest));
    largest[v] = new_largest;
  }

  /* Where the draw falls in a block whose weights have this sum, which is added: see wb_block_position(). */
  __device__ __forceinline__ Real add(int v, Real u, Real sum) {
    const Real position = as::position(u, total[v], sum);
    total[v] += sum;
    return position;
  }
};

/* The prefix sums, in order, of a block of `count` items: to(j, v) from weight(j, v). The weights of AT_ONCE items are
 * asked for before they are added. The loop is unrolled TURNS times. *sum: the sum of the block. */
template <int AT_ONCE, int TURNS, typename Real, int R, typename Weight, typename To>
__device__ __forceinline__ void add_block(int count, Real (&sum)[R], Weight weight, To to) {
  WB_UNROLL
  for (int v = 0; v < R; v++) sum[v] = 0;
  WB_UNROLL_BY(TURNS)
  for (int j = 0; j < count; j += AT_ONCE) {
    Real next[AT_ONCE][R];
    WB_UNROLL
    for (int u = 0; u < AT_ONCE; u++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) next[u][v] = weight(j + u, v);
    }
    WB_UNROLL
    for (int u = 0; u < AT_ONCE; u++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        if (AT_ONCE == 1 || j + u < count) sum[v] += next[u][v];
        to(j + u, v) = sum[v];
      }
    }
  }
}

/* Draws one of `items` items for each row. weigh(base, count, top) puts log weights of items base..base + count - 1 in
 * the place of weights.weight(j, v), where all WB_BLOCK_ITEMS can be read, and their largest into top[v].
 * After uniforms.take(block), uniforms(v) is the block's uniform for row v. */
template <typename Real, int R, typename Weights, typename Weigh, typename Uniforms>
__device__ __forceinline__ void draw_in_one_pass(one_pass<Real, R> &seen, Weights &weights, int items, Weigh weigh,
                                                 Uniforms &uniforms) {
  typedef precise<Real> as;
  WB_ROLLED
  for (int base = 0; base < items; base += WB_BLOCK_ITEMS) {
    const int count = items - base < WB_BLOCK_ITEMS ? items - base : WB_BLOCK_ITEMS;
    Real top[R] = {};
    weigh(base, count, top);
    bool matters = false;
    WB_UNROLL
    for (int v = 0; v < R; v++) matters |= top[v] > seen.largest[v] - as::negligible;
    if (!matters) continue;
    WB_UNROLL
    for (int v = 0; v < R; v++) seen.rescale(v, top[v]);
    Real sum[R];
    add_block<Weights::AT_ONCE, 1>(
        count, sum, [&](int j, int v) { return as::exp_weight(weights.weight(j, v) - seen.largest[v]); },
        [&](int j, int v) -> Real & { return weights.weight(j, v); });
    uniforms.take(base / WB_BLOCK_ITEMS);
    Real position[R];
    bool takes_over = false;
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      position[v] = seen.add(v, uniforms(v), sum[v]);
      takes_over |= position[v] >= 0;
    }
    if (!takes_over) continue;
    int32_t inside[R] = {}; /* how many sums do not exceed the position, by bisection for all rows at once */
    WB_UNROLL
    for (int step = WB_BLOCK_ITEMS / 2; step > 0; step /= 2) {
      WB_UNROLL
      for (int v = 0; v < R; v++)
        if (inside[v] + step <= count && weights.weight(inside[v] + step - 1, v) <= position[v]) inside[v] += step;
    }
    WB_UNROLL
    for (int v = 0; v < R; v++) seen.chosen[v] = position[v] >= 0 ? base + inside[v] : seen.chosen[v];
  }
}

/* Chooses the item of the largest weight for each row, the first of equals, and sums the weights. weigh(base, count,
 * top, best) is as above, with the item of the largest; see(item, v, log_weight) is told each log weight. */
template <typename Real, int R, typename Weights, typename Weigh, typename See>
__device__ __forceinline__ void evaluate_in_one_pass(one_pass<Real, R> &seen, Weights &weights, int items, Weigh weigh,
                                                     See see) {
  WB_ROLLED
  for (int base = 0; base < items; base += WB_BLOCK_ITEMS) {
    const int count = items - base < WB_BLOCK_ITEMS ? items - base : WB_BLOCK_ITEMS;
    Real top[R] = {};
    int32_t best[R] = {};
    weigh(base, count, top, best);
    Real sum[R];
    WB_UNROLL
    for (int v = 0; v < R; v++) {
      seen.chosen[v] = top[v] > seen.largest[v] ? best[v] : seen.chosen[v];
      seen.rescale(v, top[v]);
      sum[v] = 0;
    }
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      WB_UNROLL
      for (int v = 0; v < R; v++) {
        const Real log_weight = weights.weight(j, v);
        see(base + j, v, log_weight);
        sum[v] += precise<Real>::exp_weight(log_weight - seen.largest[v]);
      }
    }
    WB_UNROLL
    for (int v = 0; v < R; v++) seen.total[v] += sum[v];
  }
}

/* Draw 0 of rows first_row, ... from weights on the device, column by column: -1 for a row that has none. It is in
 * cuda/categorical/items.cu. */
int draw_by_weights(cudaStream_t stream, const double *weights, int64_t rows, int64_t columns, uint64_t key,
                    uint64_t first_row, int32_t *index, wb_message *message);

} // namespace wb
