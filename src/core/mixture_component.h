/* One component of a mixture of Gaussians: a team (team.h) draws its mean and covariance given the statistics of its
 * rows:
 *
 *    mu | Sigma ~ N(m, gamma Sigma),  Sigma ~ IW(nu + p + 1, nu Phi).
 *
 * The statistics of a component: the number of its rows, their p sums, and packed sums of products, in scaled units. */
#pragma once

#include "core/purpose.h"
#include "core/team.h"

typedef struct wb_component_law {
  int columns;
  double mean_scale, df;              /* gamma, nu */
  const double *mean, *scale, *floor; /* m, Phi packed, the diagonal of E or NULL for zero */
} wb_component_law;

/* The parameters of a component. F is a lower triangle with F' F = Sigma^-1. */
typedef struct wb_component {
  double *mean, *offset, *factor; /* mu, F mu, F */
  double *pull;                   /* F'F mu = Sigma^-1 mu */
  double *log_determinant;        /* of F */
  double *floor_trace;            /* tr(Sigma^-1 E) */
} wb_component;

/* Working memory of a draw or a measurement: two packed triangles and three vectors. */
WB_HD size_t wb_component_work_size(int p) { return 2 * wb_packed_size(p) + 3 * (size_t)p; }

/* Psi_n = nu Phi + S + n E + n/(1 + gamma n) (xbar - m)(xbar - m)', packed. xbar goes into `average`. */
WB_TEAM void wb_component_posterior_scale(wb_team team, const wb_component_law *law, const double *statistics,
                                          double *average, double *scale) {
  const int p = law->columns;
  const double *sum = statistics + 1, *product = sum + p;
  const double n = statistics[0], shrink = 1 / (1 + law->mean_scale * n);
  WB_ROLLED
  for (int r = team.rank; r < p; r += team.size) average[r] = sum[r] / n;
  WB_TEAM_BARRIER();
  WB_ROLLED
  for (int r = 0; r < p; r++) {
    WB_ROLLED
    for (int c = team.rank; c <= r; c += team.size) {
      const size_t at = wb_packed_row(r) + (size_t)c;
      double value = law->df * law->scale[at];
      if (n > 0) {
        value += product[at] - sum[r] * average[c];
        value += n * shrink * ((average[r] - law->mean[r]) * (average[c] - law->mean[c]));
        if (r == c && law->floor) value += n * law->floor[r];
      }
      scale[at] = value;
    }
  }
  WB_TEAM_BARRIER();
}

/* Cholesky factor of a posterior scale; returns 0 if there is none. If rounding makes an eigenvalue zero or negative,
 * the diagonal is raised by 1e-15 of its largest entry, times the least power of ten for which there is a factor. */
WB_TEAM int wb_component_factor_scale(wb_team team, int p, const double *scale, double *factor) {
  double largest = 0;
  WB_ROLLED
  for (int r = 0; r < p; r++) {
    const double variance = scale[wb_packed_row(r) + (size_t)r];
    if (variance > largest) largest = variance;
  }
  WB_ROLLED
  for (double ridge = 0; ridge < 1; ridge = ridge == 0 ? 1e-15 : 10 * ridge) {
    WB_ROLLED
    for (int r = 0; r < p; r++) {
      WB_ROLLED
      for (int c = team.rank; c <= r; c += team.size) {
        const size_t at = wb_packed_row(r) + (size_t)c;
        factor[at] = r == c ? scale[at] + ridge * largest : scale[at];
      }
    }
    WB_TEAM_BARRIER();
    if (wb_team_cholesky(team, p, factor) == 0) return 1;
    WB_TEAM_BARRIER();
  }
  return 0;
}

/* tr(Sigma^-1 E) = sum_c E_c sum_r F_rc^2. */
WB_HD double wb_component_floor_trace(int p, const double *factor, const double *floor) {
  double trace = 0;
  for (int r = 0; r < p; r++)
    for (int c = 0; c <= r; c++, factor++) trace = wb_fma(floor[c] * *factor, *factor, trace);
  return trace;
}

/* Draws Sigma and mu of component j from their normal-inverse-Wishart law given its rows (gamma_n, m_n, Psi_n). With
 * Psi = C C' and a lower triangle B such that B'B is Wishart with identity scale, F = B C^-1. 0 if Psi has no factor: F
 * and mu are zero. */
