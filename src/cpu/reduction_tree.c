/* Sums over leaves by a fixed binary tree (see reduction_tree.h). */
#include "reduction_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *wb_aligned_malloc(size_t bytes) {
  /* The address that malloc gave lies just before the aligned one. */
  char *memory = malloc(bytes + 64 + sizeof(void *));
  if (!memory) return NULL;
  char *aligned = (char *)(((uintptr_t)memory + sizeof(void *) + 63) & ~(uintptr_t)63);
  ((void **)aligned)[-1] = memory;
  return aligned;
}

void wb_aligned_free(void *memory) {
  if (memory) free(((void **)memory)[-1]);
}

int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes) {
  snprintf(message->text, sizeof message->text, "no memory for %s (%.1f MB)", purpose,
           (double)bytes / 1e6);
  return WB_ERROR_MEMORY;
}

void wb_reduction_open(wb_reduction_tree *tree, int64_t leaves, size_t size) {
  memset(tree, 0, sizeof *tree);
  tree->size = size;
  tree->leaves = leaves;
}

void wb_reduction_close(wb_reduction_tree *tree) {
  for (size_t i = 0; i < tree->waiting_count; i++) wb_aligned_free(tree->waiting[i].sums);
  for (size_t i = 0; i < tree->spare_count; i++) wb_aligned_free(tree->spare[i]);
  wb_aligned_free(tree->root);
  free(tree->waiting);
  free(tree->spare);
  memset(tree, 0, sizeof *tree);
}

void wb_reduction_fail(wb_reduction_tree *tree) {
#pragma omp atomic write
  tree->failed = 1;
}

/* Room for one more item of `bytes`; 0 without memory. */
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
  else
    wb_aligned_free(sums);
}

double *wb_reduction_take(wb_reduction_tree *tree) {
  double *sums = NULL;
#pragma omp critical(wb_reduction)
  if (tree->spare_count > 0) sums = tree->spare[--tree->spare_count];
  if (!sums) sums = wb_aligned_malloc(tree->size * sizeof(double));
  if (sums)
    memset(sums, 0, tree->size * sizeof(double));
  else
    wb_reduction_fail(tree);
  return sums;
}

/* The waiting sums of a node, taken out, or NULL if it is not complete. */
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

void wb_reduction_give(wb_reduction_tree *tree, int64_t leaf, double *sums) {
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
        waits = make_room((void **)&tree->waiting, tree->waiting_count, &tree->waiting_capacity,
                          sizeof(wb_reduction_node));
        if (waits)
          tree->waiting[tree->waiting_count++] = (wb_reduction_node){sums, index, level};
        else
          keep_spare(tree, sums);
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
}

const double *wb_reduction_root(const wb_reduction_tree *tree) {
  return tree->failed ? NULL : tree->root;
}
