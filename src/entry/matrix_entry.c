/* Entries that scan a matrix for values that are not finite and for the moments of its columns
 * (numeric/matrix_scan.h), and that find medians of groups of its rows (numeric/medians.h). */
#include "entry/entry.h"

#include <string.h>

#include "numeric/matrix_scan.h"
#include "numeric/medians.h"
#include "numeric/memory.h"

/* How many numbers the moments of a column are. */
#define MOMENTS ((int)(sizeof(wb_matrix_moments) / sizeof(double)))

/* See wb_entry_matrix_scan_part(). */
static SEXP scan_part(SEXP x, SEXP moments, int64_t first_row, int32_t threads) {
  static const char *const names[] = {"first", "count", "moments"};
  const int *dim = INTEGER_RO(Rf_getAttrib(x, R_DimSymbol));
  const int has_moments = !Rf_isNull(moments);
  if (has_moments && !wb_is_numbers(moments, (double)dim[1] * MOMENTS)) return wb_changed_fit();
  SEXP result = PROTECT(wb_list_new(3, names));
  double *first = REAL(wb_list_put(result, "first", Rf_allocVector(REALSXP, 2)));
  double *all = REAL(wb_list_put(result, "moments", Rf_allocMatrix(REALSXP, MOMENTS, dim[1])));
  const size_t bytes = (size_t)dim[1] * sizeof(wb_matrix_moments);
  if (has_moments) memcpy(all, REAL_RO(moments), bytes);
  else memset(all, 0, bytes);
  wb_matrix_scan *columns = (wb_matrix_scan *)R_alloc((size_t)dim[1], sizeof *columns);
  wb_matrix_scan_rows(REAL_RO(x), dim[0], dim[1], first_row, threads, (wb_matrix_moments *)all, columns);
  const wb_matrix_scan scan = wb_matrix_scan_join(columns, dim[1]);
  first[0] = (double)(scan.row + 1);
  first[1] = (double)(scan.column + 1);
  wb_list_put(result, "count", Rf_ScalarReal((double)scan.not_finite));
  UNPROTECT(1);
  return result;
}

/* x: a double matrix with at least one row. Returns a list of `first` (row and column, from 1, of the first value that
 * is not finite, or 0, 0), `count` (the number of such values), and for each column `mean`, `sd`, `min`, `max`. */
SEXP wb_entry_matrix_scan(SEXP x, SEXP threads) {
  static const char *const names[] = {"first", "count", "mean", "sd", "min", "max"};
  SEXP part = PROTECT(scan_part(x, R_NilValue, 0, Rf_asInteger(threads)));
  SEXP columns = PROTECT(wb_entry_matrix_scan_finish(wb_list_element(part, "moments")));
  SEXP result = PROTECT(wb_list_new(6, names));
  for (int i = 0; i < 6; i++) SET_VECTOR_ELT(result, i, i < 2 ? VECTOR_ELT(part, i) : VECTOR_ELT(columns, i - 2));
  UNPROTECT(3);
  return result;
}

/* x: as above, or a part of the data after `first_row` rows. moments: NULL for the first part, else the `moments` of
 * the previous part. Returns a list of `first` and `count`, as above, and `moments`, one column for each column of
 * x. */
SEXP wb_entry_matrix_scan_part(SEXP x, SEXP moments, SEXP first_row) {
  return scan_part(x, moments, wb_size_from_sexp(first_row), 1);
}

/* `mean`, `sd`, `min` and `max` of each column, from the moments of all rows. */
SEXP wb_entry_matrix_scan_finish(SEXP moments) {
  static const char *const names[] = {"mean", "sd", "min", "max"};
  if (!wb_is_matrix(moments, MOMENTS)) return wb_changed_fit();
  const int columns = Rf_ncols(moments);
  SEXP result = PROTECT(wb_list_new(4, names));
  double *values[4];
  for (int i = 0; i < 4; i++) values[i] = REAL(wb_list_put(result, names[i], Rf_allocVector(REALSXP, columns)));
  wb_matrix_scan_finish((const wb_matrix_moments *)REAL_RO(moments), columns, values[0], values[1], values[2],
                        values[3]);
  UNPROTECT(1);
  return result;
}

/* The medians (groups x columns) of columns first, first + 1, ... (from 1) of a matrix of doubles over the rows of each
 * group, without NA. group: of each row, from 1. */
SEXP wb_entry_matrix_group_medians(SEXP x, SEXP first, SEXP columns, SEXP group, SEXP groups, SEXP threads) {
  wb_message message;
  const double rows = TYPEOF(x) == REALSXP && Rf_isMatrix(x) ? Rf_nrows(x) : -1;
  const double begin = Rf_asInteger(first), count = Rf_asInteger(columns), most = Rf_asInteger(groups);
  if (rows < 0 || begin < 1 || count < 1 || begin + count - 1 > Rf_ncols(x) || most < 1 ||
      !wb_are_integers(group, rows, 1, most + 1))
    return wb_changed_fit();
  const double *const from = REAL_RO(x) + (size_t)(begin - 1) * (size_t)rows;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)most, (int)count));
  const int found = wb_group_medians(from, (int64_t)rows, (int32_t)count, INTEGER_RO(group), (int32_t)most,
                                     Rf_asInteger(threads), REAL(out));
  const int status =
      found ? WB_OK : wb_out_of_memory(&message, "the values of a column", (size_t)rows * sizeof(double));
  return wb_finish(out, status, &message);
}
