/* Draws from the model of abundance.h. Given the logits, the coefficients and b are normal. All other draws are slice
 * samplers of one number (Neal 2003, "Slice sampling", Annals of Statistics 31, 705-767). Where counts are small, the
 * logits hardly move if the coefficients and deviations are fixed. Therefore these are drawn a second time with the
 * u_ts, or u_ts / sigma_t, held fixed: the interweaving of Yu & Meng (2011, "To center or not to center: that is not
 * the question", Journal of Computational and Graphical Statistics 20, 531-570). */
#include "core/scalar.h"

#include "abundance/abundance.h"
#include "core/linear_algebra.h"
#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "core/regression_row.h"
#include "numeric/memory.h"
#include "numeric/poll.h"

/* Steps out of a slice, both sides together; and the largest |log| of a deviation. */
#define SLICE_STEPS 40
#define MOST_LOG 20.0

typedef double log_density(const void *of, double at);

/* The next value of a chain that leaves the density invariant. `width` does not depend on `current`. */
static double slice(wb_stream *stream, log_density *density, const void *of, double current, double width) {
  const double level = density(of, current) - wb_draw_exponential(stream);
  double low = current - width * wb_stream_uniform(stream), high = low + width;
  int left = (int)(SLICE_STEPS * wb_stream_uniform(stream)), right = SLICE_STEPS - 1 - left;
  for (; left > 0 && density(of, low) > level; left--) low -= width;
  for (; right > 0 && density(of, high) > level; right--) high += width;
  for (int trial = 0; trial < 200; trial++) {
    const double at = wb_fma(high - low, wb_stream_uniform(stream), low);
    if (density(of, at) > level) return at;
    if (at < current) low = at;
    else high = at;
  }
  return current;
}

/* The information of a sample on its logit at about its maximum. */
static double information_of(double count, double total) {
  const double share = (count + 0.5) / (total + 1.0);
  return total * share * (1.0 - share);
}

static double log_likelihood(double count, double total, double logit) {
  return wb_regression_log_likelihood(wb_fma(-0.5, total, count), total, logit);
}

/* Type t of a chain. */
typedef struct one_type {
  const wb_abundance_data *data;
  const wb_abundance_prior *prior;
  double *logit; /* psi of sample s is at s * types */
  double *coefficients, *effects, *log_deviation;
  const double *counts;     /* of sample s at s * types */
  double *predictor;        /* samples: x_s' beta + b */
  const double *paths;      /* columns x columns: directions in which the coefficients move */
  double log_scale[2];      /* of sigma_t and omega_t */
  const double *direction;  /* samples: what a slice adds to the logits */
  double linear, curvature; /* of the log prior along the direction */
} one_type;

/* The logit of one sample. */
typedef struct one_logit {
  double count, total, mean, precision;
} one_logit;

static double logit_density(const void *of, double at) {
  const one_logit *const sample = of;
  const double apart = at - sample->mean;
  return wb_fma(-0.5 * sample->precision * apart, apart, log_likelihood(sample->count, sample->total, at));
}

static void draw_logits(const one_type *type, uint64_t key, uint32_t iteration, int32_t t) {
  const wb_abundance_data *const data = type->data;
  const double precision = wb_exp(-2.0 * type->log_deviation[0]);
  for (int32_t s = 0; s < data->samples; s++) {
    const size_t at = (size_t)s * (size_t)data->types;
    const one_logit sample = {type->counts[at], data->totals[s], type->predictor[s], precision};
    const double width = 3.0 / wb_sqrt(information_of(sample.count, sample.total) + precision);
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_LOGIT, iteration, at + (size_t)t);
    type->logit[at] = slice(&stream, logit_density, &sample, type->logit[at], width);
  }
}

