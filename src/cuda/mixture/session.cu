/* One device's part of a mixture session: draws every row's component and sums the statistics of the Gibbs sweep
 * (Suchard et al. 2010, section 2 and appendix A). The twin of cpu/mixture/session.c, with the same bits in double
 * precision.
 *
 * Scaled rows and components stay on the device; rows that do not fit are sent in every pass (cuda/mixture/stream.cu).
 * Four kernels draw a chunk's components, sort each leaf's rows by component, sum products by leaf, and combine the
 * sums of groups of leaves. */
#include "cuda/mixture/state.cuh"

#include <memory>
#include <new>

#include "core/elementary.h"
#include "cuda/copies.cuh"
#include "cuda/mixture/tensor_cores.cuh"
#include "cuda/one_pass.cuh"

namespace wb {

namespace {

/* Labels ---------------------------------------------------------------------- */

/* Up to so many columns an ordinary kernel holds its rows in registers. */
constexpr int ORDINARY_MOST_COLUMNS = 40;
/* How many times as long an ordinary multiply-add takes beyond them: rows and coefficients come through caches. */
constexpr int64_t BEYOND_REGISTERS = 8;

/* The kernel that uses tensor cores, if there is one. */
template <typename Real>
mixture_draw_kernel<Real> find_draw_tensor(int p) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    if (p <= FRAGMENT_MOST_COLUMNS) return find_mixture_draw_tensor(p);
  } else {
    if (p >= HALF_LEAST_COLUMNS && p <= HALF_MOST_COLUMNS && has_half_code()) return find_mixture_draw_half(p);
  }
  return p > ORDINARY_MOST_COLUMNS ? find_mixture_draw_wide<Real>(p) : mixture_draw_kernel<Real>{};
}

int64_t ordinary_cost(int p, int order) {
  return int64_t(coefficient_line(size_t(order))) * (p > ORDINARY_MOST_COLUMNS ? BEYOND_REGISTERS : 1);
}

/* Whether tensor cores in double precision need less time than a kernel of that order. They halve the cost of a
 * coefficient, but round columns up to a multiple of 4 and components to a multiple of 16. */
bool tensor_is_faster(int p, int32_t components, int order) {
  int64_t products = 0;
  for (int r = 0; r < p; r++) products += 4 * (r / 4 + 1);
  const int64_t cost = FRAGMENT_COMPONENTS * fragment_blocks(components) * (products / 2 + p);
  return cost < components * ordinary_cost(p, order);
}

/* The same of products of halves, in the time of ordinary multiply-adds, of which the draw itself takes 25: 40 for a
 * component and group of lines, of at least two groups, and as much as 38 components for each row (H100). */
bool halves_are_faster(int p, int32_t components, int order) {
  const int64_t cost = 40 * larger(half_groups(p), 2) * (HALF_COMPONENTS * half_eights(components) + 38);
  return cost < components * (ordinary_cost(p, order) + 25);
}

/* The kernel that needs less time. */
template <typename Real>
mixture_draw_kernel<Real> find_draw(const wb_mixture_session *s) {
  const int p = s->data.columns;
  const mixture_draw_kernel<Real> ordinary = find_mixture_draw<Real>(p);
  const mixture_draw_kernel<Real> tensor = s->tensor_cores ? find_draw_tensor<Real>(p) : mixture_draw_kernel<Real>{};
  if (tensor.kernel == nullptr) return ordinary;
  const bool faster = tensor.layout == mixture_layout::halves ? halves_are_faster(p, s->room.count, ordinary.order)
                                                              : tensor_is_faster(p, s->room.count, ordinary.order);
  return faster ? tensor : ordinary;
}

