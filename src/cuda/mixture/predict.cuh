/* Evaluating all components at rows, for predictions and densities: a part of cuda/mixture/session.cu, which includes it. The kernel is
 * mixture_evaluate() of cuda/mixture/draw_tile.cuh.
 */
#ifndef WB_CUDA_MIXTURE_PREDICT_CUH
#define WB_CUDA_MIXTURE_PREDICT_CUH

#include "cuda/mixture/densities.cuh"
#include "cuda/mixture/missing.cuh"
#include "cuda/mixture/session.cuh"
#include "cuda/mixture/stream.cuh"

namespace {

struct prediction {
  int64_t chunk; /* leaves at a time */
  int64_t pass;  /* rows at a time */
  wb::device_bytes coefficients;
  wb::mixture_transit x;
  wb::device_array<int32_t> labels;
  wb::device_array<double> log_sums;
  wb::device_array<double> beside; /* what else is kept of a row: probabilities, or its sum of densities and its unit */
};

template <typename Real>
int open_prediction(wb_mixture_session *s, int32_t components, int32_t mixtures, int order, int64_t first, int64_t count, int32_t beside,
                    prediction *out, wb_message *message) {
  const int64_t leaves = (first + count - 1) / WB_LEAF_ROWS - first / WB_LEAF_ROWS + 1;
  const uint64_t coefficients = coefficient_bytes<Real>(components, order) * static_cast<uint64_t>(mixtures);
  const uint64_t row = sizeof(int32_t) + sizeof(double) + sizeof(double) * static_cast<uint64_t>(beside);
  s->work.release();
  uint64_t left = 0;
  int status = wb::memory_left(s->memory_limit, s->held(), &left, message);
  if (status != WB_OK) return status;
  const uint64_t fixed = coefficients, least = fixed + PASS_ROWS * row + wb::transit_leaf(s);
  if (least > left) return lacks_memory(s, components, least, left, message);
  const uint64_t wish = s->resident() ? larger(s->x.bytes() / 12, SMALL_BYTES) : CHUNK_BYTES;
  uint64_t room = smaller(left - fixed, wish);
  out->chunk = leaves;
  if (!s->resident()) {
    out->chunk = smaller(leaves, larger<int64_t>(1, static_cast<int64_t>(room / 2 / wb::transit_leaf(s))));
    room -= smaller(room, wb::transit_leaf(s) * static_cast<uint64_t>(out->chunk));
  }
  out->pass = larger<int64_t>(1, static_cast<int64_t>(room / row) / PASS_ROWS) * PASS_ROWS;
  out->pass = smaller(out->pass, ceiling(count, PASS_ROWS) * PASS_ROWS);
  const size_t pass = static_cast<size_t>(out->pass);
  status = out->coefficients.allocate(coefficients, "the components", message);
  if (status == WB_OK) status = s->packed.allocate(coefficients, "the components", message);
  if (status == WB_OK) status = wb::open_transit(s, out->chunk, 1, first / WB_LEAF_ROWS + leaves, &out->x, message);
  if (status == WB_OK) status = out->labels.allocate(pass, "labels", message);
  if (status == WB_OK) status = out->log_sums.allocate(pass, "log densities", message);
  if (status == WB_OK && beside > 0) status = out->beside.allocate(pass * static_cast<size_t>(beside), "probabilities", message);
  return status;
}

/* Copies the outputs of `rows` rows to the host, as far as they are not NULL. */
int fetch_predictions(const wb_mixture_session *s, const prediction &from, int32_t components, int64_t rows, int64_t stride,
                      int32_t *labels, double *log_density, double *probability, wb_message *message) {
  const size_t n = static_cast<size_t>(rows), line = sizeof(double) * n;
  cudaError_t error = cudaSuccess;
  if (labels != nullptr)
    error = cudaMemcpyAsync(labels, from.labels.data(), n * sizeof(int32_t), cudaMemcpyDeviceToHost, s->stream.get());
  if (error == cudaSuccess && log_density != nullptr)
    error = cudaMemcpyAsync(log_density, from.log_sums.data(), line, cudaMemcpyDeviceToHost, s->stream.get());
  if (error == cudaSuccess && probability != nullptr)
    error = cudaMemcpy2DAsync(probability, static_cast<size_t>(stride) * sizeof(double), from.beside.data(),
                              static_cast<size_t>(from.pass) * sizeof(double), line, static_cast<size_t>(components),
                              cudaMemcpyDeviceToHost, s->stream.get());
  return wb::status_of(error, "fetching predictions", message);
}

/* `mixtures` for `sums`, or one for the other outputs. */
template <typename Real>
int evaluate(wb_mixture_session *s, const wb_mixture_parameters *parameters, int32_t mixtures, int64_t first, int64_t count, int64_t stride,
             int32_t *labels, double *log_density, double *probability, wb::mixture_densities *sums, wb_message *message) {
  const wb::mixture_evaluate_kernel<Real> kernel = wb::find_mixture_evaluate<Real>(s->data.columns);
  const int32_t k = parameters->components;
  prediction out;
  int status = with_memory(s, message, [&] {
    return open_prediction<Real>(s, k, mixtures, kernel.order, first, count, probability != nullptr ? k : sums != nullptr ? 2 : 0, &out,
                                 message);
  });
  if (status == WB_OK) status = send_coefficients<Real>(s, parameters, mixtures, kernel.order, out.coefficients.address(), message);
  const size_t mixture_bytes = coefficient_bytes<Real>(k, kernel.order);
  double *const sum = out.beside.data(), *const unit = sum + out.pass;
  for (int64_t leaf = first / WB_LEAF_ROWS, leaves; leaf * WB_LEAF_ROWS < first + count && status == WB_OK; leaf += leaves) {
    const int64_t start = leaf * WB_LEAF_ROWS;
    leaves = leaves_at_once(s, leaf, &out.x);
    const int64_t end = smaller(first + count, start + leaves * WB_LEAF_ROWS);
    const Real *x;
    status = find_rows<Real>(s, leaf, &out.x, &x, message);
    for (int64_t row = larger(first, start); row < end && status == WB_OK; row += out.pass) {
      const int64_t rows = smaller(out.pass, end - row), at = row - first;
      wb::launch_shape shape;
      shape.blocks = dim3(static_cast<unsigned>(ceiling(rows, wb::MIXTURE_THREADS * kernel.rows)));
      shape.threads = dim3(wb::MIXTURE_THREADS);
      shape.stream = s->stream.get();
      if (sums != nullptr) {
        sums->begun = true;
        status = wb::send_densities(s, *sums, at, rows, sum, unit, message);
      }
      for (int32_t i = 0; i < mixtures && status == WB_OK; i++) {
        const char *const coefficients = static_cast<const char *>(out.coefficients.address()) + static_cast<size_t>(i) * mixture_bytes;
        status = wb::begin_missing_evaluation(s, parameters + i, message);
        if (status == WB_OK)
          status = wb::launch(shape, kernel.kernel, "evaluating components", message, x, s->data.columns,
                              reinterpret_cast<const Real *>(coefficients), k, row - start, rows, out.labels.data(), out.log_sums.data(),
                              probability != nullptr ? out.beside.data() : nullptr, out.pass);
        if (status == WB_OK)
          status = wb::evaluate_missing<Real>(s, start, row, rows, x, out.labels.data(), out.log_sums.data(),
                                              probability != nullptr ? out.beside.data() : nullptr, out.pass, message);
        if (status == WB_OK && sums != nullptr) status = wb::add_densities(s, *sums, rows, out.log_sums.data(), unit, sum, message);
      }
      if (status == WB_OK)
        status = sums != nullptr
                     ? wb::fetch_densities(s, *sums, at, rows, sum, message)
                     : fetch_predictions(s, out, k, rows, stride, labels ? labels + at : nullptr,
                                         log_density ? log_density + at : nullptr, probability ? probability + at : nullptr, message);
    }
  }
  return status == WB_OK ? s->stream.wait("evaluating components", message) : status;
}

} // namespace

#endif
