/* The names by which a loop is written once for both precisions: double. Included before each
 * inclusion of such a loop, inside a file that isa.h includes; cpu/real_end.h takes them back. */
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
#define REAL_UNIFORMS 2