int open_workspace(wb_mixture_session *s, uint64_t coefficients, wb_message *message) {
  const int32_t components = s->room.count;
  if (!s->work.weighs && s->work.components == components) return WB_OK;
  s->work = {};
  uint64_t left = 0;
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  const size_t keys = s->data.keep_labels ? size_t(s->leaves) * WB_LEAF_ROWS : 0;
  const size_t pairs = s->data.keep_labels ? pair_bytes(s, components) : 0;
  const size_t roots = s->piece == 0 ? 0 : size_t(s->pieces()) * node_size(s, components);
  /* What is kept of each row does not count towards the twelfth of the data's memory. */
  const uint64_t kept = keys * sizeof(int32_t) + pairs + roots * sizeof(double);
  const uint64_t leaf = WB_LEAF_ROWS * (sizeof(int32_t) + s->real()) + transit_leaf(s);
  const uint64_t wish = kept + (s->resident() ? larger(larger(s->x.bytes() / 12, SMALL_BYTES),
                                                       smaller(group_bytes(s, components), left / 8))
                                              : CHUNK_BYTES);
  leaf_plan plan = {};
  WB_TRY(
      plan_leaves(s, components, nodes_wished(s, components), leaf, wish, coefficients + kept, left, &plan, message));
  mixture_workspace w;
  WB_TRY(open_pass(s, components, plan, coefficients, roots, false, &w, message));
  WB_TRY(w.keys.allocate(keys, "labels", message));
  WB_TRY(w.pairs.allocate(pairs, "pairs of components", message));
  if (pairs > 0) WB_TRY(s->pairs.allocate(pairs, "pairs of components", message));
  s->work = std::move(w);
  return WB_OK;
}

int32_t *drawn_labels(const wb_mixture_session *s, int64_t leaf) {
  return s->data.keep_labels ? s->work.keys.data() + leaf * WB_LEAF_ROWS : s->work.labels.data();
}

/* Log weights to the table, and no rows counted yet. */
template <typename Real>
int send_shares(wb_mixture_session *s, const double *log_weight, wb_message *message) {
  mixture_room &room = s->room;
  const size_t table = size_t(sample_table(s, room.count));
  if (table == 0) return WB_OK;
  Real *const sent = reinterpret_cast<Real *>(room.sent_share);
  for (size_t i = 0; i < table; i++) sent[i] = Real(log_weight[i]);
  WB_TRY(copy_later(room.share, sent, table * sizeof(Real), cudaMemcpyHostToDevice,
                    "sending log weights of the samples", message, s->stream.get()));
  return status_of(cudaMemsetAsync(room.counts, 0, table * sizeof(sample_count), s->stream.get()),
                   "counting rows of samples", message);
}

/* Predictions ------------------------------------------------------------------ */

/* Where predictions go: outputs on the host, each of which may be NULL. */
struct prediction_outputs {
  int32_t *labels;
  double *log_density, *probability;
  int64_t stride; /* from one column of `probability` to the next */
  bool draws;     /* whether labels are drawn, with this key and from this number of a row on */
  uint64_t key;
  int64_t number;
};

/* The sum of the densities of mixtures, which stays on the device until the last is added (twin: wb_log_add_to()). */
struct density_sums {
  const double *log_unit;
  bool unit_each;      /* or one for all rows */
  double *log_density; /* on the host */
  bool begun;          /* whether some may have been added */
};

struct prediction {
  int64_t chunk; /* leaves at a time */
  int64_t pass;  /* rows at a time */
  device_bytes coefficients;
  mixture_transit x;
  device_array<int32_t> labels;
  device_array<double> log_sums;
  device_array<double> beside; /* what else is kept of a row: probabilities, or its sum of densities and its unit */
};

