/* Macros to write a loop once for both precisions; each inclusion defines them for REAL_BITS, 64 or 32.
 * REAL_NAME(block_sum) is block_sum_double or block_sum_single. In files that isa.h includes, WB_NAME() adds the
 * instruction set. REAL_LOOP(name, isa) is the variant of a loop for an instruction set. */
#undef REAL
#undef REAL_NAME
#undef REAL_LOOP
#undef REAL_INDEX
#undef REAL_VECTOR
#undef REAL_SET
#undef REAL_FMA
#undef REAL_SCALAR_FMA
#undef REAL_EXP_WEIGHT
#undef REAL_LOG
#undef REAL_NARROW
#undef REAL_POSITION
#undef REAL_TARGET
#undef REAL_USABLE
#undef REAL_NOTHING
#undef REAL_NEGLIGIBLE
#undef REAL_UNIFORMS
#undef REAL_UNIFORM
#undef REAL_SPREAD

/* REAL_INDEX: an integer as wide as a REAL. REAL_UNIFORMS: uniforms of one block of Philox. REAL_UNIFORM(first, second,
 * i): uniform i of the block. REAL_SPREAD(to, apart, first, second): stores all uniforms, `apart` numbers apart. */
#if REAL_BITS == 64
#define REAL double
#define REAL_NAME(name) REAL_VARIANT(name##_double)
#define REAL_LOOP(name, isa) WB_LOOP(name##_double, isa)
#define REAL_INDEX int64_t
#define REAL_VECTOR wb_vector
#define REAL_SET WB_VECTOR_SET
#define REAL_FMA WB_VECTOR_FMA
#define REAL_SCALAR_FMA wb_fma
#define REAL_EXP_WEIGHT wb_exp_weight
#define REAL_LOG wb_log
#define REAL_NARROW(x) (x)
#define REAL_POSITION wb_block_position
#define REAL_TARGET wb_target
#define REAL_USABLE wb_categorical_usable
#define REAL_NOTHING WB_BLOCK_NOTHING
#define REAL_NEGLIGIBLE WB_BLOCK_NEGLIGIBLE
#define REAL_UNIFORMS 2
#define REAL_UNIFORM(first, second, i) wb_uniform((i) ? (second) : (first))
#define REAL_SPREAD(to, apart, first, second) \
  do { \
    (to)[0] = wb_uniform(first); \
    (to)[apart] = wb_uniform(second); \
  } while (0)
#else
#define REAL float
#define REAL_NAME(name) REAL_VARIANT(name##_single)
#define REAL_LOOP(name, isa) WB_LOOP(name##_single, isa)
#define REAL_INDEX int32_t
#define REAL_VECTOR wb_vectorf
#define REAL_SET WB_VECTOR_SETF
#define REAL_FMA WB_VECTOR_FMAF
#define REAL_SCALAR_FMA wb_fmaf
#define REAL_EXP_WEIGHT wb_exp_weightf
#define REAL_LOG wb_logf
#define REAL_NARROW wb_scaled_valuef
#define REAL_POSITION wb_block_positionf
#define REAL_TARGET wb_targetf
#define REAL_USABLE wb_categorical_usablef
#define REAL_NOTHING WB_BLOCK_NOTHINGF
#define REAL_NEGLIGIBLE WB_BLOCK_NEGLIGIBLEF
#define REAL_UNIFORMS 4
#define REAL_UNIFORM(first, second, i) wb_uniformf((uint32_t)(((i) / 2 ? (second) : (first)) >> 32 * ((i) % 2)))
#define REAL_SPREAD(to, apart, first, second) \
  do { \
    (to)[0] = wb_uniformf((uint32_t)(first)); \
    (to)[apart] = wb_uniformf((uint32_t)((first) >> 32)); \
    (to)[2 * (apart)] = wb_uniformf((uint32_t)(second)); \
    (to)[3 * (apart)] = wb_uniformf((uint32_t)((second) >> 32)); \
  } while (0)
#endif
#undef REAL_BITS

#undef REAL_VARIANT
#ifdef WB_ISA
#define REAL_VARIANT(name) WB_NAME(name)
#else
#define REAL_VARIANT(name) name
#endif
