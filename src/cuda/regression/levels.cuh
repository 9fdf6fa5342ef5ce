/* Actions on the effects of all levels of a term, for cuda/regression/sweep.cu. */
#pragma once

#include <vector>

#include "backend/regression_table.h"
#include "cuda/launch.cuh"

namespace wb {

/* The records of a session's levels stay on the device. The other numbers of an action are copied. */
class level_actions {
public:
  /* place_levels() of backend/regression_table.h for `levels` levels and p coefficients. */
  int place(const wb_regression_placing &placing, int32_t levels, int p, double *to, double *density,
            wb_message *message);

private:
  device_array<double> records_[WB_REGRESSION_MOST_TERMS + 1], shared_, from_, to_, density_;
};

/* The sums of `value` over the rows of each piece; `index` gives its rows, or nullptr: they follow each other. Pieces
 * are those of `start`, and sums[i] is of piece i. */
int total_pieces(const double *value, const int32_t *index, const int32_t *start, int64_t pieces, double *sums,
                 wb_message *message);
int total_segments(const double *value, const int64_t *start, int64_t segments, double *sums, wb_message *message);

} // namespace wb
