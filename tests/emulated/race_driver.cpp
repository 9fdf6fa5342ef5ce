/* Runs every kernel of the package through the backend's table with small sizes, from the first thread to the last and
 * from the last to the first, and compares the two results bit by bit. The build with --sanitize=thread finds races;
 * other builds are useful too. If the backend lacks a function, it is left out and named. */
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.h"
#include "core/polyagamma_draw.h"
#include "core/regression_level.h"
#include "core/topic_tables.h"
#include "../emulator/src/emulator.h"

extern "C" const wb_backend *wb_plugin_backend(void);

namespace {

int passed, failed;

void tell(bool held, const std::string &what) {
  if (held) {
    passed++;
  } else {
    failed++;
    std::printf("  not so: %s\n", what.c_str());
  }
  std::fflush(stdout);
}

/* Numbers in [0, 1), the same in every run. */
class Numbers {
public:
  explicit Numbers(uint64_t seed) : state_(seed * 2862933555777941757u + 3037000493u) {}
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (double)(state_ >> 11) * 0x1p-53;
  }
  std::vector<double> vector(size_t count, double low, double high) {
    std::vector<double> values(count);
    for (double &v : values) v = low + (high - low) * next();
    return values;
  }

private:
  uint64_t state_;
};

/* Calls work(context, i) for every i below `pieces` on several threads of the host. */
void spread(int32_t threads, int64_t pieces, wb_piece *work, void *context) {
  std::atomic<int64_t> next(0);
  std::vector<std::thread> all;
  for (int32_t t = 0; t < threads; t++)
    all.emplace_back([&] {
      for (int64_t i = next++; i < pieces; i = next++) work(context, i);
    });
  for (std::thread &one : all) one.join();
}

wb_run several_threads(uint64_t memory_limit) {
  wb_run run = {};
  run.threads = 3;
  run.memory_limit = memory_limit;
  run.spread = spread;
  return run;
}

wb_run one_thread() {
  wb_run run = {};
  run.threads = 1;
  return run;
}

/* The bytes of all results of a call. */
class Record {
public:
  template <typename... T>
  void add(const std::vector<T> &...values) {
    (bytes_.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)), ...);
  }
  bool operator==(const Record &other) const { return bytes_ == other.bytes_; }

private:
  std::string bytes_;
};

/* Calls a function of the backend, and says so if it fails. */
template <typename Function, typename... Arguments>
bool call(const char *what, Function *function, Arguments... arguments) {
  wb_message message = {};
  const int status = function(arguments..., &message);
  if (status == WB_OK) return true;
  std::printf("  %s: status %d, %s\n", what, status, message.text);
  return false;
}

/* Mixtures ------------------------------------------------------------------------- */

struct MixtureCase {
  int64_t rows;
  int32_t columns, components;
  wb_precision precision;
  uint64_t memory_limit;
  int32_t samples;
  bool missing = false;
  int major = 9; /* of the compute capability; 9 has tensor cores */

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "mixture, n = %lld, p = %d, k = %d, %s, memory limit %llu, %d samples%s%s",
                  (long long)rows, columns, components, precision == WB_DOUBLE ? "double" : "single",
                  (unsigned long long)memory_limit, samples, missing ? ", missing values" : "",
                  major == 9 ? "" : ", no tensor cores");
    return text;
  }
};

/* Anchors and halves of pairs of components. Every second pair is to be joined. */
bool run_pairs(const wb_backend *backend, const MixtureCase &c, wb_mixture_session *session, Record *record) {
  const size_t p = (size_t)c.columns, k = (size_t)c.components;
  const size_t pairs = std::min<size_t>(k / 2, WB_MIXTURE_MOST_PAIRS);
  if (pairs == 0) return true;
  Numbers numbers(29 * p + k);
  const std::vector<double> factor = numbers.vector(2 * pairs * (p * (p + 1) / 2), 0.1, 1),
                            offset = numbers.vector(2 * pairs * p, -2, 2),
                            log_constant = numbers.vector(2 * pairs, -4, -3);
  std::vector<int32_t> pair(k, -1), side(k, -1);
  for (size_t j = 0; j < 2 * pairs; j++) {
    pair[j] = (int32_t)(j / 2);
    if (j / 2 % 2 == 0) side[j] = (int32_t)(j % 2);
  }
  const wb_mixture_pairs about = {c.components, (int32_t)pairs, pair.data(), side.data()};
  const wb_mixture_parameters halves = {(int32_t)(2 * pairs), factor.data(), offset.data(), log_constant.data()};
  std::vector<int64_t> anchors(2 * pairs);
  std::vector<double> statistics(2 * pairs * WB_MIXTURE_STATISTICS(p)), log_probability(pairs);
  if (!call("mixture_choose_anchors", backend->mixture->choose_anchors, session, &about, 99, 1, anchors.data()))
    return false;
  for (int known = 0; known < 2; known++) {
    if (!call("mixture_draw_halves", backend->mixture->draw_halves, session, &about, &halves, anchors.data(), known, 99,
              1, 2, statistics.data(), log_probability.data()))
      return false;
    record->add(statistics, log_probability);
  }
  std::vector<double> rows(anchors.begin(), anchors.end());
  record->add(rows);
  return true;
}

/* Every third row lacks a value in one column or another: a pattern for each column. */
struct Gaps {
  std::vector<int32_t> order, observed, row;
  std::vector<int64_t> first;
  wb_mixture_missing missing = {};

  Gaps(size_t n, size_t p, std::vector<double> *x) {
    for (size_t g = 0; g < p; g++) {
      for (size_t c = 0; c < p; c++)
        if (c != g) order.push_back((int32_t)c);
      order.push_back((int32_t)g);
      observed.push_back((int32_t)p - 1);
      first.push_back((int64_t)row.size());
      for (size_t i = 3 * g; i < n; i += 3 * p) {
        row.push_back((int32_t)i);
        (*x)[i + g * n] = std::nan("");
      }
    }
    first.push_back((int64_t)row.size());
    missing = {(int32_t)p, order.data(), observed.data(), first.data(), row.data(), (int64_t)row.size()};
  }
};

