/* The entry of the assignment problem (numeric/assignment.h). */
#include "entry/entry.h"

#include "numeric/assignment.h"

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
