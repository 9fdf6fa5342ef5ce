/* Large copies to and from the device at about the bus's speed. The host's threads, not one as in cudaMemcpy(), fill
 * and empty slots of page-locked memory, each with its stream, while others cross the bus. */
#pragma once

#include <cstring>

#include "core/min_max.h"
#include "cuda/launch.cuh"
#include "numeric/pages.h"

/* Bytes of a slot at most. The emulator has smaller ones, so that tests with few numbers use several. */
#ifndef WB_SLOT_BYTES
#define WB_SLOT_BYTES (8 << 20)
#endif

namespace wb {

constexpr int SLOTS = 3;
constexpr size_t SLOT_BYTES = WB_SLOT_BYTES;
/* Copies of few slots have smaller ones, so that threads and bus work at the same time. */
constexpr size_t LEAST_SLOT_BYTES = SLOT_BYTES / 8;
constexpr int64_t TURNS = 8;
/* What one thread copies at a time. */
constexpr size_t PIECE_BYTES = SLOT_BYTES / 64;
/* Fewer bytes are copied by cudaMemcpy(). */
constexpr size_t DIRECT_BYTES = SLOT_BYTES / 16;

/* Items of `bytes` each that a slot holds if there are `count` of them. */
int64_t slot_items(int64_t count, size_t bytes);

/* The slots, used in turn: turn i has slot i % slots. */
class conveyor {
public:
  conveyor() = default;
  /* Waits, since what is under way uses memory that is someone else's from here on. */
  ~conveyor();
  conveyor(const conveyor &) = delete;
  conveyor &operator=(const conveyor &) = delete;