/* Two sweeps and an evaluation of some rows. Returns whether the results make sense. */
bool run_mixture(const wb_backend *backend, const MixtureCase &c, Record *record) {
  const size_t n = (size_t)c.rows, p = (size_t)c.columns, k = (size_t)c.components;
  const size_t triangle = p * (p + 1) / 2, statistics_size = WB_MIXTURE_STATISTICS(p);
  Numbers numbers(17 * p + k);
  std::vector<double> x = numbers.vector(n * p, -3, 3);
  const std::vector<double> whole = x, center = numbers.vector(p, -1, 1), inverse_scale = numbers.vector(p, 0.5, 2),
                            factor = numbers.vector(k * triangle, 0.1, 1), offset = numbers.vector(k * p, -2, 2),
                            log_constant = numbers.vector(k, -4, -3);
  /* Samples in stretches of 100 rows. */
  const size_t samples = c.samples > 0 ? (size_t)c.samples : 1;
  std::vector<int32_t> sample(n);
  for (size_t i = 0; i < n; i++) sample[i] = (int32_t)(i / 100 % samples);
  wb_mixture_data data = {x.data(),
                          c.rows,
                          c.columns,
                          center.data(),
                          inverse_scale.data(),
                          c.precision,
                          1,
                          c.samples,
                          c.samples > 0 ? sample.data() : nullptr};
  const Gaps gaps(n, c.missing ? p : 0, &x);
  if (c.missing) data.missing = &gaps.missing;
  const wb_mixture_parameters parameters = {c.components, factor.data(), offset.data(), log_constant.data()};
  wb_run run = several_threads(c.memory_limit);
  run.host_memory = c.samples > 0 ? 0 : 1 << 30;
  wb_mixture_session *session = nullptr;
  if (!call("mixture_open", backend->mixture->open, &data, &run, &session)) return false;

  const std::vector<double> mean(p, 0.5);
  std::vector<double> log_weight(samples * k, -3);
  for (size_t i = k; i < log_weight.size(); i++) log_weight[i] = -3 - (double)(i % 5);
  std::vector<double> scale(triangle), statistics(k * statistics_size);
  std::vector<int32_t> source(k);
  for (size_t r = 0; r < p; r++) scale[r * (r + 1) / 2 + r] = 1;
  for (size_t j = 0; j < k; j++) source[j] = (int32_t)(k - 1 - j);
  const wb_mixture_law law = {mean.data(), 2, 6, scale.data(), nullptr};
  const auto *functions = backend->mixture;
  bool good = call("mixture_set_components", functions->set_components, session, c.components, statistics.data());
  for (uint32_t iteration = 1; good && iteration <= 2; iteration++) {
    std::vector<int32_t> labels(n);
    std::vector<double> sizes(samples * k), log_likelihood(1), pull(p), first(triangle), second(triangle);
    std::vector<double> means(k * p), factors(k * triangle);
    std::vector<double> log_determinant(k), distance(k), trace(k), point_distance(9 * k);
    const wb_mixture_precisions sums = {0.5, 6, pull.data(), first.data(), second.data()};
    const wb_mixture_measures measures = {log_determinant.data(), mean.data(),          distance.data(),
                                          scale.data(),           trace.data(),         c.rows < 9 ? 1 : 9,
                                          whole.data(),           point_distance.data()};
    good =
        call("mixture_draw_components", functions->draw_components, session, &law, source.data(), 99, iteration) &&
        call("mixture_draw_labels", functions->draw_labels, session, log_weight.data(), 99, iteration, labels.data()) &&
        call("mixture_add_precisions", functions->add_precisions, session, &sums) &&
        call("mixture_measure", functions->measure, session, &measures) &&
        call("mixture_finish_labels", functions->finish_labels, session, sizes.data(), log_likelihood.data()) &&
        call("mixture_get_components", functions->get_components, session, means.data(), factors.data()) &&
        call("mixture_get_statistics", functions->get_statistics, session, 0, c.components, statistics.data()) &&
        call("mixture_set_statistics", functions->set_statistics, session, 0, 1, statistics.data());
    double rows = 0;
    std::vector<double> counted(samples * k);
    for (size_t i = 0; i < n; i++) counted[(samples > 1 ? (size_t)sample[i] : 0) * k + (size_t)labels[i]] += 1;
    good = good && counted == sizes;
    for (double size : sizes) rows += size;
    for (int32_t label : labels) good = good && label >= 0 && label < c.components;
    good = good && rows == (double)n && log_likelihood[0] - log_likelihood[0] == 0; /* finite */
    record->add(labels, statistics, log_likelihood, pull, first, second, trace, point_distance, means);
    good = good && run_pairs(backend, c, session, record);
  }
  if (good && c.missing) {
    std::vector<double> row(p);
    good = call("mixture_get_row", functions->get_row, session, 0, row.data());
    for (double value : row) good = good && value == value;
    record->add(row);
  }
  if (good) {
    const int64_t first = c.rows / 3, count = c.rows - first;
    std::vector<int32_t> labels((size_t)count);
    std::vector<double> log_density((size_t)count), probability((size_t)count * k);
    good = call("mixture_evaluate", backend->mixture->evaluate, session, &parameters, first, count, labels.data(),
                log_density.data(), probability.data());
    for (int64_t i = 0; i < count; i++) {
      double total = 0;
      for (size_t j = 0; j < k; j++) total += probability[(size_t)i + j * (size_t)count];
      good = good && total > 0.999 && total < 1.001;
    }
    record->add(labels, log_density, probability);
    /* Adds the density twice to itself, so that its log grows by log 3. */
    const wb_mixture_parameters twice[] = {parameters, parameters};
    const std::vector<double> unit((size_t)count, 0.0);
    std::vector<double> sum(log_density);
    good = good && call("mixture_add_densities", backend->mixture->add_densities, session, twice, 2, first, count,
                        unit.data(), count, sum.data());
    for (int64_t i = 0; i < count; i++) {
      const double more = sum[(size_t)i] - log_density[(size_t)i];
      good = good && more > 1.0986 && more < 1.0987; /* log 3 */
    }
    record->add(sum);
  }
  /* The probabilities of a leaf may need more memory than the limit. */
  if (good && (c.memory_limit == 0 || c.components < 10)) {
    std::vector<double> log_likelihood(1);
    good = call("mixture_weigh_rows", functions->weigh_rows, session, &parameters, statistics.data(),
                log_likelihood.data());
    double rows = 0;
    for (size_t j = 0; j < k; j++) rows += statistics[j * (1 + p + triangle)];
    good = good && rows > 0.999 * (double)n && rows < 1.001 * (double)n;
    record->add(statistics, log_likelihood);
  }
  backend->mixture->close(session);
  return good;
}

/* Topic models ------------------------------------------------------------------------- */

struct TopicCase {
  int32_t documents, terms, topics;
  wb_precision precision;
  int mean, tables;
  int32_t groups = 1; /* of documents; with several, every second term has prior counts */

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "topic model, %d documents, %d terms, %d topics, %d groups, %s%s%s", documents,
                  terms, topics, groups, precision == WB_DOUBLE ? "double" : "single", mean ? ", means" : "",
                  tables ? ", tables" : "");
    return text;
  }
};