static void predict_logits(const one_type *type) {
  const wb_abundance_data *const data = type->data;
  for (int32_t s = 0; s < data->samples; s++) {
    double sum = data->groups > 0 ? type->effects[data->group[s]] : 0.0;
    for (int32_t c = 0; c < data->columns; c++)
      sum = wb_fma(data->design[(size_t)s + (size_t)c * (size_t)data->samples], type->coefficients[c], sum);
    type->predictor[s] = sum;
  }
}

/* Draws the coefficients with b integrated out, then b. `mean` and `variance`: of each coefficient. `room`:
 * see wb_abundance_run(). */
static int draw_coefficients(const one_type *type, wb_stream *stream, double *room, double *mean, double *variance) {
  const wb_abundance_data *const data = type->data;
  const int p = data->columns;
  const size_t triangle = wb_packed_size(p), groups = (size_t)data->groups;
  double *const precision = room, *const inverse = precision + triangle, *const linear = inverse + triangle;
  double *const row = linear + p, *const normal = row + p, *const sums = normal + p; /* sums: groups x (p + 2) */
  const double weight = wb_exp(-2.0 * type->log_deviation[0]);
  memset(precision, 0, triangle * sizeof(double));
  for (int c = 0; c < p; c++) {
    precision[wb_packed_row(c) + (size_t)c] = type->prior->precision[c];
    linear[c] = type->prior->precision[c] * type->prior->mean[c];
  }
  memset(sums, 0, groups * (size_t)(p + 2) * sizeof(double));
  for (int32_t s = 0; s < data->samples; s++) {
    const double logit = type->logit[(size_t)s * (size_t)data->types];
    for (int c = 0; c < p; c++) {
      row[c] = data->design[(size_t)s + (size_t)c * (size_t)data->samples];
      linear[c] = wb_fma(weight * logit, row[c], linear[c]);
    }
    wb_symmetric_add_outer(p, weight, row, precision);
    if (groups == 0) continue;
    double *const own = sums + (size_t)data->group[s] * (size_t)(p + 2);
    for (int c = 0; c < p; c++) own[c] = wb_fma(weight, row[c], own[c]);
    own[p] += weight;
    own[p + 1] = wb_fma(weight, logit, own[p + 1]);
  }
  const double tie = groups > 0 ? wb_exp(-2.0 * type->log_deviation[1]) : 0.0;
  for (size_t g = 0; g < groups; g++) {
    const double *const own = sums + g * (size_t)(p + 2);
    const double share = 1.0 / (own[p] + tie);
    wb_symmetric_add_outer(p, -share, own, precision);
    for (int c = 0; c < p; c++) linear[c] = wb_fma(-share * own[p + 1], own[c], linear[c]);
  }
  if (wb_cholesky(p, precision) > 0) return 0;
  wb_triangle_inverse(p, precision, inverse);
  for (int c = 0; c < p; c++) {
    double sum = 0.0;
    for (int r = c; r < p; r++) {
      const double entry = inverse[wb_packed_row(r) + (size_t)c];
      sum = wb_fma(entry, entry, sum);
    }
    variance[c] = sum;
  }
  wb_triangle_solve(p, precision, linear, linear);
  wb_triangle_solve_transposed(p, precision, linear, mean);
  for (int c = 0; c < p; c++) normal[c] = linear[c] + wb_draw_normal(stream);
  wb_triangle_solve_transposed(p, precision, normal, type->coefficients);
  for (size_t g = 0; g < groups; g++) {
    const double *const own = sums + g * (size_t)(p + 2);
    const double share = 1.0 / (own[p] + tie);
    double centre = own[p + 1];
    for (int c = 0; c < p; c++) centre = wb_fma(-own[c], type->coefficients[c], centre);
    type->effects[g] = wb_fma(wb_sqrt(share), wb_draw_normal(stream), centre * share);
  }
  return 1;
}

/* The log density of the log of a half-t number, up to a constant. */
static double log_half_t(double freedom, double log_value, double log_scale) {
  const double square = wb_exp(2.0 * (log_value - log_scale));
  return (log_value - log_scale) - 0.5 * (freedom + 1.0) * wb_log1p(square / freedom);
}

