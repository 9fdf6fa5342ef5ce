/* The checks that the functions of the C interface share. */
#include "interface/interface.h"

#include "cpu/table.h"
#include "numeric/variates.h"
#include "numeric/process.h"
#include "numeric/spread.h"

typedef char same_statuses[(int)WARPBAYES_OK == (int)WB_OK && (int)WARPBAYES_INPUT == (int)WB_ERROR_INPUT &&
                                   (int)WARPBAYES_MEMORY == (int)WB_ERROR_MEMORY &&
                                   (int)WARPBAYES_PACKAGE == (int)WB_ERROR_BACKEND
                               ? 1
                               : -1];
typedef char same_messages[sizeof(warpbayes_message) == sizeof(wb_message) ? 1 : -1];

/* The largest size of a vector of R. */
#define MOST_NUMBERS ((int64_t)1 << 52)
/* Numbers of elements have 48 bits. */
#define MOST_ELEMENTS ((uint64_t)1 << 48)
#define MOST_THREADS 4096
/* On machines with fewer cores so many threads are allowed, to compare their results. */
#define THREADS_ANYWHERE 8

wb_message *wb_interface_begin(wb_interface_call *call, warpbayes_message *message) {
  const wb_backend *const processor = wb_cpu_backend();
  call->message = message ? (wb_message *)message : &call->own;
  call->message->text[0] = '\0';
  call->call = (wb_call){.backend = processor, .processor = processor, .message = call->message};
  call->call.run = (wb_run){.threads = 1, .isa = wb_cpu_isa(), .spread = wb_spread};
  return call->message;
}

int wb_interface_threads(wb_interface_call *call, int32_t threads) {
  if (threads < 1 || threads > MOST_THREADS)
    return wb_fail(call->message, WB_ERROR_INPUT, "`threads` is %d, but must be from 1 to %d", (int)threads,
                   MOST_THREADS);
  if (threads == 1) return WB_OK;
  const int cores = wb_cpu_cores(), most = cores > THREADS_ANYWHERE ? cores : THREADS_ANYWHERE;
  call->call.run.threads = wb_forked() || !wb_cpu_openmp() ? 1 : threads < most ? threads : most;
  return WB_OK;
}

int wb_interface_source(wb_interface_call *call, const warpbayes_source *from, int64_t count) {
  WB_TRY(wb_interface_pointer("from", from, call->message));
  WB_TRY(wb_interface_threads(call, from->threads));
  if (count >= 0 && from->first < MOST_ELEMENTS && (uint64_t)count <= MOST_ELEMENTS - from->first) return WB_OK;
  return wb_fail(call->message, WB_ERROR_INPUT,
                 "`first` is %.0f, and %.0f elements follow: their numbers must be below 2^48", (double)from->first,
                 (double)count);
}

int wb_interface_size(const char *name, int64_t size, int64_t least, int64_t most, wb_message *message) {
  if (most <= 0 || most > MOST_NUMBERS) most = MOST_NUMBERS;
  if (size >= least && size <= most) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "`%s` is %.0f, but must be from %.0f to %.0f", name, (double)size,
                 (double)least, (double)most);
}

int wb_interface_pointer(const char *name, const void *pointer, wb_message *message) {
  if (pointer) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "`%s` is NULL", name);
}

int wb_interface_matrix(const char *name, int64_t rows, int64_t columns, wb_message *message) {
  if ((double)rows * (double)columns <= (double)MOST_NUMBERS) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "`%s` has %.0f rows and %.0f columns, more numbers than memory can hold",
                 name, (double)rows, (double)columns);
}

int wb_interface_numbers(const char *name, const double *values, int64_t length, double least, double most,
                         wb_message *message) {
  WB_TRY(wb_interface_pointer(name, values, message));
  if (length < 1)
    return wb_fail(message, WB_ERROR_INPUT, "`%s` has length %.0f, but needs at least one number", name,
                   (double)length);
  for (int64_t i = 0; i < length; i++) {
    if (values[i] >= least && values[i] <= most) continue;
    return wb_fail(message, WB_ERROR_INPUT,
                   "`%s` has the value %.17g at position %.0f, but must be from %.15g to %.15g", name, values[i],
                   (double)(i + 1), least, most);
  }
  return WB_OK;
}

uint64_t wb_interface_iterated_key(const warpbayes_source *from) {
  return from->iteration == 0 ? from->key : wb_chain_key_of(from->key, from->iteration);
}
