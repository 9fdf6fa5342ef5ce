/* Compiles the kernels of cuda/mixture/draw_wide.cuh. */
#include "cuda/mixture/draw_wide.cuh"

namespace wb {

/* Shared memory of a block on a card with the tensor cores of tensor_cores.cuh. */
constexpr size_t WIDE_MOST_BYTES = 227 * 1024;

template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw_wide(int p) {
  const size_t bytes = wide_bytes<Real>(p);
  if (bytes > WIDE_MOST_BYTES) return {};
  return {p, WIDE_THREADS, WIDE_THREADS, bytes, mixture_layout::fragments, mixture_draw_wide<Real>};
}
WB_BOTH_PRECISIONS(find_mixture_draw_wide)

template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate_wide(int p) {
  const size_t bytes = wide_bytes<Real>(p);
  if (bytes > WIDE_MOST_BYTES) return {};
  return {p, WIDE_THREADS, WIDE_THREADS, bytes, mixture_layout::fragments, mixture_evaluate_wide<Real>};
}
WB_BOTH_PRECISIONS(find_mixture_evaluate_wide)

} // namespace wb
