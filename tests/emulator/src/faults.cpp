/* Errors as CUDA reports them. The next call that synchronises notices a launch that failed while it ran. The error is
 * then sticky: every call that needs the device's context returns it until the process ends, or until
 * wb_emulator_reset() here. */
#include "faults.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator.h"
#include "grid.h"

namespace wb_emulator {

static const int MAX_DEVICES = 16;
static const double DEFAULT_MEMORY = 4.0 * 1024 * 1024 * 1024;

static struct {
  pthread_mutex_t mutex;
  pid_t owner; /* the process that used the device first; 0 if none yet */
  int devices;
  double memory;
  int calls;
  int fail_at; /* the number of the call that fails, counted as `calls` is; 0 for none */
  cudaError_t fail_with;
  cudaError_t pending[MAX_DEVICES];
  cudaError_t sticky[MAX_DEVICES];
  char text[1024];
} state;

static thread_local cudaError_t last_error;
static thread_local int device;

static const struct {
  cudaError_t error;
  const char *name, *text;
} ERRORS[] = {
#define WB_EMULATOR_ROW(name, number, text) {name, #name, text},
    WB_EMULATOR_ERRORS(WB_EMULATOR_ROW)
#undef WB_EMULATOR_ROW
};

static cudaError_t error_from_text(const char *text) {
  for (const auto &row : ERRORS)
    if (strcmp(row.name, text) == 0) return row.error;
  return (cudaError_t)atoi(text);
}

__attribute__((constructor)) static void initialise(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&state.mutex, &attributes);
  const char *const devices = getenv("WB_EMULATOR_DEVICES");
  const char *const memory = getenv("WB_EMULATOR_MEMORY");
  const char *const at = getenv("WB_EMULATOR_FAIL_AT");
  const char *const with = getenv("WB_EMULATOR_FAIL_WITH");
  state.devices = devices != NULL ? atoi(devices) : 1;
  if (state.devices > MAX_DEVICES) state.devices = MAX_DEVICES;
  state.memory = memory != NULL ? atof(memory) : DEFAULT_MEMORY;
  state.fail_at = at != NULL ? atoi(at) : 0;
  state.fail_with = with != NULL ? error_from_text(with) : cudaErrorUnknown;
}

/* After these errors a context cannot be used again. */
static bool is_sticky(cudaError_t error) {
  return error == cudaErrorECCUncorrectable || (error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchFailure &&
                                                error != cudaErrorLaunchOutOfResources);
}

Call::Call(const char *name, CallKind kind, Ticket last) : name_(name), error_(cudaSuccess) {
  state.calls++;
  if (kind != INFORMS) {
    if (state.devices == 0) {
      error_ = cudaErrorNoDevice;
    } else if (state.owner == 0) {
      state.owner = getpid();
    } else if (state.owner != getpid()) {
      error_ = cudaErrorInitializationError; /* a context does not survive fork() */
    } else {
      if (kind == SYNCHRONISES) queue_finish(last);
      if (kind == SYNCHRONISES && state.pending[device] != cudaSuccess) {
        if (state.sticky[device] == cudaSuccess) state.sticky[device] = state.pending[device];
        state.pending[device] = cudaSuccess;
      }
      error_ = state.sticky[device];
    }
  }
  /* What waits may not be called by a thread that takes work into a graph. */
  if (error_ == cudaSuccess && kind == SYNCHRONISES && queue_captures()) error_ = cudaErrorStreamCaptureUnsupported;
  if (error_ == cudaSuccess && state.calls == state.fail_at) {
    report("call %d, %s, fails with %s as asked", state.calls, name, cudaGetErrorName(state.fail_with));
    if (!is_sticky(state.fail_with) || kind == INFORMS) error_ = state.fail_with;
    else if (kind == NEEDS_CONTEXT && strncmp(name, "cudaLaunch", 10) == 0) state.pending[device] = state.fail_with;
    else error_ = state.sticky[device] = state.fail_with;
  }
  if (error_ != cudaSuccess) last_error = error_;
}

