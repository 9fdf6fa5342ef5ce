/* The components of a mixture on a graphics card: draws them, computes numbers about them, and lays them out
 * for the next pass over the rows. The twin of cpu/mixture/components.c.
 *
 * One page-locked buffer holds what the host sends and reads, with a place for each item. After a call that does not
 * wait, its place is left alone until the host has waited for the next pass, during which another stream answers
 * questions. */
#include "core/half.h"
#include "cuda/mixture/state.cuh"

#define WB_TEAM static __device__ __attribute__((noinline))
#define WB_TEAM_BARRIER() __syncthreads()
#include "core/mixture_component.h"

namespace wb {

namespace {

inline int team_threads(int p) { return p <= 32 ? 32 : 128; }
constexpr int TEAM_THREADS = 128, ENTRY_THREADS = 128, GATHER_THREADS = 256;
constexpr size_t PRECISION_SHARED = 24 * 1024, PRECISION_MOST_SHARED = 48 * 1024;

__device__ __forceinline__ wb_component component_at(const mixture_components &c, int j) {
  const size_t p = size_t(c.columns), at = size_t(j);
  return {c.mean + at * p, c.offset + at * p,      c.factor + at * (p * (p + 1) / 2),
          c.pull + at * p, c.log_determinant + at, c.floor_trace + at};
}

/* Numbers that the host asks for, in device memory. NULL: not asked for. */
struct mixture_questions {
  const double *center, *root, *point;
  int points;
  double *log_determinant, *distance, *trace, *point_distance;
};

/* Draws the components. One block each, or every gridDim.x-th; wb_component_work_size(p) doubles
 * of `work` a block, which stay in the caches. Latency alone counts: about p gamma draws
 * one after the other, and 5 p steps of p/2 multiply-adds. */
__global__ void __launch_bounds__(TEAM_THREADS)
    mixture_draw_components(mixture_components c, wb_component_law law, const int32_t *source, uint64_t key,
                            uint32_t iteration, double *work) {
  const wb_team team = {int(threadIdx.x), int(blockDim.x)};
  work += blockIdx.x * wb_component_work_size(c.columns);
  for (int l = int(blockIdx.x); l < c.count; l += int(gridDim.x)) {
    const int j = source[l];
    const int drawn = wb_component_draw(team, &law, c.statistics + size_t(j) * WB_MIXTURE_STATISTICS(c.columns), key,
                                        iteration, uint64_t(j), work, component_at(c, l));
    if (team.rank == 0) c.failed[l] = drawn ? 0 : j + 1;
  }
}

/* Launch and memory as for mixture_draw_components(). */
__global__ void __launch_bounds__(TEAM_THREADS)
    mixture_measure(mixture_components c, mixture_questions q, double *work) {
  const wb_team team = {int(threadIdx.x), int(blockDim.x)};
  const int p = c.columns;
  work += blockIdx.x * wb_component_work_size(p);
  for (int l = int(blockIdx.x); l < c.count; l += int(gridDim.x)) {
    const wb_component component = component_at(c, l);
    if (q.log_determinant != nullptr && team.rank == 0) q.log_determinant[l] = *component.log_determinant;
    if (q.distance != nullptr)
      wb_component_mean_distance(team, p, component.factor, component.mean, q.center, work, q.distance + l);
    if (q.trace != nullptr) wb_component_trace(team, p, component.factor, q.root, work, q.trace + l);
    for (int i = 0; i < q.points; i++)
      wb_component_distance(team, p, component.factor, component.offset, q.point + size_t(i) * p, work,
                            q.point_distance + size_t(i) * c.count + l);
  }
}

/* How many factors shared memory holds at a time. 0: none fits, and they are read from device memory. */
inline __host__ __device__ int factors_in_shared(int p) {
  const size_t bytes = wb_packed_size(p) * sizeof(double);
  return bytes <= PRECISION_SHARED ? int(PRECISION_SHARED / bytes) : bytes <= PRECISION_MOST_SHARED ? 1 : 0;
}

/* precision += weight sum_j F_j' F_j, packed, and pull += weight sum_j F_j' offset_j, where they are not NULL: one
 * thread an entry, over all components. Rows of the grid: the sums for m, those for Phi. */
__global__ void __launch_bounds__(ENTRY_THREADS)
    mixture_add_precisions(mixture_components c, double mean_weight, double scale_weight, double *pull,
                           double *mean_precision, double *scale_precision) {
  WB_DYNAMIC_SHARED(double, factors);
  const int p = c.columns, triangle = int(wb_packed_size(p));
  const double weight = blockIdx.y == 0 ? mean_weight : scale_weight;
  double *const precision = blockIdx.y == 0 ? mean_precision : scale_precision;
  if (precision == nullptr) return;
  if (int(blockIdx.x) == int(gridDim.x) - 1) { /* the last block: the pull */
    for (int r = int(threadIdx.x); r < p && blockIdx.y == 0; r += ENTRY_THREADS) {
      double sum = pull[r];
#ifdef __CUDACC__
#pragma unroll 8
#endif
      for (int j = 0; j < c.count; j++) sum = wb_fma(weight, c.pull[size_t(j) * p + r], sum);
      pull[r] = sum;
    }
    return;
  }
  const int entry = thread_number<ENTRY_THREADS, int>();
  const bool adds = entry < triangle;
  int r = 0, column = 0;
  if (adds) triangle_position(entry, &r, &column);
  double sum = adds ? precision[entry] : 0;
  const int at_once = factors_in_shared(p);
  for (int j = 0; j < c.count && at_once == 0; j++)
    if (adds) sum = wb_component_add_precision(p, weight, c.factor + size_t(j) * triangle, r, column, sum);
  for (int first = 0; first < c.count && at_once > 0; first += at_once) {
    const int count = c.count - first < at_once ? c.count - first : at_once;
    const double *const factor = c.factor + size_t(first) * triangle;
    __syncthreads(); /* the factors before have been added */
#ifdef __CUDACC__
#pragma unroll 8
#endif
    for (int i = int(threadIdx.x); i < count * triangle; i += ENTRY_THREADS) factors[i] = factor[i];
    __syncthreads();
    const double *row = factors;
    for (int j = 0; j < count; j++) {
#ifdef __CUDACC__
#pragma unroll 4
#endif
      for (int k = 0; k < p; row += ++k) sum = wb_fma(k < r ? 0.0 : weight * row[r], row[column], sum);
    }
  }
  if (adds) precision[entry] = sum;
}

template <typename Real>
__host__ __device__ __forceinline__ void pack_component(int first, int step, int p, int order, const double *offset,
                                                        const double *factor, double constant, size_t j,
                                                        Real *coefficients) {
  const size_t size = mixture_coefficients<Real>(size_t(order)), last = coefficient_line(size_t(order));
  Real *const to = coefficients + j * size;
  for (int r = 0; r < order; r++)
    for (int i = first; i <= r + 1; i += step)
      to[coefficient_line(size_t(r)) + size_t(i)] = Real(r >= p   ? 0.0
                                                         : i == 0 ? -offset[r]
                                                                  : factor[wb_packed_row(r) + size_t(i) - 1]);
  for (size_t i = last + size_t(first); i < size; i += size_t(step)) to[i] = i == last ? Real(constant) : Real(0);
}

/* The same by one block a component. */
template <typename Real>
__global__ void __launch_bounds__(ENTRY_THREADS) mixture_pack(mixture_components c, int order, Real *coefficients) {
  const wb_component component = component_at(c, int(blockIdx.x));
  const double constant =
      wb_component_log_floored(c.columns, c.log_weight[blockIdx.x], *component.log_determinant, *component.floor_trace);
  pack_component(int(threadIdx.x), ENTRY_THREADS, c.columns, order, component.offset, component.factor, constant,
                 blockIdx.x, coefficients);
}

/* The same as cuda/mixture/draw_tensor.cuh reads them (fragment_line()): a block for sixteen components and a line. */
__global__ void __launch_bounds__(ENTRY_THREADS) mixture_pack_fragments(mixture_components c, double *coefficients) {
  const int p = c.columns, block = int(blockIdx.x), r = int(blockIdx.y);
  double *const line = coefficients + size_t(block) * size_t(fragment_block(p)) + fragment_line(r);
  const int values = r < p ? FRAGMENT_COMPONENTS + FRAGMENT_LINE * (r / 4 + 1) : FRAGMENT_COMPONENTS;
  for (int i = int(threadIdx.x); i < values; i += ENTRY_THREADS) {
    const bool first = i < FRAGMENT_COMPONENTS;
    const int at = first ? i : i - FRAGMENT_COMPONENTS, lane = at % FRAGMENT_LINE / 2;
    const int column = at / FRAGMENT_LINE * 4 + lane % 4,
              j = FRAGMENT_COMPONENTS * block + at % 2 * 8 + (first ? lane : lane / 4);
    double value = 0;
    if (j < c.count) {
      const wb_component component = component_at(c, j);
      if (r == p)
        value = wb_component_log_floored(p, c.log_weight[j], *component.log_determinant, *component.floor_trace);
      else if (first) value = -component.offset[r];
      else if (column <= r) value = component.factor[wb_packed_row(r) + size_t(column)];
    }
    line[i] = value;
  }
}

/* As cuda/mixture/draw_half.cuh reads them, see half_group(): a block for eight components and a group of lines. */
__global__ void __launch_bounds__(ENTRY_THREADS)
    mixture_pack_halves(mixture_components c, unsigned char *coefficients) {
  constexpr int EACH = ENTRY_THREADS / HALF_COMPONENTS; /* threads of a component */
  __shared__ double found[ENTRY_THREADS];
  const int p = c.columns, triangle = int(wb_packed_size(p)), s = int(blockIdx.y);
  const int thread = int(threadIdx.x), n = thread / EACH, j = int(blockIdx.x) * HALF_COMPONENTS + n;
  const bool real = j < c.count;
  const wb_component component = component_at(c, real ? j : 0);
  double largest = 0;
  for (int i = thread % EACH; real && i < triangle + p; i += EACH) {
    const double size = fabs(i < triangle ? component.factor[i] : component.offset[i - triangle]);
    largest = size > largest ? size : largest;
  }
  found[thread] = largest;
  __syncthreads();
  for (int i = 0; i < EACH; i++) largest = found[n * EACH + i] > largest ? found[n * EACH + i] : largest;
  /* The largest becomes 2^13 or more and less than 2^14. */
  const int size = int(wb_double_bits(largest) >> 52) - 1023,
            shift = 13 - (size < -HALF_MOST_SHIFT ? -HALF_MOST_SHIFT : smaller(size, HALF_MOST_SHIFT));
  const double scale = wb_bits_double(uint64_t(1023 + shift) << 52);
  unsigned char *const block = coefficients + size_t(blockIdx.x) * size_t(half_bytes(p));
  unsigned char *const group = block + half_group(s) + n * 16;
  const int lines = half_lines(p, s), low_part = (s + 1) * lines * HALF_CORE;
  for (int i = thread % EACH; i < (s + 1) * lines * 4; i += EACH) {
    const int r = HALF_LINES * s - 1 + i / 4 % lines, column = i / (4 * lines) * HALF_LINES + i % 4 * 2;
    uint32_t high[2] = {}, low[2] = {};
    for (int u = 0; u < 2; u++) {
      if (!real || r < 0 || r >= p || column + u > r + 1) continue;
      const double value =
          column + u == 0 ? -component.offset[r] : component.factor[wb_packed_row(r) + size_t(column + u - 1)];
      wb_split_half(float(scale * value), high + u, low + u);
    }
    unsigned char *const to = group + i / 4 * HALF_CORE + i % 4 * 4;
    *reinterpret_cast<uint32_t *>(to) = high[0] | high[1] << 16;
    *reinterpret_cast<uint32_t *>(to + low_part) = low[0] | low[1] << 16;
  }
  if (s > 0 || thread % EACH > 0) return;
  float *const last = reinterpret_cast<float *>(block + half_bytes(p) - HALF_CONSTANTS) + n / 2 * 4 + n % 2;
  last[0] = real ? float(-0.5 / (scale * scale)) : 0;
  last[2] =
      real ? float(wb_component_log_floored(p, c.log_weight[j], *component.log_determinant, *component.floor_trace))
           : HALF_NOBODY;
}

/* What the host reads of a pass over the rows: for each component the count of its rows, then
 * which failed, then the log likelihood. One thread a component. */
__global__ void __launch_bounds__(GATHER_THREADS) mixture_gather(mixture_components c, double *answer) {
  const int j = thread_number<GATHER_THREADS, int>();
  if (j >= c.count) return;
  const size_t k = size_t(c.count), size = WB_MIXTURE_STATISTICS(c.columns);
  answer[j] = c.statistics[size_t(j) * size];
  answer[k + size_t(j)] = c.failed[j];
  if (j == 0) answer[2 * k] = c.statistics[k * size];
}

constexpr int POINTS = 8;
/* Blocks that work on components at a time: more would find no room on any card. */
constexpr uint64_t MOST_BLOCKS = 1024;

uint64_t triangle_of(const wb_mixture_session *s) { return wb_packed_size(s->data.columns); }

uint64_t law_size(const wb_mixture_session *s, uint64_t k) {
  return 2 * uint64_t(s->data.columns) + triangle_of(s) + (k + 1) / 2;
}
uint64_t question_size(const wb_mixture_session *s) {
  return (1 + POINTS) * uint64_t(s->data.columns) + triangle_of(s);
}
uint64_t answer_size(const wb_mixture_session *s, uint64_t k) {
  return larger((3 + POINTS) * k, uint64_t(s->data.columns) + 2 * triangle_of(s));
}

int open_room(wb_mixture_session *s, int32_t components, wb_message *message) {
  const uint64_t k = uint64_t(components), p = uint64_t(s->data.columns);
  const uint64_t node = node_size(s, components), work = wb_component_work_size(s->data.columns);
  const uint64_t table = sample_table(s, components);
  const uint64_t fixed =
      2 * table + node + k * (3 * p + triangle_of(s) + 4) + law_size(s, k) + question_size(s) + answer_size(s, k);
  uint64_t left = 0;
  s->room = {};
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  const uint64_t least = (fixed + work) * sizeof(double);
  if (least > left) return lacks_memory(s, components, least, left, message);
  uint64_t blocks = smaller(SMALL_BYTES, left / 8) / (work * sizeof(double));
  blocks = larger<uint64_t>(1, smaller(smaller(blocks, k), MOST_BLOCKS));
  const uint64_t sent = law_size(s, k) + k + question_size(s) + table;
  mixture_room room;
  WB_TRY(room.memory.allocate(fixed + blocks * work, "the components", message));
  WB_TRY(room.mail.allocate(sent + larger(table, larger(node, answer_size(s, k))), "the components", message));
  room.count = components;
  room.blocks = unsigned(blocks);
  double *next = room.memory.data();
  const auto take = [&next](uint64_t size) {
    double *const here = next;
    next += size;
    return here;
  };
  room.at = {components,  s->data.columns, take(node), take(k * p), take(k * p), take(k * triangle_of(s)),
             take(k * p), take(k),         take(k),    take(k),     take(k)};
  room.law = take(law_size(s, k));
  room.question = take(question_size(s));
  room.answer = take(answer_size(s, k));
  room.work = take(blocks * work);
  room.share = take(table);
  room.counts = reinterpret_cast<sample_count *>(take(table));
  next = room.mail.data();
  room.sent_law = take(law_size(s, k));
  room.sent_weight = take(k);
  room.sent_question = take(question_size(s));
  room.sent_share = take(table);
  room.fetched = next;
  s->room = std::move(room);
  /* All answers are fetched together, even those that were not asked for, so they must be written. */
  return status_of(cudaMemsetAsync(s->room.answer, 0, answer_size(s, k) * sizeof(double), s->stream.get()),
                   "preparing the components", message);
}

int send(const stream &by, double *to, const double *from, size_t count, wb_message *message) {
  return copy_later(to, from, count * sizeof(double), cudaMemcpyHostToDevice,
                    "sending numbers of components to the device", message, by.get());
}

int fetch(wb_mixture_session *s, stream &by, const double *from, size_t count, wb_message *message) {
  WB_TRY(copy_later(s->room.fetched, from, count * sizeof(double), cudaMemcpyDeviceToHost,
                    "fetching numbers of components", message, by.get()));
  return by.wait("computing numbers of components", message);
}

double *put(double *to, const double *from, size_t count) {
  std::memcpy(to, from, count * sizeof(double));
  return to + count;
}

/* WB_ERROR_INPUT if the fetched flags say that a component could not be drawn. */
int all_drawn(const double *failed, int32_t components, wb_message *message) {
  double first = 0;
  for (int32_t j = 0; j < components; j++)
    if (failed[j] > 0 && (first == 0 || failed[j] < first)) first = failed[j];
  if (first == 0) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, WB_MIXTURE_NO_COVARIANCE, int(first));
}

launch_shape team_shape(const wb_mixture_session *s, const stream &by) {
  return grid(team_threads(s->data.columns), s->room.blocks).on(by.get());
}

/* `points` of the points from `first` on, with the rest of the measures if first is 0. */
int measure_some(wb_mixture_session *s, const wb_mixture_measures *m, int32_t first, int32_t points,
                 wb_message *message) {
  mixture_room &room = s->room;
  const size_t p = size_t(s->data.columns), triangle = triangle_of(s), k = size_t(room.count);
  const size_t q = size_t(points);
  const bool all = first == 0;
  double *const center = room.sent_question, *const root = center + p, *const point = root + triangle;
  if (all && m->distance != nullptr) put(center, m->center, p);
  if (all && m->trace != nullptr) put(root, m->root, triangle);
  if (points > 0) put(point, m->point + size_t(first) * p, q * p);
  WB_TRY(send(s->side, room.question, room.sent_question, p + triangle + q * p, message));
  mixture_questions questions = {};
  questions.center = room.question;
  questions.root = room.question + p;
  questions.point = questions.root + triangle;
  questions.points = points;
  questions.log_determinant = all && m->log_determinant != nullptr ? room.answer : nullptr;
  questions.distance = all && m->distance != nullptr ? room.answer + k : nullptr;
  questions.trace = all && m->trace != nullptr ? room.answer + 2 * k : nullptr;
  questions.point_distance = room.answer + 3 * k;
  WB_TRY(
      launch(team_shape(s, s->side), mixture_measure, "measuring components", message, room.at, questions, room.work));
  WB_TRY(fetch(s, s->side, room.answer, (3 + q) * k, message));
  if (questions.log_determinant != nullptr) put(m->log_determinant, room.fetched, k);
  if (questions.distance != nullptr) put(m->distance, room.fetched + k, k);
  if (questions.trace != nullptr) put(m->trace, room.fetched + 2 * k, k);
  if (points > 0) put(m->point_distance + size_t(first) * k, room.fetched + 3 * k, q * k);
  return WB_OK;
}

/* Adds the counts of all samples to `sizes`, after everything else that is in room.fetched has been read. */
int add_samples(wb_mixture_session *s, double *sizes, wb_message *message) {
  mixture_room &room = s->room;
  const size_t table = size_t(sample_table(s, room.count));
  WB_TRY(copy_later(room.fetched, room.counts, table * sizeof(sample_count), cudaMemcpyDeviceToHost,
                    "fetching counts of the samples", message, s->stream.get()));
  WB_TRY(s->stream.wait("counting rows of samples", message));
  const sample_count *const counts = reinterpret_cast<const sample_count *>(room.fetched);
  for (size_t i = 0; i < table; i++) sizes[i] += double(counts[i]);
  return WB_OK;
}

} // namespace

