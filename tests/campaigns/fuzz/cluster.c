/* Fuzzes the messages between the manager and the workers of a cluster (src/cluster/mixture). At the start a manager
 * and two workers exchange right messages. An input changes one of them:
 *   byte 0  bit 0: a reply to the manager instead of a request to a worker; bit 1: all bytes come from the input;
 *           bit 2: the size is made right for the head; bit 3: which worker has sent the reply
 *   byte 1  the kind of message
 *   then    changes of 11 bytes each: where (2), what (1), and a value (8); or the message itself
 * Whatever comes must give an answer or a message, and what the manager accepts must be possible. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/mixture/messages.h"
#include "core/linear_algebra.h"
#include "cpu/table.h"
#include "mixture/mixture.h"

enum { P = 3, K = 4, PAIRS = 2, KINDS = 4, WORKERS = 2, LAST = 24, ROWS = WB_LEAF_ROWS + LAST, SAMPLES = 2 };
#define TRIANGLE ((size_t)P * (P + 1) / 2)

static wb_backend processor;
static wb_run where;
static double cells[P][ROWS], part_cells[WORKERS][P * ROWS], center[P], scale[P] = {1, 1, 1};
static int32_t sample[ROWS];
static const int64_t first_row[] = {0, WB_LEAF_ROWS, ROWS};

typedef struct bytes {
  unsigned char *at;
  size_t size;
} bytes;

static bytes requests[KINDS + 1], replies[KINDS + 1][WORKERS];

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "wrong: %s\n", what);
  abort();
}

static bytes copy_of(const void *from, size_t size) {
  bytes b = {malloc(size + 1), size};
  if (size > 0) memcpy(b.at, from, size);
  return b;
}

/* Workers ------------------------------------------------------------------------------ */

static wb_mixture_missing *missing[WORKERS];

static wb_cluster_worker open_worker(int w) {
  const int64_t rows = first_row[w + 1] - first_row[w];
  wb_message message = {""};
  wb_cluster_worker worker = {.backend = &processor, .rows = ROWS};
  worker.data = (wb_mixture_data){.x = part_cells[w],
                                  .rows = rows,
                                  .columns = P,
                                  .center = center,
                                  .inverse_scale = scale,
                                  .precision = WB_DOUBLE,
                                  .keep_labels = 1,
                                  .samples = SAMPLES,
                                  .sample = sample + first_row[w],
                                  .missing = missing[w],
                                  .first_row = first_row[w],
                                  .piece = 1};
  check(processor.mixture->open(&worker.data, &where, &worker.session, &message) == WB_OK, message.text);
  return worker;
}

/* The answer in memory of exactly its size, or nothing. */
static bytes answer(wb_cluster_worker *worker, bytes request) {
  wb_message message = {""};
  bytes reply = {NULL, 0};
  int status = wb_cluster_answer_size(worker, request.at, request.size, &reply.size, &message);
  if (status == WB_OK) {
    reply.at = calloc(1, reply.size + 1);
    status = wb_cluster_answer(worker, request.at, reply.at, &message);
  }
  check(status == WB_OK || strlen(message.text) > 0, "a failure without a message");
  if (status == WB_OK) return reply;
  free(reply.at);
  return (bytes){NULL, 0};
}

/* The manager -------------------------------------------------------------------------- */

static wb_cluster_worker recorded[WORKERS];
static bytes given; /* the changed reply of worker number `giver` to requests of the kind `changed`; 0: none */
static int changed, giver;

static int kind_of(const void *request) {
  wb_cluster_head head;
  memcpy(&head, request, sizeof head);
  return head.kind;
}

/* At the start the workers answer. Afterwards the manager gets what they answered then, or the changed reply. */
static int exchange(void *context, const void *request, size_t size, wb_cluster_reply *out, wb_message *message) {
  const int kind = kind_of(request), is_start = *(const int *)context;
  (void)message;
  if (is_start) requests[kind] = copy_of(request, size);
  for (int w = 0; w < WORKERS; w++) {
    if (is_start) replies[kind][w] = answer(&recorded[w], requests[kind]);
    const bytes reply = kind == changed && w == giver ? given : replies[kind][w];
    out[w] = (wb_cluster_reply){reply.at, reply.size};
  }
  return WB_OK;
}