Lock::Lock() { pthread_mutex_lock(&state.mutex); }
Lock::~Lock() { pthread_mutex_unlock(&state.mutex); }

cudaError_t Call::finish(cudaError_t error) {
  if (error_ != cudaSuccess) return error_;
  if (error != cudaSuccess) last_error = error;
  return error;
}

static void write_report(const char *prefix, const char *format, va_list arguments) {
  size_t used = (size_t)snprintf(state.text, sizeof state.text, "%s", prefix);
  if (used >= sizeof state.text) used = sizeof state.text - 1;
  vsnprintf(state.text + used, sizeof state.text - used, format, arguments);
  if (getenv("WB_EMULATOR_QUIET") == NULL) fprintf(stderr, "emulator: %s\n", state.text);
}

void report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_report("", format, arguments);
  va_end(arguments);
}

cudaError_t Call::refuse(cudaError_t error, const char *format, ...) {
  char prefix[128];
  snprintf(prefix, sizeof prefix, "%s: ", name_);
  va_list arguments;
  va_start(arguments, format);
  write_report(prefix, format, arguments);
  va_end(arguments);
  return finish(error);
}

void fail(cudaError_t error, const char *format, ...) {
  char prefix[600];
  snprintf(prefix, sizeof prefix, "kernel %s, block (%u,%u,%u), warp %u, thread (%u,%u,%u): ", block.kernel, blockIdx.x,
           blockIdx.y, blockIdx.z, current->warp->index, threadIdx.x, threadIdx.y, threadIdx.z);
  va_list arguments;
  va_start(arguments, format);
  write_report(prefix, format, arguments);
  va_end(arguments);
  set_pending(error);
  fiber_switch(&current->fiber, &block.host);
  __builtin_unreachable();
}

void trap(void) { fail(cudaErrorLaunchFailure, "__trap()"); }

void set_pending(cudaError_t error) {
  if (state.pending[device] == cudaSuccess) state.pending[device] = error;
}
bool kernel_failed(void) { return state.pending[device] != cudaSuccess || state.sticky[device] != cudaSuccess; }

int current_device(void) { return device; }
void set_current_device(int index) { device = index; }
int device_count(void) { return state.devices; }
size_t memory_limit(void) { return (size_t)state.memory; }

void forget_errors(void) {
  for (int i = 0; i < MAX_DEVICES; i++) state.pending[i] = state.sticky[i] = cudaSuccess;
  last_error = cudaSuccess;
}

} // namespace wb_emulator

using namespace wb_emulator;

const char *cudaGetErrorName(cudaError_t error) {
  for (const auto &row : ERRORS)
    if (row.error == error) return row.name;
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
  for (const auto &row : ERRORS)
    if (row.error == error) return row.text;
  return "unrecognized error code";
}

/* These two functions are not counted and never fail on request, because callers use them to clear an error. */
cudaError_t cudaGetLastError(void) {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError(void) {
  return state.sticky[device] != cudaSuccess ? state.sticky[device] : last_error;
}

void wb_emulator_fail(const int *at, const int *error) {
  state.fail_at = *at > 0 ? state.calls + *at : 0;
  state.fail_with = (cudaError_t)*error;
}
void wb_emulator_calls(int *count) { *count = state.calls; }
void wb_emulator_devices(const int *count) { state.devices = *count < MAX_DEVICES ? *count : MAX_DEVICES; }
void wb_emulator_memory(const double *bytes) { state.memory = *bytes > 0 ? *bytes : DEFAULT_MEMORY; }
void wb_emulator_failure(char **text, const int *size) { snprintf(*text, (size_t)*size, "%s", state.text); }
void wb_emulator_reset(void) {
  state.fail_at = 0;
  state.text[0] = 0;
  forget_errors();
}
