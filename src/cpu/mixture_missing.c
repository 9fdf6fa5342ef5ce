/* Rows with missing values on the processor. Each pattern of missingness has a table of all components with the
 * columns in the pattern's order. Tables of patterns that several rows share are built once a sweep, as far as
 * TABLE_BYTES reach; others when a leaf has a row of theirs. A leaf's rows are in order of their pattern. Of
 * the rows only the missing values are kept, as they were drawn last.
 */
#include "core/rounding.h"

#include "cpu/mixture_missing.h"

#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/mixture_missing.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/scaled_value.h"
#include "numeric/memory.h"

/* Tables built beforehand take no more, and are for patterns of this many rows at least. */
#define TABLE_BYTES ((size_t)64 << 20)
#define TABLE_ROWS 4

#define WB_LOOPS "cpu/mixture_missing_loops.h"
#include "numeric/isa.h"

typedef double draw_row(int p, int observed, int components, const void *table, const void *shares, const void *values,
                        uint64_t key, uint32_t iteration, uint64_t row, int32_t *label);
typedef double evaluate_row(int p, int observed, int components, const void *table, const void *values, int32_t *label,
                            double *probability, int64_t stride);
typedef void impute_row(int p, int observed, const void *table, int32_t label, uint64_t key, uint32_t iteration, uint64_t row,
                        void *values);
typedef void build_block(int p, int observed, const int32_t *order, const double *whole, double *work, void *block);

static draw_row *const draw_of[2][3] = {WB_ISA_TABLE(missing_draw_double), WB_ISA_TABLE(missing_draw_single)};
static evaluate_row *const evaluate_of[2][3] = {WB_ISA_TABLE(missing_evaluate_double), WB_ISA_TABLE(missing_evaluate_single)};
static impute_row *const impute_of[2][3] = {WB_ISA_TABLE(missing_impute_double), WB_ISA_TABLE(missing_impute_single)};
static build_block *const build_of[2][3] = {WB_ISA_TABLE(missing_build_double), WB_ISA_TABLE(missing_build_single)};

struct wb_cpu_missing {
  /* Rows that lack values, by leaf, then by pattern, then by number. */
  int64_t *first; /* leaves + 1: where the rows of each leaf begin */
  int32_t *row, *pattern;
  int64_t *start;    /* where the values of each are */
  double *value;     /* the missing values drawn last; NULL until there are any */
  int32_t components; /* of the tables; 0: none */
  int32_t built;     /* patterns whose tables are built beforehand: the first ones */
  double *whole;     /* the components of whole rows, block by block */
  char *tables;
  char *scratch;     /* of each thread: a block of components, a table, a row */
};

