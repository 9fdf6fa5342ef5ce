/* The product of two real sequences by the fast Fourier transform, with a bound on its error. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "backend/types.h"
#include "numeric/poll.h"

/* Lengths of transforms are powers of two. These are the smallest and the largest exponent. */
#define WB_FFT_LEAST 8
#define WB_FFT_LARGEST 30

/* The tables of one length. */
typedef struct wb_fft wb_fft;

/* Makes the tables for the length 2^log2_length. Returns WB_OK, WB_ERROR_MEMORY or WB_INTERRUPTED. */
int wb_fft_open(int log2_length, wb_isa isa, int32_t threads, wb_poll *poll, wb_fft **fft, wb_message *message);
void wb_fft_close(wb_fft *fft); /* NULL-safe */

/* Tables of lengths up to 2^WB_FFT_KEPT (1 MB), made at first use and kept. Only one thread may use a cache. */
#define WB_FFT_KEPT 16
typedef struct wb_fft_cache {
  wb_fft *fft[WB_FFT_KEPT + 1];
} wb_fft_cache;
int wb_fft_keep(wb_fft_cache *cache, int log2_length, wb_isa isa, const wb_fft **fft, wb_message *message);
void wb_fft_cache_clear(wb_fft_cache *cache);

/* The exponent of the shortest transform of at least `length` entries. It may exceed WB_FFT_LARGEST. */
int wb_fft_log2(int64_t length);

/* One transform gives the product p * q: for z = p + i scale q, the imaginary part of z * z is 2 scale (p * q). The
 * balance is the power of two for `scale` that makes the squared 2-norms of p and scale q agree within a factor of two:
 * the least error. */
double wb_fft_balance(double p_square, double q_square);

/* Bound of the error of any entry of the computed product. p_square and q_square are the squared 2-norms of p and q. */
double wb_fft_product_error(int log2_length, double p_square, double q_square, double scale);

/* r[i] = entry first + i, for i < count, of the cyclic convolution of p and q of the tables' length. re and im are
 * working memory for one transform, aligned to 64 bytes. r may be `im` if first is 0. The bits are the same for every
 * isa and any number of threads. Returns WB_OK or WB_INTERRUPTED. */
int wb_fft_multiply(const wb_fft *fft, int64_t m, const double *p, int64_t n, const double *q, double scale, double *re,
                    double *im, int64_t first, int64_t count, double *r, wb_isa isa, int32_t threads, wb_poll *poll);
