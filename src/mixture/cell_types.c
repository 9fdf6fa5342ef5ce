/* Joins the components that are most often mistaken for each other (agglomeration). The masses of joined types add up,
 * so a component between two others joins all three. */
#include "core/rounding.h"

#include "mixture/cell_types.h"

#include <stdlib.h>

#include "core/elementary.h"
#include "core/linear_algebra.h"
#include "numeric/memory.h"

/* The pooled covariance W as a packed lower triangle, and the mean of the means. */
static void pool(int32_t k, int32_t p, const double *weights, const double *means, const double *covariances,
                 double *packed, double *center) {
  double total = 0;
  for (size_t i = 0; i < wb_packed_size(p); i++) packed[i] = 0;
  for (int32_t c = 0; c < p; c++) center[c] = 0;
  for (int32_t j = 0; j < k; j++) {
    const double *covariance = covariances + (size_t)j * (size_t)p * (size_t)p;
    total += weights[j];
    for (int32_t r = 0; r < p; r++) {
      center[r] = wb_fma(weights[j], means[(size_t)j + (size_t)r * (size_t)k], center[r]);
      double *row = packed + wb_packed_row(r);
      for (int32_t c = 0; c <= r; c++)
        row[c] = wb_fma(weights[j], covariance[(size_t)r + (size_t)c * (size_t)p], row[c]);
    }
  }
  for (size_t i = 0; i < wb_packed_size(p); i++) packed[i] /= total;
  for (int32_t c = 0; c < p; c++) center[c] /= total;
}

int wb_mixture_separation(int32_t components, int32_t columns, const double *weights, const double *means,
                          const double *covariances, double *separation, wb_message *message) {
  const size_t k = (size_t)components, p = (size_t)columns;
  const size_t bytes = (wb_packed_size(columns) + 2 * p + k * p) * sizeof(double);
  double *factor = malloc(bytes);
  if (!factor) return wb_out_of_memory(message, "cell types", bytes);
  double *center = factor + wb_packed_size(columns), *mean = center + p, *standard = mean + p;
  pool(components, columns, weights, means, covariances, factor, center);
  if (wb_cholesky(columns, factor) != 0) {
    free(factor);
    wb_message_write(message, "the pooled covariance of the components is not positive definite");
    return WB_ERROR_INPUT;
  }
  for (size_t j = 0; j < k; j++) {
    for (size_t c = 0; c < p; c++) mean[c] = means[j + c * k] - center[c];
    wb_triangle_solve(columns, factor, mean, standard + j * p);
  }
  for (size_t j = 0; j < k; j++) {
    separation[j + j * k] = 0;
    for (size_t h = 0; h < j; h++) {
      double sum = 0;
      for (size_t c = 0; c < p; c++) {
        const double difference = standard[h * p + c] - standard[j * p + c];
        sum = wb_fma(difference, difference, sum);
      }
      separation[h + j * k] = separation[j + h * k] = wb_sqrt(sum);
    }
  }
  free(factor);
  return WB_OK;
}

typedef struct types {
  int32_t k;
  double *overlap, *size;
  double *best;      /* largest overlap with a type of a higher number; -1: none, -2: joined to another */
  int32_t *partner;  /* the type that has this overlap */
} types;

static double shared(const types *t, int32_t h, int32_t j) {
  const size_t k = (size_t)t->k;
  const double one = t->overlap[(size_t)h + (size_t)j * k] / t->size[j];
  const double other = t->overlap[(size_t)j + (size_t)h * k] / t->size[h];
  return one > other ? one : other;
}

static void find_partner(types *t, int32_t j) {
  t->best[j] = -1;
  t->partner[j] = -1;
  for (int32_t h = j + 1; h < t->k; h++) {
    if (t->best[h] < -1) continue;
    const double value = shared(t, h, j);
    if (value > t->best[j]) {
      t->best[j] = value;
      t->partner[j] = h;
    }
  }
}

/* Type b becomes part of type a < b. */
static void join(types *t, int32_t a, int32_t b) {
  const size_t k = (size_t)t->k;
  t->size[a] += t->size[b];
  for (size_t h = 0; h < k; h++) {
    t->overlap[h + (size_t)a * k] += t->overlap[h + (size_t)b * k];
    t->overlap[(size_t)a + h * k] += t->overlap[(size_t)b + h * k];
  }
  t->best[b] = -2;
  for (int32_t j = 0; j < b; j++) {
    if (t->best[j] < -1) continue;
    if (j == a || t->partner[j] == a || t->partner[j] == b) {
      find_partner(t, j);
    } else if (j < a) {
      const double value = shared(t, a, j);
      if (value > t->best[j] || (value == t->best[j] && a < t->partner[j])) {
        t->best[j] = value;
        t->partner[j] = a;
      }
    }
  }
}

void wb_mixture_join_types(int32_t components, double *overlap, double *size, int32_t *first, int32_t *second,
                           double *level, void *memory) {
  types t = {.k = components, .overlap = overlap, .size = size, .best = memory};
  t.partner = (int32_t *)(t.best + components);
  for (int32_t j = 0; j < components; j++) t.best[j] = -1;
  for (int32_t j = 0; j < components; j++) find_partner(&t, j);
  for (int32_t step = 0; step + 1 < components; step++) {
    int32_t a = 0;
    for (int32_t j = 1; j < components; j++)
      if (t.best[j] > t.best[a]) a = j;
    first[step] = a;
    second[step] = t.partner[a];
    level[step] = t.best[a];
    join(&t, a, t.partner[a]);
  }
}