static const char *name_of(void *context, int32_t worker) {
  (void)context;
  return worker ? "worker 2" : "worker 1";
}

/* The calls of a sweep up to the request `last`. */
static int ask_all(int is_start, int last, wb_message *message) {
  const wb_mixture_data data = {
      .rows = ROWS, .columns = P, .center = center, .inverse_scale = scale, .precision = WB_DOUBLE, .samples = SAMPLES};
  const wb_call call = {&processor, &processor, where, {NULL, 0}, NULL};
  const wb_cluster cluster = {WORKERS, first_row, 1, exchange, name_of, &is_start};
  const wb_mixture_functions *const t = wb_mixture_cluster.mixture;
  const double mean[P] = {0}, floor[P] = {0.01, 0.01, 0.01}, prior_scale[TRIANGLE] = {1, 0, 1, 0, 0, 1};
  const wb_mixture_law law = {mean, 10, 5, prior_scale, floor};
  double statistics[K * WB_MIXTURE_STATISTICS(P)] = {0}, log_weight[SAMPLES * K], sizes[SAMPLES * K], log_likelihood;
  double factor[K * TRIANGLE] = {0}, offset[K * P] = {0}, constant[K], log_probability[PAIRS];
  int32_t labels[ROWS], source[K], pair[K], side[K];
  int64_t anchors[2 * PAIRS];
  for (int j = 0; j < K; j++) {
    source[j] = j;
    pair[j] = j / 2;
    side[j] = j < 2 ? -1 : j % 2;
    constant[j] = -1;
    for (int i = 0; i < P; i++) {
      factor[(size_t)j * TRIANGLE + (size_t)i * (i + 3) / 2] = 1;
      offset[j * P + i] = j;
    }
  }
  for (int i = 0; i < SAMPLES * K; i++) log_weight[i] = -1.5;
  wb_mixture_session *s;
  int status = wb_cluster_open(&data, &call, &cluster, &s, message);
  if (status != WB_OK) return status;
  status = t->set_components(s, K, statistics, message);
  if (status == WB_OK) status = t->draw_components(s, &law, source, 7, 1, message);
  if (status == WB_OK) status = t->draw_labels(s, log_weight, 7, 1, labels, message);
  if (status == WB_OK) {
    double counted = 0;
    t->finish_labels(s, sizes, &log_likelihood, message);
    check(log_likelihood < INFINITY, "a log likelihood that is no number");
    for (int i = 0; i < ROWS; i++) check(labels[i] >= 0 && labels[i] < K, "a label of no component");
    for (int i = 0; i < SAMPLES * K; i++) counted += sizes[i];
    check(counted <= ROWS, "more rows than there are");
  }
  const wb_mixture_pairs pairs = {K, PAIRS, pair, side};
  const wb_mixture_parameters halves = {2 * PAIRS, factor, offset, constant}, all = {K, factor, offset, constant};
  if (status == WB_OK && last >= WB_CLUSTER_ANCHORS) {
    status = t->choose_anchors(s, &pairs, 7, 1, anchors, message);
    for (int i = 0; i < 2 * PAIRS && status == WB_OK; i++)
      check(anchors[i] >= -1 && anchors[i] < ROWS, "an anchor that is no row");
  }
  if (status == WB_OK && last >= WB_CLUSTER_HALVES) {
    status = t->draw_halves(s, &pairs, &halves, anchors, 1, 7, 1, 2, statistics, log_probability, message);
    for (int g = 0; g < PAIRS && status == WB_OK; g++)
      check(isfinite(log_probability[g]), "a probability that is no number");
  }
  if (status == WB_OK && last >= WB_CLUSTER_WEIGH)
    status = t->weigh_rows(s, &all, statistics, &log_likelihood, message);
  for (size_t i = 0; i < sizeof statistics / sizeof *statistics && status == WB_OK; i++)
    check(isfinite(statistics[i]), "statistics that are no numbers");
  t->close(s);
  return status;
}

