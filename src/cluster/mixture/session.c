/* The table of mixtures whose rows are on the workers of a cluster (cluster/mixture/messages.h). A processor's session
 * without rows computes the components. */
#include "core/rounding.h"

#include <stdlib.h>
#include <string.h>

#include "core/linear_algebra.h"
#include "core/mixture_half.h"
#include "core/philox.h"
#include "core/purpose.h"
#include "cluster/mixture/messages.h"
#include "numeric/memory.h"

typedef struct cluster_session {
  const wb_backend *local;
  wb_mixture_session *components; /* of `local` */
  wb_cluster cluster;
  int32_t columns, samples; /* samples: 0 if the rows are one sample */
  int64_t pieces;
  int32_t count; /* of components; 0: not set yet */
  int32_t nodes; /* of all workers */
  wb_cluster_node *node;
  int32_t *first_node; /* workers + 1 */
  wb_cluster_reply *replies;
  double **slots, **sums; /* pieces; nodes */
  void *draw, *request;
  size_t draw_bytes, request_bytes;
  double *values;
  size_t value_bytes;
  wb_cluster_head head; /* of the request `draw` */
  double log_likelihood;
  double *sizes; /* samples x components: of the labels drawn last */
  size_t size_bytes;
  int32_t anchors; /* how many rows are held: those of the anchors chosen last */
  int64_t anchor[2 * WB_MIXTURE_MOST_PAIRS];
  double *anchor_values; /* 2 WB_MIXTURE_MOST_PAIRS x columns */
} cluster_session;

static cluster_session *of(wb_mixture_session *session) { return (cluster_session *)session; }

static int make_room(void **memory, size_t *held, size_t bytes, const char *purpose, wb_message *message) {
  if (*held >= bytes) return WB_OK;
  free(*memory);
  *memory = malloc(bytes);
  *held = *memory ? bytes : 0;
  return *memory ? WB_OK : wb_out_of_memory(message, purpose, bytes);
}

static void close_session(wb_mixture_session *session) {
  cluster_session *s = of(session);
  if (!s) return;
  s->local->mixture->close(s->components);
  free(s->node);
  free(s->draw);
  free(s->request);
  free(s->values);
  free(s->sizes);
  free(s);
}

int wb_cluster_open(const wb_mixture_data *data, const wb_call *call, const wb_cluster *cluster,
                    wb_mixture_session **session, wb_message *message) {
  const size_t workers = (size_t)cluster->workers, p = (size_t)data->columns;
  const int64_t leaves = (data->rows + WB_LEAF_ROWS - 1) / WB_LEAF_ROWS;
  const size_t pieces = (size_t)((leaves + cluster->piece - 1) / cluster->piece),
               most = workers * WB_CLUSTER_MOST_NODES;
  const size_t numbers = 2 * WB_MIXTURE_MOST_PAIRS * p;
  const size_t bytes = sizeof(cluster_session) + workers * sizeof(wb_cluster_reply) +
                       (pieces + most) * sizeof(double *) + numbers * sizeof(double) + (workers + 1) * sizeof(int32_t);
  const wb_mixture_data none = {.columns = data->columns,
                                .center = data->center,
                                .inverse_scale = data->inverse_scale,
                                .precision = data->precision};
  cluster_session *s = calloc(1, bytes);
  if (!s) return wb_out_of_memory(message, "the mixture session", bytes);
  s->local = call->processor;
  s->cluster = *cluster;
  s->columns = data->columns;
  s->samples = data->samples;
  s->pieces = (int64_t)pieces;
  s->anchor_values = (double *)(s + 1);
  s->replies = (wb_cluster_reply *)(s->anchor_values + numbers);
  s->slots = (double **)(s->replies + workers);
  s->sums = s->slots + pieces;
  s->first_node = (int32_t *)(s->sums + most);
  s->node = malloc(most * sizeof *s->node);
  int status = s->node ? WB_OK : wb_out_of_memory(message, "the mixture session", most * sizeof *s->node);
  for (size_t w = 0; w < workers && status == WB_OK; w++) {
    const int64_t first = cluster->first_row[w] / WB_LEAF_ROWS / cluster->piece;
    const int64_t end = w + 1 < workers ? cluster->first_row[w + 1] / WB_LEAF_ROWS / cluster->piece : (int64_t)pieces;
    s->first_node[w] = s->nodes;
    s->nodes += wb_cluster_cover(s->pieces, first, end, s->node + s->nodes);
  }
  s->first_node[workers] = s->nodes;
  if (status == WB_OK) status = s->local->mixture->open(&none, &call->run, &s->components, message);
  if (status == WB_OK) *session = (wb_mixture_session *)s;
  else close_session((wb_mixture_session *)s);
  return status;
}

