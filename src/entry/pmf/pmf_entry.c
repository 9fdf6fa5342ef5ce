/* Entries of sums of discrete random variables (pmf/pmf.h). All numbers arrive as doubles. */
#include "entry/entry.h"

#include "numeric/memory.h"
#include "pmf/pmf.h"

#include <R_ext/RS.h>

typedef struct asked {
  wb_message message;
  wb_call call;
  wb_pmf_method method;
} asked;

/* cache: from wb_entry_pmf_cache(). */
static int ask(SEXP accuracy, SEXP cache, SEXP run, asked *a) {
  a->call = wb_call_from_list(run, &a->message);
  const wb_pmf_functions *const table = a->call.backend->pmf;
  a->method = (wb_pmf_method){&a->call, table, Rf_asReal(accuracy), (wb_fft_cache *)R_ExternalPtrAddr(cache)};
  return wb_backend_has(a->call.backend, table, "sums of discrete variables", &a->message);
}

static void close_cache(SEXP pointer) {
  wb_fft_cache *cache = (wb_fft_cache *)R_ExternalPtrAddr(pointer);
  if (!cache) return;
  wb_fft_cache_clear(cache);
  R_Free(cache);
  R_ClearExternalPtr(pointer);
}

/* A cache of tables for Fourier transforms, which lives as long as R refers to it. */
SEXP wb_entry_pmf_cache(void) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  wb_finalize_by(pointer, close_cache);
  R_SetExternalPtrAddr(pointer, R_Calloc(1, wb_fft_cache));
  return wb_finish(pointer, WB_OK, NULL);
}

typedef struct shape {
  int is_plain, is_matrix; /* plain: a vector or a matrix without a class */
  int64_t rows, columns;
} shape;

static shape shape_of(SEXP x) {
  const SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  const int is_matrix = dim != R_NilValue && Rf_xlength(dim) == 2;
  const int is_plain = !Rf_isObject(x) && (dim == R_NilValue || is_matrix);
  return (shape){is_plain, is_matrix, is_matrix ? INTEGER_RO(dim)[0] : 1,
                 is_matrix ? INTEGER_RO(dim)[1] : Rf_xlength(x)};
}

/* Whether every row of a matrix, or a vector, is a distribution. If not, R code finds out why and says it in words. */
SEXP wb_entry_pmf_usable(SEXP x, SEXP log) {
  const shape of_x = shape_of(x);
  return Rf_ScalarLogical(wb_pmf_look(of_x.rows, of_x.columns, REAL_RO(x), Rf_asLogical(log)) != WB_PMF_UNUSABLE);
}

static int check_shapes(const shape *x, const shape *y, wb_message *message) {
  if (x->is_plain && y->is_plain && (x->rows == y->rows || x->rows == 1 || y->rows == 1)) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "two vectors are convolved, or two matrices with the same number of rows");
}

/* Two vectors, or two matrices whose rows are convolved in pairs. One row of either serves all rows of the other. */
SEXP wb_entry_pmf_convolve(SEXP x, SEXP y, SEXP log, SEXP accuracy, SEXP cache, SEXP run) {
  const shape of_x = shape_of(x), of_y = shape_of(y);
  const int64_t rows = of_x.rows > of_y.rows ? of_x.rows : of_y.rows, outputs = of_x.columns + of_y.columns - 1;
  const int on_log_scale = Rf_asLogical(log);
  unsigned seen = 0;
  wb_convolution work = {.pairs = rows,
                         .m = of_x.columns,
                         .n = of_y.columns,
                         .count = outputs,
                         .p = REAL_RO(x),
                         .p_stride = of_x.rows,
                         .p_pair_stride = of_x.rows == rows,
                         .q = REAL_RO(y),
                         .q_stride = of_y.rows,
                         .q_pair_stride = of_y.rows == rows,
                         .r_stride = rows,
                         .r_pair_stride = 1};
  asked a;
  int status = ask(accuracy, cache, run, &a);
  if (status == WB_OK) status = check_shapes(&of_x, &of_y, &a.message);
  if (status == WB_OK && !wb_pmf_sees_pairs(&a.method, &work, on_log_scale))
    status = wb_pmf_check_pairs(&work, on_log_scale, &seen, &a.message);
  if (status != WB_OK) return wb_failure(status, &a.message);
  SEXP result = PROTECT(of_x.is_matrix || of_y.is_matrix ? Rf_allocMatrix(REALSXP, (int)rows, (int)outputs)
                                                         : Rf_allocVector(REALSXP, (R_xlen_t)outputs));
  work.r = REAL(result);
  wb_large_pages(work.r, (size_t)Rf_xlength(result) * sizeof(double));
  status = wb_pmf_convolve_pairs(&a.method, &work, on_log_scale, &seen);
  if (status == WB_OK) status = wb_pmf_check_result(seen, Rf_xlength(result), work.r, &a.message);
  return wb_finish(result, status, &a.message);
}

SEXP wb_entry_pmf_first(SEXP x, SEXP y, SEXP count, SEXP accuracy, SEXP cache, SEXP run) {
  asked a;
  int status = ask(accuracy, cache, run, &a);
  if (status != WB_OK) return wb_failure(status, &a.message);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(count)));
  status = wb_pmf_convolve_first(&a.method, Rf_xlength(x), REAL_RO(x), Rf_xlength(y), REAL_RO(y), Rf_xlength(result),
                                 REAL(result));
  return wb_finish(result, status, &a.message);
}

