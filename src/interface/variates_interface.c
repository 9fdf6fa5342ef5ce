/* Streams and draws by the laws of core/ for other packages. */
#include "interface/interface.h"

#include <math.h>

#include "numeric/idle.h"
#include "numeric/variates.h"

#define PIECE 2048
/* Columns of vectors and matrices with a covariance. */
#define MOST_COLUMNS 1024

uint64_t wb_interface_key(uint64_t seed, uint32_t stream) { return wb_chain_key_of(seed, stream); }

/* Parameters -------------------------------------------------------------------- */

/* The laws and what their parameters may be: those of `a` or of rows, and those of `b` or `trials`. The header has the
 * same table, by which tests/client goes to both ends of each range. Sums of the largest must not overflow. */
typedef struct range {
  const char *name;
  double least, most;
  int whole;
} range;

#define SHAPE(name) \
  { name, 1e-300, 1e300, 0 }
#define TRIALS \
  { "size", 0, 2147483647.0, 1 }
static const range laws[][2] = {
    [WB_VARIATE_GAMMA] = {SHAPE("shape")},
    [WB_VARIATE_BETA] = {SHAPE("a"), SHAPE("b")},
    [WB_VARIATE_TRUNCATED_NORMAL] = {{"lower", -INFINITY, INFINITY, 0}, {"upper", -INFINITY, INFINITY, 0}},
    [WB_VARIATE_BINOMIAL] = {TRIALS, {"prob", 0, 1, 0}},
    [WB_VARIATE_DIRICHLET] = {SHAPE("shape")},
    [WB_VARIATE_MULTINOMIAL] = {{"weights", 0, 1e300, 0}, TRIALS},
    [WB_VARIATE_NORMAL_VECTOR] = {{"mean", -1e300, 1e300, 0}},
    [WB_VARIATE_WISHART] = {{"df", 0, 1e300, 0}},
};

static int check_range(const range *law, const double *values, int64_t count, wb_message *message) {
  if (!law->name) return WB_OK;
  WB_TRY(wb_interface_numbers(law->name, values, count, law->least, law->most, message));
  for (int64_t i = 0; law->whole && i < count; i++) {
    if (values[i] == (double)(int64_t)values[i]) continue;
    return wb_fail(message, WB_ERROR_INPUT, "`%s` has the value %.15g at position %.0f, but must be whole", law->name,
                   values[i], (double)(i + 1));
  }
  return WB_OK;
}

static int check_law(wb_variate kind, const wb_variates_law *law, int64_t count, wb_message *message) {
  WB_TRY(check_range(&laws[kind][0], law->a, law->as, message));
  WB_TRY(check_range(&laws[kind][1], law->b, law->bs, message));
  for (int64_t i = 0; kind == WB_VARIATE_TRUNCATED_NORMAL && i < count; i++) {
    const double lower = law->a[i % law->as], upper = law->b[i % law->bs];
    if (lower < upper) continue;
    return wb_fail(message, WB_ERROR_INPUT,
                   "`lower` is %.17g and `upper` is %.17g at position %.0f, but `lower` must be less", lower, upper,
                   (double)(i + 1));
  }
  return WB_OK;
}

static int check_some_weight(const wb_variates_rows *rows, int64_t different, wb_message *message) {
  for (int64_t i = 0; i < different; i++) {
    int is_zero = 1;
    for (int64_t j = 0; j < rows->columns; j++)
      if (rows->parameters[i * rows->parameter_step + j * rows->parameter_stride] > 0) is_zero = 0;
    if (!is_zero) continue;
    return wb_fail(message, WB_ERROR_INPUT, "`weights` has no weight above 0 in row %.0f", (double)(i + 1));
  }
  return WB_OK;
}

/* What `count` rows of draws are given. Sets the factor of a matrix, which the caller frees. */
static int check_rows(wb_variate kind, wb_variates_rows *rows, const double *matrix, int64_t count, double **factor,
                      wb_message *message) {
  const int64_t different = rows->parameter_step ? count : 1;
  const int is_wishart = kind == WB_VARIATE_WISHART;
  const char *const name = is_wishart ? "scale" : "matrix";
  *factor = NULL;
  WB_TRY(check_range(&laws[kind][0], is_wishart ? &rows->df : rows->parameters,
                     is_wishart ? 1 : different * rows->columns, message));
  WB_TRY(check_range(&laws[kind][1], rows->trials, rows->trial_count, message));
  if (kind == WB_VARIATE_MULTINOMIAL) return check_some_weight(rows, different, message);
  if (kind == WB_VARIATE_DIRICHLET) return WB_OK;
  WB_TRY(wb_interface_size("columns", rows->columns, 1, MOST_COLUMNS, message));
  if (is_wishart && !(rows->df > (double)(rows->columns - 1)))
    return wb_fail(message, WB_ERROR_INPUT, "`df` is %.17g, but must be above %.0f, the number of columns less 1",
                   rows->df, (double)(rows->columns - 1));
  WB_TRY(wb_interface_pointer(name, matrix, message));
  const int status = wb_variates_factor(name, rows->columns, matrix, factor, message);
  rows->factor = *factor;
  return status;
}

