/* The fast Fourier transform for convolutions: decimation in frequency forward and in
 * time backward, so that no entry has to be moved to another place (Gentleman & Sande 1966).
 *
 * Error. A complex sequence z is transformed, its spectrum is squared and transformed back. Let u = 2^-53. A step of radix four is two levels of complex additions,
 * each with relative error u, and one product with a root of unity, of relative
 * error 2u by fused multiply-adds (Jeannerod, Kornerup, Louvet & Muller 2017,
 * theorem 3.1) plus that of the root, below 2u here (measured: 1.3u). With
 * L = log2(n) a transform has L levels, and every path through it meets M <= (L + 1)/2 products. So its
 * relative error in the 2-norm is at most d = (1 + u)^L (1 + 2u)^M (1 + 2u)^M - 1.
 * The squared spectrum is off by at most (2d + 2u) n |z|^2 in the 1-norm, up to
 * terms of order u^2, and the way back adds d/n times the 1-norm of the spectrum
 * to any entry: together (3d + 2u) |z|^2 (compare Percival 2003 and Brent,
 * Percival & Zimmermann 2007, theorem 5.1).
 */
#include "core/rounding.h"

#include "numeric/fft.h"

#include <stdlib.h>

#include "core/host_device.h"
#include "numeric/memory.h"

/* sin and cos of 2 pi t for 0 <= t <= 1/8 by their Taylor series in t, where the
 * argument is exact. The error of the pair was measured: 1.3u. */
WB_HD double fft_sine(double t) {
  const double s = t * t;
  double a = 0.7181223017785006;
  a = wb_fma(a, -s, 3.819952584848282);
  a = wb_fma(a, -s, 15.09464257682299);
  a = wb_fma(a, -s, 42.058693944897655);
  a = wb_fma(a, -s, 76.70585975306139);
  a = wb_fma(a, -s, 81.60524927607506);
  a = wb_fma(a, -s, 41.34170224039976);
  /* 2 pi as the sum of two doubles. */
  return wb_fma(t, 6.283185307179586, t * wb_fma(a, -s, 2.4492935982947064e-16));
}
WB_HD double fft_cosine(double t) {
  const double s = t * t;
  double a = 0.28200596845579123;
  a = wb_fma(a, -s, 1.714390711088672);
  a = wb_fma(a, -s, 7.903536371318469);
  a = wb_fma(a, -s, 26.4262567833744);
  a = wb_fma(a, -s, 60.24464137187666);
  a = wb_fma(a, -s, 85.45681720669373);
  a = wb_fma(a, -s, 64.9393940226683);
  a = wb_fma(a, -s, 19.739208802178716);
  return wb_fma(a, -s, 1.0);
}

#define WB_LOOPS "numeric/fft_loops.h"
#include "numeric/isa.h"

typedef void square_function(double *re, double *im, size_t n, const double *const *roots, int level,
                             const double *halving);
typedef void table_function(size_t count, double n, double *cosine, double *sine);
static square_function *const squares[] = WB_ISA_TABLE(fft_square);
static table_function *const tables[] = WB_ISA_TABLE(fft_table);

struct wb_fft {
  size_t length;
  int top;                 /* index in `roots` of the largest power of four */
  const double *roots[16]; /* [0]: the 16th roots of unity, re and im in turn; [s]: those of length 4^(s + 2) */
  const double *halving;   /* the roots of the radix-2 step, or NULL */
};

/* cos and sin of 2 pi k / n for k <= n/8, from which symmetry gives the rest. */
typedef struct octant {
  size_t n;
  double *cosine, *sine;
} octant;

/* exp(-2 pi i k / n), where n is a power of two from 8 to the n of the table. */
static inline void unit_root(const octant *table, size_t k, size_t n, double *re, double *im) {
  const size_t eighth = n / 8, place = k / eighth & 7, within = k % eighth;
  const size_t at = (place % 2 ? eighth - within : within) * (table->n / n);
  const double near = table->cosine[at], far = table->sine[at];
  const int swapped = ((place + 1) & 2) != 0;
  const double c = swapped ? far : near, s = swapped ? near : far;
  *re = ((place + 2) & 4) != 0 ? -c : c;
  *im = place < 4 ? -s : s;
}

