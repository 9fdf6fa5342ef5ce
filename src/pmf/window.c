/* Convolution by windows of exponential tilting.
 *
 * For any slope t, r_i = 2^(-t i) sum_j (p_j 2^(t j)) (q_{i-j} 2^(t (i-j))): the
 * factors may be tilted so that their mass gathers where it matters for a window
 * of outputs, and all but that part of them may be left out (the saddlepoint of
 * Daniels 1954 read as an algorithm; Keich 2005 and Wilson & Keich 2016 tilt
 * whole sequences and transform them). The tilted parts are convolved directly or
 * by the fast Fourier transform; then every output is certified or refused:
 *   - what was left out is at most outside_p max(q) + max(p) outside_q, from
 *     upper bounds on blocks of 32 entries;
 *   - the transform's error is at most wb_fft_error_bound (|p|^2 + |q|^2) / 2;
 * and their sum must not pass `accuracy` times the output. Refused outputs get a
 * window of their own, and in the end the direct sum. So the choice of windows
 * decides about speed, never about correctness; it uses counts of operations and
 * no clock, and is the same on every machine.
 */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include <stdlib.h>

#include "core/elementary.h"
#include "numeric/memory.h"

#define BLOCK 32

/* Exponents of up to 2^50 plus a slope times an index are rounded by less. */
#define ROUNDING 0.25

/* Half widths of a window in standard deviations of the tilted sum, and how far
 * (in bits) entries may lie below the largest before they are left out. A normal
 * tilted sum has fallen to e^-50 = 2^-72 and e^-2.9 = 0.06 there. */
#define DIRECT_WIDTH 10.0
#define DIRECT_CUT 140.0
#define FFT_WIDTH 2.4
#define FFT_CUT 72.0
#define WHOLE_CUT 980.0
#define SEARCH_CUT 60.0

/* Certificates: relative error by what a direct window leaves out, and the least
 * tilted output whose terms cannot have been lost to underflow. */
#define LEFT_OUT 1e-15
#define LEAST_OUTPUT 0x1p-900

/* Costs in multiply-adds of the direct sum, measured. */
#define COST_TILT 150.0 /* of an entry of a factor, searches included */
#define COST_FFT 9.0    /* times n log2(n) */
#define COST_ROOTS 450.0 /* times n: the tables of a length that is not kept, when first used */
#define COST_WINDOW 20000.0

/* Factors so small that one window is tried for all outputs. */
#define WHOLE_UP_TO 262144.0

/* Runs of refused outputs closer than this are computed together. */
#define MERGE 16

typedef struct factor {
  const double *mantissa, *exponent;
  int64_t offset; /* of the first positive entry in the caller's vector */
  int64_t length;
  int64_t blocks;
  double *top; /* of each block: the largest exponent, plus 1 as mantissas are below 2, plus ROUNDING */
} factor;

/* One factor under a tilt: entries first..first + count - 1, scaled to at most 1. */
typedef struct part {
  int64_t first, count;
  double reference; /* x = value 2^(slope index - reference) */
  double outside;   /* bound on the sum of the entries not in x, on the scale of x */
  double mean, variance;
  wb_tilt_sums sums;
  double *x;
} part;

typedef struct window {
  double slope;
  part p, q;
  double mean, deviation; /* of the tilted sum */
} window;

typedef struct interval {
  int64_t begin, end;
  int depth; /* attempts that came to little */
} interval;

typedef struct engine {
  const wb_pmf_context *context;
  factor p, q;
  int64_t outputs;
  const double *p_plain, *q_plain; /* of the trimmed factors, or NULL */
  double *r;                       /* of the trimmed outputs, or NULL: then wide */
  double *mantissa, *exponent;
  wb_wide q_padded; /* for the wide direct sum, made when first needed */
  double *q_padding;
  double *tilde; /* outputs of a window */
  double slope;    /* of the last window, where the search begins */
  int64_t plainly; /* outputs that the next direct sum takes before windows are tried again */
  wb_fft *fft[WB_FFT_LARGEST + 1]; /* those that the caller's cache does not keep */
  double *re, *im;
  int fft_room; /* log2 of their length, or 0 */
  interval *stack;
  size_t stack_count, stack_room;
  wb_message *message;
} engine;

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}
static double lesser(double a, double b) {
  return a < b ? a : b;
}
static double greater(double a, double b) {
  return a > b ? a : b;
}
static double magnitude(double a) {
  return a < 0 ? -a : a;
}

