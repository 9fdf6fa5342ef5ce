/* Sums over leaves of rows, added by a fixed binary tree as the leaves are
 * completed, in any order and by any number of threads: node i of a level is the
 * sum of nodes 2i and 2i + 1 of the level below, or the former alone at the end.
 * Addition commutes, so the result depends on the number of leaves only. At most
 * about threads + log2(leaves) vectors of sums are alive at a time.
 */
#ifndef WB_REDUCTION_TREE_H
#define WB_REDUCTION_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "../backend.h"

typedef struct wb_reduction_node {
  double *sums;
  int64_t index;
  int level;
} wb_reduction_node;

typedef struct wb_reduction_tree {
  size_t size;    /* doubles of a vector of sums */
  int64_t leaves;
  wb_reduction_node *waiting; /* complete nodes whose sibling is not */
  size_t waiting_count, waiting_capacity;
  double **spare; /* vectors to use again */
  size_t spare_count, spare_capacity;
  double *root;
  int failed; /* memory ran out */
} wb_reduction_tree;

void wb_reduction_open(wb_reduction_tree *tree, int64_t leaves, size_t size);
void wb_reduction_close(wb_reduction_tree *tree);

/* For any thread: a vector of zeros, aligned to 64 bytes, for a leaf to fill, or
 * NULL without memory; the filled vector given back; failure made known. */
double *wb_reduction_take(wb_reduction_tree *tree);
void wb_reduction_give(wb_reduction_tree *tree, int64_t leaf, double *sums);
void wb_reduction_fail(wb_reduction_tree *tree);

/* The sum over all leaves once all are given, or NULL if memory ran out. */
const double *wb_reduction_root(const wb_reduction_tree *tree);

/* Memory aligned to 64 bytes. */
void *wb_aligned_malloc(size_t bytes);
void wb_aligned_free(void *memory);

/* Writes what memory was missing; returns WB_ERROR_MEMORY. */
int wb_out_of_memory(wb_message *message, const char *purpose, size_t bytes);

#endif
