/* Compares every operation that a kernel can use with a plain computation on the host. The file also compiles with nvcc
 * (nvcc -std=c++17 -fmad=false -Isrc). On a graphics card it shows that the plain computation is what CUDA does. */
#include "check.h"

#include <cuda_pipeline.h>

#include <cmath>

static const unsigned FULL = 0xffffffffu;

/* Shuffles ---------------------------------------------------------------- */

/* A second version of the rule in PTX ISA, instruction shfl. */
static int expected_source(int kind, int lane, int argument, int width) {
  const int first = lane / width * width;
  int source = lane;
  if (kind == 0) source = first + ((argument % width) + width) % width;
  if (kind == 1 && lane - argument >= first) source = lane - argument;
  if (kind == 2 && lane + argument < first + width) source = lane + argument;
  if (kind == 3 && (lane ^ argument) < first + width) source = lane ^ argument;
  return source;
}

template <typename T>
__global__ void shuffle_all(const T *in, T *out, int argument, int width) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = (int)(gridDim.x * blockDim.x);
  out[i] = __shfl_sync(FULL, in[i], argument, width);
  out[n + i] = __shfl_up_sync(FULL, in[i], (unsigned)argument, width);
  out[2 * n + i] = __shfl_down_sync(FULL, in[i], (unsigned)argument, width);
  out[3 * n + i] = __shfl_xor_sync(FULL, in[i], argument, width);
}

template <typename T>
static void test_shuffles(T scale) {
  const int n = 2 * 64;
  std::vector<T> values;
  for (int i = 0; i < n; i++) values.push_back((T)(i - 40) * scale);
  check::Array<T> in(values), out(4 * (size_t)n);
  bool same = true;
  for (int width = 1; width <= 32; width *= 2)
    for (int argument = 0; argument < 32; argument += argument < 4 ? 1 : 5) {
      same = same && check::run(2, 64, 0, shuffle_all<T>, in.data(), out.data(), argument, width) == cudaSuccess;
      const std::vector<T> got = out.values();
      for (int kind = 0; kind < 4; kind++)
        for (int i = 0; i < n; i++) {
          const int source = i / 32 * 32 + expected_source(kind, i % 32, argument, width);
          same = same && got[(size_t)(kind * n + i)] == values[(size_t)source];
        }
    }
  CHECK(same);
}

/* Lanes 0-7 and 8-31 shuffle separately and a different number of times. */
__global__ void shuffle_parts(int *out) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 8 ? 0x000000ffu : 0xffffff00u;
  int x = (int)lane;
  if (lane < 8) {
    for (int i = 0; i < 3; i++) x = __shfl_sync(mask, x, (int)(lane + 1) % 8);
  } else {
    x = __shfl_sync(mask, x, lane == 31 ? 8 : (int)lane + 1);
  }
  __syncwarp();
  out[lane] = __shfl_xor_sync(FULL, x, 31);
}

static void test_parts() {
  check::Array<int> out(32);
  CHECK(check::run(1, 32, 0, shuffle_parts, out.data()) == cudaSuccess);
  const std::vector<int> got = out.values();
  bool same = true;
  for (int lane = 0; lane < 32; lane++) {
    const int from = lane ^ 31;
    const int x = from < 8 ? (from + 3) % 8 : from == 31 ? 8 : from + 1;
    same = same && got[(size_t)lane] == x;
  }
  CHECK(same);
}

/* The sum of a warp by halving distances, also in the short last warp of a block. */
__global__ void short_warp(int *out) {
  const unsigned mask = threadIdx.x < 32 ? FULL : 0x000000ffu;
  int x = 1 << (threadIdx.x & 7);
  for (int distance = 4; distance > 0; distance /= 2) x += __shfl_xor_sync(mask, x, distance);
  out[threadIdx.x] = x;
}

/* Votes, matches, reductions ----------------------------------------------- */

struct Votes {
  unsigned ballot, match, match_all, active;
  int any, all, none, add, min, max, equal;
  unsigned uadd, umin, umax, bits_and, bits_or, bits_xor;
};

