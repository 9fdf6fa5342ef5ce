/* How probable each sum of scores of a group drawn at random is, by Fourier inversion under exponential tilting
 * (Daniels 1954, section 2), for samples too large to count their groups one score after the other.
 *
 * Let item j be in a random set with the odds exp(alpha + beta a_j), independently. Sets of m items then have
 * probabilities proportional to exp(beta times the sum). So the probability of the sum s under any tilt gives that
 * without it, to almost all digits if the tilt's mean is near s. The joint probability of size and sum is an average of
 *   prod_j (q_j + p_j e^(i theta) e^(i phi a_j)), where p_j + q_j = 1,
 * over K angles theta and L angles phi. Sizes K apart and sums L apart fall together; Bernstein's inequality and
 * Chernoff's bound choose K and L so that this does not matter. With w_j = p_j q_j the product is at most
 *   exp(-sum_j w_j + |sum_j w_j e^(i phi a_j)|),
 * so that few of the angles matter. They are found by bisection: the sum in the bound changes by at most
 * sum_j w_j |a_j - c| for each unit of phi. */
#include "core/scalar.h"

#include "pmf/pmf.h"

#include <string.h>

#include "core/elementary.h"
#include "core/min_max.h"
#include "core/trigonometric.h"
#include "numeric/memory.h"

#define TWO_PI 6.283185307179586

/* A window reaches so many standard deviations from its mean, and is right to e^-ERROR. */
#define WIDTH 2.5
#define ERROR 31.0

/* Logarithms of probabilities that a double cannot hold. */
#define LEAST_LOG -745.2

/* An item is certain, or impossible, if the other case is less probable than this. */
#define CERTAIN 1e-20

/* Of the outputs of a window, those below this share of the largest are zero: they are smaller than its errors. */
#define NOISE 1e-11

/* Angles theta are taken so many at a time, so that compilers use vector instructions; arrays have room for as many. */
#define LANES 4

/* Nanoseconds of a complex product, and of a sine and cosine. */
#define PRODUCT_TIME 3.0
#define ANGLE_TIME 30.0

typedef struct tilt {
  double alpha, beta;
  double log_total; /* log of the sum over all groups of exp(beta s), s from the centre, over their number, at most */
  double mean, sd;  /* of the sum, from the centre, given the size */
  double spread;    /* variance of the size */
} tilt;

typedef struct ranking {
  wb_call *call;
  int64_t n, m, last;            /* sums are counted from the least, up to `last` */
  int64_t kinds;                 /* of scores: how many different ones */
  double *score, *times;         /* increasing whole numbers, and how many items have each */
  double centre, shift;          /* the mean score; a sum of m scores, from the centre, and `shift` is an output */
  int64_t least;                 /* the sum of the m least scores */
  double log_groups;             /* log of the number of groups */
  double *p, *weight, *at;       /* of the kinds that are neither certain nor impossible */
  double *re, *im;               /* e^(i phi a_j) for each of them */
  int64_t *copies, active, left; /* items of each of them, how many they are, and items that the group still needs */
  int64_t certain;               /* sum of the scores of certain items */
  double total, reach;           /* sum_j w_j, and sum_j w_j |a_j - c| */
  double *result;
} ranking;

/* The probability of an item with the log odds x, and that of the other case. */
static double logistic(double x, double *other) {
  const double less = wb_exp(x < 0 ? x : -x), whole = 1.0 / (1.0 + less);
  *other = x < 0 ? whole : less * whole;
  return x < 0 ? less * whole : whole;
}

