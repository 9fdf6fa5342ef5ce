/* Predictive resampling by copulas (Fong, Holmes & Walker 2023, 4.2 to 4.5): prepares arrays, calls the backend. */
#include "core/scalar.h"

#include "predictive/predictive.h"

#include "core/min_max.h"
#include "core/predictive_draw.h"
#include "numeric/memory.h"
#include "numeric/poll.h"

void wb_predictive_orders(uint64_t key, int64_t n, int32_t count, int32_t *order) {
  for (int32_t p = 0; p < count; p++) {
    int32_t *const mine = order + (int64_t)p * n;
    for (int64_t i = 0; i < n; i++) mine[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
      wb_stream stream = wb_stream_open(key, WB_PURPOSE_ORDER, (uint32_t)p, (uint64_t)i);
      const int64_t other = (int64_t)(wb_stream_uniform(&stream) * (double)(i + 1));
      const int32_t kept = mine[i];
      mine[i] = mine[other];
      mine[other] = kept;
    }
  }
}

void wb_predictive_places(uint64_t key, int64_t count, double df, double sd, double *shift, double *stretch) {
  for (int64_t r = 0; r < count; r++) wb_resample_place(key, (uint64_t)r, df, sd, &shift[r], &stretch[r]);
}

void wb_predictive_urns(const wb_predictive_urn *urn) {
  const int64_t values = urn->values, sticks = urn->sticks;
  for (int64_t r = 0; r < urn->resamples; r++) {
    const uint64_t resample = (uint64_t)(urn->first + r);
    double *const weight = urn->weight + r * (values + sticks);
    wb_stream stream = wb_urn_stream(urn->key, resample, WB_URN_NEW);
    const double rest = wb_draw_log_gamma(&stream, urn->rest);
    double most = rest, left = 0, sum = 0;
    for (int64_t j = 0; j < values; j++) {
      stream = wb_urn_stream(urn->key, resample, (uint64_t)j);
      weight[j] = wb_draw_log_gamma(&stream, urn->shape[j]);
      if (weight[j] > most) most = weight[j];
    }
    for (int64_t i = 0; i < sticks; i++) {
      double taken, stays;
      wb_urn_stick(urn->key, resample, (uint64_t)i + 1, urn->discount, urn->rest, &taken, &stays,
                   &urn->uniform[r * sticks + i]);
      weight[values + i] = rest + left + (i + 1 < sticks ? taken : 0.0);
      left += stays;
    }
    for (int64_t j = 0; j < values + sticks; j++) sum += weight[j] = wb_exp(weight[j] - most);
    for (int64_t j = 0; j < values + sticks; j++) weight[j] /= sum;
  }
}

void wb_predictive_gnedin(const wb_predictive_urn *urn, double n, double gamma, double *unseen) {
  const int64_t values = urn->values, sticks = urn->sticks;
  for (int64_t r = 0; r < urn->resamples; r++) {
    const uint64_t resample = (uint64_t)(urn->first + r);
    double *const weight = urn->weight + r * (values + sticks);
    unseen[r] = wb_urn_unseen(urn->key, resample, n, (double)values, gamma);
    const int64_t used = values + (unseen[r] < (double)sticks ? (int64_t)unseen[r] : sticks);
    const double shape = unseen[r] > (double)sticks ? unseen[r] / (double)sticks : 1.0;
    double most = 0, sum = 0;
    for (int64_t j = 0; j < values; j++) {
      wb_stream stream = wb_urn_stream(urn->key, resample, (uint64_t)j);
      weight[j] = wb_draw_log_gamma(&stream, urn->shape[j]);
      if (j == 0 || weight[j] > most) most = weight[j];
    }
    for (int64_t j = values; j < used; j++) {
      wb_stream stream = wb_urn_stream(urn->key, resample, WB_URN_NEW + 1 + (uint64_t)(j - values));
      urn->uniform[r * sticks + j - values] = wb_stream_uniform(&stream);
      weight[j] = wb_draw_log_gamma(&stream, shape);
      if (weight[j] > most) most = weight[j];
    }
    for (int64_t j = 0; j < used; j++) sum += weight[j] = wb_exp(weight[j] - most);
    for (int64_t j = 0; j < used; j++) weight[j] /= sum;
    for (int64_t j = used; j < values + sticks; j++) weight[j] = urn->uniform[r * sticks + j - values] = 0;
  }
}

