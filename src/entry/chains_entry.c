/* The entry that gives each chain of a sampler its key (numeric/variates.h). */
#include "entry/entry.h"

#include "numeric/variates.h"

/* The key of a chain's random numbers, as raw(8). Chains count from 1. */
SEXP wb_entry_chain_key(SEXP seed, SEXP chain) {
  return wb_key_to_raw(wb_chain_key_of(wb_whole_from_sexp(seed), (uint32_t)Rf_asInteger(chain)));
}
