/* Errors: how a call begins and ends, what a kernel's failure does to the calls
 * after it, and failures asked for by a test. */
#ifndef WB_EMULATOR_FAULTS_H
#define WB_EMULATOR_FAULTS_H

#include <cuda_runtime.h>

#include "queue.h"

#pragma GCC visibility push(hidden)
namespace wb_emulator {

enum CallKind {
  INFORMS = 0,       /* works without a context and in spite of earlier errors */
  NEEDS_CONTEXT = 1, /* fails for ever after a kernel's failure was seen */
  SYNCHRONISES = 3   /* and is where a kernel's failure is seen first */
};

/* One call of the CUDA runtime: holds the emulator's lock, counts the call, and
 * knows whether it must fail before it does anything. */
class Call {
 public:
  /* A call that synchronises finishes the work up to `last` first. */
  Call(const char *name, CallKind kind, Ticket last = ALL_WORK);
  ~Call();
  bool failed() const { return error_ != cudaSuccess; }
  cudaError_t error() const { return error_; }
  /* The call's result; an error is remembered for cudaGetLastError(). */
  cudaError_t finish(cudaError_t error);
  /* As finish(cudaErrorInvalidValue) or another error, with the reason on stderr. */
  cudaError_t refuse(cudaError_t error, const char *format, ...)
      __attribute__((format(printf, 3, 4)));

 private:
  const char *name_;
  cudaError_t error_;
};

/* The failure of a kernel, not yet seen by the host: returned by the next call that
 * synchronises and by every call from then on. */
void set_pending(cudaError_t error);
bool kernel_failed(void);

int current_device(void);
void set_current_device(int device);
int device_count(void);
size_t memory_limit(void);
void forget_errors(void);

/* One line on stderr, beginning with "emulator: ", and kept for wb_emulator_failure. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
