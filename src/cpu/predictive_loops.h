/* Chains of predictive means, included once for each instruction set by isa.h:
 * vectors run across CHAIN_LANES resamples. */

/* The normals of steps 2 `pair` and 2 `pair` + 1. */
static void WB_NAME(chain_normals)(uint64_t key, uint64_t first_resample, uint64_t pair, double *restrict even,
                                   double *restrict odd) {
  for (int l = 0; l < CHAIN_LANES; l++) wb_chain_normals(key, first_resample + (uint64_t)l, pair, &even[l], &odd[l]);
}

/* Steps pair_first..pair_first + pairs - 1, two of each, without a record of the way. */
static void WB_NAME(chain_pairs)(uint64_t key, uint64_t first_resample, uint64_t pair_first, int pairs,
                                 const double *gain, double *restrict mean) {
  double state[CHAIN_LANES];
  for (int l = 0; l < CHAIN_LANES; l++) state[l] = mean[l];
  for (int i = 0; i < pairs; i++) {
    const double even_gain = gain[2 * i], odd_gain = gain[2 * i + 1];
    /* In three loops: the chain from the key to the mean is 300 cycles long, and all in
     * one a processor could not begin the next before it has ended. */
    double even[CHAIN_LANES], odd[CHAIN_LANES];
    for (int l = 0; l < CHAIN_LANES; l++)
      wb_chain_uniforms(key, first_resample + (uint64_t)l, pair_first + (uint64_t)i, &even[l], &odd[l]);
    for (int l = 0; l < CHAIN_LANES; l++) even[l] = wb_normal_quantile_within(even[l]);
    for (int l = 0; l < CHAIN_LANES; l++) odd[l] = wb_normal_quantile_within(odd[l]);
    for (int l = 0; l < CHAIN_LANES; l++)
      state[l] = wb_fma(odd_gain, odd[l], wb_fma(even_gain, even[l], state[l]));
  }
  for (int l = 0; l < CHAIN_LANES; l++) mean[l] = state[l];
}

static void WB_NAME(bootstrap_weights)(uint64_t key, uint64_t resample, int64_t observations,
                                       double *restrict weight) {
  for (int64_t i = 0; i < observations; i++) weight[i] = wb_bootstrap_weight(key, resample, (uint64_t)i);
}

static void WB_NAME(row_uniforms)(uint64_t key, uint64_t resample, int64_t first_step, int steps,
                                  double *restrict u) {
  for (int t = 0; t < steps; t++) u[t] = wb_row_uniform(key, resample, (uint32_t)(first_step + t));
}
