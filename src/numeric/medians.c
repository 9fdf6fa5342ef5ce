/* Medians of groups of rows, by Hoare's selection. */
#include "core/rounding.h"

#include "numeric/medians.h"

#include <stddef.h>
#include <string.h>

#include "core/elementary.h"
#include "numeric/spread.h"

static void swap(double *a, double *b) {
  const double held = *a;
  *a = *b;
  *b = held;
}

static double middle_of(double a, double b, double c) {
  if (a > b) swap(&a, &b);
  return c < a ? a : c > b ? b : c;
}

/* Reorders the values so that value `place` (from 0) is the one that sorting would put there, with none above it before
 * it. The pivots are at places that no order of the data makes bad for long. Both scans stop at values equal to the
 * pivot, so that ties halve the range as well. */
static void select_value(double *value, int64_t count, int64_t place) {
  int64_t low = 0, high = count - 1;
  uint64_t state = 0x9E3779B97F4A7C15u;
  while (low < high) {
    double at[3];
    for (int i = 0; i < 3; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      at[i] = value[low + (int64_t)((state >> 11) % (uint64_t)(high - low + 1))];
    }
    const double pivot = middle_of(at[0], at[1], at[2]);
    int64_t i = low, j = high;
    while (i <= j) {
      while (value[i] < pivot) i++;
      while (value[j] > pivot) j--;
      if (i <= j) swap(&value[i++], &value[j--]);
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else return;
  }
}

static double median_of(double *value, int64_t count) {
  if (count < 1) return wb_nan();
  const int64_t half = count / 2;
  select_value(value, count, half);
  if (count % 2 == 1) return value[half];
  double below = value[0];
  for (int64_t i = 1; i < half; i++)
    if (value[i] > below) below = value[i];
  /* Halves of large values do not overflow, and halving is exact but for the smallest numbers. */
  return 0.5 * below + 0.5 * value[half];
}

typedef struct grouping {
  const double *x;
  int64_t rows;
  const int32_t *group;
  int32_t groups;
  double *medians;
} grouping;

/* The values of a column are put in order of their groups. `memory`: for these values and the end of each group. */
static void column_medians(void *context, int64_t column, void *memory) {
  const grouping *const g = context;
  const double *const x = g->x + column * g->rows;
  double *const value = memory;
  int64_t *const end = (int64_t *)(value + g->rows);
  memset(end, 0, ((size_t)g->groups + 1) * sizeof(int64_t));
  for (int64_t i = 0; i < g->rows; i++) end[g->group[i]] += x[i] == x[i];
  for (int32_t t = 1; t <= g->groups; t++) end[t] += end[t - 1];
  for (int64_t i = 0; i < g->rows; i++)
    if (x[i] == x[i]) value[end[g->group[i] - 1]++] = x[i];
  for (int32_t t = 0; t < g->groups; t++) {
    const int64_t begin = t > 0 ? end[t - 1] : 0;
    g->medians[column * g->groups + t] = median_of(value + begin, end[t] - begin);
  }
}

int wb_group_medians(const double *x, int64_t rows, int32_t columns, const int32_t *group, int32_t groups,
                     int32_t threads, double *medians) {
  const grouping g = {x, rows, group, groups, medians};
  const size_t bytes = ((size_t)rows + (size_t)groups + 1) * sizeof(double);
  return wb_spread_with_memory(threads, columns, bytes, column_medians, (void *)&g);
}