static int64_t leaves_of(const wb_mixture_session *session) {
  return (session->data.rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
}

static int is_single(const wb_mixture_session *session) {
  return session->data.precision == WB_SINGLE;
}

/* Numbers of a block of components. */
static size_t block_size(const wb_mixture_session *session) {
  return (wb_missing_size(session->data.columns) + 1) * WB_MISSING_LANES;
}

static int32_t blocks_of(int32_t components) {
  return (components + WB_MISSING_LANES - 1) / WB_MISSING_LANES;
}

static size_t table_bytes(const wb_mixture_session *session, int32_t components) {
  return (size_t)blocks_of(components) * block_size(session) * (is_single(session) ? sizeof(float) : sizeof(double));
}

/* Rows from the order of patterns to that of leaves. */
static void sort_by_leaf(const wb_mixture_missing *data, int64_t leaves, struct wb_cpu_missing *m) {
  memset(m->first, 0, (size_t)(leaves + 1) * sizeof(int64_t));
  const int64_t count = data->first[data->patterns];
  for (int64_t i = 0; i < count; i++) m->first[data->row[i] / WB_LEAF_ROWS + 1]++;
  for (int64_t leaf = 0; leaf < leaves; leaf++) m->first[leaf + 1] += m->first[leaf];
  for (int32_t g = 0; g < data->patterns; g++)
    for (int64_t i = data->first[g]; i < data->first[g + 1]; i++) {
      const int64_t at = m->first[data->row[i] / WB_LEAF_ROWS]++;
      m->row[at] = data->row[i];
      m->pattern[at] = g;
    }
  memmove(m->first + 1, m->first, (size_t)leaves * sizeof(int64_t));
  m->first[0] = 0;
}

int wb_cpu_missing_open(wb_mixture_session *session, wb_message *message) {
  const wb_mixture_missing *data = session->data.missing;
  session->missing = NULL;
  if (!data) return WB_OK;
  const int64_t leaves = leaves_of(session), count = data->first[data->patterns];
  const size_t bytes = sizeof(struct wb_cpu_missing) + (size_t)(leaves + 1 + count) * sizeof(int64_t) + 2 * (size_t)count * sizeof(int32_t);
  struct wb_cpu_missing *m = malloc(bytes);
  if (!m) return wb_out_of_memory(message, "rows with missing values", bytes);
  memset(m, 0, sizeof *m);
  m->first = (int64_t *)(m + 1);
  m->start = m->first + leaves + 1;
  m->row = (int32_t *)(m->start + count);
  m->pattern = m->row + count;
  sort_by_leaf(data, leaves, m);
  int64_t start = 0;
  for (int64_t i = 0; i < count; i++) {
    m->start[i] = start;
    start += session->data.columns - data->observed[m->pattern[i]];
  }
  session->missing = m;
  return WB_OK;
}

void wb_cpu_missing_close(wb_mixture_session *session) {
  struct wb_cpu_missing *m = session->missing;
  if (!m) return;
  free(m->value);
  wb_aligned_free(m->whole);
  wb_aligned_free(m->tables);
  wb_aligned_free(m->scratch);
  free(m);
}

/* How many tables are built beforehand. */
static int32_t tables_of(const wb_mixture_session *session, int32_t components) {
  const wb_mixture_missing *data = session->data.missing;
  const size_t most = TABLE_BYTES / table_bytes(session, components);
  int32_t count = 0;
  while (count < data->patterns && (size_t)count < most && data->first[count + 1] - data->first[count] >= TABLE_ROWS) count++;
  return count;
}

/* The numbers of a block of components side by side; the last component takes the places of those that are not there. */
static void lay_out(const wb_mixture_session *session, const wb_mixture_parameters *parameters, int32_t block, double *to) {
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

/* The table of a pattern; `work` has the size of a block. */
static void build_table(const wb_mixture_session *session, int32_t pattern, double *work, char *table) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns, single = is_single(session);
  const size_t size = block_size(session), bytes = size * (single ? sizeof(float) : sizeof(double));
  for (int32_t b = 0; b < blocks_of(m->components); b++)
    build_of[single][session->isa](p, data->observed[pattern], data->order + (size_t)pattern * (size_t)p, m->whole + (size_t)b * size,
                                   work, table + (size_t)b * bytes);
}

static size_t scratch_bytes(const wb_mixture_session *session, int32_t components) {
  const size_t bytes = block_size(session) * sizeof(double) + table_bytes(session, components) +
                       (size_t)session->data.columns * sizeof(double);
  return (bytes + 63) / 64 * 64;
}

static void release_tables(struct wb_cpu_missing *m) {
  wb_aligned_free(m->whole);
  wb_aligned_free(m->tables);
  wb_aligned_free(m->scratch);
  m->whole = NULL;
  m->tables = m->scratch = NULL;
  m->components = 0;
}

static int open_tables(const wb_mixture_session *session, int32_t components, wb_message *message) {
  struct wb_cpu_missing *m = session->missing;
  const size_t whole = (size_t)blocks_of(components) * block_size(session) * sizeof(double);
  const size_t scratch = (size_t)session->threads * scratch_bytes(session, components);
  release_tables(m);
  m->built = tables_of(session, components);
  const size_t tables = (size_t)m->built * table_bytes(session, components) + 64;
  m->whole = wb_aligned_malloc(whole);
  m->tables = wb_aligned_malloc(tables);
  m->scratch = wb_aligned_malloc(scratch);
  if (m->whole && m->tables && m->scratch) {
    m->components = components;
    return WB_OK;
  }
  release_tables(m);
  return wb_out_of_memory(message, "the components of rows with missing values", whole + tables + scratch);
}

/* The memory of the thread that calls this. */
static void *own_scratch(const wb_mixture_session *session) {
  const struct wb_cpu_missing *m = session->missing;
#ifdef _OPENMP
  return m->scratch + (size_t)omp_get_thread_num() * scratch_bytes(session, m->components);
#else
  return m->scratch;
#endif
}

int wb_cpu_missing_prepare(wb_mixture_session *session, const wb_mixture_parameters *parameters, wb_message *message) {
  struct wb_cpu_missing *m = session->missing;
  if (!m) return WB_OK;
  const int32_t k = parameters->components, blocks = blocks_of(k);
  const size_t size = block_size(session), bytes = table_bytes(session, k);
  const int status = m->components == k ? WB_OK : open_tables(session, k, message);
  if (status != WB_OK) return status;
  for (int32_t b = 0; b < blocks; b++) lay_out(session, parameters, b, m->whole + (size_t)b * size);
  const int threads = mixture_threads(session, k, session->data.rows, leaves_of(session));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int32_t g = 0; g < m->built; g++) build_table(session, g, own_scratch(session), m->tables + (size_t)g * bytes);
  return WB_OK;
}

