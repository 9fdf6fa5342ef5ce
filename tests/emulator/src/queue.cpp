/* One queue for all streams: to do their work in the order in which it was given is
 * one of the orders that CUDA may choose. Work of a device whose kernel failed is
 * dropped. */
#include "queue.h"

#include <stdlib.h>

#include <deque>

#include "faults.h"

namespace wb_emulator {

struct Work {
  Ticket ticket;
  cudaStream_t stream;
  int device;
  std::function<void(void)> run;
};

static std::deque<Work> &queue(void) {
  static std::deque<Work> *const all = new std::deque<Work>();
  return *all;
}

static Ticket given, finished;

bool queue_defers(void) { return getenv("WB_EMULATOR_DEFER") != NULL; }

static void run(const Work &work) {
  const int device = current_device();
  set_current_device(work.device);
  if (!kernel_failed()) work.run();
  set_current_device(device);
  finished = work.ticket;
}

void queue_submit(cudaStream_t stream, std::function<void(void)> work) {
  queue().push_back(Work{++given, stream, current_device(), std::move(work)});
  if (!queue_defers()) queue_finish(ALL_WORK);
}

Ticket queue_last(void) { return given; }

/* The default stream waits for all others. */
Ticket queue_last(cudaStream_t stream) {
  if (stream == NULL || stream == cudaStreamLegacy) return given;
  for (auto work = queue().rbegin(); work != queue().rend(); ++work)
    if (work->stream == stream) return work->ticket;
  return 0;
}

void queue_finish(Ticket last) {
  while (!queue().empty() && queue().front().ticket <= last) {
    const Work work = std::move(queue().front());
    queue().pop_front();
    run(work);
  }
}

bool queue_finished(Ticket ticket) { return ticket <= finished; }

}  // namespace wb_emulator
