/* Entries of a mixture on the workers of a cluster: the sessions of manager and worker. */
#include "entry/entry.h"

#include <stdlib.h>
#include <string.h>

#include "entry/mixture/open_mixture.h"
#include "cluster/mixture/messages.h"
#include "numeric/memory.h"

/* How rows are split over workers: `first_row` (of each that gets rows, and the number of all) and `piece`. */
SEXP wb_entry_mixture_split(SEXP rows, SEXP workers) {
  const int32_t count = Rf_asInteger(workers);
  int64_t piece, *first_row = (int64_t *)R_alloc((size_t)count + 1, sizeof(int64_t));
  const int32_t used = wb_cluster_split(wb_size_from_sexp(rows), count, first_row, &piece);
  SEXP out = PROTECT(wb_list_new("first_row piece"));
  double *first = wb_list_numbers(out, "first_row", used + 1.0);
  for (int32_t w = 0; w <= used; w++) first[w] = (double)first_row[w];
  wb_list_put(out, "piece", Rf_ScalarReal((double)piece));
  UNPROTECT(1);
  return out;
}

/* Whether row numbers and piece could come from wb_entry_mixture_split(). */
static int is_split(SEXP first_row, SEXP piece) {
  if (TYPEOF(first_row) != REALSXP || Rf_xlength(first_row) < 2 || Rf_xlength(first_row) > INT32_MAX ||
      !wb_are_finite(piece, 1))
    return 0;
  const double *first = REAL_RO(first_row), size = Rf_asReal(piece);
  const R_xlen_t workers = Rf_xlength(first_row) - 1;
  if (!(size >= 1 && size <= 0x1p40) || first[0] != 0) return 0;
  const int64_t rows = (int64_t)size * WB_LEAF_ROWS;
  if ((int64_t)size & ((int64_t)size - 1)) return 0;
  for (R_xlen_t w = 0; w < workers; w++)
    if (!(first[w + 1] > first[w] && first[w + 1] <= 0x1p53) || (int64_t)first[w] % rows != 0) return 0;
  /* WB_CLUSTER_MOST_NODES provides for this many pieces. */
  return first[workers] / (double)rows <= 0x1p31;
}

/* The manager ------------------------------------------------------------------------------ */

/* What the pointer of the manager's session protects: the R function, the last replies, and the workers' names. */
enum { EXCHANGE, REPLIES, NAMES };

/* An exchange with the workers, in R_ToplevelExec(), which no error leaves: the host algorithm has memory to free. */
typedef struct exchange {
  SEXP kept;
  const void *request;
  size_t size;
} exchange;

static void call_workers(void *asked) {
  const exchange *ask = asked;
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)ask->size));
  memcpy(RAW(bytes), ask->request, ask->size);
  SEXP call = PROTECT(Rf_lang2(VECTOR_ELT(ask->kept, EXCHANGE), bytes));
  SET_VECTOR_ELT(ask->kept, REPLIES, Rf_eval(call, R_GlobalEnv));
  UNPROTECT(2);
}

/* The R function returns a list with the bytes of each worker's reply, or a failure. */
static int exchange_with_workers(void *context, const void *request, size_t size, wb_cluster_reply *replies,
                                 wb_message *message) {
  const exchange ask = {R_ExternalPtrProtected((SEXP)context), request, size};
  SET_VECTOR_ELT(ask.kept, REPLIES, R_NilValue);
  const int done = R_ToplevelExec(call_workers, (void *)&ask);
  SEXP answers = VECTOR_ELT(ask.kept, REPLIES);
  const open_mixture *opened = R_ExternalPtrAddr((SEXP)context);
  if (done && Rf_inherits(answers, "warpbayes_failure")) {
    const int status = Rf_asInteger(wb_list_element(answers, "status"));
    wb_message_write(message, "%s", CHAR(Rf_asChar(wb_list_element(answers, "message"))));
    return status >= WB_ERROR_INPUT && status <= WB_ERROR_BACKEND ? status : WB_ERROR_DEVICE;
  }
  int right = done && TYPEOF(answers) == VECSXP;
  for (R_xlen_t w = 0; right && w < Rf_xlength(answers); w++) {
    SEXP bytes = VECTOR_ELT(answers, w);
    if (opened->first_row[w] == opened->rows || TYPEOF(bytes) != RAWSXP) {
      right = 0;
    } else {
      replies[w].bytes = RAW_RO(bytes);
      replies[w].size = (size_t)Rf_xlength(bytes);
      right = w + 1 < Rf_xlength(answers) || opened->first_row[w + 1] == opened->rows;
    }
  }
  if (right && Rf_xlength(answers) > 0) return WB_OK;
  return wb_fail(message, WB_ERROR_DEVICE,
                 "the workers of the cluster could not be asked: memory ran out, or they gave no replies");
}

