/* Failures, sessions, and where a call computes, for all entries. */
#include "entry/entry.h"

#include <setjmp.h>
#include <stdlib.h>

#include "numeric/memory.h"
#include "numeric/spread.h"

SEXP wb_result_new(SEXPTYPE type, int64_t length) {
  SEXP result = Rf_allocVector(type, (R_xlen_t)length);
  if (type == REALSXP) wb_large_pages(REAL(result), (size_t)length * sizeof(double));
  if (type == INTSXP) wb_large_pages(INTEGER(result), (size_t)length * sizeof(int));
  return result;
}

SEXP wb_failure(int status, const wb_message *message) {
  SEXP failure = PROTECT(wb_list_new("status message"));
  SET_VECTOR_ELT(failure, 0, Rf_ScalarInteger(status));
  SET_VECTOR_ELT(failure, 1, Rf_mkString(status == WB_INTERRUPTED ? "interrupted" : message->text));
  SEXP class = PROTECT(Rf_mkString("warpbayes_failure"));
  Rf_setAttrib(failure, R_ClassSymbol, class);
  UNPROTECT(2);
  return failure;
}

SEXP wb_finish(SEXP result, int status, const wb_message *message) {
  UNPROTECT(1);
  return status == WB_OK ? result : wb_failure(status, message);
}

SEXP wb_refuse(const char *what) {
  wb_message message;
  return wb_failure(wb_fail(&message, WB_ERROR_INPUT, "%s", what), &message);
}

SEXP wb_changed_fit(void) {
  return wb_refuse(
      "the parts of the fit do not agree in size or type, or have numbers that are not finite: "
      "it has been changed since it was made");
}

/* How many external pointers have a finalizer that R will call, which must not find its code gone. */
static int finalizers = 0;

SEXP wb_entry_session_close(SEXP pointer) {
  const R_CFinalizer_t close = (R_CFinalizer_t)(void (*)(void))R_ExternalPtrAddrFn(R_ExternalPtrTag(pointer));
  if (close) close(pointer); /* none in a pointer that a saved workspace brought back */
  return R_NilValue;
}

static void finalize(SEXP pointer) {
  finalizers--;
  (void)wb_entry_session_close(pointer);
}

void wb_finalize_by(SEXP pointer, R_CFinalizer_t close) {
  SEXP tag = PROTECT(R_MakeExternalPtrFn((DL_FUNC)(void (*)(void))close, R_NilValue, R_NilValue));
  R_SetExternalPtrTag(pointer, tag);
  R_RegisterCFinalizerEx(pointer, finalize, TRUE);
  finalizers++;
  UNPROTECT(1);
}

/* Why the code must stay loaded, or NULL. */
SEXP wb_entry_unload_obstacle(void) {
  const char *const obstacle = finalizers > 0 ? "it is in use" : wb_unload_obstacle();
  return obstacle ? Rf_mkString(obstacle) : R_NilValue;
}

/* Makes calls through these symbols errors. They would jump to code that is gone. */
SEXP wb_entry_unload_symbols(SEXP symbols) {
  for (R_xlen_t i = 0; i < Rf_xlength(symbols); i++)
    R_ClearExternalPtr(wb_list_element(VECTOR_ELT(symbols, i), "address"));
  return R_NilValue;
}

SEXP wb_session_begin(SEXP kept, R_CFinalizer_t close) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, kept));
  wb_finalize_by(pointer, close);
  return wb_finish(pointer, WB_OK, NULL);
}

SEXP wb_session_end(SEXP pointer, void *opened, int status, const wb_message *message) {
  if (status != WB_OK) {
    free(opened);
    return wb_failure(status, message);
  }
  R_SetExternalPtrAddr(pointer, opened);
  return pointer;
}

/* R looks at its time limits in every sixth call only. */
static SEXP check_interrupt(void *unused) {
  (void)unused;
  for (int i = 0; i < 6; i++) R_CheckUserInterrupt();
  return R_NilValue;
}

static void come_back(void *here, Rboolean jumps) {
  if (jumps) longjmp(*(jmp_buf *)here, 1);
}

/* Where R goes on after an interrupt, a time limit or an error in one of its events. wb_interrupted() keeps the jump,
 * and wb_entry_interrupts_resume() makes it once, if one waits, when nothing is half done. */
static SEXP kept_jump = NULL;
static int jump_waits = 0;

int wb_interrupted(void) {
  jmp_buf here;
  if (!kept_jump) R_PreserveObject(kept_jump = R_MakeUnwindCont());
  if (setjmp(here)) return jump_waits = 1;
  (void)R_UnwindProtect(check_interrupt, NULL, come_back, &here, kept_jump);
  return jump_waits = 0;
}

SEXP wb_entry_interrupts_resume(void) {
  if (jump_waits-- > 0) R_ContinueUnwind(kept_jump);
  return R_NilValue;
}

wb_call wb_call_from_list(SEXP run, wb_message *message) {
  wb_call call = {.processor = wb_cpu_backend(), .poll = {wb_interrupted, 0}, .message = message};
  const int threads = Rf_asInteger(wb_list_element(run, "threads"));
  SEXP devices = wb_list_element(run, "devices"), host_memory = wb_list_element(run, "host_memory");
  wb_run *const out = &call.run;
  out->threads = wb_forked() || threads < 1 ? 1 : threads;
  out->isa = (wb_isa)Rf_asInteger(wb_list_element(run, "isa"));
  out->device = Rf_asInteger(wb_list_element(run, "device"));
  out->devices = TYPEOF(devices) == INTSXP && XLENGTH(devices) <= WB_MOST_DEVICES ? LENGTH(devices) : 0;
  for (int i = 0; i < out->devices; i++) out->shared[i] = INTEGER_RO(devices)[i];
  out->spread = wb_spread;
  out->memory_limit = wb_whole_from_sexp(wb_list_element(run, "memory_limit"));
  out->host_memory = wb_is_numbers(host_memory, 1) && Rf_asReal(host_memory) > 0 ? wb_whole_from_sexp(host_memory) : 0;
  call.backend = (const wb_backend *)R_ExternalPtrAddr(wb_list_element(run, "pointer"));
  return call;
}

uint64_t wb_whole_from_sexp(SEXP value) { return (uint64_t)Rf_asReal(value); }

int64_t wb_size_from_sexp(SEXP value) { return (int64_t)Rf_asReal(value); }