static void fill_quarter_roots(const octant *table, double *roots, size_t n) {
  for (size_t k = 0; k < n / 4; k++)
    for (size_t power = 1; power <= 3; power++) {
      double *const w = roots + k / 8 * 48 + (power - 1) * 16 + k % 8;
      unit_root(table, power * k, n, w, w + 8);
    }
}
static void fill_half_roots(const octant *table, double *roots, size_t n) {
  for (size_t k = 0; k < n / 2; k++) {
    double *const w = roots + k / 8 * 16 + k % 8;
    unit_root(table, k, n, w, w + 8);
  }
}

wb_fft *wb_fft_open(int log2_length, wb_isa isa) {
  const size_t n = (size_t)1 << log2_length, head = (sizeof(wb_fft) + 63) / 64 * 64;
  size_t doubles = 32;
  for (size_t length = 64; length <= n; length *= 4) doubles += length / 4 * 6;
  if (log2_length % 2) doubles += n;
  wb_fft *const fft = wb_aligned_malloc(head + doubles * sizeof(double));
  double *const eighths = wb_aligned_malloc(2 * (n / 8 + 1) * sizeof(double));
  if (!fft || !eighths) {
    wb_aligned_free(fft);
    wb_aligned_free(eighths);
    return NULL;
  }
  const octant table = {n, eighths, eighths + n / 8 + 1};
  tables[isa](n / 8 + 1, (double)n, table.cosine, table.sine);
  double *next = (double *)((char *)fft + head);
  fft->length = n;
  for (size_t k = 0; k < 16; k++) unit_root(&table, k, 16, next + 2 * k, next + 2 * k + 1);
  fft->roots[0] = next;
  next += 32;
  fft->top = 0;
  for (size_t length = 64; length <= n; length *= 4) {
    fill_quarter_roots(&table, next, length);
    fft->roots[++fft->top] = next;
    next += length / 4 * 6;
  }
  fft->halving = NULL;
  if (log2_length % 2) {
    fill_half_roots(&table, next, n);
    fft->halving = next;
  }
  wb_aligned_free(eighths);
  return fft;
}

void wb_fft_close(wb_fft *fft) {
  wb_aligned_free(fft);
}

const wb_fft *wb_fft_keep(wb_fft_cache *cache, int log2_length, wb_isa isa) {
  if (!cache->fft[log2_length]) cache->fft[log2_length] = wb_fft_open(log2_length, isa);
  return cache->fft[log2_length];
}

void wb_fft_cache_clear(wb_fft_cache *cache) {
  for (int log2 = 0; log2 <= WB_FFT_KEPT; log2++) {
    wb_fft_close(cache->fft[log2]);
    cache->fft[log2] = NULL;
  }
}

int wb_fft_log2(int64_t length) {
  int log2 = WB_FFT_LEAST;
  while (log2 < 62 && ((int64_t)1 << log2) < length) log2++;
  return log2;
}

double wb_fft_balance(double p_square, double q_square) {
  double scale = 1.0;
  while (q_square * scale * scale < 0.5 * p_square) scale *= 2.0;
  while (q_square * scale * scale > 2.0 * p_square) scale *= 0.5;
  return scale;
}

/* No entry of the computed z * z, each part taken by itself, is off by more than this
 * times the squared 2-norm of z. */
static double square_error(int log2_length) {
  const double u = 0x1p-53, levels = log2_length, products = (log2_length + 1) / 2;
  const double transform = u * (levels + 4 * products);
  return 1.001 * (3 * transform + 2 * u);
}

double wb_fft_product_error(int log2_length, double p_square, double q_square, double scale) {
  return square_error(log2_length) * (p_square + q_square * scale * scale) * (0.5 / scale);
}

void wb_fft_multiply(const wb_fft *fft, int64_t m, const double *p, int64_t n, const double *q, double scale,
                     double *re, double *im, int64_t first, int64_t count, double *r, wb_isa isa) {
  const size_t length = fft->length;
  memcpy(re, p, (size_t)m * sizeof(double));
  memset(re + m, 0, (length - (size_t)m) * sizeof(double));
  for (int64_t k = 0; k < n; k++) im[k] = scale * q[k];
  memset(im + n, 0, (length - (size_t)n) * sizeof(double));
  squares[isa](re, im, length, fft->roots, fft->top, fft->halving);
  /* The transforms leave out the division by their length. */
  const double unit = 0.5 / scale / (double)length;
  for (int64_t i = 0; i < count; i++) r[i] = im[first + i] * unit;
}
