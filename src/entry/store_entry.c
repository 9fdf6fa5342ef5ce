/* Stores: arrays that are filled piece by piece during a run. An external pointer keeps them as its protected value. R
 * code sees none of them until the store hands them over and drops them: no value that R code holds ever changes. */
#include "entry/entry.h"

#include <string.h>

static SEXP store_tag(void) { return Rf_install("warpbayes_store"); }

SEXP wb_store_arrays(SEXP store) {
  const int is_store = TYPEOF(store) == EXTPTRSXP && R_ExternalPtrTag(store) == store_tag();
  return is_store ? R_ExternalPtrProtected(store) : R_NilValue;
}

static SEXP closed(void) { return wb_refuse("the store of draws and traces is closed"); }

static void fill(SEXP array, SEXP value) {
  const R_xlen_t length = XLENGTH(array);
  if (TYPEOF(array) == INTSXP) {
    int *const to = INTEGER(array), blank = INTEGER_RO(value)[0];
    for (R_xlen_t k = 0; k < length; k++) to[k] = blank;
  } else {
    double *const to = REAL(array), blank = REAL_RO(value)[0];
    for (R_xlen_t k = 0; k < length; k++) to[k] = blank;
  }
}

/* blank: a named list of the value, one integer or double, that fills each array. dim: a list of their dimensions, one
 * number for a vector. dimnames: a list of the dimnames of each array, or NULL. */
SEXP wb_entry_store_open(SEXP blank, SEXP dim, SEXP dimnames) {
  const R_xlen_t count = Rf_xlength(blank);
  SEXP arrays = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t i = 0; i < count; i++) {
    SEXP value = VECTOR_ELT(blank, i), size = PROTECT(Rf_coerceVector(VECTOR_ELT(dim, i), REALSXP));
    double length = 1;
    for (int d = 0; d < LENGTH(size); d++) length *= REAL_RO(size)[d];
    SEXP array = Rf_allocVector(TYPEOF(value), (R_xlen_t)length);
    SET_VECTOR_ELT(arrays, i, array);
    fill(array, value);
    /* A vector may have more elements than an integer counts. */
    if (LENGTH(size) > 1) {
      Rf_setAttrib(array, R_DimSymbol, size);
      Rf_setAttrib(array, R_DimNamesSymbol, VECTOR_ELT(dimnames, i));
    }
    UNPROTECT(1);
  }
  Rf_setAttrib(arrays, R_NamesSymbol, Rf_getAttrib(blank, R_NamesSymbol));
  SEXP store = R_MakeExternalPtr(NULL, store_tag(), arrays);
  UNPROTECT(1);
  return store;
}

/* How an array's values are copied: runs of `run`, one in `value_stride`, to places `stride` apart from `offset` on. */
typedef struct copy {
  R_xlen_t offset, stride, value_stride, run, runs;
} copy;

static copy copy_from_sexp(R_xlen_t i, SEXP values, SEXP offset, SEXP stride, SEXP value_stride, SEXP run) {
  copy c = {(R_xlen_t)REAL_RO(offset)[i], (R_xlen_t)REAL_RO(stride)[i], (R_xlen_t)REAL_RO(value_stride)[i],
            (R_xlen_t)REAL_RO(run)[i], 0};
  if (c.run > 0 && c.value_stride > 0) c.runs = Rf_xlength(values) / c.value_stride;
  return c;
}

static int copy_fits(const copy *c, SEXP array, SEXP values) {
  if (TYPEOF(array) != TYPEOF(values) || (TYPEOF(array) != INTSXP && TYPEOF(array) != REALSXP)) return 0;
  if (c->run < 0 || c->offset < 0 || c->stride < 0 || c->run > c->value_stride) return 0;
  return c->runs == 0 || c->offset + (c->runs - 1) * c->stride + c->run <= Rf_xlength(array);
}

static void copy_values(const copy *c, SEXP array, SEXP values) {
  for (R_xlen_t i = 0; i < c->runs; i++) {
    const R_xlen_t to = c->offset + i * c->stride, from = i * c->value_stride;
    if (TYPEOF(array) == INTSXP) memcpy(INTEGER(array) + to, INTEGER_RO(values) + from, (size_t)c->run * sizeof(int));
    else memcpy(REAL(array) + to, REAL_RO(values) + from, (size_t)c->run * sizeof(double));
  }
}

/* Copies values to their places in the arrays of a store that `which` numbers, from 1. `values` is a list; offset,
 * stride, value_stride and run are doubles, one for each of these arrays. Nothing is copied unless all fits. */
SEXP wb_entry_store_fill(SEXP store, SEXP which, SEXP offset, SEXP stride, SEXP values, SEXP value_stride, SEXP run) {
  SEXP arrays = wb_store_arrays(store);
  if (arrays == R_NilValue) return closed();
  const R_xlen_t count = Rf_xlength(which);
  const int *const number = INTEGER_RO(which);
  int fits = Rf_xlength(values) == count;
  for (R_xlen_t i = 0; fits && i < count; i++) {
    const copy c = copy_from_sexp(i, VECTOR_ELT(values, i), offset, stride, value_stride, run);
    fits = number[i] >= 1 && number[i] <= Rf_xlength(arrays) &&
           copy_fits(&c, VECTOR_ELT(arrays, number[i] - 1), VECTOR_ELT(values, i));
  }
  if (!fits) return wb_refuse("draws or traces do not have the size or type of the arrays that they are kept in");
  for (R_xlen_t i = 0; i < count; i++) {
    const copy c = copy_from_sexp(i, VECTOR_ELT(values, i), offset, stride, value_stride, run);
    copy_values(&c, VECTOR_ELT(arrays, number[i] - 1), VECTOR_ELT(values, i));
  }
  return R_NilValue;
}

SEXP wb_entry_store_copy(SEXP store) {
  SEXP arrays = wb_store_arrays(store);
  return arrays == R_NilValue ? closed() : Rf_duplicate(arrays);
}

/* Hands the arrays over and closes the store. */
SEXP wb_entry_store_close(SEXP store) {
  SEXP arrays = PROTECT(wb_store_arrays(store));
  if (arrays != R_NilValue) R_SetExternalPtrProtected(store, R_NilValue);
  UNPROTECT(1);
  return arrays == R_NilValue ? closed() : arrays;
}
