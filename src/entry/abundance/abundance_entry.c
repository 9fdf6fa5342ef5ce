/* The entry of the model of numbers of cells by type and sample (abundance/abundance.h). */
#include "entry/fields.h"

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

enum { TYPES = WB_OWN, CONTRASTS, COLUMNS, KEPT, FIVE, SIX };
#define IN_PRIOR(member) offsetof(wb_abundance_prior, member)
#define IN_SWEEPS(member) offsetof(wb_abundance_sweeps, member)

/* `deviation`: level (2), slope (2) and spread. */
static const wb_field prior_fields[] = {
    {"mean", REALSXP, {COLUMNS}, WB_FINITE, IN_PRIOR(mean)},
    {"precision", REALSXP, {COLUMNS}, WB_FINITE, IN_PRIOR(precision)},
    {"deviation", REALSXP, {FIVE}, WB_FINITE | WB_COPIED, IN_PRIOR(level)},
};

static const wb_field sweeps_fields[] = {
    {"contrast", REALSXP, {CONTRASTS, TYPES, KEPT}, 0, IN_SWEEPS(contrast)},
    {"mean", REALSXP, {CONTRASTS, TYPES, KEPT}, 0, IN_SWEEPS(mean)},
    {"variance", REALSXP, {CONTRASTS, TYPES, KEPT}, 0, IN_SWEEPS(variance)},
    {"deviation", REALSXP, {WB_TWO, TYPES, KEPT}, 0, IN_SWEEPS(deviation)},
    {"scale", REALSXP, {SIX, KEPT}, 0, IN_SWEEPS(scale)},
    {"log_likelihood", REALSXP, {KEPT}, 0, IN_SWEEPS(log_likelihood)},
};

/* counts: types x samples; totals: samples; design: samples x columns; contrasts: columns x contrasts; group: the group
 * of each sample from 0, or NULL. Returns the kept sweeps of a chain (abundance/abundance.h). */
SEXP wb_entry_abundance_run(SEXP counts, SEXP totals, SEXP design, SEXP contrasts, SEXP group, SEXP prior, SEXP key,
                            SEXP sweeps, SEXP run) {
  if (TYPEOF(sweeps) != INTSXP || Rf_xlength(sweeps) != 2 || !Rf_isMatrix(counts) || !Rf_isMatrix(design) ||
      !Rf_isMatrix(contrasts))
    return wb_changed_fit();
  const int types = Rf_nrows(counts), samples = Rf_ncols(counts), columns = Rf_ncols(design);
  const int warmup = INTEGER_RO(sweeps)[0], kept = INTEGER_RO(sweeps)[1];
  const int compared = Rf_ncols(contrasts);
  const double size[] = {WB_SIZES, types, compared, columns, kept, 5, 6};
  wb_abundance_prior priors;
  int groups;
  if (types < 1 || samples < 1 || columns < 1 || Rf_nrows(design) != samples || Rf_nrows(contrasts) != columns ||
      !is_group(group, samples, &groups) || !wb_are_finite(contrasts, (double)columns * compared) ||
      !wb_are_finite(counts, (double)types * samples) || !wb_are_finite(totals, samples) ||
      !wb_are_finite(design, (double)samples * columns) || !WB_READ(prior, prior_fields, size, &priors) ||
      TYPEOF(key) != RAWSXP || Rf_xlength(key) != 8)
    return wb_changed_fit();
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  const wb_abundance_data data = {
      .types = types,
      .samples = samples,
      .columns = columns,
      .groups = groups,
      .counts = REAL_RO(counts),
      .totals = REAL_RO(totals),
      .design = REAL_RO(design),
      .group = groups > 0 ? INTEGER_RO(group) : NULL,
  };
  const size_t t = (size_t)types;
  wb_abundance_state state = {
      (double *)R_alloc(t * (size_t)samples, sizeof(double)),
      (double *)R_alloc(t * (size_t)columns, sizeof(double)),
      (double *)R_alloc(t * (size_t)(groups > 0 ? groups : 1), sizeof(double)),
      (double *)R_alloc(2 * t, sizeof(double)),
      (double *)R_alloc(6, sizeof(double)),
      (double *)R_alloc(t, sizeof(double)),
  };
  wb_abundance_sweeps what = {.warmup = warmup,
                              .kept = kept,
                              .contrasts = compared,
                              .key = wb_key_from_raw(key),
                              .weights = REAL_RO(contrasts)};
  SEXP out = PROTECT(WB_NEW(sweeps_fields, size, &what));
  const int status = wb_abundance_run(&data, &priors, &state, &what, &call.poll, &message);
  return wb_finish(out, status, &message);
}