static const char *name_of(void *context, int32_t worker) {
  SEXP names = VECTOR_ELT(R_ExternalPtrProtected((SEXP)context), NAMES);
  return CHAR(STRING_ELT(names, worker));
}

/* `call`: the R function. `names`: of workers, enough for those with rows. `samples`: 0: the rows are one sample. */
SEXP wb_entry_mixture_open_cluster(SEXP call, SEXP names, SEXP first_row, SEXP piece, SEXP center, SEXP inverse_scale,
                                   SEXP precision, SEXP keep_labels, SEXP samples, SEXP run) {
  wb_message message;
  const double columns = (double)Rf_xlength(center);
  const int several = Rf_asInteger(samples);
  if (!Rf_isFunction(call) || !is_split(first_row, piece) || columns < 1 || !wb_is_numbers(center, columns) ||
      !wb_is_numbers(inverse_scale, columns) || several < 0 || TYPEOF(names) != STRSXP ||
      Rf_xlength(names) < Rf_xlength(first_row) - 1)
    return wb_changed_fit();
  const wb_call here = wb_call_from_list(run, &message);
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(kept, EXCHANGE, call);
  SET_VECTOR_ELT(kept, NAMES, names);
  SEXP pointer = PROTECT(wb_session_begin(kept, wb_mixture_close));
  const int32_t workers = (int32_t)Rf_xlength(first_row) - 1;
  open_mixture *opened = calloc(1, sizeof *opened);
  if (opened) opened->first_row = malloc(((size_t)workers + 1) * sizeof(int64_t));
  int status = WB_OK;
  if (opened && opened->first_row) {
    for (int32_t w = 0; w <= workers; w++) opened->first_row[w] = (int64_t)REAL_RO(first_row)[w];
    opened->backend = &wb_mixture_cluster;
    opened->columns = (int32_t)columns;
    opened->rows = opened->first_row[workers];
    opened->keeps_labels = Rf_asLogical(keep_labels);
    opened->samples = several;
    const wb_mixture_data data = {.rows = opened->rows,
                                  .columns = opened->columns,
                                  .center = REAL_RO(center),
                                  .inverse_scale = REAL_RO(inverse_scale),
                                  .precision = Rf_asInteger(precision) ? WB_SINGLE : WB_DOUBLE,
                                  .samples = several};
    const wb_cluster cluster = {workers, opened->first_row, wb_size_from_sexp(piece), exchange_with_workers, name_of,
                                pointer};
    status = wb_cluster_open(&data, &here, &cluster, &opened->session, &message);
  } else {
    status = wb_out_of_memory(&message, "the mixture session", ((size_t)workers + 1) * sizeof(int64_t));
  }
  if (status != WB_OK && opened) free(opened->first_row);
  SEXP result = wb_session_end(pointer, opened, status, &message);
  UNPROTECT(2);
  return result;
}

/* A worker ----------------------------------------------------------------------------------- */

typedef struct open_worker {
  wb_cluster_worker worker;
  int32_t *sample;
  wb_mixture_missing *missing;
} open_worker;

