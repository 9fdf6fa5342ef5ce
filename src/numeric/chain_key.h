/* The keys of the generator that the chains of a run use. */
#ifndef WB_CHAIN_KEY_H
#define WB_CHAIN_KEY_H

#include <stdint.h>

/* Keys of different chains of one seed differ, and depend on nothing else. */
uint64_t wb_chain_key_of(uint64_t seed, uint32_t chain);

#endif
