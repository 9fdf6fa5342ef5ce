/* A hierarchical model of the numbers of cells of each type in several samples: the interface for src/entry.
 *
 * The number of cells of type t in sample s is binomial, out of the sample's total. The logit of its probability is
 *   psi_ts = x_s' beta_t + b_tg(s) + u_ts,   b_tg ~ N(0, omega_t^2),   u_ts ~ N(0, sigma_t^2).
 * log(sigma_t) is normal. Its mean is linear in the type's rarity, with level and slope (normal) and standard deviation
 * (half-normal) learned from all types; so has log(omega_t). */
#pragma once

#include "backend/types.h"

typedef struct wb_abundance_data {
  int32_t types, samples, columns;
  int32_t groups;       /* of samples, such as patients; 0: there is no b */
  const double *counts; /* types x samples */
  const double *totals; /* samples */
  const double *design; /* samples x columns */
  const int32_t *group; /* samples, from 0; NULL without groups */
} wb_abundance_data;

typedef struct wb_abundance_prior {
  const double *mean, *precision; /* columns: of independent normal coefficients, the same for all types */
  double level[2], slope[2];      /* mean and standard deviation, for sigma_t and omega_t alike */
  double spread;                  /* scale of the half-normal law of the standard deviation of log(sigma_t) */
} wb_abundance_prior;

/* Where the kept sweeps go; `kept` sweeps after `warmup`. A contrast is a linear combination of the coefficients of a
 * type. Given everything but the coefficients and b, it is normal: `mean` and `variance` are its moments. */
typedef struct wb_abundance_sweeps {
  int32_t warmup, kept, contrasts;
  uint64_t key;
  const double *weights;              /* columns x contrasts */
  double *contrast, *mean, *variance; /* contrasts x types x kept */
  double *deviation;                  /* 2 x types x kept: sigma_t, omega_t */
  double *scale;                      /* 6 x kept */
} wb_abundance_sweeps;

typedef struct wb_abundance_chain {
  wb_abundance_data data;
  wb_abundance_sweeps sweeps;
} wb_abundance_chain;

/* Runs chains of as many sweeps each, at the same time, from random starts. Returns a wb_status. */
int wb_abundance_run(const wb_abundance_chain *chain, int32_t chains, const wb_abundance_prior *prior, int32_t threads,
                     wb_poll *poll, wb_message *message);
