/* Copula updates (core/copula.h) of points that many resamples share, and the prequential fit, at the data's own
 * points. A thread carries a run of points of one resample through a chunk of steps, whose random numbers it computes
 * once. */
#include "core/rounding.h"

#include "cpu/table.h"

#include "core/min_max.h"
#include "core/predictive_draw.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

#if defined(__GNUC__)
#define WB_ASSUME_ALIGNED(pointer) __builtin_assume_aligned(pointer, 64)
#else
#define WB_ASSUME_ALIGNED(pointer) (pointer)
#endif

/* Not inlined. */
#if defined(__GNUC__)
#define WB_APART __attribute__((noinline))
#else
#define WB_APART
#endif

/* Steps whose draws are held together, and points that one thread carries. */
#define COPULA_CHUNK 128
#define COPULA_TILE 256

typedef struct copula_step {
  int count, dimensions, covariates;
  int64_t stride; /* between coordinates, and between covariates */
  double alpha;
  const double *scale, *shift; /* dimensions */
  double row_term;
  const double *row_covariate; /* covariates */
  const double *point_term, *point_covariate;
  double *conditional, *gain;
  double *weight, *product, *total, *score, *reached; /* working memory */
} copula_step;

#define WB_LOOPS "cpu/predictive/copula_update_loops.h"
#include "numeric/isa.h"

static int64_t round_up(int64_t value) { return (value + 7) / 8 * 8; }

/* Working memory for a run of points: aligned, and rounded up to whole vectors. */
typedef struct tile {
  int64_t room, first, count;
  double *conditional, *gain, *point_term, *point_covariate, *weight, *product, *total, *score, *reached;
} tile;

static size_t tile_doubles(const wb_copula_model *model, int64_t points) {
  return (size_t)round_up(points) * (size_t)(2 * model->dimensions + model->covariates + 6);
}

static void tile_place(tile *points, const wb_copula_model *model, int64_t room, double *memory) {
  const int64_t d = model->dimensions;
  points->room = round_up(room);
  points->conditional = memory;
  points->gain = points->conditional + d * points->room;
  points->point_term = points->gain + d * points->room;
  points->point_covariate = points->point_term + points->room;
  points->weight = points->point_covariate + model->covariates * points->room;
  points->product = points->weight + points->room;
  points->total = points->product + points->room;
  points->score = points->total + points->room;
  points->reached = points->score + points->room;
}

/* Copies `count` values and fills the remaining room with `rest`. */
static void fill(double *to, int64_t room, const double *from, int64_t count, double rest) {
  if (from) memcpy(to, from, (size_t)count * sizeof(double));
  for (int64_t l = from ? count : 0; l < room; l++) to[l] = rest;
}

/* Loads points first..first + count - 1 of `all` with the states of one group. */
static void tile_load(tile *points, const wb_copula_model *model, const wb_copula_closeness *closeness, int64_t group,
                      int64_t all, int64_t first, int64_t count, const double *conditional, const double *gain) {
  points->first = first;
  points->count = count;
  for (int64_t j = 0; j < model->dimensions; j++) {
    const int64_t at = (group * model->dimensions + j) * all + first;
    fill(points->conditional + j * points->room, points->room, conditional + at, count, 0.5);
    fill(points->gain + j * points->room, points->room, gain ? gain + at : NULL, count, 1.0);
  }
  if (model->covariates == 0) return;
  const int64_t of_group = closeness->grouped ? group : 0;
  fill(points->point_term, points->room, closeness->point_term + of_group * all + first, count, 0.0);
  for (int64_t c = 0; c < model->covariates; c++)
    fill(points->point_covariate + c * points->room, points->room,
         closeness->point_covariate + (of_group * model->covariates + c) * all + first, count, 0.0);
}

static void tile_store(const tile *points, const wb_copula_model *model, int64_t group, int64_t all,
                       double *conditional, double *gain) {
  for (int64_t j = 0; j < model->dimensions; j++) {
    const int64_t at = (group * model->dimensions + j) * all + points->first;
    memcpy(conditional + at, points->conditional + j * points->room, (size_t)points->count * sizeof(double));
    if (gain) memcpy(gain + at, points->gain + j * points->room, (size_t)points->count * sizeof(double));
  }
}

