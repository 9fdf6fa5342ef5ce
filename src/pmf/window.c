/* Convolution by windows of exponential tilting.
 *
 * For any slope t, r_i = 2^(-t i) sum_j (p_j 2^(t j)) (q_{i-j} 2^(t (i-j))). So factors can be tilted until their mass
 * lies on what contributes to a window of outputs, and other entries left out (compare Daniels 1954; Keich 2005; Wilson
 * & Keich 2016). The tilted parts are convolved directly or by the fast Fourier transform. Then every output is
 * certified or refused. Its error has two sources:
 *   - the entries left out: at most outside_p max(q) + max(p) outside_q, by upper bounds on blocks of entries;
 *   - the transform: at most wb_fft_product_error().
 * An output is certified if the sum of both is at most `accuracy` times the output. Refused outputs get their own
 * window, in the end the direct sum. The choice of windows counts operations, not time. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include <stdlib.h>
#include <string.h>

#include "core/min_max.h"
#include "numeric/memory.h"
#include "pmf/tilt.h"

/* Half widths of a window in standard deviations, and how many bits (CUT) below the largest entries are left out. */
#define DIRECT_WIDTH 10.0
#define DIRECT_CUT 140.0
#define FFT_WIDTH 2.4
#define FFT_CUT 72.0
#define WHOLE_CUT 980.0

/* The relative error allowed for entries left out, and the least tilted output for which no product underflowed. */
#define LEFT_OUT 1e-15
#define LEAST_OUTPUT 0x1p-900

/* Costs in multiply-adds of the direct sum, measured. */
#define COST_TILT 150.0  /* for each entry of a factor, searches included */
#define COST_FFT 9.0     /* times n log2(n) */
#define COST_ROOTS 450.0 /* times n: the tables of a length that is not cached, when first used */
#define COST_WINDOW 20000.0

/* Up to so many products (entries of p times entries of q), one window is tried for all outputs. */
#define WHOLE_UP_TO 262144.0

/* From so many products on, a direct window runs on the backend; for fewer, copies to a GPU take longer. */
#define DEVICE_FROM 1e8

/* Runs of refused outputs closer than this are computed together. */
#define MERGE 16

/* At most so many nanoseconds to decide about an output and store it. */
#define STORE_TIME 20.0

typedef struct interval {
  int64_t begin, end;
  int depth; /* how many windows that settled few outputs were tried for it */
} interval;

/* One convolution in progress. Outputs are counted from the first that can be positive. */
typedef struct task {
  const wb_pmf_method *method;
  wb_pmf_factor p, q;
  int64_t outputs;
  const double *p_plain, *q_plain; /* the factors as doubles, or NULL */
  double *r;                       /* outputs as doubles; NULL: outputs are wide numbers */
  double *mantissa, *exponent;
  wb_wide q_surrounded; /* for direct sums of wide weights; made when first needed */
  double *q_memory;
  double *tilted;                  /* outputs of one window, on its scale */
  double slope;                    /* of the last window; the next search begins there */
  int64_t direct_length;           /* outputs of the next stretch of direct sums, before windows are tried again */
  wb_fft *fft[WB_FFT_LARGEST + 1]; /* tables of lengths that the caller's cache does not hold */
  double *re, *im;
  int fft_room;    /* log2 of the length of re and im, or 0 */
  interval *stack; /* outputs still to be computed */
  size_t stack_count, stack_room;
} task;

/* Finds the slope of a window for these outputs and tilts by it. Entries `cut` bits below the largest are left out. */
static int open_window(task *t, int64_t begin, int64_t end, double width, double cut, wb_pmf_window *w) {
  WB_TRY(wb_pmf_find_slope(&t->p, &t->q, t->slope, begin, end, width, w, t->method->call));
  t->slope = w->slope;
  return wb_pmf_tilt(&t->p, &t->q, w->slope, cut, w, t->method->call);
}

