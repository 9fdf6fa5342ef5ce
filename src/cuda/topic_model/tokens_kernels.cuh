/* The kernels of topic models: the loops of cpu/topic_model/tokens_loops.h and cpu/topic_model/token_weights.h with the
 * same operations in the same order. Only cuda/topic_model/tokens.cu includes this file.
 *
 * A block draws a leaf of terms, or a document. It counts topics in shared memory and draws gammas with one thread for
 * each topic. Then sixteen threads pass over each pair of the document, one for each lane of core/topic_draw.h.
 */
#ifndef WB_CUDA_TOPIC_MODEL_TOKENS_KERNELS_CUH
#define WB_CUDA_TOPIC_MODEL_TOKENS_KERNELS_CUH

#include "core/elementary.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/random_beta.h"
#include "core/random_gamma_strips.h"
#include "core/random_gamma_trial.h"
#include "core/topic_draw.h"
#include "core/topic_tables.h"
#include "cuda/device.cuh"

namespace {

constexpr int TERM_THREADS = 256, TABLE_THREADS = 128, SCORE_THREADS = 128;
/* Pairs of a document that pass at a time, 16 threads each. */
constexpr int MOST_TEAMS = 16, LEAST_TEAMS = 2;

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
  return c.group != nullptr ? static_cast<size_t>(c.group[document]) * static_cast<size_t>(topics) : 0;
}

/* The prior counts of a term besides beta, or NULL. */
__device__ __forceinline__ const double *extra_row(const device_corpus &c, int64_t term, int topics) {
  if (c.extra_of == nullptr || c.extra_of[term] < 0) return nullptr;
  return c.extra + static_cast<size_t>(c.extra_of[term]) * static_cast<size_t>(topics);
}

__device__ __forceinline__ double fused(double a, double b, double c) {
  return wb_fma(a, b, c);
}
__device__ __forceinline__ float fused(float a, float b, float c) {
  return wb_fmaf(a, b, c);
}
__device__ __forceinline__ void narrow(double value, double *weight) {
  *weight = wb_topic_weight(value);
}
__device__ __forceinline__ void narrow(double value, float *weight) {
  *weight = wb_topic_weightf(value);
}

/* Topics of a term's tokens, counted by all threads of the block. */
__device__ void count_term(const device_corpus &c, int64_t term, const uint16_t *topic, int topics, int32_t *tally) {
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += static_cast<int>(blockDim.x)) tally[k] = 0;
  __syncthreads();
  for (int64_t i = c.first_place[term] + threadIdx.x; i < c.first_place[term + 1]; i += blockDim.x)
    for (int32_t j = 0; j < c.place_count[i]; j++)
      atomicAdd(&tally[topic[c.place_token[i] + static_cast<uint32_t>(j)]], 1);
  __syncthreads();
}

__device__ void count_document(const device_corpus &c, int64_t document, const uint16_t *topic, int topics,
                               int32_t *tally) {
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += static_cast<int>(blockDim.x)) tally[k] = 0;
  __syncthreads();
  for (int64_t i = c.first_token[document] + threadIdx.x; i < c.first_token[document + 1]; i += blockDim.x)
    atomicAdd(&tally[topic[i]], 1);
  __syncthreads();
}

/* The tables of a base: a block a shape, a thread a side. Some 400 steps, one after the
 * other, of two exponentials. */
