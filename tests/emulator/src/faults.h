/* Errors: the start and end of each runtime call, the effect of a kernel's failure on later calls, and failures that a
 * test asks for. */
#ifndef WB_EMULATOR_FAULTS_H
#define WB_EMULATOR_FAULTS_H

#include <cuda_runtime.h>

#include "queue.h"

#pragma GCC visibility push(hidden)
namespace wb_emulator {

enum CallKind {
  INFORMS = 0,       /* works without a context and after earlier errors */
  NEEDS_CONTEXT = 1, /* always fails once a kernel's failure was seen */
  SYNCHRONISES = 3   /* needs a context, and is the first to see a kernel's failure */
};

/* Holds the emulator's lock, which one thread may take several times. */
class Lock {
public:
  Lock();
  ~Lock();
};

/* One call of the CUDA runtime. It holds the lock, counts the call, and knows whether the call must fail before it does
 * anything. */
class Call : Lock {
public:
  /* A call that synchronises first finishes the work up to `last`. */
  Call(const char *name, CallKind kind, Ticket last = ALL_WORK);
  bool failed() const { return error_ != cudaSuccess; }
  cudaError_t error() const { return error_; }
  /* Returns the call's result and remembers an error for cudaGetLastError(). */
  cudaError_t finish(cudaError_t error);
  /* Like finish(error), and reports the reason. */
  cudaError_t refuse(cudaError_t error, const char *format, ...) __attribute__((format(printf, 3, 4)));

private:
  const char *name_;
  cudaError_t error_;
};

/* Records a kernel's failure that the host has not seen yet. The next call that synchronises returns it, and so does
 * every later call. */
void set_pending(cudaError_t error);
bool kernel_failed(void);

int current_device(void);
void set_current_device(int device);
int device_count(void);
size_t memory_limit(void);
void forget_errors(void);

/* Prints one line on stderr, beginning with "emulator: ", and keeps it for wb_emulator_failure. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
