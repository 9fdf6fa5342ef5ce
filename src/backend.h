/* What a backend is: the table of functions through which the host algorithms
 * reach a processor's loops (src/cpu) or a graphics card's kernels (src/cuda).
 *
 * Plain C, no R headers: the same file is read by the package, by the CUDA
 * plugin and by the emulator. Every function returns a wb_status; on failure it
 * has written one sentence into `message`, released what it had taken, and left
 * its outputs unspecified. None prints, exits or jumps. Host arrays belong to
 * the caller. Functions of one session are called from one thread at a time.
 */
#ifndef WB_BACKEND_H
#define WB_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by one whenever a struct or a function below changes shape. */
#define WB_ABI_VERSION 2

typedef enum wb_status {
  WB_OK = 0,
  WB_ERROR_INPUT = 1,   /* the caller's values cannot be used */
  WB_ERROR_DEVICE = 2,  /* the device failed while computing */
  WB_ERROR_MEMORY = 3,  /* host or device memory ran out */
  WB_ERROR_BACKEND = 4  /* the backend or the device asked for is not there */
} wb_status;

typedef struct wb_message {
  char text[512];
} wb_message;

typedef enum wb_precision { WB_DOUBLE = 0, WB_SINGLE = 1 } wb_precision;

/* Vector instruction sets of the CPU loops; a backend without them ignores it. */
typedef enum wb_isa {
  WB_ISA_BASELINE = 0,
  WB_ISA_AVX2 = 1,
  WB_ISA_AVX512 = 2
} wb_isa;

/* Where and how a call runs. Results do not depend on it. */
typedef struct wb_run {
  int32_t threads; /* CPU threads, at least 1 */
  wb_isa isa;
  int32_t device;        /* index of the graphics card, from 0 */
  uint64_t memory_limit; /* bytes of device memory to stay within, 0: what is free */
} wb_run;

typedef struct wb_device {
  char name[256];
  uint64_t memory;      /* bytes */
  uint64_t memory_free; /* bytes */
  int32_t major, minor; /* compute capability */
  int32_t driver;       /* version of the driver, 1000 * major + 10 * minor */
  int32_t runtime;      /* version of the runtime, likewise */
} wb_device;

/* Gaussian mixtures ------------------------------------------------------- */

/* n rows of p values. The session reads x in its own units and works on
 * (x - center) * inverse_scale; x must outlive the session. */
typedef struct wb_mixture_data {
  const double *x; /* rows x columns, column-major */
  int64_t rows;
  int32_t columns;
  const double *center;        /* columns */
  const double *inverse_scale; /* columns */
  wb_precision precision;      /* of log densities and weights */
} wb_mixture_data;

/* k components, in the scaled units. With Sigma = L L', F = L^-1:
 * log(pi_j N(x | mu_j, Sigma_j)) = log_constant_j - |F_j x - offset_j|^2 / 2. */
typedef struct wb_mixture_parameters {
  int32_t components;
  const double *factor; /* components x p(p+1)/2: lower triangles F, row by row */
  const double *offset; /* components x p: F mu */
  const double *log_constant; /* components: log pi - log|L| - p/2 log(2 pi) */
} wb_mixture_parameters;

typedef struct wb_mixture wb_mixture;

/* Doubles of the sufficient statistics of one component: its count, its p sums
 * and the p(p+1)/2 sums of products, lower triangle row by row. */
#define WB_MIXTURE_STATISTICS(p) (1 + (size_t)(p) + (size_t)(p) * ((size_t)(p) + 1) / 2)

/* Rows of one leaf of the summation tree: rows are added in order within a
 * leaf, leaves are combined by a binary tree over their indices. */
#define WB_LEAF_ROWS 2048

/* Sums of discrete random variables --------------------------------------- */

/* `pairs` independent convolutions r = p * q of m and n weights, with the
 * stride between elements of a vector and between vectors of the batch. All
 * weights are finite; the call is fastest where m <= n.
 *
 * Order of the sum r_i = sum_j p_j q_{i-j}, q being zero outside its support:
 * p is cut into blocks, a block's terms are added to zero by fused multiply-adds
 * and the blocks' sums are added in order. Within a block groups of weights
 * follow one another, and in a group j runs through 0, 8, 16, 24, 1, 9, ..., 31.
 * The order lets registers hold what neighbouring j share; the blocks keep the
 * relative error of a sum of positive terms below (1024 + m/1024) 2^-53. */
#define WB_CONVOLUTION_BLOCK 1024
#define WB_CONVOLUTION_GROUP 32

typedef struct wb_convolution {
  int64_t pairs;
  int64_t m, n;
  const double *p;
  int64_t p_stride, p_pair_stride;
  const double *q;
  int64_t q_stride, q_pair_stride;
  int64_t first, count; /* outputs r_first..r_{first + count - 1}, of m + n - 1 */
  double *r;            /* r_first of the first pair */
  int64_t r_stride, r_pair_stride;
} wb_convolution;

typedef struct wb_backend {
  uint32_t abi_version;
  uint32_t size; /* sizeof(wb_backend), a second guard against a stale plugin */
  const char *name;

  int (*device_count)(int32_t *count, wb_message *message);
  int (*device_describe)(int32_t index, wb_device *device, wb_message *message);

  int (*mixture_open)(const wb_mixture_data *data, const wb_run *run,
                      wb_mixture **session, wb_message *message);
  /* Draws the component of every row from its posterior under `parameters`
   * and sums what the Gibbs sweep needs. The draw of row i depends on (key,
   * iteration, i) alone. labels: rows, from 0, or NULL. statistics:
   * components x WB_MIXTURE_STATISTICS(columns). log_likelihood: sum over rows
   * of the log mixture density of the scaled row. */
  int (*mixture_allocate)(wb_mixture *session, const wb_mixture_parameters *parameters,
                          uint64_t key, uint32_t iteration, int32_t *labels,
                          double *statistics, double *log_likelihood, wb_message *message);
  /* Rows first..first + count - 1: the most probable component (from 0), the
   * log mixture density of the scaled row, and the component probabilities
   * (count x components, column-major). Each output may be NULL. */
  int (*mixture_evaluate)(wb_mixture *session, const wb_mixture_parameters *parameters,
                          int64_t first, int64_t count, int32_t *labels,
                          double *log_density, double *probability, wb_message *message);
  void (*mixture_close)(wb_mixture *session); /* NULL-safe, never fails */

  int (*convolve)(const wb_convolution *convolution, const wb_run *run, wb_message *message);

  /* Fused multiply-adds per second of the run's threads and instruction set, or of
   * its device: the best of three measurements of 50 ms each. */
  int (*multiply_add_rate)(const wb_run *run, wb_precision precision, double *rate, wb_message *message);
} wb_backend;

/* The backend compiled into the package. */
const wb_backend *wb_cpu_backend(void);

/* What the plugin exports: the only symbol visible in it. */
#define WB_PLUGIN_SYMBOL "wb_plugin_backend"

#ifdef __cplusplus
}
#endif
#endif
