/* Measures the time of kernels by CUDA's events. */
#ifndef MEASURE_SHORTEST_CUH
#define MEASURE_SHORTEST_CUH

#include "cuda/launch.cuh"

/* Calls start(), which launches kernels, `times` times between two events. *seconds is the shortest time. */
template <typename Start>
int measure_shortest(int32_t times, double *seconds, wb_message *message, Start start) {
  wb::event begin, end;
  int status = begin.create(true, message);
  if (status == WB_OK) status = end.create(true, message);
  for (int32_t turn = 0; turn < times && status == WB_OK; turn++) {
    float milliseconds = 0;
    status = begin.record(nullptr, message);
    if (status == WB_OK) status = start();
    if (status == WB_OK) status = end.record(nullptr, message);
    if (status == WB_OK) status = end.wait("measuring kernels", message);
    if (status == WB_OK)
      status = wb::status_of(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "reading the clock", message);
    const double now = static_cast<double>(milliseconds) / 1000;
    if (turn == 0 || now < *seconds) *seconds = now;
  }
  return status;
}

#endif
