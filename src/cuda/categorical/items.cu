/* Draws from many discrete distributions on a graphics card, by the laws of core/categorical_draw.h. The twin of
 * cpu/categorical/items.c, with the same bits in double precision.
 *
 * Threads with one row each read neighbouring weights. If rows are few, several lanes of a warp share a row. */
#include "cuda/table.cuh"
#include "cuda/copies.cuh"

#include "core/categorical_draw.h"
#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "cuda/one_pass.cuh"

namespace wb {

namespace {

constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ double categorical_target(double u, double total) { return wb_target(u, total); }
__device__ __forceinline__ float categorical_target(float u, float total) { return wb_targetf(u, total); }

/* 0, or a negative number for a negative weight, -0 included. */
__device__ __forceinline__ int sign_of(double x) { return __double2hiint(x); }
__device__ __forceinline__ int sign_of(float) { return 0; }
template <typename Stored>
Stored stored_as(double x) {
  return sizeof(Stored) == sizeof(float) && wb_double_bits(x) >> 63 ? wb_nanf() : Stored(x);
}

__device__ __forceinline__ bool usable(double total) { return wb_categorical_usable(total); }
__device__ __forceinline__ bool usable(float total) { return wb_categorical_usablef(total); }

constexpr int BLOCK = WB_BLOCK_ITEMS, DRAW_THREADS = 128;

/* Draw 0 of rows that lie side by side, L lanes to a row; each lane takes every L-th block of 16 weights.
 *
 * Launch: 128 threads a block, 32 / L rows a warp. Bytes from device memory: the weights, once, and 4 a row back.
 * Operations for a weight: a load, an addition, a bit operation, a 16th of a comparison by 15, and a 16th or 64th of a
 * uniform (about 80). With L > 1 in addition L shuffles and additions for L blocks. */
template <typename Stored, typename Real, bool LOG, int L>
__global__ void __launch_bounds__(DRAW_THREADS) categorical_draw(const Stored *weights, int64_t rows, int64_t columns,
                                                                 uint64_t key, uint64_t first_row, int32_t *index) {
  typedef precise<Real> as;
  constexpr int ROWS = 32 / L;
  const int lane = int(threadIdx.x) % 32, part = lane / ROWS, line = lane % ROWS;
  const int64_t warp = thread_number<DRAW_THREADS>() / 32;
  /* All lanes take part: those past the end repeat the last row. */
  const int64_t wanted = warp * ROWS + line, row = wanted < rows ? wanted : rows - 1;
  const uint64_t element = first_row + uint64_t(row);
  const int64_t blocks = (columns + BLOCK - 1) / BLOCK;
  one_pass<Real, 1, double> seen(-1);
  double &largest = seen.largest[0];
  Real &total = seen.total[0];
  int32_t &chosen = seen.chosen[0];
  int bad = 0;
  wb_bits bits = {{0, 0, 0, 0}};
  for (int64_t base = 0; base < blocks; base += L) {
    const int64_t block = base + part, first = block * BLOCK;
    const Stored *const at = weights + row + first * rows;
    Stored x[BLOCK];
    if (first + BLOCK <= columns) {
      WB_UNROLL
      for (int j = 0; j < BLOCK; j++) x[j] = at[j * rows];
    } else {
      WB_UNROLL
      for (int j = 0; j < BLOCK; j++)
        x[j] = first + j < columns ? at[j * rows] : LOG ? Stored(-wb_infinity()) : Stored(0);
    }
    if (L > 1 || block % as::uniforms == 0)
      bits = wb_philox(key, uint32_t(block / as::uniforms), uint32_t(element),
                       wb_philox_c2(WB_PURPOSE_CATEGORICAL, element), 0);

    Real factor = 1;
    if (LOG) {
      double top = L == 1 ? x[0] : largest;
      WB_UNROLL
      for (int j = 0; j < BLOCK; j++) {
        bad |= x[j] < wb_infinity() ? 0 : -1;
        top = x[j] > top ? x[j] : top;
      }
      if (L == 1) {
        seen.rescale(0, top);
      } else {
        /* The largest of the blocks up to this one; then the one before it. */
        WB_UNROLL
        for (int apart = 1; apart < L; apart *= 2) {
          const double other = __shfl_up_sync(all_lanes, top, apart * ROWS);
          if (part >= apart) top = other > top ? other : top;
        }
        double previous = __shfl_up_sync(all_lanes, top, ROWS);
        if (part == 0) previous = largest;
        factor = as::exp_weight(Real(previous - top));
        largest = top;
      }
    }
    Real prefix[BLOCK], sum[1];
    const auto weight = [&](int j, int) {
      if (!LOG) bad |= sign_of(x[j]);
      return LOG ? as::exp_weight(Real(x[j] - largest)) : Real(x[j]);
    };
    add_block<1, BLOCK>(BLOCK, sum, weight, [&](int j, int) -> Real & { return prefix[j]; });
    /* Blocks in order, whichever lane has them. */
    Real before = 0;
    if (L == 1) {
      before = total;
      total = before + sum[0];
    } else {
      for (int q = 0; q < L; q++) {
        if (LOG) total *= __shfl_sync(all_lanes, factor, q * ROWS + line);
        if (part == q) before = total;
        total += __shfl_sync(all_lanes, sum[0], q * ROWS + line);
      }
      if (LOG) largest = __shfl_sync(all_lanes, largest, (L - 1) * ROWS + line);
    }
    const Real position = as::position(as::uniform(bits, uint32_t(block % as::uniforms)), before, sum[0]);
    int32_t item = chosen;
    if (position >= 0) {
      item = int32_t(first);
      WB_UNROLL
      for (int j = 0; j < BLOCK - 1; j++) item += prefix[j] <= position ? 1 : 0;
    }
    if (L == 1) {
      chosen = item;
    } else {
      /* The last of the row's blocks that takes over. */
      constexpr unsigned parts = L == 32 ? 0xffffffffu : 0x01010101u;
      const unsigned taking = __ballot_sync(all_lanes, position >= 0) >> line & parts;
      chosen = __shfl_sync(all_lanes, item, taking ? 31 - __clz(int(taking)) + line : lane);
    }
  }
  WB_UNROLL
  for (int apart = ROWS; apart < 32; apart *= 2) bad |= __shfl_xor_sync(all_lanes, bad, apart);
  if (part == 0 && wanted < rows) index[row] = bad >= 0 && usable(total) ? chosen : -1;
}

/* Rows as the kernels below see them: where entries lie, how many, and their columns. */
struct dense_rows {
  int64_t rows, columns;
  __device__ __forceinline__ int64_t begin(int64_t row) const { return row; }
  __device__ __forceinline__ int64_t stride() const { return rows; }
  __device__ __forceinline__ int64_t count(int64_t) const { return columns; }
  __device__ __forceinline__ int32_t column(int64_t, int64_t i) const { return int32_t(i); }
};

struct sparse_rows {
  int64_t rows, origin; /* entries before the first row of this part */
  const int64_t *offset;
  const int32_t *stored;
  __device__ __forceinline__ int64_t begin(int64_t row) const { return offset[row] - origin; }
  __device__ __forceinline__ int64_t stride() const { return 1; }
  __device__ __forceinline__ int64_t count(int64_t row) const { return offset[row + 1] - offset[row]; }
  __device__ __forceinline__ int32_t column(int64_t row, int64_t i) const { return stored[begin(row) + i]; }
};

/* Draw 0 of sparse rows, a thread a row. Entries are read twice where their block takes over. */
template <typename Stored, typename Real>
__global__ void __launch_bounds__(DRAW_THREADS)
    categorical_draw_sparse(const Stored *weights, sparse_rows place, uint64_t key, uint64_t first_row,
                            int32_t *index) {
  typedef precise<Real> as;
  const int64_t row = thread_number<DRAW_THREADS>();
  if (row >= place.rows) return;
  const uint64_t element = first_row + uint64_t(row);
  const Stored *const x = weights + place.begin(row);
  const int64_t count = place.count(row);
  one_pass<Real, 1> seen(-1);
  int bad = 0;
  int64_t drawn = -1;
  wb_bits bits = {{0, 0, 0, 0}};
  for (int64_t first = 0, end; first < count; first = end) {
    const int32_t block = place.column(row, first) / BLOCK;
    Real sum = 0;
    for (end = first; end < count && place.column(row, end) / BLOCK == block; end++) {
      bad |= sign_of(x[end]);
      sum += x[end];
    }
    if (block / as::uniforms != drawn) {
      drawn = block / as::uniforms;
      bits = wb_philox(key, uint32_t(drawn), uint32_t(element), wb_philox_c2(WB_PURPOSE_CATEGORICAL, element), 0);
    }
    const Real position = seen.add(0, as::uniform(bits, uint32_t(block % as::uniforms)), sum);
    if (position >= 0) {
      int64_t i = first;
      for (Real prefix = x[i]; prefix <= position && i < end - 1;) prefix += x[++i];
      seen.chosen[0] = place.column(row, i);
    }
  }
  index[row] = bad >= 0 && usable(seen.total[0]) ? seen.chosen[0] : -1;
}

/* Puts prefix sums, added in order, in the place of the weights, a thread a row; the last
 * becomes NaN where the row cannot be drawn from. Weights are read and written once, logarithms read twice. */
template <typename Stored, typename Real, bool LOG, typename Rows>
__global__ void __launch_bounds__(DRAW_THREADS) categorical_sum(Stored *weights, Rows place) {
  const int64_t row = thread_number<DRAW_THREADS>();
  if (row >= place.rows) return;
  Stored *const x = weights + place.begin(row);
  const int64_t count = place.count(row), stride = place.stride();
  double largest = WB_BLOCK_NOTHING;
  if (LOG) {
    for (int64_t i = 0; i < count; i++) largest = x[i * stride] > largest ? x[i * stride] : largest;
  }
  Real total = 0;
  int bad = 0;
  for (int64_t i = 0; i < count; i++) {
    const Stored weight = x[i * stride];
    if (LOG) {
      bad |= weight < wb_infinity() ? 0 : -1;
    } else {
      bad |= sign_of(weight);
    }
    total += LOG ? precise<Real>::exp_weight(Real(weight - largest)) : Real(weight);
    x[i * stride] = Stored(total);
  }
  if (count > 0 && !(bad >= 0 && usable(total))) x[(count - 1) * stride] = Stored(wb_nanf());
}

/* Draws first_draw.. by inversion, a thread a draw: the threads of a warp have
 * neighbouring rows, or where there are few the same one. */
template <typename Stored, typename Real, typename Rows>
__global__ void __launch_bounds__(DRAW_THREADS)
    categorical_invert(const Stored *prefix, Rows place, uint64_t key, uint64_t first_row, int64_t first_draw,
                       int64_t draws, int32_t *index) {
  typedef precise<Real> as;
  const int64_t threads = int64_t(gridDim.x) * DRAW_THREADS;
  for (int64_t i = thread_number<DRAW_THREADS>(); i < place.rows * draws; i += threads) {
    const int64_t row = i % place.rows, draw = first_draw + i / place.rows, group = draw / as::uniforms;
    const int64_t count = place.count(row), stride = place.stride();
    const Stored *const x = prefix + place.begin(row);
    const Real total = count > 0 ? Real(x[(count - 1) * stride]) : Real(0);
    int32_t item = -1;
    if (usable(total)) {
      const uint64_t element = first_row + uint64_t(row);
      const wb_bits bits = wb_philox(key, uint32_t(group), uint32_t(element),
                                     wb_philox_c2(WB_PURPOSE_CATEGORICAL_MORE, element), uint32_t(group >> 32));
      const Real target = categorical_target(as::uniform(bits, uint32_t(draw % as::uniforms)), total);
      int64_t low = 0, high = count - 1;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (Real(x[middle * stride]) > target) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      item = place.column(row, low);
    }
    index[i] = item;
  }
}

/* Host ------------------------------------------------------------------------------ */

/* `lines` lines of `length` weights each, to be one after the other on the device. */
template <typename Stored>
int send_lines(const wb_run *run, Stored *to, const double *from, int64_t lines, int64_t length, int64_t line_stride,
               int64_t stride, wb_message *message) {
  static const char *const what = "copying the weights to the device";
  if constexpr (sizeof(Stored) == sizeof(double))
    if (stride == 1 && (line_stride == length || lines == 1)) return send(run, to, from, lines * length, what, message);
  return send_by(
      run, to, lines * length,
      [=](Stored *staged, int64_t first, int64_t count) {
        int64_t line = first / length, place = first % length;
        for (int64_t i = 0; i < count; line++, place = 0) {
          const double *const x = from + line * line_stride + place * stride;
          const int64_t some = wb_min_int(length - place, count - i);
          for (int64_t j = 0; j < some; j++) staged[i + j] = stored_as<Stored>(x[j * stride]);
          i += some;
        }
      },
      what, message);
}

/* `draws` draws of each of `rows` rows: draw d of row r is to[r + d * stride]. */
int fetch_draws(const wb_run *run, int32_t *to, const int32_t *from, int64_t rows, int64_t draws, int64_t stride,
                wb_message *message) {
  static const char *const what = "copying the draws from the device";
  if (draws == 1 || stride == rows) return fetch(run, to, from, rows * draws, what, message);
  return fetch_by<int32_t>(
      run, {nullptr, 0}, rows * draws,
      [=](int64_t first, int64_t, int64_t, cudaStream_t, const int32_t **address) {
        *address = from + first;
        return int(WB_OK);
      },
      [=](const int32_t *staged, int64_t first, int64_t count) {
        int64_t draw = first / rows, row = first % rows;
        for (int64_t i = 0; i < count; draw++, row = 0) {
          const int64_t some = wb_min_int(rows - row, count - i);
          std::memcpy(to + row + draw * stride, staged + i, size_t(some) * sizeof(int32_t));
          i += some;
        }
      },
      what, message);
}

launch_shape shape_for(int64_t threads) {
  return grid(DRAW_THREADS, smaller(ceiling(threads, DRAW_THREADS), int64_t(1) << 30));
}

/* Lanes that share a row: one where the rows fill the card or a row has few blocks to
 * share, 32 where there are few rows. The bounds are those at which the ways take the same
 * time on a card of 132 multiprocessors (bench/categorical-cuda.R). */
int lanes_for(int64_t rows, int64_t columns, int processors) {
  if (rows >= 256 * int64_t(processors) || columns <= 4 * BLOCK) return 1;
  return rows >= 24 * int64_t(processors) || columns <= 32 * BLOCK ? 4 : 32;
}

template <typename Stored, typename Real, bool LOG>
class row_part {
public:
  explicit row_part(const wb_run *run) : run_(run) {}

