/* Slices of sweeps of one chain, or of several at the same time. Only work() runs beside others: no calls of R. */
#pragma once

#include "entry/entry.h"

typedef struct wb_slice {
  SEXP out;                              /* what the entry returns, with all vectors that work() fills */
  void *chain;                           /* memory of R_alloc() that work() and finish() use */
  int (*work)(void *chain);              /* returns a status */
  void (*finish)(void *chain, SEXP out); /* after success: adds what `out` lacks; may be NULL */
  wb_message message;                    /* where work() writes what went wrong */
  int status;
} wb_slice;

/* Reads how many sweeps there are and which are kept: first, from 0 (alone: the last), distance, number. 0: wrong. */
int wb_read_sweeps(SEXP sweeps, int number[4]);

typedef SEXP wb_slice_prepare(const SEXP *argument, wb_slice *slice);

/* Fills the slice but for message and status, gives up the caller's one protection of `out`, and returns NULL. */
SEXP wb_slice_ready(wb_slice *slice, SEXP out, void *chain, int (*work)(void *chain),
                    void (*finish)(void *chain, SEXP out));

/* chains: a list of `arguments` arguments for each chain, with a session of its own. Returns results or a failure. */
SEXP wb_slices_run(wb_slice_prepare *prepare, int arguments, SEXP chains);