/* The least whole number not below x, |x| < 2^51. */
static double round_up(double x) {
  const double nearest = (x + WB_TO_INTEGER) - WB_TO_INTEGER;
  return nearest < x ? nearest + 1.0 : nearest;
}

/* 2^x rounded up to a power of two, at least 2^-1000; x is at most 1000. */
static double power_bound(double x) {
  const double e = greater(round_up(x), -1000.0);
  return wb_bits_double((wb_double_bits(e + WB_TO_INTEGER) + 1023) << 52);
}

/* 21 significant bits: times an index below 2^32 it is exact. */
static double round_slope(double slope) {
  const double spread = slope * 4294967297.0;
  return spread - (spread - slope);
}

static int log2_at_least(int64_t length) {
  int log2 = WB_FFT_LEAST;
  while (log2 < 62 && ((int64_t)1 << log2) < length) log2++;
  return log2;
}

/* Factors ------------------------------------------------------------------- */

static int factor_open(factor *f, const wb_wide *value) {
  int64_t first = 0, last = value->length - 1;
  while (first < last && value->mantissa[first] == 0) first++;
  while (last > first && value->mantissa[last] == 0) last--;
  f->offset = first;
  f->length = last - first + 1;
  f->mantissa = value->mantissa + first;
  f->exponent = value->exponent + first;
  f->blocks = (f->length + BLOCK - 1) / BLOCK;
  f->top = malloc((size_t)f->blocks * sizeof(double));
  if (!f->top) return 0;
  for (int64_t b = 0; b < f->blocks; b++) {
    double top = f->exponent[b * BLOCK];
    for (int64_t k = b * BLOCK + 1; k < smaller((b + 1) * BLOCK, f->length); k++)
      top = greater(top, f->exponent[k]);
    f->top[b] = top + 1.0 + ROUNDING;
  }
  return 1;
}

/* No entry of block b passes 2^this under the tilt. */
static double block_bound(const factor *f, int64_t b, double slope) {
  const double first = (double)(b * BLOCK), last = (double)(smaller((b + 1) * BLOCK, f->length) - 1);
  return f->top[b] + greater(slope * first, slope * last);
}

/* The largest exponent of an entry of block b under the tilt; the entry is less
 * than twice 2^this. */
static double block_peak(const factor *f, int64_t b, double slope) {
  double peak = 2 * WB_WIDE_NOTHING;
  for (int64_t k = b * BLOCK; k < smaller((b + 1) * BLOCK, f->length); k++)
    peak = greater(peak, f->exponent[k] + slope * (double)k);
  return peak;
}

static void tilt(const engine *e, const factor *f, double slope, double cut, part *part) {
  int64_t best = 0;
  double best_bound = block_bound(f, 0, slope);
  for (int64_t b = 1; b < f->blocks; b++) {
    const double bound = block_bound(f, b, slope);
    if (bound > best_bound) {
      best_bound = bound;
      best = b;
    }
  }
  double peak = block_peak(f, best, slope);
  for (int64_t b = 0; b < f->blocks; b++)
    if (block_bound(f, b, slope) > peak + 1.0) peak = greater(peak, block_peak(f, b, slope));
  part->reference = round_up(peak + ROUNDING) + 1.0;

  int64_t first = 0, last = f->blocks - 1;
  double outside = 0;
  for (; first < best; first++) {
    const double bound = block_bound(f, first, slope) - part->reference;
    if (bound >= -cut) break;
    outside += BLOCK * power_bound(bound);
  }
  for (; last > best; last--) {
    const double bound = block_bound(f, last, slope) - part->reference;
    if (bound >= -cut) break;
    outside += BLOCK * power_bound(bound);
  }
  part->first = first * BLOCK;
  part->count = smaller((last + 1) * BLOCK, f->length) - part->first;
  part->outside = outside;
  wb_wide_tilt(part->count, f->mantissa + part->first, f->exponent + part->first, slope, part->first,
               part->reference, part->x, &part->sums, e->context->run.isa);
  const double mean = part->sums.index / part->sums.value;
  part->mean = (double)part->first + mean;
  part->variance = greater(part->sums.index_square / part->sums.value - mean * mean, 0.0);
}

