/* Compiles the kernels of cuda/mixture/draw_tile.cuh in single precision. */
#include "cuda/mixture/draw_tile.cuh"

namespace wb {

template mixture_draw_kernel<float> find_mixture_draw<float>(int p);
template mixture_evaluate_kernel<float> find_mixture_evaluate<float>(int p);

} // namespace wb
