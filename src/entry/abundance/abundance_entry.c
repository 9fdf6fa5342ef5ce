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
};

/* counts: types x samples x tables; totals: samples; design: samples x columns; contrasts: columns x contrasts; group:
 * the group of each sample from 0, or NULL; keys: a key for each chain, table after table. Returns the kept sweeps. */
SEXP wb_entry_abundance_run(SEXP counts, SEXP totals, SEXP design, SEXP contrasts, SEXP group, SEXP prior, SEXP keys,
                            SEXP sweeps, SEXP run) {
  const SEXP dim = Rf_getAttrib(counts, R_DimSymbol);
  if (TYPEOF(sweeps) != INTSXP || Rf_xlength(sweeps) != 2 || TYPEOF(dim) != INTSXP || Rf_xlength(dim) != 3 ||
      !Rf_isMatrix(design) || !Rf_isMatrix(contrasts) || TYPEOF(keys) != VECSXP)
    return wb_changed_fit();
  const int types = INTEGER_RO(dim)[0], samples = INTEGER_RO(dim)[1], tables = INTEGER_RO(dim)[2];
  const int columns = Rf_ncols(design), chains = LENGTH(keys);
  const int warmup = INTEGER_RO(sweeps)[0], kept = INTEGER_RO(sweeps)[1];
  const int compared = Rf_ncols(contrasts);
  const double size[] = {WB_SIZES, types, compared, columns, kept, 5, 6};
  wb_abundance_prior priors;
  int groups;
  if (types < 1 || samples < 1 || tables < 1 || columns < 1 || chains < 1 || chains % tables != 0 ||
      Rf_nrows(design) != samples || Rf_nrows(contrasts) != columns || !is_group(group, samples, &groups) ||
      !wb_are_finite(contrasts, (double)columns * compared) ||
      !wb_are_finite(counts, (double)types * samples * tables) || !wb_are_finite(totals, samples) ||
      !wb_are_finite(design, (double)samples * columns) || !WB_READ(prior, prior_fields, size, &priors))
    return wb_changed_fit();
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  wb_abundance_chain *const chain = (wb_abundance_chain *)R_alloc((size_t)chains, sizeof *chain);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, chains));
  for (int i = 0; i < chains; i++) {
    SEXP key = VECTOR_ELT(keys, i);
    if (TYPEOF(key) != RAWSXP || Rf_xlength(key) != 8) {
      UNPROTECT(1);
      return wb_changed_fit();
    }
    const size_t table = (size_t)(i / (chains / tables)), cells = (size_t)types * (size_t)samples;
    chain[i].data = (wb_abundance_data){
        .types = types,
        .samples = samples,
        .columns = columns,
        .groups = groups,
        .counts = REAL_RO(counts) + table * cells,
        .totals = REAL_RO(totals),
        .design = REAL_RO(design),
        .group = groups > 0 ? INTEGER_RO(group) : NULL,
    };
    chain[i].sweeps = (wb_abundance_sweeps){.warmup = warmup,
                                            .kept = kept,
                                            .contrasts = compared,
                                            .key = wb_key_from_raw(key),
                                            .weights = REAL_RO(contrasts)};
    SET_VECTOR_ELT(out, i, WB_NEW(sweeps_fields, size, &chain[i].sweeps));
  }
  const int status = wb_abundance_run(chain, chains, &priors, call.run.threads, &call.poll, &message);
  return wb_finish(out, status, &message);
}
