/* Draws from the model of abundance.h. Given the logits, the coefficients and b are normal. A logit of many cells is
 * proposed from a normal approximation. All other draws are univariate slice samplers. Where counts are small,
 * coefficients and deviations are drawn a second time with the u_ts, or u_ts / sigma_t, held fixed, and the laws of the
 * deviations with the standardised log(sigma_t) held fixed: the interweaving of Yu & Meng (2011, "To center or not to
 * center: that is not the question", Journal of Computational and Graphical Statistics 20, 531-570). */
#include "core/scalar.h"

#include "abundance/abundance.h"

#include <stdlib.h>

#include "core/linear_algebra.h"
#include "core/random_gamma.h"
#include "core/random_normal.h"
#include "core/regression_row.h"
#include "numeric/memory.h"
#include "numeric/poll.h"
#include "numeric/slice.h"
#include "numeric/spread.h"

/* Steps out of a slice, both sides together; and the largest |log| of a deviation. */
#define STEPS 40
#define MOST_LOG 20.0

/* From so many cells of a type, and of the others, on, the likelihood of a logit is nearly normal. */
#define MANY_CELLS 20.0

/* Coefficients and deviations are drawn again if the counts tell less of them than this share of a sample's. */
#define SHARE_TOLD 0.9

/* The information of a sample on its logit at about its maximum. */
static double information_of(double count, double total) {
  const double share = (count + 0.5) / (total + 1.0);
  return total * share * (1.0 - share);
}

static double log_likelihood(double count, double total, double logit) {
  return wb_regression_log_likelihood(wb_fma(-0.5, total, count), total, logit);
}

typedef struct chain_state {
  double *logit;         /* types x samples: psi */
  double *coefficients;  /* columns x types: beta */
  double *effects;       /* groups x types: b */
  double *log_deviation; /* 2 x types: log(sigma_t), log(omega_t) */
  double *scale;         /* 6: level, slope and log standard deviation of log(sigma_t), and of log(omega_t) */
  double *rarity;        /* types: minus the log of the share of the type in all samples, with mean 0 */
} chain_state;

typedef struct one_type {
  const wb_abundance_data *data;
  const wb_abundance_prior *prior;
  double *logit;      /* psi of sample s is at s * types */
  const double *mode; /* the logit of the share in the data, likewise */
  double *coefficients, *effects, *log_deviation;
  const double *counts; /* of sample s at s * types */
  double *predictor;    /* samples: x_s' beta + b */
  const double *paths;  /* columns x columns: directions in which the coefficients move */
  double law_mean[2];   /* of log(sigma_t) and log(omega_t) */
  double law_precision[2];
  int sparse;               /* whether coefficients and deviations are drawn a second time */
  const double *direction;  /* samples: what a slice adds to the logits */
  double linear, curvature; /* of the log prior along the direction */
} one_type;

typedef struct one_logit {
  double count, total, mean, precision;
} one_logit;

static double logit_density(const void *of, double at) {
  const one_logit *const sample = of;
  const double apart = at - sample->mean;
  return wb_fma(-0.5 * sample->precision * apart, apart, log_likelihood(sample->count, sample->total, at));
}

/* A logit of many cells: a draw from prior times normal approximation, accepted by the ratio of likelihoods. */
static void propose_logit(wb_stream *stream, const one_logit *sample, double mode, double *logit) {
  const double rest = sample->total - sample->count, information = sample->count * rest / sample->total;
  const double current = *logit, precision = information + sample->precision;
  const double mean = wb_fma(information, mode, sample->precision * sample->mean) / precision;
  const double proposed = mean + wb_draw_normal(stream) / wb_sqrt(precision);
  const double here = current - mode, there = proposed - mode;
  const double gain =
      log_likelihood(sample->count, sample->total, proposed) - log_likelihood(sample->count, sample->total, current);
  const double ratio = gain + 0.5 * information * (there * there - here * here);
  if (-wb_draw_exponential(stream) < ratio) *logit = proposed;
}