  int draw(const wb_categorical_rows *rows, int64_t first, int64_t count, const wb_categorical_draws *draws,
           int processors, int64_t draws_at_once, wb_message *message) {
    const size_t values = size_t(count) * size_t(rows->columns);
    WB_TRY(weights_.grow(values, "the weights", message));
    WB_TRY(send_lines(run_, weights_.data(), rows->weights + first * rows->row_stride, rows->columns, count,
                      rows->column_stride, rows->row_stride, message));
    return draw_all(
        dense_rows{count, rows->columns}, first, draws, draws_at_once,
        [&](uint64_t first_row) {
          const int lanes = lanes_for(count, rows->columns, processors);
          return launch(shape_for(ceiling(count, 32 / lanes) * 32),
                        lanes == 1   ? categorical_draw<Stored, Real, LOG, 1>
                        : lanes == 4 ? categorical_draw<Stored, Real, LOG, 4>
                                     : categorical_draw<Stored, Real, LOG, 32>,
                        "drawing from rows", message, weights_.data(), count, rows->columns, draws->key, first_row,
                        index_.data());
        },
        message);
  }

  int draw_sparse(const wb_categorical_sparse *rows, int64_t first, int64_t count, const wb_categorical_draws *draws,
                  int64_t draws_at_once, wb_message *message) {
    const int64_t origin = rows->offset[first], entries = rows->offset[first + count] - origin;
    const size_t values = size_t(entries);
    WB_TRY(weights_.allocate(values + 1, "the weights", message));
    WB_TRY(send_lines(run_, weights_.data(), rows->weights + origin, 1, entries, entries, 1, message));
    WB_TRY(bring(run_, column_, rows->column + origin, values, "the weights' columns", message));
    WB_TRY(bring(run_, offset_, rows->offset + first, size_t(count) + 1, "the rows' offsets", message));
    const sparse_rows place = {count, origin, offset_.data(), column_.data()};
    return draw_all(
        place, first, draws, draws_at_once,
        [&](uint64_t first_row) {
          return launch(shape_for(count), categorical_draw_sparse<Stored, Real>, "drawing from sparse rows", message,
                        weights_.data(), place, draws->key, first_row, index_.data());
        },
        message);
  }

private:
  /* start(first_row) launches draw 0 of all rows. */
  template <typename Rows, typename Start>
  int draw_all(const Rows &place, int64_t first, const wb_categorical_draws *draws, int64_t draws_at_once, Start start,
               wb_message *message) {
    const uint64_t first_row = uint64_t(draws->first_row + first);
    if (draws->first_draw == 0 && draws->draws > 0) {
      WB_TRY(index_.grow(size_t(place.rows), "the draws", message));
      WB_TRY(start(first_row));
      WB_TRY(fetch_draws(run_, draws->index + first, index_.data(), place.rows, 1, place.rows, message));
    }
    const int64_t begin = larger<int64_t>(draws->first_draw, 1), end = draws->first_draw + draws->draws;
    if (begin >= end) return WB_OK;
    WB_TRY(launch(shape_for(place.rows), categorical_sum<Stored, Real, LOG, Rows>, "summing weights", message,
                  weights_.data(), place));
    return in_batches(end - begin, draws_at_once, [&](int64_t done, int64_t count) {
      const int64_t draw = begin + done;
      WB_TRY(index_.grow(size_t(place.rows * count), "the draws", message));
      WB_TRY(launch(shape_for(place.rows * count), categorical_invert<Stored, Real, Rows>, "drawing by inversion",
                    message, weights_.data(), place, draws->key, first_row, draw, count, index_.data()));
      return fetch_draws(run_, draws->index + first + (draw - draws->first_draw) * draws->index_stride, index_.data(),
                         place.rows, count, draws->index_stride, message);
    });
  }

