/* The C interface of the R package warpbayes: random draws that depend on keys alone, Polya-Gamma variables,
 * categorical draws, convolutions, and the density and allocation of Gaussian mixtures. For C99 and C++11.
 *
 * HOW A PACKAGE USES IT
 *
 *   DESCRIPTION   LinkingTo: warpbayes
 *                 Imports: warpbayes        so that it is installed where your package is
 *   NAMESPACE     importFrom(warpbayes, warp_info)
 *   C or C++      #include <warpbayes.h>
 *
 *                 const warpbayes_table *wb;
 *
 *                 void R_init_yours(DllInfo *dll) {
 *                   warpbayes_message message;
 *                   if (warpbayes_open(&wb, WARPBAYES_VERSION, &message)) Rf_error("%s", message.text);
 *                   ...
 *                 }
 *
 * There is nothing to link and no compiler flag to set. An example, draws of PG(1, tilt) for .Call(): the seed of R is
 * checked, the draws are element 0, 1, ... of iteration 0, and at most 2 threads are used:
 *
 *   SEXP draw(SEXP tilt, SEXP seed_of_r) {
 *     const double one = 1;
 *     const R_xlen_t n = Rf_xlength(tilt);
 *     uint64_t seed;
 *     warpbayes_message message;
 *     if (warpbayes_seed(seed_of_r, &seed, &message)) Rf_error("%s", message.text);
 *     warpbayes_source from = {wb->key(seed, 0), 0, 0, 2};
 *     SEXP draws = PROTECT(Rf_allocVector(REALSXP, n));
 *     if (wb->polyagamma_draw(&from, n, &one, 1, REAL(tilt), n, REAL(draws), &message)) Rf_error("%s", message.text);
 *     UNPROTECT(1);
 *     return draws;
 *   }
 *
 * In C++ leave by an exception instead of Rf_error(), which would not run destructors; turn it into an R error where no
 * object is left. vignette("c-interface") has an example of each.
 *
 * ERRORS
 *
 * Functions return a warpbayes_status, which is 0 if all is well. If it is not, `message` holds one sentence in
 * English, and outputs are unspecified. A message may be NULL. Arguments that cannot be used give WARPBAYES_INPUT: a
 * pointer that is NULL, a size below 0, a parameter that is not a number or outside its range. Messages count
 * positions, rows and columns from 1. No function jumps (longjmp), throws, prints or ends the process.
 *
 * WARPBAYES_OK means that all outputs are values of the law: finite numbers, never NaN. Only logarithms of zero are
 * -Inf, where this is said. If the parameters are so extreme that an output lies beyond the range of doubles, the
 * function returns WARPBAYES_INPUT.
 *
 * RANGES
 *
 * From the first number to the second, both included. Arguments that are not here have their range at their function.
 *
 *   law                  argument   from                      to
 *   gamma                shape      1e-300                    1e300
 *   beta                 a          1e-300                    1e300
 *   beta                 b          1e-300                    1e300
 *   truncated_normal     lower      -Inf                      Inf                       less than upper
 *   truncated_normal     upper      -Inf                      Inf
 *   binomial             size       0                         2147483647                whole
 *   binomial             prob       0                         1
 *   dirichlet            shape      1e-300                    1e300
 *   multinomial          size       0                         2147483647                whole
 *   multinomial          weights    0                         1e300                     one above 0
 *   multivariate_normal  mean       -1e300                    1e300
 *   wishart              df         0                         1e300                     above columns - 1
 *   polyagamma           shape      2.2250738585072014e-308   1.7976931348623157e308
 *   polyagamma           tilt       -1.7976931348623157e308   1.7976931348623157e308
 *
 * THREADS
 *
 * Functions of the table do not call R. With threads = 1 they run on the calling thread, and any number of threads may
 * call them at the same time, with outputs and streams of their own. With threads > 1 they start OpenMP threads; then
 * only one thread may be inside the table. They use fewer threads than they are given if the machine has fewer cores,
 * if other programs keep cores busy, and if there is little to do; one in a child made by fork(); and one where the
 * package was built without OpenMP. warp_info()$threads in R is the number that the package itself would take.
 * Results do not depend on the number of threads. Calls cannot be interrupted: give long work in parts.
 *
 * DRAWS
 *
 * There is no state of a generator. A draw is a function of a key, an iteration, the number of its element, and its own
 * parameters (Philox4x32-10, Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", SC11).
 * It is the same on every machine and for any number of threads, and neither its neighbours nor the size of the call
 * change it. R's generator is neither read nor changed.
 *   key(seed, stream)  one for each chain, and for each place of your sampler that calls the same function
 *   iteration          counts the steps of your sampler
 *   element            counts from `first` of the call
 * Different functions of the table never share random numbers, even with equal keys; only mixture_allocate() has those
 * of categorical_draw(). The same call repeated gives the same draws: if you forget to count iterations, your sampler
 * stands still.
 * Where R has the same function, key(seed, 0), iteration 0 and first 0 give the draws of the R function with this seed.
 *
 * SHAPES
 *
 * Arrays are doubles, matrices are column by column as in R, and items, components and elements count from 0. Inputs
 * and outputs must not overlap. A vector of parameters with its length, such as `shape, shapes`, is recycled: draw i
 * takes shape[i % shapes]. Lengths are at least 1.
 *
 * VERSIONS
 *
 * WARPBAYES_VERSION grows when functions are added, at the end of the table. A function and a struct never change and
 * never disappear. So a package that was compiled with an older header works with every newer warpbayes, without being
 * installed again. warpbayes_open() fails if the installed warpbayes is older than the version that is asked for. */
