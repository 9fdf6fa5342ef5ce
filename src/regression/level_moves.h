/* Moves of coefficients and of the covariance of a grouping term's effects, with the effects held fixed in the units of
 * what is known of each: its mean and precision given everything else (core/regression_level.h). So they move almost as
 * if the effects had been integrated out (Murray & Graham 2016, "Pseudo-marginal slice sampling", AISTATS, with one
 * particle a level; a non-centring that follows the data, Papaspiliopoulos, Roberts & Skold 2007, Statistical Science
 * 22, 59-73), also where many levels have few events, in which Polya-Gamma sweeps do not mix. With theta = (beta,
 * scales) and u = m(theta) + L(theta)^-T z for each level, the density of (theta, z) is
 *   prior(theta) prod_levels f(u) N(u; 0, Sigma) / det L(theta).
 * A sweep has for each term WB_LEVEL_MOVES moves of theta with z fixed, along ellipses of a Student t
 * (regression/ellipse.h), of which a trial is one pass over the rows, and new effects for each level by independence
 * Metropolis. Ellipse and reference points of the map are learned in the warm-up, and then fixed, but for the prior's
 * part of the ellipse where scales of that prior are learned. They change how fast the chain mixes, and not its law:
 * they depend on neither theta nor the term's effects. Each outcome has its terms and moves given the others.
 *
 * Scales of a term are the deviation of each column and, unless columns are independent, the inverse hyperbolic
 * tangents of the partial correlations below the diagonal (Lewandowski, Kurowicka & Joe 2009, Journal of Multivariate
 * Analysis 100, 1989-2001). The auxiliary variables of Sigma's prior are integrated out. */
#pragma once

#include "core/regression_level.h"
#include "regression/draws.h"

#define WB_LEVEL_MOVES 2
/* Above so many coordinates of theta, moves of all together are short. Then further moves follow in the units of the
 * ellipse: of the scales, which the coefficients follow, and of so many coefficients each. */
#define WB_LEVEL_TOGETHER 12
#define WB_LEVEL_PART 8
/* There are moves only up to so many coefficients, and if the term of most levels has at least so many. */
#define WB_LEVEL_MOST_COEFFICIENTS 128
#define WB_LEVEL_LEAST_LEVELS 20
/* There are moves if Polya-Gamma sweeps are expected to give fewer effective draws in 1,000. In eight models that
 * had 20 to 619 the expectation was 0.3 to 1.8 times that; in five with 3 to 14 it was 0.1 to 0.6 times that. */
#define WB_LEVEL_ENOUGH 300.0

#define WB_LEVEL_MOST_SCALES WB_LEVEL_MOST_PACKED

/* A term of an outcome, or the intercepts of groups. The map is about `mean`. `sum` and `products` add up the draws of
 * theta in the warm-up, less the mean. The ellipse is in `shape`, packed: the information about the coefficients, and
 * for each scale how the coefficients follow it, then the rows of the inverse covariance of scales. `pull` and
 * `inverse` are used where scales of the coefficients' prior are learned: see wb_level_ellipse_of(). */
typedef struct wb_level_term {
  int32_t term, outcome;   /* term -1: groups */
  int32_t p, q, levels, d; /* d: coordinates of theta, p coefficients and scales */
  int independent;
  uint64_t first;      /* levels before */
  size_t effect;       /* where its effects begin among the effects of all terms */
  size_t record;       /* doubles of a level's record */
  double *effects;     /* of the state */
  double *covariance;  /* of the state, with its inverse unless it is of groups */
  const double *scale; /* of the prior of deviations */
  double *mean, *shape, *pull, *inverse, *sum, *products;
  double *records; /* levels x record */
} wb_level_term;

/* The head of a state's moves: whether any; expected effective draws in 1,000 Polya-Gamma sweeps; draws in the sums. */
enum { WB_LEVEL_USED, WB_LEVEL_EXPECTED, WB_LEVEL_COUNT, WB_LEVEL_HEAD };

