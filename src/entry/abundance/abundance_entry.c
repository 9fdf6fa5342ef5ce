/* The entry of the model of numbers of cells by type and sample (abundance/abundance.h). */
#include "entry/entry.h"

#include "abundance/abundance.h"

static int is_group(SEXP group, R_xlen_t samples, int *groups) {
  *groups = 0;
  if (group == R_NilValue) return 1;
  if (TYPEOF(group) != INTSXP || Rf_xlength(group) != samples) return 0;
  for (R_xlen_t s = 0; s < samples; s++) {
    const int own = INTEGER_RO(group)[s];
    if (own < 0 || own >= samples) return 0;
    if (own >= *groups) *groups = own + 1;
  }
  return 1;
}

/* counts: types x samples; totals: samples; design: samples x columns; group: the group of each sample from 0, or NULL.
 * prior: mean and precision of the coefficients, and `deviation`, which has freedom, level (2) and slope (2). Returns
 * the kept sweeps of a chain: arrays of columns x types x kept, and others as in abundance/abundance.h. */
SEXP wb_entry_abundance_run(SEXP counts, SEXP totals, SEXP design, SEXP group, SEXP prior, SEXP key, SEXP sweeps,
                            SEXP run) {
  static const char *const names[] = {"coefficients", "mean", "variance", "deviation", "scale", "log_likelihood"};
  if (TYPEOF(prior) != VECSXP || !Rf_isMatrix(counts) || !Rf_isMatrix(design)) return wb_changed_fit();
  const int types = Rf_nrows(counts), samples = Rf_ncols(counts), columns = Rf_ncols(design);
  SEXP mean = wb_list_element(prior, "mean"), precision = wb_list_element(prior, "precision");
  SEXP deviation = wb_list_element(prior, "deviation");
  int groups;
  if (types < 1 || samples < 1 || columns < 1 || Rf_nrows(design) != samples || !is_group(group, samples, &groups) ||
      !wb_are_finite(counts, (double)types * samples) || !wb_are_finite(totals, samples) ||
      !wb_are_finite(design, (double)samples * columns) || !wb_are_finite(mean, columns) ||
      !wb_are_finite(precision, columns) || !wb_are_finite(deviation, 5) || TYPEOF(key) != RAWSXP ||
      Rf_xlength(key) != 8 || TYPEOF(sweeps) != INTSXP || Rf_xlength(sweeps) != 2)
    return wb_changed_fit();
  wb_message message;
  wb_call call = wb_call_from_list(run);
  const int warmup = INTEGER_RO(sweeps)[0], kept = INTEGER_RO(sweeps)[1];
  const wb_abundance_data data = {
    .types = types, .samples = samples, .columns = columns, .groups = groups, .counts = REAL_RO(counts),
    .totals = REAL_RO(totals), .design = REAL_RO(design),
    .group = groups > 0 ? INTEGER_RO(group) : NULL,
  };
  const double *const law = REAL_RO(deviation);
  const wb_abundance_prior priors = {REAL_RO(mean), REAL_RO(precision), law[0], {law[1], law[2]}, {law[3], law[4]}};
  const size_t t = (size_t)types;
  wb_abundance_state state = {
    (double *)R_alloc(t * (size_t)samples, sizeof(double)), (double *)R_alloc(t * (size_t)columns, sizeof(double)),
    (double *)R_alloc(t * (size_t)(groups > 0 ? groups : 1), sizeof(double)), (double *)R_alloc(2 * t, sizeof(double)),
    (double *)R_alloc(4, sizeof(double)), (double *)R_alloc(t, sizeof(double)),
  };
  SEXP out = PROTECT(wb_list_new(6, names));
  wb_abundance_sweeps what = {.warmup = warmup, .kept = kept, .key = wb_key_from_raw(key)};
  what.coefficients = REAL(wb_list_put(out, "coefficients", Rf_alloc3DArray(REALSXP, columns, types, kept)));
  what.mean = REAL(wb_list_put(out, "mean", Rf_alloc3DArray(REALSXP, columns, types, kept)));
  what.variance = REAL(wb_list_put(out, "variance", Rf_alloc3DArray(REALSXP, columns, types, kept)));
  what.deviation = REAL(wb_list_put(out, "deviation", Rf_alloc3DArray(REALSXP, 2, types, kept)));
  what.scale = REAL(wb_list_put(out, "scale", Rf_allocMatrix(REALSXP, 4, kept)));
  what.log_likelihood = REAL(wb_list_put(out, "log_likelihood", Rf_allocVector(REALSXP, kept)));
  const int status = wb_abundance_run(&data, &priors, &state, &what, &call.poll, &message);
  return wb_finish(out, status, &message);
}
