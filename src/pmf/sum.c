/* The distribution of a sum of many independent variables, by convolution of pairs, the two shortest first (Huffman's
 * order). On the log scale partial sums are kept as wide numbers (numeric/wide.h), so that nothing underflows.
 *
 * At worst the pairs' relative errors add up, so the allowed error is divided among pairs that are large enough for the
 * fast method. Partial sums beyond the range of doubles are wide numbers, too. */
#include "core/rounding.h"

#include "pmf/convolve.h"

#include <stdlib.h>
#include <string.h>

#include "core/elementary.h"
#include "core/min_max.h"
#include "numeric/memory.h"

/* Pairs with fewer products than this are summed on the CPU. */
#define DEVICE_FROM 1e7

/* Pairs of wide numbers with fewer products than this never use a transform. */
#define WIDE_FAST_FROM 262144.0

/* `log`: logarithms go in and come out. `wide`: partial sums are wide numbers, which logarithms need. */
typedef struct form {
  int log, wide;
  wb_isa isa;
} form;

/* A distribution to be added: one of the caller's, or the sum of two others. */
typedef struct term {
  int64_t length;
  const double *values; /* the caller's, or NULL */
  wb_wide own;          /* a sum, or the caller's values as wide numbers; doubles have mantissas only */
} term;

static void term_free(term *p) {
  wb_aligned_free(p->own.mantissa);
  p->own.mantissa = p->own.exponent = NULL;
}

static int term_allocate(term *p, int64_t length, int wide, wb_message *message) {
  const size_t bytes = (size_t)length * (wide ? 2 : 1) * sizeof(double);
  p->length = length;
  p->values = NULL;
  p->own.length = length;
  p->own.mantissa = wb_aligned_malloc(bytes);
  p->own.exponent = wide && p->own.mantissa ? p->own.mantissa + length : NULL;
  return p->own.mantissa ? WB_OK : wb_out_of_memory(message, "a partial sum", bytes);
}

/* Turns the caller's values into wide numbers if the form needs them. */
static int term_convert(term *p, const form *as, wb_message *message) {
  if (!as->wide || !p->values) return WB_OK;
  const double *const values = p->values;
  WB_TRY(term_allocate(p, p->length, 1, message));
  if (as->log) wb_wide_from_log(p->length, values, p->own.mantissa, p->own.exponent, as->isa);
  else wb_wide_from_double(p->length, values, p->own.mantissa, p->own.exponent, as->isa);
  return WB_OK;
}

static const double *plain_values(const term *p) { return p->values ? p->values : p->own.mantissa; }

/* r becomes the sum of a and b, which may be the same term. */
static int term_convolve(const wb_pmf_method *method, term *a, term *b, const form *as, term *r) {
  wb_pmf_method here = *method;
  if ((double)a->length * (double)b->length < DEVICE_FROM) here.table = here.call->processor->pmf;
  WB_TRY(term_convert(a, as, method->call->message));
  WB_TRY(term_convert(b, as, method->call->message));
  WB_TRY(term_allocate(r, a->length + b->length - 1, as->wide, method->call->message));
  int status = as->wide ? wb_pmf_convolve_wide(&here, &a->own, &b->own, &r->own)
                        : wb_pmf_convolve_first(&here, a->length, plain_values(a), b->length, plain_values(b),
                                                r->length, r->own.mantissa);
  if (status == WB_OK && wb_poll_after(&method->call->poll, 1e3 + (double)r->length)) status = WB_INTERRUPTED;
  if (status != WB_OK) term_free(r);
  return status;
}

static int term_write(term *p, const form *as, double *result, wb_message *message) {
  WB_TRY(term_convert(p, as, message));
  if (as->log) {
    wb_wide_to_log(p->length, p->own.mantissa, p->own.exponent, result, as->isa);
  } else if (as->wide) {
    wb_wide_to_double(p->length, p->own.mantissa, p->own.exponent, result, as->isa);
    return wb_pmf_check_result(WB_WEIGHTS_LARGE, p->length, result, message);
  } else {
    memcpy(result, plain_values(p), (size_t)p->length * sizeof(double));
  }
  return WB_OK;
}

/* Whether a partial sum may leave the range of doubles although the result does not. With probabilities it never does.
 * Otherwise an entry may overflow, up to log2 `above`, or underflow, down to log2 `below`. */
static int leaves_doubles(const wb_pmf_terms *terms, int64_t times) {
  double above = 0, below = 0;
  for (int64_t i = 0; i < terms->count; i++) {
    double sum = 0;
    for (int64_t k = 0; k < terms->length[i]; k++) sum += terms->values[i][k];
    if (sum > 1e300) return 1;
    if (sum > 1) above += WB_LOG2_E * wb_log(sum) * (double)times;
  }
  if (above <= 1) return 0;
  for (int64_t i = 0; i < terms->count; i++) {
    double least = 1;
    for (int64_t k = 0; k < terms->length[i]; k++)
      if (terms->values[i][k] > 0) least = wb_min_real(least, terms->values[i][k]);
    below += WB_LOG2_E * wb_log(least) * (double)times;
  }
  return above > 900 || below < -900;
}

