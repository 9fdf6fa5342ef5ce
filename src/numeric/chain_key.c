/* See chain_key.h. */
#include "core/rounding.h"

#include "numeric/chain_key.h"

#include "core/philox.h"

uint64_t wb_key_of_chain(uint64_t seed, uint32_t chain) {
  return wb_chain_key(seed, chain);
}
