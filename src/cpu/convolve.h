/* The convolution slot of the processor's backend (see backend.h). */
#ifndef WB_CPU_CONVOLVE_H
#define WB_CPU_CONVOLVE_H

#include "../backend.h"

int wb_cpu_convolve(const wb_convolution *convolution, const wb_run *run, wb_message *message);

#endif
