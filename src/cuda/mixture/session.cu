/* Gaussian mixtures on a graphics card: the component of every row drawn from its
 * posterior, with the sufficient statistics of the Gibbs sweep (Suchard et al.
 * 2010, section 2 and appendix A). The twin of cpu/mixture/session.c, to the last bit in
 * double precision. What is done for components is in cuda/mixture/components.cu: they too stay on
 * the device, so that a sweep moves a few numbers of each, and labels only where they are kept.
 *
 * The scaled rows stay on the device from sweep to sweep. Those for which there is no room there are sent again in
 * every pass (cuda/mixture/stream.cu). Each chunk of rows goes through four
 * kernels: components are drawn, the rows of each leaf are sorted by component, their
 * products are summed leaf by leaf, and the sums of a group of leaves are combined.
 * Everything beside the data takes less than a twelfth of their memory or 32 MB, and 4 bytes a row
 * where labels are kept.
 */
#include "cuda/table.cuh"

#include <cstdio>
#include <cstring>
#include <new>

#include "cuda/mixture/session.cuh"
#include "cuda/mixture/densities.cuh"
#include "cuda/mixture/fragments.cuh"
#include "cuda/mixture/missing.cuh"
#include "cuda/mixture/pairs.cuh"
#include "cuda/mixture/samples.cuh"
#include "cuda/mixture/stream.cuh"
#include "cuda/mixture/sums.cuh"
#include "cuda/tensor.cuh"

