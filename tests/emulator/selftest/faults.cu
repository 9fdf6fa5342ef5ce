/* Provokes every fault that the emulator finds in a kernel, and checks the error that the host sees and the text of the
 * report. */
#include "check.h"

#include <cuda_pipeline.h>

#include <cmath>

static const unsigned FULL = 0xffffffffu;

/* Runs a faulty kernel. The report must contain each of the texts. */
template <typename... Parameters, typename... Arguments>
static bool reports(cudaError_t error, const char *first, const char *second, dim3 threads,
                    void (*kernel)(Parameters...), Arguments... arguments) {
  wb_emulator_reset();
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = threads;
  config.dynamicSmemBytes = 64;
  const bool launched = cudaLaunchKernelEx(&config, kernel, arguments...) == cudaSuccess;
  const cudaError_t seen = cudaDeviceSynchronize();
  const std::vector<char> text = check::failure_text();
  wb_emulator_reset();
  if (launched && seen == error && strstr(text.data(), first) && strstr(text.data(), second)) return true;
  std::printf("  launched %d, %s, \"%s\"\n", launched, cudaGetErrorName(seen), text.data());
  return false;
}

/* Masks -------------------------------------------------------------------------- */

__global__ void not_in_own_mask(int *out) {
  out[threadIdx.x] = __shfl_sync(threadIdx.x == 9 ? 0x0000ffffu & ~(1u << 9) : 1u << threadIdx.x, 1, (int)threadIdx.x);
}
__global__ void names_absent_lane(int *out) { out[threadIdx.x] = __shfl_sync(FULL, 1, 0); }
__global__ void names_exited_lane(int *out) {
  if (threadIdx.x < 4) return;
  out[threadIdx.x] = __any_sync(FULL, 1);
}
__global__ void exits_while_awaited(int *out) {
  if (threadIdx.x == 31) return;
  out[threadIdx.x] = (int)__ballot_sync(FULL, 1);
}
__global__ void differing_masks(int *out) {
  out[threadIdx.x] = __shfl_xor_sync(threadIdx.x == 7 ? 0x7fffffffu : FULL, 1, 1);
}
__global__ void differing_operations(int *out) {
  out[threadIdx.x] = threadIdx.x < 30 ? __shfl_up_sync(FULL, 1, 1) : __shfl_down_sync(FULL, 1, 1);
}
__global__ void differing_widths(int *out) {
  out[threadIdx.x] = __shfl_up_sync(FULL, 1, 1, threadIdx.x == 12 ? 8 : 32);
}
__global__ void odd_width(int *out) { out[threadIdx.x] = __shfl_sync(FULL, 1, 1, 24); }
__global__ void source_outside_mask(int *out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0x0000ffffu, 1, 4);
}
/* Lanes 0-15 and lanes 16-31 wait for all lanes, each with the mask that they take to be right. */
__global__ void halves_disagree(int *out) {
  out[threadIdx.x] = threadIdx.x < 16 ? __any_sync(FULL, 1) : __any_sync(0xffff8000u, 1);
}

/* Barriers ------------------------------------------------------------------------ */

__global__ void exits_before_barrier(int *out) {
  if (threadIdx.x >= 90) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void barrier_in_branch(int *out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[threadIdx.x] = 1;
  }
}
__global__ void two_barriers(int *out) {
  if (threadIdx.x < 40) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}
__global__ void barrier_against_warp(int *out) {
  if (threadIdx.x == 3) __syncthreads();
  else __syncwarp();
  out[threadIdx.x] = 1;
}
__global__ void traps(int *out) {
  if (threadIdx.x == 5 && blockIdx.x == 1) __trap();
  out[threadIdx.x] = 1;
}

