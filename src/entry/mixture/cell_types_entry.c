/* Entries that join the components of a mixture into cell types (mixture/cell_types.h). */
#include "entry/entry.h"

#include <string.h>

#include "mixture/cell_types.h"

/* weights: k; means: k x p; covariances: p x p x k. Returns a k x k matrix, in pooled standard deviations. */
SEXP wb_entry_mixture_separation(SEXP weights, SEXP means, SEXP covariances) {
  wb_message message;
  if (!Rf_isMatrix(means)) return wb_changed_fit();
  const int k = Rf_nrows(means), p = Rf_ncols(means);
  const double numbers = (double)k * p;
  if (!wb_are_finite(weights, k) || !wb_are_finite(means, numbers) || !wb_are_finite(covariances, numbers * p))
    return wb_changed_fit();
  SEXP separation = PROTECT(Rf_allocMatrix(REALSXP, k, k));
  const int status = wb_mixture_separation(k, p, REAL_RO(weights), REAL_RO(means), REAL_RO(covariances),
                                           REAL(separation), &message);
  UNPROTECT(1);
  return status == WB_OK ? separation : wb_failure(status, &message);
}

/* overlap: k x k; size: k. Returns a list of the k - 1 joins in order: `first`, `second` (from 1) and `level`. */
SEXP wb_entry_mixture_join_types(SEXP overlap, SEXP size) {
  static const char *const names[] = {"first", "second", "level"};
  const size_t k = (size_t)Rf_xlength(size);
  if (k < 1 || !wb_are_finite(size, (double)k) || !wb_are_finite(overlap, (double)k * (double)k))
    return wb_changed_fit();
  double *mass = (double *)R_alloc(k * k + k, sizeof(double));
  memcpy(mass, REAL_RO(overlap), k * k * sizeof(double));
  memcpy(mass + k * k, REAL_RO(size), k * sizeof(double));
  SEXP out = PROTECT(wb_list_new(3, names));
  const R_xlen_t steps = (R_xlen_t)k - 1;
  int *first = INTEGER(wb_list_put(out, "first", Rf_allocVector(INTSXP, steps)));
  int *second = INTEGER(wb_list_put(out, "second", Rf_allocVector(INTSXP, steps)));
  double *level = REAL(wb_list_put(out, "level", Rf_allocVector(REALSXP, steps)));
  wb_mixture_join_types((int32_t)k, mass, mass + k * k, first, second, level,
                        R_alloc(k, sizeof(double) + sizeof(int32_t)));
  for (R_xlen_t i = 0; i < steps; i++) {
    first[i]++;
    second[i]++;
  }
  UNPROTECT(1);
  return out;
}
