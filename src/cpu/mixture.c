/* Gaussian mixtures on the processor: the component of every row drawn from its
 * posterior, with the sufficient statistics of the Gibbs sweep, in one pass over
 * the rows (Suchard et al. 2010, section 2 and appendix A).
 *
 * A thread takes one leaf of WB_LEAF_ROWS rows at a time. It draws the components of
 * the leaf's rows a tile at a time; in a tile the values of a column lie side by side,
 * so that vectors run across rows. Then it adds the rows to the sums of their
 * components, in order. The sums of leaves are combined by a binary tree over leaf
 * indices as they are completed. No sum depends on the number of threads.
 */
#include "core/rounding.h"

#include "cpu/backend.h"
#include "cpu/mixture_session.h"

#include <stdlib.h>

#include "core/block_draw.h"
#include "core/elementary.h"
#include "core/mixture_component.h"
#include "core/mixture_half.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/scaled_value.h"
#include "numeric/memory.h"
#include "numeric/reduction_tree.h"

/* Rows of a tile; a divisor of WB_LEAF_ROWS. */
#define MIXTURE_TILE 64

/* Below this log ratio to the largest weight of a row no probability counts: log(2^-40) less what
 * rounding may do. */
#define MIXTURE_LOG_LEAST_WEIGHT (-27.75)

/* How many coefficients a component has: its log constant, then for each row of the
 * triangle the negative offset followed by the row of the factor. */
static inline size_t mixture_coefficients(int p) {
  return 1 + (size_t)p * ((size_t)p + 3) / 2;
}

/* `values` rounded up to whole vectors of 64 bytes. */
static inline size_t mixture_padded(int values) {
  return ((size_t)values + 7) / 8 * 8;
}

#define WB_LOOPS "cpu/mixture_loops.h"
#include "numeric/isa.h"

typedef void draw_double(int p, int components, const double *coefficients, const double *x,
                         uint64_t key, uint32_t iteration, uint64_t first_row, double *label,
                         double *log_sum);
typedef void draw_single(int p, int components, const float *coefficients, const float *x,
                         uint64_t key, uint32_t iteration, uint64_t first_row, float *label,
                         float *log_sum);
typedef void evaluate_double(int p, int components, const double *coefficients, const double *x,
                             double *label, double *log_sum, double *probability, int64_t stride,
                             int rows);
typedef void evaluate_single(int p, int components, const float *coefficients, const float *x,
                             float *label, float *log_sum, double *probability, int64_t stride,
                             int rows);
typedef void halves_double(int p, const double *coefficients, const double *x, double *difference);
typedef void halves_single(int p, const float *coefficients, const float *x, double *difference);
typedef void draw_rows(uint64_t key, uint32_t iteration, uint32_t step, const uint64_t *row, const double *difference,
                       double *half, double *log_first, double *log_second);
typedef void tickets_of_rows(uint64_t key, uint32_t iteration, uint64_t first, uint64_t *tickets);
typedef void load_column(const double *x, double center, double inverse_scale, void *line);
typedef void add_rows(int values, const double *rows, size_t stride, const int32_t *members,
                      int count, double *sums);

static draw_double *const draw_doubles[] = WB_ISA_TABLE(mixture_draw_double);
static draw_single *const draw_singles[] = WB_ISA_TABLE(mixture_draw_single);
static evaluate_double *const evaluate_doubles[] = WB_ISA_TABLE(mixture_evaluate_double);
static evaluate_single *const evaluate_singles[] = WB_ISA_TABLE(mixture_evaluate_single);
static halves_double *const halves_doubles[] = WB_ISA_TABLE(mixture_halves_double);
static halves_single *const halves_singles[] = WB_ISA_TABLE(mixture_halves_single);
static draw_rows *const draw_rows_of[] = WB_ISA_TABLE(mixture_draw_halves);
static tickets_of_rows *const tickets_of[] = WB_ISA_TABLE(mixture_tickets);
static load_column *const load_doubles[] = WB_ISA_TABLE(mixture_load_double);
static load_column *const load_singles[] = WB_ISA_TABLE(mixture_load_single);
static add_rows *const add_rows_of[] = WB_ISA_TABLE(mixture_add_rows);

