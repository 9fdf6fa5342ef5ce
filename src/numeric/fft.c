/* The fast Fourier transform for convolutions: decimation in frequency forward and in time backward, so that no entry
 * has to be permuted (Gentleman & Sande 1966).
 *
 * Error. A complex sequence z is transformed, its spectrum is squared and transformed back. Let u = 2^-53. A radix-4
 * step is two levels of complex additions, each with relative error u, and one product with a root of unity. The
 * product has relative error 2u by fused multiply-adds (Jeannerod, Kornerup, Louvet & Muller 2017, theorem 3.1) plus
 * the error of the root, below 2u here (measured: 1.3u). With L = log2(n), a transform has L levels, and every path
 * through it meets M <= (L + 1)/2 products. So the relative error of a transform in the 2-norm is at most d = (1 + u)^L
 * (1 + 2u)^M (1 + 2u)^M - 1. The squared spectrum is off by at most (2d + 2u) n |z|^2 in the 1-norm, up to terms of
 * order u^2. The inverse transform adds d/n times the 1-norm of the spectrum to any entry. Together this is (3d + 2u)
 * |z|^2 (compare Percival 2003 and Brent, Percival & Zimmermann 2007, theorem 5.1). */
#include "core/rounding.h"

#include "numeric/fft.h"

#include <stdlib.h>

#include "core/fma_chain.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* sin and cos of 2 pi t for 0 <= t <= 1/8 by their Taylor series in t, which is exact. Measured error: 1.3u. */
WB_HD double fft_sine(double t) {
  const double s = t * t;
  const double a = WB_HORNER(-s, 0.7181223017785006, 3.819952584848282, 15.09464257682299, 42.058693944897655,
                             76.70585975306139, 81.60524927607506, 41.34170224039976);
  /* 2 pi as the sum of two doubles. */
  return wb_fma(t, 6.283185307179586, t * wb_fma(a, -s, 2.4492935982947064e-16));
}
WB_HD double fft_cosine(double t) {
  const double s = t * t;
  return WB_HORNER(-s, 0.28200596845579123, 1.714390711088672, 7.903536371318469, 26.4262567833744, 60.24464137187666,
                   85.45681720669373, 64.9393940226683, 19.739208802178716, 1.0);
}

#define WB_LOOPS "numeric/fft_loops.h"
#include "numeric/isa.h"

typedef void step_function(double *re, double *im, size_t n, const double *roots, size_t begin, size_t end);

struct wb_fft {
  size_t length;
  int top;                 /* index in `roots` of the largest power of four */
  const double *roots[16]; /* [0]: the 16th roots of unity, re and im in turn; [s]: roots for length 4^(s + 2) */
  const double *halving;   /* the roots of the radix-2 step, or NULL */
};

/* cos and sin of 2 pi k / n for k <= n/8. Symmetry gives the others. */
typedef struct octant {
  size_t n;
  double *cosine, *sine;
} octant;

/* exp(-2 pi i k / n), for n a power of two from 8 to the n of the table. */
static inline void unit_root(const octant *table, size_t k, size_t n, double *re, double *im) {
  const size_t eighth = n / 8, place = k / eighth & 7, within = k % eighth;
  const size_t at = (place % 2 ? eighth - within : within) * (table->n / n);
  const double near = table->cosine[at], far = table->sine[at];
  const int swapped = ((place + 1) & 2) != 0;
  const double c = swapped ? far : near, s = swapped ? near : far;
  *re = ((place + 2) & 4) != 0 ? -c : c;
  *im = place < 4 ? -s : s;
}

/* Indices that a thread does together, and between two polls for an interrupt: at most some tens of milliseconds. */
#define TOGETHER ((size_t)1 << 12)
#define AT_ONCE ((size_t)1 << 20)
#define STEP_TIME 20.0 /* nanoseconds of an index, at most */
#define FILL_TIME 5.0  /* of a double that is copied to untouched memory */

/* Points of a transform that are worth one more thread, as measured on 16 cores: each pass waits for all threads. */
#define WORTH ((size_t)1 << 18)

static int threads_for(size_t length, int32_t threads) {
  const size_t most = 1 + length / WORTH;
  return threads < 2 || most < 2 ? 1 : wb_idle_threads(most < (size_t)threads ? (int)most : threads);
}

typedef void part_function(void *context, size_t begin, size_t end);

typedef struct whole_pass {
  part_function *function;
  void *context;
  size_t first, end, each;
} whole_pass;

