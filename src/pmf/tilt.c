/* Tilts the factors of a convolution, and finds the slope for a window of outputs (Daniels 1954; see pmf/window.c). */
#include "core/rounding.h"

#include "pmf/tilt.h"

#include <stdlib.h>

#include "core/elementary.h"
#include "core/min_max.h"
#include "numeric/idle.h"
#include "numeric/spread.h"

/* Entries that share one upper bound. */
#define BLOCK 32

/* The rounding error of an exponent of up to 2^50 plus a slope times an index is below this. */
#define ROUNDING 0.25

/* The search for a slope leaves out entries 2^-60 below the largest: means and variances need no more. */
#define SEARCH_CUT 60.0

/* At most so many nanoseconds for an entry. */
#define TILT_TIME 10.0

/* Entries that are worth one more thread, and that a thread takes together. */
#define WORTH 262144
#define TOGETHER 8192

static double magnitude(double a) { return a < 0 ? -a : a; }

/* The smallest integer >= x, for |x| < 2^51. */
static double round_up(double x) {
  const double nearest = wb_nearest(x);
  return nearest < x ? nearest + 1.0 : nearest;
}

/* A power of two, at least 2^x and at least 2^-1000, for x <= 1000. */
static double power_bound(double x) { return wb_power_of_two(wb_max_real(round_up(x), -1000.0)); }

/* The slope rounded to 21 significant bits: then its product with an index below 2^32 is exact. */
static double round_slope(double slope) {
  const double spread = slope * 4294967297.0;
  return spread - (spread - slope);
}

int wb_pmf_factor_open(wb_pmf_factor *f, const wb_wide *value) {
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
    for (int64_t k = b * BLOCK + 1; k < wb_min_int((b + 1) * BLOCK, f->length); k++)
      top = wb_max_real(top, f->exponent[k]);
    f->top[b] = top + 1.0 + ROUNDING; /* 1: a mantissa is below 2 */
  }
  return 1;
}

void wb_pmf_factor_close(wb_pmf_factor *f) {
  free(f->top);
  f->top = NULL;
}

/* An upper bound on the exponents of block b under the tilt: no entry exceeds 2 to this power. */
static double block_bound(const wb_pmf_factor *f, int64_t b, double slope) {
  const double first = (double)(b * BLOCK), last = (double)(wb_min_int((b + 1) * BLOCK, f->length) - 1);
  return f->top[b] + wb_max_real(slope * first, slope * last);
}

/* The largest exponent in block b under the tilt, without the mantissas, which are below 2. */
static double block_peak(const wb_pmf_factor *f, int64_t b, double slope) {
  double peak = 2 * WB_WIDE_NOTHING;
  for (int64_t k = b * BLOCK; k < wb_min_int((b + 1) * BLOCK, f->length); k++)
    peak = wb_max_real(peak, f->exponent[k] + slope * (double)k);
  return peak;
}

/* Both factors under a tilt, on several threads. */
typedef struct tilting {
  const wb_pmf_factor *factor[2];
  wb_pmf_tilted *tilted[2];
  double slope, cut;
  wb_isa isa;
  int64_t pieces; /* of the first factor; 0: the values are computed with their sums */
} tilting;

/* Finds which entries are left out. */
static void choose_entries(void *context, int64_t side) {
  const tilting *const t = context;
  const wb_pmf_factor *const f = t->factor[side];
  wb_pmf_tilted *const tilted = t->tilted[side];
  const double slope = t->slope;
  int64_t best = 0;
  for (int64_t b = 1; b < f->blocks; b++)
    if (block_bound(f, b, slope) > block_bound(f, best, slope)) best = b;
  double peak = block_peak(f, best, slope);
  for (int64_t b = 0; b < f->blocks; b++)
    if (block_bound(f, b, slope) > peak + 1.0) peak = wb_max_real(peak, block_peak(f, b, slope));
  tilted->reference = round_up(peak + ROUNDING) + 1.0;

  int64_t end[2] = {0, f->blocks - 1};
  tilted->outside = 0;
  for (int upper = 0; upper < 2; upper++)
    for (; end[upper] != best; end[upper] += upper ? -1 : 1) {
      const double bound = block_bound(f, end[upper], slope) - tilted->reference;
      if (bound >= -t->cut) break;
      tilted->outside += BLOCK * power_bound(bound);
    }
  tilted->first = end[0] * BLOCK;
  tilted->count = wb_min_int((end[1] + 1) * BLOCK, f->length) - tilted->first;
}