__global__ void votes(const int *in, Votes *out) {
  const int x = in[threadIdx.x];
  Votes v;
  v.ballot = __ballot_sync(FULL, x > 0);
  v.any = __any_sync(FULL, x == 7);
  v.all = __all_sync(FULL, x < 100);
  v.none = __all_sync(FULL, x > 0);
  v.match = __match_any_sync(FULL, x);
  v.match_all = __match_all_sync(FULL, 5, &v.equal);
  v.active = __activemask();
  v.add = __reduce_add_sync(FULL, x);
  v.min = __reduce_min_sync(FULL, x);
  v.max = __reduce_max_sync(FULL, x);
  v.uadd = __reduce_add_sync(FULL, (unsigned)x);
  v.umin = __reduce_min_sync(FULL, (unsigned)x);
  v.umax = __reduce_max_sync(FULL, (unsigned)x);
  v.bits_and = __reduce_and_sync(FULL, (unsigned)x);
  v.bits_or = __reduce_or_sync(FULL, (unsigned)x);
  v.bits_xor = __reduce_xor_sync(FULL, (unsigned)x);
  out[threadIdx.x] = v;
}

static void test_votes() {
  std::vector<int> values;
  for (int i = 0; i < 32; i++) values.push_back((i * 37) % 11 - 3);
  check::Array<int> in(values);
  check::Array<Votes> out(32);
  CHECK(check::run(1, 32, 0, votes, in.data(), out.data()) == cudaSuccess);
  Votes e = {};
  e.bits_and = FULL;
  e.umin = FULL;
  e.min = 1000;
  e.max = -1000;
  for (int i = 0; i < 32; i++) {
    const int x = values[(size_t)i];
    const unsigned u = (unsigned)x;
    if (x > 0) e.ballot |= 1u << i;
    if (x == 7) e.any = 1;
    e.add += x;
    e.uadd += u;
    e.bits_and &= u;
    e.bits_or |= u;
    e.bits_xor ^= u;
    if (x < e.min) e.min = x;
    if (x > e.max) e.max = x;
    if (u < e.umin) e.umin = u;
    if (u > e.umax) e.umax = u;
  }
  const std::vector<Votes> got = out.values();
  bool same = true;
  for (int i = 0; i < 32; i++) {
    const Votes &v = got[(size_t)i];
    unsigned match = 0;
    for (int j = 0; j < 32; j++)
      if (values[(size_t)j] == values[(size_t)i]) match |= 1u << j;
    same = same && v.ballot == e.ballot && v.any == e.any && v.all == 1 && v.none == 0 && v.match == match &&
           v.match_all == FULL && v.equal == 1 && v.active == FULL && v.add == e.add && v.min == e.min &&
           v.max == e.max && v.uadd == e.uadd && v.umin == e.umin && v.umax == e.umax && v.bits_and == e.bits_and &&
           v.bits_or == e.bits_or && v.bits_xor == e.bits_xor;
  }
  CHECK(same);
}

/* Barriers and shared memory ------------------------------------------------ */