static void tilt_both(const engine *e, double slope, double cut, window *w) {
  w->slope = slope;
  tilt(e, &e->p, slope, cut, &w->p);
  tilt(e, &e->q, slope, cut, &w->q);
  w->mean = w->p.mean + w->q.mean;
  w->deviation = wb_sqrt(w->p.variance + w->q.variance);
}

/* A slope whose window begins at or just before `begin`; the window's middle
 * does not pass that of the interval. Newton's steps for the mean, whose
 * derivative with respect to the slope is log(2) times the variance, kept inside
 * the bracket that the means seen so far give. */
static void find_slope(const engine *e, int64_t begin, int64_t end, double width, window *w) {
  const double middle = 0.5 * (double)(begin + end - 1);
  const double steepest = WB_WIDE_LARGEST / (double)e->outputs;
  double slope = e->slope, low = 0, high = 0, step = 1.0;
  int has_low = 0, has_high = 0;
  for (int round = 0; round < 60; round++) {
    tilt_both(e, slope, SEARCH_CUT, w);
    const double reach = width * w->deviation;
    const double target = lesser(middle, (double)begin + 0.85 * reach);
    const double short_by = target - w->mean;
    if (magnitude(short_by) <= 0.5 + 0.15 * lesser(reach, 6.0 * w->deviation)) return;
    if (short_by > 0) {
      low = slope;
      has_low = 1;
    } else {
      high = slope;
      has_high = 1;
    }
    const double variance = w->deviation * w->deviation;
    double next = slope + short_by / (greater(variance, 1e-9) * WB_LN2_HIGH);
    const double farthest = 4.0 * step + magnitude(slope);
    next = lesser(greater(next, slope - farthest), slope + farthest);
    if (has_low && has_high) {
      if (!(next > low && next < high)) next = 0.5 * (low + high);
    } else {
      step *= 2.0;
    }
    next = round_slope(next);
    if (next == slope || magnitude(next) > steepest) return;
    slope = next;
  }
}

/* Outputs --------------------------------------------------------------------- */

static int push(engine *e, int64_t begin, int64_t end, int depth) {
  if (e->stack_count == e->stack_room) {
    const size_t room = e->stack_room ? 2 * e->stack_room : 64;
    interval *const moved = realloc(e->stack, room * sizeof *moved);
    if (!moved) return wb_out_of_memory(e->message, "the windows of a convolution", room * sizeof *moved);
    e->stack = moved;
    e->stack_room = room;
  }
  const interval pushed = {begin, end, depth};
  e->stack[e->stack_count++] = pushed;
  return WB_OK;
}

/* Outputs begin..begin + count - 1 from their tilted values. */
static void store(engine *e, const window *w, int64_t begin, int64_t count, const double *tilde) {
  const double reference = w->p.reference + w->q.reference;
  const wb_isa isa = e->context->run.isa;
  if (!e->r) {
    wb_wide_untilt(count, tilde, w->slope, begin, reference, e->mantissa + begin, e->exponent + begin, isa);
    return;
  }
  double mantissa[256], exponent[256];
  for (int64_t at = 0; at < count; at += 256) {
    const int64_t here = smaller(256, count - at);
    wb_wide_untilt(here, tilde + at, w->slope, begin + at, reference, mantissa, exponent, isa);
    wb_wide_to_double(here, mantissa, exponent, e->r + begin + at, isa);
  }
}

/* Whether no entry was left out and no product of two can underflow: then a
 * direct sum that came out as zero is zero. */
static int nothing_lost(const engine *e, const window *w) {
  const factor *factors[2] = {&e->p, &e->q};
  const part *parts[2] = {&w->p, &w->q};
  for (int side = 0; side < 2; side++) {
    const factor *f = factors[side];
    if (parts[side]->count != f->length) return 0;
    for (int64_t k = 0; k < f->length; k++)
      if (f->mantissa[k] > 0 && parts[side]->x[k] < 0x1p-450) return 0;
  }
  return 1;
}

