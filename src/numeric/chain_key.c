/* The random generator's key of each chain, from core/philox.h. */
#include "core/rounding.h"

#include "numeric/chain_key.h"

#include "core/philox.h"

uint64_t wb_chain_key_of(uint64_t seed, uint32_t chain) { return wb_chain_key(seed, chain); }
