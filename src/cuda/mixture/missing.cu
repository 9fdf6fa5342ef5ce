/* Draws the labels and the missing values of rows that lack values (core/mixture_missing.h). The twin of
 * cpu/mixture/missing.c. Tables of all components are made for some patterns of missing columns at a time; then one
 * thread draws each row of these patterns. Drawn values go into the session's copy. */
#include "cuda/mixture/state.cuh"

#include <vector>

#include "core/mixture_missing.h"
#include "core/purpose.h"
#include "core/scaled_value.h"
#include "core/unroll.h"
#include "cuda/mixture/kernels.cuh"
#include "cuda/one_pass.cuh"

namespace wb {

namespace {

constexpr int MISSING_THREADS = 64;
/* The most bytes of tables at a time, except that one table is always made. */
constexpr uint64_t MISSING_BYTES = 64 * MEGABYTE;
constexpr size_t MISSING_SHARED = 46 * 1024;

/* Numbers of a component in a table; see wb_missing_reorder(). The log constant comes last. */
__device__ __host__ __forceinline__ size_t missing_size(int p) { return wb_missing_size(p) + 1; }

/* The patterns, as in wb_mixture_missing. */
struct missing_patterns {
  const int32_t *order, *observed, *row;
  const int64_t *first;
  int32_t from, end; /* the patterns whose tables there are */
};

/* Lays the components out as a table before its columns are reordered. One block for each component. */
__global__ void __launch_bounds__(MISSING_THREADS) mixture_whole(mixture_components c, double *whole) {
  const int p = c.columns;
  const size_t j = blockIdx.x;
  double *const to = whole + j * missing_size(p);
  const double *const factor = c.factor + j * wb_packed_size(p), *const offset = c.offset + j * size_t(p);
  for (int r = int(threadIdx.x); r < p; r += MISSING_THREADS) {
    double *const line = to + wb_missing_row(r);
    line[0] = offset[r];
    for (int i = 0; i <= r; i++) line[1 + i] = factor[wb_packed_row(r) + size_t(i)];
  }
  if (threadIdx.x == 0)
    to[wb_missing_size(p)] = wb_component_log_floored(p, c.log_weight[j], c.log_determinant[j], c.floor_trace[j]);
}

/* The patterns' tables: a thread a pattern and component, 3 (p - c)(p + c) operations a missing column c. */
__global__ void __launch_bounds__(MISSING_THREADS)
    mixture_missing_tables(missing_patterns patterns, int p, int components, const double *whole, double *tables) {
  const int64_t at = thread_number<MISSING_THREADS>();
  const int64_t pattern = patterns.from + at / components;
  if (pattern >= patterns.end) return;
  const size_t size = missing_size(p);
  const double *const from = whole + size_t(at % components) * size;
  double *const to = tables + size_t(at) * size;
  for (size_t i = 0; i < size; i++) to[i] = from[i];
  wb_missing_reorder(1, p, patterns.observed[pattern], patterns.order + pattern * p, to, to + size - 1);
  for (int r = 0; r < p; r++) to[wb_missing_row(r)] *= -1;
}

template <typename Real>
struct missing_row {
  typedef precise<Real> as;
  static constexpr int AT_ONCE = 1;
  Real *x, *log_weight;
  int step, p, observed;
  const int32_t *order;
  const double *table;
  int64_t number;

  __device__ __forceinline__ Real &value(int c) { return x[c * step]; }
  __device__ __forceinline__ Real &weight(int j, int) { return log_weight[j * step]; }

