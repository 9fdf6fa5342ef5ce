/* Kernels whose loops must be unrolled. run.sh counts the multiply-adds in them. They are the largest kernel of each
 * kind, and one that was not unrolled when lines of the triangle were a loop. */
#include "cuda/mixture/draw_tensor.cuh"

namespace wb {

#define DRAW(Real, P, R) \
  template __global__ void mixture_draw<Real, P, R>(const Real *, int, const Real *, int, const Real *, \
                                                    const int32_t *, uint64_t, uint32_t, uint64_t, int64_t, int32_t *, \
                                                    Real *);
DRAW(float, 28, 4)
DRAW(float, 40, 4)
DRAW(double, 40, 2)
template __global__ void mixture_draw_tensor<12>(const double *, int, const double *, int, const double *,
                                                 const int32_t *, uint64_t, uint32_t, uint64_t, int64_t, int32_t *,
                                                 double *);

} // namespace wb
