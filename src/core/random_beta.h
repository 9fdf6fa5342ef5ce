/* Beta and Dirichlet draws on the log scale, from gammas: V = G(a)/(G(a) + G(b)) (Devroye 1986, Non-Uniform Random
 * Variate Generation, sections IX.4 and XI.4). log V and log(1 - V) have small relative errors for any V. */
#pragma once

#include "core/random_gamma.h"

/* wb_draw_log_gamma(), not inlined: for callers that draw few and need it in several places. */
WB_HD_CALLED double wb_called_log_gamma(wb_stream *stream, double shape) { return wb_draw_log_gamma(stream, shape); }

WB_HD void wb_draw_log_beta(wb_stream *stream, double a, double b, double *log_v, double *log_1mv) {
  double log_first = wb_called_log_gamma(stream, a);
  double log_odds = log_first - wb_called_log_gamma(stream, b);
  double size = log_odds < 0.0 ? -log_odds : log_odds;
  double log_larger = -wb_log1p(wb_exp(-size));
  double log_smaller = log_larger - size;
  *log_v = log_odds < 0.0 ? log_smaller : log_larger;
  *log_1mv = log_odds < 0.0 ? log_larger : log_smaller;
}

/* The logs of a Dirichlet draw with k >= 1 shapes, by gammas in order. log_p and shape must not overlap. */
WB_HD void wb_draw_log_dirichlet(wb_stream *stream, int k, const double *shape, double *log_p) {
  int largest = 0;
  for (int i = 0; i < k; i++) {
    log_p[i] = wb_draw_log_gamma(stream, shape[i]);
    if (log_p[i] > log_p[largest]) largest = i;
  }
  double top = log_p[largest], rest = 0.0;
  for (int i = 0; i < k; i++) {
    if (i != largest) rest += wb_exp(log_p[i] - top);
  }
  double log_largest = -wb_log1p(rest);
  for (int i = 0; i < k; i++) log_p[i] = (log_p[i] - top) + log_largest;
}
