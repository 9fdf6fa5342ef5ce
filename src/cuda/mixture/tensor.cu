/* Compiles the kernels that use tensor cores: those of cuda/mixture/tensor.cuh, one for each number of columns over 4, rounded up, and of
 * cuda/mixture/sum_tensor.cuh, one for each number of values over 8. */
#include "cuda/mixture/sum_tensor.cuh"
#include "cuda/mixture/tensor.cuh"

namespace wb {
namespace {

template <int PANELS>
mixture_draw_kernel<double> of_panels(int p) {
  if constexpr (PANELS > 1) {
    if (p <= 4 * (PANELS - 1)) return of_panels<PANELS - 1>(p);
  }
  return {4 * PANELS, 1, TENSOR_THREADS, sizeof(typename mixture_tensor_weights<PANELS>::shared_memory), true,
          mixture_draw_tensor<PANELS>};
}

template <typename Real, int TILES>
mixture_sum_kernel<Real> of_tiles(int p) {
  if constexpr (TILES > 1) {
    if (p + 1 <= 8 * (TILES - 1)) return of_tiles<Real, TILES - 1>(p);
  }
  return {1 << fused_levels(TILES), mixture_sum_tensor<Real, TILES>};
}

} // namespace

template <typename Real>
mixture_sum_kernel<Real> find_mixture_sum_tensor(int p) {
  return of_tiles<Real, (SUM_TENSOR_MOST_COLUMNS + 1) / 8>(p);
}
template mixture_sum_kernel<double> find_mixture_sum_tensor<double>(int p);
template mixture_sum_kernel<float> find_mixture_sum_tensor<float>(int p);

mixture_draw_kernel<double> find_mixture_draw_tensor(int p) {
  return of_panels<FRAGMENT_MOST_COLUMNS / 4>(p);
}

} // namespace wb