  /* Finds entry `at` of the rows that lack values; false where it is not among rows first, ..., end - 1. */
  __device__ __forceinline__ bool find(const missing_patterns &patterns, int64_t at, int columns, int components,
                                       const double *tables, Real *shared, int64_t first, int64_t end) {
    if (at >= patterns.first[patterns.end]) return false;
    number = patterns.row[at];
    if (number < first || number >= end) return false;
    int32_t low = patterns.from, high = patterns.end - 1;
    while (low < high) {
      const int32_t middle = (low + high + 1) / 2;
      if (patterns.first[middle] <= at) low = middle;
      else high = middle - 1;
    }
    p = columns;
    observed = patterns.observed[low];
    order = patterns.order + int64_t(low) * p;
    table = tables + size_t(low - patterns.from) * size_t(components) * missing_size(p);
    step = int(blockDim.x);
    x = shared + threadIdx.x;
    log_weight = x + p * step;
    return true;
  }

  __device__ __forceinline__ void read(const Real *row) {
    for (int i = 0; i < observed; i++) value(i) = row[size_t(order[i]) * WB_LEAF_ROWS];
  }

  /* The log weight of a component: rows of the triangle four at a time. */
  __device__ __forceinline__ Real weigh(int component) {
    const double *const entries = table + size_t(component) * missing_size(p);
    Real squares = 0;
    WB_ROLLED
    for (int row = 0; row < observed; row += 4) {
      const int count = observed - row < 4 ? observed - row : 4;
      const double *line[4];
      Real z[4];
      WB_UNROLL
      for (int i = 0; i < 4; i++) {
        line[i] = entries + wb_missing_row(row + (i < count ? i : 0));
        z[i] = Real(*line[i]++);
      }
      WB_ROLLED
      for (int c = 0; c < row; c++) {
        const Real given = value(c);
        WB_UNROLL
        for (int i = 0; i < 4; i++) z[i] = as::fma(Real(line[i][c]), given, z[i]);
      }
      WB_UNROLL
      for (int c = 0; c < 4; c++) {
        if (c >= count) continue;
        const Real given = value(row + c);
        WB_UNROLL
        for (int i = c; i < 4; i++)
          if (i < count) z[i] = as::fma(Real(line[i][row + c]), given, z[i]);
      }
      WB_UNROLL
      for (int i = 0; i < 4; i++)
        if (i < count) squares = as::fma(z[i], z[i], squares);
    }
    return as::fma(Real(-0.5), squares, Real(entries[wb_missing_size(p)]));
  }

  __device__ __forceinline__ Real weigh_block(int base, int count, const Real *share, int32_t *best) {
    Real top = 0;
    WB_ROLLED
    for (int j = 0; j < count; j++) {
      Real weight_of = weigh(base + j);
      if (share != nullptr) weight_of += share[base + j];
      weight(j, 0) = weight_of;
      if (j == 0 || weight_of > top) {
        top = weight_of;
        *best = base + j;
      }
    }
    return top;
  }

  /* The missing values given the others and the component, into the session's row. */
  __device__ __forceinline__ void impute(int32_t label, uint64_t key, uint32_t iteration, uint64_t element, Real *row) {
    const double *const entries = table + size_t(label) * missing_size(p);
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_MISSING, iteration, element);
    WB_ROLLED
    for (int r = observed; r < p; r++) {
      const double *const line = entries + wb_missing_row(r);
      double z = double(Real(line[0]));
      WB_ROLLED
      for (int c = 0; c < r; c++) z = wb_fma(double(Real(line[1 + c])), double(value(c)), z);
      const Real drawn = as::narrow((wb_draw_normal(&stream) - z) / double(Real(line[1 + r])));
      value(r) = drawn;
      row[size_t(order[r]) * WB_LEAF_ROWS] = drawn;
    }
  }
};

template <typename Real>
struct missing_uniforms {
  typedef precise<Real> as;
  uint64_t key, element;
  uint32_t iteration;
  Real uniform;

