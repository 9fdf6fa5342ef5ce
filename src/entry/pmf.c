/* R's way to sums of discrete random variables. R code has checked the values:
 * numeric weights are doubles, finite and not negative; logarithms are -Inf or
 * finite. */
#include "entry/entry.h"

#include "pmf/pmf.h"

#include <R_ext/RS.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

static void check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

/* Looks for an interrupt without a jump over the caller's memory. */
static int interrupted(void) {
  return !R_ToplevelExec(check_interrupt, NULL);
}

static wb_pmf_context read_context(SEXP accuracy, SEXP run) {
  wb_pmf_context context;
  context.interrupted = interrupted;
  wb_run_from_list(run, &context.run, &context.backend);
  context.accuracy = Rf_asReal(accuracy);
  context.cache = (wb_fft_cache *)R_ExternalPtrAddr(wb_list_element(run, "fft"));
  return context;
}

static wb_isa read_isa(SEXP run) {
  return (wb_isa)Rf_asInteger(wb_list_element(run, "isa"));
}

static void close_cache(SEXP pointer) {
  wb_fft_cache *cache = (wb_fft_cache *)R_ExternalPtrAddr(pointer);
  if (!cache) return;
  wb_fft_cache_clear(cache);
  R_Free(cache);
  R_ClearExternalPtr(pointer);
}

/* A cache of tables for transforms, which lives as long as R refers to it. */
SEXP wb_entry_pmf_cache(void) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, close_cache, TRUE);
  R_SetExternalPtrAddr(pointer, R_Calloc(1, wb_fft_cache));
  UNPROTECT(1);
  return pointer;
}

/* NULL says that the user interrupted: R code passes it on. */
static SEXP result_or_failure(SEXP result, int status, const wb_message *message) {
  UNPROTECT(1);
  if (status == WB_PMF_INTERRUPTED) return R_NilValue;
  return status == WB_OK ? result : wb_failure(status, message);
}

/* A result of megabytes is memory that the system hands out and clears at the
 * first touch, page by page, which takes longer than the sums of many small
 * pairs: large pages are asked for, where the system has them to give. */
static SEXP in_large_pages(SEXP result) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const uintptr_t page = (uintptr_t)1 << 21;
  const uintptr_t begin = ((uintptr_t)REAL(result) + page - 1) / page * page;
  const uintptr_t end = (uintptr_t)(REAL(result) + Rf_xlength(result)) / page * page;
  if (begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
  return result;
}

/* Whether every row of a matrix, or a vector, of doubles can be used; what is
 * wrong otherwise is found out, with words, in R. */
SEXP wb_entry_pmf_usable(SEXP x, SEXP log) {
  const SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  const int matrix = dim != R_NilValue && Rf_xlength(dim) == 2;
  const int64_t rows = matrix ? INTEGER_RO(dim)[0] : 1, columns = matrix ? INTEGER_RO(dim)[1] : Rf_xlength(x);
  return Rf_ScalarLogical(wb_pmf_usable(rows, columns, REAL_RO(x), Rf_asLogical(log)));
}

static int is_plain(SEXP x) {
  return Rf_getAttrib(x, R_DimSymbol) == R_NilValue && Rf_getAttrib(x, R_ClassSymbol) == R_NilValue;
}

/* The convolution of two short vectors, or NULL where they are not that or cannot
 * be used. */
SEXP wb_entry_pmf_convolve_short(SEXP x, SEXP y, SEXP accuracy, SEXP run) {
  const int64_t m = Rf_xlength(x), n = Rf_xlength(y);
  if (!is_plain(x) || !is_plain(y) || m == 0 || n == 0 || (double)m * (double)n > WB_PMF_SHORT ||
      TYPEOF(accuracy) != REALSXP || Rf_xlength(accuracy) != 1 || !(REAL_RO(accuracy)[0] >= 0) ||
      !(REAL_RO(accuracy)[0] <= 0.01) || !wb_pmf_usable(1, m, REAL_RO(x), 0) ||
      !wb_pmf_usable(1, n, REAL_RO(y), 0))
    return R_NilValue;
  const wb_pmf_context context = read_context(accuracy, run);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(m + n - 1)));
  wb_message message;
  const int status = wb_pmf_convolve(&context, m, REAL_RO(x), n, REAL_RO(y), REAL(result), &message);
  UNPROTECT(1);
  return status == WB_OK ? result : R_NilValue;
}

