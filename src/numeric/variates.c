/* Draws by the laws of core/ for callers outside the package. */
#include "core/scalar.h"

#include "numeric/variates.h"

#include "core/random_beta.h"
#include "core/random_binomial.h"
#include "core/random_gamma_trial.h"
#include "core/random_truncated_normal.h"
#include "core/random_wishart.h"
#include "numeric/memory.h"
#include "numeric/variate_tiles.h"

uint64_t wb_chain_key_of(uint64_t seed, uint32_t chain) { return wb_chain_key(seed, chain); }

static const wb_purpose purpose_of[] = {WB_PURPOSE_UNIFORM,          WB_PURPOSE_NORMAL,        WB_PURPOSE_EXPONENTIAL,
                                        WB_PURPOSE_GUMBEL,           WB_PURPOSE_GAMMA,         WB_PURPOSE_BETA,
                                        WB_PURPOSE_TRUNCATED_NORMAL, WB_PURPOSE_BINOMIAL,      WB_PURPOSE_DIRICHLET,
                                        WB_PURPOSE_MULTINOMIAL,      WB_PURPOSE_NORMAL_VECTOR, WB_PURPOSE_WISHART};

/* One number for each element ------------------------------------------------------ */

static double draw_one(wb_stream *stream, wb_variate kind, const wb_variates_law *law, int64_t place) {
  if (kind == WB_VARIATE_UNIFORM) return wb_stream_uniform(stream);
  if (kind == WB_VARIATE_NORMAL) return wb_draw_normal(stream);
  if (kind == WB_VARIATE_EXPONENTIAL) return wb_draw_exponential(stream);
  if (kind == WB_VARIATE_GUMBEL) return -wb_log(wb_draw_exponential(stream));
  const double a = law->a[place % law->as];
  if (kind == WB_VARIATE_GAMMA) return law->is_log ? wb_draw_log_gamma(stream, a) : wb_draw_gamma(stream, a);
  const double b = law->b[place % law->bs];
  if (kind == WB_VARIATE_TRUNCATED_NORMAL) return wb_draw_truncated_normal(stream, a, b);
  if (kind == WB_VARIATE_BINOMIAL) return (double)wb_draw_binomial(stream, (int64_t)a, b, 1.0 - b);
  double log_v, log_1mv;
  wb_draw_log_beta(stream, a, b, &log_v, &log_1mv);
  return law->is_log ? log_v : wb_exp(log_v);
}

static wb_stream open_element(const wb_variates *work, int64_t i) {
  return wb_stream_open(work->key, purpose_of[work->kind], work->iteration, work->first + (uint64_t)i);
}

static void draw_alone(const wb_variates *work, const wb_variates_law *law, int64_t i) {
  wb_stream stream = open_element(work, i);
  work->draws[i] = draw_one(&stream, work->kind, law, law->begin + i);
}

void wb_variates_draw(const wb_variates *work, const wb_variates_law *law, wb_isa isa) {
  if (work->kind <= WB_VARIATE_GUMBEL)
    wb_variate_tiles(work->key, purpose_of[work->kind], work->iteration, work->first, work->count, work->draws, isa);
  else if (work->kind == WB_VARIATE_GAMMA && !law->is_log) {
    wb_variate_gammas(work->key, work->iteration, work->first, work->count, law->a, law->as, law->begin, work->draws,
                      isa);
    for (int64_t i = 0; i < work->count; i++)
      if (work->draws[i] < 0.0) draw_alone(work, law, i);
  } else {
    for (int64_t i = 0; i < work->count; i++) draw_alone(work, law, i);
  }
}

/* Many numbers for each element ------------------------------------------------------- */

/* Room for two vectors, and for the two triangles of a Wishart matrix. */
static double *row_room(wb_variate kind, const wb_variates_rows *rows, wb_message *message) {
  const size_t columns = (size_t)rows->columns;
  const size_t numbers = kind == WB_VARIATE_WISHART ? 2 * wb_packed_size((int)columns) : 2 * columns;
  double *const room = wb_aligned_malloc(numbers * sizeof(double));
  if (!room) wb_out_of_memory(message, "a row of draws", numbers * sizeof(double));
  return room;
}

static void draw_dirichlet(wb_stream *stream, const wb_variates_rows *rows, const double *shape, double *log_share,
                           double *draws) {
  wb_draw_log_dirichlet(stream, (int)rows->columns, shape, log_share);
  for (int64_t j = 0; j < rows->columns; j++)
    draws[j * rows->stride] = rows->is_log ? log_share[j] : wb_exp(log_share[j]);
}

/* One binomial after the other, given what is left of trials and weights; the latter are added from the end. */
static void draw_multinomial(wb_stream *stream, const wb_variates_rows *rows, int64_t trials, const double *weight,
                             double *left, double *draws) {
  const int64_t last = rows->columns - 1;
  left[last] = weight[last];
  for (int64_t j = last - 1; j >= 0; j--) left[j] = left[j + 1] + weight[j];
  for (int64_t j = 0; j <= last; j++) {
    int64_t count = trials;
    if (j < last)
      count = left[j] > 0.0 ? wb_draw_binomial(stream, trials, weight[j] / left[j], left[j + 1] / left[j]) : 0;
    draws[j * rows->stride] = (double)count;
    trials -= count;
  }
}

