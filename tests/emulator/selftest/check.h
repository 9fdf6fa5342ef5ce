/* Counts the checks that hold and that fail, for the programs of the self-test. */
#ifndef WB_EMULATOR_CHECK_H
#define WB_EMULATOR_CHECK_H

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

/* On a card; the emulator has its own definition. */
#ifndef WB_DYNAMIC_SHARED
#define WB_DYNAMIC_SHARED(type, name) \
  extern __shared__ __align__(16) unsigned char wb_dynamic_shared[]; \
  type *name = reinterpret_cast<type *>(wb_dynamic_shared)
#endif

#ifdef WB_EMULATOR
#include "../src/emulator.h"
#endif

namespace check {

static int passed, failed;

static inline void that(bool held, const char *what, int line) {
  if (held) {
    passed++;
  } else {
    failed++;
    std::printf("  not so (line %d): %s\n", line, what);
  }
}

static inline int summary() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

/* Launches `blocks` blocks of `threads` threads and waits for them. */
template <typename... Parameters, typename... Arguments>
static inline cudaError_t run(dim3 blocks, dim3 threads, size_t shared, void (*kernel)(Parameters...),
                              Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

/* Device memory for a test. It is filled from host vectors and read into them. */
template <typename T>
class Array {
public:
  explicit Array(size_t count) : count_(count) {
    if (cudaMalloc(&data_, count * sizeof(T)) != cudaSuccess) data_ = nullptr;
  }
  explicit Array(const std::vector<T> &values) : Array(values.size()) {
    (void)cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { (void)cudaFree(data_); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  T *data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> host(count_);
    (void)cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
  }

private:
  T *data_;
  size_t count_;
};

#ifdef WB_EMULATOR
static inline std::vector<char> failure_text() {
  std::vector<char> text(1024);
  char *start = text.data();
  const int size = (int)text.size();
  wb_emulator_failure(&start, &size);
  return text;
}
#endif

} // namespace check

#define CHECK(condition) check::that((condition), #condition, __LINE__)

#endif
