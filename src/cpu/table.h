/* The function tables of the CPU backend, one for each topic, and what the processor supports. */
#pragma once

#include "backend/backend.h"

extern const wb_mixture_functions wb_cpu_mixture;
extern const wb_pmf_functions wb_cpu_pmf;
extern const wb_categorical_functions wb_cpu_categorical;
extern const wb_topic_model_functions wb_cpu_topic_model;
extern const wb_polyagamma_functions wb_cpu_polyagamma;
extern const wb_regression_functions wb_cpu_regression;
extern const wb_predictive_functions wb_cpu_predictive;

/* wb_cpu_polyagamma.draw() on one thread in *room: NULL, or from an earlier call. wb_aligned_free() frees it. */
int wb_cpu_polyagamma_draw_alone(const wb_polyagamma_work *work, wb_isa isa, void **room, wb_message *message);

/* Functions of these tables whose files are not those of the tables. */
int wb_cpu_copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message);
int wb_cpu_copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message);
int wb_cpu_regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                              double *out, wb_message *message);

wb_isa wb_cpu_isa(void);

/* Whether fma() is an instruction rather than a function of the C library. */
int wb_cpu_fma(void);

/* The cores that this process may use; 1 without OpenMP. */
int wb_cpu_cores(void);

int wb_cpu_openmp(void);
