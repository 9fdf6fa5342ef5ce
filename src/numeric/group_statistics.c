/* Medians and means of groups of rows. Order statistics are found by Hoare's quickselect. */
#include "core/rounding.h"

#include "numeric/group_statistics.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/elementary.h"
#include "numeric/spread.h"

static double middle_of(double a, double b, double c) {
  const double low = a > b ? b : a, high = a > b ? a : b;
  return c < low ? low : c > high ? high : c;
}

/* Reorders value[low..high] so that those below the pivot, or not above it, come first. Returns where the others begin.
 * Lomuto's partition has no branch that a processor could predict wrongly. */
static int64_t partition(double *value, int64_t low, int64_t high, double pivot, int or_equal) {
  int64_t begin = low;
  for (int64_t i = low; i <= high; i++) {
    const double held = value[i];
    value[i] = value[begin];
    value[begin] = held;
    begin += or_equal ? held <= pivot : held < pivot;
  }
  return begin;
}

/* Reorders value[low..high] so that those at `first` to `last` are the ones that sorting would put there. The pivots
 * are at places that no order of the data makes bad for long. Values equal to a smallest pivot leave at once. */
static void select_values(double *value, int64_t low, int64_t high, int64_t first, int64_t last) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  while (low < high && low <= last && high >= first) {
    double at[3];
    for (int i = 0; i < 3; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      at[i] = value[low + (int64_t)((state >> 11) % (uint64_t)(high - low + 1))];
    }
    const double pivot = middle_of(at[0], at[1], at[2]);
    const int64_t begin = partition(value, low, high, pivot, 0);
    if (begin == low) {
      low = partition(value, low, high, pivot, 1);
      continue;
    }
    if (first < begin && last >= begin) select_values(value, low, begin - 1, first, last);
    if (last < begin) high = begin - 1;
    else low = begin;
  }
}

/* Between the order statistics beside a place, as the default of R's quantile(). */
static double value_at(const double *sorted, double place) {
  const int64_t below = (int64_t)place;
  const double part = place - (double)below, least = sorted[below];
  if (part == 0 || sorted[below + 1] == least) return least;
  return (1 - part) * least + part * sorted[below + 1];
}

/* The distance between two order statistics about one standard error from the median tells its standard error. */
static double median_of(double *value, int64_t count, double *variance) {
  const double top = (double)(count - 1), reach = sqrt((double)count) / 2;
  const double low = top / 2 - reach > 0 ? top / 2 - reach : 0, high = top / 2 + reach < top ? top / 2 + reach : top;
  const int64_t above = (int64_t)high + 1;
  select_values(value, 0, count - 1, (int64_t)low, above < count ? above : count - 1);
  const double error = (value_at(value, high) - value_at(value, low)) / 2;
  *variance = error * error;
  return value_at(value, top / 2);
}

static double mean_of(const double *value, int64_t count, double *variance) {
  const double n = (double)count;
  double sum = 0, rest = 0, square = 0;
  for (int64_t i = 0; i < count; i++) sum += value[i];
  const double mean = sum / n;
  for (int64_t i = 0; i < count; i++) {
    const double apart = value[i] - mean;
    rest += apart;
    square += apart * apart;
  }
  *variance = (square - rest * rest / n) / (n - 1) / n;
  return mean + rest / n;
}

typedef struct statistics {
  const double *x;
  const int32_t *columns;
  const wb_grouping *grouping;
  int mean;
  int64_t least, largest; /* the number of rows of the largest part */
  double *value, *variance;
} statistics;

/* A part in a draw, of a column: orders its values by group. `memory`: for these values and each group's end. */
static void part_statistics(void *context, int64_t piece, void *memory) {
  const statistics *const s = context;
  const wb_grouping *const g = s->grouping;
  const int64_t part = piece % g->parts, draw = piece / g->parts % g->draws, column = piece / g->parts / g->draws;
  const double *const x = s->x + (s->columns[column] - 1) * g->rows;
  const int32_t *const group = g->group + draw * g->rows;
  const int64_t from = part > 0 ? g->end[part - 1] : 0, to = g->end[part];
  double *const values = memory;
  int64_t *const end = (int64_t *)(values + s->largest);
  memset(end, 0, ((size_t)g->groups + 1) * sizeof(int64_t));
  for (int64_t i = from; i < to; i++) {
    const int32_t row = g->order[i] - 1;
    end[group[row]] += x[row] == x[row];
  }
  for (int32_t t = 1; t <= g->groups; t++) end[t] += end[t - 1];
  for (int64_t i = from; i < to; i++) {
    const int32_t row = g->order[i] - 1;
    if (x[row] == x[row]) values[end[group[row] - 1]++] = x[row];
  }
  for (int32_t t = 0; t < g->groups; t++) {
    const int64_t begin = t > 0 ? end[t - 1] : 0, count = end[t] - begin;
    double *const value = s->value + piece * g->groups + t, *const variance = s->variance + piece * g->groups + t;
    *value = *variance = wb_nan();
    if (count == 0 || count < s->least) continue;
    *value = s->mean ? mean_of(values + begin, count, variance) : median_of(values + begin, count, variance);
  }
}

int wb_group_statistics(const double *x, const int32_t *columns, int32_t count, const wb_grouping *grouping, int mean,
                        int64_t least, int32_t threads, double *value, double *variance) {
  statistics s = {x, columns, grouping, mean, least, 0, value, variance};
  for (int32_t part = 0; part < grouping->parts; part++) {
    const int64_t rows = grouping->end[part] - (part > 0 ? grouping->end[part - 1] : 0);
    if (rows > s.largest) s.largest = rows;
  }
  const size_t bytes = ((size_t)s.largest + (size_t)grouping->groups + 1) * sizeof(double);
  const int64_t pieces = (int64_t)count * grouping->draws * grouping->parts;
  return wb_spread_with_memory(threads, pieces, bytes, part_statistics, &s);
}
