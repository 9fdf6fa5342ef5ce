/* One call from R for each function of the table. */
#include "client.h"

#include <string.h>

/* source: seed, stream, iteration, first, threads. */
static warpbayes_source source_of(SEXP source) {
  const double *value = REAL(source);
  const warpbayes_source from = {wb->key((uint64_t)value[0], (uint32_t)value[1]), (uint64_t)value[3],
                                 (uint32_t)value[2], (int32_t)value[4]};
  return from;
}

static SEXP checked(SEXP result, int status, const warpbayes_message *message) {
  UNPROTECT(1);
  if (status) Rf_error("status %d: %s", status, message->text);
  return result;
}

/* Asks for a version. Returns the status, the message, and whether the table is as large as this header's. */
SEXP client_open(SEXP version) {
  const warpbayes_table *table;
  warpbayes_message message;
  const int status = warpbayes_open(&table, (uint32_t)Rf_asInteger(version), &message);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(status));
  SET_VECTOR_ELT(result, 1, Rf_mkString(message.text));
  SET_VECTOR_ELT(result, 2, Rf_ScalarLogical(table && table->size == sizeof(warpbayes_table)));
  UNPROTECT(1);
  return result;
}

/* size: the number of draws; for Dirichlet draws rows, columns and each_row. */
SEXP client_draw(SEXP what, SEXP source, SEXP size, SEXP a, SEXP b, SEXP is_log) {
  const char *const name = CHAR(Rf_asChar(what));
  const warpbayes_source from = source_of(source);
  const int64_t count = (int64_t)REAL(size)[0], as = Rf_xlength(a), bs = Rf_xlength(b);
  const int is_dirichlet = strcmp(name, "dirichlet") == 0, log = Rf_asLogical(is_log);
  const int64_t columns = is_dirichlet ? (int64_t)REAL(size)[1] : 1;
  warpbayes_message message;
  int status = -1;
  SEXP result = PROTECT(is_dirichlet ? Rf_allocMatrix(REALSXP, (int)count, (int)columns)
                                     : Rf_allocVector(REALSXP, (R_xlen_t)count));
  double *const draws = REAL(result);
  if (strcmp(name, "uniform") == 0) status = wb->uniform_draw(&from, count, draws, &message);
  if (strcmp(name, "normal") == 0) status = wb->normal_draw(&from, count, draws, &message);
  if (strcmp(name, "gamma") == 0) status = wb->gamma_draw(&from, count, REAL(a), as, log, draws, &message);
  if (strcmp(name, "beta") == 0) status = wb->beta_draw(&from, count, REAL(a), as, REAL(b), bs, log, draws, &message);
  if (strcmp(name, "exponential") == 0) status = wb->exponential_draw(&from, count, draws, &message);
  if (strcmp(name, "gumbel") == 0) status = wb->gumbel_draw(&from, count, draws, &message);
  if (strcmp(name, "truncated") == 0)
    status = wb->truncated_normal_draw(&from, count, REAL(a), as, REAL(b), bs, draws, &message);
  if (strcmp(name, "binomial") == 0)
    status = wb->binomial_draw(&from, count, REAL(a), as, REAL(b), bs, draws, &message);
  if (strcmp(name, "polyagamma") == 0)
    status = wb->polyagamma_draw(&from, count, REAL(a), as, REAL(b), bs, draws, &message);
  if (is_dirichlet)
    status = wb->dirichlet_draw(&from, count, columns, REAL(a), REAL(size)[2] != 0, log, draws, &message);
  return checked(result, status, &message);
}

/* Draws from the stream of element `first`, in two calls. */
SEXP client_stream(SEXP what, SEXP source, SEXP count, SEXP a, SEXP b, SEXP is_log) {
  const char *const name = CHAR(Rf_asChar(what));
  const warpbayes_source from = source_of(source);
  const int n = Rf_asInteger(count), half = n / 2, log = Rf_asLogical(is_log);
  const double *const shape = REAL(a);
  warpbayes_stream stream;
  warpbayes_message message;
  SEXP result = PROTECT(Rf_allocVector(REALSXP, n));
  double *const draws = REAL(result);
  int status = wb->stream_open(from.key, from.iteration, from.first, &stream, &message);
  if (status == 0 && strcmp(name, "dirichlet") == 0)
    status = wb->stream_dirichlet(&stream, n, shape, log, draws, &message);
  for (int call = 0; call < 2 && status == 0; call++) {
    const int some = call ? n - half : half;
    double *const to = draws + (call ? half : 0);
    if (strcmp(name, "uniform") == 0) status = wb->stream_uniform(&stream, some, to, &message);
    if (strcmp(name, "normal") == 0) status = wb->stream_normal(&stream, some, to, &message);
    if (strcmp(name, "exponential") == 0) status = wb->stream_exponential(&stream, some, to, &message);
    if (strcmp(name, "gumbel") == 0) status = wb->stream_gumbel(&stream, some, to, &message);
    if (strcmp(name, "truncated") == 0)
      status = wb->stream_truncated_normal(&stream, some, shape, 1, REAL(b), 1, to, &message);
    if (strcmp(name, "binomial") == 0) status = wb->stream_binomial(&stream, some, shape, 1, REAL(b), 1, to, &message);
    if (strcmp(name, "gamma") == 0) status = wb->stream_gamma(&stream, some, shape, 1, log, to, &message);
    if (strcmp(name, "beta") == 0) status = wb->stream_beta(&stream, some, shape, 1, REAL(b), 1, log, to, &message);
  }
  return checked(result, status, &message);
}