/* The refused outputs of `wanted` in runs, those outside the window among them:
 * counts them, and with `depth` not negative pushes the runs. */
static int refused_runs(engine *e, const interval *wanted, int64_t from, int64_t count, const double *tilde,
                        double least, int depth, int64_t *refused) {
  int64_t run_begin = wanted->begin, run_end = from;
  int status = WB_OK;
  *refused = 0;
  for (int64_t i = 0; i <= count && status == WB_OK; i++) {
    if (i < count && tilde[i] >= least) continue;
    const int64_t first = from + i, end = i < count ? first + 1 : wanted->end;
    if (run_end > run_begin && first - run_end < MERGE) {
      run_end = end;
      continue;
    }
    *refused += run_end - run_begin;
    if (run_end > run_begin && depth >= 0) status = push(e, run_begin, run_end, depth);
    run_begin = first;
    run_end = end;
  }
  *refused += run_end - run_begin;
  if (status == WB_OK && run_end > run_begin && depth >= 0) status = push(e, run_begin, run_end, depth);
  return status;
}

/* Stores the outputs of the window that pass `least` and pushes the others of
 * `wanted`. tilde[0] belongs to output `from`, there are `count` of them. */
static int settle(engine *e, const window *w, const interval *wanted, int64_t from, int64_t count,
                  const double *tilde, double least, int direct_sums) {
  int64_t good = 0, refused;
  for (int64_t i = 0; i < count; i++) good += tilde[i] >= least;
  if (good < count && direct_sums && nothing_lost(e, w)) least = 0;
  refused_runs(e, wanted, from, count, tilde, least, -1, &refused);
  const int64_t settled = wanted->end - wanted->begin - refused;
  if (settled > 0) store(e, w, from, count, tilde);
  return refused_runs(e, wanted, from, count, tilde, least, wanted->depth + (settled * 8 < count), &refused);
}

/* The sum of all terms for outputs [begin, end). */
static int direct(engine *e, int64_t begin, int64_t end) {
  const wb_pmf_context *context = e->context;
  if (e->r) {
    const wb_convolution work = {
      .pairs = 1, .m = e->p.length, .n = e->q.length, .p = e->p_plain, .p_stride = 1, .q = e->q_plain, .q_stride = 1,
      .first = begin, .count = end - begin, .r = e->r + begin, .r_stride = 1,
    };
    return wb_pmf_convolve_part(context, &work, e->message);
  }
  if (!e->q_padding) {
    const int64_t padded = e->q.length + 2 * WB_WIDE_OUTPUTS;
    e->q_padding = wb_aligned_malloc(2 * (size_t)padded * sizeof(double));
    if (!e->q_padding) return wb_out_of_memory(e->message, "a copy of a factor", 2 * (size_t)padded * sizeof(double));
    for (int64_t k = 0; k < padded; k++) {
      const int64_t at = k - WB_WIDE_OUTPUTS;
      const int inside = at >= 0 && at < e->q.length;
      e->q_padding[k] = inside ? e->q.mantissa[at] : 0;
      e->q_padding[padded + k] = inside ? e->q.exponent[at] : WB_WIDE_NOTHING;
    }
    const wb_wide inner = {e->q.length, e->q_padding + WB_WIDE_OUTPUTS, e->q_padding + padded + WB_WIDE_OUTPUTS};
    e->q_padded = inner;
  }
  const wb_wide p = {e->p.length, (double *)e->p.mantissa, (double *)e->p.exponent};
  const int64_t at_once = (int64_t)(0.1 * WB_PMF_SLICE / (double)smaller(e->p.length, e->q.length)) + WB_WIDE_OUTPUTS;
  for (int64_t done = begin; done < end; done += at_once) {
    const int64_t count = smaller(at_once, end - done);
    wb_wide_convolve(&p, &e->q_padded, done, count, e->mantissa + done, e->exponent + done, context->run.isa);
    if (context->interrupted && context->interrupted()) return WB_PMF_INTERRUPTED;
  }
  return WB_OK;
}

/* What a window may have lost, on the scale of its outputs: what it left out, and
 * what wb_wide_tilt() made zero. */
