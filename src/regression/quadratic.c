/* Linear algebra of quadratic functions whose matrix is an arrow: regression/quadratic.h says which. */
#include "core/scalar.h"

#include "regression/quadratic.h"

#include "regression/draws.h"

enum { MOST = WB_REGRESSION_MOST_TERM_COLUMNS };

size_t wb_regression_quadratic_size(size_t p, size_t blocks, size_t q) {
  const size_t most = p + 1;
  return most + most * (most + 1) / 2 + blocks * (q * most + q * (q + 1) / 2 + q);
}

wb_regression_quadratic wb_regression_quadratic_in(double *memory, int32_t p, int learned, int32_t blocks, int32_t q) {
  const size_t most = (size_t)p + 1;
  wb_regression_quadratic e = {.p = p,
                               .d = p + (learned != 0),
                               .blocks = blocks,
                               .q = q,
                               .stride = (size_t)q * (most + 1) + wb_packed_size(q),
                               .linear = memory};
  e.information = e.linear + most;
  e.block = e.information + most * (most + 1) / 2;
  return e;
}

size_t wb_regression_quadratic_points(const wb_regression_quadratic *e) {
  return (size_t)e->d + (size_t)e->blocks * (size_t)e->q;
}

double *wb_regression_quadratic_linear(const wb_regression_quadratic *e, int32_t block) {
  return e->block + (size_t)(block + 1) * e->stride - e->q;
}

double *wb_regression_cut(double **memory, size_t count) {
  double *const part = *memory;
  *memory += count;
  return part;
}

size_t wb_regression_factor_size(size_t d, size_t blocks, size_t q) {
  return d * (d + 1) / 2 + blocks * (q * (q + 1) / 2) + q * d;
}

wb_regression_factor wb_regression_factor_in(double *memory, const wb_regression_quadratic *e) {
  wb_regression_factor f = {.leading = e->d, .lower = memory};
  f.own = f.lower + wb_packed_size(e->d);
  f.room = f.own + (size_t)e->blocks * wb_packed_size(e->q);
  return f;
}

void wb_regression_apply_symmetric(int n, const double *a, const double *x, double *out) {
  for (int r = 0; r < n; r++) out[r] = 0.0;
  for (int r = 0; r < n; r++) {
    const double *const row = a + wb_packed_row(r);
    for (int c = 0; c < r; c++) {
      out[r] = wb_fma(row[c], x[c], out[r]);
      out[c] = wb_fma(row[c], x[r], out[c]);
    }
    out[r] = wb_fma(row[r], x[r], out[r]);
  }
}

double wb_regression_dot(size_t n, const double *x, const double *y) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum = wb_fma(x[i], y[i], sum);
  return sum;
}

void wb_regression_eliminate(int q, const double *root, int p, const double *b, size_t stride, double *v,
                             double *precision) {
  for (int k = 0; k < q; k++) {
    const double *const left = root + wb_packed_row(k), *const row = b + (size_t)k * stride;
    double *const out = v + (size_t)k * (size_t)p;
    for (int c = 0; c < p; c++) {
      double sum = row[c];
      for (int j = 0; j < k; j++) sum = wb_fma(-left[j], v[(size_t)j * (size_t)p + (size_t)c], sum);
      out[c] = sum / left[k];
    }
    wb_symmetric_add_outer(p, -1.0, out, precision);
  }
}

static const double *block_of(const wb_regression_quadratic *e, int32_t block) {
  return e->block + (size_t)block * e->stride;
}

static const double *own_of(const wb_regression_quadratic *e, int32_t block) {
  return block_of(e, block) + (size_t)e->q * ((size_t)e->p + 1);
}

/* What the leading coordinates x explain of a block: its information with them times x. */
static void explain(const wb_regression_quadratic *e, int32_t block, int32_t leading, const double *x, double *out) {
  const size_t most = (size_t)e->p + 1;
  for (int32_t k = 0; k < e->q; k++)
    out[k] = wb_regression_dot((size_t)leading, block_of(e, block) + (size_t)k * most, x);
}

