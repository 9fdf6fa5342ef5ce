/* Widened densities of mixtures and their peaks. A sheet of cells that share one value gets the thickness `floor` of a
 * usual component. Sums run over blocks of LANES components, for vectors. No multiply-add is fused: fma() may be a slow
 * call. */
#include "core/rounding.h"

#include "mixture/peaks.h"

#include <string.h>

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "numeric/memory.h"

#define LANES 8
#define LEAST_LOG_SHARE (-20.0)
#define MOST_STEPS 200
#define LAST_STEP 1e-3
/* Steps of EM times this: below 2 the density still rises near a peak (Peters & Walker 1978). Not the first steps. */
#define LENGTHENED 1.8
#define PLAIN_STEPS 4

static size_t whole_blocks(size_t count) { return (count + LANES - 1) / LANES * LANES; }

size_t wb_peaks_share_size(int32_t components) { return whole_blocks((size_t)components); }

static size_t moments_size(int32_t columns) { return whole_blocks(wb_packed_size(columns) + (size_t)columns); }

/* The pooled covariance as its Cholesky factor, and the mean of the means. */
static int find_unit(wb_peaks_density *d, size_t stride, const wb_peaks_component *of) {
  const int32_t p = d->columns;
  double total = 0;
  for (int32_t j = 0; j < d->components; j++) {
    total += of[j].weight;
    for (int32_t r = 0; r < p; r++) {
      d->center[r] += of[j].weight * of[j].mean[(size_t)r * stride];
      double *const row = d->unit + wb_packed_row(r);
      for (int32_t c = 0; c <= r; c++) row[c] += of[j].weight * of[j].covariance[(size_t)r + (size_t)c * (size_t)p];
    }
  }
  for (size_t i = 0; i < wb_packed_size(p); i++) d->unit[i] /= total;
  for (int32_t c = 0; c < p; c++) d->center[c] /= total;
  return wb_cholesky(p, d->unit) == 0;
}

int wb_peaks_open(wb_peaks_density *density, wb_isa isa, int32_t components, int32_t columns, size_t stride,
                  const wb_peaks_component *of, wb_message *message) {
  const size_t k = (size_t)components, p = (size_t)columns, triangle = wb_packed_size(columns);
  const size_t padded = whole_blocks(k);
  *density = (wb_peaks_density){.isa = isa, .components = components, .columns = columns};
  density->memory = WB_PARTS(
      "cell types", message, WB_CLEARED(density->factor, padded * triangle), WB_PART(density->weight, k),
      WB_CLEARED(density->offset, padded * p), WB_PART(density->constant, padded), WB_PART(density->mean, k * p),
      WB_CLEARED(density->moments, k * moments_size(columns)), WB_CLEARED(density->unit, triangle),
      WB_CLEARED(density->center, p), WB_PART(density->room, 2 * p * p + 2 * triangle));
  if (!density->memory) return WB_ERROR_MEMORY;
  for (size_t j = 0; j < padded; j++) density->constant[j] = -wb_infinity();
  if (find_unit(density, stride, of)) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "the pooled covariance of the components is not positive definite");
}

void wb_peaks_close(wb_peaks_density *density) {
  wb_aligned_free(density->memory);
  density->memory = NULL;
}

void wb_peaks_point(const wb_peaks_density *density, size_t stride, const double *x, double *z) {
  for (int32_t c = 0; c < density->columns; c++) z[c] = x[(size_t)c * stride] - density->center[c];
  wb_triangle_solve(density->columns, density->unit, z, z);
}

/* Rotates `count` pairs of numbers, each pair `stride` from the one before. */
static void rotate(size_t count, size_t stride, double cosine, double sine, double *x, double *y) {
  for (size_t i = 0; i < count * stride; i += stride) {
    const double was = x[i];
    x[i] = cosine * was - sine * y[i];
    y[i] = sine * was + cosine * y[i];
  }
}

/* Eigenvalues of a symmetric matrix a (p x p, overwritten) on its diagonal, and eigenvectors in the columns of v, by
 * cyclic Jacobi rotations (Golub & Van Loan, section 8.5). */