static void do_part(void *context, int64_t piece) {
  const whole_pass *const pass = context;
  const size_t begin = pass->first + (size_t)piece * pass->each, left = pass->end - begin;
  pass->function(pass->context, begin, left < pass->each ? pass->end : begin + pass->each);
}

/* Indices 0..count - 1, each `points` points, on several threads. */
static int do_all(part_function *function, void *context, size_t count, size_t points, double nanoseconds,
                  int32_t threads, wb_poll *poll) {
  const size_t each = points < TOGETHER ? TOGETHER / points : 1;
  const size_t at_once = points < AT_ONCE ? AT_ONCE / points * (size_t)threads : 1;
  for (size_t begin = 0; begin < count; begin += at_once) {
    const size_t end = count - begin < at_once ? count : begin + at_once;
    whole_pass pass = {function, context, begin, end, each};
    wb_spread(threads, (int64_t)((end - begin + each - 1) / each), do_part, &pass);
    if (wb_poll_after(poll, nanoseconds * (double)((end - begin) * points) / threads)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

typedef struct root_table {
  const octant *eighths;
  double *roots;
  size_t n, powers;
} root_table;

static void fill_roots(void *context, size_t begin, size_t end) {
  const root_table *const t = context;
  for (size_t k = begin; k < end; k++)
    for (size_t power = 1; power <= t->powers; power++) {
      double *const w = t->roots + (k / 8 * t->powers + power - 1) * 16 + k % 8;
      unit_root(t->eighths, power * k, t->n, w, w + 8);
    }
}

int wb_fft_open(int log2_length, wb_isa isa, int32_t threads, wb_poll *poll, wb_fft **opened, wb_message *message) {
  const size_t n = (size_t)1 << log2_length, head = (sizeof(wb_fft) + 63) / 64 * 64;
  size_t doubles = 32;
  for (size_t length = 64; length <= n; length *= 4) doubles += length / 4 * 6;
  if (log2_length % 2) doubles += n;
  const size_t bytes = head + doubles * sizeof(double);
  *opened = NULL;
  wb_fft *const fft = wb_aligned_malloc(bytes);
  double *const eighths = wb_aligned_malloc(2 * (n / 8 + 1) * sizeof(double));
  if (!fft || !eighths) {
    wb_aligned_free(fft);
    wb_aligned_free(eighths);
    return wb_out_of_memory(message, "the tables of a Fourier transform", bytes);
  }
  const octant table = {n, eighths, eighths + n / 8 + 1};
  WB_LOOP(fft_table, isa)(n / 8 + 1, (double)n, table.cosine, table.sine);
  double *next = (double *)((char *)fft + head);
  fft->length = n;
  for (size_t k = 0; k < 16; k++) unit_root(&table, k, 16, next + 2 * k, next + 2 * k + 1);
  fft->roots[0] = next;
  next += 32;
  fft->top = 0;
  int status = WB_OK;
  const int useful = threads_for(n, threads);
  for (size_t length = 64; length <= n && status == WB_OK; length *= 4) {
    root_table quarters = {&table, next, length, 3};
    status = do_all(fill_roots, &quarters, length / 4, 1, STEP_TIME, length < n / 4 ? 1 : useful, poll);
    fft->roots[++fft->top] = next;
    next += length / 4 * 6;
  }
  fft->halving = NULL;
  if (log2_length % 2 && status == WB_OK) {
    root_table halves = {&table, next, n, 1};
    status = do_all(fill_roots, &halves, n / 2, 1, STEP_TIME, useful, poll);
    fft->halving = next;
  }
  wb_aligned_free(eighths);
  if (status == WB_OK) *opened = fft;
  else wb_fft_close(fft);
  return status;
}

void wb_fft_close(wb_fft *fft) { wb_aligned_free(fft); }

int wb_fft_keep(wb_fft_cache *cache, int log2_length, wb_isa isa, const wb_fft **fft, wb_message *message) {
  wb_poll never = {NULL, 0};
  int status = WB_OK;
  if (!cache->fft[log2_length]) status = wb_fft_open(log2_length, isa, 1, &never, &cache->fft[log2_length], message);
  *fft = cache->fft[log2_length];
  return status;
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

/* Bound of the error of any real or imaginary part of the computed z * z, over the squared 2-norm of z. */
static double square_error(int log2_length) {
  const double u = 0x1p-53, levels = log2_length, products = (log2_length + 1) / 2;
  const double transform = u * (levels + 4 * products);
  return 1.001 * (3 * transform + 2 * u);
}

double wb_fft_product_error(int log2_length, double p_square, double q_square, double scale) {
  return square_error(log2_length) * (p_square + q_square * scale * scale) * (0.5 / scale);
}

/* What a pass over all transforms of length n reads: they lie one after the other. */
typedef struct transforms {
  const wb_fft *fft;
  double *re, *im;
  size_t n;
  int level;
  wb_isa isa;
  step_function *step;
  const double *roots;
  size_t count; /* indices of a step of one transform */
} transforms;

static void do_steps(void *context, size_t begin, size_t end) {
  const transforms *const t = context;
  while (begin < end) {
    const size_t at = begin / t->count * t->n, first = begin % t->count, left = t->count - first;
    const size_t here = end - begin < left ? end - begin : left;
    t->step(t->re + at, t->im + at, t->n, t->roots, first, first + here);
    begin += here;
  }
}

static void do_squares(void *context, size_t begin, size_t end) {
  const transforms *const t = context;
  for (size_t i = begin; i < end; i++)
    WB_LOOP(fft_square_quarters, t->isa)(t->re + i * t->n, t->im + i * t->n, t->n, t->level, t->fft->roots);
}

/* One step of all transforms of length n, whose quarters or halves (`parts`) are transforms of the next length. */
static int step(transforms *t, step_function *function, const double *roots, size_t parts, int32_t threads,
                wb_poll *poll) {
  t->step = function;
  t->roots = roots;
  t->count = t->n / parts;
  return do_all(do_steps, t, t->fft->length / parts, 1, STEP_TIME, threads, poll);
}

/* z <- length (z * z). Long transforms are divided into shorter ones, which fit in a thread's cache. */
static int square(const wb_fft *fft, double *re, double *im, wb_isa isa, int32_t threads, wb_poll *poll) {
  transforms t = {.fft = fft, .re = re, .im = im, .n = fft->length, .level = fft->top, .isa = isa};
  if (fft->halving) {
    WB_TRY(step(&t, WB_LOOP(fft_halve, isa), fft->halving, 2, threads, poll));
    t.n /= 2;
  }
  while (t.n > AT_ONCE || (threads > 1 && fft->length < 2 * (size_t)threads * t.n)) {
    WB_TRY(step(&t, WB_LOOP(fft_divide, isa), fft->roots[t.level], 4, threads, poll));
    t.n /= 4;
    t.level--;
  }
  WB_TRY(do_all(do_squares, &t, fft->length / t.n, t.n, STEP_TIME, threads, poll));
  while (t.level < fft->top) {
    t.n *= 4;
    t.level++;
    WB_TRY(step(&t, WB_LOOP(fft_unite, isa), fft->roots[t.level], 4, threads, poll));
  }
  t.n = fft->length;
  return fft->halving ? step(&t, WB_LOOP(fft_join, isa), fft->halving, 2, threads, poll) : WB_OK;
}

/* to = scale * from, padded with zeros. */
typedef struct filling {
  size_t count;
  const double *from;
  double scale, *to;
} filling;

static void fill_part(void *context, size_t begin, size_t end) {
  const filling *const f = context;
  const size_t stop = f->count < end ? f->count : end;
  size_t k = begin;
  for (; k < stop; k++) f->to[k] = f->scale * f->from[k];
  if (k < end) memset(f->to + k, 0, (end - k) * sizeof(double));
}

static int fill(size_t length, size_t count, const double *from, double scale, double *to, int32_t threads,
                wb_poll *poll) {
  filling f = {count, from, scale, to};
  return do_all(fill_part, &f, length, 1, FILL_TIME, threads, poll);
}

int wb_fft_multiply(const wb_fft *fft, int64_t m, const double *p, int64_t n, const double *q, double scale, double *re,
                    double *im, int64_t first, int64_t count, double *r, wb_isa isa, int32_t threads, wb_poll *poll) {
  const int useful = threads_for(fft->length, threads);
  WB_TRY(fill(fft->length, (size_t)m, p, 1.0, re, useful, poll));
  WB_TRY(fill(fft->length, (size_t)n, q, scale, im, useful, poll));
  WB_TRY(square(fft, re, im, isa, useful, poll));
  /* The transforms omit the division by their length. */
  return fill((size_t)count, (size_t)count, im + first, 0.5 / scale / (double)fft->length, r, useful, poll);
}