namespace {

using wb::ceiling;
using wb::lacks_memory;
using wb::larger;
using wb::node_size;
using wb::settled;
using wb::smaller;
using wb::with_memory;
using wb::CHUNK_BYTES;
using wb::PASS_ROWS;
using wb::SMALL_BYTES;
using wb::find_rows;
using wb::leaves_at_once;

/* The components ------------------------------------------------------------ */

template <typename Real>
uint64_t coefficient_bytes(int32_t components, int order) {
  return static_cast<uint64_t>(components) * wb::mixture_coefficients<Real>(static_cast<size_t>(order)) * sizeof(Real);
}

template <typename Real>
void pack_coefficients(const wb_mixture_session *s, const wb_mixture_parameters *parameters, int order, Real *packed) {
  const size_t p = static_cast<size_t>(s->data.columns), size = wb::mixture_coefficients<Real>(static_cast<size_t>(order));
  std::memset(packed, 0, coefficient_bytes<Real>(parameters->components, order));
  for (size_t j = 0; j < static_cast<size_t>(parameters->components); j++) {
    const double *factor = parameters->factor + j * (p * (p + 1) / 2);
    Real *const component = packed + j * size;
    for (size_t r = 0; r < p; r++) {
      Real *line = component + wb::coefficient_line(r);
      *line++ = static_cast<Real>(-parameters->offset[j * p + r]);
      for (size_t c = 0; c <= r; c++) *line++ = static_cast<Real>(*factor++);
    }
    component[wb::coefficient_line(static_cast<size_t>(order))] = static_cast<Real>(parameters->log_constant[j]);
  }
}

/* Tensor cores of this rate are in cards of compute capability 9.0. A line costs a multiply-add for every coefficient, or half
 * of one where they are used, but then for as many columns as four divides and as many components as sixteen does. */
template <typename Real>
wb::mixture_draw_kernel<Real> find_draw(const wb_mixture_session *s) {
  const int p = s->data.columns;
  if constexpr (sizeof(Real) == sizeof(double)) {
    const wb::mixture_draw_kernel<double> ordinary = wb::find_mixture_draw<double>(p);
    if (s->capability != wb::TENSOR_CAPABILITY || p > wb::FRAGMENT_MOST_COLUMNS) return ordinary;
    int64_t products = 0;
    for (int r = 0; r < p; r++) products += 4 * (r / 4 + 1);
    const int64_t tensor = wb::FRAGMENT_COMPONENTS * wb::fragment_blocks(s->room.count) * (products / 2 + p);
    return tensor < s->room.count * static_cast<int64_t>(wb::coefficient_line(static_cast<size_t>(ordinary.order)))
               ? wb::find_mixture_draw_tensor(p)
               : ordinary;
  } else {
    return wb::find_mixture_draw<Real>(p);
  }
}

template <typename Real>
uint64_t draw_bytes(const wb_mixture_session *s, const wb::mixture_draw_kernel<Real> &draw) {
  return draw.fragments ? sizeof(Real) * static_cast<uint64_t>(wb::fragment_blocks(s->room.count)) *
                              static_cast<uint64_t>(wb::fragment_block(s->data.columns))
                        : coefficient_bytes<Real>(s->room.count, draw.order);
}

/* Of `count` mixtures of as many components. */
template <typename Real>
int send_coefficients(wb_mixture_session *s, const wb_mixture_parameters *mixtures, int32_t count, int order, void *to, wb_message *message) {
  const size_t bytes = coefficient_bytes<Real>(mixtures->components, order);
  char *const packed = static_cast<char *>(s->packed.address());
  for (int32_t i = 0; i < count; i++)
    pack_coefficients(s, mixtures + i, order, reinterpret_cast<Real *>(packed + static_cast<size_t>(i) * bytes));
  return wb::status_of(cudaMemcpyAsync(to, packed, static_cast<size_t>(count) * bytes, cudaMemcpyHostToDevice, s->stream.get()),
                       "sending the components to the device", message);
}

/* Pairs of components: what a pass over their rows reads and leaves, in one piece of memory, the
 * same on the device and on the host. What is sent and what is fetched lie together. */
struct pair_memory {
  size_t coefficients, pairing, anchors, words, sums, end; /* bytes from the beginning */
};

/* How many halves there are at most. */
int32_t most_halves(int32_t components) {
  return smaller<int32_t>(components / 2, WB_MIXTURE_MOST_PAIRS) * 2;
}

/* Coefficients are read four rows of the triangle at a time. */
int pair_order(const wb_mixture_session *s) {
  return (s->data.columns + 3) / 4 * 4;
}

template <typename Real>
pair_memory place_pairs(const wb_mixture_session *s, int32_t components) {
  const int32_t halves = most_halves(components);
  pair_memory at;
  at.coefficients = 0;
  at.pairing = static_cast<size_t>(coefficient_bytes<Real>(halves, pair_order(s)) + 7) / 8 * 8;
  at.anchors = at.pairing + 2 * sizeof(int32_t) * static_cast<size_t>(components);
  at.words = at.anchors + static_cast<size_t>(halves) * sizeof(int64_t);
  at.sums = at.words + 2 * WB_MIXTURE_MOST_PAIRS * sizeof(wb::pair_word);
  at.end = at.sums + static_cast<size_t>(s->pieces()) * node_size(s, halves) * sizeof(double);
  return at;
}

/* The sums -------------------------------------------------------------------- */

/* How many nodes mixture_combine() may have waiting for their siblings. */
int waiting_nodes(int64_t leaves, int64_t group) {
  int levels = 0;
  while ((ceiling(leaves, group) - 1) >> levels > 0) levels++;
  return levels;
}

/* How many leaves are computed and summed at a time within `left` bytes, of which `wish` are enough, where
 * each takes `leaf` bytes beside its sums. */
int plan_leaves(const wb_mixture_session *s, int32_t components, uint64_t leaf, uint64_t wish, uint64_t fixed, uint64_t left,
                int64_t *chunk, int64_t *group, wb_message *message) {
  const uint64_t node = node_size(s, components) * sizeof(double);
  const uint64_t least = (1 + static_cast<uint64_t>(waiting_nodes(s->leaves, 1))) * node + leaf;
  const uint64_t held = s->room.memory.bytes();
  if (fixed + least > left) return lacks_memory(s, components, held + fixed + least, held + left, message);
  const uint64_t room = larger(least, smaller(left, larger(wish, fixed)) - fixed);
  uint64_t nodes;
  int64_t g = 1;
  while (g < s->leaves && g < 1 << wb::GROUP_LEVELS && (s->piece == 0 || g < s->piece)) g *= 2;
  for (;; g /= 2) {
    nodes = static_cast<uint64_t>(g + waiting_nodes(s->leaves, g)) * node;
    if (g == 1 || (nodes <= room / 4 * 3 && nodes + static_cast<uint64_t>(g) * leaf <= room)) break;
  }
  const int64_t fit = larger<int64_t>(1, static_cast<int64_t>((room - nodes) / leaf) / g) * g;
  /* Chunks of even size. */
  *chunk = ceiling(ceiling(s->leaves, ceiling(s->leaves, fit)), g) * g;
  *group = g;
  return WB_OK;
}

/* For the draw of labels; `kept` of the `fixed` bytes are for what is kept of each row, beside which a twelfth of the
 * data's memory is used. */
template <typename Real>
int plan_sweep(const wb_mixture_session *s, int32_t components, uint64_t fixed, uint64_t kept, uint64_t left, int64_t *chunk,
               int64_t *group, wb_message *message) {
  return plan_leaves(s, components, WB_LEAF_ROWS * (sizeof(int32_t) + sizeof(Real)) + wb::transit_leaf(s),
                     kept + (s->resident() ? larger(s->x.bytes() / 12, SMALL_BYTES) : CHUNK_BYTES), fixed, left, chunk, group, message);
}

template <typename Real>
int open_workspace(wb_mixture_session *s, const wb::mixture_draw_kernel<Real> &draw, wb_message *message) {
  wb::mixture_workspace &w = s->work;
  const int32_t components = s->room.count;
  if (w.components == components) return WB_OK;
  w.release();
  uint64_t left = 0;
  int status = wb::memory_left(s->memory_limit, s->held(), &left, message);
  const uint64_t coefficients = draw_bytes(s, draw);
  const size_t keys = s->data.keep_labels ? static_cast<size_t>(s->leaves) * WB_LEAF_ROWS : 0;
  const size_t pairs = s->data.keep_labels ? place_pairs<Real>(s, components).end : 0;
  const size_t roots = s->piece == 0 ? 0 : static_cast<size_t>(s->pieces()) * node_size(s, components);
  const uint64_t kept = keys * sizeof(int32_t) + pairs + roots * sizeof(double);
  if (status == WB_OK) status = plan_sweep<Real>(s, components, coefficients + kept, kept, left, &w.chunk, &w.group, message);
  if (status != WB_OK) return status;
  const size_t rows = static_cast<size_t>(w.chunk) * WB_LEAF_ROWS, node = node_size(s, components);
  status = w.coefficients.allocate(coefficients, "the components", message);
  if (status == WB_OK) status = wb::open_transit(s, w.chunk, w.group, s->leaves, &w.x, message);
  if (status == WB_OK) status = w.labels.allocate(rows, "labels", message);
  if (status == WB_OK) status = w.log_sums.allocate(rows * sizeof(Real), "log densities", message);
  if (status == WB_OK)
    status = w.nodes.allocate(static_cast<size_t>(w.group + waiting_nodes(s->leaves, w.group)) * node, "sums of rows", message);
  if (status == WB_OK && roots > 0) status = w.roots.allocate(roots, "sums of rows", message);
  if (status == WB_OK && roots > 0) status = s->mail.allocate(roots, "sums of rows", message);
  if (status == WB_OK && keys > 0) status = w.keys.allocate(keys, "labels", message);
  if (status == WB_OK && pairs > 0) status = w.pairs.allocate(pairs, "pairs of components", message);
  if (status == WB_OK && pairs > 0) status = s->pairs.allocate(pairs, "pairs of components", message);
  if (status == WB_OK)
    w.components = components;
  else
    w.release();
  return status;
}

/* Adds the sums of a group of leaves to those of the groups before it. */
int combine_group(wb_mixture_session *s, const double *nodes, int64_t leaves, size_t node, double *waiting, int64_t index,
                  bool is_last, double *root, wb_message *message) {
  wb::launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(ceiling(static_cast<int64_t>(node), wb::TREE_THREADS)));
  shape.threads = dim3(wb::TREE_THREADS);
  shape.stream = s->stream.get();
  return wb::launch(shape, wb::mixture_combine, "combining sums", message, nodes, static_cast<int>(leaves), node, waiting, index,
                    is_last, root);
}