bool run_topic_model(const wb_backend *backend, const TopicCase &c, Record *record) {
  Numbers numbers(7);
  /* Every third count is positive, and every fourth document is empty. */
  std::vector<int32_t> term, count, place_count;
  std::vector<uint32_t> place_token;
  std::vector<int64_t> first_pair(1, 0), first_token(1, 0), first_place(1, 0);
  std::vector<std::vector<uint32_t>> tokens_of((size_t)c.terms);
  std::vector<std::vector<int32_t>> counts_of((size_t)c.terms);
  int64_t tokens = 0;
  for (int32_t d = 0; d < c.documents; d++) {
    for (int32_t w = 0; w < c.terms && d % 4 != 3; w++) {
      if (numbers.next() > 0.3) continue;
      const int32_t n = 1 + (int32_t)(numbers.next() * 3) + (d == 0 && w < 4 ? 20 : 0);
      term.push_back(w);
      count.push_back(n);
      tokens_of[(size_t)w].push_back((uint32_t)tokens);
      counts_of[(size_t)w].push_back(n);
      tokens += n;
    }
    first_pair.push_back((int64_t)term.size());
    first_token.push_back(tokens);
  }
  for (size_t w = 0; w < (size_t)c.terms; w++) {
    place_token.insert(place_token.end(), tokens_of[w].begin(), tokens_of[w].end());
    place_count.insert(place_count.end(), counts_of[w].begin(), counts_of[w].end());
    first_place.push_back((int64_t)place_token.size());
  }
  /* The lengths are less than the true ones, so that some tokens are above the levels of the tables. */
  const wb_topic_corpus corpus = {c.documents,
                                  c.terms,
                                  (int64_t)term.size(),
                                  tokens,
                                  term.data(),
                                  count.data(),
                                  first_pair.data(),
                                  first_token.data(),
                                  first_place.data(),
                                  place_token.data(),
                                  place_count.data(),
                                  40,
                                  12};
  std::vector<int32_t> group, extra_of;
  for (int32_t d = 0; d < c.documents; d++) group.push_back(d % c.groups);
  for (int32_t w = 0; w < c.terms; w++) extra_of.push_back(w % 2 == 0 ? w / 2 : -1);
  const int32_t extras = c.groups > 1 ? (c.terms + 1) / 2 : 0;
  const std::vector<double> extra = Numbers(8).vector((size_t)extras * (size_t)c.topics, 0, 2);
  const wb_topic_settings settings = {
      c.topics, c.precision, {c.groups, group.data(), extras, extra_of.data(), extra.data()}};
  const size_t k = (size_t)c.topics, groups = (size_t)c.groups;
  const size_t documents = (size_t)c.documents, terms = (size_t)c.terms;
  const wb_run run = one_thread();
  wb_topic_session *session = nullptr;
  const auto *functions = backend->topic_model;
  if (!call("open", functions->open, &corpus, &settings, &run, &session)) return false;
  std::vector<uint16_t> topic((size_t)tokens);
  for (uint16_t &z : topic) z = (uint16_t)(numbers.next() * c.topics);
  std::vector<double> alpha = numbers.vector(groups * k, 0.1, 2), theta(documents * k), phi(terms * k);
  std::vector<double> log_likelihood(documents);
  std::vector<int64_t> tables(groups * k), size(k);
  const int64_t rows = (int64_t)(groups * k), levels = wb_topic_alpha_levels(rows, corpus.longest_document);
  std::vector<int32_t> histogram((size_t)(rows * (levels + 1)));
  int64_t term_tables = 0;
  if (c.tables) alpha.assign(groups * k, 0.3);
  const wb_topic_draw draw = {3, 5, c.mean, alpha.data(), 0.2, c.tables, c.tables};
  bool good = call("set_topics", functions->set_topics, session, topic.data()) &&
              call("draw_terms", functions->draw_terms, session, &draw) &&
              call("get_phi", functions->get_phi, session, phi.data()) &&
              call("draw_documents", functions->draw_documents, session, &draw, log_likelihood.data(), theta.data()) &&
              call("get_topics", functions->get_topics, session, topic.data()) &&
              call("count_documents", functions->count_documents, session, &draw, histogram.data(), tables.data()) &&
              call("draw_term_tables", functions->draw_term_tables, session, &draw, &term_tables, size.data());
  record->add(phi, theta, log_likelihood, topic, histogram, tables, size);
  if (good)
    good = call("set_phi", functions->set_phi, session, phi.data()) &&
           call("score", functions->score, session, theta.data(), log_likelihood.data());
  record->add(log_likelihood);
  int64_t total = 0;
  for (int64_t n : size) total += n;
  const std::vector<double> log_share = numbers.vector(k, -3, 0);
  if (good && c.groups == 1)
    good = call("draw_members", functions->draw_members, session, &draw, log_share.data(), size.data(),
                log_likelihood.data(), theta.data()) &&
           call("get_topics", functions->get_topics, session, topic.data());
  record->add(theta, log_likelihood, topic, size);
  functions->close(session);
  return good && total == tokens;
}

/* Convolutions ------------------------------------------------------------------------ */

struct ConvolutionCase {
  int64_t pairs, m, n, first, count;
  bool interleaved;         /* pairs side by side rather than one after the other */
  bool one_for_all = false; /* the first p serves all pairs */
  uint64_t memory_limit = 0;

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "convolve, %lld pairs of %lld and %lld, outputs %lld to %lld%s", (long long)pairs,
                  (long long)m, (long long)n, (long long)first, (long long)(first + count - 1),
                  interleaved ? one_for_all ? ", interleaved, one p for all" : ", interleaved" : "");
    return text;
  }
};

/* Compares with sums in increasing j, within the rounding error of any order. */
bool run_convolution(const wb_backend *backend, const ConvolutionCase &c, Record *record) {
  Numbers numbers((uint64_t)(c.m + 1000 * c.n));
  const std::vector<double> p = numbers.vector((size_t)(c.pairs * c.m), 0, 1),
                            q = numbers.vector((size_t)(c.pairs * c.n), 0, 1);
  std::vector<double> r((size_t)(c.pairs * c.count), -1.0);
  wb_convolution convolution = {};
  convolution.pairs = c.pairs;
  convolution.m = c.m;
  convolution.n = c.n;
  convolution.first = c.first;
  convolution.count = c.count;
  convolution.p = p.data();
  convolution.q = q.data();
  convolution.r = r.data();
  convolution.p_stride = convolution.q_stride = convolution.r_stride = c.interleaved ? c.pairs : 1;
  convolution.p_pair_stride = c.one_for_all ? 0 : c.interleaved ? 1 : c.m;
  convolution.q_pair_stride = c.interleaved ? 1 : c.n;
  convolution.r_pair_stride = c.interleaved ? 1 : c.count;
  const wb_run run = several_threads(c.memory_limit);
  wb_poll poll = {};
  unsigned seen = 7;
  if (!call("convolve", backend->pmf->convolve, &convolution, &run, &poll, &seen)) return false;
  record->add(r);
  bool good = seen == 0;
  for (int64_t pair = 0; pair < c.pairs; pair++)
    for (int64_t i = 0; i < c.count; i++) {
      const int64_t total = c.first + i;
      double sum = 0;
      for (int64_t j = total < c.n ? 0 : total - c.n + 1; j < c.m && j <= total; j++)
        sum += p[(size_t)(pair * convolution.p_pair_stride + j * convolution.p_stride)] *
               q[(size_t)(pair * convolution.q_pair_stride + (total - j) * convolution.q_stride)];
      const double difference = r[(size_t)(pair * convolution.r_pair_stride + i * convolution.r_stride)] - sum;
      good = good && difference <= 1e-12 * sum && difference >= -1e-12 * sum;
    }
  return good;
}

