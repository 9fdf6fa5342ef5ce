/* Exponential tilting: entry j of a vector is multiplied by 2^(slope j), which moves its mass to where the entries of a
 * window of outputs come from. */
#ifndef WB_PMF_TILT_H
#define WB_PMF_TILT_H

#include "numeric/poll.h"
#include "numeric/wide.h"

/* One vector to be convolved, without the zeros at its ends. */
typedef struct wb_pmf_factor {
  const double *mantissa, *exponent;
  int64_t offset; /* of the first positive entry in the caller's vector */
  int64_t length;
  int64_t blocks;
  double *top; /* of each block of entries: no entry passes 2^top */
} wb_pmf_factor;

/* `value` must outlive the factor. 0 without memory. */
int wb_pmf_factor_open(wb_pmf_factor *factor, const wb_wide *value);
void wb_pmf_factor_close(wb_pmf_factor *factor); /* also of a factor that is all zero bytes */

/* A factor under a tilt: x holds its entries first..first + count - 1, the largest of them scaled to at most 1. The
 * others were left out. */
typedef struct wb_pmf_tilted {
  int64_t first, count;
  double reference; /* x[k] = value 2^(slope index - reference) */
  double outside;   /* no less than the sum of the entries left out, on the scale of x */
  double mean, variance; /* of the index, with x as weights */
  wb_tilt_sums sums;
  double *x; /* room for all entries, the caller's */
} wb_pmf_tilted;

/* Both factors under the same tilt. */
typedef struct wb_pmf_window {
  double slope;
  wb_pmf_tilted p, q;
  double mean, deviation; /* of the tilted sum */
} wb_pmf_window;

/* Entries whose blocks lie more than 2^-cut below the largest are left out at both ends. WB_OK or WB_INTERRUPTED. */
int wb_pmf_tilt(const wb_pmf_factor *p, const wb_pmf_factor *q, double slope, double cut, wb_pmf_window *window,
                wb_isa isa, wb_poll *poll);

/* Tilts so that a window of `width` standard deviations on either side of the tilted sum's mean begins at the output
 * `begin` or just before it. The mean does not pass the middle of begin..end - 1. The search starts from `slope`. WB_OK
 * or WB_INTERRUPTED. */
int wb_pmf_find_slope(const wb_pmf_factor *p, const wb_pmf_factor *q, double slope, int64_t begin, int64_t end,
                      double width, wb_pmf_window *window, wb_isa isa, wb_poll *poll);

#endif
