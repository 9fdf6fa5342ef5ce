/* What all passes over the rows of a mixture session share (cpu/mixture/session.c, cpu/mixture/pairs.c,
 * cpu/mixture/weigh.c): the loops over tiles, a thread's working memory, and the pass over leaves.
 *
 * A thread takes one leaf of WB_LEAF_ROWS rows at a time and computes tile by tile, vectors across rows. Then it adds
 * the rows to the sums of their components, in order. A binary tree over leaf indices combines leaves. */
#pragma once

#include "cpu/mixture/state.h"

/* Rows of a tile; a divisor of WB_LEAF_ROWS. */
#define MIXTURE_TILE 64

/* A probability counts above this log ratio to a row's largest weight: log(2^-40) less a margin for rounding. */
#define MIXTURE_LOG_LEAST_WEIGHT (-27.75)

/* Coefficients of a component: the log constant; for each row of the triangle, -offset and the factor's row. */
static inline size_t mixture_coefficients(int p) { return 1 + (size_t)p * ((size_t)p + 3) / 2; }

/* Rounds `values` up to whole vectors of 64 bytes. */
static inline size_t mixture_padded_size(size_t values) { return (values + 7) / 8 * 8; }
static inline size_t mixture_padded(int values) { return mixture_padded_size((size_t)values); }

/* The loops of cpu/mixture/sums_loops.h for one instruction set and precision, whose numbers `void` points to. */
typedef struct mixture_loops {
  void (*draw)(int p, int components, const void *packed, const void *shares, const int64_t *place, const void *values,
               uint64_t key, uint32_t iteration, const uint64_t *row, void *labels, void *log_sums);
  void (*evaluate)(int p, int components, const void *packed, const void *values, void *labels, void *log_sums,
                   double *probability, int64_t stride, int rows);
  void (*halves)(int lanes, int p, const void *packed, size_t pair, const void *values, double *difference);
  void (*draw_halves)(int lanes, uint64_t key, uint32_t iteration, uint32_t step, const uint64_t *row,
                      const double *difference, double *half, double *log_first, double *log_second);
  void (*tickets)(uint64_t key, uint32_t iteration, const uint64_t *row, uint64_t *tickets);
  void (*weigh)(int p, int components, const void *packed, const void *values, void *weights, void *tops, void *totals,
                void *log_sums);
  int (*list)(size_t component, const void *weights, const void *tops, const void *totals, int rows, int32_t *member,
              double *weight);
  void (*load)(int p, const double *x, size_t stride, const double *center, const double *inverse_scale, double most,
               void *tile);
  void (*transpose)(int p, int rows, const void *tile, size_t stride, double *row);
  void (*add_rows)(int values, const double *rows, size_t stride, const int32_t *members, int count, double *sums);
  void (*add_weighted)(int values, const double *rows, size_t stride, const int32_t *members, const double *weights,
                       int count, double *scaled, double *sums);
} mixture_loops;

mixture_loops wb_cpu_mixture_loops(const wb_mixture_session *session);

/* The most rows of a leaf, in whole tiles. Few rows need little memory. */
static inline size_t mixture_leaf_rows(const wb_mixture_session *session) {
  const int64_t rows = (session->data.rows + MIXTURE_TILE - 1) / MIXTURE_TILE * MIXTURE_TILE;
  return (size_t)(rows < WB_LEAF_ROWS ? rows : WB_LEAF_ROWS);
}

typedef struct tile {
  mixture_loops loop;
  mixture_scratch *own;          /* the memory of a pass; NULL for a tile alone */
  uint64_t number[MIXTURE_TILE]; /* of each row of the tile in the whole data: see row_of() */
  double *x;                     /* p x MIXTURE_TILE, doubles or floats */
  int64_t *label;                /* MIXTURE_TILE, of 64 bits or, with floats, 32 */
  double *log_sum;               /* MIXTURE_TILE, doubles or floats */
  double *row;                   /* rows of a leaf x padded(p + 1): 1, the row's values, zeros */
  double *log_density;           /* rows of a leaf */
  double *room;                  /* further memory for the pass */
  int64_t *count;                /* this thread's counts over all its leaves */
  int32_t *drawn;                /* rows of a leaf: labels */
  int32_t *member;               /* rows of a leaf, list after list */
  int32_t *end;                  /* lists: the end of each in `member` */
} tile;

/* Bytes of a tile (without a leaf if `lists` is 0), and a tile in such memory. */
size_t wb_cpu_mixture_tile_bytes(const wb_mixture_session *session, int lists, size_t counts, size_t room);
tile wb_cpu_mixture_tile_in(void *memory, const wb_mixture_session *session, size_t counts, size_t room);

