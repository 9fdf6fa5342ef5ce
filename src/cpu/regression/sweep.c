/* The Gibbs sweep of a regression on the processor: linear predictors, Polya-Gamma variables and the sums X'WX and X'z,
 * in one pass (Polson, Scott & Windle 2013). A unit is a leaf of WB_LEAF_ROWS rows. GPU: cuda/regression/sweep.cu. */
#include "core/rounding.h"

#include "cpu/regression/parts.h"
#include "cpu/table.h"

#include <stdlib.h>

#include "core/regression_zero.h"
#include "numeric/memory.h"
#include "numeric/reduction_tree.h"
#include "numeric/spread.h"

/* Rows of a tile; a divisor of WB_LEAF_ROWS. */
#define REGRESSION_TILE 64

#define WB_LOOPS "cpu/regression/sweep_loops.h"
#include "numeric/isa.h"

static int64_t leaf_begin(const wb_regression_data *data, int64_t leaf) {
  const int64_t begin = leaf * WB_LEAF_ROWS;
  return begin < data->rows ? begin : data->rows;
}

static void close_session(wb_regression_session *session) {
  if (!session) return;
  for (int t = 0; session->memory && t < session->threads; t++) {
    wb_aligned_free(session->memory[t].numbers);
    wb_aligned_free(session->memory[t].variables);
  }
  free(session->memory);
  wb_aligned_free(session->segment_sums);
  wb_aligned_free(session->row_values);
  free(session->segment_row);
  free(session->segment_group);
  free(session->leaf_segment);
  wb_cpu_terms_close(&session->terms);
  free(session);
}

static int cut_segments(wb_regression_session *session, wb_message *message) {
  const wb_regression_data *data = &session->data;
  const size_t most = (size_t)session->leaves + (size_t)data->groups + 1;
  session->segment_row = malloc(most * sizeof(int64_t));
  session->segment_group = malloc(most * sizeof(int32_t));
  session->leaf_segment = malloc(((size_t)session->leaves + 1) * sizeof(int64_t));
  if (!session->segment_row || !session->segment_group || !session->leaf_segment)
    return wb_out_of_memory(message, "the groups' rows", most * 20);
  int64_t count = 0;
  int32_t group = 0;
  for (int64_t leaf = 0; leaf < session->leaves; leaf++) {
    const int64_t end = leaf_begin(data, leaf + 1);
    session->leaf_segment[leaf] = count;
    for (int64_t row = leaf_begin(data, leaf); row < end;) {
      while (data->group_start[group + 1] <= row) group++;
      session->segment_row[count] = row;
      session->segment_group[count++] = group;
      row = data->group_start[group + 1] < end ? data->group_start[group + 1] : end;
    }
  }
  session->leaf_segment[session->leaves] = count;
  session->segment_row[count] = data->rows;
  session->segments = count;
  const int p = data->dual ? 0 : data->columns;
  const size_t bytes = (size_t)count * WB_REGRESSION_GROUP_STATISTICS(p) * sizeof(double);
  session->segment_sums = wb_aligned_malloc(bytes);
  return session->segment_sums ? WB_OK : wb_out_of_memory(message, "the groups' sums", bytes);
}

