/* Entries that take a matrix: see numeric/matrix_scan.h, numeric/group_statistics.h and numeric/assignment.h. */
#include "entry/entry.h"

#include <math.h>
#include <string.h>

#include "numeric/assignment.h"
#include "numeric/group_statistics.h"
#include "numeric/matrix_scan.h"
#include "numeric/memory.h"

#define MOMENTS ((int)(sizeof(wb_matrix_moments) / sizeof(double)))

static SEXP scan_part(SEXP x, SEXP moments, int64_t first_row, int32_t threads) {
  const int *dim = INTEGER_RO(Rf_getAttrib(x, R_DimSymbol));
  const int has_moments = !Rf_isNull(moments);
  if (has_moments && !wb_is_numbers(moments, (double)dim[1] * MOMENTS)) return wb_changed_fit();
  SEXP result = PROTECT(wb_list_new("first count moments"));
  double *first = wb_list_numbers(result, "first", 2);
  double *all = wb_list_matrix(result, "moments", MOMENTS, dim[1]);
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
  SEXP part = PROTECT(scan_part(x, R_NilValue, 0, Rf_asInteger(threads)));
  SEXP columns = PROTECT(wb_entry_matrix_scan_finish(wb_list_element(part, "moments")));
  SEXP result = PROTECT(wb_list_new("first count mean sd min max"));
  for (int i = 0; i < 6; i++) SET_VECTOR_ELT(result, i, i < 2 ? VECTOR_ELT(part, i) : VECTOR_ELT(columns, i - 2));
  UNPROTECT(3);
  return result;
}

/* x: as above, or a part of the data after `first_row` rows. moments: NULL for the first part, else the `moments` of
 * the previous part. Returns `first` and `count`, as above, and `moments`, a column for each column of x. */
SEXP wb_entry_matrix_scan_part(SEXP x, SEXP moments, SEXP first_row) {
  return scan_part(x, moments, wb_size_from_sexp(first_row), 1);
}

/* `mean`, `sd`, `min` and `max` of each column, from the moments of all rows. */
SEXP wb_entry_matrix_scan_finish(SEXP moments) {
  if (!wb_is_matrix(moments, MOMENTS)) return wb_changed_fit();
  const int columns = Rf_ncols(moments);
  SEXP result = PROTECT(wb_list_new("mean sd min max"));
  double *const mean = wb_list_numbers(result, "mean", columns), *const sd = wb_list_numbers(result, "sd", columns);
  wb_matrix_scan_finish((const wb_matrix_moments *)REAL_RO(moments), columns, mean, sd,
                        wb_list_numbers(result, "min", columns), wb_list_numbers(result, "max", columns));
  return wb_finish(result, WB_OK, NULL);
}

static int are_parts(SEXP order, SEXP end, double rows) {
  const double parts = (double)Rf_xlength(end);
  if (!wb_are_integers(order, rows, 1, rows + 1) || parts < 1 || !wb_are_integers(end, parts, 0, rows + 1)) return 0;
  const int *const place = INTEGER_RO(end);
  for (int i = 1; i < (int)parts; i++)
    if (place[i] < place[i - 1]) return 0;
  return place[(int)parts - 1] == (int)rows;
}

/* x: a matrix of doubles, of which `columns` counts from 1. order: the rows of the first part, then of the second, and
 * so on; end: where each part ends. group: rows x draws, from 1 to `groups`. statistic: whether means are asked for,
 * and the least number of values. Returns a list of `value` and `variance`, groups x parts x draws x columns. */
SEXP wb_entry_matrix_group_statistics(SEXP x, SEXP columns, SEXP order, SEXP end, SEXP group, SEXP groups,
                                      SEXP statistic, SEXP threads) {
  wb_message message;
  const double rows = TYPEOF(x) == REALSXP && Rf_isMatrix(x) ? Rf_nrows(x) : 0;
  const double most = Rf_asInteger(groups), draws = rows > 0 ? floor((double)Rf_xlength(group) / rows) : 0;
  const double count = (double)Rf_xlength(columns);
  if (rows < 1 || draws < 1 || most < 1 || !wb_are_integers(columns, count, 1, (double)Rf_ncols(x) + 1) ||
      !are_parts(order, end, rows) || !wb_are_integers(group, rows * draws, 1, most + 1) ||
      !wb_are_finite(statistic, 2))
    return wb_changed_fit();
  const wb_grouping grouping = {.rows = (int64_t)rows,
                                .parts = (int32_t)Rf_xlength(end),
                                .draws = (int32_t)draws,
                                .groups = (int32_t)most,
                                .order = INTEGER_RO(order),
                                .end = INTEGER_RO(end),
                                .group = INTEGER_RO(group)};
  const double length = most * grouping.parts * draws * count;
  SEXP out = PROTECT(wb_list_new("value variance"));
  double *const value = wb_list_numbers(out, "value", length);
  double *const variance = wb_list_numbers(out, "variance", length);
  const double *const how = REAL_RO(statistic);
  const int found = wb_group_statistics(REAL_RO(x), INTEGER_RO(columns), (int32_t)count, &grouping, how[0] != 0,
                                        (int64_t)how[1], Rf_asInteger(threads), value, variance);
  if (found) return wb_finish(out, WB_OK, NULL);
  return wb_finish(out, wb_out_of_memory(&message, "the values of a column", (size_t)rows * sizeof(double)), &message);
}

/* cost: n x n finite numbers (a NaN cost has no nearest task). Returns the column of each row, from 1. */
SEXP wb_entry_assignment_solve(SEXP cost) {
  const int n = Rf_isMatrix(cost) ? Rf_ncols(cost) : 0;
  if (n < 1 || Rf_nrows(cost) != n || !wb_are_finite(cost, (double)n * n)) return wb_changed_fit();
  /* R's matrices are stored by columns, so columns are the agents. */
  int32_t *row = (int32_t *)R_alloc((size_t)n, sizeof(int32_t));
  wb_assignment_solve(n, REAL_RO(cost), row, R_alloc(wb_assignment_memory(n), 1));
  SEXP column = PROTECT(Rf_allocVector(INTSXP, n));
  for (int i = 0; i < n; i++) INTEGER(column)[row[i]] = i + 1;
  UNPROTECT(1);
  return column;
}