/* The deviation of `count` normal numbers with this sum of squares. */
typedef struct one_deviation {
  double count, squares, freedom, log_scale;
} one_deviation;

static double deviation_density(const void *of, double at) {
  const one_deviation *const numbers = of;
  if (at < -MOST_LOG || at > MOST_LOG) return -wb_infinity();
  return log_half_t(numbers->freedom, at, numbers->log_scale) - numbers->count * at -
         0.5 * numbers->squares * wb_exp(-2.0 * at);
}

static double draw_log_deviation(const one_type *type, wb_stream *stream, int which, double log_scale, double count,
                                 double squares) {
  const one_deviation numbers = {count, squares, type->prior->freedom, log_scale};
  return slice(stream, deviation_density, &numbers, type->log_deviation[which], 1.0);
}

/* The log likelihood of all samples if `at` times the direction is added to their logits. */
static double moved_likelihood(const one_type *type, double at) {
  const wb_abundance_data *const data = type->data;
  double sum = 0.0;
  for (int32_t s = 0; s < data->samples; s++) {
    const size_t own = (size_t)s * (size_t)data->types;
    sum += log_likelihood(type->counts[own], data->totals[s], wb_fma(at, type->direction[s], type->logit[own]));
  }
  return sum;
}

static double shift_density(const void *of, double at) {
  const one_type *const type = of;
  return wb_fma(at, wb_fma(-0.5 * type->curvature, at, type->linear), moved_likelihood(type, at));
}

static void move_logits(const one_type *type, double by) {
  const wb_abundance_data *const data = type->data;
  for (int32_t s = 0; s < data->samples; s++) {
    const size_t own = (size_t)s * (size_t)data->types;
    type->logit[own] = wb_fma(by, type->direction[s], type->logit[own]);
  }
}

/* Directions along which the coefficients are about uncorrelated and have standard deviation 1 if u and b are fixed:
 * the columns of the inverse of the transposed Cholesky factor of their information. `room`: see wb_abundance_run(). */
static int choose_paths(const one_type *type, double *room, double *paths) {
  const wb_abundance_data *const data = type->data;
  const int p = data->columns;
  double *const information = room, *const inverse = information + wb_packed_size(p);
  double *const row = inverse + wb_packed_size(p);
  memset(information, 0, wb_packed_size(p) * sizeof(double));
  for (int c = 0; c < p; c++) information[wb_packed_row(c) + (size_t)c] = type->prior->precision[c];
  for (int32_t s = 0; s < data->samples; s++) {
    for (int c = 0; c < p; c++) row[c] = data->design[(size_t)s + (size_t)c * (size_t)data->samples];
    wb_symmetric_add_outer(p, information_of(type->counts[(size_t)s * (size_t)data->types], data->totals[s]), row,
                           information);
  }
  if (wb_cholesky(p, information) > 0) return 0;
  wb_triangle_inverse(p, information, inverse);
  for (int k = 0; k < p; k++)
    for (int c = 0; c < p; c++) paths[c + k * p] = c <= k ? inverse[wb_packed_row(k) + (size_t)c] : 0.0;
  return 1;
}

/* Moves the coefficients along a path with all u_ts fixed. `part`: samples doubles. */
static void shift_coefficients(one_type *type, wb_stream *stream, const double *path, double *part) {
  const wb_abundance_data *const data = type->data;
  const wb_abundance_prior *const prior = type->prior;
  type->linear = type->curvature = 0.0;
  for (int32_t c = 0; c < data->columns; c++) {
    const double weighted = path[c] * prior->precision[c];
    type->linear = wb_fma(-weighted, type->coefficients[c] - prior->mean[c], type->linear);
    type->curvature = wb_fma(weighted, path[c], type->curvature);
  }
  for (int32_t s = 0; s < data->samples; s++) {
    part[s] = 0.0;
    for (int32_t c = 0; c < data->columns; c++)
      part[s] = wb_fma(path[c], data->design[(size_t)s + (size_t)c * (size_t)data->samples], part[s]);
  }
  type->direction = part;
  const double by = slice(stream, shift_density, type, 0.0, 3.0);
  for (int32_t c = 0; c < data->columns; c++) type->coefficients[c] = wb_fma(by, path[c], type->coefficients[c]);
  move_logits(type, by);
}

