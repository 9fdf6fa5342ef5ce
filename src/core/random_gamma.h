/* Exponential draws by inversion, and gamma draws by Marsaglia & Tsang 2000, "A simple method for generating gamma
 * variables", ACM Transactions on Mathematical Software 26, 363-372; all of scale 1. */
#pragma once

#include "core/random_normal.h"

/* An exponential draw. Takes one word. */
WB_HD double wb_draw_exponential(wb_stream *stream) { return -wb_log(wb_stream_uniform(stream)); }

/* Returns t such that d (1 + t)^3 is a gamma draw of shape d + 1/3 >= 1. Each trial takes two words, for a normal and a
 * uniform, even if the normal alone rejects it. The authors' quick test makes most logarithms unnecessary. */
WB_HD double wb_draw_gamma_root(wb_stream *stream, double d) {
  double scale = 1.0 / wb_sqrt(9.0 * d);
  for (;;) {
    double x = wb_draw_normal(stream);
    double u = wb_stream_uniform(stream);
    double t = scale * x;
    if (t <= -1.0) continue;
    double square = x * x;
    if (u < wb_fma(-0.0331 * square, square, 1.0)) return t;
    /* log of (density of d (1 + t)^3 over its bound) = x^2/2 + d (1 - v + log v), v = (1 + t)^3, expanded at v = 1. */
    double one_minus_v = -t * wb_fma(t, t + 3.0, 3.0);
    double log_ratio = wb_fma(d, wb_fma(3.0, wb_log1p(t), one_minus_v), 0.5 * square);
    if (wb_log(u) < log_ratio) return t;
  }
}

/* The log of a gamma draw of any shape > 0. For a shape a < 1, G(a) = G(a + 1) U^(1/a), as the authors advise. On the
 * log scale shapes such as 1e-3 or 1e-8 do not underflow. U takes the word after the words of G(a + 1). */
WB_HD double wb_draw_log_gamma(wb_stream *stream, double shape) {
  double d = (shape < 1.0 ? shape + 1.0 : shape) - 0.3333333333333333;
  double t = wb_draw_gamma_root(stream, d);
  double log_draw = wb_fma(3.0, wb_log1p(t), wb_log(d));
  if (shape >= 1.0) return log_draw;
  return log_draw + wb_log(wb_stream_uniform(stream)) / shape;
}

/* A gamma draw of shape 1 or more. */
WB_HD double wb_draw_gamma_from_one(wb_stream *stream, double shape) {
  double d = shape - 0.3333333333333333;
  double root = 1.0 + wb_draw_gamma_root(stream, d);
  return d * (root * root * root);
}

/* A gamma draw, from the same words as wb_draw_log_gamma(). Underflows to 0 for shapes below about 0.05. */
WB_HD double wb_draw_gamma(wb_stream *stream, double shape) {
  if (shape < 1.0) return wb_exp(wb_draw_log_gamma(stream, shape));
  return wb_draw_gamma_from_one(stream, shape);
}
