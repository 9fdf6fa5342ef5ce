/* Topic models on a graphics card: the twin of cpu/topic_model/tokens.c, to the last bit in
 * double precision. The corpus, the topics of all tokens and phi stay on the device; a
 * sweep sends alpha and brings a number for each document.
 *
 * A block draws a leaf of terms, or a document: it counts topics in shared memory, draws
 * gammas with a thread a topic, and passes over the document's pairs with sixteen
 * threads a pair, one for each lane of core/topic_draw.h.
 */
#include "cuda/table.cuh"

#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

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
/* Bytes of theta, or of phi, on their way at a time. */
constexpr size_t STAGE_BYTES = 64 * 1000 * 1000;

/* Device addresses; as in wb_topic_corpus. */
struct device_corpus {
  int32_t documents, terms;
  const int32_t *term, *count;
  const uint32_t *pair_token; /* pairs: the first token */
  const int64_t *first_pair, *first_token, *first_place;
  const uint32_t *place_token;
  const int32_t *place_count;
};

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
    for (int32_t j = 0; j < c.place_count[i]; j++) atomicAdd(&tally[topic[c.place_token[i] + static_cast<uint32_t>(j)]], 1);
  __syncthreads();
}

__device__ void count_document(const device_corpus &c, int64_t document, const uint16_t *topic, int topics, int32_t *tally) {
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
__device__ __forceinline__ double draw_gamma(const wb_gamma_strips *strips, uint64_t key, uint32_t purpose, uint32_t iteration,
                                             uint64_t element, double base, int32_t count) {
  if (!Strips) return wb_draw_gamma_by_trials(key, purpose, iteration, element, base + static_cast<double>(count));
  if (count < WB_GAMMA_COUNTS) return wb_exp_weight(wb_draw_log_gamma_by_strips(strips, count, key, purpose, iteration, element));
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
    for (int k = static_cast<int>(threadIdx.x); k < topics; k += TERM_THREADS) {
      const uint64_t element = static_cast<uint64_t>(term) * static_cast<uint64_t>(topics) + static_cast<uint64_t>(k);
      const double value = mean ? beta + static_cast<double>(tally[k])
                                : draw_gamma<Strips>(strips, key, WB_PURPOSE_TOPIC_TERM, iteration, element, beta, tally[k]);
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
  for (int64_t leaf = 0; leaf < leaves; leaf++) sum += leaf_sum[static_cast<size_t>(leaf) * static_cast<size_t>(topics) + static_cast<size_t>(k)];
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
  for (int s = 0; s < stretches - 1; s++) before += static_cast<double>(sums[s * WB_TOPIC_LANES + lane]) <= position ? 1 : 0;
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
__global__ void __launch_bounds__(MOST_TEAMS * WB_TOPIC_LANES, Strips ? 4 : 0) topic_documents(document_arguments<Real> a) {
  WB_DYNAMIC_SHARED(double, value);
  const int teams = static_cast<int>(blockDim.x) / WB_TOPIC_LANES;
  const int team = static_cast<int>(threadIdx.x) / WB_TOPIC_LANES, lane = static_cast<int>(threadIdx.x) % WB_TOPIC_LANES;
  const int width = a.rows * WB_TOPIC_LANES, stretches = wb_topic_stretches(a.rows), stretch = wb_topic_stretch(a.rows);
  double *const trees = value + width;
  double *const tree = trees + team * (WB_TOPIC_TREE + 1);
  int32_t *const tally = reinterpret_cast<int32_t *>(trees + teams * (WB_TOPIC_TREE + 1));
  Real *const all_sums = reinterpret_cast<Real *>(tally + width);
  Real *const sums = all_sums + static_cast<size_t>(team) * static_cast<size_t>(stretches * WB_TOPIC_LANES);
  Real *const weight = sizeof(Real) == sizeof(double) ? reinterpret_cast<Real *>(value) : reinterpret_cast<Real *>(tally);
  const int64_t d = a.first + blockIdx.x;
  const size_t row = static_cast<size_t>(blockIdx.x) * static_cast<size_t>(a.topics);

  if (a.given != nullptr) {
    for (int k = static_cast<int>(threadIdx.x); k < a.topics; k += static_cast<int>(blockDim.x)) value[k] = a.given[row + static_cast<size_t>(k)];
    if (threadIdx.x == 0) a.norm[d] = 1;
    __syncthreads();
  } else {
    count_document(a.corpus, d, a.topic, a.topics, tally);
    for (int k = static_cast<int>(threadIdx.x); k < a.topics; k += static_cast<int>(blockDim.x)) {
      const uint64_t element = static_cast<uint64_t>(d) * static_cast<uint64_t>(a.topics) + static_cast<uint64_t>(k);
      value[k] = a.mean ? a.alpha[k] + static_cast<double>(tally[k])
                        : draw_gamma<Strips>(a.strips, a.key, WB_PURPOSE_TOPIC_SHARE, a.iteration, element, a.alpha[k], tally[k]);
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
        for (int r = s * stretch; r < last; r++) sum = fused(weight[r * WB_TOPIC_LANES + lane], line[r * WB_TOPIC_LANES + lane], sum);
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
        const wb_bits bits = wb_philox(a.key, 0, static_cast<uint32_t>(element), wb_philox_c2(WB_PURPOSE_TOPIC, element), a.iteration);
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
                          const double *alpha, double alpha_sum, unsigned long long *tables, double *log_stick) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  const int64_t d = blockIdx.x;
  count_document(c, d, topic, topics, tally);
  if (threadIdx.x == 0)
    log_stick[d] = wb_topic_log_stick(key, WB_PURPOSE_TOPIC_STICK, iteration, static_cast<uint64_t>(d), alpha_sum,
                                      c.first_token[d + 1] - c.first_token[d]);
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += TABLE_THREADS) {
    if (tally[k] == 0) continue;
    const uint64_t element = static_cast<uint64_t>(d) * static_cast<uint64_t>(topics) + static_cast<uint64_t>(k);
    atomicAdd(&tables[k], static_cast<unsigned long long>(wb_topic_tables(key, WB_PURPOSE_TOPIC_TABLES, iteration, element, alpha[k], tally[k])));
  }
}

/* A block a term. tables: one number; size: a number a topic. */
__global__ void __launch_bounds__(TABLE_THREADS)
    topic_term_tables(device_corpus c, const uint16_t *topic, int topics, uint64_t key, uint32_t iteration, double beta,
                      unsigned long long *tables, unsigned long long *size) {
  WB_DYNAMIC_SHARED(int32_t, tally);
  const int64_t term = blockIdx.x;
  count_term(c, term, topic, topics, tally);
  for (int k = static_cast<int>(threadIdx.x); k < topics; k += TABLE_THREADS) {
    if (tally[k] == 0) continue;
    const uint64_t element = static_cast<uint64_t>(term) * static_cast<uint64_t>(topics) + static_cast<uint64_t>(k);
    atomicAdd(&size[k], static_cast<unsigned long long>(tally[k]));
    atomicAdd(tables, static_cast<unsigned long long>(wb_topic_tables(key, WB_PURPOSE_TOPIC_TERM_TABLES, iteration, element, beta, tally[k])));
  }
}

} // namespace

struct wb_topic_session {
  int32_t device;
  int topics, rows, teams;
  size_t width;
  wb_precision precision;
  int64_t leaves, pairs, tokens;
  device_corpus corpus;
  wb::device_array<int32_t> term, count, place_count;
  wb::device_array<uint32_t> pair_token, place_token;
  wb::device_array<int64_t> first_pair, first_token, first_place;
  wb::device_array<uint16_t> topic;
  wb::device_bytes phi;
  wb::device_array<double> leaf_sum, inverse, alpha, norm, total, log_likelihood, stage;
  wb::device_array<unsigned long long> tables;
  wb::device_array<wb_gamma_strips> term_strips, share_strips;
  double term_base = 0, share_base = 0; /* of the tables; 0: none */

  size_t real() const { return precision == WB_SINGLE ? sizeof(float) : sizeof(double); }
  /* Documents whose theta, or terms whose phi, a stage holds. */
  int64_t stage_rows() const { return static_cast<int64_t>(stage.size() / static_cast<size_t>(topics)); }
};

namespace {

wb::launch_shape shape_of(int64_t blocks, int threads, size_t shared) {
  wb::launch_shape shape;
  shape.blocks = dim3(static_cast<unsigned>(blocks));
  shape.threads = dim3(static_cast<unsigned>(threads));
  shape.shared_bytes = shared;
  return shape;
}

int64_t ceiling(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

template <typename T>
int send(wb::device_array<T> &array, const T *from, int64_t count, wb_message *message) {
  const int status = array.allocate(static_cast<size_t>(count) + 1, "the documents", message);
  return status == WB_OK && count > 0 ? array.upload(from, static_cast<size_t>(count), "sending the documents to the device", message) : status;
}

/* The teams of a block whose shared memory the device has; 0 if not even two. */
int find_teams(const wb_topic_session *s, int most_shared) {
  for (int teams = MOST_TEAMS; teams >= LEAST_TEAMS; teams /= 2) {
    const size_t bytes = s->precision == WB_SINGLE ? document_shared<float>(s->rows, teams) : document_shared<double>(s->rows, teams);
    if (bytes <= static_cast<size_t>(most_shared)) return teams;
  }
  return 0;
}

int fill_session(wb_topic_session *s, const wb_topic_corpus *c, uint64_t memory_limit, wb_message *message) {
  int most_shared = 0;
  int status = wb::status_of(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, s->device),
                             "asking for the device's shared memory", message);
  if (status != WB_OK) return status;
  s->teams = find_teams(s, most_shared);
  if (s->teams == 0) {
    std::snprintf(message->text, sizeof message->text, "%d topics are too many for this device, whose blocks have %d bytes of shared memory; use backend = \"cpu\"",
                  s->topics, most_shared);
    return WB_ERROR_BACKEND;
  }
  const size_t topics = static_cast<size_t>(s->topics), documents = static_cast<size_t>(c->documents);
  const size_t phi_bytes = static_cast<size_t>(c->terms) * s->width * s->real();
  const size_t largest = (documents > static_cast<size_t>(c->terms) ? documents : static_cast<size_t>(c->terms)) * topics;
  const size_t staged = STAGE_BYTES / sizeof(double) > topics ? STAGE_BYTES / sizeof(double) : topics;
  const size_t stage = largest < staged ? largest : staged;
  const uint64_t needed = phi_bytes + sizeof(double) * (static_cast<size_t>(s->leaves) * topics + stage + documents * 4 + static_cast<size_t>(c->terms)) +
                          static_cast<uint64_t>(c->pairs) * 28 + static_cast<uint64_t>(c->tokens) * 2;
  uint64_t left = 0;
  status = wb::memory_left(memory_limit, 0, &left, message);
  if (status != WB_OK) return status;
  if (needed > left) {
    std::snprintf(message->text, sizeof message->text, "%.2f MB of device memory are needed for %d topics of %d terms, but %.2f MB can be used",
                  static_cast<double>(needed) / 1e6, s->topics, static_cast<int>(c->terms), static_cast<double>(left) / 1e6);
    return WB_ERROR_MEMORY;
  }
  std::vector<uint32_t> pair_token(static_cast<size_t>(c->pairs));
  for (int64_t d = 0; d < c->documents; d++) {
    int64_t token = c->first_token[d];
    for (int64_t i = c->first_pair[d]; i < c->first_pair[d + 1]; i++) {
      pair_token[static_cast<size_t>(i)] = static_cast<uint32_t>(token);
      token += c->count[i];
    }
  }
  status = send(s->term, c->term, c->pairs, message);
  if (status == WB_OK) status = send(s->count, c->count, c->pairs, message);
  if (status == WB_OK) status = send(s->pair_token, pair_token.data(), c->pairs, message);
  if (status == WB_OK) status = send(s->place_token, c->place_token, c->pairs, message);
  if (status == WB_OK) status = send(s->place_count, c->place_count, c->pairs, message);
  if (status == WB_OK) status = send(s->first_pair, c->first_pair, c->documents + 1, message);
  if (status == WB_OK) status = send(s->first_token, c->first_token, c->documents + 1, message);
  if (status == WB_OK) status = send(s->first_place, c->first_place, c->terms + 1, message);
  if (status == WB_OK) status = s->topic.allocate(static_cast<size_t>(c->tokens) + 1, "the topics of the tokens", message);
  if (status == WB_OK) status = s->phi.allocate(phi_bytes, "the terms of the topics", message);
  /* The lanes past the last topic stay 0. */
  if (status == WB_OK) status = wb::status_of(cudaMemset(s->phi.address(), 0, phi_bytes), "clearing the terms of the topics", message);
  if (status == WB_OK) status = s->leaf_sum.allocate(static_cast<size_t>(s->leaves) * topics, "sums of terms", message);
  if (status == WB_OK) status = s->inverse.allocate(topics, "sums of terms", message);
  if (status == WB_OK) status = s->alpha.allocate(topics, "alpha", message);
  if (status == WB_OK) status = s->norm.allocate(documents, "sums of topics", message);
  if (status == WB_OK) status = s->log_likelihood.allocate(documents, "log likelihoods", message);
  if (status == WB_OK) status = s->total.allocate(static_cast<size_t>(c->pairs) + 1, "sums of weights", message);
  if (status == WB_OK) status = s->stage.allocate(stage, "topics on their way", message);
  if (status == WB_OK) status = s->tables.allocate(topics + 1, "tables", message);
  const device_corpus corpus = {c->documents, c->terms, s->term.data(), s->count.data(), s->pair_token.data(), s->first_pair.data(),
                                s->first_token.data(), s->first_place.data(), s->place_token.data(), s->place_count.data()};
  s->corpus = corpus;
  return status;
}

void close_session(wb_topic_session *s) {
  if (s == nullptr) return;
  wb_message ignored;
  wb::device_scope scope;
  (void)scope.enter(s->device, &ignored);
  delete s;
}

int open_session(const wb_topic_corpus *corpus, const wb_topic_settings *settings, const wb_run *run,
                 wb_topic_session **session, wb_message *message) {
  wb::device_scope scope;
  int status = scope.enter(run->device, message);
  if (status != WB_OK) return status;
  wb_topic_session *s = new (std::nothrow) wb_topic_session();
  if (s == nullptr) {
    std::snprintf(message->text, sizeof message->text, "no memory for the session of the topic model");
    return WB_ERROR_MEMORY;
  }
  s->device = run->device;
  s->topics = settings->topics;
  s->rows = wb_topic_rows(settings->topics);
  s->width = static_cast<size_t>(s->rows) * WB_TOPIC_LANES;
  s->precision = settings->precision;
  s->leaves = ceiling(corpus->terms, WB_TOPIC_LEAF);
  s->pairs = corpus->pairs;
  s->tokens = corpus->tokens;
  status = fill_session(s, corpus, run->memory_limit, message);
  if (status == WB_OK)
    *session = s;
  else
    delete s;
  return status;
}

int set_topics(wb_topic_session *s, const uint16_t *topic, wb_message *message) {
  wb::device_scope scope;
  const int status = scope.enter(s->device, message);
  return status == WB_OK ? s->topic.upload(topic, static_cast<size_t>(s->tokens), "sending topics to the device", message) : status;
}

int get_topics(wb_topic_session *s, uint16_t *topic, wb_message *message) {
  wb::device_scope scope;
  const int status = scope.enter(s->device, message);
  return status == WB_OK ? s->topic.download(topic, static_cast<size_t>(s->tokens), "bringing topics from the device", message) : status;
}

/* The tables of a base, made unless they are there from an earlier sweep. */
int prepare_strips(double base, wb::device_array<wb_gamma_strips> &strips, double &last, const wb_gamma_strips **made, wb_message *message) {
  int status = strips.size() == 0 ? strips.allocate(1, "tables of gammas", message) : WB_OK;
  if (status == WB_OK && last != base)
    status = wb::launch(shape_of(WB_GAMMA_COUNTS, 2, 0), topic_strips, "making tables of gammas", message, base, strips.data());
  if (status != WB_OK) return status;
  last = base;
  *made = strips.data();
  return WB_OK;
}

template <typename Real>
int draw_terms_as(wb_topic_session *s, const wb_topic_draw *draw, wb_message *message) {
  const wb_gamma_strips *strips = nullptr;
  int status = WB_OK;
  if (draw->beta_tables) status = prepare_strips(draw->beta, s->term_strips, s->term_base, &strips, message);
  if (status == WB_OK)
    status = wb::launch(shape_of(s->leaves, TERM_THREADS, static_cast<size_t>(s->topics) * sizeof(int32_t)),
                        strips != nullptr ? topic_terms<Real, true> : topic_terms<Real, false>,
                          "drawing terms", message, s->corpus, static_cast<const uint16_t *>(s->topic.data()), s->topics, s->width,
                          draw->key, draw->iteration, draw->mean, draw->beta, strips, static_cast<Real *>(s->phi.address()), s->leaf_sum.data());
  if (status == WB_OK)
    status = wb::launch(shape_of(ceiling(s->topics, 128), 128, 0), topic_inverse, "adding terms", message,
                        static_cast<const double *>(s->leaf_sum.data()), s->leaves, s->topics, s->inverse.data());
  return status;
}

int draw_terms(wb_topic_session *s, const wb_topic_draw *draw, wb_message *message) {
  wb::device_scope scope;
  const int status = scope.enter(s->device, message);
  if (status != WB_OK) return status;
  return s->precision == WB_SINGLE ? draw_terms_as<float>(s, draw, message) : draw_terms_as<double>(s, draw, message);
}

template <typename Real>
int set_phi_as(wb_topic_session *s, const double *phi, wb_message *message) {
  const size_t topics = static_cast<size_t>(s->topics);
  int status = WB_OK;
  for (int64_t first = 0; first < s->corpus.terms && status == WB_OK; first += s->stage_rows()) {
    const int64_t terms = s->corpus.terms - first < s->stage_rows() ? s->corpus.terms - first : s->stage_rows();
    const int64_t count = terms * s->topics;
    status = s->stage.upload(phi + static_cast<size_t>(first) * topics, static_cast<size_t>(count), "sending terms to the device", message);
    if (status == WB_OK)
      status = wb::launch(shape_of(ceiling(count, 256), 256, 0), topic_set_phi<Real>, "setting terms", message,
                          static_cast<const double *>(s->stage.data()), s->topics, s->width, count,
                          static_cast<Real *>(s->phi.address()) + static_cast<size_t>(first) * s->width);
  }
  if (status == WB_OK)
    status = wb::launch(shape_of(ceiling(s->topics, 128), 128, 0), topic_ones, "setting terms", message, s->topics, s->inverse.data());
  return status;
}

int set_phi(wb_topic_session *s, const double *phi, wb_message *message) {
  wb::device_scope scope;
  const int status = scope.enter(s->device, message);
  if (status != WB_OK) return status;
  return s->precision == WB_SINGLE ? set_phi_as<float>(s, phi, message) : set_phi_as<double>(s, phi, message);
}

template <typename Real>
int get_phi_as(wb_topic_session *s, double *phi, wb_message *message) {
  const size_t topics = static_cast<size_t>(s->topics);
  std::vector<double> inverse(topics);
  int status = s->inverse.download(inverse.data(), topics, "bringing terms from the device", message);
  std::vector<Real> rows(64 * s->width);
  for (size_t first = 0; first < static_cast<size_t>(s->corpus.terms) && status == WB_OK; first += 64) {
    const size_t terms = static_cast<size_t>(s->corpus.terms) - first < 64 ? static_cast<size_t>(s->corpus.terms) - first : 64;
    status = wb::status_of(cudaMemcpy(rows.data(), static_cast<const Real *>(s->phi.address()) + first * s->width,
                                      terms * s->width * sizeof(Real), cudaMemcpyDeviceToHost),
                           "bringing terms from the device", message);
    for (size_t w = 0; w < terms; w++)
      for (size_t k = 0; k < topics; k++) phi[(first + w) * topics + k] = static_cast<double>(rows[w * s->width + k]) * inverse[k];
  }
  return status;
}

int get_phi(wb_topic_session *s, double *phi, wb_message *message) {
  wb::device_scope scope;
  const int status = scope.enter(s->device, message);
  if (status != WB_OK) return status;
  return s->precision == WB_SINGLE ? get_phi_as<float>(s, phi, message) : get_phi_as<double>(s, phi, message);
}

/* All documents, as many at a time as the stage holds where theta goes or comes. */
template <typename Real>
int pass_documents_as(wb_topic_session *s, const wb_topic_draw *draw, const double *given, double *log_likelihood, double *theta,
                      wb_message *message) {
  const size_t topics = static_cast<size_t>(s->topics);
  const int64_t at_once = given != nullptr || theta != nullptr ? s->stage_rows() : s->corpus.documents;
  int status = WB_OK;
  const wb_gamma_strips *strips = nullptr;
  if (draw != nullptr) status = s->alpha.upload(draw->alpha, topics, "sending alpha to the device", message);
  if (status == WB_OK && draw != nullptr && draw->alpha_tables)
    status = prepare_strips(draw->alpha[0], s->share_strips, s->share_base, &strips, message);
  for (int64_t first = 0; first < s->corpus.documents && status == WB_OK; first += at_once) {
    const int64_t documents = s->corpus.documents - first < at_once ? s->corpus.documents - first : at_once;
    const size_t count = static_cast<size_t>(documents) * topics;
    if (given != nullptr) status = s->stage.upload(given + static_cast<size_t>(first) * topics, count, "sending topics to the device", message);
    if (status != WB_OK) break;
    document_arguments<Real> a = {};
    a.corpus = s->corpus;
    a.topic = s->topic.data();
    a.topics = s->topics;
    a.rows = s->rows;
    a.phi = static_cast<const Real *>(s->phi.address());
    a.inverse = s->inverse.data();
    a.alpha = s->alpha.data();
    a.strips = strips;
    if (draw != nullptr) {
      a.key = draw->key;
      a.iteration = draw->iteration;
      a.mean = draw->mean;
    }
    a.first = first;
    a.given = given != nullptr ? s->stage.data() : nullptr;
    a.theta = theta != nullptr ? s->stage.data() : nullptr;
    a.norm = s->norm.data();
    a.total = s->total.data();
    status = wb::launch(shape_of(documents, s->teams * WB_TOPIC_LANES, document_shared<Real>(s->rows, s->teams)),
                        strips != nullptr ? topic_documents<Real, true> : topic_documents<Real, false>,
                        "drawing documents", message, a);
    if (status == WB_OK && theta != nullptr)
      status = s->stage.download(theta + static_cast<size_t>(first) * topics, count, "bringing topics from the device", message);
  }
  if (status == WB_OK)
    status = wb::launch(shape_of(ceiling(s->corpus.documents, SCORE_THREADS), SCORE_THREADS, 0), topic_score, "adding logs", message, s->corpus,
                        static_cast<const double *>(s->total.data()), static_cast<const double *>(s->norm.data()), s->log_likelihood.data());
  if (status == WB_OK)
    status = s->log_likelihood.download(log_likelihood, static_cast<size_t>(s->corpus.documents), "bringing log likelihoods from the device", message);
  return status;
}

int pass_documents(wb_topic_session *s, const wb_topic_draw *draw, const double *given, double *log_likelihood, double *theta,
                   wb_message *message) {
  wb::device_scope scope;
  const int status = scope.enter(s->device, message);
  if (status != WB_OK) return status;
  return s->precision == WB_SINGLE ? pass_documents_as<float>(s, draw, given, log_likelihood, theta, message)
                                   : pass_documents_as<double>(s, draw, given, log_likelihood, theta, message);
}

int draw_documents(wb_topic_session *s, const wb_topic_draw *draw, double *log_likelihood, double *theta, wb_message *message) {
  return pass_documents(s, draw, nullptr, log_likelihood, theta, message);
}

int score(wb_topic_session *s, const double *theta, double *log_likelihood, wb_message *message) {
  return pass_documents(s, nullptr, theta, log_likelihood, nullptr, message);
}

int clear_tables(wb_topic_session *s, wb_message *message) {
  return wb::status_of(cudaMemset(s->tables.data(), 0, s->tables.bytes()), "clearing tables", message);
}

int bring_tables(wb_topic_session *s, std::vector<unsigned long long> &tables, wb_message *message) {
  tables.resize(s->tables.size());
  return s->tables.download(tables.data(), tables.size(), "bringing tables from the device", message);
}

int draw_document_tables(wb_topic_session *s, const wb_topic_draw *draw, int64_t *tables, double *log_stick, wb_message *message) {
  wb::device_scope scope;
  int status = scope.enter(s->device, message);
  const size_t topics = static_cast<size_t>(s->topics);
  double alpha_sum = 0;
  for (size_t k = 0; k < topics; k++) alpha_sum += draw->alpha[k];
  if (status == WB_OK) status = clear_tables(s, message);
  if (status == WB_OK) status = s->alpha.upload(draw->alpha, topics, "sending alpha to the device", message);
  if (status == WB_OK)
    status = wb::launch(shape_of(s->corpus.documents, TABLE_THREADS, topics * sizeof(int32_t)), topic_document_tables, "drawing tables", message,
                        s->corpus, static_cast<const uint16_t *>(s->topic.data()), s->topics, draw->key, draw->iteration,
                        static_cast<const double *>(s->alpha.data()), alpha_sum, s->tables.data(), s->log_likelihood.data());
  std::vector<unsigned long long> drawn;
  if (status == WB_OK) status = bring_tables(s, drawn, message);
  if (status == WB_OK)
    status = s->log_likelihood.download(log_stick, static_cast<size_t>(s->corpus.documents), "bringing tables from the device", message);
  for (size_t k = 0; k < topics && status == WB_OK; k++) tables[k] = static_cast<int64_t>(drawn[k]);
  return status;
}

int draw_term_tables(wb_topic_session *s, const wb_topic_draw *draw, int64_t *tables, int64_t *size, wb_message *message) {
  wb::device_scope scope;
  int status = scope.enter(s->device, message);
  const size_t topics = static_cast<size_t>(s->topics);
  if (status == WB_OK) status = clear_tables(s, message);
  if (status == WB_OK)
    status = wb::launch(shape_of(s->corpus.terms, TABLE_THREADS, topics * sizeof(int32_t)), topic_term_tables, "drawing tables", message,
                        s->corpus, static_cast<const uint16_t *>(s->topic.data()), s->topics, draw->key, draw->iteration, draw->beta,
                        s->tables.data() + topics, s->tables.data());
  std::vector<unsigned long long> drawn;
  if (status == WB_OK) status = bring_tables(s, drawn, message);
  for (size_t k = 0; k < topics && status == WB_OK; k++) size[k] = static_cast<int64_t>(drawn[k]);
  if (status == WB_OK) *tables = static_cast<int64_t>(drawn[topics]);
  return status;
}

} // namespace

const wb_topic_model_functions wb_cuda_topic_model = {
  open_session,   set_topics,           get_topics,       draw_terms, set_phi,       get_phi,
  draw_documents, draw_document_tables, draw_term_tables, score,      close_session,
};
