/* The draw of a token's topic from the weights theta_k phi_kw of all topics, which are never stored. Topics lie in rows
 * of WB_TOPIC_LANES: topic k is lane k % 16 of row k / 16. Each lane adds up its own weights, row after row, by fused
 * multiply-adds. The lanes' sums after every stretch of rows are stored; a tree, halves first, adds the last ones. A
 * draw goes down the tree to a lane, to a stretch by the stored sums, and to a row by adding its weights again. Each
 * step takes the first sum above the position: never a topic of zero weight. */
#pragma once

#include "core/block_draw.h"
#include "core/elementary.h"

#define WB_TOPIC_LANES 16

/* The number of rows of so many topics, of rows of a stretch, and of stretches. */
WB_HD int wb_topic_rows(int topics) { return (topics + WB_TOPIC_LANES - 1) / WB_TOPIC_LANES; }
WB_HD int wb_topic_stretch(int rows) { return rows <= 16 ? 4 : 8; }
WB_HD int wb_topic_stretches(int rows) { return (rows + wb_topic_stretch(rows) - 1) / wb_topic_stretch(rows); }
/* The rows of a stretch whose weights a draw adds again. The sum of all of them is above the position. */
WB_HD int wb_topic_searched(int rows) {
  const int stretch = wb_topic_stretch(rows);
  return (rows < stretch ? rows : stretch) - 1;
}

/* Smaller weights count as 0: below the last digit of any sum. The product of two larger ones is normal. */
#define WB_TOPIC_LEAST 0x1p-500
#define WB_TOPIC_LEASTF 0x1p-60f

WB_HD double wb_topic_weight(double weight) { return weight < WB_TOPIC_LEAST ? 0.0 : weight; }
WB_HD float wb_topic_weightf(double weight) { return weight < (double)WB_TOPIC_LEASTF ? 0.0f : (float)weight; }

/* The tree: its 16 leaves come first, the total last. */
#define WB_TOPIC_TREE 31

WB_HD void wb_topic_add_tree(double *tree) {
  double *const eight = tree + 16, *const four = tree + 24, *const two = tree + 28;
  for (int l = 0; l < 8; l++) eight[l] = tree[l] + tree[l + 8];
  for (int l = 0; l < 4; l++) four[l] = eight[l] + eight[l + 4];
  for (int l = 0; l < 2; l++) two[l] = four[l] + four[l + 2];
  tree[30] = two[0] + two[1];
}

/* Goes down the tree from the position u times the total, which is positive. Returns the lane and the position in it.
 * If rounding leaves the position at the end of the lane, the search is repeated with the position below every node's
 * sum. */
WB_HD int wb_topic_lane(const double *tree, double u, double *position) {
  double at = u * tree[30];
  int node = 0, level = 28;
  /* Node i of `half` has the children i and i + half of the level below. A branch would often be mispredicted. */
  for (int half = 1; half <= 8; half *= 2) {
    const double left = tree[level + node];
    const uint64_t right = wb_mask(at >= left);
    at -= wb_bits_double(wb_double_bits(left) & right);
    node += half & (int)right;
    level -= 4 * half;
  }
  if (at < tree[node]) {
    *position = at;
    return node;
  }
  const double last = wb_next_below(tree[30]);
  at = u * tree[30];
  at = at < last ? at : last;
  node = 0;
  level = 28;
  for (int half = 1; half <= 8; half *= 2) {
    const double left = tree[level + node];
    if (at >= left) {
      const double below = wb_next_below(tree[level + node + half]);
      at -= left;
      at = at < below ? at : below;
      node += half;
    }
    level -= 4 * half;
  }
  *position = at;
  return node;
}