/* With fewer components leaves are what is done side by side, so that each has a node. And the most blocks of a node. */
constexpr int32_t FEW_COMPONENTS = 64;
constexpr int64_t MOST_SUM_BLOCKS = 128;

/* The kernel with tensor cores, if it can be used, and how many leaves have a node together. */
template <typename Real>
wb::mixture_sum_kernel<Real> find_sums(const wb_mixture_session *s, int32_t components) {
  wb::mixture_sum_kernel<Real> found = {1, nullptr};
  if (s->capability == wb::TENSOR_CAPABILITY && s->data.columns <= wb::SUM_TENSOR_MOST_COLUMNS)
    found = wb::find_mixture_sum_tensor<Real>(s->data.columns);
  found.fused = components < FEW_COMPONENTS ? 1 : static_cast<int>(smaller<int64_t>(found.fused, s->work.group));
  return found;
}

/* Sums the leaves of a chunk, as many as there is room for nodes at a time, and combines them group by group, once the labels of
 * its rows are drawn; these become sorted keys. `roots` takes the sums of each piece. */
template <typename Real>
int sum_leaves(wb_mixture_session *s, const Real *x, int64_t first, int64_t count, int32_t *labels, int32_t components,
               double *roots, wb_message *message) {
  wb::mixture_workspace &w = s->work;
  const size_t p = static_cast<size_t>(s->data.columns), node = node_size(s, components);
  const Real *const log_sums = static_cast<const Real *>(w.log_sums.address());
  double *const waiting = w.nodes.data() + static_cast<size_t>(w.group) * node;
  const wb::mixture_sum_kernel<Real> tensor = find_sums<Real>(s, components);
  const int64_t fused = tensor.fused;
  /* Blocks a node: enough to occupy all multiprocessors even if groups are small. */
  const int64_t blocks = tensor.kernel != nullptr ? smaller(MOST_SUM_BLOCKS, ceiling(components, wb::SUM_TENSOR_COMPONENTS))
                                                  : smaller<int64_t>(components, larger<int64_t>(8, 1024 / w.group));
  wb::launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(count));
  shape.threads = dim3(wb::SORT_THREADS);
  shape.stream = s->stream.get();
  int status = wb::launch(shape, wb::mixture_sort, "sorting rows by component", message, labels, s->rows(first, count));
  shape.threads = dim3(wb::SUM_THREADS);
  for (int64_t leaf = 0, leaves; leaf < count && status == WB_OK; leaf += leaves) {
    const int64_t row = leaf * WB_LEAF_ROWS, rows = s->rows(first, count) - row;
    const Real *const values = x + static_cast<size_t>(row) * p;
    const uint32_t *const keys = reinterpret_cast<const uint32_t *>(labels + row);
    leaves = smaller(w.group * fused, count - leaf);
    if (tensor.kernel != nullptr) {
      shape.blocks = dim3(static_cast<unsigned>(blocks + 1), static_cast<unsigned>(ceiling(leaves, fused)));
      status = wb::launch(shape, tensor.kernel, "summing rows", message, values, s->data.columns, keys, log_sums + row, rows, components,
                          static_cast<int>(leaves), tensor.fused, node, w.nodes.data());
    } else {
      shape.blocks = dim3(static_cast<unsigned>(leaves), static_cast<unsigned>(blocks + 1));
      shape.shared_bytes = wb::sum_shared_bytes(s->data.columns);
      status = wb::launch(shape, wb::mixture_sum<Real>, "summing rows", message, values, s->data.columns, keys, log_sums + row, rows,
                          components, node, w.nodes.data());
    }
    const int64_t begin = first + leaf, end = begin + leaves;
    for (int64_t at = begin; at < end && status == WB_OK; at += w.group) {
      const int64_t until = smaller(at + w.group, end), piece = s->piece == 0 ? 0 : at / s->piece;
      const bool is_last = until == s->leaves || (s->piece > 0 && until % s->piece == 0);
      status = combine_group(s, w.nodes.data() + static_cast<size_t>((at - begin) / fused) * node, ceiling(until - at, fused), node, waiting,
                             (at - piece * s->piece) / w.group, is_last, roots + static_cast<size_t>(piece) * node, message);
    }
  }
  return status;
}