/* Terms of all outcomes, those of an outcome together. */
int32_t wb_level_terms(const wb_regression_state *state);
wb_level_term wb_level_term_of(const wb_regression_chain *chain, int32_t number);

/* The parameters of the state with other coefficients, and other effects or intercepts. */
wb_regression_parameters wb_level_parameters(const wb_regression_chain *chain, const double *coefficients,
                                             const double *effects);

/* The successes of each level, or the counts, in the order of the terms. */
void wb_level_count_events(const wb_regression_chain *chain, double *events);

/* Where passes over the rows begin, and their sums: coefficients of all outcomes, effects of all terms. */
typedef struct wb_level_passes {
  double *coefficients, *effects, *statistics, *sums;
} wb_level_passes;

/* A pass with weights; of a chain with one beside it, information has what completes the data summed out. */
int wb_level_pass(const wb_regression_chain *chain, const wb_level_passes *at, int32_t outcome, int32_t weights);

/* Whether something that a term's map depends on changes from sweep to sweep. */
int wb_level_changes(const wb_regression_chain *chain);

/* Whether a sweep has Polya-Gamma draws of lattices (regression/chain.h), and of all else, before the moves. */
int wb_level_has_lattices(const wb_regression_state *state);

/* Makes the records of a term about its mean and the modes that are there, given the coefficients of other outcomes and
 * the effects of other terms; its own become the mean and the modes. */
int wb_level_make_records(const wb_regression_chain *chain, const wb_level_term *t, const double *events,
                          const wb_level_passes *at);

int wb_level_learn(const wb_regression_chain *chain, const double *events, const wb_level_passes *at);

/* Whether scales of the coefficients' prior are learned that change much: horseshoes, and deviations of blocks. */
int wb_level_learns_scales(const wb_regression_chain *chain);

/* The ellipse of a term, given the scales of the coefficients' prior: its centre, and the root of its precision. The
 * coefficients less their prior's mean have the log likelihood -b'D b/2 + pull'b; with the prior's precision P,
 * packed in `precision`, they lie about (D + P)^-1 pull with the precision D + P. `inverse` adds up (D + P)^-1. */
void wb_level_ellipse_of(const wb_regression_chain *chain, const wb_level_term *t, const double *precision,
                         double *centre, double *root);

/* Scales of a covariance, packed, and its inverse; and back. */
void wb_level_scales_of(const wb_level_term *t, const double *covariance, double *scales);
typedef struct wb_level_covariance {
  double covariance[WB_LEVEL_MOST_PACKED], tie[WB_LEVEL_MOST_PACKED];
  double half_log_determinant, log_prior; /* of the scales */
} wb_level_covariance;
/* Returns 0 if the scales are outside of their space. */
int wb_level_covariance_of(const wb_level_term *t, const double *scales, wb_level_covariance *to);

/* Working memory, kept from sweep to sweep. `fresh`: whether `logs` are of the state. */
typedef struct wb_level_room {
  int fresh;
  double *events;
  double *logs, *trial_logs, *density, *standard; /* of the levels of a term */
  double *root;                                   /* of the ellipse */
  double *coefficients, *effects;                 /* of all outcomes and terms, at a trial */
  void *memory;                                   /* of all; the caller frees it */
} wb_level_room;

/* Doubles of a state's moves, 0 if there can be none; whether they are used; the decision at the start of a chain,
 * from the common start of all chains, which stays as it is; and a sweep. `sums`: as for wb_regression_draw_terms(). */
size_t wb_level_size(const wb_regression_state *state);
int wb_level_used(const wb_regression_state *state);
int wb_level_start(const wb_regression_chain *chain);
int wb_level_open(const wb_regression_chain *chain, wb_level_room *room);
int wb_level_sweep(const wb_regression_chain *chain, uint32_t iteration, wb_level_room *room, double *sums,
                   double *log_likelihood);
