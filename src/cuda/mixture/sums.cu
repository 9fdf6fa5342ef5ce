/* Sums the sufficient statistics of rows after their components are drawn: the rows of a leaf in their order, then all
 * leaves by a binary tree, without atomic additions. The twin of cpu/mixture/sums.c and numeric/reduction_tree.h. */
#include "cuda/mixture/sums.cuh"

#include "cuda/mixture/state.cuh"

namespace wb {

namespace {

constexpr int SORT_THREADS = 256, TREE_THREADS = 256, COUNT_THREADS = 128;

/* Turns the labels of each leaf into sorted keys, in place: a bitonic network (Batcher 1968), one block a leaf, 66
 * rounds of 1,024 exchanges in 8 KB of shared memory. Places from `rows` on and rows of negative label have the largest
 * key and come last. Reads and writes 4 bytes a row. */
static __global__ void __launch_bounds__(SORT_THREADS) mixture_sort(int32_t *labels, int64_t rows) {
  __shared__ uint32_t keys[WB_LEAF_ROWS];
  const int64_t first = int64_t(blockIdx.x) * WB_LEAF_ROWS;
  for (int i = int(threadIdx.x); i < WB_LEAF_ROWS; i += SORT_THREADS)
    keys[i] =
        first + i < rows && labels[first + i] >= 0 ? uint32_t(labels[first + i]) << LEAF_BITS | uint32_t(i) : NO_ROW;
  for (int size = 2; size <= WB_LEAF_ROWS; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int pair = int(threadIdx.x); pair < WB_LEAF_ROWS / 2; pair += SORT_THREADS) {
        const int low = 2 * pair - (pair & (stride - 1)), high = low + stride;
        const bool ascending = (low & size) == 0;
        const uint32_t a = keys[low], b = keys[high];
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < WB_LEAF_ROWS; i += SORT_THREADS)
    reinterpret_cast<uint32_t *>(labels)[first + i] = keys[i];
}

/* How many of a leaf's sorted keys are below each of two bounds. All threads of the block must call it. */
__device__ __forceinline__ void keys_below(const uint32_t *keys, uint32_t low, uint32_t high, int *below_low,
                                           int *below_high) {
  constexpr int step = WB_LEAF_ROWS / SUM_THREADS;
  const int t = int(threadIdx.x);
  const uint32_t key = keys[t * step];
  const int low_steps = __syncthreads_count(key < low), high_steps = __syncthreads_count(key < high);
  const int low_from = low_steps == 0 ? 0 : (low_steps - 1) * step,
            high_from = high_steps == 0 ? 0 : (high_steps - 1) * step;
  const uint32_t low_key = keys[low_from + t % step], high_key = keys[high_from + t % step];
  *below_low = low_from + __syncthreads_count(t < step && low_key < low);
  *below_high = high_from + __syncthreads_count(t < step && high_key < high);
}

inline size_t sum_shared_bytes(int p) {
  const size_t rows = size_t(rows_in_shared(p));
  /* An even number of labels, because the compiler reads them two at a time. */
  const size_t values = rows * size_t(sum_stride(p)) * sizeof(double) + (rows + 1) / 2 * 2 * sizeof(int32_t);
  const size_t logs = size_t(WB_LEAF_ROWS) * sizeof(double);
  return values > logs ? values : logs;
}

/* Adds the products of the rows in shared memory to the sums of their components. A
 * thread adds one entry of the triangle for all rows, in order. The rows are sorted by
 * label; `started` is the label whose sums have been begun before. */
__device__ __forceinline__ void add_rows(const double *values, const int32_t *labels, int rows, int p, int32_t started,
                                         double *sums) {
  const int stride = sum_stride(p), entries = int(WB_MIXTURE_STATISTICS(p));
  for (int entry = int(threadIdx.x); entry < entries; entry += SUM_THREADS) {
    int r, c;
    entry_position(entry, p, &r, &c);
    int32_t label = labels[0];
    double *to = sums + size_t(label) * entries + entry;
    double sum = label == started ? *to : 0;
    const auto add = [&](int32_t next, double one, double other) {
      if (next != label) {
        *to = sum;
        label = next;
        to = sums + size_t(label) * entries + entry;
        sum = 0;
      }
      sum = wb_fma(one, other, sum);
    };
    int i = 0, one = r, other = c;
    WB_ROLLED
    for (; i + VALUES_AHEAD <= rows; i += VALUES_AHEAD) {
      int32_t next[VALUES_AHEAD];
      double first[VALUES_AHEAD], second[VALUES_AHEAD];
      WB_UNROLL
      for (int a = 0; a < VALUES_AHEAD; a++, one += stride, other += stride) {
        next[a] = labels[i + a];
        first[a] = values[one];
        second[a] = values[other];
      }
      WB_UNROLL
      for (int a = 0; a < VALUES_AHEAD; a++) add(next[a], first[a], second[a]);
    }
    WB_ROLLED
    for (; i < rows; i++, one += stride, other += stride) add(labels[i], values[one], values[other]);
    *to = sum;
  }
}

/* Statistics of the leaves from blockIdx.x = 0 on, `node` doubles a leaf: components x WB_MIXTURE_STATISTICS(p) sums,
 * then the log likelihood, of which one more block takes care. Reads sizeof(Real) p + 4 + sizeof(Real) bytes a row
 * (each value in a sector of its own), writes 8 node bytes a leaf, 2 reads and 1 multiply-add a row and entry. */
template <typename Real>
__global__ void __launch_bounds__(SUM_THREADS, 9)
    mixture_sum(const Real *x, int p, const uint32_t *keys, const Real *log_sum, int64_t rows, int components,
                size_t node, double *sums) {
  WB_DYNAMIC_SHARED(double, values);
  const int64_t leaf = blockIdx.x;
  const int part = int(blockIdx.y), parts = int(gridDim.y) - 1;
  const size_t entries = WB_MIXTURE_STATISTICS(p);
  x += leaf * p * WB_LEAF_ROWS;
  keys += leaf * WB_LEAF_ROWS;
  sums += size_t(leaf) * node;
  if (part == parts) {
    const int64_t left = rows - leaf * WB_LEAF_ROWS;
    sum_logs(log_sum + leaf * WB_LEAF_ROWS, left < WB_LEAF_ROWS ? left : WB_LEAF_ROWS, values, sums + node - 1);
    return;
  }
  const int64_t from = int64_t(components) * part / parts;
  const int64_t to = int64_t(components) * (part + 1) / parts;
  int begin, end;
  keys_below(keys, uint32_t(from) << LEAF_BITS, uint32_t(to) << LEAF_BITS, &begin, &end);
  for (size_t i = size_t(from) * entries + threadIdx.x; i < size_t(to) * entries; i += SUM_THREADS) sums[i] = 0;
  const int at_once = rows_in_shared(p), stride = sum_stride(p);
  int32_t *const labels = reinterpret_cast<int32_t *>(values + size_t(at_once) * stride);
  int32_t started = -1;
  for (int first = begin; first < end; first += at_once) {
    const int count = end - first < at_once ? end - first : at_once;
    __syncthreads(); /* the rows before have been added, the sums are zero */
    const int i = int(threadIdx.x);
    if (i < count) {
      const uint32_t key = keys[first + i];
      const Real *const row = x + (key & (WB_LEAF_ROWS - 1));
      labels[i] = int32_t(key >> LEAF_BITS);
      values[i * stride] = 1;
      WB_ROLLED
      for (int c = 0; c < p; c += VALUES_AHEAD) {
        Real next[VALUES_AHEAD];
        WB_UNROLL
        for (int a = 0; a < VALUES_AHEAD; a++)
          if (c + a < p) next[a] = row[size_t(c + a) * WB_LEAF_ROWS];
        WB_UNROLL
        for (int a = 0; a < VALUES_AHEAD; a++)
          if (c + a < p) values[i * stride + 1 + c + a] = double(next[a]);
      }
    }
    __syncthreads();
    add_rows(values, labels, count, p, started, sums);
    started = labels[count - 1];
  }
}

/* Sums the nodes of a group of at most 2^GROUP_LEVELS leaves and combines the result, the group with number `index`,
 * with those of the groups before it. After the last group the sum of all is in `root`.
 *
 * Node i of a level of the tree is the sum of nodes 2i and 2i + 1 of the level below, or node 2i alone where the level
 * ends with it. `waiting` holds left nodes whose right sibling is still to come, one for each bit set in `index`. A new
 * sum is added to them from level to level, and waits at the first level whose bit is not set; after the last leaf it
 * goes all the way up. One thread an entry of a node; reads 8 bytes a leaf and entry. */
static __global__ void __launch_bounds__(TREE_THREADS)
    mixture_combine(const double *sums, int leaves, size_t node, double *waiting, int64_t index, bool is_last,
                    double *root) {
  const size_t entry = thread_number<TREE_THREADS, size_t>();
  if (entry >= node) return;
  double inside[GROUP_LEVELS] = {};
  double sum = 0;
  WB_ROLLED
  for (int first = 0; first < leaves; first += READ_AHEAD) {
    double next[READ_AHEAD];
    WB_UNROLL
    for (int a = 0; a < READ_AHEAD; a++) next[a] = first + a < leaves ? sums[size_t(first + a) * node + entry] : 0;
    WB_UNROLL
    for (int a = 0; a < READ_AHEAD; a++) {
      const int leaf = first + a;
      if (leaf >= leaves) continue;
      sum = next[a];
      join(sum, inside, leaf, leaf == leaves - 1);
    }
  }
  int level = 0;
  for (; index >> level; level++) {
    if (index >> level & 1) sum += waiting[size_t(level) * node + entry];
    else if (!is_last) break;
  }
  if (is_last) root[entry] = sum;
  else waiting[size_t(level) * node + entry] = sum;
}

/* Counts the rows of each sample and label by the sorted keys of some leaves: `sample` begins with the first row of
 * these. One block a leaf; a thread adds up neighbouring keys before it writes. Reads 8 bytes a row. */
static __global__ void __launch_bounds__(COUNT_THREADS)
    mixture_count(const uint32_t *keys, const int32_t *sample, int components, sample_count *counts) {
  constexpr int each = WB_LEAF_ROWS / COUNT_THREADS;
  const int64_t leaf = int64_t(blockIdx.x) * WB_LEAF_ROWS;
  size_t place = 0;
  sample_count held = 0;
  for (int i = 0; i < each; i++) {
    const uint32_t key = keys[leaf + int64_t(threadIdx.x) * each + i];
    if (key == NO_ROW) break;
    const size_t at = size_t(sample[leaf + (key & (WB_LEAF_ROWS - 1))]) * size_t(components) + (key >> LEAF_BITS);
    if (held > 0 && at != place) {
      atomicAdd(&counts[place], held);
      held = 0;
    }
    place = at;
    held++;
  }
  if (held > 0) atomicAdd(&counts[place], held);
}

/* The most nodes that wait for their siblings in mixture_combine(). */
int waiting_nodes(int64_t leaves, int64_t group) {
  int levels = 0;
  while ((ceiling(leaves, group) - 1) >> levels > 0) levels++;
  return levels;
}

/* With fewer components than this, each leaf has a node of its own, so that leaves are summed side by side. */
constexpr int32_t FEW_COMPONENTS = 64;
constexpr int64_t LEAST_SUM_BLOCKS = 8, MOST_SUM_BLOCKS = 128;
/* Blocks of a launch, if memory allows. A multiprocessor has room for 5 to 9, and they take different times. */
constexpr int64_t WISHED_BLOCKS = 4096;
constexpr int64_t MOST_NODES = 1 << 15;

/* Blocks that share the components of a node, with tensor cores. */
int64_t tensor_blocks(int32_t components) {
  return smaller(MOST_SUM_BLOCKS, ceiling(components, SUM_TENSOR_COMPONENTS));
}

/* The kernel with tensor cores, if it can be used, and how many leaves have a node together. */
template <typename Real>
mixture_sum_kernel<Real> find_sums(const wb_mixture_session *s, int32_t components) {
  mixture_sum_kernel<Real> found = {1, nullptr};
  if (s->tensor_cores && s->data.columns <= SUM_TENSOR_MOST_COLUMNS)
    found = find_mixture_sum_tensor<Real>(s->data.columns);
  found.fused = components < FEW_COMPONENTS ? 1 : int(smaller<int64_t>(found.fused, s->work.group));
  return found;
}

} // namespace

size_t node_room(const wb_mixture_session *s, int32_t components, const leaf_plan &plan) {
  return size_t(plan.nodes + waiting_nodes(s->leaves, plan.group)) * node_size(s, components);
}

int open_pass(wb_mixture_session *s, int32_t components, const leaf_plan &plan, uint64_t coefficients, size_t roots,
              bool weighs, mixture_workspace *w, wb_message *message) {
  const size_t rows = size_t(plan.chunk) * WB_LEAF_ROWS;
  w->components = components;
  w->weighs = weighs;
  w->chunk = plan.chunk;
  w->group = plan.group;
  WB_TRY(w->coefficients.allocate(coefficients, "the components", message));
  WB_TRY(open_transit(s, w->chunk, w->group, s->leaves, &w->x, message));
  WB_TRY(w->labels.allocate(rows, "labels", message));
  WB_TRY(w->log_sums.allocate(rows * (weighs ? sizeof(double) : s->real()), "log densities", message));
  WB_TRY(w->probability.allocate(weighs ? rows * size_t(components) : 0, "probabilities", message));
  WB_TRY(w->nodes.allocate(node_room(s, components, plan), "sums of rows", message));
  WB_TRY(w->roots.allocate(roots, "sums of rows", message));
  return s->piece > 0 ? s->mail.allocate(roots, "sums of rows", message) : int(WB_OK);
}

uint64_t group_bytes(const wb_mixture_session *s, int32_t components) {
  const int64_t most = int64_t(1) << GROUP_LEVELS, group = smaller(s->leaves, most);
  return node_room(s, components, {0, group, group}) * sizeof(double) / 2 * 3;
}

int64_t nodes_wished(const wb_mixture_session *s, int32_t components) {
  const int64_t blocks = s->tensor_cores ? tensor_blocks(components) : smaller<int64_t>(components, LEAST_SUM_BLOCKS);
  return ceiling(WISHED_BLOCKS, blocks + 1);
}

int plan_leaves(const wb_mixture_session *s, int32_t components, int64_t nodes, uint64_t leaf, uint64_t wish,
                uint64_t fixed, uint64_t left, leaf_plan *plan, wb_message *message) {
  const auto bytes = [&](int64_t group, int64_t at_once) {
    return node_room(s, components, {0, group, at_once}) * sizeof(double);
  };
  const uint64_t least = bytes(1, 1) + leaf;
  const uint64_t held = s->room.memory.bytes();
  if (fixed + least > left) return lacks_memory(s, components, held + fixed + least, held + left, message);
  const uint64_t room = larger(least, smaller(left, larger(wish, fixed)) - fixed);
  int64_t g = 1;
  while (g < s->leaves && g < 1 << GROUP_LEVELS && (s->piece == 0 || g < s->piece)) g *= 2;
  while (g > 1 && (bytes(g, g) > room / 4 * 3 || bytes(g, g) + uint64_t(g) * leaf > room)) g /= 2;
  int64_t at_once = g;
  const auto fits = [&](int64_t more) {
    return bytes(g, more) <= room / 4 && bytes(g, more) + uint64_t(g) * leaf <= room;
  };
  while (at_once < nodes && at_once < s->leaves && fits(2 * at_once)) at_once *= 2;
  const int64_t fit = larger<int64_t>(1, int64_t((room - bytes(g, at_once)) / leaf) / g) * g;
  /* Chunks of even size. */
  *plan = {ceiling(ceiling(s->leaves, ceiling(s->leaves, fit)), g) * g, g, at_once};
  return WB_OK;
}

int combine_group(wb_mixture_session *s, int32_t components, int64_t group, int64_t begin, int64_t end,
                  const double *nodes, int64_t count, double *waiting, double *roots, wb_message *message) {
  const size_t node = node_size(s, components);
  const mixture_piece piece = s->piece_of(begin);
  return launch(s->cover(TREE_THREADS, int64_t(node)), mixture_combine, "combining sums", message, nodes, int(count),
                node, waiting, (begin - piece.begin) / group, end == piece.end, roots + size_t(piece.number) * node);
}

template <typename Real>
int sum_leaves(wb_mixture_session *s, const Real *x, int64_t first, int64_t count, int32_t *labels, int32_t components,
               double *roots, wb_message *message) {
  mixture_workspace &w = s->work;
  const size_t p = size_t(s->data.columns), node = node_size(s, components);
  const Real *const log_sums = static_cast<const Real *>(w.log_sums.address());
  /* All of the nodes' memory is used, also where these components are fewer than those it was taken for. */
  const int64_t room = int64_t(w.nodes.size() / node) - waiting_nodes(s->leaves, w.group),
                at_once = smaller(room, MOST_NODES) / w.group * w.group;
  double *const waiting = w.nodes.data() + size_t(at_once) * node;
  const mixture_sum_kernel<Real> tensor = find_sums<Real>(s, components);
  const int64_t fused = tensor.fused;
  /* Blocks a node: enough to occupy all multiprocessors even if groups are small. */
  const int64_t blocks = tensor.kernel != nullptr
                             ? tensor_blocks(components)
                             : smaller<int64_t>(components, larger(LEAST_SUM_BLOCKS, 1024 / at_once));
  WB_TRY(launch(s->grid(SORT_THREADS, count), mixture_sort, "sorting rows by component", message, labels,
                s->rows(first, count)));
  for (int64_t leaf = 0, leaves; leaf < count; leaf += leaves) {
    const int64_t row = leaf * WB_LEAF_ROWS, rows = s->rows(first, count) - row;
    const Real *const values = x + size_t(row) * p;
    const uint32_t *const keys = reinterpret_cast<const uint32_t *>(labels + row);
    leaves = smaller(at_once * fused, count - leaf);
    if (tensor.kernel != nullptr)
      WB_TRY(launch(s->grid(SUM_THREADS, blocks + 1, ceiling(leaves, fused)), tensor.kernel, "summing rows", message,
                    values, s->data.columns, keys, log_sums + row, rows, components, int(leaves), tensor.fused, node,
                    w.nodes.data()));
    else
      WB_TRY(launch(s->grid(SUM_THREADS, leaves, blocks + 1).sharing(sum_shared_bytes(s->data.columns)),
                    mixture_sum<Real>, "summing rows", message, values, s->data.columns, keys, log_sums + row, rows,
                    components, node, w.nodes.data()));
    const int64_t begin = first + leaf, end = begin + leaves;
    for (int64_t at = begin; at < end; at += w.group) {
      const int64_t until = smaller(at + w.group, end);
      WB_TRY(combine_group(s, components, w.group, at, until, w.nodes.data() + size_t((at - begin) / fused) * node,
                           ceiling(until - at, fused), waiting, roots, message));
    }
  }
  return WB_OK;
}
WB_BOTH_PRECISIONS(sum_leaves)

int count_samples(wb_mixture_session *s, const int32_t *keys, int64_t first, int64_t count, wb_message *message) {
  if (s->data.sample == nullptr) return WB_OK;
  return launch(s->grid(COUNT_THREADS, count), mixture_count, "counting rows of samples", message,
                reinterpret_cast<const uint32_t *>(keys),
                static_cast<const int32_t *>(s->sample.data() + first * WB_LEAF_ROWS), s->room.count, s->room.counts);
}

} // namespace wb