static void free_worker(open_worker *opened) {
  if (!opened) return;
  free(opened->missing);
  free(opened->sample);
}

static void close_worker(SEXP pointer) {
  open_worker *opened = R_ExternalPtrAddr(pointer);
  if (!opened) return;
  opened->worker.backend->mixture->close(opened->worker.session);
  R_ClearExternalPtr(pointer);
  free_worker(opened);
  free(opened);
}

/* x: the rows of worker `worker`, from 0. sample: of each row, from 1 to `samples`; NULL: all are one sample. */
SEXP wb_entry_mixture_open_worker(SEXP x, SEXP worker, SEXP first_row, SEXP piece, SEXP center, SEXP inverse_scale,
                                  SEXP precision, SEXP keep_labels, SEXP sample, SEXP samples, SEXP run) {
  wb_message message;
  const int w = Rf_asInteger(worker), several = Rf_isNull(sample) ? 0 : Rf_asInteger(samples);
  if (TYPEOF(x) != REALSXP || !Rf_isMatrix(x) || !is_split(first_row, piece) || w < 0 ||
      w >= Rf_xlength(first_row) - 1 || REAL_RO(first_row)[w + 1] - REAL_RO(first_row)[w] != Rf_nrows(x) ||
      !wb_is_numbers(center, Rf_ncols(x)) || !wb_is_numbers(inverse_scale, Rf_ncols(x)))
    return wb_changed_fit();
  if (!Rf_isNull(sample) && (several < 1 || !wb_are_integers(sample, Rf_nrows(x), 1, several + 1.0)))
    return wb_changed_fit();
  const wb_call call = wb_call_from_list(run, &message);
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(kept, 0, x);
  SET_VECTOR_ELT(kept, 1, center);
  SET_VECTOR_ELT(kept, 2, inverse_scale);
  SEXP pointer = PROTECT(wb_session_begin(kept, close_worker));
  open_worker *opened = calloc(1, sizeof *opened);
  int status = WB_OK;
  if (!opened) {
    status = wb_out_of_memory(&message, "the mixture session", sizeof *opened);
  } else {
    wb_mixture_data *data = &opened->worker.data;
    *data = (wb_mixture_data){.x = REAL_RO(x),
                              .rows = Rf_nrows(x),
                              .columns = Rf_ncols(x),
                              .center = REAL_RO(center),
                              .inverse_scale = REAL_RO(inverse_scale),
                              .precision = Rf_asInteger(precision) ? WB_SINGLE : WB_DOUBLE,
                              .keep_labels = Rf_asLogical(keep_labels),
                              .samples = several,
                              .first_row = (int64_t)REAL_RO(first_row)[w],
                              .piece = wb_size_from_sexp(piece)};
    opened->worker.backend = call.backend;
    opened->worker.rows = (int64_t)REAL_RO(first_row)[Rf_xlength(first_row) - 1];
    status = wb_mixture_open_rows(&call, sample, data, &opened->sample, &opened->missing, &opened->worker.session);
  }
  if (status != WB_OK) free_worker(opened);
  SEXP result = wb_session_end(pointer, opened, status, &message);
  UNPROTECT(2);
  return result;
}

SEXP wb_entry_mixture_answer(SEXP pointer, SEXP request) {
  wb_message message;
  open_worker *opened = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
  size_t bytes;
  if (!opened || TYPEOF(request) != RAWSXP) return wb_mixture_closed();
  int status = wb_cluster_answer_size(&opened->worker, RAW_RO(request), (size_t)Rf_xlength(request), &bytes, &message);
  if (status != WB_OK) return wb_failure(status, &message);
  SEXP reply = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)bytes));
  /* The padding after the labels must have a defined value too. */
  memset(RAW(reply), 0, bytes);
  status = wb_cluster_answer(&opened->worker, RAW_RO(request), RAW(reply), &message);
  return wb_finish(reply, status, &message);
}
