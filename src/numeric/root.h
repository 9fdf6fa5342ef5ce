/* The root of a symmetric positive definite matrix of many rows, and systems of equations with it, in vectors, with the
 * bits of core/linear_algebra.h. The matrix is square, row by row, with `stride` numbers between rows; n and the stride
 * are multiples of 8, the matrix at one of 64. Numbers below the diagonal are overwritten. */
#pragma once

#include "backend/types.h"

/* A stride for n rows: an odd multiple of 8, so that a column does not fall into few sets of a cache. */
static inline int32_t wb_root_padded(int32_t n) { return (n + 7) / 8 * 8; }
static inline size_t wb_root_stride(int32_t n) { return (size_t)wb_root_padded(n) | 8; }

/* Replaces A by U with U'U = A. Returns 0, or 1 + the first row whose pivot is not positive and finite. */
int32_t wb_root(wb_isa isa, int32_t n, size_t stride, double *a);

/* The same of a packed matrix, which becomes the packed U'. -1 if there is no memory: the matrix is unchanged then. */
#define WB_ROOT_WORTH 40
int32_t wb_root_packed(wb_isa isa, int32_t n, double *a);

/* The same of a banded matrix: row r has (r, r) to (r, r + band), then zeros, wb_root_band_width() numbers in all. */
#define WB_ROOT_ZEROS 16
static inline size_t wb_root_band_width(int32_t band) {
  return (size_t)band + (band < WB_ROOT_ZEROS ? 1 : WB_ROOT_ZEROS);
}
int32_t wb_root_band(wb_isa isa, int32_t n, int32_t band, double *a);

/* Solves U'x = b, and U x = b; x holds b at the start. `step`: from one diagonal entry to the next. */
void wb_root_solve_transposed(wb_isa isa, int32_t n, size_t step, int32_t band, const double *u, double *x);
void wb_root_solve(wb_isa isa, int32_t n, size_t step, int32_t band, const double *u, double *x);
