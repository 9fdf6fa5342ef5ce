/* The sweep of a regression on a graphics card: linear predictors, Polya-Gamma variables and the sums X'WX and X'z.
 * The design stays on the card. The twin of cpu/regression/sweep.c: one thread adds each number, in the order of
 * backend/regression_table.h, and there are no atomic additions. */
#include "cuda/table.cuh"

#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <vector>

#include "core/polyagamma_draw.h"
#include "core/regression_zero.h"
#include "cuda/copies.cuh"
#include "cuda/regression/parts.cuh"
#include "cuda/regression/row_sums.cuh"

namespace wb {

namespace {

constexpr int row_threads = 128;

/* The parameters of a pass. */
struct regression_point : wb_regression_parameters {
  int outcome;
  uint64_t key;
  uint32_t iteration;
};
/* Doubles of a point, which coefficients follow: the packet that a pass sends to the device. */
constexpr size_t packet_head = sizeof(regression_point) / sizeof(double);

/* Launch: a thread for each value. Bytes of global memory: 16 a value. */
__global__ void __launch_bounds__(row_threads)
    regression_scale(double *x, int64_t rows, const double *center, const double *inverse_scale) {
  const int64_t row = thread_number<row_threads>();
  const int64_t c = blockIdx.y;
  if (row < rows) x[c * rows + row] = wb_regression_scaled(x[c * rows + row], center[c], inverse_scale[c]);
}

/* What offset and effects add to the linear predictor of an outcome. Moves `effects` to the next outcome's. */
__device__ double fixed_part(const regression_rows &data, const term_list &terms, int outcome, int64_t row,
                             const double **effects) {
  double fixed = data.offset != nullptr ? data.offset[outcome * data.rows + row] : 0.0;
  for (int t = 0; t < terms.count; t++) {
    fixed = add_term(terms.term[t], data.rows, *effects, row, fixed);
    *effects += size_t(terms.term[t].columns) * terms.term[t].levels;
  }
  return fixed;
}

__device__ double free_part(const regression_rows &data, const regression_point &at, int outcome, int64_t row) {
  const double *const coefficients = at.coefficients + size_t(outcome) * data.columns;
  double sum = data.group != nullptr ? at.intercepts[data.group[row]] : 0.0;
  if (data.x == nullptr) {
    WB_UNROLL_BY(2)
    for (int32_t e = data.row_start[row]; e < data.row_start[row + 1]; e++)
      sum = wb_fma(data.value[e], coefficients[data.column[e]], sum);
  } else {
    WB_UNROLL_BY(4)
    for (int c = 0; c < data.columns; c++) sum = wb_fma(data.x[c * data.rows + row], coefficients[c], sum);
  }
  return sum;
}

__device__ double one_log_likelihood(const regression_rows &data, const regression_point &at, int64_t row, double kappa,
                                     double shape, double psi) {
  if (data.poisson != 0 && at.weights == WB_REGRESSION_RATIO) return wb_regression_log_ratio(kappa, shape, psi);
  if (data.poisson != 0) return wb_regression_log_poisson(kappa, shape, psi);
  if (data.dispersed != nullptr) return wb_regression_log_counts(data.shape[row], shape, at.shift, psi);
  return wb_regression_log_likelihood(kappa, shape, psi);
}

/* Weight omega, linear term z (or what `weights` says) and log likelihood of each row. Launch: a thread for each row.
 * `omega` may be nullptr: the log likelihood alone. Bytes of global memory: 8 (columns + 6) a row; operations: a
 * multiply-add a column and outcome, and a Polya-Gamma draw; the threads of a warp draw by different methods. */
__global__ void __launch_bounds__(row_threads)
    regression_weigh(regression_rows data, term_list terms, const regression_point *point, double *omega, double *z,
                     double *log_likelihood) {
  const int64_t row = thread_number<row_threads>();
  if (row >= data.rows) return;
  const regression_point at = *point;
  double linear[WB_REGRESSION_MOST_OUTCOMES];
  for (int k = 0; k < data.outcomes; k++) linear[k] = free_part(data, at, k, row);
  const double weight = data.dispersed != nullptr ? data.dispersed[row] : 0.0;
  const double shape = wb_regression_shape(data.shape[row], weight, at.dispersion);
  const double kappa = wb_regression_kappa(data.kappa[int64_t(at.outcome) * data.rows + row], weight, at.dispersion);
  const double alone = linear[at.outcome];
  const double *effects = at.effects;
  double fixed = 0.0;
  for (int k = 0; k < data.outcomes; k++) {
    const double own = fixed_part(data, terms, k, row, &effects);
    linear[k] += own;
    if (k == at.outcome) fixed = own;
  }
  if (data.outcomes > 1) fixed -= wb_regression_log_sum(data.outcomes, linear, 1, at.outcome);
  fixed += at.shift;
  const double psi = alone + fixed;
  log_likelihood[row] = data.outcomes > 1 ? wb_regression_row_outcomes(data.outcomes, data.shape[row], data.kappa + row,
                                                                       size_t(data.rows), linear, 1)
                                          : one_log_likelihood(data, at, row, kappa, shape, psi);
  if (omega == nullptr || at.weights == WB_REGRESSION_GIVEN) return;
  if (at.weights == WB_REGRESSION_INFORMATION && data.poisson != 0) {
    omega[row] = wb_regression_poisson_information(kappa, shape, psi);
    z[row] = wb_regression_poisson_slope(kappa, shape, psi);
    return;
  }
  if (at.weights == WB_REGRESSION_INFORMATION) {
    omega[row] = wb_regression_information(shape, psi);
    z[row] = wb_regression_slope(kappa, shape, psi);
    return;
  }
  if (at.weights == WB_REGRESSION_CROSS) {
    omega[row] = wb_regression_cross(shape, psi, linear[at.other] - linear[at.outcome]);
    z[row] = 0.0;
    return;
  }
  const uint64_t element = uint64_t(at.outcome) * uint64_t(data.rows) + uint64_t(row);
  double drawn = at.weights == WB_REGRESSION_EXPECTED ? wb_regression_expected(shape, psi)
                                                      : wb_polyagamma_draw(at.key, at.iteration, element, shape, psi);
  if (shape == 0.0) drawn = 0.0;
  omega[row] = drawn;
  z[row] = wb_fma(-drawn, fixed, kappa);
}

/* What to do with the rows of a pair, as in cpu/regression/sweep.c. */
enum pair_task { COMPLETE, INFORM, EVALUATE, EVALUATE_ROWS };

struct regression_both {
  regression_rows counts, zeros;
  regression_point of_counts, of_zeros;
  const double *count, *weight, *unit;
  const int32_t *row;
  int hurdle;
};

__device__ double one_logit(const regression_rows &data, const term_list &terms, const regression_point &at,
                            int64_t row) {
  const double *effects = at.effects;
  const double free = free_part(data, at, 0, row);
  return free + (fixed_part(data, terms, 0, row, &effects) + at.shift);
}

/* The log likelihood of each row of a pair; or completes the data; or writes what a row knows of the predictor of a
 * part. `to`: of the part, to which EVALUATE_ROWS also writes.
 * Launch: a thread for each row of the counts. Bytes of global memory: 8 (columns + 10) a row; operations:
 * a multiply-add a column, and six exp or log. */
__global__ void __launch_bounds__(row_threads)
    regression_join(regression_both both, term_list terms, term_list zero_terms, pair_task task, int part,
                    bool expected, uint64_t key, uint32_t iteration, double *dispersed, double *kappa,
                    double *log_likelihood, double *information, double *to) {
  const int64_t row = thread_number<row_threads>();
  if (row >= both.counts.rows) return;
  const double psi = one_logit(both.counts, terms, both.of_counts, row);
  const double zero = one_logit(both.zeros, zero_terms, both.of_zeros, both.row[row]);
  const double count = both.count[row], weight = both.weight[row], size = both.of_counts.dispersion * both.unit[row];
  const double none = wb_zero_log_none(both.counts.poisson, size, psi);
  const int64_t own = part == 0 ? row : both.row[row];
  if (task == INFORM)
    wb_zero_inform(part, both.counts.poisson, both.hurdle, count, weight, size, psi, zero, to + own, information + own);
  if (task == COMPLETE) {
    double more = 0.0;
    if ((count == 0.0) != (both.hurdle != 0))
      more = wb_zero_complete(both.hurdle, weight, none, zero, expected ? nullptr : &key, iteration, uint64_t(row));
    wb_zero_completed(both.hurdle, count, weight, both.unit[row], more, dispersed + row, kappa + both.row[row]);
  }
  if (task < EVALUATE) return;
  const double counted = wb_zero_log_count(both.counts.poisson, count, size, both.of_counts.shift, psi);
  log_likelihood[row] = weight * wb_zero_log_likelihood(both.hurdle, count, counted, none, zero);
  if (task == EVALUATE_ROWS) to[own] = log_likelihood[row];
}

/* Sums of a segment, blockIdx.x: rows of one group and leaf, in order. A thread: a column, or omega's or z's sums. */
__global__ void __launch_bounds__(row_threads) regression_segment(regression_rows data, const int64_t *segment_row,
                                                                  const double *omega, const double *z, double *sums) {
  const int size = data.columns + 2;
  const int64_t begin = segment_row[blockIdx.x], end = segment_row[blockIdx.x + 1];
  for (int c = int(threadIdx.x); c < size; c += row_threads) {
    double sum = 0;
    if (c < data.columns)
      for (int64_t row = begin; row < end; row++) sum = wb_fma(omega[row], data.x[c * data.rows + row], sum);
    else
      for (int64_t row = begin; row < end; row++) sum += c == data.columns ? omega[row] : z[row];
    sums[size_t(blockIdx.x) * size + c] = sum;
  }
}

/* The same for a sparse design, the entries of a row spread over the threads. */
__global__ void __launch_bounds__(row_threads)
    regression_segment_entries(regression_rows data, const int64_t *segment_row, const double *omega, const double *z,
                               double *sums) {
  const int size = data.columns + 2;
  const int64_t begin = segment_row[blockIdx.x], end = segment_row[blockIdx.x + 1];
  sums += size_t(blockIdx.x) * size;
  for (int c = int(threadIdx.x); c < size; c += row_threads) sums[c] = 0.0;
  for (int64_t row = begin; row < end; row++) {
    __syncthreads();
    const int32_t last = data.row_start[row + 1];
    for (int32_t e = data.row_start[row] + int32_t(threadIdx.x); e < last; e += row_threads)
      sums[data.column[e]] = wb_fma(omega[row], data.value[e], sums[data.column[e]]);
    if (threadIdx.x != 0) continue;
    sums[size - 2] += omega[row];
    sums[size - 1] += z[row];
  }
}

} // namespace

} // namespace wb

