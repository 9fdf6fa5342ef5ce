/* Categorical draws for other packages. */
#include "interface/interface.h"

#include "categorical/categorical.h"

int wb_interface_categorical_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *weights,
                                  int is_log, int64_t draws, int32_t *items, warpbayes_message *message) {
  wb_interface_call call;
  wb_message *const text = wb_interface_begin(&call, message);
  WB_TRY(wb_interface_size("rows", rows, 0, 0, text));
  WB_TRY(wb_interface_size("columns", columns, 1, INT32_MAX, text));
  WB_TRY(wb_interface_size("draws", draws, 0, 0, text));
  WB_TRY(wb_interface_matrix("weights", rows, columns, text));
  WB_TRY(wb_interface_matrix("items", rows, draws, text));
  WB_TRY(wb_interface_source(&call, from, rows));
  if (rows == 0 || draws == 0) return WB_OK;
  WB_TRY(wb_interface_pointer("weights", weights, text));
  WB_TRY(wb_interface_pointer("items", items, text));
  const wb_categorical_rows given = {
      .rows = rows,
      .columns = columns,
      .weights = weights,
      .row_stride = 1,
      .column_stride = rows,
      .is_log = is_log != 0,
  };
  const wb_categorical_draws asked = {
      .key = wb_interface_iterated_key(from),
      .first_row = (int64_t)from->first,
      .draws = draws,
      .index = items,
      .index_stride = rows,
  };
  WB_TRY(wb_categorical_draw(&call.call, &given, 0, &asked));
  for (int64_t i = 0; i < rows * draws; i++) items[i]--;
  return WB_OK;
}
