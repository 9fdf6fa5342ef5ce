/* Runs every kernel of the package through the backend's table with small sizes, from
 * the first thread to the last and from the last to the first, and compares the two
 * bit by bit. Built with --sanitize=thread it is what finds races; other builds are
 * useful too. A function that the backend does not have is left out and named. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backend/backend.h"

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

/* Everything that a call gave back, as bytes. */
class Record {
 public:
  template <typename T>
  void add(const std::vector<T> &values) {
    const char *const start = reinterpret_cast<const char *>(values.data());
    bytes_.append(start, values.size() * sizeof(T));
  }
  bool operator==(const Record &other) const { return bytes_ == other.bytes_; }

 private:
  std::string bytes_;
};

bool succeeded(int status, const wb_message &message, const char *what) {
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

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "mixture, n = %lld, p = %d, k = %d, %s, memory limit %llu",
                  (long long)rows, columns, components, precision == WB_DOUBLE ? "double" : "single",
                  (unsigned long long)memory_limit);
    return text;
  }
};

/* A sweep twice and an evaluation of some rows; whether all that makes sense. */
bool run_mixture(const wb_backend *backend, const MixtureCase &c, Record *record) {
  const size_t n = (size_t)c.rows, p = (size_t)c.columns, k = (size_t)c.components;
  const size_t triangle = p * (p + 1) / 2, statistics_size = WB_MIXTURE_STATISTICS(p);
  Numbers numbers(17 * p + k);
  const std::vector<double> x = numbers.vector(n * p, -3, 3), center = numbers.vector(p, -1, 1),
                            inverse_scale = numbers.vector(p, 0.5, 2),
                            factor = numbers.vector(k * triangle, 0.1, 1),
                            offset = numbers.vector(k * p, -2, 2), log_constant = numbers.vector(k, -4, -3);
  const wb_mixture_data data = {x.data(), c.rows, c.columns, center.data(), inverse_scale.data(), c.precision};
  const wb_mixture_parameters parameters = {c.components, factor.data(), offset.data(), log_constant.data()};
  wb_run run = {};
  run.threads = 1;
  run.memory_limit = c.memory_limit;
  wb_message message = {};
  wb_mixture_session *session = nullptr;
  if (!succeeded(backend->mixture->open(&data, &run, &session, &message), message, "mixture_open")) return false;

  bool good = true;
  for (uint32_t iteration = 1; good && iteration <= 2; iteration++) {
    std::vector<int32_t> labels(n);
    std::vector<double> statistics(k * statistics_size), log_likelihood(1);
    good = succeeded(backend->mixture->draw_labels(session, &parameters, 99, iteration, labels.data(), statistics.data(),
                                               log_likelihood.data(), &message),
                     message, "mixture_draw_labels");
    double rows = 0;
    for (size_t j = 0; j < k; j++) rows += statistics[j * statistics_size];
    for (int32_t label : labels) good = good && label >= 0 && label < c.components;
    good = good && rows == (double)n && log_likelihood[0] - log_likelihood[0] == 0; /* finite */
    record->add(labels);
    record->add(statistics);
    record->add(log_likelihood);
  }
  if (good) {
    const int64_t first = c.rows / 3, count = c.rows - first;
    std::vector<int32_t> labels((size_t)count);
    std::vector<double> log_density((size_t)count), probability((size_t)count * k);
    good = succeeded(backend->mixture->evaluate(session, &parameters, first, count, labels.data(), log_density.data(),
                                               probability.data(), &message),
                     message, "mixture_evaluate");
    for (int64_t i = 0; i < count; i++) {
      double total = 0;
      for (size_t j = 0; j < k; j++) total += probability[(size_t)i + j * (size_t)count];
      good = good && total > 0.999 && total < 1.001;
    }
    record->add(labels);
    record->add(log_density);
    record->add(probability);
  }
  backend->mixture->close(session);
  return good;
}

/* Convolutions ------------------------------------------------------------------------ */

struct ConvolutionCase {
  int64_t pairs, m, n, first, count;
  bool interleaved; /* pairs side by side rather than one after the other */

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "convolve, %lld pairs of %lld and %lld, outputs %lld to %lld%s", (long long)pairs,
                  (long long)m, (long long)n, (long long)first, (long long)(first + count - 1),
                  interleaved ? ", interleaved" : "");
    return text;
  }
};

/* Compared with sums in increasing j, as near as rounding lets all orders be. */
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
  convolution.p_pair_stride = c.interleaved ? 1 : c.m;
  convolution.q_pair_stride = c.interleaved ? 1 : c.n;
  convolution.r_pair_stride = c.interleaved ? 1 : c.count;
  wb_run run = {};
  run.threads = 1;
  wb_message message = {};
  if (!succeeded(backend->convolution->convolve(&convolution, &run, &message), message, "convolve")) return false;
  record->add(r);
  bool good = true;
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

/* Regressions ------------------------------------------------------------------------- */

struct RegressionCase {
  int64_t rows;
  int32_t columns, outcomes, groups;

  std::string name() const {
    char text[160];
    std::snprintf(text, sizeof text, "regression, n = %lld, p = %d, %d outcomes, %d groups", (long long)rows, columns, outcomes, groups);
    return text;
  }
};

