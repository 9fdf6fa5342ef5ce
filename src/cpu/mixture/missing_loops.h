/* The loops over rows with missing values in both precisions, included once for each instruction set by isa.h. */

static inline double WB_NAME(missing_uniform_double)(uint64_t key, uint32_t iteration, uint64_t row, uint32_t block) {
  uint64_t first, second;
  wb_philox_wide(key, block / 2, row & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_LABEL, row), iteration, &first, &second);
  return wb_uniform(block % 2 ? second : first);
}

static inline float WB_NAME(missing_uniform_single)(uint64_t key, uint32_t iteration, uint64_t row, uint32_t block) {
  uint64_t first, second;
  wb_philox_wide(key, block / 4, row & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_LABEL, row), iteration, &first, &second);
  const uint64_t pair = block % 4 / 2 ? second : first;
  return wb_uniformf((uint32_t)(block % 2 ? pair >> 32 : pair));
}

#define REAL_BITS 64
#include "cpu/real.h"
#include "cpu/mixture/missing_row.h"
#define REAL_BITS 32
#include "cpu/real.h"
#include "cpu/mixture/missing_row.h"
