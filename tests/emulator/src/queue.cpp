/* The work of all streams, in the order of submission. By default work is done at once, which is one of the orders that
 * CUDA may choose. Deferred work is done when a call waits for it, with only the work that it must follow: work of the
 * same stream, work before an event that the stream waits for, and what the default stream orders. If a kernel failed,
 * all later work of its device is dropped. */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

#include <deque>
#include <map>
#include <set>

#include "faults.h"

namespace wb_emulator {

struct Work {
  Ticket ticket;
  cudaStream_t stream;
  int device;
  Ticket after; /* the last work before an event that this work waits for; 0 if none */
  std::function<void(void)> run;
};

static std::deque<Work> &queue(void) {
  static std::deque<Work> *const all = new std::deque<Work>();
  return *all;
}

static Ticket given;

bool queue_defers(void) { return getenv("WB_EMULATOR_DEFER") != NULL; }

bool queue_defers_kernels(void) {
  const char *const value = getenv("WB_EMULATOR_DEFER");
  return value != NULL && strcmp(value, "kernels") == 0;
}

static bool is_default(cudaStream_t stream) { return stream == NULL || stream == cudaStreamLegacy; }

static void run(const Work &work) {
  const int device = current_device();
  set_current_device(work.device);
  if (!kernel_failed()) work.run();
  set_current_device(device);
}

/* A stream, and the list that takes its work in. A thread may have one. */
static thread_local std::pair<cudaStream_t, std::vector<std::function<void(void)>> *> capture;

void queue_capture(cudaStream_t stream, std::vector<std::function<void(void)>> *list) { capture = {stream, list}; }
bool queue_captures(cudaStream_t stream) { return capture.second != NULL && capture.first == stream; }
bool queue_captures(void) { return capture.second != NULL; }

void queue_submit(cudaStream_t stream, std::function<void(void)> work, Ticket after) {
  if (queue_captures(stream)) {
    capture.second->push_back(std::move(work));
    return;
  }
  queue().push_back(Work{++given, stream, current_device(), after, std::move(work)});
  if (!queue_defers()) queue_finish(ALL_WORK);
}

Ticket queue_last(void) { return given; }

/* The default stream waits for all other streams except non-blocking ones. Here, for simplicity, it waits for all. */
Ticket queue_last(cudaStream_t stream) {
  if (is_default(stream)) return ALL_WORK;
  for (auto work = queue().rbegin(); work != queue().rend(); ++work)
    if (work->stream == stream) return work->ticket;
  return 0;
}

/* The tickets of `last` and of all work that must be done before it. */
static std::set<Ticket> needed_for(Ticket last) {
  std::set<Ticket> needed;
  std::set<cudaStream_t> streams; /* their earlier work is needed */
  std::map<int, bool> all;        /* devices: all their earlier work is needed, for their default stream waits for it */
  std::set<int> defaults;         /* devices: their default stream is needed, because other work follows it */
  needed.insert(last);
  for (auto work = queue().rbegin(); work != queue().rend(); ++work) {
    const bool by_default = is_default(work->stream);
    const bool blocks = by_default || stream_blocks(work->stream);
    if (needed.count(work->ticket) == 0 && streams.count(work->stream) == 0 && !(all[work->device] && blocks) &&
        !(by_default && defaults.count(work->device) != 0))
      continue;
    needed.insert(work->ticket);
    if (by_default) all[work->device] = true;
    else streams.insert(work->stream);
    if (blocks) defaults.insert(work->device);
    if (work->after != 0) needed.insert(work->after);
  }
  return needed;
}

void queue_finish(Ticket last) {
  const bool everything = last == ALL_WORK;
  const std::set<Ticket> needed = everything || queue().empty() ? std::set<Ticket>() : needed_for(last);
  std::deque<Work> waiting;
  /* This work may itself wait for other work and call this function again. */
  waiting.swap(queue());
  for (auto work = waiting.begin(); work != waiting.end(); ++work) {
    if (everything || needed.count(work->ticket) != 0) run(*work);
    else queue().push_back(std::move(*work));
  }
}

bool queue_finished(Ticket ticket) {
  for (const Work &work : queue())
    if (work.ticket == ticket) return false;
  return true;
}

} // namespace wb_emulator