typedef struct place {
  double *work;
  char *own;       /* a table that was built here, for the pattern `pattern`; negative: none */
  int32_t pattern;
  void *values;    /* of a row, in the pattern's order, as REAL */
} place;

static place place_here(const wb_mixture_session *session) {
  place at = {.work = own_scratch(session), .pattern = -1};
  at.own = (char *)(at.work + block_size(session));
  at.values = at.own + table_bytes(session, session->missing->components);
  return at;
}

static const char *table_of(const wb_mixture_session *session, int32_t pattern, place *at) {
  const struct wb_cpu_missing *m = session->missing;
  if (pattern < m->built) return m->tables + (size_t)pattern * table_bytes(session, m->components);
  if (at->pattern != pattern) build_table(session, pattern, at->work, at->own);
  at->pattern = pattern;
  return at->own;
}

/* The values of a row that are there, scaled, in the pattern's order. */
static void gather(const wb_mixture_session *session, int64_t row, const int32_t *order, int observed, void *values) {
  const wb_mixture_data *data = &session->data;
  for (int i = 0; i < observed; i++) {
    const int32_t c = order[i];
    const double scaled = wb_scaled_value(data->x[row + c * data->rows], data->center[c], data->inverse_scale[c]);
    if (is_single(session)) ((float *)values)[i] = wb_scaled_valuef(scaled);
    else ((double *)values)[i] = scaled;
  }
}

int64_t wb_cpu_missing_rows(const wb_mixture_session *session, int64_t leaf) {
  const struct wb_cpu_missing *m = session->missing;
  return m ? m->first[leaf + 1] - m->first[leaf] : 0;
}

void wb_cpu_missing_mark(const wb_mixture_session *session, int64_t leaf, int32_t mark, int32_t *places) {
  const struct wb_cpu_missing *m = session->missing;
  for (int64_t i = m->first[leaf]; i < m->first[leaf + 1]; i++) places[m->row[i] - leaf * WB_LEAF_ROWS] = mark;
}

/* What is added to the log weights of a row's sample; NULL without samples. */
static const void *share_of(const wb_mixture_session *session, int32_t sample) {
  const size_t at = (size_t)sample * (size_t)session->components;
  if (!session->share) return NULL;
  return is_single(session) ? (const void *)((const float *)session->share + at) : (const void *)((const double *)session->share + at);
}