__global__ void topic_strips(double base, wb_gamma_strips *strips) {
  __shared__ int count[2];
  __shared__ wb_gamma_strip tail[2];
  const int side = static_cast<int>(threadIdx.x), number = static_cast<int>(blockIdx.x);
  wb_gamma_strip *const strip = strips->strip[number];
  wb_gamma_law law;
  bool fits = false;
  wb_gamma_strips_begin(base + static_cast<double>(number), &law);
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

/* A gamma of shape base + count, from the tables if `Strips`. */
template <bool Strips>
__device__ __forceinline__ double draw_gamma(const wb_gamma_strips *strips, uint64_t key, uint32_t purpose,
                                             uint32_t iteration, uint64_t element, double base, int32_t count) {
  if (!Strips) return wb_draw_gamma_by_trials(key, purpose, iteration, element, base + static_cast<double>(count));
  if (count < WB_GAMMA_COUNTS)
    return wb_exp_weight(wb_draw_log_gamma_by_strips(strips, count, key, purpose, iteration, element));
  return wb_draw_gamma_large(key, purpose, iteration, element, base + static_cast<double>(count), 1);
}

/* A block a leaf of terms: gammas of all topics, term after term, and their sums. 4 bytes
 * of shared memory a topic. Writes sizeof(Real) a term and topic; what it computes, about
 * 100 operations a gamma with tables and 300 without, is more than what it writes. */
template <typename Real, bool Strips>
__global__ void __launch_bounds__(TERM_THREADS)
    topic_terms(device_corpus c, const uint16_t *topic, int topics, size_t width, uint64_t key, uint32_t iteration,
                int mean, double beta, const wb_gamma_strips *strips, Real *phi, double *leaf_sum) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * WB_TOPIC_LEAF;
  const int64_t end = first + WB_TOPIC_LEAF < c.terms ? first + WB_TOPIC_LEAF : c.terms;
  double *const sum = leaf_sum + static_cast<size_t>(blockIdx.x) * static_cast<size_t>(topics);
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += TERM_THREADS) sum[k] = 0;
  for (int64_t term = first; term < end; term++) {
    count_term(c, term, topic, topics, tally);
    const double *const extra = extra_row(c, term, topics);
    for (int k = static_cast<int>(threadIdx.x); k < topics; k += TERM_THREADS) {
      const uint64_t element = static_cast<uint64_t>(term) * static_cast<uint64_t>(topics) + static_cast<uint64_t>(k);
      const double base = extra != nullptr ? extra[k] + beta : beta;
      double value = base + static_cast<double>(tally[k]);
      if (!mean)
        value = extra != nullptr
                    ? draw_gamma<false>(strips, key, WB_PURPOSE_TOPIC_TERM, iteration, element, base, tally[k])
                    : draw_gamma<Strips>(strips, key, WB_PURPOSE_TOPIC_TERM, iteration, element, base, tally[k]);
      sum[k] += value;
      narrow(value, phi + static_cast<size_t>(term) * width + k);
    }
    __syncthreads(); /* before the next term's counts */
  }
}

/* One over the sum of each topic's gammas: a thread a topic, leaves in order. */
__global__ void topic_inverse(const double *leaf_sum, int64_t leaves, int topics, double *inverse) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= topics) return;
  double sum = 0;
  for (int64_t leaf = 0; leaf < leaves; leaf++)
    sum += leaf_sum[static_cast<size_t>(leaf) * static_cast<size_t>(topics) + static_cast<size_t>(k)];
  inverse[k] = 1.0 / sum;
}

/* phi as given: terms x topics into terms x width. */
template <typename Real>
__global__ void topic_set_phi(const double *given, int topics, size_t width, int64_t count, Real *phi) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  narrow(given[i], phi + static_cast<size_t>(i / topics) * width + static_cast<size_t>(i % topics));
}

__global__ void topic_ones(int topics, double *inverse) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < topics) inverse[k] = 1;
}

/* The topic that the uniform u takes; see cpu/topic_model/token_weights.h. */
template <typename Real>
__device__ int choose(int rows, const Real *theta, const Real *phi, const Real *sums, const double *tree, double u) {
  double position;
  const int lane = wb_topic_lane(tree, u, &position);
  const int stretches = wb_topic_stretches(rows), stretch = wb_topic_stretch(rows);
  int before = 0;
  for (int s = 0; s < stretches - 1; s++)
    before += static_cast<double>(sums[s * WB_TOPIC_LANES + lane]) <= position ? 1 : 0;
  Real sum = before > 0 ? sums[(before - 1) * WB_TOPIC_LANES + lane] : Real(0);
  const int begin = before * stretch;
  const int end = begin + stretch < rows ? begin + stretch : rows;
  int row = begin;
  for (int r = begin; r < end; r++) {
    const size_t at = static_cast<size_t>(r) * WB_TOPIC_LANES + static_cast<size_t>(lane);
    sum = fused(theta[at], phi[at], sum);
    row += static_cast<double>(sum) <= position ? 1 : 0;
  }
  return row * WB_TOPIC_LANES + lane;
}

/* What a document's kernel takes. */
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

/* Shared memory: 12 bytes for each lane and row, and for each team the sums of its
 * stretches and its tree. In double the weights take the place of the gammas, in single
 * that of the counts. */
template <typename Real>
size_t document_shared(int rows, int teams) {
  const size_t width = static_cast<size_t>(rows) * WB_TOPIC_LANES;
  const size_t size = static_cast<size_t>(wb_topic_stretches(rows)) * WB_TOPIC_LANES;
  return width * 12 + static_cast<size_t>(teams) * (size * sizeof(Real) + (WB_TOPIC_TREE + 1) * sizeof(double));
}

