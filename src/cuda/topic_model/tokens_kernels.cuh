/* The kernels of cuda/topic_model/tokens.cu: cpu/topic_model/tokens_loops.h and token_weights.h in the same order.
 *
 * Terms: a thread draws the gammas of a topic for a leaf of terms, from counts that lie where phi will be. Documents: a
 * block counts topics in shared memory and draws gammas with one thread for each topic. Then a team of threads, which
 * read 16 bytes of phi at a time, passes over each pair of the document. */
#pragma once

#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma_strips.h"
#include "core/random_gamma_trial.h"
#include "core/topic_draw.h"
#include "core/topic_member.h"
#include "core/topic_tables.h"
#include "core/unroll.h"
#include "cuda/launch.cuh"
#include "cuda/real.cuh"

namespace {

constexpr int TERM_THREADS = 128, TERM_BLOCKS = 6, COUNT_THREADS = 256, TABLE_THREADS = 128, SCORE_THREADS = 128;
/* Threads of a document's block, and how many such blocks a multiprocessor shall have room for. */
constexpr int DOCUMENT_THREADS = 128, DOCUMENT_BLOCKS = 6, WARP = 32;

/* Threads of a team: 4 in single precision, 8 in double. */
template <typename Real>
constexpr int TEAM = WB_TOPIC_LANES / wb::precise<Real>::in_piece;

/* Device addresses; as in wb_topic_corpus. */
struct device_corpus {
  int32_t documents, terms;
  const int32_t *term, *count;
  const uint32_t *pair_token; /* pairs: the first token */
  const int64_t *first_pair, *first_token, *first_place;
  const uint32_t *place_token;
  const int32_t *place_count;
  const int32_t *group;    /* documents, or NULL; as in wb_topic_structure */
  const int32_t *extra_of; /* terms, or NULL */
  const double *extra;
};

__device__ __forceinline__ size_t alpha_row(const device_corpus &c, int64_t document, int topics) {
  return c.group != nullptr ? size_t(c.group[document]) * size_t(topics) : 0;
}

/* The prior counts of a term besides beta, or NULL. */
__device__ __forceinline__ const double *extra_row(const device_corpus &c, int64_t term, int topics) {
  if (c.extra_of == nullptr || c.extra_of[term] < 0) return nullptr;
  return c.extra + size_t(c.extra_of[term]) * size_t(topics);
}

__device__ __forceinline__ void narrow(double value, double *weight) { *weight = wb_topic_weight(value); }
__device__ __forceinline__ void narrow(double value, float *weight) { *weight = wb_topic_weightf(value); }

__device__ void count_term(const device_corpus &c, int64_t term, const uint16_t *topic, int topics, int32_t *tally) {
  for (int k = int(threadIdx.x); k < topics; k += int(blockDim.x)) tally[k] = 0;
  __syncthreads();
  for (int64_t i = c.first_place[term] + threadIdx.x; i < c.first_place[term + 1]; i += blockDim.x)
    for (int32_t j = 0; j < c.place_count[i]; j++) atomicAdd(&tally[topic[c.place_token[i] + uint32_t(j)]], 1);
  __syncthreads();
}

__device__ void count_document(const device_corpus &c, int64_t document, const uint16_t *topic, int topics,
                               int32_t *tally) {
  for (int k = int(threadIdx.x); k < topics; k += int(blockDim.x)) tally[k] = 0;
  __syncthreads();
  for (int64_t i = c.first_token[document] + threadIdx.x; i < c.first_token[document + 1]; i += blockDim.x)
    atomicAdd(&tally[topic[i]], 1);
  __syncthreads();
}

/* The tables of a base: a block a shape, a thread a side. Some 400 steps in a row of two exponentials. */
__global__ void topic_strips(double base, wb_gamma_strips *strips) {
  __shared__ int count[2];
  __shared__ wb_gamma_strip tail[2];
  const int side = int(threadIdx.x), number = int(blockIdx.x);
  wb_gamma_strip *const strip = strips->strip[number];
  wb_gamma_law law;
  bool fits = false;
  wb_gamma_strips_begin(base + double(number), &law);
  while (!fits) {
    count[side] = wb_gamma_strips_side(&law, side == 0 ? -1.0 : 1.0, strip, &tail[side]);
    __syncthreads();
    fits = wb_gamma_strips_fit(&law, count[0] + count[1]) != 0;
    __syncthreads();
  }
  if (side > 0) return;
  wb_gamma_strips_end(&law, count[0], count[1], tail[0], tail[1], strip);
  strips->law[number] = law;
}

/* A gamma of shape base + count by trials from `trial` on. Called and not inlined: four kernels have it. */
__device__ __attribute__((noinline)) double draw_gamma_by_trials(uint64_t key, uint32_t purpose, uint32_t iteration,
                                                                 uint64_t element, double shape, uint32_t trial) {
  return wb_draw_gamma_by_trials(key, purpose, iteration, element, shape, trial);
}

/* A gamma of shape base + count, by tables or NULL, to which block 0 of its random numbers belongs. */
__device__ __forceinline__ double draw_gamma(const wb_gamma_strips *strips, uint64_t key, uint32_t purpose,
                                             uint32_t iteration, uint64_t element, double base, int32_t count) {
  if (strips != nullptr && count < WB_GAMMA_COUNTS)
    return wb_exp_weight(wb_draw_log_gamma_by_strips(strips, count, key, purpose, iteration, element));
  return draw_gamma_by_trials(key, purpose, iteration, element, base + double(count), strips != nullptr ? 1 : 0);
}

/* Counts tokens by term and topic where phi, zero before, will be. A thread a pair; reads 12 bytes, and 2 a token. */
template <typename Real>
__global__ void __launch_bounds__(COUNT_THREADS)
    topic_count_terms(device_corpus c, int64_t pairs, const uint16_t *topic, size_t width, Real *phi) {
  const int64_t pair = wb::thread_number<COUNT_THREADS>();
  if (pair >= pairs) return;
  Real *const line = phi + size_t(c.term[pair]) * width;
  const uint16_t *const mine = topic + c.pair_token[pair];
  const int32_t count = c.count[pair];
  for (int32_t t = 0; t < count; t++) atomicAdd(reinterpret_cast<int32_t *>(line + mine[t]), 1);
}

/* A block a leaf of terms and up to 128 topics: the gammas of each topic and their sum, term after term. Fewer than 65
 * topics leave threads for several terms at a time. Replaces the counts in phi. Reads 4 bytes and writes sizeof(Real)
 * for each term and topic, and computes about 180 instructions a gamma with tables and 400 without. */
template <typename Real>
__global__ void __launch_bounds__(TERM_THREADS, TERM_BLOCKS)
    topic_terms(device_corpus c, int topics, size_t width, uint64_t key, uint32_t iteration, int mean, double beta,
                const wb_gamma_strips *strips, Real *phi, double *leaf_sum) {
  __shared__ double values[TERM_THREADS];
  const int t = int(threadIdx.x), before = int(blockIdx.y) * TERM_THREADS;
  const int here = topics - before < TERM_THREADS ? topics - before : TERM_THREADS, rows = TERM_THREADS / here;
  const int row = t / here, k = before + t % here;
  const int64_t first = int64_t(blockIdx.x) * WB_TOPIC_LEAF;
  const int64_t end = first + WB_TOPIC_LEAF < c.terms ? first + WB_TOPIC_LEAF : c.terms;
  double sum = 0;
  for (int64_t begin = first; begin < end; begin += rows) {
    const int64_t term = begin + row;
    double value = 0;
    if (row < rows && term < end) {
      Real *const at = phi + size_t(term) * width + size_t(k);
      const int32_t count = *reinterpret_cast<const int32_t *>(at);
      const double *const extra = extra_row(c, term, topics);
      const double base = extra != nullptr ? extra[k] + beta : beta;
      value = base + double(count);
      if (!mean) {
        const uint64_t element = uint64_t(term) * uint64_t(topics) + uint64_t(k);
        value = draw_gamma(extra != nullptr ? nullptr : strips, key, WB_PURPOSE_TOPIC_TERM, iteration, element, base,
                           count);
      }
      narrow(value, at);
    }
    if (rows == 1) {
      sum += value;
      continue;
    }
    values[t] = value;
    __syncthreads();
    for (int r = 0; t < here && r < rows; r++) sum += values[r * here + t];
    __syncthreads();
  }
  if (t < here) leaf_sum[size_t(blockIdx.x) * size_t(topics) + size_t(k)] = sum;
}

/* One over the sum of each topic's gammas: a thread a topic, leaves in order. */
__global__ void topic_inverse(const double *leaf_sum, int64_t leaves, int topics, double *inverse) {
  const int k = wb::thread_number<int>();
  if (k >= topics) return;
  double sum = 0;
  WB_UNROLL_BY(16) /* so many reads at a time */
  for (int64_t leaf = 0; leaf < leaves; leaf++) sum += leaf_sum[size_t(leaf) * size_t(topics) + size_t(k)];
  inverse[k] = 1.0 / sum;
}

/* phi as given: terms x topics into terms x width. */
template <typename Real>
__global__ void topic_set_phi(const double *given, int topics, size_t width, int64_t count, Real *phi) {
  const int64_t i = wb::thread_number();
  if (i >= count) return;
  narrow(given[i], phi + size_t(i / topics) * width + size_t(i % topics));
}

__global__ void topic_ones(int topics, double *inverse) {
  const int k = wb::thread_number<int>();
  if (k < topics) inverse[k] = 1;
}

/* The topic that the uniform u takes; see cpu/topic_model/token_weights.h. */
template <typename Real>
__device__ int choose(int rows, const Real *theta, const Real *phi, const Real *sums, const double *tree, double u) {
  double position;
  const int lane = wb_topic_lane(tree, u, &position);
  const int stretches = wb_topic_stretches(rows), stretch = wb_topic_stretch(rows);
  int before = 0;
  for (int s = 0; s < stretches - 1; s++) before += double(sums[s * WB_TOPIC_LANES + lane]) <= position ? 1 : 0;
  Real sum = before > 0 ? sums[(before - 1) * WB_TOPIC_LANES + lane] : Real(0);
  const int begin = before * stretch;
  const int end = begin + stretch < rows ? begin + stretch : rows;
  int row = begin;
  for (int r = begin; r < end; r++) {
    const size_t at = size_t(r) * WB_TOPIC_LANES + size_t(lane);
    sum = wb::precise<Real>::fma(theta[at], phi[at], sum);
    row += double(sum) <= position ? 1 : 0;
  }
  return row * WB_TOPIC_LANES + lane;
}

template <typename Real>
struct document_arguments {
  device_corpus corpus;
  uint16_t *topic;
  int topics, rows;
  const Real *phi;
  const double *inverse, *alpha;
  const wb_gamma_strips *strips; /* tables of alpha, or NULL */
  uint64_t key;
  uint32_t iteration;
  int mean;
  int64_t first;       /* document of block 0 */
  const double *given; /* theta of the blocks' documents, or NULL: drawn, and the tokens too */
  double *theta;       /* theta to keep, or NULL */
  double *norm;        /* documents: the sum of theta's gammas */
  double *total;       /* pairs: the sum of the weights */
};

/* The shared memory of a document's block, in bytes: the gammas of all lanes and rows (8 each) and their counts (4).
 * Weights take the place of the gammas in double, of the counts in single. So they come first. Then the other part is
 * free, and with what follows has each team's sums of stretches but the last. At the end: the teams' trees. */
template <typename Real>
struct document_memory {
  size_t gammas, counts, sums, team_sums, trees, bytes;

