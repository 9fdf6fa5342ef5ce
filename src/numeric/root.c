/* Roots of large matrices, eight rows at a time (Golub & Van Loan, Matrix Computations, 4th ed., section 4.2). */
#include "core/rounding.h"

#include "numeric/root.h"

#include <string.h>

#include "core/elementary.h"
#include "numeric/memory.h"

#define WB_LOOPS "numeric/root_loops.h"
#include "numeric/isa.h"

int32_t wb_root(wb_isa isa, int32_t n, size_t stride, double *a) {
  for (int32_t first = 0; first < n; first += 8) {
    WB_LOOP(root_subtract, isa)(first, n, stride, a);
    for (int32_t c = first; c < first + 8; c++) {
      double *const row = a + (size_t)c * stride;
      for (int32_t k = first; k < c; k++)
        WB_LOOP(root_add, isa)(n - c, -a[(size_t)k * stride + (size_t)c], a + (size_t)k * stride + c, row + c);
      if (!(row[c] > 0.0 && row[c] < wb_infinity())) return 1 + c;
      row[c] = wb_sqrt(row[c]);
      WB_LOOP(root_divide, isa)(n - c - 1, row[c], row + c + 1);
    }
  }
  return 0;
}

int32_t wb_root_packed(wb_isa isa, int32_t n, double *a) {
  const int32_t padded = wb_root_padded(n);
  const size_t stride = wb_root_stride(n), bytes = (size_t)padded * stride * sizeof(double);
  double *const root = wb_aligned_malloc(bytes), *from = a;
  if (!root) return -1;
  memset(root, 0, bytes);
  for (int32_t r = 0; r < padded; r++) root[(size_t)r * stride + (size_t)r] = 1.0;
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = 0; c <= r; c++) root[(size_t)c * stride + (size_t)r] = *from++;
  const int32_t failed = wb_root(isa, padded, stride, root);
  for (int32_t r = 0; r < n && !failed; r++)
    for (int32_t c = 0; c <= r; c++) *a++ = root[(size_t)c * stride + (size_t)r];
  wb_aligned_free(root);
  return failed;
}

/* Entries of row c of a band right of the diagonal. */
static int32_t band_entries(int32_t n, int32_t band, int32_t c) { return n - c - 1 < band ? n - c - 1 : band; }

int32_t wb_root_band(wb_isa isa, int32_t n, int32_t band, double *a) {
  const size_t width = wb_root_band_width(band);
  for (int32_t c = 0; c < n; c++) {
    double *const row = a + (size_t)c * width;
    if (band >= WB_ROOT_ZEROS) WB_LOOP(root_subtract_band, isa)(c, band, width, a);
    for (int32_t k = c < band ? 0 : c - band; k < c && band < WB_ROOT_ZEROS; k++) {
      const double *const above = a + (size_t)k * width + (size_t)(c - k);
      WB_LOOP(root_add, isa)(band_entries(n, band, k) - (c - k) + 1, -*above, above, row);
    }
    if (!(*row > 0.0 && *row < wb_infinity())) return 1 + c;
    *row = wb_sqrt(*row);
    WB_LOOP(root_divide, isa)(band_entries(n, band, c), *row, row + 1);
  }
  return 0;
}

void wb_root_solve_transposed(wb_isa isa, int32_t n, size_t step, int32_t band, const double *u, double *x) {
  for (int32_t c = 0; c < n; c++) {
    const double *const row = u + (size_t)c * step;
    x[c] /= *row;
    WB_LOOP(root_add, isa)(band_entries(n, band, c), -x[c], row + 1, x + c + 1);
  }
}

void wb_root_solve(wb_isa isa, int32_t n, size_t step, int32_t band, const double *u, double *x) {
  for (int32_t c = n - 1; c >= 0; c--) {
    const double *const row = u + (size_t)c * step;
    x[c] = WB_LOOP(root_dot, isa)(band_entries(n, band, c), row + 1, x + c + 1, x[c]) / *row;
  }
}
