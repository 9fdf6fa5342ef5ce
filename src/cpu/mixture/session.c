/* Gaussian mixtures on the processor: draws the component of every row and sums the sufficient statistics of the Gibbs
 * sweep, in one pass over the rows (Suchard et al. 2010, section 2, appendix A; cpu/mixture/sums.h). Also evaluates. */
#include "core/rounding.h"

#include "cpu/table.h"
#include "cpu/mixture/sums.h"

#include <stdlib.h>

#include "core/min_max.h"
#include "core/mixture_component.h"
#include "numeric/log_add.h"
#include "numeric/memory.h"
#include "numeric/spread.h"

static void close_session(wb_mixture_session *session) {
  if (!session) return;
  wb_cpu_missing_close(session);
  for (int i = 0; i < session->threads && session->scratch; i++) wb_aligned_free(session->scratch[i].memory);
  free(session->scratch);
  free(session->pair);
  free(session->labels);
  free(session->nodes);
  free(session->memory);
  free(session);
}

static int open_session(const wb_mixture_data *data, const wb_run *run, wb_mixture_session **session,
                        wb_message *message) {
  const size_t p = (size_t)data->columns;
  wb_mixture_session *opened = calloc(1, sizeof *opened + 2 * p * sizeof(double));
  if (!opened) return wb_out_of_memory(message, "the mixture session", sizeof *opened);
  double *center = (double *)(opened + 1), *inverse_scale = center + p;
  memcpy(center, data->center, p * sizeof(double));
  memcpy(inverse_scale, data->inverse_scale, p * sizeof(double));
  opened->data = *data;
  opened->data.center = center;
  opened->data.inverse_scale = inverse_scale;
  opened->threads = run->threads;
  opened->isa = run->isa;
  opened->pairing = 1;
  opened->scratch = calloc((size_t)run->threads, sizeof *opened->scratch);
  if (data->keep_labels) opened->labels = malloc((size_t)data->rows * sizeof(int32_t));
  int status = WB_OK;
  if (!opened->scratch) status = wb_out_of_memory(message, "the threads", sizeof *opened->scratch);
  else if (data->keep_labels && !opened->labels)
    status = wb_out_of_memory(message, "the labels", (size_t)data->rows * sizeof(int32_t));
  else status = wb_cpu_missing_open(opened, message);
  if (status == WB_OK) *session = opened;
  else close_session(opened);
  return status;
}

typedef struct draw_request {
  const void *packed; /* coefficients */
  uint64_t key;
  uint32_t iteration;
  int32_t *labels;
} draw_request;

static void draw_tile(const wb_mixture_session *session, const draw_request *ask, tile *t) {
  const int p = session->data.columns, k = session->components;
  const int32_t *sample = session->data.sample;
  int64_t places[MIXTURE_TILE] = {0}, *place = NULL;
  if (session->share)
    for (int l = 0; l < MIXTURE_TILE; l++) {
      const int64_t row = row_of(session, t->number[l]);
      places[l] = row < session->data.rows ? (int64_t)sample[row] * k : places[0];
      if (places[l] != places[0]) place = places;
    }
  const char *share = session->share;
  if (share && !place)
    share += places[0] * (int64_t)(session->data.precision == WB_SINGLE ? sizeof(float) : sizeof(double));
  t->loop.draw(p, k, ask->packed, share, place, t->x, ask->key, ask->iteration, t->number, t->label, t->log_sum);
}

static void keep_tile(const wb_mixture_session *session, const draw_request *ask, const int32_t *member, int rows,
                      tile *t) {
  const size_t k = (size_t)session->components;
  for (int l = 0; l < rows; l++) {
    const int32_t label = tile_label(&session->data, t, l);
    t->drawn[member[l]] = label;
    t->log_density[member[l]] = tile_log_sum(&session->data, t, l);
    const int64_t row = row_of(session, t->number[l]);
    if (session->labels) session->labels[row] = label;
    if (ask->labels) ask->labels[row] = label;
    if (session->sizes) t->count[(size_t)session->data.sample[row] * k + (size_t)label]++;
  }
}

static int32_t groups_of(const wb_mixture_session *session) { return session->data.sample ? session->data.samples : 1; }

/* Writes the group of each row of a leaf, which have the same log weights, to t->drawn. Whether there is only one. */
static int find_groups(const wb_mixture_session *session, int64_t leaf, int rows, tile *t) {
  const int32_t *sample = session->data.sample;
  const int64_t begin = leaf * WB_LEAF_ROWS;
  const int lacks = wb_cpu_missing_rows(session, leaf) > 0;
  int differs = lacks;
  if (!sample && !lacks) return 1;
  for (int l = 0; l < rows; l++) {
    t->drawn[l] = sample ? sample[begin + l] : 0;
    differs |= sample && sample[begin + l] != sample[begin];
  }
  if (lacks) wb_cpu_missing_mark(session, leaf, groups_of(session), t->drawn);
  return !differs;
}

