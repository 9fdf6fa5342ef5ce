/* What the files of entry/ share: conversions between R's values and those of the C code, and the list of all entries.
 * An entry converts values and computes nothing. */
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
#include "numeric/fork.h"

/* A new vector for results, in large pages if it is long. Not protected. */
SEXP wb_result_new(SEXPTYPE type, int64_t length);

/* A list of class "warpbayes_failure" with `status` and `message`. An entry that fails returns it, and native() of
 * R/conditions.R raises the error. */
SEXP wb_failure(int status, const wb_message *message);

/* The failure for a fit whose parts do not agree: a fit is a list that its user can change. */
SEXP wb_changed_fit(void);

/* Whether a value is a vector of doubles of this length; and whether these are also finite. */
int wb_is_numbers(SEXP values, double length);
int wb_are_finite(SEXP values, double length);

/* An entry opens a session as the address of an external pointer, which keeps `kept` alive and has the finalizer
 * `close`. wb_session_begin() returns a pointer without an address (protect it). wb_session_end() makes `opened` its
 * address or, if opening failed, frees `opened` and returns the failure. */
SEXP wb_session_begin(SEXP kept, R_CFinalizer_t close);
SEXP wb_session_end(SEXP pointer, void *opened, int status, const wb_message *message);

/* The arrays of an open store (entry/store_entry.c), which only entries fill. R_NilValue if `store` is closed or no
 * store. */
SEXP wb_store_arrays(SEXP store);

/* Whether the user has interrupted, without a jump over the caller's memory. Host algorithms ask between slices of
 * work, by the wb_poll of their call, and return WB_INTERRUPTED, which native() passes on to R. */
int wb_interrupted(void);

/* Reads the list that resolve_run() of R/run.R returned. A forked child gets one thread, because the OpenMP threads of
 * its parent do not exist in it. */
wb_call wb_call_from_list(SEXP run);

/* The element of this name, or R_NilValue if there is none. */
SEXP wb_list_element(SEXP list, const char *name);

/* A new list of `length` elements with these names. Not protected. */
SEXP wb_list_new(int length, const char *const *names);

/* Makes `value` the element of this name, and returns it. The list must have such an element; it keeps `value` from
 * garbage collection. */
SEXP wb_list_put(SEXP list, const char *name, SEXP value);

/* Whole numbers up to 2^53 come from R as doubles. R code has made sure that they are whole and not negative. */
uint64_t wb_whole_from_sexp(SEXP value);
int64_t wb_size_from_sexp(SEXP value);

/* A 64-bit key is raw(8) in R, lowest byte first. */
uint64_t wb_key_from_raw(SEXP value);
SEXP wb_key_to_raw(uint64_t key);

/* The entries. init.c registers wb_entry_<name> as <name>, and R code calls it C_<name>. */

/* entry/abundance/abundance_entry.c */
SEXP wb_entry_abundance_run(SEXP counts, SEXP totals, SEXP design, SEXP group, SEXP prior, SEXP key, SEXP sweeps,
                            SEXP run);

/* entry/assignment_entry.c */
SEXP wb_entry_assignment_solve(SEXP cost);

/* entry/backend_entry.c */
SEXP wb_entry_backend_abi(void);
SEXP wb_entry_backend_options(void);
SEXP wb_entry_backend_cpu(void);
SEXP wb_entry_backend_processor(void);
SEXP wb_entry_backend_idle_threads(SEXP wanted);
SEXP wb_entry_backend_open(SEXP symbol);
SEXP wb_entry_backend_devices(SEXP backend);
SEXP wb_entry_backend_rate(SEXP run, SEXP precision);
SEXP wb_entry_backend_bus_rate(SEXP run);
SEXP wb_entry_backend_release(SEXP run);

/* entry/categorical/categorical_entry.c */
SEXP wb_entry_categorical_draw(SEXP weights, SEXP draws, SEXP log, SEXP seed, SEXP precision, SEXP run);
SEXP wb_entry_categorical_draw_sparse(SEXP dim, SEXP start, SEXP row, SEXP weights, SEXP draws, SEXP seed,
                                      SEXP precision, SEXP run);

/* entry/chains_entry.c */
SEXP wb_entry_chain_key(SEXP seed, SEXP chain);

/* entry/checkpoint/checkpoint_entry.c */
SEXP wb_entry_checkpoint_digest(SEXP values, SEXP length);
SEXP wb_entry_checkpoint_write(SEXP path, SEXP head, SEXP stored, SEXP stride, SEXP run);
SEXP wb_entry_checkpoint_try(SEXP path);
SEXP wb_entry_checkpoint_host(void);
SEXP wb_entry_checkpoint_is_one(SEXP path);
SEXP wb_entry_checkpoint_head(SEXP path);
SEXP wb_entry_checkpoint_arrays(SEXP path, SEXP digest, SEXP types, SEXP lengths);