static int open_session(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session,
                        wb_message *message) {
  const size_t p = (size_t)data->columns;
  wb_mixture_session *opened = malloc(sizeof *opened + 2 * p * sizeof(double));
  if (!opened) return wb_out_of_memory(message, "the mixture session", sizeof *opened);
  double *center = (double *)(opened + 1), *inverse_scale = center + p;
  opened->labels = data->keep_labels ? malloc((size_t)data->rows * sizeof(int32_t)) : NULL;
  if (data->keep_labels && !opened->labels) {
    free(opened);
    return wb_out_of_memory(message, "the labels", (size_t)data->rows * sizeof(int32_t));
  }
  memcpy(center, data->center, p * sizeof(double));
  memcpy(inverse_scale, data->inverse_scale, p * sizeof(double));
  opened->data = *data;
  opened->data.center = center;
  opened->data.inverse_scale = inverse_scale;
  opened->threads = run->threads;
  opened->isa = run->isa;
  opened->components = 0;
  opened->memory = NULL;
  *session = opened;
  return WB_OK;
}

static void close_session(wb_mixture_session *session) {
  if (!session) return;
  free(session->labels);
  free(session->memory);
  free(session);
}

static int pack_coefficients(const wb_mixture_session *session, const wb_mixture_parameters *parameters,
                             void **packed, wb_message *message) {
  const int p = session->data.columns, k = parameters->components;
  const size_t stride = mixture_coefficients(p), triangle = (size_t)p * ((size_t)p + 1) / 2;
  const int single = session->data.precision == WB_SINGLE;
  const size_t bytes = (size_t)k * stride * (single ? sizeof(float) : sizeof(double));
  void *values = malloc(bytes);
  if (!values) return wb_out_of_memory(message, "the components' coefficients", bytes);
  for (int j = 0; j < k; j++) {
    const double *factor = parameters->factor + (size_t)j * triangle;
    const double *offset = parameters->offset + (size_t)j * (size_t)p;
    size_t at = (size_t)j * stride;
#define PUT(value)                                              \
  do {                                                          \
    if (single) ((float *)values)[at++] = (float)(value);       \
    else ((double *)values)[at++] = (value);                    \
  } while (0)
    PUT(parameters->log_constant[j]);
    for (int r = 0; r < p; r++) {
      PUT(-offset[r]);
      for (int c = 0; c <= r; c++) PUT(factor[(size_t)r * ((size_t)r + 1) / 2 + (size_t)c]);
    }
#undef PUT
  }
  *packed = values;
  return WB_OK;
}

/* What a thread works on: one tile in the forms that the loops read, and the
 * rows of a leaf with their labels. */
typedef struct tile {
  double *x;         /* p x MIXTURE_TILE, in double or as floats */
  double *label;     /* MIXTURE_TILE, in double or as floats */
  double *log_sum;   /* likewise */
  double *row;       /* WB_LEAF_ROWS x padded(p + 1): 1, the row's values, zeros */
  int32_t *drawn;    /* WB_LEAF_ROWS: labels */
  int32_t *member;   /* WB_LEAF_ROWS: rows in order of component */
  int32_t *end;      /* components: where its members end */
} tile;

/* Bytes of a tile; without a leaf if `components` is 0. */
static size_t tile_bytes(int p, int components) {
  size_t bytes = ((size_t)p + 2) * MIXTURE_TILE * sizeof(double);
  if (components > 0)
    bytes += WB_LEAF_ROWS * (mixture_padded(p + 1) * sizeof(double) + 2 * sizeof(int32_t)) +
             (size_t)components * sizeof(int32_t);
  return bytes;
}

