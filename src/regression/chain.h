/* What the files of this folder share: the prior of a regression, its grouping terms, and a running chain with its
 * state. Coefficients are in the units of the scaled design. */
#pragma once

#include "backend/backend.h"

/* The prior of one outcome's p coefficients: normal with `mean` and the packed `precision`, or its diagonal if the
 * session is dual, given the other outcomes. Of m outcomes, the normal coefficients of two have -precision/m between
 * them, so that it does not matter which class is the reference: each class has independent coefficients, of which
 * those of outcomes are the differences. The laws of `law` other than WB_REGRESSION_NORMAL are mixtures of normals,
 * whose scales are learned. They replace the diagonal entry of `precision` of a coefficient c.
 *   WB_REGRESSION_HORSESHOE  The variance is local_c global. The square roots of local_c and global are half-Cauchy of
 *     scale 1 and `global_scale` (Makalic & Schmidt 2016, "A simple sampler for the horseshoe estimator", IEEE Signal
 *     Processing Letters 23, 179-182). With slab_scale > 0 the precision is 1/(local_c global) + 1/slab. The slab is
 *     inverse gamma, so that large coefficients are Student t with slab_df degrees of freedom and scale slab_scale
 *     (Piironen & Vehtari 2017, "Sparsity information and regularization in the horseshoe and other shrinkage priors",
 *     Electronic Journal of Statistics 11, 5018-5051, equation 2.8).
 *   WB_REGRESSION_STUDENT    The variance is local_c, which is inverse gamma, so that the coefficient is Student t
 *     with df_c degrees of freedom and scale_c.
 *   WB_REGRESSION_BLOCK + b  Block b, from 0. Blocks are the last coefficients, in their order. A block has mean 0 and
 *     the precision K/v. K is its part of `precision`, and v, which each of its local_c holds, is learned: its root is
 *     half-Cauchy of scale_c (regression/blocks.c).
 * With `gap`, a block whose gap_c are at least 0 is a stationary first-order autoregression: K is the precision of
 * effects of deviation 1 whose correlation is rho to the power of their distance. gap_c is the distance of level c
 * from the level before, or 0 at the first level of a unit. rho has a uniform prior; its logit is in the auxiliary
 * scales. */
enum { WB_REGRESSION_NORMAL, WB_REGRESSION_HORSESHOE, WB_REGRESSION_STUDENT, WB_REGRESSION_BLOCK };
typedef struct wb_regression_prior {
  int32_t columns;
  const double *mean;       /* columns x outcomes */
  const double *precision;  /* lower triangle, row by row; or the diagonal */
  const int *law;           /* columns; NULL: all normal */
  const double *df, *scale; /* columns; read where the law is Student's or of a block */
  const double *gap;        /* columns; NULL: no autoregressions */
  double global_scale, slab_scale, slab_df;
  double group_scale;         /* half-Cauchy prior of the intercepts' deviation */
  const double *effect_scale; /* the scale of each column of all terms; NULL without terms */
  /* Prior of the dispersion r: gamma, or with dispersion_scale > 0 such that 1/sqrt(r) is half-Cauchy of this scale. */
  double dispersion_shape, dispersion_rate, dispersion_scale;
} wb_regression_prior;

/* What the dispersion's law needs besides the session: the distinct responses, and the weights of each. */
typedef struct wb_regression_counts {
  int64_t distinct; /* 0: the dispersion is not learned */
  const double *value, *weight;
  double rows; /* the sum of weights */
  wb_isa isa;
} wb_regression_counts;

/* Effects of many areas or times, N(0, (K/v)^-1) with a half-Cauchy root of v and this band of K. With `gap` K is
 * that of an autoregression, as of a block. Otherwise it is `precision` (row l has the entries (l, l) to (l, l +
 * band)) and, for each unit, the outer product of the shares of its levels. */
typedef struct wb_regression_lattice {
  int32_t band;
  const double *precision; /* levels x (band + 1), row by row; NULL: there is none */
  const double *gap, *share;
  const int32_t *unit; /* of each level; the levels of a unit are contiguous */
} wb_regression_lattice;

/* The grouping terms of a model. The effects of a level of term t are N(0, Sigma). With `independent`, Sigma is
 * diagonal, and the deviation of column k is half-Cauchy of scale scale[k]. Otherwise Sigma has the prior of Huang &
 * Wand (2013, Bayesian Analysis 8, 439-452) with nu = 2: deviations are half-t (2 df, scale[k]), correlations
 * uniform. */
