/* The draw of cuda/mixture/draw_tile.cuh in single precision, with squared distances by tensor cores in halves
 * (cuda/mixture/warpgroup.cuh).
 *
 * Each number of a row and of a component is the sum of two halves, and three of their four products are added. Each
 * row, with a one for the offset, and each component is multiplied by a power of two that brings its largest number to
 * 2^14 or 2^13. A squared distance is divided by the squares of both.
 *
 * Errors of a line z = L x - L mu of the triangle: 2^-22 of each term for each of its two numbers and for the product
 * that is left out, 2^-39 of the largest number where a number is much smaller, and what wgmma cuts off.
 *
 * A warp has 16 rows. Lane 4g + q has rows g and g + 8, and components 2q and 2q + 1 of each eight. It draws one of its
 * components; then one of a row's four lanes is drawn by the sums of their weights. */
#pragma once

#include <cuda_pipeline.h>

#include "cuda/mixture/draw_tile.cuh"
#include "cuda/mixture/warpgroup.cuh"

namespace wb {

/* Threads of a block, two for each row. */
constexpr __host__ __device__ int half_threads(int groups) { return groups <= 3 ? 768 : groups <= 10 ? 512 : 384; }
/* Eights of components in a half of the buffer of coefficients: one half is used, the other one arrives. */
constexpr __host__ __device__ int half_together(int groups, int p) {
  return groups <= 2 ? 4 : groups <= 5 || (groups == 6 && half_lines(p, 5) == 2) ? 2 : 1;
}
/* An eight that is too large for a half of the buffer comes in parts: where that of group s begins and ends. */
constexpr __host__ __device__ int part_begin(int s) { return s < 8 ? 0 : s < 11 ? 8 : 11; }
constexpr __host__ __device__ int part_end(int s) { return s < 8 ? 8 : s < 11 ? 11 : half_groups(HALF_MOST_COLUMNS); }
constexpr __host__ __device__ int half_buffer(int groups, int p) {
  return groups <= 8 ? half_together(groups, p) * half_bytes(p) : half_group(8);
}

/* Shared memory of a block, before the buffer, which ends with a block of zeros. */
template <int GROUPS>
struct __align__(128) half_memory {
  float weight[WB_BLOCK_ITEMS * 2 * half_threads(GROUPS)];
  float uniform[precise<float>::uniforms * 2 * half_threads(GROUPS)];
};
template <int GROUPS>
constexpr size_t half_shared(int p) {
  return sizeof(half_memory<GROUPS>) + size_t(2 * half_buffer(GROUPS, p) + HALF_LINES * HALF_CORE);
}

/* Component number of item i of a lane. */
__device__ __forceinline__ int component_of_half(int i, int q) { return i / 2 * HALF_COMPONENTS + 2 * q + i % 2; }

/* The largest of four lanes. */
__device__ __forceinline__ float largest_of_four(float value) {
  WB_UNROLL
  for (int distance = 1; distance < 4; distance *= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, distance);
    value = other > value ? other : value;
  }
  return value;
}

/* The log weights of a thread's items at its two rows. */
template <int GROUPS>
class mixture_half_weights {
public:
  typedef precise<float> as;
  static constexpr int THREADS = half_threads(GROUPS), AT_ONCE = 8;

  __device__ __forceinline__ mixture_half_weights(half_memory<GROUPS> &shared, const float *x, int p,
                                                  const unsigned char *coefficients, int components, int64_t rows)
      : shared_(shared),
        next_(coefficients),
        end_(coefficients + int64_t(half_eights(components)) * half_bytes(p)),
        p_(p),
        q_(int(threadIdx.x) % 4) {
    uint32_t *const zero = reinterpret_cast<uint32_t *>(buffer(2));
    for (int i = int(threadIdx.x); i < HALF_LINES * HALF_CORE / 4; i += THREADS) zero[i] = 0;
    fetch<0>();
    WB_UNROLL
    for (int v = 0; v < 2; v++) {
      const int64_t row = row_of_thread<THREADS, 4>(2, v);
      split(v, first_value_of_row(x, p, row < rows ? row : rows - 1));
    }
  }