/* The design and what belongs to rows lie on the device as long as the session. */
struct wb_regression_session {
  int32_t device = 0;
  wb::own_stream stream;
  int64_t rows = 0, leaves = 0, segments = 0;
  int32_t columns = 0, outcomes = 0, dual = 0, poisson = 0, groups = 0;
  size_t node = 0;
  std::vector<int32_t> segment_group;
  std::vector<double> segment_host;
  wb::pinned_array<double> packet, root; /* what a pass sends, and gets */
  wb::graph passes[2];                   /* a pass for the log likelihood alone, and one that draws */
  wb::device_array<double> x, value, offset, shape, kappa, dispersed, point, intercepts;
  wb::device_array<double> omega, z, log_likelihood, sums, segment_sums;
  wb::device_array<int32_t> row_start, column, group;
  wb::device_array<int64_t> segment_row;
  wb::device_array<double> count, weight, unit; /* of counts beside zeros */
  wb::device_array<int32_t> zero_row;
  int32_t hurdle = 0;
  double *completed = nullptr; /* the host's copy of `dispersed` or `kappa`, whichever changes */
  wb::term_sums terms;
  wb::level_actions levels;
  wb::dual_products products;

  wb::level_rows level_rows() const {
    return {x.data(), row_start.data(), column.data(), value.data(), rows, columns, omega.data(), z.data()};
  }