/* Categorical draws --------------------------------------------------------------------- */

struct CategoricalCase {
  int64_t rows, columns, draws;
  wb_precision precision;
  int32_t log; /* negative: sparse */
  uint64_t memory_limit;

  std::string name() const {
    char text[200];
    std::snprintf(text, sizeof text, "categorical, %lld x %lld, %lld draws, %s%s, memory limit %llu", (long long)rows,
                  (long long)columns, (long long)draws, precision == WB_DOUBLE ? "double" : "single",
                  log > 0   ? ", logarithms"
                  : log < 0 ? ", sparse"
                            : "",
                  (unsigned long long)memory_limit);
    return text;
  }
};

/* Every third weight is zero, and the items drawn are none of these. */
bool run_categorical(const wb_backend *backend, const CategoricalCase &c, Record *record) {
  Numbers numbers((uint64_t)(c.rows + 1000 * c.columns));
  std::vector<double> weights = numbers.vector((size_t)(c.rows * c.columns), 0.5, 2);
  std::vector<int32_t> index((size_t)(c.rows * c.draws), -7);
  wb_categorical_draws draws = {};
  draws.precision = c.precision;
  draws.key = 5;
  draws.draws = c.draws;
  draws.index = index.data();
  draws.index_stride = c.rows;
  const wb_run run = several_threads(c.memory_limit);
  bool good;
  if (c.log < 0) {
    std::vector<int64_t> offset(1, 0);
    std::vector<int32_t> column;
    for (int64_t i = 0; i < c.rows; i++) {
      for (int64_t j = 0; j < c.columns; j++)
        if (j % 3 != 1) column.push_back((int32_t)j);
      offset.push_back((int64_t)column.size());
    }
    const wb_categorical_sparse rows = {c.rows, c.columns, offset.data(), column.data(), weights.data()};
    good = call("draw_sparse", backend->categorical->draw_sparse, &rows, &draws, &run);
  } else {
    for (int64_t i = 0; i < c.rows; i++)
      for (int64_t j = 1; j < c.columns; j += 3) weights[(size_t)(i + j * c.rows)] = c.log ? -HUGE_VAL : 0;
    const wb_categorical_rows rows = {c.rows, c.columns, weights.data(), 1, c.rows, c.log};
    good = call("draw", backend->categorical->draw, &rows, &draws, &run);
  }
  for (int32_t item : index) good = good && item >= 0 && item < c.columns && item % 3 != 1;
  record->add(index);
  return good;
}

/* Polya-Gamma variables ----------------------------------------------------------------- */

struct PolyagammaCase {
  int64_t count;
  int64_t shapes, tilts;
  int method;
  uint64_t memory;
  std::string name() const {
    return "polyagamma: " + std::to_string(count) + " draws, " + std::to_string(shapes) + " shapes, " +
           std::to_string(tilts) + " tilts, method " + std::to_string(method);
  }
};

/* Compares with the scalar functions. */
bool run_polyagamma(const wb_backend *backend, const PolyagammaCase &c, Record *record) {
  static const double some_shapes[] = {1, 0.3, 4.5, 20, 50, 3, 11.5}, some_tilts[] = {0, 2, -3, 17, 1};
  std::vector<double> shape((size_t)c.shapes), tilt((size_t)c.tilts);
  std::vector<double> draws((size_t)c.count, -1.0), value((size_t)c.count, -1.0);
  for (int64_t i = 0; i < c.shapes; i++)
    shape[(size_t)i] = c.method == WB_POLYAGAMMA_AUTO ? some_shapes[i % 7] : c.method == WB_POLYAGAMMA_NORMAL ? 200 : 1;
  for (int64_t i = 0; i < c.tilts; i++) tilt[(size_t)i] = some_tilts[i % 5];
  wb_polyagamma_work work = {};
  work.count = c.count;
  work.shape = shape.data();
  work.shapes = c.shapes;
  work.tilt = tilt.data();
  work.tilts = c.tilts;
  work.method = c.method;
  work.key = 5;
  work.first = 1000;
  work.begin = 3;
  work.draws = draws.data();
  const wb_run run = several_threads(c.memory);
  if (!call("draw", backend->polyagamma->draw, &work, &run)) return false;
  record->add(draws);
  bool good = true;
  std::vector<double> shapes((size_t)c.count), tilts((size_t)c.count);
  for (int64_t i = 0; i < c.count; i++) {
    const double b = shapes[(size_t)i] = shape[(size_t)((3 + i) % c.shapes)];
    const double t = tilts[(size_t)i] = tilt[(size_t)((3 + i) % c.tilts)];
    const int way = wb_polyagamma_way_of(c.method, b, t);
    good = good && draws[(size_t)i] == wb_polyagamma_draw_by(way, 5, 0, (uint64_t)(1000 + i), b, t);
  }
  wb_polyagamma_points points = {};
  points.count = c.count < 40 ? c.count : 40;
  points.x = draws.data();
  points.shape = shapes.data();
  points.tilt = tilts.data();
  points.quantity = WB_POLYAGAMMA_LOWER;
  points.value = value.data();
  if (!call("evaluate", backend->polyagamma->evaluate, &points, &run)) return false;
  record->add(value);
  for (int64_t i = 0; i < points.count; i++) good = good && value[(size_t)i] >= 0 && value[(size_t)i] <= 1;
  return good;
}

/* Regressions ------------------------------------------------------------------------- */

struct RegressionCase {
  int64_t rows;
  int32_t columns, outcomes, groups;
  bool sparse = false;
  int32_t levels = 0; /* of two grouping terms, of which one has two columns; 0: none */
  bool poisson = false, dual = false;

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "%s regression, n = %lld, p = %d%s, %d outcomes, %d groups, %d levels",
                  dual      ? "dual"
                  : poisson ? "Poisson"
                            : "other",
                  (long long)rows, columns, sparse ? ", sparse" : "", outcomes, groups, levels);
    return text;
  }
};

