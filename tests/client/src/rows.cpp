// The interface from C++, on threads of the client's own: each row opens a stream and takes as many draws as it needs.
#include "client.h"

#include <cmath>
#include <string>
#include <vector>

// Squares of normals are added until they pass 3, on `threads` threads.
static int add_squares(uint64_t key, std::vector<double> &sums, int threads) {
  int failed = 0;
  (void)threads; // if the compiler has no OpenMP
#pragma omp parallel for num_threads(threads) reduction(+ : failed)
  for (int row = 0; row < static_cast<int>(sums.size()); ++row) {
    warpbayes_stream stream;
    double normal = 0, polyagamma = 0;
    failed += wb->stream_open(key, 1, static_cast<uint64_t>(row), &stream, NULL);
    while (sums[row] < 3) {
      failed += wb->stream_normal(&stream, 1, &normal, NULL);
      sums[row] += normal * normal;
    }
    // A call for many draws is allowed here too: with threads = 1.
    const warpbayes_source from = {key, static_cast<uint64_t>(row), 1, 1};
    failed += wb->polyagamma_draw(&from, 1, &sums[row], 1, &normal, 1, &polyagamma, NULL);
    sums[row] += polyagamma;
  }
  return failed;
}

extern "C" SEXP client_rows(SEXP seed, SEXP rows, SEXP threads) {
  SEXP result = Rf_protect(Rf_allocVector(REALSXP, Rf_asInteger(rows)));
  int failed = 0;
  {
    std::vector<double> sums(static_cast<size_t>(Rf_asInteger(rows)), 0.0);
    failed = add_squares(wb->key(static_cast<uint64_t>(Rf_asReal(seed)), 7), sums, Rf_asInteger(threads));
    for (size_t i = 0; i < sums.size(); ++i) REAL(result)[i] = sums[i];
  }
  Rf_unprotect(1);
  if (failed) Rf_error("%d calls failed", failed);
  return result;
}

// warpbayes_open() compiles as C++ too, and gives the same table.
extern "C" SEXP client_open_cpp(void) {
  const warpbayes_table *table = NULL;
  warpbayes_message message;
  const int status = warpbayes_open(&table, WARPBAYES_VERSION, &message);
  return Rf_ScalarLogical(status == WARPBAYES_OK && table == wb && std::string(message.text).empty());
}
