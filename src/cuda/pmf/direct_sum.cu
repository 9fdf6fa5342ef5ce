/* The distribution of a sum of two independent discrete random variables by the direct sum r_i = sum_j p_j q_{i-j}, in
 * the order of backend/pmf_table.h. The twin of cpu/pmf/direct_sum.c, with the same bits.
 *
 * convolve_tiled keeps outputs in registers and is limited by multiply-adds. convolve_skew gives a small pair to a warp
 * (Murray, "Fast enumeration of sums of discrete random variables"). */
#include "cuda/table.cuh"
#include "cuda/copies.cuh"

#include <cstring>
#include <memory>
#include <new>

#include "core/host_device.h"
#include "core/min_max.h"
#include "core/unroll.h"
#include "core/weight_look.h"
#include "numeric/poll.h"

namespace wb {

namespace {

constexpr int group = WB_CONVOLUTION_GROUP, block_weights = WB_CONVOLUTION_BLOCK, steps = group / 8;
constexpr int tiled_threads = 128;

/* In all kernels `a` has device addresses. */

/* Launch: (tiles of outputs, pairs) blocks of 128 threads. A thread has R neighbouring outputs: R + 31 entries of q,
 * which it holds in registers, serve the 32 R multiply-adds of a group. R is odd, which puts the threads of a half warp
 * on different banks. Shared memory: 1,024 weights p in the order of their use and the 128 R + 1,023 entries of q that
 * they meet, 42 KB for R = 25. Bytes from global memory per multiply-add: 0.06 / R. */
template <int R>
__global__ void __launch_bounds__(tiled_threads, R > 5 ? 2 : 4) convolve_tiled(wb_convolution a) {
  constexpr int tile = tiled_threads * R, window = tile + block_weights;
  WB_DYNAMIC_SHARED(double, shared);
  double *const p = shared, *const q = shared + block_weights;
  const int thread = int(threadIdx.x), place = thread * R;
  const int64_t begin = a.first + int64_t(blockIdx.x) * tile;
  const int64_t end = begin + tile < a.first + a.count ? begin + tile : a.first + a.count;
  const int64_t low = begin - a.n + 1 > 0 ? begin - a.n + 1 : 0, high = end < a.m ? end : a.m;

  for (int64_t pair = blockIdx.y; pair < a.pairs; pair += gridDim.y) {
    const double *const p_pair = a.p + pair * a.p_pair_stride;
    const double *const q_pair = a.q + pair * a.q_pair_stride;
    double total[R];
    WB_UNROLL
    for (int l = 0; l < R; l++) total[l] = 0;
    for (int64_t first = low / block_weights * block_weights; first < high; first += block_weights) {
      __syncthreads();
      for (int k = thread; k < block_weights; k += tiled_threads) {
        const int64_t j = first + k / group * group + k % steps * 8 + k % group / steps;
        p[k] = j < a.m ? p_pair[j * a.p_stride] : 0.0;
      }
      /* q[k] is the entry begin - first - (block_weights - 1) + k. */
      for (int k = thread; k < window; k += tiled_threads) {
        const int64_t entry = begin - first - (block_weights - 1) + k;
        q[k] = entry >= 0 && entry < a.n ? q_pair[entry * a.q_stride] : 0.0;
      }
      __syncthreads();
      const int group_begin = first < low ? int(low - first) / group * group : 0;
      const int group_end = high - first < block_weights ? int(high - first) : block_weights;
      double sum[R];
      WB_UNROLL
      for (int l = 0; l < R; l++) sum[l] = 0;
      for (int g = group_begin; g < group_end; g += group) {
        const double *const entry = q + place + block_weights - g - group;
        double x[R + group - 1];
        WB_UNROLL
        for (int l = 0; l < R + group - 1; l++) x[l] = entry[l];
        const double2 *const weights = reinterpret_cast<const double2 *>(p + g);
        WB_UNROLL
        for (int k = 0; k < group; k++) {
          const double weight = k % 2 == 0 ? weights[k / 2].x : weights[k / 2].y;
          const int behind = group - 1 - k % steps * 8 - k / steps;
          WB_UNROLL
          for (int l = 0; l < R; l++) sum[l] = wb_fma(weight, x[l + behind], sum[l]);
        }
      }
      WB_UNROLL
      for (int l = 0; l < R; l++) total[l] += sum[l];
    }
    double *const r_pair = a.r + pair * a.r_pair_stride;
    WB_UNROLL
    for (int l = 0; l < R; l++) {
      const int64_t i = begin + place + l;
      if (i < end) r_pair[(i - a.first) * a.r_stride] = total[l];
    }
  }
}

constexpr int skew_pairs = 8;

/* Launch: one warp for each pair, eight pairs a block. Lane l of a warp holds the weight that comes l-th in the order
 * of a group. The sum of skew diagonal i enters at lane 0 and moves one lane on in each step, taking up p_x q_y with x
 * + y = i, in the processor's order; the 32 lanes work on neighbouring diagonals. n + 93 - (lanes unused) steps serve
 * 32 n terms. Shared memory: (m + n + m + n - 1) doubles a pair. Each value is read from and written to global memory
 * once, 64 bytes side by side where pairs are neighbours in memory. */
__global__ void convolve_skew(wb_convolution a) {
  WB_DYNAMIC_SHARED(double, shared);
  const int m = int(a.m), n = int(a.n), outputs = m + n - 1;
  const int thread = int(threadIdx.x), threads = int(blockDim.x);
  const int lane = thread % 32, warp = thread / 32, room = m + n + outputs;
  const int64_t begin = int64_t(blockIdx.x) * skew_pairs;
  const int pairs = a.pairs - begin < skew_pairs ? int(a.pairs - begin) : skew_pairs;

  for (int k = thread; k < m * skew_pairs; k += threads) {
    const int pair = k % skew_pairs, j = k / skew_pairs;
    if (pair < pairs) shared[pair * room + j] = a.p[(begin + pair) * a.p_pair_stride + j * a.p_stride];
  }
  for (int k = thread; k < n * skew_pairs; k += threads) {
    const int pair = k % skew_pairs, j = k / skew_pairs;
    if (pair < pairs) shared[pair * room + m + j] = a.q[(begin + pair) * a.q_pair_stride + j * a.q_stride];
  }
  __syncthreads();
  if (warp < pairs) {
    const double *const p = shared + warp * room, *const q = p + m;
    double *const r = shared + warp * room + m + n;
    for (int i = lane; i < outputs; i += 32) r[i] = 0;
    const int x = lane % steps * 8 + lane / steps;
    for (int first = 0; first < m; first += group) {
      const double weight = first + x < m ? p[first + x] : 0.0;
      /* Diagonals first..last - 1 have terms in this group. */
      const int last = first + group + n - 1 < outputs ? first + group + n - 1 : outputs;
      double sum = 0;
      for (int s = first; s < last + 31; s++) {
        __syncwarp(); /* r: a shuffle makes lanes wait, but does not order their memory */
        double from_before = __shfl_up_sync(0xffffffffu, sum, 1);
        if (lane == 0) from_before = s < last ? r[s] : 0.0;
        const int y = s - lane - first - x;
        sum = wb_fma(weight, y >= 0 && y < n ? q[y] : 0.0, from_before);
        if (lane == 31 && s - 31 >= first) r[s - 31] = sum;
      }
    }
  }
  __syncthreads();
  const int count = int(a.count), offset = int(a.first);
  for (int k = thread; k < count * skew_pairs; k += threads) {
    const int pair = k % skew_pairs, i = k / skew_pairs;
    if (pair < pairs) a.r[(begin + pair) * a.r_pair_stride + i * a.r_stride] = shared[pair * room + m + n + offset + i];
  }
}

constexpr int LOOK_THREADS = 128;

/* Looks at the vectors of all pairs, a thread a vector, for what was seen. Reads each weight once, coalesced. */
__global__ void __launch_bounds__(LOOK_THREADS) look_at_weights(const double *values, int64_t vectors, int64_t length,
                                                                int64_t stride, int64_t vector_stride, unsigned *seen) {
  const int64_t vector = thread_number<LOOK_THREADS>();
  if (vector >= vectors) return;
  wb_weight_bits bits = {0, 0, 0};
  for (int64_t j = 0; j < length; j++) wb_weight_see(&bits, values[vector * vector_stride + j * stride]);
  const unsigned found = wb_weight_judge(bits);
  if (found != 0) atomicOr(seen, found);
}

/* Entries from the first to the last that is read with these strides. */
int64_t extent(int64_t length, int64_t stride, int64_t pairs, int64_t pair_stride) {
  return (length - 1) * stride + (pairs - 1) * pair_stride + 1;
}

/* Many small pairs go to the skew kernel, as most of a tile of outputs would be empty (bench/convolution-cuda.R). */
bool use_skew(const wb_convolution &a) { return a.pairs >= skew_pairs && a.m <= 64 && a.n <= 256; }

int launch_look(const wb_convolution &a, unsigned *seen, cudaStream_t stream, wb_message *message) {
  const auto look = [&](const double *values, int64_t length, int64_t stride, int64_t pair_stride) {
    const int64_t vectors = pair_stride == 0 ? 1 : a.pairs;
    return launch(cover(LOOK_THREADS, vectors).on(stream), look_at_weights, "looking at the weights", message, values,
                  vectors, length, stride, pair_stride, seen);
  };
  WB_TRY(look(a.p, a.m, a.p_stride, a.p_pair_stride));
  return look(a.q, a.n, a.q_stride, a.q_pair_stride);
}

template <int R>
int launch_tiled(const wb_convolution &a, cudaStream_t stream, wb_message *message) {
  constexpr int tile = tiled_threads * R;
  const launch_shape shape = grid(tiled_threads, ceiling(a.count, tile), rows_of_grid(a.pairs));
  return launch(shape.sharing((tile + 2 * block_weights) * sizeof(double)).on(stream), convolve_tiled<R>, "convolving",
                message, a);
}

int64_t tiles_of(const wb_convolution &a, int R) { return ceiling(a.count, tiled_threads * R); }

int launch_skew(const wb_convolution &a, cudaStream_t stream, wb_message *message) {
  const size_t values = size_t(skew_pairs) * size_t(2 * (a.m + a.n) - 1);
  return launch(cover(32 * skew_pairs, 32 * a.pairs).sharing(values * sizeof(double)).on(stream), convolve_skew,
                "convolving pairs", message, a);
}

int launch_tiles(const wb_convolution &a, int processors, cudaStream_t stream, wb_message *message) {
  /* The time grows with tiles (R + 1): large R needs fewer reads, and small R leaves less of the last tile empty. */
  int best = 5;
  for (const int R : {17, 25}) {
    const bool busy = tiles_of(a, R) * a.pairs >= (R == 17 ? 2 : 4) * int64_t(processors);
    if (busy && tiles_of(a, R) * (R + 1) < tiles_of(a, best) * (best + 1)) best = R;
  }
  return best == 25   ? launch_tiled<25>(a, stream, message)
         : best == 17 ? launch_tiled<17>(a, stream, message)
                      : launch_tiled<5>(a, stream, message);
}

int launch_convolution(const wb_convolution &a, int processors, cudaStream_t stream, wb_message *message) {
  return use_skew(a) ? launch_skew(a, stream, message) : launch_tiles(a, processors, stream, message);
}

/* A launch's least products, and tiles a multiprocessor: some tenths of a second between polls for interrupts. */
constexpr double LAUNCH_PRODUCTS = 2e11;
constexpr int64_t LAUNCH_TILES = 6;

/* All launches for vectors that are on the device. */
int launch_all(const wb_convolution &all, int processors, wb_poll *poll, wb_message *message) {
  const double products = double(all.m) * double(all.count);
  const bool fits = products * double(all.pairs) <= LAUNCH_PRODUCTS;
  int64_t pairs = all.pairs, outputs = all.count;
  if (!fits && pairs > 1) pairs = int64_t(LAUNCH_PRODUCTS / products) + 1;
  if (!fits && pairs == 1) {
    const int64_t tiles = LAUNCH_TILES * processors * 25 * tiled_threads;
    outputs = int64_t(LAUNCH_PRODUCTS / double(all.m)) + 1;
    if (outputs < tiles) outputs = tiles;
  }
  for (int64_t pair = 0; pair < all.pairs; pair += pairs)
    for (int64_t output = 0; output < all.count; output += outputs) {
      const wb_convolution a = wb_convolution_part(&all, pair, smaller(pairs, all.pairs - pair), output,
                                                   smaller(outputs, all.count - output));
      WB_TRY(launch_convolution(a, processors, nullptr, message));
      if (!fits) WB_TRY(status_of(cudaDeviceSynchronize(), "convolving", message));
      if (wb_poll_after(poll, fits ? 1e5 : WB_POLL_EVERY)) return WB_INTERRUPTED;
    }
  return WB_OK;
}

class slice_memory {
public:
  explicit slice_memory(const wb_run *run) : run_(run) {}

