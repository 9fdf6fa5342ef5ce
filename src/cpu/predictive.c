/* Predictive resampling of a normal mean, and the Bayesian bootstrap.
 *
 * Floor of a step with known variance: half a Philox block (10 rounds of two
 * 32-bit products) and one inverse normal distribution function (81 vector
 * operations); the recursion itself is one multiply-add. */
#include "core/rounding.h"

#include "cpu/backend.h"

#include "core/predictive_draw.h"
#include "cpu/copula.h"
#include "numeric/memory.h"

/* Resamples that a thread carries side by side, and steps whose gains it holds. */
#define CHAIN_LANES 32
#define CHAIN_CHUNK 256

#define WB_LOOPS "cpu/predictive_loops.h"
#include "numeric/isa.h"

typedef void normals_function(uint64_t key, uint64_t first_resample, uint64_t pair, double *even, double *odd);
typedef void pairs_function(uint64_t key, uint64_t first_resample, uint64_t pair_first, int pairs, const double *gain,
                            double *mean);
typedef void weights_function(uint64_t key, uint64_t resample, int64_t observations, double *weight);
typedef void uniforms_function(uint64_t key, uint64_t resample, int64_t first_step, int steps, double *u);

static normals_function *const chain_normals[] = WB_ISA_TABLE(chain_normals);
static pairs_function *const chain_pairs[] = WB_ISA_TABLE(chain_pairs);
static weights_function *const bootstrap_weights[] = WB_ISA_TABLE(bootstrap_weights);
static uniforms_function *const row_uniforms[] = WB_ISA_TABLE(row_uniforms);

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Where the record of a step goes, or NULL. */
static double *record_of(const wb_normal_chains *work, int64_t step) {
  if (!work->trajectory || (step + 1) % work->every != 0) return NULL;
  return work->trajectory + ((step + 1) / work->every - 1 - work->first_step / work->every) * work->resamples;
}

/* One step of CHAIN_LANES resamples. */
static void single_step(const wb_normal_chains *work, wb_isa isa, int64_t first, int64_t step, double *mean) {
  double normal[2][CHAIN_LANES];
  chain_normals[isa](work->key, (uint64_t)(work->first + first), (uint64_t)(step / 2), normal[0], normal[1]);
  const double gain = wb_chain_step(work->sd, work->weight + (double)step);
  for (int l = 0; l < CHAIN_LANES; l++) mean[l] = wb_fma(gain, normal[step % 2][l], mean[l]);
}

/* Steps that can go in pairs from `step` on without a record in between. */
static int64_t pairs_from(const wb_normal_chains *work, int64_t step, int64_t end) {
  if (step % 2 != 0) return 0;
  int64_t last = end;
  if (work->trajectory) last = smaller(end, (step / work->every + 1) * work->every);
  return smaller((last - step) / 2, CHAIN_CHUNK / 2);
}

static void known_variance(const wb_normal_chains *work, wb_isa isa, int64_t first) {
  const int64_t count = smaller(CHAIN_LANES, work->resamples - first), end = work->first_step + work->steps;
  double mean[CHAIN_LANES] = {0}, gain[CHAIN_CHUNK];
  memcpy(mean, work->mean + first, (size_t)count * sizeof(double));
  for (int64_t step = work->first_step; step < end;) {
    const int64_t pairs = pairs_from(work, step, end);
    if (pairs > 0) {
      for (int64_t i = 0; i < 2 * pairs; i++) gain[i] = wb_chain_step(work->sd, work->weight + (double)(step + i));
      chain_pairs[isa](work->key, (uint64_t)(work->first + first), (uint64_t)(step / 2), (int)pairs, gain, mean);
      step += 2 * pairs;
    } else {
      single_step(work, isa, first, step, mean);
      step++;
    }
    double *const record = record_of(work, step - 1);
    if (record) memcpy(record + first, mean, (size_t)count * sizeof(double));
  }
  memcpy(work->mean + first, mean, (size_t)count * sizeof(double));
}

static void unknown_variance(const wb_normal_chains *work, int64_t first) {
  const int64_t last = smaller(first + CHAIN_LANES, work->resamples);
  for (int64_t r = first; r < last; r++)
    for (int64_t step = work->first_step; step < work->first_step + work->steps; step++) {
      wb_chain_t_step(work->key, (uint64_t)(work->first + r), (uint32_t)step, work->weight + (double)step,
                      work->shape + 0.5 * (double)step, work->mean + r, work->scale + r);
      double *const record = record_of(work, step);
      if (record) record[r] = work->mean[r];
    }
}

static int normal_chains(const wb_normal_chains *work, const wb_run *run, wb_message *message) {
  (void)message;
#pragma omp parallel for num_threads(run->threads) schedule(dynamic, 1) if (run->threads > 1)
  for (int64_t first = 0; first < work->resamples; first += CHAIN_LANES) {
    if (work->scale)
      unknown_variance(work, first);
    else
      known_variance(work, run->isa, first);
  }
  return WB_OK;
}

/* One resample's weights: exponentials, or how often each was drawn under them. */
static void bootstrap_one(const wb_bootstrap *work, wb_isa isa, int64_t resample, double *cumulative) {
  const int64_t n = work->observations;
  double *const weight = work->weight + (resample - work->first) * n;
  bootstrap_weights[isa](work->key, (uint64_t)resample, n, weight);
  double sum = 0;
  if (work->steps > 0) {
    for (int64_t i = 0; i < n; i++) cumulative[i] = sum += weight[i];
    for (int64_t i = 0; i < n; i++) weight[i] = 1.0;
    for (int64_t step = 0; step < work->steps; step += CHAIN_CHUNK) {
      double u[CHAIN_CHUNK];
      const int steps = (int)smaller(CHAIN_CHUNK, work->steps - step);
      row_uniforms[isa](work->key, (uint64_t)resample, step, steps, u);
      for (int t = 0; t < steps; t++) weight[wb_row_at(cumulative, (int32_t)n, u[t])] += 1.0;
    }
    sum = (double)(n + work->steps);
  } else {
    for (int64_t i = 0; i < n; i++) sum += weight[i];
  }
  for (int64_t i = 0; i < n; i++) weight[i] /= sum;
}

static int bootstrap(const wb_bootstrap *work, const wb_run *run, wb_message *message) {
  const size_t bytes = (size_t)work->observations * sizeof(double);
  int failed = 0;
#pragma omp parallel num_threads(run->threads) if (run->threads > 1)
  {
    double *const cumulative = wb_aligned_malloc(bytes);
    if (!cumulative) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t r = 0; r < work->resamples; r++)
      if (cumulative) bootstrap_one(work, run->isa, work->first + r, cumulative);
    wb_aligned_free(cumulative);
  }
  return failed ? wb_out_of_memory(message, "the weights of one resample", bytes) : WB_OK;
}

const wb_predictive_functions wb_cpu_predictive = {
  .normal_chains = normal_chains,
  .bootstrap = bootstrap,
  .copula_fit = wb_cpu_copula_fit,
  .copula_update = wb_cpu_copula_update,
};
