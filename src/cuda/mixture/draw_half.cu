/* Compiles the kernels of cuda/mixture/draw_half.cuh, one for each number of groups of eight lines. */
#include "cuda/mixture/draw_half.cuh"

namespace wb {

template <int GROUPS>
static mixture_draw_kernel<float> of_groups(int p) {
  if constexpr (GROUPS > half_groups(HALF_LEAST_COLUMNS)) {
    if (half_groups(p) < GROUPS) return of_groups<GROUPS - 1>(p);
  }
  /* A block may use 227 KB. The last columns of a group are the most; the first two have few lines. */
  static_assert(half_shared<GROUPS>(HALF_LINES * GROUPS - 1) <= 232448);
  static_assert(half_shared<GROUPS>(HALF_LINES * GROUPS - HALF_LINES + 1) <= 232448);
  constexpr int THREADS = half_threads(GROUPS);
  return {p, THREADS / 2, THREADS, half_shared<GROUPS>(p), mixture_layout::halves, mixture_draw_half<GROUPS>};
}

mixture_draw_kernel<float> find_mixture_draw_half(int p) { return of_groups<half_groups(HALF_MOST_COLUMNS)>(p); }

bool has_half_code() {
#if defined(WB_EMULATOR) || defined(WB_SM_90A)
  return true;
#else
  return false;
#endif
}

} // namespace wb
