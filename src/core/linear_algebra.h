/* Linear algebra on small triangles, p up to a few hundred, in double precision (Golub & Van Loan, Matrix Computations,
 * 4th ed., sections 3.1, 4.2).
 *
 * A lower triangle L, or the lower half of a symmetric matrix, is packed row by row: entry (r, c <= r) is at r (r +
 * 1)/2 + c. Sums run over increasing index, one fused multiply-add a term. */
#pragma once

#include "core/elementary.h"

/* Where row r of a packed triangle starts. */
WB_HD size_t wb_packed_row(int r) { return (size_t)r * ((size_t)r + 1) / 2; }

/* Where entry (r, c) of a packed symmetric matrix is, on either side of the diagonal. */
WB_HD size_t wb_packed_at(int r, int c) { return c <= r ? wb_packed_row(r) + (size_t)c : wb_packed_row(c) + (size_t)r; }

WB_HD size_t wb_packed_size(int p) { return wb_packed_row(p); }

/* Replaces the symmetric positive definite A by L with L L' = A. Returns 0. If the pivot of a row is not positive and
 * finite, returns 1 + that row; then only the rows before it are replaced. */
WB_HD int wb_cholesky(int p, double *a) {
  for (int r = 0; r < p; r++) {
    double *row = a + wb_packed_row(r);
    for (int c = 0; c <= r; c++) {
      const double *other = a + wb_packed_row(c);
      double sum = row[c];
      for (int k = 0; k < c; k++) sum = wb_fma(-row[k], other[k], sum);
      if (c < r) {
        row[c] = sum / other[c];
      } else {
        if (!(sum > 0.0 && sum < wb_infinity())) return 1 + r;
        row[r] = wb_sqrt(sum);
      }
    }
  }
  return 0;
}

/* inverse = L^-1; may be L itself. */
WB_HD void wb_triangle_inverse(int p, const double *l, double *inverse) {
  for (int r = 0; r < p; r++) {
    const double *row = l + wb_packed_row(r);
    double *out = inverse + wb_packed_row(r);
    double pivot = row[r];
    for (int c = 0; c < r; c++) {
      double sum = 0.0;
      for (int k = c; k < r; k++) sum = wb_fma(row[k], inverse[wb_packed_row(k) + (size_t)c], sum);
      out[c] = -sum / pivot;
    }
    out[r] = 1.0 / pivot;
  }
}

/* product = L M of two lower triangles; may be L itself, not M. */
WB_HD void wb_triangle_multiply(int p, const double *l, const double *m, double *product) {
  for (int r = 0; r < p; r++) {
    const double *row = l + wb_packed_row(r);
    double *out = product + wb_packed_row(r);
    for (int c = 0; c <= r; c++) {
      double sum = 0.0;
      for (int k = c; k <= r; k++) sum = wb_fma(row[k], m[wb_packed_row(k) + (size_t)c], sum);
      out[c] = sum;
    }
  }
}

/* square = L L', lower half; may be L itself. */
WB_HD void wb_triangle_square(int p, const double *l, double *square) {
  for (int r = p - 1; r >= 0; r--) {
    const double *row = l + wb_packed_row(r);
    double *out = square + wb_packed_row(r);
    for (int c = r; c >= 0; c--) {
      const double *other = l + wb_packed_row(c);
      double sum = 0.0;
      for (int k = 0; k <= c; k++) sum = wb_fma(row[k], other[k], sum);
      out[c] = sum;
    }
  }
}

/* gram = L' L, lower half; may be L itself. */
WB_HD void wb_triangle_gram(int p, const double *l, double *gram) {
  for (int r = 0; r < p; r++) {
    for (int c = 0; c <= r; c++) {
      double sum = 0.0;
      for (int k = r; k < p; k++) {
        const double *row = l + wb_packed_row(k);
        sum = wb_fma(row[r], row[c], sum);
      }
      gram[wb_packed_row(r) + (size_t)c] = sum;
    }
  }
}

/* y = L x; may be x itself. */
WB_HD void wb_triangle_apply(int p, const double *l, const double *x, double *y) {
  for (int r = p - 1; r >= 0; r--) {
    const double *row = l + wb_packed_row(r);
    double sum = 0.0;
    for (int c = 0; c <= r; c++) sum = wb_fma(row[c], x[c], sum);
    y[r] = sum;
  }
}

/* y = L' x; may be x itself. */
WB_HD void wb_triangle_apply_transposed(int p, const double *l, const double *x, double *y) {
  for (int c = 0; c < p; c++) {
    double sum = 0.0;
    for (int r = c; r < p; r++) sum = wb_fma(l[wb_packed_row(r) + (size_t)c], x[r], sum);
    y[c] = sum;
  }
}

/* Solves L x = b; x may be b itself. */
WB_HD void wb_triangle_solve(int p, const double *l, const double *b, double *x) {
  for (int r = 0; r < p; r++) {
    const double *row = l + wb_packed_row(r);
    double sum = b[r];
    for (int c = 0; c < r; c++) sum = wb_fma(-row[c], x[c], sum);
    x[r] = sum / row[r];
  }
}

/* Solves L' x = b; x may be b itself. */
WB_HD void wb_triangle_solve_transposed(int p, const double *l, const double *b, double *x) {
  for (int c = p - 1; c >= 0; c--) {
    double sum = b[c];
    for (int r = c + 1; r < p; r++) sum = wb_fma(-l[wb_packed_row(r) + (size_t)c], x[r], sum);
    x[c] = sum / l[wb_packed_row(c) + (size_t)c];
  }
}

/* Solves L L' x = b; x may be b itself. */
WB_HD void wb_cholesky_solve(int p, const double *l, const double *b, double *x) {
  wb_triangle_solve(p, l, b, x);
  wb_triangle_solve_transposed(p, l, x, x);
}

/* log det L: half of log det(L L'). */
WB_HD double wb_triangle_log_determinant(int p, const double *l) {
  double sum = 0.0;
  for (int r = 0; r < p; r++) sum += wb_log(l[wb_packed_row(r) + (size_t)r]);
  return sum;
}

/* y += weight * x x', lower half, of a vector x. */
WB_HD void wb_symmetric_add_outer(int p, double weight, const double *x, double *y) {
  for (int r = 0; r < p; r++) {
    double *row = y + wb_packed_row(r);
    double scaled = weight * x[r];
    for (int c = 0; c <= r; c++) row[c] = wb_fma(scaled, x[c], row[c]);
  }
}
