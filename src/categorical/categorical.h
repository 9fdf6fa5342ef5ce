/* Draws from many discrete distributions. Functions return a wb_status, on failure with a message. */
#pragma once

#include "backend/backend.h"

/* draws->index receives items counted from 1. If a row cannot be drawn from, WB_ERROR_INPUT names the first such row
 * and what is wrong with it; the rows after it may have no draws. A valid row whose sums its precision cannot hold is
 * drawn in double. is_vector: the message does not mention a row. */
int wb_categorical_draw(wb_call *call, const wb_categorical_rows *rows, int is_vector,
                        const wb_categorical_draws *draws);
int wb_categorical_draw_sparse(wb_call *call, const wb_categorical_sparse *rows, const wb_categorical_draws *draws);

/* Converts a matrix stored by columns to rows. Entries of column j are start[j]..start[j + 1] - 1; `row` counts from 0.
 * offset has rows + 1 elements, column and by_row one for each entry. A row's entries are in order of columns. */
void wb_categorical_rows_of(int64_t rows, int64_t columns, const int32_t *start, const int32_t *row,
                            const double *weights, int64_t *offset, int32_t *column, double *by_row);
