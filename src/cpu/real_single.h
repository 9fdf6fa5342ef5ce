/* The names by which a loop is written once for both precisions: single. Included before each
 * inclusion of such a loop, inside a file that isa.h includes; cpu/real_end.h takes them back. */
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
#define REAL_UNIFORMS 4
