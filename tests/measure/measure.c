/* The entries for R: see measure.R, which calls them, and measure.h. `run` is a list of resolve_run(), `function` the
 * address of a function of measure_cuda.so, or NULL for the processor. */
#include "core/rounding.h"

#include "measure.h"

#include <R.h>
#include <Rinternals.h>

#include <string.h>

#include <R_ext/Rdynload.h>

#include "core/philox.h"
#include "core/purpose.h"
#include "tree_draw.h"

static SEXP element(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  return R_NilValue;
}

static wb_run run_of(SEXP list) {
  const wb_run run = {
      .threads = Rf_asInteger(element(list, "threads")),
      .isa = (wb_isa)Rf_asInteger(element(list, "isa")),
      .device = Rf_asInteger(element(list, "device")),
      .memory_limit = (uint64_t)Rf_asReal(element(list, "memory_limit")),
  };
  return run;
}

static void stop_unless(int status, const wb_message *message) {
  if (status != WB_OK) Rf_error("%s", message->text);
}

static SEXP read_rate(SEXP run, SEXP function) {
  const wb_run where = run_of(run);
  wb_message message;
  double rate = 0;
  measure_read_rate *const measure =
      Rf_isNull(function) ? measure_cpu_read_rate : (measure_read_rate *)R_ExternalPtrAddrFn(function);
  stop_unless(measure(&where, &rate, &message), &message);
  return Rf_ScalarReal(rate);
}

static SEXP multiply_add_rate(SEXP single, SEXP run, SEXP function) {
  const wb_run where = run_of(run);
  wb_message message;
  double rate = 0;
  measure_multiply_add_rate *const measure =
      Rf_isNull(function) ? measure_cpu_multiply_add_rate : (measure_multiply_add_rate *)R_ExternalPtrAddrFn(function);
  stop_unless(measure(&where, Rf_asLogical(single) ? WB_SINGLE : WB_DOUBLE, &rate, &message), &message);
  return Rf_ScalarReal(rate);
}

/* To a run's device and back. */
static SEXP bus_rate(SEXP run, SEXP function) {
  const wb_run where = run_of(run);
  wb_message message;
  double rate[2] = {0, 0};
  measure_bus_rate *const measure = (measure_bus_rate *)R_ExternalPtrAddrFn(function);
  stop_unless(measure(&where, &rate[0], &rate[1], &message), &message);
  SEXP both = Rf_allocVector(REALSXP, 2);
  REAL(both)[0] = rate[0];
  REAL(both)[1] = rate[1];
  return both;
}

/* Returns outputs first..first + count - 1 of the direct sum of two vectors, the shorter one first. Computes them
 * `times` times, so that the time of the call from R does not count. */
static SEXP direct_sum(SEXP x, SEXP y, SEXP first, SEXP count, SEXP times, SEXP run) {
  const wb_backend *const backend = R_ExternalPtrAddr(element(run, "pointer"));
  const wb_run where = run_of(run);
  wb_poll poll = {NULL, 0};
  wb_message message;
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)Rf_asReal(count)));
  const wb_convolution work = {
      .pairs = 1,
      .m = Rf_xlength(x),
      .n = Rf_xlength(y),
      .p = REAL(x),
      .p_stride = 1,
      .q = REAL(y),
      .q_stride = 1,
      .first = (int64_t)Rf_asReal(first),
      .count = Rf_xlength(result),
      .r = REAL(result),
      .r_stride = 1,
  };
  for (int left = Rf_asInteger(times); left > 0; left--)
    stop_unless(backend->pmf->convolve(&work, &where, &poll, NULL, &message), &message);
  UNPROTECT(1);
  return result;
}

/* The twin of categorical_draw_by_trees() of categorical.cu. */
static int cpu_trees(const wb_categorical_rows *rows, const wb_categorical_draws *draws) {
  double *const room = (double *)R_alloc((size_t)rows->columns + WB_TREE, sizeof(double));
  for (int64_t i = 0; i < rows->rows; i++) {
    const double *const weights = rows->weights + i * rows->row_stride;
    const uint32_t c2 = wb_philox_c2(WB_PURPOSE_CATEGORICAL_TREES, (uint64_t)i);
    const wb_bits bits = wb_philox(draws->key, 0, (uint32_t)i, c2, 0);
    if (draws->precision == WB_DOUBLE) {
      draws->index[i] = (int32_t)wb_draw_by_trees(rows->columns, weights, wb_uniform(wb_bits64(bits, 0)), room);
    } else {
      float *const narrow = (float *)room;
      for (int64_t j = 0; j < rows->columns; j++) narrow[j] = (float)weights[j];
      draws->index[i] =
          (int32_t)wb_draw_by_treesf(rows->columns, narrow, wb_uniformf(bits.word[0]), narrow + rows->columns);
    }
  }
  return WB_OK;
}

