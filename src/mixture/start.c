/* The statistics with which a chain starts: from k-means on a subsample, seeded by k-means++ (Arthur & Vassilvitskii
 * 2007), or from given labels. Clusters that describe one population are joined if no warm-up does that (merge.c). */
#include "core/rounding.h"

#include "core/philox.h"
#include "core/purpose.h"
#include "core/scaled_value.h"
#include "mixture/mixture.h"
#include "numeric/memory.h"
#include "numeric/poll.h"

#define ROWS_PER_COMPONENT 10
#define ROWS_AT_LEAST 5000
#define ROWS_AT_MOST 50000
#define STEPS 5

/* Nanoseconds of a coordinate of a distance, roughly. */
#define COORDINATE_TIME 1.5

/* Each atom adds a coordinate, in which its rows are this many sd from all others, and become clusters of their own. */
#define ATOM_DISTANCE 2.0

typedef struct sample {
  int64_t count;
  int32_t columns, components; /* columns: of the data, and one for each atom */
  int64_t *row;
  int gaps;         /* whether values are missing (NaN) */
  double *x;        /* count x columns, row by row, scaled */
  double *center;   /* components x columns */
  double *distance; /* count: to the nearest centre */
  double *size;     /* components */
  double *seen;     /* components x columns: rows that have a value; later the last value seen */
  int32_t *label;
  void *memory;
  wb_poll *poll;
} sample;

/* Reports the distances of `count` pairs. */
static int interrupted(const sample *s, int64_t count) {
  return wb_poll_after(s->poll, COORDINATE_TIME * (double)count * (double)(s->columns + 2));
}

int64_t wb_mixture_start_count(int64_t rows, int32_t components) {
  int64_t count = (int64_t)components * ROWS_PER_COMPONENT;
  if (count < ROWS_AT_LEAST) count = ROWS_AT_LEAST;
  if (count > ROWS_AT_MOST) count = ROWS_AT_MOST;
  return count < rows ? count : rows;
}

static int sample_open(sample *s, const wb_mixture_spots *spots, int64_t count, int32_t components,
                       wb_message *message) {
  const wb_mixture_data *data = spots->data;
  const size_t m = (size_t)count, p = (size_t)(data->columns + spots->atoms), k = (size_t)components;
  s->count = count;
  s->columns = (int32_t)p;
  s->components = components;
  s->memory =
      WB_PARTS("the start of a chain", message, WB_PART(s->row, m), WB_PART(s->x, m * p), WB_PART(s->label, m),
               WB_PART(s->distance, m), WB_PART(s->center, k * p), WB_PART(s->size, k), WB_PART(s->seen, k * p));
  return s->memory ? WB_OK : WB_ERROR_MEMORY;
}

static int is_missing(double value) { return value != value; }

static double scaled_value(const wb_mixture_data *data, int64_t row, int32_t column) {
  return wb_scaled_value(data->x[row + column * data->rows], data->center[column], data->inverse_scale[column]);
}

static double uniform(uint64_t key, uint32_t purpose, uint64_t element) {
  wb_stream stream = wb_stream_open(key, purpose, 0, element);
  return wb_stream_uniform(&stream);
}

void wb_mixture_start_rows(int64_t rows, int64_t count, uint64_t key, int64_t *row) {
  for (int64_t i = 0; i < count; i++) {
    const double stretch = (double)rows / (double)count;
    int64_t first = (int64_t)((double)i * stretch), end = (int64_t)((double)(i + 1) * stretch);
    if (i == count - 1) end = rows;
    const double u = uniform(key, WB_PURPOSE_SUBSAMPLE, (uint64_t)i);
    const int64_t within = (int64_t)(u * (double)(end - first));
    row[i] = first + (within < end - first ? within : end - first - 1);
  }
}

static void read_rows(sample *s, const wb_mixture_spots *spots) {
  const wb_mixture_data *data = spots->data;
  s->gaps = 0;
  for (int64_t i = 0; i < s->count; i++) {
    double *x = s->x + (size_t)i * (size_t)s->columns;
    for (int32_t c = 0; c < data->columns; c++) x[c] = scaled_value(data, s->row[i], c);
    for (int32_t a = 0; a < spots->atoms; a++) {
      const double value = x[(int32_t)spots->atom[2 * a]];
      x[data->columns + a] = is_missing(value) ? value : value == spots->atom[2 * a + 1] ? ATOM_DISTANCE : 0;
    }
    for (int32_t c = 0; c < data->columns; c++) s->gaps |= is_missing(x[c]);
  }
}

static double squared_distance(const sample *s, const double *row, const double *center) {
  const int32_t p = s->columns;
  double sum = 0;
  int32_t seen = 0;
  for (int32_t c = 0; c < p; c++) sum += (row[c] - center[c]) * (row[c] - center[c]);
  if (!is_missing(sum)) return sum; /* twice as fast as asking for each value */
  sum = 0;
  for (int32_t c = 0; c < p; c++) {
    if (is_missing(row[c])) continue;
    sum += (row[c] - center[c]) * (row[c] - center[c]);
    seen++;
  }
  return seen > 0 ? sum * p / seen : 0;
}

/* Draws a row by its squared distance. -1: all are centres. */
static int64_t far_row(const sample *s, double u) {
  double total = 0, sum = 0;
  int64_t last = -1;
  for (int64_t i = 0; i < s->count; i++) total += s->distance[i];
  for (int64_t i = 0; i < s->count; i++) {
    if (s->distance[i] > 0) last = i;
    sum += s->distance[i];
    if (sum > u * total) break;
  }
  return last;
}

