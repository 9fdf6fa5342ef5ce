/* Triangular factors of Wishart draws with identity scale: Bartlett's decomposition (Bartlett 1933; Smith & Hocking
 * 1972, Algorithm AS 53, Applied Statistics 21, 341-345). With Sigma ~ inverse Wishart(df, Psi), Psi = L L' and T from
 * wb_draw_wishart_gram_factor(): Sigma^-1 = (T L^-1)' (T L^-1). */
#pragma once

#include "core/linear_algebra.h"
#include "core/random_gamma.h"

/* The square root of a chi-squared draw, any df > 0. */
WB_HD double wb_draw_chi(wb_stream *stream, double df) { return wb_sqrt(2.0 * wb_draw_gamma(stream, 0.5 * df)); }

/* Draws T, a lower triangle packed row by row, with T' T ~ W(df, I), df > p - 1. Each row r (from 0) takes standard
 * normals, then on the diagonal a chi draw with df - (p - 1 - r) degrees of freedom: Bartlett's triangle, reversed. */
WB_HD void wb_draw_wishart_gram_factor(wb_stream *stream, int p, double df, double *packed_lower) {
  for (int r = 0; r < p; r++) {
    double *row = packed_lower + wb_packed_row(r);
    for (int c = 0; c < r; c++) row[c] = wb_draw_normal(stream);
    row[r] = wb_draw_chi(stream, df - (double)(p - 1 - r));
  }
}