  /* For `count` items of `bytes` each. */
  int open(int64_t count, size_t bytes, wb_message *message);
  int slots() const { return slots_; }
  /* Items of a turn, but for the last one. */
  int64_t items() const { return items_; }
  void *place(int64_t turn) const { return static_cast<char *>(host_.address()) + (turn % slots_) * slot_bytes_; }
  cudaStream_t stream(int64_t turn) const { return streams_[turn % slots_].get(); }
  /* Until the slot of this turn is free, or holds what was fetched in this turn. */
  int wait(int64_t turn, const char *what, wb_message *message) { return streams_[turn % slots_].wait(what, message); }
  int finish(const char *what, wb_message *message) {
    for (int i = 0; i < slots_; i++) WB_TRY(streams_[i].wait(what, message));
    return WB_OK;
  }

private:
  int slots_ = 0;
  int64_t items_ = 0, slot_bytes_ = 0;
  kept_pinned host_;
  wb::stream streams_[SLOTS];
};

/* Calls work(first, count) on the host's threads, which together covers items 0..count - 1 of `bytes` each. */
template <typename Work>
void in_pieces(const wb_run *run, int64_t count, size_t bytes, Work work) {
  const int64_t most = bytes < PIECE_BYTES ? int64_t(PIECE_BYTES / bytes) : 1;
  spread(run, ceiling(count, most), [&](int64_t piece) {
    const int64_t first = piece * most;
    work(first, wb_min_int(most, count - first));
  });
}

/* Sends `count` items to the device. fill(staged, first, count), on several threads, writes them at `staged`. */
template <typename T, typename Fill>
int send_by(const wb_run *run, T *to, int64_t count, Fill fill, const char *what, wb_message *message) {
  if (count == 0) return WB_OK;
  conveyor belt;
  int64_t turn = 0;
  WB_TRY(belt.open(count, sizeof(T), message));
  WB_TRY(in_batches(count, belt.items(), [&](int64_t first, int64_t here) {
    T *const staged = static_cast<T *>(belt.place(turn));
    WB_TRY(belt.wait(turn, what, message));
    in_pieces(run, here, sizeof(T), [&](int64_t at, int64_t some) { fill(staged + at, first + at, some); });
    return status_of(
        cudaMemcpyAsync(to + first, staged, size_t(here) * sizeof(T), cudaMemcpyHostToDevice, belt.stream(turn++)),
        what, message);
  }));
  return belt.finish(what, message);
}

/* Memory of the caller that is written next, and perhaps new. */
struct written {
  void *address;
  size_t bytes;
};

/* Threads touch each page of memory, which the system clears if new (0.4 ms a large page). It loses its contents. */
inline void touch_pages(const wb_run *run, written memory) {
  const int64_t pages = wb_pages_of(memory.address, memory.bytes);
  if (pages > 0) spread(run, pages, [&](int64_t page) { wb_touch_page(memory.address, page); });
}

/* Fetches `count` items from the device. make(first, count, turn, stream, &from) gives the work that makes items
 * first..first + count - 1 at `from` to the stream, and returns a status. By then the earlier turn with the same
 * slot has been fetched. store(staged, first, count), on several threads, puts items from `staged` in `to`. */
template <typename T, typename Make, typename Store>
int fetch_by(const wb_run *run, written to, int64_t count, Make make, Store store, const char *what,
             wb_message *message) {
  if (count == 0) return WB_OK;
  conveyor belt;
  WB_TRY(belt.open(count, sizeof(T), message));
  const int64_t items = belt.items(), turns = ceiling(count, items);
  int64_t begun = 0;
  for (int64_t turn = 0; turn < turns; turn++) {
    for (; begun < turns && begun < turn + belt.slots(); begun++) {
      const T *from = nullptr;
      const int64_t first = begun * items, here = wb_min_int(items, count - first);
      WB_TRY(make(first, here, begun, belt.stream(begun), &from));
      WB_TRY(status_of(cudaMemcpyAsync(belt.place(begun), from, size_t(here) * sizeof(T), cudaMemcpyDeviceToHost,
                                       belt.stream(begun)),
                       what, message));
    }
    if (turn == 0) touch_pages(run, to);
    WB_TRY(belt.wait(turn, what, message));
    const T *const staged = static_cast<const T *>(belt.place(turn));
    const int64_t first = turn * items;
    in_pieces(run, wb_min_int(items, count - first), sizeof(T),
              [&](int64_t at, int64_t some) { store(staged + at, first + at, some); });
  }
  return WB_OK;
}

template <typename T, typename Make>
int fetch_made(const wb_run *run, T *to, int64_t count, Make make, const char *what, wb_message *message) {
  return fetch_by<T>(
      run, {to, size_t(count) * sizeof(T)}, count, make,
      [&](const T *staged, int64_t first, int64_t some) { std::memcpy(to + first, staged, size_t(some) * sizeof(T)); },
      what, message);
}

/* Both begin when earlier work of the current stream is done. */
template <typename T>
int send(const wb_run *run, T *to, const T *from, int64_t count, const char *what, wb_message *message) {
  const size_t bytes = size_t(count) * sizeof(T);
  if (bytes <= DIRECT_BYTES) return copy_to_device(to, from, bytes, what, message);
  return send_by(
      run, to, count,
      [&](T *staged, int64_t first, int64_t some) { std::memcpy(staged, from + first, size_t(some) * sizeof(T)); },
      what, message);
}

/* Allocates and sends `what`; nothing where there is none. */
template <typename T>
int bring(const wb_run *run, device_array<T> &to, const T *from, size_t count, const char *what, wb_message *message) {
  if (from == nullptr || count == 0) return WB_OK;
  char copying[160];
  std::snprintf(copying, sizeof copying, "copying %s to the device", what);
  WB_TRY(to.allocate(count, what, message));
  return send(run, to.data(), from, int64_t(count), copying, message);
}

template <typename T>
int fetch(const wb_run *run, T *to, const T *from, int64_t count, const char *what, wb_message *message) {
  const size_t bytes = size_t(count) * sizeof(T);
  if (bytes <= DIRECT_BYTES) return copy_to_host(to, from, bytes, what, message);
  return fetch_made(
      run, to, count,
      [&](int64_t first, int64_t, int64_t, cudaStream_t, const T **address) {
        *address = from + first;
        return int(WB_OK);
      },
      what, message);
}

} // namespace wb