/* The tilt by beta, with the alpha for which the mean size is m: Newton's method within a bracket. */
static void tilt_by(const ranking *r, double beta, tilt *t) {
  double low = -wb_infinity(), high = wb_infinity();
  t->beta = beta;
  for (int trial = 0; trial < 200; trial++) {
    double size = 0, v = 0, va = 0, vaa = 0, mean = 0, q;
    for (int64_t j = 0; j < r->kinds; j++) {
      const double a = r->score[j] - r->centre, p = logistic(t->alpha + beta * a, &q), k = r->times[j], w = k * p * q;
      size += k * p;
      mean += k * p * a;
      v += w;
      va += w * a;
      vaa += w * a * a;
    }
    const double missing = (double)r->m - size;
    const double slope = v > 0 ? va / v : 0.0, variance = vaa - va * slope;
    t->mean = mean + missing * slope;
    t->sd = variance > 0 ? wb_sqrt(variance) : 0.0;
    t->spread = v;
    if (missing < 1e-6 && missing > -1e-6) break;
    if (missing > 0) low = t->alpha;
    else high = t->alpha;
    double next = v > 0 ? t->alpha + missing / v : wb_infinity();
    if (!(next > low && next < high)) {
      const double step = 1.0 + (t->alpha < 0 ? -t->alpha : t->alpha);
      next = high == wb_infinity() ? low + step : low == -wb_infinity() ? high - step : 0.5 * (low + high);
    }
    t->alpha = next;
  }
  /* Each item's part of what is subtracted keeps the sum, and its rounding errors, small. */
  const double share = (t->alpha * (double)r->m + r->log_groups) / (double)r->n;
  t->log_total = 0;
  for (int64_t j = 0; j < r->kinds; j++) {
    const double x = t->alpha + beta * (r->score[j] - r->centre);
    t->log_total += r->times[j] * ((x > 0 ? x : 0.0) + wb_log1p(wb_exp(x > 0 ? -x : x)) - share);
  }
}

/* Bound of the log probability under the tilt t that the group has the right size and a sum `apart` from the mean. */
static double log_beyond(const ranking *r, const tilt *t, double apart) {
  double least = 0, step = (apart > 0 ? 1.0 : -1.0) / wb_max_real(t->sd, 0.5);
  for (int k = 0; k < 7; k++, step *= 2) {
    tilt other = *t;
    tilt_by(r, t->beta + step, &other);
    least = wb_min_real(least, other.log_total - t->log_total - step * (t->mean + apart));
  }
  return least;
}

/* Keeps the items that are neither certain nor impossible under this tilt. */
static void choose_items(ranking *r, const tilt *t) {
  double mean = 0, q;
  r->active = 0;
  r->left = r->m;
  r->certain = 0;
  r->total = 0;
  for (int64_t j = 0; j < r->kinds; j++) {
    const double x = t->alpha + t->beta * (r->score[j] - r->centre), p = logistic(x, &q);
    if (q < CERTAIN) {
      r->left -= (int64_t)r->times[j];
      r->certain += (int64_t)r->times[j] * (int64_t)r->score[j];
    } else if (p >= CERTAIN) {
      r->at[r->active] = r->score[j];
      r->p[r->active] = p;
      r->copies[r->active] = (int64_t)r->times[j];
      r->weight[r->active] = r->times[j] * p * q;
      mean += r->weight[r->active] * r->score[j];
      r->total += r->weight[r->active++];
    }
  }
  r->reach = 0;
  for (int64_t j = 0; j < r->active; j++) {
    const double apart = r->at[j] - mean / r->total;
    r->reach += r->weight[j] * (apart < 0 ? -apart : apart);
  }
}

/* The angle of k parts of a circle of `parts`. */
static void turn(int64_t k, int64_t parts, double *re, double *im) {
  wb_sine_cosine(TWO_PI * ((double)(k % parts) / (double)parts), im, re);
}

static void multiply(double *re, double *im, double by_re, double by_im) {
  const double product = *re * by_re - *im * by_im;
  *im = *re * by_im + *im * by_re;
  *re = product;
}

/* A bound of |sum_j w_j e^(i phi a_j)| at the angle number l. Only gaps between scores matter. */
static double length_at(const ranking *r, int64_t l, int64_t sums) {
  double re = 0, im = 0, x = 1, y = 0, step_x = 1, step_y = 0, gap = 0;
  for (int64_t j = 0; j < r->active; j++) {
    const double next = j > 0 ? r->at[j] - r->at[j - 1] : 0;
    if (next != gap) {
      gap = next;
      turn(l * ((int64_t)gap % sums), sums, &step_x, &step_y);
    }
    if (gap > 0) multiply(&x, &y, step_x, step_y);
    re += r->weight[j] * x;
    im += r->weight[j] * y;
  }
  return wb_sqrt(re * re + im * im) + 1e-9 * r->total;
}