template <typename Real>
int begin_labels(wb_mixture_session *s, const double *log_weight, wb_message *message) {
  const wb::mixture_draw_kernel<Real> draw = find_draw<Real>(s);
  int status = with_memory(s, message, [&] { return open_workspace<Real>(s, draw, message); });
  /* Memory may be lacking because these rows stay. */
  if (status == WB_OK || status == WB_ERROR_MEMORY) status = larger(status, wb::keeps_missing(s, message));
  if (status == WB_OK)
    status = wb::send_components<Real>(s, log_weight, draw, static_cast<Real *>(s->work.coefficients.address()), message);
  if (status == WB_OK) status = wb::send_shares<Real>(s, log_weight, message);
  return status == WB_OK ? wb::begin_missing(s, message) : status;
}

/* The labels of one chunk, from leaf *leaf on. */
template <typename Real>
int draw_labels(wb_mixture_session *s, uint64_t key, uint32_t iteration, int32_t *labels, int64_t *leaf, wb_message *message) {
  const wb::mixture_draw_kernel<Real> draw = find_draw<Real>(s);
  wb::mixture_workspace &w = s->work;
  const int32_t k = s->room.count;
  const Real *const share = s->data.sample == nullptr ? nullptr : reinterpret_cast<const Real *>(s->room.share);
  const int64_t first = *leaf, count = leaves_at_once(s, first, &w.x), rows = s->rows(first, count);
  int32_t *const drawn = s->data.keep_labels ? w.keys.data() + first * WB_LEAF_ROWS : w.labels.data();
  const Real *x;
  int status = find_rows<Real>(s, first, &w.x, &x, message);
  if (status != WB_OK) return status;
  wb::launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(ceiling(rows, draw.threads * draw.rows)));
  shape.threads = dim3(static_cast<unsigned>(draw.threads));
  shape.shared_bytes = draw.shared_bytes;
  shape.stream = s->stream.get();
  status = wb::launch(shape, draw.kernel, "drawing components", message, x, s->data.columns,
                      static_cast<const Real *>(w.coefficients.address()), k, share,
                      share == nullptr ? nullptr : static_cast<const int32_t *>(s->sample.data() + first * WB_LEAF_ROWS), key, iteration,
                      static_cast<uint64_t>(s->number + first * WB_LEAF_ROWS), rows, drawn,
                      static_cast<Real *>(w.log_sums.address()));
  if (status == WB_OK) /* again those that lack values */
    status = wb::draw_missing<Real>(s, first, count, share, key, iteration, const_cast<Real *>(x), drawn,
                                    static_cast<Real *>(w.log_sums.address()), message);
  if (status == WB_OK && labels != nullptr)
    status = wb::status_of(cudaMemcpyAsync(labels + first * WB_LEAF_ROWS, drawn, static_cast<size_t>(rows) * sizeof(int32_t),
                                           cudaMemcpyDeviceToHost, s->stream.get()),
                           "fetching labels", message);
  if (status == WB_OK) status = sum_leaves<Real>(s, x, first, count, drawn, k, s->piece == 0 ? s->room.at.statistics : w.roots.data(), message);
  if (status == WB_OK) status = wb::count_samples(s, drawn, first, count, message);
  *leaf = first + count;
  return status == WB_OK && *leaf == s->leaves ? wb::send_ahead(s, &w.x, message) : status;
}

