/* Quadratic functions of leading coordinates and of blocks of other coordinates. Each block is tied to the leading
 * coordinates alone: the log posterior about its mode, as regression/ellipse.c needs it. */
#pragma once

#include "backend/backend.h"

/* The information and the linear term of a log likelihood. A block is q rows of p + 1 numbers (its information with the
 * leading coordinates), its own information (packed), and its linear term (q). */
typedef struct wb_regression_quadratic {
  int32_t p, d;      /* coefficients; with log(r), if it is learned, the leading coordinates */
  int32_t blocks, q; /* blocks of q coordinates */
  size_t stride;     /* of a block */
  double *linear, *information, *block;
} wb_regression_quadratic;

/* Doubles of the linear term, the information (packed) and the blocks, as wb_regression_quadratic_in() cuts them. */
size_t wb_regression_quadratic_size(size_t p, size_t blocks, size_t q);
wb_regression_quadratic wb_regression_quadratic_in(double *memory, int32_t p, int learned, int32_t blocks, int32_t q);

/* Coordinates of a point, and where the linear term of a block is. */
size_t wb_regression_quadratic_points(const wb_regression_quadratic *e);
double *wb_regression_quadratic_linear(const wb_regression_quadratic *e, int32_t block);

/* Cuts the next `count` doubles off `memory`. */
double *wb_regression_cut(double **memory, size_t count);

/* V = C^-1 B for q rows B of p numbers, `stride` apart, and the packed root C; takes V'V out of `precision`. v: q x
 * p. */
void wb_regression_eliminate(int q, const double *root, int p, const double *b, size_t stride, double *v,
                             double *precision);

/* The precisions of the prior, packed: of the p coefficients, and of each block. log(r) has none. */
typedef struct wb_regression_ties {
  const double *precision, *tie;
  wb_isa isa; /* of the factor's loops */
} wb_regression_ties;

/* The factor of the precision of the first `leading` coordinates and the blocks: L with L L' = information + prior less
 * what the blocks explain, packed, and the factors C of the precisions of the blocks, packed. */
typedef struct wb_regression_factor {
  int32_t leading;
  double *lower, *own, *room; /* room: q x d */
} wb_regression_factor;

size_t wb_regression_factor_size(size_t d, size_t blocks, size_t q);
wb_regression_factor wb_regression_factor_in(double *memory, const wb_regression_quadratic *e);

/* Returns 0 if the precision is not positive definite. */
int wb_regression_factor_make(const wb_regression_quadratic *e, const wb_regression_ties *ties,
                              wb_regression_factor *f);

/* Replaces w by the point x whose squared length in this precision is |w|^2; and the inverse of that. */
void wb_regression_factor_colour(const wb_regression_quadratic *e, const wb_regression_factor *f, double *w);
void wb_regression_factor_whiten(const wb_regression_quadratic *e, const wb_regression_factor *f, const double *x,
                                 double *w);

/* Replaces b by the solution x of (information + prior) x = b. */
void wb_regression_factor_solve(const wb_regression_quadratic *e, const wb_regression_factor *f, double *b);

/* out = (information + prior) x. `room`: p. */
void wb_regression_quadratic_apply(const wb_regression_quadratic *e, const wb_regression_ties *ties, int32_t leading,
                                   const double *x, double *out, double *room);

/* out = A x of a symmetric matrix A whose lower half is packed. */
void wb_regression_apply_symmetric(int n, const double *a, const double *x, double *out);

double wb_regression_dot(size_t n, const double *x, const double *y);