/* A block a document, 16 threads a team. Each pair reads sizeof(Real) bytes of phi a
 * topic, coalesced, mostly from the second-level cache, for one multiply-add. */
template <typename Real, bool Strips>
__global__ void __launch_bounds__(MOST_TEAMS * WB_TOPIC_LANES, Strips ? 4 : 0)
    topic_documents(document_arguments<Real> a) {
  WB_DYNAMIC_SHARED(double, value);
  const int teams = static_cast<int>(blockDim.x) / WB_TOPIC_LANES;
  const int team = static_cast<int>(threadIdx.x) / WB_TOPIC_LANES,
            lane = static_cast<int>(threadIdx.x) % WB_TOPIC_LANES;
  const int width = a.rows * WB_TOPIC_LANES, stretches = wb_topic_stretches(a.rows), stretch = wb_topic_stretch(a.rows);
  double *const trees = value + width;
  double *const tree = trees + team * (WB_TOPIC_TREE + 1);
  int32_t *const tally = reinterpret_cast<int32_t *>(trees + teams * (WB_TOPIC_TREE + 1));
  Real *const all_sums = reinterpret_cast<Real *>(tally + width);
  Real *const sums = all_sums + static_cast<size_t>(team) * static_cast<size_t>(stretches * WB_TOPIC_LANES);
  Real *const weight =
      sizeof(Real) == sizeof(double) ? reinterpret_cast<Real *>(value) : reinterpret_cast<Real *>(tally);
  const int64_t d = a.first + blockIdx.x;
  const size_t row = static_cast<size_t>(blockIdx.x) * static_cast<size_t>(a.topics);

  if (a.given != nullptr) {
    for (int k = static_cast<int>(threadIdx.x); k < a.topics; k += static_cast<int>(blockDim.x))
      value[k] = a.given[row + static_cast<size_t>(k)];
    if (threadIdx.x == 0) a.norm[d] = 1;
    __syncthreads();
  } else {
    count_document(a.corpus, d, a.topic, a.topics, tally);
    const double *const alpha = a.alpha + alpha_row(a.corpus, d, a.topics);
    for (int k = static_cast<int>(threadIdx.x); k < a.topics; k += static_cast<int>(blockDim.x)) {
      const uint64_t element = static_cast<uint64_t>(d) * static_cast<uint64_t>(a.topics) + static_cast<uint64_t>(k);
      value[k] = a.mean ? alpha[k] + static_cast<double>(tally[k])
                        : draw_gamma<Strips>(a.strips, a.key, WB_PURPOSE_TOPIC_SHARE, a.iteration, element, alpha[k],
                                             tally[k]);
    }
    __syncthreads();
    if (team == 0) {
      double sum = 0;
      for (int k = lane; k < a.topics; k += WB_TOPIC_LANES) sum += value[k];
      trees[lane] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      double sum = 0;
      for (int l = 0; l < WB_TOPIC_LANES; l++) sum += trees[l];
      a.norm[d] = sum;
      trees[WB_TOPIC_TREE] = sum;
    }
    __syncthreads();
    if (a.theta != nullptr)
      for (int k = static_cast<int>(threadIdx.x); k < a.topics; k += static_cast<int>(blockDim.x))
        a.theta[row + static_cast<size_t>(k)] = value[k] / trees[WB_TOPIC_TREE];
  }
  for (int k = static_cast<int>(threadIdx.x); k < width; k += static_cast<int>(blockDim.x)) {
    if (k < a.topics)
      narrow(value[k] * a.inverse[k], weight + k);
    else
      weight[k] = 0;
  }
  __syncthreads();

  const int64_t end = a.corpus.first_pair[d + 1];
  for (int64_t base = a.corpus.first_pair[d]; base < end; base += teams) {
    const int64_t pair = base + team;
    const bool active = pair < end;
    const Real *const line = a.phi + static_cast<size_t>(active ? a.corpus.term[pair] : 0) * static_cast<size_t>(width);
    if (active) {
      Real sum = 0;
      for (int s = 0; s < stretches; s++) {
        const int last = (s + 1) * stretch < a.rows ? (s + 1) * stretch : a.rows;
        for (int r = s * stretch; r < last; r++)
          sum = fused(weight[r * WB_TOPIC_LANES + lane], line[r * WB_TOPIC_LANES + lane], sum);
        sums[s * WB_TOPIC_LANES + lane] = sum;
      }
      tree[lane] = static_cast<double>(sum);
    }
    /* wb_topic_add_tree(), a level at a time. */
    __syncwarp();
    if (active && lane < 8) tree[16 + lane] = tree[lane] + tree[lane + 8];
    __syncwarp();
    if (active && lane < 4) tree[24 + lane] = tree[16 + lane] + tree[20 + lane];
    __syncwarp();
    if (active && lane < 2) tree[28 + lane] = tree[24 + lane] + tree[26 + lane];
    __syncwarp();
    if (active && lane == 0) {
      tree[30] = tree[28] + tree[29];
      a.total[pair] = tree[30];
    }
    __syncwarp();
    if (active && a.given == nullptr) {
      for (int32_t t = lane; t < a.corpus.count[pair]; t += WB_TOPIC_LANES) {
        const uint64_t token = a.corpus.pair_token[pair] + static_cast<uint32_t>(t), element = token >> 1;
        const wb_bits bits =
            wb_philox(a.key, 0, static_cast<uint32_t>(element), wb_philox_c2(WB_PURPOSE_TOPIC, element), a.iteration);
        const double u = wb_uniform(wb_bits64(bits, static_cast<int>(token & 1)));
        a.topic[token] = static_cast<uint16_t>(choose(a.rows, weight, line, sums, tree, u));
      }
    }
    __syncwarp(); /* before the next pair's sums */
  }
}

