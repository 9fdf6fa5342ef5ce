/* Copula updates, one thread for each resample and point. The twin of cpu/predictive/copula_update.c, with the same
 * bits. The observations of a chunk of steps are drawn once for all points. A Gaussian update of one coordinate takes
 * about 190 double precision operations and, in a chunk of 128 steps, 0.25 bytes of global memory for the state. */
#include "cuda/table.cuh"

#include <vector>

#include "core/predictive_draw.h"
#include "cuda/launch.cuh"

namespace wb {

namespace {

constexpr int chunk = 128; /* steps drawn at a time */
constexpr int point_threads = 128;
constexpr int group_threads = 256;

/* Device addresses, as in wb_copula_closeness. */
struct closeness_at {
  const double *point_term, *point_covariate, *row_term, *row_covariate;
};

struct copula_arguments {
  int kind, dimensions, covariates, grouped, steps;
  int64_t rows, groups, points, first_group, first_step;
  uint64_t key;
  const double *alpha, *rho, *scale, *rho_scale; /* alpha: of the chunk; others: in a fit of each group */
  const double *outcome;
  double *score;          /* groups x chunk x dimensions */
  int32_t *row;           /* groups x chunk */
  double *cumulative;     /* groups x rows */
  closeness_at near, own; /* own: rows as points */
  double *row_conditional, *conditional, *gain;
};

/* The weight of observation `row` of `rows` at point l of `points`. */
__device__ double local_weight(double alpha, int covariates, const closeness_at &near, int64_t points, int64_t l,
                               int64_t rows, int64_t row) {
  if (covariates == 0) return alpha;
  double sum = near.point_term[l] + near.row_term[row];
  for (int c = 0; c < covariates; c++)
    sum = wb_fma(near.point_covariate[c * points + l], near.row_covariate[c * rows + row], sum);
  return wb_copula_local_weight((1.0 - alpha) / alpha, sum);
}

/* All coordinates of one point; shift_j = rho_scale_j score_j. */
__device__ void update_point(int dimensions, double weight, const double *scale, const double *rho_scale,
                             const double *score, int64_t points, double *conditional, double *gain) {
  double product = 1.0, total = 1.0;
  for (int j = 0; j < dimensions; j++) {
    const double u = conditional[j * points];
    const wb_copula_pair pair = wb_copula_gaussian(u, scale[j], rho_scale[j] * score[j]);
    const double here = j == 0 ? weight : weight * product / total;
    conditional[j * points] = wb_fma(here, pair.conditional - u, u);
    product = j == 0 ? pair.density : product * pair.density;
    total = wb_fma(weight, product - 1.0, 1.0);
    gain[j * points] *= total;
  }
}

__device__ double update_binary(double q, double weight, double rho, double score) {
  const int y = score > 0.0;
  const double r = y ? score : -score;
  const double inverse = 1.0 / (y ? r : 1.0 - r);
  return wb_copula_binary(q, r, inverse, y, rho * weight);
}

/* A thread a resample: the rows' cumulative weights, in the order of the rows. */
__global__ void row_weights(copula_arguments a) {
  const int64_t group = thread_number();
  if (group >= a.groups) return;
  double *const cumulative = a.cumulative + group * a.rows;
  double sum = 0;
  for (int64_t i = 0; i < a.rows; i++)
    cumulative[i] = sum += wb_bootstrap_weight(a.key, uint64_t(a.first_group + group), uint64_t(i));
}

/* A thread a (resample, step): its row, and its scores, or for a binary response the uniform. */
__global__ void draw_steps(copula_arguments a) {
  const int64_t at = thread_number();
  if (at >= a.groups * a.steps) return;
  const int64_t group = at / a.steps, t = at % a.steps;
  const uint64_t resample = uint64_t(a.first_group + group);
  const uint32_t step = uint32_t(a.first_step + t);
  if (a.rows > 0)
    a.row[group * chunk + t] =
        wb_row_at(a.cumulative + group * a.rows, int32_t(a.rows), wb_row_uniform(a.key, resample, step));
  double *const score = a.score + (group * chunk + t) * a.dimensions;
  for (int j = 0; j < a.dimensions; j++) {
    const double u = wb_step_uniform(a.key, resample, step, uint32_t(j));
    score[j] = a.kind == WB_COPULA_BINARY ? u : wb_normal_quantile_within(u);
  }
}

/* A block a resample, its threads across the rows: draws binary responses in order, from uniforms in `score`. */
__global__ void draw_binary(copula_arguments a) {
  const int64_t group = blockIdx.x;
  double *const state = a.row_conditional + group * a.rows;
  for (int t = 0; t < a.steps; t++) {
    double *const score = a.score + group * chunk + t;
    const int64_t row = a.row[group * chunk + t];
    const double r = state[row];
    const double seen = *score < r ? wb_copula_clip(r) : -wb_copula_clip(r);
    __syncthreads(); /* all have read the uniform and the row's state */
    if (threadIdx.x == 0) *score = seen;
    for (int64_t l = threadIdx.x; l < a.rows; l += blockDim.x) {
      const double weight = local_weight(a.alpha[t], a.covariates, a.own, a.rows, l, a.rows, row);
      state[l] = update_binary(state[l], weight, a.rho[0], seen);
    }
    __syncthreads();
  }
}

/* Launch: (blocks of points, resamples). One coordinate or a binary response: the state is in registers. */
__global__ void update_one(copula_arguments a) {
  const int64_t l = thread_number();
  if (l >= a.points) return;
  for (int64_t group = blockIdx.y; group < a.groups; group += gridDim.y) {
    double u = a.conditional[group * a.points + l];
    double gain = a.gain != nullptr ? a.gain[group * a.points + l] : 1.0;
    const double *const score = a.score + group * chunk;
    const int32_t *const row = a.row + group * chunk;
    for (int t = 0; t < a.steps; t++) {
      const double weight =
          local_weight(a.alpha[t], a.covariates, a.near, a.points, l, a.rows, a.covariates > 0 ? row[t] : 0);
      if (a.kind == WB_COPULA_BINARY) {
        u = update_binary(u, weight, a.rho[0], score[t]);
      } else {
        const wb_copula_pair pair = wb_copula_gaussian(u, a.scale[0], a.rho_scale[0] * score[t]);
        u = wb_fma(weight, pair.conditional - u, u);
        gain *= wb_fma(weight, pair.density - 1.0, 1.0);
      }
    }
    a.conditional[group * a.points + l] = u;
    if (a.gain != nullptr) a.gain[group * a.points + l] = gain;
  }
}

__global__ void update_many(copula_arguments a) {
  const int64_t l = thread_number();
  if (l >= a.points) return;
  for (int64_t group = blockIdx.y; group < a.groups; group += gridDim.y) {
    const int64_t at = group * a.dimensions * a.points + l;
    for (int t = 0; t < a.steps; t++) {
      const int64_t row = a.covariates > 0 ? a.row[group * chunk + t] : 0;
      const double weight = local_weight(a.alpha[t], a.covariates, a.near, a.points, l, a.rows, row);
      update_point(a.dimensions, weight, a.scale, a.rho_scale, a.score + (group * chunk + t) * a.dimensions, a.points,
                   a.conditional + at, a.gain + at);
    }
  }
}

/* A block a group, its threads across the observations still to come. */
__global__ void fit_sequence(copula_arguments a) {
  const int64_t group = blockIdx.x, n = a.points, d = a.dimensions;
  double *const conditional = a.conditional + group * d * n, *const gain = a.gain + group * d * n;
  double *const scores = a.score + group * n * d;
  const int64_t term = a.grouped && a.covariates > 0 ? group * n : 0, covariate = term * a.covariates;
  const closeness_at near = {a.near.point_term + term, a.near.point_covariate + covariate, a.near.row_term + term,
                             a.near.row_covariate + covariate};
  for (int64_t i = 0; i < n; i++) {
    __syncthreads(); /* observation i is predicted: it does not change any more */
    double *const score = scores + i * d;
    for (int64_t j = threadIdx.x; j < d; j += blockDim.x) {
      const double u = conditional[j * n + i];
      if (a.kind == WB_COPULA_BINARY) {
        const int y = a.outcome[group * n + i] > 0.5;
        score[j] = y ? wb_copula_clip(u) : -wb_copula_clip(u);
        gain[i] = y ? u : 1.0 - u;
      } else {
        score[j] = wb_copula_score(u);
      }
    }
    __syncthreads();
    for (int64_t l = i + 1 + threadIdx.x; l < n; l += blockDim.x) {
      const double weight = local_weight(a.alpha[i], a.covariates, near, n, l, n, i);
      if (a.kind == WB_COPULA_BINARY) {
        conditional[l] = update_binary(conditional[l], weight, a.rho[group], score[0]);
      } else {
        update_point(a.dimensions, weight, a.scale + group * d, a.rho_scale + group * d, score, n, conditional + l,
                     gain + l);
      }
    }
  }
}

int bring(device_array<double> &to, const double *from, int64_t count, wb_message *message) {
  return to.hold(from, size_t(count), "arrays of predictive resampling", message);
}

/* rho, 1/sqrt(1 - rho^2) and their product. */
struct bandwidths {
  device_array<double> rho, scale, both;

