/* Work given to the device: done at once, or, with WB_EMULATOR_DEFER in the
 * environment, as late as CUDA allows: when a call must wait for it, or for work that
 * must follow it. */
#ifndef WB_EMULATOR_QUEUE_H
#define WB_EMULATOR_QUEUE_H

#include <cuda_runtime.h>

#include <functional>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

/* Work is numbered in the order in which it was given, from 1. */
typedef uint64_t Ticket;
static const Ticket ALL_WORK = UINT64_MAX;

bool queue_defers(void);
/* With "kernels" in WB_EMULATOR_DEFER: copies are done as early as CUDA allows, what they need not follow as late. */
bool queue_defers_kernels(void);
/* `after`: the last work before an event that the stream is made to wait for. */
void queue_submit(cudaStream_t stream, std::function<void(void)> work, Ticket after = 0);
/* What a wait for the stream, or for all that was given so far, has to finish. */
Ticket queue_last(cudaStream_t stream);
Ticket queue_last(void);
/* Does this, and before it what it must follow, in order. */
void queue_finish(Ticket last);
bool queue_finished(Ticket ticket);
/* Whether the default stream and this one wait for each other (streams.cpp). */
bool stream_blocks(cudaStream_t stream);

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