static tile tile_in(void *memory, int p) {
  tile t;
  t.x = memory;
  t.label = t.x + (size_t)p * MIXTURE_TILE;
  t.log_sum = t.label + MIXTURE_TILE;
  t.row = t.log_sum + MIXTURE_TILE;
  t.drawn = (int32_t *)(t.row + WB_LEAF_ROWS * mixture_padded(p + 1));
  t.member = t.drawn + WB_LEAF_ROWS;
  t.end = t.member + WB_LEAF_ROWS;
  return t;
}

/* Scales rows first..first + rows - 1 of the data; rows past the end are zero. */
static void tile_load(const wb_mixture_session *session, int64_t first, int rows, tile *t) {
  const wb_mixture_data *data = &session->data;
  load_column *const load = data->precision == WB_SINGLE ? load_singles[session->isa]
                                                         : load_doubles[session->isa];
  const size_t bytes = data->precision == WB_SINGLE ? sizeof(float) : sizeof(double);
  double padded[MIXTURE_TILE] = {0};
  for (int c = 0; c < data->columns; c++) {
    const double *x = data->x + (size_t)c * (size_t)data->rows + first;
    void *line = (char *)t->x + (size_t)c * MIXTURE_TILE * bytes;
#if defined(__GNUC__)
    /* Has the next tile's values fetched from memory while this tile is computed. */
    for (int l = 0; l < MIXTURE_TILE; l += 8) __builtin_prefetch(x + MIXTURE_TILE + l);
#endif
    if (rows == MIXTURE_TILE) {
      load(x, data->center[c], data->inverse_scale[c], line);
    } else {
      memcpy(padded, x, (size_t)rows * sizeof(double));
      load(padded, data->center[c], data->inverse_scale[c], line);
    }
  }
}

/* Copies the tile's values row by row, as the sums read them, to the leaf's rows from
 * `at` on. */
static void tile_transpose(const wb_mixture_data *data, int rows, int at, tile *t) {
  const int p = data->columns;
  const size_t padded = mixture_padded(p + 1);
  const float *single = (const float *)t->x;
  for (int l = 0; l < rows; l++) {
    double *row = t->row + (size_t)(at + l) * padded + 1;
    if (data->precision == WB_SINGLE)
      for (int c = 0; c < p; c++) row[c] = single[c * MIXTURE_TILE + l];
    else
      for (int c = 0; c < p; c++) row[c] = t->x[c * MIXTURE_TILE + l];
  }
}

/* Sets what is the same in every leaf: the 1 that each row begins with, and the padding. */
static void leaf_prepare(int p, tile *t) {
  const size_t padded = mixture_padded(p + 1);
  memset(t->row, 0, WB_LEAF_ROWS * padded * sizeof(double));
  for (int l = 0; l < WB_LEAF_ROWS; l++) t->row[(size_t)l * padded] = 1;
}

/* Lists the rows of the leaf by component, in order within each. */
static void leaf_sort(int components, int rows, tile *t) {
  memset(t->end, 0, (size_t)components * sizeof(int32_t));
  for (int l = 0; l < rows; l++) t->end[t->drawn[l]]++;
  int32_t start = 0;
  for (int j = 0; j < components; j++) {
    const int32_t count = t->end[j];
    t->end[j] = start;
    start += count;
  }
  for (int l = 0; l < rows; l++) t->member[t->end[t->drawn[l]]++] = l;
}

static int32_t tile_label(const wb_mixture_data *data, const tile *t, int l) {
  return (int32_t)(data->precision == WB_SINGLE ? ((const float *)t->label)[l] : t->label[l]);
}

static double tile_log_sum(const wb_mixture_data *data, const tile *t, int l) {
  return data->precision == WB_SINGLE ? (double)((const float *)t->log_sum)[l] : t->log_sum[l];
}

/* Doubles of a component's padded sums. */
static size_t padded_sums(int p) {
  size_t size = 0;
  for (int r = 0; r <= p; r++) size += mixture_padded(r + 1);
  return size;
}

/* Padded sums to the order of WB_MIXTURE_STATISTICS: the first column of the
 * extended triangle is the count and the sums. */