/* A list of vectors, or a matrix whose columns are the distributions, as terms, in memory of the call. */
static wb_pmf_terms read_terms(SEXP x, SEXP log) {
  const int is_list = TYPEOF(x) == VECSXP;
  const shape of_x = shape_of(x);
  const int64_t count = is_list ? Rf_xlength(x) : of_x.columns;
  int64_t *const length = (int64_t *)R_alloc((size_t)count, sizeof(int64_t));
  const double **const values = (const double **)R_alloc((size_t)count, sizeof(double *));
  for (int64_t i = 0; i < count; i++) {
    length[i] = is_list ? Rf_xlength(VECTOR_ELT(x, i)) : of_x.rows;
    values[i] = is_list ? REAL_RO(VECTOR_ELT(x, i)) : REAL_RO(x) + i * of_x.rows;
  }
  return (wb_pmf_terms){count, length, values, Rf_asLogical(log)};
}

/* x: as read_terms(). times: 0, or how many copies of x's single distribution are added. length: of the result. */
SEXP wb_entry_pmf_sum(SEXP x, SEXP times, SEXP length, SEXP log, SEXP accuracy, SEXP cache, SEXP run) {
  const wb_pmf_terms terms = read_terms(x, log);
  asked a;
  int status = ask(accuracy, cache, run, &a);
  if (status == WB_OK) status = wb_pmf_check_terms(&terms, &a.message);
  if (status != WB_OK) return wb_failure(status, &a.message);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(length)));
  const int64_t copies = wb_size_from_sexp(times);
  status =
      copies > 0 ? wb_pmf_repeat(&a.method, &terms, copies, REAL(result)) : wb_pmf_sum(&a.method, &terms, REAL(result));
  return wb_finish(result, status, &a.message);
}

SEXP wb_entry_pmf_compound(SEXP x, SEXP counting, SEXP length, SEXP accuracy, SEXP cache, SEXP run) {
  const double *const numbers = REAL_RO(counting);
  const wb_pmf_counting of_number = {numbers[0], numbers[1], numbers[2], numbers[3]};
  asked a;
  int status = ask(accuracy, cache, run, &a);
  if (status != WB_OK) return wb_failure(status, &a.message);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(length)));
  status = wb_pmf_compound(&a.method, &of_number, Rf_xlength(x), REAL_RO(x), Rf_xlength(result), REAL(result));
  return wb_finish(result, status, &a.message);
}

/* scores: increasing whole numbers from 0. count: of different sums. by_counting: not by Fourier transforms. */
SEXP wb_entry_pmf_groups(SEXP scores, SEXP size, SEXP count, SEXP by_counting, SEXP run) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(count)));
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  int (*const sums)(wb_call *, int64_t, const double *, int64_t, double *) =
      Rf_asLogical(by_counting) ? wb_pmf_count_groups : wb_pmf_rank_sums;
  const int status = sums(&call, Rf_xlength(scores), REAL_RO(scores), wb_size_from_sexp(size), REAL(result));
  return wb_finish(result, status, &message);
}

/* The first weights of x plus variables with few values (lists `at`, `weights`); `outputs` are kept after each. */
SEXP wb_entry_pmf_add_values(SEXP x, SEXP at, SEXP weights, SEXP outputs, SEXP run) {
  const int64_t terms = Rf_xlength(at);
  SEXP result = PROTECT(wb_result_new(REALSXP, (int64_t)REAL_RO(outputs)[terms - 1]));
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  wb_pmf_values *const values = (wb_pmf_values *)R_alloc((size_t)terms, sizeof(wb_pmf_values));
  for (int64_t k = 0; k < terms; k++) {
    SEXP positions = VECTOR_ELT(at, k);
    values[k] = (wb_pmf_values){Rf_xlength(positions), REAL_RO(positions), REAL_RO(VECTOR_ELT(weights, k))};
  }
  const int status = wb_pmf_add_values(&call, Rf_xlength(x), REAL_RO(x), terms, values, REAL_RO(outputs), REAL(result));
  return wb_finish(result, status, &message);
}

/* The normalized elementwise product of two vectors of equal length. */
SEXP wb_entry_pmf_condition(SEXP x, SEXP y, SEXP log_in, SEXP log_out, SEXP run) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(x)));
  wb_message message;
  wb_call call = wb_call_from_list(run, &message);
  const int status = wb_pmf_condition(&call, Rf_xlength(x), REAL_RO(x), REAL_RO(y), Rf_asLogical(log_in),
                                      Rf_asLogical(log_out), REAL(result));
  return wb_finish(result, status, &message);
}

SEXP wb_entry_pmf_cumulate(SEXP x, SEXP log, SEXP upper, SEXP run) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(x)));
  wb_call call = wb_call_from_list(run, NULL);
  const int status =
      wb_pmf_cumulate(&call, Rf_xlength(x), REAL_RO(x), Rf_asLogical(log), Rf_asLogical(upper), REAL(result));
  return wb_finish(result, status, NULL);
}

/* Returns positions from 0, as doubles. */
SEXP wb_entry_pmf_draw(SEXP cumulative, SEXP draws, SEXP seed) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(draws)));
  wb_poll poll = {wb_interrupted, 0};
  const int status = wb_pmf_draw(Rf_xlength(cumulative), REAL_RO(cumulative), wb_whole_from_sexp(seed),
                                 Rf_xlength(result), REAL(result), &poll);
  return wb_finish(result, status, NULL);
}
