/* The entry that joins the components of draws into cell types (mixture/cell_types.h). */
#include "entry/entry.h"

#include <string.h>

#include "entry/mixture/open_mixture.h"
#include "mixture/cell_types.h"

static int are_usable(const wb_mixture_draws *draws) {
  const size_t k = (size_t)draws->components, p = (size_t)draws->columns;
  for (size_t i = 0; i < (size_t)draws->count; i++) {
    const size_t at = (size_t)draws->which[i];
    const double *const weight = draws->weights + i * k, *const mean = draws->means + at * k * p;
    const double *const covariance = draws->covariances + at * k * p * p;
    for (size_t j = 0; j < k; j++)
      if (!(R_FINITE(weight[j]) && weight[j] >= 0)) return 0;
    for (size_t j = 0; j < k * p; j++)
      if (!R_FINITE(mean[j])) return 0;
    for (size_t j = 0; j < k * p * p; j++)
      if (!R_FINITE(covariance[j])) return 0;
  }
  return 1;
}

static SEXP first_of(const void *values, SEXPTYPE type, int rows, int columns) {
  SEXP out = rows > 1 ? Rf_allocMatrix(type, rows, columns) : Rf_allocVector(type, columns);
  const size_t count = (size_t)rows * (size_t)columns;
  if (type == INTSXP) memcpy(INTEGER(out), values, count * sizeof(int));
  else memcpy(REAL(out), values, count * sizeof(double));
  return out;
}

/* weights: components x draws; which: the positions of the draws among all, from 0; averaged: positions among the
 * draws, from 0; rule: floor, log valley, distance. Returns a list of `own` and `leaf` (components x draws; `own` if
 * wanted), `type` and `mass` of the leaves, and `place` (columns x leaves). All count from 1. */
SEXP wb_entry_mixture_types(SEXP weights, SEXP means, SEXP covariances, SEXP columns, SEXP which, SEXP least,
                            SEXP averaged, SEXP rule, SEXP own, SEXP run) {
  wb_message message;
  const int p = Rf_asInteger(columns);
  wb_mixture_draws given;
  if (p < 1 || !wb_mixture_read_draws(weights, means, covariances, which, p, &given) || Rf_xlength(averaged) < 1 ||
      !wb_are_integers(averaged, (double)Rf_xlength(averaged), 0, given.count) || !wb_are_finite(least, 1) ||
      !wb_are_finite(rule, 3) || !are_usable(&given))
    return wb_changed_fit();
  const wb_peaks_rule peaks = {REAL_RO(rule)[0], REAL_RO(rule)[1], REAL_RO(rule)[2]};
  const int32_t count = (int32_t)Rf_xlength(averaged), k = given.components;
  const size_t most = (size_t)count * (size_t)k;
  SEXP out = PROTECT(wb_list_new("own leaf type mass place"));
  wb_mixture_types types = {
      .own = Rf_asLogical(own) == 1 ? INTEGER(wb_list_put(out, "own", Rf_allocMatrix(INTSXP, k, given.count))) : NULL,
      .leaf = INTEGER(wb_list_put(out, "leaf", Rf_allocMatrix(INTSXP, k, given.count))),
      .type = (int32_t *)R_alloc(most, sizeof(int32_t)),
      .mass = (double *)R_alloc(most, sizeof(double)),
      .place = (double *)R_alloc(most * (size_t)p, sizeof(double)),
  };
  wb_call call = wb_call_from_list(run, &message);
  const int status = wb_mixture_find_types(&given, REAL_RO(least)[0], count, INTEGER_RO(averaged), &peaks, &call.run,
                                           &call.poll, &types, &message);
  if (status != WB_OK) return wb_finish(out, status, &message);
  for (size_t i = 0; i < (size_t)k * (size_t)given.count; i++) {
    if (types.own) types.own[i]++;
    types.leaf[i]++;
  }
  for (int32_t i = 0; i < types.leaves; i++) types.type[i]++;
  wb_list_put(out, "type", first_of(types.type, INTSXP, 1, types.leaves));
  wb_list_put(out, "mass", first_of(types.mass, REALSXP, 1, types.leaves));
  wb_list_put(out, "place", first_of(types.place, REALSXP, p, types.leaves));
  return wb_finish(out, WB_OK, NULL);
}
