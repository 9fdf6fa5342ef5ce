/* Passes over the rows of pairs of components, for split and merge moves (mixture/split_merge.c). The twin of
 * cpu/mixture/pairs.c.
 *
 * A row finds its component in the sorted key that the last draw left. Only whole numbers are added across rows. */
#include "cuda/mixture/state.cuh"

#include "core/mixture_half.h"
#include "cuda/mixture/draw_tile.cuh"

namespace wb {

namespace {

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
  for (int i = int(threadIdx.x); i < 2 * WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS) here[i] = ~pair_word(0);
  __syncthreads();
  const int64_t slot = thread_number<PAIR_THREADS>();
  const uint32_t found = keys[slot];
  if (found != NO_ROW) {
    const int32_t pair = pairing.pair[found >> LEAF_BITS], side = pairing.side[found >> LEAF_BITS];
    if (pair >= 0) {
      const uint64_t row = first_row + uint64_t(slot) / WB_LEAF_ROWS * WB_LEAF_ROWS + (found & (WB_LEAF_ROWS - 1));
      const wb_bits bits = wb_philox(key, 0, uint32_t(row), wb_philox_c2(WB_PURPOSE_ANCHOR, row), iteration);
      if (side != 1) atomicMin(&here[2 * pair], pair_word(wb_half_ticket(wb_bits64(bits, 0), row)));
      if (side != 0) atomicMin(&here[2 * pair + 1], pair_word(wb_half_ticket(wb_bits64(bits, 1), row)));
    }
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < 2 * WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS)
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
  for (int i = int(threadIdx.x); i < WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS) here[i] = 0;
  __syncthreads();
  const int64_t slot = thread_number<PAIR_THREADS>();
  const uint32_t found = keys[slot];
  if (found != NO_ROW) {
    const int64_t at = slot / WB_LEAF_ROWS * WB_LEAF_ROWS + (found & (WB_LEAF_ROWS - 1));
    const int32_t pair = halving.pairing.pair[found >> LEAF_BITS], side = halving.pairing.side[found >> LEAF_BITS];
    int32_t drawn = -1;
    if (pair >= 0) {
      const uint64_t row = first_row + uint64_t(at);
      const Real *const values[1] = {first_value_of_row(x, p, at)};
      mixture_weights<Real, 0, 1> weights(shared, values, p, coefficients, 0);
      double difference = 0;
      weights.weigh(2 * pair, 2, [&](int j, int, Real log_weight) {
        difference = j == 0 ? -double(log_weight) : double(log_weight) + difference;
      });
      const int64_t *const anchors = halving.anchors + 2 * pair;
      int half = int64_t(row) == anchors[1];
      if (int64_t(row) != anchors[0] && int64_t(row) != anchors[1]) {
        const wb_bits bits =
            wb_philox(halving.key, halving.step, uint32_t(row), wb_philox_c2(WB_PURPOSE_HALF, row), halving.iteration);
        double log_first, log_second;
        half = wb_half_draw(difference, wb_bits64(bits, 0), &log_first, &log_second) > 0;
        if (halving.known && side >= 0) half = side;
        atomicAdd(&here[pair], pair_word(static_cast<long long>(half ? log_second : log_first)));
      }
      drawn = 2 * pair + half;
    }
    halves[at] = drawn;
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < WB_MIXTURE_MOST_PAIRS; i += PAIR_THREADS)
    if (here[i] != 0) atomicAdd(&log_probability[i], here[i]);
}

/* What a pass over the rows of pairs reads and leaves, in one piece of memory, the same on the device and on the host.
 * What is sent and what is fetched lie together. */
struct pair_memory {
  size_t coefficients, pairing, anchors, words, sums, end; /* bytes from the beginning */
};

/* Coefficients are read four rows of the triangle at a time. */
int pair_order(const wb_mixture_session *s) { return (s->data.columns + 3) / 4 * 4; }

pair_memory place_pairs(const wb_mixture_session *s, int32_t components) {
  const int32_t halves = smaller<int32_t>(components / 2, WB_MIXTURE_MOST_PAIRS) * 2; /* at most */
  const uint64_t bytes = s->data.precision == WB_SINGLE ? coefficient_bytes<float>(halves, pair_order(s))
                                                        : coefficient_bytes<double>(halves, pair_order(s));
  pair_memory at;
  at.coefficients = 0;
  at.pairing = size_t(bytes + 7) / 8 * 8;
  at.anchors = at.pairing + 2 * sizeof(int32_t) * size_t(components);
  at.words = at.anchors + size_t(halves) * sizeof(int64_t);
  at.sums = at.words + 2 * WB_MIXTURE_MOST_PAIRS * sizeof(pair_word);
  at.end = at.sums + size_t(s->pieces()) * node_size(s, halves) * sizeof(double);
  return at;
}

int labels_missing(const wb_mixture_session *s, wb_message *message) {
  if (s->work.keys.size() > 0) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "no labels have been kept for pairs of components");
}

/* A piece of the pairs' memory: on the device, and on the host. */
template <typename T>
T *pair_device(const wb_mixture_session *s, size_t at) {
  return reinterpret_cast<T *>(static_cast<char *>(s->work.pairs.address()) + at);
}
template <typename T>
T *pair_host(const wb_mixture_session *s, size_t at) {
  return reinterpret_cast<T *>(static_cast<char *>(s->pairs.address()) + at);
}