/* Inputs ------------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  wb_message message = {""};
  processor = (wb_backend){
      .abi_version = WB_ABI_VERSION, .size = sizeof(wb_backend), .name = "cpu", .mixture = &wb_cpu_mixture};
  where = (wb_run){.threads = 1, .isa = WB_ISA_BASELINE};
  uint64_t state = 1;
  for (int i = 0; i < ROWS; i++) {
    sample[i] = i % SAMPLES;
    for (int j = 0; j < P; j++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      cells[j][i] = (double)(state >> 40) / 0x1p24 + (i % 3 == 0 ? 4 : 0);
    }
  }
  cells[1][ROWS - 3] = cells[0][5] = NAN;
  for (int w = 0; w < WORKERS; w++) {
    const size_t rows = (size_t)(first_row[w + 1] - first_row[w]);
    for (int j = 0; j < P; j++)
      memcpy(part_cells[w] + (size_t)j * rows, cells[j] + first_row[w], rows * sizeof(double));
    check(wb_mixture_missing_find(part_cells[w], (int64_t)rows, P, 1, &missing[w], &message) == WB_OK, message.text);
    recorded[w] = open_worker(w);
  }
  check(ask_all(1, WB_CLUSTER_WEIGH, &message) == WB_OK, message.text);
  for (int w = 0; w < WORKERS; w++) processor.mixture->close(recorded[w].session);
  return 0;
}

static void change(bytes *b, const uint8_t *data, size_t size) {
  for (; size >= 11; data += 11, size -= 11) {
    const size_t at = b->size > 0 ? (data[0] + 256u * data[1]) % b->size : 0, room = b->size - at;
    const size_t wide = data[2] % 8 == 1 ? 4 : 8, put = room < wide ? room : wide;
    if (data[2] % 8 < 4) memcpy(b->at + (put == wide ? at / wide * wide : at), data + 3, put);
    else if (data[2] % 8 == 4) memset(b->at + at, data[3], room);
    else if (data[2] % 8 == 5) b->size = at;
  }
}

/* As many bytes as the head of a request asks for, if they are not too many. */
static void resize(bytes *b) {
  wb_cluster_head head;
  wb_cluster_request r;
  if (b->size < sizeof head) return;
  memcpy(&head, b->at, sizeof head);
  if (head.components < 1 || head.components > 40 || head.pairs < 0 || head.pairs > WB_MIXTURE_MOST_PAIRS) return;
  const size_t size = wb_cluster_place_request(&r, &head, P, SAMPLES, NULL);
  unsigned char *const at = calloc(1, size + 1);
  memcpy(at, b->at, size < b->size ? size : b->size);
  free(b->at);
  *b = (bytes){at, size};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const int kind = 1 + data[1] % KINDS, how = data[0];
  const bytes *const from = how & 1 ? &replies[kind][how >> 3 & 1] : &requests[kind];
  bytes b = how & 2 ? copy_of(data + 2, size - 2) : copy_of(from->at, from->size);
  if (!(how & 2)) change(&b, data + 2, size - 2);
  if (how & 1) {
    wb_message message = {""};
    changed = kind;
    giver = how >> 3 & 1;
    given = b;
    const int status = ask_all(0, kind, &message);
    check(status == WB_OK || strlen(message.text) > 0, "a failure without a message");
    changed = 0;
  } else {
    wb_cluster_worker worker = open_worker(1);
    if (how & 4) resize(&b);
    bytes drawn = answer(&worker, requests[WB_CLUSTER_DRAW]), reply = answer(&worker, b);
    free(drawn.at);
    free(reply.at);
    processor.mixture->close(worker.session);
  }
  free(b.at);
  return 0;
}
