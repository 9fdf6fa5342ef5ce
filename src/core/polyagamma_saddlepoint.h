/* Draws from the saddlepoint approximation to the density of PG(b, c), b >= 1, as Windle, Polson & Scott 2014
 * ("Sampling Polya-Gamma random variates: alternate and approximate techniques", arXiv 1405.0506, section 4), with
 * another envelope.
 *
 * Let K be the cumulant function of PG(1, c), x = b K'(t) and r = sign(t) sqrt(2 (t K'(t) - K(t))). In terms of z =
 * sqrt(b) r the density is the normal density times w = r/(t sqrt(K''(t))). The two roots x of one z^2 are proposed
 * together (Michael, Schucany & Haas 1976). A trial is accepted with probability 0.85 or more. */
#pragma once

#include "core/philox.h"
#include "core/polyagamma_law.h"

#define WB_POLYAGAMMA_WEIGHTS 2.33

/* The point of the transform's axis (core/polyagamma_law.h) on the given side of the pole where r^2 = (radius)^2:
 * Newton's method for r, within a bracket. r^2/2 is the log of the ratio minus t times its derivative. */
WB_HD_CALLED wb_polyagamma_point wb_polyagamma_root(int side, double a, double radius) {
  double between = wb_fma(a, a, WB_QUARTER_PI_SQUARE);
  double slope[3], low = 0.0, high = side == WB_POLYAGAMMA_LEFT_OF_POLE ? between : wb_infinity();
  wb_polyagamma_slopes(wb_polyagamma_point_at(a, 0.0, between), slope);
  double size = radius / wb_sqrt(-slope[1]);
  if (!(size < high)) size = 0.5 * high;
  wb_polyagamma_point point = wb_polyagamma_point_from(side, a, size);
  for (int i = 0; i < 100; i++) {
    wb_polyagamma_slopes(point, slope);
    double half_square = wb_fma(-point.t, slope[0], wb_polyagamma_log_ratio(point));
    double r = wb_sqrt(half_square > 0.0 ? 2.0 * half_square : 0.0);
    if (r < radius) low = size;
    else high = size;
    double rise = -size * slope[1]; /* derivative of half the square by the distance */
    double next = r > 0.0 ? size + (radius - r) * r / rise : 2.0 * size;
    if (!(next > low && next < high)) next = high < wb_infinity() ? 0.5 * (low + high) : 2.0 * size;
    double change = next - size;
    size = next;
    point = wb_polyagamma_point_from(side, a, size);
    if (change < 1e-13 * size && change > -1e-13 * size) break;
  }
  return point;
}

/* One trial: a draw, or -1 if it is rejected. */
WB_HD double wb_polyagamma_saddlepoint_trial(double b, double c, uint64_t first, uint64_t second) {
  double z = wb_normal_quantile_within(wb_uniform(first)), a = 0.5 * c;
  double radius = (z < 0.0 ? -z : z) / wb_sqrt(b);
  double at = wb_uniform(second) * WB_POLYAGAMMA_WEIGHTS;
  for (int side = WB_POLYAGAMMA_RIGHT_OF_POLE; side <= WB_POLYAGAMMA_LEFT_OF_POLE; side++) {
    double slope[3];
    wb_polyagamma_point point = wb_polyagamma_root(side, a, radius);
    wb_polyagamma_slopes(point, slope);
    double t = point.t < 0.0 ? -point.t : point.t;
    double weight = radius / (t * wb_sqrt(-slope[1]));
    if (at < weight) return 0.5 * b * slope[0];
    at -= weight;
  }
  return -1.0;
}
