/* Random numbers of the steps of predictive resampling (core/copula.h; backend/predictive_table.h for the chains). Each
 * is a function of the key, the resample and the step (or the observation) alone. */
#pragma once

#include "core/copula.h"
#include "core/random_gamma.h"
#include "core/random_t.h"

/* The uniforms, or normals, of steps 2 `pair` and 2 `pair` + 1 of a chain. */
WB_HD void wb_chain_uniforms(uint64_t key, uint64_t resample, uint64_t pair, double *even, double *odd) {
  uint64_t first, second;
  wb_philox_wide(key, 0, resample & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_RESAMPLE_CHAIN, resample), pair, &first,
                 &second);
  *even = wb_uniform(first);
  *odd = wb_uniform(second);
}
WB_HD void wb_chain_normals(uint64_t key, uint64_t resample, uint64_t pair, double *even, double *odd) {
  wb_chain_uniforms(key, resample, pair, even, odd);
  *even = wb_normal_quantile_within(*even);
  *odd = wb_normal_quantile_within(*odd);
}

/* What a step adds to a mean of `weight` observations for a unit of its normal: sd sqrt(1 + 1/weight)/(weight + 1). */
WB_HD double wb_chain_step(double sd, double weight) { return sd * wb_sqrt(1.0 + 1.0 / weight) / (weight + 1.0); }

/* A step with unknown variance (see backend/predictive_table.h), given its draw from Student's t. */
WB_HD void wb_chain_t_move(double t, double weight, double shape, double *mean, double *scale) {
  const double departure = wb_sqrt(*scale * (1.0 + 1.0 / weight) / shape) * t;
  *mean += departure / (weight + 1.0);
  *scale = wb_fma(0.5 * weight / (weight + 1.0) * departure, departure, *scale);
}
WB_HD void wb_chain_t_step(uint64_t key, uint64_t resample, uint32_t step, double weight, double shape, double *mean,
                           double *scale) {
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_RESAMPLE_T, step, resample);
  wb_chain_t_move(wb_draw_t(&stream, 2.0 * shape), weight, shape, mean, scale);
}

/* A resample's first shift, normal with deviation stretch * sd, and stretch, sqrt(df/chi^2_df), or 1 without df. */
WB_HD void wb_resample_place(uint64_t key, uint64_t resample, double df, double sd, double *shift, double *stretch) {
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_RESAMPLE_PLACE, 0, resample);
  const double normal = wb_draw_normal(&stream);
  *stretch = df > 0.0 ? wb_sqrt(0.5 * df / wb_draw_gamma(&stream, 0.5 * df)) : 1.0;
  *shift = *stretch * sd * normal;
}

WB_HD double wb_step_uniform(uint64_t key, uint64_t resample, uint32_t step, uint32_t j) {
  uint64_t first, second;
  wb_philox_wide(key, j >> 1, resample & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_RESAMPLE, resample), step, &first,
                 &second);
  uint64_t odd = (uint64_t)0 - (uint64_t)(j & 1);
  return wb_uniform((first & ~odd) | (second & odd));
}

WB_HD double wb_bootstrap_weight(uint64_t key, uint64_t resample, uint64_t observation) {
  uint64_t first, second;
  /* The resample takes the place of the iteration, which has 32 bits. */
  wb_philox_wide(key, 0, observation & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_RESAMPLE_WEIGHT, observation),
                 resample & 0xFFFFFFFFu, &first, &second);
  return -wb_log(wb_uniform(first));
}

/* The limit of a Pitman-Yor urn given data (Pitman 1996, "Some developments of the Blackwell-MacQueen urn scheme",
 * corollary 20): Dirichlet masses of the values seen and of all new ones, and these broken like a stick. */