static wb_cluster_share share_of(const cluster_session *s, int32_t w) {
  const int64_t *const first = s->cluster.first_row + w;
  return (wb_cluster_share){s->columns, s->samples,          s->first_node[w + 1] - s->first_node[w],
                            first[0],   first[1] - first[0], s->cluster.first_row[s->cluster.workers]};
}

/* Places the items of a worker's reply; returns how many bytes they take. */
static size_t place_reply(const cluster_session *s, const wb_cluster_head *head, int32_t w, wb_cluster_part *part) {
  const wb_cluster_share share = share_of(s, w);
  return wb_cluster_place_part(part, head, share.columns, share.samples, share.nodes, share.rows,
                               (void *)(uintptr_t)s->replies[w].bytes);
}

static wb_cluster_part reply_of(const cluster_session *s, const wb_cluster_head *head, int32_t w) {
  wb_cluster_part part;
  (void)place_reply(s, head, w, &part);
  return part;
}

static int ask(cluster_session *s, const wb_cluster_head *head, const void *request, size_t size, wb_message *message) {
  WB_TRY(s->cluster.exchange(s->cluster.context, request, size, s->replies, message));
  for (int32_t w = 0; w < s->cluster.workers; w++) {
    const wb_cluster_share share = share_of(s, w);
    wb_cluster_part part;
    const char *const wrong = place_reply(s, head, w, &part) == s->replies[w].size
                                  ? wb_cluster_wrong_part(&part, head, &share)
                                  : "of a wrong size";
    if (!wrong) continue;
    return wb_fail(message, WB_ERROR_DEVICE, "`cluster`: %s has sent a reply %s",
                   s->cluster.name(s->cluster.context, w), wrong);
  }
  return WB_OK;
}

/* The sums over all rows from the workers' nodes: the statistics of the summed components, then the log likelihood. */
static int sum_nodes(cluster_session *s, const wb_cluster_head *head, const double **total, wb_message *message) {
  const size_t size = (size_t)wb_cluster_summed(head) * WB_MIXTURE_STATISTICS(s->columns) + 1;
  WB_TRY(make_room((void **)&s->values, &s->value_bytes, (size_t)s->nodes * size * sizeof(double), "sums of rows",
                   message));
  for (int32_t w = 0; w < s->cluster.workers; w++) {
    const size_t nodes = (size_t)(s->first_node[w + 1] - s->first_node[w]);
    memcpy(s->values + (size_t)s->first_node[w] * size, reply_of(s, head, w).nodes, nodes * size * sizeof(double));
  }
  for (int32_t i = 0; i < s->nodes; i++) s->sums[i] = s->values + (size_t)i * size;
  *total = wb_cluster_root(s->pieces, s->node, s->sums, s->nodes, size, s->slots);
  return WB_OK;
}

/* Components ------------------------------------------------------------------------------- */

static int set_components(wb_mixture_session *session, int32_t components, const double *statistics,
                          wb_message *message) {
  cluster_session *s = of(session);
  const size_t table = (size_t)(s->samples > 0 ? s->samples : 1) * (size_t)components;
  WB_TRY(make_room((void **)&s->sizes, &s->size_bytes, table * sizeof(double), "sizes of components", message));
  WB_TRY(s->local->mixture->set_components(s->components, components, statistics, message));
  s->count = components;
  return WB_OK;
}

