/* The hot loops of the mixture, included once for each instruction set by
 * isa.h: both precisions of the tile loops, and the sums, always in double. */

#define REAL double
#define REAL_NAME(stem) WB_NAME(stem##_double)
#define REAL_VECTOR wb_vector
#define REAL_FMA WB_VECTOR_FMA
#define REAL_SET WB_VECTOR_SET
#define REAL_EXP_WEIGHT wb_exp_weight
#define REAL_LOG wb_log
#define REAL_POSITION wb_block_position
#define REAL_NARROW(x) (x)
#define REAL_NOTHING WB_MIXTURE_NOTHING
#define REAL_NEGLIGIBLE WB_MIXTURE_NEGLIGIBLE
#define REAL_UNIFORMS 2
#include "mixture_tile.h"

#define REAL float
#define REAL_NAME(stem) WB_NAME(stem##_single)
#define REAL_VECTOR wb_vectorf
#define REAL_FMA WB_VECTOR_FMAF
#define REAL_SET WB_VECTOR_SETF
#define REAL_EXP_WEIGHT wb_exp_weightf
#define REAL_LOG wb_logf
#define REAL_POSITION wb_block_positionf
#define REAL_NARROW wb_mixture_narrow
#define REAL_NOTHING WB_MIXTURE_NOTHINGF
#define REAL_NEGLIGIBLE WB_MIXTURE_NEGLIGIBLEF
#define REAL_UNIFORMS 4
#include "mixture_tile.h"

/* Adds the products of the p + 1 values of one row, 1 among them, to a
 * component's sums: rows r of the lower triangle, each padded to whole vectors.
 * One fused multiply-add an entry, rows in the order of the calls. */
static void WB_NAME(mixture_add_row)(int values, const double *row, double *sums) {
  const int lanes = WB_VECTOR_BYTES / 8;
  for (int r = 0; r < values; r++) {
    const wb_vector value = WB_VECTOR_SET(row[r]);
    for (int c = 0; c <= r; c += lanes) {
      wb_vector *sum = (wb_vector *)(sums + c);
      *sum = WB_VECTOR_FMA(value, *(const wb_vector *)(row + c), *sum);
    }
    sums += mixture_padded(r + 1);
  }
}