  /* Items base..base + count - 1; all threads of the block come here together. */
  __device__ __forceinline__ void weigh(int base, int count, float (&top)[2]) {
    __syncwarp();
    WB_ROLLED
    for (int j = 0; j < count; j += 2) {
      const int eight = (base + j) / 2;
      if (eight % half_together(GROUPS, p_) == 0) begin_part<0>();
      float squares[2][2] = {};
      add_groups(squares, std::make_integer_sequence<int, GROUPS>());
      now_ += half_bytes(p_) - half_group(part_begin(GROUPS - 1));
      const float4 constant = reinterpret_cast<const float4 *>(now_ - HALF_CONSTANTS)[q_];
      WB_UNROLL
      for (int v = 0; v < 2; v++) {
        const float first = as::fma(squares[v][0], constant.x * unit_[v], constant.z),
                    second = as::fma(squares[v][1], constant.y * unit_[v], constant.w);
        weight(j, v) = first;
        weight(j + 1, v) = second;
        const float higher = first > second ? first : second;
        top[v] = j == 0 || higher > top[v] ? higher : top[v];
      }
    }
    WB_ROLLED
    for (int j = 2 * count; j < 2 * WB_BLOCK_ITEMS; j++) weight(j / 2, j % 2) = 0; /* they are read, but not used */
  }

  __device__ __forceinline__ float &weight(int j, int v) {
    return shared_.weight[(j * 2 + v) * THREADS + int(threadIdx.x)];
  }

private:
  __device__ __forceinline__ void split(int v, const float *values) {
    float value[GROUPS][2], largest = 1;
    WB_UNROLL
    for (int s = 0; s < GROUPS; s++) {
      WB_UNROLL
      for (int i = 0; i < 2; i++) {
        const int c = HALF_LINES * s + 2 * q_ + i - 1;
        value[s][i] = c < 0 ? 1.0f : c < p_ ? values[c * WB_LEAF_ROWS] : 0.0f;
        const float size = value[s][i] < 0 ? -value[s][i] : value[s][i];
        largest = size > largest ? size : largest;
      }
    }
    const uint32_t exponent = wb_float_bits(largest_of_four(largest)) >> 23;
    const float scale = wb_bits_float((2 * 127 + 14 - exponent) << 23), back = wb_bits_float((exponent - 14) << 23);
    unit_[v] = back * back;
    WB_UNROLL
    for (int s = 0; s < GROUPS; s++) {
      uint32_t high[2], low[2];
      WB_UNROLL
      for (int i = 0; i < 2; i++) wb_split_half(value[s][i] * scale, high + i, low + i);
      mixed_[s][v] = low[0] | low[1] << 16;
      mixed_[s][2 + v] = high_[s / 2][s % 2 * 2 + v] = high[0] | high[1] << 16;
      if (s == GROUPS - 1 && s % 2 == 0) high_[s / 2][2 + v] = 0;
    }
  }

  template <int... S>
  __device__ __forceinline__ void add_groups(float (&squares)[2][2], std::integer_sequence<int, S...>) {
    (add_group<S>(squares), ...);
  }

  template <int S>
  __device__ __forceinline__ void add_group(float (&squares)[2][2]) {
    if constexpr (S > 0 && S == part_begin(S)) begin_part<S>();
    if (S == GROUPS - 1 && half_lines(p_, S) == 2) add_squares<S, 2>(squares);
    else add_squares<S, HALF_LINES>(squares);
  }

  /* Adds the squares of the lines of group S, which has LINES. Small terms come first, since sums are cut off. */
  template <int S, int LINES>
  __device__ __forceinline__ void add_squares(float (&squares)[2][2]) {
    constexpr uint32_t BLOCK = LINES * HALF_CORE;
    const unsigned char *const high = now_ + (half_group(S) - half_group(part_begin(S)));
    float z[4 * LINES];
    prepare_products();
    WB_UNROLL
    for (int c = 0; c <= S; c++) begin_product(z, mixed_[c], high + c * BLOCK, (S + 1) * BLOCK, HALF_CORE, c > 0);
    WB_UNROLL
    for (int c = 0; c <= S; c += 2) {
      const unsigned char *const first = high + c * BLOCK;
      const uint32_t next = c < S ? BLOCK : uint32_t(buffer(2) - first);
      begin_product(z, high_[c / 2], first, next, HALF_CORE, true);
    }
    finish_products(z);
    WB_UNROLL
    for (int i = 0; i < 4 * LINES; i++) squares[i / 2 % 2][i % 2] = as::fma(z[i], z[i], squares[i / 2 % 2][i % 2]);
  }

  /* A half of the buffer; 2: the block of zeros. */
  __device__ __forceinline__ unsigned char *buffer(int half) const {
    return reinterpret_cast<unsigned char *>(&shared_ + 1) + half * half_buffer(GROUPS, p_);
  }