#define WB_URN_NEW ((uint64_t)1 << 40)
WB_HD wb_stream wb_urn_stream(uint64_t key, uint64_t resample, uint64_t element) {
  return wb_stream_open(key, WB_PURPOSE_RESAMPLE_ATOM, (uint32_t)(resample & 0xFFFFFFFFu), element);
}
/* The logs of the shares that stick i = 1, 2, ... takes and leaves, with its uniform. */
WB_HD void wb_urn_stick(uint64_t key, uint64_t resample, uint64_t i, double discount, double rest, double *log_taken,
                        double *log_left, double *uniform) {
  wb_stream stream = wb_urn_stream(key, resample, WB_URN_NEW + i);
  *uniform = wb_stream_uniform(&stream);
  const double taken = wb_draw_log_gamma(&stream, 1.0 - discount);
  const double left = wb_draw_log_gamma(&stream, rest + (double)i * discount);
  const double most = taken > left ? taken : left;
  const double total = most + wb_log(wb_exp(taken - most) + wb_exp(left - most));
  *log_taken = taken - total;
  *log_left = left - total;
}

/* The number of successes among n trials of probability p (Ahrens & Dieter 1974, Computing 12, 223-246): the middle
 * order statistic of n uniforms tells on which side of it p lies, and half of the trials are left. */
WB_HD double wb_urn_binomial(wb_stream *stream, double n, double p) {
  double count = 0;
  while (n >= 16.0) {
    const double half = (double)(int64_t)(0.5 * n) + 1.0;
    const double below = wb_draw_gamma(stream, half), above = wb_draw_gamma(stream, n + 1.0 - half);
    const double middle = below / (below + above);
    if (middle <= p) {
      count += half;
      n -= half;
      p = (p - middle) / (1.0 - middle);
    } else {
      n = half - 1.0;
      p /= middle;
    }
  }
  for (; n >= 1.0; n -= 1.0) count += wb_stream_uniform(stream) < p ? 1.0 : 0.0;
  return count;
}
/* A Poisson draw by the waiting time for the m-th event. A mean above 1e15 is returned: deviations are below 1e-7. */
WB_HD double wb_urn_poisson(wb_stream *stream, double mean) {
  double count = 0;
  if (mean > 1e15) return mean;
  while (mean >= 12.0) {
    const double m = (double)(int64_t)(0.875 * mean);
    const double wait = wb_draw_gamma(stream, m);
    if (wait > mean) return count + wb_urn_binomial(stream, m - 1.0, mean / wait);
    count += m;
    mean -= wait;
  }
  for (double time = wb_draw_exponential(stream); time < mean; time += wb_draw_exponential(stream)) count += 1.0;
  return count;
}
/* The number of types not yet seen, after n observations of k types, in Gnedin's urn (Gnedin 2010, "A species sampling
 * model with finitely many types", Electronic Communications in Probability 15, 79-88). Given the data it is m with
 * probability proportional to Gamma(k - gamma + m) Gamma(k + m)/(m! Gamma(n + k + m)): Poisson, with the mean
 * G(k - gamma) G(k)/G(n - k + gamma) of independent gamma draws. */
WB_HD double wb_urn_unseen(uint64_t key, uint64_t resample, double n, double k, double gamma) {
  wb_stream stream = wb_urn_stream(key, resample, WB_URN_NEW);
  double log_mean = wb_draw_log_gamma(&stream, k - gamma);
  log_mean += wb_draw_log_gamma(&stream, k);
  log_mean -= wb_draw_log_gamma(&stream, n - k + gamma);
  return wb_urn_poisson(&stream, wb_exp(log_mean < 690.0 ? log_mean : 690.0));
}

WB_HD double wb_row_uniform(uint64_t key, uint64_t resample, uint32_t step) {
  uint64_t first, second;
  wb_philox_wide(key, 0, resample & 0xFFFFFFFFu, wb_philox_c2(WB_PURPOSE_RESAMPLE_ROW, resample), step, &first,
                 &second);
  return wb_uniform(first);
}

/* The first of `rows` rows whose cumulative weight exceeds u times the total. */
WB_HD int32_t wb_row_at(const double *cumulative, int32_t rows, double u) {
  const double target = u * cumulative[rows - 1];
  int32_t low = 0, high = rows - 1;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (cumulative[middle] > target) high = middle;
    else low = middle + 1;
  }
  return low;
}