/* Pairs of components ----------------------------------------------------------- */

int labels_missing(const wb_mixture_session *s, wb_message *message) {
  if (s->data.keep_labels && s->work.components > 0) return WB_OK;
  std::snprintf(message->text, sizeof message->text, "no labels have been kept for pairs of components");
  return WB_ERROR_INPUT;
}

/* A piece of the pairs' memory: on the device, and on the host. */
template <typename T>
T *pair_device(const wb_mixture_session *s, size_t at) {
  return reinterpret_cast<T *>(static_cast<char *>(s->work.pairs.address()) + at);
}
template <typename T>
T *pair_host(const wb_mixture_session *s, size_t at) {
  return reinterpret_cast<T *>(static_cast<char *>(s->pairs.address()) + at);
}

void write_pairing(const wb_mixture_session *s, const pair_memory &at, const wb_mixture_pairs *pairs) {
  const size_t k = static_cast<size_t>(pairs->components);
  std::memcpy(pair_host<int32_t>(s, at.pairing), pairs->pair, k * sizeof(int32_t));
  std::memcpy(pair_host<int32_t>(s, at.pairing) + k, pairs->side, k * sizeof(int32_t));
}

wb::mixture_pairing device_pairing(const wb_mixture_session *s, const pair_memory &at, int32_t components) {
  const int32_t *const pair = pair_device<int32_t>(s, at.pairing);
  return {pair, pair + components};
}

