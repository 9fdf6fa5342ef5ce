/* Whether vectors are distributions, before anything is computed with them. */
#include "core/rounding.h"

#include "pmf/pmf.h"

#include "core/elementary.h"

/* What a pass over weights has seen, without a branch for each. `all` is the union of
 * their bits: 0 if all weights are zero, and with the sign bit if one is negative. `above` is the
 * union of the bits after one was added to the exponent field: that reaches the sign bit if
 * a weight is infinite or NaN. */
typedef struct bits_seen {
  uint64_t all, above;
} bits_seen;

static bits_seen see_weights(int64_t count, const double *x, uint64_t *restrict row) {
  bits_seen seen = {0, 0};
  for (int64_t i = 0; i < count; i++) {
    const uint64_t bits = wb_double_bits(x[i] + 0.0); /* -0 becomes 0 */
    seen.all |= bits;
    seen.above |= bits + ((uint64_t)1 << 52);
    if (row) row[i] |= bits;
  }
  return seen;
}

/* The same for logarithms: the lowest bit stands for a number, that is for a positive
 * weight, and the sign bit for a logarithm that cannot be used. */
static bits_seen see_logarithms(int64_t count, const double *x, uint64_t *restrict row) {
  bits_seen seen = {0, 0};
  for (int64_t i = 0; i < count; i++) {
    const uint64_t number = (x[i] >= -0x1p49) & (x[i] <= 0x1p49);
    const uint64_t usable = number | (uint64_t)(x[i] == -wb_infinity());
    seen.all |= number;
    seen.above |= (usable ^ 1) << 63;
    if (row) row[i] |= number;
  }
  return seen;
}

int wb_pmf_usable(int64_t rows, int64_t columns, const double *x, int log) {
  enum { together = 256 };
  if (rows == 0 || columns == 0) return 0;
  if (rows == 1) {
    const bits_seen seen = log ? see_logarithms(columns, x, NULL) : see_weights(columns, x, NULL);
    return (seen.all | seen.above) >> 63 == 0 && seen.all != 0;
  }
  for (int64_t first = 0; first < rows; first += together) {
    uint64_t row[together] = {0};
    const int64_t here = rows - first < together ? rows - first : together;
    for (int64_t column = 0; column < columns; column++) {
      const double *const from = x + column * rows + first;
      const bits_seen seen = log ? see_logarithms(here, from, row) : see_weights(here, from, row);
      if ((seen.all | seen.above) >> 63 != 0) return 0;
    }
    for (int64_t l = 0; l < here; l++)
      if (row[l] == 0) return 0;
  }
  return 1;
}

static int unusable(wb_message *message) {
  wb_message_write(message, "weights must be finite numbers from 0, and one in each distribution must be positive");
  return WB_ERROR_INPUT;
}

int wb_pmf_check_pairs(const wb_convolution *work, int log, wb_message *message) {
  /* The stride of a matrix is the number of its rows. */
  const int usable = wb_pmf_usable(work->p_stride, work->m, work->p, log) &&
                     wb_pmf_usable(work->q_stride, work->n, work->q, log);
  return usable ? WB_OK : unusable(message);
}

int wb_pmf_check_terms(const wb_pmf_terms *terms, wb_message *message) {
  for (int64_t i = 0; i < terms->count; i++)
    if (!wb_pmf_usable(1, terms->length[i], terms->values[i], terms->log)) return unusable(message);
  return terms->count > 0 ? WB_OK : unusable(message);
}
