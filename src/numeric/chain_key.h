/* The key of a chain, for entries, which do not reach core/ themselves. */
#ifndef WB_CHAIN_KEY_H
#define WB_CHAIN_KEY_H

#include <stdint.h>

/* All draws of chain `chain`, from 1, of a fit with this seed are functions of it. */
uint64_t wb_key_of_chain(uint64_t seed, uint32_t chain);

#endif