int copy_pairs(const wb_mixture_session *s, size_t from, size_t to, cudaMemcpyKind kind, wb_message *message) {
  void *const device = pair_device<char>(s, from), *const host = pair_host<char>(s, from);
  const bool sends = kind == cudaMemcpyHostToDevice;
  return wb::status_of(cudaMemcpyAsync(sends ? device : host, sends ? host : device, to - from, kind, s->stream.get()),
                       sends ? "sending pairs to the device" : "fetching pairs", message);
}

int fill_words(const wb_mixture_session *s, const pair_memory &at, int byte, wb_message *message) {
  return wb::status_of(cudaMemsetAsync(pair_device<char>(s, at.words), byte, at.sums - at.words, s->stream.get()),
                       "preparing pairs", message);
}

template <typename Real>
int begin_anchors(wb_mixture_session *s, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration, wb_message *message) {
  const pair_memory at = place_pairs<Real>(s, pairs->components);
  write_pairing(s, at, pairs);
  int status = copy_pairs(s, at.pairing, at.anchors, cudaMemcpyHostToDevice, message);
  if (status == WB_OK) status = fill_words(s, at, 0xFF, message);
  if (status != WB_OK) return status;
  wb::launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(s->leaves * (WB_LEAF_ROWS / wb::PAIR_THREADS)));
  shape.threads = dim3(wb::PAIR_THREADS);
  shape.stream = s->stream.get();
  status = wb::launch(shape, wb::mixture_tickets, "choosing rows", message, reinterpret_cast<const uint32_t *>(s->work.keys.data()),
                      device_pairing(s, at, pairs->components), key, iteration, static_cast<uint64_t>(s->number),
                      pair_device<wb::pair_word>(s, at.words));
  return status == WB_OK ? copy_pairs(s, at.words, at.sums, cudaMemcpyDeviceToHost, message) : status;
}

template <typename Real>
int begin_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves, const int64_t *anchors,
                 wb_message *message) {
  const pair_memory at = place_pairs<Real>(s, pairs->components);
  pack_coefficients<Real>(s, halves, pair_order(s), pair_host<Real>(s, at.coefficients));
  write_pairing(s, at, pairs);
  std::memcpy(pair_host<int64_t>(s, at.anchors), anchors, 2 * static_cast<size_t>(pairs->pairs) * sizeof(int64_t));
  const int status = copy_pairs(s, at.coefficients, at.words, cudaMemcpyHostToDevice, message);
  return status == WB_OK ? fill_words(s, at, 0, message) : status;
}

/* The halves of one chunk, from leaf *leaf on. */
template <typename Real>
int draw_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, int known, uint64_t key, uint32_t iteration, uint32_t step,
                int64_t *leaf, wb_message *message) {
  wb::mixture_workspace &w = s->work;
  const pair_memory at = place_pairs<Real>(s, pairs->components);
  const wb::mixture_halving halving = {device_pairing(s, at, pairs->components), pair_device<int64_t>(s, at.anchors), known, key,
                                       iteration, step};
  const int64_t first = *leaf, count = leaves_at_once(s, first, &w.x);
  const Real *x;
  int status = find_rows<Real>(s, first, &w.x, &x, message);
  if (status != WB_OK) return status;
  wb::launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(count * (WB_LEAF_ROWS / wb::PAIR_THREADS)));
  shape.threads = dim3(wb::PAIR_THREADS);
  shape.stream = s->stream.get();
  status = wb::launch(shape, wb::mixture_halves<Real>, "drawing halves", message, x, s->data.columns,
                      pair_device<Real>(s, at.coefficients), reinterpret_cast<const uint32_t *>(w.keys.data() + first * WB_LEAF_ROWS),
                      halving, static_cast<uint64_t>(s->number + first * WB_LEAF_ROWS), w.labels.data(), pair_device<wb::pair_word>(s, at.words));
  if (status == WB_OK)
    status = sum_leaves<Real>(s, x, first, count, w.labels.data(), 2 * pairs->pairs, pair_device<double>(s, at.sums), message);
  *leaf = first + count;
  if (status != WB_OK || *leaf < s->leaves) return status;
  status = wb::send_ahead(s, &w.x, message);
  const size_t end = at.sums + static_cast<size_t>(s->pieces()) * node_size(s, 2 * pairs->pairs) * sizeof(double);
  return status == WB_OK ? copy_pairs(s, at.words, end, cudaMemcpyDeviceToHost, message) : status;
}

} // namespace