  __device__ __forceinline__ void take(int block) {
    const uint32_t number = uint32_t(block);
    const wb_bits bits =
        wb_philox(key, number / as::uniforms, uint32_t(element), wb_philox_c2(WB_PURPOSE_LABEL, element), iteration);
    uniform = as::uniform(bits, number % as::uniforms);
  }
  __device__ __forceinline__ Real operator()(int) const { return uniform; }
};

/* Draws rows that lack values: see mixture_draw(). Entries of patterns.row from patterns.first[patterns.from] on, one a
 * thread; those outside of rows first_row, ..., first_row + rows - 1 are left alone. Row 0 is row `before` of the
 * whole. Shared memory: p + WB_BLOCK_ITEMS values a thread. Multiply-adds as in mixture_draw(), whose coefficients come
 * through the caches, the same for threads that share a pattern. */
template <typename Real>
__global__ void __launch_bounds__(MISSING_THREADS)
    mixture_missing_draw(missing_patterns patterns, int p, int components, const double *tables, const Real *share,
                         const int32_t *sample, uint64_t key, uint32_t iteration, int64_t before, int64_t first_row,
                         int64_t rows, Real *x, int32_t *label, Real *log_sum) {
  typedef precise<Real> as;
  WB_DYNAMIC_SHARED(Real, shared);
  missing_row<Real> mine;
  const int64_t at = patterns.first[patterns.from] + thread_number();
  if (!mine.find(patterns, at, p, components, tables, shared, first_row, first_row + rows)) return;
  const int64_t slot = mine.number - first_row;
  const uint64_t element = uint64_t(before + mine.number);
  Real *const row = x + (slot / WB_LEAF_ROWS * p) * WB_LEAF_ROWS + slot % WB_LEAF_ROWS;
  mine.read(row);
  if (share != nullptr) share += size_t(sample[mine.number]) * size_t(components);
  one_pass<Real, 1> seen(0);
  missing_uniforms<Real> uniforms = {key, element, iteration, 0};
  auto weigh = [=](int base, int count, Real(&top)[1]) mutable {
    int32_t best;
    top[0] = mine.weigh_block(base, count, share, &best);
  };
  missing_row<Real> weights = mine;
  draw_in_one_pass(seen, weights, components, weigh, uniforms);
  label[slot] = seen.chosen[0];
  log_sum[slot] = seen.largest[0] + as::log(seen.total[0]);
  mine.impute(seen.chosen[0], key, iteration, element, row);
}

/* Evaluates rows that lack values (mixture_evaluate()). x begins with row `start`, a multiple of WB_LEAF_ROWS. */
template <typename Real>
__global__ void __launch_bounds__(MISSING_THREADS)
    mixture_missing_evaluate(missing_patterns patterns, int p, int components, const double *tables, int64_t start,
                             int64_t first_row, int64_t rows, const Real *x, int32_t *label, double *log_sum,
                             double *probability, int64_t stride) {
  typedef precise<Real> as;
  WB_DYNAMIC_SHARED(Real, shared);
  missing_row<Real> mine;
  const int64_t at = patterns.first[patterns.from] + thread_number();
  if (!mine.find(patterns, at, p, components, tables, shared, first_row, first_row + rows)) return;
  const int64_t slot = mine.number - first_row;
  mine.read(first_value_of_row(x, p, mine.number - start));
  one_pass<Real, 1> seen(0);
  auto weigh = [=](int base, int count, Real(&top)[1], int32_t(&best)[1]) mutable {
    top[0] = mine.weigh_block(base, count, nullptr, &best[0]);
  };
  missing_row<Real> weights = mine;
  evaluate_in_one_pass(seen, weights, components, weigh, [=](int j, int, Real log_weight) {
    if (probability != nullptr) probability[slot + j * stride] = double(log_weight);
  });
  label[slot] = seen.chosen[0];
  log_sum[slot] = double(seen.largest[0] + as::log(seen.total[0]));
  if (probability == nullptr) return;
  WB_ROLLED
  for (int j = 0; j < components; j++) {
    double *const entry = probability + slot + j * stride;
    *entry = double(as::exp_weight(Real(*entry) - seen.largest[0]) / seen.total[0]);
  }
}

uint64_t table_bytes(const wb_mixture_session *s, int32_t components) {
  return uint64_t(components) * missing_size(s->data.columns) * sizeof(double);
}

/* Threads of a block, whose rows lie in shared memory. */
template <typename Real>
int threads_of(int p) {
  const size_t row = (size_t(p) + WB_BLOCK_ITEMS) * sizeof(Real);
  int threads = MISSING_THREADS;
  while (threads > 1 && size_t(threads) * row > MISSING_SHARED) threads /= 2;
  return threads;
}

/* Memory for the components and for tables of as many patterns as have room. */
int open_tables(wb_mixture_session *s, int32_t components, wb_message *message) {
  mixture_gaps &gaps = s->gaps;
  gaps.built = -1;
  if (gaps.components == components) return WB_OK;
  gaps.components = 0;
  gaps.whole.release();
  gaps.tables.release();
  uint64_t left = 0;
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  const uint64_t bytes = table_bytes(s, components), room = smaller(MISSING_BYTES, left / 4);
  if (2 * bytes > left) return lacks_memory(s, components, 2 * bytes, left, message);
  const uint64_t fit = larger<uint64_t>(1, room / bytes);
  gaps.at_once = int32_t(smaller(uint64_t(s->data.missing->patterns), fit));
  const char *const what = "components of rows with missing values";
  WB_TRY(gaps.whole.allocate(bytes / sizeof(double), what, message));
  WB_TRY(gaps.tables.allocate(size_t(gaps.at_once) * bytes / sizeof(double), what, message));
  gaps.components = components;
  return WB_OK;
}

template <typename Work>
int for_tables(wb_mixture_session *s, wb_message *message, Work work) {
  if (s->data.missing == nullptr) return WB_OK;
  mixture_gaps &gaps = s->gaps;
  return in_batches(s->data.missing->patterns, gaps.at_once, [&](int64_t first, int64_t count) {
    const int32_t from = int32_t(first), end = int32_t(first + count);
    const missing_patterns patterns = {
        gaps.order.data(), gaps.observed.data(), gaps.row.data(), gaps.first.data(), from, end};
    if (gaps.built != from)
      WB_TRY(launch(s->cover(MISSING_THREADS, count * gaps.components), mixture_missing_tables,
                    "components of rows with missing values", message, patterns, s->data.columns, gaps.components,
                    gaps.whole.data(), gaps.tables.data()));
    gaps.built = from;
    return work(patterns);
  });
}

template <typename Real>
launch_shape shape_of(const wb_mixture_session *s, const missing_patterns &patterns) {
  const wb_mixture_missing *missing = s->data.missing;
  const int threads = threads_of<Real>(s->data.columns);
  const int64_t rows = missing->first[patterns.end] - missing->first[patterns.from];
  const size_t values = size_t(threads) * (size_t(s->data.columns) + WB_BLOCK_ITEMS);
  return s->cover(threads, rows).sharing(values * sizeof(Real));
}

} // namespace

