/* A mixture whose rows are spread over several workers. The manager runs the host algorithm with the table of
 * cluster/mixture/session.c. A worker returns sums as the fewest nodes of the tree over all rows. The manager adds them
 * in order, so results do not depend on the number of workers.
 *
 * Requests and replies are bytes in this machine's order: items one after the other, each padded to a multiple of 8.
 * Their size depends on components and columns, not on rows, unless labels are kept. */
#pragma once

#include "backend/backend.h"

/* A worker's reply, which stays valid until the next request. */
typedef struct wb_cluster_reply {
  const void *bytes;
  size_t size;
} wb_cluster_reply;

typedef struct wb_cluster {
  int32_t workers;
  const int64_t *first_row; /* workers + 1: where the rows of each begin, and the number of all rows */
  int64_t piece;            /* see wb_mixture_data */
  int (*exchange)(void *context, const void *request, size_t size, wb_cluster_reply *replies, wb_message *message);
  const char *(*name)(void *context, int32_t worker); /* what messages call a worker */
  void *context;
} wb_cluster;

/* A backend with only the table of mixtures. wb_cluster_open() opens its sessions, not the table. In `data`, x is NULL,
 * `rows` counts the rows of all workers, and `samples` is 0 if they are one sample. The processor of `call` computes
 * the components. The arrays and the context of `cluster` must outlive the session. */
extern const wb_backend wb_mixture_cluster;
int wb_cluster_open(const wb_mixture_data *data, const wb_call *call, const wb_cluster *cluster,
                    wb_mixture_session **session, wb_message *message);

/* Splits the rows: fills `first_row`, of workers + 1 numbers, and `piece`. Returns how many workers get rows. */
int32_t wb_cluster_split(int64_t rows, int32_t workers, int64_t *first_row, int64_t *piece);

typedef struct wb_cluster_worker {
  const wb_backend *backend;
  wb_mixture_session *session;
  wb_mixture_data data;
  int64_t rows;
  int32_t drawn; /* the number of components to which its rows were drawn last; 0: they were not drawn */
} wb_cluster_worker;

/* The number of bytes of the answer, if `request` is a request to this worker; then the answer itself. */
int wb_cluster_answer_size(const wb_cluster_worker *worker, const void *request, size_t size, size_t *bytes,
                           wb_message *message);
int wb_cluster_answer(wb_cluster_worker *worker, const void *request, void *reply, wb_message *message);

/* What follows is shared by manager and worker --------------------------------------------------- */

typedef enum wb_cluster_kind {
  WB_CLUSTER_DRAW = 1,
  WB_CLUSTER_ANCHORS,
  WB_CLUSTER_HALVES,
  WB_CLUSTER_WEIGH
} wb_cluster_kind;

typedef struct wb_cluster_head {
  uint64_t key, component_key; /* of rows, and of components */
  uint32_t iteration, component_iteration, step;
  int32_t kind, components, pairs;
  int32_t wants_labels, known;
} wb_cluster_head;

/* A request: the items after the head depend on its kind. */
typedef struct wb_cluster_request {
  wb_cluster_head head;
  /* DRAW */
  double *law;        /* mean scale and df, mean, packed scale, floor */
  double *statistics; /* of all components */
  int32_t *source;
  double *log_weight; /* samples x components */
  /* ANCHORS, HALVES: see wb_mixture_pairs */
  int32_t *pair, *side;
  /* HALVES, WEIGH: components x packed triangle, x columns, x 1 */
  double *factor, *offset, *log_constant;
  int64_t *anchors; /* HALVES */
} wb_cluster_request;

typedef struct wb_cluster_part {
  double *nodes;           /* DRAW, HALVES, WEIGH */
  double *sizes;           /* DRAW: samples x components, if there are several samples */
  int32_t *labels;         /* DRAW: of the worker's rows, if they are wanted */
  int64_t *anchors;        /* ANCHORS: two of each pair */
  double *values;          /* ANCHORS: the rows of the anchors, scaled */
  double *log_probability; /* HALVES: of each pair */
} wb_cluster_part;

/* Place the items of a request or of a reply in memory, or NULL; return their bytes. `nodes`, `rows`: the worker's. */
size_t wb_cluster_place_request(wb_cluster_request *request, const wb_cluster_head *head, int32_t columns,
                                int32_t samples, void *memory);
size_t wb_cluster_place_part(wb_cluster_part *part, const wb_cluster_head *head, int32_t columns, int32_t samples,
                             int32_t nodes, int64_t rows, void *memory);

/* The number of components that the nodes of a request's replies sum. */
int32_t wb_cluster_summed(const wb_cluster_head *head);

typedef struct wb_cluster_share {
  int32_t columns, samples, nodes;
  int64_t first_row, rows, whole; /* whole: the rows of all workers */
} wb_cluster_share;

/* What is wrong with the values of a placed request or reply, in words; NULL if nothing. */
const char *wb_cluster_wrong_request(const wb_cluster_request *request, const wb_cluster_share *share);
const char *wb_cluster_wrong_part(const wb_cluster_part *part, const wb_cluster_head *head,
                                  const wb_cluster_share *share);

/* Pieces are the leaves of a tree: node i of a level has the nodes 2i and 2i + 1 of the level below. */
#define WB_CLUSTER_PIECES 32     /* the fewest pieces of a worker, if there are so many leaves */
#define WB_CLUSTER_MOST_NODES 64 /* the most nodes that make up a worker's pieces */
typedef struct wb_cluster_node {
  int32_t level;
  int64_t index;
} wb_cluster_node;

/* Finds the fewest nodes that make up the pieces first, ..., end - 1; returns how many there are. */
int32_t wb_cluster_cover(int64_t pieces, int64_t first, int64_t end, wb_cluster_node *nodes);

/* Adds sums of `size` doubles in the tree's order. Overwrites `sums`; sums[0] gets the result. */
void wb_cluster_add(double **sums, int64_t count, size_t size);

/* The root of a tree over this many pieces, from nodes that cover it and are overwritten. `slots`: one a piece. */
double *wb_cluster_root(int64_t pieces, const wb_cluster_node *nodes, double *const *sums, int32_t count, size_t size,
                        double **slots);