#include "cuda/mixture/predict.cuh"
#include "cuda/mixture/weigh.cuh"

namespace {

int open_session(wb_mixture_session *s, const wb_mixture_data *data, wb_message *message) {
  const size_t p = static_cast<size_t>(data->columns);
  int status = s->stream.create(message);
  if (status == WB_OK) status = s->side.create_urgent(message);
  if (status == WB_OK) status = s->copies.create_apart(message);
  if (status == WB_OK) status = s->drawn.create(false, message);
  int major = 0, minor = 0;
  if (status == WB_OK)
    status = wb::status_of(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, s->device), "asking for the device's kind", message);
  if (status == WB_OK)
    status = wb::status_of(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, s->device), "asking for the device's kind", message);
  s->capability = 10 * major + minor;
  for (wb::event *some : {s->copied, s->arrived, s->read})
    for (int i = 0; i < 2 && status == WB_OK; i++) status = some[i].create(false, message);
  if (status == WB_OK) status = s->units.allocate(2 * p, "units of the columns", message);
  if (status == WB_OK)
    status = wb::status_of(cudaMemcpy(s->units.data(), data->center, p * sizeof(double), cudaMemcpyHostToDevice),
                           "sending units to the device", message);
  if (status == WB_OK)
    status = wb::status_of(cudaMemcpy(s->units.data() + p, data->inverse_scale, p * sizeof(double), cudaMemcpyHostToDevice),
                           "sending units to the device", message);
  if (status == WB_OK) status = wb::open_samples(s, message);
  if (status == WB_OK) status = wb::open_missing(s, message);
  return status == WB_OK ? wb::settle_rows(s, message) : status;
}

} // namespace

/* What cuda/mixture/devices.cu calls for each device's part -------------------------------- */

namespace wb {

int open_part(const wb_mixture_data *data, const mixture_part *part, const wb_run *run, wb_mixture_session **session,
              wb_message *message) {
  if (data->columns > MIXTURE_MOST_COLUMNS) {
    std::snprintf(message->text, sizeof message->text, "%d columns: a graphics card takes up to %d",
                  static_cast<int>(data->columns), static_cast<int>(MIXTURE_MOST_COLUMNS));
    return WB_ERROR_INPUT;
  }
  device_scope scope;
  int status = scope.enter(part->device, message);
  if (status != WB_OK) return status;
  wb_mixture_session *const s = new (std::nothrow) wb_mixture_session;
  if (s == nullptr) {
    std::snprintf(message->text, sizeof message->text, "no memory for the mixture session");
    return WB_ERROR_MEMORY;
  }
  s->data = *data;
  s->data.x += part->first_row;
  s->data.rows = part->rows;
  if (data->sample != nullptr) s->data.sample += part->first_row;
  s->data.center = s->data.inverse_scale = nullptr;
  s->first_row = part->first_row;
  s->number = data->first_row + part->first_row;
  s->stride = data->rows;
  s->piece = part->piece;
  s->device = part->device;
  s->memory_limit = run->memory_limit;
  s->host_memory = static_cast<uint64_t>(static_cast<double>(run->host_memory) * (static_cast<double>(part->rows) / static_cast<double>(data->rows)));
  s->leaves = ceiling(part->rows, WB_LEAF_ROWS);
  status = open_session(s, data, message);
  if (status == WB_OK)
    *session = s;
  else
    delete s;
  return status;
}

int begin_part_labels(wb_mixture_session *s, const double *log_weight, wb_message *message) {
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE ? begin_labels<float>(s, log_weight, message) : begin_labels<double>(s, log_weight, message);
  });
}

