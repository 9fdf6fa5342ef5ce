/* Polya-Gamma variables on a graphics card: the twin of cpu/polyagamma/variables.c. Elements are sorted by method and
 * number of terms. Each method is one launch, whose threads differ only in how often they reject. */
#include "cuda/table.cuh"

#include "core/polyagamma_draw.h"
#include "core/polyagamma_law.h"
#include "core/unroll.h"
#include "cuda/copies.cuh"

namespace wb {

namespace {

constexpr int draw_threads = 128, sort_threads = 256;
/* Elements that a block of the sort looks at. */
constexpr int sort_elements = 8 * sort_threads;
/* Places of the sort: a way and its number of parts, counted up to 15. */
constexpr int part_places = 16, places = WB_POLYAGAMMA_WAYS * part_places;

/* shape_step, tilt_step: 0 where all elements have one value, else 1. */
struct draw_arguments {
  int32_t count;
  const double *shape;
  const double *tilt;
  int32_t shape_step, tilt_step;
  int32_t method;
  uint64_t key;
  uint32_t iteration;
  uint64_t first;
  double *draws;
};

WB_HD_CALLED int place_of(const draw_arguments &a, int32_t i) {
  const double shape = a.shape[i * a.shape_step], tilt = a.tilt[i * a.tilt_step];
  const int way = wb_polyagamma_way_of(a.method, shape, tilt);
  double part, rest;
  const int parts = way == WB_POLYAGAMMA_NONE ? 0 : wb_polyagamma_parts(way, shape, &part, &rest);
  return way * part_places + (parts < part_places ? parts : part_places - 1);
}

/* Counts the elements of each place that the block looks at. Element begin + k belongs to thread k % sort_threads. */
__device__ __forceinline__ void count_here(const draw_arguments &a, int32_t begin, uint32_t *here) {
  const int thread = int(threadIdx.x);
  for (int place = thread; place < places; place += sort_threads) here[place] = 0;
  __syncthreads();
  WB_ROLLED
  for (int k = thread; k < sort_elements; k += sort_threads)
    if (begin + k < a.count) atomicAdd(&here[place_of(a, begin + k)], 1u);
  __syncthreads();
}

/* Launch: a block a sort_elements elements. Shared memory: a count for each place. 16 bytes an element. */
__global__ void __launch_bounds__(sort_threads) polyagamma_count(draw_arguments a, uint32_t *counts) {
  WB_DYNAMIC_SHARED(uint32_t, here);
  count_here(a, int32_t(blockIdx.x) * sort_elements, here);
  for (int place = int(threadIdx.x); place < places; place += sort_threads)
    if (here[place] != 0) atomicAdd(&counts[place], here[place]);
}

/* The same shape. `next`: where a place's elements begin in the list; blocks reserve room for theirs, in any order. */
__global__ void __launch_bounds__(sort_threads) polyagamma_sort(draw_arguments a, uint32_t *next, int32_t *list) {
  WB_DYNAMIC_SHARED(uint32_t, here);
  const int thread = int(threadIdx.x);
  const int32_t begin = int32_t(blockIdx.x) * sort_elements;
  count_here(a, begin, here);
  for (int place = thread; place < places; place += sort_threads)
    if (here[place] != 0) here[place] = atomicAdd(&next[place], here[place]);
  __syncthreads();
  WB_ROLLED
  for (int k = thread; k < sort_elements; k += sort_threads)
    if (begin + k < a.count) list[atomicAdd(&here[place_of(a, begin + k)], 1u)] = begin + k;
}

/* Launch: a thread for each element of the list, or, with list == nullptr, of the work. Bytes of global memory: 28 an
 * element; operations of a trial: 120 of the generator and 150 to 500 in double precision. */
template <int Way>
__global__ void __launch_bounds__(draw_threads)
    polyagamma_draw(draw_arguments a, int way, const int32_t *list, int32_t count) {
  const int32_t at = thread_number<draw_threads, int32_t>();
  if (at >= count) return;
  const int32_t i = list == nullptr ? at : list[at];
  const uint64_t element = a.first + uint64_t(i);
  const double shape = a.shape[i * a.shape_step], tilt = a.tilt[i * a.tilt_step];
  if (Way == WB_POLYAGAMMA_PARTS)
    a.draws[i] =
        wb_polyagamma_draw_sum(way == WB_POLYAGAMMA_SINGLES ? WB_POLYAGAMMA_SINGLES : WB_POLYAGAMMA_PARTS,
                               wb_polyagamma_open(a.key, a.iteration, element), shape, tilt < 0.0 ? -tilt : tilt);
  else a.draws[i] = wb_polyagamma_draw_by(Way, a.key, a.iteration, element, shape, tilt);
}

int launch_draws(int way, const draw_arguments &a, const int32_t *list, int32_t count, cudaStream_t stream,
                 wb_message *message) {
  const auto draw_by = [&](void (*kernel)(draw_arguments, int, const int32_t *, int32_t)) {
    return launch(cover(draw_threads, count).on(stream), kernel, "drawing Polya-Gamma variables", message, a, way, list,
                  count);
  };
  switch (way) {
    case WB_POLYAGAMMA_UNITS: return draw_by(polyagamma_draw<WB_POLYAGAMMA_UNITS>);
    case WB_POLYAGAMMA_PARTS:
    case WB_POLYAGAMMA_SINGLES: return draw_by(polyagamma_draw<WB_POLYAGAMMA_PARTS>);
    case WB_POLYAGAMMA_EXPANSION_8: return draw_by(polyagamma_draw<WB_POLYAGAMMA_EXPANSION_8>);
    case WB_POLYAGAMMA_EXPANSION_6: return draw_by(polyagamma_draw<WB_POLYAGAMMA_EXPANSION_6>);
    case WB_POLYAGAMMA_INVERSE_GAUSSIAN: return draw_by(polyagamma_draw<WB_POLYAGAMMA_INVERSE_GAUSSIAN>);
    case WB_POLYAGAMMA_ALTERNATING: return draw_by(polyagamma_draw<WB_POLYAGAMMA_ALTERNATING>);
    case WB_POLYAGAMMA_TILTED: return draw_by(polyagamma_draw<WB_POLYAGAMMA_TILTED>);
    case WB_POLYAGAMMA_EXPANSION_2: return draw_by(polyagamma_draw<WB_POLYAGAMMA_EXPANSION_2>);
    default: return draw_by(polyagamma_draw<WB_POLYAGAMMA_NONE>);
  }
}

/* Launch: a thread for each point. Bytes of global memory: 32 a point; operations: some ten thousand. */
__global__ void __launch_bounds__(draw_threads)
    polyagamma_evaluate(int32_t quantity, int32_t log, int32_t count, const double *x, const double *shape,
                        const double *tilt, double *value) {
  const int32_t i = thread_number<draw_threads, int32_t>();
  if (i < count) value[i] = wb_polyagamma_evaluate(quantity, log, x[i], shape[i], tilt[i]);
}

class drawing {
public:
  drawing(const wb_polyagamma_work &work, const wb_run *run) : work_(work), run_(run) {}