uint64_t sample_table(const wb_mixture_session *s, int32_t components) {
  return s->data.sample == nullptr ? 0 : uint64_t(s->data.samples) * uint64_t(components);
}

int set_part_statistics(wb_mixture_session *s, int32_t first, int32_t count, const double *statistics,
                        wb_message *message) {
  const size_t size = WB_MIXTURE_STATISTICS(s->data.columns), values = size_t(count) * size;
  put(s->room.fetched, statistics, values);
  WB_TRY(send(s->stream, s->room.at.statistics + size_t(first) * size, s->room.fetched, values, message));
  return s->stream.wait("sending the sums of rows", message);
}

int set_part_components(wb_mixture_session *s, int32_t components, const double *statistics, wb_message *message) {
  WB_TRY(check_components(components, message));
  if (s->room.count != components) WB_TRY(with_memory(s, message, [&] { return open_room(s, components, message); }));
  return set_part_statistics(s, 0, components, statistics, message);
}

int get_part_statistics(wb_mixture_session *s, int32_t first, int32_t count, double *statistics, wb_message *message) {
  const size_t size = WB_MIXTURE_STATISTICS(s->data.columns), values = size_t(count) * size;
  WB_TRY(fetch(s, s->stream, s->room.at.statistics + size_t(first) * size, values, message));
  put(statistics, s->room.fetched, values);
  return WB_OK;
}

