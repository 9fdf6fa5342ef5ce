/* Which kernel serves how many columns: the kernels of cuda/mixture/draw_tile.cuh are compiled for
 * some orders of the triangle, and a row of p columns takes the next larger one. */
#ifndef WB_CUDA_MIXTURE_ORDERS_CUH
#define WB_CUDA_MIXTURE_ORDERS_CUH

#include "cuda/mixture/draw_tile.cuh"

namespace wb {

/* As many rows a thread as the registers have room for, beside which enough warps run. */
template <typename Real>
constexpr int rows_per_thread(int order) {
  if (sizeof(Real) == sizeof(float)) return order <= 16 ? 6 : 4;
  return order <= 16 ? 4 : order <= 24 ? 3 : 2;
}

template <typename Real, int P>
mixture_draw_kernel<Real> mixture_draw_of_order() {
  constexpr int R = rows_per_thread<Real>(P);
  return {P, R, MIXTURE_THREADS, 0, false, mixture_draw<Real, P, R>};
}
template <typename Real, int P>
mixture_evaluate_kernel<Real> mixture_evaluate_of_order() {
  constexpr int R = rows_per_thread<Real>(P);
  return {P, R, mixture_evaluate<Real, P, R>};
}

template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw(int p) {
  if (p <= 2) return mixture_draw_of_order<Real, 2>();
  if (p <= 4) return mixture_draw_of_order<Real, 4>();
  if (p <= 6) return mixture_draw_of_order<Real, 6>();
  if (p <= 8) return mixture_draw_of_order<Real, 8>();
  if (p <= 10) return mixture_draw_of_order<Real, 10>();
  if (p <= 12) return mixture_draw_of_order<Real, 12>();
  if (p <= 14) return mixture_draw_of_order<Real, 14>();
  if (p <= 16) return mixture_draw_of_order<Real, 16>();
  if (p <= 18) return mixture_draw_of_order<Real, 18>();
  if (p <= 20) return mixture_draw_of_order<Real, 20>();
  if (p <= 22) return mixture_draw_of_order<Real, 22>();
  if (p <= 24) return mixture_draw_of_order<Real, 24>();
  if (p <= 28) return mixture_draw_of_order<Real, 28>();
  if constexpr (sizeof(Real) == sizeof(float)) { /* in double precision tensor cores serve the panels of many markers */
    if (p <= 30) return mixture_draw_of_order<Real, 30>();
  }
  if (p <= 32) return mixture_draw_of_order<Real, 32>();
  if (p <= 40) return mixture_draw_of_order<Real, 40>();
  return {(p + 3) / 4 * 4, 4, MIXTURE_THREADS, 0, false, mixture_draw<Real, 0, 4>};
}

/* Predictions are asked for seldom: fewer orders make the plugin smaller. */
template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate(int p) {
  if (p <= 4) return mixture_evaluate_of_order<Real, 4>();
  if (p <= 8) return mixture_evaluate_of_order<Real, 8>();
  if (p <= 16) return mixture_evaluate_of_order<Real, 16>();
  if (p <= 24) return mixture_evaluate_of_order<Real, 24>();
  if (p <= 40) return mixture_evaluate_of_order<Real, 40>();
  return {(p + 3) / 4 * 4, 4, mixture_evaluate<Real, 0, 4>};
}

} // namespace wb

#endif