void write_pairing(const wb_mixture_session *s, const pair_memory &at, const wb_mixture_pairs *pairs) {
  const size_t k = size_t(pairs->components);
  std::memcpy(pair_host<int32_t>(s, at.pairing), pairs->pair, k * sizeof(int32_t));
  std::memcpy(pair_host<int32_t>(s, at.pairing) + k, pairs->side, k * sizeof(int32_t));
}

mixture_pairing device_pairing(const wb_mixture_session *s, const pair_memory &at, int32_t components) {
  const int32_t *const pair = pair_device<int32_t>(s, at.pairing);
  return {pair, pair + components};
}

int copy_pairs(const wb_mixture_session *s, size_t from, size_t to, cudaMemcpyKind kind, wb_message *message) {
  void *const device = pair_device<char>(s, from), *const host = pair_host<char>(s, from);
  const bool sends = kind == cudaMemcpyHostToDevice;
  return copy_later(sends ? device : host, sends ? host : device, to - from, kind,
                    sends ? "sending pairs to the device" : "fetching pairs", message, s->stream.get());
}

int fill_words(const wb_mixture_session *s, const pair_memory &at, int byte, wb_message *message) {
  return status_of(cudaMemsetAsync(pair_device<char>(s, at.words), byte, at.sums - at.words, s->stream.get()),
                   "preparing pairs", message);
}

} // namespace

size_t pair_bytes(const wb_mixture_session *s, int32_t components) { return place_pairs(s, components).end; }

int begin_part_anchors(wb_mixture_session *s, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration,
                       wb_message *message) {
  WB_TRY(labels_missing(s, message));
  const pair_memory at = place_pairs(s, pairs->components);
  write_pairing(s, at, pairs);
  WB_TRY(copy_pairs(s, at.pairing, at.anchors, cudaMemcpyHostToDevice, message));
  WB_TRY(fill_words(s, at, 0xFF, message));
  WB_TRY(launch(s->cover(PAIR_THREADS, s->leaves * WB_LEAF_ROWS), mixture_tickets, "choosing rows", message,
                reinterpret_cast<const uint32_t *>(s->work.keys.data()), device_pairing(s, at, pairs->components), key,
                iteration, uint64_t(s->number), pair_device<pair_word>(s, at.words)));
  return copy_pairs(s, at.words, at.sums, cudaMemcpyDeviceToHost, message);
}

template <typename Real>
int begin_part_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves,
                      const int64_t *anchors, wb_message *message) {
  WB_TRY(labels_missing(s, message));
  const pair_memory at = place_pairs(s, pairs->components);
  pack_coefficients<Real>(s, halves, pair_order(s), pair_host<Real>(s, at.coefficients));
  write_pairing(s, at, pairs);
  std::memcpy(pair_host<int64_t>(s, at.anchors), anchors, 2 * size_t(pairs->pairs) * sizeof(int64_t));
  WB_TRY(copy_pairs(s, at.coefficients, at.words, cudaMemcpyHostToDevice, message));
  return fill_words(s, at, 0, message);
}
WB_BOTH_PRECISIONS(begin_part_halves)

template <typename Real>
int draw_chunk_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, int known, uint64_t key, uint32_t iteration,
                      uint32_t step, int64_t first, wb_message *message) {
  mixture_workspace &w = s->work;
  const pair_memory at = place_pairs(s, pairs->components);
  const mixture_halving halving = {
      device_pairing(s, at, pairs->components), pair_device<int64_t>(s, at.anchors), known, key, iteration, step};
  const int64_t count = leaves_at_once(s, first, &w.x);
  const Real *x;
  WB_TRY(find_rows<Real>(s, first, &w.x, &x, message));
  w.now = x;
  return launch(s->cover(PAIR_THREADS, count * WB_LEAF_ROWS), mixture_halves<Real>, "drawing halves", message, x,
                s->data.columns, pair_device<Real>(s, at.coefficients),
                reinterpret_cast<const uint32_t *>(w.keys.data() + first * WB_LEAF_ROWS), halving,
                uint64_t(s->number + first * WB_LEAF_ROWS), w.labels.data(), pair_device<pair_word>(s, at.words));
}
WB_BOTH_PRECISIONS(draw_chunk_halves)

template <typename Real>
int sum_chunk_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, int64_t *leaf, wb_message *message) {
  mixture_workspace &w = s->work;
  const pair_memory at = place_pairs(s, pairs->components);
  const int64_t first = *leaf, count = leaves_at_once(s, first, &w.x);
  WB_TRY(sum_leaves<Real>(s, static_cast<const Real *>(w.now), first, count, w.labels.data(), 2 * pairs->pairs,
                          pair_device<double>(s, at.sums), message));
  *leaf = first + count;
  if (*leaf < s->leaves) return WB_OK;
  WB_TRY(send_ahead(s, &w.x, message));
  const size_t sums = size_t(s->pieces()) * node_size(s, 2 * pairs->pairs) * sizeof(double);
  return copy_pairs(s, at.words, at.sums + sums, cudaMemcpyDeviceToHost, message);
}
WB_BOTH_PRECISIONS(sum_chunk_halves)

int finish_part_pairs(wb_mixture_session *s, const wb_mixture_pairs *pairs, const char *what, part_pairs *out,
                      wb_message *message) {
  const pair_memory at = place_pairs(s, pairs->components);
  out->words = pair_host<pair_word>(s, at.words);
  out->sums = pair_host<double>(s, at.sums);
  return s->stream.wait(what, message);
}

} // namespace wb
