/* Entries for numbers of any topic. */
#include "entry/entry.h"

#include "numeric/log_add.h"
#include "numeric/matrix_scan.h"

/* x: a double matrix with at least one row. Returns a list of `first` (the row and the
 * column, from 1, of the first value that is not finite, or 0, 0), `count` (how many
 * such values there are), and for each column `mean`, `sd`, `min`, `max`. */
SEXP wb_entry_matrix_scan(SEXP x) {
  static const char *names[] = {"first", "count", "mean", "sd", "min", "max", ""};
  const int *dim = INTEGER_RO(Rf_getAttrib(x, R_DimSymbol));
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP first = Rf_allocVector(REALSXP, 2);
  SET_VECTOR_ELT(result, 0, first);
  for (int i = 2; i < 6; i++) {
    SET_VECTOR_ELT(result, i, Rf_allocVector(REALSXP, dim[1]));
  }
  wb_matrix_scan scan;
  wb_matrix_scan_columns(REAL_RO(x), dim[0], dim[1], REAL(VECTOR_ELT(result, 2)),
                         REAL(VECTOR_ELT(result, 3)), REAL(VECTOR_ELT(result, 4)),
                         REAL(VECTOR_ELT(result, 5)), &scan);
  REAL(first)[0] = (double)(scan.row + 1);
  REAL(first)[1] = (double)(scan.column + 1);
  SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)scan.not_finite));
  UNPROTECT(1);
  return result;
}

/* log(exp(a) + exp(b)) of each pair. */
SEXP wb_entry_log_add(SEXP a, SEXP b, SEXP run) {
  const wb_backend *backend;
  wb_run settings;
  wb_run_from_list(run, &settings, &backend);
  SEXP sum = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(a)));
  wb_log_add(settings.isa, Rf_xlength(a), REAL_RO(a), REAL_RO(b), REAL(sum));
  UNPROTECT(1);
  return sum;
}