/* One window: `sums` angles phi, a power of two, and `sizes` angles theta; products above exp(-error) matter. */
typedef struct window {
  int64_t sizes, sums;
  double error;
  double *re, *im, *root_re, *root_im; /* averages over theta, in the order of reversed bits; e^(-2 pi i k / sums) */
  double *turn_re, *turn_im;           /* e^(i theta) for each theta */
  double *number, *kept_re, *kept_im;  /* the theta that matter, and e^(i theta) for them */
  double *f_re, *f_im, *product_re, *product_im; /* an item's factors at these, and the products over items */
} window;

static void put(const window *w, int64_t l, double re, double im) {
  int64_t reversed = 0;
  for (int64_t bit = 1, mirror = w->sums / 2; mirror > 0; bit *= 2, mirror /= 2) reversed |= l & bit ? mirror : 0;
  w->re[reversed] = re;
  w->im[reversed] = im;
}

/* The angles theta that matter if the sum of w_j e^(i phi a_j) is re + i im, and how many there are. */
static int64_t choose_sizes(const ranking *r, const window *w, double re, double im) {
  int64_t count = 0;
  for (int64_t k = 0; k < w->sizes; k++) {
    if (r->total - (re * w->turn_re[k] - im * w->turn_im[k]) > w->error) continue;
    w->number[count] = (double)k;
    w->kept_re[count] = w->turn_re[k];
    w->kept_im[count++] = w->turn_im[k];
  }
  for (int l = 0; l < LANES; l++) w->kept_re[count + l] = w->kept_im[count + l] = 0;
  return count;
}

static void multiply_all(int64_t count, double *restrict re, double *restrict im, const double *restrict by_re,
                         const double *restrict by_im) {
  for (int64_t k = 0; k < count; k += LANES)
    for (int l = 0; l < LANES; l++) multiply(re + k + l, im + k + l, by_re[k + l], by_im[k + l]);
}

static void square_all(int64_t count, double *restrict re, double *restrict im) {
  for (int64_t k = 0; k < count; k += LANES)
    for (int l = 0; l < LANES; l++) multiply(re + k + l, im + k + l, re[k + l], im[k + l]);
}

/* The factors 1 - p + p e^(i phi a) e^(i theta) of an item. */
static void set_factors(int64_t count, double p, double re, double im, const window *w, double *restrict f_re,
                        double *restrict f_im) {
  const double *const restrict v_re = w->kept_re, *const restrict v_im = w->kept_im;
  for (int64_t k = 0; k < count; k += LANES)
    for (int l = 0; l < LANES; l++) {
      f_re[k + l] = 1.0 - p + p * (re * v_re[k + l] - im * v_im[k + l]);
      f_im[k + l] = p * (re * v_im[k + l] + im * v_re[k + l]);
    }
}

/* The average over theta at the angle phi number l, and at its mirror image. */
static int add_angle(ranking *r, const window *w, int64_t l) {
  double re = 0, im = 0, work = ANGLE_TIME * (double)(r->active + w->sizes);
  for (int64_t j = 0; j < r->active; j++) {
    turn(l * ((int64_t)r->at[j] % w->sums), w->sums, r->re + j, r->im + j);
    re += r->weight[j] * r->re[j];
    im += r->weight[j] * r->im[j];
  }
  const int64_t count = choose_sizes(r, w, re, im);
  for (int64_t k = 0; k < count + LANES; k++) {
    w->product_re[k] = 1;
    w->product_im[k] = 0;
  }
  for (int64_t j = 0; j < r->active; j++) {
    set_factors(count, r->p[j], r->re[j], r->im[j], w, w->f_re, w->f_im);
    for (int64_t copies = r->copies[j]; copies > 0; copies /= 2) {
      if (copies % 2) multiply_all(count, w->product_re, w->product_im, w->f_re, w->f_im);
      if (copies > 1) square_all(count, w->f_re, w->f_im);
      work += PRODUCT_TIME * (double)count;
    }
  }
  double g_re = 0, g_im = 0;
  for (int64_t k = 0; k < count; k++) {
    const int64_t back = (int64_t)w->number[k] * r->left % w->sizes;
    multiply(w->product_re + k, w->product_im + k, w->turn_re[back], -w->turn_im[back]);
    g_re += w->product_re[k];
    g_im += w->product_im[k];
  }
  const double share = 1.0 / ((double)w->sizes * (double)w->sums);
  put(w, l, share * g_re, share * g_im);
  if (l > 0) put(w, w->sums - l, share * g_re, -share * g_im);
  return wb_poll_after(&r->call->poll, work) ? WB_INTERRUPTED : WB_OK;
}