/* Vectors and matrices of extreme parameters can lie beyond the range of doubles. */
static int check_finite(const double *draws, int64_t count, wb_message *message) {
  for (int64_t i = 0; i < count; i++)
    if (!(draws[i] - draws[i] == 0))
      return wb_fail(message, WB_ERROR_INPUT,
                     "draw %.0f lies beyond the range of doubles: the parameters are too extreme", (double)(i + 1));
  return WB_OK;
}

/* Streams --------------------------------------------------------------------- */

int wb_interface_stream_open(uint64_t key, uint32_t iteration, uint64_t element, warpbayes_stream *stream,
                             warpbayes_message *message) {
  wb_interface_call call;
  WB_TRY(wb_interface_pointer("stream", stream, wb_interface_begin(&call, message)));
  const warpbayes_source from = {key, element, iteration, 1};
  WB_TRY(wb_interface_source(&call, &from, 1));
  wb_variates_stream_open(key, iteration, element, stream->word);
  return WB_OK;
}

static int check_stream(wb_interface_call *call, const warpbayes_stream *stream, int64_t count, const double *draws,
                        warpbayes_message *message) {
  wb_message *const text = wb_interface_begin(call, message);
  WB_TRY(wb_interface_pointer("stream", stream, text));
  if (!wb_variates_stream_is(stream->word))
    return wb_fail(text, WB_ERROR_INPUT, "`stream` was not opened by stream_open()");
  WB_TRY(wb_interface_size("count", count, 0, 0, text));
  if (count > 0) WB_TRY(wb_interface_pointer("draws", draws, text));
  return WB_OK;
}

static int stream_draw(warpbayes_stream *stream, wb_variate kind, const wb_variates_law law, int64_t count,
                       double *draws, warpbayes_message *message) {
  wb_interface_call call;
  WB_TRY(check_stream(&call, stream, count, draws, message));
  WB_TRY(check_law(kind, &law, count, call.message));
  wb_variates_stream_draw(stream->word, kind, &law, count, draws);
  return WB_OK;
}

static int stream_row(warpbayes_stream *stream, wb_variate kind, wb_variates_rows rows, const double *matrix,
                      double *draws, warpbayes_message *message) {
  wb_interface_call call;
  double *factor = NULL;
  WB_TRY(check_stream(&call, stream, 1, draws, message));
  const char *const name = kind == WB_VARIATE_DIRICHLET ? "count" : "columns";
  WB_TRY(wb_interface_size(name, rows.columns, 1, INT32_MAX, call.message));
  rows.stride = rows.parameter_stride = 1;
  int status = check_rows(kind, &rows, matrix, 1, &factor, call.message);
  if (status == WB_OK) status = wb_variates_stream_draw_row(stream->word, kind, &rows, draws, call.message);
  const int64_t numbers = kind == WB_VARIATE_WISHART ? rows.columns * rows.columns : rows.columns;
  if (status == WB_OK) status = check_finite(draws, numbers, call.message);
  wb_variates_free(factor);
  return status;
}

int wb_interface_stream_dirichlet(warpbayes_stream *stream, int64_t count, const double *shape, int is_log,
                                  double *draws, warpbayes_message *message) {
  return stream_row(stream, WB_VARIATE_DIRICHLET,
                    (wb_variates_rows){.columns = count, .parameters = shape, .is_log = is_log}, NULL, draws, message);
}

int wb_interface_stream_multinomial(warpbayes_stream *stream, int64_t columns, double size, const double *weights,
                                    double *draws, warpbayes_message *message) {
  return stream_row(stream, WB_VARIATE_MULTINOMIAL,
                    (wb_variates_rows){.columns = columns, .parameters = weights, .trials = &size, .trial_count = 1},
                    NULL, draws, message);
}