/* The log of a deviation with u_ts / sigma_t, or b_tg / omega_t, fixed. `direction` has u_ts or b_tg, and `at` is the
 * log of the factor by which they grow. */
typedef struct one_stretch {
  const one_type *type;
  double freedom, log_deviation, log_scale;
} one_stretch;

static double stretch_density(const void *of, double at) {
  const one_stretch *const stretch = of;
  const double log_deviation = stretch->log_deviation + at;
  if (log_deviation < -MOST_LOG || log_deviation > MOST_LOG) return -wb_infinity();
  return moved_likelihood(stretch->type, wb_expm1(at)) +
         log_half_t(stretch->freedom, log_deviation, stretch->log_scale);
}

static double stretch_deviation(one_type *type, wb_stream *stream, int which, double log_scale,
                                const double *direction) {
  type->direction = direction;
  const one_stretch stretch = {type, type->prior->freedom, type->log_deviation[which], log_scale};
  const double by = slice(stream, stretch_density, &stretch, 0.0, 1.0);
  move_logits(type, wb_expm1(by));
  type->log_deviation[which] += by;
  return by;
}

/* All but the logits. `part`: samples doubles. */
static int draw_type(one_type *type, uint64_t key, uint32_t iteration, int32_t t, double *room, double *part,
                     double *mean, double *variance) {
  const wb_abundance_data *const data = type->data;
  const double *const log_scale = type->log_scale;
  wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_TYPE, iteration, (uint64_t)t);
  if (!draw_coefficients(type, &stream, room, mean, variance)) return 0;
  predict_logits(type);
  double squares = 0.0;
  for (int32_t s = 0; s < data->samples; s++) {
    part[s] = type->logit[(size_t)s * (size_t)data->types] - type->predictor[s];
    squares = wb_fma(part[s], part[s], squares);
  }
  type->log_deviation[0] = draw_log_deviation(type, &stream, 0, log_scale[0], data->samples, squares);
  stretch_deviation(type, &stream, 0, log_scale[0], part);
  if (data->groups > 0) {
    squares = 0.0;
    for (int32_t g = 0; g < data->groups; g++) squares = wb_fma(type->effects[g], type->effects[g], squares);
    type->log_deviation[1] = draw_log_deviation(type, &stream, 1, log_scale[1], data->groups, squares);
    for (int32_t s = 0; s < data->samples; s++) part[s] = type->effects[data->group[s]];
    const double factor = wb_exp(stretch_deviation(type, &stream, 1, log_scale[1], part));
    for (int32_t g = 0; g < data->groups; g++) type->effects[g] *= factor;
  }
  for (int32_t k = 0; k < data->columns; k++)
    shift_coefficients(type, &stream, type->paths + (size_t)k * (size_t)data->columns, part);
  predict_logits(type);
  return 1;
}

/* The level, or the slope, of the log scales of all types. */
typedef struct shared_scale {
  const wb_abundance_data *data;
  const wb_abundance_prior *prior;
  const double *rarity;
  const double *log_deviation; /* of type t at 2 t */
  double scale[2];
  int slope;
} shared_scale;