/* Reverses each block's values through static shared memory and adds them up by a tree in dynamic shared memory. */
template <typename T, int THREADS>
__global__ void reverse_and_sum(const T *in, T *reversed, T *sums) {
  __shared__ T tile[THREADS];
  WB_DYNAMIC_SHARED(T, tree);
  const unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t;
  tile[t] = in[i];
  tree[t] = in[i];
  __syncthreads();
  reversed[i] = tile[THREADS - 1 - t];
  for (unsigned half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) tree[t] += tree[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = tree[0];
}

template <typename T>
static void test_shared() {
  const int blocks = 5, threads = 256;
  std::vector<T> values;
  for (int i = 0; i < blocks * threads; i++) values.push_back((T)((i * 7919) % 1000));
  check::Array<T> in(values), reversed(values.size()), sums((size_t)blocks);
  CHECK(check::run(blocks, threads, threads * sizeof(T), reverse_and_sum<T, threads>, in.data(), reversed.data(),
                   sums.data()) == cudaSuccess);
  const std::vector<T> r = reversed.values(), s = sums.values();
  bool same = true;
  for (int b = 0; b < blocks; b++) {
    T sum = 0;
    for (int t = 0; t < threads; t++) {
      sum += values[(size_t)(b * threads + t)];
      same = same && r[(size_t)(b * threads + t)] == values[(size_t)(b * threads + threads - 1 - t)];
    }
    same = same && s[(size_t)b] == sum;
  }
  CHECK(same);
}

__global__ void barrier_votes(int *out) {
  const int t = (int)threadIdx.x;
  const int count = __syncthreads_count(t % 3 == 0);
  const int all = __syncthreads_and(t < 96);
  const int some = __syncthreads_and(t < 95);
  const int any = __syncthreads_or(t == 50);
  const int none = __syncthreads_or(t == 1000);
  out[t] = count * 10000 + all * 1000 + some * 100 + any * 10 + none;
}

/* Places -------------------------------------------------------------------- */

__global__ void places(unsigned *out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned size = blockDim.x * blockDim.y * blockDim.z;
  __syncthreads();
  out[block * size + thread] = (threadIdx.z << 24) | (threadIdx.y << 16) | (threadIdx.x << 8) | (blockIdx.z << 6) |
                               (blockIdx.y << 3) | blockIdx.x;
}

static void test_places() {
  const dim3 grid(3, 2, 2), threads(4, 3, 5);
  check::Array<unsigned> out(12 * 60);
  CHECK(check::run(grid, threads, 0, places, out.data()) == cudaSuccess);
  const std::vector<unsigned> got = out.values();
  bool same = true;
  size_t i = 0;
  for (unsigned bz = 0; bz < 2; bz++)
    for (unsigned by = 0; by < 2; by++)
      for (unsigned bx = 0; bx < 3; bx++)
        for (unsigned z = 0; z < 5; z++)
          for (unsigned y = 0; y < 3; y++)
            for (unsigned x = 0; x < 4; x++)
              same = same && got[i++] == ((z << 24) | (y << 16) | (x << 8) | (bz << 6) | (by << 3) | bx);
  CHECK(same);
}

/* Atomics -------------------------------------------------------------------- */

struct Totals {
  int sum, smallest, largest, difference, bits, latest, swapped;
  unsigned usum, inc, dec, usmallest;
  unsigned long long long_sum, long_largest;
  float float_sum;
  double double_sum;
};

__global__ void atomics(Totals *t, int *olds) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  olds[atomicAdd(&t->sum, 1)] = i;
  atomicMin(&t->smallest, 5 - i);
  atomicMax(&t->largest, i);
  atomicSub(&t->difference, 2);
  atomicOr(&t->bits, 1 << (i % 31));
  atomicExch(&t->latest, i);
  for (int seen = 0, old = -1; old != seen;) {
    seen = old == -1 ? 0 : old;
    old = atomicCAS(&t->swapped, seen, seen + 1);
  }
  atomicAdd(&t->usum, 3u);
  atomicMin(&t->usmallest, 1000u - (unsigned)i);
  atomicInc(&t->inc, 9u);
  atomicDec(&t->dec, 9u);
  atomicAdd(&t->long_sum, 1ull << 33);
  atomicMax(&t->long_largest, (unsigned long long)i << 40);
  atomicAdd(&t->float_sum, 0.5f);
  atomicAdd(&t->double_sum, 0.25);
}

static void test_atomics() {
  const int n = 2 * 96;
  Totals start = {};
  start.usmallest = 5000;
  check::Array<Totals> totals(std::vector<Totals>{start});
  check::Array<int> olds((size_t)n);
  CHECK(check::run(2, 96, 0, atomics, totals.data(), olds.data()) == cudaSuccess);
  const Totals t = totals.values()[0];
  CHECK(t.sum == n && t.smallest == 5 - (n - 1) && t.largest == n - 1 && t.difference == -2 * n);
  CHECK(t.bits == 0x7fffffff && t.latest >= 0 && t.latest < n && t.swapped == n);
  CHECK(t.usum == 3u * (unsigned)n && t.usmallest == 1000u - (unsigned)(n - 1));
  CHECK(t.inc == (unsigned)n % 10u && t.dec == (10u - (unsigned)n % 10u) % 10u);
  CHECK(t.long_sum == ((unsigned long long)n << 33));
  CHECK(t.long_largest == ((unsigned long long)(n - 1) << 40));
  CHECK(t.float_sum == 0.5f * (float)n && t.double_sum == 0.25 * n);
  std::vector<bool> seen((size_t)n);
  for (int i : olds.values()) seen[(size_t)i] = true;
  bool all = true;
  for (bool s : seen) all = all && s;
  CHECK(all);
}