static int64_t pieces_of(const wb_pmf_tilted *tilted) { return (tilted->count + TOGETHER - 1) / TOGETHER; }

static void tilt_piece(void *context, int64_t piece) {
  const tilting *const t = context;
  const int side = piece >= t->pieces;
  const wb_pmf_tilted *const tilted = t->tilted[side];
  const int64_t begin = (side ? piece - t->pieces : piece) * TOGETHER, first = tilted->first + begin;
  wb_wide_tilt_some(wb_min_int(TOGETHER, tilted->count - begin), t->factor[side]->mantissa + first,
                    t->factor[side]->exponent + first, t->slope, first, tilted->reference, tilted->x + begin, t->isa);
}

static void add_entries(void *context, int64_t side) {
  const tilting *const t = context;
  const wb_pmf_factor *const f = t->factor[side];
  wb_pmf_tilted *const tilted = t->tilted[side];
  wb_wide_tilt(tilted->count, t->pieces ? NULL : f->mantissa + tilted->first, f->exponent + tilted->first, t->slope,
               tilted->first, tilted->reference, tilted->x, &tilted->sums, t->isa);
  const double mean = tilted->sums.index / tilted->sums.value;
  tilted->mean = (double)tilted->first + mean;
  tilted->variance = wb_max_real(tilted->sums.index_square / tilted->sums.value - mean * mean, 0.0);
}

int wb_pmf_tilt(const wb_pmf_factor *p, const wb_pmf_factor *q, double slope, double cut, wb_pmf_window *window,
                wb_call *call) {
  tilting t = {{p, q}, {&window->p, &window->q}, slope, cut, call->run.isa, 0};
  const int64_t worth = 1 + (p->length + q->length) / WORTH;
  const int threads = worth < 2 ? 1 : wb_idle_threads((int)wb_min_int(worth, call->run.threads));
  const int sides = threads > 1 ? 2 : 1;
  wb_spread(sides, 2, choose_entries, &t);
  if (threads > 1) {
    t.pieces = pieces_of(&window->p);
    wb_spread(threads, t.pieces + pieces_of(&window->q), tilt_piece, &t);
  }
  wb_spread(sides, 2, add_entries, &t);
  if (wb_poll_after(&call->poll,
                    TILT_TIME * (double)(window->p.count + window->q.count) + (double)p->blocks + (double)q->blocks))
    return WB_INTERRUPTED;
  window->slope = slope;
  window->mean = window->p.mean + window->q.mean;
  window->deviation = wb_sqrt(window->p.variance + window->q.variance);
  return WB_OK;
}

/* Newton's method, within a bracket, for the slope at which the mean is right; its derivative is log(2) variance. */
int wb_pmf_find_slope(const wb_pmf_factor *p, const wb_pmf_factor *q, double slope, int64_t begin, int64_t end,
                      double width, wb_pmf_window *w, wb_call *call) {
  const double middle = 0.5 * (double)(begin + end - 1);
  const double steepest = WB_WIDE_LARGEST / (double)(p->length + q->length - 1);
  double low = -wb_infinity(), high = wb_infinity(), step = 1.0;
  for (int round = 0; round < 60; round++) {
    WB_TRY(wb_pmf_tilt(p, q, slope, SEARCH_CUT, w, call));
    const double reach = width * w->deviation;
    const double target = wb_min_real(middle, (double)begin + 0.85 * reach);
    const double missing = target - w->mean;
    if (magnitude(missing) <= 0.5 + 0.15 * wb_min_real(reach, 6.0 * w->deviation)) return WB_OK;
    if (missing > 0) low = slope;
    else high = slope;
    const double variance = w->deviation * w->deviation;
    double next = slope + missing / (wb_max_real(variance, 1e-9) * WB_LN2_HIGH);
    const double farthest = 4.0 * step + magnitude(slope);
    next = wb_min_real(wb_max_real(next, slope - farthest), slope + farthest);
    if (high - low == wb_infinity()) step *= 2.0;
    else if (!(next > low && next < high)) next = 0.5 * (low + high);
    next = round_slope(next);
    if (next == slope || magnitude(next) > steepest) return WB_OK;
    slope = next;
  }
  return WB_OK;
}
