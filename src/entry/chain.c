/* R's way to the random numbers of a chain. */
#include "entry/entry.h"

#include "numeric/chain_key.h"

/* The key of a chain, as raw(8). */
SEXP wb_entry_chain_key(SEXP seed, SEXP chain) {
  return wb_key_to_raw(wb_key_of_chain(wb_whole_from_sexp(seed), (uint32_t)Rf_asInteger(chain)));
}
