/* Exponential tilting: entry j is multiplied by 2^(slope j), which moves the mass to a window's entries. */
#pragma once

#include "backend/backend.h"
#include "numeric/poll.h"
#include "numeric/wide.h"

/* One vector to be convolved, without the zeros at its ends. */
typedef struct wb_pmf_factor {
  const double *mantissa, *exponent;
  int64_t offset; /* of the first positive entry in the caller's vector */
  int64_t length;
  int64_t blocks;
  double *top; /* for each block of entries: no entry exceeds 2^top */
} wb_pmf_factor;

/* `value` must outlive the factor. Returns 0 if there is no memory. */
int wb_pmf_factor_open(wb_pmf_factor *factor, const wb_wide *value);
void wb_pmf_factor_close(wb_pmf_factor *factor); /* also for a factor that memset() made 0 */

/* A factor under a tilt: x holds the entries first..first + count - 1, scaled to at most 1; others are left out. */
typedef struct wb_pmf_tilted {
  int64_t first, count;
  double reference;      /* x[k] = value 2^(slope index - reference) */
  double outside;        /* an upper bound on the sum of the entries left out, on the scale of x */
  double mean, variance; /* of the index, with x as weights */
  wb_tilt_sums sums;
  double *x; /* the caller's memory, with room for all entries */
} wb_pmf_tilted;

/* Both factors under the same tilt. */
typedef struct wb_pmf_window {
  double slope;
  wb_pmf_tilted p, q;
  double mean, deviation; /* of the tilted sum */
} wb_pmf_window;

/* Leaves out entries at both ends whose blocks are below 2^-cut of the largest entry. WB_OK or WB_INTERRUPTED. */
int wb_pmf_tilt(const wb_pmf_factor *p, const wb_pmf_factor *q, double slope, double cut, wb_pmf_window *window,
                wb_call *call);

/* Tilts so that a window of `width` standard deviations on either side of the tilted sum's mean begins at output
 * `begin` or just before, not past the middle of begin..end - 1. Starts at `slope`. WB_OK or WB_INTERRUPTED. */
int wb_pmf_find_slope(const wb_pmf_factor *p, const wb_pmf_factor *q, double slope, int64_t begin, int64_t end,
                      double width, wb_pmf_window *window, wb_call *call);