typedef struct observation {
  double alpha;
  const double *score; /* dimensions */
  double row_term;
  const double *row_covariate;
} observation;

static void update_tile(const tile *points, const wb_copula_model *model, wb_isa isa, const double *rho,
                        const double *scale, double *shift, const observation *seen, int64_t begin) {
  for (int j = 0; j < model->dimensions; j++)
    shift[j] = model->kind == WB_COPULA_BINARY ? seen->score[j] : rho[j] * scale[j] * seen->score[j];
  const copula_step step = {
      .count = (int)(points->room - begin),
      .dimensions = model->dimensions,
      .covariates = model->covariates,
      .stride = points->room,
      .alpha = seen->alpha,
      .scale = model->kind == WB_COPULA_BINARY ? rho : scale,
      .shift = shift,
      .row_term = seen->row_term,
      .row_covariate = seen->row_covariate,
      .point_term = points->point_term + begin,
      .point_covariate = points->point_covariate + begin,
      .conditional = points->conditional + begin,
      .gain = points->gain + begin,
      .weight = points->weight + begin,
      .product = points->product + begin,
      .total = points->total + begin,
      .score = points->score + begin,
      .reached = points->reached + begin,
  };
  if (model->kind == WB_COPULA_BINARY) WB_LOOP(copula_update_binary, isa)(&step);
  else WB_LOOP(copula_update_points, isa)(&step);
}

static void take_row(observation *seen, const wb_copula_model *model, const wb_copula_closeness *closeness,
                     int64_t group, int64_t row, double *covariate) {
  if (model->covariates == 0) return;
  const int64_t of_group = closeness->grouped ? group : 0;
  seen->row_term = closeness->row_term[of_group * model->rows + row];
  for (int64_t c = 0; c < model->covariates; c++)
    covariate[c] = closeness->row_covariate[(of_group * model->covariates + c) * model->rows + row];
  seen->row_covariate = covariate;
}

static void rho_scales(const wb_copula_model *model, const double *rho, double *scale) {
  for (int j = 0; j < model->dimensions; j++)
    scale[j] = model->kind == WB_COPULA_BINARY ? 1.0 : wb_copula_scale(rho[j]);
}

/* Prequential fit ------------------------------------------------------------- */

typedef struct fit_call {
  const wb_copula_fit *work;
  wb_isa isa;
} fit_call;

static void fit_group(void *context, int64_t group, void *memory) {
  const fit_call *const call = context;
  const wb_copula_fit *const work = call->work;
  const wb_copula_model *const model = &work->model;
  const int64_t n = work->points, d = model->dimensions;
  const double *const rho = work->rho + group * d;
  double *const scale = memory, *const shift = scale + round_up(d), *const covariate = shift + round_up(d);
  tile points;
  tile_place(&points, model, n, covariate + round_up(model->covariates));
  tile_load(&points, model, &work->closeness, group, n, 0, n, work->conditional, NULL);
  rho_scales(model, rho, scale);
  for (int64_t i = 0; i < n; i++) {
    double *const score = work->score + (group * n + i) * d;
    for (int64_t j = 0; j < d; j++) {
      const double u = points.conditional[j * points.room + i];
      if (model->kind == WB_COPULA_BINARY) {
        const int y = work->outcome[group * n + i] > 0.5;
        score[j] = y ? wb_copula_clip(u) : -wb_copula_clip(u);
        work->gain[group * n + i] = y ? u : 1.0 - u;
      } else {
        score[j] = wb_copula_score(u);
        work->gain[(group * d + j) * n + i] = points.gain[j * points.room + i];
      }
    }
    observation seen = {.alpha = wb_copula_weight((double)(i + 1)), .score = score};
    take_row(&seen, model, &work->closeness, group, i, covariate);
    if (i + 1 < n) update_tile(&points, model, call->isa, rho, scale, shift, &seen, (i + 1) / 8 * 8);
  }
}

