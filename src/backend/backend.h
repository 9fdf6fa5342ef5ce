/* A backend is a set of tables of functions, one for each topic: the processor's (src/cpu) or the card's (src/cuda).
 *
 * Plain C without R's headers, for the package, the CUDA plugin and the emulator. Every function returns a wb_status.
 * One that fails has written one sentence into `message` and freed its memory; its outputs are unspecified. Host arrays
 * belong to the caller. A session's functions are called one at a time. */
#pragma once

#include "backend/categorical_table.h"
#include "backend/mixture_table.h"
#include "backend/pmf_table.h"
#include "backend/polyagamma_table.h"
#include "backend/predictive_table.h"
#include "backend/regression_table.h"
#include "backend/topic_model_table.h"
#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raise it by one whenever a struct or a function of these headers changes. */
#define WB_ABI_VERSION 28

typedef struct wb_backend {
  uint32_t abi_version;
  uint32_t size; /* sizeof(wb_backend): differs if a plugin was built from other headers */
  const char *name;

  int (*device_count)(int32_t *count, wb_message *message); /* 0: the next function is not called, and may be NULL */
  int (*device_describe)(int32_t index, wb_device *device, wb_message *message);
  /* Frees what the backend keeps between calls to be faster. NULL: nothing. */
  void (*release)(void);

  /* One table for each topic; NULL if this backend lacks the topic: see wb_backend_has(). */
  const wb_mixture_functions *mixture;
  const wb_pmf_functions *pmf;
  const wb_categorical_functions *categorical;
  const wb_topic_model_functions *topic_model;
  const wb_polyagamma_functions *polyagamma;
  const wb_regression_functions *regression;
  const wb_predictive_functions *predictive;
} wb_backend;

const wb_backend *wb_cpu_backend(void);

/* Where a host algorithm computes, how it can be stopped, and where it writes what went wrong. wb_call_from_list() of
 * entry/entry.h makes it from the list of resolve_run(). */
typedef struct wb_call {
  const wb_backend *backend;
  const wb_backend *processor; /* wb_cpu_backend(), for work too short or too unusual for another backend */
  wb_run run;
  wb_poll poll;
  wb_message *message;
} wb_call;

/* WB_ERROR_BACKEND, naming `topic` ("mixtures"), if the topic's pointer in the table, `functions`, is NULL. */
int wb_backend_has(const wb_backend *backend, const void *functions, const char *topic, wb_message *message);

#ifdef __cplusplus
}
#endif