void wb_cpu_missing_draw(const wb_mixture_session *session, uint64_t key, uint32_t iteration, int64_t leaf, tile *t,
                         int32_t *labels) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns, single = is_single(session);
  if (wb_cpu_missing_rows(session, leaf) == 0) return;
  place at = place_here(session);
  for (int64_t i = m->first[leaf]; i < m->first[leaf + 1]; i++) {
    const int32_t pattern = m->pattern[i], observed = data->observed[pattern], *order = data->order + (size_t)pattern * (size_t)p;
    const int32_t number = m->row[i], sample = session->data.sample ? session->data.sample[number] : 0;
    const size_t slot = (size_t)(number - leaf * WB_LEAF_ROWS);
    const char *table = table_of(session, pattern, &at);
    int32_t label;
    gather(session, number, order, observed, at.values);
    t->log_density[slot] = draw_of[single][session->isa](p, observed, m->components, table, share_of(session, sample), at.values,
                                                         key, iteration, (uint64_t)number, &label);
    impute_of[single][session->isa](p, observed, table, label, key, iteration, (uint64_t)number, at.values);
    double *row = t->row + slot * mixture_padded(p + 1) + 1;
    for (int c = 0; c < p; c++) {
      const double value = single ? (double)((const float *)at.values)[c] : ((const double *)at.values)[c];
      row[order[c]] = value;
      if (c >= observed) m->value[m->start[i] + c - observed] = value;
    }
    t->drawn[slot] = label;
    if (session->labels) session->labels[number] = label;
    if (labels) labels[number] = label;
    if (session->sizes) t->count[(size_t)sample * (size_t)session->components + (size_t)label]++;
  }
}

void wb_cpu_missing_evaluate(const wb_mixture_session *session, int64_t leaf, int64_t first, int64_t count,
                             int32_t *labels, double *log_density, double *probability) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns, single = is_single(session);
  if (wb_cpu_missing_rows(session, leaf) == 0) return;
  place at = place_here(session);
  for (int64_t i = m->first[leaf]; i < m->first[leaf + 1]; i++) {
    const int64_t slot = m->row[i] - first;
    if (slot < 0 || slot >= count) continue;
    const int32_t pattern = m->pattern[i], observed = data->observed[pattern];
    const char *table = table_of(session, pattern, &at);
    int32_t label;
    gather(session, m->row[i], data->order + (size_t)pattern * (size_t)p, observed, at.values);
    const double log_sum = evaluate_of[single][session->isa](p, observed, m->components, table, at.values, &label,
                                                             probability ? probability + slot : NULL, count);
    if (labels) labels[slot] = label;
    if (log_density) log_density[slot] = log_sum;
  }
}

void wb_cpu_missing_fill(const wb_mixture_session *session, int64_t leaf, double *row, size_t stride) {
  const struct wb_cpu_missing *m = session->missing;
  const wb_mixture_missing *data = session->data.missing;
  const int p = session->data.columns;
  if (wb_cpu_missing_rows(session, leaf) == 0) return;
  for (int64_t i = m->first[leaf]; i < m->first[leaf + 1]; i++) {
    const int32_t pattern = m->pattern[i], observed = data->observed[pattern], *order = data->order + (size_t)pattern * (size_t)p;
    double *const to = row + (size_t)(m->row[i] - leaf * WB_LEAF_ROWS) * stride;
    for (int c = observed; c < p; c++) to[order[c]] = m->value[m->start[i] + c - observed];
  }
}

int wb_cpu_missing_keep(wb_mixture_session *session, wb_message *message) {
  struct wb_cpu_missing *m = session->missing;
  if (!m || m->value) return WB_OK;
  const size_t values = (size_t)session->data.missing->values;
  m->value = calloc(values, sizeof(double));
  return m->value ? WB_OK : wb_out_of_memory(message, "the missing values", values * sizeof(double));
}

int wb_cpu_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message) {
  const wb_mixture_data *data = &session->data;
  const struct wb_cpu_missing *m = session->missing;
  (void)message;
  for (int32_t c = 0; c < data->columns; c++) {
    const double scaled = wb_scaled_value(data->x[row + c * data->rows], data->center[c], data->inverse_scale[c]);
    values[c] = is_single(session) ? (double)wb_scaled_valuef(scaled) : scaled;
  }
  if (!m || !m->value) return WB_OK;
  for (int64_t i = m->first[row / WB_LEAF_ROWS]; i < m->first[row / WB_LEAF_ROWS + 1]; i++) {
    if (m->row[i] != row) continue;
    const int32_t observed = data->missing->observed[m->pattern[i]];
    const int32_t *order = data->missing->order + (size_t)m->pattern[i] * (size_t)data->columns;
    for (int32_t c = observed; c < data->columns; c++) values[order[c]] = m->value[m->start[i] + c - observed];
  }
  return WB_OK;
}