int wb_cpu_copula_fit(const wb_copula_fit *work, const wb_run *run, wb_message *message) {
  const wb_copula_model *const model = &work->model;
  const size_t doubles =
      tile_doubles(model, work->points) + (size_t)(2 * round_up(model->dimensions) + round_up(model->covariates));
  fit_call call = {work, run->isa};
  if (wb_spread_with_memory(run->threads, work->groups, doubles * sizeof(double), fit_group, &call)) return WB_OK;
  return wb_out_of_memory(message, "the observations of one order", doubles * sizeof(double));
}

/* Updates by given or drawn observations ---------------------------------------- */

/* A thread's working memory: the draws of COPULA_CHUNK steps, and tiles. */
typedef struct workspace {
  double *scale, *shift, *covariate, *score, *u, *row_u, *cumulative;
  int32_t *row;
  tile points, rows;
} workspace;

static int draws_rows(const wb_copula_update *work) { return !work->score && work->model.rows > 0; }

static size_t workspace_doubles(const wb_copula_update *work, int64_t tile_points) {
  const wb_copula_model *const model = &work->model;
  size_t doubles = (size_t)(2 * round_up(model->dimensions) + round_up(model->covariates)) +
                   (size_t)COPULA_CHUNK * (size_t)(model->dimensions + 3) + tile_doubles(model, tile_points);
  if (draws_rows(work)) doubles += (size_t)round_up(model->rows);
  if (work->row_conditional) doubles += tile_doubles(model, model->rows);
  return doubles;
}

static void workspace_place(workspace *room, const wb_copula_update *work, int64_t tile_points, double *memory) {
  const wb_copula_model *const model = &work->model;
  room->scale = memory;
  room->shift = room->scale + round_up(model->dimensions);
  room->covariate = room->shift + round_up(model->dimensions);
  room->score = room->covariate + round_up(model->covariates);
  room->u = room->score + (int64_t)COPULA_CHUNK * model->dimensions;
  room->row_u = room->u + COPULA_CHUNK;
  room->row = (int32_t *)(room->row_u + COPULA_CHUNK);
  room->cumulative = room->row_u + 2 * COPULA_CHUNK;
  double *const tiles = room->cumulative + (draws_rows(work) ? round_up(model->rows) : 0);
  tile_place(&room->points, model, tile_points, tiles);
  if (work->row_conditional) tile_place(&room->rows, model, model->rows, tiles + tile_doubles(model, tile_points));
}

static observation observe(const wb_copula_update *work, const workspace *room, const wb_copula_closeness *closeness,
                           int64_t group, int64_t step, int t) {
  observation seen = {
      .alpha = wb_copula_forward_weight(work->observations + (double)(work->first_step + step + t) + 1.0, work->most),
      .score = room->score + (int64_t)t * work->model.dimensions,
  };
  if (work->model.covariates > 0) take_row(&seen, &work->model, closeness, group, room->row[t], room->covariate);
  return seen;
}

/* Draws binary responses one after the other. Each updates the rows before the next is drawn. */
static void draw_binary(const wb_copula_update *work, wb_isa isa, const workspace *room, int64_t group, int64_t step,
                        int steps) {
  for (int t = 0; t < steps; t++) {
    const double r = room->rows.conditional[room->row[t]];
    room->score[t] = room->u[t] < r ? wb_copula_clip(r) : -wb_copula_clip(r);
    const observation seen = observe(work, room, &work->row_closeness, group, step, t);
    update_tile(&room->rows, &work->model, isa, work->rho, room->scale, room->shift, &seen, 0);
  }
}

