/* Compiles the kernels of cuda/mixture/draw_tile.cuh in double precision. */
#include "cuda/mixture/draw_tile.cuh"

namespace wb {

template mixture_draw_kernel<double> find_mixture_draw<double>(int p);
template mixture_evaluate_kernel<double> find_mixture_evaluate<double>(int p);

} // namespace wb
