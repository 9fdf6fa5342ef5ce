/* The slots of page-locked memory through which copies go: see copies.cuh. */
#include "cuda/copies.cuh"

namespace wb {

int64_t slot_items(int64_t count, size_t bytes) {
  const int64_t each = int64_t(bytes), least = int64_t(LEAST_SLOT_BYTES), most = int64_t(SLOT_BYTES),
                even = ceiling(count, TURNS) * each;
  const int64_t slot = wb_min_int(most, even < least ? least : even);
  return wb_min_int(count, slot < each ? 1 : slot / each);
}

conveyor::~conveyor() {
  for (int i = 0; i < slots_; i++)
    if (streams_[i].get() != nullptr) (void)cudaStreamSynchronize(streams_[i].get());
  (void)cudaGetLastError();
}

int conveyor::open(int64_t count, size_t bytes, wb_message *message) {
  items_ = slot_items(count, bytes);
  const int slots = int(wb_min_int(ceiling(count, items_), SLOTS));
  /* Slots begin on a cache line. */
  slot_bytes_ = ceiling(items_ * int64_t(bytes), 64) * 64;
  if (current_stream() != nullptr)
    WB_TRY(status_of(cudaStreamSynchronize(current_stream()), "waiting for earlier work", message));
  WB_TRY(host_.take(size_t(slots) * size_t(slot_bytes_), message));
  for (; slots_ < slots; slots_++) WB_TRY(streams_[slots_].create(message));
  return WB_OK;
}

} // namespace wb
