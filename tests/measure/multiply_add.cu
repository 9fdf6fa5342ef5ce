/* Measures the multiply-adds per second of a graphics card. Benchmarks divide by this rate to say how near a kernel
 * comes to the card's limit. The twin of multiply_add.c. */
#include "measure.h"

#include "core/host_device.h"
#include "core/unroll.h"
#include "cuda/launch.cuh"

namespace {

/* Each thread has CHAINS numbers that do not depend on each other, a block has THREADS
 * threads, and a multiprocessor gets BLOCKS blocks: 32 warps, which hide any latency. */
constexpr int CHAINS = 16, THREADS = 256, BLOCKS = 4;
/* Multiply-adds of each number in one pass of the loop: so many that the loop itself hardly takes time. */
constexpr int TURN = 16;
/* How many milliseconds a measurement takes, and how many measurements there are. */
constexpr float MILLISECONDS = 50;
constexpr int REPEATS = 3;

__device__ __forceinline__ double multiply_add(double a, double x, double b) { return wb_fma(a, x, b); }
__device__ __forceinline__ float multiply_add(float a, float x, float b) { return wb_fmaf(a, x, b); }

/* Iterates every x by x = a x + b, TURN * turns times, in registers. Reads no memory, and
 * writes the sums so that the compiler cannot leave the work out. */
template <typename Real>
__global__ void __launch_bounds__(THREADS) multiply_adds(int64_t turns, Real a, Real b, Real *sums) {
  Real x[CHAINS];
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++) x[i] = static_cast<Real>(i) + static_cast<Real>(threadIdx.x);
  for (int64_t turn = 0; turn < turns; turn++) {
    WB_UNROLL
    for (int i = 0; i < CHAINS * TURN; i++) x[i % CHAINS] = multiply_add(a, x[i % CHAINS], b);
  }
  Real sum = 0;
  WB_UNROLL
  for (int i = 0; i < CHAINS; i++) sum += x[i];
  sums[wb::thread_number<THREADS, unsigned>()] = sum;
}

struct meter {
  wb::stream stream;
  wb::event start, end;

  /* What is under way uses memory that is freed next. */
  ~meter() {
    (void)cudaStreamSynchronize(stream.get());
    (void)cudaGetLastError();
  }
};

template <typename Real>
int measure(meter &m, int64_t blocks, int64_t turns, Real *sums, float *milliseconds, wb_message *message) {
  WB_TRY(m.start.record(m.stream.get(), message));
  WB_TRY(wb::launch(wb::grid(THREADS, blocks).on(m.stream.get()), multiply_adds<Real>, "measuring multiply-adds",
                    message, turns, Real(0.75), Real(0.25), sums));
  WB_TRY(m.end.record(m.stream.get(), message));
  WB_TRY(m.end.wait("measuring multiply-adds", message));
  return wb::status_of(cudaEventElapsedTime(milliseconds, m.start.get(), m.end.get()), "reading the clock", message);
}

template <typename Real>
int best_rate(const wb_run *run, double *rate, wb_message *message) {
  wb::device_array<Real> sums;
  meter m;
  int processors = 0;
  *rate = 0;
  WB_TRY(wb::multiprocessors(run->device, &processors, message));
  const int64_t blocks = static_cast<int64_t>(processors) * BLOCKS;
  WB_TRY(m.stream.create(message));
  WB_TRY(m.start.create(true, message));
  WB_TRY(m.end.create(true, message));
  WB_TRY(sums.allocate(static_cast<size_t>(blocks) * THREADS, "sums", message));
  int64_t turns = 1;
  float milliseconds = 0;
  while (milliseconds < MILLISECONDS) WB_TRY(measure(m, blocks, turns *= 2, sums.data(), &milliseconds, message));
  for (int i = 0; i < REPEATS; i++) {
    WB_TRY(measure(m, blocks, turns, sums.data(), &milliseconds, message));
    const double done = static_cast<double>(turns) * TURN * CHAINS * THREADS * static_cast<double>(blocks);
    const double seconds = static_cast<double>(milliseconds) / 1000;
    if (done > *rate * seconds) *rate = done / seconds;
  }
  return WB_OK;
}

} // namespace

extern "C" MEASURE_EXPORT int wb_measure_multiply_add_rate(const wb_run *run, wb_precision precision, double *rate,
                                                           wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  return wb::with_precision(precision, [&](auto real) { return best_rate<decltype(real)>(run, rate, message); });
}