  /* Goes on to the part that begins with group S, which has been fetched. */
  template <int S>
  __device__ __forceinline__ void begin_part() {
    __pipeline_wait_prior(0);
    show_products();
    /* From here on this half is complete, and nobody reads the other one. */
    __syncthreads();
    now_ = buffer(half_);
    half_ = 1 - half_;
    fetch<(part_end(S) < GROUPS ? part_end(S) : 0)>();
  }

  template <int S>
  __device__ __forceinline__ void fetch() {
    const int whole = part_end(S) < GROUPS ? half_group(part_end(S)) : half_together(GROUPS, p_) * half_bytes(p_);
    const int64_t left = end_ - next_;
    const int bytes = left < whole - half_group(S) ? int(left) : whole - half_group(S);
    for (int i = 16 * int(threadIdx.x); i < bytes; i += 16 * THREADS)
      __pipeline_memcpy_async(buffer(half_) + i, next_ + i, 16);
    __pipeline_commit();
    next_ += bytes;
  }

  half_memory<GROUPS> &shared_;
  const unsigned char *next_, *end_, *now_ = nullptr; /* what is fetched next, up to the end, and what is used now */
  int p_, q_, half_ = 0;                              /* the half of the buffer that is not used now */
  /* For each eight columns the second halves and the first ones, and the first ones of each sixteen. */
  uint32_t mixed_[GROUPS][4], high_[(GROUPS + 1) / 2][4];
  float unit_[2]; /* by which squares of the rows are multiplied */
};

/* As mixture_draw(), for p columns that need GROUPS. Draws have the same law, but differ from the processor's.
 *
 * Launch: two threads for each row. For each (row, component) the products of a group of s + 1 blocks of columns take
 * 192 (s + 1) multiply-adds of halves, 64 more if s is even, where ordinary ones are p(p + 3)/2: five times as many at
 * p = 14, on cores with 15 times their rate. One block on a multiprocessor. */
template <int GROUPS>
__global__ void __launch_bounds__(half_threads(GROUPS), 1)
    mixture_draw_half(const float *x, int p, const float *coefficients, int components, const float *share,
                      const int32_t *sample, uint64_t key, uint32_t iteration, uint64_t first_row, int64_t rows,
                      int32_t *label, float *log_sum) {
#ifdef WB_WARPGROUPS
  typedef precise<float> as;
  constexpr int THREADS = half_threads(GROUPS);
  WB_DYNAMIC_SHARED(half_memory<GROUPS>, shared);
  mixture_half_weights<GROUPS> tile(*shared, x, p, reinterpret_cast<const unsigned char *>(coefficients), components,
                                    rows);
  one_pass<float, 2> seen(0);
  label_uniforms<float, 2, THREADS, 4> uniforms(shared->uniform, key, iteration, first_row);
  const int q = int(threadIdx.x) % 4;
  const auto weigh = [&](int base, int count, float(&top)[2]) {
    tile.weigh(base, count, top);
    if (share == nullptr) return;
    WB_UNROLL
    for (int v = 0; v < 2; v++) {
      const int64_t i = row_of_thread<THREADS, 4>(2, v);
      const size_t mine = size_t(sample[i < rows ? i : rows - 1]);
      const float *const own = share + mine * size_t(components);
      WB_ROLLED
      for (int j = 0; j < count; j++) {
        const int component = component_of_half(base + j, q);
        const float weight = tile.weight(j, v) + (component < components ? own[component] : 0.0f);
        tile.weight(j, v) = weight;
        top[v] = j == 0 || weight > top[v] ? weight : top[v];
      }
    }
  };
  draw_in_one_pass(seen, tile, 2 * half_eights(components), weigh, uniforms);
  __syncwarp();
  WB_UNROLL
  for (int v = 0; v < 2; v++) {
    const float largest = largest_of_four(seen.largest[v]),
                total = seen.total[v] * as::exp_weight(seen.largest[v] - largest);
    float sum[4], so_far = 0;
    WB_UNROLL
    for (int u = 0; u < 4; u++) sum[u] = so_far += __shfl_sync(0xffffffffu, total, u, 4);
    const float position = as::position(uniforms.last(v), 0, sum[3]);
    int lane = 0;
    WB_UNROLL
    for (int u = 0; u < 3; u++) lane += sum[u] <= position;
    const int item = __shfl_sync(0xffffffffu, seen.chosen[v], lane, 4);
    const int64_t i = row_of_thread<THREADS, 4>(2, v);
    if (q != 0 || i >= rows) continue;
    label[i] = component_of_half(item, lane);
    log_sum[i] = largest + as::log(sum[3]);
  }
#endif
}

} // namespace wb
