/* Adds vectors of sums, one for each leaf of rows, by a fixed binary tree. Threads may complete leaves in any order.
 * Node i of a level is the sum of nodes 2i and 2i + 1 below; a last node without a sibling moves up unchanged. Usually
 * about threads + log2(leaves) vectors are held at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/memory.h"

typedef struct wb_reduction_node {
  double *sums;
  int64_t index;
  int level;
} wb_reduction_node;

typedef struct wb_reduction_tree {
  size_t size; /* of a vector of sums, in doubles */
  int64_t leaves;
  wb_reduction_node *waiting; /* nodes whose sibling is not complete yet */
  size_t waiting_count, waiting_capacity;
  double **spare; /* vectors to be used again */
  size_t spare_count, spare_capacity;
  double *root;
  int failed; /* whether memory ran out */
} wb_reduction_tree;

static void wb_reduction_open(wb_reduction_tree *tree, int64_t leaves, size_t size) {
  memset(tree, 0, sizeof *tree);
  tree->size = size;
  tree->leaves = leaves;
}

static void wb_reduction_close(wb_reduction_tree *tree) {
  for (size_t i = 0; i < tree->waiting_count; i++) wb_aligned_free(tree->waiting[i].sums);
  for (size_t i = 0; i < tree->spare_count; i++) wb_aligned_free(tree->spare[i]);
  wb_aligned_free(tree->root);
  free(tree->waiting);
  free(tree->spare);
  memset(tree, 0, sizeof *tree);
}

/* Records that memory ran out. Any thread may call it. */
static void wb_reduction_fail(wb_reduction_tree *tree) {
#pragma omp atomic write
  tree->failed = 1;
}

/* Makes room for one more item of `bytes` in the array. Returns 0 if memory ran out. */
static int make_room(void **items, size_t count, size_t *capacity, size_t bytes) {
  if (count < *capacity) return 1;
  const size_t larger = *capacity ? 2 * *capacity : 16;
  void *moved = realloc(*items, larger * bytes);
  if (!moved) return 0;
  *items = moved;
  *capacity = larger;
  return 1;
}

static void keep_spare(wb_reduction_tree *tree, double *sums) {
  if (make_room((void **)&tree->spare, tree->spare_count, &tree->spare_capacity, sizeof(double *)))
    tree->spare[tree->spare_count++] = sums;
  else wb_aligned_free(sums);
}

/* A vector of zeros for the sums of a leaf, aligned to 64 bytes, or NULL if memory ran out. Any thread may call it. */
static double *wb_reduction_take(wb_reduction_tree *tree) {
  double *sums = NULL;
#pragma omp critical(wb_reduction)
  if (tree->spare_count > 0) sums = tree->spare[--tree->spare_count];
  if (!sums) sums = wb_aligned_malloc(tree->size * sizeof(double));
  if (sums) memset(sums, 0, tree->size * sizeof(double));
  else wb_reduction_fail(tree);
  return sums;
}

/* Removes the sums of a node from the waiting sums. NULL if the node is not complete. */
static double *take_waiting(wb_reduction_tree *tree, int level, int64_t index) {
  for (size_t i = 0; i < tree->waiting_count; i++) {
    if (tree->waiting[i].level == level && tree->waiting[i].index == index) {
      double *sums = tree->waiting[i].sums;
      tree->waiting[i] = tree->waiting[--tree->waiting_count];
      return sums;
    }
  }
  return NULL;
}

/* Hands over the filled vector of a leaf. Any thread may call it. After the last leaf only the root is held. */
static void wb_reduction_give(wb_reduction_tree *tree, int64_t leaf, double *sums) {
  int64_t index = leaf, nodes = tree->leaves;
  for (int level = 0; nodes > 1; level++, index /= 2, nodes = (nodes + 1) / 2) {
    const int64_t sibling = index ^ 1;
    if (sibling >= nodes) continue;
    double *other;
    int waits = 0;
#pragma omp critical(wb_reduction)
    {
      other = take_waiting(tree, level, sibling);
      if (!other) {
        waits =
            make_room((void **)&tree->waiting, tree->waiting_count, &tree->waiting_capacity, sizeof(wb_reduction_node));
        if (waits) tree->waiting[tree->waiting_count++] = (wb_reduction_node){sums, index, level};
        else keep_spare(tree, sums);
      }
    }
    if (!other) {
      if (!waits) wb_reduction_fail(tree);
      return;
    }
    for (size_t i = 0; i < tree->size; i++) sums[i] += other[i];
#pragma omp critical(wb_reduction)
    keep_spare(tree, other);
  }
  tree->root = sums;
  while (tree->spare_count > 0) wb_aligned_free(tree->spare[--tree->spare_count]);
}

/* The sums over all leaves, after all leaves were handed over. NULL if memory ran out. */
static const double *wb_reduction_root(const wb_reduction_tree *tree) { return tree->failed ? NULL : tree->root; }