int draw_part_components(wb_mixture_session *s, const wb_mixture_law *law, const int32_t *source, uint64_t key,
                         uint32_t iteration, wb_message *message) {
  mixture_room &room = s->room;
  const size_t p = size_t(s->data.columns), triangle = triangle_of(s), k = size_t(room.count);
  double *next = put(room.sent_law, law->mean, p);
  next = put(next, law->scale, triangle);
  if (law->floor != nullptr) put(next, law->floor, p);
  std::memcpy(room.sent_law + 2 * p + triangle, source, k * sizeof(int32_t));
  WB_TRY(send(s->stream, room.law, room.sent_law, law_size(s, k), message));
  const wb_component_law there = {s->data.columns, law->mean_scale,
                                  law->df,         room.law,
                                  room.law + p,    law->floor != nullptr ? room.law + p + triangle : nullptr};
  WB_TRY(launch(team_shape(s, s->stream), mixture_draw_components, "drawing means and covariances", message, room.at,
                there, reinterpret_cast<const int32_t *>(room.law + 2 * p + triangle), key, iteration, room.work));
  WB_TRY(s->drawn.record(s->stream.get(), message));
  return s->drawn.hold(s->side.get(), message);
}

int add_part_precisions(wb_mixture_session *s, const wb_mixture_precisions *sums, wb_message *message) {
  mixture_room &room = s->room;
  const size_t p = size_t(s->data.columns), triangle = triangle_of(s);
  const bool mean = sums->mean_precision != nullptr, scale = sums->scale_precision != nullptr;
  double *const precision = room.answer + p;
  if (mean) {
    put(room.fetched, sums->pull, p);
    put(room.fetched + p, sums->mean_precision, triangle);
  }
  if (scale) put(room.fetched + p + triangle, sums->scale_precision, triangle);
  WB_TRY(send(s->side, room.answer, room.fetched, p + 2 * triangle, message));
  const size_t shared = size_t(factors_in_shared(s->data.columns)) * triangle * sizeof(double);
  const launch_shape shape = grid(ENTRY_THREADS, ceiling(int64_t(triangle), ENTRY_THREADS) + 1, 2);
  double *const none = nullptr;
  WB_TRY(launch(shape.sharing(shared).on(s->side.get()), mixture_add_precisions, "adding precisions", message, room.at,
                sums->mean_weight, sums->scale_weight, room.answer, mean ? precision : none,
                scale ? precision + triangle : none));
  WB_TRY(fetch(s, s->side, room.answer, p + 2 * triangle, message));
  if (mean) {
    put(sums->pull, room.fetched, p);
    put(sums->mean_precision, room.fetched + p, triangle);
  }
  if (scale) put(sums->scale_precision, room.fetched + p + triangle, triangle);
  return WB_OK;
}

