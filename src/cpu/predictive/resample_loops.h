/* Chains of predictive means, included once for each instruction set by isa.h. Vectors run across the resamples. */
#include "numeric/philox_loops.h"

/* Phi^-1 in place, with the bits of wb_normal_quantile_within(). `count` is a multiple of WB_PHILOX_TILE and at most
 * CHAIN_STEPS * CHAIN_LANES. Only arguments in the tails, gathered, need logarithms and roots. */
WB_INLINE void WB_NAME(quantiles)(int count, double *restrict u) {
  double tail[CHAIN_STEPS * CHAIN_LANES + WB_PHILOX_TILE];
  int tails = 0;
#if WB_VECTOR_BYTES == 64
  uint8_t which[CHAIN_STEPS * CHAIN_LANES / 8];
  for (int i = 0; i < count; i += 8) {
    const __m512d p = _mm512_loadu_pd(u + i), other = _mm512_sub_pd(_mm512_set1_pd(1.0), p);
    const __mmask8 out = _mm512_cmp_pd_mask(_mm512_min_pd(p, other), _mm512_set1_pd(0.075), _CMP_LT_OQ);
    _mm512_storeu_pd(tail + tails, _mm512_maskz_compress_pd(out, p));
    tails += __builtin_popcount(out);
    which[i / 8] = out;
  }
#else
  uint16_t which[CHAIN_STEPS * CHAIN_LANES + 1];
  for (int i = 0; i < count; i += WB_PHILOX_TILE) {
    uint64_t out[WB_PHILOX_TILE];
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_PHILOX_TILE; l++) out[l] = wb_normal_in_tail(u[i + l]);
    for (int l = 0; l < WB_PHILOX_TILE; l++) {
      which[tails] = (uint16_t)(i + l);
      tail[tails] = u[i + l];
      tails += (int)out[l];
    }
  }
#endif
  for (int i = 0; i < WB_PHILOX_TILE; i++) tail[tails + i] = 0.0625;
  for (int i = 0; i < tails; i += WB_PHILOX_TILE) {
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_PHILOX_TILE; l++) tail[i + l] = wb_normal_quantile_tail(tail[i + l]);
  }
  for (int i = 0; i < count; i += WB_PHILOX_TILE) {
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_PHILOX_TILE; l++) u[i + l] = wb_normal_quantile_centre(u[i + l]);
  }
#if WB_VECTOR_BYTES == 64
  const double *next = tail;
  for (int i = 0; i < count; i += 8) {
    _mm512_storeu_pd(u + i, _mm512_mask_expand_pd(_mm512_loadu_pd(u + i), which[i / 8], _mm512_loadu_pd(next)));
    next += __builtin_popcount(which[i / 8]);
  }
#else
  for (int k = 0; k < tails; k++) u[which[k]] = tail[k];
#endif
}

/* The normals of steps 2 `pair`..2 (`pair` + pairs) - 1, at most CHAIN_STEPS, with CHAIN_LANES side by side. */
static void WB_NAME(chain_normals)(uint64_t key, uint64_t first_resample, uint64_t pair, int pairs,
                                   double *restrict normal) {
  uint64_t resample[CHAIN_LANES];
  for (int l = 0; l < CHAIN_LANES; l++) resample[l] = first_resample + (uint64_t)l;
  for (int i = 0; i < pairs; i++) {
    double *const even = normal + 2 * i * CHAIN_LANES, *const odd = even + CHAIN_LANES;
    for (int t = 0; t < CHAIN_LANES; t += WB_PHILOX_TILE) {
      uint64_t first[WB_PHILOX_TILE], second[WB_PHILOX_TILE];
      WB_NAME(philox_tile)(key, WB_PURPOSE_RESAMPLE_CHAIN, (uint32_t)(pair + (uint64_t)i), NULL, resample + t, first,
                           second);
      WB_VECTOR_LOOP
      for (int l = 0; l < WB_PHILOX_TILE; l++) even[t + l] = wb_uniform(first[l]);
      WB_VECTOR_LOOP
      for (int l = 0; l < WB_PHILOX_TILE; l++) odd[t + l] = wb_uniform(second[l]);
    }
  }
  WB_NAME(quantiles)(2 * pairs * CHAIN_LANES, normal);
}

