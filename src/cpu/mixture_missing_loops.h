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

#define REAL double
#define REAL_NAME(stem) WB_NAME(stem##_double)
#define REAL_VECTOR wb_vector
#define REAL_FMA WB_VECTOR_FMA
#define REAL_SET WB_VECTOR_SET
#define REAL_EXP_WEIGHT wb_exp_weight
#define REAL_LOG wb_log
#define REAL_POSITION wb_block_position
#define REAL_NARROW(x) (x)
#define REAL_NOTHING WB_BLOCK_NOTHING
#define REAL_NEGLIGIBLE WB_BLOCK_NEGLIGIBLE
#include "cpu/mixture_missing_row.h"

#define REAL float
#define REAL_NAME(stem) WB_NAME(stem##_single)
#define REAL_VECTOR wb_vectorf
#define REAL_FMA WB_VECTOR_FMAF
#define REAL_SET WB_VECTOR_SETF
#define REAL_EXP_WEIGHT wb_exp_weightf
#define REAL_LOG wb_logf
#define REAL_POSITION wb_block_positionf
#define REAL_NARROW wb_scaled_valuef
#define REAL_NOTHING WB_BLOCK_NOTHINGF
#define REAL_NEGLIGIBLE WB_BLOCK_NEGLIGIBLEF
#include "cpu/mixture_missing_row.h"
