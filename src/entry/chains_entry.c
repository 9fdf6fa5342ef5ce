/* Entries that serve the chains of every sampler: keys, and the place of draws. */
#include "entry/entry.h"

#include <string.h>

#include "numeric/chain_key.h"

/* The key of a chain's random numbers, as raw(8). Chains count from 1. */
SEXP wb_entry_chain_key(SEXP seed, SEXP chain) {
  return wb_key_to_raw(wb_chain_key_of(wb_whole_from_sexp(seed), (uint32_t)Rf_asInteger(chain)));
}

/* How the values of one array are copied: runs of `run` values, one in every
 * `value_stride` of `values`, to places `stride` apart, the first at `offset`. */
typedef struct copy {
  R_xlen_t offset, stride, value_stride, run, runs;
} copy;

static copy copy_from_sexp(R_xlen_t i, SEXP values, SEXP offset, SEXP stride, SEXP value_stride, SEXP run) {
  copy c = {(R_xlen_t)REAL_RO(offset)[i], (R_xlen_t)REAL_RO(stride)[i], (R_xlen_t)REAL_RO(value_stride)[i],
            (R_xlen_t)REAL_RO(run)[i], 0};
  if (c.run > 0 && c.value_stride > 0) c.runs = Rf_xlength(values) / c.value_stride;
  return c;
}

/* Both ends of every run lie within the array and the values. */
static int copy_fits(const copy *c, SEXP array, SEXP values) {
  if (TYPEOF(array) != TYPEOF(values) || (TYPEOF(array) != INTSXP && TYPEOF(array) != REALSXP)) return 0;
  if (c->run < 0 || c->offset < 0 || c->stride < 0 || c->run > c->value_stride) return 0;
  return c->runs == 0 || c->offset + (c->runs - 1) * c->stride + c->run <= Rf_xlength(array);
}

static void copy_values(const copy *c, SEXP array, SEXP values) {
  for (R_xlen_t i = 0; i < c->runs; i++) {
    const R_xlen_t to = c->offset + i * c->stride, from = i * c->value_stride;
    if (TYPEOF(array) == INTSXP)
      memcpy(INTEGER(array) + to, INTEGER_RO(values) + from, (size_t)c->run * sizeof(int));
    else
      memcpy(REAL(array) + to, REAL_RO(values) + from, (size_t)c->run * sizeof(double));
  }
}

/* Copies values to their places in arrays that only the running fit refers to: the
 * one entry that changes its arguments. All but the two lists are doubles, one for
 * each array. Nothing is copied unless everything fits. */
SEXP wb_entry_chains_keep(SEXP arrays, SEXP offset, SEXP stride, SEXP values, SEXP value_stride, SEXP run) {
  const R_xlen_t count = Rf_xlength(arrays);
  int fits = Rf_xlength(values) == count;
  for (R_xlen_t i = 0; fits && i < count; i++) {
    const copy c = copy_from_sexp(i, VECTOR_ELT(values, i), offset, stride, value_stride, run);
    fits = copy_fits(&c, VECTOR_ELT(arrays, i), VECTOR_ELT(values, i));
  }
  if (!fits) {
    wb_message message;
    wb_message_write(&message, "draws or traces do not have the size or type of the arrays that they are kept in");
    return wb_failure(WB_ERROR_INPUT, &message);
  }
  for (R_xlen_t i = 0; i < count; i++) {
    const copy c = copy_from_sexp(i, VECTOR_ELT(values, i), offset, stride, value_stride, run);
    copy_values(&c, VECTOR_ELT(arrays, i), VECTOR_ELT(values, i));
  }
  return R_NilValue;
}
