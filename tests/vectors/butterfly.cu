// Tests measure/butterfly.cuh: each entry of a warp's butterfly-patterned table against the closed description of its
// pattern; the sums, the search in the table and the transposition; and whole draws in each way against
// measure/tree_draw.h.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "core/philox.h"
#include "../measure/butterfly.cuh"

namespace {

constexpr int W = WB_TREE;

int failures;

void report(const char *name, long wrong) {
  if (wrong != 0) failures++;
  std::printf("%-50s %ld wrong%s\n", name, wrong, wrong != 0 ? "  FAILED" : "");
}

template <typename T>
class shared_values {
public:
  explicit shared_values(const std::vector<T> &values) : count_(values.size()) {
    good_ = cudaMalloc(reinterpret_cast<void **>(&device_), bytes()) == cudaSuccess &&
            cudaMemcpy(device_, values.data(), bytes(), cudaMemcpyHostToDevice) == cudaSuccess;
  }
  ~shared_values() { cudaFree(device_); }
  T *device() const { return device_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    if (!good_ || cudaMemcpy(values.data(), device_, bytes(), cudaMemcpyDeviceToHost) != cudaSuccess)
      report("reading from the device", 1);
    return values;
  }

private:
  size_t bytes() const { return count_ * sizeof(T); }
  T *device_ = nullptr;
  size_t count_;
  bool good_ = false;
};

template <typename... Parameters, typename... Arguments>
void start(void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(W);
  if (cudaLaunchKernelEx(&config, kernel, arguments...) != cudaSuccess) report("launching", 1);
}

/* weights[r * W + c] is column c of row r. In the results, element i * W + lane is register i of a lane. */
template <typename Real>
__global__ void make_tables(const Real *weights, const Real *positions, Real *table, Real *sum, Real *transposed,
                            int *found, int *found_in_lane) {
  const int lane = static_cast<int>(threadIdx.x);
  Real a[W], b[W], c[W];
  for (int r = 0; r < W; r++) a[r] = b[r] = c[r] = weights[r * W + lane];
  trees::butterfly_table(a, lane);
  for (int i = 0; i < W; i++) table[i * W + lane] = a[i];
  sum[lane] = trees::butterfly_sum(b, lane);
  trees::warp_transpose(c, lane);
  for (int i = 0; i < W; i++) transposed[i * W + lane] = c[i];
  trees::lane_tree_sums(c);
  found[lane] = trees::butterfly_find(a, lane, positions[lane]);
  found_in_lane[lane] = trees::lane_tree_find(c, positions[lane]);
}

/* Weights whose sums tell which weights were added. Row r, column c weighs r 2^40 + 2^c. Single precision cannot hold
 * such numbers: there it weighs r + 32 c. */
double telling(double, int r, int c) { return r * 0x1p40 + (double)(1u << c); }
float telling(float, int r, int c) { return (float)(r + 32 * c); }

template <typename Real>
void check_tables(const char *precision) {
  std::vector<Real> weights(W * W), positions(W), zeros(W * W), lane(W);
  std::vector<int> none(W);
  for (int r = 0; r < W; r++)
    for (int c = 0; c < W; c++) weights[r * W + c] = telling(Real(), r, c);
  long pattern = 0, sums = 0, moved = 0, found_wrong = 0;
  for (int turn = 0; turn < 64; turn++) {
    /* In the first turns the positions are borders between items, then they are anywhere. */
    for (int r = 0; r < W; r++) {
      Real own[W], total = 0;
      for (int c = 0; c < W; c++) own[c] = weights[r * W + c];
      for (int c = 0; c < W; c++) total += c < (turn + r) % W ? own[c] : Real(0);
      positions[r] = total;
      wb_bits bits = wb_philox(7, (uint32_t)turn, (uint32_t)r, 0, 0);
      if (turn >= W) {
        for (int c = (turn + r) % W; c < W; c++) total += own[c];
        positions[r] = (Real)(wb_uniform(wb_bits64(bits, 0)) * (double)total);
      }
    }
    shared_values<Real> in(weights), at(positions), table(zeros), sum(lane), transposed(zeros);
    shared_values<int> found(none), found_in_lane(none);
    start(make_tables<Real>, in.device(), at.device(), table.device(), sum.device(), transposed.device(),
          found.device(), found_in_lane.device());
    const std::vector<Real> t = table.read(), s = sum.read(), moved_to = transposed.read();
    const std::vector<int> f = found.read(), g = found_in_lane.read();
    for (int i = 0; i < W - 1; i++)
      for (int j = 0; j < W; j++) {
        const int m = i ^ (i + 1), k = m / 2, row = (i & ~m) + (j & m), v = j & ~m, w = v + k;
        Real expected = 0;
        for (int c = v; c <= w; c++) expected += weights[row * W + c];
        pattern += t[i * W + j] != expected;
      }
    for (int r = 0; r < W; r++) {
      Real expected = 0;
      for (int c = 0; c < W; c++) expected += weights[r * W + c];
      sums += t[(W - 1) * W + r] != expected || s[r] != expected;
      for (int c = 0; c < W; c++) moved += moved_to[c * W + r] != weights[r * W + c];
    }
    for (int r = 0; r < W; r++) {
      Real own[W];
      for (int c = 0; c < W; c++) own[c] = weights[r * W + c];
      Real prefix = own[0];
      int expected = 0;
      while (expected < W - 1 && prefix <= positions[r]) prefix += own[++expected];
      found_wrong += f[r] != expected || g[r] != expected;
    }
  }
  std::printf("%s\n", precision);
  report("  entries of the table that break the pattern", pattern);
  report("  sums of rows", sums);
  report("  entries transposed", moved);
  report("  items found", found_wrong);
}

template <typename Real>
struct rows_of_warp {
  const Real *weights;
  int columns;
  __device__ Real operator()(int s, int column) const {
    return column < columns ? weights[s * columns + column] : Real(0);
  }
};
template <typename Real>
struct row_of_lane {
  const Real *weights;
  __device__ Real operator()(int column) const { return weights[column]; }
};

template <typename Real>
__global__ void draw_each_way(const Real *weights, int columns, const Real *u, int *item) {
  const int lane = static_cast<int>(threadIdx.x);
  const rows_of_warp<Real> rows = {weights, columns};
  const row_of_lane<Real> own = {weights + lane * columns};
  item[lane] = trees::draw_by_trees<trees::by_butterfly>(rows, own, columns, u[lane], lane);
  item[W + lane] = trees::draw_by_trees<trees::by_transposition>(rows, own, columns, u[lane], lane);
  item[2 * W + lane] = trees::draw_by_trees<trees::by_itself>(rows, own, columns, u[lane], lane);
}

long reference(int columns, const double *weights, double u) {
  std::vector<double> room((size_t)columns / W + 1);
  return (long)wb_draw_by_trees(columns, weights, u, room.data());
}
long reference(int columns, const float *weights, float u) {
  std::vector<float> room((size_t)columns / W + 1);
  return (long)wb_draw_by_treesf(columns, weights, u, room.data());
}

/* Draws from rows with zeros at both ends and with very different magnitudes, at the least, the greatest and other
 * uniforms. Row 0 has no weight at all, and row 1 an infinite one. */
template <typename Real>
void check_draws(const char *precision) {
  long wrong = 0, empty = 0;
  for (int columns : {1, 2, 31, 32, 33, 63, 64, 65, 100, 1024, 1025, 2100}) {
    std::vector<Real> weights((size_t)(W * columns)), u(W);
    for (int r = 0; r < W; r++) {
      for (int c = 0; c < columns; c++) {
        const double x = wb_uniform(wb_bits64(wb_philox(9, (uint32_t)columns, (uint32_t)r, (uint32_t)c, 0), 0));
        const bool zero = r == 0 || (columns > 4 && (c < 2 || c > columns - 3)) || (x < 0.3 && columns > 4);
        weights[(size_t)(r * columns + c)] = zero ? Real(0)
                                                  : (Real)(r % 3 == 0   ? x
                                                           : r % 3 == 1 ? 1
                                                                        : x * x * x * 1e-6);
      }
      if (r == 1) weights[(size_t)(r * columns)] = (Real)1e300 * (Real)1e300;
      const wb_bits bits = wb_philox(11, (uint32_t)columns, (uint32_t)r, 0, 0);
      u[r] = sizeof(Real) == 8 ? (Real)wb_uniform(wb_bits64(bits, 0)) : (Real)wb_uniformf(bits.word[0]);
      if (r == 2 || r == 3) u[r] = (Real)0x1p-24;
      if (r == 4 || r == 5) u[r] = (Real)1 - (Real)0x1p-24;
    }
    shared_values<Real> in(weights), uniforms(u);
    shared_values<int> items(std::vector<int>(3 * W));
    start(draw_each_way<Real>, in.device(), columns, uniforms.device(), items.device());
    const std::vector<int> item = items.read();
    for (int way = 0; way < 3; way++)
      for (int r = 0; r < W; r++) {
        const int drawn = item[(size_t)(way * W + r)];
        wrong += drawn != reference(columns, weights.data() + r * columns, u[r]);
        if (r > 1) empty += drawn < 0 || !(weights[(size_t)(r * columns + drawn)] > 0);
      }
  }
  std::printf("%s\n", precision);
  report("  draws that differ from the processor's", wrong);
  report("  draws of items without weight", empty);
}

} // namespace

int main() {
  check_tables<double>("tables, double");
  check_tables<float>("tables, single");
  check_draws<double>("draws, double");
  check_draws<float>("draws, single");
  std::printf("%s\n", failures ? "FAILED" : "all held");
  return failures != 0;
}
