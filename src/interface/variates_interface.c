/* Streams, and uniform, normal, gamma, beta and Dirichlet draws for other packages. */
#include "interface/interface.h"

#include "numeric/chain_key.h"
#include "numeric/idle.h"
#include "numeric/variates.h"

/* Elements of a piece of work. */
#define PIECE 2048

uint64_t wb_interface_key(uint64_t seed, uint32_t stream) { return wb_chain_key_of(seed, stream); }

/* Streams --------------------------------------------------------------------- */

int wb_interface_stream_open(uint64_t key, uint32_t iteration, uint64_t element, warpbayes_stream *stream,
                             warpbayes_message *message) {
  wb_interface_call call;
  int status = wb_interface_pointer("stream", stream, wb_interface_begin(&call, message));
  const warpbayes_source from = {key, element, iteration, 1};
  if (status == WB_OK) status = wb_interface_source(&call, &from, 1);
  if (status == WB_OK) wb_variates_stream_open(key, iteration, element, stream->word);
  return status;
}

static int check_stream(wb_interface_call *call, const warpbayes_stream *stream, int64_t count, const double *draws,
                        warpbayes_message *message) {
  wb_message *const text = wb_interface_begin(call, message);
  int status = wb_interface_pointer("stream", stream, text);
  if (status == WB_OK && !wb_variates_stream_is(stream->word)) {
    wb_message_write(text, "`stream` was not opened by stream_open()");
    status = WB_ERROR_INPUT;
  }
  if (status == WB_OK) status = wb_interface_size("count", count, 0, 0, text);
  if (status == WB_OK && count > 0) status = wb_interface_pointer("draws", draws, text);
  return status;
}

static int check_shape(const char *name, const double *shape, int64_t shapes, wb_message *message) {
  return wb_interface_numbers(name, shape, shapes, WB_INTERFACE_SHAPE_LEAST, WB_INTERFACE_SHAPE_MOST, message);
}

int wb_interface_stream_uniform(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  const int status = check_stream(&call, stream, count, draws, message);
  if (status == WB_OK) wb_variates_stream_uniform(stream->word, count, draws);
  return status;
}

int wb_interface_stream_normal(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  const int status = check_stream(&call, stream, count, draws, message);
  if (status == WB_OK) wb_variates_stream_normal(stream->word, count, draws);
  return status;
}

int wb_interface_stream_gamma(warpbayes_stream *stream, int64_t count, const double *shape, int64_t shapes, int is_log,
                              double *draws, warpbayes_message *message) {
  wb_interface_call call;
  const wb_variates_law law = {.a = shape, .as = shapes, .is_log = is_log};
  int status = check_stream(&call, stream, count, draws, message);
  if (status == WB_OK) status = check_shape("shape", shape, shapes, call.message);
  if (status == WB_OK) wb_variates_stream_gamma(stream->word, &law, count, draws);
  return status;
}

int wb_interface_stream_beta(warpbayes_stream *stream, int64_t count, const double *a, int64_t as, const double *b,
                             int64_t bs, int is_log, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  const wb_variates_law law = {.a = a, .b = b, .as = as, .bs = bs, .is_log = is_log};
  int status = check_stream(&call, stream, count, draws, message);
  if (status == WB_OK) status = check_shape("a", a, as, call.message);
  if (status == WB_OK) status = check_shape("b", b, bs, call.message);
  if (status == WB_OK) wb_variates_stream_beta(stream->word, &law, count, draws);
  return status;
}

int wb_interface_stream_dirichlet(warpbayes_stream *stream, int64_t count, const double *shape, int is_log,
                                  double *draws, warpbayes_message *message) {
  wb_interface_call call;
  int status = check_stream(&call, stream, count, draws, message);
  if (status == WB_OK) status = wb_interface_size("count", count, 1, INT32_MAX, call.message);
  if (status == WB_OK) status = check_shape("shape", shape, count, call.message);
  return status == WB_OK ? wb_variates_stream_dirichlet(stream->word, count, shape, is_log, draws, call.message)
                         : status;
}

/* Many elements, in pieces ------------------------------------------------------- */

typedef struct variates_pieces {
  wb_variates work; /* all elements */
  wb_isa isa;
  wb_variates_law law;
  wb_variates_rows rows;
  int *status; /* of each piece, for rows */
} variates_pieces;

static wb_variates piece_of(const variates_pieces *all, int64_t piece) {
  wb_variates work = all->work;
  const int64_t begin = piece * PIECE, left = work.count - begin;
  work.first += (uint64_t)begin;
  work.draws += begin;
  work.count = left < PIECE ? left : PIECE;
  return work;
}

