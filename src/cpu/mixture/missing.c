/* Rows with missing values on the processor: draws their components and their missing values. A thread takes some rows
 * of the list, which is ordered by pattern of missingness, and computes a table of all components, with the columns in
 * the pattern's order, whenever the pattern changes. The pass over the leaves takes the draws from here. */
#define WB_COMPACT
#include "core/rounding.h"

#include "cpu/mixture/sums.h"

#include <stdlib.h>

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/mixture_missing.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/scaled_value.h"
#include "numeric/memory.h"

/* Rows that a thread takes at a time: enough to repay a table, and few enough to share the work evenly. */
#define SHARE_ROWS 128

#define REAL_LOOPS "cpu/mixture/missing_row.h"
#define WB_LOOPS "cpu/both_precisions.h"
#define WB_WITHOUT_AVX512
#include "numeric/isa.h"

struct wb_cpu_missing {
  int64_t *base; /* patterns: where the values of their rows begin */
  /* The last draws, by place in the list of incomplete rows; NULL before the first draw. */
  double *log_sum, *value; /* of each row; of each missing value */
  int32_t *label;
  /* The same rows by leaf: `first` has each leaf's beginning; then each row's place in the list, and its pattern. */
  int64_t *first;
  int32_t *place, *pattern;
  int32_t components; /* of `whole` and `scratch`; 0: none */
  double *whole;      /* the components of complete rows, block by block */
  char *scratch;      /* for each thread: a block of components, a table, a row */
};

