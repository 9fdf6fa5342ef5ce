/* Allocations, streams and events as the other parts need to know them. */
#ifndef WB_EMULATOR_MEMORY_H
#define WB_EMULATOR_MEMORY_H

#include <cuda_runtime.h>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

/* After a launch: whether it wrote beside an allocation. */
void memory_check(const char *kernel);

/* Whether a stream exists and belongs to the current device. */
bool stream_usable(cudaStream_t stream);
/* Streams and events that exist. */
int handle_count(void);

}  // namespace wb_emulator
#pragma GCC visibility pop

#endif
