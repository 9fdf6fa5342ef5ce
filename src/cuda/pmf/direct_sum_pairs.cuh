/* Direct sums of many pairs of short vectors, which take less time to add than to transfer. Only
 * cuda/pmf/direct_sum.cu includes this file.
 *
 * Chunks of pairs go through slots, each with its stream: one is copied to page-locked memory, while one crosses the
 * bus, one is computed, and one comes back. Threads touch the result's pages before. */
#pragma once

namespace wb {

namespace {

constexpr int RING_SLOTS = 3;
/* Of the inputs and of the outputs of a chunk, at most: enough to use the whole speed of the bus. */
constexpr int64_t RING_BYTES = int64_t(1) << 22;
/* Pairs whose numbers are copied in one piece: 32 KB from one column of a matrix. */
constexpr int64_t RING_SPAN = 4096;

/* Whether the pairs fit the ring: each array has neighbouring pairs side by side, or a vector for all. */
bool fits_ring(const wb_convolution &work) {
  return work.pairs > 1 && work.p_pair_stride <= 1 && work.q_pair_stride <= 1 &&
         work.p_pair_stride + work.q_pair_stride > 0 && work.r_pair_stride == 1 &&
         work.m + work.n + work.count <= RING_BYTES / int64_t(8 * sizeof(double));
}

class ring {
public:
  ring(const wb_convolution &work, const wb_run *run, int processors)
      : work_(work), run_(run), processors_(processors) {
    p_values_ = work.p_pair_stride == 0 ? 0 : work.m;
    q_values_ = work.q_pair_stride == 0 ? 0 : work.n;
  }
  /* What the slots have begun uses memory that is freed, or is someone else's, from here on. */
  ~ring() {
    for (slot &s : slots_)
      if (s.stream.get() != nullptr) (void)cudaStreamSynchronize(s.stream.get());
    (void)cudaGetLastError();
  }

  /* Whether the device has room for one pair at least in `doubles` doubles. */
  bool plan(uint64_t doubles) {
    const int64_t inputs = p_values_ + q_values_, once = work_.m + work_.n - inputs + 1;
    const int64_t most = RING_BYTES / int64_t(sizeof(double)) / wb_max_int(inputs, work_.count);
    const auto room = [&](int slots) { return (int64_t(doubles / uint64_t(slots)) - once) / (inputs + work_.count); };
    count_ = work_.pairs <= wb_min_int(most, room(1)) || room(RING_SLOTS) < 1 ? 1 : RING_SLOTS;
    chunk_ = wb_min_int(wb_min_int(most, work_.pairs), room(count_));
    if (chunk_ < 1) return false;
    /* Chunks of even size, whose columns begin on a cache line. */
    const int64_t even = ceiling(ceiling(work_.pairs, ceiling(work_.pairs, chunk_)), 8) * 8;
    if (even < chunk_) chunk_ = even;
    return true;
  }

  int go(wb_poll *poll, unsigned *seen, wb_message *message) {
    WB_TRY(open(message));
    /* All sums are one piece of memory. */
    if (work_.r_stride == work_.pairs) touch_pages(run_, {work_.r, size_t(work_.pairs * work_.count) * sizeof(double)});
    slot *next = slots_;
    const auto move_on = [&] { next = next + 1 == slots_ + count_ ? slots_ : next + 1; };
    WB_TRY(in_batches(work_.pairs, chunk_, [&](int64_t first, int64_t count) {
      WB_TRY(turn(*next, first, count, seen, message));
      WB_TRY(begin(*next, message));
      move_on();
      const bool stops = wb_poll_after(poll, double(count * (work_.m + work_.n + work_.count)));
      return int(stops ? WB_INTERRUPTED : WB_OK);
    }));
    for (int i = 0; i < count_; i++, move_on()) WB_TRY(turn(*next, 0, 0, seen, message));
    return WB_OK;
  }

private:
  struct slot {
    wb::stream stream;
    /* On the host what is sent and what is fetched, on the device p, q, a word for what is seen, the sums. */
    double *sent = nullptr, *fetched = nullptr, *device = nullptr;
    int64_t first = 0, count = 0; /* the pairs that are under way */
  };

  /* How many doubles p, and q, of a chunk are. */
  int64_t p_size(int64_t count) const { return p_values_ == 0 ? work_.m : work_.m * count; }
  int64_t q_size(int64_t count) const { return q_values_ == 0 ? work_.n : work_.n * count; }

