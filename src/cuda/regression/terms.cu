/* Sums over the levels of grouping terms on a graphics card: Z'WZ, Z'WX and Z'z of each level. The twin of
 * cpu/regression/terms.c: one thread adds each number, in the order of rows in a piece, and the host adds pieces. */
#include "backend/regression_table.h"
#include "core/linear_algebra.h"
#include "core/regression_row.h"
#include "cuda/regression/parts.cuh"

namespace wb {

namespace {

constexpr int level_threads = 128;

__device__ inline double z_of(const term_rows &term, int64_t rows, int k, int64_t row) {
  return term.z == nullptr ? 1.0 : term.z[k * rows + row];
}

/* The sums of all pieces of a term. Launch: a thread for each number of each piece. Z'WX of a sparse design is left 0
 * for regression_level_entries(). Bytes of global memory: 8 (columns of Z + columns of X + 2) + 4 a row. */
__global__ void __launch_bounds__(level_threads)
    regression_level(level_rows data, term_rows term, const int32_t *index, const int32_t *piece_start, int64_t pieces,
                     int size, double *sums) {
  const int64_t at = thread_number<level_threads>();
  if (at >= pieces * size) return;
  const int64_t piece = at / size;
  const int entry = int(at % size), p = data.columns, q = term.columns, triangle = q * (q + 1) / 2;
  const int32_t begin = piece_start[piece], end = piece_start[piece + 1];
  double sum = 0.0;
  if (entry < triangle) {
    int k, m;
    triangle_position(entry, &k, &m);
    for (int32_t i = begin; i < end; i++) {
      const int64_t row = index[i];
      sum = wb_fma(data.omega[row] * z_of(term, data.rows, k, row), z_of(term, data.rows, m, row), sum);
    }
  } else if (entry < triangle + q * p) {
    const int k = (entry - triangle) / p, c = (entry - triangle) % p;
    for (int32_t i = begin; i < end && data.x != nullptr; i++) {
      const int64_t row = index[i];
      sum = wb_fma(data.omega[row] * z_of(term, data.rows, k, row), data.x[c * data.rows + row], sum);
    }
  } else {
    const int k = entry - triangle - q * p;
    for (int32_t i = begin; i < end; i++) {
      const int64_t row = index[i];
      sum = wb_fma(data.z[row], z_of(term, data.rows, k, row), sum);
    }
  }
  sums[at] = sum;
}

/* Z'WX of a sparse design. Launch: a block for each piece. A thread has the columns whose remainder is its index. */
__global__ void __launch_bounds__(level_threads)
    regression_level_entries(level_rows data, term_rows term, const int32_t *index, const int32_t *piece_start,
                             int size, double *sums) {
  const int p = data.columns, q = term.columns;
  const int32_t begin = piece_start[blockIdx.x], end = piece_start[blockIdx.x + 1];
  double *const to = sums + size_t(blockIdx.x) * size + q * (q + 1) / 2;
  for (int32_t i = begin; i < end; i++) {
    const int64_t row = index[i];
    for (int32_t e = data.row_start[row]; e < data.row_start[row + 1]; e++) {
      const int32_t column = data.column[e];
      if (column % level_threads != int32_t(threadIdx.x)) continue;
      for (int k = 0; k < q; k++) {
        double *const sum = to + size_t(k) * p + column;
        *sum = wb_fma(data.omega[row] * z_of(term, data.rows, k, row), data.value[e], *sum);
      }
    }
  }
}

/* The rows' z after a change of effects. Launch: a thread for each row. Bytes of global memory: 32 + 8 q a row. */
__global__ void __launch_bounds__(level_threads)
    regression_change(level_rows data, term_rows term, const double *change) {
  const int64_t row = thread_number<level_threads>();
  if (row >= data.rows) return;
  data.z[row] = wb_fma(-data.omega[row], add_term(term, data.rows, change, row, 0.0), data.z[row]);
}

/* Z'z of all pieces of a term. Launch: a thread for each number of each piece. */
__global__ void __launch_bounds__(level_threads)
    regression_level_linear(level_rows data, term_rows term, const int32_t *index, const int32_t *piece_start,
                            int64_t pieces, double *sums) {
  const int64_t at = thread_number<level_threads>();
  if (at >= pieces * term.columns) return;
  const int64_t piece = at / term.columns;
  const int k = int(at % term.columns);
  double sum = 0.0;
  for (int32_t i = piece_start[piece]; i < piece_start[piece + 1]; i++) {
    const int64_t row = index[i];
    sum = wb_fma(data.z[row], z_of(term, data.rows, k, row), sum);
  }
  sums[at] = sum;
}

} // namespace

int term_sums::open_term(const wb_regression_data &data, const wb_regression_term &from, term *to,
                         wb_message *message) {
  const size_t n = size_t(data.rows);
  std::vector<int32_t> start;
  for (int32_t l = 0; l < from.levels; l++)
    for (int32_t at = from.start[l]; at < from.start[l + 1]; at += WB_LEAF_ROWS) {
      start.push_back(at);
      to->piece_level.push_back(l);
    }
  start.push_back(from.start[from.levels]);
  const char *const what = "the grouping terms";
  if (from.z != nullptr) WB_TRY(to->z.hold(from.z, n * size_t(from.columns), what, message));
  WB_TRY(to->level.hold(from.level, n, what, message));
  WB_TRY(to->index.hold(from.index, n, what, message));
  return to->piece_start.hold(start.data(), start.size(), what, message);
}

int term_sums::open(const wb_regression_data &data, wb_message *message) {
  size_t effects = 0, change = 0, most = 0;
  list_.count = data.term_count;
  for (int t = 0; t < data.term_count; t++) {
    const wb_regression_term &from = data.terms[t];
    WB_TRY(open_term(data, from, &term_[t], message));
    list_.term[t] = {from.columns, from.levels, term_[t].z.data(), term_[t].level.data()};
    const size_t own = size_t(from.columns) * size_t(from.levels);
    const int p = data.dual != 0 ? 0 : data.columns;
    const size_t sums = term_[t].piece_level.size() * WB_REGRESSION_LEVEL_STATISTICS(p, from.columns);
    effects += own;
    if (own > change) change = own;
    if (sums > most) most = sums;
  }
  host_.resize(most);
  WB_TRY(effects_.allocate(effects * size_t(data.outcomes), "the groups' effects", message));
  WB_TRY(change_.allocate(change, "the groups' effects", message));
  return piece_sums_.allocate(most, "the grouping terms' sums", message);
}

int term_sums::set_effects(const double *effects, wb_message *message) {
  return effects_.upload(effects, effects_.size(), "copying the groups' effects to the device", message);
}

int term_sums::take(const term &from, size_t size, int levels, double *to, wb_message *message) {
  const size_t pieces = from.piece_level.size();
  WB_TRY(piece_sums_.download(host_.data(), pieces * size, "copying the levels' sums from the device", message));
  for (size_t i = 0; i < size_t(levels) * size; i++) to[i] = 0;
  for (size_t i = 0; i < pieces; i++)
    for (size_t j = 0; j < size; j++) to[size_t(from.piece_level[i]) * size + j] += host_[i * size + j];
  return WB_OK;
}

int term_sums::sum(const level_rows &rows, double *statistics, wb_message *message) {
  for (int t = 0; t < list_.count; t++) {
    const term &own = term_[t];
    const size_t size = WB_REGRESSION_LEVEL_STATISTICS(rows.columns, list_.term[t].columns);
    const int64_t pieces = int64_t(own.piece_level.size());
    WB_TRY(launch(cover(level_threads, pieces * int64_t(size)), regression_level, "adding the levels' rows", message,
                  rows, list_.term[t], own.index.data(), own.piece_start.data(), pieces, int(size),
                  piece_sums_.data()));
    if (rows.x == nullptr)
      WB_TRY(launch(grid(level_threads, pieces), regression_level_entries, "adding the levels' rows", message, rows,
                    list_.term[t], own.index.data(), own.piece_start.data(), int(size), piece_sums_.data()));
    WB_TRY(take(own, size, list_.term[t].levels, statistics, message));
    statistics += size * size_t(list_.term[t].levels);
  }
  return WB_OK;
}

int term_sums::change(const level_rows &rows, int changed, const double *change, int wanted, double *linear,
                      wb_message *message) {
  const term_rows &moved = list_.term[changed], &wants = list_.term[wanted];
  const term &own = term_[wanted];
  const int64_t pieces = int64_t(own.piece_level.size());
  WB_TRY(change_.upload(change, size_t(moved.columns) * size_t(moved.levels),
                        "copying the groups' effects to the device", message));
  WB_TRY(launch(cover(level_threads, rows.rows), regression_change, "changing the groups' effects", message, rows,
                moved, change_.data()));
  WB_TRY(launch(cover(level_threads, pieces * wants.columns), regression_level_linear, "adding the levels' rows",
                message, rows, wants, own.index.data(), own.piece_start.data(), pieces, piece_sums_.data()));
  return take(own, size_t(wants.columns), wants.levels, linear, message);
}

int term_sums::total(const double *value, int term, double *to, wb_message *message) {
  WB_TRY(total_pieces(value, term_[term].index.data(), term_[term].piece_start.data(),
                      int64_t(term_[term].piece_level.size()), piece_sums_.data(), message));
  return take(term_[term], 1, list_.term[term].levels, to, message);
}

} // namespace wb