  __host__ __device__ document_memory(int rows, int teams) {
    const size_t width = size_t(rows) * WB_TOPIC_LANES;
    const bool gammas_first = sizeof(Real) == sizeof(double);
    gammas = gammas_first ? 0 : width * sizeof(int32_t);
    counts = gammas_first ? width * sizeof(double) : 0;
    sums = width * sizeof(Real);
    team_sums = size_t(wb_topic_stretches(rows) - 1) * WB_TOPIC_LANES;
    const size_t end = sums + size_t(teams) * team_sums * sizeof(Real);
    trees = end > width * 12 ? end : width * 12;
    bytes = trees + size_t(teams) * (WB_TOPIC_TREE + 1) * sizeof(double);
  }
};

/* The shares of a document's topics, given or drawn, into `gamma`. */
template <typename Real>
__device__ __forceinline__ void draw_shares(const document_arguments<Real> &a, int64_t d, size_t row, double *gamma,
                                            int32_t *tally, double *room) {
  if (a.given != nullptr) {
    for (int k = int(threadIdx.x); k < a.topics; k += int(blockDim.x)) gamma[k] = a.given[row + size_t(k)];
    if (threadIdx.x == 0) a.norm[d] = 1;
    __syncthreads();
    return;
  }
  count_document(a.corpus, d, a.topic, a.topics, tally);
  const double *const alpha = a.alpha + alpha_row(a.corpus, d, a.topics);
  for (int k = int(threadIdx.x); k < a.topics; k += int(blockDim.x)) {
    const uint64_t element = uint64_t(d) * uint64_t(a.topics) + uint64_t(k);
    gamma[k] = a.mean ? alpha[k] + double(tally[k])
                      : draw_gamma(a.strips, a.key, WB_PURPOSE_TOPIC_SHARE, a.iteration, element, alpha[k], tally[k]);
  }
  __syncthreads();
  if (threadIdx.x < WB_TOPIC_LANES) {
    double sum = 0;
    for (int k = int(threadIdx.x); k < a.topics; k += WB_TOPIC_LANES) sum += gamma[k];
    room[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int l = 0; l < WB_TOPIC_LANES; l++) sum += room[l];
    a.norm[d] = sum;
    room[WB_TOPIC_TREE] = sum;
  }
  __syncthreads();
  if (a.theta != nullptr)
    for (int k = int(threadIdx.x); k < a.topics; k += int(blockDim.x))
      a.theta[row + size_t(k)] = gamma[k] / room[WB_TOPIC_TREE];
}

/* Adds the weights of ROWS rows to a thread's sums. All reads of phi are under way before the first is used. */
template <int ROWS, typename Real>
__device__ __forceinline__ void add_rows(const typename wb::precise<Real>::piece *weight,
                                         const typename wb::precise<Real>::piece *line,
                                         Real (&sum)[wb::precise<Real>::in_piece]) {
  typedef wb::precise<Real> as;
  typename as::piece read[ROWS];
  WB_UNROLL
  for (int r = 0; r < ROWS; r++) read[r] = line[r * TEAM<Real>];
  WB_UNROLL
  for (int r = 0; r < ROWS; r++) {
    const typename as::piece share = weight[r * TEAM<Real>];
    WB_UNROLL
    for (int i = 0; i < as::in_piece; i++) sum[i] = as::fma(as::of(share, i), as::of(read[r], i), sum[i]);
  }
}

/* Sums of a thread's lanes over all rows, kept after each stretch but the last. Pointers: to its first lane. */
template <typename Real>
__device__ __forceinline__ void add_stretches(int rows, const Real *weights, const Real *phi, Real *sums,
                                              Real (&sum)[wb::precise<Real>::in_piece]) {
  typedef wb::precise<Real> as;
  const typename as::piece *weight = reinterpret_cast<const typename as::piece *>(weights);
  const typename as::piece *line = reinterpret_cast<const typename as::piece *>(phi);
  const int stretch = wb_topic_stretch(rows);
  WB_UNROLL
  for (int i = 0; i < as::in_piece; i++) sum[i] = 0;
  int left = rows;
  for (; left >= stretch; left -= stretch) {
    if (stretch == 8) add_rows<8, Real>(weight, line, sum);
    else add_rows<4, Real>(weight, line, sum);
    weight += stretch * TEAM<Real>;
    line += stretch * TEAM<Real>;
    if (left == stretch) return;
    WB_UNROLL
    for (int i = 0; i < as::in_piece; i++) sums[i] = sum[i];
    sums += WB_TOPIC_LANES;
  }
  for (; left > 0; left--) {
    add_rows<1, Real>(weight, line, sum);
    weight += TEAM<Real>;
    line += TEAM<Real>;
  }
}

/* A block a document, a team a pair. Each pair reads sizeof(Real) bytes of phi a topic, from the second-level cache or
 * from memory, for one multiply-add. The tree and the draw add some 400 instructions a warp. 27 KB of shared memory for
 * 1,024 topics. */
template <typename Real>
__global__ void __launch_bounds__(DOCUMENT_THREADS, DOCUMENT_BLOCKS) topic_documents(document_arguments<Real> a) {
  WB_DYNAMIC_SHARED(unsigned char, memory);
  typedef wb::precise<Real> as;
  const int teams = int(blockDim.x) / TEAM<Real>;
  const int team = int(threadIdx.x) / TEAM<Real>, member = int(threadIdx.x) % TEAM<Real>;
  const document_memory<Real> at(a.rows, teams);
  double *const gamma = reinterpret_cast<double *>(memory + at.gammas);
  int32_t *const tally = reinterpret_cast<int32_t *>(memory + at.counts);
  Real *const weight = reinterpret_cast<Real *>(memory);
  Real *const sums = reinterpret_cast<Real *>(memory + at.sums) + size_t(team) * at.team_sums;
  double *const trees = reinterpret_cast<double *>(memory + at.trees), *const tree = trees + team * (WB_TOPIC_TREE + 1);
  const int width = a.rows * WB_TOPIC_LANES, lane = member * as::in_piece;
  const int64_t d = a.first + blockIdx.x;

  draw_shares(a, d, size_t(blockIdx.x) * size_t(a.topics), gamma, tally, trees);
  for (int k = int(threadIdx.x); k < width; k += int(blockDim.x)) {
    if (k < a.topics) narrow(gamma[k] * a.inverse[k], weight + k);
    else weight[k] = 0;
  }
  __syncthreads();

  const int64_t end = a.corpus.first_pair[d + 1];
  for (int64_t base = a.corpus.first_pair[d]; base < end; base += teams) {
    const int64_t pair = base + team;
    const bool active = pair < end;
    const Real *const line = a.phi + size_t(active ? a.corpus.term[pair] : 0) * size_t(width);
    if (active) {
      Real sum[as::in_piece];
      add_stretches(a.rows, weight + lane, line + lane, sums + lane, sum);
      WB_UNROLL
      for (int i = 0; i < as::in_piece; i++) tree[lane + i] = double(sum[i]);
    }
    /* wb_topic_add_tree(), a level at a time. */
    __syncwarp();
    for (int l = member; active && l < 8; l += TEAM<Real>) tree[16 + l] = tree[l] + tree[l + 8];
    __syncwarp();
    if (active && member < 4) tree[24 + member] = tree[16 + member] + tree[20 + member];
    __syncwarp();
    if (active && member < 2) tree[28 + member] = tree[24 + member] + tree[26 + member];
    __syncwarp();
    if (active && member == 0) {
      tree[30] = tree[28] + tree[29];
      a.total[pair] = tree[30];
    }
    __syncwarp();
    if (active && a.given == nullptr) {
      for (int32_t t = member; t < a.corpus.count[pair]; t += TEAM<Real>) {
        const uint64_t token = a.corpus.pair_token[pair] + uint32_t(t), element = token >> 1;
        const wb_bits bits =
            wb_philox(a.key, 0, uint32_t(element), wb_philox_c2(WB_PURPOSE_TOPIC, element), a.iteration);
        const double u = wb_uniform(wb_bits64(bits, int(token & 1)));
        a.topic[token] = uint16_t(choose(a.rows, weight, line, sums, tree, u));
      }
    }
    __syncwarp(); /* before the next pair's sums */
  }
}

__global__ void __launch_bounds__(SCORE_THREADS)
    topic_score(device_corpus c, const double *total, const double *norm, double *log_likelihood) {
  __shared__ double logs[SCORE_THREADS];
  const int t = int(threadIdx.x), lane = t % WARP;
  const int64_t d = wb::thread_number<SCORE_THREADS>() / WARP;
  if (d >= c.documents) return;
  const int64_t end = c.first_pair[d + 1];
  double sum = 0;
  for (int64_t base = c.first_pair[d]; base < end; base += WARP) {
    if (base + lane < end) logs[t] = wb_log(total[base + lane]);
    __syncwarp();
    for (int i = 0; lane == 0 && i < WARP && base + i < end; i++)
      sum = wb_fma(double(c.count[base + i]), logs[t + i], sum);
    __syncwarp();
  }
  if (lane > 0) return;
  const double tokens = double(c.first_token[d + 1] - c.first_token[d]);
  /* Without tokens the norm may be 0, see pass_group() for processors. */
  log_likelihood[d] = tokens > 0 ? wb_fma(-tokens, wb_log(norm[d]), sum) : 0;
}

/* The logs of phi, terms x topics. phi has rows of `width`. */
template <typename Real>
__global__ void __launch_bounds__(COUNT_THREADS)
    topic_log_terms(int64_t count, int topics, size_t width, const Real *phi, const double *inverse, double *log_phi) {
  const int64_t i = wb::thread_number<COUNT_THREADS>();
  if (i >= count) return;
  const size_t term = size_t(i / topics), k = size_t(i % topics);
  log_phi[i] = wb_log(wb_topic_term(double(phi[term * width + k]) * inverse[k]));
}

/* Documents of one topic: a warp a document. A thread weighs each 32nd topic, and the first one adds the weights up. */
__global__ void __launch_bounds__(WARP)
    topic_members(device_corpus c, int64_t first, int topics, uint64_t key, uint32_t iteration, const double *log_phi,
                  const double *log_share, uint16_t *topic, double *log_likelihood, double *theta,
                  unsigned long long *members) {
  WB_DYNAMIC_SHARED(double, weight);
  __shared__ double tops[WARP], total;
  __shared__ int chosen;
  const int thread = int(threadIdx.x);
  const int64_t d = first + blockIdx.x, from = c.first_pair[d], end = c.first_pair[d + 1];
  double top = -INFINITY;
  for (int k = thread; k < topics; k += WARP) {
    double log_weight = log_share[k];
    for (int64_t i = from; i < end; i++)
      log_weight = wb_fma(double(c.count[i]), log_phi[size_t(c.term[i]) * size_t(topics) + size_t(k)], log_weight);
    weight[k] = log_weight;
    top = log_weight > top ? log_weight : top;
  }
  tops[thread] = top;
  __syncthreads();
  for (int i = 0; i < WARP; i++) top = tops[i] > top ? tops[i] : top;
  for (int k = thread; k < topics; k += WARP) weight[k] = wb_exp(weight[k] - top);
  __syncthreads();
  if (thread == 0) {
    double sum;
    chosen = wb_topic_member(weight, topics, key, iteration, uint64_t(d), &sum);
    total = sum;
    log_likelihood[d] = from < end ? top + wb_log(sum) : 0;
    if (from < end) atomicAdd(&members[chosen], 1ULL);
  }
  __syncthreads();
  for (int64_t i = c.first_token[d] + thread; i < c.first_token[d + 1]; i += WARP) topic[i] = uint16_t(chosen);
  if (theta == nullptr) return;
  for (int k = thread; k < topics; k += WARP)
    theta[size_t(blockIdx.x) * size_t(topics) + size_t(k)] = weight[k] / total;
}

/* All documents' histograms, groups x topics x (levels + 1), and tables above the levels. A block a document. */
__global__ void __launch_bounds__(TABLE_THREADS)
    topic_document_tables(device_corpus c, const uint16_t *topic, int topics, int32_t levels, uint64_t key,
                          uint32_t iteration, const double *alpha, int32_t *histogram, unsigned long long *tables) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  const int64_t d = blockIdx.x;
  const size_t row = alpha_row(c, d, topics);
  count_document(c, d, topic, topics, tally);
  for (int k = int(threadIdx.x); k < topics; k += TABLE_THREADS) {
    const int32_t count = tally[k];
    if (count == 0) continue;
    const size_t i = row + size_t(k);
    atomicAdd(&histogram[i * (size_t(levels) + 1) + size_t(count < levels ? count : levels)], 1);
    if (count > levels)
      atomicAdd(&tables[i], static_cast<unsigned long long>(wb_topic_openings(
                                key, WB_PURPOSE_TOPIC_TABLES, iteration, uint64_t(d) * uint64_t(topics) + uint64_t(k),
                                alpha[i], 0.0, levels, count)));
  }
}

