/* Makes the sparse design that regression/wide_design.h describes. */
#include "core/rounding.h"

#include "regression/wide_design.h"

#include "core/regression_row.h"
#include "numeric/memory.h"

/* Entries of a row before the entries of grouping terms. */
static int32_t own_entries(const wb_regression_data *data, int64_t row) {
  return data->x ? data->columns : data->row_start[row + 1] - data->row_start[row];
}

static void write_row(const wb_regression_data *data, const wb_regression_grouping *grouping, int32_t main, int64_t row,
                      int32_t *column, double *value) {
  const size_t n = (size_t)data->rows;
  const int32_t own = own_entries(data, row);
  for (int32_t e = 0; e < own; e++) {
    const int32_t from = data->x ? e : data->row_start[row] + e;
    *column++ = data->x ? e : data->column[from];
    *value++ = data->x
                   ? wb_regression_scaled(data->x[(size_t)e * n + (size_t)row], data->center[e], data->inverse_scale[e])
                   : data->value[from];
  }
  int32_t first = data->columns;
  for (int32_t t = 0; t < grouping->count; t++) {
    const wb_regression_term *const term = grouping->terms + t;
    if (t == main) continue;
    for (int32_t k = 0; k < term->columns; k++) {
      *column++ = first + term->level[row] * term->columns + k;
      *value++ = term->z ? term->z[(size_t)k * n + (size_t)row] : 1.0;
    }
    first += term->levels * term->columns;
  }
}

void wb_regression_wide_close(wb_regression_wide_design *design, const wb_backend *backend) {
  backend->regression->close(design->session);
  wb_aligned_free(design->memory);
}

int wb_regression_wide_open(const wb_regression_chain *chain, int32_t main, wb_regression_wide_design *design) {
  const wb_regression_data *const data = chain->data;
  const wb_regression_grouping *const grouping = chain->state.grouping;
  int32_t more = 0, columns = data->columns;
  for (int32_t t = 0; t < grouping->count; t++) {
    if (t == main) continue;
    more += grouping->terms[t].columns;
    columns += grouping->terms[t].columns * grouping->terms[t].levels;
  }
  double entries = 0.0;
  for (int64_t row = 0; row < data->rows; row++) entries += (double)own_entries(data, row) + (double)more;
  *design = (wb_regression_wide_design){
      .grouping = {
          .count = 1, .terms = grouping->terms + main, .independent = {grouping->independent[main]}, .parent = {-1}}};
  const size_t count = entries < 2147483647.0 ? (size_t)entries : SIZE_MAX / 128;
  design->memory =
      WB_PARTS("the design of the grouping terms", chain->message, WB_PART(design->row_start, data->rows + 1),
               WB_PART(design->column, count), WB_PART(design->value, count));
  if (!design->memory) return WB_ERROR_MEMORY;
  design->row_start[0] = 0;
  for (int64_t row = 0; row < data->rows; row++) {
    const int32_t at = design->row_start[row];
    write_row(data, grouping, main, row, design->column + at, design->value + at);
    design->row_start[row + 1] = at + own_entries(data, row) + more;
  }
  wb_regression_data wide = *data;
  wide.x = NULL;
  wide.columns = columns;
  wide.row_start = design->row_start;
  wide.column = design->column;
  wide.value = design->value;
  wide.term_count = 1;
  wide.terms = design->grouping.terms;
  const int status = chain->backend->regression->open(&wide, chain->run, &design->session, chain->message);
  if (status != WB_OK) {
    design->session = NULL;
    wb_regression_wide_close(design, chain->backend);
  }
  return status;
}
