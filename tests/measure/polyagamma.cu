/* Times Polya-Gamma draws on a graphics card, without copies. */
#include "cuda/polyagamma/variables.cu"

#include "measure.h"
#include "shortest.cuh"

extern "C" MEASURE_EXPORT int wb_measure_polyagamma(int64_t count, double shape, double tilt, int32_t times,
                                                    double *seconds, const wb_run *run, wb_message *message) {
  wb::device_scope scope;
  wb::device_array<double> parameters, draws;
  const double both[] = {shape, tilt};
  WB_TRY(scope.enter(run->device, message));
  WB_TRY(parameters.hold(both, 2, "the parameters", message));
  WB_TRY(draws.allocate(static_cast<size_t>(count), "the draws", message));
  wb::draw_arguments a = {};
  a.count = static_cast<int32_t>(count);
  a.shape = parameters.data();
  a.tilt = parameters.data() + 1;
  a.key = 1;
  a.draws = draws.data();
  const int way = wb_polyagamma_way_of(a.method, shape, tilt);
  return measure_shortest(times, seconds, message,
                          [&] { return wb::launch_draws(way, a, nullptr, a.count, nullptr, message); });
}