int wb_regression_factor_make(const wb_regression_quadratic *e, const wb_regression_ties *ties,
                              wb_regression_factor *f) {
  const size_t triangle = wb_packed_size(e->q);
  const int32_t d = f->leading;
  memcpy(f->lower, e->information, wb_packed_size(d) * sizeof(double));
  for (size_t i = 0; i < wb_packed_size(e->p); i++) f->lower[i] += ties->precision[i];
  for (int32_t b = 0; b < e->blocks; b++) {
    const double *const own = own_of(e, b);
    double *const factor = f->own + (size_t)b * triangle;
    for (size_t i = 0; i < triangle; i++) factor[i] = own[i] + ties->tie[i];
    if (wb_cholesky(e->q, factor) > 0) return 0;
    wb_regression_eliminate(e->q, factor, d, block_of(e, b), (size_t)e->p + 1, f->room, f->lower);
  }
  return wb_regression_root(ties->isa, d, f->lower) == 0;
}

void wb_regression_factor_colour(const wb_regression_quadratic *e, const wb_regression_factor *f, double *w) {
  double explained[MOST];
  wb_triangle_solve_transposed(f->leading, f->lower, w, w);
  for (int32_t b = 0; b < e->blocks; b++) {
    const double *const factor = f->own + (size_t)b * wb_packed_size(e->q);
    double *const to = w + f->leading + (size_t)b * (size_t)e->q;
    explain(e, b, f->leading, w, explained);
    wb_triangle_solve(e->q, factor, explained, explained);
    for (int32_t k = 0; k < e->q; k++) to[k] -= explained[k];
    wb_triangle_solve_transposed(e->q, factor, to, to);
  }
}

void wb_regression_factor_whiten(const wb_regression_quadratic *e, const wb_regression_factor *f, const double *x,
                                 double *w) {
  double explained[MOST];
  for (int32_t b = 0; b < e->blocks; b++) {
    const double *const factor = f->own + (size_t)b * wb_packed_size(e->q);
    const size_t at = (size_t)f->leading + (size_t)b * (size_t)e->q;
    explain(e, b, f->leading, x, explained);
    wb_triangle_solve(e->q, factor, explained, explained);
    wb_triangle_apply_transposed(e->q, factor, x + at, w + at);
    for (int32_t k = 0; k < e->q; k++) w[at + (size_t)k] += explained[k];
  }
  wb_triangle_apply_transposed(f->leading, f->lower, x, w);
}

void wb_regression_factor_solve(const wb_regression_quadratic *e, const wb_regression_factor *f, double *b) {
  const size_t most = (size_t)e->p + 1, triangle = wb_packed_size(e->q);
  double own[MOST];
  for (int32_t l = 0; l < e->blocks; l++) {
    const double *const factor = f->own + (size_t)l * triangle, *const cross = block_of(e, l);
    wb_cholesky_solve(e->q, factor, b + f->leading + (size_t)l * (size_t)e->q, own);
    for (int32_t k = 0; k < e->q; k++)
      for (int32_t c = 0; c < f->leading; c++) b[c] = wb_fma(-own[k], cross[(size_t)k * most + (size_t)c], b[c]);
  }
  wb_cholesky_solve(f->leading, f->lower, b, b);
  for (int32_t l = 0; l < e->blocks; l++) {
    const double *const factor = f->own + (size_t)l * triangle;
    double *const to = b + f->leading + (size_t)l * (size_t)e->q;
    explain(e, l, f->leading, b, own);
    for (int32_t k = 0; k < e->q; k++) to[k] -= own[k];
    wb_cholesky_solve(e->q, factor, to, to);
  }
}

void wb_regression_quadratic_apply(const wb_regression_quadratic *e, const wb_regression_ties *ties, int32_t leading,
                                   const double *x, double *out, double *room) {
  const size_t most = (size_t)e->p + 1;
  double own[MOST], tied[MOST];
  wb_regression_apply_symmetric(leading, e->information, x, out);
  wb_regression_apply_symmetric(e->p, ties->precision, x, room);
  for (int32_t c = 0; c < e->p; c++) out[c] += room[c];
  for (int32_t l = 0; l < e->blocks; l++) {
    const size_t at = (size_t)leading + (size_t)l * (size_t)e->q;
    const double *const cross = block_of(e, l);
    explain(e, l, leading, x, out + at);
    wb_regression_apply_symmetric(e->q, own_of(e, l), x + at, own);
    wb_regression_apply_symmetric(e->q, ties->tie, x + at, tied);
    for (int32_t k = 0; k < e->q; k++) {
      out[at + (size_t)k] += own[k] + tied[k];
      for (int32_t c = 0; c < leading; c++)
        out[c] = wb_fma(cross[(size_t)k * most + (size_t)c], x[at + (size_t)k], out[c]);
    }
  }
}
