/* Products of a design with more columns than rows on a graphics card: X diag(weight) X', X v and X'v. The twin of
 * cpu/regression/dual.c: one thread adds each number, in the order of backend/regression_table.h. */
#include "cuda/regression/parts.cuh"

#include "core/regression_row.h"
#include "core/unroll.h"

namespace wb {

namespace {

constexpr int product_threads = 128, side = 16, depth = 32;

/* The lower triangle of X diag(weight) X', rows after rows. Launch: a block of side x side threads for each square of
 * entries that reaches it, blockIdx.y the rows with the weights. Each thread adds one entry: two reads of shared memory
 * for a multiply-add. Bytes of global memory: 16 side a column and block. */
__global__ void __launch_bounds__(side *side) dual_gram(level_rows design, const double *weight, double *gram) {
  __shared__ double left[side][depth + 1], right[side][depth + 1];
  if (blockIdx.x > blockIdx.y) return;
  const int thread = int(threadIdx.x), r = thread / side, s = thread % side;
  const int64_t above = int64_t(blockIdx.y) * side, first = int64_t(blockIdx.x) * side;
  double sum = 0.0;
  for (int begin = 0; begin < design.columns; begin += depth) {
    const int count = design.columns - begin < depth ? design.columns - begin : depth;
    __syncthreads();
    for (int i = thread; i < side * depth; i += side * side) {
      const int row = i % side, l = i / side;
      if (l >= count) continue;
      const double *const column = design.x + size_t(begin + l) * size_t(design.rows);
      left[row][l] = above + row < design.rows ? weight[begin + l] * column[above + row] : 0.0;
      right[row][l] = first + row < design.rows ? column[first + row] : 0.0;
    }
    __syncthreads();
    for (int l = 0; l < count; l++) sum = wb_fma(left[r][l], right[s][l], sum);
  }
  if (above + r < design.rows && first + s <= above + r) gram[(above + r) * design.rows + first + s] = sum;
}

/* The same of a sparse design. Launch: a thread for each pair of rows, which goes through the entries of both. */
__global__ void __launch_bounds__(product_threads)
    dual_gram_entries(level_rows design, const double *weight, double *gram) {
  const int64_t s = thread_number<product_threads>(), r = blockIdx.y;
  if (s > r) return;
  int32_t e = design.row_start[r], f = design.row_start[s];
  const int32_t last = design.row_start[r + 1], end = design.row_start[s + 1];
  double sum = 0.0;
  while (e < last && f < end) {
    const int32_t a = design.column[e], b = design.column[f];
    if (a == b) sum = wb_fma(weight[a] * design.value[e], design.value[f], sum);
    if (a <= b) e++;
    if (b <= a) f++;
  }
  gram[r * design.rows + s] = sum;
}

/* X v. Launch: a thread for each row. Bytes of global memory: 8 columns a row. */
__global__ void __launch_bounds__(product_threads) dual_multiply(level_rows design, const double *v, double *product) {
  const int64_t row = thread_number<product_threads>();
  if (row >= design.rows) return;
  double sum = 0.0;
  if (design.x == nullptr) {
    for (int32_t e = design.row_start[row]; e < design.row_start[row + 1]; e++)
      sum = wb_fma(design.value[e], v[design.column[e]], sum);
  } else {
    WB_UNROLL_BY(16)
    for (int c = 0; c < design.columns; c++) sum = wb_fma(design.x[size_t(c) * size_t(design.rows) + row], v[c], sum);
  }
  product[row] = sum;
}

/* X'v. Launch: WB_REGRESSION_LANES threads for each column. Bytes of global memory: 8 rows a column. */
__global__ void __launch_bounds__(product_threads)
    dual_multiply_transposed(level_rows design, const double *v, double *product) {
  __shared__ double part[product_threads];
  const int thread = int(threadIdx.x);
  const int64_t column = thread_number<product_threads>() / WB_REGRESSION_LANES;
  double sum = 0.0;
  if (column < design.columns) {
    const double *const x = design.x + column * design.rows;
    for (int64_t i = thread % WB_REGRESSION_LANES; i < design.rows; i += WB_REGRESSION_LANES)
      sum = wb_fma(x[i], v[i], sum);
  }
  part[thread] = sum;
  __syncthreads();
  if (column < design.columns && thread % WB_REGRESSION_LANES == 0) product[column] = wb_regression_fold(part + thread);
}

/* The parts of X'v of a sparse design. Launch: one block for each part, which goes through its rows in order; the
 * entries of a row are spread over the threads. */
__global__ void __launch_bounds__(product_threads)
    dual_transposed_entries(level_rows design, const double *v, double *parts) {
  double *const part = parts + size_t(blockIdx.x) * size_t(design.columns);
  for (int c = int(threadIdx.x); c < design.columns; c += product_threads) part[c] = 0.0;
  for (int64_t row = blockIdx.x; row < design.rows; row += WB_REGRESSION_LANES) {
    __syncthreads();
    const int32_t last = design.row_start[row + 1];
    for (int32_t e = design.row_start[row] + int32_t(threadIdx.x); e < last; e += product_threads)
      part[design.column[e]] = wb_fma(design.value[e], v[row], part[design.column[e]]);
  }
}

/* Launch: a thread for each column. */
__global__ void __launch_bounds__(product_threads) dual_fold(const double *parts, int columns, double *product) {
  const int c = int(thread_number<product_threads>());
  if (c >= columns) return;
  double part[WB_REGRESSION_LANES];
  for (int i = 0; i < WB_REGRESSION_LANES; i++) part[i] = parts[size_t(i) * columns + c];
  product[c] = wb_regression_fold(part);
}

} // namespace

int dual_products::open(const level_rows &design, wb_message *message) {
  const size_t n = size_t(design.rows), p = size_t(design.columns);
  const char *const what = "the products of the rows";
  host_.resize(n * n);
  WB_TRY(of_columns_.allocate(p, what, message));
  WB_TRY(of_rows_.allocate(n, what, message));
  if (design.x == nullptr) WB_TRY(parts_.allocate(p * WB_REGRESSION_LANES, what, message));
  return gram_.allocate(n * n, what, message);
}

int dual_products::gram(const level_rows &design, const double *weight, size_t stride, double *to,
                        wb_message *message) {
  const char *const what = "multiplying the rows";
  const size_t n = size_t(design.rows);
  WB_TRY(of_columns_.upload(weight, size_t(design.columns), "copying the weights to the device", message));
  const int64_t squares = ceiling(design.rows, side);
  if (design.x != nullptr)
    WB_TRY(launch(grid(side * side, squares, squares), dual_gram, what, message, design, of_columns_.data(),
                  gram_.data()));
  else
    WB_TRY(launch(cover(product_threads, design.rows, design.rows), dual_gram_entries, what, message, design,
                  of_columns_.data(), gram_.data()));
  WB_TRY(gram_.download(host_.data(), n * n, "copying the products from the device", message));
  for (size_t r = 0; r < n; r++)
    for (size_t s = 0; s <= r; s++) to[r * stride + s] = host_[r * n + s];
  return WB_OK;
}

int dual_products::multiply(const level_rows &design, const double *v, double *product, wb_message *message) {
  WB_TRY(of_columns_.upload(v, size_t(design.columns), "copying a vector to the device", message));
  WB_TRY(launch(cover(product_threads, design.rows), dual_multiply, "multiplying the design", message, design,
                of_columns_.data(), of_rows_.data()));
  return of_rows_.download(product, size_t(design.rows), "copying a product from the device", message);
}

int dual_products::multiply_transposed(const level_rows &design, const double *v, double *product,
                                       wb_message *message) {
  const char *const what = "multiplying the design";
  const int64_t p = design.columns;
  WB_TRY(of_rows_.upload(v, size_t(design.rows), "copying a vector to the device", message));
  if (design.x != nullptr) {
    WB_TRY(launch(cover(product_threads, p * WB_REGRESSION_LANES), dual_multiply_transposed, what, message, design,
                  of_rows_.data(), of_columns_.data()));
  } else {
    WB_TRY(launch(grid(product_threads, WB_REGRESSION_LANES), dual_transposed_entries, what, message, design,
                  of_rows_.data(), parts_.data()));
    WB_TRY(
        launch(cover(product_threads, p), dual_fold, what, message, parts_.data(), design.columns, of_columns_.data()));
  }
  return of_columns_.download(product, size_t(p), "copying a product from the device", message);
}

} // namespace wb
