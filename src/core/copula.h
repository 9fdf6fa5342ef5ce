/* Predictive updates by copulas (Fong, Holmes & Walker 2023, "Martingale posterior distributions", JRSS B 85,
 * 1357-1391, sections 4.2 to 4.5).
 *
 * The state of a response at a point y: u_j = P(Y_j <= y_j | y_1..y_{j-1}), and the densities of the first j + 1
 * coordinates relative to those before any observation. An observation enters by z_j = Phi^-1(its u_j). */
#pragma once

#include "core/normal_distribution.h"

/* Distribution functions are clipped this far from 0 and 1 before their normal scores are taken, and so are the
 * probabilities of binary observations. States are not clipped. */
#define WB_COPULA_CLIP 1e-6

/* alpha_i = (2 - 1/i)/(i + 1), the weight of observation i = 1, 2, ... */
WB_HD double wb_copula_weight(double i) { return (2.0 - 1.0 / i) / (i + 1.0); }

/* The same with a numerator of at most `most`: for an observation that is drawn after the data. 2 never cuts. */
WB_HD double wb_copula_forward_weight(double i, double most) {
  double numerator = 2.0 - 1.0 / i;
  return wb_select(numerator > most, most, numerator) / (i + 1.0);
}

/* 1/sqrt(1 - rho^2); the product (1 - rho)(1 + rho) keeps its accuracy near 1. */
WB_HD double wb_copula_scale(double rho) { return 1.0 / wb_sqrt((1.0 - rho) * (1.0 + rho)); }

WB_HD double wb_copula_clip(double u) {
  double within = wb_select(u < WB_COPULA_CLIP, WB_COPULA_CLIP, u);
  return wb_select(u > 1.0 - WB_COPULA_CLIP, 1.0 - WB_COPULA_CLIP, within);
}

/* Phi^-1 of a clipped distribution function. */
WB_HD double wb_copula_score(double u) { return wb_normal_quantile_within(wb_copula_clip(u)); }

typedef struct wb_copula_pair {
  double conditional; /* H(u | v) = Phi((Phi^-1(u) - rho z)/sqrt(1 - rho^2)) */
  double density;     /* c(u, v) */
} wb_copula_pair;

/* Phi^-1(H(u | v)) from Phi^-1(u); `scale` from wb_copula_scale, `shift` = rho z scale. */
WB_HD double wb_copula_residual(double score, double scale, double shift) { return wb_fma(score, scale, -shift); }

/* c(u, v): the normal density of the residual over the normal density of the score. */
WB_HD double wb_copula_density(double score, double residual, double scale) {
  return scale * wb_exp_weight(0.5 * wb_fma(score, score, -residual * residual));
}

/* The Gaussian copula of u with an observation of normal score z. */
WB_HD wb_copula_pair wb_copula_gaussian(double u, double scale, double shift) {
  double score = wb_copula_score(u);
  double residual = wb_copula_residual(score, scale, shift);
  wb_copula_pair pair = {wb_normal_cdf(residual), wb_copula_density(score, residual, scale)};
  return pair;
}

/* alpha k/(1 - alpha + alpha k) given log k, in a form that cannot overflow; `odds` = (1 - alpha)/alpha. */
WB_HD double wb_copula_local_weight(double odds, double log_closeness) {
  return 1.0 / wb_fma(odds, wb_exp(-log_closeness), 1.0);
}

/* Returns q = P(Y = 1 | x) after an observation y. r = P(Y = 1 | its x), clipped; `inverse` is 1/r for y = 1 and
 * 1/(1 - r) for y = 0; `step` is weight * rho. `share` is the probability of Y = 1 given the observation under the
 * extreme copula: min(q, r)/r for y = 1 and (q - min(q, r))/(1 - r) for y = 0. */
WB_HD double wb_copula_binary(double q, double r, double inverse, int y, double step) {
  double smaller = q < r ? q : r;
  double share = wb_select(y, smaller, q - smaller) * inverse;
  return wb_fma(step, share - q, q);
}