/* Advances the means by `steps` steps with given normals. */
static void WB_NAME(chain_steps)(int64_t steps, const double *gain, const double *restrict normal,
                                 double *restrict mean) {
  for (int64_t t = 0; t < steps; t++)
    for (int l = 0; l < CHAIN_LANES; l++) mean[l] = wb_fma(gain[t], normal[t * CHAIN_LANES + l], mean[l]);
}

/* One trial of Student's t for each resample of a tile. */
WB_INLINE void WB_NAME(t_trial)(uint64_t key, uint32_t step, const uint64_t *block, const uint64_t *resample,
                                double *restrict u, double *restrict w) {
  uint64_t first[WB_PHILOX_TILE], second[WB_PHILOX_TILE];
  WB_NAME(philox_tile)(key, WB_PURPOSE_RESAMPLE_T, step, block, resample, first, second);
  WB_VECTOR_LOOP
  for (int l = 0; l < WB_PHILOX_TILE; l++) w[l] = wb_t_trial(wb_uniform(first[l]), wb_uniform(second[l]), &u[l]);
}

static void WB_NAME(chain_t)(uint64_t key, uint64_t first_resample, uint32_t step, double weight, double shape,
                             double *restrict mean, double *restrict scale) {
  uint64_t resample[CHAIN_T_LANES];
  double u[CHAIN_T_LANES], w[CHAIN_T_LANES];
  uint16_t rejected[CHAIN_T_LANES + 1];
  for (int l = 0; l < CHAIN_T_LANES; l++) resample[l] = first_resample + (uint64_t)l;
  for (int t = 0; t < CHAIN_T_LANES; t += WB_PHILOX_TILE) WB_NAME(t_trial)(key, step, NULL, resample + t, u + t, w + t);
  int left = 0;
  for (int t = 0; t < CHAIN_T_LANES; t += WB_PHILOX_TILE) {
    uint64_t out[WB_PHILOX_TILE]; /* whether w > 1 */
    WB_VECTOR_LOOP
    for (int l = 0; l < WB_PHILOX_TILE; l++) out[l] = wb_double_bits(1.0 - w[t + l]) >> 63;
    for (int l = 0; l < WB_PHILOX_TILE; l++) {
      rejected[left] = (uint16_t)(t + l);
      left += (int)out[l];
    }
  }
  for (uint64_t trial = 1; left > 0; trial++) {
    const int repeated = left;
    left = 0;
    for (int t = 0; t < repeated; t += WB_PHILOX_TILE) {
      const int now = repeated - t < WB_PHILOX_TILE ? repeated - t : WB_PHILOX_TILE;
      uint64_t again[WB_PHILOX_TILE], block[WB_PHILOX_TILE];
      double again_u[WB_PHILOX_TILE], again_w[WB_PHILOX_TILE];
      for (int l = 0; l < WB_PHILOX_TILE; l++) {
        again[l] = resample[rejected[t + (l < now ? l : 0)]];
        block[l] = trial;
      }
      WB_NAME(t_trial)(key, step, block, again, again_u, again_w);
      for (int l = 0; l < now; l++) {
        const uint16_t at = rejected[t + l];
        u[at] = again_u[l];
        w[at] = again_w[l];
        rejected[left] = at; /* left <= t + l: entries not yet read stay */
        left += again_w[l] > 1.0;
      }
    }
  }
  for (int t = 0; t < CHAIN_T_LANES; t += WB_PHILOX_TILE) {
    WB_VECTOR_LOOP
    for (int l = t; l < t + WB_PHILOX_TILE; l++) u[l] = wb_t_of_trial(u[l], w[l], 2.0 * shape);
    WB_VECTOR_LOOP
    for (int l = t; l < t + WB_PHILOX_TILE; l++) wb_chain_t_move(u[l], weight, shape, &mean[l], &scale[l]);
  }
}

/* tools/loops: scalar on NEON */
static void WB_NAME(bootstrap_weights)(uint64_t key, uint64_t resample, int64_t observations, double *restrict weight) {
  for (int64_t i = 0; i < observations; i++) weight[i] = wb_bootstrap_weight(key, resample, (uint64_t)i);
}

/* tools/loops: no vector multiply-adds */
static void WB_NAME(row_uniforms)(uint64_t key, uint64_t resample, int64_t first_step, int steps, double *restrict u) {
  for (int t = 0; t < steps; t++) u[t] = wb_row_uniform(key, resample, (uint32_t)(first_step + t));
}
