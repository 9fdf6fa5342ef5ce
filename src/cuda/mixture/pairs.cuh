/* Rows of pairs of components, for split and merge moves (mixture/split_merge.c): the kernels
 * whose loops on the processor are in cpu/mixture/pairs.c. Every row knows its component by
 * the sorted key of its leaf that the last draw left (see cuda/mixture/sums.cuh), so that
 * threads of a warp mostly share a pair. What is added or compared across rows are whole
 * numbers: atomic operations in any order give the same result.
 */
#ifndef WB_CUDA_MIXTURE_PAIRS_CUH
#define WB_CUDA_MIXTURE_PAIRS_CUH

#include "core/mixture_half.h"
#include "cuda/mixture/sums.cuh"
#include "cuda/mixture/weights.cuh"

namespace wb {

/* A component's pair, negative where it has none, and its side. */
struct mixture_pairing {
  const int32_t *pair, *side;
};

constexpr int PAIR_THREADS = MIXTURE_THREADS;
static_assert(WB_LEAF_ROWS % PAIR_THREADS == 0, "a block has rows of one leaf");

/* The least ticket of each half of each pair. Grid: leaves x WB_LEAF_ROWS / PAIR_THREADS
 * blocks, a thread a row; reads 4 bytes a row. */
static __global__ void __launch_bounds__(PAIR_THREADS)
    mixture_tickets(const uint32_t *keys, mixture_pairing pairing, uint64_t key, uint32_t iteration, uint64_t first_row,
                    pair_word *least) {
  __shared__ pair_word here[2 * WB_MIXTURE_MOST_PAIRS];
  for (int i = static_cast<int>(threadIdx.x); i < 2 * WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS) here[i] = ~pair_word(0);
  __syncthreads();
  const int64_t slot = static_cast<int64_t>(blockIdx.x) * PAIR_THREADS + threadIdx.x;
  const uint32_t found = keys[slot];
  if (found != NO_ROW) {
    const int32_t pair = pairing.pair[found >> LEAF_BITS], side = pairing.side[found >> LEAF_BITS];
    if (pair >= 0) {
      const uint64_t row = first_row + static_cast<uint64_t>(slot) / WB_LEAF_ROWS * WB_LEAF_ROWS + (found & (WB_LEAF_ROWS - 1));
      const wb_bits bits = wb_philox(key, 0, static_cast<uint32_t>(row), wb_philox_c2(WB_PURPOSE_ANCHOR, row), iteration);
      if (side != 1) atomicMin(&here[2 * pair], static_cast<pair_word>(wb_half_ticket(wb_bits64(bits, 0), row)));
      if (side != 0) atomicMin(&here[2 * pair + 1], static_cast<pair_word>(wb_half_ticket(wb_bits64(bits, 1), row)));
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < 2 * WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS)
    if (here[i] != ~pair_word(0)) atomicMin(&least[i], here[i]);
}

/* What the halves are drawn with; see draw_halves() of backend/mixture_table.h. */
struct mixture_halving {
  mixture_pairing pairing;
  const int64_t *anchors;
  int known;
  uint64_t key;
  uint32_t iteration, step;
};

/* Draws the half of each row: halves[row] is 2 pair + half, or negative for a row of no pair. Adds to the pairs' log
 * probabilities, in units. Grid and blocks as above. 2 p(p + 3)/2 multiply-adds a row of a pair, whose coefficients
 * and values come through the caches. */
template <typename Real>
__global__ void __launch_bounds__(PAIR_THREADS)
    mixture_halves(const Real *x, int p, const Real *coefficients, const uint32_t *keys, mixture_halving halving,
                   uint64_t first_row, int32_t *halves, pair_word *log_probability) {
  __shared__ typename mixture_weights<Real, 0, 1>::shared_memory shared;
  __shared__ pair_word here[WB_MIXTURE_MOST_PAIRS];
  for (int i = static_cast<int>(threadIdx.x); i < WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS) here[i] = 0;
  __syncthreads();
  const int64_t slot = static_cast<int64_t>(blockIdx.x) * PAIR_THREADS + threadIdx.x;
  const uint32_t found = keys[slot];
  if (found != NO_ROW) {
    const int64_t at = slot / WB_LEAF_ROWS * WB_LEAF_ROWS + (found & (WB_LEAF_ROWS - 1));
    const int32_t pair = halving.pairing.pair[found >> LEAF_BITS], side = halving.pairing.side[found >> LEAF_BITS];
    int32_t drawn = -1;
    if (pair >= 0) {
      const uint64_t row = first_row + static_cast<uint64_t>(at);
      const Real *const values[1] = {first_value_of_row(x, p, at)};
      mixture_weights<Real, 0, 1> weights(shared, values, p, coefficients, 0);
      double difference = 0;
      weights.weigh(2 * pair, 2, [&](int j, int, Real log_weight) {
        difference = j == 0 ? -static_cast<double>(log_weight) : static_cast<double>(log_weight) + difference;
      });
      const int64_t *const anchors = halving.anchors + 2 * pair;
      int half = static_cast<int64_t>(row) == anchors[1];
      if (static_cast<int64_t>(row) != anchors[0] && static_cast<int64_t>(row) != anchors[1]) {
        const wb_bits bits = wb_philox(halving.key, halving.step, static_cast<uint32_t>(row), wb_philox_c2(WB_PURPOSE_HALF, row),
                                       halving.iteration);
        double log_first, log_second;
        half = wb_half_draw(difference, wb_bits64(bits, 0), &log_first, &log_second) > 0;
        if (halving.known && side >= 0) half = side;
        atomicAdd(&here[pair], static_cast<pair_word>(static_cast<long long>(half ? log_second : log_first)));
      }
      drawn = 2 * pair + half;
    }
    halves[at] = drawn;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS)
    if (here[i] != 0) atomicAdd(&log_probability[i], here[i]);
}

} // namespace wb

#endif