static void unpack_statistics(int p, const double *sums, double *statistics) {
  size_t product = 1 + (size_t)p;
  for (int r = 0; r <= p; r++) {
    statistics[r] = sums[0];
    for (int c = 1; c <= r; c++) statistics[product++] = sums[c];
    sums += mixture_padded(r + 1);
  }
}

/* Draws the labels of one leaf and sums its rows; the last entry of `sums` takes
 * the log likelihood. */
static void draw_leaf(const wb_mixture_session *session, const wb_mixture_parameters *parameters,
                          const void *packed, uint64_t key, uint32_t iteration, int64_t leaf,
                          int32_t *labels, tile *t, double *sums) {
  const wb_mixture_data *data = &session->data;
  const int p = data->columns, k = parameters->components;
  const size_t size = padded_sums(p);
  const int64_t begin = leaf * WB_LEAF_ROWS;
  const int64_t end = data->rows - begin < WB_LEAF_ROWS ? data->rows : begin + WB_LEAF_ROWS;
  double log_likelihood = 0;
  for (int64_t first = begin; first < end; first += MIXTURE_TILE) {
    const int rows = end - first < MIXTURE_TILE ? (int)(end - first) : MIXTURE_TILE;
    tile_load(session, first, rows, t);
    tile_transpose(data, rows, (int)(first - begin), t);
    if (data->precision == WB_SINGLE)
      draw_singles[session->isa](p, k, packed, (float *)t->x, key, iteration, (uint64_t)first,
                                 (float *)t->label, (float *)t->log_sum);
    else
      draw_doubles[session->isa](p, k, packed, t->x, key, iteration, (uint64_t)first, t->label,
                                 t->log_sum);
    for (int l = 0; l < rows; l++) {
      const int32_t label = tile_label(data, t, l);
      t->drawn[first - begin + l] = label;
      log_likelihood += tile_log_sum(data, t, l);
      if (session->labels) session->labels[first + l] = label;
      if (labels) labels[first + l] = label;
    }
  }
  leaf_sort(k, (int)(end - begin), t);
  for (int32_t j = 0, start = 0; j < k; start = t->end[j], j++)
    if (t->end[j] > start)
      add_rows_of[session->isa](p + 1, t->row, mixture_padded(p + 1), t->member + start,
                                t->end[j] - start, sums + (size_t)j * size);
  sums[(size_t)k * size] = log_likelihood;
}