static void draw_normals(wb_stream *stream, const wb_variates_rows *rows, const double *mean, double *z,
                         double *draws) {
  const int p = (int)rows->columns;
  for (int j = 0; j < p; j++) z[j] = wb_draw_normal(stream);
  if (rows->is_inverse) wb_triangle_solve_transposed(p, rows->factor, z, z);
  else wb_triangle_apply(p, rows->factor, z, z);
  for (int64_t j = 0; j < p; j++) draws[j * rows->stride] = mean[j] + z[j];
}

/* With scale = L L', and T of wb_draw_wishart_gram_factor(): T with its rows and columns in reverse order, transposed,
 * is Bartlett's triangle A, and W = (L A) (L A)'. The inverse is (L T^-1) (L T^-1)', with the scale of its own law. */
static void draw_wishart(wb_stream *stream, const wb_variates_rows *rows, double *triangle, double *product,
                         double *draws) {
  const int p = (int)rows->columns;
  wb_draw_wishart_gram_factor(stream, p, rows->df, product);
  if (rows->is_inverse) {
    wb_triangle_inverse(p, product, triangle);
  } else {
    for (int r = 0; r < p; r++)
      for (int c = 0; c <= r; c++) triangle[wb_packed_at(r, c)] = product[wb_packed_at(p - 1 - c, p - 1 - r)];
  }
  wb_triangle_multiply(p, rows->factor, triangle, product);
  wb_triangle_square(p, product, product);
  for (int r = 0; r < p; r++)
    for (int c = 0; c <= r; c++) draws[r + (int64_t)c * p] = draws[c + (int64_t)r * p] = product[wb_packed_at(r, c)];
}

static void draw_row(wb_stream *stream, wb_variate kind, const wb_variates_rows *rows, int64_t i, double *room,
                     double *draws) {
  const int64_t columns = rows->columns;
  if (kind == WB_VARIATE_WISHART) {
    draw_wishart(stream, rows, room, room + wb_packed_size((int)columns), draws);
    return;
  }
  double *const other = room + columns;
  for (int64_t j = 0; j < columns; j++)
    room[j] = rows->parameters[i * rows->parameter_step + j * rows->parameter_stride];
  if (kind == WB_VARIATE_DIRICHLET) draw_dirichlet(stream, rows, room, other, draws);
  else if (kind == WB_VARIATE_NORMAL_VECTOR) draw_normals(stream, rows, room, other, draws);
  else draw_multinomial(stream, rows, (int64_t)rows->trials[(rows->begin + i) % rows->trial_count], room, other, draws);
}

int wb_variates_draw_rows(const wb_variates *work, const wb_variates_rows *rows, wb_message *message) {
  double *const room = row_room(work->kind, rows, message);
  if (!room) return WB_ERROR_MEMORY;
  for (int64_t i = 0; i < work->count; i++) {
    wb_stream stream = open_element(work, i);
    draw_row(&stream, work->kind, rows, i, room, work->draws + i * rows->step);
  }
  wb_aligned_free(room);
  return WB_OK;
}

int wb_variates_factor(const char *name, int64_t columns, const double *matrix, double **factor, wb_message *message) {
  const int p = (int)columns;
  const size_t bytes = wb_packed_size(p) * sizeof(double);
  double *const packed = wb_aligned_malloc(bytes);
  *factor = NULL;
  if (!packed) return wb_out_of_memory(message, "the factor of a matrix", bytes);
  for (int r = 0; r < p; r++)
    for (int c = 0; c <= r; c++) packed[wb_packed_at(r, c)] = matrix[r + (int64_t)c * p];
  const int failed = wb_cholesky(p, packed);
  if (failed) {
    wb_aligned_free(packed);
    return wb_fail(message, WB_ERROR_INPUT, "`%s` is not positive definite, or not finite: its row %d fails", name,
                   failed);
  }
  *factor = packed;
  return WB_OK;
}

void wb_variates_free(double *factor) { wb_aligned_free(factor); }

/* Streams. The last word marks a stream that was opened. ------------------------------------ */

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

void wb_variates_stream_draw(uint64_t *words, wb_variate kind, const wb_variates_law *law, int64_t count,
                             double *draws) {
  wb_stream stream = read_stream(words);
  for (int64_t i = 0; i < count; i++) draws[i] = draw_one(&stream, kind, law, i);
  memcpy(words, &stream, sizeof stream);
}

int wb_variates_stream_draw_row(uint64_t *words, wb_variate kind, const wb_variates_rows *rows, double *draws,
                                wb_message *message) {
  double *const room = row_room(kind, rows, message);
  if (!room) return WB_ERROR_MEMORY;
  wb_stream stream = read_stream(words);
  draw_row(&stream, kind, rows, 0, room, draws);
  memcpy(words, &stream, sizeof stream);
  wb_aligned_free(room);
  return WB_OK;
}