static void observe_chunk(const wb_copula_update *work, wb_isa isa, const workspace *room, int64_t group, int64_t step,
                          int steps) {
  const wb_copula_model *const model = &work->model;
  const int64_t d = model->dimensions, at = group * work->steps + step;
  if (work->score) {
    memcpy(room->score, work->score + at * d, (size_t)(steps * d) * sizeof(double));
    if (model->covariates > 0) memcpy(room->row, work->row + at, (size_t)steps * sizeof(int32_t));
    return;
  }
  const uint64_t resample = (uint64_t)(work->first_group + group);
  const int64_t first = work->first_step + step;
  if (model->rows > 0) {
    WB_LOOP(copula_uniforms, isa)(work->key, resample, first, steps, room->u, room->row_u);
    for (int t = 0; t < steps; t++) room->row[t] = wb_row_at(room->cumulative, (int32_t)model->rows, room->row_u[t]);
  }
  if (model->kind == WB_COPULA_BINARY) {
    draw_binary(work, isa, room, group, step, steps);
  } else {
    WB_LOOP(copula_scores, isa)(work->key, resample, first, steps, (int)d, room->score);
  }
}

/* Carries points first..first + count - 1 of a group through all steps. */
static void update_group(const wb_copula_update *work, wb_isa isa, workspace *room, int64_t group, int64_t first,
                         int64_t count) {
  const wb_copula_model *const model = &work->model;
  const int rows_live = !work->score && model->kind == WB_COPULA_BINARY;
  rho_scales(model, work->rho, room->scale);
  if (draws_rows(work))
    WB_LOOP(copula_row_weights, isa)(work->key, (uint64_t)(work->first_group + group), model->rows, room->cumulative);
  if (rows_live)
    tile_load(&room->rows, model, &work->row_closeness, group, model->rows, 0, model->rows, work->row_conditional,
              NULL);
  for (int64_t step = 0; step < work->steps; step += COPULA_CHUNK) {
    const int steps = (int)wb_min_int(COPULA_CHUNK, work->steps - step);
    observe_chunk(work, isa, room, group, step, steps);
    for (int64_t begin = first; begin < first + count; begin += COPULA_TILE) {
      const int64_t here = wb_min_int(COPULA_TILE, first + count - begin);
      tile_place(&room->points, model, here, room->points.conditional); /* the last tile is shorter */
      tile_load(&room->points, model, &work->closeness, group, work->points, begin, here, work->conditional,
                work->gain);
      for (int t = 0; t < steps; t++) {
        const observation seen = observe(work, room, &work->closeness, group, step, t);
        update_tile(&room->points, model, isa, work->rho, room->scale, room->shift, &seen, 0);
      }
      tile_store(&room->points, model, group, work->points, work->conditional, work->gain);
    }
  }
  if (rows_live) tile_store(&room->rows, model, group, model->rows, work->row_conditional, NULL);
}

/* If resamples are few, their points are cut into runs, and each run draws the same observations again. */
typedef struct update_call {
  const wb_copula_update *work;
  wb_isa isa;
  int64_t runs, run_points, tile_points; /* runs of a group, points of a run and of a tile */
} update_call;

static void update_piece(void *context, int64_t piece, void *memory) {
  const update_call *const call = context;
  const wb_copula_update *const work = call->work;
  workspace room;
  workspace_place(&room, work, call->tile_points, memory);
  const int64_t first = piece % call->runs * call->run_points;
  const int64_t count = wb_min_int(call->run_points, work->points - first);
  if (count > 0 || work->row_conditional) update_group(work, call->isa, &room, piece / call->runs, first, count);
}

int wb_cpu_copula_update(const wb_copula_update *work, const wb_run *run, wb_message *message) {
  /* Drawn binary responses are not cut into runs: they depend on the rows' state, which only one thread may advance. */
  const int64_t tiles = (work->points + COPULA_TILE - 1) / COPULA_TILE;
  int64_t runs = 1;
  if (work->groups < 4 * (int64_t)run->threads && !work->row_conditional && run->threads > 1)
    runs = wb_min_int(tiles, 4 * (int64_t)run->threads / (work->groups > 0 ? work->groups : 1));
  if (runs < 1) runs = 1;
  update_call call = {work, run->isa, runs, (tiles + runs - 1) / runs * COPULA_TILE,
                      wb_min_int(COPULA_TILE, work->points)};
  const size_t bytes = workspace_doubles(work, call.tile_points) * sizeof(double);
  if (wb_spread_with_memory(run->threads, work->groups * runs, bytes, update_piece, &call)) return WB_OK;
  return wb_out_of_memory(message, "the states of a run of points", bytes);
}