  /* Columns whose products a pass adds. */
  int summed() const { return dual != 0 ? 0 : columns; }
  const wb::regression_point *here() const { return reinterpret_cast<wb::regression_point *>(packet.data()); }

  /* Segments, as cpu/regression/sweep.c cuts them, and the group of each row. */
  int cut(const wb_regression_data &data, wb_message *message) {
    std::vector<int64_t> first;
    std::vector<int32_t> of_row(rows);
    int32_t g = 0;
    for (int64_t row = 0; row < rows; row++) {
      while (data.group_start[g + 1] <= row) g++;
      if (row == data.group_start[g] || row % WB_LEAF_ROWS == 0) {
        first.push_back(row);
        segment_group.push_back(g);
      }
      of_row[size_t(row)] = g;
    }
    segments = int64_t(first.size());
    first.push_back(rows);
    segment_host.resize(size_t(segments) * WB_REGRESSION_GROUP_STATISTICS(summed()));
    WB_TRY(segment_row.hold(first.data(), first.size(), "the groups' rows", message));
    WB_TRY(group.hold(of_row.data(), of_row.size(), "the groups of rows", message));
    WB_TRY(segment_sums.allocate(segment_host.size(), "the groups' sums", message));
    return intercepts.allocate(size_t(groups), "the groups' intercepts", message);
  }