template <typename Real>
int open_prediction(wb_mixture_session *s, int32_t components, int32_t mixtures,
                    const mixture_evaluate_kernel<Real> &kernel, int64_t first, int64_t count, int32_t beside,
                    prediction *out, wb_message *message) {
  const int64_t leaves = (first + count - 1) / WB_LEAF_ROWS - first / WB_LEAF_ROWS + 1;
  const uint64_t coefficients = kernel_bytes<Real>(s, kernel, components) * uint64_t(mixtures);
  const uint64_t row = sizeof(int32_t) + sizeof(double) + sizeof(double) * uint64_t(beside);
  s->work = {};
  uint64_t left = 0;
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  const uint64_t least = coefficients + PASS_ROWS * row + transit_leaf(s);
  if (least > left) return lacks_memory(s, components, least, left, message);
  const uint64_t wish = s->resident() ? larger(s->x.bytes() / 12, SMALL_BYTES) : CHUNK_BYTES;
  uint64_t room = smaller(left - coefficients, wish);
  out->chunk = leaves;
  if (!s->resident()) {
    out->chunk = smaller(leaves, larger<int64_t>(1, int64_t(room / 2 / transit_leaf(s))));
    room -= smaller(room, transit_leaf(s) * uint64_t(out->chunk));
  }
  out->pass = larger<int64_t>(1, int64_t(room / row) / PASS_ROWS) * PASS_ROWS;
  out->pass = smaller(out->pass, ceiling(count, PASS_ROWS) * PASS_ROWS);
  const size_t pass = size_t(out->pass), kept = pass * size_t(beside);
  WB_TRY(out->coefficients.allocate(coefficients, "the components", message));
  WB_TRY(s->packed.allocate(coefficients, "the components", message));
  WB_TRY(open_transit(s, out->chunk, 1, first / WB_LEAF_ROWS + leaves, &out->x, message));
  WB_TRY(out->labels.allocate(pass, "labels", message));
  WB_TRY(out->log_sums.allocate(pass, "log densities", message));
  return out->beside.allocate(kept, "probabilities", message);
}

/* Copies outputs of `rows` rows to the host, from row `at` of the outputs on. */
int fetch_predictions(wb_mixture_session *s, const prediction &from, int32_t components, int64_t at, int64_t rows,
                      const prediction_outputs &to, wb_message *message) {
  static const char *const what = "fetching predictions";
  if (to.labels != nullptr) WB_TRY(fetch(&s->run, to.labels + at, from.labels.data(), rows, what, message));
  if (to.log_density != nullptr) WB_TRY(fetch(&s->run, to.log_density + at, from.log_sums.data(), rows, what, message));
  if (to.probability == nullptr) return WB_OK;
  for (int32_t j = 0; j < components; j++)
    WB_TRY(fetch(&s->run, to.probability + at + j * to.stride, from.beside.data() + j * rows, rows, what, message));
  return WB_OK;
}

constexpr int DENSITY_THREADS = 256;

/* A thread a row. `step`: 1, or 0 where all rows have one unit. */
__global__ void __launch_bounds__(DENSITY_THREADS)
    mixture_add_densities(int64_t rows, const double *log_density, const double *log_unit, int step, double *sum) {
  const int64_t i = thread_number<DENSITY_THREADS>();
  if (i < rows) sum[i] = wb_log_sum(sum[i], log_density[i] - log_unit[step * i]);
}

/* What is there already, for rows at..at + rows - 1, and their units: to `sum` and `unit` on the device. */
int send_densities(wb_mixture_session *s, const density_sums &from, int64_t at, int64_t rows, double *sum, double *unit,
                   wb_message *message) {
  static const char *const what = "sending log densities";
  /* What is there on the device may still be read. */
  WB_TRY(s->stream.wait("evaluating components", message));
  WB_TRY(send(&s->run, sum, from.log_density + at, rows, what, message));
  return from.unit_each ? send(&s->run, unit, from.log_unit + at, rows, what, message)
                        : send(&s->run, unit, from.log_unit, 1, what, message);
}