static double lost_bound(const window *w) {
  const double entries = (double)(w->p.count + w->q.count);
  return w->p.outside + w->q.outside + entries * 0x1p-998;
}

/* Tilted outputs [from, to), which the window reaches, by direct sums. */
static int tilde_direct(engine *e, const window *w, int64_t from, int64_t to) {
  const int swap = w->p.count > w->q.count;
  const part *p = swap ? &w->q : &w->p, *q = swap ? &w->p : &w->q;
  const wb_convolution work = {
    .pairs = 1, .m = p->count, .n = q->count, .p = p->x, .p_stride = 1, .q = q->x, .q_stride = 1,
    .first = from - w->p.first - w->q.first, .count = to - from, .r = e->tilde, .r_stride = 1,
  };
  /* A card is worth its copies for large windows only; the sums are the same. */
  const int large = (double)p->count * (double)(to - from) > 1e8;
  const wb_backend *backend = large ? e->context->backend : wb_cpu_backend();
  return backend->convolution->convolve(&work, &e->context->run, e->message);
}

/* Cuts [*from, *to) to the outputs that the window reaches; 0 if none is left. */
static int within_reach(const window *w, int64_t *from, int64_t *to) {
  const int64_t origin = w->p.first + w->q.first;
  *from = larger(*from, origin);
  *to = smaller(*to, origin + w->p.count + w->q.count - 1);
  return *from < *to;
}

static int window_direct(engine *e, const window *w, const interval *wanted, int64_t from, int64_t to) {
  if (!within_reach(w, &from, &to)) return push(e, wanted->begin, wanted->end, wanted->depth + 1);
  const int status = tilde_direct(e, w, from, to);
  if (status != WB_OK) return status;
  return settle(e, w, wanted, from, to - from, e->tilde, greater(lost_bound(w) / LEFT_OUT, LEAST_OUTPUT), 1);
}

/* log2 of the transform's length for outputs [from, to): those wrapped around
 * must not fall among them. */
static int window_log2(const window *w, int64_t from, int64_t to) {
  const int64_t origin = w->p.first + w->q.first, all = w->p.count + w->q.count - 1;
  return log2_at_least(larger(larger(to - origin, all - (from - origin)), larger(w->p.count, w->q.count)));
}

/* The power of two by which q is multiplied so that both norms agree to within a
 * factor of sqrt(2). */
static double balance(const window *w) {
  double scale = 1.0;
  while (w->q.sums.square * scale * scale < 0.5 * w->p.sums.square) scale *= 2.0;
  while (w->q.sums.square * scale * scale > 2.0 * w->p.sums.square) scale *= 0.5;
  return scale;
}

/* The least tilted output that a transform certifies. */
static double least_by_fft(const engine *e, const window *w, int log2, double scale) {
  const double squares = w->p.sums.square + w->q.sums.square * scale * scale;
  const double error = wb_fft_error_bound(log2) * squares * (0.5 / scale);
  return greater((lost_bound(w) + error) / (0.99 * (e->context->accuracy - 3e-15)), LEAST_OUTPUT);
}

/* Memory and tables for a transform. */
static int fft_room(engine *e, int log2, const wb_fft **fft) {
  const size_t n = (size_t)1 << log2;
  if (log2 > e->fft_room) {
    wb_aligned_free(e->re);
    wb_aligned_free(e->im);
    e->re = wb_aligned_malloc(n * sizeof(double));
    e->im = wb_aligned_malloc(n * sizeof(double));
    e->fft_room = log2;
  }
  if (log2 > WB_FFT_KEPT && !e->fft[log2]) e->fft[log2] = wb_fft_open(log2, e->context->run.isa);
  *fft = log2 > WB_FFT_KEPT ? e->fft[log2] : wb_fft_keep(e->context->cache, log2, e->context->run.isa);
  if (e->re && e->im && *fft) return WB_OK;
  return wb_out_of_memory(e->message, "a Fourier transform", 5 * n * sizeof(double));
}

/* As window_direct(), by the transform. Where a few outputs about the mean would
 * not be certified, *tried stays 0 and nothing is done. */