/* log prod_c c_rho(Phi(x_c), Phi(x'_c)) is the sum of a term of the point, a term of the row, and the sum over c of
 * rho/(1 - rho^2) x_c x'_c. This is the term of a point (with_constant) or of a row. */
static double closeness_term(const wb_predictive_data *data, const double *rho_x, int64_t rows, const double *x,
                             int64_t row, int with_constant) {
  double term = 0;
  for (int32_t c = 0; c < data->covariates; c++) {
    const double rho = rho_x[c], scale = wb_copula_scale(rho), value = rho * scale * x[(int64_t)c * rows + row];
    term = wb_fma(-0.5 * value, value, term);
    if (with_constant) term += wb_log(scale);
  }
  return term;
}

static void point_closeness(const wb_predictive_data *data, const double *rho_x, int64_t points, const double *x,
                            const int32_t *order, double *term, double *covariate) {
  for (int64_t i = 0; i < points; i++) {
    const int64_t at = order ? order[i] : i;
    term[i] = closeness_term(data, rho_x, points, x, at, 1);
    for (int32_t c = 0; c < data->covariates; c++) {
      const double scale = wb_copula_scale(rho_x[c]);
      covariate[(int64_t)c * points + i] = rho_x[c] * scale * scale * x[(int64_t)c * points + at];
    }
  }
}

static void row_closeness(const wb_predictive_data *data, const double *rho_x, const int32_t *order, double *term,
                          double *covariate) {
  for (int64_t i = 0; i < data->n; i++) {
    const int64_t at = order ? order[i] : i;
    term[i] = closeness_term(data, rho_x, data->n, data->x, at, 0);
    for (int32_t c = 0; c < data->covariates; c++)
      covariate[(int64_t)c * data->n + i] = data->x[(int64_t)c * data->n + at];
  }
}

static wb_copula_model model_of(const wb_predictive_data *data) {
  const int has_rows = data->covariates > 0 || data->kind == WB_COPULA_BINARY;
  return (wb_copula_model){data->kind, data->dimensions, data->covariates, has_rows ? data->n : 0};
}

/* Distribution functions before the data: standard normal; if binary, the probability with log odds y, or 1/2. */
static void start_conditional(const wb_predictive_data *data, int64_t points, const double *y, const int32_t *order,
                              double *conditional) {
  for (int32_t j = 0; j < data->dimensions; j++)
    for (int64_t i = 0; i < points; i++) {
      const double at = y ? y[(int64_t)j * points + (order ? order[i] : i)] : 0.0;
      conditional[(int64_t)j * points + i] =
          data->kind == WB_COPULA_BINARY ? 1.0 / (1.0 + wb_exp(-at)) : wb_normal_cdf(at);
    }
}

static double mean_log(const wb_predictive_data *data, const double *gain) {
  const double *const last = gain + (int64_t)(data->dimensions - 1) * data->n;
  const double *const given = data->given > 0 ? gain + (int64_t)(data->given - 1) * data->n : NULL;
  double sum = 0;
  for (int64_t i = 0; i < data->n; i++) {
    /* A probability rounded to 0 counts as 2^-53. */
    const double floor = data->kind == WB_COPULA_BINARY ? 1.1102230246251565e-16 : 0.0;
    sum += wb_log(last[i] > floor ? last[i] : floor);
    if (given) sum -= wb_log(given[i]);
  }
  return sum / (double)data->n;
}