int wb_interface_stream_multivariate_normal(warpbayes_stream *stream, int64_t columns, const double *mean,
                                            const double *matrix, int is_precision, double *draws,
                                            warpbayes_message *message) {
  return stream_row(stream, WB_VARIATE_NORMAL_VECTOR,
                    (wb_variates_rows){.columns = columns, .parameters = mean, .is_inverse = is_precision}, matrix,
                    draws, message);
}

int wb_interface_stream_wishart(warpbayes_stream *stream, int64_t columns, double df, const double *scale,
                                int is_inverse, double *draws, warpbayes_message *message) {
  return stream_row(stream, WB_VARIATE_WISHART,
                    (wb_variates_rows){.columns = columns, .df = df, .is_inverse = is_inverse}, scale, draws, message);
}

/* Many elements, in pieces ------------------------------------------------------- */

typedef struct variates_pieces {
  wb_variates work; /* all elements */
  wb_isa isa;
  wb_variates_law law;
  wb_variates_rows rows;
  int *status; /* of each piece, for rows */
} variates_pieces;

static wb_variates piece_of(const variates_pieces *all, int64_t piece, int64_t step) {
  wb_variates work = all->work;
  const int64_t begin = piece * PIECE, left = work.count - begin;
  work.first += (uint64_t)begin;
  work.draws += begin * step;
  work.count = left < PIECE ? left : PIECE;
  return work;
}

static void law_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  const wb_variates work = piece_of(all, piece, 1);
  wb_variates_law law = all->law;
  law.begin = piece * PIECE;
  wb_variates_draw(&work, &law, all->isa);
}

static void rows_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  wb_variates_rows rows = all->rows;
  const wb_variates work = piece_of(all, piece, rows.step);
  wb_message unused;
  if (rows.parameters) rows.parameters += piece * PIECE * rows.parameter_step;
  rows.begin = piece * PIECE;
  if (wb_variates_draw_rows(&work, &rows, &unused) == WB_OK) return;
#pragma omp atomic write
  *all->status = WB_ERROR_MEMORY;
}

static int check_draws(wb_interface_call *call, const warpbayes_source *from, wb_variate kind, int64_t count,
                       double *draws, warpbayes_message *message, variates_pieces *pieces) {
  wb_message *const text = wb_interface_begin(call, message);
  WB_TRY(wb_interface_size("count", count, 0, 0, text));
  WB_TRY(wb_interface_source(call, from, count));
  if (count > 0) WB_TRY(wb_interface_pointer("draws", draws, text));
  pieces->work = (wb_variates){kind, from->key, from->iteration, from->first, count, draws};
  pieces->isa = call->call.run.isa;
  return WB_OK;
}

/* Nanoseconds of work that repay another thread. */
#define THREAD_WORK 1e5

/* `nanoseconds`: of one element, roughly. */
static void spread(const wb_interface_call *call, variates_pieces *all, wb_piece *work, double nanoseconds) {
  const wb_run *const run = &call->call.run;
  const double worth = 1 + nanoseconds * (double)all->work.count / THREAD_WORK;
  const int threads = run->threads < worth ? run->threads : (int)worth;
  run->spread(threads > 1 ? wb_idle_threads(threads) : 1, (all->work.count + PIECE - 1) / PIECE, work, all);
}

static int draw_many(const warpbayes_source *from, wb_variate kind, const wb_variates_law law, int64_t count,
                     double nanoseconds, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  WB_TRY(check_draws(&call, from, kind, count, draws, message, &all));
  WB_TRY(check_law(kind, &law, count, call.message));
  all.law = law;
  spread(&call, &all, law_piece, nanoseconds);
  return WB_OK;
}

/* A matrix of rows x columns, or `count` matrices of columns x columns. */
static int draw_rows(const warpbayes_source *from, wb_variate kind, wb_variates_rows rows, const double *matrix,
                     int each_row, int64_t count, double nanoseconds, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  int failed = WB_OK;
  double *factor = NULL;
  const int is_matrix = kind == WB_VARIATE_WISHART;
  wb_message *const text = wb_interface_begin(&call, message);
  WB_TRY(wb_interface_size(is_matrix ? "count" : "rows", count, 0, 0, text));
  WB_TRY(wb_interface_size("columns", rows.columns, 1, is_matrix ? MOST_COLUMNS : INT32_MAX, text));
  const int64_t numbers = is_matrix ? rows.columns * rows.columns : rows.columns;
  WB_TRY(wb_interface_matrix("draws", count, numbers, text));
  WB_TRY(check_draws(&call, from, kind, count, draws, message, &all));
  if (count == 0) return WB_OK;
  rows.step = is_matrix ? numbers : 1;
  rows.stride = count;
  rows.parameter_step = each_row != 0;
  rows.parameter_stride = each_row ? count : 1;
  int status = check_rows(kind, &rows, matrix, count, &factor, text);
  if (status == WB_OK) {
    all.rows = rows;
    all.status = &failed;
    spread(&call, &all, rows_piece, nanoseconds * (double)numbers);
    if (failed != WB_OK) wb_message_write(text, "memory ran out for rows of %.0f draws", (double)numbers);
    status = failed != WB_OK ? failed : check_finite(draws, count * numbers, text);
  }
  wb_variates_free(factor);
  return status;
}

