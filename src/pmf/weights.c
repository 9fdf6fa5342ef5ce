/* Checks that vectors are distributions, before anything is computed with them. */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include "core/weight_look.h"

static int judge(wb_weight_bits seen) {
  const unsigned found = wb_weight_judge(seen);
  return found & WB_WEIGHTS_UNUSABLE ? WB_PMF_UNUSABLE : found ? WB_PMF_LARGE : WB_PMF_USABLE;
}

static wb_weight_bits see_weights(int64_t count, const double *x, uint64_t *restrict row) {
  wb_weight_bits seen = {0, 0, 0};
  for (int64_t i = 0; i < count; i++) {
    wb_weight_see(&seen, x[i]);
    if (row) row[i] |= wb_double_bits(x[i] + 0.0);
  }
  return seen;
}

/* The same for logarithms. Lowest bit: one within 2^49 of 0, a positive weight. Sign bit: neither that nor -inf. */
static wb_weight_bits see_logarithms(int64_t count, const double *x, uint64_t *restrict row) {
  wb_weight_bits seen = {0, 0, 0};
  for (int64_t i = 0; i < count; i++) {
    const uint64_t number = (x[i] >= -0x1p49) & (x[i] <= 0x1p49);
    const uint64_t usable = number | (uint64_t)(x[i] == -wb_infinity());
    seen.all |= number;
    seen.above |= (usable ^ 1) << 63;
    if (row) row[i] |= number;
  }
  return seen;
}

int wb_pmf_look(int64_t rows, int64_t columns, const double *x, int log) {
  enum { together = 256 };
  if (rows == 0 || columns == 0) return WB_PMF_UNUSABLE;
  if (rows == 1) return judge(log ? see_logarithms(columns, x, NULL) : see_weights(columns, x, NULL));
  wb_weight_bits seen = {0, 0, 0};
  for (int64_t first = 0; first < rows; first += together) {
    uint64_t row[together] = {0};
    const int64_t here = rows - first < together ? rows - first : together;
    for (int64_t column = 0; column < columns; column++) {
      const double *const from = x + column * rows + first;
      const wb_weight_bits more = log ? see_logarithms(here, from, row) : see_weights(here, from, row);
      seen = (wb_weight_bits){seen.all | more.all, seen.above | more.above, seen.large | more.large};
    }
    for (int64_t l = 0; l < here; l++)
      if (row[l] == 0) return WB_PMF_UNUSABLE;
  }
  return judge(seen);
}

static int unusable(wb_message *message) {
  return wb_fail(message, WB_ERROR_INPUT,
                 "weights must be finite numbers from 0, and one in each distribution must be positive");
}

int wb_pmf_check_pairs(const wb_convolution *work, int log, unsigned *seen, wb_message *message) {
  /* The stride of a matrix is the number of its rows. */
  const int p = wb_pmf_look(work->p_stride, work->m, work->p, log);
  const int q = wb_pmf_look(work->q_stride, work->n, work->q, log);
  *seen = p == WB_PMF_LARGE || q == WB_PMF_LARGE ? WB_WEIGHTS_LARGE : 0;
  return p != WB_PMF_UNUSABLE && q != WB_PMF_UNUSABLE ? WB_OK : unusable(message);
}

int wb_pmf_check_seen(unsigned seen, wb_message *message) {
  return seen & WB_WEIGHTS_UNUSABLE ? unusable(message) : WB_OK;
}

int wb_pmf_check_result(unsigned seen, int64_t count, const double *result, wb_message *message) {
  if (!(seen & WB_WEIGHTS_LARGE)) return WB_OK;
  const double infinity = wb_infinity();
  int overflow = 0;
  for (int64_t i = 0; i < count; i++) overflow |= result[i] == infinity;
  if (!overflow) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT,
                 "the result has weights above 1.8e308, the largest double: give logarithms, with log = TRUE");
}

int wb_pmf_check_terms(const wb_pmf_terms *terms, wb_message *message) {
  for (int64_t i = 0; i < terms->count; i++)
    if (wb_pmf_look(1, terms->length[i], terms->values[i], terms->log) == WB_PMF_UNUSABLE) return unusable(message);
  return terms->count > 0 ? WB_OK : unusable(message);
}
