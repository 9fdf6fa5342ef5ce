/* Polya-Gamma variables on a graphics card: the twin of cpu/polyagamma/variables.c. Elements are sorted by the method
 * that draws them and, if draws are sums, by the number of terms. Each method is one launch, whose threads differ only
 * in how often they reject. */
#include "cuda/table.cuh"

#include <cstdio>

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

/* shape_step, tilt_step: 0 where one value is that of all elements, else 1. */
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

/* Launch: a block for sort_elements elements. Shared memory: a count for each place. Bytes
 * of global memory: 16 an element. */
__global__ void __launch_bounds__(sort_threads) polyagamma_count(draw_arguments a, uint32_t *counts) {
  WB_DYNAMIC_SHARED(uint32_t, here);
  const int thread = static_cast<int>(threadIdx.x);
  for (int place = thread; place < places; place += sort_threads) here[place] = 0;
  __syncthreads();
  const int32_t begin = static_cast<int32_t>(blockIdx.x) * sort_elements;
  WB_ROLLED
  for (int k = thread; k < sort_elements; k += sort_threads)
    if (begin + k < a.count) atomicAdd(&here[place_of(a, begin + k)], 1u);
  __syncthreads();
  for (int place = thread; place < places; place += sort_threads)
    if (here[place] != 0) atomicAdd(&counts[place], here[place]);
}

/* The same shape. `next` holds where the elements of each place begin in the list; a block
 * reserves room for its own and then fills it. The order within a place, which differs from
 * run to run, has no influence on the draws. */
__global__ void __launch_bounds__(sort_threads) polyagamma_sort(draw_arguments a, uint32_t *next, int32_t *list) {
  WB_DYNAMIC_SHARED(uint32_t, here);
  const int thread = static_cast<int>(threadIdx.x);
  for (int place = thread; place < places; place += sort_threads) here[place] = 0;
  __syncthreads();
  const int32_t begin = static_cast<int32_t>(blockIdx.x) * sort_elements;
  WB_ROLLED
  for (int k = thread; k < sort_elements; k += sort_threads)
    if (begin + k < a.count) atomicAdd(&here[place_of(a, begin + k)], 1u);
  __syncthreads();
  for (int place = thread; place < places; place += sort_threads)
    if (here[place] != 0) here[place] = atomicAdd(&next[place], here[place]);
  __syncthreads();
  WB_ROLLED
  for (int k = thread; k < sort_elements; k += sort_threads)
    if (begin + k < a.count) list[atomicAdd(&here[place_of(a, begin + k)], 1u)] = begin + k;
}

/* Launch: a thread for each element of the list, or, with list == nullptr, of the work. Bytes of
 * global memory: 28 an element; operations of a trial: 120 of the generator and 150 to 500 in double
 * precision. */
/* Single parts and parts of any shape differ in their number alone, so that they share a kernel and `way` says which
 * it is. */
template <int Way>
__global__ void __launch_bounds__(draw_threads)
    polyagamma_draw(draw_arguments a, int way, const int32_t *list, int32_t count) {
  const int32_t at = static_cast<int32_t>(blockIdx.x) * draw_threads + static_cast<int32_t>(threadIdx.x);
  if (at >= count) return;
  const int32_t i = list == nullptr ? at : list[at];
  const uint64_t element = a.first + static_cast<uint64_t>(i);
  const double shape = a.shape[i * a.shape_step], tilt = a.tilt[i * a.tilt_step];
  if (Way == WB_POLYAGAMMA_PARTS)
    a.draws[i] =
        wb_polyagamma_draw_sum(way == WB_POLYAGAMMA_SINGLES ? WB_POLYAGAMMA_SINGLES : WB_POLYAGAMMA_PARTS,
                               wb_polyagamma_open(a.key, a.iteration, element), shape, tilt < 0.0 ? -tilt : tilt);
  else
    a.draws[i] = wb_polyagamma_draw_by(Way, a.key, a.iteration, element, shape, tilt);
}

template <int Way>
int launch_way(int way, const draw_arguments &a, const int32_t *list, int32_t count, cudaStream_t stream,
               wb_message *message) {
  launch_shape shape;
  shape.stream = stream;
  shape.blocks = dim3(static_cast<unsigned>((count + draw_threads - 1) / draw_threads));
  shape.threads = dim3(draw_threads);
  return launch(shape, polyagamma_draw<Way>, "drawing Polya-Gamma variables", message, a, way, list, count);
}