WB_TEAM int wb_component_draw(wb_team team, const wb_component_law *law, const double *statistics, uint64_t key,
                              uint32_t iteration, uint64_t j, double *work, wb_component out) {
  const int p = law->columns;
  const size_t triangle = wb_packed_size(p);
  const double *sum = statistics + 1;
  const double n = statistics[0], shrink = 1 / (1 + law->mean_scale * n);
  double *scale = work, *bartlett = scale + triangle;
  double *center = bartlett + triangle, *noise = center + p, *logs = noise + p;
  wb_component_posterior_scale(team, law, statistics, logs, scale);
  const int drawn = wb_component_factor_scale(team, p, scale, out.factor);
  if (!drawn) {
    WB_ROLLED
    for (size_t i = (size_t)team.rank; i < triangle; i += (size_t)team.size) out.factor[i] = 0;
    WB_ROLLED
    for (int r = team.rank; r < p; r += team.size) out.mean[r] = out.offset[r] = out.pull[r] = 0;
    if (team.rank == 0) *out.log_determinant = *out.floor_trace = 0;
    WB_TEAM_BARRIER();
    return 0;
  }
  double *const root = scale;
  wb_team_triangle_inverse(team, p, out.factor, root);

  wb_stream stream = wb_stream_open(key, WB_PURPOSE_COVARIANCE, iteration, j);
  wb_team_wishart_gram_factor(team, &stream, p, law->df + n + p + 1, center, noise, bartlett);
  wb_team_triangle_multiply(team, p, bartlett, root, out.factor);

  stream = wb_stream_open(key, WB_PURPOSE_MEAN, iteration, j);
  const double sd = wb_sqrt(law->mean_scale * shrink);
  wb_team_normals(team, &stream, p, noise);
  WB_TEAM_BARRIER();
  WB_ROLLED
  for (int r = team.rank; r < p; r += team.size) {
    out.mean[r] = noise[r] = sd * noise[r];
    center[r] = (law->mean[r] + law->mean_scale * sum[r]) * shrink;
    logs[r] = wb_log(out.factor[wb_packed_row(r) + (size_t)r]);
  }
  WB_TEAM_BARRIER();
  WB_ROLLED
  for (int r = team.rank; r < p; r += team.size) {
    const double *row = out.factor + wb_packed_row(r);
    double offset = 0;
    for (int c = 0; c <= r; c++) offset = wb_fma(row[c], center[c], offset);
    out.offset[r] = offset + noise[r];
  }
  wb_team_triangle_solve(team, p, out.factor, out.mean);
  WB_ROLLED
  for (int r = team.rank; r < p; r += team.size) {
    const double *entry = out.factor + wb_packed_row(r) + (size_t)r;
    double pull = 0;
    for (int k = r; k < p; entry += ++k) pull = wb_fma(*entry, out.offset[k], pull);
    out.pull[r] = pull;
    out.mean[r] += center[r];
  }
  if (team.rank == 0) {
    double log_determinant = 0;
    WB_ROLLED
    for (int r = 0; r < p; r++) log_determinant += logs[r];
    *out.log_determinant = log_determinant;
    *out.floor_trace = law->floor ? wb_component_floor_trace(p, out.factor, law->floor) : 0;
  }
  WB_TEAM_BARRIER();
  return 1;
}

/* |F x - offset|^2, or |F x|^2 if offset is NULL, by the team's first member. `work`: room for a vector. */
WB_TEAM void wb_component_distance(wb_team team, int p, const double *factor, const double *offset, const double *x,
                                   double *work, double *distance) {
  WB_ROLLED
  for (int r = team.rank; r < p; r += team.size) {
    const double *row = factor + wb_packed_row(r);
    double z = offset ? -offset[r] : 0;
    for (int c = 0; c <= r; c++) z = wb_fma(row[c], x[c], z);
    work[r] = z;
  }
  WB_TEAM_BARRIER();
  if (team.rank == 0) {
    double sum = 0;
    for (int r = 0; r < p; r++) sum = wb_fma(work[r], work[r], sum);
    *distance = sum;
  }
  WB_TEAM_BARRIER();
}

/* |F (mu - center)|^2. `work` has room for two vectors. */
WB_TEAM void wb_component_mean_distance(wb_team team, int p, const double *factor, const double *mean,
                                        const double *center, double *work, double *distance) {
  double *deviation = work + p;
  WB_ROLLED
  for (int r = team.rank; r < p; r += team.size) deviation[r] = mean[r] - center[r];
  WB_TEAM_BARRIER();
  wb_component_distance(team, p, factor, NULL, deviation, work, distance);
}

/* |F root|^2 = tr(Sigma^-1 root root'). `work` has room for a triangle. */
WB_TEAM void wb_component_trace(wb_team team, int p, const double *factor, const double *root, double *work,
                                double *trace) {
  const size_t triangle = wb_packed_size(p);
  wb_team_triangle_multiply(team, p, factor, root, work);
  if (team.rank == 0) {
    double sum = 0;
    for (size_t i = 0; i < triangle; i++) sum = wb_fma(work[i], work[i], sum);
    *trace = sum;
  }
  WB_TEAM_BARRIER();
}

/* log(pi N(x | mu, Sigma)) + |F x - offset|^2 / 2, which x does not change. The second includes the floor. */
WB_HD double wb_component_log_constant(int p, double log_weight, double log_determinant) {
  return log_weight - 0.5 * p * WB_LOG_2_PI + log_determinant;
}
WB_HD double wb_component_log_floored(int p, double log_weight, double log_determinant, double floor_trace) {
  return wb_component_log_constant(p, log_weight, log_determinant) - 0.5 * floor_trace;
}

/* sum + weight (F' F)_rc, r >= c, one multiply-add for each row of F. */
WB_HD double wb_component_add_precision(int p, double weight, const double *factor, int r, int c, double sum) {
  const double *row = factor + wb_packed_row(r);
  for (int k = r; k < p; row += ++k) sum = wb_fma(weight * row[r], row[c], sum);
  return sum;
}
