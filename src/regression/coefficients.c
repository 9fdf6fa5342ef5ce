/* Parts of a draw of coefficients; regression/draws.h says which. */
#include "core/scalar.h"

#include "regression/draws.h"

#include "core/linear_algebra.h"
#include "core/random_normal.h"
#include "numeric/root.h"

void wb_regression_add_prior(const wb_regression_prior *prior, const wb_regression_state *state, int32_t outcome,
                             double *precision, double *linear) {
  const int p = state->columns;
  wb_regression_prior_precision(prior, state, outcome, precision);
  for (int c = 0; c < p; c++) {
    const double mean = wb_regression_prior_mean(prior, state, outcome, c);
    for (int r = 0; r < p; r++)
      linear[r] =
          wb_fma(precision[c <= r ? wb_packed_row(r) + (size_t)c : wb_packed_row(c) + (size_t)r], mean, linear[r]);
  }
}

int wb_regression_root(wb_isa isa, int32_t n, double *a) {
  const int row = n < WB_ROOT_WORTH ? -1 : (int)wb_root_packed(isa, n, a);
  return row < 0 ? wb_cholesky(n, a) : row;
}

int wb_regression_draw_normal(wb_isa isa, int32_t columns, double *precision, double *linear, double *normal,
                              wb_stream *stream, uint32_t iteration, double *coefficients, wb_message *message) {
  const int row = wb_regression_root(isa, columns, precision);
  if (row > 0)
    return wb_fail(message, WB_ERROR_INPUT,
                   "the posterior precision of coefficient %d is not positive in sweep %u: its column nearly "
                   "depends on others, values of the data are too large, or the prior is too wide",
                   row, (unsigned)iteration);
  wb_triangle_solve(columns, precision, linear, linear);
  for (int32_t c = 0; c < columns; c++) normal[c] = linear[c] + wb_draw_normal(stream);
  wb_triangle_solve_transposed(columns, precision, normal, coefficients);
  return WB_OK;
}