static int64_t leaves_of(const wb_mixture_session *session) {
  return (session->data.rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
}

static int is_single(const wb_mixture_session *session) { return session->data.precision == WB_SINGLE; }

/* The loop of a session's precision and instruction set. */
#define LOOP(name, session) \
  (is_single(session) ? WB_LOOP(name##_single, (session)->isa) : WB_LOOP(name##_double, (session)->isa))

static size_t block_size(const wb_mixture_session *session) {
  return (wb_missing_size(session->data.columns) + 1) * WB_MISSING_LANES;
}

static int32_t blocks_of(int32_t components) { return (components + WB_MISSING_LANES - 1) / WB_MISSING_LANES; }

static size_t table_bytes(const wb_mixture_session *session, int32_t components) {
  return (size_t)blocks_of(components) * block_size(session) * (is_single(session) ? sizeof(float) : sizeof(double));
}

static void sort_by_leaf(const wb_mixture_missing *data, int64_t leaves, struct wb_cpu_missing *m) {
  memset(m->first, 0, (size_t)(leaves + 1) * sizeof(int64_t));
  const int64_t count = data->first[data->patterns];
  for (int64_t i = 0; i < count; i++) m->first[data->row[i] / WB_LEAF_ROWS + 1]++;
  for (int64_t leaf = 0; leaf < leaves; leaf++) m->first[leaf + 1] += m->first[leaf];
  for (int32_t g = 0; g < data->patterns; g++)
    for (int64_t i = data->first[g]; i < data->first[g + 1]; i++) {
      const int64_t at = m->first[data->row[i] / WB_LEAF_ROWS]++;
      m->place[at] = (int32_t)i;
      m->pattern[at] = g;
    }
  memmove(m->first + 1, m->first, (size_t)leaves * sizeof(int64_t));
  m->first[0] = 0;
}

int wb_cpu_missing_open(wb_mixture_session *session, wb_message *message) {
  const wb_mixture_missing *data = session->data.missing;
  if (!data) return WB_OK;
  const int64_t leaves = leaves_of(session), count = data->first[data->patterns];
  const size_t bytes = sizeof(struct wb_cpu_missing) + (size_t)(data->patterns + leaves + 1) * sizeof(int64_t) +
                       2 * (size_t)count * sizeof(int32_t);
  struct wb_cpu_missing *m = malloc(bytes);
  if (!m) return wb_out_of_memory(message, "rows with missing values", bytes);
  memset(m, 0, sizeof *m);
  m->base = (int64_t *)(m + 1);
  m->first = m->base + data->patterns;
  m->place = (int32_t *)(m->first + leaves + 1);
  m->pattern = m->place + count;
  sort_by_leaf(data, leaves, m);
  int64_t base = 0;
  for (int32_t g = 0; g < data->patterns; g++) {
    m->base[g] = base;
    base += (data->first[g + 1] - data->first[g]) * (session->data.columns - data->observed[g]);
  }
  session->missing = m;
  return WB_OK;
}

static void release_components(struct wb_cpu_missing *m) {
  wb_aligned_free(m->whole);
  wb_aligned_free(m->scratch);
  m->whole = NULL;
  m->scratch = NULL;
  m->components = 0;
}

void wb_cpu_missing_close(wb_mixture_session *session) {
  struct wb_cpu_missing *m = session->missing;
  if (!m) return;
  release_components(m);
  free(m->log_sum);
  free(m);
}

static void lay_out(const wb_mixture_session *session, const wb_mixture_parameters *parameters, int32_t block,
                    double *to) {
  const int p = session->data.columns;
  const size_t triangle = wb_packed_size(p);
  for (int32_t l = 0; l < WB_MISSING_LANES; l++) {
    const int32_t wanted = block * WB_MISSING_LANES + l;
    const size_t j = (size_t)(wanted < parameters->components ? wanted : parameters->components - 1);
    const double *factor = parameters->factor + j * triangle, *offset = parameters->offset + j * (size_t)p;
    double *out = to + l;
    for (int r = 0; r < p; r++) {
      *out = offset[r];
      out += WB_MISSING_LANES;
      for (int c = 0; c <= r; c++, out += WB_MISSING_LANES) *out = *factor++;
    }
    *out = parameters->log_constant[j];
  }
}

static size_t scratch_bytes(const wb_mixture_session *session, int32_t components) {
  const size_t bytes = block_size(session) * sizeof(double) + table_bytes(session, components) +
                       (size_t)session->data.columns * sizeof(double);
  return (bytes + 63) / 64 * 64;
}

/* Writes the components of complete rows, block by block. */
static int lay_out_all(const wb_mixture_session *session, const wb_mixture_parameters *parameters,
                       wb_message *message) {
  struct wb_cpu_missing *m = session->missing;
  const int32_t k = parameters->components, blocks = blocks_of(k);
  if (m->components != k) {
    const size_t whole = (size_t)blocks * block_size(session) * sizeof(double);
    const size_t scratch = (size_t)session->threads * scratch_bytes(session, k);
    release_components(m);
    m->whole = wb_aligned_malloc(whole);
    m->scratch = wb_aligned_malloc(scratch);
    if (!m->whole || !m->scratch) {
      release_components(m);
      return wb_out_of_memory(message, "the components of rows with missing values", whole + scratch);
    }
    m->components = k;
  }
  for (int32_t b = 0; b < blocks; b++) lay_out(session, parameters, b, m->whole + (size_t)b * block_size(session));
  return WB_OK;
}

typedef struct desk {
  double *work;
  char *table;
  void *values; /* doubles or floats */
  int32_t pattern, observed;
  const int32_t *order;
} desk;

static desk desk_of(const wb_mixture_session *session, int thread) {
  const struct wb_cpu_missing *m = session->missing;
  char *memory = m->scratch + (size_t)thread * scratch_bytes(session, m->components);
  desk d = {.work = (double *)memory, .pattern = -1};
  d.table = (char *)(d.work + block_size(session));
  d.values = d.table + table_bytes(session, m->components);
  return d;
}

static void take_pattern(const wb_mixture_session *session, int32_t pattern, desk *d) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns;
  const size_t size = block_size(session), bytes = size * (is_single(session) ? sizeof(float) : sizeof(double));
  d->pattern = pattern;
  d->observed = data->observed[pattern];
  d->order = data->order + (size_t)pattern * (size_t)p;
  for (int32_t b = 0; b < blocks_of(m->components); b++) LOOP(missing_build, session)
  (p, d->observed, d->order, m->whole + (size_t)b * size, d->work, d->table + (size_t)b * bytes);
}

static void gather(const wb_mixture_session *session, int64_t row, desk *d) {
  const wb_mixture_data *data = &session->data;
  for (int i = 0; i < d->observed; i++) {
    const int32_t c = d->order[i];
    const double scaled = wb_scaled_value(data->x[row + c * data->rows], data->center[c], data->inverse_scale[c]);
    if (is_single(session)) ((float *)d->values)[i] = wb_scaled_valuef(scaled);
    else ((double *)d->values)[i] = scaled;
  }
}

/* The pattern of place i of the list. Any earlier place has `pattern` or a lower one; -1 if nothing is known. */
static int32_t pattern_at(const wb_mixture_missing *data, int64_t i, int32_t pattern) {
  int32_t low = pattern < 0 ? 0 : pattern, high = data->patterns - 1;
  if (pattern >= 0 && i < data->first[pattern + 1]) return pattern;
  while (low < high) {
    const int32_t middle = low + (high - low + 1) / 2;
    if (data->first[middle] <= i) low = middle;
    else high = middle - 1;
  }
  return low;
}

static int64_t shares_of(const wb_mixture_session *session) {
  const wb_mixture_missing *data = session->data.missing;
  return (data->first[data->patterns] + SHARE_ROWS - 1) / SHARE_ROWS;
}

static int64_t share_end(const wb_mixture_session *session, int64_t share) {
  const wb_mixture_missing *data = session->data.missing;
  const int64_t count = data->first[data->patterns], end = (share + 1) * SHARE_ROWS;
  return end < count ? end : count;
}

static void draw_share(const wb_mixture_session *session, uint64_t key, uint32_t iteration, int64_t share, int thread) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns, single = is_single(session);
  desk d = desk_of(session, thread);
  for (int64_t i = share * SHARE_ROWS; i < share_end(session, share); i++) {
    const int32_t pattern = pattern_at(data, i, d.pattern), row = data->row[i];
    const uint64_t number = (uint64_t)(session->data.first_row + row);
    if (pattern != d.pattern) take_pattern(session, pattern, &d);
    gather(session, row, &d);
    const void *share = session->share; /* added to the log weights of the row's sample; NULL without samples */
    if (share)
      share = (const char *)share + (size_t)session->data.sample[row] * (size_t)session->components *
                                        (single ? sizeof(float) : sizeof(double));
    m->log_sum[i] = LOOP(missing_draw, session)(p, d.observed, m->components, d.table, share, d.values, key, iteration,
                                                number, &m->label[i]);
    LOOP(missing_impute, session)(p, d.observed, d.table, m->label[i], key, iteration, number, d.values);
    double *value = m->value + m->base[pattern] + (i - data->first[pattern]) * (p - d.observed);
    for (int c = d.observed; c < p; c++)
      *value++ = single ? (double)((const float *)d.values)[c] : ((const double *)d.values)[c];
  }
}

int wb_cpu_missing_draw(wb_mixture_session *session, const wb_mixture_parameters *parameters, uint64_t key,
                        uint32_t iteration, wb_message *message) {
  struct wb_cpu_missing *m = session->missing;
  if (!m) return WB_OK;
  const wb_mixture_missing *data = session->data.missing;
  if (!m->log_sum) {
    const size_t count = (size_t)data->first[data->patterns], numbers = count + (size_t)data->values;
    m->log_sum = malloc(numbers * sizeof(double) + count * sizeof(int32_t));
    if (!m->log_sum)
      return wb_out_of_memory(message, "the missing values", numbers * sizeof(double) + count * sizeof(int32_t));
    m->value = m->log_sum + count;
    m->label = (int32_t *)(m->value + data->values);
  }
  WB_TRY(lay_out_all(session, parameters, message));
  const int threads = mixture_threads(session, m->components, session->data.rows, leaves_of(session));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t share = 0; share < shares_of(session); share++)
    draw_share(session, key, iteration, share, wb_thread_of(threads));
  return WB_OK;
}

