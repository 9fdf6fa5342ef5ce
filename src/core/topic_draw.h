/* The draw of a token's topic from the weights theta_k phi_kw of all topics.
 *
 * Topics lie in rows of WB_TOPIC_LANES: topic k is lane k % 16 of row k / 16. The
 * weights are never stored: each lane adds up its own, row after row, by fused
 * multiply-adds, so that vectors and warps run across lanes and nothing has to be
 * transposed or added across them. The lanes' sums after every WB_TOPIC_ROWS rows
 * are kept. A draw takes a lane by the prefix sums of the lanes, then the stretch of
 * rows by the sums that were kept, then the row by adding its weights again: the
 * same additions with the same results.
 *
 * A topic of zero weight is never drawn: it adds nothing to any of the sums, and at
 * each step the first sum above the position is taken, which is below the last.
 */
#ifndef WB_TOPIC_DRAW_H
#define WB_TOPIC_DRAW_H

#include "core/host_device.h"
#include "core/mixture_draw.h"

#define WB_TOPIC_LANES 16
#define WB_TOPIC_ROWS 8

/* Rows of so many topics, and stretches of so many rows. */
WB_HD int wb_topic_rows(int topics) {
  return (topics + WB_TOPIC_LANES - 1) / WB_TOPIC_LANES;
}
WB_HD int wb_topic_stretches(int rows) {
  return (rows + WB_TOPIC_ROWS - 1) / WB_TOPIC_ROWS;
}

/* Weights below these are taken for 0. They are no part of any sum's last digit, and
 * the product of two that remain is a normal number. */
#define WB_TOPIC_LEAST 0x1p-500
#define WB_TOPIC_LEASTF 0x1p-60

WB_HD double wb_topic_weight(double weight) {
  return weight < WB_TOPIC_LEAST ? 0.0 : weight;
}
WB_HD float wb_topic_weightf(double weight) {
  return weight < WB_TOPIC_LEASTF ? 0.0f : (float)weight;
}

/* Prefix sums of the lanes in order, in double; returns their total. */
WB_HD double wb_topic_prefix(const double *lane_sum, double *prefix) {
  double sum = 0.0;
  for (int l = 0; l < WB_TOPIC_LANES; l++) {
    sum += lane_sum[l];
    prefix[l] = sum;
  }
  return sum;
}

/* The lane that the uniform u takes, and the position left within it. The total is
 * positive. */
WB_HD int wb_topic_lane(const double *lane_sum, const double *prefix, double u, double *position) {
  const double total = prefix[WB_TOPIC_LANES - 1];
  const double last = wb_next_below(total);
  double at = u * total;
  at = at < last ? at : last;
  int lane = 0;
  for (int l = 0; l < WB_TOPIC_LANES; l++) lane += prefix[l] <= at;
  const double inside = at - (lane > 0 ? prefix[lane - 1] : 0.0);
  const double last_inside = wb_next_below(lane_sum[lane]);
  *position = inside < last_inside ? inside : last_inside;
  return lane;
}

#endif
