/* The smaller and the larger of two numbers. */
#pragma once

#include "core/host_device.h"

WB_HD int64_t wb_min_int(int64_t a, int64_t b) { return a < b ? a : b; }
WB_HD int64_t wb_max_int(int64_t a, int64_t b) { return a > b ? a : b; }
WB_HD double wb_min_real(double a, double b) { return a < b ? a : b; }
WB_HD double wb_max_real(double a, double b) { return a > b ? a : b; }
