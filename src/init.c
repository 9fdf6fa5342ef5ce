/* Registers the entries, and the table of the C interface for other packages. R finds no other symbol. */
#include "entry/entry.h"
#include "interface/interface.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

static const R_CallMethodDef entries[] = {
/* The cast by way of void (*)(void) says that the change of type is meant: R calls an entry by its own type. */
#define ENTRY(name, arguments) {#name, (DL_FUNC)(void (*)(void))wb_entry_##name, arguments},
#include "entry/entries.h"
#undef ENTRY
    {NULL, NULL, 0}};

void attribute_visible R_init_warpbayes(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  R_RegisterCCallable("warpbayes", "warpbayes_table", (DL_FUNC)&wb_interface_table);
  wb_fork_watch();
}
