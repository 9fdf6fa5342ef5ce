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
