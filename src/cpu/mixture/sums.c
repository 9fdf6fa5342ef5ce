/* What all passes over the rows share; cpu/mixture/sums.h describes it. */
#define WB_COMPACT
#include "core/rounding.h"

#include "cpu/mixture/sums.h"

#include <stdlib.h>

#include "core/block_draw.h"
#include "core/linear_algebra.h"
#include "core/mixture_half.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "core/scaled_value.h"
#include "numeric/memory.h"
#include "numeric/reduction_tree.h"

#define WB_LOOPS "cpu/mixture/sums_loops.h"
#include "numeric/isa.h"

mixture_loops wb_cpu_mixture_loops(const wb_mixture_session *session) {
  const wb_isa isa = session->isa;
#define LOOPS(P) \
  (mixture_loops) { \
    WB_LOOP(mixture_draw_##P, isa), WB_LOOP(mixture_evaluate_##P, isa), WB_LOOP(mixture_halves_##P, isa), \
        WB_LOOP(mixture_draw_halves, isa), WB_LOOP(mixture_tickets, isa), WB_LOOP(mixture_weigh_##P, isa), \
        WB_LOOP(mixture_list_##P, isa), WB_LOOP(mixture_load_##P, isa), WB_LOOP(mixture_transpose_##P, isa), \
        WB_LOOP(mixture_add_rows, isa), WB_LOOP(mixture_add_weighted, isa) \
  }
  return session->data.precision == WB_SINGLE ? LOOPS(single) : LOOPS(double);
#undef LOOPS
}

int wb_cpu_mixture_pack(const wb_mixture_session *session, const wb_mixture_parameters *parameters, void **packed,
                        wb_message *message) {
  const int p = session->data.columns, k = parameters->components;
  const size_t stride = mixture_coefficients(p), triangle = wb_packed_size(p);
  const int single = session->data.precision == WB_SINGLE;
  const size_t bytes = (size_t)k * stride * (single ? sizeof(float) : sizeof(double));
  void *values = malloc(bytes);
  if (!values) return wb_out_of_memory(message, "the components' coefficients", bytes);
  for (int j = 0; j < k; j++) {
    const double *factor = parameters->factor + (size_t)j * triangle;
    const double *offset = parameters->offset + (size_t)j * (size_t)p;
    size_t at = (size_t)j * stride;
#define PUT(value) \
  do { \
    if (single) ((float *)values)[at++] = (float)(value); \
    else ((double *)values)[at++] = (value); \
  } while (0)
    PUT(parameters->log_constant[j]);
    for (int r = 0; r < p; r++) {
      PUT(-offset[r]);
      for (int c = 0; c <= r; c++) PUT(*factor++);
    }
#undef PUT
  }
  *packed = values;
  return WB_OK;
}

size_t wb_cpu_mixture_tile_bytes(const wb_mixture_session *session, int lists, size_t counts, size_t room) {
  const int p = session->data.columns;
  size_t bytes = ((size_t)p + 2) * MIXTURE_TILE * sizeof(double);
  if (lists > 0)
    bytes += mixture_leaf_rows(session) * ((mixture_padded(p + 1) + 1) * sizeof(double) + 2 * sizeof(int32_t)) +
             counts * sizeof(int64_t) + mixture_padded_size(room) * sizeof(double) + (size_t)lists * sizeof(int32_t);
  return bytes;
}

tile wb_cpu_mixture_tile_in(void *memory, const wb_mixture_session *session, size_t counts, size_t room) {
  const int p = session->data.columns;
  const size_t rows = mixture_leaf_rows(session);
  tile t;
  t.loop = wb_cpu_mixture_loops(session);
  t.own = NULL;
  t.x = memory;
  t.label = (int64_t *)(t.x + (size_t)p * MIXTURE_TILE);
  t.log_sum = (double *)(t.label + MIXTURE_TILE);
  t.row = t.log_sum + MIXTURE_TILE;
  t.log_density = t.row + rows * mixture_padded(p + 1);
  t.room = t.log_density + rows;
  t.count = (int64_t *)(t.room + mixture_padded_size(room));
  t.drawn = (int32_t *)(t.count + counts);
  t.member = t.drawn + rows;
  t.end = t.member + rows;
  return t;
}

void wb_cpu_mixture_tile_load(const wb_mixture_session *session, int64_t first, int rows, tile *t) {
  const wb_mixture_data *data = &session->data;
  const int single = data->precision == WB_SINGLE;
  const size_t bytes = single ? sizeof(float) : sizeof(double), stride = (size_t)data->rows;
  const double most = single ? (double)WB_SCALED_MOSTF : WB_SCALED_MOST;
  const double *x = data->x + first;
  if (rows == MIXTURE_TILE) {
    t->loop.load(data->columns, x, stride, data->center, data->inverse_scale, most, t->x);
    return;
  }
  double padded[MIXTURE_TILE] = {0};
  for (int c = 0; c < data->columns; c++) {
    memcpy(padded, x + (size_t)c * stride, (size_t)rows * sizeof(double));
    t->loop.load(1, padded, 0, data->center + c, data->inverse_scale + c, most,
                 (char *)t->x + (size_t)c * MIXTURE_TILE * bytes);
  }
}

void wb_cpu_mixture_tile_gather(const wb_mixture_session *session, int64_t leaf_begin, const int32_t *member, int count,
                                int lanes, tile *t) {
  const int p = session->data.columns, single = session->data.precision == WB_SINGLE;
  const size_t padded = mixture_padded(p + 1);
  for (int l = 0; l < lanes; l++) {
    const int32_t from = member[l < count ? l : 0];
    const double *values = t->row + (size_t)from * padded + 1;
    t->number[l] = (uint64_t)(session->data.first_row + leaf_begin + from);
    if (single)
      for (int c = 0; c < p; c++) ((float *)t->x)[c * MIXTURE_TILE + l] = (float)values[c];
    else
      for (int c = 0; c < p; c++) t->x[c * MIXTURE_TILE + l] = values[c];
  }
}

/* A thread's working memory for a pass. 0: no memory. */
static int take_tile(const wb_mixture_session *session, const mixture_pass *pass, int thread, tile *t) {
  mixture_scratch *own = &session->scratch[thread];
  const size_t bytes = wb_cpu_mixture_tile_bytes(session, pass->lists, pass->counts, pass->room);
  const int grows = own->bytes < bytes;
  if (grows) {
    wb_aligned_free(own->memory);
    own->memory = wb_aligned_malloc(bytes);
    own->bytes = own->memory ? bytes : 0;
    if (!own->memory) return 0;
  }
  *t = wb_cpu_mixture_tile_in(own->memory, session, pass->counts, pass->room);
  t->own = own;
  if (grows) {
    /* What is the same in every leaf: the 1 that begins each row, and the padding. */
    const size_t padded = mixture_padded(session->data.columns + 1), rows = mixture_leaf_rows(session);
    memset(t->row, 0, rows * padded * sizeof(double));
    for (size_t l = 0; l < rows; l++) t->row[l * padded] = 1;
    mixture_has_leaf(t, -1);
  }
  memset(t->count, 0, pass->counts * sizeof(int64_t));
  return 1;
}

void wb_cpu_mixture_leaf_sort(int lists, int rows, tile *t) {
  memset(t->end, 0, (size_t)lists * sizeof(int32_t));
  for (int l = 0; l < rows; l++) t->end[t->drawn[l]]++;
  int32_t start = 0;
  for (int j = 0; j < lists; j++) {
    const int32_t count = t->end[j];
    t->end[j] = start;
    start += count;
  }
  for (int l = 0; l < rows; l++) t->member[t->end[t->drawn[l]]++] = l;
}

size_t wb_cpu_mixture_padded_sums(int p) {
  size_t size = 0;
  for (int r = 0; r <= p; r++) size += mixture_padded(r + 1);
  return size;
}

/* Writes the padded sums at a tree's root as the table's statistics. Returns the sum that follows them. */
static double unpack_root(const double *root, int p, int components, double *statistics) {
  for (int j = 0; j < components; j++, statistics += WB_MIXTURE_STATISTICS(p)) {
    double *product = statistics + 1 + p;
    for (int r = 0; r <= p; r++) {
      statistics[r] = root[0];
      for (int c = 1; c <= r; c++) *product++ = root[c];
      root += mixture_padded(r + 1);
    }
  }
  return *root;
}

static int unpack_pieces(wb_mixture_session *session, int components, const wb_reduction_tree *trees, int64_t pieces,
                         wb_message *message) {
  const size_t sums = (size_t)components * WB_MIXTURE_STATISTICS(session->data.columns), node = sums + 1;
  const size_t count = (size_t)pieces * node;
  session->node_count = 0;
  if (session->node_room < count) {
    free(session->nodes);
    session->nodes = malloc(count * sizeof(double));
    session->node_room = session->nodes ? count : 0;
    if (!session->nodes) return wb_out_of_memory(message, "sums of pieces", count * sizeof(double));
  }
  for (size_t i = 0; i < (size_t)pieces; i++)
    session->nodes[i * node + sums] =
        unpack_root(wb_reduction_root(&trees[i]), session->data.columns, components, session->nodes + i * node);
  session->node_count = count;
  return WB_OK;
}

int wb_cpu_mixture_get_nodes(wb_mixture_session *session, double *nodes, wb_message *message) {
  if (session->node_count == 0)
    return wb_fail(message, WB_ERROR_INPUT, "no sums of pieces: there was no pass over the rows yet");
  memcpy(nodes, session->nodes, session->node_count * sizeof(double));
  return WB_OK;
}

typedef struct shared_pass {
  const wb_mixture_session *session;
  const mixture_pass *pass;
  wb_reduction_tree *trees;
  int64_t leaves, piece, next;
  int64_t *counts;
  int threads;
} shared_pass;

static void pass_leaves(void *context) {
  shared_pass *const all = context;
  tile t;
  const mixture_pass *pass = all->pass;
  if (!take_tile(all->session, pass, wb_thread_of(all->threads), &t)) {
    wb_reduction_fail(&all->trees[0]);
    return;
  }
  for (int64_t leaf; (leaf = wb_take(&all->next)) < all->leaves;) {
    wb_reduction_tree *tree = &all->trees[leaf / all->piece];
    double *sums = wb_reduction_take(tree);
    if (!sums) continue;
    pass->leaf(all->session, pass->ask, leaf, &t, sums);
    wb_reduction_give(tree, leaf % all->piece, sums);
  }
  for (size_t i = 0; i < pass->counts; i++) {
#pragma omp atomic
    all->counts[i] += t.count[i];
  }
}

int wb_cpu_mixture_pass(wb_mixture_session *session, const mixture_pass *pass, double *statistics, double *last,
                        int64_t *counts, wb_message *message) {
  const int p = session->data.columns;
  const int64_t leaves = (session->data.rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const int64_t piece = session->data.piece > 0 ? session->data.piece : leaves, pieces = (leaves + piece - 1) / piece;
  const size_t node = (size_t)pass->components * wb_cpu_mixture_padded_sums(p) + 8;
  int status = WB_OK, failed = 0;
  wb_reduction_tree *trees = malloc((size_t)pieces * sizeof *trees);
  if (!trees) return wb_out_of_memory(message, "the sums of pieces", (size_t)pieces * sizeof *trees);
  for (int64_t i = 0; i < pieces; i++) wb_reduction_open(&trees[i], i + 1 < pieces ? piece : leaves - i * piece, node);
  const int threads = mixture_threads(session, pass->work, session->data.rows, leaves);
  shared_pass all = {session, pass, trees, leaves, piece, 0, counts, threads};
  wb_on_threads(threads, pass_leaves, &all);
  for (int64_t i = 0; i < pieces; i++) failed |= !wb_reduction_root(&trees[i]);
  if (failed) status = wb_out_of_memory(message, "the sums of a leaf", node * sizeof(double));
  else if (session->data.piece > 0) status = unpack_pieces(session, pass->components, trees, pieces, message);
  else *last = unpack_root(wb_reduction_root(&trees[0]), p, pass->components, statistics);
  for (int64_t i = 0; i < pieces; i++) wb_reduction_close(&trees[i]);
  free(trees);
  return status;
}