int launch_draws(int way, const draw_arguments &a, const int32_t *list, int32_t count, cudaStream_t stream,
                 wb_message *message) {
  switch (way) {
    case WB_POLYAGAMMA_UNITS: return launch_way<WB_POLYAGAMMA_UNITS>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_PARTS:
    case WB_POLYAGAMMA_SINGLES: return launch_way<WB_POLYAGAMMA_PARTS>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_EXPANSION_8:
      return launch_way<WB_POLYAGAMMA_EXPANSION_8>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_EXPANSION_6:
      return launch_way<WB_POLYAGAMMA_EXPANSION_6>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_INVERSE_GAUSSIAN:
      return launch_way<WB_POLYAGAMMA_INVERSE_GAUSSIAN>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_ALTERNATING:
      return launch_way<WB_POLYAGAMMA_ALTERNATING>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_TILTED: return launch_way<WB_POLYAGAMMA_TILTED>(way, a, list, count, stream, message);
    case WB_POLYAGAMMA_EXPANSION_2:
      return launch_way<WB_POLYAGAMMA_EXPANSION_2>(way, a, list, count, stream, message);
    default: return launch_way<WB_POLYAGAMMA_NONE>(way, a, list, count, stream, message);
  }
}

/* Launch: a thread for each point. Bytes of global memory: 32 a point; operations: some ten thousand. */
__global__ void __launch_bounds__(draw_threads) polyagamma_evaluate(int32_t quantity, int32_t log, int32_t count,
                                                                   const double *x, const double *shape,
                                                                   const double *tilt, double *value) {
  const int32_t i = static_cast<int32_t>(blockIdx.x) * draw_threads + static_cast<int32_t>(threadIdx.x);
  if (i < count) value[i] = wb_polyagamma_evaluate(quantity, log, x[i], shape[i], tilt[i]);
}

/* What one call keeps on the device. */
class drawing {
public:
  drawing(const wb_polyagamma_work &work, const wb_run *run) : work_(work), run_(run) {}

  /* `count` elements at most in one part. */
  int prepare(int32_t count, wb_message *message) {
    int status = shape_.allocate(static_cast<size_t>(work_.shapes == 1 ? 1 : count), "the shapes", message);
    if (status == WB_OK)
      status = tilt_.allocate(static_cast<size_t>(work_.tilts == 1 ? 1 : count), "the tilts", message);
    if (status == WB_OK) status = draws_.allocate(static_cast<size_t>(count), "the draws", message);
    if (status == WB_OK) status = list_.allocate(static_cast<size_t>(count), "the lists of elements", message);
    if (status == WB_OK) status = counts_.allocate(places, "the lists of elements", message);
    return status;
  }

  /* Elements done..done + count - 1 of the work. */
  int run(int64_t done, int32_t count, wb_message *message) {
    int status = upload(shape_, work_.shape, work_.shapes, work_.begin + done, count, message);
    if (status == WB_OK) status = upload(tilt_, work_.tilt, work_.tilts, work_.begin + done, count, message);
    if (status == WB_OK) status = draw_lists(arguments(done, count, draws_.data()), message);
    if (status != WB_OK) return status;
    return fetch(run_, work_.draws + done, draws_.data(), count, FETCHING, message);
  }

  /* All elements, which have the same shape and tilt: the draws of a chunk are made while those of another travel. */
  int run_alike(wb_message *message) {
    const int64_t room = slot_items(work_.count, sizeof(double));
    int status = shape_.allocate(1, "the shapes", message);
    if (status == WB_OK) status = tilt_.allocate(1, "the tilts", message);
    if (status == WB_OK) status = draws_.allocate(static_cast<size_t>(room) * SLOTS, "the draws", message);
    if (status == WB_OK) status = shape_.upload(work_.shape, 1, SENDING, message);
    if (status == WB_OK) status = tilt_.upload(work_.tilt, 1, SENDING, message);
    if (status != WB_OK) return status;
    const int way = wb_polyagamma_way_of(work_.method, *work_.shape, *work_.tilt);
    return fetch_made(
        run_, work_.draws, work_.count,
        [&](int64_t first, int64_t count, int64_t turn, cudaStream_t stream, const double **from) {
          double *const draws = draws_.data() + turn % SLOTS * room;
          *from = draws;
          return launch_draws(way, arguments(first, static_cast<int32_t>(count), draws), nullptr,
                              static_cast<int32_t>(count), stream, message);
        },
        FETCHING, message);
  }

private:
  static constexpr const char *SENDING = "copying the parameters to the device",
                              *FETCHING = "copying the draws from the device";

  draw_arguments arguments(int64_t first, int32_t count, double *draws) const {
    return {count,       shape_.data(),   tilt_.data(),    work_.shapes == 1 ? 0 : 1, work_.tilts == 1 ? 0 : 1,
            work_.method, work_.key, work_.iteration, work_.first + static_cast<uint64_t>(first), draws};
  }

