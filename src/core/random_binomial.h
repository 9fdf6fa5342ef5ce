/* Binomial draws: by inversion for small means, otherwise by transformed rejection (Hormann 1993, "The generation of
 * binomial random variates", Journal of Statistical Computation and Simulation 46, 101-110, algorithm BTRS). Both take
 * p and q = 1 - p, so that neither loses digits. */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"

/* Inversion serves means up to this. BTRS needs at least 10. */
#define WB_BINOMIAL_INVERSION 12.0

/* q^n by squaring, with a relative error of about n 2^-53. */
WB_HD double wb_whole_power(double q, int64_t n) {
  double power = 1.0;
  for (; n > 0; n >>= 1) {
    if (n & 1) power *= q;
    q *= q;
  }
  return power;
}

/* The successes among n trials that the uniform u selects; none = q^n. The mean is at most 12: P(> 110) < 1e-60. */
WB_HD int64_t wb_binomial_invert(int64_t n, double p, double q, double none, double u) {
  const int64_t most = n < 110 ? n : 110;
  const double odds = p / q;
  double mass = none;
  int64_t x = 0;
  while (u >= mass && x < most) {
    u -= mass;
    mass *= odds * (double)(n - x) / (double)(x + 1);
    x++;
  }
  return x;
}

/* The same by rejection, for p <= q and n p >= 10, two words a trial: 86% end without a logarithm. */
WB_HD int64_t wb_binomial_reject(wb_stream *stream, int64_t n, double p, double q) {
  const double size = (double)n, deviation = wb_sqrt(size * p * q);
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double centre = size * p + 0.5, top = 0.92 - 4.2 / b;
  double mode = 0.0, at_mode = 0.0, log_odds = 0.0;
  int ready = 0;
  for (;;) {
    const double u = wb_stream_uniform(stream) - 0.5, v = wb_stream_uniform(stream);
    const double from_end = 0.5 - (u < 0.0 ? -u : u);
    const double place = (2.0 * a / from_end + b) * u + centre;
    if (!(place >= 0.0 && place < size + 1.0)) continue;
    const double x = (double)(int64_t)place;
    if (from_end >= 0.07 && v <= top) return (int64_t)x;
    if (!ready) {
      ready = 1;
      mode = (double)(int64_t)((size + 1.0) * p);
      log_odds = wb_log(p / q);
      at_mode = wb_lgamma(mode + 1.0) + wb_lgamma(size - mode + 1.0);
    }
    const double height = v * ((2.83 + 5.1 / b) * deviation) / (a / (from_end * from_end) + b);
    const double ratio = (at_mode - wb_lgamma(x + 1.0) - wb_lgamma(size - x + 1.0)) + (x - mode) * log_odds;
    if (wb_log(height) <= ratio) return (int64_t)x;
  }
}

/* A draw of the number of successes among n >= 0 trials of probability p; p + q = 1. */
WB_HD int64_t wb_draw_binomial(wb_stream *stream, int64_t n, double p, double q) {
  const int many = p > q;
  const double least = many ? q : p, other = many ? p : q;
  if (n <= 0 || !(least > 0.0)) return many && n > 0 ? n : 0;
  const int64_t x = least * (double)n <= WB_BINOMIAL_INVERSION
                        ? wb_binomial_invert(n, least, other, wb_whole_power(other, n), wb_stream_uniform(stream))
                        : wb_binomial_reject(stream, n, least, other);
  return many ? n - x : x;
}
