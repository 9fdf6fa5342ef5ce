/* Registers the entries, and the table of the C interface for other packages. R finds no other symbol of this
 * library. */
#include "entry/entry.h"
#include "interface/interface.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

/* The cast by way of void (*)(void) says that the change of type is meant: R calls an entry by its own type. */
#define ENTRY(name, arguments) {#name, (DL_FUNC)(void (*)(void))wb_entry_##name, arguments}

static const R_CallMethodDef entries[] = {
  ENTRY(abundance_run, 8),
  ENTRY(assignment_solve, 1),
  ENTRY(backend_abi, 0),
  ENTRY(backend_options, 0),
  ENTRY(backend_cpu, 0),
  ENTRY(backend_processor, 0),
  ENTRY(backend_idle_threads, 1),
  ENTRY(backend_open, 1),
  ENTRY(backend_devices, 1),
  ENTRY(backend_rate, 2),
  ENTRY(backend_bus_rate, 1),
  ENTRY(backend_release, 1),
  ENTRY(categorical_draw, 6),
  ENTRY(categorical_draw_sparse, 8),
  ENTRY(chain_key, 2),
  ENTRY(checkpoint_digest, 2),
  ENTRY(checkpoint_write, 5),
  ENTRY(checkpoint_try, 1),
  ENTRY(checkpoint_host, 0),
  ENTRY(checkpoint_is_one, 1),
  ENTRY(checkpoint_head, 1),
  ENTRY(checkpoint_arrays, 4),
  ENTRY(matrix_scan, 2),
  ENTRY(matrix_scan_part, 3),
  ENTRY(matrix_scan_finish, 1),
  ENTRY(interrupts_hold, 0),
  ENTRY(interrupts_release, 2),
  ENTRY(interrupts_ignore, 1),
  ENTRY(mixture_open, 6),
  ENTRY(mixture_open_samples, 8),
  ENTRY(mixture_close, 1),
  ENTRY(mixture_start, 9),
  ENTRY(mixture_start_rows, 3),
  ENTRY(mixture_start_from, 9),
  ENTRY(mixture_sweep, 10),
  ENTRY(mixture_evaluate, 9),
  ENTRY(mixture_add_densities, 11),
  ENTRY(mixture_climb, 9),
  ENTRY(mixture_split, 2),
  ENTRY(mixture_open_cluster, 10),
  ENTRY(mixture_open_worker, 11),
  ENTRY(mixture_answer, 2),
  ENTRY(mixture_close_worker, 1),
  ENTRY(mixture_types, 9),
  ENTRY(pmf_cache, 0),
  ENTRY(pmf_usable, 2),
  ENTRY(pmf_convolve, 6),
  ENTRY(pmf_first, 6),
  ENTRY(pmf_sum, 6),
  ENTRY(pmf_repeat, 7),
  ENTRY(pmf_compound, 6),
  ENTRY(pmf_condition, 5),
  ENTRY(pmf_cumulate, 4),
  ENTRY(pmf_draw, 3),
  ENTRY(store_open, 3),
  ENTRY(store_fill, 7),
  ENTRY(store_copy, 1),
  ENTRY(store_close, 1),
  ENTRY(topic_open, 8),
  ENTRY(topic_close, 1),
  ENTRY(topic_start, 2),
  ENTRY(topic_merge, 3),
  ENTRY(topic_split, 5),
  ENTRY(topic_sweep, 11),
  ENTRY(topic_add_means, 5),
  ENTRY(topic_set_phi, 2),
  ENTRY(topic_infer, 7),
  ENTRY(topic_score, 2),
  ENTRY(polyagamma_draw, 6),
  ENTRY(polyagamma_any_nan, 2),
  ENTRY(polyagamma_law, 6),
  ENTRY(polyagamma_cumulant, 3),
  ENTRY(regression_open, 2),
  ENTRY(regression_predict, 5),
  ENTRY(regression_close, 1),
  ENTRY(regression_start, 4),
  ENTRY(regression_step, 6),
  ENTRY(regression_sweep, 4),
  ENTRY(predictive_orders, 3),
  ENTRY(predictive_places, 4),
  ENTRY(predictive_urn, 7),
  ENTRY(predictive_gnedin, 7),
  ENTRY(predictive_fit, 4),
  ENTRY(predictive_state, 6),
  ENTRY(predictive_average, 1),
  ENTRY(predictive_resample, 8),
  ENTRY(predictive_normal, 8),
  ENTRY(predictive_bootstrap, 6),
  {NULL, NULL, 0}
};

void attribute_visible R_init_warpbayes(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  R_RegisterCCallable("warpbayes", "warpbayes_table", (DL_FUNC)&wb_interface_table);
  wb_fork_watch();
}
