/* R's way to Polya-Gamma variables. R code has checked the values: shapes and tilts are doubles,
 * as vectors that are not empty, shapes positive or NaN and such as the method takes. */
#include "entry/entry.h"

#include "polyagamma/polyagamma.h"

static void check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

/* Looks for an interrupt without a jump over the caller's memory. */
static int interrupted(void) {
  return !R_ToplevelExec(check_interrupt, NULL);
}

SEXP wb_entry_polyagamma_draw(SEXP count, SEXP shape, SEXP tilt, SEXP method, SEXP seed, SEXP run) {
  wb_polyagamma_context context = {.interrupted = interrupted};
  wb_message message;
  wb_run_from_list(run, &context.run, &context.backend);
  SEXP draws = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(count)));
  const int status = wb_polyagamma_fill(&context, Rf_xlength(draws), REAL_RO(shape), Rf_xlength(shape), REAL_RO(tilt),
                                        Rf_xlength(tilt), Rf_asInteger(method), wb_whole_from_sexp(seed), REAL(draws),
                                        &message);
  UNPROTECT(1);
  return status == WB_OK ? draws : wb_failure(status, &message);
}