/* Scales rows first..first + rows - 1 of the data into the tile. Rows past the end are scaled zeros. */
void wb_cpu_mixture_tile_load(const wb_mixture_session *session, int64_t first, int rows, tile *t);

/* The session's index of a row that has this number in the whole data. */
static inline int64_t row_of(const wb_mixture_session *session, uint64_t number) {
  return (int64_t)number - session->data.first_row;
}

static inline int32_t tile_label(const wb_mixture_data *data, const tile *t, int l) {
  return data->precision == WB_SINGLE ? ((const int32_t *)t->label)[l] : (int32_t)t->label[l];
}

static inline double tile_log_sum(const wb_mixture_data *data, const tile *t, int l) {
  return data->precision == WB_SINGLE ? (double)((const float *)t->log_sum)[l] : t->log_sum[l];
}

/* Fills `lanes` rows of the tile with the `count` rows of the leaf that `member` lists, and repeats the first of them
 * if they are fewer. `leaf_begin` is the number of the leaf's first row. */
void wb_cpu_mixture_tile_gather(const wb_mixture_session *session, int64_t leaf_begin, const int32_t *member, int count,
                                int lanes, tile *t);

/* Notes that the thread's memory has all rows of a leaf now, in their own order. */
static inline void mixture_has_leaf(tile *t, int64_t leaf) {
  t->own->leaf = leaf;
  t->own->sorted = 0;
}

/* Sorts the rows of the leaf into lists by t->drawn, in order within each list. */
void wb_cpu_mixture_leaf_sort(int lists, int rows, tile *t);

size_t wb_cpu_mixture_padded_sums(int p);

/* Packs the coefficients for the loops, in memory that the caller frees. */
int wb_cpu_mixture_pack(const wb_mixture_session *session, const wb_mixture_parameters *parameters, void **packed,
                        wb_message *message);

typedef struct mixture_pass {
  /* Threads as for evaluating this many components: the same in a sweep's passes, or OpenMP would restart them. */
  int work;
  int lists;      /* most lists that the rows of a leaf are sorted into */
  int components; /* components whose rows are summed */
  size_t counts;  /* counts that are added up */
  size_t room;    /* doubles of further memory for each thread */
  /* Works on one leaf. `sums` is zero on entry: components x padded sums, then one more. */
  void (*leaf)(const wb_mixture_session *session, const void *ask, int64_t leaf, tile *t, double *sums);
  const void *ask;
} mixture_pass;

/* statistics: components x WB_MIXTURE_STATISTICS(columns), or a part's nodes; last: the sum after. Adds to counts. */
int wb_cpu_mixture_pass(wb_mixture_session *session, const mixture_pass *pass, double *statistics, double *last,
                        int64_t *counts, wb_message *message);

int wb_cpu_mixture_choose_anchors(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key,
                                  uint32_t iteration, int64_t *anchors, wb_message *message);
int wb_cpu_mixture_draw_halves(wb_mixture_session *session, const wb_mixture_pairs *pairs,
                               const wb_mixture_parameters *halves, const int64_t *anchors, int known, uint64_t key,
                               uint32_t iteration, uint32_t step, double *statistics, double *log_probability,
                               wb_message *message);

int wb_cpu_mixture_weigh_rows(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
                              double *log_likelihood, wb_message *message);

/* Rows with missing values (missing.c). open: sets session->missing if values are missing. close: frees it. */
int wb_cpu_missing_open(wb_mixture_session *session, wb_message *message);
void wb_cpu_missing_close(wb_mixture_session *session);

/* Draws the components of all incomplete rows and their missing values, with the parameters of draw_labels(). */
int wb_cpu_missing_draw(wb_mixture_session *session, const wb_mixture_parameters *parameters, uint64_t key,
                        uint32_t iteration, wb_message *message);

/* rows: the number of incomplete rows of a leaf. mark: marks them by their place in the leaf. */
int64_t wb_cpu_missing_rows(const wb_mixture_session *session, int64_t leaf);
void wb_cpu_missing_mark(const wb_mixture_session *session, int64_t leaf, int32_t mark, int32_t *places);

/* Copies the draws for these rows into the tile's rows, labels and log densities, and into `labels` or NULL. */
void wb_cpu_missing_take(const wb_mixture_session *session, int64_t leaf, tile *t, int32_t *labels);

int wb_cpu_missing_evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first,
                            int64_t count, int32_t *labels, double *log_density, double *probability,
                            wb_message *message);

/* Writes the last drawn missing values into the rows of a leaf, each `stride` doubles, beside the observed ones. */
void wb_cpu_missing_fill(const wb_mixture_session *session, int64_t leaf, double *row, size_t stride);

int wb_cpu_mixture_get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message);
