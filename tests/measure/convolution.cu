/* Times the two kernels for direct sums on a graphics card. cuda/pmf/direct_sum.cu must choose the faster one for each
 * size. */
#include "cuda/pmf/direct_sum.cu"

#include "measure.h"
#include "shortest.cuh"

extern "C" MEASURE_EXPORT int wb_measure_convolution(int64_t pairs, int64_t n, int32_t skew, int32_t times,
                                                     double *seconds, const wb_run *run, wb_message *message) {
  wb::device_scope scope;
  wb::device_array<double> weights, sums;
  int processors = 0;
  WB_TRY(scope.enter(run->device, message));
  WB_TRY(wb::multiprocessors(run->device, &processors, message));
  WB_TRY(weights.allocate(static_cast<size_t>(pairs * n), "the weights", message));
  WB_TRY(sums.allocate(static_cast<size_t>(pairs * (2 * n - 1)), "the sums", message));
  WB_TRY(wb::status_of(cudaMemset(weights.data(), 0x3f, weights.bytes()), "filling the weights", message));
  /* Each byte 0x3f makes weights of about 5e-4. Pairs lie side by side, as the rows of R's matrices do. */
  wb_convolution a = {};
  a.pairs = pairs;
  a.m = a.n = n;
  a.count = 2 * n - 1;
  a.p = a.q = weights.data();
  a.r = sums.data();
  a.p_stride = a.q_stride = a.r_stride = pairs;
  a.p_pair_stride = a.q_pair_stride = a.r_pair_stride = 1;
  return measure_shortest(times, seconds, message, [&] {
    return skew ? wb::launch_skew(a, nullptr, message) : wb::launch_tiles(a, processors, nullptr, message);
  });
}
