/* The distribution of a sum of many independent discrete variables: pairs are
 * convolved, the two shortest first (Huffman's order), so that thousands of
 * short distributions cost about as much as the last convolution of two long
 * ones. On the log scale the values in between are wide (cpu/wide.h), so nothing
 * underflows on the way.
 *
 * Relative errors of the pairs add up at worst, weighted by how often a result
 * is used; the accuracy asked is shared out among the pairs large enough for the
 * fast method.
 */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include <stdlib.h>
#include <string.h>

#include "numeric/memory.h"

/* Pairs with fewer products stay on the processor: the sums are the same. */
#define DEVICE_FROM 1e7

/* From how many products the wide convolution may use the fast method. */
#define WIDE_FAST_FROM 262144.0

typedef struct piece {
  int64_t length;
  const double *values; /* the caller's, not yet converted, or NULL */
  wb_wide own;          /* plain values are the mantissas of numbers without exponents */
} piece;

static void piece_free(piece *p) {
  wb_aligned_free(p->own.mantissa);
  p->own.mantissa = p->own.exponent = NULL;
}

static int piece_allocate(piece *p, int64_t length, int log, wb_message *message) {
  const size_t bytes = (size_t)length * (log ? 2 : 1) * sizeof(double);
  p->length = length;
  p->values = NULL;
  p->own.length = length;
  p->own.mantissa = wb_aligned_malloc(bytes);
  p->own.exponent = log && p->own.mantissa ? p->own.mantissa + length : NULL;
  return p->own.mantissa ? WB_OK : wb_out_of_memory(message, "a partial sum", bytes);
}

/* From the caller's values to the form in which pieces are convolved. */
static int piece_convert(piece *p, int log, wb_isa isa, wb_message *message) {
  if (!log || !p->values) return WB_OK;
  const double *const values = p->values;
  const int status = piece_allocate(p, p->length, 1, message);
  if (status == WB_OK) wb_wide_from_log(p->length, values, p->own.mantissa, p->own.exponent, isa);
  return status;
}

static const double *plain_values(const piece *p) {
  return p->values ? p->values : p->own.mantissa;
}

/* r = a * b; a and b may be the same piece. */
static int piece_convolve(const wb_pmf_context *context, piece *a, piece *b, int log, piece *r,
                          wb_message *message) {
  wb_pmf_context here = *context;
  if ((double)a->length * (double)b->length < DEVICE_FROM) here.backend = wb_cpu_backend();
  int status = piece_convert(a, log, context->run.isa, message);
  if (status == WB_OK) status = piece_convert(b, log, context->run.isa, message);
  if (status == WB_OK) status = piece_allocate(r, a->length + b->length - 1, log, message);
  if (status != WB_OK) return status;
  if (log)
    status = wb_pmf_convolve_wide(&here, &a->own, &b->own, &r->own, message);
  else
    status = wb_pmf_convolve(&here, a->length, plain_values(a), b->length, plain_values(b), r->own.mantissa,
                             message);
  if (status != WB_OK) piece_free(r);
  return status;
}

static int piece_write(piece *p, int log, double *result, wb_isa isa, wb_message *message) {
  const int status = piece_convert(p, log, isa, message);
  if (status != WB_OK) return status;
  if (log)
    wb_wide_to_log(p->length, p->own.mantissa, p->own.exponent, result, isa);
  else
    memcpy(result, plain_values(p), (size_t)p->length * sizeof(double));
  return WB_OK;
}

static int may_be_fast(int64_t m, int64_t n, int log) {
  return (double)m * (double)n >= (log ? WIDE_FAST_FROM : WB_PMF_FLAT_FROM);
}

