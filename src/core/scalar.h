/* Replaces core/rounding.h in files that compute much for one instruction set. x86-64 compilers make fma() a call; here
 * wb_fma() is the instruction if the processor has it, with the same result.
 *
 * Functions of core/ are not inlined everywhere here: that makes objects up to seven times as large. Files with
 * numeric/isa.h need no such wb_fma(): their compilers know the instruction. */
#pragma once

#define WB_SCALAR

#include "core/rounding.h"

#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#pragma GCC optimize("O2")
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FMA__) && !defined(__cplusplus)
#define WB_SCALAR_FMA
/* Whether the processor has the instruction (numeric/fma.c). */
#if !defined(_WIN32)
__attribute__((visibility("hidden"))) /* so that it is read without a table of addresses; Windows has no such table */
#endif
extern int wb_fma_instruction;
#endif
