/* The slot of the processor's backend that measures its speed (see backend.h). */
#ifndef WB_CPU_MULTIPLY_ADD_H
#define WB_CPU_MULTIPLY_ADD_H

#include "../backend.h"

int wb_cpu_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

#endif