static form form_of(const wb_pmf_terms *terms, int64_t times, wb_isa isa) {
  return (form){terms->log, terms->log || leaves_doubles(terms, times), isa};
}

static int may_be_fast(int64_t m, int64_t n, int wide) {
  return (double)m * (double)n >= (wide ? WIDE_FAST_FROM : WB_PMF_FLAT_FROM);
}

typedef struct place {
  int64_t length, index;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* Plans the convolutions: pairs[2 k], pairs[2 k + 1] make term count + k; given terms have the numbers 0..count - 1.
 * Returns how many may use the fast method. Two queues are in order of length: the given terms and the sums. */
static double plan(const wb_pmf_terms *terms, int wide, place *given, int64_t *pairs, int64_t *sum_length) {
  int64_t next_given = 0, next_sum = 0;
  double fast = 0;
  for (int64_t i = 0; i < terms->count; i++) given[i] = (place){terms->length[i], i};
  qsort(given, (size_t)terms->count, sizeof *given, compare_places);
  for (int64_t k = 0; k + 1 < terms->count; k++) {
    int64_t length[2];
    for (int side = 0; side < 2; side++) {
      const int is_given =
          next_given < terms->count && (next_sum == k || given[next_given].length <= sum_length[next_sum]);
      length[side] = is_given ? given[next_given].length : sum_length[next_sum];
      pairs[2 * k + side] = is_given ? given[next_given++].index : terms->count + next_sum++;
    }
    sum_length[k] = length[0] + length[1] - 1;
    fast += may_be_fast(length[0], length[1], wide);
  }
  return fast;
}

int wb_pmf_sum(const wb_pmf_method *method, const wb_pmf_terms *terms, double *result) {
  const int64_t count = terms->count;
  const size_t summands_bytes = 2 * (size_t)count * sizeof(term), given_bytes = (size_t)count * sizeof(place);
  const size_t numbers = 3 * (size_t)count;
  char *const memory = wb_aligned_malloc(summands_bytes + given_bytes + numbers * sizeof(int64_t));
  if (!memory)
    return wb_out_of_memory(method->call->message, "the order of summation",
                            summands_bytes + given_bytes + numbers * sizeof(int64_t));
  term *const summands = (term *)memory;
  place *const given = (place *)(memory + summands_bytes);
  int64_t *const pairs = (int64_t *)(memory + summands_bytes + given_bytes), *const sum_length = pairs + 2 * count;
  memset(summands, 0, summands_bytes);
  const form as = form_of(terms, 1, method->call->run.isa);
  const double fast = plan(terms, as.wide, given, pairs, sum_length);
  wb_pmf_method share = *method;
  if (fast > 1) share.accuracy /= fast;
  for (int64_t i = 0; i < count; i++) {
    summands[i].length = terms->length[i];
    summands[i].values = terms->values[i];
  }
  int status = WB_OK;
  for (int64_t k = 0; k + 1 < count && status == WB_OK; k++) {
    term *const a = summands + pairs[2 * k], *const b = summands + pairs[2 * k + 1];
    status = term_convolve(&share, a, b, &as, summands + count + k);
    term_free(a);
    term_free(b);
  }
  term *const last = count > 1 ? summands + 2 * count - 2 : summands;
  if (status == WB_OK) status = term_write(last, &as, result, method->call->message);
  for (int64_t i = 0; i < 2 * count; i++) term_free(summands + i);
  wb_aligned_free(memory);
  return status;
}

static double repeat_plan(int64_t length, int64_t times, int wide) {
  double fast = 0, copies = 1;
  for (int64_t power = times; power > 1; power /= 2) {
    const int64_t half = power / 2, half_length = half * (length - 1) + 1;
    if (power % 2 && may_be_fast(length, 2 * half_length - 1, wide)) fast += copies;
    if (may_be_fast(half_length, half_length, wide)) fast += copies;
    copies *= 2;
  }
  return fast;
}

int wb_pmf_repeat(const wb_pmf_method *method, const wb_pmf_terms *given, int64_t times, double *result) {
  const int64_t length = given->length[0];
  const form as = form_of(given, times, method->call->run.isa);
  const double fast = repeat_plan(length, times, as.wide);
  wb_pmf_method share = *method;
  if (fast > 1) share.accuracy /= fast;
  term one = {length, given->values[0], {0, NULL, NULL}}, sums[2], *power = &one;
  memset(sums, 0, sizeof sums);
  int status = term_convert(&one, &as, method->call->message);
  int bit = 62;
  while (bit > 0 && !(times >> bit & 1)) bit--;
  for (bit--; bit >= 0; bit--) {
    for (int step = 0; step < 1 + (times >> bit & 1) && status == WB_OK; step++) {
      term *const next = power == sums ? sums + 1 : sums;
      status = term_convolve(&share, power, step == 0 ? power : &one, &as, next);
      if (power != &one) term_free(power);
      power = next;
    }
  }
  if (status == WB_OK) status = term_write(power, &as, result, method->call->message);
  term_free(&one);
  term_free(sums);
  term_free(sums + 1);
  return status;
}
