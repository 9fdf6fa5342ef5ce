/* What the host side of the mixture knows of its kernels: how coefficients are
 * laid out, and which kernel serves how many columns. The kernels are compiled in
 * cuda/mixture/double.cu and cuda/mixture/single.cu, two files so that it can be done in parallel.
 */
#ifndef WB_CUDA_MIXTURE_KERNELS_CUH
#define WB_CUDA_MIXTURE_KERNELS_CUH

#include "cuda/device.cuh"

namespace wb {

/* Threads of a block. */
constexpr int MIXTURE_THREADS = 64;
constexpr int32_t MIXTURE_MOST_COMPONENTS = 1 << 20;

/* Values of a piece of coefficients: the 16 bytes that a thread loads at once. */
template <typename Real>
constexpr __host__ __device__ int mixture_piece() {
  return 16 / static_cast<int>(sizeof(Real));
}

/* Coefficients of a component: for each row of the triangle the negative offset
 * followed by the row of the factor, then the log constant, then zeros to the
 * end of a piece. The order of the triangle may exceed the columns of the data:
 * the rows and columns added are zero and leave every bit of the squared
 * distance as it was, since fma(0, x, z) = z and fma(0, 0, q) = q. coefficient_line()
 * says where the line of row r of the triangle begins. */
constexpr __host__ __device__ size_t coefficient_line(size_t r) {
  return r * (r + 3) / 2;
}
template <typename Real>
constexpr __host__ __device__ size_t mixture_coefficients(size_t order) {
  return (coefficient_line(order) + static_cast<size_t>(mixture_piece<Real>())) / mixture_piece<Real>() *
         mixture_piece<Real>();
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

/* A kernel, the order of triangle that it expects, the rows of a thread, the threads of a block and the shared memory that
 * its launch must name; `fragments` says how it expects the coefficients (cuda/mixture/fragments.cuh, or as above). */
template <typename Real>
struct mixture_draw_kernel {
  int order, rows, threads;
  size_t shared_bytes;
  bool fragments;
  void (*kernel)(const Real *x, int p, const Real *coefficients, int components, const Real *share, const int32_t *sample,
                 uint64_t key, uint32_t iteration, uint64_t first_row, int64_t rows, int32_t *label, Real *log_sum);
};
template <typename Real>
struct mixture_evaluate_kernel {
  int order, rows;
  void (*kernel)(const Real *x, int p, const Real *coefficients, int components, int64_t first, int64_t count,
                 int32_t *label, double *log_sum, double *probability, int64_t stride);
};

template <typename Real>
mixture_draw_kernel<Real> find_mixture_draw(int p);
/* That of cuda/mixture/tensor.cuh, for FRAGMENT_MOST_COLUMNS columns at most. */
mixture_draw_kernel<double> find_mixture_draw_tensor(int p);
template <typename Real>
mixture_evaluate_kernel<Real> find_mixture_evaluate(int p);

/* The kernel of cuda/mixture/sum_tensor.cuh, and of how many leaves it adds the sums up at most; for SUM_TENSOR_MOST_COLUMNS columns at
 * most. */
template <typename Real>
struct mixture_sum_kernel {
  int fused;
  void (*kernel)(const Real *x, int p, const uint32_t *keys, const Real *log_sum, int64_t rows, int components, int leaves,
                 int fused, size_t node, double *sums);
};
constexpr int SUM_TENSOR_MOST_COLUMNS = 47, SUM_TENSOR_COMPONENTS = 8;
template <typename Real>
mixture_sum_kernel<Real> find_mixture_sum_tensor(int p);

} // namespace wb

#endif
