/* Opens the C interface of warpbayes when the package is loaded, and registers what R calls. */
#include "client.h"

#include <R_ext/Visibility.h>

const warpbayes_table *wb;

#define CALL(name, arguments) \
  { #name, (DL_FUNC)&name, arguments }

static const R_CallMethodDef calls[] = {
    CALL(client_open, 1),       CALL(client_draw, 6),    CALL(client_stream, 6),  CALL(client_rows_draw, 6),
    CALL(client_stream_row, 5), CALL(client_seed, 1),    CALL(probit_call, 5),    CALL(client_categorical, 4),
    CALL(client_convolve, 5),   CALL(client_mixture, 4), CALL(client_hostile, 0), CALL(client_rows, 3),
    CALL(client_open_cpp, 0),   CALL(mislabelled, 5),    {NULL, NULL, 0}};

void attribute_visible R_init_warpclient(DllInfo *dll) {
  warpbayes_message message;
  if (warpbayes_open(&wb, WARPBAYES_VERSION, &message)) Rf_error("%s", message.text);
  R_registerRoutines(dll, NULL, calls, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