  /* `count` elements at most in one part. */
  int prepare(int32_t count, wb_message *message) {
    WB_TRY(shape_.allocate(size_t(work_.shapes == 1 ? 1 : count), "the shapes", message));
    WB_TRY(tilt_.allocate(size_t(work_.tilts == 1 ? 1 : count), "the tilts", message));
    WB_TRY(draws_.allocate(size_t(count), "the draws", message));
    WB_TRY(list_.allocate(size_t(count), "the lists of elements", message));
    return counts_.allocate(places, "the lists of elements", message);
  }

  int run(int64_t done, int32_t count, wb_message *message) {
    WB_TRY(upload(shape_, work_.shape, work_.shapes, work_.begin + done, count, message));
    WB_TRY(upload(tilt_, work_.tilt, work_.tilts, work_.begin + done, count, message));
    WB_TRY(draw_lists(arguments(done, count, draws_.data()), message));
    return fetch(run_, work_.draws + done, draws_.data(), count, FETCHING, message);
  }

  int run_alike(wb_message *message) {
    const int64_t room = slot_items(work_.count, sizeof(double));
    WB_TRY(shape_.allocate(1, "the shapes", message));
    WB_TRY(tilt_.allocate(1, "the tilts", message));
    WB_TRY(draws_.allocate(size_t(room) * SLOTS, "the draws", message));
    WB_TRY(shape_.upload(work_.shape, 1, SENDING, message));
    WB_TRY(tilt_.upload(work_.tilt, 1, SENDING, message));
    const int way = wb_polyagamma_way_of(work_.method, *work_.shape, *work_.tilt);
    return fetch_made(
        run_, work_.draws, work_.count,
        [&](int64_t first, int64_t count, int64_t turn, cudaStream_t stream, const double **from) {
          double *const draws = draws_.data() + turn % SLOTS * room;
          *from = draws;
          return launch_draws(way, arguments(first, int32_t(count), draws), nullptr, int32_t(count), stream, message);
        },
        FETCHING, message);
  }

private:
  static constexpr const char *SENDING = "copying the parameters to the device",
                              *FETCHING = "copying the draws from the device";

  draw_arguments arguments(int64_t first, int32_t count, double *draws) const {
    const int32_t shape_step = work_.shapes > 1, tilt_step = work_.tilts > 1;
    const uint64_t element = work_.first + uint64_t(first);
    return {count,        shape_.data(), tilt_.data(),    shape_step, tilt_step,
            work_.method, work_.key,     work_.iteration, element,    draws};
  }

