/* Cyclic self-convolution of complex sequences by the fast Fourier transform,
 * with a bound on its error. */
#ifndef WB_CPU_FFT_H
#define WB_CPU_FFT_H

#include <stddef.h>

#include "backend/types.h"

/* Lengths are powers of two within these. */
#define WB_FFT_LEAST 8   /* log2 */
#define WB_FFT_LARGEST 30

typedef struct wb_fft wb_fft;

/* Tables for length 2^log2_length; NULL without memory. */
wb_fft *wb_fft_open(int log2_length, wb_isa isa);
void wb_fft_close(wb_fft *fft); /* NULL-safe */

/* Tables of lengths up to 2^WB_FFT_KEPT (1 MB), made when first asked for and kept
 * for the next call. Used by one thread at a time. */
#define WB_FFT_KEPT 16
typedef struct wb_fft_cache {
  wb_fft *fft[WB_FFT_KEPT + 1];
} wb_fft_cache;
const wb_fft *wb_fft_keep(wb_fft_cache *cache, int log2_length, wb_isa isa); /* NULL without memory */
void wb_fft_cache_clear(wb_fft_cache *cache);

/* z <- n (z * z), the cyclic convolution of z = re + i im with itself, n the
 * length. Both arrays are aligned to 64 bytes. With re = p and im = q the
 * imaginary part becomes 2n (p * q). The same bits for every isa. */
void wb_fft_square(const wb_fft *fft, double *re, double *im, wb_isa isa);

/* No entry of the computed z * z, each part taken by itself, is off by more
 * than this times the sum of the squares of re and im. */
double wb_fft_error_bound(int log2_length);

#endif