typedef struct wb_regression_grouping {
  int32_t count; /* 0: none */
  const wb_regression_term *terms;
  int independent[WB_REGRESSION_MOST_TERMS];
  /* The term with the same columns in whose levels this term's levels lie; -1: none. */
  int32_t parent[WB_REGRESSION_MOST_TERMS];
  const int32_t *parent_level[WB_REGRESSION_MOST_TERMS]; /* of each level, or NULL */
  /* The last terms, whose z is 1. Their effects are traced as coefficients are. */
  int32_t lattices;
  wb_regression_lattice lattice[WB_REGRESSION_MOST_TERMS];
} wb_regression_grouping;

static inline int wb_regression_is_lattice(const wb_regression_grouping *grouping, int32_t term) {
  return term >= grouping->count - grouping->lattices;
}

/* Doubles of one outcome's effects of all terms, and of their covariances: of a term with q columns, Sigma and its
 * inverse, packed, then the auxiliary variables of the prior. */
#define WB_REGRESSION_COVARIANCE(q) ((size_t)(q) * ((size_t)(q) + 1) + (size_t)(q))
size_t wb_regression_effects(const wb_regression_grouping *grouping);
size_t wb_regression_lattice_effects(const wb_regression_grouping *grouping);
size_t wb_regression_covariances(const wb_regression_grouping *grouping);

/* Fills `start` (levels + 1) and `index` (rows) of a term from the level of each row. */
void wb_regression_index_levels(int64_t rows, int32_t levels, const int32_t *level, int32_t *start, int32_t *index);

typedef struct wb_regression_state {
  int32_t columns, outcomes, groups;
  int32_t dual_rows;                      /* rows of a dual session (regression/dual_draw.h); 0: not dual */
  double *coefficients;                   /* columns x outcomes */
  double *statistics;                     /* wb_regression_statistics_size() */
  double *intercepts;                     /* groups */
  double *group_statistics;               /* groups x WB_REGRESSION_GROUP_STATISTICS(summed columns) */
  double *shrinkage;                      /* outcomes x WB_REGRESSION_SHRINKAGE(columns): see regression/shrinkage.c */
  double *scalars;                        /* WB_REGRESSION_SCALARS */
  double *ellipse;                        /* wb_regression_ellipse_size() doubles; NULL: no moves */
  const wb_regression_grouping *grouping; /* NULL: no terms */
  double *moves;                          /* regression/level_moves.h; NULL: Polya-Gamma sweeps */
  double *effects, *covariances;          /* outcomes x effects, or covariances, of all terms */
} wb_regression_state;

/* Columns whose products with other columns are in the statistics. */
static inline int32_t wb_regression_summed(const wb_regression_state *state) {
  return state->dual_rows > 0 ? 0 : state->columns;
}
static inline size_t wb_regression_statistics_size(const wb_regression_state *state) {
  return state->dual_rows > 0 ? 2 * (size_t)state->dual_rows : WB_REGRESSION_STATISTICS(state->columns);
}

/* Doubles of the statistics of the levels of all terms of an outcome, and of what their draws need besides. */
size_t wb_regression_level_sums(const wb_regression_state *state);

/* Where the sums of level l of a term are: Z'WZ, packed, Z'WX and Z'z. Those of a group have another order. */
typedef struct wb_regression_level {
  const double *own, *cross, *slope;
} wb_regression_level;
wb_regression_level wb_regression_level_at(int is_group, int32_t p, int32_t q, const double *sums, int32_t l);

#define WB_REGRESSION_SHRINKAGE(p) (2 * (size_t)(p) + 3)

enum { WB_REGRESSION_DISPERSION, WB_REGRESSION_GROUP_VARIANCE, WB_REGRESSION_GROUP_AUXILIARY, WB_REGRESSION_SCALARS };

typedef struct wb_regression_chain {
  const wb_backend *backend;
  wb_regression_session *session;
  const wb_regression_data *data; /* of the session, to open another one with other columns */
  const wb_run *run;
  wb_regression_prior prior;
  wb_regression_counts counts;
  wb_regression_state state;
  struct wb_regression_dual *dual; /* of a dual session, while it sweeps */
  /* The other regression of counts and zeros (regression/zeros.h), or NULL. */
  const struct wb_regression_chain *beside;
  uint64_t key;
  double warmup;      /* sweeps in which moves learn */
  double level_moves; /* regression/level_moves.h: 0 never, 1 where they pay, 2 always */
  wb_message *message;
} wb_regression_chain;
