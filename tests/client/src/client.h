/* What the files of the client share. They include warpbayes.h without R's headers, which some of them include. */
#ifndef CLIENT_H
#define CLIENT_H

#include <warpbayes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opened when the package is loaded. */
extern const warpbayes_table *wb;

/* calls.c */
SEXP client_open(SEXP version);
SEXP client_draw(SEXP what, SEXP source, SEXP size, SEXP a, SEXP b, SEXP is_log);
SEXP client_stream(SEXP what, SEXP source, SEXP count, SEXP a, SEXP b, SEXP is_log);
SEXP client_rows_draw(SEXP what, SEXP source, SEXP size, SEXP a, SEXP b, SEXP flag);
SEXP client_stream_row(SEXP what, SEXP source, SEXP a, SEXP b, SEXP flag);
SEXP client_seed(SEXP value);
SEXP client_categorical(SEXP source, SEXP weights, SEXP is_log, SEXP draws);
SEXP client_convolve(SEXP p, SEXP q, SEXP is_log, SEXP accuracy, SEXP threads);
SEXP client_mixture(SEXP source, SEXP mixture, SEXP x, SEXP allocate);

/* hostile.c */
SEXP client_hostile(void);

/* rows.cpp */
SEXP client_rows(SEXP seed, SEXP rows, SEXP threads);
SEXP client_open_cpp(void);

/* The samplers of the vignette, vignettes/probit.cpp and vignettes/mislabelled.c. */
SEXP probit_call(SEXP x, SEXP y, SEXP sweeps, SEXP seed, SEXP threads);
SEXP mislabelled(SEXP x, SEXP y, SEXP sweeps, SEXP seed, SEXP threads);

#ifdef __cplusplus
}
#endif
#endif