  int bring_all(const double *from, int64_t count, copula_arguments *a, wb_message *message) {
    std::vector<double> scales(count), products(count);
    for (size_t j = 0; j < scales.size(); j++) {
      scales[j] = a->kind == WB_COPULA_BINARY ? 1.0 : wb_copula_scale(from[j]);
      products[j] = from[j] * scales[j];
    }
    WB_TRY(bring(rho, from, count, message));
    WB_TRY(bring(scale, scales.data(), count, message));
    WB_TRY(bring(both, products.data(), count, message));
    a->rho = rho.data();
    a->scale = scale.data();
    a->rho_scale = both.data();
    return WB_OK;
  }
};

struct closeness {
  device_array<double> point_term, point_covariate, row_term, row_covariate;

  int bring_all(const wb_copula_closeness &from, int64_t groups, int64_t points, int64_t rows, int64_t covariates,
                closeness_at *at, wb_message *message) {
    if (covariates == 0) return WB_OK;
    const int64_t times = from.grouped ? groups : 1;
    WB_TRY(bring(point_term, from.point_term, times * points, message));
    WB_TRY(bring(point_covariate, from.point_covariate, times * points * covariates, message));
    WB_TRY(bring(row_term, from.row_term, times * rows, message));
    WB_TRY(bring(row_covariate, from.row_covariate, times * rows * covariates, message));
    *at = {point_term.data(), point_covariate.data(), row_term.data(), row_covariate.data()};
    return WB_OK;
  }
};

class update_part {
public:
  int run(const wb_copula_update &work, copula_arguments a, const double *alpha, int64_t first, int64_t count,
          wb_message *message) {
    const int64_t size = a.dimensions * a.points;
    const bool drawn = work.score == nullptr, rows_live = drawn && a.kind == WB_COPULA_BINARY;
    const char *const what = "drawing observations";
    a.groups = count;
    a.first_group = work.first_group + first;
    WB_TRY(bring(conditional_, work.conditional + first * size, count * size, message));
    if (work.gain != nullptr) WB_TRY(bring(gain_, work.gain + first * size, count * size, message));
    if (rows_live) WB_TRY(bring(rows_, work.row_conditional + first * a.rows, count * a.rows, message));
    WB_TRY(score_.allocate(size_t(count * chunk * a.dimensions), "observations", message));
    WB_TRY(row_.allocate(size_t(count * chunk), "rows of the steps", message));
    WB_TRY(cumulative_.allocate(size_t(drawn ? count * a.rows : 0), "weights of the rows", message));
    a.conditional = conditional_.data();
    a.gain = gain_.data();
    a.row_conditional = rows_.data();
    a.score = score_.data();
    a.row = row_.data();
    a.cumulative = cumulative_.data();
    if (drawn && a.rows > 0) WB_TRY(launch(cover(group_threads, count), row_weights, what, message, a));
    WB_TRY(in_batches(work.steps, chunk, [&](int64_t step, int64_t steps) {
      a.steps = int(steps);
      a.first_step = work.first_step + step;
      a.alpha = alpha + step;
      WB_TRY(drawn ? launch(cover(group_threads, count * steps), draw_steps, what, message, a)
                   : take(work, a, first, step, message));
      if (rows_live) WB_TRY(launch(grid(group_threads, count), draw_binary, what, message, a));
      if (a.points == 0) return int(WB_OK);
      return launch(cover(point_threads, a.points, rows_of_grid(count)), a.dimensions == 1 ? update_one : update_many,
                    "updating points", message, a);
    }));
    const size_t states = size_t(count * size), row_states = size_t(count * a.rows);
    WB_TRY(conditional_.download(work.conditional + first * size, states, "copying the states", message));
    if (work.gain != nullptr)
      WB_TRY(gain_.download(work.gain + first * size, states, "copying the densities", message));
    if (!rows_live) return WB_OK;
    return rows_.download(work.row_conditional + first * a.rows, row_states, "copying the states of the rows", message);
  }

private:
  /* The caller's observations of this chunk, laid out as drawn ones are. */
  int take(const wb_copula_update &work, const copula_arguments &a, int64_t first, int64_t step, wb_message *message) {
    const int64_t d = a.dimensions;
    std::vector<double> score(size_t(a.groups * chunk * d));
    std::vector<int32_t> row(size_t(a.groups * chunk));
    for (int64_t g = 0; g < a.groups; g++)
      for (int64_t t = 0; t < a.steps; t++) {
        const int64_t from = (first + g) * work.steps + step + t, to = g * chunk + t;
        for (int64_t j = 0; j < d; j++) score[size_t(to * d + j)] = work.score[from * d + j];
        if (a.covariates > 0) row[size_t(to)] = work.row[from];
      }
    WB_TRY(score_.upload(score.data(), score.size(), "copying observations", message));
    return row_.upload(row.data(), row.size(), "copying rows of the steps", message);
  }

