/* The table of the C interface. */
#include "interface/interface.h"

#include "numeric/process.h"

/* Functions are added at the end, and WARPBAYES_VERSION is raised. Nothing is changed or removed. */
#define ENTRY(name) .name = wb_interface_##name,
static const warpbayes_table table = {WB_INTERFACE(ENTRY).version = WARPBAYES_VERSION, .size = sizeof(warpbayes_table)};

const warpbayes_table *wb_interface_table(void) {
  wb_unload_forbid("another package uses it");
  return &table;
}
