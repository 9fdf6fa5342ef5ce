/* An open mixture: what the entries of mixture_entry.c, densities_entry.c and cluster_entry.c share. */
#pragma once

#include "entry/entry.h"
#include "mixture/mixture.h"

/* What the external pointer of an open mixture holds. Its protected value keeps what the session reads or calls. */
typedef struct open_mixture {
  const wb_backend *backend;
  wb_mixture_session *session;
  int32_t columns;
  int64_t rows;
  int keeps_labels;
  int32_t samples;             /* 0: the rows are one sample */
  int32_t *sample;             /* rows, from 0 */
  wb_mixture_missing *missing; /* NULL: no value is missing */
  int64_t *first_row; /* the first row of each worker of a cluster, and the number of all rows; NULL: the rows are
                       * here */
} open_mixture;

/* What the pointer holds, or NULL if the session is closed; and the failure that says so. */
open_mixture *wb_mixture_from_sexp(SEXP pointer);
SEXP wb_mixture_closed(void);

void wb_mixture_close(SEXP pointer);

/* Opens a session of rows in this process: `data`, whose samples and missing values this adds, and the sample of each
 * row, from 1, if there are samples. The caller frees `own_sample` and `missing`, also after a failure. */
int wb_mixture_open_rows(const wb_call *call, SEXP sample, wb_mixture_data *data, int32_t **own_sample,
                         wb_mixture_missing **missing, wb_mixture_session **session);

/* Reads the draws that `which` chooses (see wb_mixture_draws). Returns whether they can be used. */
int wb_mixture_read_draws(SEXP weights, SEXP means, SEXP covariances, SEXP which, int p, wb_mixture_draws *to);
