/* Includes the file REAL_LOOPS once for each precision, with the macros of cpu/real.h. */
#define REAL_BITS 64
#include "cpu/real.h"
#include REAL_LOOPS
#define REAL_BITS 32
#include "cpu/real.h"
#include REAL_LOOPS
