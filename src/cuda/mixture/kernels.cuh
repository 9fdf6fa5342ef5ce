/* What the host knows of the mixture's kernels: the layout of coefficients and of sorted keys, and which kernel serves
 * how many columns. Kernels have several files, so that nvcc compiles them in parallel. */
#pragma once

#include "cuda/launch.cuh"
#include "cuda/real.cuh"

namespace wb {

constexpr int MIXTURE_THREADS = 64;
constexpr int32_t MIXTURE_MOST_COMPONENTS = 1 << 20;
constexpr int32_t MIXTURE_MOST_COLUMNS = 6000; /* a row in 48 KB of shared memory */

/* Coefficients of a component: for each row of the triangle the negative offset followed by the row of the factor, then
 * the log constant, then zeros to the end of a 16-byte piece. If the order of the triangle exceeds the columns of the
 * data, the added entries are zero. The line of row r begins at coefficient_line(r). */
constexpr __host__ __device__ size_t coefficient_line(size_t r) { return r * (r + 3) / 2; }
template <typename Real>
constexpr __host__ __device__ size_t mixture_coefficients(size_t order) {
  constexpr size_t piece = precise<Real>::in_piece;
  return (coefficient_line(order) + piece) / piece * piece;
}

template <typename Real>
uint64_t coefficient_bytes(int32_t components, int order) {
  return uint64_t(components) * mixture_coefficients<Real>(size_t(order)) * sizeof(Real);
}

constexpr int FRAGMENT_COMPONENTS = 16, FRAGMENT_LINE = 64, FRAGMENT_MOST_COLUMNS = 48;
static_assert(FRAGMENT_COMPONENTS == WB_BLOCK_ITEMS, "one block of a draw is one block of a product of matrices");

/* Where line r of the triangles of a block of components begins. A line has the negative offsets, with components i and
 * i + 8 side by side. Then come 64 coefficients for each four columns up to the diagonal: lane 4g + q has components g
 * and g + 8 in column q of the four. Past the diagonal are zeros. After the last line come the log constants,
 * as the offsets do. Four lines make a panel; lines that the triangle does not have are not there. */
constexpr __host__ __device__ int fragment_line(int r) {
  return FRAGMENT_COMPONENTS * r + FRAGMENT_LINE * ((r / 4 + 1) * (r / 4 * 2 + r % 4));
}
constexpr __host__ __device__ int fragment_block(int p) { return fragment_line(p) + FRAGMENT_COMPONENTS; }
constexpr __host__ __device__ int fragment_blocks(int components) {
  return (components + FRAGMENT_COMPONENTS - 1) / FRAGMENT_COMPONENTS;
}

inline uint64_t fragment_bytes(int components, int p) {
  return sizeof(double) * uint64_t(fragment_blocks(components)) * uint64_t(fragment_block(p));
}

/* The layout of cuda/mixture/draw_half.cuh. Eight components have a group for each eight lines, from line 8 s - 1 on.
 * After all groups come, for each two components, two numbers by which squares are multiplied and two log constants.
 * A group has s + 1 blocks of eight columns, with the first halves of all numbers, then as many with the second ones.
 * Column 0 is the negative offset, column c + 1 that of the triangle. A block has a core of HALF_CORE bytes for each
 * line: eight columns of a component are side by side, zeros above the diagonal. The last group: 2 or 8 lines. */
constexpr int HALF_COMPONENTS = 8, HALF_LINES = 8, HALF_CORE = 128, HALF_CONSTANTS = 64, HALF_LEAST_COLUMNS = 9,
              HALF_MOST_COLUMNS = 103;
/* The largest exponent of a component's largest number that is made good for; no data have such components. */
constexpr int HALF_MOST_SHIFT = 60;
/* The log constant of a component that only fills up the eight. */
constexpr float HALF_NOBODY = -1e30f;
constexpr __host__ __device__ int half_groups(int p) { return p / HALF_LINES + 1; }
/* Lines of group s, as many as there is room for. */
constexpr __host__ __device__ int half_lines(int p, int s) { return p - (HALF_LINES * s - 1) <= 2 ? 2 : HALF_LINES; }
/* Where group s begins. */
constexpr __host__ __device__ int half_group(int s) { return HALF_LINES * HALF_CORE * s * (s + 1); }
constexpr __host__ __device__ int half_bytes(int p) {
  const int s = half_groups(p) - 1;
  return half_group(s) + 2 * (s + 1) * half_lines(p, s) * HALF_CORE + HALF_CONSTANTS;
}
constexpr __host__ __device__ int half_eights(int components) {
  return (components + HALF_COMPONENTS - 1) / HALF_COMPONENTS;
}

enum class mixture_layout { lines, fragments, halves };
template <typename Real>
uint64_t layout_bytes(mixture_layout layout, int components, int p, int order) {
  switch (layout) {
    case mixture_layout::lines: return coefficient_bytes<Real>(components, order);
    case mixture_layout::fragments: return fragment_bytes(components, p);
    default: return uint64_t(half_eights(components)) * uint64_t(half_bytes(p));
  }
}

/* A leaf is stored column by column: where a row's first value is; the next are WB_LEAF_ROWS apart. */
template <typename Real>
__device__ __forceinline__ const Real *first_value_of_row(const Real *x, int p, int64_t row) {
  return x + row / WB_LEAF_ROWS * (int64_t(p) * WB_LEAF_ROWS) + row % WB_LEAF_ROWS;
}

/* The key by which a row is sorted: its label in the upper bits, its place in the leaf
 * in the lower ones. So rows of equal labels stay in order, and no two keys are equal. */
constexpr int LEAF_BITS = 11;
static_assert(WB_LEAF_ROWS == 1 << LEAF_BITS, "a key has room for the rows of a leaf");
static_assert(MIXTURE_MOST_COMPONENTS <= 1 << (31 - LEAF_BITS), "and for a label");
constexpr uint32_t NO_ROW = 0xFFFFFFFFu;

/* Levels of the tree inside a group of leaves whose sums are added together. */
constexpr int GROUP_LEVELS = 6;

/* A session's components in device memory, all of them in each array. */
struct mixture_components {
  int count, columns;
  double *statistics; /* then the log likelihood: what mixture_combine() leaves */
  double *mean, *offset, *factor, *pull, *log_determinant, *floor_trace, *log_weight; /* see wb_component */
  double *failed; /* 0, or one more than the source of a component that could not be drawn */
};

template <typename Kernel>
struct mixture_kernel {
  int order, rows, threads;
  size_t shared_bytes;
  mixture_layout layout;
  Kernel *kernel;
};
template <typename Real>
using mixture_draw_kernel = mixture_kernel<void(
    const Real *x, int p, const Real *coefficients, int components, const Real *share, const int32_t *sample,
    uint64_t key, uint32_t iteration, uint64_t first_row, int64_t rows, int32_t *label, Real *log_sum)>;
template <typename Real>
using mixture_evaluate_kernel =
    mixture_kernel<void(const Real *x, int p, const Real *coefficients, int components, int64_t first, int64_t count,
                        int32_t *label, double *log_sum, double *probability, int64_t stride)>;

template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw(int p);
/* That of cuda/mixture/draw_tensor.cuh, for FRAGMENT_MOST_COLUMNS columns at most. */
mixture_draw_kernel<double> find_mixture_draw_tensor(int p);
mixture_draw_kernel<float> find_mixture_draw_half(int p);
/* Those of cuda/mixture/draw_wide.cuh, with coefficients in double. No kernel if there are too many columns. */
template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw_wide(int p);
template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate_wide(int p);
/* Whether the plugin has code for tensor cores: one that was built for older cards has empty kernels. */
bool has_tensor_code();
/* The same of the kernels of draw_half.cuh. */
bool has_half_code();
template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate(int p);

/* The kernel of sums_tensor.cu, for up to SUM_TENSOR_MOST_COLUMNS columns, and the most leaves that it adds up. */
template <typename Real>
struct mixture_sum_kernel {
  int fused;
  void (*kernel)(const Real *x, int p, const uint32_t *keys, const Real *log_sum, int64_t rows, int components,
                 int leaves, int fused, size_t node, double *sums);
};
constexpr int SUM_TENSOR_MOST_COLUMNS = 47, SUM_TENSOR_COMPONENTS = 8;
template <typename Real>
mixture_sum_kernel<Real> find_mixture_sum_tensor(int p);

} // namespace wb
