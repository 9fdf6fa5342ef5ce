/* Predictive resampling of a normal mean, and the Bayesian bootstrap, by the laws of core/predictive_draw.h.
 *
 * Lower bound of a step with known variance: about 80 vector instructions, namely half a Philox block (10 rounds of two
 * 32-bit products), the normal quantile's centre (25 and a division) and, for 15%, its tail (60, a root and a
 * division). */
#include "core/rounding.h"

#include "cpu/table.h"

#include "core/min_max.h"
#include "core/predictive_draw.h"
#include "numeric/idle.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

/* Resamples that a thread carries side by side, more if trials repeat; steps whose normals it holds, even. */
#define CHAIN_LANES 32
#define CHAIN_STEPS 8
#define CHAIN_T_LANES 64
/* Bootstrap steps whose uniforms are computed together. */
#define DRAW_CHUNK 256

#define WB_LOOPS "cpu/predictive/resample_loops.h"
#include "numeric/isa.h"

static double *record_of(const wb_normal_chains *work, int64_t step) {
  if (!work->trajectory || (step + 1) % work->every != 0) return NULL;
  return work->trajectory + ((step + 1) / work->every - 1 - work->first_step / work->every) * work->resamples;
}

/* The first step after `step` at which a record is due, or `end`. */
static int64_t next_record(const wb_normal_chains *work, int64_t step, int64_t end) {
  return work->trajectory ? wb_min_int(end, (step / work->every + 1) * work->every) : end;
}

/* What all pieces of a call read: one of these two is NULL. */
typedef struct resample_call {
  const wb_normal_chains *chains;
  const wb_bootstrap *bootstrap;
  wb_isa isa;
} resample_call;

static void known_variance(void *context, int64_t piece) {
  const resample_call *const call = context;
  const wb_normal_chains *const work = call->chains;
  const int64_t first = piece * CHAIN_LANES, count = wb_min_int(CHAIN_LANES, work->resamples - first),
                end = work->first_step + work->steps;
  double mean[CHAIN_LANES] = {0}, gain[CHAIN_STEPS], normal[CHAIN_STEPS * CHAIN_LANES];
  memcpy(mean, work->mean + first, (size_t)count * sizeof(double));
  for (int64_t step = work->first_step; step < end;) {
    /* Normals come in pairs: an even step and the next one. */
    const int64_t even = step - step % 2, last = wb_min_int(end, even + CHAIN_STEPS);
    WB_LOOP(chain_normals, call->isa)(work->key, (uint64_t)(work->first + first), (uint64_t)(even / 2),
                                      (int)((last - even + 1) / 2), normal);
    for (int64_t i = 0; i < last - even; i++) gain[i] = wb_chain_step(work->sd, work->weight + (double)(even + i));
    while (step < last) {
      const int64_t until = next_record(work, step, last);
      WB_LOOP(chain_steps, call->isa)(until - step, gain + (step - even), normal + (step - even) * CHAIN_LANES, mean);
      step = until;
      double *const record = record_of(work, step - 1);
      if (record) memcpy(record + first, mean, (size_t)count * sizeof(double));
    }
  }
  memcpy(work->mean + first, mean, (size_t)count * sizeof(double));
}

static void unknown_variance(void *context, int64_t piece) {
  const resample_call *const call = context;
  const wb_normal_chains *const work = call->chains;
  const int64_t first = piece * CHAIN_T_LANES, count = wb_min_int(CHAIN_T_LANES, work->resamples - first);
  double mean[CHAIN_T_LANES], scale[CHAIN_T_LANES];
  for (int64_t l = 0; l < CHAIN_T_LANES; l++) {
    mean[l] = l < count ? work->mean[first + l] : 0.0;
    scale[l] = l < count ? work->scale[first + l] : 1.0;
  }
  for (int64_t step = work->first_step; step < work->first_step + work->steps; step++) {
    WB_LOOP(chain_t, call->isa)(work->key, (uint64_t)(work->first + first), (uint32_t)step, work->weight + (double)step,
                                work->shape + 0.5 * (double)step, mean, scale);
    double *const record = record_of(work, step);
    if (record) memcpy(record + first, mean, (size_t)count * sizeof(double));
  }
  memcpy(work->mean + first, mean, (size_t)count * sizeof(double));
  memcpy(work->scale + first, scale, (size_t)count * sizeof(double));
}

static int normal_chains(const wb_normal_chains *work, const wb_run *run, wb_message *message) {
  (void)message;
  const int64_t lanes = work->scale ? CHAIN_T_LANES : CHAIN_LANES;
  resample_call call = {work, NULL, run->isa};
  wb_spread(wb_idle_threads(run->threads), (work->resamples + lanes - 1) / lanes,
            work->scale ? unknown_variance : known_variance, &call);
  return WB_OK;
}

/* One resample's weights: exponentials, or the counts of draws with these as weights. */
static void bootstrap_one(void *context, int64_t piece, void *memory) {
  const resample_call *const call = context;
  const wb_bootstrap *const work = call->bootstrap;
  const uint64_t resample = (uint64_t)(work->first + piece);
  const int64_t n = work->observations;
  double *const weight = work->weight + piece * n, *const cumulative = memory;
  WB_LOOP(bootstrap_weights, call->isa)(work->key, resample, n, weight);
  double sum = 0;
  if (work->steps > 0) {
    for (int64_t i = 0; i < n; i++) cumulative[i] = sum += weight[i];
    for (int64_t i = 0; i < n; i++) weight[i] = 1.0;
    for (int64_t step = 0; step < work->steps; step += DRAW_CHUNK) {
      double u[DRAW_CHUNK];
      const int steps = (int)wb_min_int(DRAW_CHUNK, work->steps - step);
      WB_LOOP(row_uniforms, call->isa)(work->key, resample, step, steps, u);
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
  resample_call call = {NULL, work, run->isa};
  if (wb_spread_with_memory(run->threads, work->resamples, bytes, bootstrap_one, &call)) return WB_OK;
  return wb_out_of_memory(message, "the weights of one resample", bytes);
}

const wb_predictive_functions wb_cpu_predictive = {
    .normal_chains = normal_chains,
    .bootstrap = bootstrap,
    .copula_fit = wb_cpu_copula_fit,
    .copula_update = wb_cpu_copula_update,
};
