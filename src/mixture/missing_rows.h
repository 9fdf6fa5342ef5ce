/* Which rows of a mixture's data lack which values. */
#pragma once

#include "backend/backend.h"

/* The missing values of x (rows x columns) and their patterns, for free(); NULL if none. */
int wb_mixture_missing_find(const double *x, int64_t rows, int32_t columns, int32_t threads,
                            wb_mixture_missing **missing, wb_message *message);