int open_missing(wb_mixture_session *s, wb_message *message) {
  const wb_mixture_missing *missing = s->data.missing;
  if (missing == nullptr) return WB_OK;
  const char *const what = "the patterns of missing values";
  mixture_gaps &gaps = s->gaps;
  const size_t patterns = size_t(missing->patterns), order = patterns * size_t(s->data.columns);
  const size_t rows = size_t(missing->first[missing->patterns]);
  WB_TRY(gaps.order.hold(missing->order, order, what, message));
  WB_TRY(gaps.observed.hold(missing->observed, patterns, what, message));
  WB_TRY(gaps.first.hold(missing->first, patterns + 1, what, message));
  return gaps.row.hold(missing->row, rows, what, message);
}

int keeps_missing(const wb_mixture_session *s, wb_message *message) {
  if (s->data.missing == nullptr || s->resident()) return WB_OK;
  return wb_fail(message, WB_ERROR_MEMORY,
                 "with missing values all rows have to stay on the graphics card, and %.2f MB for them cannot be had",
                 double(s->leaf() * uint64_t(s->leaves)) / 1e6);
}

int begin_missing(wb_mixture_session *s, wb_message *message) {
  if (s->data.missing == nullptr) return WB_OK;
  WB_TRY(open_tables(s, s->room.count, message));
  return launch(s->grid(MISSING_THREADS, s->room.count), mixture_whole, "components of rows with missing values",
                message, s->room.at, s->gaps.whole.data());
}

