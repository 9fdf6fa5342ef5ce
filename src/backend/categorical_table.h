/* Draws from many discrete distributions: a part of the table of backend.h. */
#pragma once

#include "backend/types.h"

/* Draws and the place of their results. Draw 0 of a row is made in one pass over the row, the others by inversion
 * (core/categorical_draw.h). Draw d of row i depends only on (key, first_row + i, d) and the row's weights.
 *
 * index[i + (d - first_draw) * index_stride] becomes the item, from 0, or -1 if the row cannot be drawn from in this
 * precision: a weight is negative (-0 included), infinite or not a number, or the sum is zero or overflows. */
typedef struct wb_categorical_draws {
  wb_precision precision;
  uint64_t key;
  int64_t first_row;
  int64_t first_draw, draws;
  int32_t *index;
  int64_t index_stride;
} wb_categorical_draws;

/* Weights, or with is_log their logarithms, where -Inf stands for zero. Entry (i, j) is at
 * weights[i * row_stride + j * column_stride]. At most 2^31 - 1 columns. */
typedef struct wb_categorical_rows {
  int64_t rows, columns;
  const double *weights;
  int64_t row_stride, column_stride;
  int32_t is_log;
} wb_categorical_rows;

/* Rows of which only some entries are stored: row i has the entries offset[i], ..., offset[i + 1] - 1, with ascending
 * columns. The draws are those of the same rows with zeros in place of the entries that are not stored. */
typedef struct wb_categorical_sparse {
  int64_t rows, columns;
  const int64_t *offset; /* rows + 1 */
  const int32_t *column;
  const double *weights;
} wb_categorical_sparse;

typedef struct wb_categorical_functions {
  int (*draw)(const wb_categorical_rows *rows, const wb_categorical_draws *draws, const wb_run *run,
              wb_message *message);
  int (*draw_sparse)(const wb_categorical_sparse *rows, const wb_categorical_draws *draws, const wb_run *run,
                     wb_message *message);
} wb_categorical_functions;
