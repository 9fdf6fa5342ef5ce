/* What every function of a backend speaks in: a status, a message, where to run. */
#ifndef WB_BACKEND_TYPES_H
#define WB_BACKEND_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wb_status {
  WB_OK = 0,
  WB_ERROR_INPUT = 1,   /* the caller's values cannot be used */
  WB_ERROR_DEVICE = 2,  /* the device failed while computing */
  WB_ERROR_MEMORY = 3,  /* host or device memory ran out */
  WB_ERROR_BACKEND = 4, /* the backend or the device asked for is not there */
  WB_INTERRUPTED = 5    /* the user interrupted; no function of a backend returns it */
} wb_status;

typedef struct wb_message {
  char text[512];
} wb_message;

typedef enum wb_precision { WB_DOUBLE = 0, WB_SINGLE = 1 } wb_precision;

/* Vector instruction sets of the CPU loops; a backend without them ignores it. */
typedef enum wb_isa {
  WB_ISA_BASELINE = 0,
  WB_ISA_AVX2 = 1,
  WB_ISA_AVX512 = 2
} wb_isa;

/* Where and how a call runs. Results do not depend on it. */
typedef struct wb_run {
  int32_t threads; /* CPU threads, at least 1 */
  wb_isa isa;
  int32_t device;        /* index of the graphics card, from 0 */
  uint64_t memory_limit; /* bytes of device memory to stay within, 0: what is free */
} wb_run;

typedef struct wb_device {
  char name[256];
  uint64_t memory;      /* bytes */
  uint64_t memory_free; /* bytes */
  int32_t major, minor; /* compute capability */
  int32_t driver;       /* version of the driver, 1000 * major + 10 * minor */
  int32_t runtime;      /* version of the runtime, likewise */
} wb_device;

/* Writes one sentence into `message`, cut to its length. */
void wb_message_write(wb_message *message, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
