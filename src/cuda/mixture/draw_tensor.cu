/* Compiles the kernels of cuda/mixture/draw_tensor.cuh, one for each number of columns over 4, rounded up. */
#include "cuda/mixture/draw_tensor.cuh"

namespace wb {

template <int PANELS>
static mixture_draw_kernel<double> of_panels(int p) {
  if constexpr (PANELS > 1) {
    if (p <= 4 * (PANELS - 1)) return of_panels<PANELS - 1>(p);
  }
  return {4 * PANELS,
          TENSOR_THREADS,
          TENSOR_THREADS,
          sizeof(typename mixture_tensor_weights<PANELS>::shared_memory),
          mixture_layout::fragments,
          mixture_draw_tensor<PANELS>};
}

mixture_draw_kernel<double> find_mixture_draw_tensor(int p) { return of_panels<FRAGMENT_MOST_COLUMNS / 4>(p); }

bool has_tensor_code() {
#if defined(WB_EMULATOR)
  return true;
#elif defined(__CUDA_ARCH_LIST__)
  /* The virtual generations for which nvcc compiles this file, times 10. */
  for (const int generation : {__CUDA_ARCH_LIST__})
    if (generation == 10 * TENSOR_CAPABILITY) return true;
  return false;
#else
  return false;
#endif
}

} // namespace wb