/* A thread a document: the logs of its pairs, in order. */
__global__ void __launch_bounds__(SCORE_THREADS)
    topic_score(device_corpus c, const double *total, const double *norm, double *log_likelihood) {
  const int64_t d = static_cast<int64_t>(blockIdx.x) * SCORE_THREADS + threadIdx.x;
  if (d >= c.documents) return;
  double sum = 0;
  for (int64_t i = c.first_pair[d]; i < c.first_pair[d + 1]; i++)
    sum = wb_fma(static_cast<double>(c.count[i]), wb_log(total[i]), sum);
  const double tokens = static_cast<double>(c.first_token[d + 1] - c.first_token[d]);
  log_likelihood[d] = wb_fma(-tokens, wb_log(norm[d]), sum);
}

/* A block a document; whole numbers, so atomic additions in any order will do. */
__global__ void __launch_bounds__(TABLE_THREADS)
    topic_document_tables(device_corpus c, const uint16_t *topic, int topics, uint64_t key, uint32_t iteration,
                          const double *alpha, const double *alpha_sum, unsigned long long *tables, double *log_stick) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  const int64_t d = blockIdx.x;
  const size_t row = alpha_row(c, d, topics);
  count_document(c, d, topic, topics, tally);
  if (threadIdx.x == 0)
    log_stick[d] = wb_topic_log_stick(key, WB_PURPOSE_TOPIC_STICK, iteration, static_cast<uint64_t>(d),
                                      alpha_sum[c.group != nullptr ? c.group[d] : 0],
                                      c.first_token[d + 1] - c.first_token[d]);
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += TABLE_THREADS) {
    if (tally[k] == 0) continue;
    const uint64_t element = static_cast<uint64_t>(d) * static_cast<uint64_t>(topics) + static_cast<uint64_t>(k);
    atomicAdd(&tables[row + static_cast<size_t>(k)],
              static_cast<unsigned long long>(wb_topic_tables(key, WB_PURPOSE_TOPIC_TABLES, iteration, element,
                                                              alpha[row + static_cast<size_t>(k)], tally[k])));
  }
}

/* A block a term. tables: one number; size: a number a topic. */
__global__ void __launch_bounds__(TABLE_THREADS)
    topic_term_tables(device_corpus c, const uint16_t *topic, int topics, uint64_t key, uint32_t iteration, double beta,
                      unsigned long long *tables, unsigned long long *size) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  const int64_t term = blockIdx.x;
  count_term(c, term, topic, topics, tally);
  const double *const extra = extra_row(c, term, topics);
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += TABLE_THREADS) {
    if (tally[k] == 0) continue;
    const uint64_t element = static_cast<uint64_t>(term) * static_cast<uint64_t>(topics) + static_cast<uint64_t>(k);
    atomicAdd(&size[k], static_cast<unsigned long long>(tally[k]));
    atomicAdd(tables, static_cast<unsigned long long>(
                          wb_topic_own_tables(key, WB_PURPOSE_TOPIC_TERM_TABLES, iteration, element, beta,
                                              extra != nullptr ? extra[k] : 0.0, tally[k])));
  }
}

} // namespace

#endif
