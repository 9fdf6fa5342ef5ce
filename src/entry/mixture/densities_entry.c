/* Adds up densities over draws, and chooses the most probable type (mixture/densities.c). */
#include "entry/mixture/open_mixture.h"

#include <string.h>

#include "mixture/mixture.h"

int wb_mixture_read_draws(SEXP weights, SEXP means, SEXP covariances, SEXP which, int p, wb_mixture_draws *to) {
  const double draws = TYPEOF(which) == INTSXP ? (double)Rf_xlength(which) : 0;
  const double components = draws > 0 ? (double)Rf_xlength(weights) / draws : 0;
  const double all = components > 0 && TYPEOF(means) == REALSXP ? (double)Rf_xlength(means) / components / p : 0;
  if (components < 1 || components > INT32_MAX || components != (double)(int32_t)components ||
      !wb_is_numbers(weights, components * draws) || !wb_is_numbers(means, components * p * all) ||
      !wb_is_numbers(covariances, components * p * p * all) || !wb_are_integers(which, draws, 0, all))
    return 0;
  *to = (wb_mixture_draws){(int32_t)draws,       (int32_t)components, p, REAL_RO(weights), REAL_RO(means),
                           REAL_RO(covariances), INTEGER_RO(which)};
  return 1;
}

/* Adds the densities of rows first, first + 1, ... (from 0) to those whose logs are `total`, one for each of these
 * rows. weights: components x the draws to add. `which`: the positions of these draws, from 0, in `means` and
 * `covariances`, which have all draws. log_unit: one number, or one for each row. */
SEXP wb_entry_mixture_add_densities(SEXP pointer, SEXP weights, SEXP means, SEXP covariances, SEXP which, SEXP center,
                                    SEXP inverse_scale, SEXP first, SEXP total, SEXP log_unit, SEXP run) {
  wb_message message;
  const open_mixture *const opened = wb_mixture_from_sexp(pointer);
  if (!opened) return wb_mixture_closed();
  const double p = opened->columns, rows = TYPEOF(total) == REALSXP ? (double)Rf_xlength(total) : -1;
  const double begin = TYPEOF(first) == REALSXP && Rf_xlength(first) == 1 ? REAL_RO(first)[0] : -1;
  wb_mixture_draws given;
  if (!wb_mixture_read_draws(weights, means, covariances, which, opened->columns, &given) ||
      !wb_is_numbers(center, p) || !wb_is_numbers(inverse_scale, p) || !(begin >= 0) || rows < 1 ||
      begin + rows > (double)opened->rows || !(wb_is_numbers(log_unit, 1) || wb_is_numbers(log_unit, rows)))
    return wb_changed_fit();
  SEXP out = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(total)));
  memcpy(REAL(out), REAL_RO(total), (size_t)Rf_xlength(total) * sizeof(double));
  const int32_t threads = wb_call_from_list(run, NULL).run.threads;
  const int status = wb_mixture_add_densities(opened->backend, opened->session, threads, &given, REAL_RO(center),
                                              REAL_RO(inverse_scale), (int64_t)begin, Rf_xlength(total),
                                              REAL_RO(log_unit), Rf_xlength(log_unit), REAL(out), &message);
  return wb_finish(out, status, &message);
}

/* log_density: a vector of the same rows for each type. Returns the most probable type, from 1, and its probability. */
SEXP wb_entry_mixture_most_probable(SEXP log_density, SEXP run) {
  const R_xlen_t types = TYPEOF(log_density) == VECSXP ? Rf_xlength(log_density) : 0;
  const R_xlen_t rows = types > 0 ? Rf_xlength(VECTOR_ELT(log_density, 0)) : 0;
  if (types < 1 || types > INT32_MAX) return wb_changed_fit();
  const double **const values = (const double **)R_alloc((size_t)types, sizeof(double *));
  for (R_xlen_t t = 0; t < types; t++) {
    if (!wb_is_numbers(VECTOR_ELT(log_density, t), (double)rows)) return wb_changed_fit();
    values[t] = REAL_RO(VECTOR_ELT(log_density, t));
  }
  SEXP out = PROTECT(wb_list_new("type probability"));
  int *const type = wb_list_integers(out, "type", (double)rows);
  double *const probability = wb_list_numbers(out, "probability", (double)rows);
  const wb_run how = wb_call_from_list(run, NULL).run;
  wb_mixture_most_probable(how.isa, how.threads, rows, (int32_t)types, values, type, probability);
  for (R_xlen_t i = 0; i < rows; i++) type[i]++;
  return wb_finish(out, WB_OK, NULL);
}