SEXP wb_entry_pmf_convolve(SEXP x, SEXP y, SEXP accuracy, SEXP run) {
  const wb_pmf_context context = read_context(accuracy, run);
  const int64_t m = Rf_xlength(x), n = Rf_xlength(y);
  SEXP result = PROTECT(in_large_pages(Rf_allocVector(REALSXP, (R_xlen_t)(m + n - 1))));
  wb_message message;
  const int status = wb_pmf_convolve(&context, m, REAL_RO(x), n, REAL_RO(y), REAL(result), &message);
  return result_or_failure(result, status, &message);
}

/* Outputs first..first + count - 1 of the convolution, by direct sums, computed
 * `times` over: what a benchmark measures is then not R's time. */
SEXP wb_entry_pmf_convolve_part(SEXP x, SEXP y, SEXP first, SEXP count, SEXP times, SEXP run) {
  wb_pmf_context context = {.accuracy = 0, .interrupted = interrupted};
  wb_run_from_list(run, &context.run, &context.backend);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(count)));
  const wb_convolution work = {
    .pairs = 1, .m = Rf_xlength(x), .n = Rf_xlength(y), .p = REAL_RO(x), .p_stride = 1, .q = REAL_RO(y), .q_stride = 1,
    .first = wb_size_from_sexp(first), .count = Rf_xlength(result), .r = REAL(result), .r_stride = 1,
  };
  wb_message message;
  int status = WB_OK;
  for (int64_t left = wb_size_from_sexp(times); left > 0 && status == WB_OK; left--)
    status = wb_pmf_convolve_part(&context, &work, &message);
  return result_or_failure(result, status, &message);
}

/* Matrices whose rows are weights; one row of y serves all rows of x and the
 * other way round. */
SEXP wb_entry_pmf_convolve_rows(SEXP x, SEXP y, SEXP log, SEXP accuracy, SEXP run) {
  const wb_pmf_context context = read_context(accuracy, run);
  const int *x_dim = INTEGER_RO(Rf_getAttrib(x, R_DimSymbol)), *y_dim = INTEGER_RO(Rf_getAttrib(y, R_DimSymbol));
  const int rows = x_dim[0] > y_dim[0] ? x_dim[0] : y_dim[0];
  const int64_t outputs = (int64_t)x_dim[1] + y_dim[1] - 1;
  SEXP result = PROTECT(in_large_pages(Rf_allocMatrix(REALSXP, rows, (int)outputs)));
  const wb_convolution work = {
    .pairs = rows, .m = x_dim[1], .n = y_dim[1],
    .p = REAL_RO(x), .p_stride = x_dim[0], .p_pair_stride = x_dim[0] == rows ? 1 : 0,
    .q = REAL_RO(y), .q_stride = y_dim[0], .q_pair_stride = y_dim[0] == rows ? 1 : 0,
    .first = 0, .count = outputs, .r = REAL(result), .r_stride = rows, .r_pair_stride = 1,
  };
  wb_message message;
  const int status = Rf_asLogical(log) ? wb_pmf_convolve_batch_log(&context, &work, &message)
                                       : wb_pmf_convolve_batch(&context, &work, &message);
  return result_or_failure(result, status, &message);
}

SEXP wb_entry_pmf_convolve_log(SEXP x, SEXP y, SEXP accuracy, SEXP run) {
  const wb_pmf_context context = read_context(accuracy, run);
  const int64_t m = Rf_xlength(x), n = Rf_xlength(y);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(m + n - 1)));
  const wb_convolution work = {
    .pairs = 1, .m = m, .n = n, .p = REAL_RO(x), .p_stride = 1, .q = REAL_RO(y), .q_stride = 1,
    .first = 0, .count = m + n - 1, .r = REAL(result), .r_stride = 1,
  };
  wb_message message;
  const int status = wb_pmf_convolve_batch_log(&context, &work, &message);
  return result_or_failure(result, status, &message);
}

