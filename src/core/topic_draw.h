/* The draw of a token's topic from the weights theta_k phi_kw of all topics.
 *
 * Topics lie in rows of WB_TOPIC_LANES: topic k is lane k % 16 of row k / 16. The weights are never stored: each lane
 * adds up its own, row after row, by fused multiply-adds, so that vectors and warps run across lanes and nothing has to
 * be transposed or added across them. The lanes' sums after every stretch of rows are kept, and a tree adds the lanes'
 * last sums: halves first. A draw goes down the tree to a lane, takes the stretch of rows by the sums that were kept,
 * and the row by adding its weights again: the same additions with the same results.
 *
 * A topic of zero weight is never drawn: it adds nothing to any of the sums, and at each step the first sum above the
 * position is taken, which lies below the last.
 */
#ifndef WB_TOPIC_DRAW_H
#define WB_TOPIC_DRAW_H

#include "core/block_draw.h"
#include "core/elementary.h"

#define WB_TOPIC_LANES 16

/* Rows of so many topics, rows of a stretch, and stretches. */
WB_HD int wb_topic_rows(int topics) {
  return (topics + WB_TOPIC_LANES - 1) / WB_TOPIC_LANES;
}
WB_HD int wb_topic_stretch(int rows) {
  return rows <= 16 ? 4 : 8;
}
WB_HD int wb_topic_stretches(int rows) {
  return (rows + wb_topic_stretch(rows) - 1) / wb_topic_stretch(rows);
}

/* Weights below these are taken for 0. They are no part of any sum's last digit, and the product of two that remain is
 * a normal number. */
#define WB_TOPIC_LEAST 0x1p-500
#define WB_TOPIC_LEASTF 0x1p-60f

WB_HD double wb_topic_weight(double weight) {
  return weight < WB_TOPIC_LEAST ? 0.0 : weight;
}
WB_HD float wb_topic_weightf(double weight) {
  return weight < (double)WB_TOPIC_LEASTF ? 0.0f : (float)weight;
}

/* The tree: its 16 leaves come first, the total last. */
#define WB_TOPIC_TREE 31

WB_HD void wb_topic_add_tree(double *tree) {
  double *const eight = tree + 16, *const four = tree + 24, *const two = tree + 28;
  for (int l = 0; l < 8; l++) eight[l] = tree[l] + tree[l + 8];
  for (int l = 0; l < 4; l++) four[l] = eight[l] + eight[l + 4];
  for (int l = 0; l < 2; l++) two[l] = four[l] + four[l + 2];
  tree[30] = two[0] + two[1];
}

/* Down the tree from `position`, which rounding may have left at the end of the lane: then the same again, held below
 * the sum of every node. The total is positive. */
WB_HD int wb_topic_lane(const double *tree, double u, double *position) {
  double at = u * tree[30];
  int node = 0, level = 28;
  /* The children of node i of `half` nodes are nodes i and i + half of the level below. Without branches, which would
   * be wrong every second time. */
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

#endif