#ifndef WARPBAYES_H
#define WARPBAYES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WARPBAYES_VERSION 2

typedef enum warpbayes_status {
  WARPBAYES_OK = 0,
  WARPBAYES_INPUT = 1,  /* an argument cannot be used */
  WARPBAYES_MEMORY = 3, /* memory ran out */
  WARPBAYES_PACKAGE = 4 /* warpbayes cannot be loaded, or is older than the version asked for */
} warpbayes_status;

typedef struct warpbayes_message {
  char text[512];
} warpbayes_message;

/* Where draws come from, and how many threads may make them. */
typedef struct warpbayes_source {
  uint64_t key;   /* from key() */
  uint64_t first; /* the number of the first element; numbers are below 2^48 */
  uint32_t iteration;
  int32_t threads; /* 1 to 4096; 1: the calling thread */
} warpbayes_source;

/* The random words of one element, in order. Its members are private: stream_open() fills it. A copy goes on from the
 * same place. */
typedef struct warpbayes_stream {
  uint64_t word[6];
} warpbayes_stream;

/* A mixture of Gaussians: the density is the sum over j of weights[j] N(x | means[j, ], covariances[, , j]). */
typedef struct warpbayes_mixture {
  int32_t components;        /* k, at least 1 */
  int32_t columns;           /* p, 1 to 1024 */
  const double *weights;     /* k, positive; their sum is not checked, and scales the density */
  const double *means;       /* k x p */
  const double *covariances; /* p x p x k, each positive definite; the upper triangle is not read */
  /* The computation takes place in units of (x - center) / scale. For data far from 0 or of very different spreads,
   * give rough locations and spreads, against rounding. NULL: 0, and 1. With `center` and `scale` of a fit of
   * dp_mixture() the results are those of its predict(). */
  const double *center; /* p */
  const double *scale;  /* p, positive */
} warpbayes_mixture;

