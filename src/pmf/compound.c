/* The distribution of a sum of a random number of independent variables, by the recursion of Panjer (1981), ASTIN
 * Bulletin 12, 22-26.
 *
 * If the probabilities of the number satisfy p_n = (a + b/n) p_{n-1} for n >= 2, and no variable is 0, then
 *
 *     s g_s = c s f_s + sum_{j=1..s} (a s + b j) f_j g_{s-j},   c = p_1 - (a + b) p_0,
 *
 * and a s + b j = (a + b) j + a (s - j). So with u_j = (a + b) j f_j, v_j = a f_j and h_i = i g_i the sum is
 * (u * g)_s + (v * h)_s: two convolutions. If a >= 0 and a + b >= 0, their terms are not negative and nothing cancels.
 * The relative error of an entry is about that of one multiply-add times the number of variables in its value.
 *
 * Entry s needs all before it. So outputs are halved recursively: when the first half of an interval is known, one
 * direct sum adds its terms to the second, in a fixed order. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include <string.h>

#include "core/min_max.h"
#include "numeric/memory.h"

/* An interval of so many outputs is computed one output after the other. */
#define LEAF 128

/* Direct sums with fewer products than this run on the CPU. */
#define DEVICE_FROM 1e7

/* From FAST_FROM outputs on, steps of at least a FAST_SHARE-th of all outputs use the fast method. */
#define FAST_FROM 262144
#define FAST_SHARE 8

/* Nanoseconds of one product in a leaf. */
#define LEAF_TIME 1.0

typedef struct recursion {
  const wb_pmf_method *method;
  const wb_pmf_counting *counting;
  int64_t reach, outputs; /* f_j is 0 beyond `reach` */
  const double *f;
  double *u, *v; /* from j = 1; v is NULL where a is 0 */
  double *g, *h, *owed;
  double *step; /* room for one convolution */
} recursion;

static int add_owed(recursion *r, const double *weights, const double *known, int64_t from, int64_t middle,
                    int64_t end) {
  const int64_t terms = middle - from, lengths = wb_min_int(r->reach, end - 1 - from), count = end - middle;
  const double products = (double)wb_min_int(terms, lengths) * (double)count;
  const double *to_add = r->step;
  int status;
  if (r->method->accuracy > 0 && r->outputs >= FAST_FROM && terms >= r->outputs / FAST_SHARE &&
      lengths >= r->outputs / FAST_SHARE) {
    wb_pmf_method share = *r->method;
    share.accuracy /= FAST_SHARE;
    status = wb_pmf_convolve_first(&share, terms, known + from, lengths, weights, terms + lengths - 1, r->step);
    to_add += terms - 1;
  } else {
    const wb_convolution work = wb_pmf_one_pair(terms, known + from, lengths, weights, terms - 1, count, r->step);
    const wb_pmf_functions *const table = products >= DEVICE_FROM ? r->method->table : r->method->call->processor->pmf;
    status = wb_pmf_direct(r->method, table, &work, NULL);
  }
  if (status == WB_OK)
    for (int64_t i = 0; i < count; i++) r->owed[middle + i] += to_add[i];
  return status;
}

/* Adds to the outputs from `middle` on the terms of outputs begin..middle - 1. */
static int add_first_half(recursion *r, int64_t begin, int64_t middle, int64_t end) {
  const int64_t from = wb_max_int(begin, middle - r->reach), last = wb_min_int(end, middle + r->reach);
  WB_TRY(add_owed(r, r->u, r->g, from, middle, last));
  if (r->v) WB_TRY(add_owed(r, r->v, r->h, from, middle, last));
  return WB_OK;
}

static int leaf(recursion *r, int64_t begin, int64_t end) {
  for (int64_t s = begin; s < end; s++) {
    if (s > 0) {
      const double alone = s <= r->reach ? r->counting->alone * (double)s * r->f[s] : 0;
      r->g[s] = (r->owed[s] + alone) / (double)s;
    }
    const double here = r->g[s], weighted = (double)s * here;
    const int64_t last = wb_min_int(end - 1, s + r->reach);
    if (r->v) {
      r->h[s] = weighted;
      for (int64_t i = s + 1; i <= last; i++) r->owed[i] += r->u[i - s - 1] * here + r->v[i - s - 1] * weighted;
    } else {
      for (int64_t i = s + 1; i <= last; i++) r->owed[i] += r->u[i - s - 1] * here;
    }
  }
  return wb_poll_after(&r->method->call->poll, LEAF_TIME * LEAF * LEAF) ? WB_INTERRUPTED : WB_OK;
}

static int solve(recursion *r, int64_t begin, int64_t end) {
  if (end - begin <= LEAF) return leaf(r, begin, end);
  int64_t half = LEAF;
  while (2 * half < end - begin) half *= 2;
  WB_TRY(solve(r, begin, begin + half));
  WB_TRY(add_first_half(r, begin, begin + half, end));
  return solve(r, begin + half, end);
}

int wb_pmf_compound(const wb_pmf_method *method, const wb_pmf_counting *counting, int64_t size, const double *f,
                    int64_t outputs, double *g) {
  const int two = counting->a > 0;
  const int64_t reach = wb_max_int(wb_min_int(size, outputs) - 1, 1);
  const size_t doubles = (size_t)((two ? 2 : 1) * reach + (two ? 2 : 1) * outputs + 2 * outputs + reach);
  double *const memory = wb_aligned_malloc(doubles * sizeof(double));
  if (!memory) return wb_out_of_memory(method->call->message, "the terms of a recursion", doubles * sizeof(double));
  recursion r = {.method = method, .counting = counting, .reach = reach, .outputs = outputs, .f = f, .g = g};
  r.owed = memory;
  r.u = r.owed + outputs;
  r.step = r.u + reach;
  if (two) {
    r.v = r.step + outputs + reach;
    r.h = r.v + reach;
  }
  memset(r.owed, 0, (size_t)outputs * sizeof(double));
  for (int64_t j = 1; j <= reach; j++) {
    const double weight = j < size ? f[j] : 0;
    r.u[j - 1] = counting->a_plus_b * (double)j * weight;
    if (two) r.v[j - 1] = counting->a * weight;
  }
  g[0] = counting->none;
  const int status = solve(&r, 0, outputs);
  wb_aligned_free(memory);
  return status;
}
