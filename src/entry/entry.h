/* What the files of entry/ share: the way from R's values to the C core's and
 * back, and the list of all entries. An entry does nothing but that. */
#ifndef WB_ENTRY_H
#define WB_ENTRY_H

#ifndef R_NO_REMAP
#define R_NO_REMAP
#endif
#ifndef STRICT_R_HEADERS
#define STRICT_R_HEADERS
#endif
#include <R.h>
#include <Rinternals.h>

#include <stdint.h>

#include "backend/backend.h"

/* A list of class "warpbayes_failure" with `status` and `message`, which
 * native() of R/conditions.R turns into a condition. The caller returns it. */
SEXP wb_failure(int status, const wb_message *message);

/* Reads what resolve_run() of R/backend.R made. A forked child gets one thread:
 * the parent's OpenMP threads do not exist in it. */
void wb_run_from_list(SEXP run, wb_run *out, const wb_backend **backend);

/* The element of a named list, or R_NilValue. */
SEXP wb_list_element(SEXP list, const char *name);

/* A new list of `length` elements with these names, not protected. */
SEXP wb_list_new(int length, const char *const *names);

/* Makes `value` the element of this name, and returns it: the list, which must have
 * such an element, keeps it from garbage collection. */
SEXP wb_list_put(SEXP list, const char *name, SEXP value);

/* Whole numbers that pass 2^31 travel as doubles up to 2^53. R code has checked
 * them: NaN, fractions and negative values do not arrive here. */
uint64_t wb_whole_from_sexp(SEXP value);
int64_t wb_size_from_sexp(SEXP value);

/* A 64-bit key travels as raw(8), lowest byte first. */
uint64_t wb_key_from_raw(SEXP value);
SEXP wb_key_to_raw(uint64_t key);

/* Asks the system to mark forked children; called once when the package loads. */
void wb_fork_watch(void);
int wb_forked(void);

/* Entries: registered in init.c without the prefix "wb_entry_", called from R
 * with the prefix "C_". */

/* entry/backend.c */
SEXP wb_entry_backend_abi(void);
SEXP wb_entry_backend_cpu(void);
SEXP wb_entry_backend_processor(void);
SEXP wb_entry_backend_open(SEXP symbol);
SEXP wb_entry_backend_devices(SEXP backend);
SEXP wb_entry_backend_rate(SEXP run, SEXP precision);

/* entry/chains.c */
SEXP wb_entry_chain_key(SEXP seed, SEXP chain);
SEXP wb_entry_chains_keep(SEXP arrays, SEXP offset, SEXP stride, SEXP values, SEXP value_stride, SEXP run);

/* entry/matrix.c */
SEXP wb_entry_matrix_scan(SEXP x);

/* entry/mixture.c */
SEXP wb_entry_mixture_open(SEXP x, SEXP center, SEXP inverse_scale, SEXP precision, SEXP run);
SEXP wb_entry_mixture_close(SEXP pointer);
SEXP wb_entry_mixture_start(SEXP x, SEXP center, SEXP inverse_scale, SEXP prior, SEXP components,
                            SEXP key, SEXP labels);
SEXP wb_entry_mixture_sweep(SEXP pointer, SEXP prior, SEXP state, SEXP sweeps, SEXP moves, SEXP probe,
                            SEXP keep, SEXP center, SEXP scale);
SEXP wb_entry_mixture_draw(SEXP prior, SEXP state, SEXP moves, SEXP keep, SEXP center, SEXP scale);
SEXP wb_entry_mixture_evaluate(SEXP pointer, SEXP weights, SEXP means, SEXP covariances, SEXP center,
                               SEXP inverse_scale, SEXP first, SEXP count, SEXP want);

/* entry/pmf.c */
SEXP wb_entry_pmf_cache(void);
SEXP wb_entry_pmf_usable(SEXP x, SEXP log);
SEXP wb_entry_pmf_convolve_short(SEXP x, SEXP y, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_convolve(SEXP x, SEXP y, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_convolve_part(SEXP x, SEXP y, SEXP first, SEXP count, SEXP times, SEXP run);
SEXP wb_entry_pmf_convolve_rows(SEXP x, SEXP y, SEXP log, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_convolve_log(SEXP x, SEXP y, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_sum(SEXP values, SEXP length, SEXP log, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_sum_columns(SEXP columns, SEXP length, SEXP log, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_repeat(SEXP x, SEXP times, SEXP length, SEXP log, SEXP accuracy, SEXP run);
SEXP wb_entry_pmf_product(SEXP x, SEXP y, SEXP log_in, SEXP log_out, SEXP run);
SEXP wb_entry_pmf_cumulate(SEXP x, SEXP log, SEXP upper, SEXP run);
SEXP wb_entry_pmf_draw(SEXP cumulative, SEXP draws, SEXP seed);

/* entry/topic_model.c */
SEXP wb_entry_topic_open(SEXP start, SEXP row, SEXP count, SEXP documents, SEXP topics, SEXP precision, SEXP run);
SEXP wb_entry_topic_close(SEXP pointer);
SEXP wb_entry_topic_start(SEXP pointer, SEXP key);
SEXP wb_entry_topic_sweep(SEXP pointer, SEXP topics, SEXP alpha, SEXP beta, SEXP key, SEXP iteration, SEXP sweeps,
                          SEXP method, SEXP prior, SEXP want);
SEXP wb_entry_topic_add_means(SEXP pointer, SEXP topics, SEXP alpha, SEXP beta, SEXP theta_sum, SEXP phi_sum);
SEXP wb_entry_topic_set_phi(SEXP pointer, SEXP phi);
SEXP wb_entry_topic_infer(SEXP pointer, SEXP topics, SEXP alpha, SEXP key, SEXP iteration, SEXP sweeps, SEXP mean);
SEXP wb_entry_topic_score(SEXP pointer, SEXP theta);

#endif