static void draw_logits(const one_type *type, uint64_t key, uint32_t iteration, int32_t t) {
  const wb_abundance_data *const data = type->data;
  const double precision = wb_exp(-2.0 * type->log_deviation[0]);
  for (int32_t s = 0; s < data->samples; s++) {
    const size_t at = (size_t)s * (size_t)data->types;
    const one_logit sample = {type->counts[at], data->totals[s], type->predictor[s], precision};
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_LOGIT, iteration, at + (size_t)t);
    if (sample.count >= MANY_CELLS && sample.total - sample.count >= MANY_CELLS) {
      propose_logit(&stream, &sample, type->mode[at], type->logit + at);
    } else {
      const double width = 3.0 / wb_sqrt(information_of(sample.count, sample.total) + precision);
      type->logit[at] = wb_slice_draw(logit_density, &sample, width, STEPS, wb_infinity(), type->logit[at], &stream);
    }
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

/* Draws the coefficients with b integrated out, then b. `mean`, `variance`: of each contrast. */
static int draw_coefficients(const one_type *type, wb_stream *stream, const wb_abundance_sweeps *sweeps, double *room,
                             double *mean, double *variance) {
  const wb_abundance_data *const data = type->data;
  const int p = data->columns;
  const size_t triangle = wb_packed_size(p), groups = (size_t)data->groups;
  double *const precision = room, *const linear = precision + 2 * triangle; /* choose_paths() needs two triangles */
  double *const row = linear + p, *const normal = row + p, *const sums = normal + p; /* sums: groups x (p + 2) */
  const double weight = wb_exp(-2.0 * type->log_deviation[0]);
  memset(precision, 0, triangle * sizeof(double));
  for (int c = 0; c < p; c++) {
    precision[wb_packed_at(c, c)] = type->prior->precision[c];
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
  wb_triangle_solve(p, precision, linear, linear);
  for (int32_t k = 0; k < sweeps->contrasts; k++) {
    wb_triangle_solve(p, precision, sweeps->weights + (size_t)k * (size_t)p, normal);
    mean[k] = variance[k] = 0.0;
    for (int c = 0; c < p; c++) {
      mean[k] = wb_fma(normal[c], linear[c], mean[k]);
      variance[k] = wb_fma(normal[c], normal[c], variance[k]);
    }
  }
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

/* The log of the deviation of `count` normal numbers with this sum of squares. Its law is normal. */
typedef struct one_deviation {
  double count, squares, mean, precision;
} one_deviation;

static double law_density(double at, double mean, double precision) {
  const double apart = at - mean;
  return -0.5 * precision * apart * apart;
}

static double deviation_density(const void *of, double at) {
  const one_deviation *const numbers = of;
  if (at < -MOST_LOG || at > MOST_LOG) return -wb_infinity();
  return law_density(at, numbers->mean, numbers->precision) - numbers->count * at -
         0.5 * numbers->squares * wb_exp(-2.0 * at);
}

static double draw_log_deviation(const one_type *type, wb_stream *stream, int which, double count, double squares) {
  const one_deviation numbers = {count, squares, type->law_mean[which], type->law_precision[which]};
  const double width = 3.0 / wb_sqrt(2.0 * count + numbers.precision);
  return wb_slice_draw(deviation_density, &numbers, width, STEPS, wb_infinity(), type->log_deviation[which], stream);
}

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
  for (int c = 0; c < p; c++) information[wb_packed_at(c, c)] = type->prior->precision[c];
  for (int32_t s = 0; s < data->samples; s++) {
    for (int c = 0; c < p; c++) row[c] = data->design[(size_t)s + (size_t)c * (size_t)data->samples];
    wb_symmetric_add_outer(p, information_of(type->counts[(size_t)s * (size_t)data->types], data->totals[s]), row,
                           information);
  }
  if (wb_cholesky(p, information) > 0) return 0;
  wb_triangle_inverse(p, information, inverse);
  for (int k = 0; k < p; k++)
    for (int c = 0; c < p; c++) paths[c + k * p] = c <= k ? inverse[wb_packed_at(k, c)] : 0.0;
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
  const double by = wb_slice_draw(shift_density, type, 3.0, STEPS, wb_infinity(), 0.0, stream);
  for (int32_t c = 0; c < data->columns; c++) type->coefficients[c] = wb_fma(by, path[c], type->coefficients[c]);
  move_logits(type, by);
}

/* The log of a deviation with u_ts / sigma_t, or b_tg / omega_t (`direction`), fixed. `at`: the log of the factor. */
typedef struct one_stretch {
  const one_type *type;
  int which;
} one_stretch;

static double stretch_density(const void *of, double at) {
  const one_stretch *const stretch = of;
  const one_type *const type = stretch->type;
  const double log_deviation = type->log_deviation[stretch->which] + at;
  if (log_deviation < -MOST_LOG || log_deviation > MOST_LOG) return -wb_infinity();
  return moved_likelihood(type, wb_expm1(at)) +
         law_density(log_deviation, type->law_mean[stretch->which], type->law_precision[stretch->which]);
}

static double stretch_deviation(one_type *type, wb_stream *stream, int which, const double *direction) {
  type->direction = direction;
  const one_stretch stretch = {type, which};
  const double width = 3.0 / wb_sqrt(type->law_precision[which] + 1.0);
  const double by = wb_slice_draw(stretch_density, &stretch, width, STEPS, wb_infinity(), 0.0, stream);
  move_logits(type, wb_expm1(by));
  type->log_deviation[which] += by;
  return by;
}

/* All but the logits. `part`: samples doubles. */
static int draw_type(one_type *type, const wb_abundance_sweeps *sweeps, uint32_t iteration, int32_t t, double *room,
                     double *part, double *mean, double *variance) {
  const wb_abundance_data *const data = type->data;
  wb_stream stream = wb_stream_open(sweeps->key, WB_PURPOSE_ABUNDANCE_TYPE, iteration, (uint64_t)t);
  if (!draw_coefficients(type, &stream, sweeps, room, mean, variance)) return 0;
  predict_logits(type);
  double squares = 0.0;
  for (int32_t s = 0; s < data->samples; s++) {
    part[s] = type->logit[(size_t)s * (size_t)data->types] - type->predictor[s];
    squares = wb_fma(part[s], part[s], squares);
  }
  type->log_deviation[0] = draw_log_deviation(type, &stream, 0, data->samples, squares);
  if (type->sparse) stretch_deviation(type, &stream, 0, part);
  if (data->groups > 0) {
    squares = 0.0;
    for (int32_t g = 0; g < data->groups; g++) squares = wb_fma(type->effects[g], type->effects[g], squares);
    type->log_deviation[1] = draw_log_deviation(type, &stream, 1, data->groups, squares);
    for (int32_t s = 0; s < data->samples; s++) part[s] = type->effects[data->group[s]];
    const double factor = wb_exp(stretch_deviation(type, &stream, 1, part));
    for (int32_t g = 0; g < data->groups; g++) type->effects[g] *= factor;
  }
  for (int32_t k = 0; k < data->columns && type->sparse; k++)
    shift_coefficients(type, &stream, type->paths + (size_t)k * (size_t)data->columns, part);
  predict_logits(type);
  return 1;
}

/* The law of the log deviations of all types. `squares`: sums of squares; `apart`: standardised log deviations. */
typedef struct shared_law {
  const wb_abundance_data *data;
  const wb_abundance_prior *prior;
  const double *rarity;
  double *log_deviation; /* of type t at 2 t */
  double *scale, *squares, *apart;
  double count;
  int which;   /* the entry of `scale` that is drawn */
  int carried; /* whether log deviations move with it, so that `apart` stays; otherwise they stay */
} shared_law;

static double law_of_scale(const wb_abundance_prior *prior, int which, double at) {
  if (which == 2) {
    const double ratio = wb_exp(at) / prior->spread;
    return at - 0.5 * ratio * ratio;
  }
  const double *const law = which ? prior->slope : prior->level;
  return law_density(at, law[0], 1.0 / (law[1] * law[1]));
}

static double mean_of_law(const double *scale, double rarity) { return wb_fma(scale[1], rarity, scale[0]); }

static double scale_density(const void *of, double at) {
  const shared_law *const law = of;
  double scale[3] = {law->scale[0], law->scale[1], law->scale[2]};
  scale[law->which] = at;
  if (scale[2] < -MOST_LOG || scale[2] > MOST_LOG) return -wb_infinity();
  const double spread = wb_exp(scale[2]);
  double sum = law_of_scale(law->prior, law->which, at);
  for (int32_t t = 0; t < law->data->types; t++) {
    const double mean = mean_of_law(scale, law->rarity[t]);
    if (law->carried) {
      const double own = wb_fma(spread, law->apart[t], mean);
      if (own < -MOST_LOG || own > MOST_LOG) return -wb_infinity();
      sum -= wb_fma(law->count, own, 0.5 * law->squares[t] * wb_exp(-2.0 * own));
    } else {
      const double apart = (law->log_deviation[2 * (size_t)t] - mean) / spread;
      sum -= wb_fma(0.5 * apart, apart, scale[2]);
    }
  }
  return sum;
}

/* `room`: 2 x types doubles. */
static void draw_scales(const wb_abundance_data *data, const wb_abundance_prior *prior, chain_state *state,
                        const double *predictors, uint64_t key, uint32_t iteration, double *room) {
  const size_t types = (size_t)data->types, samples = (size_t)data->samples;
  for (int which = 0; which < (data->groups > 0 ? 2 : 1); which++) {
    wb_stream stream = wb_stream_open(key, WB_PURPOSE_ABUNDANCE_SCALE, iteration, (uint64_t)which);
    shared_law law = {.data = data,
                      .prior = prior,
                      .rarity = state->rarity,
                      .log_deviation = state->log_deviation + which,
                      .scale = state->scale + 3 * which,
                      .squares = room,
                      .apart = room + types,
                      .count = which ? data->groups : data->samples};
    for (law.carried = 0; law.carried < 2; law.carried++) {
      for (size_t t = 0; t < types && law.carried; t++) {
        double squares = 0.0;
        for (size_t i = 0; i < (which ? (size_t)data->groups : samples); i++) {
          const double one = which ? state->effects[t * (size_t)data->groups + i]
                                   : state->logit[t + i * types] - predictors[t * samples + i];
          squares = wb_fma(one, one, squares);
        }
        law.squares[t] = squares;
        law.apart[t] = (law.log_deviation[2 * t] - mean_of_law(law.scale, law.rarity[t])) * wb_exp(-law.scale[2]);
      }
      for (law.which = 0; law.which < 3; law.which++)
        law.scale[law.which] = wb_slice_draw(scale_density, &law, law.which == 2 ? 1.0 : 0.3, STEPS, wb_infinity(),
                                             law.scale[law.which], &stream);
    }
    const double spread = wb_exp(law.scale[2]);
    for (size_t t = 0; t < types; t++)
      law.log_deviation[2 * t] = wb_fma(spread, law.apart[t], mean_of_law(law.scale, law.rarity[t]));
  }
}

/* Whether the counts leave the logits of a type open, in the mean over samples, with the deviation exp(`log`). */
static int is_sparse(const wb_abundance_data *data, const double *counts, double log) {
  const double variance = wb_exp(2.0 * log);
  double told = 0.0;
  for (int32_t s = 0; s < data->samples; s++) {
    const double information = information_of(counts[(size_t)s * (size_t)data->types], data->totals[s]) * variance;
    told += information / (1.0 + information);
  }
  return told < SHARE_TOLD * data->samples;
}

typedef struct work {
  const wb_abundance_chain *chain;
  const wb_abundance_prior *prior;
  chain_state state;
  void *memory;
  double *room, *part, *predictors, *paths, *spare, *of_types;
  double *mode;      /* see one_type */
  int32_t done, end; /* sweeps */
  int status;
  wb_message message;
} work;

static one_type type_at(const work *w, int32_t t) {
  const wb_abundance_data *const data = &w->chain->data;
  const wb_abundance_prior *const prior = w->prior;
  const chain_state *const state = &w->state;
  const double *const scale = state->scale;
  const double mean = wb_fma(scale[1], state->rarity[t], scale[0]);
  return (one_type){
      .data = data,
      .prior = prior,
      .logit = state->logit + t,
      .mode = w->mode + t,
      .counts = data->counts + t,
      .coefficients = state->coefficients + (size_t)t * (size_t)data->columns,
      .effects = data->groups > 0 ? state->effects + (size_t)t * (size_t)data->groups : NULL,
      .log_deviation = state->log_deviation + 2 * (size_t)t,
      .predictor = w->predictors + (size_t)t * (size_t)data->samples,
      .paths = w->paths + (size_t)t * (size_t)data->columns * (size_t)data->columns,
      .law_mean = {mean, wb_fma(scale[4], state->rarity[t], scale[3])},
      .law_precision = {wb_exp(-2.0 * scale[2]), wb_exp(-2.0 * scale[5])},
      /* No draw of this type moves the mean, so the choice does not depend on what is drawn. */
      .sparse = is_sparse(data, data->counts + t, mean),
  };
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

static void start_chain(const wb_abundance_data *data, const wb_abundance_prior *prior, chain_state *state,
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
  for (int i = 0; i < 6; i += 3) {
    state->scale[i] = prior->level[0];
    state->scale[i + 1] = prior->slope[0];
    state->scale[i + 2] = wb_log(prior->spread);
  }
}

static void keep_sweep(const work *w, int32_t number) {
  const wb_abundance_data *const data = &w->chain->data;
  const chain_state *const state = &w->state;
  const wb_abundance_sweeps *const sweeps = &w->chain->sweeps;
  const size_t types = (size_t)data->types, deviations = 2 * types, columns = (size_t)data->columns;
  const size_t contrasts = (size_t)sweeps->contrasts;
  for (size_t t = 0; t < types; t++)
    for (size_t k = 0; k < contrasts; k++) {
      double sum = 0.0;
      for (size_t c = 0; c < columns; c++)
        sum = wb_fma(sweeps->weights[c + k * columns], state->coefficients[c + t * columns], sum);
      sweeps->contrast[k + (t + (size_t)number * types) * contrasts] = sum;
    }
  for (size_t i = 0; i < deviations; i++)
    sweeps->deviation[(size_t)number * deviations + i] = wb_exp(state->log_deviation[i]);
  memcpy(sweeps->scale + 6 * (size_t)number, state->scale, 6 * sizeof(double));
}

static int no_precision(int32_t t, uint32_t iteration, wb_message *message) {
  return wb_fail(message, WB_ERROR_INPUT,
                 "the posterior precision of the coefficients of type %d is not positive in sweep %u: predictors "
                 "nearly depend on each other",
                 (int)t + 1, (unsigned)iteration);
}

static int open_work(work *w) {
  const wb_abundance_data *const data = &w->chain->data;
  chain_state *const state = &w->state;
  const size_t p = (size_t)data->columns, types = (size_t)data->types, samples = (size_t)data->samples,
               groups = (size_t)data->groups, triangle = wb_packed_size(data->columns);
  w->memory =
      WB_PARTS("the model of counts", &w->message, WB_PART(w->room, 2 * triangle + 3 * p + groups * (p + 2)),
               WB_PART(w->part, samples), WB_PART(w->predictors, types * samples), WB_PART(w->paths, p * p * types),
               WB_PART(w->spare, 2 * w->chain->sweeps.contrasts), WB_PART(w->of_types, 2 * types),
               WB_PART(w->mode, types * samples), WB_PART(state->logit, types * samples),
               WB_PART(state->coefficients, types * p), WB_PART(state->effects, types * groups),
               WB_PART(state->log_deviation, 2 * types), WB_PART(state->scale, 6), WB_PART(state->rarity, types));
  return w->memory ? WB_OK : WB_ERROR_MEMORY;
}

static int begin(work *w) {
  const wb_abundance_chain *const chain = w->chain;
  const size_t p = (size_t)chain->data.columns;
  start_chain(&chain->data, w->prior, &w->state, chain->sweeps.key);
  for (size_t i = 0; i < (size_t)chain->data.types * (size_t)chain->data.samples; i++) {
    const double count = chain->data.counts[i], rest = chain->data.totals[i / (size_t)chain->data.types] - count;
    w->mode[i] = count > 0 && rest > 0 ? wb_log(count / rest) : 0.0;
  }
  for (int32_t t = 0; t < chain->data.types; t++) {
    const one_type type = type_at(w, t);
    if (!choose_paths(&type, w->room, w->paths + (size_t)t * p * p)) return no_precision(t, 0, &w->message);
  }
  return WB_OK;
}

static int sweep(work *w, int32_t i) {
  const wb_abundance_chain *const chain = w->chain;
  const wb_abundance_sweeps *const sweeps = &chain->sweeps;
  const size_t types = (size_t)chain->data.types, contrasts = (size_t)sweeps->contrasts;
  const uint32_t iteration = (uint32_t)i + 1;
  for (int32_t t = 0; t < chain->data.types; t++) {
    one_type type = type_at(w, t);
    const size_t at = i < sweeps->warmup ? 0 : ((size_t)(i - sweeps->warmup) * types + (size_t)t) * contrasts;
    double *const mean = i < sweeps->warmup ? w->spare : sweeps->mean + at;
    double *const variance = i < sweeps->warmup ? w->spare + contrasts : sweeps->variance + at;
    if (i > 0) draw_logits(&type, sweeps->key, iteration, t);
    if (!draw_type(&type, sweeps, iteration, t, w->room, w->part, mean, variance))
      return no_precision(t, iteration, &w->message);
  }
  draw_scales(&chain->data, w->prior, &w->state, w->predictors, sweeps->key, iteration, w->of_types);
  if (i >= sweeps->warmup) keep_sweep(w, i - sweeps->warmup);
  return WB_OK;
}

static void do_work(void *works, int64_t i) {
  work *const w = (work *)works + i;
  if (w->done == 0) w->status = begin(w);
  for (; w->done < w->end && w->status == WB_OK; w->done++) w->status = sweep(w, w->done);
}

int wb_abundance_run(const wb_abundance_chain *chain, int32_t chains, const wb_abundance_prior *prior, int32_t threads,
                     wb_poll *poll, wb_message *message) {
  work *const works = calloc((size_t)chains, sizeof *works);
  if (!works) return wb_out_of_memory(message, "the model of counts", (size_t)chains * sizeof *works);
  int status = WB_OK;
  for (int32_t i = 0; i < chains && status == WB_OK; i++) {
    works[i].chain = chain + i;
    works[i].prior = prior;
    status = open_work(works + i);
    if (status != WB_OK) *message = works[i].message;
  }
  /* A logit of few cells takes about 1000 ns (GCC 12, 3 GHz). */
  const double each = 1000.0 * (double)chain->data.types * (double)chain->data.samples;
  const int32_t all = chain->sweeps.warmup + chain->sweeps.kept;
  const int32_t some = 1 + (int32_t)(WB_POLL_EVERY * threads / (each * chains));
  for (int32_t end = 0; end < all && status == WB_OK;) {
    end = all - end < some ? all : end + some;
    for (int32_t i = 0; i < chains; i++) works[i].end = end;
    wb_spread(threads, chains, do_work, works);
    for (int32_t i = chains - 1; i >= 0; i--) {
      if (works[i].status == WB_OK) continue;
      status = works[i].status;
      *message = works[i].message;
    }
    if (status == WB_OK && wb_poll_after(poll, WB_POLL_EVERY)) status = WB_INTERRUPTED;
  }
  for (int32_t i = 0; i < chains; i++) wb_aligned_free(works[i].memory);
  free(works);
  return status;
}
