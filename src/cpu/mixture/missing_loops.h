/* The loops over rows with missing values in both precisions, included once for each instruction set by isa.h. */

#define REAL_BITS 64
#include "cpu/real.h"
#include "cpu/mixture/missing_row.h"
#define REAL_BITS 32
#include "cpu/real.h"
#include "cpu/mixture/missing_row.h"