static int window_fft(engine *e, const window *w, const interval *wanted, int64_t from, int64_t to, int *tried) {
  const int64_t origin = w->p.first + w->q.first;
  if (!within_reach(w, &from, &to)) return WB_OK;
  const int log2 = window_log2(w, from, to);
  if (log2 > WB_FFT_LARGEST) return WB_OK;
  const size_t n = (size_t)1 << log2;
  const double scale = balance(w), least = least_by_fft(e, w, log2, scale);
  const int64_t middle = larger(from, smaller((int64_t)w->mean, to - 1));
  const int64_t sample = larger(from, middle - 32), sample_end = smaller(to, middle + 32);
  int status = tilde_direct(e, w, sample, sample_end);
  if (status != WB_OK) return status;
  int64_t good = 0;
  for (int64_t i = 0; i < sample_end - sample; i++) good += e->tilde[i] >= least;
  if (good * 4 < (sample_end - sample) * 3) return WB_OK;

  *tried = 1;
  const wb_fft *fft;
  status = fft_room(e, log2, &fft);
  if (status != WB_OK) return status;
  memcpy(e->re, w->p.x, (size_t)w->p.count * sizeof(double));
  memset(e->re + w->p.count, 0, (n - (size_t)w->p.count) * sizeof(double));
  for (int64_t k = 0; k < w->q.count; k++) e->im[k] = scale * w->q.x[k];
  memset(e->im + w->q.count, 0, (n - (size_t)w->q.count) * sizeof(double));
  wb_fft_square(fft, e->re, e->im, e->context->run.isa);
  /* The imaginary part is 2 n scale times the outputs. */
  const double unit = 0.5 / scale / (double)n;
  const double *const product = e->im + (from - origin);
  for (int64_t i = 0; i < to - from; i++) e->tilde[i] = product[i] * unit;
  return settle(e, w, wanted, from, to - from, e->tilde, least, 0);
}

/* The direct sum for a stretch of the interval, twice as long each time. */
static int direct_stretch(engine *e, const interval *wanted) {
  const int64_t stop = smaller(wanted->end, wanted->begin + e->plainly);
  if (e->plainly < e->outputs) e->plainly *= 2;
  const int status = direct(e, wanted->begin, stop);
  return status == WB_OK && stop < wanted->end ? push(e, stop, wanted->end, 0) : status;
}

/* Outputs of the interval within so many standard deviations of the mean. */
static void reach(const window *w, double width, const interval *wanted, int64_t *from, int64_t *to) {
  const double distance = width * w->deviation + 8;
  *from = larger(wanted->begin, (int64_t)greater(w->mean - distance, (double)wanted->begin));
  *to = smaller(wanted->end, (int64_t)lesser(w->mean + distance, (double)wanted->end) + 1);
}

/* One window for the interval, or the direct sum where windows do not pay. */
static int attempt(engine *e, window *w, const interval *wanted) {
  const int64_t begin = wanted->begin, end = wanted->end;
  const double plain = (double)smaller(e->p.length, e->q.length);
  const double count = (double)(end - begin);
  const int give_up = e->r ? 2 : 4;
  if (wanted->depth >= give_up) return direct_stretch(e, wanted);

  if (!e->r && wanted->depth == 0 && (double)e->p.length * (double)e->q.length <= WHOLE_UP_TO) {
    find_slope(e, begin, end, 1e6, w);
    e->slope = w->slope;
    tilt_both(e, w->slope, WHOLE_CUT, w);
    const interval next = {begin, end, 1};
    return window_direct(e, w, &next, begin, end);
  }

  find_slope(e, begin, end, DIRECT_WIDTH, w);
  e->slope = w->slope;
  tilt_both(e, w->slope, DIRECT_CUT, w);
  const double entries = (double)(w->p.count + w->q.count);
  const double overhead = COST_TILT * entries + COST_WINDOW;
  const double direct_count = lesser(count, 2 * DIRECT_WIDTH * w->deviation + 1);
  const double direct_cost =
      ((double)smaller(w->p.count, w->q.count) * direct_count + overhead) / direct_count;
  const double fft_count = lesser(count, 2 * FFT_WIDTH * w->deviation + 1);
  const int log2 = (int)smaller(log2_at_least((int64_t)(0.75 * entries) + 1), WB_FFT_LARGEST);
  const double fft_point = COST_FFT * (double)log2 + (log2 <= WB_FFT_KEPT || e->fft[log2] ? 0 : COST_ROOTS);
  const double fft_cost = (fft_point * (double)((int64_t)1 << log2) + overhead) / fft_count;
  if (wanted->depth < 2 && e->context->accuracy >= 1e-13 && fft_cost < 0.7 * direct_cost &&
      (!e->r || fft_cost < 0.25 * plain)) {
    find_slope(e, begin, end, FFT_WIDTH, w);
    e->slope = w->slope;
    tilt_both(e, w->slope, FFT_CUT, w);
    int64_t from, to;
    int tried = 0;
    reach(w, 1.5 * FFT_WIDTH, wanted, &from, &to);
    const int status = window_fft(e, w, wanted, from, to, &tried);
    if (status != WB_OK || tried) return status;
    find_slope(e, begin, end, DIRECT_WIDTH, w);
    tilt_both(e, w->slope, DIRECT_CUT, w);
  }
  if (e->r && direct_cost > 0.25 * plain) return direct_stretch(e, wanted);
  int64_t from, to;
  reach(w, 1.2 * DIRECT_WIDTH, wanted, &from, &to);
  return window_direct(e, w, wanted, from, to);
}

