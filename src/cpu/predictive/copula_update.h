/* Declares the functions of cpu/predictive/copula_update.c for the table in cpu/predictive/resample.c. */
#pragma once

#include "cpu/table.h"

int wb_cpu_copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message);
int wb_cpu_copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message);
