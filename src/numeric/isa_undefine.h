/* Ends one inclusion of WB_LOOPS (see isa.h). */
#undef WB_ISA
#undef WB_VECTOR_BYTES
#undef wb_vector
#undef wb_vectorf
#undef WB_VECTOR_FMA
#undef WB_VECTOR_FMAF
#undef WB_VECTOR_SET
#undef WB_VECTOR_SETF
