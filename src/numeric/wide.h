/* Non-negative numbers mantissa * 2^exponent whose exponents are whole numbers
 * in doubles: probabilities that a double cannot hold, exact to the last place
 * at any size. A mantissa lies in [1/2, 2), or is 0 with exponent
 * WB_WIDE_NOTHING. */
#ifndef WB_CPU_WIDE_H
#define WB_CPU_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include "backend/types.h"

#define WB_WIDE_NOTHING (-0x1p60)

/* Exponents and slopes times indices stay below 2^50 in absolute value. */
#define WB_WIDE_LARGEST 0x1p50

typedef struct wb_wide {
  int64_t length;
  double *mantissa, *exponent;
} wb_wide;

void wb_wide_from_double(int64_t count, const double *x, double *mantissa, double *exponent, wb_isa isa);
void wb_wide_from_log(int64_t count, const double *log_x, double *mantissa, double *exponent, wb_isa isa);
/* Below 2^-1074 the double is 0. In place: x may be mantissa. */
void wb_wide_to_double(int64_t count, const double *mantissa, const double *exponent, double *x, wb_isa isa);
void wb_wide_to_log(int64_t count, const double *mantissa, const double *exponent, double *log_x, wb_isa isa);

/* Sums of the tilted values, of the values times index and squared index (0 for
 * the first of them), and of their squares. */
typedef struct wb_tilt_sums {
  double value, index, index_square, square;
} wb_tilt_sums;

/* x[k] = value[k] 2^(slope (first + k) - reference), 0 where that is below
 * 2^-1000. slope has at most 21 significant bits and indices at most 32, so the
 * exponent is exact and x is within 3 * 2^-53 of its value, relatively. */
void wb_wide_tilt(int64_t count, const double *mantissa, const double *exponent, double slope,
                  int64_t first, double reference, double *x, wb_tilt_sums *sums, wb_isa isa);

/* The way back: value[k] = x[k] 2^(reference - slope (first + k)). */
void wb_wide_untilt(int64_t count, const double *x, double slope, int64_t first, double reference,
                    double *mantissa, double *exponent, wb_isa isa);

/* Outputs first..first + count - 1 of the convolution of p and q with every
 * term, whatever the exponents; ten times slower than doubles. q is surrounded
 * by WB_WIDE_OUTPUTS zeros on both sides. */
#define WB_WIDE_OUTPUTS 16
#define WB_WIDE_BLOCK 1024 /* terms of an output that are added before they go to the total */
void wb_wide_convolve(const wb_wide *p, const wb_wide *q, int64_t first, int64_t count, double *mantissa,
                      double *exponent, wb_isa isa);

#endif
