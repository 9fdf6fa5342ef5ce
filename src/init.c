/* Registers the entries. R finds no other symbol of this library. */
#include "entry/entry.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(name, arguments) {#name, (DL_FUNC)&wb_entry_##name, arguments}

static const R_CallMethodDef entries[] = {
  ENTRY(assignment_solve, 1),
  ENTRY(backend_abi, 0),
  ENTRY(backend_cpu, 0),
  ENTRY(backend_processor, 0),
  ENTRY(backend_open, 1),
  ENTRY(backend_devices, 1),
  ENTRY(backend_rate, 2),
  ENTRY(chain_key, 2),
  ENTRY(chains_keep, 6),
  ENTRY(matrix_scan, 1),
  ENTRY(mixture_open, 5),
  ENTRY(mixture_close, 1),
  ENTRY(mixture_start, 7),
  ENTRY(mixture_sweep, 9),
  ENTRY(mixture_draw, 6),
  ENTRY(mixture_evaluate, 9),
  ENTRY(mixture_separation, 3),
  ENTRY(mixture_join_types, 2),
  ENTRY(pmf_cache, 0),
  ENTRY(pmf_usable, 2),
  ENTRY(pmf_convolve, 5),
  ENTRY(pmf_direct, 6),
  ENTRY(pmf_sum, 5),
  ENTRY(pmf_repeat, 6),
  ENTRY(pmf_condition, 5),
  ENTRY(pmf_cumulate, 4),
  ENTRY(pmf_draw, 3),
  {NULL, NULL, 0}
};

void attribute_visible R_init_warpbayes(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  wb_fork_watch();
}