static double scale_density(const void *of, double at) {
  const shared_scale *const shared = of;
  const double *const law = shared->slope ? shared->prior->slope : shared->prior->level;
  const double apart = (at - law[0]) / law[1];
  const double level = shared->slope ? shared->scale[0] : at, slope = shared->slope ? at : shared->scale[1];
  double sum = -0.5 * apart * apart;
  for (int32_t t = 0; t < shared->data->types; t++)
    sum += log_half_t(shared->prior->freedom, shared->log_deviation[2 * (size_t)t],
                      wb_fma(slope, shared->rarity[t], level));
  return sum;
}

static void draw_scales(const wb_abundance_data *data, const wb_abundance_prior *prior, wb_abundance_state *state,
                        uint64_t key, uint32_t iteration) {
  for (int which = 0; which < (data->groups > 0 ? 2 : 1); which++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_SCALE, iteration, (uint64_t)which);
    double *const scale = state->scale + 2 * which;
    shared_scale shared = {data, prior, state->rarity, state->log_deviation + which, {scale[0], scale[1]}, 0};
    scale[0] = shared.scale[0] = slice(&stream, scale_density, &shared, scale[0], prior->level[1]);
    shared.slope = 1;
    scale[1] = slice(&stream, scale_density, &shared, scale[1], prior->slope[1]);
  }
}

static one_type type_at(const wb_abundance_data *data, const wb_abundance_prior *prior, const wb_abundance_state *state,
                        double *predictors, const double *paths, int32_t t) {
  const one_type type = {
      .data = data,
      .prior = prior,
      .logit = state->logit + t,
      .counts = data->counts + t,
      .coefficients = state->coefficients + (size_t)t * (size_t)data->columns,
      .effects = data->groups > 0 ? state->effects + (size_t)t * (size_t)data->groups : NULL,
      .log_deviation = state->log_deviation + 2 * (size_t)t,
      .predictor = predictors + (size_t)t * (size_t)data->samples,
      .paths = paths + (size_t)t * (size_t)data->columns * (size_t)data->columns,
      .log_scale = {wb_fma(state->scale[1], state->rarity[t], state->scale[0]),
                    wb_fma(state->scale[3], state->rarity[t], state->scale[2])},
  };
  return type;
}

static void find_rarity(const wb_abundance_data *data, double *rarity) {
  double total = 0.0, sum = 0.0;
  for (int32_t s = 0; s < data->samples; s++) total += data->totals[s];
  for (int32_t t = 0; t < data->types; t++) {
    double count = 0.0;
    for (int32_t s = 0; s < data->samples; s++) count += data->counts[(size_t)t + (size_t)s * (size_t)data->types];
    rarity[t] = -wb_log((count + 0.5) / (total + 1.0));
    sum += rarity[t];
  }
  for (int32_t t = 0; t < data->types; t++) rarity[t] -= sum / data->types;
}

/* Logits at the shares of the data, moved at random by about their standard deviations, and random deviations. */
static void start_chain(const wb_abundance_data *data, const wb_abundance_prior *prior, wb_abundance_state *state,
                        uint64_t key) {
  find_rarity(data, state->rarity);
  for (int32_t s = 0; s < data->samples; s++)
    for (int32_t t = 0; t < data->types; t++) {
      const size_t at = (size_t)t + (size_t)s * (size_t)data->types;
      wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_LOGIT, 0, at);
      const double count = data->counts[at] + 0.5, rest = data->totals[s] - data->counts[at] + 0.5;
      state->logit[at] = wb_fma(wb_sqrt(1.0 / count + 1.0 / rest), wb_draw_normal(&stream), wb_log(count / rest));
    }
  for (int32_t t = 0; t < data->types; t++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_TYPE, 0, (uint64_t)t);
    for (int which = 0; which < 2; which++)
      state->log_deviation[2 * (size_t)t + (size_t)which] = prior->level[0] + wb_draw_normal(&stream);
  }
  for (int i = 0; i < 4; i++) state->scale[i] = i % 2 ? prior->slope[0] : prior->level[0];
}

