/* Rows of a Gaussian mixture with missing values (Little & Rubin 2019, chapter 11): reorders a component's factor so
 * that the observed coordinates come first.
 *
 * A component has F, a lower triangle with F'F = Sigma^-1, and offset = F mu. For a pattern of missingness let P put
 * the observed coordinates O first and the missing coordinates M last. There is an orthogonal G such that
 *   G F P' = [ A 0 ]
 *            [ B C ]
 * is a lower triangle again, where A has as many rows as coordinates are observed. Its square is P Sigma^-1 P', so that
 * A'A = (Sigma_OO)^-1. A and the first part of G offset give the observed coordinates' density, with log det A = log
 * det F - log det C. The other rows give the missing ones' law: C x_M = e + (G offset)_M - B x_O, e ~ N(0, I). One
 * triangle serves both.
 *
 * The missing columns are moved to the end, the last first. A moved column c has entries in all rows from c on.
 * Rotations of rows r and r + 1, r = c, c + 1, ..., clear them down to its new place: about 3 (p - c)(p + c) operations
 * for each column, as accurate as F.
 *
 * The factor of the floor, exp(-tr(Sigma^-1 E)/2) of each row (mixture/mixture.h), is the same for all patterns: the
 * weight of a component is pi_j N(x_O | mu_O, Sigma_OO) exp(-tr(Sigma_j^-1 E)/2). With a factor of the observed
 * coordinates alone, the covariances would have no inverse Wishart law. */
#pragma once

#include "core/linear_algebra.h"
#include "core/mixture_component.h"
#include "core/philox.h"
#include "core/random_normal.h"

/* Components that one call works on: the lanes of a vector on the CPU, one elsewhere. */
#define WB_MISSING_LANES 16

/* Where row r of a component starts: offset and packed triangle are stored as offset_r, F_r0, ..., F_rr for each r. */
WB_HD size_t wb_missing_row(int r) { return (size_t)r * ((size_t)r + 3) / 2; }
WB_HD size_t wb_missing_size(int p) { return wb_missing_row(p); }

/* Moves column c of the triangle to place `end`, for `lanes` components side by side. */
WB_HD void wb_missing_move(const int lanes, int p, int c, int end, double *values) {
  double corner[WB_MISSING_LANES], along[WB_MISSING_LANES], across[WB_MISSING_LANES];
  const size_t step = (size_t)lanes;
  double *row = values + wb_missing_row(c) * step;
  for (int l = 0; l < lanes; l++) corner[l] = row[((size_t)c + 1) * step + (size_t)l];
  for (int r = c; r < end; r++) {
    /* `row` holds the offset and the first r entries of row r without the column; `next` likewise. */
    double *next = values + wb_missing_row(r + 1) * step;
    for (int l = 0; l < lanes; l++) {
      const double other = next[((size_t)c + 1) * step + (size_t)l];
      const double size = wb_sqrt(wb_fma(corner[l], corner[l], other * other));
      along[l] = corner[l] / size;
      across[l] = other / size;
      corner[l] = size;
    }
    for (int i = 0; i <= r; i++) {
      double *mine = row + (size_t)i * step, *theirs = next + (size_t)i * step;
      const double *from = i > c ? theirs + step : theirs;
      for (int l = 0; l < lanes; l++) {
        const double a = mine[l], b = from[l];
        mine[l] = wb_fma(along[l], b, -(across[l] * a));
        theirs[l] = wb_fma(along[l], a, across[l] * b);
      }
    }
    double *mine = row + ((size_t)r + 1) * step, *theirs = next + ((size_t)r + 1) * step;
    for (int l = 0; l < lanes; l++) {
      const double b = theirs[step + (size_t)l];
      mine[l] = along[l] * b;
      theirs[l] = across[l] * b;
    }
    row = next;
  }
  for (int l = 0; l < lanes; l++) row[((size_t)end + 1) * step + (size_t)l] = corner[l];
  for (int r = end + 1; r < p; r++) {
    row = values + wb_missing_row(r) * step;
    for (int l = 0; l < lanes; l++) {
      const double kept = row[((size_t)c + 1) * step + (size_t)l];
      for (int i = c + 1; i <= end; i++) row[(size_t)i * step + (size_t)l] = row[((size_t)i + 1) * step + (size_t)l];
      row[((size_t)end + 1) * step + (size_t)l] = kept;
    }
  }
}

/* Reorders the triangles of `lanes` components. `order` lists the `observed` observed columns, then the missing ones,
 * each increasing. `constant`: the log constant of whole rows becomes that of the observed coordinates. */
WB_HD void wb_missing_reorder(const int lanes, int p, int observed, const int32_t *order, double *values,
                              double *constant) {
  for (int t = p - 1; t >= observed; t--) wb_missing_move(lanes, p, order[t], t, values);
  const size_t step = (size_t)lanes;
  for (int l = 0; l < lanes; l++) {
    double sum = 0;
    for (int r = observed; r < p; r++) sum += wb_log(values[(wb_missing_row(r) + (size_t)r + 1) * step + (size_t)l]);
    constant[l] += 0.5 * (p - observed) * WB_LOG_2_PI - sum;
  }
}