int wb_interface_dirichlet_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *shape,
                                int each_row, int is_log, double *draws, warpbayes_message *message) {
  return draw_rows(from, WB_VARIATE_DIRICHLET,
                   (wb_variates_rows){.columns = columns, .parameters = shape, .is_log = is_log}, NULL, each_row, rows,
                   150, draws, message);
}

int wb_interface_multinomial_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *size,
                                  int64_t sizes, const double *weights, int each_row, double *draws,
                                  warpbayes_message *message) {
  return draw_rows(from, WB_VARIATE_MULTINOMIAL,
                   (wb_variates_rows){.columns = columns, .parameters = weights, .trials = size, .trial_count = sizes},
                   NULL, each_row, rows, 60, draws, message);
}

int wb_interface_multivariate_normal_draw(const warpbayes_source *from, int64_t rows, int64_t columns,
                                          const double *mean, int each_row, const double *matrix, int is_precision,
                                          double *draws, warpbayes_message *message) {
  return draw_rows(from, WB_VARIATE_NORMAL_VECTOR,
                   (wb_variates_rows){.columns = columns, .parameters = mean, .is_inverse = is_precision}, matrix,
                   each_row, rows, 20, draws, message);
}

int wb_interface_wishart_draw(const warpbayes_source *from, int64_t count, int64_t columns, double df,
                              const double *scale, int is_inverse, double *draws, warpbayes_message *message) {
  return draw_rows(from, WB_VARIATE_WISHART, (wb_variates_rows){.columns = columns, .df = df, .is_inverse = is_inverse},
                   scale, 0, count, 50, draws, message);
}

/* Laws of one number: name, nanoseconds of a draw, parameters in C, and how these are read. */
#define OPEN(...) __VA_ARGS__
#define NUMBER_LAWS(LAW) \
  LAW(uniform, WB_VARIATE_UNIFORM, 1, (), (0)) \
  LAW(normal, WB_VARIATE_NORMAL, 4, (), (0)) \
  LAW(exponential, WB_VARIATE_EXPONENTIAL, 3, (), (0)) \
  LAW(gumbel, WB_VARIATE_GUMBEL, 4, (), (0)) \
  LAW(gamma, WB_VARIATE_GAMMA, 20, (const double *shape, int64_t shapes, int is_log, ), \
      (.a = shape, .as = shapes, .is_log = is_log)) \
  LAW(beta, WB_VARIATE_BETA, 300, (const double *a, int64_t as, const double *b, int64_t bs, int is_log, ), \
      (.a = a, .b = b, .as = as, .bs = bs, .is_log = is_log)) \
  LAW(truncated_normal, WB_VARIATE_TRUNCATED_NORMAL, 60, \
      (const double *lower, int64_t lowers, const double *upper, int64_t uppers, ), \
      (.a = lower, .b = upper, .as = lowers, .bs = uppers)) \
  LAW(binomial, WB_VARIATE_BINOMIAL, 60, (const double *size, int64_t sizes, const double *prob, int64_t probs, ), \
      (.a = size, .b = prob, .as = sizes, .bs = probs))
#define DEFINE(name, kind, nanoseconds, parameters, law) \
  int wb_interface_stream_##name(warpbayes_stream *stream, int64_t count, OPEN parameters double *draws, \
                                 warpbayes_message *message) { \
    return stream_draw(stream, kind, (wb_variates_law){OPEN law}, count, draws, message); \
  } \
  int wb_interface_##name##_draw(const warpbayes_source *from, int64_t count, OPEN parameters double *draws, \
                                 warpbayes_message *message) { \
    return draw_many(from, kind, (wb_variates_law){OPEN law}, count, nanoseconds, draws, message); \
  }
NUMBER_LAWS(DEFINE)