  int run(const wb_convolution &work, int processors, wb_poll *poll, unsigned *seen, wb_message *message) {
    wb_convolution a = work;
    WB_TRY(upload(p_, work.p, work.m, work.pairs, &a.p_stride, &a.p_pair_stride, message));
    WB_TRY(upload(q_, work.q, work.n, work.pairs, &a.q_stride, &a.q_pair_stride, message));
    const bool dense = extent(work.count, work.r_stride, work.pairs, work.r_pair_stride) == work.count * work.pairs;
    if (!dense) {
      a.r_stride = 1;
      a.r_pair_stride = work.count;
    }
    const size_t results = size_t(work.count) * size_t(work.pairs);
    WB_TRY(r_.allocate(results, "the sums", message));
    a.p = p_.data();
    a.q = q_.data();
    a.r = r_.data();
    if (seen != nullptr) {
      unsigned here = 0;
      WB_TRY(seen_.allocate(1, "what is seen of the weights", message));
      WB_TRY(seen_.upload(&here, 1, "looking at the weights", message));
      WB_TRY(launch_look(a, seen_.data(), nullptr, message));
      WB_TRY(seen_.download(&here, 1, "looking at the weights", message));
      *seen |= here;
    }
    WB_TRY(launch_all(a, processors, poll, message));
    if (dense) return fetch_sums(work.r, results, message);
    const std::unique_ptr<double[]> packed(new (std::nothrow) double[results]);
    if (packed == nullptr) return no_memory(results, message);
    WB_TRY(fetch_sums(packed.get(), results, message));
    for (int64_t pair = 0; pair < work.pairs; pair++)
      for (int64_t i = 0; i < work.count; i++)
        work.r[i * work.r_stride + pair * work.r_pair_stride] = packed[size_t(pair * work.count + i)];
    return WB_OK;
  }

private:
  static int no_memory(size_t doubles, wb_message *message) {
    return wb_fail(message, WB_ERROR_MEMORY, "no memory to gather vectors for the device (%.1f MB)",
                   double(doubles) * sizeof(double) / 1e6);
  }

