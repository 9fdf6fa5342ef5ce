/* Draws from a discrete distribution by trees: the items are in blocks of WB_TREE, the sum of a block is that of a
 * binary tree over neighbours, and the sums of the blocks are added in order. The butterfly-patterned partial sums of
 * Steele & Tristan (2017, "Using butterfly-patterned partial sums to draw from discrete distributions", PPoPP) add in
 * this order, so the kernels of butterfly.cuh and these functions draw the same item. The package itself draws in one
 * pass or by inversion, which is faster; bench/categorical-cuda.R has the comparison.
 */
#ifndef WB_MEASURE_TREE_DRAW_H
#define WB_MEASURE_TREE_DRAW_H

#include "core/categorical_draw.h"

/* Items of a tree, as many as a warp has lanes. */
#define WB_TREE 32

/* Turns WB_TREE weights into the sums of a binary tree over them. If an index ends in a 0 above b ones, its entry
 * becomes the sum of the 2^b weights up to it, which are the left half of their node. The last entry becomes the sum of
 * all. */
WB_HD void wb_tree_sums(double a[WB_TREE]) {
  for (int half = 1; half < WB_TREE; half *= 2)
    for (int i = half - 1; i + half < WB_TREE; i += 2 * half) a[i + half] += a[i];
}
WB_HD void wb_tree_sumsf(float a[WB_TREE]) {
  for (int half = 1; half < WB_TREE; half *= 2)
    for (int i = half - 1; i + half < WB_TREE; i += 2 * half) a[i + half] += a[i];
}

/* The item at `position`, which is at least 0 and below the sum of all. The search goes left if the position lies in
 * the left half; otherwise it subtracts the sum of the left half and goes right. If rounding has moved a position past
 * the end of a subtree, the result is the last item of the subtree, whose weight may be zero. The caller then takes the
 * nearest item before it that has weight. There is one, because the sum of all is positive, and a left half is entered
 * only if its sum is positive. */
WB_HD int wb_tree_find(const double sums[WB_TREE], double position) {
  int item = 0;
  for (int half = WB_TREE / 2; half > 0; half /= 2) {
    const double left = sums[item + half - 1];
    if (position < left) continue;
    position -= left;
    item += half;
  }
  return item;
}
WB_HD int wb_tree_findf(const float sums[WB_TREE], float position) {
  int item = 0;
  for (int half = WB_TREE / 2; half > 0; half /= 2) {
    const float left = sums[item + half - 1];
    if (position < left) continue;
    position -= left;
    item += half;
  }
  return item;
}

/* Draws one item from `count` weights by trees. u is uniform in (0, 1). `prefix` has room for a sum for each block of
 * WB_TREE items, including an incomplete one. The result is -1 if the sum of the weights is not positive and finite.
 * With negative weights it is -1 or any item. */
WB_HD int64_t wb_draw_by_trees(int64_t count, const double *weights, double u, double *prefix) {
  const int64_t blocks = (count + WB_TREE - 1) / WB_TREE;
  double sums[WB_TREE], total = 0;
  for (int64_t b = 0; b < blocks; b++) {
    for (int i = 0; i < WB_TREE; i++) sums[i] = b * WB_TREE + i < count ? weights[b * WB_TREE + i] : 0;
    wb_tree_sums(sums);
    prefix[b] = total += sums[WB_TREE - 1];
  }
  if (!(total > 0 && total - total == 0)) return -1;
  const double target = wb_target(u, total);
  int64_t block = 0;
  while (prefix[block] <= target) block++;
  for (int i = 0; i < WB_TREE; i++) sums[i] = block * WB_TREE + i < count ? weights[block * WB_TREE + i] : 0;
  wb_tree_sums(sums);
  int64_t item = block * WB_TREE + wb_tree_find(sums, block > 0 ? target - prefix[block - 1] : target);
  while (item >= 0 && (item >= count || !(weights[item] > 0))) item--;
  return item;
}
WB_HD int64_t wb_draw_by_treesf(int64_t count, const float *weights, float u, float *prefix) {
  const int64_t blocks = (count + WB_TREE - 1) / WB_TREE;
  float sums[WB_TREE], total = 0;
  for (int64_t b = 0; b < blocks; b++) {
    for (int i = 0; i < WB_TREE; i++) sums[i] = b * WB_TREE + i < count ? weights[b * WB_TREE + i] : 0;
    wb_tree_sumsf(sums);
    prefix[b] = total += sums[WB_TREE - 1];
  }
  if (!(total > 0 && total - total == 0)) return -1;
  const float target = wb_targetf(u, total);
  int64_t block = 0;
  while (prefix[block] <= target) block++;
  for (int i = 0; i < WB_TREE; i++) sums[i] = block * WB_TREE + i < count ? weights[block * WB_TREE + i] : 0;
  wb_tree_sumsf(sums);
  int64_t item = block * WB_TREE + wb_tree_findf(sums, block > 0 ? target - prefix[block - 1] : target);
  while (item >= 0 && (item >= count || !(weights[item] > 0))) item--;
  return item;
}

#endif