/* entry/store_entry.c */
SEXP wb_entry_store_open(SEXP blank, SEXP dim, SEXP dimnames);
SEXP wb_entry_store_fill(SEXP store, SEXP which, SEXP offset, SEXP stride, SEXP values, SEXP value_stride, SEXP run);
SEXP wb_entry_store_copy(SEXP store);
SEXP wb_entry_store_close(SEXP store);

/* entry/matrix_entry.c */
SEXP wb_entry_matrix_scan(SEXP x, SEXP threads);
SEXP wb_entry_matrix_scan_part(SEXP x, SEXP moments, SEXP first_row);
SEXP wb_entry_matrix_scan_finish(SEXP moments);

/* entry/mixture/mixture_entry.c, and entry/mixture/densities_entry.c for add_densities */
SEXP wb_entry_mixture_open(SEXP x, SEXP center, SEXP inverse_scale, SEXP precision, SEXP keep_labels, SEXP run);
SEXP wb_entry_mixture_open_samples(SEXP x, SEXP center, SEXP inverse_scale, SEXP precision, SEXP keep_labels, SEXP run,
                                   SEXP sample, SEXP samples);
SEXP wb_entry_mixture_close(SEXP pointer);
SEXP wb_entry_mixture_start(SEXP x, SEXP center, SEXP inverse_scale, SEXP prior, SEXP components,
                            SEXP key, SEXP merge, SEXP atoms, SEXP labels);
SEXP wb_entry_mixture_start_rows(SEXP rows, SEXP components, SEXP key);
SEXP wb_entry_mixture_start_from(SEXP x, SEXP center, SEXP inverse_scale, SEXP prior, SEXP components,
                                 SEXP key, SEXP merge, SEXP atoms, SEXP rows);
SEXP wb_entry_mixture_sweep(SEXP pointer, SEXP prior, SEXP state, SEXP sweeps, SEXP moves, SEXP atoms, SEXP probe,
                            SEXP keep, SEXP center, SEXP scale);
SEXP wb_entry_mixture_add_densities(SEXP pointer, SEXP weights, SEXP means, SEXP covariances, SEXP which, SEXP center,
                                    SEXP inverse_scale, SEXP first, SEXP total, SEXP log_unit, SEXP run);
SEXP wb_entry_mixture_evaluate(SEXP pointer, SEXP weights, SEXP means, SEXP covariances, SEXP center,
                               SEXP inverse_scale, SEXP first, SEXP count, SEXP want);
SEXP wb_entry_mixture_climb(SEXP pointer, SEXP prior, SEXP state, SEXP steps, SEXP means, SEXP least_gain, SEXP probe,
                            SEXP center, SEXP scale);

/* entry/interrupts_entry.c */
SEXP wb_entry_interrupts_hold(void);
SEXP wb_entry_interrupts_release(SEXP held, SEXP again);
SEXP wb_entry_interrupts_ignore(SEXP ignore);

/* entry/mixture/cluster_entry.c */
SEXP wb_entry_mixture_split(SEXP rows, SEXP workers);
SEXP wb_entry_mixture_open_cluster(SEXP call, SEXP names, SEXP first_row, SEXP piece, SEXP center, SEXP inverse_scale,
                                   SEXP precision, SEXP keep_labels, SEXP samples, SEXP run);
SEXP wb_entry_mixture_open_worker(SEXP x, SEXP worker, SEXP first_row, SEXP piece, SEXP center, SEXP inverse_scale,
                                  SEXP precision, SEXP keep_labels, SEXP sample, SEXP samples, SEXP run);
SEXP wb_entry_mixture_answer(SEXP pointer, SEXP request);
SEXP wb_entry_mixture_close_worker(SEXP pointer);

/* entry/mixture/cell_types_entry.c */
SEXP wb_entry_mixture_types(SEXP weights, SEXP means, SEXP covariances, SEXP columns, SEXP which, SEXP least,
                            SEXP averaged, SEXP rule, SEXP run);

/* entry/pmf/pmf_entry.c */
SEXP wb_entry_pmf_cache(void);
SEXP wb_entry_pmf_usable(SEXP x, SEXP log);
SEXP wb_entry_pmf_convolve(SEXP x, SEXP y, SEXP log, SEXP accuracy, SEXP cache, SEXP run);
SEXP wb_entry_pmf_first(SEXP x, SEXP y, SEXP count, SEXP accuracy, SEXP cache, SEXP run);
SEXP wb_entry_pmf_sum(SEXP x, SEXP length, SEXP log, SEXP accuracy, SEXP cache, SEXP run);
SEXP wb_entry_pmf_repeat(SEXP x, SEXP times, SEXP length, SEXP log, SEXP accuracy, SEXP cache, SEXP run);
SEXP wb_entry_pmf_compound(SEXP x, SEXP counting, SEXP length, SEXP accuracy, SEXP cache, SEXP run);
SEXP wb_entry_pmf_condition(SEXP x, SEXP y, SEXP log_in, SEXP log_out, SEXP run);
SEXP wb_entry_pmf_cumulate(SEXP x, SEXP log, SEXP upper, SEXP run);
SEXP wb_entry_pmf_draw(SEXP cumulative, SEXP draws, SEXP seed);

