/* See cpu/real_double.h. */
#undef REAL
#undef REAL_NAME
#undef REAL_VECTOR
#undef REAL_FMA
#undef REAL_SET
#undef REAL_EXP_WEIGHT
#undef REAL_LOG
#undef REAL_POSITION
#undef REAL_NARROW
#undef REAL_NOTHING
#undef REAL_NEGLIGIBLE
#undef REAL_UNIFORMS