static void test_synchronisation(int *out) {
  const cudaError_t failure = cudaErrorLaunchFailure;
  CHECK(reports(failure, "not_in_own_mask", "thread (9,0,0): __shfl_sync", 32, not_in_own_mask, out));
  CHECK(reports(failure, "names lanes 0xfffff000", "does not have", 12, names_absent_lane, out));
  CHECK(reports(failure, "waits for lanes 0x0000000f", "have exited", 32, names_exited_lane, out));
  CHECK(reports(failure, "lane 31 exits while lanes 0x7fffffff wait", "__ballot_sync", 32, exits_while_awaited, out));
  CHECK(reports(failure, "lane 7 comes with mask 0x7fffffff", "mask 0xffffffff", 32, differing_masks, out));
  CHECK(reports(failure, "__shfl_down_sync", "are in __shfl_up_sync", 32, differing_operations, out));
  CHECK(reports(failure, "(width 8)", "(width 32)", 32, differing_widths, out));
  CHECK(reports(failure, "width 24", "power of two", 32, odd_width, out));
  CHECK(reports(failure, "lane 12 reads lane 16", "not in the mask 0x0000ffff", 32, source_outside_mask, out));
  CHECK(reports(failure, "__any_sync", "warp 0", 32, halves_disagree, out));
  CHECK(reports(failure, "reached by 90 of 128 threads", "38 have exited", 128, exits_before_barrier, out));
  CHECK(reports(failure, "reached by 32 of 64 threads", "block (0,0,0)", 64, barrier_in_branch, out));
  CHECK(reports(failure, "is at the barrier", "40 of 64 threads wait", 64, two_barriers, out));
  CHECK(reports(failure, "__syncwarp", "1 threads at a barrier", 32, barrier_against_warp, out));
  CHECK(reports(failure, "__trap()", "block (1,0,0), warp 0, thread (5,0,0)", 32, traps, out));
}

/* Shared and device memory --------------------------------------------------------- */

template <typename T>
__global__ void reads_unwritten(T *out) {
  __shared__ T fixed[32];
  WB_DYNAMIC_SHARED(T, dynamic);
  /* The first block leaves values behind; the second must not find them. */
  if (blockIdx.x == 0) {
    fixed[threadIdx.x] = (T)1;
    dynamic[threadIdx.x % 8] = (T)1;
    __syncthreads();
    return;
  }
  out[2 * threadIdx.x] = fixed[threadIdx.x];
  out[2 * threadIdx.x + 1] = dynamic[threadIdx.x % 8];
}

template <typename T>
static bool unwritten_is(bool (*expected)(T)) {
  check::Array<T> out(64);
  if (check::run(2, 32, 64, reads_unwritten<T>, out.data()) != cudaSuccess) return false;
  for (T x : out.values())
    if (!expected(x)) return false;
  return true;
}

/* Copies ---------------------------------------------------------------------------- */

__global__ void not_waited_for(const double *in, double *out) {
  __shared__ double copied[32];
  __pipeline_memcpy_async(copied + threadIdx.x, in + threadIdx.x, sizeof(double));
  __pipeline_commit();
  out[threadIdx.x] = copied[threadIdx.x];
}
__global__ void misaligned_copy(const double *in) {
  __shared__ __align__(16) double copied[64];
  __pipeline_memcpy_async(copied + threadIdx.x, in, 16);
}

static void test_unwritten() {
  {
    check::Array<double> in(std::vector<double>(32, 1.0)), out(32);
    CHECK(check::run(1, 32, 0, not_waited_for, in.data(), out.data()) == cudaSuccess);
    bool all = true;
    for (double x : out.values()) all = all && std::isnan(x);
    CHECK(all);
    CHECK(reports(cudaErrorMisalignedAddress, "__pipeline_memcpy_async", "16 bytes", 32, misaligned_copy, in.data()));
  }
  CHECK(unwritten_is<double>([](double x) { return std::isnan(x); }));
  CHECK(unwritten_is<float>([](float x) { return std::isnan(x); }));
  CHECK(unwritten_is<int>([](int x) { return x < -500000; }));
  check::Array<double> device(1000);
  bool all = true;
  for (double x : device.values()) all = all && std::isnan(x);
  CHECK(all);
}

__global__ void writes_past_fixed(int *out, int beyond) {
  __shared__ int fixed[24];
  fixed[threadIdx.x] = 1;
  if (threadIdx.x == 3) fixed[23 + beyond] = 1;
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x];
}
__global__ void writes_past_dynamic(int *out, int beyond) {
  WB_DYNAMIC_SHARED(int, dynamic);
  dynamic[threadIdx.x] = 1;
  dynamic[15 + beyond] = 1;
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x];
}
__global__ void writes_past_device(double *array, int index) {
  if (threadIdx.x == 0) array[index] = 1;
}

/* Without a sanitizer, a write outside an array is found after the block. */
static void test_overruns(int *out) {
  const cudaError_t failure = cudaErrorIllegalAddress;
  CHECK(reports(failure, "writes_past_fixed", "beside writes_past_fixed(int*, int)::fixed", 16, writes_past_fixed, out,
                1));
  CHECK(reports(failure, "written beside", "block (0,0,0)", 16, writes_past_fixed, out, 9));
  CHECK(reports(failure, "writes_past_dynamic", "64 bytes of dynamic", 16, writes_past_dynamic, out, 1));
  CHECK(reports(failure, "64 bytes of dynamic", "", 16, writes_past_dynamic, out, -16));
  CHECK(reports(cudaSuccess, "", "", 16, writes_past_fixed, out, 0));
  check::Array<double> array(100);
  CHECK(reports(failure, "beside device allocation", "of 800 bytes", 16, writes_past_device, array.data(), 100));
  CHECK(reports(failure, "beside device allocation", "of 800 bytes", 16, writes_past_device, array.data(), -1));
  CHECK(reports(cudaSuccess, "", "", 16, writes_past_device, array.data(), 99));
}

