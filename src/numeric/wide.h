/* Wide numbers: mantissa * 2^exponent >= 0, for probabilities that a double cannot hold. The exponent is an integer in
 * a double, the mantissa in [1/2, 2); zero is (0, WB_WIDE_NOTHING). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "backend/types.h"

#define WB_WIDE_NOTHING (-0x1p60)

/* Exponents, and slopes times indices, stay below this in absolute value. */
#define WB_WIDE_LARGEST 0x1p50

typedef struct wb_wide {
  int64_t length;
  double *mantissa, *exponent;
} wb_wide;

void wb_wide_from_double(int64_t count, const double *x, double *mantissa, double *exponent, wb_isa isa);
void wb_wide_from_log(int64_t count, const double *log_x, double *mantissa, double *exponent, wb_isa isa);
/* Numbers below 2^-1074 become 0. x may be the array `mantissa` itself. */
void wb_wide_to_double(int64_t count, const double *mantissa, const double *exponent, double *x, wb_isa isa);
void wb_wide_to_log(int64_t count, const double *mantissa, const double *exponent, double *log_x, wb_isa isa);

/* Sums of tilted values: of the values, of these times index and squared index (from 0), and of their squares. */
typedef struct wb_tilt_sums {
  double value, index, index_square, square;
} wb_tilt_sums;

/* x[k] = value[k] 2^(slope (first + k) - reference), or 0 if that is below 2^-1000. slope has at most 21 significant
 * bits and indices have at most 32, so the exponent is exact and the relative error of x is at most 3 * 2^-53. */
void wb_wide_tilt(int64_t count, const double *mantissa, const double *exponent, double slope, int64_t first,
                  double reference, double *x, wb_tilt_sums *sums, wb_isa isa);
/* The same without the sums. After it for all entries, wb_wide_tilt() with no `mantissa` adds. */
void wb_wide_tilt_some(int64_t count, const double *mantissa, const double *exponent, double slope, int64_t first,
                       double reference, double *x, wb_isa isa);

/* The inverse: value[k] = x[k] 2^(reference - slope (first + k)). */
void wb_wide_untilt(int64_t count, const double *x, double slope, int64_t first, double reference, double *mantissa,
                    double *exponent, wb_isa isa);

/* Outputs that wb_wide_convolve() computes together, and terms that it adds up before adding them to the total. */
#define WB_WIDE_OUTPUTS 16
#define WB_WIDE_BLOCK 1024

/* A copy of x with WB_WIDE_OUTPUTS zeros on either side, in `memory`: 2 WB_WIDE_SURROUNDED(length) doubles. */
#define WB_WIDE_SURROUNDED(length) ((length) + 2 * WB_WIDE_OUTPUTS)
wb_wide wb_wide_surround(const wb_wide *x, double *memory);

/* Outputs first..first + count - 1 of the convolution of p and q, slowly, with every term. q: wb_wide_surround(). */
void wb_wide_convolve(const wb_wide *p, const wb_wide *q, int64_t first, int64_t count, double *mantissa,
                      double *exponent, wb_isa isa);