/* A pass with Polya-Gamma variables and one without: the log likelihoods are the same. */
bool run_regression(const wb_backend *backend, const RegressionCase &c, Record *record) {
  const size_t n = (size_t)c.rows, p = (size_t)c.columns, outcomes = (size_t)c.outcomes, groups = (size_t)c.groups;
  Numbers numbers(13 * p + n);
  const std::vector<double> x = numbers.vector(n * p, -1, 1), center = numbers.vector(p, -0.1, 0.1),
                            inverse_scale = numbers.vector(p, 0.5, 2), offset = numbers.vector(n * outcomes, -1, 1),
                            shape = numbers.vector(n, 0, 40), kappa = numbers.vector(n * outcomes, -1, 1),
                            dispersed = numbers.vector(n, 0, 1), coefficients = numbers.vector(p * outcomes, -1, 1),
                            intercepts = numbers.vector(groups, -1, 1);
  std::vector<int64_t> starts(groups + 1);
  for (size_t g = 0; g <= groups && groups > 0; g++) starts[g] = (int64_t)(g * n / groups);
  /* A sparse design has every third entry. */
  std::vector<int32_t> row_start(n + 1), column;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i % 3; j < p; j += 3) column.push_back((int32_t)j);
    row_start[i + 1] = (int32_t)column.size();
  }
  const std::vector<double> value = numbers.vector(column.size(), -1, 1);
  wb_regression_data data = {};
  data.x = c.sparse ? nullptr : x.data();
  data.rows = c.rows;
  data.columns = c.columns;
  data.center = center.data();
  data.inverse_scale = inverse_scale.data();
  data.row_start = row_start.data();
  data.column = column.data();
  data.value = value.data();
  data.outcomes = c.outcomes;
  data.offset = offset.data();
  data.shape = shape.data();
  data.kappa = kappa.data();
  data.dispersed = c.poisson ? nullptr : dispersed.data();
  data.poisson = c.poisson;
  data.dual = c.dual;
  data.groups = c.groups;
  data.group_start = starts.data();
  /* Term 0 has intercepts of rows modulo `levels`, term 1 two columns of blocks of rows. */
  std::vector<int32_t> level[2], start[2], index[2];
  const std::vector<double> effects = numbers.vector(3 * (size_t)c.levels, -1, 1), z = numbers.vector(2 * n, -1, 1);
  wb_regression_term terms[2] = {};
  for (int t = 0; t < 2 && c.levels > 0; t++) {
    start[t].assign((size_t)c.levels + 1, 0);
    const size_t levels = (size_t)c.levels;
    for (size_t i = 0; i < n; i++) level[t].push_back((int32_t)(t == 0 ? i % levels : i * levels / n));
    for (int32_t l = 0; l < c.levels; l++) {
      for (size_t i = 0; i < n; i++)
        if (level[t][i] == l) index[t].push_back((int32_t)i);
      start[t][(size_t)l + 1] = (int32_t)index[t].size();
    }
    terms[t] = {t + 1, c.levels, t == 0 ? nullptr : z.data(), level[t].data(), start[t].data(), index[t].data()};
  }
  data.term_count = c.levels > 0 ? 2 : 0;
  data.terms = terms;
  wb_regression_parameters parameters = {coefficients.data(), intercepts.data(), 1.5, -0.4,
                                         WB_REGRESSION_DRAWN, effects.data(),    0};
  const wb_run run = one_thread();
  wb_regression_session *session = nullptr;
  if (!call("regression open", backend->regression->open, &data, &run, &session)) return false;
  std::vector<double> statistics(c.dual ? 2 * n : WB_REGRESSION_STATISTICS(p)), both(2);
  const size_t of_level = WB_REGRESSION_LEVEL_STATISTICS(p, 1) + WB_REGRESSION_LEVEL_STATISTICS(p, 2);
  std::vector<double> sums(groups * WB_REGRESSION_GROUP_STATISTICS(p) + (size_t)c.levels * of_level);
  std::vector<double> linear(2 * (size_t)c.levels);
  bool good = call("regression sweep", backend->regression->sweep, session, &parameters, c.outcomes - 1, 99, 3,
                   statistics.data(), sums.empty() ? nullptr : sums.data(), &both[0]);
  if (c.levels > 0)
    good = good &&
           call("change of effects", backend->regression->change_effects, session, 0, effects.data(), 1, linear.data());
  good = good && call("regression log likelihood", backend->regression->log_likelihood, session, &parameters, &both[1]);
  for (int32_t weights :
       {WB_REGRESSION_EXPECTED, WB_REGRESSION_INFORMATION, WB_REGRESSION_CROSS, WB_REGRESSION_RATIO}) {
    if (weights == WB_REGRESSION_CROSS && c.outcomes == 1) continue;
    if (weights == WB_REGRESSION_RATIO) {
      double ratio = 0;
      parameters.weights = weights;
      good = good && call("regression ratio", backend->regression->log_likelihood, session, &parameters, &ratio);
      record->add(std::vector<double>{ratio});
      continue;
    }
    record->add(statistics);
    parameters.weights = weights;
    good = good && call("regression weights", backend->regression->sweep, session, &parameters, c.outcomes - 1, 0, 0,
                        statistics.data(), groups > 0 ? sums.data() : nullptr, &both[1]);
  }
  if (c.dual) {
    std::vector<double> gram(n * (n + 3)), product(n), transposed(p);
    good = good &&
           call("products of the rows", backend->regression->gram, session, inverse_scale.data(), n + 3, gram.data());
    good = good &&
           call("product with a vector", backend->regression->multiply, session, coefficients.data(), product.data());
    good = good && call("transposed product with a vector", backend->regression->multiply_transposed, session,
                        shape.data(), transposed.data());
    record->add(gram, product, transposed);
  }
  std::vector<double> levels, placed;
  for (int32_t t = 0; t < 2 && good && c.outcomes == 1; t++) {
    const bool is_term = c.levels > 0;
    if (!is_term && (t > 0 || groups == 0)) continue;
    const size_t count = is_term ? (size_t)c.levels : groups, q = is_term ? (size_t)t + 1 : 1;
    levels.resize(count);
    good = good && call("log likelihoods of levels", backend->regression->level_log_likelihoods, session, &parameters,
                        is_term ? t : -1, levels.data());
    record->add(levels);
    const std::vector<double> records = numbers.vector(count * WB_LEVEL_RECORD((int)q, p), 0.1, 0.9);
    const double tie[3] = {2, 0.5, 1}, most[2] = {3, 3};
    wb_regression_placing placing = {};
    placing.term = is_term ? t : -1;
    placing.columns = (int32_t)q;
    placing.renewed = 1;
    placing.records = records.data();
    placing.change = coefficients.data();
    placing.tie = tie;
    placing.most = most;
    placing.key = 7;
    placing.from = is_term ? effects.data() : intercepts.data();
    placed.resize(count * q);
    for (int32_t action : {WB_LEVEL_FOLLOW, WB_LEVEL_STANDARDISE, WB_LEVEL_PROPOSE}) {
      placing.action = action;
      good = good && call("actions on levels", backend->regression->place_levels, session, &placing, placed.data(),
                          levels.data());
      record->add(placed, levels);
    }
  }
  backend->regression->close(session);
  record->add(statistics, sums, linear, both);
  for (double value : statistics) good = good && value - value == 0; /* finite */
  return good && both[0] == both[1];
}

/* Counts with a regression of zeros, whose rows are in the opposite order. */
struct PairCase {
  int64_t rows;
  int32_t columns;
  bool hurdle, poisson;

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "%s %s regression, n = %lld, p = %d", hurdle ? "hurdle" : "zero-inflated",
                  poisson ? "Poisson" : "negative binomial", (long long)rows, columns);
    return text;
  }
};