template <typename Real>
int draw_missing(wb_mixture_session *s, int64_t first, int64_t count, const Real *share, uint64_t key,
                 uint32_t iteration, Real *x, int32_t *labels, Real *log_sums, wb_message *message) {
  return for_tables(s, message, [&](const missing_patterns &patterns) {
    return launch(shape_of<Real>(s, patterns), mixture_missing_draw<Real>, "drawing missing values", message, patterns,
                  s->data.columns, s->gaps.components, s->gaps.tables.data(), share, s->sample.data(), key, iteration,
                  s->number, first * WB_LEAF_ROWS, s->rows(first, count), x, labels, log_sums);
  });
}
WB_BOTH_PRECISIONS(draw_missing)

int begin_missing_evaluation(wb_mixture_session *s, const wb_mixture_parameters *parameters, wb_message *message) {
  if (s->data.missing == nullptr) return WB_OK;
  WB_TRY(open_tables(s, parameters->components, message));
  const int p = s->data.columns;
  const size_t size = missing_size(p), triangle = wb_packed_size(p), k = size_t(parameters->components);
  std::vector<double> whole(k * size);
  for (size_t j = 0; j < k; j++) {
    double *const to = whole.data() + j * size;
    for (int r = 0; r < p; r++) {
      to[wb_missing_row(r)] = parameters->offset[j * size_t(p) + size_t(r)];
      std::memcpy(to + wb_missing_row(r) + 1, parameters->factor + j * triangle + wb_packed_row(r),
                  (size_t(r) + 1) * sizeof(double));
    }
    to[size - 1] = parameters->log_constant[j];
  }
  return s->gaps.whole.upload(whole.data(), whole.size(), "sending the components to the device", message);
}

template <typename Real>
int evaluate_missing(wb_mixture_session *s, int64_t start, int64_t row, int64_t rows, const Real *x, int32_t *labels,
                     double *log_sums, double *probability, int64_t stride, wb_message *message) {
  return for_tables(s, message, [&](const missing_patterns &patterns) {
    return launch(shape_of<Real>(s, patterns), mixture_missing_evaluate<Real>, "evaluating rows with missing values",
                  message, patterns, s->data.columns, s->gaps.components, s->gaps.tables.data(), start, row, rows, x,
                  labels, log_sums, probability, stride);
  });
}
WB_BOTH_PRECISIONS(evaluate_missing)

template <typename Real>
int get_part_row(wb_mixture_session *s, int64_t row, double *values, wb_message *message) {
  const size_t p = size_t(s->data.columns);
  const Real *const from =
      static_cast<const Real *>(s->x.address()) + row / WB_LEAF_ROWS * int64_t(p) * WB_LEAF_ROWS + row % WB_LEAF_ROWS;
  std::vector<Real> found(p);
  WB_TRY(s->stream.wait("fetching a row", message));
  WB_TRY(status_of(cudaMemcpy2D(found.data(), sizeof(Real), from, WB_LEAF_ROWS * sizeof(Real), sizeof(Real), p,
                                cudaMemcpyDeviceToHost),
                   "fetching a row", message));
  for (size_t c = 0; c < p; c++) values[c] = double(found[c]);
  return WB_OK;
}
WB_BOTH_PRECISIONS(get_part_row)

} // namespace wb
