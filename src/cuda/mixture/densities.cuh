/* The sum of densities under several mixtures, which stays on the device until the last has been added: the
 * twin of wb_log_add_to(). */
#ifndef WB_CUDA_MIXTURE_DENSITIES_CUH
#define WB_CUDA_MIXTURE_DENSITIES_CUH

#include "core/log_sum.h"
#include "cuda/mixture/session.cuh"

namespace wb {

constexpr int DENSITY_THREADS = 256;

/* A thread a row. `step`: 1, or 0 where one unit is that of all rows. */
static __global__ void __launch_bounds__(DENSITY_THREADS)
    mixture_add_densities(int64_t rows, const double *log_density, const double *log_unit, int step, double *sum) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * DENSITY_THREADS + threadIdx.x;
  if (i < rows) sum[i] = wb_log_sum(sum[i], log_density[i] - log_unit[step * i]);
}

/* What mixtures are evaluated for in place of single predictions. */
struct mixture_densities {
  const double *log_unit;
  bool unit_each;      /* or one for all rows */
  double *log_density; /* on the host */
  bool begun;          /* whether some may have been added */
};

/* What is there already, for rows at..at + rows - 1, and their units: to `sum` and `unit` on the device. */
inline int send_densities(const wb_mixture_session *s, const mixture_densities &from, int64_t at, int64_t rows, double *sum, double *unit,
                          wb_message *message) {
  const size_t bytes = static_cast<size_t>(rows) * sizeof(double);
  cudaError_t error = cudaMemcpyAsync(sum, from.log_density + at, bytes, cudaMemcpyHostToDevice, s->stream.get());
  if (error == cudaSuccess)
    error = cudaMemcpyAsync(unit, from.log_unit + (from.unit_each ? at : 0), from.unit_each ? bytes : sizeof(double), cudaMemcpyHostToDevice,
                            s->stream.get());
  return status_of(error, "sending log densities", message);
}

inline int add_densities(const wb_mixture_session *s, const mixture_densities &from, int64_t rows, const double *log_density,
                         const double *unit, double *sum, wb_message *message) {
  launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(ceiling(rows, DENSITY_THREADS)));
  shape.threads = dim3(DENSITY_THREADS);
  shape.stream = s->stream.get();
  return launch(shape, mixture_add_densities, "adding densities", message, rows, log_density, unit, from.unit_each ? 1 : 0, sum);
}

inline int fetch_densities(const wb_mixture_session *s, const mixture_densities &to, int64_t at, int64_t rows, const double *sum,
                           wb_message *message) {
  return status_of(cudaMemcpyAsync(to.log_density + at, sum, static_cast<size_t>(rows) * sizeof(double), cudaMemcpyDeviceToHost,
                                   s->stream.get()),
                   "fetching log densities", message);
}

/* evaluate(first, count, sums) for as many of the mixtures at a time as there is memory for. */
template <typename Evaluate>
int as_many_as_fit(int32_t mixtures, mixture_densities sums, Evaluate evaluate) {
  int status = WB_OK;
  for (int32_t done = 0, together = mixtures; done < mixtures && status == WB_OK;) {
    const int32_t here = smaller(together, mixtures - done);
    sums.begun = false;
    status = evaluate(done, here, &sums);
    if (status == WB_ERROR_MEMORY && !sums.begun && here > 1) {
      status = WB_OK;
      together = here / 2;
    } else {
      done += here;
    }
  }
  return status;
}

} // namespace wb

#endif
