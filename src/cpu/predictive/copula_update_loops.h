/* One copula update of a run of points (core/copula.h), included once for each instruction set by isa.h. Vectors run
 * across points. Every array is aligned and has `count` entries, a multiple of 8.
 *
 * Lower bound of a Gaussian update with one coordinate: about 190 vector operations (81 for the normal score, 55 for
 * the distribution function, 24 for the density). */

/* step->weight: the weight of the observation at each point, from the covariates. */
static WB_APART void WB_NAME(copula_local_weights)(const copula_step *step) {
  double *restrict const sum = WB_ASSUME_ALIGNED(step->weight);
  const double *restrict const term = WB_ASSUME_ALIGNED(step->point_term);
  const double odds = (1.0 - step->alpha) / step->alpha, row_term = step->row_term;
  for (int l = 0; l < step->count; l++) sum[l] = term[l] + row_term;
  for (int c = 0; c < step->covariates; c++) {
    const double *restrict const x = WB_ASSUME_ALIGNED(step->point_covariate + c * step->stride);
    const double row = step->row_covariate[c];
    for (int l = 0; l < step->count; l++) sum[l] = wb_fma(x[l], row, sum[l]);
  }
  for (int l = 0; l < step->count; l++) sum[l] = wb_copula_local_weight(odds, sum[l]);
}

/* Normal scores of coordinate j, and H(u | v), apart: iterations of one long loop would not overlap in a processor. */
static WB_APART void WB_NAME(copula_compare)(const copula_step *step, int j) {
  const double *restrict const conditional = WB_ASSUME_ALIGNED(step->conditional + j * step->stride);
  double *restrict const score = WB_ASSUME_ALIGNED(step->score);
  double *restrict const reached = WB_ASSUME_ALIGNED(step->reached);
  const double scale = step->scale[j], shift = step->shift[j];
  for (int l = 0; l < step->count; l++) score[l] = wb_copula_score(conditional[l]);
  for (int l = 0; l < step->count; l++) reached[l] = wb_normal_cdf(wb_copula_residual(score[l], scale, shift));
}

/* Follows copula_compare: one coordinate, with the same weight at all points. */
static WB_APART void WB_NAME(copula_update_one)(const copula_step *step) {
  double *restrict const conditional = WB_ASSUME_ALIGNED(step->conditional);
  double *restrict const gain = WB_ASSUME_ALIGNED(step->gain);
  const double *restrict const score = WB_ASSUME_ALIGNED(step->score);
  const double *restrict const reached = WB_ASSUME_ALIGNED(step->reached);
  const double alpha = step->alpha, scale = step->scale[0], shift = step->shift[0];
  for (int l = 0; l < step->count; l++) {
    const double density = wb_copula_density(score[l], wb_copula_residual(score[l], scale, shift), scale);
    conditional[l] = wb_fma(alpha, reached[l] - conditional[l], conditional[l]);
    gain[l] *= wb_fma(alpha, density - 1.0, 1.0);
  }
}

/* Follows copula_compare: the first coordinate, with a weight for each point. GCC ignores restrict on local variables,
 * and then leaves the loop scalar, so all are parameters. */
static WB_APART void WB_NAME(copula_update_first)(int count, double scale, double shift, const double *restrict weight,
                                                  const double *restrict score, const double *restrict reached,
                                                  double *restrict conditional, double *restrict gain,
                                                  double *restrict product, double *restrict total) {
  for (int l = 0; l < count; l++) {
    const double density = wb_copula_density(score[l], wb_copula_residual(score[l], scale, shift), scale);
    const double factor = wb_fma(weight[l], density - 1.0, 1.0);
    conditional[l] = wb_fma(weight[l], reached[l] - conditional[l], conditional[l]);
    product[l] = density;
    total[l] = factor;
    gain[l] *= factor;
  }
}