template <typename Real>
int evaluate(wb_mixture_session *s, const wb_mixture_parameters *parameters, int32_t mixtures, int64_t first,
             int64_t count, const prediction_outputs &to, density_sums *sums, wb_message *message) {
  WB_TRY(check_components(parameters->components, message));
  if (count == 0) return WB_OK;
  const mixture_evaluate_kernel<Real> kernel = find_evaluate<Real>(s, parameters->components);
  const bool weighs = to.probability != nullptr || to.draws;
  const int32_t k = parameters->components, beside = weighs ? k : sums != nullptr ? 2 : 0;
  prediction out;
  WB_TRY(with_memory(
      s, message, [&] { return open_prediction<Real>(s, k, mixtures, kernel, first, count, beside, &out, message); }));
  const size_t mixture_size = kernel_bytes<Real>(s, kernel, k) / sizeof(Real);
  Real *const coefficients = static_cast<Real *>(out.coefficients.address());
  int32_t *const labels = out.labels.data();
  double *const log_sums = out.log_sums.data(), *const sum = out.beside.data(), *const unit = sum + out.pass;
  double *const probability = weighs ? out.beside.data() : nullptr;
  WB_TRY(send_coefficients<Real>(s, parameters, mixtures, kernel, coefficients, message));
  int64_t leaves;
  for (int64_t start = first / WB_LEAF_ROWS * WB_LEAF_ROWS; start < first + count; start += leaves * WB_LEAF_ROWS) {
    leaves = leaves_at_once(s, start / WB_LEAF_ROWS, &out.x);
    const int64_t end = smaller(first + count, start + leaves * WB_LEAF_ROWS);
    const Real *x;
    WB_TRY(find_rows<Real>(s, start / WB_LEAF_ROWS, &out.x, &x, message));
    for (int64_t row = larger(first, start); row < end; row += out.pass) {
      const int64_t rows = smaller(out.pass, end - row), at = row - first;
      if (sums != nullptr) {
        sums->begun = true;
        WB_TRY(send_densities(s, *sums, at, rows, sum, unit, message));
      }
      for (int32_t i = 0; i < mixtures; i++) {
        WB_TRY(begin_missing_evaluation(s, parameters + i, message));
        WB_TRY(launch(shape_of(s, kernel, rows), kernel.kernel, "evaluating components", message, x, s->data.columns,
                      coefficients + size_t(i) * mixture_size, k, row - start, rows, labels, log_sums, probability,
                      rows));
        WB_TRY(evaluate_missing<Real>(s, start, row, rows, x, labels, log_sums, probability, rows, message));
        if (to.draws)
          WB_TRY(draw_by_weights(s->stream.get(), probability, rows, k, to.key, uint64_t(to.number + at), labels,
                                 message));
        if (sums != nullptr)
          WB_TRY(launch(s->cover(DENSITY_THREADS, rows), mixture_add_densities, "adding densities", message, rows,
                        log_sums, unit, sums->unit_each ? 1 : 0, sum));
      }
      WB_TRY(s->stream.wait("evaluating components", message));
      WB_TRY(sums != nullptr ? fetch(&s->run, sums->log_density + at, sum, rows, "fetching log densities", message)
                             : fetch_predictions(s, out, k, at, rows, to, message));
    }
  }
  return s->stream.wait("evaluating components", message);
}

/* A session's part ---------------------------------------------------------------- */

int open_device(wb_mixture_session *s, const wb_mixture_data *data, wb_message *message) {
  const char *const kind = "asking for the device's kind", *const units = "sending units to the device";
  const size_t p = size_t(data->columns);
  int major = 0, minor = 0;
  WB_TRY(s->stream.create(message));
  WB_TRY(s->side.create_urgent(message));
  WB_TRY(s->copies.create_apart(message));
  WB_TRY(s->drawn.create(false, message));
  for (event *some : {s->copied, s->arrived, s->read})
    for (int i = 0; i < 2; i++) WB_TRY(some[i].create(false, message));
  WB_TRY(status_of(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, s->device), kind, message));
  WB_TRY(status_of(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, s->device), kind, message));
  s->tensor_cores = 10 * major + minor == TENSOR_CAPABILITY && has_tensor_code();
  WB_TRY(s->units.allocate(2 * p, "units of the columns", message));
  WB_TRY(s->units.upload(data->center, p, units, message));
  WB_TRY(status_of(cudaMemcpy(s->units.data() + p, data->inverse_scale, p * sizeof(double), cudaMemcpyHostToDevice),
                   units, message));
  if (s->data.sample != nullptr)
    WB_TRY(s->sample.hold(s->data.sample, size_t(s->data.rows), "the samples of the rows", message));
  WB_TRY(open_missing(s, message));
  return settle_rows(s, message);
}

} // namespace