typedef struct place {
  int64_t length, index;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* Two queues in order of length: the given pieces, sorted, and the sums, which
 * grow no shorter as they are made. Pieces 0..count - 1, then the sums. */
typedef struct queues {
  int64_t count;
  place *given;
  int64_t next_given, next_sum, last_sum; /* of the sums, those not yet used */
} queues;

static int64_t take_shortest(queues *q, const int64_t *sum_length) {
  const int has_given = q->next_given < q->count, has_sum = q->next_sum < q->last_sum;
  if (has_given && (!has_sum || q->given[q->next_given].length <= sum_length[q->next_sum]))
    return q->given[q->next_given++].index;
  return q->count + q->next_sum++;
}

/* The order of all convolutions: pairs[2 k], pairs[2 k + 1] make piece count + k. */
static double plan(const wb_pmf_terms *terms, place *given, int64_t *pairs, int64_t *sum_length) {
  queues q = {terms->count, given, 0, 0, 0};
  double fast = 0;
  for (int64_t i = 0; i < terms->count; i++) {
    given[i].length = terms->length[i];
    given[i].index = i;
  }
  qsort(given, (size_t)terms->count, sizeof *given, compare_places);
  for (int64_t k = 0; k + 1 < terms->count; k++) {
    int64_t length[2];
    for (int side = 0; side < 2; side++) {
      const int64_t at = take_shortest(&q, sum_length);
      pairs[2 * k + side] = at;
      length[side] = at < terms->count ? terms->length[at] : sum_length[at - terms->count];
    }
    sum_length[k] = length[0] + length[1] - 1;
    q.last_sum = k + 1;
    fast += may_be_fast(length[0], length[1], terms->log);
  }
  return fast;
}

int wb_pmf_sum(const wb_pmf_context *context, const wb_pmf_terms *terms, double *result, wb_message *message) {
  const int64_t count = terms->count;
  const size_t pieces_bytes = 2 * (size_t)count * sizeof(piece), given_bytes = (size_t)count * sizeof(place);
  const size_t numbers = 3 * (size_t)count;
  char *const memory = wb_aligned_malloc(pieces_bytes + given_bytes + numbers * sizeof(int64_t));
  if (!memory)
    return wb_out_of_memory(message, "the order of summation", pieces_bytes + given_bytes + numbers * sizeof(int64_t));
  piece *const pieces = (piece *)memory;
  place *const given = (place *)(memory + pieces_bytes);
  int64_t *const pairs = (int64_t *)(memory + pieces_bytes + given_bytes), *const sum_length = pairs + 2 * count;
  memset(pieces, 0, pieces_bytes);
  const double fast = plan(terms, given, pairs, sum_length);
  wb_pmf_context share = *context;
  if (fast > 1) share.accuracy /= fast;
  for (int64_t i = 0; i < count; i++) {
    pieces[i].length = terms->length[i];
    pieces[i].values = terms->values[i];
  }
  int status = WB_OK;
  for (int64_t k = 0; k + 1 < count && status == WB_OK; k++) {
    piece *const a = pieces + pairs[2 * k], *const b = pieces + pairs[2 * k + 1];
    status = piece_convolve(&share, a, b, terms->log, pieces + count + k, message);
    piece_free(a);
    piece_free(b);
  }
  piece *const last = count > 1 ? pieces + 2 * count - 2 : pieces;
  if (status == WB_OK) status = piece_write(last, terms->log, result, context->run.isa, message);
  for (int64_t i = 0; i < 2 * count; i++) piece_free(pieces + i);
  wb_aligned_free(memory);
  return status;
}

/* Convolutions that may be fast, each counted as often as the result holds it. */
static double repeat_plan(int64_t length, int64_t times, int log) {
  double fast = 0, copies = 1;
  /* From the last step back: x^times = (x^(times/2))^2, and times x if odd. */
  for (int64_t power = times; power > 1; power /= 2) {
    const int64_t half = power / 2, half_length = half * (length - 1) + 1;
    if (power % 2 && may_be_fast(length, 2 * half_length - 1, log)) fast += copies;
    if (may_be_fast(half_length, half_length, log)) fast += copies;
    copies *= 2;
  }
  return fast;
}

int wb_pmf_repeat(const wb_pmf_context *context, int64_t length, const double *values, int log, int64_t times,
                  double *result, wb_message *message) {
  const double fast = repeat_plan(length, times, log);
  wb_pmf_context share = *context;
  if (fast > 1) share.accuracy /= fast;
  piece one = {length, values, {0, NULL, NULL}}, power = {0, NULL, {0, NULL, NULL}}, next;
  int status = piece_convert(&one, log, context->run.isa, message);
  int bit = 62;
  while (bit > 0 && !(times >> bit & 1)) bit--;
  int is_one = 1; /* while power is `one` itself */
  for (bit--; bit >= 0 && status == WB_OK; bit--) {
    for (int step = 0; step < 2 && status == WB_OK; step++) {
      if (step == 1 && !(times >> bit & 1)) break;
      piece *const base = is_one ? &one : &power;
      memset(&next, 0, sizeof next);
      status = piece_convolve(&share, base, step == 0 ? base : &one, log, &next, message);
      if (status != WB_OK) break;
      if (!is_one) piece_free(&power);
      power = next;
      is_one = 0;
    }
  }
  if (status == WB_OK) status = piece_write(is_one ? &one : &power, log, result, context->run.isa, message);
  piece_free(&one);
  piece_free(&power);
  return status;
}