/* Single numbers -------------------------------------------------------------- */

__global__ void intrinsics(double *out) {
  int i = 0;
  out[i++] = __popc(0xf0f0u) == 8 && __popcll(0xf0f0f0f0f0ull) == 20;
  out[i++] = __ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41;
  out[i++] = __clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0 && __clzll(1) == 63;
  out[i++] = __brev(1u) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u;
  out[i++] = __brevll(1ull) == 1ull << 63;
  out[i++] = __umulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu && __mulhi(-1, 1) == -1;
  out[i++] = __umul64hi(~0ull, ~0ull) == ~0ull - 1 && __mul64hi(-1, 1) == -1;
  out[i++] = __funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(1u, 1u, 1) == 0x80000000u;
  const double a = 1.0 + 0x1p-30, b = 1.0 - 0x1p-30;
  out[i++] = __fma_rn(a, b, -1.0) == -0x1p-60 && a * b - 1.0 == 0.0;
  out[i++] = __fmaf_rn(1.0f + 0x1p-20f, 1.0f - 0x1p-20f, -1.0f) == -0x1p-40f;
  out[i++] = __dsqrt_rn(2.0) == sqrt(2.0) && __fsqrt_rn(2.0f) == sqrtf(2.0f);
  out[i++] = __double_as_longlong(1.0) == 0x3ff0000000000000ll && __longlong_as_double(0x4000000000000000ll) == 2.0;
  out[i++] = __float_as_uint(1.0f) == 0x3f800000u && __int_as_float(0x40000000) == 2.0f;
  out[i++] = __hiloint2double(__double2hiint(3.7), __double2loint(3.7)) == 3.7;
  out[i++] = __double2int_rn(2.5) == 2 && __double2ll_rn(3.5) == 4;
  out[i++] = min(3, -2) == -2 && max(2.0, 3.0) == 3.0 && min(1u, 2u) == 1u;
  const double2 v = make_double2(1, 2);
  const float4 f = make_float4(1, 2, 3, 4);
  out[i++] = v.x + v.y == 3 && f.w == 4 && sizeof v == 16 && alignof(double2) == 16 && alignof(float4) == 16;
  out[i++] = __ldg(out) == out[0];
  __threadfence();
}

/* Products of matrices, and asynchronous copies -------------------------------------- */

/* The compute capability, ten times the major number plus the minor one, whose tensor cores multiply doubles fast. */
static const int TENSOR_CAPABILITY = 90;
#if defined(WB_EMULATOR) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900)
#define HAS_TENSOR_CORES
__device__ static void multiply_add(double (&d)[4], double upper, double lower, double b) {
#ifdef WB_EMULATOR
  wb_emulator::multiply_add_16x8x4(d, upper, lower, b);
#else
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(upper), "d"(lower), "d"(b));
#endif
}
#endif

