/* The standard normal distribution function, from +, -, *, / and fma alone and without branches. Worst error
 * (tests/vectors/ulp.c): 2.2 ulp above 0 (bound 2.5), 7.6 in the far lower tail (8; relative 1e-15). */
#pragma once

#include "core/elementary.h"

/* exp(t^2/2) (1 - Phi(t)) = top/bottom for 0 <= t <= 38.7. The rational function interpolates at 22 Chebyshev points of
 * (t - 4.1)/(t + 4.1), computed in 40 digits for this file; relative error 1.7e-18. Positive terms: no cancelling. */
WB_HD double wb_mills_top(double t) {
  return WB_HORNER(t, 2.221706106268125e-07, 6.927829674615951e-06, 0.0001059975544148213, 0.0010353131188264493,
                   0.007099352061675747, 0.03557732514302591, 0.13179616682525233, 0.35686540207197454,
                   0.6790260913121311, 0.8275777530139079, 0.5);
}
WB_HD double wb_mills_bottom(double t) {
  return WB_HORNER(t, 5.56899134389083e-07, 1.7365493744248165e-05, 0.0002662533660693045, 0.002612510630687347,
                   0.018060019269267275, 0.09173954357420515, 0.3476336038070156, 0.9786915400849691, 1.999452688829699,
                   2.8152949789792876, 2.453040066830681, 1.0);
}

/* Phi(x); 0 below -37.6, where Phi is not a normal number; NaN for NaN. */
WB_HD double wb_normal_cdf(double x) {
  double t = wb_bits_double(wb_double_bits(x) & 0x7FFFFFFFFFFFFFFFu);
  t = wb_select(t > 38.7, 38.7, t);
  double square = t * t;
  double lost = wb_fma(t, t, -square); /* rounding error of the square */
  double weight = wb_exp_weight(-0.5 * square);
  weight = wb_fma(weight, -0.5 * lost, weight);
  double tail = weight * wb_mills_top(t) / wb_mills_bottom(t);
  return wb_select(x > 0.0, 1.0 - tail, tail);
}
