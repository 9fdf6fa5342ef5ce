/* Entries of Polya-Gamma variables (polyagamma/polyagamma.h). R code has checked the values. */
#include "entry/entry.h"

#include "polyagamma/polyagamma.h"

SEXP wb_entry_polyagamma_draw(SEXP count, SEXP shape, SEXP tilt, SEXP method, SEXP seed, SEXP run) {
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  SEXP draws = PROTECT(wb_result_new(REALSXP, wb_size_from_sexp(count)));
  const int status = wb_polyagamma_fill(&call, Rf_xlength(draws), REAL_RO(shape), Rf_xlength(shape), REAL_RO(tilt),
                                        Rf_xlength(tilt), Rf_asInteger(method), wb_whole_from_sexp(seed), REAL(draws));
  return wb_finish(draws, status, &message);
}

SEXP wb_entry_polyagamma_any_nan(SEXP draws, SEXP run) {
  const wb_call call = wb_call_from_list(run, NULL);
  return Rf_ScalarLogical(wb_polyagamma_any_nan(&call, Rf_xlength(draws), REAL_RO(draws)));
}

/* x, shape and tilt have the same length. */
SEXP wb_entry_polyagamma_law(SEXP x, SEXP shape, SEXP tilt, SEXP quantity, SEXP log, SEXP run) {
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  SEXP value = PROTECT(wb_result_new(REALSXP, Rf_xlength(x)));
  const wb_polyagamma_points points = {
      .count = Rf_xlength(x),
      .x = REAL_RO(x),
      .shape = REAL_RO(shape),
      .tilt = REAL_RO(tilt),
      .quantity = Rf_asInteger(quantity),
      .log = Rf_asLogical(log),
      .value = REAL(value),
  };
  const int status = wb_polyagamma_values(&call, &points);
  return wb_finish(value, status, &message);
}

/* All arguments have the same length; orders are whole numbers from 1 to 20, or NaN. */
SEXP wb_entry_polyagamma_cumulant(SEXP shape, SEXP tilt, SEXP order) {
  SEXP value = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(shape)));
  wb_polyagamma_cumulants(Rf_xlength(shape), REAL_RO(shape), REAL_RO(tilt), REAL_RO(order), REAL(value));
  return wb_finish(value, WB_OK, NULL);
}
