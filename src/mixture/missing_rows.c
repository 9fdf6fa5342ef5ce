/* Groups rows by the columns that they lack, sorted by a hash. If two patterns have one hash, one may come twice. */
#include "core/rounding.h"

#include "mixture/mixture.h"

#include <stdlib.h>
#include <string.h>

#include "numeric/memory.h"
#include "numeric/spread.h"

typedef struct entry {
  uint64_t hash;
  int32_t row;
} entry;

typedef struct group {
  int64_t first, count; /* among the entries */
  int32_t row;          /* the first row */
} group;

static int is_missing(double value) { return value != value; }

/* The finalizer of SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t hash_of_column(int32_t column) {
  uint64_t z = ((uint64_t)column + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* The largest group first; of equal ones the group with the smaller first row. */
static int compare_groups(const void *a, const void *b) {
  const group *x = a, *y = b;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

#define COUNT_PIECES 256
typedef struct missing_count {
  const double *x;
  int64_t values;
  int64_t found[COUNT_PIECES];
} missing_count;

/* Whether one of so many values may be missing: their sum is NaN, which vectors compute faster than comparisons. */
#define TOGETHER 512
#define LANES 16
static int may_lack(const double *x) {
  double sum[LANES] = {0}, all = 0;
  for (int i = 0; i < TOGETHER; i += LANES)
    for (int l = 0; l < LANES; l++) sum[l] += x[i + l];
  for (int l = 0; l < LANES; l++) all += sum[l];
  return is_missing(all);
}

static int64_t count_in(const double *x, int64_t values) {
  int64_t count = 0;
  for (int64_t first = 0; first < values; first += TOGETHER) {
    const int64_t end = values - first < TOGETHER ? values : first + TOGETHER;
    if (end - first == TOGETHER && !may_lack(x + first)) continue;
    for (int64_t i = first; i < end; i++) count += is_missing(x[i]);
  }
  return count;
}

static void count_piece(void *context, int64_t piece) {
  missing_count *all = context;
  const int64_t first = all->values * piece / COUNT_PIECES, end = all->values * (piece + 1) / COUNT_PIECES;
  all->found[piece] = count_in(all->x + first, end - first);
}

static int64_t count_missing(const double *x, int64_t values, int32_t threads) {
  missing_count all = {.x = x, .values = values};
  int64_t count = 0;
  wb_spread(values < 400000 ? 1 : threads, COUNT_PIECES, count_piece, &all);
  for (int i = 0; i < COUNT_PIECES; i++) count += all.found[i];
  return count;
}

static void hash_rows(const double *x, int64_t rows, int32_t columns, uint64_t *hash) {
  memset(hash, 0, (size_t)rows * sizeof *hash);
  for (int32_t c = 0; c < columns; c++) {
    const uint64_t of_column = hash_of_column(c);
    for (int64_t i = 0; i < rows; i++)
      if (is_missing(x[i + c * rows])) hash[i] = (hash[i] + of_column) | 1;
  }
}

static int same_columns(const double *x, int64_t rows, int32_t columns, int64_t a, int64_t b) {
  for (int32_t c = 0; c < columns; c++)
    if (is_missing(x[a + c * rows]) != is_missing(x[b + c * rows])) return 0;
  return 1;
}

/* Sorts the entries and their groups; returns how many groups there are. */
static int64_t group_entries(const double *x, int64_t rows, int32_t columns, entry *entries, int64_t count,
                             group *groups) {
  int64_t found = 0;
  qsort(entries, (size_t)count, sizeof *entries, compare_entries);
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || entries[i].hash != entries[i - 1].hash ||
        !same_columns(x, rows, columns, entries[i].row, entries[i - 1].row))
      groups[found++] = (group){i, 0, entries[i].row};
    groups[found - 1].count++;
  }
  qsort(groups, (size_t)found, sizeof *groups, compare_groups);
  return found;
}

/* The result in one block of memory. */
static wb_mixture_missing *missing_of(const double *x, int64_t rows, int32_t columns, const entry *entries,
                                      int64_t count, const group *groups, int64_t patterns, wb_message *message) {
  const size_t p = (size_t)columns, n = (size_t)patterns;
  const size_t bytes =
      sizeof(wb_mixture_missing) + (n + 1) * sizeof(int64_t) + (n * (p + 1) + (size_t)count) * sizeof(int32_t);
  wb_mixture_missing *made = malloc(bytes);
  if (!made) {
    wb_out_of_memory(message, "the patterns of missing values", bytes);
    return NULL;
  }
  int64_t *first = (int64_t *)(made + 1);
  int32_t *order = (int32_t *)(first + n + 1), *observed = order + n * p, *row = observed + n;
  first[0] = 0;
  for (size_t g = 0; g < n; g++) {
    int32_t *columns_of = order + g * p;
    int32_t with = 0, without = 0;
    for (int32_t c = 0; c < columns; c++) with += !is_missing(x[groups[g].row + c * rows]);
    observed[g] = with;
    with = 0;
    for (int32_t c = 0; c < columns; c++)
      if (is_missing(x[groups[g].row + c * rows])) columns_of[observed[g] + without++] = c;
      else columns_of[with++] = c;
    for (int64_t i = 0; i < groups[g].count; i++) row[first[g] + i] = entries[groups[g].first + i].row;
    first[g + 1] = first[g] + groups[g].count;
  }
  *made = (wb_mixture_missing){(int32_t)patterns, order, observed, first, row, 0};
  return made;
}

int wb_mixture_missing_find(const double *x, int64_t rows, int32_t columns, int32_t threads,
                            wb_mixture_missing **missing, wb_message *message) {
  const int64_t values = count_missing(x, rows * columns, threads);
  *missing = NULL;
  if (values == 0) return WB_OK;
  uint64_t *hash;
  entry *entries;
  group *groups;
  if (!WB_PARTS("the patterns of missing values", message, WB_PART(hash, rows))) return WB_ERROR_MEMORY;
  hash_rows(x, rows, columns, hash);
  int64_t count = 0;
  for (int64_t i = 0; i < rows; i++) count += hash[i] != 0;
  void *const memory =
      WB_PARTS("the patterns of missing values", message, WB_PART(entries, count), WB_PART(groups, count));
  count = 0;
  for (int64_t i = 0; i < rows && memory; i++)
    if (hash[i] != 0) entries[count++] = (entry){hash[i], (int32_t)i};
  wb_aligned_free(hash);
  if (!memory) return WB_ERROR_MEMORY;
  const int64_t patterns = group_entries(x, rows, columns, entries, count, groups);
  *missing = missing_of(x, rows, columns, entries, count, groups, patterns, message);
  wb_aligned_free(memory);
  if (!*missing) return WB_ERROR_MEMORY;
  (*missing)->values = values;
  return WB_OK;
}
