// Probit regression with normal priors, by the augmentation of Albert and Chib (1993): z[i] ~ N(x[i, ] beta, 1) is
// above 0 where y[i] is 1, and below 0 elsewhere. For C++11 and newer.
#include <warpbayes.h>

#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

extern "C" const warpbayes_table *wb; // opened when the package is loaded

namespace {

void check(int status, const warpbayes_message &message) {
  if (status) throw std::runtime_error(message.text);
}

// The inverse of a positive definite matrix, p x p, by Gauss-Jordan elimination.
std::vector<double> inverse_of(std::vector<double> a, std::size_t p) {
  for (std::size_t k = 0; k < p; ++k) {
    const double pivot = a[k + k * p];
    a[k + k * p] = 1;
    for (std::size_t j = 0; j < p; ++j) a[k + j * p] /= pivot;
    for (std::size_t i = 0; i < p; ++i) {
      if (i == k) continue;
      const double factor = a[i + k * p];
      a[i + k * p] = 0;
      for (std::size_t j = 0; j < p; ++j) a[i + j * p] -= factor * a[k + j * p];
    }
  }
  return a;
}

// Draws of beta, p x sweeps. prior: the precision of each coefficient.
std::vector<double> probit(const std::vector<double> &x, const std::vector<int> &y, double prior, int sweeps,
                           uint64_t seed, int threads) {
  const std::size_t n = y.size(), p = x.size() / n;
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> precision(p * p), lower(n), upper(n), eta(n), z(n), beta(p), draws;
  for (std::size_t j = 0; j < p; ++j)
    for (std::size_t k = 0; k < p; ++k) {
      precision[j + k * p] = j == k ? prior : 0;
      for (std::size_t i = 0; i < n; ++i) precision[j + k * p] += x[i + j * n] * x[i + k * n];
    }
  const std::vector<double> covariance = inverse_of(precision, p);
  warpbayes_message message;
  warpbayes_source from = {wb->key(seed, 0), 0, 0, threads};
  std::vector<double> target(p), mean(p);
  const int64_t rows = static_cast<int64_t>(n), columns = static_cast<int64_t>(p);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    from.iteration = static_cast<uint32_t>(sweep);
    for (std::size_t i = 0; i < n; ++i) {
      eta[i] = 0;
      for (std::size_t j = 0; j < p; ++j) eta[i] += x[i + j * n] * beta[j];
      lower[i] = y[i] ? -eta[i] : -infinite;
      upper[i] = y[i] ? infinite : -eta[i];
    }
    check(wb->truncated_normal_draw(&from, rows, lower.data(), rows, upper.data(), rows, z.data(), &message), message);
    for (std::size_t j = 0; j < p; ++j) {
      target[j] = 0;
      for (std::size_t i = 0; i < n; ++i) target[j] += x[i + j * n] * (eta[i] + z[i]);
    }
    for (std::size_t j = 0; j < p; ++j) {
      mean[j] = 0;
      for (std::size_t k = 0; k < p; ++k) mean[j] += covariance[j + k * p] * target[k];
    }
    check(wb->multivariate_normal_draw(&from, 1, columns, mean.data(), 0, covariance.data(), 0, beta.data(), &message),
          message);
    draws.insert(draws.end(), beta.begin(), beta.end());
  }
  return draws;
}

} // namespace

// For .Call(). No C++ object is left where Rf_error() is called, because it jumps.
extern "C" SEXP probit_call(SEXP x, SEXP y, SEXP sweeps, SEXP seed, SEXP threads) {
  warpbayes_message message;
  uint64_t checked = 0;
  bool failed = warpbayes_seed(seed, &checked, &message) != 0;
  SEXP result = Rf_protect(Rf_allocMatrix(REALSXP, Rf_ncols(x), Rf_asInteger(sweeps)));
  if (!failed) {
    try {
      const std::vector<double> design(REAL(x), REAL(x) + XLENGTH(x));
      const std::vector<int> outcome(INTEGER(y), INTEGER(y) + XLENGTH(y));
      const std::vector<double> draws =
          probit(design, outcome, 0.01, Rf_asInteger(sweeps), checked, Rf_asInteger(threads));
      for (std::size_t i = 0; i < draws.size(); ++i) REAL(result)[i] = draws[i];
    } catch (const std::exception &error) {
      std::snprintf(message.text, sizeof message.text, "%s", error.what());
      failed = true;
    }
  }
  Rf_unprotect(1);
  if (failed) Rf_error("%s", message.text);
  return result;
}
