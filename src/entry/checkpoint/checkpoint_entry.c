/* Entries of checkpoints: digests of data, and writing and checking files (checkpoint/file.h). */
#include "entry/entry.h"

#include <string.h>

#include "checkpoint/file.h"
#include "numeric/digest.h"

static const char *path_from_sexp(SEXP path) { return Rf_translateChar(STRING_ELT(path, 0)); }

/* The digests of `values`, cut into pieces of `length` values: raw, 16 bytes a piece. */
SEXP wb_entry_checkpoint_digest(SEXP values, SEXP length) {
  size_t width;
  const unsigned char *const bytes = wb_values_of(values, &width);
  const double size = Rf_asReal(length), total = (double)Rf_xlength(values);
  if (!bytes || !(size >= 0 && size <= total)) return wb_refuse("values that are no numbers or bytes have no digest");
  const R_xlen_t piece = (R_xlen_t)size, pieces = piece > 0 ? Rf_xlength(values) / piece : 1;
  SEXP result = PROTECT(Rf_allocVector(RAWSXP, pieces * WB_DIGEST_BYTES));
  for (R_xlen_t i = 0; i < pieces; i++) {
    wb_digest digest;
    wb_digest_start(&digest);
    wb_digest_add(&digest, bytes + (size_t)(i * piece) * width, (size_t)piece, width);
    wb_digest_end(&digest, RAW(result) + i * WB_DIGEST_BYTES);
  }
  UNPROTECT(1);
  return result;
}

/* head: raw. values: vectors, written whole. stored: a store, or vectors: runs of `run` values, one every `stride`. */
SEXP wb_entry_checkpoint_write(SEXP path, SEXP head, SEXP values, SEXP stored, SEXP stride, SEXP run) {
  SEXP arrays = TYPEOF(stored) == EXTPTRSXP ? wb_store_arrays(stored) : stored;
  const R_xlen_t first = Rf_xlength(values) + 1, count = first + Rf_xlength(arrays);
  wb_checkpoint_part *const part = (wb_checkpoint_part *)R_alloc((size_t)count, sizeof *part);
  for (R_xlen_t i = 0; i < count; i++) {
    SEXP array = i == 0 ? head : i < first ? VECTOR_ELT(values, i - 1) : VECTOR_ELT(arrays, i - first);
    const double length = (double)Rf_xlength(array);
    const double step = i < first ? length : REAL_RO(stride)[i - first],
                 taken = i < first ? length : REAL_RO(run)[i - first];
    wb_checkpoint_part *const p = part + i;
    p->width = 1;
    p->values = wb_values_of(array, &p->width);
    if (!p->values || !(step >= 0 && taken >= 0 && taken <= step))
      return wb_refuse("arrays do not have the size or type of what is to be written");
    p->stride = (size_t)step;
    p->run = (size_t)taken;
    p->runs = p->run > 0 ? (size_t)length / p->stride : 0;
  }
  wb_message message;
  const int status = wb_checkpoint_write(path_from_sexp(path), part, (size_t)count, &message);
  return status == WB_OK ? R_NilValue : wb_failure(status, &message);
}

/* Opens the file again: it must be the one that has this digest. */
static int open_same(wb_checkpoint_reader *reader, SEXP path, const unsigned char *digest, wb_message *message) {
  WB_TRY(wb_checkpoint_open(reader, path_from_sexp(path), message));
  if (memcmp(reader->digest, digest, WB_DIGEST_BYTES) == 0) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "changed while it was read");
}

static int skip_head(wb_checkpoint_reader *reader, wb_message *message) {
  unsigned char skipped[1 << 12];
  int status = WB_OK;
  for (uint64_t left = reader->head; left > 0 && status == WB_OK;) {
    const size_t now = left < sizeof skipped ? (size_t)left : sizeof skipped;
    status = wb_checkpoint_read(reader, skipped, now, 1, message);
    left -= now;
  }
  return status;
}

static SEXP check(int (*of_path)(const char *path, wb_message *message), SEXP path) {
  wb_message message;
  const int status = of_path(path_from_sexp(path), &message);
  return status == WB_OK ? R_NilValue : wb_failure(status, &message);
}

SEXP wb_entry_checkpoint_is_one(SEXP path) { return check(wb_checkpoint_is_one, path); }

SEXP wb_entry_checkpoint_try(SEXP path) { return check(wb_checkpoint_try, path); }

/* Returns what wb_entry_checkpoint_free() needs. */
SEXP wb_entry_checkpoint_hold(SEXP path) {
  wb_message message;
  int lock;
  const int status = wb_checkpoint_hold(path_from_sexp(path), &lock, &message);
  return status == WB_OK ? Rf_ScalarInteger(lock) : wb_failure(status, &message);
}

SEXP wb_entry_checkpoint_free(SEXP path, SEXP lock) {
  wb_checkpoint_free(path_from_sexp(path), Rf_asInteger(lock));
  return R_NilValue;
}

/* A verified checkpoint's head, digest and size. R's memory is allocated with no file open, since R may jump. */
SEXP wb_entry_checkpoint_head(SEXP path) {
  wb_message message;
  wb_checkpoint_reader reader;
  int status = wb_checkpoint_open(&reader, path_from_sexp(path), &message);
  const uint64_t bytes = status == WB_OK ? reader.head : 0, size = reader.size;
  unsigned char digest[WB_DIGEST_BYTES];
  if (status == WB_OK) memcpy(digest, reader.digest, sizeof digest);
  status = wb_checkpoint_close(&reader, status, &message);
  if (status != WB_OK) return wb_failure(status, &message);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3)), head = Rf_allocVector(RAWSXP, (R_xlen_t)bytes);
  SET_VECTOR_ELT(result, 0, head);
  SET_VECTOR_ELT(result, 1, Rf_allocVector(RAWSXP, WB_DIGEST_BYTES));
  SET_VECTOR_ELT(result, 2, Rf_ScalarReal((double)size));
  memcpy(RAW(VECTOR_ELT(result, 1)), digest, sizeof digest);
  status = open_same(&reader, path, digest, &message);
  if (status == WB_OK) status = wb_checkpoint_read(&reader, RAW(head), (size_t)bytes, 1, &message);
  status = wb_checkpoint_close(&reader, status, &message);
  return wb_finish(result, status, &message);
}

/* The arrays after the head: vectors of these types ("double", "integer", "raw") and lengths. `digest`: the file's. */
SEXP wb_entry_checkpoint_arrays(SEXP path, SEXP digest, SEXP types, SEXP lengths) {
  const R_xlen_t count = Rf_xlength(types);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t i = 0; i < count; i++) {
    const char first = CHAR(STRING_ELT(types, i))[0];
    const SEXPTYPE type = first == 'd' ? REALSXP : first == 'i' ? INTSXP : RAWSXP;
    SET_VECTOR_ELT(result, i, Rf_allocVector(type, (R_xlen_t)REAL_RO(lengths)[i]));
  }
  wb_message message;
  wb_checkpoint_reader reader;
  int status = open_same(&reader, path, RAW_RO(digest), &message);
  if (status == WB_OK) status = skip_head(&reader, &message);
  for (R_xlen_t i = 0; i < count && status == WB_OK; i++) {
    SEXP array = VECTOR_ELT(result, i);
    size_t width;
    void *const values = (void *)wb_values_of(array, &width);
    status = wb_checkpoint_read(&reader, values, (size_t)Rf_xlength(array), width, &message);
  }
  status = wb_checkpoint_close(&reader, status, &message);
  return wb_finish(result, status, &message);
}