static void find_eigenvectors(int32_t columns, double *a, double *v) {
  const size_t p = (size_t)columns;
  for (size_t i = 0; i < p * p; i++) v[i] = i % (p + 1) == 0;
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0, on = 0;
    for (size_t c = 0; c < p; c++)
      for (size_t r = 0; r < p; r++) *(r == c ? &on : &off) += a[r + c * p] * a[r + c * p];
    if (!(off > 1e-24 * on)) return;
    for (size_t c = 1; c < p; c++)
      for (size_t r = 0; r < c; r++) {
        const double across = a[r + c * p];
        if (across == 0) continue;
        const double ratio = (a[c + c * p] - a[r + r * p]) / (2 * across);
        const double tangent = (ratio < 0 ? -1 : 1) / ((ratio < 0 ? -ratio : ratio) + wb_sqrt(ratio * ratio + 1));
        const double cosine = 1 / wb_sqrt(tangent * tangent + 1), sine = tangent * cosine;
        rotate(p, 1, cosine, sine, a + r * p, a + c * p);
        rotate(p, p, cosine, sine, a + r, a + c);
        rotate(p, 1, cosine, sine, v + r * p, v + c * p);
      }
  }
}

/* The widened covariance, packed, of S in units of the density. */
static void widen(const wb_peaks_density *d, const double *covariance, double floor, double *wide) {
  const int32_t p = d->columns;
  const size_t n = (size_t)p;
  double *const whole = d->room, *const half = whole + n * n, *const trial = half + n * n;
  /* C^-1 S, by columns; then C^-1 (C^-1 S)', by columns. */
  for (size_t c = 0; c < n; c++) wb_triangle_solve(p, d->unit, covariance + c * n, half + c * n);
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) whole[c + r * n] = half[r + c * n];
    wb_triangle_solve(p, d->unit, whole + r * n, whole + r * n);
  }
  for (size_t r = 0; r < n; r++)
    for (size_t c = 0; c <= r; c++) {
      const double value = 0.5 * (whole[r + c * n] + whole[c + r * n]);
      wide[wb_packed_row((int)r) + c] = whole[r + c * n] = whole[c + r * n] = value;
      trial[wb_packed_row((int)r) + c] = value - (r == c ? floor * floor : 0);
    }
  if (wb_cholesky(p, trial) == 0) return;
  find_eigenvectors(p, whole, half);
  for (size_t i = 0; i < wb_packed_size(p); i++) wide[i] = 0;
  for (size_t c = 0; c < n; c++) {
    const double value = whole[c + c * n];
    wb_symmetric_add_outer(p, value > floor * floor ? value : floor * floor, half + c * n, wide);
  }
}

int wb_peaks_place(const wb_peaks_density *density, size_t stride, const wb_peaks_component *of, double floor) {
  const int32_t p = density->columns;
  const size_t n = (size_t)p, triangle = wb_packed_size(p);
  double *const offset = density->room, *const wide = density->room + 2 * n * n + triangle;
  for (size_t j = 0; j < (size_t)density->components; j++) {
    double *const mean = density->mean + j * n, *const moments = density->moments + j * moments_size(p);
    density->weight[j] = of[j].weight;
    wb_peaks_point(density, stride, of[j].mean, mean);
    widen(density, of[j].covariance, floor, wide);
    if (wb_cholesky(p, wide) != 0) return WB_ERROR_INPUT;
    wb_triangle_inverse(p, wide, wide);
    wb_triangle_gram(p, wide, moments);
    for (size_t i = 0; i < triangle; i++) density->factor[(j / LANES * triangle + i) * LANES + j % LANES] = wide[i];
    wb_triangle_apply(p, wide, mean, offset);
    for (size_t c = 0; c < n; c++) density->offset[(j / LANES * n + c) * LANES + j % LANES] = offset[c];
    wb_triangle_apply_transposed(p, wide, offset, moments + triangle);
    density->constant[j] = wb_log(of[j].weight) + wb_triangle_log_determinant(p, wide);
  }
  return WB_OK;
}

size_t wb_peaks_climb_room(int32_t components, int32_t columns) {
  return wb_peaks_share_size(components) + moments_size(columns) + (size_t)components;
}

#define WB_LOOPS "mixture/peaks_loops.h"
#include "numeric/isa.h"

double wb_peaks_log_density(const wb_peaks_density *density, const double *z, double *share) {
  return WB_LOOP(peaks_log_density, density->isa)(density, z, share);
}

void wb_peaks_climb(const wb_peaks_density *density, double *z, double *room) {
  WB_LOOP(peaks_climb, density->isa)(density, z, room);
}