  int draw_lists(const draw_arguments &a, wb_message *message) {
    uint32_t counts[places] = {0}, begins[places + 1];
    int status = counts_.upload(counts, places, "clearing the counts of elements", message);
    launch_shape shape;
    shape.blocks = dim3(static_cast<unsigned>((a.count + sort_elements - 1) / sort_elements));
    shape.threads = dim3(sort_threads);
    shape.shared_bytes = places * sizeof(uint32_t);
    if (status == WB_OK) status = launch(shape, polyagamma_count, "counting elements", message, a, counts_.data());
    if (status == WB_OK) status = counts_.download(counts, places, "copying the counts of elements", message);
    begins[0] = 0;
    for (int place = 0; place < places; place++) begins[place + 1] = begins[place] + counts[place];
    if (status == WB_OK) status = counts_.upload(begins, places, "copying the lists' beginnings", message);
    if (status == WB_OK)
      status = launch(shape, polyagamma_sort, "sorting elements", message, a, counts_.data(), list_.data());
    for (int way = 0; way < WB_POLYAGAMMA_WAYS && status == WB_OK; way++) {
      const uint32_t begin = begins[way * part_places], end = begins[(way + 1) * part_places];
      if (begin < end)
        status = launch_draws(way, a, list_.data() + begin, static_cast<int32_t>(end - begin), nullptr, message);
    }
    return status;
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

static int no_room(const char *what, uint64_t available, wb_message *message) {
  std::snprintf(message->text, sizeof message->text, "%.3g MB of device memory are available, too little for any %s",
                static_cast<double>(available) / 1e6, what);
  return WB_ERROR_MEMORY;
}

static int draw(const wb_polyagamma_work *work, const wb_run *run, wb_message *message) {
  wb::device_scope scope;
  int status = scope.enter(run->device, message);
  uint64_t available = 0;
  if (status == WB_OK) status = wb::memory_left(run->memory_limit, 0, &available, message);
  if (status != WB_OK) return status;
  /* As many elements at a time as fit; a tenth stays free for what the runtime takes. */
  const uint64_t element = sizeof(int32_t) + 3 * sizeof(double);
  uint64_t fit = available / 10 * 9 / element;
  const uint64_t most = uint64_t(1) << 28;
  if (fit < 1024) return no_room("draws", available, message);
  if (fit > most) fit = most;
  wb::drawing drawing(*work, run);
  if (work->count == 0) return WB_OK;
  const int64_t room = wb::SLOTS * wb::slot_items(work->count, sizeof(double));
  if (work->shapes == 1 && work->tilts == 1 && static_cast<uint64_t>(room) <= fit) return drawing.run_alike(message);
  const int64_t at_once = work->count < static_cast<int64_t>(fit) ? work->count : static_cast<int64_t>(fit);
  status = drawing.prepare(static_cast<int32_t>(at_once), message);
  for (int64_t done = 0; done < work->count && status == WB_OK; done += at_once) {
    const int64_t left = work->count - done;
    status = drawing.run(done, static_cast<int32_t>(left < at_once ? left : at_once), message);
  }
  return status;
}

static int evaluate(const wb_polyagamma_points *points, const wb_run *run, wb_message *message) {
  wb::device_scope scope;
  int status = scope.enter(run->device, message);
  uint64_t available = 0;
  if (status == WB_OK) status = wb::memory_left(run->memory_limit, 0, &available, message);
  if (status != WB_OK || points->count == 0) return status;
  const uint64_t fit = available / 10 * 9 / (4 * sizeof(double)), most = uint64_t(1) << 24;
  if (fit < 1024) return no_room("points of a law", available, message);
  int64_t at_once = static_cast<int64_t>(fit < most ? fit : most);
  if (points->count < at_once) at_once = points->count;
  wb::device_array<double> memory[4];
  for (int k = 0; k < 4 && status == WB_OK; k++)
    status = memory[k].allocate(static_cast<size_t>(at_once), "points of a law", message);
  for (int64_t done = 0; done < points->count && status == WB_OK; done += at_once) {
    const int64_t left = points->count - done;
    const int32_t count = static_cast<int32_t>(left < at_once ? left : at_once);
    const double *const from[3] = {points->x + done, points->shape + done, points->tilt + done};
    for (int k = 0; k < 3 && status == WB_OK; k++)
      status = wb::send(run, memory[k].data(), from[k], count, "copying points to the device", message);
    wb::launch_shape shape;
    shape.blocks = dim3(static_cast<unsigned>((count + wb::draw_threads - 1) / wb::draw_threads));
    shape.threads = dim3(wb::draw_threads);
    if (status == WB_OK)
      status = wb::launch(shape, wb::polyagamma_evaluate, "evaluating a law", message, points->quantity, points->log,
                          count, memory[0].data(), memory[1].data(), memory[2].data(), memory[3].data());
    if (status == WB_OK)
      status = wb::fetch(run, points->value + done, memory[3].data(), count, "copying a law from the device", message);
  }
  return status;
}

extern const wb_polyagamma_functions wb_cuda_polyagamma = {draw, evaluate};
