/* Sums over the levels of grouping terms on the processor: Z'WZ, Z'WX and Z'z of each level, with rows read through the
 * term's index in a fixed order, and sums over the rows of a group. The GPU's twin is cuda/regression/terms.cu. */
#include "core/rounding.h"

#include "cpu/regression/parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/linear_algebra.h"
#include "core/regression_level.h"
#include "core/regression_row.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Rows whose numbers are gathered before their products are added, and columns whose sums grow side by side. */
#define TERM_ROWS 128
#define TERM_COLUMNS 8

#define WB_LOOPS "cpu/regression/terms_loops.h"
#include "numeric/isa.h"

int wb_cpu_regression_threads(const wb_regression_session *session, double operations_a_row) {
  double threads = 1 + (double)session->data.rows * operations_a_row / 5e5;
  if (threads > session->threads) threads = session->threads;
  if (threads > (double)session->leaves) threads = (double)session->leaves;
  return threads < 2 ? 1 : wb_idle_threads((int)threads);
}

static int cut_pieces(const wb_regression_term *term, int64_t *pieces, int32_t **start, int32_t **level) {
  size_t count = 0;
  for (int32_t l = 0; l < term->levels; l++)
    count += (size_t)((term->start[l + 1] - term->start[l] + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS);
  *start = malloc((count + 1) * sizeof(int32_t));
  *level = malloc((count + 1) * sizeof(int32_t));
  if (!*start || !*level) return 0;
  count = 0;
  for (int32_t l = 0; l < term->levels; l++)
    for (int32_t at = term->start[l]; at < term->start[l + 1]; at += WB_LEAF_ROWS) {
      (*start)[count] = at;
      (*level)[count++] = l;
    }
  (*start)[count] = term->start[term->levels];
  *pieces = (int64_t)count;
  return 1;
}

void wb_cpu_terms_close(wb_term_sums *sums) {
  for (int t = 0; t < WB_REGRESSION_MOST_TERMS; t++) {
    free(sums->piece_start[t]);
    free(sums->piece_level[t]);
  }
  wb_aligned_free(sums->omega);
  wb_aligned_free(sums->z);
  wb_aligned_free(sums->piece_sums);
}

int wb_cpu_terms_open(const wb_regression_data *data, wb_term_sums *sums, wb_message *message) {
  const size_t bytes = (size_t)data->rows * sizeof(double);
  const int p = data->dual ? 0 : data->columns;
  size_t most = 0;
  sums->omega = wb_aligned_malloc(bytes);
  sums->z = wb_aligned_malloc(bytes);
  int good = sums->omega && sums->z;
  for (int t = 0; t < data->term_count && good; t++) {
    const wb_regression_term *const term = data->terms + t;
    good = cut_pieces(term, &sums->pieces[t], &sums->piece_start[t], &sums->piece_level[t]);
    const size_t size = (size_t)sums->pieces[t] * WB_REGRESSION_LEVEL_STATISTICS(p, term->columns);
    if (size > most) most = size;
  }
  if (good) sums->piece_sums = wb_aligned_malloc(most * sizeof(double));
  if (!good || !sums->piece_sums)
    return wb_out_of_memory(message, "the grouping terms' sums", 2 * bytes + most * sizeof(double));
  return WB_OK;
}

void wb_cpu_terms_add(const wb_regression_session *session, const double *effects, int outcome, int64_t begin, int rows,
                      double *fixed) {
  const wb_regression_data *const data = &session->data;
  for (int t = 0; t < data->term_count; t++)
    effects += (size_t)outcome * (size_t)data->terms[t].columns * (size_t)data->terms[t].levels;
  for (int t = 0; t < data->term_count; t++) {
    const wb_regression_term *const term = data->terms + t;
    WB_LOOP(term_effects, session->isa)(data, term, effects, begin, rows, fixed);
    effects += (size_t)term->columns * (size_t)term->levels;
  }
}

static void add_pieces(const wb_term_sums *sums, int t, int32_t levels, size_t size, double *to) {
  memset(to, 0, (size_t)levels * size * sizeof(double));
  for (int64_t i = 0; i < sums->pieces[t]; i++) {
    double *const level = to + (size_t)sums->piece_level[t][i] * size;
    for (size_t j = 0; j < size; j++) level[j] += sums->piece_sums[(size_t)i * size + j];
  }
}

void wb_cpu_terms_segment(const wb_regression_session *session, int64_t first, int count, const double *omega,
                          const double *z, double *to) {
  memset(to, 0, WB_REGRESSION_GROUP_STATISTICS(session->data.columns) * sizeof(double));
  WB_LOOP(term_segment, session->isa)(&session->data, first, count, omega, z, to);
}

/* What the pieces of work of wb_cpu_terms_sum() and wb_cpu_terms_change() share. */
typedef struct term_work {
  const wb_regression_session *session;
  int term, linear_only;
  size_t size; /* numbers of a piece's sums */
  const double *change, *value;
} term_work;

static void sum_piece(void *context, int64_t i) {
  const term_work *const work = context;
  const wb_term_sums *const sums = &work->session->terms;
  const wb_regression_term *const term = work->session->data.terms + work->term;
  const int32_t begin = sums->piece_start[work->term][i], count = sums->piece_start[work->term][i + 1] - begin;
  const int32_t *const row = term->index + begin;
  double *const to = sums->piece_sums + (size_t)i * work->size;
  memset(to, 0, work->size * sizeof(double));
  if (!work->linear_only)
    WB_LOOP(term_products, work->session->isa)(&work->session->data, term, sums->omega, row, count, to);
  WB_LOOP(term_linear, work->session->isa)(&work->session->data, term, sums->z, row, count,
                                           to + work->size - term->columns);
}

static void change_rows(void *context, int64_t i) {
  const term_work *const work = context;
  const int64_t begin = i * WB_LEAF_ROWS, left = work->session->data.rows - begin;
  const int64_t end = left < WB_LEAF_ROWS ? work->session->data.rows : begin + WB_LEAF_ROWS;
  for (int64_t at = begin; at < end; at += TERM_ROWS)
    WB_LOOP(term_change, work->session->isa)(&work->session->data, work->session->data.terms + work->term, work->change,
                                             at, end - at < TERM_ROWS ? (int)(end - at) : TERM_ROWS,
                                             work->session->terms.omega, work->session->terms.z);
}

void wb_cpu_terms_sum(const wb_regression_session *session, int threads, double *statistics) {
  const wb_regression_data *const data = &session->data;
  for (int t = 0; t < data->term_count; t++) {
    const wb_regression_term *const term = data->terms + t;
    term_work work = {
        .session = session, .term = t, .size = WB_REGRESSION_LEVEL_STATISTICS(data->columns, term->columns)};
    wb_spread(threads, session->terms.pieces[t], sum_piece, &work);
    add_pieces(&session->terms, t, term->levels, work.size, statistics);
    statistics += work.size * (size_t)term->levels;
  }
}

int wb_cpu_terms_change(wb_regression_session *session, int32_t changed, const double *change, int32_t wanted,
                        double *linear, wb_message *message) {
  const wb_regression_term *const term = session->data.terms + wanted;
  const int threads = wb_cpu_regression_threads(session, session->data.columns + 30);
  term_work work = {.session = session, .term = changed, .change = change};
  (void)message;
  wb_spread(threads, session->leaves, change_rows, &work);
  work.term = wanted;
  work.linear_only = 1;
  work.size = (size_t)term->columns;
  wb_spread(threads, session->terms.pieces[wanted], sum_piece, &work);
  add_pieces(&session->terms, wanted, term->levels, work.size, linear);
  return WB_OK;
}

static void total_piece(void *context, int64_t i) {
  const term_work *const work = context;
  const wb_term_sums *const sums = &work->session->terms;
  const int32_t *const index = work->session->data.terms[work->term].index;
  const int32_t *const start = sums->piece_start[work->term];
  double sum = 0.0;
  for (int32_t at = start[i]; at < start[i + 1]; at++) sum += work->value[index[at]];
  sums->piece_sums[i] = sum;
}

void wb_cpu_terms_total(const wb_regression_session *session, int32_t term, const double *value, double *total) {
  const int64_t pieces = session->terms.pieces[term];
  term_work work = {.session = session, .term = term, .value = value};
  const int threads = pieces > 256 ? wb_cpu_regression_threads(session, session->data.columns + 30) : 1;
  wb_spread(threads, pieces, total_piece, &work);
  add_pieces(&session->terms, term, session->data.terms[term].levels, 1, total);
}

void wb_cpu_level_map(wb_isa isa, int count, wb_level_columns *columns, double tie, double most) {
  WB_LOOP(level_map, isa)(count, columns, tie, most);
}
