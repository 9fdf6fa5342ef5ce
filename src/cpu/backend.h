/* The tables of the processor's loops, one a topic, and what the backend knows of
 * the processor it runs on. */
#ifndef WB_CPU_BACKEND_H
#define WB_CPU_BACKEND_H

#include "backend/backend.h"

extern const wb_mixture_functions wb_cpu_mixture;
extern const wb_convolution_functions wb_cpu_convolution;
extern const wb_topic_functions wb_cpu_topic_model;
int wb_cpu_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

/* The widest instruction set for which loops are compiled and which both the
 * processor and the operating system support. */
wb_isa wb_cpu_isa(void);

/* Whether fma() is one instruction rather than a library routine. */
int wb_cpu_fma(void);

/* Cores this process may use, affinity considered; 1 without OpenMP. */
int wb_cpu_cores(void);

int wb_cpu_openmp(void);

#endif