static void uniform_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  const wb_variates work = piece_of(all, piece);
  wb_variates_uniform(&work, all->isa);
}

static void normal_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  const wb_variates work = piece_of(all, piece);
  wb_variates_normal(&work, all->isa);
}

static void gamma_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  const wb_variates work = piece_of(all, piece);
  wb_variates_law law = all->law;
  law.begin = piece * PIECE;
  wb_variates_gamma(&work, &law, all->isa);
}

static void beta_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  const wb_variates work = piece_of(all, piece);
  wb_variates_law law = all->law;
  law.begin = piece * PIECE;
  wb_variates_beta(&work, &law);
}

static void dirichlet_piece(void *context, int64_t piece) {
  const variates_pieces *const all = context;
  const wb_variates work = piece_of(all, piece);
  wb_variates_rows rows = all->rows;
  wb_message unused;
  rows.shape += piece * PIECE * rows.shape_step;
  if (wb_variates_dirichlet(&work, &rows, &unused) == WB_OK) return;
#pragma omp atomic write
  *all->status = WB_ERROR_MEMORY;
}

static int check_draws(wb_interface_call *call, const warpbayes_source *from, int64_t count, double *draws,
                       warpbayes_message *message, variates_pieces *pieces) {
  wb_message *const text = wb_interface_begin(call, message);
  int status = wb_interface_size("count", count, 0, 0, text);
  if (status == WB_OK) status = wb_interface_source(call, from, count);
  if (status == WB_OK && count > 0) status = wb_interface_pointer("draws", draws, text);
  if (status != WB_OK) return status;
  pieces->work = (wb_variates){from->key, from->iteration, from->first, count, draws};
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

int wb_interface_uniform_draw(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  const int status = check_draws(&call, from, count, draws, message, &all);
  if (status == WB_OK) spread(&call, &all, uniform_piece, 1);
  return status;
}

int wb_interface_normal_draw(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  const int status = check_draws(&call, from, count, draws, message, &all);
  if (status == WB_OK) spread(&call, &all, normal_piece, 4);
  return status;
}

int wb_interface_gamma_draw(const warpbayes_source *from, int64_t count, const double *shape, int64_t shapes,
                            int is_log, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  int status = check_draws(&call, from, count, draws, message, &all);
  if (status == WB_OK) status = check_shape("shape", shape, shapes, call.message);
  if (status != WB_OK) return status;
  all.law = (wb_variates_law){.a = shape, .as = shapes, .is_log = is_log};
  spread(&call, &all, gamma_piece, 20);
  return WB_OK;
}

int wb_interface_beta_draw(const warpbayes_source *from, int64_t count, const double *a, int64_t as, const double *b,
                           int64_t bs, int is_log, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  int status = check_draws(&call, from, count, draws, message, &all);
  if (status == WB_OK) status = check_shape("a", a, as, call.message);
  if (status == WB_OK) status = check_shape("b", b, bs, call.message);
  if (status != WB_OK) return status;
  all.law = (wb_variates_law){.a = a, .b = b, .as = as, .bs = bs, .is_log = is_log};
  spread(&call, &all, beta_piece, 300);
  return WB_OK;
}

int wb_interface_dirichlet_draw(const warpbayes_source *from, int64_t rows, int64_t columns, const double *shape,
                                int each_row, int is_log, double *draws, warpbayes_message *message) {
  wb_interface_call call;
  variates_pieces all;
  int failed = WB_OK;
  wb_message *const text = wb_interface_begin(&call, message);
  int status = wb_interface_size("rows", rows, 0, 0, text);
  if (status == WB_OK) status = wb_interface_size("columns", columns, 1, INT32_MAX, text);
  if (status == WB_OK) status = wb_interface_matrix("draws", rows, columns, text);
  if (status == WB_OK) status = check_draws(&call, from, rows, draws, message, &all);
  if (status != WB_OK || rows == 0) return status;
  status = check_shape("shape", shape, each_row ? rows * columns : columns, text);
  if (status != WB_OK) return status;
  all.rows = (wb_variates_rows){.columns = columns,
                                .stride = rows,
                                .shape = shape,
                                .shape_step = each_row != 0,
                                .shape_stride = each_row ? rows : 1,
                                .is_log = is_log};
  all.status = &failed;
  spread(&call, &all, dirichlet_piece, 150 * (double)columns);
  if (failed != WB_OK) wb_message_write(text, "memory ran out for rows of %.0f Dirichlet draws", (double)columns);
  return failed;
}
