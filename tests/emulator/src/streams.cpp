/* Streams and events. A handle must exist and is used on its own device. An event stands for the work that was
 * submitted before it was recorded. */
#include <stdio.h>
#include <time.h>

#include <set>

#include "faults.h"
#include "memory.h"
#include "queue.h"

struct CUstream_st {
  int device;
  bool blocks;
};
struct CUevent_st {
  int device;
  bool timed, recorded;
  wb_emulator::Ticket ticket;
  struct timespec time;
};

namespace wb_emulator {

static std::set<cudaStream_t> &streams(void) {
  static std::set<cudaStream_t> *const all = new std::set<cudaStream_t>();
  return *all;
}
static std::set<cudaEvent_t> &events(void) {
  static std::set<cudaEvent_t> *const all = new std::set<cudaEvent_t>();
  return *all;
}

bool stream_usable(cudaStream_t stream) {
  if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return true;
  return streams().count(stream) != 0 && stream->device == current_device();
}

/* A stream that has been destroyed has no work left. */
bool stream_blocks(cudaStream_t stream) { return streams().count(stream) == 0 || stream->blocks; }

int handle_count(void) { return (int)(streams().size() + events().size()) + graph_count(); }

__attribute__((destructor)) static void report_leaks(void) {
  if (!streams().empty()) report("never destroyed: %zu streams", streams().size());
  if (!events().empty()) report("never destroyed: %zu events", events().size());
}

/* Waits for the stream. */
static cudaError_t finish_stream(const char *name, cudaStream_t stream) {
  const Lock lock;
  Call call(name, SYNCHRONISES, queue_last(stream));
  if (call.failed()) return call.error();
  if (!stream_usable(stream)) return call.refuse(cudaErrorInvalidResourceHandle, "stream %p", (void *)stream);
  return call.finish(cudaSuccess);
}

static cudaError_t finish_event(const char *name, cudaEvent_t event) {
  const Lock lock;
  const bool known = events().count(event) != 0;
  Call call(name, SYNCHRONISES, known ? event->ticket : 0);
  if (call.failed()) return call.error();
  if (!known) return call.refuse(cudaErrorInvalidResourceHandle, "event %p", (void *)event);
  return call.finish(cudaSuccess);
}

} // namespace wb_emulator

using namespace wb_emulator;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
  Call call("cudaStreamCreate", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  *stream = new CUstream_st{current_device(), (flags & cudaStreamNonBlocking) == 0};
  streams().insert(*stream);
  return call.finish(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
/* Priorities change nothing, because work is done in the order of submission. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  Call call("cudaDeviceGetStreamPriorityRange", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  *least = 0;
  *greatest = -5;
  return call.finish(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock;
  Call call("cudaStreamDestroy", SYNCHRONISES, queue_last(stream));
  if (streams().erase(stream) == 0) return call.refuse(cudaErrorInvalidResourceHandle, "stream %p", (void *)stream);
  delete stream;
  return call.finish(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return finish_stream("cudaStreamSynchronize", stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return finish_stream("cudaStreamQuery", stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  Call call("cudaStreamWaitEvent", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (!stream_usable(stream) || events().count(event) == 0)
    return call.refuse(cudaErrorInvalidResourceHandle, "stream %p, event %p", (void *)stream, (void *)event);
  if (event->recorded)
    queue_submit(
        stream, [] {}, event->ticket);
  return call.finish(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  Call call("cudaEventCreate", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  *event = new CUevent_st{current_device(), (flags & cudaEventDisableTiming) == 0, false, 0, {0, 0}};
  events().insert(*event);
  return call.finish(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  /* The event may have been recorded in several streams. */
  Call call("cudaEventDestroy", SYNCHRONISES);
  if (events().erase(event) == 0) return call.refuse(cudaErrorInvalidResourceHandle, "event %p", (void *)event);
  delete event;
  return call.finish(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Call call("cudaEventRecord", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (!stream_usable(stream) || events().count(event) == 0 || event->device != current_device())
    return call.refuse(cudaErrorInvalidResourceHandle, "event %p, stream %p", (void *)event, (void *)stream);
  queue_submit(stream, [event] { clock_gettime(CLOCK_MONOTONIC, &event->time); });
  event->recorded = true;
  event->ticket = queue_last();
  return call.finish(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return finish_event("cudaEventSynchronize", event); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return finish_event("cudaEventQuery", event); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  Call call("cudaEventElapsedTime", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (events().count(start) == 0 || events().count(end) == 0 || !start->recorded || !end->recorded || !start->timed ||
      !end->timed)
    return call.refuse(cudaErrorInvalidResourceHandle, "an event that was not recorded or not timed");
  if (!queue_finished(start->ticket) || !queue_finished(end->ticket)) return call.finish(cudaErrorNotReady);
  *milliseconds = (float)(1e3 * (double)(end->time.tv_sec - start->time.tv_sec) +
                          1e-6 * (double)(end->time.tv_nsec - start->time.tv_nsec));
  return call.finish(cudaSuccess);
}