static int set_statistics(wb_mixture_session *session, int32_t first, int32_t count, const double *statistics,
                          wb_message *message) {
  return of(session)->local->mixture->set_statistics(of(session)->components, first, count, statistics, message);
}

static int get_statistics(wb_mixture_session *session, int32_t first, int32_t count, double *statistics,
                          wb_message *message) {
  return of(session)->local->mixture->get_statistics(of(session)->components, first, count, statistics, message);
}

static int add_precisions(wb_mixture_session *session, const wb_mixture_precisions *sums, wb_message *message) {
  return of(session)->local->mixture->add_precisions(of(session)->components, sums, message);
}

static int measure(wb_mixture_session *session, const wb_mixture_measures *measures, wb_message *message) {
  return of(session)->local->mixture->measure(of(session)->components, measures, message);
}

static int get_components(wb_mixture_session *session, double *mean, double *factor, wb_message *message) {
  return of(session)->local->mixture->get_components(of(session)->components, mean, factor, message);
}

static int draw_components(wb_mixture_session *session, const wb_mixture_law *law, const int32_t *source, uint64_t key,
                           uint32_t iteration, wb_message *message) {
  cluster_session *s = of(session);
  const size_t p = (size_t)s->columns, triangle = wb_packed_size(s->columns);
  const wb_cluster_head head = {
      .component_key = key, .component_iteration = iteration, .kind = WB_CLUSTER_DRAW, .components = s->count};
  wb_cluster_request r;
  const size_t bytes = wb_cluster_place_request(&r, &head, s->columns, s->samples, NULL);
  WB_TRY(make_room(&s->draw, &s->draw_bytes, bytes, "a request to the workers", message));
  memset(s->draw, 0, bytes);
  (void)wb_cluster_place_request(&r, &head, s->columns, s->samples, s->draw);
  s->head = head;
  r.law[0] = law->mean_scale;
  r.law[1] = law->df;
  memcpy(r.law + 2, law->mean, p * sizeof(double));
  memcpy(r.law + 2 + p, law->scale, triangle * sizeof(double));
  if (law->floor) memcpy(r.law + 2 + p + triangle, law->floor, p * sizeof(double));
  memcpy(r.source, source, (size_t)s->count * sizeof(int32_t));
  WB_TRY(get_statistics(session, 0, s->count, r.statistics, message));
  return s->local->mixture->draw_components(s->components, law, source, key, iteration, message);
}

/* Rows ------------------------------------------------------------------------------------- */

/* Waits for the workers' replies, so finish_labels() only copies. */
static int draw_labels(wb_mixture_session *session, const double *log_weight, uint64_t key, uint32_t iteration,
                       int32_t *labels, wb_message *message) {
  cluster_session *s = of(session);
  const size_t k = (size_t)s->count, table = (size_t)s->samples * k;
  wb_cluster_request r;
  const double *total;
  s->head.key = key;
  s->head.iteration = iteration;
  s->head.wants_labels = labels != NULL;
  const size_t bytes = wb_cluster_place_request(&r, &s->head, s->columns, s->samples, s->draw);
  memcpy(s->draw, &s->head, sizeof s->head);
  memcpy(r.log_weight, log_weight, (table > 0 ? table : k) * sizeof(double));
  WB_TRY(ask(s, &s->head, s->draw, bytes, message));
  WB_TRY(sum_nodes(s, &s->head, &total, message));
  s->log_likelihood = total[k * WB_MIXTURE_STATISTICS(s->columns)];
  memset(s->sizes, 0, table * sizeof(double));
  for (size_t j = 0; j < k && table == 0; j++) s->sizes[j] = total[j * WB_MIXTURE_STATISTICS(s->columns)];
  for (int32_t w = 0; w < s->cluster.workers; w++) {
    const wb_cluster_part part = reply_of(s, &s->head, w);
    const int64_t first = s->cluster.first_row[w], rows = s->cluster.first_row[w + 1] - first;
    for (size_t i = 0; i < table; i++) s->sizes[i] += part.sizes[i];
    if (labels) memcpy(labels + first, part.labels, (size_t)rows * sizeof(int32_t));
  }
  return set_statistics(session, 0, s->count, total, message);
}

