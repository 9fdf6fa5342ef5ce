/* The functions of copula.c, for the table in predictive.c. */
#ifndef WB_CPU_COPULA_H
#define WB_CPU_COPULA_H

#include "cpu/backend.h"

int wb_cpu_copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message);
int wb_cpu_copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message);

#endif
