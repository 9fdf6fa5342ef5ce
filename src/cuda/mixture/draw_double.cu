/* Compiles the kernels of cuda/mixture/draw_tile.cuh in double precision. */
#include "cuda/mixture/draw_tile.cuh"

template wb::mixture_draw_kernel<double> wb::find_mixture_draw<double>(int p);
template wb::mixture_evaluate_kernel<double> wb::find_mixture_evaluate<double>(int p);
