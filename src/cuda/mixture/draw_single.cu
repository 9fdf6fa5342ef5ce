/* Compiles the kernels of cuda/mixture/draw_tile.cuh in single precision. */
#include "cuda/mixture/draw_tile.cuh"

template wb::mixture_draw_kernel<float> wb::find_mixture_draw<float>(int p);
template wb::mixture_evaluate_kernel<float> wb::find_mixture_evaluate<float>(int p);