int draw_part_labels(wb_mixture_session *s, uint64_t key, uint32_t iteration, int32_t *labels, int64_t *leaf, wb_message *message) {
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE ? draw_labels<float>(s, key, iteration, labels, leaf, message)
                                          : draw_labels<double>(s, key, iteration, labels, leaf, message);
  });
}

int evaluate_part(wb_mixture_session *s, const wb_mixture_parameters *parameters, int64_t first, int64_t count, int64_t stride,
                  int32_t *labels, double *log_density, double *probability, wb_message *message) {
  const int status = check_components(parameters->components, message);
  if (status != WB_OK || count == 0) return status;
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE
               ? evaluate<float>(s, parameters, 1, first, count, stride, labels, log_density, probability, nullptr, message)
               : evaluate<double>(s, parameters, 1, first, count, stride, labels, log_density, probability, nullptr, message);
  });
}

int add_part_densities(wb_mixture_session *s, const wb_mixture_parameters *mixtures, int32_t mixture_count, int64_t first, int64_t count,
                       const double *log_unit, bool unit_each, double *log_density, wb_message *message) {
  const int status = check_components(mixtures->components, message);
  if (status != WB_OK || count == 0) return status;
  return as_many_as_fit(mixture_count, {log_unit, unit_each, log_density, false}, [&](int32_t done, int32_t here, mixture_densities *sums) {
    return on_device(s, message, [&] {
      return s->data.precision == WB_SINGLE
                 ? evaluate<float>(s, mixtures + done, here, first, count, count, nullptr, nullptr, nullptr, sums, message)
                 : evaluate<double>(s, mixtures + done, here, first, count, count, nullptr, nullptr, nullptr, sums, message);
    });
  });
}

int begin_part_anchors(wb_mixture_session *s, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration, wb_message *message) {
  const int status = labels_missing(s, message);
  if (status != WB_OK) return status;
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE ? begin_anchors<float>(s, pairs, key, iteration, message)
                                          : begin_anchors<double>(s, pairs, key, iteration, message);
  });
}

int begin_part_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves, const int64_t *anchors,
                      wb_message *message) {
  const int status = labels_missing(s, message);
  if (status != WB_OK) return status;
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE ? begin_halves<float>(s, pairs, halves, anchors, message)
                                          : begin_halves<double>(s, pairs, halves, anchors, message);
  });
}

int draw_part_halves(wb_mixture_session *s, const wb_mixture_pairs *pairs, int known, uint64_t key, uint32_t iteration, uint32_t step,
                     int64_t *leaf, wb_message *message) {
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE ? draw_halves<float>(s, pairs, known, key, iteration, step, leaf, message)
                                          : draw_halves<double>(s, pairs, known, key, iteration, step, leaf, message);
  });
}

int finish_part_pairs(wb_mixture_session *s, const wb_mixture_pairs *pairs, const char *what, part_pairs *out, wb_message *message) {
  const int status = on_device(s, message, [&] { return s->stream.wait(what, message); });
  const pair_memory at = s->data.precision == WB_SINGLE ? place_pairs<float>(s, pairs->components) : place_pairs<double>(s, pairs->components);
  out->words = pair_host<pair_word>(s, at.words);
  out->sums = pair_host<double>(s, at.sums);
  return status;
}

int weigh_part_rows(wb_mixture_session *s, const wb_mixture_parameters *parameters, double *statistics, double *log_likelihood,
                    wb_message *message) {
  const int status = check_components(parameters->components, message);
  if (status != WB_OK) return status;
  return on_device(s, message, [&] {
    return s->data.precision == WB_SINGLE ? weigh_rows<float>(s, parameters, statistics, log_likelihood, message)
                                          : weigh_rows<double>(s, parameters, statistics, log_likelihood, message);
  });
}

void wait_for_copies(wb_mixture_session *s) {
  wb_message ignored;
  device_scope scope;
  if (scope.enter(s->device, &ignored) == WB_OK) (void)cudaStreamSynchronize(s->copies.get());
}

void close_part(wb_mixture_session *s) {
  wb_message ignored;
  device_scope scope;
  (void)scope.enter(s->device, &ignored);
  delete s;
}

} // namespace wb
