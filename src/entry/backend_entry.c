/* Entries for R/run_backend.R: the backends, the processor and the devices of this machine. */
#include "entry/entry.h"

#include "cpu/table.h"
#include "numeric/idle.h"

#define WB_QUOTE(x) #x
#define WB_VERSION_TEXT(major, minor, patch) WB_QUOTE(major) "." WB_QUOTE(minor) "." WB_QUOTE(patch)

static const char *compiler(void) {
#if defined(__clang__)
  return "clang " WB_VERSION_TEXT(__clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return "gcc " WB_VERSION_TEXT(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "an unknown compiler";
#endif
}

/* A backend exists as long as the process. */
static SEXP backend_pointer(const wb_backend *backend) {
  return R_MakeExternalPtr((void *)backend, R_NilValue, R_NilValue);
}

static void release_plugin(SEXP pointer) {
  const wb_backend *backend = (const wb_backend *)R_ExternalPtrAddr(pointer);
  if (backend->release) backend->release(); /* a plugin may have none */
}

SEXP wb_entry_backend_abi(void) {
  SEXP abi = Rf_allocVector(INTSXP, 2);
  INTEGER(abi)[0] = WB_ABI_VERSION;
  INTEGER(abi)[1] = (int)sizeof(wb_backend);
  return abi;
}

/* The options that resolve_run() of R/run_resolve.R reads, but the threads. R's options() is several times slower. */
SEXP wb_entry_backend_options(void) {
  static const char *const names[] = {"warpbayes.backend", "warpbayes.plugin", "warpbayes.isa", "warpbayes.device",
                                      "warpbayes.device_memory"};
  SEXP values = PROTECT(Rf_allocVector(VECSXP, 5));
  for (int i = 0; i < 5; ++i) SET_VECTOR_ELT(values, i, Rf_GetOption1(Rf_install(names[i])));
  return wb_finish(values, WB_OK, NULL);
}

SEXP wb_entry_backend_cpu(void) { return backend_pointer(wb_cpu_backend()); }

SEXP wb_entry_backend_processor(void) {
  SEXP processor = PROTECT(wb_list_new("isa fma cores openmp forked compiler"));
  SET_VECTOR_ELT(processor, 0, Rf_ScalarInteger((int)wb_cpu_isa()));
  SET_VECTOR_ELT(processor, 1, Rf_ScalarLogical(wb_cpu_fma()));
  SET_VECTOR_ELT(processor, 2, Rf_ScalarInteger(wb_cpu_cores()));
  SET_VECTOR_ELT(processor, 3, Rf_ScalarLogical(wb_cpu_openmp()));
  SET_VECTOR_ELT(processor, 4, Rf_ScalarLogical(wb_forked()));
  SET_VECTOR_ELT(processor, 5, Rf_mkString(compiler()));
  return wb_finish(processor, WB_OK, NULL);
}

/* `symbol`: address of the plugin's function. Another version's plugin is refused before its backend is called. */
SEXP wb_entry_backend_open(SEXP symbol) {
  typedef const wb_backend *(*plugin_function)(void);
  wb_message message;
  plugin_function plugin = (plugin_function)R_ExternalPtrAddrFn(symbol);
  const wb_backend *backend = plugin ? plugin() : NULL;
  if (!backend) return wb_failure(wb_fail(&message, WB_ERROR_BACKEND, "the plugin returned no backend"), &message);
  if (backend->abi_version != WB_ABI_VERSION || backend->size != sizeof(wb_backend)) {
    return wb_failure(wb_fail(&message, WB_ERROR_BACKEND,
                              "the plugin was built for another version of warpbayes (interface %u of %u bytes, "
                              "this package has %u of %u)",
                              (unsigned)backend->abi_version, (unsigned)backend->size, (unsigned)WB_ABI_VERSION,
                              (unsigned)sizeof(wb_backend)),
                      &message);
  }
  SEXP pointer = PROTECT(backend_pointer(backend));
  wb_finalize_by(pointer, release_plugin);
  return wb_finish(pointer, WB_OK, NULL);
}

SEXP wb_entry_backend_devices(SEXP pointer) {
  const wb_backend *backend = (const wb_backend *)R_ExternalPtrAddr(pointer);
  wb_message message;
  int32_t count = 0;
  message.text[0] = '\0';
  int status = backend->device_count(&count, &message);
  if (status != WB_OK) return wb_failure(status, &message);
  SEXP devices = PROTECT(wb_list_new("device name memory memory_free major minor driver runtime"));
  for (int column = 0; column < 8; ++column) {
    SEXPTYPE type = column == 1 ? STRSXP : column == 2 || column == 3 ? REALSXP : INTSXP;
    SET_VECTOR_ELT(devices, column, Rf_allocVector(type, count));
  }
  for (int32_t i = 0; i < count; ++i) {
    wb_device device;
    status = backend->device_describe(i, &device, &message);
    if (status != WB_OK) return wb_finish(devices, status, &message);
    INTEGER(VECTOR_ELT(devices, 0))[i] = i;
    SET_STRING_ELT(VECTOR_ELT(devices, 1), i, Rf_mkChar(device.name));
    REAL(VECTOR_ELT(devices, 2))[i] = (double)device.memory;
    REAL(VECTOR_ELT(devices, 3))[i] = (double)device.memory_free;
    INTEGER(VECTOR_ELT(devices, 4))[i] = device.major;
    INTEGER(VECTOR_ELT(devices, 5))[i] = device.minor;
    INTEGER(VECTOR_ELT(devices, 6))[i] = device.driver;
    INTEGER(VECTOR_ELT(devices, 7))[i] = device.runtime;
  }
  return wb_finish(devices, WB_OK, NULL);
}

SEXP wb_entry_backend_release(SEXP run) {
  const wb_backend *backend = wb_call_from_list(run, NULL).backend;
  if (backend->release) backend->release();
  return R_NilValue;
}

SEXP wb_entry_backend_idle_threads(SEXP wanted) { return Rf_ScalarInteger(wb_idle_threads(Rf_asInteger(wanted))); }
