/* Draws from many discrete distributions: what the entries call. Functions return a wb_status, and on failure have
 * written into the message. */
#ifndef WB_CATEGORICAL_CATEGORICAL_H
#define WB_CATEGORICAL_CATEGORICAL_H

#include "backend/backend.h"

/* draws->index receives items from 1. A row that cannot be drawn from is WB_ERROR_INPUT with the first such row and
 * what is wrong with it, found in the pass that draws; the rows after it may have no draws then. A row whose weights
 * are sound, but too large or too small for the sums of its precision, is drawn on its own, in double. is_vector: the
 * message does not speak of a row. */
int wb_categorical_draw(wb_call *call, const wb_categorical_rows *rows, int is_vector,
                        const wb_categorical_draws *draws,
                        wb_message *message);
int wb_categorical_draw_sparse(wb_call *call, const wb_categorical_sparse *rows, const wb_categorical_draws *draws,
                               wb_message *message);

/* The rows of a matrix that is stored by columns: entries of column j are start[j]..start[j + 1]
 * - 1, `row` from 0. offset has rows + 1 elements, column and by_row as many as
 * there are entries; each row's entries come by ascending column. */
void wb_categorical_rows_of(int64_t rows, int64_t columns, const int32_t *start, const int32_t *row,
                            const double *weights,
                            int64_t *offset, int32_t *column, double *by_row);

#endif
