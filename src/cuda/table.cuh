/* The tables of the functions that launch kernels, one for each topic. */
#pragma once

#include "backend/backend.h"

extern const wb_mixture_functions wb_cuda_mixture;
extern const wb_pmf_functions wb_cuda_pmf;
extern const wb_categorical_functions wb_cuda_categorical;
extern const wb_topic_model_functions wb_cuda_topic_model;
extern const wb_polyagamma_functions wb_cuda_polyagamma;
extern const wb_regression_functions wb_cuda_regression;
extern const wb_predictive_functions wb_cuda_predictive;

/* Functions of these tables whose files are not those of the tables. */
namespace wb {
int copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message);
int copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message);
int regression_predict(const wb_regression_prediction *what, int64_t first, int64_t count, const wb_run *run,
                       double *out, wb_message *message);
} // namespace wb
