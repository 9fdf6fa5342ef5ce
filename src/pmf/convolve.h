/* Internal interface of the sum of two variables: convolve.c chooses among direct sums (direct.c), one Fourier
 * transform (flat.c) and windows of exponential tilting (window.c). sum.c adds many variables.
 *
 * "Wide" weights are those of numeric/wide.h. p is always the shorter vector, whichever was named first. */
#pragma once

#include "numeric/wide.h"
#include "pmf/pmf.h"

/* From so many products m * n on, one transform or windows are considered. */
#define WB_PMF_FLAT_FROM 262144.0
#define WB_PMF_WINDOWS_FROM 6.7e7

/* Below this accuracy the bound on a transform's rounding error certifies nothing. */
#define WB_PMF_LEAST_FFT_ACCURACY 1e-13

/* convolve.c. r->mantissa and r->exponent have room for the sum's entries. */
int wb_pmf_convolve_wide(const wb_pmf_method *method, const wb_wide *p, const wb_wide *q, wb_wide *r);

/* direct.c. One pair of vectors without strides; outputs first..first + count - 1. */
wb_convolution wb_pmf_one_pair(int64_t m, const double *p, int64_t n, const double *q, int64_t first, int64_t count,
                               double *r);

/* direct.c. Outputs first..first + count - 1 of wide weights, with every term. q is surrounded (wb_wide_surround). */
int wb_pmf_direct_wide(const wb_pmf_method *method, const wb_wide *p, const wb_wide *q, int64_t first, int64_t count,
                       double *mantissa, double *exponent);

/* flat.c. The first `count` outputs; m <= n. *done becomes 1, or 0, without r, if the transform would not pay. */
int wb_pmf_convolve_flat(const wb_pmf_method *method, int64_t m, const double *p, int64_t n, const double *q,
                         int64_t count, double *r, int *done);

/* window.c. Both factors are given as wide weights. If r is not NULL, the first `all` entries of the sum go into r, and
 * p_plain and q_plain are the same factors as doubles. If r is NULL, they go into r_wide. */
int wb_pmf_convolve_windows(const wb_pmf_method *method, const wb_wide *p, const wb_wide *q, const double *p_plain,
                            const double *q_plain, int64_t all, double *r, wb_wide *r_wide);
