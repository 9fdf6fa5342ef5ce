/* An open mixture, as the entries of entry/mixture/mixture_entry.c and entry/mixture/cluster_entry.c hold it. */
#ifndef WB_ENTRY_MIXTURE_OPEN_MIXTURE_H
#define WB_ENTRY_MIXTURE_OPEN_MIXTURE_H

#include "entry/entry.h"

/* What the external pointer of an open mixture holds. R's data matrix, which the
 * backend's session reads, is kept alive as the pointer's protected value. Where the rows are on
 * a cluster, that is what the manager's exchange with the workers needs. */
typedef struct open_mixture {
  const wb_backend *backend;
  wb_mixture_session *session;
  int32_t columns;
  int64_t rows;
  int keeps_labels;
  int32_t samples; /* 0: the rows are one sample */
  int32_t *sample; /* rows, from 0 */
  wb_mixture_missing *missing; /* of the rows; NULL: no value is missing */
  int64_t *first_row; /* of each worker of a cluster, and how many there are in all; NULL: the rows are here */
} open_mixture;

/* What the pointer holds, or NULL, with a message, if the session has been closed. */
open_mixture *wb_mixture_from_sexp(SEXP pointer, wb_message *message);

/* Ends the session: the pointer's finalizer. */
void wb_mixture_close(SEXP pointer);

#endif
