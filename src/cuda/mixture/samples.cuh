/* Rows of several samples, each with log weights of its own: a table of samples x components on the
 * device, to which mixture_draw() looks up a row's sample, and how many rows of each sample have each
 * label. The twins on the processor are draw_tile() and keep_tile() of cpu/mixture/session.c.
 */
#ifndef WB_CUDA_MIXTURE_SAMPLES_CUH
#define WB_CUDA_MIXTURE_SAMPLES_CUH

#include "cuda/mixture/session.cuh"

namespace wb {

constexpr int COUNT_THREADS = 128;

/* Counts the rows of each sample and label by the sorted keys of some leaves: `sample` begins with the first row of
 * these. One block a leaf; a thread has neighbouring keys, which mostly agree, and adds up before it writes.
 * Whole numbers, so that the order of additions does not matter. Reads 8 bytes a row. */
static __global__ void __launch_bounds__(COUNT_THREADS)
    mixture_count(const uint32_t *keys, const int32_t *sample, int components, sample_count *counts) {
  constexpr int each = WB_LEAF_ROWS / COUNT_THREADS;
  const int64_t leaf = static_cast<int64_t>(blockIdx.x) * WB_LEAF_ROWS;
  size_t place = 0;
  sample_count held = 0;
  for (int i = 0; i < each; i++) {
    const uint32_t key = keys[leaf + static_cast<int64_t>(threadIdx.x) * each + i];
    if (key == NO_ROW) break;
    const size_t at = static_cast<size_t>(sample[leaf + (key & (WB_LEAF_ROWS - 1))]) * static_cast<size_t>(components) + (key >> LEAF_BITS);
    if (held > 0 && at != place) {
      atomicAdd(&counts[place], held);
      held = 0;
    }
    place = at;
    held++;
  }
  if (held > 0) atomicAdd(&counts[place], held);
}

/* The sample of each row to the device, where it stays. */
inline int open_samples(wb_mixture_session *s, wb_message *message) {
  if (s->data.sample == nullptr) return WB_OK;
  const size_t rows = static_cast<size_t>(s->data.rows);
  const int status = s->sample.allocate(rows, "the samples of the rows", message);
  if (status != WB_OK) return status;
  return status_of(cudaMemcpy(s->sample.data(), s->data.sample, rows * sizeof(int32_t), cudaMemcpyHostToDevice),
                   "sending the samples of the rows to the device", message);
}

/* How many entries the table of samples x components has; 0 without samples. */
inline uint64_t sample_table(const wb_mixture_session *s, int32_t components) {
  return s->data.sample == nullptr ? 0 : static_cast<uint64_t>(s->data.samples) * static_cast<uint64_t>(components);
}

/* Log weights to the table, and no rows counted yet. */
template <typename Real>
int send_shares(wb_mixture_session *s, const double *log_weight, wb_message *message) {
  mixture_room &room = s->room;
  const size_t table = static_cast<size_t>(sample_table(s, room.count));
  if (table == 0) return WB_OK;
  Real *const sent = reinterpret_cast<Real *>(room.sent_share);
  for (size_t i = 0; i < table; i++) sent[i] = static_cast<Real>(log_weight[i]);
  const int status = status_of(cudaMemcpyAsync(room.share, sent, table * sizeof(Real), cudaMemcpyHostToDevice, s->stream.get()),
                               "sending log weights of the samples", message);
  if (status != WB_OK) return status;
  return status_of(cudaMemsetAsync(room.counts, 0, table * sizeof(sample_count), s->stream.get()), "counting rows of samples",
                   message);
}

/* Counts the rows of leaves first..first + count - 1, whose keys are sorted. */
inline int count_samples(wb_mixture_session *s, const int32_t *keys, int64_t first, int64_t count, wb_message *message) {
  if (s->data.sample == nullptr) return WB_OK;
  launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(count));
  shape.threads = dim3(COUNT_THREADS);
  shape.stream = s->stream.get();
  return launch(shape, mixture_count, "counting rows of samples", message, reinterpret_cast<const uint32_t *>(keys),
                static_cast<const int32_t *>(s->sample.data() + first * WB_LEAF_ROWS), s->room.count, s->room.counts);
}

/* Adds the counts of all samples to `sizes`, after everything else that is in room.fetched has been read. */
inline int add_samples(wb_mixture_session *s, double *sizes, wb_message *message) {
  mixture_room &room = s->room;
  const size_t table = static_cast<size_t>(sample_table(s, room.count));
  int status = status_of(cudaMemcpyAsync(room.fetched, room.counts, table * sizeof(sample_count), cudaMemcpyDeviceToHost,
                                         s->stream.get()),
                         "fetching counts of the samples", message);
  if (status == WB_OK) status = s->stream.wait("counting rows of samples", message);
  const sample_count *const counts = reinterpret_cast<const sample_count *>(room.fetched);
  for (size_t i = 0; i < table && status == WB_OK; i++) sizes[i] += static_cast<double>(counts[i]);
  return status;
}

} // namespace wb

#endif