  int open(const wb_regression_data &data, const wb_run *run, wb_message *message) {
    const size_t n = size_t(data.rows), p = size_t(data.columns), m = size_t(data.outcomes);
    rows = data.rows;
    columns = data.columns;
    outcomes = data.outcomes;
    dual = data.dual;
    poisson = data.poisson;
    groups = data.groups;
    leaves = wb::ceiling(rows, WB_LEAF_ROWS);
    node = wb::node_size(summed());
    WB_TRY(wb::bring(run, x, data.x, n * p, "the design", message));
    wb::device_array<double> center, inverse;
    if (data.x != nullptr) {
      WB_TRY(wb::bring(run, center, data.center, p, "the design's units", message));
      WB_TRY(wb::bring(run, inverse, data.inverse_scale, p, "the design's units", message));
      WB_TRY(wb::launch(wb::cover(wb::row_threads, rows, columns), wb::regression_scale, "scaling the design", message,
                        x.data(), rows, center.data(), inverse.data()));
      /* The units are freed when this returns. */
      WB_TRY(wb::status_of(cudaDeviceSynchronize(), "scaling the design", message));
    } else {
      const size_t entries = size_t(data.row_start[n]);
      WB_TRY(wb::bring(run, row_start, data.row_start, n + 1, "the design", message));
      WB_TRY(wb::bring(run, column, data.column, entries, "the design", message));
      WB_TRY(wb::bring(run, value, data.value, entries, "the design", message));
    }
    WB_TRY(wb::bring(run, offset, data.offset, n * m, "the offsets", message));
    WB_TRY(wb::bring(run, shape, data.shape, n, "the responses", message));
    WB_TRY(wb::bring(run, kappa, data.kappa, n * m, "the responses", message));
    WB_TRY(wb::bring(run, dispersed, data.dispersed, n, "the responses", message));
    completed = data.completed;
    if (data.zeros != nullptr) {
      hurdle = data.zeros->hurdle;
      const wb_regression_zeros &what = *data.zeros;
      WB_TRY(wb::bring(run, count, what.count, n, "the responses", message));
      WB_TRY(wb::bring(run, weight, what.weight, n, "the responses", message));
      WB_TRY(wb::bring(run, unit, what.unit, n, "the responses", message));
      WB_TRY(wb::bring(run, zero_row, what.row, n, "the responses", message));
    }
    WB_TRY(root.allocate(node, "the sums", message));
    WB_TRY(packet.allocate(wb::packet_head + p * m, "the coefficients", message));
    WB_TRY(point.allocate(wb::packet_head + p * m, "the coefficients", message));
    WB_TRY(omega.allocate(n, "the Polya-Gamma variables", message));
    WB_TRY(z.allocate(n, "the Polya-Gamma variables", message));
    WB_TRY(log_likelihood.allocate(n, "the rows' log likelihoods", message));
    WB_TRY(sums.allocate(size_t(leaves) * node, "the leaves' sums", message));
    /* What lies above the diagonal is never written, but it passes through the tree. */
    WB_TRY(wb::clear(sums.data(), sums.bytes(), "clearing the leaves' sums", message));
    if (groups > 0) WB_TRY(cut(data, message));
    if (dual != 0) WB_TRY(products.open(level_rows(), message));
    return data.term_count > 0 ? terms.open(data, message) : int(WB_OK);
  }

