/* Values of R: checks of vectors, elements of lists by name, and tables of these. */
#include "entry/fields.h"

#include <string.h>

#include "numeric/digest.h"

SEXP wb_list_new(const char *names) {
  int length = 1;
  for (const char *at = names; *at; at++) length += *at == ' ';
  SEXP list = PROTECT(Rf_allocVector(VECSXP, length));
  SEXP labels = PROTECT(Rf_allocVector(STRSXP, length));
  for (int i = 0; i < length; i++) {
    const size_t width = strcspn(names, " ");
    SET_STRING_ELT(labels, i, Rf_mkCharLen(names, (int)width));
    names += width + (i + 1 < length);
  }
  Rf_setAttrib(list, R_NamesSymbol, labels);
  UNPROTECT(2);
  return list;
}

static R_xlen_t place_of(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return i;
  return -1;
}

SEXP wb_list_element(SEXP list, const char *name) {
  const R_xlen_t place = place_of(list, name);
  return place < 0 ? R_NilValue : VECTOR_ELT(list, place);
}

SEXP wb_list_put(SEXP list, const char *name, SEXP value) {
  PROTECT(value);
  SET_VECTOR_ELT(list, place_of(list, name), value);
  UNPROTECT(1);
  return value;
}

double *wb_list_numbers(SEXP list, const char *name, double length) {
  return REAL(wb_list_put(list, name, Rf_allocVector(REALSXP, (R_xlen_t)length)));
}

double *wb_list_matrix(SEXP list, const char *name, double rows, double columns) {
  return REAL(wb_list_put(list, name, Rf_allocMatrix(REALSXP, (int)rows, (int)columns)));
}

int *wb_list_integers(SEXP list, const char *name, double length) {
  return INTEGER(wb_list_put(list, name, Rf_allocVector(INTSXP, (R_xlen_t)length)));
}

const void *wb_values_of(SEXP vector, size_t *width) {
  switch (TYPEOF(vector)) {
    case REALSXP: *width = sizeof(double); return REAL_RO(vector);
    case INTSXP: *width = sizeof(int); return INTEGER_RO(vector);
    case RAWSXP: *width = 1; return RAW_RO(vector);
    default: return NULL;
  }
}

int wb_is_numbers(SEXP values, double length) {
  return TYPEOF(values) == REALSXP && (double)Rf_xlength(values) == length;
}

int wb_are_integers(SEXP values, double length, double least, double end) {
  if (TYPEOF(values) != INTSXP || (double)Rf_xlength(values) != length) return 0;
  const int *value = INTEGER_RO(values);
  for (R_xlen_t i = 0; i < Rf_xlength(values); i++)
    if (value[i] < least || value[i] >= end) return 0;
  return 1;
}

int wb_is_matrix(SEXP value, double rows) {
  return TYPEOF(value) == REALSXP && Rf_isMatrix(value) && Rf_nrows(value) == rows;
}

int wb_are_finite(SEXP values, double length) {
  if (!wb_is_numbers(values, length)) return 0;
  const double *value = REAL_RO(values);
  const R_xlen_t n = Rf_xlength(values);
  for (R_xlen_t i = 0; i < n; i++)
    if (!R_FINITE(value[i])) return 0;
  return 1;
}

uint64_t wb_key_from_raw(SEXP value) { return wb_whole_from_bytes(RAW_RO(value)); }

SEXP wb_key_to_raw(uint64_t key) {
  SEXP value = Rf_allocVector(RAWSXP, 8);
  wb_whole_to_bytes(key, RAW(value));
  return value;
}

static double length_of(const wb_field *f, const double *size) {
  double length = 1;
  for (int d = 0; d < 3 && f->dim[d] != WB_NONE; d++) {
    if (size[f->dim[d]] < 0) return -1;
    length *= size[f->dim[d]];
  }
  return length;
}

static int fits(SEXP value, const wb_field *f, const double *size) {
  const double length = length_of(f, size);
  if ((SEXPTYPE)TYPEOF(value) != f->type || (length >= 0 && (double)Rf_xlength(value) != length)) return 0;
  if (f->dim[1] != WB_NONE && !(Rf_isMatrix(value) && Rf_nrows(value) == size[f->dim[0]])) return 0;
  return !(f->how & WB_FINITE) || wb_are_finite(value, (double)Rf_xlength(value));
}

static void put(SEXP value, const wb_field *f, void *to) {
  unsigned char *const place = (unsigned char *)to + f->at;
  size_t width = sizeof(int);
  const void *const values = f->type == LGLSXP ? LOGICAL_RO(value) : wb_values_of(value, &width);
  if (!(f->how & WB_COPIED)) {
    memcpy(place, &values, sizeof values);
  } else if (f->type == RAWSXP) {
    const uint64_t key = wb_key_from_raw(value);
    memcpy(place, &key, sizeof key);
  } else {
    memcpy(place, values, (size_t)Rf_xlength(value) * width);
  }
}

int wb_fields_read(SEXP list, const wb_field *field, int count, const double *size, void *to) {
  if (TYPEOF(list) != VECSXP) return 0;
  for (const wb_field *f = field; f < field + count; f++) {
    SEXP value = wb_list_element(list, f->name);
    if (value == R_NilValue && ((f->how & WB_OPTIONAL) || length_of(f, size) == 0)) continue;
    if (!fits(value, f, size)) return 0;
    put(value, f, to);
  }
  return 1;
}

static SEXP array_new(const wb_field *f, const double *size) {
  const double rows = size[f->dim[0]], columns = size[f->dim[1]];
  if (f->dim[1] == WB_NONE) return Rf_allocVector(f->type, (R_xlen_t)rows);
  if (f->dim[2] == WB_NONE) return Rf_allocMatrix(f->type, (int)rows, (int)columns);
  return Rf_alloc3DArray(f->type, (int)rows, (int)columns, (int)size[f->dim[2]]);
}

SEXP wb_fields_new(const wb_field *field, int count, const double *size, void *to) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, count)), names = PROTECT(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; i++) {
    const wb_field *const f = field + i;
    SET_STRING_ELT(names, i, Rf_mkChar(f->name));
    if ((f->how & WB_OPTIONAL) && length_of(f, size) < 0) continue;
    SET_VECTOR_ELT(list, i, array_new(f, size));
    put(VECTOR_ELT(list, i), f, to);
  }
  Rf_setAttrib(list, R_NamesSymbol, names);
  UNPROTECT(2);
  return list;
}

void wb_fields_copy(SEXP from, const wb_field *field, int count, SEXP to) {
  for (int i = 0; i < count; i++) {
    SEXP given = wb_list_element(from, field[i].name), own = VECTOR_ELT(to, i);
    const R_xlen_t length = given == R_NilValue ? 0 : Rf_xlength(given);
    if (length > 0) memcpy(REAL(own), REAL_RO(given), (size_t)length * sizeof(double));
    for (R_xlen_t at = length; at < Rf_xlength(own); at++) REAL(own)[at] = 0;
  }
}
