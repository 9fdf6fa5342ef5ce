/* Weighted sums of all rows for a Bayesian EM step (mixture/bem.c has the formulas). The twin of cpu/mixture/weigh.c.
 *
 * mixture_evaluate() writes the probabilities of a chunk of rows, 8 bytes for each row and component. Then
 * mixture_weigh() adds the rows of each leaf to the sums of the components, in order. */
#include "cuda/mixture/state.cuh"
#include "cuda/mixture/sums.cuh"

namespace wb {

namespace {

constexpr int WARPS = SUM_THREADS / 32, WINDOWS = WB_LEAF_ROWS / SUM_THREADS, MASKS = WARPS * WINDOWS;
static_assert(MASKS <= SUM_THREADS, "a thread adds up the masks before one of them");

/* The list of a leaf's rows that count, as list_rows() makes it. */
struct listed_rows {
  uint32_t masks[MASKS];
  int before[MASKS + 1];
  uint16_t row[WB_LEAF_ROWS];
};

/* Rows' values and weights, then their list; or log densities in place of all. */
inline size_t weigh_shared_bytes(int p) {
  const size_t rows = size_t(rows_in_shared(p)), stride = size_t(sum_stride(p));
  return larger(rows * (stride + 1) * sizeof(double) + sizeof(listed_rows), size_t(WB_LEAF_ROWS) * sizeof(double));
}

/* Lists the rows of a leaf whose probability counts, in order; returns how many. All threads must call it. */
__device__ __forceinline__ int list_rows(const double *probability, int rows, listed_rows *list) {
  const int t = int(threadIdx.x), warp = t / 32;
  const uint32_t below = (1u << (t % 32)) - 1;
  WB_ROLLED
  for (int w = 0; w < WINDOWS; w++) {
    const int i = w * SUM_THREADS + t;
    const uint32_t mask = __ballot_sync(0xFFFFFFFFu, i < rows && probability[i] >= WB_MIXTURE_LEAST_WEIGHT);
    if (t % 32 == 0) list->masks[w * WARPS + warp] = mask;
  }
  __syncthreads();
  if (t <= MASKS) {
    int sum = 0;
    WB_ROLLED
    for (int m = 0; m < t; m++) sum += __popc(list->masks[m]);
    list->before[t] = sum;
  }
  __syncthreads();
  WB_ROLLED
  for (int w = 0; w < WINDOWS; w++) {
    const uint32_t mask = list->masks[w * WARPS + warp];
    if (mask >> (t % 32) & 1)
      list->row[list->before[w * WARPS + warp] + __popc(mask & below)] = uint16_t(w * SUM_THREADS + t);
  }
  __syncthreads();
  return list->before[MASKS];
}

__device__ __forceinline__ void add_weighted(const double *values, const double *weights, int rows, int p,
                                             double *sums) {
  const int stride = sum_stride(p), entries = int(WB_MIXTURE_STATISTICS(p));
  WB_ROLLED
  for (int entry = int(threadIdx.x); entry < entries; entry += SUM_THREADS) {
    int r, c;
    entry_position(entry, p, &r, &c);
    double sum = sums[entry];
    WB_ROLLED
    for (int i = 0; i < rows; i++) sum = wb_fma(weights[i] * values[i * stride + r], values[i * stride + c], sum);
    sums[entry] = sum;
  }
}

/* Weighted statistics of the leaves from blockIdx.x = 0 on, laid out as by mixture_sum(); x holds floats where
 * `single`. probability is `stride` x components. Reads 8 bytes for each row and component, and for each one that
 * counts sizeof(Real) p bytes, 3 values of shared memory and 1 multiply-add an entry. 21 to 29 KB of shared memory. */
__global__ void __launch_bounds__(SUM_THREADS)
    mixture_weigh(const void *x, bool single, int p, const double *probability, int64_t stride, const double *log_sum,
                  int64_t rows, int components, size_t node, double *sums) {
  WB_DYNAMIC_SHARED(double, values);
  const int64_t leaf = blockIdx.x, left = rows - leaf * WB_LEAF_ROWS;
  const int here = left < WB_LEAF_ROWS ? int(left) : WB_LEAF_ROWS;
  const int part = int(blockIdx.y), parts = int(gridDim.y) - 1;
  sums += size_t(leaf) * node;
  if (part == parts) {
    sum_logs(log_sum + leaf * WB_LEAF_ROWS, here, values, sums + node - 1);
    return;
  }
  const int at_once = rows_in_shared(p), padded = sum_stride(p), t = int(threadIdx.x);
  double *const weights = values + size_t(at_once) * padded;
  listed_rows *const list = reinterpret_cast<listed_rows *>(weights + at_once);
  const int from = int(int64_t(components) * part / parts);
  const int to = int(int64_t(components) * (part + 1) / parts);
  const int64_t first_value = leaf * p * WB_LEAF_ROWS;
  const int entries = int(WB_MIXTURE_STATISTICS(p));
  WB_ROLLED
  for (int j = from; j < to; j++) {
    const double *const column = probability + j * stride + leaf * WB_LEAF_ROWS;
    double *const own = sums + size_t(j) * entries;
    /* A thread sets to zero the entries that it will add to. */
    WB_ROLLED
    for (int entry = t; entry < entries; entry += SUM_THREADS) own[entry] = 0;
    const int listed = list_rows(column, here, list);
    WB_ROLLED
    for (int first = 0; first < listed; first += at_once) {
      const int count = listed - first < at_once ? listed - first : at_once;
      if (t < count) {
        const int row = list->row[first + t];
        const int64_t value = first_value + row;
        weights[t] = column[row];
        values[t * padded] = 1;
        WB_ROLLED
        for (int c = 0; c < p; c++)
          values[t * padded + 1 + c] = single ? double(static_cast<const float *>(x)[value + c * WB_LEAF_ROWS])
                                              : static_cast<const double *>(x)[value + c * WB_LEAF_ROWS];
      }
      __syncthreads();
      add_weighted(values, weights, count, p, own);
      __syncthreads(); /* all have read these rows, and the list if they are the last */
    }
  }
}

int open_weighing(wb_mixture_session *s, int32_t components, uint64_t coefficients, wb_message *message) {
  if (s->work.weighs && components <= s->work.components) return WB_OK;
  s->work = {};
  uint64_t left = 0;
  WB_TRY(memory_left(s->memory_limit, s->held(), &left, message));
  const size_t roots = size_t(s->pieces()) * node_size(s, components);
  const uint64_t row = sizeof(int32_t) + sizeof(double) * (1 + uint64_t(components));
  leaf_plan plan = {};
  WB_TRY(plan_leaves(s, components, 0, WB_LEAF_ROWS * row + transit_leaf(s), CHUNK_BYTES,
                     coefficients + roots * sizeof(double), left, &plan, message));
  mixture_workspace w;
  WB_TRY(open_pass(s, components, plan, coefficients, roots, true, &w, message));
  WB_TRY(s->packed.allocate(coefficients, "the components", message));
  s->work = std::move(w);
  return WB_OK;
}

template <typename Real>
int weigh_leaves(wb_mixture_session *s, const Real *x, int64_t first, int64_t count, int32_t components,
                 wb_message *message) {
  mixture_workspace &w = s->work;
  const size_t p = size_t(s->data.columns), node = node_size(s, components);
  double *const waiting = w.nodes.data() + size_t(w.group) * node;
  const int64_t parts = smaller<int64_t>(components, larger<int64_t>(8, 512 / w.group));
  for (int64_t leaf = 0; leaf < count; leaf += w.group) {
    const int64_t leaves = smaller(w.group, count - leaf), row = leaf * WB_LEAF_ROWS;
    const launch_shape shape = s->grid(SUM_THREADS, leaves, parts + 1).sharing(weigh_shared_bytes(s->data.columns));
    WB_TRY(launch(shape, mixture_weigh, "adding weighted rows", message, static_cast<const void *>(x + size_t(row) * p),
                  sizeof(Real) == sizeof(float), s->data.columns,
                  static_cast<const double *>(w.probability.data() + row), w.chunk * WB_LEAF_ROWS,
                  static_cast<const double *>(w.log_sums.address()) + row, s->rows(first, count) - row, components,
                  node, w.nodes.data()));
    WB_TRY(combine_group(s, components, w.group, first + leaf, first + leaf + leaves, w.nodes.data(), leaves, waiting,
                         w.roots.data(), message));
  }
  return WB_OK;
}

int fetch_sums(const wb_mixture_session *s, double *to, size_t first, size_t count, wb_message *message) {
  return copy_later(to, s->work.roots.data() + first, count * sizeof(double), cudaMemcpyDeviceToHost, "fetching sums",
                    message, s->stream.get());
}

} // namespace

template <typename Real>
int weigh_part(wb_mixture_session *s, const wb_mixture_parameters *parameters, double *statistics,
               double *log_likelihood, wb_message *message) {
  const mixture_evaluate_kernel<Real> kernel = find_evaluate<Real>(s, parameters->components);
  const int32_t k = parameters->components;
  WB_TRY(check_components(k, message));
  const uint64_t bytes = kernel_bytes<Real>(s, kernel, k);
  WB_TRY(with_memory(s, message, [&] { return open_weighing(s, k, bytes, message); }));
  mixture_workspace &w = s->work;
  Real *const coefficients = static_cast<Real *>(w.coefficients.address());
  WB_TRY(send_coefficients<Real>(s, parameters, 1, kernel, coefficients, message));
  for (int64_t first = 0, count; first < s->leaves; first += count) {
    count = leaves_at_once(s, first, &w.x);
    const int64_t rows = s->rows(first, count);
    const Real *x;
    WB_TRY(find_rows<Real>(s, first, &w.x, &x, message));
    WB_TRY(launch(shape_of(s, kernel, rows), kernel.kernel, "weighing components", message, x, s->data.columns,
                  coefficients, k, int64_t(0), rows, w.labels.data(), static_cast<double *>(w.log_sums.address()),
                  w.probability.data(), w.chunk * WB_LEAF_ROWS));
    WB_TRY(weigh_leaves<Real>(s, x, first, count, k, message));
  }
  WB_TRY(send_ahead(s, &w.x, message));
  if (s->piece > 0) {
    s->nodes = s->mail.data();
    s->node_count = size_t(s->pieces()) * node_size(s, k);
    WB_TRY(fetch_sums(s, s->mail.data(), 0, s->node_count, message));
  } else {
    const size_t values = node_size(s, k) - 1;
    WB_TRY(fetch_sums(s, statistics, 0, values, message));
    WB_TRY(fetch_sums(s, log_likelihood, values, 1, message));
  }
  return s->stream.wait("adding weighted rows", message);
}
WB_BOTH_PRECISIONS(weigh_part)

} // namespace wb
