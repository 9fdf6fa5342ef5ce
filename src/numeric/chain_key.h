/* The random generator's key of each chain. */
#pragma once

#include <stdint.h>

/* The key depends on the seed and the chain alone. Chains of one seed have different keys. */
uint64_t wb_chain_key_of(uint64_t seed, uint32_t chain);