__global__ void product(const double *a, const double *b, const double *c, double *out) {
#ifdef HAS_TENSOR_CORES
  const int lane = (int)threadIdx.x, g = lane / 4, q = lane % 4;
  double d[4];
  for (int i = 0; i < 4; i++) d[i] = c[(g + i / 2 * 8) * 8 + 2 * q + i % 2];
  multiply_add(d, a[4 * g + q], a[4 * (g + 8) + q], b[8 * q + g]);
  for (int i = 0; i < 4; i++) out[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
#else
  (void)a, (void)b, (void)c, (void)out;
#endif
}

/* Numbers, some of them special, whose sums depend on the order and on every rounding. */
static double product_value(int kind) {
  static uint64_t state = 1;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  const uint64_t bits = state >> 11;
  const double x = (double)bits * 0x1p-52 - 1;
  switch (kind) {
    case 0: return x;
    case 1: return ldexp(x, (int)(bits % 60) - 30);
    case 2: return ldexp(x, (int)(bits % 2000) - 1000);
    case 3: return ldexp(x, -(int)(bits % 40) - 530);
    default: return bits % 5 == 0 ? INFINITY : bits % 5 == 1 ? -0.0 : bits % 5 == 2 ? NAN : x;
  }
}

static void test_products() {
  int device = 0, major = 0, minor = 0;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (10 * major + minor != TENSOR_CAPABILITY) return;
  for (int kind = 0; kind < 5; kind++) {
    bool same = true;
    for (int repeat = 0; repeat < 200; repeat++) {
      std::vector<double> a(64), b(32), c(128);
      for (double &x : a) x = product_value(kind);
      for (double &x : b) x = product_value(kind);
      for (double &x : c) x = kind == 3 ? ldexp(product_value(0), -1070) : product_value(kind);
      check::Array<double> da(a), db(b), dc(c), out(128);
      same = same && check::run(1, 32, 0, product, da.data(), db.data(), dc.data(), out.data()) == cudaSuccess;
      const std::vector<double> got = out.values();
      for (size_t i = 0; i < 128; i++) {
        double sum = c[i];
        for (size_t k = 0; k < 4; k++) sum = std::fma(a[i / 8 * 4 + k], b[8 * k + i % 8], sum);
        same = same && (std::memcmp(&sum, &got[i], sizeof sum) == 0 || (std::isnan(sum) && std::isnan(got[i])));
      }
    }
    CHECK(same);
  }
}

/* With two groups of copies in flight, the kernel waits for the first before the second. */
__global__ void copies(const double *in, double *out) {
  __shared__ __align__(16) double first[64], second[64];
  const int i = (int)threadIdx.x;
  __pipeline_memcpy_async(first + 2 * i, in + 2 * i, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(second + i, in + 64 + i, 8);
  __pipeline_memcpy_async(second + 32 + i, in + 96 + i, 8);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[i] = first[63 - i] + first[31 - i];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[32 + i] = second[63 - i] + second[31 - i];
}

static void test_copies() {
  std::vector<double> values;
  for (int i = 0; i < 128; i++) values.push_back(i * i);
  check::Array<double> in(values), out(64);
  bool same = check::run(1, 32, 0, copies, in.data(), out.data()) == cudaSuccess;
  const std::vector<double> got = out.values();
  for (size_t i = 0; i < 32; i++)
    same = same && got[i] == values[63 - i] + values[31 - i] && got[32 + i] == values[127 - i] + values[95 - i];
  CHECK(same);
}

int main() {
  test_shuffles<int>(1);
  test_shuffles<unsigned>(3u);
  test_shuffles<float>(0.5f);
  test_shuffles<double>(0.1);
  test_shuffles<long long>(1ll << 40);
  test_shuffles<unsigned long long>(1ull << 50);
  test_parts();
  {
    check::Array<int> out(40);
    CHECK(check::run(1, 40, 0, short_warp, out.data()) == cudaSuccess);
    bool same = true;
    for (int x : out.values()) same = same && x == 255;
    CHECK(same);
  }
  test_votes();
  test_shared<double>();
  test_shared<float>();
  test_shared<int>();
  {
    check::Array<int> out(96);
    CHECK(check::run(1, 96, 0, barrier_votes, out.data()) == cudaSuccess);
    bool same = true;
    for (int x : out.values()) same = same && x == 321010;
    CHECK(same);
  }
  test_places();
  test_atomics();
  {
    check::Array<double> out(18);
    CHECK(check::run(1, 1, 0, intrinsics, out.data()) == cudaSuccess);
    bool all = true;
    for (double x : out.values()) all = all && x == 1.0;
    CHECK(all);
  }
  test_products();
  test_copies();
  return check::summary();
}