/* Adds all angles from number `low` to `high` that matter. */
static int add_angles(ranking *r, const window *w, int64_t low, int64_t high) {
  const int64_t middle = low + (high - low) / 2;
  if (r->total > w->error) {
    const double farthest = TWO_PI * (double)(high - middle) / (double)w->sums;
    if (wb_poll_after(&r->call->poll, PRODUCT_TIME * (double)r->active)) return WB_INTERRUPTED;
    if (length_at(r, middle, w->sums) + farthest * r->reach < r->total - w->error) return WB_OK;
  }
  if (low == high) return add_angle(r, w, low);
  WB_TRY(add_angles(r, w, low, middle));
  return add_angles(r, w, middle + 1, high);
}

/* Turns the averages into probabilities of sums (Cooley and Tukey 1965). */
static int transform(ranking *r, const window *w) {
  for (int64_t half = 1; half < w->sums; half *= 2) {
    for (int64_t begin = 0; begin < w->sums; begin += 2 * half)
      for (int64_t k = 0; k < half; k++) {
        const int64_t a = begin + k, b = a + half, root = k * (w->sums / (2 * half));
        multiply(w->re + b, w->im + b, w->root_re[root], w->root_im[root]);
        const double re = w->re[b], im = w->im[b];
        w->re[b] = w->re[a] - re;
        w->im[b] = w->im[a] - im;
        w->re[a] += re;
        w->im[a] += im;
      }
    if (wb_poll_after(&r->call->poll, PRODUCT_TIME * (double)w->sums)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

/* Bound of the log probability, without a tilt, of the sum number s and of all beyond it. */
static double log_bound(const ranking *r, const tilt *t, double s) { return t->log_total - t->beta * (s - r->shift); }

static double half_width(const tilt *t) { return wb_max_real(WIDTH * t->sd, 1.0); }

/* Chooses the angles of a window for the tilt t. */
static void choose_angles(const ranking *r, const tilt *t, window *w) {
  w->error = ERROR + 0.5 * WIDTH * WIDTH + wb_log(wb_max_real(TWO_PI * t->sd * wb_sqrt(t->spread), 1.0));
  const double third = (w->error + 1.0) / 3.0;
  w->sizes = wb_min_int((int64_t)(third + wb_sqrt(third * third + 6.0 * third * t->spread)) + 1, r->n + 1);
  w->sums = 64;
  while ((double)w->sums < 8.0 * t->sd) w->sums *= 2;
  while (w->sums <= r->last) {
    const double apart = (double)w->sums - half_width(t) - 1.0;
    if (apart > 0 && log_beyond(r, t, apart) < -w->error && log_beyond(r, t, -apart) < -w->error) break;
    w->sums *= 2;
  }
}

/* The outputs first..last by the tilt t, near whose mean they lie. */
static int fill(ranking *r, const tilt *t, int64_t first, int64_t last) {
  window w;
  choose_items(r, t);
  choose_angles(r, t, &w);
  const size_t bytes = (3 * (size_t)w.sums + 9 * (size_t)(w.sizes + LANES)) * sizeof(double);
  w.re = wb_aligned_malloc(bytes);
  if (!w.re) return wb_out_of_memory(r->call->message, "a Fourier transform of sums of scores", bytes);
  w.im = w.re + w.sums;
  w.root_re = w.im + w.sums;
  w.root_im = w.root_re + w.sums / 2;
  double **const arrays[] = {&w.turn_re, &w.turn_im, &w.number,     &w.kept_re,   &w.kept_im,
                             &w.f_re,    &w.f_im,    &w.product_re, &w.product_im};
  for (int k = 0; k < 9; k++) *arrays[k] = w.re + 3 * w.sums + k * (w.sizes + LANES);
  for (int64_t k = 0; k < w.sizes; k++) turn(k, w.sizes, w.turn_re + k, w.turn_im + k);
  memset(w.re, 0, 2 * (size_t)w.sums * sizeof(double));
  for (int64_t k = 0; k < w.sums / 2; k++) turn(w.sums - k, w.sums, w.root_re + k, w.root_im + k);
  int status = add_angles(r, &w, 0, w.sums / 2);
  if (status == WB_OK) status = transform(r, &w);
  double largest = 0;
  for (int64_t s = first; s <= last; s++) {
    r->result[s] = w.re[((s + r->least - r->certain) % w.sums + w.sums) % w.sums];
    largest = wb_max_real(largest, r->result[s]);
  }
  for (int64_t s = first; s <= last; s++)
    r->result[s] = r->result[s] > NOISE * largest ? r->result[s] * wb_exp(log_bound(r, t, (double)s)) : 0.0;
  wb_aligned_free(w.re);
  return status;
}

/* Moves the tilt t until the mean of sums is near `target`, counted as outputs are. */
static void tilt_to(const ranking *r, double target, tilt *t) {
  for (int trial = 0; trial < 100; trial++) {
    const double apart = target - (t->mean + r->shift), sd = wb_max_real(t->sd, 1e-3);
    if (apart <= 0.1 * sd && apart >= -0.1 * sd) return;
    tilt_by(r, t->beta + wb_min_real(wb_max_real(apart / (sd * sd), -1.0 / sd), 1.0 / sd), t);
  }
}

static int fill_beyond(ranking *r, tilt t, int64_t next, int direction) {
  const int64_t end = direction > 0 ? r->last : 0;
  while (direction > 0 ? next <= end : next >= end) {
    if (log_bound(r, &t, (double)next) < LEAST_LOG) return WB_OK;
    const double left = (double)(end - next) * direction;
    double ahead = wb_min_real(0.9 * half_width(&t), 0.5 * left);
    tilt found;
    for (int trial = 0; trial < 60; trial++, ahead *= 0.7) {
      found = t;
      tilt_to(r, (double)next + direction * ahead, &found);
      if ((found.mean + r->shift - (double)next) * direction <= half_width(&found)) break;
    }
    t = found;
    const double reach = t.mean + r->shift + direction * half_width(&t);
    int64_t stop = direction > 0 ? wb_min_int(r->last, (int64_t)reach) : wb_max_int(0, (int64_t)(reach + 1.0));
    if ((stop - next) * direction < 0) stop = next;
    WB_TRY(direction > 0 ? fill(r, &t, next, stop) : fill(r, &t, stop, next));
    next = stop + direction;
  }
  return WB_OK;
}

int wb_pmf_rank_sums(wb_call *call, int64_t n, const double *scores, int64_t size, double *result) {
  double *const memory = wb_aligned_malloc(8 * (size_t)n * sizeof(double));
  if (!memory) return wb_out_of_memory(call->message, "sums of scores", 8 * (size_t)n * sizeof(double));
  ranking r = {.call = call, .n = n, .m = size, .score = memory, .result = result};
  double **const arrays[] = {&r.times, &r.p, &r.weight, &r.at, &r.re, &r.im};
  for (int k = 0; k < 6; k++) *arrays[k] = memory + (k + 1) * n;
  r.copies = (int64_t *)(void *)(memory + 7 * n);
  for (int64_t j = 0; j < n; j++) {
    r.centre += scores[j] / (double)n;
    if (j == 0 || scores[j] > scores[j - 1]) {
      r.score[r.kinds] = scores[j];
      r.times[r.kinds++] = 0;
    }
    r.times[r.kinds - 1]++;
  }
  for (int64_t j = 0; j < size; j++) {
    r.least += (int64_t)scores[j];
    r.last += (int64_t)scores[n - 1 - j] - (int64_t)scores[j];
    r.log_groups += wb_log((double)(n - j) / (double)(j + 1));
  }
  r.shift = (double)r.m * r.centre - (double)r.least;
  memset(result, 0, (size_t)(r.last + 1) * sizeof(double));
  tilt t = {0};
  tilt_by(&r, 0.0, &t);
  const int64_t first = wb_max_int(0, (int64_t)(t.mean + r.shift - half_width(&t)));
  const int64_t last = wb_min_int(r.last, (int64_t)(t.mean + r.shift + half_width(&t)));
  int status = fill(&r, &t, first, last);
  if (status == WB_OK) status = fill_beyond(&r, t, last + 1, 1);
  if (status == WB_OK) status = fill_beyond(&r, t, first - 1, -1);
  wb_aligned_free(memory);
  return status;
}
