/* The design of a regression with grouping terms. The effects of all terms but one are coefficients. */
#pragma once

#include "regression/chain.h"

typedef struct wb_regression_wide_design {
  wb_regression_session *session;
  wb_regression_grouping grouping; /* the main term alone */
  int32_t *row_start, *column;
  double *value;
  void *memory;
} wb_regression_wide_design;

/* Opens a session on the sparse design of predictors and all terms but `main`, which is its only term. */
int wb_regression_wide_open(const wb_regression_chain *chain, int32_t main, wb_regression_wide_design *design);
void wb_regression_wide_close(wb_regression_wide_design *design, const wb_backend *backend);
