/* The keys of the generator that the chains of a run use: core/philox.h for the entries. */
#include "core/rounding.h"

#include "numeric/chain_key.h"

#include "core/philox.h"

uint64_t wb_chain_key_of(uint64_t seed, uint32_t chain) {
  return wb_chain_key(seed, chain);
}