/* Follows copula_compare: a later coordinate. `product`: of the earlier densities; `total`: of their factors. */
static WB_APART void WB_NAME(copula_update_next)(int count, double scale, double shift, const double *restrict weight,
                                                 const double *restrict score, const double *restrict reached,
                                                 double *restrict conditional, double *restrict gain,
                                                 double *restrict product, double *restrict total) {
  for (int l = 0; l < count; l++) {
    const double here = weight[l] * product[l] / total[l];
    const double density = wb_copula_density(score[l], wb_copula_residual(score[l], scale, shift), scale);
    const double both = product[l] * density, factor = wb_fma(weight[l], both - 1.0, 1.0);
    conditional[l] = wb_fma(here, reached[l] - conditional[l], conditional[l]);
    product[l] = both;
    total[l] = factor;
    gain[l] *= factor;
  }
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(copula_update_points)(const copula_step *step) {
  WB_NAME(copula_compare)(step, 0);
  if (step->covariates == 0 && step->dimensions == 1) {
    WB_NAME(copula_update_one)(step);
    return;
  }
  if (step->covariates > 0) {
    WB_NAME(copula_local_weights)(step);
  } else {
    for (int l = 0; l < step->count; l++) step->weight[l] = step->alpha;
  }
  WB_NAME(copula_update_first)(step->count, step->scale[0], step->shift[0], step->weight, step->score, step->reached,
                               step->conditional, step->gain, step->product, step->total);
  for (int j = 1; j < step->dimensions; j++) {
    const int64_t at = j * step->stride;
    WB_NAME(copula_compare)(step, j);
    WB_NAME(copula_update_next)(step->count, step->scale[j], step->shift[j], step->weight, step->score, step->reached,
                                step->conditional + at, step->gain + at, step->product, step->total);
  }
}

/* A binary response. step->scale: rho. step->shift: the probability of 1, negative if the observation is 0. */
static WB_APART void WB_NAME(copula_update_binary)(const copula_step *step) {
  double *restrict const conditional = WB_ASSUME_ALIGNED(step->conditional);
  double *restrict const weight = WB_ASSUME_ALIGNED(step->weight);
  const double rho = step->scale[0];
  const int y = step->shift[0] > 0.0;
  const double r = y ? step->shift[0] : -step->shift[0];
  const double inverse = 1.0 / (y ? r : 1.0 - r);
  if (step->covariates > 0) {
    WB_NAME(copula_local_weights)(step);
  } else {
    for (int l = 0; l < step->count; l++) weight[l] = step->alpha;
  }
  for (int l = 0; l < step->count; l++)
    conditional[l] = wb_copula_binary(conditional[l], r, inverse, y, rho * weight[l]);
}

/* Normal scores of `steps` steps, `dimensions` each. */
/* tools/loops: scalar on NEON */
static void WB_NAME(copula_scores)(uint64_t key, uint64_t resample, int64_t first_step, int steps, int dimensions,
                                   double *score) {
  for (int j = 0; j < dimensions; j++) {
    double value[COPULA_CHUNK];
    for (int t = 0; t < steps; t++)
      value[t] = wb_normal_quantile_within(wb_step_uniform(key, resample, (uint32_t)(first_step + t), (uint32_t)j));
    for (int t = 0; t < steps; t++) score[t * dimensions + j] = value[t];
  }
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(copula_uniforms)(uint64_t key, uint64_t resample, int64_t first_step, int steps, double *u,
                                     double *row) {
  for (int t = 0; t < steps; t++) {
    u[t] = wb_step_uniform(key, resample, (uint32_t)(first_step + t), 0);
    row[t] = wb_row_uniform(key, resample, (uint32_t)(first_step + t));
  }
}

/* Cumulative exponential weights of the rows in a resample. */
/* tools/loops: scalar on NEON */
static void WB_NAME(copula_row_weights)(uint64_t key, uint64_t resample, int64_t rows, double *cumulative) {
  for (int64_t i = 0; i < rows; i++) cumulative[i] = wb_bootstrap_weight(key, resample, (uint64_t)i);
  double sum = 0;
  for (int64_t i = 0; i < rows; i++) cumulative[i] = sum += cumulative[i];
}