/* entry/topic_model/topic_model_entry.c */
SEXP wb_entry_topic_open(SEXP start, SEXP row, SEXP count, SEXP documents, SEXP topics, SEXP precision, SEXP structure,
                         SEXP run);
SEXP wb_entry_topic_close(SEXP pointer);
SEXP wb_entry_topic_start(SEXP pointer, SEXP key);
SEXP wb_entry_topic_merge(SEXP pointer, SEXP topics, SEXP target);
SEXP wb_entry_topic_split(SEXP pointer, SEXP topics, SEXP target, SEXP key, SEXP iteration);
SEXP wb_entry_topic_sweep(SEXP pointer, SEXP topics, SEXP alpha, SEXP beta, SEXP common, SEXP key, SEXP iteration,
                          SEXP sweeps, SEXP method, SEXP prior, SEXP want);
SEXP wb_entry_topic_add_means(SEXP pointer, SEXP topics, SEXP alpha, SEXP beta, SEXP sums);
SEXP wb_entry_topic_set_phi(SEXP pointer, SEXP phi);
SEXP wb_entry_topic_infer(SEXP pointer, SEXP topics, SEXP alpha, SEXP key, SEXP iteration, SEXP sweeps, SEXP mean);
SEXP wb_entry_topic_score(SEXP pointer, SEXP theta);

/* entry/polyagamma/polyagamma_entry.c */
SEXP wb_entry_polyagamma_draw(SEXP count, SEXP shape, SEXP tilt, SEXP method, SEXP seed, SEXP run);
SEXP wb_entry_polyagamma_any_nan(SEXP draws, SEXP run);
SEXP wb_entry_polyagamma_law(SEXP x, SEXP shape, SEXP tilt, SEXP quantity, SEXP log, SEXP run);
SEXP wb_entry_polyagamma_cumulant(SEXP shape, SEXP tilt, SEXP order);

/* entry/regression/regression_entry.c. Whether a list has a sparse design of this size, by rows. */
int wb_is_sparse_design(SEXP data, double rows, double columns);
SEXP wb_entry_regression_open(SEXP data, SEXP run);
SEXP wb_entry_regression_close(SEXP pointer);
SEXP wb_entry_regression_start(SEXP pointer, SEXP prior, SEXP state, SEXP spread);
SEXP wb_entry_regression_step(SEXP data, SEXP prior, SEXP coefficients, SEXP key, SEXP iteration, SEXP run);
SEXP wb_entry_regression_sweep(SEXP pointer, SEXP prior, SEXP state, SEXP sweeps);

/* entry/regression/predict_entry.c */
SEXP wb_entry_regression_predict(SEXP rows, SEXP draws, SEXP first, SEXP count, SEXP run);

/* entry/predictive/predictive_entry.c */
SEXP wb_entry_predictive_orders(SEXP seed, SEXP n, SEXP count);
SEXP wb_entry_predictive_places(SEXP seed, SEXP count, SEXP df, SEXP sd);
SEXP wb_entry_predictive_urn(SEXP shape, SEXP rest, SEXP discount, SEXP sticks, SEXP first, SEXP resamples, SEXP seed);
SEXP wb_entry_predictive_gnedin(SEXP shape, SEXP n, SEXP gamma, SEXP sticks, SEXP first, SEXP resamples, SEXP seed);
SEXP wb_entry_predictive_fit(SEXP data, SEXP bandwidth, SEXP order, SEXP run);
SEXP wb_entry_predictive_state(SEXP data, SEXP bandwidth, SEXP order, SEXP score, SEXP points, SEXP run);
SEXP wb_entry_predictive_average(SEXP state);
SEXP wb_entry_predictive_resample(SEXP data, SEXP bandwidth, SEXP points, SEXP state, SEXP seed, SEXP first, SEXP steps,
                                  SEXP run);
SEXP wb_entry_predictive_normal(SEXP start, SEXP state, SEXP seed, SEXP first_resample, SEXP first_step, SEXP steps,
                                SEXP every, SEXP run);
SEXP wb_entry_predictive_bootstrap(SEXP observations, SEXP first, SEXP resamples, SEXP steps, SEXP seed, SEXP run);

#endif