static int draw_labels(wb_mixture_session *session, const double *log_weight, uint64_t key, uint32_t iteration,
                       int32_t *labels, wb_message *message) {
  const int p = session->data.columns, k = session->components;
  const wb_mixture_parameters allocation = {k, session->factor, session->offset, session->log_constant};
  const wb_mixture_parameters *parameters = &allocation;
  for (int j = 0; j < k; j++)
    session->log_constant[j] = wb_component_log_floored(p, log_weight[j], session->log_determinant[j], session->floor_trace[j]);
  const int64_t leaves = (session->data.rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const size_t size = padded_sums(p);
  void *packed;
  int status = pack_coefficients(session, parameters, &packed, message);
  if (status != WB_OK) return status;
  wb_reduction_tree tree;
  wb_reduction_open(&tree, leaves, (size_t)k * size + 8);
  const int threads = mixture_threads(session, k, session->data.rows, leaves);
#pragma omp parallel num_threads(threads)
  {
    void *memory = wb_aligned_malloc(tile_bytes(p, k));
    tile t = {0};
    if (memory) {
      t = tile_in(memory, p);
      leaf_prepare(p, &t);
    } else {
      wb_reduction_fail(&tree);
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
      double *sums = memory ? wb_reduction_take(&tree) : NULL;
      if (sums) {
        draw_leaf(session, parameters, packed, key, iteration, leaf, labels, &t, sums);
        wb_reduction_give(&tree, leaf, sums);
      }
    }
    wb_aligned_free(memory);
  }
  const double *root = wb_reduction_root(&tree);
  if (root) {
    for (int j = 0; j < k; j++)
      unpack_statistics(p, root + (size_t)j * size, session->statistics + (size_t)j * WB_MIXTURE_STATISTICS(p));
    session->log_likelihood = root[(size_t)k * size];
  } else {
    status = wb_out_of_memory(message, "the sums of a leaf", tree.size * sizeof(double));
  }
  wb_reduction_close(&tree);
  free(packed);
  return status;
}

/* All has been done when draw_labels() returns. */
static int finish_labels(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message) {
  (void)message;
  for (int32_t j = 0; j < session->components; j++)
    sizes[j] = session->statistics[(size_t)j * WB_MIXTURE_STATISTICS(session->data.columns)];
  *log_likelihood = session->log_likelihood;
  return WB_OK;
}

static int choose_anchors(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key,
                          uint32_t iteration, int64_t *anchors, wb_message *message) {
  const int slots = 2 * pairs->pairs;
  const int64_t rows = session->data.rows, tiles = (rows + MIXTURE_TILE - 1) / MIXTURE_TILE;
  uint64_t least[2 * WB_MIXTURE_MOST_PAIRS];
  (void)message;
  for (int i = 0; i < slots; i++) least[i] = UINT64_MAX;
  const int threads = mixture_threads(session, session->components, rows, tiles);
#pragma omp parallel num_threads(threads)
  {
    uint64_t tickets[2 * MIXTURE_TILE], own[2 * WB_MIXTURE_MOST_PAIRS];
    for (int i = 0; i < slots; i++) own[i] = UINT64_MAX;
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles; tile++) {
      const int64_t first = tile * MIXTURE_TILE;
      tickets_of[session->isa](key, iteration, (uint64_t)first, tickets);
      for (int l = 0; l < MIXTURE_TILE && first + l < rows; l++) {
        const int32_t label = session->labels[first + l], pair = pairs->pair[label], side = pairs->side[label];
        if (pair < 0) continue;
        for (int half = 0; half < 2; half++) {
          const uint64_t ticket = tickets[half * MIXTURE_TILE + l];
          uint64_t *to = &own[2 * pair + half];
          if ((side < 0 || side == half) && ticket < *to) *to = ticket;
        }
      }
    }
#pragma omp critical(wb_least_tickets)
    for (int i = 0; i < slots; i++)
      if (own[i] < least[i]) least[i] = own[i];
  }
  for (int i = 0; i < slots; i++) anchors[i] = least[i] == UINT64_MAX ? -1 : (int64_t)(least[i] & 0xFFFFFFFFu);
  return WB_OK;
}

/* What draw_halves() was asked for. */
typedef struct halves_request {
  const wb_mixture_pairs *pairs;
  const void *packed; /* coefficients of the halves */
  const int64_t *anchors;
  int known;
  uint64_t key;
  uint32_t iteration, step;
} halves_request;

/* Draws the halves of `count` rows of a leaf, at most a tile of them, and adds to the log
 * probability of their pair. list[h] takes the rows of half h, of which there are listed[h]. */
static void draw_tile_halves(const wb_mixture_session *session, const halves_request *ask, int32_t pair, int64_t leaf_begin,
                             const int32_t *member, int count, tile *t, int32_t (*list)[WB_LEAF_ROWS], int listed[2],
                             int64_t *log_probability) {
  const int p = session->data.columns, single = session->data.precision == WB_SINGLE;
  const size_t padded = mixture_padded(p + 1), stride = 2 * mixture_coefficients(p) * (size_t)pair;
  const int64_t *anchors = ask->anchors + 2 * (size_t)pair;
  double difference[MIXTURE_TILE], half[MIXTURE_TILE], log_half[2][MIXTURE_TILE];
  uint64_t row[MIXTURE_TILE];
  for (int l = 0; l < MIXTURE_TILE; l++) {
    const int32_t from = member[l < count ? l : 0];
    const double *values = t->row + (size_t)from * padded + 1;
    row[l] = (uint64_t)(leaf_begin + from);
    if (single)
      for (int c = 0; c < p; c++) ((float *)t->x)[c * MIXTURE_TILE + l] = (float)values[c];
    else
      for (int c = 0; c < p; c++) t->x[c * MIXTURE_TILE + l] = values[c];
  }
  if (single)
    halves_singles[session->isa](p, (const float *)ask->packed + stride, (float *)t->x, difference);
  else
    halves_doubles[session->isa](p, (const double *)ask->packed + stride, t->x, difference);
  draw_rows_of[session->isa](ask->key, ask->iteration, ask->step, row, difference, half, log_half[0], log_half[1]);
  for (int l = 0; l < count; l++) {
    const int64_t i = (int64_t)row[l];
    const int32_t side = ask->pairs->side[session->labels[i]];
    int to = i == anchors[1];
    if (i != anchors[0] && i != anchors[1]) {
      to = ask->known && side >= 0 ? side : half[l] > 0;
      *log_probability += (int64_t)log_half[to][l];
    }
    list[to][listed[to]++] = member[l];
  }
}

