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

/* Reads how many sweeps there are and which are kept: the first, from 0, the distance between them, and how many. With
 * only the first number, the last sweep is kept. Returns 0 if they do not agree. */
int wb_read_sweeps(SEXP sweeps, int number[4]);

typedef SEXP wb_slice_prepare(const SEXP *argument, wb_slice *slice);

/* Fills the slice but for message and status, gives up the caller's one protection of `out`, and returns NULL. */
SEXP wb_slice_ready(wb_slice *slice, SEXP out, void *chain, int (*work)(void *chain),
                    void (*finish)(void *chain, SEXP out));

/* chains: a list of the arguments of each chain, lists of `arguments` elements. Each chain needs a session of its own.
 * Returns a list of their results, or the first failure. */
SEXP wb_slices_run(wb_slice_prepare *prepare, int arguments, SEXP chains);