/* A pass with Polya-Gamma variables and one without: the log likelihoods are the same. */
bool run_regression(const wb_backend *backend, const RegressionCase &c, Record *record) {
  const size_t n = (size_t)c.rows, p = (size_t)c.columns, outcomes = (size_t)c.outcomes, groups = (size_t)c.groups;
  Numbers numbers(13 * p + n);
  const std::vector<double> x = numbers.vector(n * p, -1, 1), center = numbers.vector(p, -0.1, 0.1),
                            inverse_scale = numbers.vector(p, 0.5, 2), offset = numbers.vector(n, -1, 1),
                            shape = numbers.vector(n, 0, 40), kappa = numbers.vector(n * outcomes, -1, 1),
                            dispersed = numbers.vector(n, 0, 1), coefficients = numbers.vector(p * outcomes, -1, 1),
                            intercepts = numbers.vector(groups, -1, 1);
  std::vector<int64_t> starts(groups + 1);
  for (size_t g = 0; g <= groups && groups > 0; g++) starts[g] = (int64_t)(g * n / groups);
  const wb_regression_data data = {x.data(), c.rows, c.columns, center.data(), inverse_scale.data(), c.outcomes,
                                   offset.data(), shape.data(), kappa.data(), dispersed.data(), c.groups, starts.data()};
  const wb_regression_parameters parameters = {coefficients.data(), intercepts.data(), 1.5, -0.4};
  wb_run run = {};
  run.threads = 1;
  wb_message message = {};
  wb_regression_session *session = nullptr;
  if (!succeeded(backend->regression->open(&data, &run, &session, &message), message, "regression open")) return false;
  std::vector<double> statistics(WB_REGRESSION_STATISTICS(p)), sums(groups * WB_REGRESSION_GROUP_STATISTICS(p)), both(2);
  bool good = succeeded(backend->regression->sweep(session, &parameters, c.outcomes - 1, 99, 3, statistics.data(),
                                                   groups > 0 ? sums.data() : nullptr, &both[0], &message),
                        message, "regression sweep");
  good = good && succeeded(backend->regression->sweep(session, &parameters, c.outcomes - 1, 0, 0, nullptr, nullptr, &both[1], &message),
                           message, "regression log likelihood");
  backend->regression->close(session);
  record->add(statistics);
  record->add(sums);
  record->add(both);
  for (double value : statistics) good = good && value - value == 0; /* finite */
  return good && both[0] == both[1];
}

/* --------------------------------------------------------------------------------------- */

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
  if (backend->mixture == nullptr) {
    std::printf("mixture: not in this backend\n");
    return;
  }
  static const MixtureCase cases[] = {
      {1, 1, 1, WB_DOUBLE, 0},
      {WB_LEAF_ROWS + 77, 2, 33, WB_DOUBLE, 0},
      {WB_LEAF_ROWS + 77, 2, 33, WB_SINGLE, 0},
      /* Memory for a part of the rows only: chunks. */
      {3 * WB_LEAF_ROWS - 1, 5, 31, WB_DOUBLE, 260000},
      {5 * WB_LEAF_ROWS + 3, 2, 17, WB_SINGLE, 120000},
      {200, 18, 20, WB_DOUBLE, 0},
      {300, 14, 64, WB_DOUBLE, 0},
      {300, 14, 64, WB_SINGLE, 0},
      {100, 21, 100, WB_DOUBLE, 0},
      {100, 21, 100, WB_SINGLE, 0},
      {70, 40, 32, WB_DOUBLE, 0},
      {70, 43, 2, WB_DOUBLE, 0},
      {70, 43, 2, WB_SINGLE, 0},
      {40, 3, 1000, WB_DOUBLE, 0},
  };
  for (const MixtureCase &c : cases) both_ways(backend, c, run_mixture);
}

void convolutions(const wb_backend *backend) {
  if (backend->convolution == nullptr) {
    std::printf("convolve: not in this backend\n");
    return;
  }
  static const ConvolutionCase cases[] = {
      {1, 1, 1, 0, 1, false},         {3, 5, 2, 0, 6, false},        {2, 33, 31, 0, 63, true},
      {1, 700, 65, 0, 764, false},    {1, 64, 1025, 0, 1088, false}, {1, 1030, 1100, 500, 700, false},
      {2, 300, 900, 899, 300, false}, {40, 7, 9, 3, 10, true},
  };
  for (const ConvolutionCase &c : cases) both_ways(backend, c, run_convolution);
}

void regressions(const wb_backend *backend) {
  if (backend->regression == nullptr) {
    std::printf("regression: not in this backend\n");
    return;
  }
  static const RegressionCase cases[] = {
      {1, 1, 1, 0}, {300, 3, 1, 7}, {WB_LEAF_ROWS + 77, 2, 1, 3}, {2 * WB_LEAF_ROWS + 5, 1, 2, 0}, {100, 24, 1, 0}, {70, 130, 1, 2},
  };
  for (const RegressionCase &c : cases) both_ways(backend, c, run_regression);
}

/* A measurement of speed: nothing to compare. */
void multiply_adds(const wb_backend *backend) {
  if (backend->multiply_add_rate == nullptr) {
    std::printf("multiply_add_rate: not in this backend\n");
    return;
  }
  for (wb_precision precision : {WB_DOUBLE, WB_SINGLE}) {
    wb_run run = {};
    run.threads = 1;
    wb_message message = {};
    double rate = 0;
    const bool good = succeeded(backend->multiply_add_rate(&run, precision, &rate, &message), message,
                                "multiply_add_rate");
    tell(good && rate > 0, "multiply_add_rate");
  }
}

}  // namespace

int main() {
  const wb_backend *const backend = wb_plugin_backend();
  mixtures(backend);
  convolutions(backend);
  regressions(backend);
  multiply_adds(backend);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