  int send_weights(device_array<double> &to, const double *from, size_t values, wb_message *message) const {
    return send(run_, to.data(), from, int64_t(values), "copying the weights to the device", message);
  }

  int fetch_sums(double *to, size_t values, wb_message *message) const {
    return fetch(run_, to, r_.data(), int64_t(values), "copying the sums from the device", message);
  }

  int upload(device_array<double> &to, const double *from, int64_t length, int64_t pairs, int64_t *stride,
             int64_t *pair_stride, wb_message *message) const {
    const int64_t distinct = *pair_stride == 0 ? 1 : pairs;
    const size_t values = size_t(length) * size_t(distinct);
    WB_TRY(to.allocate(values, "the weights", message));
    if (extent(length, *stride, distinct, *pair_stride) == length * distinct)
      return send_weights(to, from, values, message);
    const std::unique_ptr<double[]> packed(new (std::nothrow) double[values]);
    if (packed == nullptr) return no_memory(values, message);
    for (int64_t pair = 0; pair < distinct; pair++)
      for (int64_t i = 0; i < length; i++) packed[size_t(pair * length + i)] = from[i * *stride + pair * *pair_stride];
    *stride = 1;
    *pair_stride = distinct == 1 ? 0 : length;
    return send_weights(to, packed.get(), values, message);
  }