/* Copies the rows of a leaf that belong to pairs, scaled, and lists them by pair. */
static void gather_leaf(const wb_mixture_session *session, const wb_mixture_pairs *pairs, int64_t begin, int rows, tile *t) {
  const wb_mixture_data *data = &session->data;
  const int p = data->columns;
  const size_t padded = mixture_padded(p + 1);
  for (int l = 0; l < rows; l++) {
    const int32_t pair = pairs->pair[session->labels[begin + l]];
    t->drawn[l] = pair < 0 ? pairs->pairs : pair;
    if (pair < 0) continue;
    double *row = t->row + (size_t)l * padded + 1;
    for (int c = 0; c < p; c++) {
      const double scaled = wb_scaled_value(data->x[(size_t)c * (size_t)data->rows + (size_t)(begin + l)], data->center[c],
                                            data->inverse_scale[c]);
      row[c] = data->precision == WB_SINGLE ? (double)wb_scaled_valuef(scaled) : scaled;
    }
  }
  leaf_sort(pairs->pairs + 1, rows, t);
}

/* Draws the halves of a leaf's rows and adds the rows to the sums of their halves. */
static void halve_leaf(const wb_mixture_session *session, const halves_request *ask, int64_t leaf, tile *t,
                       int64_t *log_probability, double *sums) {
  const int p = session->data.columns;
  const size_t size = padded_sums(p), padded = mixture_padded(p + 1);
  const int64_t begin = leaf * WB_LEAF_ROWS, left = session->data.rows - begin;
  int32_t list[2][WB_LEAF_ROWS];
  gather_leaf(session, ask->pairs, begin, left < WB_LEAF_ROWS ? (int)left : WB_LEAF_ROWS, t);
  for (int32_t g = 0, at = 0; g < ask->pairs->pairs; g++) {
    int listed[2] = {0, 0};
    while (at < t->end[g]) {
      const int count = t->end[g] - at < MIXTURE_TILE ? t->end[g] - at : MIXTURE_TILE;
      draw_tile_halves(session, ask, g, begin, t->member + at, count, t, list, listed, &log_probability[g]);
      at += count;
    }
    for (int half = 0; half < 2; half++)
      if (listed[half] > 0)
        add_rows_of[session->isa](p + 1, t->row, padded, list[half], listed[half], sums + (size_t)(2 * g + half) * size);
  }
}