  wb::regression_rows rows_on_device() const {
    return {x.data(),      row_start.data(), column.data(), value.data(),     rows,        columns, outcomes, poisson,
            offset.data(), shape.data(),     kappa.data(),  dispersed.data(), group.data()};
  }

  /* Sums of all leaves, then the tree; the sums of all rows will be in `root`, or only their log likelihood. */
  int sum(const wb::regression_rows &data, bool drawing, wb_message *message) {
    const bool dense = data.x != nullptr;
    const double *const weights = drawing && dense ? omega.data() : nullptr;
    const size_t from = drawing ? 0 : node - 1;
    const wb::launch_shape shape = wb::grid(wb::sum_threads, leaves, 2).sharing(wb::sum_shared_bytes(summed()));
    WB_TRY(wb::launch(shape, summed() < 24 ? wb::regression_sum<1> : wb::regression_sum<4>, "adding the rows", message,
                      data, weights, z.data(), log_likelihood.data(), node, sums.data()));
    if (drawing && !dense)
      WB_TRY(wb::launch(wb::grid(wb::sum_threads, leaves), wb::regression_sum_entries, "adding the rows", message, data,
                        omega.data(), z.data(), node, sums.data()));
    for (int64_t step = 1; step < leaves; step *= wb::tree_size)
      WB_TRY(wb::launch(wb::grid(wb::tree_entries * wb::tree_parts, wb::ceiling(int64_t(node - from), wb::tree_entries),
                                 wb::ceiling(leaves, step * wb::tree_size)),
                        wb::regression_combine, "adding the leaves", message, sums.data(), node, from, leaves, step));
    return wb::copy_later(root.data() + from, sums.data() + from, (node - from) * sizeof(double),
                          cudaMemcpyDeviceToHost, "copying the sums from the device", message);
  }

  int take_segments(const wb::regression_rows &data, double *group_statistics, wb_message *message) {
    const size_t size = WB_REGRESSION_GROUP_STATISTICS(columns);
    WB_TRY(wb::launch(wb::grid(wb::row_threads, segments),
                      data.x != nullptr ? wb::regression_segment : wb::regression_segment_entries,
                      "adding the groups' rows", message, data, segment_row.data(), omega.data(), z.data(),
                      segment_sums.data()));
    WB_TRY(segment_sums.download(segment_host.data(), segment_host.size(), "copying the groups' sums from the device",
                                 message));
    for (size_t i = 0; i < size_t(groups) * size; i++) group_statistics[i] = 0;
    for (size_t s = 0; s < size_t(segments); s++)
      for (size_t i = 0; i < size; i++)
        group_statistics[size_t(segment_group[s]) * size + i] += segment_host[s * size + i];
    return WB_OK;
  }

  /* No pass is under way, so that the packet is free. */
  int set_point(const wb_regression_parameters &parameters, int outcome, uint64_t key, uint32_t iteration,
                wb_message *message) {
    const size_t count = size_t(columns) * size_t(outcomes);
    if (groups > 0)
      WB_TRY(intercepts.upload(parameters.intercepts, size_t(groups), "copying the intercepts to the device", message));
    if (terms.list().count > 0) WB_TRY(terms.set_effects(parameters.effects, message));
    wb::regression_point there = {parameters, outcome, key, iteration};
    there.coefficients = point.data() + wb::packet_head;
    there.intercepts = intercepts.data();
    there.effects = terms.effects();
    std::memcpy(packet.data(), &there, sizeof there);
    std::memcpy(packet.data() + wb::packet_head, parameters.coefficients, count * sizeof(double));
    return WB_OK;
  }

  int send_point(wb_message *message) {
    return wb::copy_later(point.data(), packet.data(), point.bytes(), cudaMemcpyHostToDevice,
                          "copying the coefficients to the device", message);
  }