static int open_session(const wb_regression_data *data, const wb_run *run, wb_regression_session **session,
                        wb_message *message) {
  wb_regression_session *opened = calloc(1, sizeof *opened);
  if (!opened) return wb_out_of_memory(message, "the regression session", sizeof *opened);
  opened->data = *data;
  opened->threads = run->threads;
  opened->isa = run->isa;
  opened->leaves = (data->rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  opened->memory = calloc((size_t)opened->threads, sizeof(thread_memory));
  int status = opened->memory ? WB_OK : wb_out_of_memory(message, "the regression session", sizeof(thread_memory));
  if (status == WB_OK && data->groups > 0) status = cut_segments(opened, message);
  if (status == WB_OK && data->term_count > 0) status = wb_cpu_terms_open(data, &opened->terms, message);
  if (status == WB_OK) *session = opened;
  else close_session(opened);
  return status;
}

/* Columns whose products a pass adds. */
static int summed_columns(const wb_regression_data *data) { return data->dual ? 0 : data->columns; }

static int to_eight(int count) { return (count + 7) / 8 * 8; }

/* A thread's memory: a leaf's sums, `lines` rows of `padded`, of which the last used is X'z; the log likelihood. */
typedef struct leaf_room {
  int lines, padded;
  double *line;   /* padded x REGRESSION_TILE: a tile of the scaled design, zeros */
  double *left;   /* lines x REGRESSION_TILE: omega x, z, zeros */
  double *right;  /* REGRESSION_TILE x padded: x, zeros */
  double *linear; /* outcomes x WB_LEAF_ROWS: of several outcomes with their offsets and effects */
  double *alone;  /* WB_LEAF_ROWS: the linear predictor of the outcome that is drawn, without these */
  double *fixed, *psi, *shape, *kappa, *omega, *log_likelihood, *nothing; /* WB_LEAF_ROWS; `nothing` is zero */
  void **variables;
} leaf_room;

static size_t room_doubles(const wb_regression_data *data) {
  const int p = summed_columns(data);
  return (size_t)REGRESSION_TILE * ((size_t)to_eight(p + 1) + 2 * (size_t)to_eight(p)) +
         WB_LEAF_ROWS * ((size_t)data->outcomes + 8);
}

static leaf_room room_in(thread_memory *memory, const wb_regression_data *data) {
  const int p = summed_columns(data);
  leaf_room room = {.lines = to_eight(p + 1), .padded = to_eight(p), .variables = &memory->variables};
  room.line = memory->numbers;
  room.left = room.line + (size_t)REGRESSION_TILE * (size_t)room.padded;
  room.right = room.left + (size_t)REGRESSION_TILE * (size_t)room.lines;
  room.linear = room.right + (size_t)REGRESSION_TILE * (size_t)room.padded;
  room.alone = room.linear + (size_t)WB_LEAF_ROWS * (size_t)data->outcomes;
  room.fixed = room.alone + WB_LEAF_ROWS;
  room.psi = room.fixed + WB_LEAF_ROWS;
  room.shape = room.psi + WB_LEAF_ROWS;
  room.kappa = room.shape + WB_LEAF_ROWS;
  room.omega = room.kappa + WB_LEAF_ROWS;
  room.log_likelihood = room.omega + WB_LEAF_ROWS;
  room.nothing = room.log_likelihood + WB_LEAF_ROWS;
  return room;
}

static void predict_leaf(const wb_regression_session *session, const wb_regression_parameters *parameters, int64_t leaf,
                         int64_t begin, int64_t end, leaf_room *room) {
  const wb_regression_data *data = &session->data;
  for (int k = 0; k < data->outcomes; k++)
    memset(room->linear + (size_t)k * WB_LEAF_ROWS, 0, (size_t)(end - begin) * sizeof(double));
  const int64_t segments = data->groups > 0 ? session->leaf_segment[leaf + 1] : 0;
  for (int64_t s = segments > 0 ? session->leaf_segment[leaf] : 0; s < segments; s++)
    for (int64_t row = session->segment_row[s]; row < session->segment_row[s + 1]; row++)
      room->linear[row - begin] = parameters->intercepts[session->segment_group[s]];
  for (int k = 0; !data->x && k < data->outcomes; k++)
    WB_LOOP(regression_add_entries, session->isa)(
        (int)(end - begin), data->row_start + begin, data->column, data->value,
        parameters->coefficients + (size_t)k * (size_t)data->columns, room->linear + (size_t)k * WB_LEAF_ROWS);
  for (int k = 0; data->x && k < data->outcomes; k++)
    for (int c = 0; c < data->columns; c++)
      WB_LOOP(regression_add, session->isa)((int)(end - begin), data->x + (size_t)c * (size_t)data->rows + begin,
                                            data->center[c], data->inverse_scale[c],
                                            parameters->coefficients[(size_t)k * (size_t)data->columns + (size_t)c],
                                            room->linear + (size_t)k * WB_LEAF_ROWS);
}

static void add_fixed(const wb_regression_session *session, const wb_regression_parameters *parameters, int outcome,
                      int64_t begin, int rows, double *fixed) {
  const wb_regression_data *data = &session->data;
  const size_t at = (size_t)outcome * (size_t)data->rows + (size_t)begin;
  for (int l = 0; l < rows; l++) fixed[l] = data->offset ? data->offset[at + (size_t)l] : 0.0;
  if (data->term_count > 0) wb_cpu_terms_add(session, parameters->effects, outcome, begin, rows, fixed);
}

/* The fixed part of one of several outcomes, which contains the predictors of the others. */
static void fix_outcome(const wb_regression_session *session, const wb_regression_parameters *parameters, int outcome,
                        int64_t begin, int rows, leaf_room *room) {
  const wb_regression_data *data = &session->data;
  const int has_fixed = data->offset || data->term_count > 0;
  memcpy(room->alone, room->linear + (size_t)outcome * WB_LEAF_ROWS, (size_t)rows * sizeof(double));
  memset(room->fixed, 0, (size_t)rows * sizeof(double));
  for (int i = 1; has_fixed && i <= data->outcomes; i++) {
    /* The outcome itself comes last and leaves its part in `fixed`. */
    const int k = (outcome + i) % data->outcomes;
    add_fixed(session, parameters, k, begin, rows, room->fixed);
    for (int l = 0; l < rows; l++) room->linear[k * WB_LEAF_ROWS + l] += room->fixed[l];
  }
  WB_LOOP(regression_log_sums, session->isa)(to_eight(rows), data->outcomes, outcome, room->linear,
                                             room->log_likelihood);
  for (int l = 0; l < rows; l++) room->fixed[l] -= room->log_likelihood[l];
}

static void weigh_leaf(const wb_regression_session *session, const wb_regression_parameters *parameters, int outcome,
                       int64_t begin, int rows, leaf_room *room) {
  const wb_regression_data *data = &session->data;
  const double *const dispersed = data->dispersed ? data->dispersed + begin : room->nothing;
  if (data->outcomes > 1) fix_outcome(session, parameters, outcome, begin, rows, room);
  else add_fixed(session, parameters, 0, begin, rows, room->fixed);
  WB_LOOP(regression_weigh, session->isa)(
      rows, data->shape + begin, data->kappa + (size_t)outcome * (size_t)data->rows + begin, dispersed,
      parameters->dispersion, parameters->shift, data->outcomes > 1 ? room->alone : room->linear, room->shape,
      room->kappa, room->fixed, room->psi);
}

static double evaluate_leaf(const wb_regression_session *session, const wb_regression_parameters *parameters,
                            int64_t begin, int rows, leaf_room *room) {
  const wb_regression_data *data = &session->data;
  double sum = 0;
  if (data->outcomes > 1) {
    WB_LOOP(regression_log_sums, session->isa)(to_eight(rows), data->outcomes, -1, room->linear, room->log_likelihood);
    for (int l = 0; l < rows; l++) room->log_likelihood[l] *= -data->shape[begin + l];
    for (int k = 0; k < data->outcomes; k++)
      WB_LOOP(regression_add_outcome, session->isa)(rows, data->shape + begin,
                                                    data->kappa + (size_t)k * (size_t)data->rows + begin,
                                                    room->linear + (size_t)k * WB_LEAF_ROWS, room->log_likelihood);
  } else if (data->dispersed && !data->poisson) {
    WB_LOOP(regression_log_counts, session->isa)(rows, parameters->shift, data->shape + begin, room->shape, room->psi,
                                                 room->log_likelihood);
  } else {
    (!data->poisson ? WB_LOOP(regression_log_likelihood, session->isa)
     : parameters->weights == WB_REGRESSION_RATIO
         ? WB_LOOP(regression_log_ratio, session->isa)
         : WB_LOOP(regression_log_poisson, session->isa))(to_eight(rows), room->kappa, room->shape, room->psi,
                                                          room->log_likelihood);
  }
  for (int l = 0; l < rows; l++) sum += room->log_likelihood[l];
  return sum;
}

static int draw_leaf(const wb_regression_session *session, const wb_regression_parameters *parameters, int outcome,
                     uint64_t key, uint32_t iteration, int64_t begin, int rows, leaf_room *room, wb_message *message) {
  const int32_t weights = parameters->weights;
  if (weights == WB_REGRESSION_GIVEN) {
    const double *const given = session->row_values + session->data.rows + begin;
    memcpy(room->omega, given, (size_t)rows * sizeof(double));
    memcpy(room->kappa, given + session->data.rows, (size_t)rows * sizeof(double));
    return WB_OK;
  }
  if (weights == WB_REGRESSION_INFORMATION) {
    if (session->data.poisson)
      WB_LOOP(regression_inform_poisson, session->isa)(rows, room->shape, room->psi, room->omega, room->kappa);
    else WB_LOOP(regression_inform, session->isa)(rows, room->shape, room->psi, room->omega, room->kappa);
    return WB_OK;
  }
  if (weights == WB_REGRESSION_CROSS) {
    const double *const own = room->linear + (size_t)outcome * WB_LEAF_ROWS;
    const double *const other = room->linear + (size_t)parameters->other * WB_LEAF_ROWS;
    for (int l = 0; l < rows; l++) {
      room->omega[l] = wb_regression_cross(room->shape[l], room->psi[l], other[l] - own[l]);
      room->kappa[l] = 0.0;
    }
    return WB_OK;
  }
  if (weights == WB_REGRESSION_EXPECTED) {
    for (int l = 0; l < rows; l++) room->omega[l] = wb_regression_expected(room->shape[l], room->psi[l]);
  } else {
    const wb_polyagamma_work work = {
        .count = rows,
        .shape = room->shape,
        .shapes = rows,
        .tilt = room->psi,
        .tilts = rows,
        .key = key,
        .iteration = iteration,
        .first = (uint64_t)outcome * (uint64_t)session->data.rows + (uint64_t)begin,
        .draws = room->omega,
    };
    WB_TRY(wb_cpu_polyagamma_draw_alone(&work, session->isa, room->variables, message));
  }
  WB_LOOP(regression_complete, session->isa)(rows, room->shape, room->fixed, room->omega, room->kappa);
  return WB_OK;
}

static void sum_leaf(const wb_regression_session *session, int64_t begin, int64_t end, leaf_room *room, double *sums) {
  const wb_regression_data *data = &session->data;
  const int p = data->columns;
  if (!data->x) {
    WB_LOOP(regression_multiply_entries, session->isa)((int)(end - begin), p, room->padded, data->row_start + begin,
                                                       data->column, data->value, room->omega, room->kappa, sums);
    return;
  }
  double padded[REGRESSION_TILE] = {0}; /* rows past the end are zeros before scaling */
  for (int64_t first = begin; first < end; first += REGRESSION_TILE) {
    const int rows = end - first < REGRESSION_TILE ? (int)(end - first) : REGRESSION_TILE;
    const double *const omega = room->omega + (first - begin), *const z = room->kappa + (first - begin);
    for (int c = 0; c < p; c++) {
      const double *x = data->x + (size_t)c * (size_t)data->rows + first;
      if (rows < REGRESSION_TILE) x = memcpy(padded, x, (size_t)rows * sizeof(double));
      WB_LOOP(regression_load, session->isa)(x, data->center[c], data->inverse_scale[c],
                                             room->line + c * REGRESSION_TILE);
    }
    WB_LOOP(regression_factors, session->isa)(rows, p, room->padded, room->line, omega, z, room->left, room->right);
    WB_LOOP(regression_products, session->isa)(rows, 0, room->lines, room->padded, room->left, room->right, sums);
  }
}

/* The sums of omega x, omega and z over each segment of a leaf, in order of rows. */
static void sum_segments(const wb_regression_session *session, int64_t leaf, int64_t begin, const leaf_room *room,
                         double *sums) {
  const size_t size = WB_REGRESSION_GROUP_STATISTICS(session->data.columns);
  for (int64_t s = session->leaf_segment[leaf]; s < session->leaf_segment[leaf + 1]; s++) {
    const int64_t first = session->segment_row[s];
    wb_cpu_terms_segment(session, first, (int)(session->segment_row[s + 1] - first), room->omega + (first - begin),
                         room->kappa + (first - begin), sums + (size_t)s * size);
  }
}

/* The rows of a pair: zeros' linear predictors, what to do, and for which part. */
typedef enum pair_task { COMPLETE, INFORM, EVALUATE, EVALUATE_ROWS } pair_task;
typedef struct pair_rows {
  const wb_regression_session *zeros;
  pair_task task;
  int part;
  const uint64_t *key;
} pair_rows;

typedef struct shared_pass {
  wb_regression_session *session;
  const wb_regression_parameters *parameters;
  int32_t outcome;
  uint64_t key;
  uint32_t iteration;
  int drawing;
  size_t square;                    /* numbers of X'WX and X'z in the sums of a leaf */
  double *segment_sums, *row_draws; /* row_draws: rows x 2, of a dual session */
  double *row_logs, *row_logits;    /* get the values of each row; NULL: not wanted */
  const pair_rows *pair;            /* a pass over the rows of a pair, in place of all others; or NULL */
  wb_reduction_tree *tree;
  int threads;
  int64_t next; /* leaf */
  int failed;
  wb_message *message;
} shared_pass;

/* Completes the rows of a leaf, whose log probabilities of no count are in `none`. */
static void complete_leaf(const shared_pass *pass, int64_t begin, int rows, const double *none, const double *zero) {
  const wb_regression_data *const data = &pass->session->data, *const other = &pass->pair->zeros->data;
  const wb_regression_zeros *const what = data->zeros;
  for (int64_t row = begin; row < begin + rows; row++) {
    double more = 0.0;
    if ((what->count[row] == 0.0) != what->hurdle)
      more = wb_zero_complete(what->hurdle, what->weight[row], none[row - begin], zero[row - begin], pass->pair->key,
                              pass->iteration, (uint64_t)row);
    wb_zero_completed(what->hurdle, what->count[row], what->weight[row], what->unit[row], more, data->completed + row,
                      other->completed + what->row[row]);
  }
}

/* Writes values of the rows of a leaf among those of a part's session. */
static void inform_leaf(const shared_pass *pass, int64_t begin, int rows, const leaf_room *room) {
  const pair_rows *const pair = pass->pair;
  const wb_regression_data *const data = &pass->session->data;
  const wb_regression_zeros *const what = data->zeros;
  double *const to = pair->part == 0 ? pass->session->row_values : pair->zeros->row_values;
  for (int l = 0; l < rows; l++) {
    const int64_t row = begin + l, own = pair->part == 0 ? row : what->row[row];
    if (pair->task == EVALUATE_ROWS) to[own] = room->log_likelihood[l];
    else
      wb_zero_inform(pair->part, data->poisson, what->hurdle, what->count[row], what->weight[row], room->shape[l],
                     room->psi[l], room->fixed[l], to + 2 * data->rows + own, to + data->rows + own);
  }
}

static void pair_leaf(const shared_pass *pass, int64_t begin, int rows, leaf_room *room, double *sum) {
  const wb_regression_data *const data = &pass->session->data;
  const wb_regression_zeros *const what = data->zeros;
  const wb_isa isa = pass->session->isa;
  double *const size = room->shape, *const zero = room->fixed, *const none = room->omega;
  for (int l = 0; l < rows; l++) {
    size[l] = pass->parameters->dispersion * what->unit[begin + l];
    zero[l] = pass->pair->zeros->row_values[what->row[begin + l]];
  }
  WB_LOOP(regression_log_none, isa)(to_eight(rows), data->poisson, size, room->psi, none);
  if (pass->pair->task == COMPLETE) complete_leaf(pass, begin, rows, none, zero);
  if (pass->pair->task == INFORM) inform_leaf(pass, begin, rows, room);
  if (pass->pair->task < EVALUATE) return;
  WB_LOOP(regression_log_pair, isa)(rows, data->poisson, what->hurdle, pass->parameters->shift, what->count + begin,
                                    what->weight + begin, size, room->psi, none, zero, room->log_likelihood);
  if (pass->pair->task == EVALUATE_ROWS) inform_leaf(pass, begin, rows, room);
  for (int l = 0; l < rows; l++) *sum += room->log_likelihood[l];
}

static int pass_leaf(const shared_pass *pass, int64_t leaf, leaf_room *room, double *sums, wb_message *complaint) {
  wb_regression_session *const session = pass->session;
  const wb_regression_data *data = &session->data;
  const int64_t begin = leaf_begin(data, leaf), end = leaf_begin(data, leaf + 1);
  const int rows = (int)(end - begin);
  predict_leaf(session, pass->parameters, leaf, begin, end, room);
  weigh_leaf(session, pass->parameters, pass->outcome, begin, rows, room);
  if (pass->row_logits) memcpy(pass->row_logits + begin, room->psi, (size_t)rows * sizeof(double));
  if (pass->pair) pair_leaf(pass, begin, rows, room, sums + pass->square);
  if (pass->row_logits || pass->pair) return WB_OK;
  sums[pass->square] = evaluate_leaf(session, pass->parameters, begin, rows, room);
  if (pass->row_logs) memcpy(pass->row_logs + begin, room->log_likelihood, (size_t)rows * sizeof(double));
  if (!pass->drawing) return WB_OK;
  const int status =
      draw_leaf(session, pass->parameters, pass->outcome, pass->key, pass->iteration, begin, rows, room, complaint);
  if (data->dual) {
    memcpy(pass->row_draws + begin, room->omega, (size_t)rows * sizeof(double));
    memcpy(pass->row_draws + data->rows + begin, room->kappa, (size_t)rows * sizeof(double));
    return status;
  }
  sum_leaf(session, begin, end, room, sums);
  if (pass->segment_sums) sum_segments(session, leaf, begin, room, pass->segment_sums);
  if (data->term_count > 0) {
    memcpy(session->terms.omega + begin, room->omega, (size_t)rows * sizeof(double));
    memcpy(session->terms.z + begin, room->kappa, (size_t)rows * sizeof(double));
  }
  return status;
}

static void pass_leaves(void *context) {
  shared_pass *const pass = context;
  thread_memory *const memory = pass->session->memory + wb_thread_of(pass->threads);
  const size_t bytes = room_doubles(&pass->session->data) * sizeof(double);
  wb_message complaint;
  int status = WB_OK;
  if (!memory->numbers && (memory->numbers = wb_aligned_malloc(bytes))) memset(memory->numbers, 0, bytes);
  if (!memory->numbers) {
    wb_reduction_fail(pass->tree);
    return;
  }
  leaf_room room = room_in(memory, &pass->session->data);
  for (int64_t leaf; status == WB_OK && (leaf = wb_take(&pass->next)) < pass->session->leaves;) {
    double *const sums = wb_reduction_take(pass->tree);
    if (!sums) continue;
    status = pass_leaf(pass, leaf, &room, sums, &complaint);
    wb_reduction_give(pass->tree, leaf, sums);
  }
  if (status == WB_OK) return;
#pragma omp critical(wb_regression)
  {
    pass->failed = status;
    *pass->message = complaint;
  }
}

/* Runs a pass whose `statistics`, `group_statistics` and `log_likelihood` are as those of sweep(), or NULL. */
static int run_pass(shared_pass pass, double *statistics, double *group_statistics, double *log_likelihood) {
  wb_regression_session *const session = pass.session;
  const wb_regression_data *data = &session->data;
  const int p = data->columns, adding = statistics != NULL && !data->dual;
  wb_reduction_tree tree;
  pass.drawing = statistics != NULL;
  pass.row_draws = statistics;
  pass.square = adding ? (size_t)to_eight(p + 1) * (size_t)to_eight(p) : 0;
  pass.segment_sums = adding && data->groups > 0 ? session->segment_sums : NULL;
  const double summed = summed_columns(data);
  pass.threads = wb_cpu_regression_threads(session, pass.drawing ? 0.5 * summed * summed + 150 : p + 30);
  pass.tree = &tree;
  wb_reduction_open(&tree, session->leaves, pass.square + 8);
  wb_on_threads(pass.threads, pass_leaves, &pass);
  int failed = pass.failed;
  const double *const root = wb_reduction_root(&tree);
  if (failed == WB_OK && !root)
    failed = wb_out_of_memory(pass.message, "the sums of a leaf", room_doubles(data) * sizeof(double));
  if (failed == WB_OK) {
    *log_likelihood = root[pass.square];
    for (int r = 0; adding && r <= p; r++) /* the last line is X'z */
      for (int c = 0; c <= r && c < p; c++) *statistics++ = root[(size_t)r * (size_t)to_eight(p) + (size_t)c];
    const size_t size = WB_REGRESSION_GROUP_STATISTICS(p);
    if (pass.segment_sums) memset(group_statistics, 0, (size_t)data->groups * size * sizeof(double));
    for (size_t s = 0; pass.segment_sums && s < (size_t)session->segments; s++) {
      double *const to = group_statistics + (size_t)session->segment_group[s] * size;
      for (size_t i = 0; i < size; i++) to[i] += pass.segment_sums[s * size + i];
    }
    if (adding && data->term_count > 0 && group_statistics) wb_cpu_terms_sum(session, pass.threads, group_statistics);
  }
  wb_reduction_close(&tree);
  return failed;
}

static int sweep(wb_regression_session *session, const wb_regression_parameters *parameters, int32_t outcome,
                 uint64_t key, uint32_t iteration, double *statistics, double *group_statistics, double *log_likelihood,
                 wb_message *message) {
  const shared_pass pass = {.session = session,
                            .parameters = parameters,
                            .outcome = outcome,
                            .key = key,
                            .iteration = iteration,
                            .message = message};
  return run_pass(pass, statistics, group_statistics, log_likelihood);
}

static int log_likelihood(wb_regression_session *session, const wb_regression_parameters *parameters, double *sum,
                          wb_message *message) {
  const shared_pass pass = {.session = session, .parameters = parameters, .message = message};
  return run_pass(pass, NULL, NULL, sum);
}

static int hold_row_values(wb_regression_session *session, wb_message *message) {
  const size_t bytes = (session->data.completed ? 3 : 1) * (size_t)session->data.rows * sizeof(double);
  if (!session->row_values) session->row_values = wb_aligned_malloc(bytes);
  return session->row_values ? WB_OK : wb_out_of_memory(message, "values of the rows", bytes);
}

static int pass_pair(const wb_regression_pair *pair, const pair_rows *rows, uint32_t iteration, double *sum,
                     wb_message *message) {
  WB_TRY(hold_row_values(pair->zeros, message));
  WB_TRY(hold_row_values(pair->counts, message));
  const shared_pass zeros = {.session = pair->zeros,
                             .parameters = &pair->of_zeros,
                             .row_logits = pair->zeros->row_values,
                             .message = message},
                    counts = {.session = pair->counts,
                              .parameters = &pair->of_counts,
                              .iteration = iteration,
                              .pair = rows,
                              .message = message};
  WB_TRY(run_pass(zeros, NULL, NULL, sum));
  return run_pass(counts, NULL, NULL, sum);
}

static int complete(const wb_regression_pair *pair, const uint64_t *key, uint32_t iteration, wb_message *message) {
  const pair_rows rows = {.zeros = pair->zeros, .task = COMPLETE, .key = key};
  double unused;
  return pass_pair(pair, &rows, iteration, &unused, message);
}

static int inform(const wb_regression_pair *pair, int part, wb_message *message) {
  const pair_rows rows = {.zeros = pair->zeros, .task = INFORM, .part = part};
  double unused;
  return pass_pair(pair, &rows, 0, &unused, message);
}

static int pair_log_likelihood(const wb_regression_pair *pair, double *sum, wb_message *message) {
  const pair_rows rows = {.zeros = pair->zeros, .task = EVALUATE};
  return pass_pair(pair, &rows, 0, sum, message);
}

static void total_levels(wb_regression_session *session, int32_t term, double *total) {
  if (term >= 0) {
    wb_cpu_terms_total(session, term, session->row_values, total);
    return;
  }
  memset(total, 0, (size_t)session->data.groups * sizeof(double));
  for (int64_t s = 0; s < session->segments; s++) {
    double sum = 0.0;
    for (int64_t row = session->segment_row[s]; row < session->segment_row[s + 1]; row++)
      sum += session->row_values[row];
    total[session->segment_group[s]] += sum;
  }
}

static int level_log_likelihoods(wb_regression_session *session, const wb_regression_parameters *parameters,
                                 int32_t term, double *log_likelihoods, wb_message *message) {
  double sum;
  WB_TRY(hold_row_values(session, message));
  const shared_pass pass = {
      .session = session, .parameters = parameters, .row_logs = session->row_values, .message = message};
  WB_TRY(run_pass(pass, NULL, NULL, &sum));
  total_levels(session, term, log_likelihoods);
  return WB_OK;
}

static int pair_level_log_likelihoods(const wb_regression_pair *pair, int part, int32_t term, double *log_likelihoods,
                                      wb_message *message) {
  const pair_rows rows = {.zeros = pair->zeros, .task = EVALUATE_ROWS, .part = part};
  double sum;
  WB_TRY(pass_pair(pair, &rows, 0, &sum, message));
  total_levels(part == 0 ? pair->counts : pair->zeros, term, log_likelihoods);
  return WB_OK;
}

const wb_regression_functions wb_cpu_regression = {.open = open_session,
                                                   .log_likelihood = log_likelihood,
                                                   .sweep = sweep,
                                                   .complete = complete,
                                                   .pair_log_likelihood = pair_log_likelihood,
                                                   .pair_level_log_likelihoods = pair_level_log_likelihoods,
                                                   .inform = inform,
                                                   .gram = wb_cpu_dual_gram,
                                                   .multiply = wb_cpu_dual_multiply,
                                                   .multiply_transposed = wb_cpu_dual_multiply_transposed,
                                                   .change_effects = wb_cpu_terms_change,
                                                   .level_log_likelihoods = level_log_likelihoods,
                                                   .place_levels = wb_cpu_levels_place,
                                                   .close = close_session,
                                                   .predict = wb_cpu_regression_predict};