/* Returns a list of the seconds of draw 0 and of the items, which count from 1; 0 means none. The distributions are the
 * columns of the matrix if `by_trees`, otherwise its rows. `option`: see measure_categorical. */
static SEXP categorical(SEXP weights, SEXP seed, SEXP single, SEXP by_trees, SEXP option, SEXP times, SEXP run,
                        SEXP function) {
  static const char *const names[] = {"seconds", "index", ""};
  const int trees = Rf_asLogical(by_trees), *const dim = INTEGER(Rf_getAttrib(weights, R_DimSymbol));
  const wb_categorical_rows rows = {
      .rows = dim[trees],
      .columns = dim[!trees],
      .weights = REAL(weights),
      .row_stride = trees ? dim[0] : 1,
      .column_stride = trees ? 1 : dim[0],
  };
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
  SET_VECTOR_ELT(result, 0, Rf_ScalarReal(NA_REAL));
  SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, (R_xlen_t)rows.rows));
  const wb_categorical_draws draws = {
      .precision = Rf_asLogical(single) ? WB_SINGLE : WB_DOUBLE,
      .key = wb_chain_key((uint64_t)Rf_asReal(seed), 0),
      .draws = 1,
      .index = INTEGER(VECTOR_ELT(result, 1)),
      .index_stride = rows.rows,
  };
  const wb_run where = run_of(run);
  wb_message message;
  if (Rf_isNull(function)) {
    cpu_trees(&rows, &draws);
  } else {
    measure_categorical *const measure = (measure_categorical *)R_ExternalPtrAddrFn(function);
    stop_unless(measure(&rows, &draws, Rf_asInteger(option), Rf_asInteger(times), REAL(VECTOR_ELT(result, 0)), &where,
                        &message),
                &message);
  }
  for (int64_t i = 0; i < rows.rows; i++) draws.index[i]++;
  UNPROTECT(1);
  return result;
}

static SEXP polyagamma(SEXP count, SEXP shape, SEXP tilt, SEXP times, SEXP run, SEXP function) {
  const wb_run where = run_of(run);
  wb_message message;
  double seconds = 0;
  measure_polyagamma *const measure = (measure_polyagamma *)R_ExternalPtrAddrFn(function);
  stop_unless(measure((int64_t)Rf_asReal(count), Rf_asReal(shape), Rf_asReal(tilt), Rf_asInteger(times), &seconds,
                      &where, &message),
              &message);
  return Rf_ScalarReal(seconds);
}

static SEXP convolution(SEXP pairs, SEXP n, SEXP skew, SEXP times, SEXP run, SEXP function) {
  const wb_run where = run_of(run);
  wb_message message;
  double seconds = 0;
  measure_convolution *const measure = (measure_convolution *)R_ExternalPtrAddrFn(function);
  stop_unless(measure((int64_t)Rf_asReal(pairs), (int64_t)Rf_asReal(n), Rf_asLogical(skew), Rf_asInteger(times),
                      &seconds, &where, &message),
              &message);
  return Rf_ScalarReal(seconds);
}

void MEASURE_EXPORT R_init_measure(DllInfo *dll) {
  static const R_CallMethodDef entries[] = {
      {"read_rate", (DL_FUNC)&read_rate, 2},     {"direct_sum", (DL_FUNC)&direct_sum, 6},
      {"categorical", (DL_FUNC)&categorical, 8}, {"polyagamma", (DL_FUNC)&polyagamma, 6},
      {"convolution", (DL_FUNC)&convolution, 6}, {"multiply_add_rate", (DL_FUNC)&multiply_add_rate, 3},
      {"bus_rate", (DL_FUNC)&bus_rate, 2},       {NULL, NULL, 0},
  };
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
}
