/* Entries of checkpoints: digests of data, and writing and checking files (checkpoint/file.h). */
#include "entry/entry.h"

#include "checkpoint/file.h"
#include "numeric/digest.h"

static const char *path_from_sexp(SEXP path) {
  return Rf_translateChar(STRING_ELT(path, 0));
}

/* The values of a vector of numbers or bytes and their width, or NULL for any other type. */
static const void *values_of(SEXP vector, size_t *width) {
  switch (TYPEOF(vector)) {
  case REALSXP: *width = sizeof(double); return REAL_RO(vector);
  case INTSXP: *width = sizeof(int); return INTEGER_RO(vector);
  case RAWSXP: *width = 1; return RAW_RO(vector);
  default: return NULL;
  }
}

static SEXP refuse(const char *what) {
  wb_message message;
  wb_message_write(&message, "%s", what);
  return wb_failure(WB_ERROR_INPUT, &message);
}

/* The digests of `values`, cut into pieces of `length` values: raw, 16 bytes a piece. */
SEXP wb_entry_checkpoint_digest(SEXP values, SEXP length) {
  size_t width;
  const unsigned char *const bytes = values_of(values, &width);
  const double size = Rf_asReal(length), total = (double)Rf_xlength(values);
  if (!bytes || !(size >= 0 && size <= total)) return refuse("values that are no numbers or bytes have no digest");
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

/* head: raw. stored: a store of arrays or a list of vectors. Of each array, runs of `run` values, one every `stride`
 * values, are written. */
SEXP wb_entry_checkpoint_write(SEXP temporary, SEXP path, SEXP head, SEXP stored, SEXP stride, SEXP run) {
  SEXP arrays = TYPEOF(stored) == EXTPTRSXP ? wb_store_arrays(stored) : stored;
  const R_xlen_t count = Rf_xlength(arrays);
  wb_checkpoint_part *const part = (wb_checkpoint_part *)R_alloc((size_t)count + 1, sizeof *part);
  const wb_checkpoint_part first = {RAW_RO(head), 1, 1, (size_t)Rf_xlength(head), 0};
  part[0] = first;
  for (R_xlen_t i = 0; i < count; i++) {
    SEXP array = VECTOR_ELT(arrays, i);
    wb_checkpoint_part *const p = part + i + 1;
    p->width = 1;
    p->values = values_of(array, &p->width);
    const double step = REAL_RO(stride)[i], taken = REAL_RO(run)[i];
    if (!p->values || !(step >= 0 && taken >= 0 && taken <= step))
      return refuse("arrays do not have the size or type of what is to be written");
    p->stride = (size_t)step;
    p->run = (size_t)taken;
    p->runs = p->run > 0 ? (size_t)Rf_xlength(array) / p->stride : 0;
  }
  wb_message message;
  const int status = wb_checkpoint_write(path_from_sexp(temporary), path_from_sexp(path), part, (size_t)count + 1,
                                         &message);
  return status == WB_OK ? R_NilValue : wb_failure(status, &message);
}

SEXP wb_entry_checkpoint_is_one(SEXP path) {
  wb_message message;
  const int status = wb_checkpoint_is_one(path_from_sexp(path), &message);
  return status == WB_OK ? R_NilValue : wb_failure(status, &message);
}

/* The sizes of the head and of the file in bytes. */
SEXP wb_entry_checkpoint_verify(SEXP path) {
  uint64_t head, size;
  wb_message message;
  const int status = wb_checkpoint_verify(path_from_sexp(path), &head, &size, &message);
  if (status != WB_OK) return wb_failure(status, &message);
  SEXP result = Rf_allocVector(REALSXP, 2);
  REAL(result)[0] = (double)head;
  REAL(result)[1] = (double)size;
  return result;
}