static int finish_labels(wb_mixture_session *session, double *sizes, double *log_likelihood, wb_message *message) {
  const cluster_session *s = of(session);
  (void)message;
  memcpy(sizes, s->sizes, (size_t)(s->samples > 0 ? s->samples : 1) * (size_t)s->count * sizeof(double));
  *log_likelihood = s->log_likelihood;
  return WB_OK;
}

static int ask_about(cluster_session *s, const wb_cluster_head *head, const wb_mixture_pairs *pairs,
                     const wb_mixture_parameters *parameters, const int64_t *anchors, wb_message *message) {
  wb_cluster_request r;
  const size_t bytes = wb_cluster_place_request(&r, head, s->columns, s->samples, NULL);
  WB_TRY(make_room(&s->request, &s->request_bytes, bytes, "a request to the workers", message));
  memset(s->request, 0, bytes);
  memcpy(s->request, head, sizeof *head);
  (void)wb_cluster_place_request(&r, head, s->columns, s->samples, s->request);
  if (pairs) {
    memcpy(r.pair, pairs->pair, (size_t)pairs->components * sizeof(int32_t));
    memcpy(r.side, pairs->side, (size_t)pairs->components * sizeof(int32_t));
  }
  if (parameters) {
    const size_t k = (size_t)parameters->components;
    memcpy(r.factor, parameters->factor, k * wb_packed_size(s->columns) * sizeof(double));
    memcpy(r.offset, parameters->offset, k * (size_t)s->columns * sizeof(double));
    memcpy(r.log_constant, parameters->log_constant, k * sizeof(double));
  }
  if (anchors) memcpy(r.anchors, anchors, 2 * (size_t)head->pairs * sizeof(int64_t));
  return ask(s, head, s->request, bytes, message);
}

static int choose_anchors(wb_mixture_session *session, const wb_mixture_pairs *pairs, uint64_t key, uint32_t iteration,
                          int64_t *anchors, wb_message *message) {
  cluster_session *s = of(session);
  const wb_cluster_head head = {.key = key,
                                .iteration = iteration,
                                .kind = WB_CLUSTER_ANCHORS,
                                .components = pairs->components,
                                .pairs = pairs->pairs};
  const size_t p = (size_t)s->columns;
  s->anchors = 0;
  WB_TRY(ask_about(s, &head, pairs, NULL, NULL, message));
  for (int32_t i = 0; i < 2 * pairs->pairs; i++) {
    uint64_t least = UINT64_MAX;
    anchors[i] = -1;
    for (int32_t w = 0; w < s->cluster.workers; w++) {
      const wb_cluster_part part = reply_of(s, &head, w);
      if (part.anchors[i] < 0) continue;
      const uint64_t row = (uint64_t)part.anchors[i];
      const wb_bits bits = wb_philox(key, 0, (uint32_t)row, wb_philox_c2(WB_PURPOSE_ANCHOR, row), iteration);
      const uint64_t own = wb_half_ticket(wb_bits64(bits, i % 2), row);
      if (own >= least) continue; /* the row with the least ticket for a half is chosen */
      least = own;
      anchors[i] = part.anchors[i];
      memcpy(s->anchor_values + (size_t)i * p, part.values + (size_t)i * p, p * sizeof(double));
    }
    s->anchor[i] = anchors[i];
    s->anchors = i + 1;
  }
  return WB_OK;
}