static void clear(double *r, const wb_wide *r_wide, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    if (r) {
      r[i] = 0;
    } else {
      r_wide->mantissa[i] = 0;
      r_wide->exponent[i] = WB_WIDE_NOTHING;
    }
  }
}

int wb_pmf_convolve_windows(const wb_pmf_context *context, const wb_wide *p, const wb_wide *q,
                            const double *p_plain, const double *q_plain, double *r, wb_wide *r_wide,
                            wb_message *message) {
  engine e;
  memset(&e, 0, sizeof e);
  e.context = context;
  e.message = message;
  const int64_t all = p->length + q->length - 1;
  int status = WB_OK;
  window w;
  memset(&w, 0, sizeof w);
  double *memory = NULL;
  unsigned attempts = 0;
  if (!factor_open(&e.p, p) || !factor_open(&e.q, q))
    status = wb_out_of_memory(message, "bounds on a factor", sizeof(double) * (size_t)(e.p.blocks + e.q.blocks));
  if (status == WB_OK) {
    const size_t doubles = (size_t)(e.p.length + 64 + e.q.length + 64 + all);
    memory = wb_aligned_malloc(doubles * sizeof(double));
    if (!memory) status = wb_out_of_memory(message, "the parts of a convolution", doubles * sizeof(double));
  }
  if (status == WB_OK) {
    const int64_t offset = e.p.offset + e.q.offset;
    e.outputs = e.p.length + e.q.length - 1;
    e.plainly = r ? larger(64, e.outputs / 4) : 64;
    w.p.x = memory;
    w.q.x = memory + (e.p.length + 63) / 8 * 8;
    e.tilde = w.q.x + (e.q.length + 63) / 8 * 8;
    if (r) {
      e.p_plain = p_plain + e.p.offset;
      e.q_plain = q_plain + e.q.offset;
      e.r = r + offset;
    } else {
      r_wide->length = all;
      e.mantissa = r_wide->mantissa + offset;
      e.exponent = r_wide->exponent + offset;
    }
    clear(r, r_wide, 0, offset);
    clear(r, r_wide, offset + e.outputs, all);
    if (e.p.mantissa[0] == 0 || e.q.mantissa[0] == 0)
      clear(r, r_wide, 0, all);
    else
      status = push(&e, 0, e.outputs, 0);
    while (status == WB_OK && e.stack_count > 0) {
      const interval next = e.stack[--e.stack_count];
      status = attempt(&e, &w, &next);
      if (status == WB_OK && (++attempts & 255) == 0 && context->interrupted && context->interrupted())
        status = WB_PMF_INTERRUPTED;
    }
  }
  free(e.p.top);
  free(e.q.top);
  free(e.stack);
  wb_aligned_free(e.q_padding);
  wb_aligned_free(memory);
  wb_aligned_free(e.re);
  wb_aligned_free(e.im);
  for (int log2 = 0; log2 <= WB_FFT_LARGEST; log2++) wb_fft_close(e.fft[log2]);
  return status;
}