template <typename Real>
mixture_evaluate_kernel<Real> find_evaluate(const wb_mixture_session *s, int32_t components) {
  const int p = s->data.columns;
  const mixture_evaluate_kernel<Real> ordinary = find_mixture_evaluate<Real>(p);
  if (p <= ORDINARY_MOST_COLUMNS || !s->tensor_cores) return ordinary;
  const mixture_evaluate_kernel<Real> tensor = find_mixture_evaluate_wide<Real>(p);
  return tensor.kernel != nullptr && tensor_is_faster(p, components, ordinary.order) ? tensor : ordinary;
}
WB_BOTH_PRECISIONS(find_evaluate)

int open_part(const wb_mixture_data *data, const mixture_part *part, const wb_run *run, wb_mixture_session **session,
              wb_message *message) {
  if (data->columns > MIXTURE_MOST_COLUMNS)
    return wb_fail(message, WB_ERROR_INPUT, "%d columns: a graphics card takes up to %d", int(data->columns),
                   int(MIXTURE_MOST_COLUMNS));
  WB_ON_DEVICE(part->device, message);
  std::unique_ptr<wb_mixture_session> s(new (std::nothrow) wb_mixture_session);
  if (s == nullptr) return wb_fail(message, WB_ERROR_MEMORY, "no memory for the mixture session");
  s->data = *data;
  s->data.x += part->first_row;
  s->data.rows = part->rows;
  if (data->sample != nullptr) s->data.sample += part->first_row;
  s->data.center = s->data.inverse_scale = nullptr;
  s->first_row = part->first_row;
  s->number = data->first_row + part->first_row;
  s->stride = data->rows;
  s->piece = part->piece;
  s->merged = part->merged;
  s->device = part->device;
  s->memory_limit = run->memory_limit;
  s->run = *run;
  s->host_memory = uint64_t(double(run->host_memory) * (double(part->rows) / double(data->rows)));
  s->leaves = ceiling(part->rows, WB_LEAF_ROWS);
  WB_TRY(open_device(s.get(), data, message));
  *session = s.release();
  return WB_OK;
}

template <typename Real>
int begin_part_labels(wb_mixture_session *s, const double *log_weight, wb_message *message) {
  const mixture_draw_kernel<Real> draw = find_draw<Real>(s);
  int status =
      with_memory(s, message, [&] { return open_workspace(s, kernel_bytes<Real>(s, draw, s->room.count), message); });
  /* keeps_missing() has the better message if memory is lacking because all rows must stay. */
  if (status == WB_OK || status == WB_ERROR_MEMORY) status = larger(status, keeps_missing(s, message));
  WB_TRY(status);
  WB_TRY(send_components<Real>(s, log_weight, draw, static_cast<Real *>(s->work.coefficients.address()), message));
  WB_TRY(send_shares<Real>(s, log_weight, message));
  return begin_missing(s, message);
}
WB_BOTH_PRECISIONS(begin_part_labels)