int64_t wb_cpu_missing_rows(const wb_mixture_session *session, int64_t leaf) {
  const struct wb_cpu_missing *m = session->missing;
  return m ? m->first[leaf + 1] - m->first[leaf] : 0;
}

void wb_cpu_missing_mark(const wb_mixture_session *session, int64_t leaf, int32_t mark, int32_t *places) {
  const struct wb_cpu_missing *m = session->missing;
  for (int64_t i = m->first[leaf]; i < m->first[leaf + 1]; i++)
    places[session->data.missing->row[m->place[i]] - leaf * WB_LEAF_ROWS] = mark;
}

void wb_cpu_missing_take(const wb_mixture_session *session, int64_t leaf, tile *t, int32_t *labels) {
  const struct wb_cpu_missing *m = session->missing;
  if (wb_cpu_missing_rows(session, leaf) == 0) return;
  for (int64_t i = m->first[leaf]; i < m->first[leaf + 1]; i++) {
    const int32_t place = m->place[i], row = session->data.missing->row[place], label = m->label[place];
    const size_t slot = (size_t)(row - leaf * WB_LEAF_ROWS);
    t->drawn[slot] = label;
    t->log_density[slot] = m->log_sum[place];
    if (session->labels) session->labels[row] = label;
    if (labels) labels[row] = label;
    if (session->sizes) t->count[(size_t)session->data.sample[row] * (size_t)session->components + (size_t)label]++;
  }
  wb_cpu_missing_fill(session, leaf, t->row + 1, mixture_padded(session->data.columns + 1));
}

