/* The inner loops of categorical draws in both precisions, included once for each instruction set by isa.h. */

typedef double WB_NAME(weight_lanes) __attribute__((vector_size(WB_VECTOR_BYTES), aligned(8), may_alias));
typedef int64_t WB_NAME(index_lanes) __attribute__((vector_size(WB_VECTOR_BYTES), may_alias));

#define REAL_LOOPS "cpu/categorical/items_tile.h"
#include "cpu/both_precisions.h"
