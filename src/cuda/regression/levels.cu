/* Acts on the effects of all levels of a term, as core/regression_level.h says, and adds the log likelihoods of their
 * rows. The twin of cpu/regression/levels.c and of the totals in cpu/regression/terms.c and sweep.c. */
#include "cuda/regression/parts.cuh"

#include "core/purpose.h"
#include "core/regression_level.h"

namespace wb {

namespace {

constexpr int level_threads = 128;

/* Launch: a thread a level: 7 exponentials a stand-in row. Global memory: 8 (record + 2 columns + 1) bytes a level. */
__global__ void __launch_bounds__(level_threads)
    regression_act(wb_level_place place, int action, int32_t levels, const double *records, const double *from,
                   double *to, double *density, uint64_t key, uint32_t iteration, uint64_t first) {
  const int64_t l = thread_number<level_threads>();
  if (l >= levels) return;
  const size_t q = size_t(place.q), own = size_t(l) * q;
  double mean[WB_LEVEL_MOST], root[WB_LEVEL_MOST_PACKED];
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_LEVEL_PROPOSAL, iteration, first + uint64_t(l));
  wb_level_map(&place, records + size_t(l) * WB_LEVEL_RECORD(place.q, place.p), mean, root);
  density[l] = wb_level_act(&place, action, mean, root, from + own, to + own, &stream);
}

/* Launch: a thread for each piece, which adds up to WB_LEAF_ROWS numbers in order. */
template <typename Start>
__global__ void __launch_bounds__(level_threads)
    regression_total(const double *value, const int32_t *index, const Start *start, int64_t pieces, double *sums) {
  const int64_t piece = thread_number<level_threads>();
  if (piece >= pieces) return;
  double sum = 0.0;
  for (int64_t i = start[piece]; i < start[piece + 1]; i++) sum += value[index != nullptr ? index[i] : i];
  sums[piece] = sum;
}

} // namespace

int total_pieces(const double *value, const int32_t *index, const int32_t *start, int64_t pieces, double *sums,
                 wb_message *message) {
  return launch(cover(level_threads, pieces), regression_total<int32_t>, "adding the levels' log likelihoods", message,
                value, index, start, pieces, sums);
}

int total_segments(const double *value, const int64_t *start, int64_t segments, double *sums, wb_message *message) {
  const int32_t *const in_order = nullptr;
  return launch(cover(level_threads, segments), regression_total<int64_t>, "adding the groups' log likelihoods",
                message, value, in_order, start, segments, sums);
}

int level_actions::place(const wb_regression_placing &placing, int32_t levels, int p, double *to, double *density,
                         wb_message *message) {
  const char *const what = "the levels' effects", *const copying = "copying the levels' effects to the device";
  const int q = placing.columns;
  const size_t count = size_t(levels), effects = count * size_t(q);
  device_array<double> &records = records_[placing.term + 1];
  const size_t tie = wb_packed_size(q), size = count * WB_LEVEL_RECORD(q, p);
  if (records.size() != size) {
    WB_TRY(records.hold(placing.records, size, what, message));
  } else if (placing.renewed) {
    WB_TRY(records.upload(placing.records, size, copying, message));
  }
  WB_TRY(density_.grow(count, what, message));
  WB_TRY(from_.grow(effects, what, message));
  WB_TRY(to_.grow(effects, what, message));
  std::vector<double> shared(placing.change, placing.change + p);
  shared.insert(shared.end(), placing.tie, placing.tie + tie);
  shared.insert(shared.end(), placing.most, placing.most + q);
  WB_TRY(shared_.grow(shared.size(), what, message));
  WB_TRY(shared_.upload(shared.data(), shared.size(), copying, message));
  WB_TRY(from_.upload(placing.from, effects, copying, message));
  const wb_level_place place = {q, p, shared_.data(), shared_.data() + p, shared_.data() + p + tie};
  WB_TRY(launch(cover(level_threads, levels), regression_act, "moving the levels' effects", message, place,
                placing.action, levels, records.data(), from_.data(), to_.data(), density_.data(), placing.key,
                placing.iteration, placing.first));
  WB_TRY(to_.download(to, effects, "copying the levels' effects from the device", message));
  return density_.download(density, count, "copying the levels' densities from the device", message);
}

} // namespace wb