/* Puts outputs on the stack. */
static int postpone(task *t, int64_t begin, int64_t end, int depth) {
  if (t->stack_count == t->stack_room) {
    const size_t room = t->stack_room ? 2 * t->stack_room : 64;
    interval *const moved = realloc(t->stack, room * sizeof *moved);
    if (!moved) return wb_out_of_memory(t->method->call->message, "the windows of a convolution", room * sizeof *moved);
    t->stack = moved;
    t->stack_room = room;
  }
  const interval pushed = {begin, end, depth};
  t->stack[t->stack_count++] = pushed;
  return WB_OK;
}

/* Stores outputs begin..begin + count - 1, given their tilted values. */
static int store(task *t, const wb_pmf_window *w, int64_t begin, int64_t count, const double *tilted) {
  const double reference = w->p.reference + w->q.reference;
  const wb_isa isa = t->method->call->run.isa;
  double mantissa[256], exponent[256];
  for (int64_t at = 0; at < count; at += 256) {
    const int64_t here = wb_min_int(256, count - at), i = begin + at;
    double *const m = t->r ? mantissa : t->mantissa + i, *const e = t->r ? exponent : t->exponent + i;
    wb_wide_untilt(here, tilted + at, w->slope, i, reference, m, e, isa);
    if (t->r) wb_wide_to_double(here, m, e, t->r + i, isa);
    if (wb_poll_after(&t->method->call->poll, STORE_TIME * (double)here)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

/* Whether no entry was left out and no product can underflow: then an output whose direct sum is zero is zero. */
static int nothing_lost(const task *t, const wb_pmf_window *w) {
  const wb_pmf_factor *factors[2] = {&t->p, &t->q};
  const wb_pmf_tilted *parts[2] = {&w->p, &w->q};
  for (int side = 0; side < 2; side++) {
    const wb_pmf_factor *f = factors[side];
    if (parts[side]->count != f->length) return 0;
    for (int64_t k = 0; k < f->length; k++)
      if (f->mantissa[k] > 0 && parts[side]->x[k] < 0x1p-450) return 0;
  }
  return 1;
}

/* Joins refused outputs of `wanted`, and those outside the window, to runs, and counts them; depth >= 0: postpones. */
static int refused_runs(task *t, const interval *wanted, int64_t from, int64_t count, const double *tilted,
                        double least, int depth, int64_t *refused) {
  int64_t run_begin = wanted->begin, run_end = from;
  *refused = 0;
  for (int64_t i = 0; i <= count; i++) {
    if (i < count && tilted[i] >= least) continue;
    const int64_t first = from + i, end = i < count ? first + 1 : wanted->end;
    if (run_end > run_begin && first - run_end < MERGE) {
      run_end = end;
      continue;
    }
    *refused += run_end - run_begin;
    if (run_end > run_begin && depth >= 0) WB_TRY(postpone(t, run_begin, run_end, depth));
    run_begin = first;
    run_end = end;
  }
  *refused += run_end - run_begin;
  return run_end > run_begin && depth >= 0 ? postpone(t, run_begin, run_end, depth) : WB_OK;
}

/* Stores the outputs from `from` on that are at least `least`, and postpones the other outputs of `wanted`. */
static int settle(task *t, const wb_pmf_window *w, const interval *wanted, int64_t from, int64_t count,
                  const double *tilted, double least, int direct_sums) {
  int64_t good = 0, refused;
  for (int64_t i = 0; i < count; i++) good += tilted[i] >= least;
  if (good < count && direct_sums && nothing_lost(t, w)) least = 0;
  refused_runs(t, wanted, from, count, tilted, least, -1, &refused);
  const int64_t settled = wanted->end - wanted->begin - refused;
  WB_TRY(settled > 0 ? store(t, w, from, count, tilted) : WB_OK);
  return refused_runs(t, wanted, from, count, tilted, least, wanted->depth + (settled * 8 < count), &refused);
}

/* Outputs [begin, end) by direct sums over the whole factors. */
static int direct(task *t, int64_t begin, int64_t end) {
  if (t->r) {
    const wb_convolution work =
        wb_pmf_one_pair(t->p.length, t->p_plain, t->q.length, t->q_plain, begin, end - begin, t->r + begin);
    return wb_pmf_direct(t->method, t->method->table, &work, NULL);
  }
  if (!t->q_memory) {
    const size_t bytes = 2 * (size_t)WB_WIDE_SURROUNDED(t->q.length) * sizeof(double);
    const wb_wide q = {t->q.length, (double *)t->q.mantissa, (double *)t->q.exponent};
    t->q_memory = wb_aligned_malloc(bytes);
    if (!t->q_memory) return wb_out_of_memory(t->method->call->message, "a copy of a factor", bytes);
    t->q_surrounded = wb_wide_surround(&q, t->q_memory);
  }
  const wb_wide p = {t->p.length, (double *)t->p.mantissa, (double *)t->p.exponent};
  return wb_pmf_direct_wide(t->method, &p, &t->q_surrounded, begin, end - begin, t->mantissa + begin,
                            t->exponent + begin);
}

/* Upper bound of what a window lost, on the scale of its outputs: entries left out or made zero by wb_wide_tilt(). */
static double lost_bound(const wb_pmf_window *w) {
  const double entries = (double)(w->p.count + w->q.count);
  return w->p.outside + w->q.outside + entries * 0x1p-998;
}

static int tilted_direct(task *t, const wb_pmf_window *w, int64_t from, int64_t to) {
  const int swap = w->p.count > w->q.count;
  const wb_pmf_tilted *p = swap ? &w->q : &w->p, *q = swap ? &w->p : &w->q;
  const wb_convolution work =
      wb_pmf_one_pair(p->count, p->x, q->count, q->x, from - w->p.first - w->q.first, to - from, t->tilted);
  const int large = (double)p->count * (double)(to - from) > DEVICE_FROM;
  const wb_pmf_functions *table = large ? t->method->table : t->method->call->processor->pmf;
  return wb_pmf_direct(t->method, table, &work, NULL);
}

/* Cuts [*from, *to) down to the outputs within the window's reach that have a term. Returns 0 if none is left. */
static int within_reach(const wb_pmf_window *w, int64_t *from, int64_t *to) {
  const int64_t origin = w->p.first + w->q.first;
  *from = wb_max_int(*from, origin);
  *to = wb_min_int(*to, origin + w->p.count + w->q.count - 1);
  return *from < *to;
}

static int window_direct(task *t, const wb_pmf_window *w, const interval *wanted, int64_t from, int64_t to) {
  if (!within_reach(w, &from, &to)) return postpone(t, wanted->begin, wanted->end, wanted->depth + 1);
  WB_TRY(tilted_direct(t, w, from, to));
  return settle(t, w, wanted, from, to - from, t->tilted, wb_max_real(lost_bound(w) / LEFT_OUT, LEAST_OUTPUT), 1);
}

/* log2 of the transform's length for outputs [from, to), among which none beyond may fall by wrapping around. */
static int window_log2(const wb_pmf_window *w, int64_t from, int64_t to) {
  const int64_t origin = w->p.first + w->q.first, all = w->p.count + w->q.count - 1;
  return wb_fft_log2(wb_max_int(wb_max_int(to - origin, all - (from - origin)), wb_max_int(w->p.count, w->q.count)));
}

/* The smallest tilted output that a transform certifies. */
static double least_by_fft(const task *t, const wb_pmf_window *w, int log2, double scale) {
  const double error = wb_fft_product_error(log2, w->p.sums.square, w->q.sums.square, scale);
  return wb_max_real((lost_bound(w) + error) / (0.99 * (t->method->accuracy - 3e-15)), LEAST_OUTPUT);
}

static int fft_room(task *t, int log2, const wb_fft **fft) {
  const size_t n = (size_t)1 << log2;
  if (log2 > t->fft_room) {
    wb_aligned_free(t->re);
    wb_aligned_free(t->im);
    t->re = wb_aligned_malloc(n * sizeof(double));
    t->im = wb_aligned_malloc(n * sizeof(double));
    t->fft_room = log2;
  }
  wb_call *const call = t->method->call;
  if (!t->re || !t->im) return wb_out_of_memory(call->message, "a Fourier transform", 2 * n * sizeof(double));
  if (log2 <= WB_FFT_KEPT) return wb_fft_keep(t->method->cache, log2, call->run.isa, fft, call->message);
  int status = WB_OK;
  if (!t->fft[log2])
    status = wb_fft_open(log2, call->run.isa, call->run.threads, &call->poll, &t->fft[log2], call->message);
  *fft = t->fft[log2];
  return status;
}

/* As window_direct(), by the transform, if direct sums show that it certifies three quarters; else *tried is 0. */
static int window_fft(task *t, const wb_pmf_window *w, const interval *wanted, int64_t from, int64_t to, int *tried) {
  const int64_t origin = w->p.first + w->q.first;
  if (!within_reach(w, &from, &to)) return WB_OK;
  const int log2 = window_log2(w, from, to);
  if (log2 > WB_FFT_LARGEST) return WB_OK;
  const double scale = wb_fft_balance(w->p.sums.square, w->q.sums.square), least = least_by_fft(t, w, log2, scale);
  const int64_t middle = wb_max_int(from, wb_min_int((int64_t)w->mean, to - 1));
  const int64_t sample = wb_max_int(from, middle - 32), sample_end = wb_min_int(to, middle + 32);
  WB_TRY(tilted_direct(t, w, sample, sample_end));
  int64_t good = 0;
  for (int64_t i = 0; i < sample_end - sample; i++) good += t->tilted[i] >= least;
  if (good * 4 < (sample_end - sample) * 3) return WB_OK;

  *tried = 1;
  const wb_fft *fft;
  WB_TRY(fft_room(t, log2, &fft));
  wb_call *const call = t->method->call;
  WB_TRY(wb_fft_multiply(fft, w->p.count, w->p.x, w->q.count, w->q.x, scale, t->re, t->im, from - origin, to - from,
                         t->tilted, call->run.isa, call->run.threads, &call->poll));
  return settle(t, w, wanted, from, to - from, t->tilted, least, 0);
}

/* Direct sums for a stretch at the beginning, twice the one before: windows that do not pay are seldom tried. */
static int direct_stretch(task *t, const interval *wanted) {
  const int64_t stop = wb_min_int(wanted->end, wanted->begin + t->direct_length);
  if (t->direct_length < t->outputs) t->direct_length *= 2;
  WB_TRY(direct(t, wanted->begin, stop));
  return stop < wanted->end ? postpone(t, stop, wanted->end, 0) : WB_OK;
}

static void reach(const wb_pmf_window *w, double width, const interval *wanted, int64_t *from, int64_t *to) {
  const double distance = width * w->deviation + 8;
  *from = wb_max_int(wanted->begin, (int64_t)wb_max_real(w->mean - distance, (double)wanted->begin));
  *to = wb_min_int(wanted->end, (int64_t)wb_min_real(w->mean + distance, (double)wanted->end) + 1);
}

/* One window for the interval, or the direct sum where windows do not pay. */
static int attempt(task *t, wb_pmf_window *w, const interval *wanted) {
  const int64_t begin = wanted->begin, end = wanted->end;
  const double plain = (double)wb_min_int(t->p.length, t->q.length);
  const double count = (double)(end - begin);
  const int give_up = t->r ? 2 : 4;
  if (wanted->depth >= give_up) return direct_stretch(t, wanted);

  if (!t->r && wanted->depth == 0 && (double)t->p.length * (double)t->q.length <= WHOLE_UP_TO) {
    WB_TRY(open_window(t, begin, end, 1e6, WHOLE_CUT, w));
    const interval next = {begin, end, 1};
    return window_direct(t, w, &next, begin, end);
  }

  WB_TRY(open_window(t, begin, end, DIRECT_WIDTH, DIRECT_CUT, w));
  const double entries = (double)(w->p.count + w->q.count);
  const double overhead = COST_TILT * entries + COST_WINDOW;
  const double direct_count = wb_min_real(count, 2 * DIRECT_WIDTH * w->deviation + 1);
  const double direct_cost = ((double)wb_min_int(w->p.count, w->q.count) * direct_count + overhead) / direct_count;
  const double fft_count = wb_min_real(count, 2 * FFT_WIDTH * w->deviation + 1);
  const int log2 = (int)wb_min_int(wb_fft_log2((int64_t)(0.75 * entries) + 1), WB_FFT_LARGEST);
  const double fft_point = COST_FFT * (double)log2 + (log2 <= WB_FFT_KEPT || t->fft[log2] ? 0 : COST_ROOTS);
  const double fft_cost = (fft_point * (double)((int64_t)1 << log2) + overhead) / fft_count;
  if (wanted->depth < 2 && t->method->accuracy >= WB_PMF_LEAST_FFT_ACCURACY && fft_cost < 0.7 * direct_cost &&
      (!t->r || fft_cost < 0.25 * plain)) {
    WB_TRY(open_window(t, begin, end, FFT_WIDTH, FFT_CUT, w));
    int64_t from, to;
    int tried = 0;
    reach(w, 1.5 * FFT_WIDTH, wanted, &from, &to);
    WB_TRY(window_fft(t, w, wanted, from, to, &tried));
    if (tried) return WB_OK;
    WB_TRY(open_window(t, begin, end, DIRECT_WIDTH, DIRECT_CUT, w));
  }
  if (t->r && direct_cost > 0.25 * plain) return direct_stretch(t, wanted);
  int64_t from, to;
  reach(w, 1.2 * DIRECT_WIDTH, wanted, &from, &to);
  return window_direct(t, w, wanted, from, to);
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

/* Computes every output by windows. What a window refuses goes on top of the stack, for the next window. */
static int compute_all(task *t, wb_pmf_window *w) {
  WB_TRY(postpone(t, 0, t->outputs, 0));
  while (t->stack_count > 0) {
    const interval next = t->stack[--t->stack_count];
    WB_TRY(attempt(t, w, &next));
    if (wb_poll_after(&t->method->call->poll, 1e4)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

int wb_pmf_convolve_windows(const wb_pmf_method *method, const wb_wide *p, const wb_wide *q, const double *p_plain,
                            const double *q_plain, int64_t all, double *r, wb_wide *r_wide) {
  task t;
  wb_pmf_window w;
  memset(&t, 0, sizeof t);
  memset(&w, 0, sizeof w);
  t.method = method;
  double *memory = NULL;
  int status = WB_OK;
  if (!wb_pmf_factor_open(&t.p, p) || !wb_pmf_factor_open(&t.q, q))
    status = wb_out_of_memory(method->call->message, "bounds on a factor",
                              sizeof(double) * (size_t)(t.p.blocks + t.q.blocks));
  if (status == WB_OK) {
    const size_t doubles = (size_t)(t.p.length + 64 + t.q.length + 64 + all);
    memory = wb_aligned_malloc(doubles * sizeof(double));
    if (!memory)
      status = wb_out_of_memory(method->call->message, "the parts of a convolution", doubles * sizeof(double));
  }
  if (status == WB_OK) {
    const int64_t offset = t.p.offset + t.q.offset;
    t.outputs = wb_min_int(t.p.length + t.q.length - 1, all - offset);
    t.direct_length = r ? wb_max_int(64, t.outputs / 4) : 64;
    w.p.x = memory;
    w.q.x = memory + (t.p.length + 63) / 8 * 8;
    t.tilted = w.q.x + (t.q.length + 63) / 8 * 8;
    if (r) {
      t.p_plain = p_plain + t.p.offset;
      t.q_plain = q_plain + t.q.offset;
      t.r = r + offset;
    } else {
      r_wide->length = all;
      t.mantissa = r_wide->mantissa + offset;
      t.exponent = r_wide->exponent + offset;
    }
    clear(r, r_wide, 0, wb_min_int(offset, all));
    clear(r, r_wide, wb_max_int(offset + t.outputs, 0), all);
    if (t.outputs <= 0 || t.p.mantissa[0] == 0 || t.q.mantissa[0] == 0) clear(r, r_wide, 0, all);
    else status = compute_all(&t, &w);
  }
  wb_pmf_factor_close(&t.p);
  wb_pmf_factor_close(&t.q);
  free(t.stack);
  wb_aligned_free(t.q_memory);
  wb_aligned_free(memory);
  wb_aligned_free(t.re);
  wb_aligned_free(t.im);
  for (int log2 = 0; log2 <= WB_FFT_LARGEST; log2++) wb_fft_close(t.fft[log2]);
  return status;
}