static int draw_halves(wb_mixture_session *session, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves,
                       const int64_t *anchors, int known, uint64_t key, uint32_t iteration, uint32_t step,
                       double *statistics, double *log_probability, wb_message *message) {
  const int p = session->data.columns, count = 2 * pairs->pairs;
  const int64_t leaves = (session->data.rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const size_t size = padded_sums(p);
  void *packed;
  int status = pack_coefficients(session, halves, &packed, message);
  if (status != WB_OK) return status;
  int64_t total[WB_MIXTURE_MOST_PAIRS] = {0};
  const halves_request ask = {pairs, packed, anchors, known, key, iteration, step};
  wb_reduction_tree tree;
  wb_reduction_open(&tree, leaves, (size_t)count * size);
  /* As many as draw labels: a team of another size would make OpenMP end and start threads. */
  const int threads = mixture_threads(session, session->components, session->data.rows, leaves);
#pragma omp parallel num_threads(threads)
  {
    void *memory = wb_aligned_malloc(tile_bytes(p, pairs->pairs + 1));
    int64_t own[WB_MIXTURE_MOST_PAIRS] = {0};
    tile t = {0};
    if (memory) {
      t = tile_in(memory, p);
      leaf_prepare(p, &t);
    } else {
      wb_reduction_fail(&tree);
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
      double *sums = memory ? wb_reduction_take(&tree) : NULL;
      if (sums) {
        halve_leaf(session, &ask, leaf, &t, own, sums);
        wb_reduction_give(&tree, leaf, sums);
      }
    }
    for (int32_t g = 0; g < pairs->pairs; g++) {
#pragma omp atomic
      total[g] += own[g];
    }
    wb_aligned_free(memory);
  }
  const double *root = wb_reduction_root(&tree);
  if (root) {
    for (int j = 0; j < count; j++)
      unpack_statistics(p, root + (size_t)j * size, statistics + (size_t)j * WB_MIXTURE_STATISTICS(p));
    for (int32_t g = 0; g < pairs->pairs; g++) log_probability[g] = (double)total[g] / WB_HALF_UNIT;
  } else {
    status = wb_out_of_memory(message, "the sums of a leaf", tree.size * sizeof(double));
  }
  wb_reduction_close(&tree);
  free(packed);
  return status;
}

static int evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters,
                    int64_t first, int64_t count, int32_t *labels, double *log_density,
                    double *probability, wb_message *message) {
  const wb_mixture_data *data = &session->data;
  const int p = data->columns, k = parameters->components;
  const int64_t tiles = (count + MIXTURE_TILE - 1) / MIXTURE_TILE;
  const int single = data->precision == WB_SINGLE;
  void *packed;
  int status = pack_coefficients(session, parameters, &packed, message);
  if (status != WB_OK) return status;
  const int threads = mixture_threads(session, k, count, tiles);
  int failed = 0;
#pragma omp parallel num_threads(threads)
  {
    void *memory = wb_aligned_malloc(tile_bytes(p, 0));
    tile t = {0};
    if (memory) {
      t = tile_in(memory, p);
    } else {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < tiles; i++) {
      if (!memory) continue;
      const int64_t at = i * MIXTURE_TILE;
      const int rows = count - at < MIXTURE_TILE ? (int)(count - at) : MIXTURE_TILE;
      double *out = probability ? probability + at : NULL;
      tile_load(session, first + at, rows, &t);
      if (single)
        evaluate_singles[session->isa](p, k, packed, (float *)t.x, (float *)t.label,
                                       (float *)t.log_sum, out, count, rows);
      else
        evaluate_doubles[session->isa](p, k, packed, t.x, t.label, t.log_sum, out, count, rows);
      for (int l = 0; l < rows; l++) {
        if (labels) labels[at + l] = tile_label(data, &t, l);
        if (log_density) log_density[at + l] = tile_log_sum(data, &t, l);
      }
    }
    wb_aligned_free(memory);
  }
  free(packed);
  return failed ? wb_out_of_memory(message, "a tile of rows", tile_bytes(p, 0)) : WB_OK;
}

#include "cpu/mixture_weigh.h"

const wb_mixture_functions wb_cpu_mixture = {
  .open = open_session,
  .set_components = wb_cpu_mixture_set_components,
  .set_statistics = wb_cpu_mixture_set_statistics,
  .get_statistics = wb_cpu_mixture_get_statistics,
  .draw_components = wb_cpu_mixture_draw_components,
  .add_precisions = wb_cpu_mixture_add_precisions,
  .measure = wb_cpu_mixture_measure,
  .draw_labels = draw_labels,
  .finish_labels = finish_labels,
  .get_components = wb_cpu_mixture_get_components,
  .evaluate = evaluate,
  .choose_anchors = choose_anchors,
  .draw_halves = draw_halves,
  .weigh_rows = weigh_rows,
  .close = close_session,
};