static double total_likelihood(const wb_abundance_data *data, const wb_abundance_state *state) {
  double sum = 0.0;
  for (int32_t s = 0; s < data->samples; s++)
    for (int32_t t = 0; t < data->types; t++) {
      const size_t at = (size_t)t + (size_t)s * (size_t)data->types;
      sum += log_likelihood(data->counts[at], data->totals[s], state->logit[at]);
    }
  return sum;
}

static void keep_sweep(const wb_abundance_data *data, const wb_abundance_state *state,
                       const wb_abundance_sweeps *sweeps, int32_t number) {
  const size_t length = (size_t)data->columns * (size_t)data->types, deviations = 2 * (size_t)data->types;
  memcpy(sweeps->coefficients + (size_t)number * length, state->coefficients, length * sizeof(double));
  for (size_t i = 0; i < deviations; i++)
    sweeps->deviation[(size_t)number * deviations + i] = wb_exp(state->log_deviation[i]);
  memcpy(sweeps->scale + 4 * (size_t)number, state->scale, 4 * sizeof(double));
  sweeps->log_likelihood[number] = total_likelihood(data, state);
}

static int no_precision(int32_t t, uint32_t iteration, wb_message *message) {
  wb_message_write(message,
                   "the posterior precision of the coefficients of type %d is not positive in sweep %u: predictors "
                   "nearly depend on each other",
                   (int)t + 1, (unsigned)iteration);
  return WB_ERROR_INPUT;
}

int wb_abundance_run(const wb_abundance_data *data, const wb_abundance_prior *prior, wb_abundance_state *state,
                     const wb_abundance_sweeps *sweeps, wb_poll *poll, wb_message *message) {
  const size_t p = (size_t)data->columns, types = (size_t)data->types, samples = (size_t)data->samples;
  const size_t shared = 2 * wb_packed_size(data->columns) + 3 * p + (size_t)data->groups * (p + 2);
  const size_t doubles = shared + samples + types * samples + p * p * types + 2 * p * types;
  double *const room = wb_aligned_malloc(doubles * sizeof(double));
  if (!room) return wb_out_of_memory(message, "the model of counts", doubles * sizeof(double));
  double *const part = room + shared, *const predictors = part + samples, *const paths = predictors + types * samples;
  double *const spare = paths + p * p * types;
  int status = WB_OK;
  start_chain(data, prior, state, sweeps->key);
  for (int32_t t = 0; t < data->types && status == WB_OK; t++) {
    const one_type type = type_at(data, prior, state, predictors, paths, t);
    if (!choose_paths(&type, room, paths + (size_t)t * p * p)) status = no_precision(t, 0, message);
  }
  for (int32_t i = 0; i < sweeps->warmup + sweeps->kept && status == WB_OK; i++) {
    const uint32_t iteration = (uint32_t)i + 1;
    const size_t kept = i < sweeps->warmup ? 0 : (size_t)(i - sweeps->warmup) * p * types;
    double *const mean = i < sweeps->warmup ? spare : sweeps->mean + kept;
    double *const variance = i < sweeps->warmup ? spare + p * types : sweeps->variance + kept;
    for (int32_t t = 0; t < data->types && status == WB_OK; t++) {
      one_type type = type_at(data, prior, state, predictors, paths, t);
      if (i > 0) draw_logits(&type, sweeps->key, iteration, t);
      if (!draw_type(&type, sweeps->key, iteration, t, room, part, mean + (size_t)t * p, variance + (size_t)t * p))
        status = no_precision(t, iteration, message);
    }
    draw_scales(data, prior, state, sweeps->key, iteration);
    if (i >= sweeps->warmup) keep_sweep(data, state, sweeps, i - sweeps->warmup);
    /* A logit takes about 500 ns (GCC 12, 3 GHz). */
    if (status == WB_OK && wb_poll_after(poll, 500.0 * (double)types * (double)samples)) status = WB_INTERRUPTED;
  }
  wb_aligned_free(room);
  return status;
}