int measure_part(wb_mixture_session *s, const wb_mixture_measures *m, wb_message *message) {
  WB_TRY(measure_some(s, m, 0, smaller<int32_t>(m->points, POINTS), message));
  for (int32_t first = POINTS; first < m->points; first += POINTS)
    WB_TRY(measure_some(s, m, first, smaller<int32_t>(m->points - first, POINTS), message));
  return WB_OK;
}

int get_part_components(wb_mixture_session *s, double *mean, double *factor, wb_message *message) {
  mixture_room &room = s->room;
  const size_t k = size_t(room.count), p = size_t(s->data.columns);
  WB_TRY(fetch(s, s->stream, room.at.failed, k, message));
  WB_TRY(all_drawn(room.fetched, room.count, message));
  if (mean != nullptr) {
    WB_TRY(fetch(s, s->stream, room.at.mean, k * p, message));
    put(mean, room.fetched, k * p);
  }
  if (factor != nullptr) {
    WB_TRY(fetch(s, s->stream, room.at.factor, k * triangle_of(s), message));
    put(factor, room.fetched, k * triangle_of(s));
  }
  return WB_OK;
}

int finish_part_labels(wb_mixture_session *s, double *sizes, double *log_likelihood, wb_message *message) {
  mixture_room &room = s->room;
  const size_t k = size_t(room.count);
  WB_TRY(launch(s->cover(GATHER_THREADS, room.count), mixture_gather, "counting rows", message, room.at, room.answer));
  WB_TRY(fetch(s, s->stream, room.answer, 2 * k + 1, message));
  WB_TRY(all_drawn(room.fetched + k, room.count, message));
  *log_likelihood = room.fetched[2 * k];
  if (s->data.sample == nullptr) {
    put(sizes, room.fetched, k);
    return WB_OK;
  }
  std::memset(sizes, 0, sample_table(s, room.count) * sizeof(double));
  return add_samples(s, sizes, message);
}

