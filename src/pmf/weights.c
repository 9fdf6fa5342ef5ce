/* Whether vectors are distributions, before anything is computed with them. */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include "core/elementary.h"

/* What a pass over weights has seen, without a branch for each. `all` is the union of
 * their bits: 0 if all weights are zero, and with the sign bit if one is negative. `above` is the
 * union of the bits after one was added to the exponent field: that reaches the sign bit if
 * a weight is infinite or NaN. `large` does the same with so much that it reaches the sign bit
 * if a weight is 2^500 or more. */
typedef struct bits_seen {
  uint64_t all, above, large;
} bits_seen;

static void join(bits_seen *seen, bits_seen more) {
  seen->all |= more.all;
  seen->above |= more.above;
  seen->large |= more.large;
}

static int judge(bits_seen seen) {
  if ((seen.all | seen.above) >> 63 != 0 || seen.all == 0) return WB_PMF_UNUSABLE;
  return seen.large >> 63 != 0 ? WB_PMF_LARGE : WB_PMF_USABLE;
}

static bits_seen see_weights(int64_t count, const double *x, uint64_t *restrict row) {
  bits_seen seen = {0, 0, 0};
  for (int64_t i = 0; i < count; i++) {
    const uint64_t bits = wb_double_bits(x[i] + 0.0); /* -0 becomes 0 */
    seen.all |= bits;
    seen.above |= bits + ((uint64_t)1 << 52);
    seen.large |= bits + ((uint64_t)(2048 - 1023 - 500) << 52);
    if (row) row[i] |= bits;
  }
  return seen;
}

/* The same for logarithms: the lowest bit stands for a number, that is for a positive
 * weight, and the sign bit for a logarithm that cannot be used. */
static bits_seen see_logarithms(int64_t count, const double *x, uint64_t *restrict row) {
  bits_seen seen = {0, 0, 0};
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
  bits_seen seen = {0, 0, 0};
  for (int64_t first = 0; first < rows; first += together) {
    uint64_t row[together] = {0};
    const int64_t here = rows - first < together ? rows - first : together;
    for (int64_t column = 0; column < columns; column++) {
      const double *const from = x + column * rows + first;
      join(&seen, log ? see_logarithms(here, from, row) : see_weights(here, from, row));
    }
    for (int64_t l = 0; l < here; l++)
      if (row[l] == 0) return WB_PMF_UNUSABLE;
  }
  return judge(seen);
}

static int unusable(wb_message *message) {
  wb_message_write(message, "weights must be finite numbers from 0, and one in each distribution must be positive");
  return WB_ERROR_INPUT;
}

int wb_pmf_check_pairs(const wb_convolution *work, int log, int *large, wb_message *message) {
  /* The stride of a matrix is the number of its rows. */
  const int p = wb_pmf_look(work->p_stride, work->m, work->p, log);
  const int q = wb_pmf_look(work->q_stride, work->n, work->q, log);
  *large = p == WB_PMF_LARGE || q == WB_PMF_LARGE;
  return p != WB_PMF_UNUSABLE && q != WB_PMF_UNUSABLE ? WB_OK : unusable(message);
}

int wb_pmf_check_result(int64_t count, const double *result, wb_message *message) {
  const double infinity = wb_infinity();
  int overflow = 0;
  for (int64_t i = 0; i < count; i++) overflow |= result[i] == infinity;
  if (!overflow) return WB_OK;
  wb_message_write(message, "the result has weights above 1.8e308, the largest double: give logarithms, with log = TRUE");
  return WB_ERROR_INPUT;
}

int wb_pmf_check_terms(const wb_pmf_terms *terms, wb_message *message) {
  for (int64_t i = 0; i < terms->count; i++)
    if (wb_pmf_look(1, terms->length[i], terms->values[i], terms->log) == WB_PMF_UNUSABLE) return unusable(message);
  return terms->count > 0 ? WB_OK : unusable(message);
}
