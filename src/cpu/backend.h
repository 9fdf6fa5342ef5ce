/* What the CPU backend knows of the processor it runs on. */
#ifndef WB_CPU_BACKEND_H
#define WB_CPU_BACKEND_H

#include "../backend.h"

/* The widest instruction set for which loops are compiled and which both the
 * processor and the operating system support. */
wb_isa wb_cpu_isa(void);

/* Whether fma() is one instruction rather than a library routine. */
int wb_cpu_fma(void);

/* Cores this process may use, affinity considered; 1 without OpenMP. */
int wb_cpu_cores(void);

int wb_cpu_openmp(void);

#endif
