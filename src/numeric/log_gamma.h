/* Sums of logarithms of gamma functions. */
#pragma once

#include "backend/types.h"

/* sum + weight[0] lgamma(value[0] + shift) + ..., in this order, with the logarithms of core/elementary.h. */
double wb_log_gamma_sum(wb_isa isa, int64_t count, const double *value, const double *weight, double shift, double sum);

/* The sum of weight (lgamma(value + shift) - lgamma(shift) - value log(shift)), accurate for any shift >= 1000. */
double wb_log_gamma_excess_sum(wb_isa isa, int64_t count, const double *value, const double *weight, double shift);
