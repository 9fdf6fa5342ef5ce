/* Compiles the kernels of mixture_tile.cuh in double precision. */
#include "cuda/mixture_orders.cuh"

namespace wb {

template mixture_draw_kernel<double> find_mixture_draw<double>(int p);
template mixture_evaluate_kernel<double> find_mixture_evaluate<double>(int p);

} // namespace wb