bool run_pair(const wb_backend *backend, const PairCase &c, Record *record) {
  const size_t n = (size_t)c.rows, p = (size_t)c.columns;
  Numbers numbers(17 * p + n);
  const std::vector<double> x = numbers.vector(n * p, -1, 1), center = numbers.vector(p, -0.1, 0.1),
                            inverse_scale = numbers.vector(p, 0.5, 2), coefficients = numbers.vector(p, -1, 1),
                            ones(n, 1.0);
  std::vector<double> count = numbers.vector(n, -3, 4), weight = numbers.vector(n, 0, 3), unit(n), half(n);
  std::vector<double> dispersed(n), kappa(n);
  std::vector<int32_t> row(n);
  for (size_t i = 0; i < n; i++) {
    count[i] = count[i] < 0 ? 0 : (double)(int)count[i];
    weight[i] = (double)(int)weight[i];
    unit[i] = c.poisson ? 8 : 1;
    half[i] = 0.5 * weight[i] * count[i];
    row[i] = (int32_t)(n - 1 - i);
  }
  const wb_regression_zeros zeros = {c.hurdle, count.data(), weight.data(), unit.data(), row.data()};
  wb_regression_data data[2] = {};
  for (int i = 0; i < 2; i++) {
    data[i].x = x.data();
    data[i].rows = c.rows;
    data[i].columns = c.columns;
    data[i].center = center.data();
    data[i].inverse_scale = inverse_scale.data();
    data[i].outcomes = 1;
    data[i].shape = i == 0 ? count.data() : ones.data();
    data[i].kappa = i == 0 ? half.data() : kappa.data();
    data[i].completed = i == 0 ? dispersed.data() : kappa.data();
  }
  data[0].dispersed = dispersed.data();
  data[0].poisson = c.poisson;
  data[0].zeros = &zeros;
  const wb_run run = one_thread();
  wb_regression_pair pair = {};
  if (!call("counts open", backend->regression->open, &data[0], &run, &pair.counts)) return false;
  bool good = call("zeros open", backend->regression->open, &data[1], &run, &pair.zeros);
  pair.of_counts = {
      coefficients.data(), nullptr, c.poisson ? 1 : 1.5, c.poisson ? 0 : -0.4, WB_REGRESSION_DRAWN, nullptr, 0};
  pair.of_zeros = {coefficients.data(), nullptr, 0, 0, WB_REGRESSION_DRAWN, nullptr, 0};
  const uint64_t key = 5;
  for (const uint64_t *with : {static_cast<const uint64_t *>(nullptr), &key}) {
    good = good && call("completed counts", backend->regression->complete, &pair, with, 3);
    record->add(dispersed, kappa);
  }
  std::vector<double> sums(2), statistics(WB_REGRESSION_STATISTICS(p));
  good = good && call("log likelihood of both", backend->regression->pair_log_likelihood, &pair, &sums[0]);
  good = good && call("sweep of counts", backend->regression->sweep, pair.counts, &pair.of_counts, 0, key, 3,
                      statistics.data(), nullptr, &sums[1]);
  record->add(sums, statistics);
  backend->regression->close(pair.counts);
  backend->regression->close(pair.zeros);
  return good && sums[0] - sums[0] == 0;
}

struct PredictionCase {
  int64_t rows, draws;
  int32_t columns, outcomes, kind;
  bool sparse = false;

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "prediction of regressions, n = %lld, p = %d%s, %lld draws, %d outcomes, kind %d",
                  (long long)rows, columns, sparse ? ", sparse" : "", (long long)draws, outcomes, kind);
    return text;
  }
};

/* Summaries are finite, and quantiles are in order. */
bool run_prediction(const wb_backend *backend, const PredictionCase &c, Record *record) {
  const size_t n = (size_t)c.rows, p = (size_t)c.columns, outcomes = (size_t)c.outcomes, draws = (size_t)c.draws;
  const size_t shown = outcomes + (c.kind == WB_REGRESSION_CLASSES ? 1 : 0);
  Numbers numbers(17 * p + n);
  const std::vector<double> x = numbers.vector(n * p, -1, 1), offset = numbers.vector(n * outcomes, -1, 1),
                            multiple = numbers.vector(n, -1, 1), effect = numbers.vector(3 * draws, -1, 1),
                            coefficients = numbers.vector(draws * p * outcomes, -1, 1);
  std::vector<int32_t> row_start(n + 1), column, level;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i % 3; j < p; j += 3) column.push_back((int32_t)j);
    row_start[i + 1] = (int32_t)column.size();
    level.push_back((int32_t)(i % 4) - 1); /* every fourth row has none of the three levels */
  }
  const std::vector<double> value = numbers.vector(column.size(), -1, 1);
  const wb_regression_effect effects = {0, 3, level.data(), multiple.data(), effect.data()};
  wb_regression_prediction what = {};
  what.x = c.sparse ? nullptr : x.data();
  what.rows = c.rows;
  what.columns = c.columns;
  what.outcomes = c.outcomes;
  what.row_start = row_start.data();
  what.column = column.data();
  what.value = value.data();
  what.offset = offset.data();
  what.effects = 1;
  what.effect = &effects;
  what.draws = c.draws;
  what.coefficients = coefficients.data();
  what.kind = c.kind;
  what.index[0] = c.draws / 20;
  what.index[1] = c.draws - 1 - c.draws / 20;
  for (int tail = 0; tail < 2; tail++) {
    what.score[tail][0] = tail == 0 ? -2.2 : 1.1;
    what.score[tail][1] = tail == 0 ? -1.1 : 2.2;
    what.start[tail] = 0.5;
  }
  const wb_run run = one_thread();
  std::vector<double> out(n * shown * WB_REGRESSION_SUMMARIES);
  if (!call("predict", backend->regression->predict, &what, 0, c.rows, &run, out.data())) return false;
  record->add(out);
  bool good = true;
  for (size_t i = 0; i < n * shown; i++)
    good = good && out[i] - out[i] == 0 && out[n * shown + i] >= 0 && out[2 * n * shown + i] <= out[3 * n * shown + i];
  return good;
}

/* --------------------------------------------------------------------------------------- */

template <typename Functions>
bool is_absent(Functions *functions, const char *name) {
  if (functions == nullptr) std::printf("%s: not in this backend\n", name);
  return functions == nullptr;
}

template <typename Case>
void both_ways(const wb_backend *backend, const Case &c, bool (*run)(const wb_backend *, const Case &, Record *)) {
  std::printf("%s\n", c.name().c_str());
  Record forward, reversed;
  setenv("WB_EMULATOR_ORDER", "forward", 1);
  tell(run(backend, c, &forward), c.name());
  setenv("WB_EMULATOR_ORDER", "reverse", 1);
  tell(run(backend, c, &reversed), c.name() + ", from the last thread to the first");
  tell(forward == reversed, c.name() + ": the same from the first thread and from the last");
}

