/* Products of a design with more columns than rows, for the session of cuda/regression/sweep.cu. */
#pragma once

#include <vector>

#include "cuda/launch.cuh"

namespace wb {

struct dual_design {
  const double *x;
  const int32_t *row_start, *column;
  const double *value;
  int64_t rows;
  int columns;
};

/* gram(), multiply() and multiply_transposed() of backend/regression_table.h. */
class dual_products {
public:
  int open(const dual_design &design, wb_message *message);
  int gram(const dual_design &design, const double *weight, size_t stride, double *to, wb_message *message);
  int multiply(const dual_design &design, const double *v, double *product, wb_message *message);
  int multiply_transposed(const dual_design &design, const double *v, double *product, wb_message *message);

private:
  device_array<double> of_columns_, of_rows_, gram_, parts_;
  std::vector<double> host_;
};

} // namespace wb