/* Counts that blocks add in shared memory: most counts of a term are small, and blocks share a histogram. */
constexpr int32_t SHARED_COUNTS = 32;

/* A block a term. tables: one number; size: a number a topic; histogram: levels + 1. */
__global__ void __launch_bounds__(TABLE_THREADS)
    topic_term_tables(device_corpus c, const uint16_t *topic, int topics, int32_t levels, uint64_t key,
                      uint32_t iteration, double beta, int32_t *histogram, unsigned long long *tables,
                      unsigned long long *size) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  __shared__ int32_t few[SHARED_COUNTS];
  const int64_t term = blockIdx.x;
  if (threadIdx.x < SHARED_COUNTS) few[threadIdx.x] = 0;
  count_term(c, term, topic, topics, tally);
  const double *const extra = extra_row(c, term, topics);
  for (int k = int(threadIdx.x); k < topics; k += TABLE_THREADS) {
    const int32_t count = tally[k];
    if (count == 0) continue;
    const uint64_t element = uint64_t(term) * uint64_t(topics) + uint64_t(k);
    const bool own = extra != nullptr && extra[k] > 0;
    atomicAdd(&size[k], static_cast<unsigned long long>(count));
    if (!own) {
      const int32_t at = count < levels ? count : levels;
      atomicAdd(at < SHARED_COUNTS ? &few[at] : &histogram[at], 1);
    }
    if (own || count > levels)
      atomicAdd(tables, static_cast<unsigned long long>(wb_topic_openings(key, WB_PURPOSE_TOPIC_TERM_TABLES, iteration,
                                                                          element, beta, own ? extra[k] : 0.0,
                                                                          own ? 0 : levels, count)));
  }
  __syncthreads();
  if (threadIdx.x < SHARED_COUNTS && few[threadIdx.x] > 0) atomicAdd(&histogram[threadIdx.x], few[threadIdx.x]);
}

/* Adds the tables of the levels: a thread for each of at most 64 chunks of levels. */
__global__ void topic_chunk_tables(int32_t levels, uint64_t key, uint32_t iteration, double beta,
                                   const int32_t *histogram, unsigned long long *tables) {
  const int32_t chunk = int32_t(threadIdx.x), end = (chunk + 1) * WB_TOPIC_LEVEL_CHUNK;
  int64_t above = 0;
  for (int32_t i = levels; i >= (end < levels ? end : levels); i--) above += histogram[i];
  const int64_t openings =
      wb_topic_chunk_openings(key, WB_PURPOSE_TOPIC_TERM_LEVELS, iteration, beta, histogram, levels, chunk, &above);
  atomicAdd(tables, static_cast<unsigned long long>(openings + (chunk == 0 ? above : 0)));
}

} // namespace
