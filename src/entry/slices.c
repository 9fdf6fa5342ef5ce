/* Slices of sweeps, of one chain or of several, and the keys of chains. */
#include "entry/slices.h"

#include <string.h>

#include "numeric/together.h"
#include "numeric/variates.h"

/* The key of a chain's random numbers, as raw(8). Chains count from 1. */
SEXP wb_entry_chain_key(SEXP seed, SEXP chain) {
  return wb_key_to_raw(wb_chain_key_of(wb_whole_from_sexp(seed), (uint32_t)Rf_asInteger(chain)));
}

int wb_read_sweeps(SEXP sweeps, int number[4]) {
  const int length = TYPEOF(sweeps) == INTSXP ? LENGTH(sweeps) : 0;
  if (length != 1 && length != 4) return 0;
  const int *const given = INTEGER_RO(sweeps), last[] = {given[0], given[0] - 1, 1, 1};
  memcpy(number, length == 1 ? last : given, sizeof last);
  return number[0] >= 1 && (number[3] == 0 || (number[1] >= 0 && number[2] >= 1 && number[3] > 0 &&
                                               number[1] + (number[3] - 1.0) * number[2] < number[0]));
}

static void do_slice(void *slices, int64_t i) {
  wb_slice *const slice = (wb_slice *)slices + i;
  slice->status = slice->work(slice->chain);
}

static SEXP finished(wb_slice *slice) {
  if (slice->status != WB_OK) return wb_failure(slice->status, &slice->message);
  if (slice->finish) slice->finish(slice->chain, slice->out);
  return slice->out;
}

SEXP wb_slice_ready(wb_slice *slice, SEXP out, void *chain, int (*work)(void *chain),
                    void (*finish)(void *chain, SEXP out)) {
  slice->out = out;
  slice->chain = chain;
  slice->work = work;
  slice->finish = finish;
  UNPROTECT(1);
  return NULL;
}

SEXP wb_slices_run(wb_slice_prepare *prepare, int arguments, SEXP chains) {
  const int count = TYPEOF(chains) == VECSXP ? LENGTH(chains) : 0;
  if (count < 1) return wb_changed_fit();
  wb_slice *const slices = (wb_slice *)R_alloc((size_t)count, sizeof *slices);
  SEXP *const argument = (SEXP *)R_alloc((size_t)arguments, sizeof *argument);
  SEXP results = PROTECT(Rf_allocVector(VECSXP, count));
  SEXP failure = NULL;
  for (int i = 0; i < count && !failure; i++) {
    SEXP given = VECTOR_ELT(chains, i);
    if (TYPEOF(given) != VECSXP || LENGTH(given) != arguments) failure = wb_changed_fit();
    for (int a = 0; a < arguments && !failure; a++) argument[a] = VECTOR_ELT(given, a);
    if (!failure) failure = prepare(argument, slices + i);
    if (!failure) SET_VECTOR_ELT(results, i, slices[i].out);
  }
  if (!failure) wb_together(count, do_slice, slices);
  for (int i = 0; i < count && !failure; i++)
    if (slices[i].status != WB_OK) failure = finished(slices + i);
  for (int i = 0; i < count && !failure; i++) (void)finished(slices + i);
  UNPROTECT(1);
  return failure ? failure : results;
}