/* How many groups of so many pairs of a point and an observation make a slice, after which interrupts are polled. */
#define PAIR_TIME 2.0 /* nanoseconds, of one coordinate */
static int64_t groups_at_a_time(const wb_call *call, double pairs, int64_t groups) {
  const double time = PAIR_TIME * (pairs > 1 ? pairs : 1), most = call->run.threads * (time > 1e8 ? 1 : 1e8 / time);
  return call->backend == call->processor && most < (double)groups ? (int64_t)most : groups;
}

static int update_in_slices(wb_call *call, const wb_copula_update *whole) {
  const int64_t d = whole->model.dimensions, size = d * whole->points;
  const double pairs = (double)size * (double)whole->steps;
  const int64_t slice = groups_at_a_time(call, pairs, whole->groups);
  int status = WB_OK;
  for (int64_t g = 0; status == WB_OK && g < whole->groups; g += slice) {
    wb_copula_update part = *whole;
    part.groups = wb_min_int(slice, whole->groups - g);
    part.first_group += g;
    if (part.score) part.score += g * whole->steps * d;
    if (part.row) part.row += g * whole->steps;
    if (part.row_conditional) part.row_conditional += g * whole->model.rows;
    part.conditional += g * size;
    part.gain += g * size;
    status = call->backend->predictive->copula_update(&part, &call->run, call->message);
    if (status == WB_OK && wb_poll_after(&call->poll, PAIR_TIME * pairs * (double)part.groups)) status = WB_INTERRUPTED;
  }
  return status;
}

int wb_predictive_fit(wb_call *call, const wb_predictive_data *data, int32_t sets, const double *rho,
                      const double *rho_x, int32_t count, const int32_t *order, double *log_score, double *score) {
  WB_TRY(wb_backend_has(call->backend, call->backend->predictive, "predictive resampling", call->message));
  const int64_t n = data->n, d = data->dimensions, q = data->covariates, groups = (int64_t)sets * count;
  double *group_rho, *conditional, *scores, *gain, *outcome, *point_term, *row_term, *point_covariate, *row_covariate;
  void *const memory =
      WB_PARTS("the orders of the data", call->message, WB_PART(group_rho, groups * d),
               WB_PART(conditional, groups * n * d), WB_PART(scores, groups * n * d), WB_PART(gain, groups * n * d),
               WB_PART(outcome, groups * n), WB_PART(point_term, groups * n), WB_PART(row_term, groups * n),
               WB_PART(point_covariate, groups * n * q), WB_PART(row_covariate, groups * n * q));
  if (!memory) return WB_ERROR_MEMORY;
  for (int64_t g = 0; g < groups; g++) {
    const int32_t *const mine = order + g % count * n;
    const int64_t set = g / count;
    for (int64_t j = 0; j < d; j++) group_rho[g * d + j] = rho[set * d + j];
    start_conditional(data, n, data->start, mine, conditional + g * n * d);
    if (data->kind == WB_COPULA_BINARY)
      for (int64_t i = 0; i < n; i++) outcome[g * n + i] = data->y[mine[i]];
    if (q > 0) {
      point_closeness(data, rho_x + set * q, n, data->x, mine, point_term + g * n, point_covariate + g * n * q);
      row_closeness(data, rho_x + set * q, mine, row_term + g * n, row_covariate + g * n * q);
    }
  }
  const double pairs = 0.5 * (double)d * (double)n * (double)n;
  const int64_t slice = groups_at_a_time(call, pairs, groups);
  int status = WB_OK;
  for (int64_t g = 0; status == WB_OK && g < groups; g += slice) {
    const int64_t at = g * n;
    const wb_copula_fit work = {
        .model = model_of(data),
        .groups = wb_min_int(slice, groups - g),
        .points = n,
        .rho = group_rho + g * d,
        .outcome = outcome + at,
        .closeness = {1, point_term + at, point_covariate + at * q, row_term + at, row_covariate + at * q},
        .conditional = conditional + at * d,
        .score = scores + at * d,
        .gain = gain + at * d,
    };
    status = call->backend->predictive->copula_fit(&work, &call->run, call->message);
    if (status == WB_OK && wb_poll_after(&call->poll, PAIR_TIME * pairs * (double)work.groups)) status = WB_INTERRUPTED;
  }
  if (status == WB_OK) {
    for (int64_t g = 0; g < groups; g++) log_score[g] = mean_log(data, gain + g * n * d);
    if (score) memcpy(score, scores, (size_t)(count * n * d) * sizeof(double));
  }
  wb_aligned_free(memory);
  return status;
}

