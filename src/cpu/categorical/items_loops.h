/* The hot loops of categorical draws, included once for each instruction set by isa.h:
 * both precisions. */

typedef double WB_NAME(weight_lanes) __attribute__((vector_size(WB_VECTOR_BYTES), aligned(8), may_alias));
typedef int64_t WB_NAME(index_lanes) __attribute__((vector_size(WB_VECTOR_BYTES), may_alias));

#define REAL double
#define REAL_NAME(stem) WB_NAME(stem##_double)
#define REAL_INDEX int64_t
#define REAL_LANES REAL_NAME(value_lanes)
#define REAL_ITEMS REAL_NAME(item_lanes)
#define REAL_EXP_WEIGHT wb_exp_weight
#define REAL_POSITION wb_block_position
#define REAL_UNIFORMS 2
#define REAL_SPREAD(to, at, apart, first, second) \
  do {                                            \
    (to)[at] = wb_uniform(first);                 \
    (to)[(apart) + (at)] = wb_uniform(second);    \
  } while (0)
#include "cpu/categorical/items_tile.h"

#define REAL float
#define REAL_NAME(stem) WB_NAME(stem##_single)
#define REAL_INDEX int32_t
#define REAL_LANES REAL_NAME(value_lanes)
#define REAL_ITEMS REAL_NAME(item_lanes)
#define REAL_EXP_WEIGHT wb_exp_weightf
#define REAL_POSITION wb_block_positionf
#define REAL_UNIFORMS 4
#define REAL_SPREAD(to, at, apart, first, second)                     \
  do {                                                                \
    (to)[at] = wb_uniformf((uint32_t)(first));                        \
    (to)[(apart) + (at)] = wb_uniformf((uint32_t)((first) >> 32));    \
    (to)[2 * (apart) + (at)] = wb_uniformf((uint32_t)(second));       \
    (to)[3 * (apart) + (at)] = wb_uniformf((uint32_t)((second) >> 32)); \
  } while (0)
#include "cpu/categorical/items_tile.h"