/* Draws the labels of one leaf and sums its rows. With several groups, tiles are filled one group after the other. */
static void draw_leaf(const wb_mixture_session *session, const void *asked, int64_t leaf, tile *t, double *sums) {
  const draw_request *ask = asked;
  const wb_mixture_data *data = &session->data;
  const int p = data->columns, k = session->components;
  const size_t size = wb_cpu_mixture_padded_sums(p), padded = mixture_padded(p + 1);
  const int64_t begin = leaf * WB_LEAF_ROWS;
  const int all = data->rows - begin < WB_LEAF_ROWS ? (int)(data->rows - begin) : WB_LEAF_ROWS;
  const int together = find_groups(session, leaf, all, t);
  double log_likelihood = 0;
  for (int first = 0; first < all; first += MIXTURE_TILE) {
    const int rows = all - first < MIXTURE_TILE ? all - first : MIXTURE_TILE;
    wb_cpu_mixture_tile_load(session, begin + first, rows, t);
    t->loop.transpose(p, rows, t->x, padded, t->row + (size_t)first * padded);
    mixture_has_leaf(t, leaf);
    if (!together) continue;
    for (int l = 0; l < MIXTURE_TILE; l++) {
      t->number[l] = (uint64_t)(data->first_row + begin + first + l);
      t->member[l] = first + l;
    }
    draw_tile(session, ask, t);
    keep_tile(session, ask, t->member, rows, t);
    for (int l = 0; l < rows; l++) log_likelihood += t->log_density[first + l];
  }
  if (!together) {
    const int32_t groups = groups_of(session);
    wb_cpu_mixture_leaf_sort(groups + 1, all, t);
    const int whole = t->end[groups - 1];
    for (int at = 0; at < whole; at += MIXTURE_TILE) {
      const int rows = whole - at < MIXTURE_TILE ? whole - at : MIXTURE_TILE;
      wb_cpu_mixture_tile_gather(session, begin, t->member + at, rows, MIXTURE_TILE, t);
      draw_tile(session, ask, t);
      keep_tile(session, ask, t->member + at, rows, t);
    }
    wb_cpu_missing_take(session, leaf, t, ask->labels);
    for (int l = 0; l < all; l++) log_likelihood += t->log_density[l];
  }
  wb_cpu_mixture_leaf_sort(k, all, t);
  for (int32_t j = 0, start = 0; j < k; start = t->end[j], j++)
    if (t->end[j] > start)
      t->loop.add_rows(p + 1, t->row, padded, t->member + start, t->end[j] - start, sums + (size_t)j * size);
  sums[(size_t)k * size] = log_likelihood;
}

static void set_constants(wb_mixture_session *session, const double *log_weight) {
  const int p = session->data.columns, k = session->components;
  const size_t shares = session->share ? (size_t)session->data.samples * (size_t)k : 0;
  for (int j = 0; j < k; j++)
    session->log_constant[j] = wb_component_log_floored(p, session->share ? 0 : log_weight[j],
                                                        session->log_determinant[j], session->floor_trace[j]);
  for (size_t i = 0; i < shares; i++)
    if (session->data.precision == WB_SINGLE) ((float *)session->share)[i] = (float)log_weight[i];
    else ((double *)session->share)[i] = log_weight[i];
}

static int draw_labels(wb_mixture_session *session, const double *log_weight, uint64_t key, uint32_t iteration,
                       int32_t *labels, wb_message *message) {
  const int k = session->components;
  const int groups = session->sizes ? session->data.samples : 1;
  const size_t counts = session->sizes ? (size_t)groups * (size_t)k : 0;
  const wb_mixture_parameters allocation = {k, session->factor, session->offset, session->log_constant};
  set_constants(session, log_weight);
  void *packed;
  WB_TRY(wb_cpu_missing_draw(session, &allocation, key, iteration, message));
  WB_TRY(wb_cpu_mixture_pack(session, &allocation, &packed, message));
  const draw_request ask = {packed, key, iteration, labels};
  const mixture_pass pass = {k, k > groups ? k : groups + 1, k, counts, 0, draw_leaf, &ask};
  session->pairing++;
  if (counts > 0) memset(session->sizes, 0, counts * sizeof(int64_t));
  const int status =
      wb_cpu_mixture_pass(session, &pass, session->statistics, &session->log_likelihood, session->sizes, message);
  free(packed);
  return status;
}

/* draw_labels() has done all the work already. */
static int finish_labels(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message) {
  const size_t k = (size_t)session->components;
  (void)message;
  if (session->sizes)
    for (size_t i = 0; i < (size_t)session->data.samples * k; i++) sizes[i] = (double)session->sizes[i];
  else
    for (size_t j = 0; j < k; j++) sizes[j] = session->statistics[j * WB_MIXTURE_STATISTICS(session->data.columns)];
  *log_likelihood = session->log_likelihood;
  return WB_OK;
}