static int draw_halves(wb_mixture_session *session, const wb_mixture_pairs *pairs, const wb_mixture_parameters *halves,
                       const int64_t *anchors, int known, uint64_t key, uint32_t iteration, uint32_t step,
                       double *statistics, double *log_probability, wb_message *message) {
  cluster_session *s = of(session);
  const wb_cluster_head head = {.key = key,
                                .iteration = iteration,
                                .step = step,
                                .kind = WB_CLUSTER_HALVES,
                                .components = pairs->components,
                                .pairs = pairs->pairs,
                                .known = known};
  const double *total;
  WB_TRY(ask_about(s, &head, pairs, halves, anchors, message));
  WB_TRY(sum_nodes(s, &head, &total, message));
  memcpy(statistics, total, 2 * (size_t)pairs->pairs * WB_MIXTURE_STATISTICS(s->columns) * sizeof(double));
  for (int32_t g = 0; g < pairs->pairs; g++) log_probability[g] = 0;
  /* These are integer multiples of one power of two, so their sum is exact in any order. */
  for (int32_t w = 0; w < s->cluster.workers; w++)
    for (int32_t g = 0; g < pairs->pairs; g++) log_probability[g] += reply_of(s, &head, w).log_probability[g];
  return WB_OK;
}

static int weigh_rows(wb_mixture_session *session, const wb_mixture_parameters *parameters, double *statistics,
                      double *log_likelihood, wb_message *message) {
  cluster_session *s = of(session);
  const wb_cluster_head head = {.kind = WB_CLUSTER_WEIGH, .components = parameters->components};
  const size_t sums = (size_t)parameters->components * WB_MIXTURE_STATISTICS(s->columns);
  const double *total;
  WB_TRY(ask_about(s, &head, NULL, parameters, NULL, message));
  WB_TRY(sum_nodes(s, &head, &total, message));
  memcpy(statistics, total, sums * sizeof(double));
  *log_likelihood = total[sums];
  return WB_OK;
}

/* Only the anchors chosen last are here: their replies contained the rows. */
static int get_row(wb_mixture_session *session, int64_t row, double *values, wb_message *message) {
  const cluster_session *s = of(session);
  for (int32_t i = 0; i < s->anchors; i++)
    if (s->anchor[i] == row) {
      memcpy(values, s->anchor_values + (size_t)i * (size_t)s->columns, (size_t)s->columns * sizeof(double));
      return WB_OK;
    }
  return wb_fail(message, WB_ERROR_INPUT, "row %lld is on a worker of the cluster", (long long)row);
}

static int evaluate(wb_mixture_session *session, const wb_mixture_parameters *parameters, int64_t first, int64_t count,
                    int32_t *labels, double *log_density, double *probability, wb_message *message) {
  (void)session, (void)parameters, (void)first, (void)count, (void)labels, (void)log_density, (void)probability;
  return wb_fail(message, WB_ERROR_INPUT, "rows are evaluated where they are, and not on a cluster");
}

static int add_densities(wb_mixture_session *session, const wb_mixture_parameters *mixtures, int32_t mixture_count,
                         int64_t first, int64_t count, const double *log_unit, int64_t units, double *log_density,
                         wb_message *message) {
  (void)mixture_count, (void)log_unit, (void)units;
  return evaluate(session, mixtures, first, count, NULL, log_density, NULL, message);
}

static const wb_mixture_functions functions = {
    .set_components = set_components,
    .set_statistics = set_statistics,
    .get_statistics = get_statistics,
    .draw_components = draw_components,
    .add_precisions = add_precisions,
    .measure = measure,
    .draw_labels = draw_labels,
    .finish_labels = finish_labels,
    .get_components = get_components,
    .evaluate = evaluate,
    .add_densities = add_densities,
    .choose_anchors = choose_anchors,
    .draw_halves = draw_halves,
    .weigh_rows = weigh_rows,
    .get_row = get_row,
    .close = close_session,
};

const wb_backend wb_mixture_cluster = {
    .abi_version = WB_ABI_VERSION, .size = sizeof(wb_backend), .name = "cluster", .mixture = &functions};
