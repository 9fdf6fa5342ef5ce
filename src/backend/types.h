/* What the functions of every topic take and return: status, message, and where to run. */
#pragma once

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
  WB_ERROR_BACKEND = 4, /* the backend or the device is not available */
  WB_INTERRUPTED = 5    /* the user interrupted */
} wb_status;

#define WB_TRY(...) \
  do { \
    const int wb_tried = (__VA_ARGS__); \
    if (wb_tried != WB_OK) return wb_tried; \
  } while (0)

typedef struct wb_message {
  char text[512];
} wb_message;

typedef enum wb_precision { WB_DOUBLE = 0, WB_SINGLE = 1 } wb_precision;

/* Vector instruction sets of the processor's loops. The CUDA backend ignores them. */
typedef enum wb_isa {
  WB_ISA_BASELINE = 0,
  WB_ISA_AVX2 = 1,
  WB_ISA_AVX512 = 2,
  WB_ISA_NEON = 3 /* arm64 */
} wb_isa;

/* The most graphics cards that can share a call's work. */
#define WB_MOST_DEVICES 16

/* One of many independent pieces of work. */
typedef void wb_piece(void *context, int64_t piece);

/* Where a call runs. Results do not depend on it. */
typedef struct wb_run {
  int32_t threads; /* CPU threads, at least 1 */
  wb_isa isa;
  int32_t device;  /* index of the graphics card, from 0 */
  int32_t devices; /* how many cards share the work, if the topic can be shared: the first ones of `shared`, which
                          * begins with `device`; 0 or 1: `device` alone */
  int32_t shared[WB_MOST_DEVICES];
  uint64_t memory_limit; /* the most bytes of device memory to use; 0: all that is free */
  uint64_t host_memory;  /* how many bytes of host memory copies of the data may take; 0: none */
  /* For a backend without threads of its own: calls work(context, i) for every i below `pieces` on that many threads,
   * and returns when all are done (numeric/spread.h). NULL: one thread. */
  void (*spread)(int32_t threads, int64_t pieces, wb_piece *work, void *context);
} wb_run;

/* Long work asks on the calling thread whether to stop (numeric/poll.h); then WB_INTERRUPTED. */
typedef struct wb_poll {
  int (*interrupted)(void); /* whether to stop; NULL: never */
  double work;              /* nanoseconds of work since the last question */
} wb_poll;

typedef struct wb_device {
  char name[256];
  uint64_t memory;      /* bytes */
  uint64_t memory_free; /* bytes */
  int32_t major, minor; /* compute capability */
  int32_t driver;       /* version of the driver, 1000 * major + 10 * minor */
  int32_t runtime;      /* version of the runtime, in the same form */
} wb_device;

/* The order of sums over rows: a leaf's rows, this many, in order; leaves by a binary tree over their indices. */
#define WB_LEAF_ROWS 2048

/* Write one sentence into `message`, cut to its length; wb_fail() is `status` then. The plugin has its own function. */
#if defined(__GNUC__)
#define WB_LIKE_PRINTF(place) __attribute__((format(printf, place, (place) + 1)))
#else
#define WB_LIKE_PRINTF(place)
#endif
void wb_message_write(wb_message *message, const char *format, ...) WB_LIKE_PRINTF(2);
#define wb_fail(message, status, ...) (wb_message_write(message, __VA_ARGS__), (status))

#ifdef __cplusplus
}
#endif