void mixtures(const wb_backend *backend) {
  if (is_absent(backend->mixture, "mixture")) return;
  static const MixtureCase cases[] = {
      {1, 1, 1, WB_DOUBLE, 0, 0},
      {WB_LEAF_ROWS + 77, 2, 33, WB_DOUBLE, 0, 0},
      {WB_LEAF_ROWS + 77, 2, 33, WB_SINGLE, 0, 0},
      /* Memory for only a part of the rows, so that they go in chunks. */
      {3 * WB_LEAF_ROWS - 1, 5, 31, WB_DOUBLE, 400000, 0},
      {9 * WB_LEAF_ROWS + 3, 2, 17, WB_SINGLE, 225000, 0},
      {3 * WB_LEAF_ROWS - 1, 2, 3, WB_DOUBLE, 200000, 0},
      {WB_LEAF_ROWS + 77, 2, 18, WB_DOUBLE, 0, 3},
      {2 * WB_LEAF_ROWS + 9, 5, 17, WB_SINGLE, 300000, 5},
      {200, 18, 20, WB_DOUBLE, 0, 0},
      /* With tensor cores, from about eleven components on, and without. */
      {300, 14, 64, WB_DOUBLE, 0, 0},
      {300, 14, 10, WB_DOUBLE, 0, 0},
      {300, 14, 64, WB_SINGLE, 0, 0},
      {100, 21, 100, WB_DOUBLE, 0, 0},
      {100, 21, 100, WB_SINGLE, 0, 0},
      {70, 40, 32, WB_DOUBLE, 0, 0},
      {70, 40, 5, WB_DOUBLE, 0, 0},
      {70, 40, 35, WB_SINGLE, 0, 3},
      {70, 43, 2, WB_DOUBLE, 0, 0},
      {70, 43, 2, WB_SINGLE, 0, 0},
      {40, 3, 1100, WB_DOUBLE, 0, 0},
      /* Sums of several leaves, with several groups of few leaves. */
      {3 * WB_LEAF_ROWS + 5, 4, 70, WB_DOUBLE, 0, 0},
      {5 * WB_LEAF_ROWS - 1, 3, 65, WB_SINGLE, 500000, 0},
      {WB_LEAF_ROWS + 77, 2, 33, WB_DOUBLE, 0, 0, false, 8},
      {300, 14, 20, WB_DOUBLE, 0, 3, false, 8},
      {300, 14, 20, WB_SINGLE, 0, 0, false, 8},
      {WB_LEAF_ROWS + 77, 3, 18, WB_DOUBLE, 0, 2, true},
      {100, 21, 20, WB_SINGLE, 0, 0, true},
      {300, 1, 2, WB_SINGLE, 0, 0, true},
      /* Tables of some patterns at a time. */
      {300, 6, 20, WB_DOUBLE, 600000, 0, true},
  };
  const int minor = 0, usual = 9;
  for (const MixtureCase &c : cases) {
    wb_emulator_capability(&c.major, &minor);
    both_ways(backend, c, run_mixture);
  }
  wb_emulator_capability(&usual, &minor);
}

void convolutions(const wb_backend *backend) {
  if (is_absent(backend->pmf, "pmf")) return;
  static const ConvolutionCase cases[] = {
      {1, 1, 1, 0, 1, false},
      {3, 5, 2, 0, 6, false},
      {2, 33, 31, 0, 63, true},
      {1, 700, 65, 0, 764, false},
      {1, 64, 1025, 0, 1088, false},
      {1, 1030, 1100, 500, 700, false},
      {2, 300, 900, 899, 300, false},
      {40, 7, 9, 3, 10, true},
      {200, 7, 9, 3, 10, true, true, 10000},
      {100, 9, 40, 0, 48, true, false, 12000},
      {5, 70, 300, 0, 369, true},
      {8, 70, 2000, 0, 2069, true},
      {16, 70, 3100, 0, 3169, true},
  };
  for (const ConvolutionCase &c : cases) both_ways(backend, c, run_convolution);
}

void topic_models(const wb_backend *backend) {
  if (is_absent(backend->topic_model, "topic_model")) return;
  static const TopicCase cases[] = {{1, 3, 1, WB_DOUBLE, 0, 0},   {9, 70, 5, WB_DOUBLE, 0, 0},
                                    {9, 70, 40, WB_SINGLE, 0, 0}, {5, 20, 300, WB_DOUBLE, 0, 0},
                                    {9, 70, 33, WB_DOUBLE, 1, 0}, {9, 30, 40, WB_DOUBLE, 0, 1},
                                    {9, 30, 40, WB_SINGLE, 0, 1}, {9, 70, 40, WB_DOUBLE, 0, 1, 3}};
  for (const TopicCase &c : cases) both_ways(backend, c, run_topic_model);
}

void categoricals(const wb_backend *backend) {
  if (is_absent(backend->categorical, "categorical")) return;
  static const CategoricalCase cases[] = {
      /* One, four and 32 lanes to a row on the emulator's four multiprocessors: lanes_for() of items.cu. */
      {1, 1, 1, WB_DOUBLE, 0, 0},     {200, 37, 1, WB_DOUBLE, 0, 0},      {45, 150, 1, WB_DOUBLE, 0, 0},
      {5, 1100, 1, WB_DOUBLE, 0, 0},  {200, 37, 1, WB_SINGLE, 0, 0},      {45, 150, 1, WB_SINGLE, 0, 0},
      {5, 1100, 1, WB_SINGLE, 0, 0},  {150, 37, 1, WB_DOUBLE, 1, 0},      {45, 150, 1, WB_DOUBLE, 1, 0},
      {5, 1100, 1, WB_DOUBLE, 1, 0},  {45, 150, 3, WB_SINGLE, 1, 0},      {150, 37, 4, WB_DOUBLE, 0, 30000},
      {150, 37, 4, WB_DOUBLE, -1, 0}, {150, 37, 4, WB_SINGLE, -1, 30000},
  };
  for (const CategoricalCase &c : cases) both_ways(backend, c, run_categorical);
}

/* Predictive resampling ----------------------------------------------------------------- */

struct PredictiveCase {
  int32_t kind, dimensions, covariates; /* kind -1: normal means and weights */
  int64_t points, groups, steps;

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text,
                  "predictive, kind %d, %d coordinates, %d covariates, %lld points, %lld resamples, %lld steps", kind,
                  dimensions, covariates, (long long)points, (long long)groups, (long long)steps);
    return text;
  }
};

bool run_chains(const wb_backend *backend, const PredictiveCase &c, Record *record) {
  const wb_run run = one_thread();
  bool good = true;
  for (const bool known : {true, false}) {
    std::vector<double> mean((size_t)c.groups, 1.0), scale((size_t)c.groups, 2.0);
    std::vector<double> path((size_t)(c.groups * (c.steps / 3)));
    wb_normal_chains work = {};
    work.key = 5;
    work.resamples = c.groups;
    work.steps = c.steps;
    work.weight = 3;
    work.shape = 2;
    work.sd = 1;
    work.mean = mean.data();
    work.scale = known ? nullptr : scale.data();
    work.every = 3;
    work.trajectory = path.data();
    good = good && call("normal_chains", backend->predictive->normal_chains, &work, &run);
    record->add(mean, scale, path);
  }
  for (const int64_t steps : {(int64_t)0, c.steps}) {
    std::vector<double> weight((size_t)(c.points * c.groups));
    wb_bootstrap work = {5, 2, c.groups, c.points, steps, weight.data()};
    good = good && call("bootstrap", backend->predictive->bootstrap, &work, &run);
    double sum = 0;
    for (const double w : weight) sum += w;
    good = good && sum > 0.999 * (double)c.groups && sum < 1.001 * (double)c.groups;
    record->add(weight);
  }
  return good;
}