  const wb_run *const run_;
  device_array<Stored> weights_;
  device_array<int32_t> index_, column_;
  device_array<int64_t> offset_;
};

int64_t at_least_one(uint64_t items) {
  const uint64_t most = uint64_t(1) << 40;
  return int64_t(items < 1 ? 1 : items < most ? items : most);
}

template <typename Stored, typename Real, bool LOG>
int draw_rows(const wb_categorical_rows *rows, const wb_categorical_draws *draws, const wb_run *run, uint64_t bytes,
              int processors, wb_message *message) {
  /* A quarter for the draws. */
  const uint64_t row = uint64_t(rows->columns) * sizeof(Stored), for_draws = bytes / 4;
  if (row > bytes - for_draws) return too_little(bytes, "a row of weights", row, message);
  const uint64_t fit = (bytes - for_draws) / larger<uint64_t>(row, 1), draws_fit = for_draws / sizeof(int32_t);
  row_part<Stored, Real, LOG> part(run);
  return in_batches(rows->rows, at_least_one(smaller(fit, draws_fit)), [&](int64_t first, int64_t count) {
    return part.draw(rows, first, count, draws, processors, at_least_one(draws_fit / uint64_t(count)), message);
  });
}

template <typename Real>
int draw_sparse_rows(const wb_categorical_sparse *rows, const wb_categorical_draws *draws, const wb_run *run,
                     uint64_t bytes, wb_message *message) {
  const uint64_t for_draws = bytes / 4, entry = sizeof(Real) + sizeof(int32_t), per_row = sizeof(int64_t);
  for (int64_t first = 0, end; first < rows->rows; first = end) {
    uint64_t taken = per_row + 2 * entry;
    for (end = first; end < rows->rows; end++) {
      const uint64_t more = uint64_t(rows->offset[end + 1] - rows->offset[end]) * entry + per_row;
      if (taken + more > bytes - for_draws || uint64_t(end + 1 - first) > for_draws / sizeof(int32_t)) break;
      taken += more;
    }
    if (end == first)
      return too_little(bytes, "a row of weights", uint64_t(rows->offset[first + 1] - rows->offset[first]) * entry,
                        message);
    row_part<Real, Real, false> part(run);
    WB_TRY(part.draw_sparse(rows, first, end - first, draws,
                            at_least_one(for_draws / sizeof(int32_t) / uint64_t(end - first)), message));
  }
  return WB_OK;
}

} // namespace

int draw_by_weights(cudaStream_t stream, const double *weights, int64_t rows, int64_t columns, uint64_t key,
                    uint64_t first_row, int32_t *index, wb_message *message) {
  return launch(shape_for(rows).on(stream), categorical_draw<double, double, false, 1>, "drawing components", message,
                weights, rows, columns, key, first_row, index);
}

} // namespace wb

static int draw(const wb_categorical_rows *rows, const wb_categorical_draws *draws, const wb_run *run,
                wb_message *message) {
  wb::device_scope scope;
  uint64_t bytes = 0;
  int processors = 0;
  WB_TRY(scope.enter(run->device, message));
  WB_TRY(wb::memory_for_call(run, &bytes, message));
  WB_TRY(wb::multiprocessors(run->device, &processors, message));
  return wb::with_precision(draws->precision, [&](auto real) {
    typedef decltype(real) Real;
    /* Logarithms stay double until their largest is taken off. */
    return rows->is_log ? wb::draw_rows<double, Real, true>(rows, draws, run, bytes, processors, message)
                        : wb::draw_rows<Real, Real, false>(rows, draws, run, bytes, processors, message);
  });
}

static int draw_sparse(const wb_categorical_sparse *rows, const wb_categorical_draws *draws, const wb_run *run,
                       wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  uint64_t bytes = 0;
  WB_TRY(wb::memory_for_call(run, &bytes, message));
  return wb::with_precision(draws->precision, [&](auto real) {
    return wb::draw_sparse_rows<decltype(real)>(rows, draws, run, bytes, message);
  });
}

extern const wb_categorical_functions wb_cuda_categorical = {draw, draw_sparse};