typedef struct evaluation {
  const wb_mixture_session *session;
  const void *packed;
  int components;
  int64_t first, count, together; /* the last: tiles of a piece */
  int32_t *labels;
  double *log_density, *probability;
} evaluation;

static void evaluate_tile(const evaluation *call, int64_t at, int rows, tile *t) {
  const wb_mixture_data *data = &call->session->data;
  const int p = data->columns, k = call->components;
  double *out = call->probability ? call->probability + at : NULL;
  wb_cpu_mixture_tile_load(call->session, call->first + at, rows, t);
  t->loop.evaluate(p, k, call->packed, t->x, t->label, t->log_sum, out, call->count, rows);
  for (int l = 0; l < rows; l++) {
    if (call->labels) call->labels[at + l] = tile_label(data, t, l);
    if (call->log_density) call->log_density[at + l] = tile_log_sum(data, t, l);
  }
}

static void evaluate_tiles(void *context, int64_t piece, void *memory) {
  const evaluation *const call = context;
  tile t = wb_cpu_mixture_tile_in(memory, call->session, 0, 0);
  const int64_t end = wb_min_int(call->count, (piece + 1) * call->together * MIXTURE_TILE);
  for (int64_t at = piece * call->together * MIXTURE_TILE; at < end; at += MIXTURE_TILE)
    evaluate_tile(call, at, (int)wb_min_int(MIXTURE_TILE, end - at), &t);
}

static int evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                    int32_t *labels, double *log_density, double *probability, wb_message *message) {
  const int64_t tiles = (count + MIXTURE_TILE - 1) / MIXTURE_TILE;
  void *packed;
  WB_TRY(wb_cpu_mixture_pack(session, parameters, &packed, message));
  const int threads = mixture_threads(session, parameters->components, count, tiles);
  const size_t bytes = wb_cpu_mixture_tile_bytes(session, 0, 0, 0);
  /* Pieces of several tiles: threads that write side by side would clear the same new pages of the results. */
  const int64_t share = tiles / (8 * (int64_t)threads), together = share > 1 ? share : 1;
  evaluation call = {session, packed, parameters->components, first, count, together, labels, log_density, probability};
  const int done = wb_spread_with_memory(threads, (tiles + together - 1) / together, bytes, evaluate_tiles, &call);
  free(packed);
  if (!done) return wb_out_of_memory(message, "a tile of rows", bytes);
  /* Replaces the results of the incomplete rows. */
  return wb_cpu_missing_evaluate(session, parameters, first, count, labels, log_density, probability, message);
}

/* Rows whose densities a thread adds together. */
#define DENSITIES_TOGETHER 4096

typedef struct density_sum {
  wb_isa isa;
  int64_t count, step;
  const double *values, *log_unit;
  double *log_density;
} density_sum;

static void add_to_densities(void *context, int64_t piece) {
  const density_sum *const sum = context;
  const int64_t at = piece * DENSITIES_TOGETHER;
  wb_log_add_to(sum->isa, wb_min_int(DENSITIES_TOGETHER, sum->count - at), sum->values + at,
                sum->log_unit + at * sum->step, sum->step, sum->log_density + at);
}

static int add_densities(wb_mixture_session *session, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                         int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                         wb_message *message) {
  const int64_t pieces = (count + DENSITIES_TOGETHER - 1) / DENSITIES_TOGETHER;
  double *const values = wb_aligned_malloc((size_t)count * sizeof(double));
  if (!values) return wb_out_of_memory(message, "log densities", (size_t)count * sizeof(double));
  density_sum sum = {session->isa, count, units > 1, values, log_unit, log_density};
  int status = WB_OK;
  for (int32_t i = 0; i < mixture_count && status == WB_OK; i++) {
    status = evaluate(session, &mixtures[i], first, count, NULL, values, NULL, message);
    if (status == WB_OK) wb_spread(wb_idle_threads(session->threads), pieces, add_to_densities, &sum);
  }
  wb_aligned_free(values);
  return status;
}

const wb_mixture_functions wb_cpu_mixture = {
    .open = open_session,
    .set_components = wb_cpu_mixture_set_components,
    .set_statistics = wb_cpu_mixture_set_statistics,
    .get_statistics = wb_cpu_mixture_get_statistics,
    .draw_components = wb_cpu_mixture_draw_components,
    .add_precisions = wb_cpu_mixture_add_precisions,
    .measure = wb_cpu_mixture_measure,
    .draw_labels = draw_labels,
    .finish_labels = finish_labels,
    .get_components = wb_cpu_mixture_get_components,
    .evaluate = evaluate,
    .add_densities = add_densities,
    .choose_anchors = wb_cpu_mixture_choose_anchors,
    .draw_halves = wb_cpu_mixture_draw_halves,
    .weigh_rows = wb_cpu_mixture_weigh_rows,
    .get_nodes = wb_cpu_mixture_get_nodes,
    .get_row = wb_cpu_mixture_get_row,
    .close = close_session,
};