/* size: rows, columns, each_row. a: sizes, means or df. b: weights or matrix, columns x columns. flag: is_precision or
 * is_inverse. */
SEXP client_rows_draw(SEXP what, SEXP source, SEXP size, SEXP a, SEXP b, SEXP flag) {
  const char *const name = CHAR(Rf_asChar(what));
  const warpbayes_source from = source_of(source);
  const int64_t rows = (int64_t)REAL(size)[0], columns = (int64_t)REAL(size)[1];
  const int each = REAL(size)[2] != 0, other = Rf_asLogical(flag), is_wishart = strcmp(name, "wishart") == 0;
  warpbayes_message message;
  int status = -1;
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(rows * columns * (is_wishart ? columns : 1))));
  double *const draws = REAL(result);
  if (strcmp(name, "multinomial") == 0)
    status = wb->multinomial_draw(&from, rows, columns, REAL(a), Rf_xlength(a), REAL(b), each, draws, &message);
  if (strcmp(name, "normal") == 0)
    status = wb->multivariate_normal_draw(&from, rows, columns, REAL(a), each, REAL(b), other, draws, &message);
  if (is_wishart) status = wb->wishart_draw(&from, rows, columns, REAL(a)[0], REAL(b), other, draws, &message);
  return checked(result, status, &message);
}

/* One row or matrix from the stream of element `first`. */
SEXP client_stream_row(SEXP what, SEXP source, SEXP a, SEXP b, SEXP flag) {
  const char *const name = CHAR(Rf_asChar(what));
  const warpbayes_source from = source_of(source);
  const int is_multinomial = strcmp(name, "multinomial") == 0, other = Rf_asLogical(flag);
  const int64_t columns = is_multinomial ? Rf_xlength(b) : Rf_ncols(b);
  warpbayes_stream stream;
  warpbayes_message message;
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(columns * columns)));
  double *const draws = REAL(result);
  int status = wb->stream_open(from.key, from.iteration, from.first, &stream, &message);
  if (status == 0 && is_multinomial)
    status = wb->stream_multinomial(&stream, columns, REAL(a)[0], REAL(b), draws, &message);
  if (status == 0 && strcmp(name, "normal") == 0)
    status = wb->stream_multivariate_normal(&stream, columns, REAL(a), REAL(b), other, draws, &message);
  if (status == 0 && strcmp(name, "wishart") == 0)
    status = wb->stream_wishart(&stream, columns, REAL(a)[0], REAL(b), other, draws, &message);
  return checked(result, status, &message);
}

/* The seed, or NA and the message. */
SEXP client_seed(SEXP value) {
  warpbayes_message message;
  uint64_t seed = 0;
  const int status = warpbayes_seed(value, &seed, &message);
  return status == WARPBAYES_INPUT ? Rf_mkString(message.text) : Rf_ScalarReal((double)seed);
}

SEXP client_categorical(SEXP source, SEXP weights, SEXP is_log, SEXP draws) {
  const warpbayes_source from = source_of(source);
  warpbayes_message message;
  SEXP items = PROTECT(Rf_allocMatrix(INTSXP, Rf_nrows(weights), Rf_asInteger(draws)));
  const int status = wb->categorical_draw(&from, Rf_nrows(weights), Rf_ncols(weights), REAL(weights),
                                          Rf_asLogical(is_log), Rf_asInteger(draws), INTEGER(items), &message);
  return checked(items, status, &message);
}

SEXP client_convolve(SEXP p, SEXP q, SEXP is_log, SEXP accuracy, SEXP threads) {
  warpbayes_message message;
  SEXP r = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(p) + Rf_xlength(q) - 1));
  const int status = wb->pmf_convolve(Rf_xlength(p), REAL(p), Rf_xlength(q), REAL(q), Rf_asLogical(is_log),
                                      Rf_asReal(accuracy), Rf_asInteger(threads), REAL(r), &message);
  return checked(r, status, &message);
}

/* mixture: weights, means, covariances, center, scale; the last two may be NULL. Returns log densities, probabilities
 * and the most probable components, or log densities and drawn components. */
SEXP client_mixture(SEXP source, SEXP mixture, SEXP x, SEXP allocate) {
  const warpbayes_source from = source_of(source);
  SEXP center = VECTOR_ELT(mixture, 3), scale = VECTOR_ELT(mixture, 4);
  const warpbayes_mixture given = {(int32_t)Rf_xlength(VECTOR_ELT(mixture, 0)),
                                   Rf_ncols(x),
                                   REAL(VECTOR_ELT(mixture, 0)),
                                   REAL(VECTOR_ELT(mixture, 1)),
                                   REAL(VECTOR_ELT(mixture, 2)),
                                   Rf_isNull(center) ? NULL : REAL(center),
                                   Rf_isNull(scale) ? NULL : REAL(scale)};
  const int n = Rf_nrows(x);
  warpbayes_message message;
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
  double *const log_density = REAL(SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, n)));
  int *const component = INTEGER(SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, n)));
  if (Rf_asLogical(allocate))
    return checked(result, wb->mixture_allocate(&from, &given, n, REAL(x), component, log_density, &message), &message);
  double *const probability = REAL(SET_VECTOR_ELT(result, 2, Rf_allocMatrix(REALSXP, n, given.components)));
  const int status =
      wb->mixture_evaluate(&given, n, REAL(x), from.threads, log_density, probability, component, &message);
  return checked(result, status, &message);
}
