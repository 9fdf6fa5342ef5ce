/* What a sweep of small data on a graphics card takes at least: microseconds of kernels that do nothing, one after the
 * other, with a copy of a few numbers to the host and a wait for it after each share of them. Side by side on several
 * threads, each with a stream of its own, as chains run. bench/card-calls.R compiles and runs it. */
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

__global__ void nothing(int *) {}

struct chain {
  cudaStream_t stream;
  int *device;
  double *host;

  void open() {
    (void)cudaStreamCreate(&stream);
    (void)cudaMalloc(&device, 4096);
    (void)cudaMallocHost(&host, 4096);
  }
  void sweep(int kernels, int waits) {
    for (int i = 1; i <= kernels; i++) {
      nothing<<<40, 128, 0, stream>>>(device);
      if (i % (kernels / waits) != 0) continue;
      (void)cudaMemcpyAsync(host, device, 320, cudaMemcpyDeviceToHost, stream);
      (void)cudaStreamSynchronize(stream);
    }
  }
};

int main() {
  const int sweeps = 5000;
  std::printf("kernels,waits,chains,microseconds\n");
  for (int kernels : {3, 6, 12})
    for (int waits : {1, 3})
      for (int count : {1, 4, 8}) {
        std::vector<chain> chains(static_cast<size_t>(count));
        for (chain &one : chains) {
          one.open();
          for (int i = 0; i < 100; i++) one.sweep(kernels, waits);
        }
        const auto start = std::chrono::steady_clock::now();
        std::vector<std::thread> threads;
        for (chain &one : chains)
          threads.emplace_back([&one, kernels, waits] {
            for (int i = 0; i < sweeps; i++) one.sweep(kernels, waits);
          });
        for (std::thread &thread : threads) thread.join();
        const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
        std::printf("%d,%d,%d,%.1f\n", kernels, waits, count, passed.count() / sweeps);
      }
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