typedef struct warpbayes_table {
  uint32_t version; /* WARPBAYES_VERSION of the installed package */
  uint32_t size;    /* sizeof(warpbayes_table) there */

  /* The key of a stream of random numbers. Seeds of R are whole numbers below 2^53; here all 64 bits count. */
  uint64_t (*key)(uint64_t seed, uint32_t stream);

  /* Streams: for loops of your own, in which each element takes as many draws as it needs. Draws are taken one after
   * the other, so that element i of your loop gets the same ones whatever the other elements did. A stream belongs to
   * one thread at a time. `draws` has room for `count` numbers. */
  int (*stream_open)(uint64_t key, uint32_t iteration, uint64_t element, warpbayes_stream *stream,
                     warpbayes_message *message);
  int (*stream_uniform)(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
  int (*stream_normal)(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
  int (*stream_gamma)(warpbayes_stream *stream, int64_t count, const double *shape, int64_t shapes, int is_log,
                      double *draws, warpbayes_message *message);
  int (*stream_beta)(warpbayes_stream *stream, int64_t count, const double *a, int64_t as, const double *b, int64_t bs,
                     int is_log, double *draws, warpbayes_message *message);
  int (*stream_dirichlet)(warpbayes_stream *stream, int64_t count, const double *shape, int is_log, double *draws,
                          warpbayes_message *message);

  /* Many draws: element first + i gives draws[i]. The laws are those of the streams. */

  /* Uniform on the middles of 2^52 equal parts of (0, 1): never 0 or 1, symmetric about 1/2. */
  int (*uniform_draw)(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);

  /* Standard normal, by inversion of a uniform: the largest possible is 8.21. */
  int (*normal_draw)(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);

  /* Gamma of this shape and scale 1: divide by the rate. A draw below the smallest double is 0. By Marsaglia & Tsang
   * 2000, "A simple method for generating gamma variables", ACM TOMS 26, 363-372. is_log not 0: the natural logarithms,
   * which do not underflow for shapes such as 1e-3. */
  int (*gamma_draw)(const warpbayes_source *from, int64_t count, const double *shape, int64_t shapes, int is_log,
                    double *draws, warpbayes_message *message);

  /* Beta with parameters a and b: G(a) / (G(a) + G(b)) of two gamma draws. is_log as above. */
  int (*beta_draw)(const warpbayes_source *from, int64_t count, const double *a, int64_t as, const double *b,
                   int64_t bs, int is_log, double *draws, warpbayes_message *message);

  /* Dirichlet: element first + i gives row i of `draws`, rows x columns, with the parameters shape[0], ...,
   * shape[columns - 1], or if each_row is not 0 those of row i of `shape`, rows x columns. Rows sum to 1 up to
   * rounding. is_log as above. At most 2^31 - 1 columns. */
  int (*dirichlet_draw)(const warpbayes_source *from, int64_t rows, int64_t columns, const double *shape, int each_row,
                        int is_log, double *draws, warpbayes_message *message);

  /* Polya-Gamma PG(shape, tilt): shapes whole or not, tilts of either sign. The draws are positive. The law is within a
   * Kolmogorov distance of 1e-6 (Polson, Scott & Windle 2013, JASA 108, 1339-1349). In R: rpolyagamma(). */
  int (*polyagamma_draw)(const warpbayes_source *from, int64_t count, const double *shape, int64_t shapes,
                         const double *tilt, int64_t tilts, double *draws, warpbayes_message *message);

  /* From each row of `weights`, rows x columns, `draws` items: items is rows x draws. Weights are finite and not
   * negative and need not sum to 1; with is_log not 0 they are natural logarithms, -Inf for zero. Each row has a weight
   * above zero. At most 2^31 - 1 columns. In R: rcategorical(), whose items count from 1. */
  int (*categorical_draw)(const warpbayes_source *from, int64_t rows, int64_t columns, const double *weights,
                          int is_log, int64_t draws, int32_t *items, warpbayes_message *message);

  /* The distribution of the sum of two independent variables: r[s] = sum over i + j = s of p[i] q[j], m + n - 1
   * numbers, for weights that are finite and not negative, at least one of each positive. With is_log not 0 logarithms
   * go in and come out, -Inf for zero. accuracy, from 0 to 0.01: the relative error that the fast method may make in an
   * entry; 0: direct sums alone. In R: convolve_pmf(), whose default accuracy is 1e-12. */
  int (*pmf_convolve)(int64_t m, const double *p, int64_t n, const double *q, int is_log, double accuracy,
                      int32_t threads, double *r, warpbayes_message *message);

  /* A mixture at the rows of x, rows x p, finite. Outputs may be NULL. A row so far from every component that its
   * distances exceed the range of doubles has the log density -Inf, but no probabilities and no component: it is an
   * error to ask for these.
   *   log_density  rows: natural logarithm
   *   probability  rows x k: of each component, given the row
   *   component    rows: the most probable component
   * In R: predict() of a dp_mixture, types "log_density" (of one draw), "prob" and "class". */
  int (*mixture_evaluate)(const warpbayes_mixture *mixture, int64_t rows, const double *x, int32_t threads,
                          double *log_density, double *probability, int32_t *component, warpbayes_message *message);

  /* Draws the component of each row of x from its probabilities given the row: the allocation step of a Gibbs sampler.
   * Row i is element first + i. The draws are those of categorical_draw() from the probabilities of mixture_evaluate(),
   * without room for them all. log_density: as there, or NULL. A row that is too far from every component is an
   * error. */
  int (*mixture_allocate)(const warpbayes_source *from, const warpbayes_mixture *mixture, int64_t rows, const double *x,
                          int32_t *component, double *log_density, warpbayes_message *message);
  /* The end of version 1. */

  /* Draws from streams, as above, by the laws that follow. Of a vector or a matrix each call gives one. */
  int (*stream_exponential)(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
  int (*stream_gumbel)(warpbayes_stream *stream, int64_t count, double *draws, warpbayes_message *message);
  int (*stream_truncated_normal)(warpbayes_stream *stream, int64_t count, const double *lower, int64_t lowers,
                                 const double *upper, int64_t uppers, double *draws, warpbayes_message *message);
  int (*stream_binomial)(warpbayes_stream *stream, int64_t count, const double *size, int64_t sizes, const double *prob,
                         int64_t probs, double *draws, warpbayes_message *message);
  int (*stream_multinomial)(warpbayes_stream *stream, int64_t columns, double size, const double *weights,
                            double *draws, warpbayes_message *message);
  int (*stream_multivariate_normal)(warpbayes_stream *stream, int64_t columns, const double *mean, const double *matrix,
                                    int is_precision, double *draws, warpbayes_message *message);
  int (*stream_wishart)(warpbayes_stream *stream, int64_t columns, double df, const double *scale, int is_inverse,
                        double *draws, warpbayes_message *message);

  /* Exponential of rate 1: -log(u). */
  int (*exponential_draw)(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);

  /* Standard Gumbel: -log(-log(u)). The place of the largest of log_weights[j] + draws[j] is a categorical draw. */
  int (*gumbel_draw)(const warpbayes_source *from, int64_t count, double *draws, warpbayes_message *message);

  /* Standard normal between bounds, lower < upper, which may be infinite. For mean m and standard deviation s give
   * (lower - m) / s and (upper - m) / s, and take m + s draw. By rejection: exact in far tails and narrow intervals. */
  int (*truncated_normal_draw)(const warpbayes_source *from, int64_t count, const double *lower, int64_t lowers,
                               const double *upper, int64_t uppers, double *draws, warpbayes_message *message);

  /* Binomial: size is whole, from 0 to 2^31 - 1, prob from 0 to 1. */
  int (*binomial_draw)(const warpbayes_source *from, int64_t count, const double *size, int64_t sizes,
                       const double *prob, int64_t probs, double *draws, warpbayes_message *message);

  /* Multinomial: element first + i gives row i of `draws`, rows x columns, whose sum is size[i % sizes]. Weights are at
   * least 0 and need not sum to 1: weights[0], ..., weights[columns - 1], or if each_row is not 0 row i of `weights`,
   * rows x columns. Each row has a weight above 0. */
  int (*multinomial_draw)(const warpbayes_source *from, int64_t rows, int64_t columns, const double *size,
                          int64_t sizes, const double *weights, int each_row, double *draws,
                          warpbayes_message *message);

  /* Multivariate normal: element first + i gives row i of `draws`, rows x columns. `mean` is one vector, or if each_row
   * is not 0 rows x columns. `matrix`, columns x columns and positive definite, of which the lower triangle is read, is
   * the covariance, or if is_precision is not 0 its inverse. At most 1024 columns. */
  int (*multivariate_normal_draw)(const warpbayes_source *from, int64_t rows, int64_t columns, const double *mean,
                                  int each_row, const double *matrix, int is_precision, double *draws,
                                  warpbayes_message *message);

  /* Wishart: element first + i gives draws[, , i] of columns x columns x count, symmetric, with mean df scale. If
   * is_inverse is not 0: inverse Wishart, with mean scale / (df - columns - 1). df > columns - 1; `scale` is positive
   * definite, and its lower triangle is read. At most 1024 columns. */
  int (*wishart_draw)(const warpbayes_source *from, int64_t count, int64_t columns, double df, const double *scale,
                      int is_inverse, double *draws, warpbayes_message *message);
  /* The end of version 2. */
} warpbayes_table;

#ifdef __cplusplus
}
#endif

/* Define WARPBAYES_WITHOUT_R where R's headers are not wanted: in files that get the table from elsewhere. */
#ifndef WARPBAYES_WITHOUT_R

/* R's headers define macros such as length(), which break C++ headers that come after them. */
#if defined(__cplusplus) && !defined(R_NO_REMAP)
#define R_NO_REMAP
#endif
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <stdio.h>
#include <string.h>

static inline SEXP warpbayes_find_(void *found) {
  SEXP name = Rf_protect(Rf_mkString("warpbayes"));
  SEXP call = Rf_protect(Rf_lang2(Rf_install("loadNamespace"), name));
  Rf_eval(call, R_BaseEnv);
  *(DL_FUNC *)found = R_GetCCallable("warpbayes", "warpbayes_table");
  Rf_unprotect(2);
  return R_NilValue;
}

static inline SEXP warpbayes_failed_(SEXP condition, void *message) {
  if (message && TYPEOF(condition) == VECSXP && XLENGTH(condition) > 0 && TYPEOF(VECTOR_ELT(condition, 0)) == STRSXP &&
      XLENGTH(VECTOR_ELT(condition, 0)) > 0)
    snprintf(((warpbayes_message *)message)->text, sizeof(warpbayes_message), "warpbayes cannot be used: %.400s",
             CHAR(STRING_ELT(VECTOR_ELT(condition, 0), 0)));
  return R_NilValue;
}

/* Loads the package and sets *table, whose functions are those of `version` at least: WARPBAYES_VERSION, or a lower one
 * if you use no function that came later. The table stays valid as long as the process. Call it from R's main thread,
 * once, for example in R_init_<package>(). It does not jump either: returns WARPBAYES_PACKAGE if the package cannot be
 * loaded or is older; then *table is NULL. */
static inline int warpbayes_open(const warpbayes_table **table, uint32_t version, warpbayes_message *message) {
  DL_FUNC found = NULL;
  const warpbayes_table *opened;
  if (message) strcpy(message->text, "warpbayes cannot be used");
  if (!table) return WARPBAYES_INPUT;
  *table = NULL;
  R_tryCatchError(warpbayes_find_, &found, warpbayes_failed_, message);
  if (!found) return WARPBAYES_PACKAGE;
  opened = ((const warpbayes_table *(*)(void))found)();
  if (opened->version < version) {
    if (message)
      snprintf(message->text, sizeof message->text,
               "the installed package warpbayes has version %u of its C interface, and version %u is needed: "
               "install a newer warpbayes",
               (unsigned)opened->version, (unsigned)version);
    return WARPBAYES_PACKAGE;
  }
  if (message) message->text[0] = '\0';
  *table = opened;
  return WARPBAYES_OK;
}

/* The seed in an R value: one whole number from 0 to 2^53 - 1, integer or double. NA, a negative number, a fraction and
 * anything else give WARPBAYES_INPUT. (Rf_asInteger() would make NA of a seed above 2^31, and a key of that.) */
static inline int warpbayes_seed(SEXP value, uint64_t *seed, warpbayes_message *message) {
  const int is_number = TYPEOF(value) == REALSXP || (TYPEOF(value) == INTSXP && !Rf_inherits(value, "factor"));
  const double number = is_number && XLENGTH(value) == 1 ? Rf_asReal(value) : -1;
  if (seed && number >= 0 && number < 9007199254740992.0 && number == (double)(uint64_t)number) {
    *seed = (uint64_t)number;
    return WARPBAYES_OK;
  }
  if (message) strcpy(message->text, "the seed must be one whole number from 0 to 2^53 - 1");
  return WARPBAYES_INPUT;
}

#endif
#endif