template <typename Real>
int draw_chunk_labels(wb_mixture_session *s, uint64_t key, uint32_t iteration, int32_t *labels, int64_t first,
                      wb_message *message) {
  const mixture_draw_kernel<Real> draw = find_draw<Real>(s);
  mixture_workspace &w = s->work;
  const int64_t count = leaves_at_once(s, first, &w.x), rows = s->rows(first, count);
  const Real *const share = s->data.sample == nullptr ? nullptr : reinterpret_cast<const Real *>(s->room.share);
  int32_t *const drawn = drawn_labels(s, first);
  Real *const log_sums = static_cast<Real *>(w.log_sums.address());
  const Real *x;
  WB_TRY(find_rows<Real>(s, first, &w.x, &x, message));
  w.now = x;
  WB_TRY(launch(shape_of(s, draw, rows), draw.kernel, "drawing components", message, x, s->data.columns,
                static_cast<const Real *>(w.coefficients.address()), s->room.count, share,
                share == nullptr ? nullptr : s->sample.data() + first * WB_LEAF_ROWS, key, iteration,
                uint64_t(s->number + first * WB_LEAF_ROWS), rows, drawn, log_sums));
  /* Rows that lack values are drawn again, given their observed columns. */
  WB_TRY(draw_missing<Real>(s, first, count, share, key, iteration, const_cast<Real *>(x), drawn, log_sums, message));
  if (labels == nullptr) return WB_OK;
  return copy_later(labels + first * WB_LEAF_ROWS, drawn, size_t(rows) * sizeof(int32_t), cudaMemcpyDeviceToHost,
                    "fetching labels", message, s->stream.get());
}
WB_BOTH_PRECISIONS(draw_chunk_labels)

template <typename Real>
int sum_chunk_labels(wb_mixture_session *s, int64_t *leaf, wb_message *message) {
  mixture_workspace &w = s->work;
  const int64_t first = *leaf, count = leaves_at_once(s, first, &w.x);
  int32_t *const drawn = drawn_labels(s, first);
  WB_TRY(sum_leaves<Real>(s, static_cast<const Real *>(w.now), first, count, drawn, s->room.count,
                          s->piece == 0 ? s->room.at.statistics : w.roots.data(), message));
  WB_TRY(count_samples(s, drawn, first, count, message));
  *leaf = first + count;
  return *leaf == s->leaves ? send_ahead(s, &w.x, message) : int(WB_OK);
}
WB_BOTH_PRECISIONS(sum_chunk_labels)

template <typename Real>
int evaluate_part(wb_mixture_session *s, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                  int64_t stride, int32_t *labels, double *log_density, double *probability, wb_message *message) {
  return evaluate<Real>(s, parameters, 1, first, count, {labels, log_density, probability, stride, false, 0, 0},
                        nullptr, message);
}
WB_BOTH_PRECISIONS(evaluate_part)

template <typename Real>
int draw_part_rows(wb_mixture_session *s, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                   uint64_t key, int64_t number, int32_t *labels, wb_message *message) {
  const prediction_outputs to = {labels, nullptr, nullptr, 0, true, key, number};
  return evaluate<Real>(s, parameters, 1, first, count, to, nullptr, message);
}
WB_BOTH_PRECISIONS(draw_part_rows)

template <typename Real>
int add_part_densities(wb_mixture_session *s, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                       int64_t first, int64_t count, const double *log_unit, bool unit_each, double *log_density,
                       wb_message *message) {
  int status = WB_OK;
  /* Take as many mixtures at a time as memory allows. */
  for (int32_t done = 0, together = mixture_count; done < mixture_count && status == WB_OK;) {
    const int32_t here = smaller(together, mixture_count - done);
    density_sums sums = {log_unit, unit_each, log_density, false};
    status = evaluate<Real>(s, mixtures + done, here, first, count, {}, &sums, message);
    if (status == WB_ERROR_MEMORY && !sums.begun && here > 1) {
      status = WB_OK;
      together = here / 2;
    } else {
      done += here;
    }
  }
  return status;
}
WB_BOTH_PRECISIONS(add_part_densities)

void wait_for_copies(wb_mixture_session *s) {
  wb_message ignored;
  device_scope scope;
  if (scope.enter(s->device, &ignored) == WB_OK) (void)cudaStreamSynchronize(s->copies.get());
}

} // namespace wb