  int join(const wb_regression_pair &pair, wb::pair_task task, int part, const uint64_t *key, uint32_t iteration,
           double *total, wb_message *message) {
    const char *const what = task == wb::COMPLETE ? "completing the counts" : "joining the regressions";
    wb_regression_session &other = *pair.zeros, &own = part == 0 ? *this : other;
    const size_t n = size_t(rows);
    wb::regression_both both = {rows_on_device(), other.rows_on_device(), {},    {}, count.data(), weight.data(),
                                unit.data(),      zero_row.data(),        hurdle};
    WB_TRY(set_point(pair.of_counts, 0, 0, 0, message));
    WB_TRY(other.set_point(pair.of_zeros, 0, 0, 0, message));
    WB_TRY(send_point(message));
    WB_TRY(other.send_point(message));
    both.of_counts = *here();
    both.of_zeros = *other.here();
    WB_TRY(wb::launch(wb::cover(wb::row_threads, rows), wb::regression_join, what, message, both, terms.list(),
                      other.terms.list(), task, part, key == nullptr, key == nullptr ? uint64_t(0) : *key, iteration,
                      dispersed.data(), other.kappa.data(), log_likelihood.data(), own.omega.data(),
                      task == wb::INFORM ? own.z.data() : own.log_likelihood.data()));
    if (task == wb::INFORM || task == wb::EVALUATE_ROWS || key != nullptr) return stream.wait(what, message);
    if (task == wb::COMPLETE) {
      WB_TRY(dispersed.download(completed, n, "copying the completed counts from the device", message));
      return other.kappa.download(other.completed, n, "copying the completed counts from the device", message);
    }
    WB_TRY(sum(both.counts, false, message));
    WB_TRY(stream.wait("joining the regressions", message));
    *total = root.data()[node - 1];
    return WB_OK;
  }

  int sweep(const wb_regression_parameters &parameters, int outcome, uint64_t key, uint32_t iteration,
            double *statistics, double *group_statistics, double *total, wb_message *message) {
    const size_t p = size_t(columns);
    const wb::regression_rows data = rows_on_device();
    const bool drawing = statistics != nullptr;
    WB_TRY(set_point(parameters, outcome, key, iteration, message));
    /* All that differs between two such passes is in the packet. */
    WB_TRY(passes[drawing].run(message, [&] {
      WB_TRY(send_point(message));
      WB_TRY(wb::launch(wb::cover(wb::row_threads, rows), wb::regression_weigh, "drawing Polya-Gamma variables",
                        message, data, terms.list(), static_cast<const wb::regression_point *>(point.address()),
                        drawing ? omega.data() : nullptr, z.data(), log_likelihood.data()));
      return sum(data, drawing && dual == 0, message);
    }));
    WB_TRY(stream.wait("drawing Polya-Gamma variables", message));
    *total = root.data()[node - 1];
    if (!drawing) return WB_OK;
    if (dual != 0) {
      const size_t n = size_t(rows);
      WB_TRY(omega.download(statistics, n, "copying the Polya-Gamma variables from the device", message));
      return z.download(statistics + n, n, "copying the Polya-Gamma variables from the device", message);
    }
    size_t to = 0;
    for (size_t r = 0; r < p; r++)
      for (size_t c = 0; c <= r; c++) statistics[to++] = root.data()[r * p + c];
    for (size_t c = 0; c < p; c++) statistics[to++] = root.data()[p * p + c];
    if (terms.list().count > 0 && group_statistics != nullptr)
      return terms.sum(level_rows(), group_statistics, message);
    return groups > 0 ? take_segments(data, group_statistics, message) : WB_OK;
  }

  /* The log likelihoods of the rows in their last pass, added for each level of a term or each group. */
  int total(int term, double *to, wb_message *message) {
    if (term >= 0) return terms.total(log_likelihood.data(), term, to, message);
    const size_t count = size_t(segments);
    WB_TRY(wb::total_segments(log_likelihood.data(), segment_row.data(), segments, segment_sums.data(), message));
    WB_TRY(segment_sums.download(segment_host.data(), count, "copying the groups' sums from the device", message));
    for (int32_t g = 0; g < groups; g++) to[g] = 0;
    for (size_t s = 0; s < count; s++) to[segment_group[s]] += segment_host[s];
    return WB_OK;
  }
};

static int open_session(const wb_regression_data *data, const wb_run *run, wb_regression_session **session,
                        wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  try {
    std::unique_ptr<wb_regression_session> opened(new wb_regression_session);
    opened->device = run->device;
    WB_TRY(opened->stream.create(message));
    WB_TRY(opened->open(*data, run, message));
    *session = opened.release();
    return WB_OK;
  } catch (const std::bad_alloc &) {
    return wb_fail(message, WB_ERROR_MEMORY, "no memory for the regression session");
  }
}