  int draw_lists(const draw_arguments &a, wb_message *message) {
    uint32_t counts[places] = {0}, begins[places + 1];
    WB_TRY(counts_.upload(counts, places, "clearing the counts of elements", message));
    const launch_shape shape = grid(sort_threads, ceiling(a.count, sort_elements)).sharing(places * sizeof(uint32_t));
    WB_TRY(launch(shape, polyagamma_count, "counting elements", message, a, counts_.data()));
    WB_TRY(counts_.download(counts, places, "copying the counts of elements", message));
    begins[0] = 0;
    for (int place = 0; place < places; place++) begins[place + 1] = begins[place] + counts[place];
    WB_TRY(counts_.upload(begins, places, "copying the lists' beginnings", message));
    WB_TRY(launch(shape, polyagamma_sort, "sorting elements", message, a, counts_.data(), list_.data()));
    for (int way = 0; way < WB_POLYAGAMMA_WAYS; way++) {
      const uint32_t begin = begins[way * part_places], end = begins[(way + 1) * part_places];
      if (begin < end) WB_TRY(launch_draws(way, a, list_.data() + begin, int32_t(end - begin), nullptr, message));
    }
    return WB_OK;
  }

  /* Entries begin..begin + count - 1 of a recycled vector; of a single one, that one. */
  int upload(device_array<double> &to, const double *from, int64_t length, int64_t begin, int32_t count,
             wb_message *message) const {
    const int64_t start = begin % length;
    if (length == 1) return to.upload(from, 1, SENDING, message);
    if (start + count <= length) return send(run_, to.data(), from + start, count, SENDING, message);
    return send_by(
        run_, to.data(), count,
        [=](double *staged, int64_t first, int64_t some) {
          int64_t at = (start + first) % length;
          for (int64_t i = 0; i < some; i++) {
            staged[i] = from[at];
            if (++at == length) at = 0;
          }
        },
        SENDING, message);
  }

  const wb_polyagamma_work work_;
  const wb_run *const run_;
  device_array<double> shape_, tilt_, draws_;
  device_array<int32_t> list_;
  device_array<uint32_t> counts_;
};

} // namespace

} // namespace wb

/* *at_once: how many of `all` elements of `size` bytes have room, at most `most`; fewer than 1024 are an error. */
static int room_for(const wb_run *run, uint64_t size, const char *what, int64_t all, int64_t most, int64_t *at_once,
                    wb_message *message) {
  uint64_t bytes = 0;
  WB_TRY(wb::memory_for_call(run, &bytes, message));
  *at_once = wb::smaller(wb::smaller(all, most), int64_t(bytes / size));
  if (bytes / size >= 1024) return WB_OK;
  return wb_fail(message, WB_ERROR_MEMORY, "%.3g MB of device memory are available, too little for any %s",
                 double(bytes) / 1e6, what);
}

static int draw(const wb_polyagamma_work *work, const wb_run *run, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  int64_t at_once = 0;
  WB_TRY(
      room_for(run, sizeof(int32_t) + 3 * sizeof(double), "draws", work->count, int64_t(1) << 28, &at_once, message));
  wb::drawing drawing(*work, run);
  if (work->count == 0) return WB_OK;
  /* Draws of all slots at a time, which is more than all draws where these are few. */
  const int64_t room = wb::SLOTS * wb::slot_items(work->count, sizeof(double));
  if (work->shapes == 1 && work->tilts == 1 && wb::smaller(room, work->count) <= at_once)
    return drawing.run_alike(message);
  WB_TRY(drawing.prepare(int32_t(at_once), message));
  return wb::in_batches(work->count, at_once,
                        [&](int64_t done, int64_t count) { return drawing.run(done, int32_t(count), message); });
}

static int evaluate(const wb_polyagamma_points *points, const wb_run *run, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  int64_t at_once = 0;
  WB_TRY(room_for(run, 4 * sizeof(double), "points of a law", points->count, int64_t(1) << 24, &at_once, message));
  wb::device_array<double> x, shape, tilt, value;
  WB_TRY(value.allocate(size_t(at_once), "points of a law", message));
  return wb::in_batches(points->count, at_once, [&](int64_t done, int64_t here) {
    const int32_t count = int32_t(here);
    const size_t size = size_t(here);
    WB_TRY(wb::bring(run, x, points->x + done, size, "points", message));
    WB_TRY(wb::bring(run, shape, points->shape + done, size, "points", message));
    WB_TRY(wb::bring(run, tilt, points->tilt + done, size, "points", message));
    WB_TRY(wb::launch(wb::cover(wb::draw_threads, count), wb::polyagamma_evaluate, "evaluating a law", message,
                      points->quantity, points->log, count, x.data(), shape.data(), tilt.data(), value.data()));
    return wb::fetch(run, points->value + done, value.data(), count, "copying a law from the device", message);
  });
}

extern const wb_polyagamma_functions wb_cuda_polyagamma = {draw, evaluate};