/* Chooses centres: rows drawn by squared distance from the nearest before. Returns how many; -1: interrupted. */
static int32_t choose_centers(sample *s, uint64_t key) {
  const size_t p = (size_t)s->columns;
  for (int32_t j = 0; j < s->components; j++) {
    const double u = uniform(key, WB_PURPOSE_START, (uint64_t)j);
    const int64_t row = j == 0 ? (int64_t)(u * (double)s->count) : far_row(s, u);
    if (row < 0) return j;
    double *center = memcpy(s->center + (size_t)j * p, s->x + (size_t)row * p, p * sizeof(double));
    for (size_t c = 0; c < p; c++)
      if (is_missing(center[c])) center[c] = 0;
    for (int64_t i = 0; i < s->count; i++) {
      const double d = squared_distance(s, s->x + (size_t)i * p, center);
      if (j == 0 || d < s->distance[i]) {
        s->distance[i] = d;
        s->label[i] = j;
      }
    }
    if (interrupted(s, s->count)) return -1;
  }
  return s->components;
}

/* Centres become the means of the values that are not missing, or zero, the mean of all rows, if a cluster has none. */
static void move_centers(sample *s, int32_t centers) {
  const size_t p = (size_t)s->columns;
  memset(s->center, 0, (size_t)centers * p * sizeof(double));
  memset(s->seen, 0, (size_t)centers * p * sizeof(double));
  memset(s->size, 0, (size_t)centers * sizeof(double));
  for (int64_t i = 0; i < s->count; i++) {
    const size_t first = (size_t)s->label[i] * p;
    s->size[s->label[i]] += 1;
    for (size_t c = 0; c < p; c++) {
      const double value = s->x[(size_t)i * p + c];
      if (is_missing(value)) continue;
      s->center[first + c] += value;
      s->seen[first + c] += 1;
    }
  }
  for (size_t i = 0; i < (size_t)centers * p; i++)
    if (s->seen[i] > 0) s->center[i] /= s->seen[i];
}

static int assign_rows(sample *s, int32_t centers) {
  const size_t p = (size_t)s->columns;
  for (int64_t i = 0; i < s->count; i++) {
    const double *x = s->x + (size_t)i * p;
    double nearest = squared_distance(s, x, s->center + (size_t)s->label[i] * p);
    for (int32_t j = 0; j < centers; j++) {
      if (s->size[j] == 0) continue;
      const double d = squared_distance(s, x, s->center + (size_t)j * p);
      if (d < nearest) {
        nearest = d;
        s->label[i] = j;
      }
    }
    if (interrupted(s, centers)) return WB_INTERRUPTED;
  }
  return WB_OK;
}

int wb_mixture_start(const wb_mixture_spots *spots, const wb_mixture_prior *prior, int32_t components, uint64_t key,
                     int merge, int64_t rows, double *statistics, wb_poll *poll, wb_message *message) {
  const wb_mixture_data *data = spots->data;
  const size_t size = WB_MIXTURE_STATISTICS(data->columns);
  sample s = {.poll = poll};
  WB_TRY(sample_open(&s, spots, wb_mixture_start_count(rows, components), components, message));
  if (data->rows == rows) wb_mixture_start_rows(rows, s.count, key, s.row);
  else
    for (int64_t i = 0; i < s.count; i++) s.row[i] = i;
  read_rows(&s, spots);
  const int32_t centers = choose_centers(&s, key);
  int status = centers < 0 ? WB_INTERRUPTED : WB_OK;
  for (int step = 0; step < STEPS && status == WB_OK; step++) {
    move_centers(&s, centers);
    status = assign_rows(&s, centers);
  }
  if (status == WB_OK)
    wb_mixture_sum_labels(data, components, s.row, s.count, s.label, s.gaps ? s.seen : NULL, statistics);
  const double rows_each = (double)rows / (double)s.count;
  wb_aligned_free(s.memory);
  if (status != WB_OK) return status;
  for (size_t i = 0; i < (size_t)components * size; i++) statistics[i] *= rows_each;
  if (merge) return wb_mixture_merge(prior, components, statistics, message);
  wb_mixture_order_by_size(components, data->columns, statistics);
  return WB_OK;
}

void wb_mixture_sum_labels(const wb_mixture_data *data, int32_t components, const int64_t *rows, int64_t count,
                           const int32_t *labels, double *last, double *statistics) {
  const int32_t p = data->columns;
  const size_t size = WB_MIXTURE_STATISTICS(p);
  memset(statistics, 0, (size_t)components * size * sizeof(double));
  if (last) memset(last, 0, (size_t)components * (size_t)p * sizeof(double));
  /* Two passes if values are missing, so that the first rows of a label have values to take over. */
  for (int pass = last ? 0 : 1; pass < 2; pass++)
    for (int64_t i = 0; i < count; i++) {
      if (labels[i] < 0) continue;
      const int64_t row = rows ? rows[i] : i;
      double *sums = statistics + (size_t)labels[i] * size, *product = sums + 1 + p;
      double *before = last ? last + (size_t)labels[i] * (size_t)p : NULL;
      if (before)
        for (int32_t c = 0; c < p; c++) {
          const double value = scaled_value(data, row, c);
          if (!is_missing(value)) before[c] = value;
        }
      if (pass == 0) continue;
      sums[0] += 1;
      for (int32_t r = 0; r < p; r++) {
        const double xr = before ? before[r] : scaled_value(data, row, r);
        sums[1 + r] += xr;
        for (int32_t c = 0; c <= r; c++) *product++ += xr * (before ? before[c] : scaled_value(data, row, c));
      }
    }
}