  const wb_run *const run_;
  device_array<double> p_, q_, r_;
  device_array<unsigned> seen_;
};

} // namespace

} // namespace wb

#include "cuda/pmf/direct_sum_pairs.cuh"

static int convolve(const wb_convolution *work, const wb_run *run, wb_poll *poll, unsigned *seen, wb_message *message) {
  if (seen != nullptr) *seen = 0;
  WB_ON_DEVICE(run->device, message);
  uint64_t bytes = 0;
  WB_TRY(wb::memory_for_call(run, &bytes, message));
  int processors = 0;
  WB_TRY(wb::multiprocessors(run->device, &processors, message));

  const uint64_t doubles = bytes / sizeof(double);
  const uint64_t inputs = uint64_t(work->m + work->n), pair = inputs + uint64_t(work->count);
  if (doubles < inputs + 1024)
    return wb_fail(message, WB_ERROR_MEMORY,
                   "%.3g MB of device memory are available, and two vectors of %.0f and %.0f weights do not fit",
                   double(bytes) / 1e6, double(work->m), double(work->n));
  if (wb::fits_ring(*work)) {
    wb::ring ring(*work, run, processors);
    if (ring.plan(doubles)) return ring.go(poll, seen, message);
  }
  int64_t pairs_at_once = int64_t(doubles / pair), outputs_at_once = work->count;
  if (pairs_at_once < 1) {
    pairs_at_once = 1;
    outputs_at_once = int64_t(doubles - inputs);
  }
  /* The grid of the skew kernel has one dimension of pairs. */
  pairs_at_once = wb::smaller(pairs_at_once, int64_t(1) << 30);
  wb::slice_memory memory(run);
  return wb::in_batches(work->pairs, pairs_at_once, [&](int64_t done, int64_t pairs) {
    return wb::in_batches(work->count, outputs_at_once, [&](int64_t output, int64_t outputs) {
      const wb_convolution part = wb_convolution_part(work, done, pairs, output, outputs);
      return memory.run(part, processors, poll, seen, message);
    });
  });
}

extern const wb_pmf_functions wb_cuda_pmf = {convolve};