static int sweep(wb_regression_session *session, const wb_regression_parameters *parameters, int32_t outcome,
                 uint64_t key, uint32_t iteration, double *statistics, double *group_statistics, double *log_likelihood,
                 wb_message *message) {
  WB_ON_DEVICE(session->device, message, &session->stream);
  return session->sweep(*parameters, outcome, key, iteration, statistics, group_statistics, log_likelihood, message);
}

static int log_likelihood(wb_regression_session *session, const wb_regression_parameters *parameters, double *sum,
                          wb_message *message) {
  return sweep(session, parameters, 0, 0, 0, nullptr, nullptr, sum, message);
}

static int complete(const wb_regression_pair *pair, const uint64_t *key, uint32_t iteration, wb_message *message) {
  WB_ON_DEVICE(pair->counts->device, message, &pair->counts->stream);
  return pair->counts->join(*pair, wb::COMPLETE, 0, key, iteration, nullptr, message);
}

static int inform(const wb_regression_pair *pair, int part, wb_message *message) {
  WB_ON_DEVICE(pair->counts->device, message, &pair->counts->stream);
  return pair->counts->join(*pair, wb::INFORM, part, nullptr, 0, nullptr, message);
}

static int pair_log_likelihood(const wb_regression_pair *pair, double *sum, wb_message *message) {
  WB_ON_DEVICE(pair->counts->device, message, &pair->counts->stream);
  return pair->counts->join(*pair, wb::EVALUATE, 0, nullptr, 0, sum, message);
}

static int pair_level_log_likelihoods(const wb_regression_pair *pair, int part, int32_t term, double *log_likelihoods,
                                      wb_message *message) {
  WB_ON_DEVICE(pair->counts->device, message, &pair->counts->stream);
  WB_TRY(pair->counts->join(*pair, wb::EVALUATE_ROWS, part, nullptr, 0, nullptr, message));
  return (part == 0 ? pair->counts : pair->zeros)->total(term, log_likelihoods, message);
}

/* A function of the table that calls WORK, a function of a part of the session. The last argument is the message. */
template <auto PART, auto WORK, typename... Given>
static int by_part(wb_regression_session *session, Given... given) {
  wb_message *const message = std::get<sizeof...(Given) - 1>(std::tie(given...));
  WB_ON_DEVICE(session->device, message, &session->stream);
  return ((session->*PART).*WORK)(session->level_rows(), given...);
}

static int level_log_likelihoods(wb_regression_session *session, const wb_regression_parameters *parameters,
                                 int32_t term, double *log_likelihoods, wb_message *message) {
  WB_ON_DEVICE(session->device, message, &session->stream);
  double sum;
  WB_TRY(session->sweep(*parameters, 0, 0, 0, nullptr, nullptr, &sum, message));
  return session->total(term, log_likelihoods, message);
}

static int place_levels(wb_regression_session *session, const wb_regression_placing *placing, double *to,
                        double *density, wb_message *message) {
  WB_ON_DEVICE(session->device, message, &session->stream);
  const int32_t levels = placing->term < 0 ? session->groups : session->terms.list().term[placing->term].levels;
  return session->levels.place(*placing, levels, session->columns, to, density, message);
}

constexpr auto PRODUCTS = &wb_regression_session::products;
constexpr auto TERMS = &wb_regression_session::terms;

extern const wb_regression_functions wb_cuda_regression = {open_session,
                                                           log_likelihood,
                                                           sweep,
                                                           by_part<PRODUCTS, &wb::dual_products::gram>,
                                                           by_part<PRODUCTS, &wb::dual_products::multiply>,
                                                           by_part<PRODUCTS, &wb::dual_products::multiply_transposed>,
                                                           by_part<TERMS, &wb::term_sums::change>,
                                                           level_log_likelihoods,
                                                           place_levels,
                                                           complete,
                                                           pair_log_likelihood,
                                                           pair_level_log_likelihoods,
                                                           inform,
                                                           wb::close_on_device<wb_regression_session>,
                                                           wb::regression_predict};
