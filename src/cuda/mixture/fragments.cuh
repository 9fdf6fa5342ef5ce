/* How coefficients are laid out for cuda/mixture/tensor.cuh: sixteen components together, in the order in which the lanes of a
 * warp read them. */
#ifndef WB_CUDA_MIXTURE_FRAGMENTS_CUH
#define WB_CUDA_MIXTURE_FRAGMENTS_CUH

#include "core/block_draw.h"
#include "cuda/device.cuh"

namespace wb {

constexpr int FRAGMENT_COMPONENTS = 16, FRAGMENT_LINE = 64, FRAGMENT_MOST_COLUMNS = 48;
static_assert(FRAGMENT_COMPONENTS == WB_BLOCK_ITEMS, "one block of a draw is one block of a product of matrices");

/* Of a block of components, where line r of their triangles begins: their negative offsets, those of components i and i + 8
 * side by side, and then for each four columns up to the diagonal 64 coefficients, of lane 4g + q those of components g and g + 8 in
 * column q of the four; past the diagonal zeros. After the last line come the log constants, as the offsets do.
 * Four lines make a panel; lines that the triangle does not have are not there. */
constexpr __host__ __device__ int fragment_line(int r) {
  return FRAGMENT_COMPONENTS * r + FRAGMENT_LINE * ((r / 4 + 1) * (r / 4 * 2 + r % 4));
}
/* Values of a block. */
constexpr __host__ __device__ int fragment_block(int p) {
  return fragment_line(p) + FRAGMENT_COMPONENTS;
}
/* Of so many components. */
constexpr __host__ __device__ int fragment_blocks(int components) {
  return (components + FRAGMENT_COMPONENTS - 1) / FRAGMENT_COMPONENTS;
}

} // namespace wb

#endif
