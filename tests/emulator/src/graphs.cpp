/* Graphs: the work that a stream took in, done again by each launch, in the order in which it came. */
#include <memory>
#include <set>

#include "faults.h"
#include "memory.h"
#include "queue.h"

typedef std::vector<std::function<void(void)>> List;
struct CUgraph_st {
  std::shared_ptr<List> work;
};
struct CUgraphExec_st {
  std::shared_ptr<List> work;
  int device;
};

namespace wb_emulator {

static thread_local cudaGraph_t taking;

static std::set<const void *> &graphs(void) {
  static std::set<const void *> *const all = new std::set<const void *>();
  return *all;
}

int graph_count(void) { return (int)graphs().size(); }

__attribute__((destructor)) static void report_leaks(void) {
  if (!graphs().empty()) report("never destroyed: %zu graphs", graphs().size());
}

template <typename Handle>
static cudaError_t destroy(const char *name, Handle handle) {
  Call call(name, NEEDS_CONTEXT);
  if (graphs().erase(handle) == 0) return call.refuse(cudaErrorInvalidValue, "graph %p", (const void *)handle);
  delete handle;
  return call.finish(cudaSuccess);
}

} // namespace wb_emulator

using namespace wb_emulator;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Call call("cudaStreamBeginCapture", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (stream == NULL || stream == cudaStreamLegacy || queue_captures())
    return call.refuse(cudaErrorStreamCaptureUnsupported, "stream %p", (void *)stream);
  if (!stream_usable(stream)) return call.refuse(cudaErrorInvalidResourceHandle, "stream %p", (void *)stream);
  taking = new CUgraph_st{std::make_shared<List>()};
  queue_capture(stream, taking->work.get());
  return call.finish(cudaSuccess);
}

/* Ends the capture even after an error, which it then returns. */
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  Call call("cudaStreamEndCapture", NEEDS_CONTEXT);
  *graph = NULL;
  if (!queue_captures(stream)) return call.refuse(cudaErrorInvalidValue, "stream %p takes nothing in", (void *)stream);
  queue_capture(NULL, NULL);
  const std::unique_ptr<CUgraph_st> taken(taking);
  if (call.failed()) return call.error();
  *graph = new CUgraph_st(*taken);
  graphs().insert(*graph);
  return call.finish(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  Call call("cudaGraphInstantiateWithFlags", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (graphs().count(graph) == 0) return call.refuse(cudaErrorInvalidValue, "graph %p", (void *)graph);
  *exec = new CUgraphExec_st{graph->work, current_device()};
  graphs().insert(*exec);
  return call.finish(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  Call call("cudaGraphLaunch", NEEDS_CONTEXT);
  if (call.failed()) return call.error();
  if (graphs().count(exec) == 0 || !stream_usable(stream) || exec->device != current_device())
    return call.refuse(cudaErrorInvalidResourceHandle, "graph %p, stream %p", (void *)exec, (void *)stream);
  queue_submit(stream, [work = exec->work] {
    for (const auto &one : *work)
      if (!kernel_failed()) one();
  });
  return call.finish(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy("cudaGraphDestroy", graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return destroy("cudaGraphExecDestroy", exec); }