  int open(wb_message *message) {
    const int64_t inputs = p_size(chunk_) + q_size(chunk_) + 1, outputs = work_.count * chunk_;
    const size_t doubles = size_t(count_) * size_t(inputs + outputs);
    WB_TRY(device_.allocate(doubles, "pairs of vectors", message));
    WB_TRY(host_.take((doubles + size_t(count_)) * sizeof(double), message));
    for (int i = 0; i < count_; i++) {
      slot &s = slots_[i];
      WB_TRY(s.stream.create(message));
      s.sent = static_cast<double *>(host_.address()) + i * (inputs + 1 + outputs);
      s.fetched = s.sent + inputs;
      s.device = device_.data() + i * (inputs + outputs);
    }
    return WB_OK;
  }

  void fill(const slot &s, int64_t c, int64_t begin, int64_t end) const {
    const bool is_p = c < work_.m;
    const int64_t j = is_p ? c : c - work_.m, values = is_p ? p_values_ : q_values_;
    double *const to = s.sent + (is_p ? 0 : p_size(s.count));
    const double *const from = is_p ? work_.p + j * work_.p_stride : work_.q + j * work_.q_stride;
    if (values > 0) std::memcpy(to + j * s.count + begin, from + s.first + begin, size_t(end - begin) * sizeof(double));
    else if (begin == 0) to[j] = *from;
  }

  /* Waits for the sums of the slot's pairs and stores them, while its next pairs are copied. */
  int turn(slot &s, int64_t first, int64_t count, unsigned *seen, wb_message *message) {
    slot before;
    before.first = s.first;
    before.count = s.count;
    s.first = first;
    s.count = count;
    if (before.count > 0) {
      WB_TRY(s.stream.wait("convolving pairs", message));
      if (seen != nullptr) *seen |= *reinterpret_cast<const unsigned *>(s.fetched);
    }
    const int64_t spans_before = ceiling(before.count, RING_SPAN), spans = ceiling(count, RING_SPAN);
    const int64_t to_store = work_.count * spans_before, to_fill = (work_.m + work_.n) * spans;
    spread(run_, to_store + to_fill, [&](int64_t piece) {
      if (piece < to_store) {
        const int64_t i = piece / spans_before, begin = piece % spans_before * RING_SPAN;
        const int64_t end = wb_min_int(begin + RING_SPAN, before.count);
        std::memcpy(work_.r + i * work_.r_stride + before.first + begin, s.fetched + 1 + i * before.count + begin,
                    size_t(end - begin) * sizeof(double));
      } else {
        const int64_t c = (piece - to_store) / spans, begin = (piece - to_store) % spans * RING_SPAN;
        fill(s, c, begin, wb_min_int(begin + RING_SPAN, count));
      }
    });
    s.sent[p_size(count) + q_size(count)] = 0;
    return WB_OK;
  }

  int begin(const slot &s, wb_message *message) {
    const int64_t p_size_now = p_size(s.count), inputs = p_size_now + q_size(s.count) + 1,
                  outputs = work_.count * s.count;
    wb_convolution a = work_;
    a.pairs = a.r_stride = s.count;
    a.p = s.device;
    a.q = s.device + p_size_now;
    a.r = s.device + inputs;
    a.p_stride = p_values_ == 0 ? 1 : s.count;
    a.q_stride = q_values_ == 0 ? 1 : s.count;
    WB_TRY(copy_later(s.device, s.sent, size_t(inputs) * sizeof(double), cudaMemcpyHostToDevice,
                      "copying the weights to the device", message, s.stream.get()));
    WB_TRY(launch_look(a, reinterpret_cast<unsigned *>(s.device + inputs - 1), s.stream.get(), message));
    WB_TRY(launch_convolution(a, processors_, s.stream.get(), message));
    return copy_later(s.fetched, s.device + inputs - 1, size_t(outputs + 1) * sizeof(double), cudaMemcpyDeviceToHost,
                      "copying the sums from the device", message, s.stream.get());
  }

  const wb_convolution work_;
  const wb_run *const run_;
  const int processors_;
  int64_t p_values_, q_values_; /* of each pair; 0: one vector serves all */
  int count_ = 0;               /* slots */
  int64_t chunk_ = 0;           /* pairs */
  device_array<double> device_;
  kept_pinned host_;
  slot slots_[RING_SLOTS];
};

} // namespace

} // namespace wb