/* With --sanitize=access every load and store is checked ------------------------------ */

__global__ void reads_device(const double *array, int index, double *out) { out[threadIdx.x] = array[index]; }

/* Lane 0 passes the address of one of its local variables to lane 1. */
__global__ void reads_local_of_another(int *out) {
  int mine = (int)threadIdx.x;
  const unsigned long long address = __shfl_sync(FULL, (unsigned long long)(uintptr_t)&mine, 0);
  out[threadIdx.x] = *reinterpret_cast<volatile int *>((uintptr_t)address);
}

/* A struct with a gap between its members is copied after only its members were written, which is no fault. */
struct Item {
  double weight;
  int label;
};
__global__ void copies_items(Item *out) {
  __shared__ Item items[32];
  items[threadIdx.x].weight = 1;
  items[threadIdx.x].label = 2;
  __syncthreads();
  out[threadIdx.x].weight = items[31 - threadIdx.x].weight;
  out[threadIdx.x].label = items[31 - threadIdx.x].label;
}

/* Reads with an address that comes from the host, so that no compiler can see through it. */
static double read_on_host(const volatile double *address) { return *address; }

static void test_accesses(int *out) {
  const cudaError_t illegal = cudaErrorIllegalAddress, unwritten = cudaErrorLaunchFailure;
  CHECK(reports(unwritten, "reads_unwritten<double>(double*)::fixed, which nobody has written", "block (1,0,0)", 32,
                reads_unwritten<double>, reinterpret_cast<double *>(out)));
  CHECK(reports(illegal, "writes 4 bytes at 96 of the 96 bytes of writes_past_fixed", "thread (3,0,0)", 16,
                writes_past_fixed, out, 1));
  CHECK(reports(illegal, "writes 4 bytes at 64 of the 64 bytes of dynamic", "", 16, writes_past_dynamic, out, 1));
  CHECK(reports(illegal, "writes 4 bytes at -4 of the 64 bytes of dynamic", "", 16, writes_past_dynamic, out, -16));
  const std::vector<double> ones(10, 1.0);
  check::Array<double> written(ones), fresh(10), result(32);
  CHECK(reports(cudaSuccess, "", "", 32, reads_device, (const double *)written.data(), 9, result.data()));
  CHECK(reports(unwritten, "reads 8 bytes at 24 of the 80 bytes of device allocation", "nobody has written", 32,
                reads_device, (const double *)fresh.data(), 3, result.data()));
  CHECK(reports(illegal, "reads 8 bytes at 80 of the 80 bytes of device", "", 32, reads_device,
                (const double *)written.data(), 10, result.data()));
  CHECK(reports(illegal, "host memory or nobody's", "reads_device", 32, reads_device, ones.data(), 0, result.data()));
  CHECK(
      reports(illegal, "local variable of thread (0,0,0)", "reads_local_of_another", 32, reads_local_of_another, out));
  check::Array<Item> items(32);
  CHECK(reports(cudaSuccess, "", "", 32, copies_items, items.data()));
  CHECK(cudaMemcpy(fresh.data(), written.data(), 80, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(reports(cudaSuccess, "", "", 32, reads_device, (const double *)fresh.data(), 3, result.data()));
  CHECK(read_on_host(written.data()) == 1.0);
  CHECK(strstr(check::failure_text().data(), "host code reads 8 bytes of device allocation"));
  CHECK(cudaDeviceSynchronize() == illegal);
  wb_emulator_reset();
}

int main() {
  check::Array<int> out(128);
  test_synchronisation(out.data());
#if defined(WB_EMULATOR_ACCESS)
  (void)test_unwritten, (void)test_overruns;
  test_accesses(out.data());
#elif defined(WB_EMULATOR_ASAN)
  (void)test_overruns, (void)test_accesses;
  test_unwritten();
#else
  (void)test_accesses;
  test_unwritten();
  test_overruns(out.data());
#endif
  /* This comes last, after everything that a correct kernel runs. */
  CHECK(reports(cudaSuccess, "", "", 16, writes_past_fixed, out.data(), 0));
  return check::summary();
}
