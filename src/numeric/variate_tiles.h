/* Vectorised draws of consecutive elements, apart from numeric/variates.c, which would inline its scalar draws. */
#pragma once

#include "backend/types.h"
#include "core/purpose.h"

/* Uniform, normal, exponential or Gumbel draws of `count` elements from `first` on. */
void wb_variate_tiles(uint64_t key, wb_purpose purpose, uint32_t iteration, uint64_t first, int64_t count,
                      double *draws, wb_isa isa);

/* Gamma draws. Element first + i has the shape at place begin + i, recycled. -1 for elements that must be drawn alone,
 * from the beginning of their streams: those of shapes below 1, and some others. */
void wb_variate_gammas(uint64_t key, uint32_t iteration, uint64_t first, int64_t count, const double *shape,
                       int64_t shapes, int64_t begin, double *draws, wb_isa isa);