int set_part_sums(wb_mixture_session *s, const double *sums, wb_message *message) {
  return send(s->stream, s->room.at.statistics, sums, node_size(s, s->room.count), message);
}

int add_part_sizes(wb_mixture_session *s, double *sizes, wb_message *message) {
  if (s->data.sample == nullptr) return s->stream.wait("sending the sums of rows", message);
  return add_samples(s, sizes, message);
}

template <typename Real>
int send_components(wb_mixture_session *s, const double *log_weight, const mixture_draw_kernel<Real> &draw,
                    Real *coefficients, wb_message *message) {
  mixture_room &room = s->room;
  const size_t k = size_t(room.count);
  /* The weights of several samples are added row by row instead: see send_shares(). */
  if (s->data.sample == nullptr) put(room.sent_weight, log_weight, k);
  else std::memset(room.sent_weight, 0, k * sizeof(double));
  WB_TRY(send(s->stream, room.at.log_weight, room.sent_weight, k, message));
  if (draw.layout == mixture_layout::halves)
    return launch(s->grid(ENTRY_THREADS, half_eights(room.count), half_groups(s->data.columns)), mixture_pack_halves,
                  "laying out components", message, room.at, reinterpret_cast<unsigned char *>(coefficients));
  if (draw.layout == mixture_layout::fragments)
    return launch(s->grid(ENTRY_THREADS, fragment_blocks(room.count), s->data.columns + 1), mixture_pack_fragments,
                  "laying out components", message, room.at, reinterpret_cast<double *>(coefficients));
  return launch(s->grid(ENTRY_THREADS, room.count), mixture_pack<Real>, "laying out components", message, room.at,
                draw.order, coefficients);
}
WB_BOTH_PRECISIONS(send_components)

