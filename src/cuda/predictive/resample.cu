/* Predictive resampling of a normal mean, one thread for each resample, and the Bayesian bootstrap. The twin of
 * cpu/predictive/resample.c, with the same bits. */
#include "cuda/table.cuh"
#include "cuda/copies.cuh"

#include <vector>

#include "core/predictive_draw.h"

namespace wb {

namespace {

constexpr int chain_threads = 128;

struct chain_arguments {
  uint64_t key;
  int64_t first, resamples, first_step, steps, every; /* first: of this part */
  double weight, shape;
  const double *gain; /* steps; known variance */
  double *mean, *scale, *trajectory;
};

/* Launch: a thread a resample. Registers alone, but for the record of the way; a
 * step with known variance is half a Philox block, an inverse normal distribution function, a multiply-add. */
__global__ void known_variance(chain_arguments a) {
  const int64_t r = thread_number();
  if (r >= a.resamples) return;
  double mean = a.mean[r], *record = a.every > 0 ? a.trajectory + r : nullptr;
  int64_t held = -1;
  double even = 0, odd = 0;
  for (int64_t i = 0; i < a.steps; i++) {
    const int64_t step = a.first_step + i;
    if (step / 2 != held) {
      held = step / 2;
      wb_chain_normals(a.key, uint64_t(a.first + r), uint64_t(held), &even, &odd);
    }
    mean = wb_fma(a.gain[i], step % 2 != 0 ? odd : even, mean);
    if (a.every > 0 && (step + 1) % a.every == 0) {
      *record = mean;
      record += a.resamples;
    }
  }
  a.mean[r] = mean;
}

__global__ void unknown_variance(chain_arguments a) {
  const int64_t r = thread_number();
  if (r >= a.resamples) return;
  double mean = a.mean[r], scale = a.scale[r], *record = a.every > 0 ? a.trajectory + r : nullptr;
  for (int64_t i = 0; i < a.steps; i++) {
    const int64_t step = a.first_step + i;
    wb_chain_t_step(a.key, uint64_t(a.first + r), uint32_t(step), a.weight + double(step), a.shape + 0.5 * double(step),
                    &mean, &scale);
    if (a.every > 0 && (step + 1) % a.every == 0) {
      *record = mean;
      record += a.resamples;
    }
  }
  a.mean[r] = mean;
  a.scale[r] = scale;
}

struct bootstrap_arguments {
  uint64_t key;
  int64_t first, resamples, observations, steps;
  double *weight, *cumulative;
};

/* A thread a (resample, observation). */
__global__ void bootstrap_weights(bootstrap_arguments a) {
  const int64_t at = thread_number();
  if (at >= a.resamples * a.observations) return;
  a.weight[at] = wb_bootstrap_weight(a.key, uint64_t(a.first + at / a.observations), uint64_t(at % a.observations));
}

/* A thread a resample: sums in the order of the observations. */
__global__ void bootstrap_finish(bootstrap_arguments a) {
  const int64_t r = thread_number();
  if (r >= a.resamples) return;
  const int64_t n = a.observations;
  double *const weight = a.weight + r * n;
  double sum = 0;
  if (a.steps > 0) {
    double *const cumulative = a.cumulative + r * n;
    for (int64_t i = 0; i < n; i++) {
      cumulative[i] = sum += weight[i];
      weight[i] = 1.0;
    }
    for (int64_t t = 0; t < a.steps; t++)
      weight[wb_row_at(cumulative, int32_t(n), wb_row_uniform(a.key, uint64_t(a.first + r), uint32_t(t)))] += 1.0;
    sum = double(n + a.steps);
  } else {
    for (int64_t i = 0; i < n; i++) sum += weight[i];
  }
  for (int64_t i = 0; i < n; i++) weight[i] /= sum;
}

template <typename Arguments>
int go(void (*kernel)(Arguments), int64_t threads, const char *what, const Arguments &a, wb_message *message) {
  return launch(cover(chain_threads, threads), kernel, what, message, a);
}

int normal_chains(const wb_normal_chains *work, const wb_run *run, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  const int64_t records =
      work->trajectory != nullptr ? (work->first_step + work->steps) / work->every - work->first_step / work->every : 0;
  device_array<double> gain;
  if (work->scale == nullptr && work->steps > 0) {
    std::vector<double> values(size_t(work->steps));
    for (size_t i = 0; i < values.size(); i++)
      values[i] = wb_chain_step(work->sd, work->weight + double(work->first_step + int64_t(i)));
    WB_TRY(gain.hold(values.data(), values.size(), "gains of the steps", message));
  }
  int64_t at_once = 0;
  WB_TRY(fitting(run, sizeof(double) * uint64_t(records + 2), "one resample", work->resamples, &at_once, message));
  device_array<double> mean, scale, trajectory;
  return in_batches(work->resamples, at_once, [&](int64_t first, int64_t count) {
    const bool known = work->scale == nullptr;
    const size_t size = size_t(count);
    WB_TRY(bring(run, mean, work->mean + first, size, "means", message));
    if (!known) WB_TRY(bring(run, scale, work->scale + first, size, "scales", message));
    WB_TRY(trajectory.allocate(size * size_t(records), "trajectories", message));
    const chain_arguments a = {
        work->key,    work->first + first, count,       work->first_step, work->steps,  records > 0 ? work->every : 0,
        work->weight, work->shape,         gain.data(), mean.data(),      scale.data(), trajectory.data()};
    WB_TRY(go(known ? known_variance : unknown_variance, count, "resampling means", a, message));
    WB_TRY(fetch(run, work->mean + first, mean.data(), count, "copying means", message));
    if (!known) WB_TRY(fetch(run, work->scale + first, scale.data(), count, "copying scales", message));
    for (int64_t i = 0; i < records; i++)
      WB_TRY(fetch(run, work->trajectory + i * work->resamples + first, trajectory.data() + i * count, count,
                   "copying trajectories", message));
    return int(WB_OK);
  });
}

int bootstrap(const wb_bootstrap *work, const wb_run *run, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  const int64_t n = work->observations;
  int64_t at_once = 0;
  WB_TRY(fitting(run, sizeof(double) * uint64_t(2 * n), "one resample", work->resamples, &at_once, message));
  device_array<double> weight, cumulative;
  return in_batches(work->resamples, at_once, [&](int64_t first, int64_t count) {
    const size_t size = size_t(count * n);
    WB_TRY(weight.allocate(size, "weights", message));
    WB_TRY(cumulative.allocate(work->steps > 0 ? size : 0, "cumulative weights", message));
    const bootstrap_arguments a = {work->key,     work->first + first, count, n, work->steps,
                                   weight.data(), cumulative.data()};
    WB_TRY(go(bootstrap_weights, count * n, "drawing weights", a, message));
    WB_TRY(go(bootstrap_finish, count, "adding weights", a, message));
    return fetch(run, work->weight + first * n, weight.data(), count * n, "copying weights", message);
  });
}

} // namespace

} // namespace wb

extern const wb_predictive_functions wb_cuda_predictive = {wb::normal_chains, wb::bootstrap, wb::copula_fit,
                                                           wb::copula_update};
