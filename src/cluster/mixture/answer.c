/* A worker's answers to the requests of cluster/mixture/session.c. */
#include "core/rounding.h"

#include <stdlib.h>
#include <string.h>

#include "core/linear_algebra.h"
#include "cluster/mixture/messages.h"
#include "mixture/mixture.h"
#include "numeric/memory.h"

static int64_t leaves_of(int64_t rows) { return (rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS; }

/* The pieces of all rows; the worker has the pieces first, ..., end - 1, which the nodes cover. */
typedef struct shard {
  int64_t pieces, first, end;
  wb_cluster_node node[WB_CLUSTER_MOST_NODES];
  int32_t nodes;
} shard;

static shard shard_of(const wb_cluster_worker *worker) {
  const wb_mixture_data *data = &worker->data;
  shard s;
  s.pieces = (leaves_of(worker->rows) + data->piece - 1) / data->piece;
  s.first = data->first_row / WB_LEAF_ROWS / data->piece;
  s.end = s.first + (leaves_of(data->rows) + data->piece - 1) / data->piece;
  s.nodes = wb_cluster_cover(s.pieces, s.first, s.end, s.node);
  return s;
}

static int32_t samples_of(const wb_cluster_worker *worker) { return worker->data.sample ? worker->data.samples : 0; }

static size_t place_request(const wb_cluster_worker *worker, const wb_cluster_head *head, const void *request,
                            wb_cluster_request *r) {
  return wb_cluster_place_request(r, head, worker->data.columns, samples_of(worker), (void *)(uintptr_t)request);
}

static int is_request(const wb_cluster_worker *worker, const void *request, size_t size, wb_cluster_request *r) {
  wb_cluster_head head;
  if (size < sizeof head) return 0;
  memcpy(&head, request, sizeof head);
  if (head.kind < WB_CLUSTER_DRAW || head.kind > WB_CLUSTER_WEIGH || head.components < 1) return 0;
  const int has_pairs = head.kind == WB_CLUSTER_ANCHORS || head.kind == WB_CLUSTER_HALVES;
  if (has_pairs && (!worker->data.keep_labels || head.components != worker->drawn || head.pairs < 1 ||
                    head.pairs > WB_MIXTURE_MOST_PAIRS))
    return 0;
  return place_request(worker, &head, request, r) == size;
}

int wb_cluster_answer_size(const wb_cluster_worker *worker, const void *request, size_t size, size_t *bytes,
                           wb_message *message) {
  wb_cluster_request r;
  wb_cluster_part part;
  if (!is_request(worker, request, size, &r))
    return wb_fail(message, WB_ERROR_INPUT, "the request is not one of a mixture's manager to this worker");
  const shard s = shard_of(worker);
  const wb_cluster_share share = {worker->data.columns,   samples_of(worker), s.nodes,
                                  worker->data.first_row, worker->data.rows,  worker->rows};
  const char *const wrong = wb_cluster_wrong_request(&r, &share);
  if (wrong) return wb_fail(message, WB_ERROR_INPUT, "the request of the mixture's manager has %s", wrong);
  *bytes =
      wb_cluster_place_part(&part, &r.head, worker->data.columns, samples_of(worker), s.nodes, worker->data.rows, NULL);
  return WB_OK;
}

static int put_nodes(const wb_cluster_worker *worker, const wb_cluster_head *head, const shard *s, double *nodes,
                     wb_message *message) {
  const size_t size = (size_t)wb_cluster_summed(head) * WB_MIXTURE_STATISTICS(worker->data.columns) + 1;
  const size_t pieces = (size_t)(s->end - s->first), bytes = pieces * (size * sizeof(double) + sizeof(double *));
  double **sums = malloc(bytes);
  if (!sums) return wb_out_of_memory(message, "sums of pieces", bytes);
  double *values = (double *)(sums + pieces);
  const int status = worker->backend->mixture->get_nodes(worker->session, values, message);
  for (int32_t i = 0; i < s->nodes && status == WB_OK; i++) {
    int64_t first = s->node[i].index << s->node[i].level, end = (s->node[i].index + 1) << s->node[i].level, count = 0;
    if (end > s->pieces) end = s->pieces;
    for (; first < end; first++) sums[count++] = values + (size_t)(first - s->first) * size;
    wb_cluster_add(sums, count, size);
    memcpy(nodes + (size_t)i * size, sums[0], size * sizeof(double));
  }
  free(sums);
  return status;
}

static int draw(wb_cluster_worker *worker, const wb_cluster_request *r, const wb_cluster_part *part,
                wb_message *message) {
  const wb_mixture_functions *table = worker->backend->mixture;
  const wb_cluster_head *head = &r->head;
  wb_mixture_session *session = worker->session;
  const int32_t p = worker->data.columns, k = head->components;
  const wb_mixture_law law = {r->law + 2, r->law[0], r->law[1], r->law + 2 + p, r->law + 2 + p + wb_packed_size(p)};
  double log_likelihood, *sizes = part->sizes;
  if (!sizes) sizes = malloc((size_t)k * sizeof(double));
  if (!sizes) return wb_out_of_memory(message, "sizes of components", (size_t)k * sizeof(double));
  worker->drawn = 0;
  int status = table->set_components(session, k, r->statistics, message);
  if (status == WB_OK)
    status = table->draw_components(session, &law, r->source, head->component_key, head->component_iteration, message);
  if (status == WB_OK)
    status = table->draw_labels(session, r->log_weight, head->key, head->iteration, part->labels, message);
  if (status == WB_OK) status = table->finish_labels(session, sizes, &log_likelihood, message);
  if (status == WB_OK) worker->drawn = k;
  if (sizes != part->sizes) free(sizes);
  return status;
}

static int choose_anchors(const wb_cluster_worker *worker, const wb_cluster_head *head, const wb_mixture_pairs *pairs,
                          const wb_cluster_part *part, wb_message *message) {
  const size_t p = (size_t)worker->data.columns;
  WB_TRY(worker->backend->mixture->choose_anchors(worker->session, pairs, head->key, head->iteration, part->anchors,
                                                  message));
  for (size_t i = 0; i < 2 * (size_t)pairs->pairs; i++) {
    const int64_t row = part->anchors[i];
    if (row < 0) memset(part->values + i * p, 0, p * sizeof(double));
    else
      WB_TRY(wb_mixture_scaled_row(worker->backend, worker->session, &worker->data, row - worker->data.first_row,
                                   part->values + i * p, message));
  }
  return WB_OK;
}

int wb_cluster_answer(wb_cluster_worker *worker, const void *request, void *reply, wb_message *message) {
  const wb_mixture_functions *table = worker->backend->mixture;
  wb_cluster_head head;
  wb_cluster_request r;
  wb_cluster_part part;
  memcpy(&head, request, sizeof head);
  (void)place_request(worker, &head, request, &r);
  const shard s = shard_of(worker);
  (void)wb_cluster_place_part(&part, &head, worker->data.columns, samples_of(worker), s.nodes, worker->data.rows,
                              reply);
  const wb_mixture_pairs pairs = {head.components, head.pairs, r.pair, r.side};
  const wb_mixture_parameters parameters = {wb_cluster_summed(&head), r.factor, r.offset, r.log_constant};
  double unused;
  int status;
  if (head.kind == WB_CLUSTER_ANCHORS) return choose_anchors(worker, &head, &pairs, &part, message);
  /* With a part of the rows, these calls leave their sums in the session; put_nodes() fetches them. */
  if (head.kind == WB_CLUSTER_DRAW) status = draw(worker, &r, &part, message);
  else if (head.kind == WB_CLUSTER_HALVES)
    status = table->draw_halves(worker->session, &pairs, &parameters, r.anchors, head.known, head.key, head.iteration,
                                head.step, part.nodes, part.log_probability, message);
  else status = table->weigh_rows(worker->session, &parameters, part.nodes, &unused, message);
  return status == WB_OK ? put_nodes(worker, &head, &s, part.nodes, message) : status;
}