static int update(wb_call *call, const wb_predictive_data *data, wb_predictive_bandwidth bandwidth, const double *x,
                  wb_copula_update *work) {
  WB_TRY(wb_backend_has(call->backend, call->backend->predictive, "predictive resampling", call->message));
  const int64_t n = data->n, q = data->covariates, points = work->points;
  double *point_term, *point_covariate, *row_term, *row_covariate, *own_term, *own_covariate;
  void *const memory = WB_PARTS("covariates of the points", call->message, WB_PART(point_term, points),
                                WB_PART(row_term, n), WB_PART(own_term, n), WB_PART(point_covariate, points * q),
                                WB_PART(row_covariate, n * q), WB_PART(own_covariate, n * q));
  if (!memory) return WB_ERROR_MEMORY;
  if (q > 0) {
    point_closeness(data, bandwidth.rho_x, points, x, NULL, point_term, point_covariate);
    row_closeness(data, bandwidth.rho_x, NULL, row_term, row_covariate);
    point_closeness(data, bandwidth.rho_x, n, data->x, NULL, own_term, own_covariate);
  }
  work->model = model_of(data);
  work->rho = bandwidth.rho;
  work->closeness = (wb_copula_closeness){0, point_term, point_covariate, row_term, row_covariate};
  work->row_closeness = (wb_copula_closeness){0, own_term, own_covariate, row_term, row_covariate};
  const int status = update_in_slices(call, work);
  wb_aligned_free(memory);
  return status;
}

int wb_predictive_state(wb_call *call, const wb_predictive_data *data, wb_predictive_bandwidth bandwidth, int32_t count,
                        const int32_t *order, const double *score, int64_t points, const double *y, const double *x,
                        double *conditional, double *gain) {
  const int64_t size = data->dimensions * points;
  for (int64_t p = 0; p < count; p++) start_conditional(data, points, y, NULL, conditional + p * size);
  for (int64_t i = 0; i < count * size; i++) gain[i] = 1.0;
  wb_copula_update work = {.groups = count,
                           .points = points,
                           .steps = data->n,
                           .most = 2.0,
                           .score = score,
                           .row = order,
                           .conditional = conditional,
                           .gain = gain};
  return update(call, data, bandwidth, x, &work);
}

void wb_predictive_average(int32_t count, int32_t dimensions, int64_t points, const double *conditional,
                           const double *gain, double *mean_conditional, double *mean_gain) {
  const int64_t size = dimensions * points;
  for (int64_t l = 0; l < points; l++)
    for (int32_t j = 0; j < dimensions; j++) {
      double weights = 0, sum = 0, gains = 0;
      for (int32_t p = 0; p < count; p++) {
        const int64_t at = p * size + j * points + l;
        const double weight = j > 0 ? gain[at - points] : 1.0;
        weights += weight;
        sum = wb_fma(weight, conditional[at], sum);
        gains += gain[at];
      }
      mean_conditional[j * points + l] = sum / weights;
      mean_gain[j * points + l] = gains / count;
    }
}

int wb_predictive_resample(wb_call *call, const wb_predictive_data *data, wb_predictive_bandwidth bandwidth,
                           const wb_predictive_resamples *resamples) {
  wb_copula_update work = {.key = resamples->key,
                           .first_group = resamples->first_group,
                           .groups = resamples->groups,
                           .points = resamples->points,
                           .first_step = resamples->first_step,
                           .steps = resamples->steps,
                           .observations = (double)data->n,
                           .most = resamples->most,
                           .row_conditional = resamples->row_state,
                           .conditional = resamples->conditional,
                           .gain = resamples->gain};
  return update(call, data, bandwidth, resamples->x, &work);
}
