/* Conversions of values between R and C for entries, which compute nothing. */
#pragma once

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
#include "numeric/process.h"

/* A new vector for results, in large pages if it is long. Not protected. */
SEXP wb_result_new(SEXPTYPE type, int64_t length);

/* A "warpbayes_failure" with `status` and `message`, returned by entries; native() of R/base_conditions.R raises it. */
SEXP wb_failure(int status, const wb_message *message);

/* Unprotects `result` once, and returns it or the failure. `message`: NULL if only WB_OK or WB_INTERRUPTED occur. */
SEXP wb_finish(SEXP result, int status, const wb_message *message);

SEXP wb_refuse(const char *what);

/* The failure for a fit whose parts do not agree: a fit is a list that its user can change. */
SEXP wb_changed_fit(void);

/* The values of a vector of numbers or bytes and their width, or NULL for any other type. */
const void *wb_values_of(SEXP vector, size_t *width);

/* Whether a value is a vector of doubles of this length; and whether these are also finite. */
int wb_is_numbers(SEXP values, double length);
int wb_are_finite(SEXP values, double length);
/* Whether a value is a vector of `length` integers from `least` to below `end`. */
int wb_are_integers(SEXP values, double length, double least, double end);
int wb_is_matrix(SEXP value, double rows);

/* An entry opens a session as the address of an external pointer, which keeps `kept` alive and has the finalizer
 * `close`. wb_session_begin() returns a pointer without an address (protect it). wb_session_end() makes `opened` its
 * address or, if opening failed, frees `opened` and returns the failure. wb_finalize_by() registers any finalizer. */
SEXP wb_session_begin(SEXP kept, R_CFinalizer_t close);
void wb_finalize_by(SEXP pointer, R_CFinalizer_t close);
SEXP wb_session_end(SEXP pointer, void *opened, int status, const wb_message *message);

/* The arrays of an open store (entry/store_entry.c), which only entries fill; R_NilValue if it is none, or closed. */
SEXP wb_store_arrays(SEXP store);

/* Whether R wants to stop, for an interrupt or a time limit, without a jump over the caller's memory. Host algorithms
 * ask between slices of work, by the wb_poll of their call, and return WB_INTERRUPTED. native() then lets R jump. */
int wb_interrupted(void);

/* Reads the list that resolve_run() of R/run_resolve.R returned. `message`: where the call writes what went wrong. A
 * forked child gets one thread, because the OpenMP threads of its parent do not exist in it. */
wb_call wb_call_from_list(SEXP run, wb_message *message);

/* The element of this name, or R_NilValue if there is none. */
SEXP wb_list_element(SEXP list, const char *name);

/* A new list with these names, which one space separates. Not protected. */
SEXP wb_list_new(const char *names);

/* Makes `value` the (existing) element of this name, which protects it; returns it. */
SEXP wb_list_put(SEXP list, const char *name, SEXP value);

/* The values of a new vector or matrix that becomes the element of this name. */
double *wb_list_numbers(SEXP list, const char *name, double length);
double *wb_list_matrix(SEXP list, const char *name, double rows, double columns);
int *wb_list_integers(SEXP list, const char *name, double length);

/* Whole numbers up to 2^53 come from R as doubles. R code has made sure that they are whole and not negative. */
uint64_t wb_whole_from_sexp(SEXP value);
int64_t wb_size_from_sexp(SEXP value);

/* A 64-bit key is raw(8) in R, lowest byte first. */
uint64_t wb_key_from_raw(SEXP value);
SEXP wb_key_to_raw(uint64_t key);

/* Reads a list's sparse design by rows, columns ascending; 0 if it has none of this size (regression_entry.c). */
int wb_read_sparse(SEXP list, double rows, double columns, const int32_t **row_start, const int32_t **column,
                   const double **value);

/* Declares all entries: an entry takes as many SEXP as its line in the list says. */
#define WB_ARGUMENTS_0 void
#define WB_ARGUMENTS_1 SEXP
#define WB_ARGUMENTS_2 WB_ARGUMENTS_1, SEXP
#define WB_ARGUMENTS_3 WB_ARGUMENTS_2, SEXP
#define WB_ARGUMENTS_4 WB_ARGUMENTS_3, SEXP
#define WB_ARGUMENTS_5 WB_ARGUMENTS_4, SEXP
#define WB_ARGUMENTS_6 WB_ARGUMENTS_5, SEXP
#define WB_ARGUMENTS_7 WB_ARGUMENTS_6, SEXP
#define WB_ARGUMENTS_8 WB_ARGUMENTS_7, SEXP
#define WB_ARGUMENTS_9 WB_ARGUMENTS_8, SEXP
#define WB_ARGUMENTS_10 WB_ARGUMENTS_9, SEXP
#define WB_ARGUMENTS_11 WB_ARGUMENTS_10, SEXP
#define ENTRY(name, arguments) SEXP wb_entry_##name(WB_ARGUMENTS_##arguments);
#include "entry/entries.h"
#undef ENTRY
