/* Draws for the 32 rows of a warp whose weights lie across its lanes. It has the butterfly-patterned partial sums of
 * Steele & Tristan (2017, "Using butterfly-patterned partial sums to draw from discrete distributions", PPoPP), and the
 * two ways with which they are compared. All ways draw by trees as tree_draw.h says, and so draw the same items.
 *
 * A lane owns a row, but memory is read fast if the lanes read neighbouring columns of one row. So a block of 32 x 32
 * weights is read with lane l holding column l of every row, and each lane needs values of its own row from the others.
 * Moving the weights takes 80 shuffles, moving partial sums 31.
 *
 * Unlike algorithms 7 to 10 of the source, this keeps only one sum for each 32nd part of a row. The block that has the
 * draw is formed a second time, and its table lives in registers. The number of columns is arbitrary. All 32 lanes must
 * call this together; a lane without a row of its own takes a copy of another's.
 */
#ifndef WB_MEASURE_BUTTERFLY_CUH
#define WB_MEASURE_BUTTERFLY_CUH

#include <cuda_runtime.h>

#include "core/unroll.h"
#include "tree_draw.h"

namespace trees {

constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ double target_of(double u, double total) { return wb_target(u, total); }
__device__ __forceinline__ float target_of(float u, float total) { return wb_targetf(u, total); }

/* Before: lane l has column l of row r in a[r]. After: let X_v^w be the sum of columns v..w of row X. Then a[i] of lane
 * j is X_v^w with m = i ^ (i + 1), k = m / 2, X = (i & ~m) + (j & m), v = j & ~m, w = v + k, which is a left half of a
 * node of X's tree. And a[31] of lane j is the sum of row j.
 *
 * This is the first of the source's two versions, in which all lanes keep left halves. The second saves 31 selections.
 * But there a lane's number decides whether it keeps left or right halves, and so whether it searches by additions or
 * by subtractions: a draw would depend on its lane. 31 shuffles and additions, 93 selections. */
template <typename Real>
__device__ __forceinline__ void butterfly_table(Real (&a)[WB_TREE], int lane) {
  WB_UNROLL
  for (int half = 1; half < WB_TREE; half *= 2) {
    const bool right = (lane & half) != 0;
    WB_UNROLL
    for (int i = half - 1; i + half < WB_TREE; i += 2 * half) {
      const Real sent = right ? a[i] : a[i + half];
      const Real came = __shfl_xor_sync(all_lanes, sent, half);
      const Real kept = right ? a[i + half] : a[i];
      a[i] = right ? came : kept;
      a[i + half] = kept + came;
    }
  }
}

/* The sum of the lane's own row: the last entry of butterfly_table(), without the other entries. */
template <typename Real>
__device__ __forceinline__ Real butterfly_sum(Real (&a)[WB_TREE], int lane) {
  WB_UNROLL
  for (int half = 1; half < WB_TREE; half *= 2) {
    const bool right = (lane & half) != 0;
    WB_UNROLL
    for (int i = 0; i + half < WB_TREE; i += 2 * half) {
      const Real sent = right ? a[i] : a[i + half];
      const Real kept = right ? a[i + half] : a[i];
      a[i] = kept + __shfl_xor_sync(all_lanes, sent, half);
    }
  }
  return a[0];
}

/* wb_tree_find() in the table: each lane searches its own row. The entry that it needs is in register
 * (lane & ~m) + half - 1 of lane (item & ~m) + (lane & m), with m = 2 half - 1. The registers of a level take turns:
 * 31 shuffles in all. */
template <typename Real>
__device__ __forceinline__ int butterfly_find(const Real (&table)[WB_TREE], int lane, Real position) {
  int item = 0;
  WB_UNROLL
  for (int half = WB_TREE / 2; half > 0; half /= 2) {
    const int m = 2 * half - 1, holder = (item & ~m) + (lane & m);
    Real left = 0;
    WB_UNROLL
    for (int i = half - 1; i < WB_TREE - half; i += 2 * half) {
      const Real came = __shfl_sync(all_lanes, table[i], holder);
      if ((lane & ~m) == i - (half - 1)) left = came;
    }
    if (!(position < left)) {
      position -= left;
      item += half;
    }
  }
  return item;
}

/* Before: lane l has column l of row r in a[r]. After: it has column c of row l in a[c]. 80 shuffles (the source's
 * figure 2). */
template <typename Real>
__device__ __forceinline__ void warp_transpose(Real (&a)[WB_TREE], int lane) {
  WB_UNROLL
  for (int half = 1; half < WB_TREE; half *= 2) {
    const bool right = (lane & half) != 0;
    WB_UNROLL
    for (int i = 0; i < WB_TREE; i++) {
      if (i & half) continue;
      const Real sent = right ? a[i] : a[i + half];
      const Real came = __shfl_xor_sync(all_lanes, sent, half);
      if (right) {
        a[i] = came;
      } else {
        a[i + half] = came;
      }
    }
  }
}

/* wb_tree_sums() and wb_tree_find() on a lane's registers. An index known only at run time would send the array to
 * memory, so the half that is entered is copied. */
template <typename Real>
__device__ __forceinline__ void lane_tree_sums(Real (&a)[WB_TREE]) {
  WB_UNROLL
  for (int half = 1; half < WB_TREE; half *= 2) {
    WB_UNROLL
    for (int i = half - 1; i + half < WB_TREE; i += 2 * half) a[i + half] += a[i];
  }
}
template <typename Real>
__device__ __forceinline__ int lane_tree_find(const Real (&)[1], Real) {
  return 0;
}
template <typename Real, int N>
__device__ __forceinline__ int lane_tree_find(const Real (&sums)[N], Real position) {
  constexpr int half = N / 2;
  const Real left = sums[half - 1];
  const bool right = !(position < left);
  Real entered[half];
  WB_UNROLL
  for (int i = 0; i < half; i++) entered[i] = right ? sums[i + half] : sums[i];
  return (right ? half : 0) + lane_tree_find(entered, right ? position - left : position);
}

/* The three ways. Each has sum(), the sum of a lane's row over a block of columns; table(), whose last entry is that
 * sum; and find(), which finds an item in the table. sum() takes the same block in all lanes, table() a block of each
 * lane's own. `weights(s, column)` is the weight of `column` in the row of lane s, 0 past the last column. All lanes
 * call it together, with the same s unless the way is by_itself. */
struct by_butterfly {
  template <typename Real, typename Weights>
  static __device__ __forceinline__ void read(const Weights &weights, int base, bool same, int lane,
                                              Real (&a)[WB_TREE]) {
    WB_UNROLL
    for (int s = 0; s < WB_TREE; s++) a[s] = weights(s, (same ? base : __shfl_sync(all_lanes, base, s)) + lane);
  }
  template <typename Real, typename Weights>
  static __device__ __forceinline__ Real sum(const Weights &weights, int base, int lane) {
    Real a[WB_TREE];
    read(weights, base, true, lane, a);
    return butterfly_sum(a, lane);
  }
  template <typename Real, typename Weights>
  static __device__ __forceinline__ void table(const Weights &weights, int base, int lane, Real (&a)[WB_TREE]) {
    read(weights, base, false, lane, a);
    butterfly_table(a, lane);
  }
  template <typename Real>
  static __device__ __forceinline__ int find(const Real (&table)[WB_TREE], int lane, Real position) {
    return butterfly_find(table, lane, position);
  }
};

struct by_transposition {
  template <typename Real, typename Weights>
  static __device__ __forceinline__ Real sum(const Weights &weights, int base, int lane) {
    Real a[WB_TREE];
    by_butterfly::read(weights, base, true, lane, a);
    warp_transpose(a, lane);
    lane_tree_sums(a);
    return a[WB_TREE - 1];
  }
  template <typename Real, typename Weights>
  static __device__ __forceinline__ void table(const Weights &weights, int base, int lane, Real (&a)[WB_TREE]) {
    by_butterfly::read(weights, base, false, lane, a);
    warp_transpose(a, lane);
    lane_tree_sums(a);
  }
  template <typename Real>
  static __device__ __forceinline__ int find(const Real (&table)[WB_TREE], int, Real position) {
    return lane_tree_find(table, position);
  }
};

/* Each lane reads its own row, so the addresses of a warp lie a row apart. */
struct by_itself {
  template <typename Real, typename Weights>
  static __device__ __forceinline__ Real sum(const Weights &weights, int base, int lane) {
    Real a[WB_TREE];
    table(weights, base, lane, a);
    return a[WB_TREE - 1];
  }
  template <typename Real, typename Weights>
  static __device__ __forceinline__ void table(const Weights &weights, int base, int lane, Real (&a)[WB_TREE]) {
    WB_UNROLL
    for (int i = 0; i < WB_TREE; i++) a[i] = weights(lane, base + i);
    lane_tree_sums(a);
  }
  template <typename Real>
  static __device__ __forceinline__ int find(const Real (&table)[WB_TREE], int, Real position) {
    return lane_tree_find(table, position);
  }
};

/* The number of sums that a lane keeps of its row, at the ends of runs of blocks. */
constexpr int kept_sums = 32;

/* Draws an item of each lane's row. The result is -1 if the sum of the weights is not positive and finite. With
 * negative weights it is -1 or any item. `u` is the lane's uniform. `own(column)` is the weight of a column of the
 * lane's row. Only a few lanes ask for it, and not together.
 *
 * Each weight is read once. Those of a 32nd part of the row and of one block are read again: a lane keeps the sums at
 * the ends of 32 runs of blocks (in local memory, 32 Reals a lane), and goes through the run that has the draw
 * again. */
template <typename Way, typename Real, typename Weights, typename Own>
__device__ __forceinline__ int draw_by_trees(const Weights &weights, const Own &own, int columns, Real u, int lane) {
  Real kept[kept_sums];
  const int blocks = (columns + WB_TREE - 1) / WB_TREE, run = (blocks + kept_sums - 1) / kept_sums;
  Real total = 0;
  for (int block = 0, left = run, at = 0; block < blocks; block++) {
    total += Way::template sum<Real>(weights, block * WB_TREE, lane);
    if (--left == 0 || block == blocks - 1) {
      kept[at++] = total;
      left = run;
    }
  }
  const bool usable = total > 0 && total - total == 0;
  const Real target = usable ? target_of(u, total) : Real(0);
  int at = 0;
  const int last = (blocks - 1) / run;
  while (at < last && kept[at] <= target) at++;
  Real before = at > 0 ? kept[at - 1] : Real(0);
  /* Goes through the blocks of the run for their sums, then through the chosen block for its item. Blocks past the last
   * one have no weight, so none of them is chosen. */
  int chosen = at * run, item = 0;
  Real sum = before;
  bool found = false;
  const int searched = run > 1 ? run : 0;
  WB_ROLLED
  for (int i = 0; i <= searched; i++) {
    const int block = i < searched ? at * run + i : chosen;
    Real table[WB_TREE];
    Way::table(weights, block * WB_TREE, lane, table);
    if (i == searched) {
      item = chosen * WB_TREE + Way::find(table, lane, target - before);
    } else {
      const Real next = sum + table[WB_TREE - 1];
      if (!found && next > target) {
        found = true;
        before = sum;
        chosen = block;
      }
      sum = next;
    }
  }
  if (!usable) return -1;
  while (item >= 0 && (item >= columns || !(own(item) > 0))) item--;
  return item;
}

} // namespace trees

#endif
