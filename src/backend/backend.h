/* What a backend is: the tables of functions through which the host algorithms
 * reach a processor's loops (src/cpu) or a graphics card's kernels (src/cuda), one
 * table a topic.
 *
 * Plain C, no R headers: the same files are read by the package, by the CUDA
 * plugin and by the emulator. Every function returns a wb_status; on failure it
 * has written one sentence into `message`, released what it had taken, and left
 * its outputs unspecified. None prints, exits or jumps. Host arrays belong to
 * the caller. Functions of one session are called from one thread at a time.
 */
#ifndef WB_BACKEND_H
#define WB_BACKEND_H

#include "backend/convolution.h"
#include "backend/mixture.h"
#include "backend/topic_model.h"
#include "backend/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by one whenever a struct or a function of these headers changes shape. */
#define WB_ABI_VERSION 4

typedef struct wb_backend {
  uint32_t abi_version;
  uint32_t size; /* sizeof(wb_backend), a second guard against a stale plugin */
  const char *name;

  int (*device_count)(int32_t *count, wb_message *message);
  int (*device_describe)(int32_t index, wb_device *device, wb_message *message);

  /* Fused multiply-adds per second of the run's threads and instruction set, or of
   * its device: the best of three measurements of 50 ms each. */
  int (*multiply_add_rate)(const wb_run *run, wb_precision precision, double *rate, wb_message *message);

  /* NULL: this backend cannot do the topic (wb_backend_has). */
  const wb_mixture_functions *mixture;
  const wb_convolution_functions *convolution;
  const wb_topic_functions *topic_model;
} wb_backend;

/* The backend compiled into the package. */
const wb_backend *wb_cpu_backend(void);

/* What the plugin exports: the only symbol visible in it. */
#define WB_PLUGIN_SYMBOL "wb_plugin_backend"

/* WB_OK where the backend has these functions; else WB_ERROR_BACKEND, and the message
 * says that it does not do `topic` ("mixtures"). */
int wb_backend_has(const wb_backend *backend, const void *functions, const char *topic, wb_message *message);

#ifdef __cplusplus
}
#endif
#endif
