/* The queue of work for the device. By default work is done at once. With WB_EMULATOR_DEFER in the environment it is
 * done as late as CUDA allows: when a call waits for it, or for work that must follow it. */
#ifndef WB_EMULATOR_QUEUE_H
#define WB_EMULATOR_QUEUE_H

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

/* The number of a piece of work in the order of submission, from 1. */
typedef uint64_t Ticket;
static const Ticket ALL_WORK = UINT64_MAX;

bool queue_defers(void);
/* With WB_EMULATOR_DEFER=kernels copies are done as early as CUDA allows, and kernels as late as possible. */
bool queue_defers_kernels(void);
/* `after`: the last work before an event that the stream waits for. */
void queue_submit(cudaStream_t stream, std::function<void(void)> work, Ticket after = 0);
/* From now on the work of this stream is taken into a list, not done; or again done. */
void queue_capture(cudaStream_t stream, std::vector<std::function<void(void)>> *list);
/* Whether the work of this stream, or of any stream named by this thread, is taken in. */
bool queue_captures(cudaStream_t stream);
bool queue_captures(void);
/* The last work that a wait for the stream, or for all work so far, has to finish. */
Ticket queue_last(cudaStream_t stream);
Ticket queue_last(void);
/* Does this work, in order, after all work that it must follow. */
void queue_finish(Ticket last);
bool queue_finished(Ticket ticket);
/* Whether this stream and the default stream wait for each other (streams.cpp). */
bool stream_blocks(cudaStream_t stream);

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
