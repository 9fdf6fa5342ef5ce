/* Products of a design with more columns than rows, for the session of cpu/regression/sweep.c. */
#pragma once

#include "backend/regression_table.h"

/* gram(), multiply() and multiply_transposed() of backend/regression_table.h. */
int wb_cpu_dual_gram(const wb_regression_data *data, wb_isa isa, int threads, const double *weight, size_t stride,
                     double *gram, wb_message *message);
void wb_cpu_dual_multiply(const wb_regression_data *data, wb_isa isa, int threads, const double *v, double *product);
int wb_cpu_dual_multiply_transposed(const wb_regression_data *data, wb_isa isa, int threads, const double *v,
                                    double *product, wb_message *message);