/* A fit of as many orders as there are resamples, then resamples from its state. */
bool run_copula(const wb_backend *backend, const PredictiveCase &c, Record *record) {
  const size_t n = (size_t)c.points, d = (size_t)c.dimensions, q = (size_t)c.covariates, g = (size_t)c.groups;
  const bool binary = c.kind == WB_COPULA_BINARY;
  Numbers numbers(7);
  const wb_run run = one_thread();
  const std::vector<double> rho = numbers.vector(g * d, 0.3, 0.9), term = numbers.vector(n, -1, 0);
  const std::vector<double> covariate = numbers.vector(n * q + 1, -1, 1);
  std::vector<double> outcome = numbers.vector(g * n, 0, 1), conditional = numbers.vector(g * d * n, 0.05, 0.95);
  for (double &y : outcome) y = y > 0.5;
  std::vector<double> score(g * n * d), gain(g * d * n, 1.0), rows = numbers.vector(g * n, 0.2, 0.8);
  const wb_copula_closeness close = {0, term.data(), covariate.data(), term.data(), covariate.data()};
  wb_copula_fit fit = {};
  fit.model = {binary ? WB_COPULA_BINARY : WB_COPULA_GAUSSIAN, c.dimensions, c.covariates, c.points};
  fit.groups = c.groups;
  fit.points = c.points;
  fit.rho = rho.data();
  fit.outcome = outcome.data();
  fit.closeness = close;
  fit.conditional = conditional.data();
  fit.score = score.data();
  fit.gain = gain.data();
  bool good = call("copula_fit", backend->predictive->copula_fit, &fit, &run);
  record->add(score, gain);
  gain.assign(g * d * n, 1.0);
  wb_copula_update update = {};
  update.model = fit.model;
  update.model.rows = c.covariates > 0 || binary ? c.points : 0;
  update.key = 9;
  update.groups = c.groups;
  update.points = c.points;
  update.steps = c.steps;
  update.observations = (double)n;
  update.most = 1.5;
  update.rho = rho.data();
  update.closeness = update.row_closeness = close;
  update.row_conditional = binary ? rows.data() : nullptr;
  update.conditional = conditional.data();
  update.gain = gain.data();
  good = good && call("copula_update", backend->predictive->copula_update, &update, &run);
  /* And the observations of the fit, given as data. */
  std::vector<int32_t> row(g * n);
  for (size_t i = 0; i < row.size(); i++) row[i] = (int32_t)(i % n);
  update.score = score.data();
  update.row = row.data();
  update.steps = c.points;
  update.row_conditional = nullptr;
  good = good && call("copula_update", backend->predictive->copula_update, &update, &run);
  for (const double u : conditional) good = good && u >= 0 && u <= 1;
  record->add(conditional, gain, rows);
  return good;
}

bool run_predictive(const wb_backend *backend, const PredictiveCase &c, Record *record) {
  return c.kind < 0 ? run_chains(backend, c, record) : run_copula(backend, c, record);
}

void predictive(const wb_backend *backend) {
  if (is_absent(backend->predictive, "predictive")) return;
  static const PredictiveCase cases[] = {
      {-1, 0, 0, 5, 131, 10},
      {WB_COPULA_GAUSSIAN, 1, 0, 130, 2, 130},
      {WB_COPULA_GAUSSIAN, 3, 0, 9, 2, 5},
      {WB_COPULA_GAUSSIAN, 1, 2, 9, 2, 5},
      {WB_COPULA_GAUSSIAN, 2, 1, 9, 2, 5},
      {WB_COPULA_BINARY, 1, 1, 270, 2, 5},
      {WB_COPULA_BINARY, 1, 0, 9, 2, 130},
  };
  for (const PredictiveCase &c : cases) both_ways(backend, c, run_predictive);
}

void polyagammas(const wb_backend *backend) {
  if (is_absent(backend->polyagamma, "polyagamma")) return;
  static const PolyagammaCase cases[] = {
      {1, 1, 1, WB_POLYAGAMMA_AUTO, 0},         {7000, 1, 1, WB_POLYAGAMMA_AUTO, 0},
      {5000, 7, 5, WB_POLYAGAMMA_AUTO, 0},      {4000, 4003, 5, WB_POLYAGAMMA_AUTO, 60000},
      {50, 1, 5, WB_POLYAGAMMA_SUM, 0},         {50, 1, 5, WB_POLYAGAMMA_ALTERNATE, 0},
      {20, 1, 5, WB_POLYAGAMMA_SADDLEPOINT, 0}, {50, 3, 1, WB_POLYAGAMMA_NORMAL, 0},
  };
  for (const PolyagammaCase &c : cases) both_ways(backend, c, run_polyagamma);
}

void regressions(const wb_backend *backend) {
  if (is_absent(backend->regression, "regression")) return;
  static const RegressionCase cases[] = {
      {1, 1, 1, 0},
      {300, 3, 1, 7},
      {WB_LEAF_ROWS + 77, 2, 1, 3},
      {2 * WB_LEAF_ROWS + 5, 1, 2, 0},
      {100, 24, 1, 0},
      {70, 130, 1, 2},
      {300, 7, 1, 7, true},
      {WB_LEAF_ROWS + 77, 2, 2, 0, true},
      {300, 3, 1, 0, false, 7},
      {2 * WB_LEAF_ROWS + 9, 2, 1, 0, false, 1},
      {300, 7, 1, 0, true, 5},
      {300, 3, 1, 7, false, 0, true},
      {WB_LEAF_ROWS + 9, 2, 1, 0, true, 4, true},
      {20, 45, 1, 0, false, 0, false, true},
      {19, 40, 2, 0, true, 0, false, true},
  };
  for (const RegressionCase &c : cases) both_ways(backend, c, run_regression);
  static const PairCase pairs[] = {
      {1, 1, false, false}, {300, 2, true, true}, {WB_LEAF_ROWS + 9, 2, false, true}, {200, 3, true, false}};
  for (const PairCase &c : pairs) both_ways(backend, c, run_pair);
  static const PredictionCase predictions[] = {
      {1, 2, 1, 1, WB_REGRESSION_LINEAR},
      {300, 50, 3, 1, WB_REGRESSION_PROBABILITY},
      {130, 41, 7, 1, WB_REGRESSION_MEAN, true},
      {200, 30, 2, 3, WB_REGRESSION_CLASSES},
  };
  for (const PredictionCase &c : predictions) both_ways(backend, c, run_prediction);
}

} // namespace

int main() {
  const wb_backend *const backend = wb_plugin_backend();
  mixtures(backend);
  convolutions(backend);
  categoricals(backend);
  topic_models(backend);
  predictive(backend);
  polyagammas(backend);
  regressions(backend);
  if (backend->release != nullptr) backend->release();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
