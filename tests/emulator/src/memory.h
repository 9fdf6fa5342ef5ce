/* The functions of allocations, streams and events that other files use. */
#ifndef WB_EMULATOR_MEMORY_H
#define WB_EMULATOR_MEMORY_H

#include <cuda_runtime.h>

#pragma GCC visibility push(hidden)
namespace wb_emulator {

/* Called after a launch: reports writes outside an allocation. */
void memory_check(const char *kernel);

/* Whether a stream exists and belongs to the current device. */
bool stream_usable(cudaStream_t stream);
/* The number of streams, events and graphs that exist; and of graphs alone. */
int handle_count(void);
int graph_count(void);

} // namespace wb_emulator
#pragma GCC visibility pop

#endif
