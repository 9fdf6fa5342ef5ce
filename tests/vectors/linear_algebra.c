/* Tests the packed triangles of core/linear_algebra.h. The product of the factors must give the matrix, and a matrix
 * times its inverse the identity. Results in place must have the same bits. A matrix that is not positive definite must
 * be recognised at the right row. Errors are measured in units of p 2^-52 times the size of the terms. */
#include <stdio.h>
#include <stdlib.h>

#include "core/linear_algebra.h"
#include "core/philox.h"

static int failures = 0;

static void expect(int holds, int p, const char *what, double error) {
  if (holds) return;
  failures++;
  printf("p = %d: %s (%.3g)\n", p, what, error);
}

static double *vector(size_t size) {
  double *values = (double *)calloc(size ? size : 1, sizeof *values);
  if (!values) abort();
  return values;
}

static double entry(const double *triangle, int r, int c) {
  return c > r ? 0.0 : triangle[wb_packed_row(r) + (size_t)c];
}

static double symmetric(const double *half, int r, int c) { return c > r ? entry(half, c, r) : entry(half, r, c); }

/* Largest |sum_k a(r,k) b(k,c) - expected(r,c)| over the sum of |a b|. */
static double product_error(int p, const double *left, int left_transposed, const double *right, int right_transposed,
                            const double *expected, int expected_symmetric) {
  double worst = 0.0;
  for (int r = 0; r < p; r++) {
    for (int c = 0; c < p; c++) {
      double sum = 0.0, size = 1e-300;
      for (int k = 0; k < p; k++) {
        double a = left_transposed ? entry(left, k, r) : entry(left, r, k);
        double b = right_transposed ? entry(right, c, k) : entry(right, k, c);
        sum = wb_fma(a, b, sum);
        size += fabs(a * b);
      }
      double wanted = !expected            ? (double)(r == c)
                      : expected_symmetric ? symmetric(expected, r, c)
                                           : entry(expected, r, c);
      double error = fabs(sum - wanted) / size;
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

static void check_size(int p) {
  const double unit = (double)p * 2.220446049250313e-16;
  size_t size = wb_packed_size(p), bytes = size * sizeof(double);
  double *l = vector(size), *m = vector(size), *a = vector(size), *result = vector(size), *again = vector(size);
  double *x = vector((size_t)p), *y = vector((size_t)p);
  wb_stream stream = wb_stream_open(7, WB_PURPOSE_SIMULATION, 0, (uint64_t)p);
  double error = 0.0;

  for (int r = 0; r < p; r++) {
    x[r] = wb_stream_uniform(&stream) - 0.5;
    for (int c = 0; c <= r; c++) {
      size_t at = wb_packed_row(r) + (size_t)c;
      l[at] = r == c ? 0.5 + wb_stream_uniform(&stream) : (wb_stream_uniform(&stream) - 0.5) / sqrt((double)p);
      m[at] = wb_stream_uniform(&stream) - 0.5;
    }
  }

  wb_triangle_square(p, l, a);
  error = product_error(p, l, 0, l, 1, a, 1);
  expect(error <= unit, p, "L L'", error);
  memcpy(again, l, bytes);
  wb_triangle_square(p, again, again);
  expect(memcmp(again, a, bytes) == 0, p, "L L' in place", 0.0);

  memcpy(result, a, bytes);
  expect(wb_cholesky(p, result) == 0, p, "Cholesky of a positive definite matrix", 0.0);
  error = product_error(p, result, 0, result, 1, a, 1);
  expect(error <= unit, p, "Cholesky factor times itself", error);

  wb_triangle_gram(p, m, result);
  error = product_error(p, m, 1, m, 0, result, 1);
  expect(error <= unit, p, "L' L", error);
  memcpy(again, m, bytes);
  wb_triangle_gram(p, again, again);
  expect(memcmp(again, result, bytes) == 0, p, "L' L in place", 0.0);

  wb_triangle_multiply(p, l, m, result);
  error = product_error(p, l, 0, m, 0, result, 0);
  expect(error <= unit, p, "L M", error);
  memcpy(again, l, bytes);
  wb_triangle_multiply(p, again, m, again);
  expect(memcmp(again, result, bytes) == 0, p, "L M in place", 0.0);

  wb_triangle_inverse(p, l, result);
  error = product_error(p, l, 0, result, 0, NULL, 0);
  expect(error <= unit, p, "L L^-1", error);
  memcpy(again, l, bytes);
  wb_triangle_inverse(p, again, again);
  expect(memcmp(again, result, bytes) == 0, p, "L^-1 in place", 0.0);

  wb_triangle_apply(p, l, x, y);
  wb_triangle_solve(p, l, y, y);
  error = 0.0;
  for (int r = 0; r < p; r++) error = fabs(y[r] - x[r]) > error ? fabs(y[r] - x[r]) : error;
  expect(error <= 50.0 * unit, p, "L^-1 (L x)", error);
  wb_triangle_apply_transposed(p, l, x, y);
  wb_triangle_solve_transposed(p, l, y, y);
  error = 0.0;
  for (int r = 0; r < p; r++) error = fabs(y[r] - x[r]) > error ? fabs(y[r] - x[r]) : error;
  expect(error <= 50.0 * unit, p, "L'^-1 (L' x)", error);

  double product = 1.0;
  for (int r = 0; r < p; r++) product *= entry(l, r, r);
  error = fabs(wb_triangle_log_determinant(p, l) - wb_log(product));
  expect(error <= 2.0 * unit, p, "log det L", error);

  memcpy(result, a, bytes);
  wb_symmetric_add_outer(p, -2.0, x, result);
  wb_symmetric_add_outer(p, 2.0, x, result);
  error = 0.0;
  for (size_t i = 0; i < size; i++) error = fabs(result[i] - a[i]) > error ? fabs(result[i] - a[i]) : error;
  expect(error <= 4.5e-16 * (double)p, p, "adding and taking away an outer product", error);

  /* Zero, negative, NaN and infinite pivots, at every row. */
  const double bad[] = {0.0, -1.0, wb_nan(), wb_infinity()};
  for (int r = 0; r < p; r++) {
    for (int b = 0; b < 4; b++) {
      memset(result, 0, bytes);
      for (int k = 0; k < p; k++) result[wb_packed_row(k) + (size_t)k] = k == r ? bad[b] : 1.0;
      expect(wb_cholesky(p, result) == 1 + r, p, "the row of a pivot that is not positive", (double)r);
    }
  }
  free(l), free(m), free(a), free(result), free(again), free(x), free(y);
}

int main(void) {
  const int sizes[] = {0, 1, 2, 3, 7, 14, 40, 100, 130};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) check_size(sizes[i]);
  printf("packed triangles: %d checks failed\n", failures);
  return failures != 0;
}
