/* The layout of requests and replies between manager and workers, and the tree in which sums are added. */
#include "core/rounding.h"

#include <string.h>

#include "core/linear_algebra.h"
#include "cluster/mixture/messages.h"

/* Places items one after the other, each padded to 8 bytes; without memory only counts the bytes. */
typedef struct layout {
  unsigned char *memory;
  size_t used;
} layout;

static void *place(layout *at, size_t count, size_t bytes) {
  void *item = at->memory ? at->memory + at->used : NULL;
  at->used += (count * bytes + 7) / 8 * 8;
  return item;
}

static size_t samples_of(int32_t samples) { return samples > 0 ? (size_t)samples : 1; }

int32_t wb_cluster_summed(const wb_cluster_head *head) {
  return head->kind == WB_CLUSTER_HALVES ? 2 * head->pairs : head->components;
}

size_t wb_cluster_place_request(wb_cluster_request *r, const wb_cluster_head *head, int32_t columns, int32_t samples,
                                void *memory) {
  const size_t p = (size_t)columns, triangle = wb_packed_size(columns), k = (size_t)head->components;
  const size_t summed = (size_t)wb_cluster_summed(head);
  layout at = {memory, 0};
  memset(r, 0, sizeof *r);
  r->head = *head;
  (void)place(&at, 1, sizeof *head);
  if (head->kind == WB_CLUSTER_DRAW) {
    r->law = place(&at, 2 + 2 * p + triangle, sizeof(double));
    r->statistics = place(&at, k * WB_MIXTURE_STATISTICS(p), sizeof(double));
    r->source = place(&at, k, sizeof(int32_t));
    r->log_weight = place(&at, samples_of(samples) * k, sizeof(double));
  }
  if (head->kind == WB_CLUSTER_ANCHORS || head->kind == WB_CLUSTER_HALVES) {
    r->pair = place(&at, k, sizeof(int32_t));
    r->side = place(&at, k, sizeof(int32_t));
  }
  if (head->kind == WB_CLUSTER_HALVES || head->kind == WB_CLUSTER_WEIGH) {
    r->factor = place(&at, summed * triangle, sizeof(double));
    r->offset = place(&at, summed * p, sizeof(double));
    r->log_constant = place(&at, summed, sizeof(double));
  }
  if (head->kind == WB_CLUSTER_HALVES) r->anchors = place(&at, 2 * (size_t)head->pairs, sizeof(int64_t));
  return at.used;
}

size_t wb_cluster_place_part(wb_cluster_part *r, const wb_cluster_head *head, int32_t columns, int32_t samples,
                             int32_t nodes, int64_t rows, void *memory) {
  const size_t p = (size_t)columns, k = (size_t)head->components, pairs = (size_t)head->pairs;
  layout at = {memory, 0};
  memset(r, 0, sizeof *r);
  if (head->kind == WB_CLUSTER_ANCHORS) {
    r->anchors = place(&at, 2 * pairs, sizeof(int64_t));
    r->values = place(&at, 2 * pairs * p, sizeof(double));
    return at.used;
  }
  r->nodes =
      place(&at, (size_t)nodes * ((size_t)wb_cluster_summed(head) * WB_MIXTURE_STATISTICS(p) + 1), sizeof(double));
  if (head->kind == WB_CLUSTER_DRAW && samples > 0) r->sizes = place(&at, (size_t)samples * k, sizeof(double));
  if (head->kind == WB_CLUSTER_DRAW && head->wants_labels) r->labels = place(&at, (size_t)rows, sizeof(int32_t));
  if (head->kind == WB_CLUSTER_HALVES) r->log_probability = place(&at, pairs, sizeof(double));
  return at.used;
}

int32_t wb_cluster_split(int64_t rows, int32_t workers, int64_t *first_row, int64_t *piece) {
  const int64_t leaves = (rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const int32_t used = workers < leaves ? workers : (int32_t)leaves;
  int64_t size = 1;
  while (2 * size * WB_CLUSTER_PIECES * used <= leaves) size *= 2;
  const int64_t pieces = (leaves + size - 1) / size;
  for (int32_t w = 0; w < used; w++) first_row[w] = pieces * w / used * size * WB_LEAF_ROWS;
  first_row[used] = rows;
  *piece = size;
  return used;
}

int32_t wb_cluster_cover(int64_t pieces, int64_t first, int64_t end, wb_cluster_node *nodes) {
  int32_t count = 0;
  for (int32_t level = 0; first < end; level++) {
    if (pieces == 1) {
      nodes[count++] = (wb_cluster_node){level, 0};
      break;
    }
    if (first % 2 != 0) nodes[count++] = (wb_cluster_node){level, first++};
    if (first < end && end % 2 != 0 && end < pieces) nodes[count++] = (wb_cluster_node){level, --end};
    first /= 2;
    end = (end + 1) / 2;
    pieces = (pieces + 1) / 2;
  }
  return count;
}

static void add(double *to, const double *from, size_t size) {
  for (size_t i = 0; i < size; i++) to[i] += from[i];
}

void wb_cluster_add(double **sums, int64_t count, size_t size) {
  for (; count > 1; count = (count + 1) / 2)
    for (int64_t i = 0; 2 * i < count; i++) {
      if (2 * i + 1 < count) add(sums[2 * i], sums[2 * i + 1], size);
      sums[i] = sums[2 * i];
    }
}

double *wb_cluster_root(int64_t pieces, const wb_cluster_node *nodes, double *const *sums, int32_t count, size_t size,
                        double **slots) {
  for (int64_t i = 0; i < pieces; i++) slots[i] = NULL;
  for (int32_t level = 0;; level++, pieces = (pieces + 1) / 2) {
    for (int32_t i = 0; i < count; i++)
      if (nodes[i].level == level) slots[nodes[i].index] = sums[i];
    if (pieces == 1) return slots[0];
    /* Both halves of a node are there, or neither is, because the node itself is among `nodes`. */
    for (int64_t i = 0; 2 * i < pieces; i++) {
      double *const left = slots[2 * i];
      if (left && 2 * i + 1 < pieces) add(left, slots[2 * i + 1], size);
      slots[i] = left;
    }
  }
}
