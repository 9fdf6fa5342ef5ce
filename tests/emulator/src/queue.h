/* Work given to the device: done at once, or, with WB_EMULATOR_DEFER in the
 * environment, as late as CUDA allows: when a call must wait for it. */
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
void queue_submit(cudaStream_t stream, std::function<void(void)> work);
/* What a wait for the stream, or for all that was given so far, has to finish. */
Ticket queue_last(cudaStream_t stream);
Ticket queue_last(void);
/* Does everything up to this, in order. */
void queue_finish(Ticket last);
bool queue_finished(Ticket ticket);

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
