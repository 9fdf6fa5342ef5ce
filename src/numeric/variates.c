/* Uniform, normal, gamma, beta and Dirichlet draws for callers outside the package. */
#include "core/rounding.h"

#include "numeric/variates.h"

#include "core/random_beta.h"
#include "core/random_gamma_trial.h"
#include "numeric/memory.h"

#define WB_LOOPS "numeric/variates_loops.h"
#include "numeric/isa.h"

void wb_variates_uniform(const wb_variates *work, wb_isa isa) {
  WB_LOOP(variates_uniform, isa)(work->key, work->iteration, work->first, work->count, work->draws);
}

void wb_variates_normal(const wb_variates *work, wb_isa isa) {
  WB_LOOP(variates_normal, isa)(work->key, work->iteration, work->first, work->count, work->draws);
}

static double draw_gamma(wb_stream *stream, const wb_variates_law *law, int64_t place) {
  const double shape = law->a[place % law->as];
  return law->is_log ? wb_draw_log_gamma(stream, shape) : wb_draw_gamma(stream, shape);
}

static double draw_beta(wb_stream *stream, const wb_variates_law *law, int64_t place) {
  double log_v, log_1mv;
  wb_draw_log_beta(stream, law->a[place % law->as], law->b[place % law->bs], &log_v, &log_1mv);
  return law->is_log ? log_v : wb_exp(log_v);
}

/* Writes `columns` numbers, `stride` apart. `shape` and `row` have room for as many. */
static void draw_dirichlet(wb_stream *stream, int columns, const double *shape, int is_log, double *row, double *draws,
                           int64_t stride) {
  wb_draw_log_dirichlet(stream, columns, shape, row);
  for (int64_t j = 0; j < columns; j++) draws[j * stride] = is_log ? row[j] : wb_exp(row[j]);
}

static wb_stream open_element(const wb_variates *work, uint32_t purpose, int64_t i) {
  return wb_stream_open(work->key, purpose, work->iteration, work->first + (uint64_t)i);
}

static void draw_gamma_alone(const wb_variates *work, const wb_variates_law *law, int64_t i) {
  wb_stream stream = open_element(work, WB_PURPOSE_GAMMA, i);
  work->draws[i] = draw_gamma(&stream, law, law->begin + i);
}

/* The loop over a tile accepts most draws of shapes from 1 on. Any other element is drawn alone, from the beginning of
 * its stream, with the same result as if there were no loop. */
void wb_variates_gamma(const wb_variates *work, const wb_variates_law *law, wb_isa isa) {
  _Alignas(64) double shape[WB_PHILOX_TILE], tile[WB_PHILOX_TILE];
  int64_t place = law->begin % law->as;
  for (int64_t at = 0; at < work->count; at += WB_PHILOX_TILE) {
    const int64_t left = work->count - at, rows = left < WB_PHILOX_TILE ? left : WB_PHILOX_TILE;
    for (int64_t i = 0; i < WB_PHILOX_TILE; i++) {
      shape[i] = law->a[place];
      if (++place == law->as) place = 0;
    }
    if (!law->is_log) WB_LOOP(variates_gamma, isa)(work->key, work->iteration, work->first + (uint64_t)at, shape, tile);
    for (int64_t i = 0; i < rows; i++)
      if (law->is_log || shape[i] < 1.0 || tile[i] < 0.0) draw_gamma_alone(work, law, at + i);
      else work->draws[at + i] = tile[i];
  }
}

void wb_variates_beta(const wb_variates *work, const wb_variates_law *law) {
  for (int64_t i = 0; i < work->count; i++) {
    wb_stream stream = open_element(work, WB_PURPOSE_BETA, i);
    work->draws[i] = draw_beta(&stream, law, law->begin + i);
  }
}

int wb_variates_dirichlet(const wb_variates *work, const wb_variates_rows *rows, wb_message *message) {
  const size_t bytes = 2 * (size_t)rows->columns * sizeof(double);
  double *const shape = wb_aligned_malloc(bytes);
  if (!shape) return wb_out_of_memory(message, "a row of Dirichlet draws", bytes);
  double *const row = shape + rows->columns;
  for (int64_t i = 0; i < work->count; i++) {
    wb_stream stream = open_element(work, WB_PURPOSE_DIRICHLET, i);
    for (int64_t j = 0; j < rows->columns; j++) shape[j] = rows->shape[i * rows->shape_step + j * rows->shape_stride];
    draw_dirichlet(&stream, (int)rows->columns, shape, rows->is_log, row, work->draws + i, rows->stride);
  }
  wb_aligned_free(shape);
  return WB_OK;
}

/* Streams. The last word marks a stream that was opened. */

#define OPENED 0x7761727062617965u

typedef char stream_fits[sizeof(wb_stream) <= (WB_VARIATES_STREAM_WORDS - 1) * sizeof(uint64_t) ? 1 : -1];

static wb_stream read_stream(const uint64_t *words) {
  wb_stream stream;
  memcpy(&stream, words, sizeof stream);
  return stream;
}

void wb_variates_stream_open(uint64_t key, uint32_t iteration, uint64_t element, uint64_t *words) {
  const wb_stream stream = wb_stream_open(key, WB_PURPOSE_CALLER, iteration, element);
  memset(words, 0, WB_VARIATES_STREAM_WORDS * sizeof(uint64_t));
  memcpy(words, &stream, sizeof stream);
  words[WB_VARIATES_STREAM_WORDS - 1] = OPENED;
}

int wb_variates_stream_is(const uint64_t *words) { return words[WB_VARIATES_STREAM_WORDS - 1] == OPENED; }

void wb_variates_stream_uniform(uint64_t *words, int64_t count, double *draws) {
  wb_stream stream = read_stream(words);
  for (int64_t i = 0; i < count; i++) draws[i] = wb_stream_uniform(&stream);
  memcpy(words, &stream, sizeof stream);
}

void wb_variates_stream_normal(uint64_t *words, int64_t count, double *draws) {
  wb_stream stream = read_stream(words);
  for (int64_t i = 0; i < count; i++) draws[i] = wb_draw_normal(&stream);
  memcpy(words, &stream, sizeof stream);
}

void wb_variates_stream_gamma(uint64_t *words, const wb_variates_law *law, int64_t count, double *draws) {
  wb_stream stream = read_stream(words);
  for (int64_t i = 0; i < count; i++) draws[i] = draw_gamma(&stream, law, i);
  memcpy(words, &stream, sizeof stream);
}

void wb_variates_stream_beta(uint64_t *words, const wb_variates_law *law, int64_t count, double *draws) {
  wb_stream stream = read_stream(words);
  for (int64_t i = 0; i < count; i++) draws[i] = draw_beta(&stream, law, i);
  memcpy(words, &stream, sizeof stream);
}

int wb_variates_stream_dirichlet(uint64_t *words, int64_t count, const double *shape, int is_log, double *draws,
                                 wb_message *message) {
  const size_t bytes = (size_t)count * sizeof(double);
  double *const row = wb_aligned_malloc(bytes);
  if (!row) return wb_out_of_memory(message, "a row of Dirichlet draws", bytes);
  wb_stream stream = read_stream(words);
  draw_dirichlet(&stream, (int)count, shape, is_log, row, draws, 1);
  memcpy(words, &stream, sizeof stream);
  wb_aligned_free(row);
  return WB_OK;
}