/* Writes the missing values of row i of the order by leaf into the row `to`. */
static void fill_row(const wb_mixture_session *session, int64_t i, double *to) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns, pattern = m->pattern[i], observed = data->observed[pattern];
  const int32_t *order = data->order + (size_t)pattern * (size_t)p;
  const double *value = m->value + m->base[pattern] + (m->place[i] - data->first[pattern]) * (p - observed);
  for (int c = observed; c < p; c++) to[order[c]] = value[c - observed];
}

void wb_cpu_missing_fill(const wb_mixture_session *session, int64_t leaf, double *row, size_t stride) {
  const struct wb_cpu_missing *m = session->missing;
  for (int64_t i = m ? m->first[leaf] : 0; m && i < m->first[leaf + 1]; i++)
    fill_row(session, i, row + (size_t)(session->data.missing->row[m->place[i]] - leaf * WB_LEAF_ROWS) * stride);
}

static void evaluate_share(const wb_mixture_session *session, int64_t share, int thread, int64_t first, int64_t count,
                           int32_t *labels, double *log_density, double *probability) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns;
  desk d = desk_of(session, thread);
  for (int64_t i = share * SHARE_ROWS; i < share_end(session, share); i++) {
    const int64_t slot = data->row[i] - first;
    if (slot < 0 || slot >= count) continue;
    const int32_t pattern = pattern_at(data, i, d.pattern);
    if (pattern != d.pattern) take_pattern(session, pattern, &d);
    int32_t label;
    gather(session, data->row[i], &d);
    const double log_sum = LOOP(missing_evaluate, session)(p, d.observed, m->components, d.table, d.values, &label,
                                                           probability ? probability + slot : NULL, count);
    if (labels) labels[slot] = label;
    if (log_density) log_density[slot] = log_sum;
  }
}

int wb_cpu_missing_evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first,
                            int64_t count, int32_t *labels, double *log_density, double *probability,
                            wb_message *message) {
  if (!session->missing) return WB_OK;
  WB_TRY(lay_out_all(session, parameters, message));
  const int threads = mixture_threads(session, parameters->components, count, shares_of(session));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t share = 0; share < shares_of(session); share++)
    evaluate_share(session, share, wb_thread_of(threads), first, count, labels, log_density, probability);
  return WB_OK;
}

int wb_cpu_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message) {
  const wb_mixture_data *data = &session->data;
  const struct wb_cpu_missing *m = session->missing;
  (void)message;
  for (int32_t c = 0; c < data->columns; c++) {
    const double scaled = wb_scaled_value(data->x[row + c * data->rows], data->center[c], data->inverse_scale[c]);
    values[c] = is_single(session) ? (double)wb_scaled_valuef(scaled) : scaled;
  }
  if (!m || !m->log_sum) return WB_OK;
  for (int64_t i = m->first[row / WB_LEAF_ROWS]; i < m->first[row / WB_LEAF_ROWS + 1]; i++)
    if (data->missing->row[m->place[i]] == row) fill_row(session, i, values);
  return WB_OK;
}