/* values: a list of numeric vectors; length: of the result. */
SEXP wb_entry_pmf_sum(SEXP values, SEXP length, SEXP log, SEXP accuracy, SEXP run) {
  const wb_pmf_context context = read_context(accuracy, run);
  const R_xlen_t count = Rf_xlength(values);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(length)));
  int64_t *const lengths = (int64_t *)R_alloc((size_t)count, sizeof(int64_t));
  const double **const vectors = (const double **)R_alloc((size_t)count, sizeof(double *));
  for (R_xlen_t i = 0; i < count; i++) {
    const SEXP vector = VECTOR_ELT(values, i);
    lengths[i] = Rf_xlength(vector);
    vectors[i] = REAL_RO(vector);
  }
  const wb_pmf_terms terms = {count, lengths, vectors, Rf_asLogical(log)};
  wb_message message;
  const int status = wb_pmf_sum(&context, &terms, REAL(result), &message);
  return result_or_failure(result, status, &message);
}

/* columns: a matrix whose columns are the distributions. */
SEXP wb_entry_pmf_sum_columns(SEXP columns, SEXP length, SEXP log, SEXP accuracy, SEXP run) {
  const wb_pmf_context context = read_context(accuracy, run);
  const int *dim = INTEGER_RO(Rf_getAttrib(columns, R_DimSymbol));
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(length)));
  int64_t *const lengths = (int64_t *)R_alloc((size_t)dim[1], sizeof(int64_t));
  const double **const vectors = (const double **)R_alloc((size_t)dim[1], sizeof(double *));
  for (int i = 0; i < dim[1]; i++) {
    lengths[i] = dim[0];
    vectors[i] = REAL_RO(columns) + (size_t)i * (size_t)dim[0];
  }
  const wb_pmf_terms terms = {dim[1], lengths, vectors, Rf_asLogical(log)};
  wb_message message;
  const int status = wb_pmf_sum(&context, &terms, REAL(result), &message);
  return result_or_failure(result, status, &message);
}

SEXP wb_entry_pmf_repeat(SEXP x, SEXP times, SEXP length, SEXP log, SEXP accuracy, SEXP run) {
  const wb_pmf_context context = read_context(accuracy, run);
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(length)));
  wb_message message;
  const int status = wb_pmf_repeat(&context, Rf_xlength(x), REAL_RO(x), Rf_asLogical(log),
                                   wb_size_from_sexp(times), REAL(result), &message);
  return result_or_failure(result, status, &message);
}

/* The normalised products of two vectors of equal length. */
SEXP wb_entry_pmf_product(SEXP x, SEXP y, SEXP log_in, SEXP log_out, SEXP run) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(x)));
  wb_message message;
  const int status = wb_pmf_product(Rf_xlength(x), REAL_RO(x), REAL_RO(y), Rf_asLogical(log_in),
                                    Rf_asLogical(log_out), REAL(result), read_isa(run), &message);
  return result_or_failure(result, status, &message);
}

SEXP wb_entry_pmf_cumulate(SEXP x, SEXP log, SEXP upper, SEXP run) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(x)));
  wb_message message;
  const int status = wb_pmf_cumulate(Rf_xlength(x), REAL_RO(x), Rf_asLogical(log), Rf_asLogical(upper),
                                     REAL(result), read_isa(run), &message);
  return result_or_failure(result, status, &message);
}

/* Positions from 0, as doubles. */
SEXP wb_entry_pmf_draw(SEXP cumulative, SEXP draws, SEXP seed) {
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)wb_size_from_sexp(draws)));
  wb_pmf_draw(Rf_xlength(cumulative), REAL_RO(cumulative), wb_whole_from_sexp(seed), Rf_xlength(result),
              REAL(result));
  UNPROTECT(1);
  return result;
}