  device_array<double> conditional_, gain_, rows_, score_, cumulative_;
  device_array<int32_t> row_;
};

copula_arguments arguments_of(const wb_copula_model &model, int64_t groups, int64_t points) {
  copula_arguments a = {};
  a.kind = model.kind;
  a.dimensions = model.dimensions;
  a.covariates = model.covariates;
  a.rows = model.rows;
  a.groups = groups;
  a.points = points;
  return a;
}

} // namespace

int copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  copula_arguments a = arguments_of(work->model, work->groups, work->points);
  a.key = work->key;
  bandwidths rho;
  closeness points, rows;
  device_array<double> alpha;
  std::vector<double> weights(size_t(work->steps));
  for (size_t t = 0; t < weights.size(); t++)
    weights[t] = wb_copula_forward_weight(work->observations + double(work->first_step + int64_t(t)) + 1.0, work->most);
  WB_TRY(rho.bring_all(work->rho, a.dimensions, &a, message));
  WB_TRY(bring(alpha, weights.data(), work->steps, message));
  WB_TRY(points.bring_all(work->closeness, a.groups, a.points, a.rows, a.covariates, &a.near, message));
  if (work->row_conditional != nullptr)
    WB_TRY(rows.bring_all(work->row_closeness, a.groups, a.rows, a.rows, a.covariates, &a.own, message));
  const uint64_t each =
      sizeof(double) * uint64_t(2 * a.dimensions * a.points + chunk * (a.dimensions + 1) + 2 * a.rows);
  int64_t at_once = 0;
  WB_TRY(fitting(run, each, "one resample", work->groups, &at_once, message));
  update_part part;
  return in_batches(work->groups, at_once, [&](int64_t first, int64_t count) {
    return part.run(*work, a, alpha.data(), first, count, message);
  });
}

int copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message) {
  WB_ON_DEVICE(run->device, message);
  copula_arguments a = arguments_of(work->model, work->groups, work->points);
  const int64_t n = work->points;
  const size_t size = size_t(work->groups * n * a.dimensions);
  bandwidths rho;
  closeness near;
  device_array<double> alpha, outcome, conditional, score, gain;
  std::vector<double> weights(n), ones(size, 1.0);
  for (size_t i = 0; i < weights.size(); i++) weights[i] = wb_copula_weight(double(i + 1));
  WB_TRY(rho.bring_all(work->rho, work->groups * a.dimensions, &a, message));
  WB_TRY(bring(alpha, weights.data(), n, message));
  if (a.kind == WB_COPULA_BINARY) WB_TRY(bring(outcome, work->outcome, work->groups * n, message));
  WB_TRY(near.bring_all(work->closeness, work->groups, n, n, a.covariates, &a.near, message));
  WB_TRY(bring(conditional, work->conditional, work->groups * n * a.dimensions, message));
  WB_TRY(bring(gain, ones.data(), work->groups * n * a.dimensions, message));
  WB_TRY(score.allocate(size, "normal scores", message));
  a.grouped = work->closeness.grouped;
  a.alpha = alpha.data();
  a.outcome = outcome.data();
  a.conditional = conditional.data();
  a.score = score.data();
  a.gain = gain.data();
  WB_TRY(launch(grid(group_threads, work->groups), fit_sequence, "fitting by copulas", message, a));
  WB_TRY(conditional.download(work->conditional, size, "copying the states", message));
  WB_TRY(score.download(work->score, size, "copying the scores", message));
  return gain.download(work->gain, size, "copying the densities", message);
}

} // namespace wb
