/* Sums that neither a direct sum over all positions nor a Fourier transform serves: groups of a given size, counted by
 * their sum of scores (Streitberg and Roehmel 1986), and variables with few values far apart. */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include <string.h>

#include "core/min_max.h"
#include "numeric/memory.h"

/* Nanoseconds of an addition, at most. */
#define ADDITION_TIME 1.0

/* Sums of this many entries stay in the first cache. */
#define BLOCK 2048

/* Keeps numbers of groups up to 2^1900 below the largest double. */
#define GROUP_SCALE 0x1p-900

/* Lanes that the compiler turns into vectors. */
#define LANES 8

/* to[i] = keep to[i] + weight from[i] */
static void add_scaled(int64_t count, double keep, const double *restrict from, double weight, double *restrict to) {
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES)
    for (int l = 0; l < LANES; l++) to[i + l] = keep * to[i + l] + weight * from[i + l];
  for (; i < count; i++) to[i] = keep * to[i] + weight * from[i];
}

/* row[g] + s: the number of groups of g scores with the sum s above the least. ahead[i]: sum of the i least scores. */
static int count_rows(wb_call *call, int64_t n, const double *scores, int64_t size, const int64_t *ahead,
                      double *const *row) {
  row[0][0] = GROUP_SCALE;
  for (int64_t i = 0; i < n; i++) {
    double work = 0;
    /* Smaller groups cannot become large enough. */
    const int64_t least = size - (n - 1 - i) > 1 ? size - (n - 1 - i) : 1;
    for (int64_t g = i + 1 < size ? i + 1 : size; g >= least; g--) {
      const int64_t shift = (int64_t)(scores[i] - scores[g - 1]);
      const int64_t count = ahead[i] - ahead[i - g + 1] - ahead[g - 1] + 1;
      add_scaled(count, 1.0, row[g - 1], 1.0, row[g] + shift);
      work += (double)count;
    }
    if (wb_poll_after(&call->poll, ADDITION_TIME * work)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

int wb_pmf_count_groups(wb_call *call, int64_t n, const double *scores, int64_t size, double *result) {
  const size_t numbers = ((size_t)n + 1) * sizeof(int64_t) + ((size_t)size + 1) * sizeof(double *);
  int64_t *const ahead = wb_aligned_malloc(numbers);
  if (!ahead) return wb_out_of_memory(call->message, "sums of scores", numbers);
  double **const row = (double **)(void *)(ahead + n + 1);
  ahead[0] = 0;
  for (int64_t i = 0; i < n; i++) ahead[i + 1] = ahead[i] + (int64_t)scores[i];
  size_t entries = 0;
  for (int64_t g = 0; g < size; g++) entries += (size_t)(ahead[n] - ahead[n - g] - ahead[g] + 1);
  double *const memory = wb_aligned_malloc(entries * sizeof(double));
  int status = memory ? WB_OK : wb_out_of_memory(call->message, "numbers of groups", entries * sizeof(double));
  if (status == WB_OK) {
    const int64_t last = ahead[n] - ahead[n - size] - ahead[size] + 1;
    memset(memory, 0, entries * sizeof(double));
    memset(result, 0, (size_t)last * sizeof(double));
    double *next = memory;
    for (int64_t g = 0; g < size; g++) {
      row[g] = next;
      next += ahead[n] - ahead[n - g] - ahead[g] + 1;
    }
    row[size] = result;
    status = count_rows(call, n, scores, size, ahead, row);
  }
  wb_aligned_free(memory);
  wb_aligned_free(ahead);
  return status;
}

/* to[i - begin] = sum_j weight_j all[i - at_j] for begin <= i < end, where `to` is all + begin or overlaps nothing. */
static void add_block(const wb_pmf_values *v, const double *all, int64_t begin, int64_t end, double *to) {
  if (to != all + begin) memcpy(to, all + begin, (size_t)(end - begin) * sizeof(double));
  double keep = v->weight[0];
  for (int64_t i = begin; i < end && (v->count < 2 || i < v->at[1]); i++) to[i - begin] *= keep;
  for (int64_t j = 1; j < v->count; j++, keep = 1) {
    const int64_t shift = (int64_t)v->at[j], first = shift > begin ? shift : begin;
    if (first < end) add_scaled(end - first, keep, all + first - shift, v->weight[j], to + first - begin);
  }
}

/* In place, by stretches from the last to the first, because an output comes from entries at and before it. Within a
 * stretch as long as the least shift, blocks go forwards. Only shorter shifts need a copy of a block. */
int wb_pmf_add_values(wb_call *call, int64_t count, const double *x, int64_t terms, const wb_pmf_values *values,
                      const double *outputs, double *result) {
  double block[BLOCK];
  memcpy(result, x, (size_t)count * sizeof(double));
  memset(result + count, 0, (size_t)((int64_t)outputs[terms - 1] - count) * sizeof(double));
  for (int64_t k = 0; k < terms; k++) {
    const wb_pmf_values *const v = values + k;
    const int64_t least = v->count < 2 ? BLOCK : (int64_t)v->at[1], stretch = least > BLOCK ? least : BLOCK;
    count = wb_min_int(count + (int64_t)v->at[v->count - 1], (int64_t)outputs[k]);
    for (int64_t stop = count; stop > 0; stop -= stretch)
      for (int64_t begin = stop > stretch ? stop - stretch : 0; begin < stop; begin += BLOCK) {
        const int64_t end = wb_min_int(begin + BLOCK, stop);
        add_block(v, result, begin, end, least < BLOCK ? block : result + begin);
        if (least < BLOCK) memcpy(result + begin, block, (size_t)(end - begin) * sizeof(double));
        if (wb_poll_after(&call->poll, ADDITION_TIME * (double)(end - begin) * (double)v->count)) return WB_INTERRUPTED;
      }
  }
  return WB_OK;
}
