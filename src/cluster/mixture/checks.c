/* Checks the values of requests and replies: neither side believes what the other cannot have computed. */
#include "core/rounding.h"

#include <math.h>
#include <stddef.h>

#include "core/linear_algebra.h"
#include "cluster/mixture/messages.h"

static int are_finite(const double *values, size_t count) {
  int right = 1;
  for (size_t i = 0; i < count; i++) right &= values[i] - values[i] == 0;
  return right;
}

/* Logarithms may be -Inf. */
static int are_logarithms(const double *values, size_t count) {
  int right = 1;
  for (size_t i = 0; i < count; i++) right &= values[i] < INFINITY;
  return right;
}

static int are_between(const int32_t *values, size_t count, int32_t least, int32_t end) {
  int right = 1;
  for (size_t i = 0; i < count; i++) right &= values[i] >= least && values[i] < end;
  return right;
}

/* Numbers of rows, whole ones if `whole`, whose sum is at most `most`, which is below 2^63. */
static int are_counts(const double *values, size_t count, size_t stride, double most, int whole) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double value = values[i * stride];
    if (!(value >= 0 && value <= most) || (whole && value != (double)(int64_t)value)) return 0;
    sum += value;
  }
  return sum <= most;
}

/* Statistics of components; the first number of each counts rows. */
static int are_statistics(const double *values, size_t components, int32_t columns, double most, int whole) {
  const size_t size = WB_MIXTURE_STATISTICS(columns);
  return are_finite(values, components * size) && are_counts(values, components, size, most, whole);
}

/* Whether no sum of squares, on the diagonal of a packed triangle, is negative. */
static int are_sums_of_squares(const double *values, size_t components, int32_t columns) {
  const size_t p = (size_t)columns, size = WB_MIXTURE_STATISTICS(columns);
  for (size_t j = 0; j < components; j++)
    for (size_t i = 0, at = 1 + p; i < p; at += ++i + 1)
      if (values[j * size + at] < 0) return 0;
  return 1;
}

static int is_law(const double *law, const wb_cluster_share *share) {
  const size_t p = (size_t)share->columns, triangle = wb_packed_size(share->columns);
  const double *const floors = law + 2 + p + triangle;
  if (!are_finite(law, 2 + 2 * p + triangle) || !(law[0] > 0) || !(law[1] > 0)) return 0;
  for (size_t i = 0; i < p; i++)
    if (floors[i] < 0) return 0;
  return 1;
}

const char *wb_cluster_wrong_request(const wb_cluster_request *r, const wb_cluster_share *share) {
  const wb_cluster_head *const head = &r->head;
  const size_t p = (size_t)share->columns, k = (size_t)head->components, pairs = (size_t)head->pairs;
  const size_t samples = share->samples > 0 ? (size_t)share->samples : 1, summed = (size_t)wb_cluster_summed(head);
  if (head->kind == WB_CLUSTER_DRAW) {
    if (!is_law(r->law, share)) return "a law of components that cannot be drawn from";
    if (!are_statistics(r->statistics, k, share->columns, 1.001 * (double)share->whole, 0))
      return "statistics of components that no rows have";
    if (!are_between(r->source, k, 0, head->components)) return "an order of components with one that does not exist";
    if (!are_logarithms(r->log_weight, samples * k)) return "weights that are no numbers";
    return head->wants_labels < 0 || head->wants_labels > 1 ? "a switch that is neither 0 nor 1" : NULL;
  }
  if (head->kind != WB_CLUSTER_WEIGH &&
      (!are_between(r->pair, k, INT32_MIN, head->pairs) || !are_between(r->side, k, INT32_MIN, 2)))
    return "a pair or a half that does not exist";
  if (head->kind == WB_CLUSTER_ANCHORS) return NULL;
  if (!are_finite(r->factor, summed * wb_packed_size(share->columns)) || !are_finite(r->offset, summed * p) ||
      !are_logarithms(r->log_constant, summed))
    return "components that are no numbers";
  for (size_t i = 0; head->kind == WB_CLUSTER_HALVES && i < 2 * pairs; i++)
    if (r->anchors[i] < -1 || r->anchors[i] >= share->whole) return "an anchor that is no row";
  return NULL;
}

/* Of the rows of a worker only. */
static const char *wrong_anchors(const wb_cluster_part *part, size_t pairs, const wb_cluster_share *share) {
  for (size_t i = 0; i < 2 * pairs; i++) {
    const int64_t row = part->anchors[i];
    if (row != -1 && (row < share->first_row || row >= share->first_row + share->rows))
      return "with an anchor that is none of its rows";
  }
  return are_finite(part->values, 2 * pairs * (size_t)share->columns) ? NULL : "with values that are not finite";
}

const char *wb_cluster_wrong_part(const wb_cluster_part *part, const wb_cluster_head *head,
                                  const wb_cluster_share *share) {
  const size_t summed = (size_t)wb_cluster_summed(head), sums = summed * WB_MIXTURE_STATISTICS(share->columns);
  const int drawn = head->kind != WB_CLUSTER_WEIGH;
  /* Weights of a row in single precision may add up to a little more than 1. */
  const double rows = (double)share->rows, most = drawn ? rows : 1.001 * rows;
  if (head->kind == WB_CLUSTER_ANCHORS) return wrong_anchors(part, (size_t)head->pairs, share);
  double counted = 0;
  for (int32_t i = 0; i < share->nodes; i++) {
    const double *const node = part->nodes + (size_t)i * (sums + 1);
    if (!are_statistics(node, summed, share->columns, most, drawn) ||
        !are_sums_of_squares(node, summed, share->columns) || !are_logarithms(node + sums, 1))
      return "with sums that no rows have";
    for (size_t j = 0; j < summed; j++) counted += node[j * WB_MIXTURE_STATISTICS(share->columns)];
  }
  if (counted > most || (head->kind == WB_CLUSTER_DRAW && counted != rows)) return "with sums of too many or few rows";
  if (part->sizes && !are_counts(part->sizes, (size_t)share->samples * summed, 1, rows, 1))
    return "with sizes of components that its rows cannot have";
  if (part->labels && !are_between(part->labels, (size_t)share->rows, 0, head->components))
    return "with the label of a component that does not exist";
  if (part->log_probability && !are_finite(part->log_probability, (size_t)head->pairs))
    return "with a probability that is not finite";
  return NULL;
}
