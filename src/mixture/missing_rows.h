/* Which rows of a mixture's data lack which values. */
#pragma once

#include "backend/backend.h"

/* Finds the missing values of x (rows x columns, column-major) and their patterns. `*missing` is NULL if there are
 * none; wb_mixture_missing_free() frees it. */
int wb_mixture_missing_find(const double *x, int64_t rows, int32_t columns, int32_t threads,
                            wb_mixture_missing **missing, wb_message *message);
void wb_mixture_missing_free(wb_mixture_missing *missing); /* takes NULL too */