template <typename Real>
void pack_coefficients(const wb_mixture_session *s, const wb_mixture_parameters *parameters, int order, Real *packed) {
  const size_t p = size_t(s->data.columns);
  for (size_t j = 0; j < size_t(parameters->components); j++)
    pack_component(0, 1, s->data.columns, order, parameters->offset + j * p, parameters->factor + j * (p * (p + 1) / 2),
                   parameters->log_constant[j], j, packed);
}
WB_BOTH_PRECISIONS(pack_coefficients)

/* The same in the layout of fragment_line(). */
static void pack_fragments(int p, const wb_mixture_parameters *parameters, double *packed) {
  std::memset(packed, 0, fragment_bytes(parameters->components, p));
  for (int j = 0; j < parameters->components; j++) {
    double *const block = packed + size_t(j / FRAGMENT_COMPONENTS) * size_t(fragment_block(p));
    const int g = j % 8, half = j % FRAGMENT_COMPONENTS / 8;
    const double *factor = parameters->factor + size_t(j) * size_t(p * (p + 1) / 2);
    for (int r = 0; r < p; r++) {
      double *const line = block + fragment_line(r);
      line[2 * g + half] = -parameters->offset[size_t(j) * size_t(p) + r];
      for (int c = 0; c <= r; c++)
        line[FRAGMENT_COMPONENTS + FRAGMENT_LINE * (c / 4) + 2 * (4 * g + c % 4) + half] = *factor++;
    }
    block[fragment_line(p) + 2 * g + half] = parameters->log_constant[j];
  }
}

template <typename Real>
int send_coefficients(wb_mixture_session *s, const wb_mixture_parameters *mixtures, int32_t count,
                      const mixture_evaluate_kernel<Real> &kernel, Real *to, wb_message *message) {
  const size_t bytes = kernel_bytes<Real>(s, kernel, mixtures->components);
  char *const packed = static_cast<char *>(s->packed.address());
  for (int32_t i = 0; i < count; i++) {
    char *const here = packed + size_t(i) * bytes;
    if (kernel.layout == mixture_layout::fragments)
      pack_fragments(s->data.columns, mixtures + i, reinterpret_cast<double *>(here));
    else pack_coefficients(s, mixtures + i, kernel.order, reinterpret_cast<Real *>(here));
  }
  return copy_later(to, packed, size_t(count) * bytes, cudaMemcpyHostToDevice, "sending the components to the device",
                    message, s->stream.get());
}
WB_BOTH_PRECISIONS(send_coefficients)

} // namespace wb
